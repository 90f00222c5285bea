//! The special tokens that a model's files give its templates.
//!
//! ```text
//! {"bos_token": "<s>", "eos_token": {"__type": "AddedToken", "content": "</s>"}, "image_token": "<img>"}
//!     ->   bos_token = <s>, eos_token = </s>, image_token = <img>
//! ```
//!
//! The rule is transformers 5.23.0 `tokenization_utils_base.py`: `_from_pretrained`, which joins the two files, and `__init__`, which
//! takes the tokens out of the result. What a tokenizer's class adds is [`super::tokenizer_class`]'s; files are not known here, nor the
//! tokenizer's vocabulary. Lists of tokens (`additional_special_tokens`) have no names, so that no template sees them.

use std::borrow::Cow;

use indexmap::IndexMap;

use crate::error::{Error, Result};
use crate::json::{Data, Object};
use crate::value::Value;

/// The tokens that every tokenizer has a place for.
pub(super) const STANDARD: [&str; 7] = [
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    PAD,
    "cls_token",
    "mask_token",
];

const PAD: &str = "pad_token";

const EXTRA: &str = "extra_special_tokens";
const OLDER_EXTRA: &str = "additional_special_tokens";
const OWN: &str = "model_specific_special_tokens";

const NO_EXTRA: &str = "extra_special_tokens must be a list/tuple of tokens or a dict of named tokens";
const NO_OWN: &str = "model_specific_special_tokens must be a dictionary of token name to token value";

/// The tokens by name, the standard ones first. `map` is the content of `special_tokens_map.json`, where that counts; `defaults` are
/// those of the tokenizer's class, and `padding` returns the token of `tokenizer.json`, which counts if nothing else names a `pad_token`.
pub(super) fn special_tokens(
    config: &Object<'_>,
    map: Option<&Object<'_>>,
    defaults: &Object<'_>,
    padding: impl FnOnce() -> Option<String>,
) -> Result<Vec<(String, String)>> {
    let mut arguments = Arguments::default();
    arguments.read_config(config)?;
    if let Some(map) = map {
        arguments.read_map(map)?;
    }
    let arguments = arguments.finish()?;
    let mut tokens: IndexMap<&str, Cow<'_, str>> = IndexMap::new();
    for (name, token) in defaults.entries() {
        if let (false, Data::Str(token)) = (arguments.given.contains_key(&**name), token) {
            tokens.insert(name, Cow::Borrowed(token));
        }
    }
    if !arguments.given.contains_key(PAD) && defaults.get(PAD).is_none() {
        if let Some(token) = padding() {
            tokens.insert(PAD, Cow::Owned(token));
        }
    }
    for (name, given) in &arguments.given {
        let value = match given {
            Given::Content(content) => {
                tokens.insert(name, content.clone());
                continue;
            }
            Given::Json(value) => value,
        };
        match token(value)? {
            Some(token) => drop(tokens.insert(name, token)),
            // Null leaves the token unset.
            None if is_standard(name) && !matches!(value, Data::None) => return Err(no_token(name, value)),
            None => {}
        }
    }
    for (name, value) in &arguments.named {
        let token = token(value)?.ok_or_else(|| no_token(name, value))?;
        tokens.insert(name, token);
    }
    let tokens = tokens.into_iter().map(|(name, token)| (name.to_owned(), token.into_owned()));
    let mut tokens: Vec<(String, String)> = tokens.collect();
    let place = |name: &str| STANDARD.iter().position(|standard| *standard == name);
    tokens.sort_by_key(|(name, _)| place(name).unwrap_or(STANDARD.len()));
    Ok(tokens)
}

/// Whether `special_tokens_map.json` counts beside this configuration: it is what older versions wrote, without this key.
pub(super) fn reads_map(config: &Object<'_>) -> bool {
    config.get("added_tokens_decoder").is_none()
}

/// What the reference calls the tokenizer's constructor with, as far as it is about tokens with names.
#[derive(Default)]
struct Arguments<'f> {
    /// Each under its own name.
    given: IndexMap<&'f str, Given<'f>>,
    /// `model_specific_special_tokens`, which are applied last.
    named: IndexMap<&'f str, &'f Data<'f>>,
    /// `extra_special_tokens`
    extra: Option<&'f Data<'f>>,
    /// `additional_special_tokens`, the same in older files.
    older_extra: Option<&'f Data<'f>>,
}

/// A value in a file, at a place where a token may stand.
enum Given<'f> {
    Json(&'f Data<'f>),
    /// The content of an object that is a token whatever it says of its type.
    Content(Cow<'f, str>),
}

