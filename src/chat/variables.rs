//! The variables of a template: their names, their order of precedence, and the names that are errors.
//!
//! ```text
//! messages, tools, documents, add_generation_prompt   <   special tokens   <   the caller's own variables
//! ```
//!
//! The later one replaces the earlier one, but the first four cannot be replaced. The rules follow from the calls in transformers 5.24.0
//! `apply_chat_template` and `render_jinja_template`: Python refuses a keyword that is also the name of another argument.

use super::input::sealed::Borrow;
use super::options::ApplyOptions;
use super::{ChatTemplate, refused};
use crate::error::{Error, ErrorKind, Result};
use crate::meter::Claim;
use crate::value::{Dict, Entries, Key, Runtime, Str, Traced, Value};

/// The parameters of `apply_chat_template` that a variable would repeat.
const PARAMETERS: [&str; 14] = [
    "tools",
    "documents",
    "chat_template",
    "add_generation_prompt",
    "continue_final_message",
    "tokenize",
    "sanitize_control_tokens",
    "padding",
    "truncation",
    "max_length",
    "return_tensors",
    "return_dict",
    "return_assistant_tokens_mask",
    "tokenizer_kwargs",
];

/// The parameters of `render_jinja_template` that a special token or a variable would repeat.
const RENDER_PARAMETERS: [&str; 7] = [
    "conversations",
    "tools",
    "documents",
    "chat_template",
    "return_assistant_tokens_mask",
    "continue_final_message",
    "add_generation_prompt",
];

/// The number of steps that it costs to merge a special token or a variable into the variables, and to look at its name.
const STEPS_FOR_AN_ENTRY: u64 = 8;

/// Returns whether a special token or a variable of this name is an error or has a meaning of its own.
#[cfg(feature = "inspect")]
pub(crate) fn is_reserved_name(name: &str) -> bool {
    PARAMETERS.contains(&name)
        || RENDER_PARAMETERS.contains(&name)
        || ["self", "conversation", "messages", "compiled_template"].contains(&name)
}

/// The special tokens and the variables of a call, merged.
pub(super) struct Variables<'a> {
    entries: Entries<'a>,
    /// The claim on the memory of the entries.
    _claim: Claim,
    /// For each special token, whether no variable replaces it. The special tokens are the first entries.
    are_tokens: Vec<bool>,
    /// The value of `add_generation_prompt` in the template.
    pub generation_prompt: Value<'a>,
}

impl<'a> Variables<'a> {
    /// Merges the special tokens and the variables of the options.
    ///
    /// # Errors
    /// If the variables are not an object, or one has the name of a parameter of `apply_chat_template`.
    pub fn merge(runtime: &mut Runtime<'a>, special_tokens: &'a [(String, String)], options: &'a ApplyOptions<'a>) -> Result<Self> {
        let mut entries = Entries::default();
        charge_entries(runtime, special_tokens.len())?;
        let mut claim = reserve(runtime, &mut entries, special_tokens.len())?;
        for (name, token) in special_tokens {
            entries.insert(Key::new(runtime, Value::text(name))?, Value::text(token));
        }
        let mut are_tokens = vec![true; entries.len()];
        let mut generation_prompt = Value::Bool(options.add_generation_prompt);
        match options.variables.borrow_value(runtime)? {
            Value::None => {}
            Value::Dict(variables) => {
                charge_entries(runtime, variables.len())?;
                claim = reserve(runtime, &mut entries, variables.len())?;
                for (key, value) in variables.iter() {
                    let name = key.as_str().unwrap_or_default();
                    if name == "add_generation_prompt" && !options.add_generation_prompt {
                        generation_prompt = value;
                        continue;
                    }
                    check_name(name)?;
                    let (index, _) = entries.insert_full(Key::new(runtime, key)?, value);
                    are_tokens.get_mut(index).into_iter().for_each(|is_token| *is_token = false);
                }
            }
            other => {
                let ty = other.ty().name();
                let message = format!("{BASE}apply_chat_template() argument after ** must be a mapping, not {ty}");
                return Err(
                    refused(ErrorKind::Type, message).with_note(format!("`variables` is of type {ty}, and must be an object"))
                );
            }
        }
        Ok(Self {
            entries,
            _claim: claim,
            are_tokens,
            generation_prompt,
        })
    }

    /// Returns an error if a name is a parameter of `render_jinja_template`.
    pub fn check_call(&self) -> Result<()> {
        match self.names().find(|name| RENDER_PARAMETERS.contains(name)) {
            Some(name) => Err(repeated(&format!("{UTILS}render_jinja_template"), "keyword argument", name)),
            None => Ok(()),
        }
    }

    /// Returns an error if a name is a parameter of the method that renders. The reference checks this last.
    pub fn check_render(&self, tracks_spans: bool) -> Result<()> {
        let (function, parameters, method): (_, &[&str], _) = if tracks_spans {
            let function = format!("{UTILS}_render_with_assistant_indices");
            (function, &["messages", "compiled_template"], "Template.generate")
        } else {
            (
                "jinja2.environment.Template.render".to_owned(),
                &["messages"],
                "Template.render",
            )
        };
        if let Some(name) = self.names().find(|name| parameters.contains(name)) {
            return Err(repeated(&function, "keyword argument", name));
        }
        match self.names().find(|name| *name == "self") {
            Some(name) => Err(repeated(method, "argument", name)),
            None => Ok(()),
        }
    }

