//! The special tokens with names in a model's files, which are variables of its templates.
//!
//! ```text
//! {"bos_token": "<s>", "eos_token": {"__type": "AddedToken", "content": "</s>"}, "image_token": "<img>"}
//!     ->   bos_token = <s>, eos_token = </s>, image_token = <img>
//! ```
//!
//! The rule is transformers 5.24.0 `tokenization_utils_base.py`: `_from_pretrained`, which merges the two files, and `__init__`, which
//! takes the tokens from the result. The tokens in a list (`additional_special_tokens`) have no names, so that no template sees them.

use std::borrow::Cow;

use indexmap::IndexMap;

use crate::error::{Error, Result};
use crate::json::{Data, Object};
use crate::limits::{Limit, LimitExceeded};
use crate::text::message::elide;
use crate::value::Value;

/// The names of the special tokens that every tokenizer can have.
pub const STANDARD: [&str; 7] = [
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    PAD,
    "cls_token",
    "mask_token",
];

const PAD: &str = "pad_token";

/// The maximum number of special tokens with names that a model may have. Known models have fewer than a hundred. Each render copies them
/// into the variables of the template.
pub const MAX_SPECIAL_TOKENS: usize = 10_000;

/// The largest number of code points of a name that a message repeats.
const MAX_NAME: usize = 100;

const EXTRA: &str = "extra_special_tokens";
const OLDER_EXTRA: &str = "additional_special_tokens";
const OWN: &str = "model_specific_special_tokens";

const NO_EXTRA: &str = "extra_special_tokens must be a list/tuple of tokens or a dict of named tokens";
const NO_OWN: &str = "model_specific_special_tokens must be a dictionary of token name to token value";

/// Returns the names and strings of the special tokens, the standard ones first. `map` is the content of `special_tokens_map.json`, if it
/// is read. `defaults` are the tokens of the tokenizer's class. `pad_token` is that of `tokenizer.json`, which counts if nothing else names
/// one.
pub(super) fn collect_special_tokens(
    config: &Object<'_>,
    map: Option<&Object<'_>>,
    defaults: &Object<'_>,
    pad_token: Option<String>,
) -> Result<Vec<(String, String)>> {
    let mut arguments = Arguments::default();
    arguments.read_config(config)?;
    if let Some(map) = map {
        arguments.read_map(map)?;
    }
    let arguments = arguments.finish()?;
    let count = arguments.values.len() + arguments.named.len();
    if count > MAX_SPECIAL_TOKENS {
        return Err(Error::limit(LimitExceeded::from_sizes(
            Limit::SpecialTokens,
            count,
            MAX_SPECIAL_TOKENS,
        )));
    }
    let mut tokens: IndexMap<&str, Cow<'_, str>> = IndexMap::new();
    for (name, token) in defaults.entries() {
        if let (false, Data::Str(token)) = (arguments.values.contains_key(&**name), token) {
            tokens.insert(name, Cow::Borrowed(token));
        }
    }
    if !arguments.values.contains_key(PAD) && defaults.get(PAD).is_none() {
        tokens.extend(pad_token.map(|token| (PAD, Cow::Owned(token))));
    }
    for (name, value) in &arguments.values {
        let value = match value {
            TokenValue::Content(content) => {
                tokens.insert(name, content.clone());
                continue;
            }
            TokenValue::Json(value) => value,
        };
        match token(name, value)? {
            Some(token) => drop(tokens.insert(name, token)),
            // Null unsets the token.
            None if is_standard(name) && !matches!(value, Data::None) => return Err(not_a_token(name, value)),
            None => {}
        }
    }
    for (name, value) in &arguments.named {
        let token = token(name, value)?.ok_or_else(|| not_a_token(name, value))?;
        tokens.insert(name, token);
    }
    let standard: Vec<_> = STANDARD.iter().filter_map(|name| tokens.shift_remove_entry(name)).collect();
    let tokens = standard.into_iter().chain(tokens);
    Ok(tokens.map(|(name, token)| (name.to_owned(), token.into_owned())).collect())
}

/// Returns whether `special_tokens_map.json` is read. Newer versions write `added_tokens_decoder` into the configuration instead.
pub(super) fn reads_map(config: &Object<'_>) -> bool {
    config.get("added_tokens_decoder").is_none()
}

/// The arguments of the tokenizer's constructor in the reference that are about special tokens.
#[derive(Default)]
struct Arguments<'f> {
    /// The arguments that are named like a token.
    values: IndexMap<&'f str, TokenValue<'f>>,
    /// The argument `model_specific_special_tokens`, which is applied last.
    named: IndexMap<&'f str, &'f Data<'f>>,
    /// The argument `extra_special_tokens`.
    extra: Option<&'f Data<'f>>,
    /// The argument `additional_special_tokens`, which is the name of `extra_special_tokens` in older files.
    older_extra: Option<&'f Data<'f>>,
}

