//! Variables: what a template is given under which name, and which names it reads.
//!
//! ```text
//! messages, tools, documents, add_generation_prompt   <   special tokens   <   the caller's own variables
//! ```
//!
//! Whoever comes later wins, but for the first four, which nobody may give twice. The rules are those of the calls in transformers
//! 5.23.0 `apply_chat_template` and `render_jinja_template`: which names a Python call refuses is what its parameters are called.

use super::apply::ApplyOptions;
use super::{ChatTemplate, refused};
use crate::error::{Error, ErrorKind, Result};
use crate::value::{Dict, Entries, Key, Runtime, Str, Value};

/// The parameters of `apply_chat_template` that are given by their names.
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

/// What `render_jinja_template` is given besides special tokens and variables.
const RENDER_PARAMETERS: [&str; 7] = [
    "conversations",
    "tools",
    "documents",
    "chat_template",
    "return_assistant_tokens_mask",
    "continue_final_message",
    "add_generation_prompt",
];

/// Returns whether transformers refuses a special token or a variable of this name, or gives it a meaning of its own.
#[cfg(feature = "cli")]
pub(crate) fn is_reserved_name(name: &str) -> bool {
    PARAMETERS.contains(&name)
        || RENDER_PARAMETERS.contains(&name)
        || ["self", "conversation", "messages", "compiled_template"].contains(&name)
}

/// Special tokens and the caller's own variables, merged.
pub(super) struct Variables<'a> {
    entries: Entries<'a>,
    /// The names of the special tokens that no variable replaces.
    tokens: Vec<&'a str>,
    /// `add_generation_prompt` as it goes to the template.
    pub generation_prompt: Value<'a>,
}

impl<'a> Variables<'a> {
    /// Merges them; a variable cannot be called like a parameter of the call.
    pub fn merge(runtime: &mut Runtime<'a>, special_tokens: &'a [(String, String)], options: &'a ApplyOptions<'a>) -> Result<Self> {
        let mut entries = Entries::default();
        let mut tokens = Vec::with_capacity(special_tokens.len());
        for (name, token) in special_tokens {
            entries.insert(Key::from(Str::from(name.as_str())), Value::text(token));
            tokens.push(name.as_str());
        }
        let mut generation_prompt = Value::Bool(options.add_generation_prompt);
        let given = options.variables.map(|variables| variables.borrow_value(runtime));
        match given.transpose()? {
            None | Some(Value::None) => {}
            Some(Value::Dict(variables)) => {
                for (key, value) in variables.iter() {
                    let name = key.as_str().unwrap_or_default();
                    if name == "add_generation_prompt" && !options.add_generation_prompt {
                        generation_prompt = value;
                        continue;
                    }
                    refuse_parameter(name)?;
                    tokens.retain(|token| *token != name);
                    entries.insert(Key::new(runtime, key)?, value);
                }
            }
            Some(other) => {
                let ty = other.ty().name();
                return Err(type_error(format!(
                    "{BASE}apply_chat_template() argument after ** must be a mapping, not {ty}"
                )));
            }
        }
        Ok(Self {
            entries,
            tokens,
            generation_prompt,
        })
    }

    /// Refuses the names of what the reference's own call passes on.
    pub fn check_call(&self) -> Result<()> {
        match self.names().find(|name| RENDER_PARAMETERS.contains(name)) {
            Some(name) => Err(type_error(format!(
                "{UTILS}render_jinja_template() {REPEATED} keyword argument '{name}'"
            ))),
            None => Ok(()),
        }
    }

    /// Refuses the names of what rendering is given, which the reference finds only then.
    pub fn check_render(&self, tracks_spans: bool) -> Result<()> {
        let (function, repeated) = match tracks_spans {
            true => {
                let own = self.names().find(|name| ["messages", "compiled_template"].contains(name));
                (format!("{UTILS}_render_with_assistant_indices"), own)
            }
            false => {
                let own = self.names().find(|name| *name == "messages");
                ("jinja2.environment.Template.render".to_owned(), own)
            }
        };
        if let Some(name) = repeated {
            return Err(type_error(format!("{function}() {REPEATED} keyword argument '{name}'")));
        }
        if self.names().any(|name| name == "self") {
            let method = if tracks_spans { "generate" } else { "render" };
            return Err(type_error(format!("Template.{method}() {REPEATED} argument 'self'")));
        }
        Ok(())
    }

    /// The context of a conversation.
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
        let own = self.entries.iter().map(|(key, value)| (key.clone(), value.clone()));
        runtime.dict(always.into_iter().chain(own).collect())
    }

    /// Returns the error with the class of the template where that of a mismatch does not fit: the value is a special token of the model,
    /// or the list of messages as a whole. [`ErrorClass`](crate::ErrorClass) documents the rule.
    pub fn with_class(&self, error: Error) -> Error {
        let lacks_a_message = matches!(error.kind(), ErrorKind::Undefined | ErrorKind::Index);
        error.excuse_input(|path| match path.strip_prefix('/') {
            Some("messages") => !lacks_a_message,
            Some(root) => self.tokens.contains(&root),
            None => false,
        })
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().filter_map(|key| key.value.as_str())
    }
}

const BASE: &str = "transformers.tokenization_utils_base.PreTrainedTokenizerBase.";
const UTILS: &str = "transformers.utils.chat_template_utils.";
const REPEATED: &str = "got multiple values for";

fn refuse_parameter(name: &str) -> Result<()> {
    if ["self", "conversation"].contains(&name) {
        return Err(type_error(format!(
            "PreTrainedTokenizerBase.apply_chat_template() {REPEATED} argument '{name}'"
        )));
    }
    if PARAMETERS.contains(&name) {
        return Err(type_error(format!(
            "{BASE}apply_chat_template() {REPEATED} keyword argument '{name}'"
        )));
    }
    Ok(())
}

fn type_error(message: String) -> Error {
    refused(ErrorKind::Type, message)
}

impl ChatTemplate {
    /// Returns the names that the templates read, in the order in which they first occur: the arguments of `apply`, special tokens, and
    /// the variables that a caller can pass. Names that a template sets before it reads them are left out, as
    /// [`Template::variables`](crate::Template::variables) explains. A template that does not compile reads none.
    ///
    /// A server can refuse a variable that no template reads:
    ///
    /// ```
    /// use chat_template::ChatTemplate;
    ///
    /// let template = ChatTemplate::from_source("{{ bos_token }}{% if enable_thinking %}<think>{% endif %}", &[("bos_token", "<s>")]);
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