    /// Returns whether an entry is a special token.
    fn is_token(&self, index: usize) -> bool {
        self.are_tokens.get(index) == Some(&true)
    }

    /// Returns the special tokens and the variables, for a render that is traced.
    pub fn list_inputs(&self) -> impl Iterator<Item = Traced<'a>> {
        let entries = self.entries.iter().enumerate();
        entries.filter_map(|(index, (key, value))| match (&key.value, value) {
            (Value::Str(name), Value::Str(text)) if self.is_token(index) => Some(Traced::Token(name.borrowed()?, text.borrowed()?)),
            (name, value) => Traced::variable(name, value.clone()),
        })
    }

    /// Returns the context in which the template renders a conversation.
    pub fn context(
        &self,
        runtime: &mut Runtime<'a>,
        messages: Value<'a>,
        tools: Value<'a>,
        documents: Value<'a>,
    ) -> Result<Dict<'a>> {
        let flag = self.generation_prompt.clone();
        let always = [
            ("messages", messages),
            ("tools", tools),
            ("documents", documents),
            ("add_generation_prompt", flag),
        ];
        let always = always.map(|(name, value)| (Key::from(Str::from(name)), value));
        let mut entries = Entries::default();
        runtime.meter.charge_items(self.entries.len())?;
        let claim = reserve(runtime, &mut entries, self.entries.len() + always.len())?;
        entries.extend(always);
        entries.extend(self.entries.iter().map(|(key, value)| (key.clone(), value.clone())));
        drop(claim);
        runtime.dict(entries)
    }

    /// Returns the error with the class [`Template`](crate::ErrorClass::Template) if the value at fault is a special token of the model or
    /// the whole list of messages. [`ErrorClass`](crate::ErrorClass) documents the rule.
    pub fn with_class(&self, error: Error) -> Error {
        let lacks_a_message = matches!(error.kind(), ErrorKind::Undefined | ErrorKind::Index);
        error.excuse_input(|path| match path.strip_prefix('/') {
            Some("messages") => !lacks_a_message,
            Some(root) => {
                let mut names = self.entries.keys().map(|key| key.value.as_str());
                names
                    .position(|name| name == Some(root))
                    .is_some_and(|index| self.is_token(index))
            }
            None => false,
        })
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().filter_map(|key| key.value.as_str())
    }
}

const BASE: &str = "transformers.tokenization_utils_base.PreTrainedTokenizerBase.";
const UTILS: &str = "transformers.utils.chat_template_utils.";

/// Counts the work of merging a number of entries.
fn charge_entries(runtime: &mut Runtime<'_>, count: usize) -> Result<()> {
    runtime.meter.charge(STEPS_FOR_AN_ENTRY.saturating_mul(count as u64))
}

/// Reserves memory for further entries. Returns the claim on the memory of all entries.
fn reserve<'a>(runtime: &mut Runtime<'a>, entries: &mut Entries<'a>, count: usize) -> Result<Claim> {
    let claim = runtime.claim_entries(entries.len() + count)?;
    entries.reserve_exact(count);
    Ok(claim)
}

/// Returns an error if a variable has the name of a parameter of `apply_chat_template`.
fn check_name(name: &str) -> Result<()> {
    if ["self", "conversation"].contains(&name) {
        return Err(repeated("PreTrainedTokenizerBase.apply_chat_template", "argument", name));
    }
    if PARAMETERS.contains(&name) {
        return Err(repeated(&format!("{BASE}apply_chat_template"), "keyword argument", name));
    }
    Ok(())
}

fn repeated(function: &str, argument: &str, name: &str) -> Error {
    refused(
        ErrorKind::Type,
        format!("{function}() got multiple values for {argument} '{name}'"),
    )
    .with_note(format!(
        "`{name}` cannot be the name of a variable or a special token, because it is a parameter of transformers"
    ))
}

impl ChatTemplate {
    /// Returns the names of the variables that the templates read, in the order of their first use: arguments such as `messages`, special
    /// tokens, and names of the caller. [`Template::variables`](crate::Template::variables) says which names are left out. A template that
    /// does not compile reads no variable.
    ///
    /// A server can refuse a variable that no template reads:
    ///
    /// ```
    /// use chat_template::ChatTemplate;
    ///
    /// let template = ChatTemplate::from_source("{{ bos_token }}{% if enable_thinking %}<think>{% endif %}", &[("bos_token", "<s>")])?;
    /// assert_eq!(template.variables(), ["bos_token", "enable_thinking"]);
    ///
    /// let request = serde_json::json!({"enable_thinkin": true});
    /// let unknown = request.as_object().and_then(|request| request.keys().find(|name| !template.variables().contains(&name.as_str())));
    /// assert_eq!(unknown.map(String::as_str), Some("enable_thinkin"));
    /// ```
    pub fn variables(&self) -> Vec<&str> {
        let mut names = indexmap::IndexSet::new();
        for template in self.parts.templates.all() {
            names.extend(template.compiled().map(|compiled| compiled.variables()).unwrap_or_default());
        }
        names.into_iter().collect()
    }
}