impl<'f> Arguments<'f> {
    fn read_config(&mut self, config: &'f Object<'f>) -> Result<()> {
        for (name, value) in config.entries() {
            match value {
                // Two names that end like a token's are switches, which the reference takes out of this file first.
                _ if ["add_bos_token", "add_eos_token"].contains(&&**name) => {}
                Data::Str(_) if is_of_the_model(name) => drop(self.named.insert(name, value)),
                _ if is_standard(name) || is_of_the_model(name) => drop(self.given.insert(name, Given::Json(value))),
                _ => {}
            }
        }
        let extra = config.get(EXTRA);
        let older = config.get(OLDER_EXTRA);
        (self.extra, self.older_extra) = match older {
            Some(_) if !extra.is_some_and(is_true) => (older, None),
            _ => (extra, older),
        };
        if let Some(Data::Object(tokens)) = self.extra {
            self.read_named(tokens);
            self.extra = None;
        }
        // The reference writes this key itself when it saves a tokenizer, and where it finds any token elsewhere that is the
        // model's own, it reads those alone.
        match config.get(OWN) {
            _ if !self.named.is_empty() => Ok(()),
            own => self.read_own(own),
        }
    }

    fn read_map(&mut self, map: &'f Object<'f>) -> Result<()> {
        for (name, value) in map.entries() {
            match value {
                _ if !is_standard(name) && !is_of_the_model(name) => {}
                Data::Object(token) => drop(self.given.insert(name, Given::Content(content(token)?))),
                _ => drop(self.given.insert(name, Given::Json(value))),
            }
        }
        match map.get(OWN) {
            None => {}
            // An object is one token here, whatever it says.
            Some(Data::Object(_)) => return Err(Error::type_error(NO_OWN)),
            own => self.read_own(own)?,
        }
        match map.get(EXTRA) {
            None => {}
            Some(Data::Object(tokens)) => {
                self.read_named(tokens);
                self.extra = None;
            }
            Some(Data::List(items)) => {
                // They come behind those that are there, and nothing else counts.
                self.read_extra(self.extra.filter(|extra| is_true(extra)))?;
                items.iter().try_for_each(check_extra_of_map)?;
                (self.extra, self.older_extra) = (None, None);
                return Ok(());
            }
            extra => self.extra = extra,
        }
        match map.get(OLDER_EXTRA) {
            None => {}
            // An object is one token here too, and no list of them.
            Some(Data::Object(_)) if self.extra.is_none() => return Err(Error::type_error(NO_EXTRA)),
            older => self.older_extra = older,
        }
        Ok(())
    }

    /// Reads what is left of the extra tokens. Those with names lose to the others; a list is only looked at for faults.
    fn finish(mut self) -> Result<Self> {
        let named = std::mem::take(&mut self.named);
        self.read_extra(self.extra.or(self.older_extra))?;
        self.named.extend(named);
        Ok(self)
    }

    fn read_extra(&mut self, extra: Option<&'f Data<'f>>) -> Result<()> {
        match extra {
            None | Some(Data::None) => Ok(()),
            Some(Data::Object(tokens)) => {
                self.read_named(tokens);
                Ok(())
            }
            Some(Data::List(items)) => items.iter().try_for_each(check_extra),
            Some(_) => Err(Error::type_error(NO_EXTRA)),
        }
    }

    fn read_own(&mut self, own: Option<&'f Data<'f>>) -> Result<()> {
        match own {
            None | Some(Data::None) => self.named.clear(),
            Some(Data::Object(tokens)) => self.read_named(tokens),
            Some(_) => return Err(Error::type_error(NO_OWN)),
        }
        Ok(())
    }

    fn read_named(&mut self, tokens: &'f Object<'f>) {
        self.named
            .extend(tokens.entries().iter().map(|(name, value)| (&**name, value)));
    }
}

/// The token that a value is, if it is one.
fn token<'t>(value: &'t Data<'_>) -> Result<Option<Cow<'t, str>>> {
    match value {
        Data::Str(token) => Ok(Some(Cow::Borrowed(token))),
        Data::Object(object) if object.get("__type").is_some_and(is_added_token) => content(object).map(Some),
        _ => Ok(None),
    }
}

/// The content of an object that is a token; one without content is the empty token.
fn content<'t>(token: &'t Object<'_>) -> Result<Cow<'t, str>> {
    match token.get("content") {
        Some(Data::Str(content)) => Ok(Cow::Borrowed(content)),
        None | Some(Data::None) => Ok(Cow::Borrowed("")),
        Some(other) => {
            let name = Value::from(other).ty().name();
            Err(Error::type_error(format!("'{name}' object is not an instance of 'str'")))
        }
    }
}