/// The value of a key whose name is that of a token.
enum TokenValue<'f> {
    Json(&'f Data<'f>),
    /// The text of a token that is an object in `special_tokens_map.json`, which needs no `__type` there.
    Content(Cow<'f, str>),
}

impl<'f> Arguments<'f> {
    /// Reads the arguments in `tokenizer_config.json`.
    fn read_config(&mut self, config: &'f Object<'f>) -> Result<()> {
        for (name, value) in config.entries() {
            match value {
                // These two names end like those of tokens, but are switches, which the reference removes first.
                _ if ["add_bos_token", "add_eos_token"].contains(&&**name) => {}
                Data::Str(_) if is_of_the_model(name) => drop(self.named.insert(name, value)),
                _ if is_standard(name) || is_of_the_model(name) => drop(self.values.insert(name, TokenValue::Json(value))),
                _ => {}
            }
        }
        let extra = config.get(EXTRA);
        let older = config.get(OLDER_EXTRA);
        (self.extra, self.older_extra) = match older {
            Some(_) if !extra.is_some_and(Data::is_true) => (older, None),
            _ => (extra, older),
        };
        if let Some(Data::Object(tokens)) = self.extra {
            self.read_named(tokens);
            self.extra = None;
        }
        // The reference writes this key when it saves a tokenizer, and ignores it if the file has other tokens of the model.
        match config.get(OWN) {
            _ if !self.named.is_empty() => Ok(()),
            own => self.read_own(own),
        }
    }

    /// Reads the arguments in `special_tokens_map.json`, after those of the configuration.
    fn read_map(&mut self, map: &'f Object<'f>) -> Result<()> {
        for (name, value) in map.entries() {
            match value {
                _ if !is_standard(name) && !is_of_the_model(name) => {}
                Data::Object(token) => drop(self.values.insert(name, TokenValue::Content(content(name, token)?))),
                _ => drop(self.values.insert(name, TokenValue::Json(value))),
            }
        }
        match map.get(OWN) {
            None => {}
            // In this file every object is a single token.
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
                // The reference appends them to the tokens of the configuration, and ignores the older key.
                self.read_extra(self.extra.filter(|extra| extra.is_true()))?;
                items.iter().try_for_each(check_extra_of_map)?;
                (self.extra, self.older_extra) = (None, None);
                return Ok(());
            }
            extra => self.extra = extra,
        }
        match map.get(OLDER_EXTRA) {
            None => {}
            // In this file every object is a single token, and not a list of tokens.
            Some(Data::Object(_)) if self.extra.is_none() => return Err(Error::type_error(NO_EXTRA)),
            older => self.older_extra = older,
        }
        Ok(())
    }

    /// Reads the extra tokens, which do not replace other tokens of the same name. The items of a list are only checked.
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

/// Returns the text of a token of this name, or `None` if the value is not a token.
fn token<'t>(name: &str, value: &'t Data<'_>) -> Result<Option<Cow<'t, str>>> {
    match value {
        Data::Str(token) => Ok(Some(Cow::Borrowed(token))),
        Data::Object(object) if object.get("__type").is_some_and(is_added_token) => content(name, object).map(Some),
        _ => Ok(None),
    }
}

/// Returns the `content` of an object that is a token of this name, or an empty string if it has none.
fn content<'t>(name: &str, token: &'t Object<'_>) -> Result<Cow<'t, str>> {
    match token.get("content") {
        Some(Data::Str(content)) => Ok(Cow::Borrowed(content)),
        None | Some(Data::None) => Ok(Cow::Borrowed("")),
        Some(other) => {
            let found = Value::from(other).ty().name();
            let error = Error::type_error(format!("'{found}' object is not an instance of 'str'"));
            let name = elide(name, MAX_NAME);
            Err(error.with_note(format!("it is the `content` of `{name}`, which must be a string")))
        }
    }
}

/// Returns an error if an item of a list of tokens is not a token.
fn check_extra(item: &Data<'_>) -> Result<()> {
    match token(EXTRA, item)? {
        Some(_) => Ok(()),
        None => Err(Error::type_error(format!(
            "Input must be a List[Union[str, AddedToken]]: {EXTRA} or {OLDER_EXTRA} has an item that is not a token"
        ))),
    }
}

/// Returns an error if an item of a list in `special_tokens_map.json` is not a token. Objects need no `__type` there, and are all special.
fn check_extra_of_map(item: &Data<'_>) -> Result<()> {
    match item {
        Data::Object(token) if token.get("special").is_some() => {
            let message = "tokenizers.AddedToken() got multiple values for keyword argument 'special'";
            Err(Error::type_error(message))
        }
        Data::Object(token) => content(EXTRA, token).map(drop),
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

fn not_a_token(name: &str, found: &Data<'_>) -> Error {
    let found = Value::from(found).ty().name();
    Error::type_error(format!(
        "Special token {name} has to be either str or AddedToken but got: <class '{found}'>"
    ))
}