/// Refuses what is no token, in a list of them.
fn check_extra(item: &Data<'_>) -> Result<()> {
    match token(item)? {
        Some(_) => Ok(()),
        None => Err(Error::type_error(format!(
            "Input must be a List[Union[str, AddedToken]]: {EXTRA} or {OLDER_EXTRA} holds what is no token"
        ))),
    }
}

/// The same in a list of `special_tokens_map.json`, where objects need not say that they are tokens, and all of them are special.
fn check_extra_of_map(item: &Data<'_>) -> Result<()> {
    match item {
        Data::Object(token) if token.get("special").is_some() => {
            let message = "tokenizers.AddedToken() got multiple values for keyword argument 'special'";
            Err(Error::type_error(message))
        }
        Data::Object(token) => content(token).map(drop),
        item => check_extra(item),
    }
}

fn is_added_token(name: &Data<'_>) -> bool {
    matches!(name, Data::Str(name) if name == "AddedToken")
}

fn is_standard(name: &str) -> bool {
    STANDARD.contains(&name)
}

fn is_of_the_model(name: &str) -> bool {
    name.ends_with("_token") && !is_standard(name)
}

fn is_true(value: &Data<'_>) -> bool {
    match value {
        Data::List(items) => !items.is_empty(),
        Data::Object(entries) => !entries.is_empty(),
        Data::Str(text) => !text.is_empty(),
        Data::None => false,
        Data::Bool(bool) => *bool,
        Data::Int(int) => *int != 0,
        Data::Float(float) => *float != 0.0,
        _ => true,
    }
}

fn no_token(name: &str, found: &Data<'_>) -> Error {
    let found = Value::from(found).ty().name();
    Error::type_error(format!(
        "Special token {name} has to be either str or AddedToken but got: <class '{found}'>"
    ))
}

#[cfg(test)]
mod tests {
    use super::special_tokens;
    use crate::json;
    use crate::json::{Data, Object};

    fn object(text: &str) -> Object<'_> {
        match json::read(text, json::DEPTH) {
            Ok(Data::Object(object)) => object,
            other => panic!("{text} is no object: {other:?}"),
        }
    }

    fn tokens(config: &str, map: Option<&str>) -> Result<Vec<String>, String> {
        let map = map.map(object);
        let defaults = object(r#"{"bos_token": "<default>"}"#);
        let tokens =
            special_tokens(&object(config), map.as_ref(), &defaults, || None).map_err(|error| error.message().to_owned())?;
        Ok(tokens.into_iter().map(|(name, token)| format!("{name}={token}")).collect())
    }

    #[test]
    fn a_token_is_a_string_or_says_what_it_is() {
        let config = r#"{"image_token": "<img>", "bos_token": {"__type": "AddedToken", "content": "<s>"}, "eos_token": ""}"#;
        let expected = ["bos_token=<s>", "eos_token=", "image_token=<img>"];
        assert_eq!(tokens(config, None).as_deref(), Ok(expected.map(str::to_owned).as_slice()));
        let untyped = r#"{"bos_token": {"content": "<s>"}}"#;
        let message = "Special token bos_token has to be either str or AddedToken but got: <class 'dict'>";
        assert_eq!(tokens(untyped, None), Err(message.to_owned()));
    }

    #[test]
    fn null_suppresses_what_the_class_brings() {
        assert_eq!(
            tokens("{}", None).as_deref(),
            Ok(["bos_token=<default>".to_owned()].as_slice())
        );
        assert_eq!(tokens(r#"{"bos_token": null}"#, None).as_deref(), Ok([].as_slice()));
    }

    #[test]
    fn the_older_map_wins_for_standard_names_and_loses_for_others() {
        let config = r#"{"bos_token": "<s>", "image_token": "<img>", "eos_token": "</s>"}"#;
        let map = r#"{"bos_token": {"content": "<b>"}, "image_token": "<i>", "eos_token": null}"#;
        let expected = ["bos_token=<b>", "image_token=<img>"];
        assert_eq!(
            tokens(config, Some(map)).as_deref(),
            Ok(expected.map(str::to_owned).as_slice())
        );
    }

    #[test]
    fn named_extra_tokens_win_over_keys() {
        let config = r#"{"image_token": "<img>", "extra_special_tokens": {"image_token": "<x>", "boi": "<boi>"}}"#;
        let expected = ["bos_token=<default>", "image_token=<x>", "boi=<boi>"];
        assert_eq!(tokens(config, None).as_deref(), Ok(expected.map(str::to_owned).as_slice()));
    }
}
