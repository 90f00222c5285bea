//! The variables of a template: their names, their order of precedence, and the names that are errors.
//!
//! ```text
//! messages, tools, documents, add_generation_prompt   <   special tokens   <   the caller's own variables
//! ```
//!
//! The later one replaces the earlier one, but the first four cannot be replaced. The rules follow from the calls in transformers 5.24.0
//! `apply_chat_template` and `render_jinja_template`: Python refuses a keyword that is also the name of another argument.

use super::options::ApplyOptions;
use super::{ChatTemplate, refused};
use crate::error::{Error, ErrorKind, Result};
use crate::template::Borrow;
use crate::value::{Dict, Entries, Given, Key, Runtime, Traced, Value};

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

/// The parameters of the methods that render a compiled template.
const TEMPLATE_PARAMETERS: [&str; 3] = ["messages", "compiled_template", "self"];

/// The number of steps for checking the name of a special token or a variable, and for finding it.
const STEPS_FOR_AN_ENTRY: u64 = 8;

/// Returns whether a special token or a variable of this name is an error or has a meaning of its own.
#[cfg(feature = "inspect")]
pub fn is_reserved_name(name: &str) -> bool {
    PARAMETERS.contains(&name) || is_repeated(name) || name == "conversation"
}

/// The maximum number of special tokens among which each name is looked up by comparing it with all. A dict finds a name among more.
const SCANNED: usize = 16;

/// The special tokens and the variables of a call.
pub(super) struct Variables<'a> {
    /// The names and strings of the special tokens.
    pub tokens: &'a [(String, String)],
    /// The variables of the caller, which replace special tokens.
    own: Option<Dict<'a>>,
    /// The value of `add_generation_prompt` in the template.
    pub generation_prompt: Value<'a>,
    /// Whether one of them has the name of a parameter of a function that renders.
    repeats: bool,
}

impl<'a> Variables<'a> {
    /// Checks the special tokens and the variables of the options.
    ///
    /// # Errors
    /// If the variables are not an object, or one has the name of a parameter of `apply_chat_template`.
    pub fn new(
        runtime: &mut Runtime<'a>,
        (tokens, repeats): (&'a [(String, String)], bool),
        options: &'a ApplyOptions<'a>,
    ) -> Result<Self> {
        charge_entries(runtime, tokens.len())?;
        let mut repeats = repeats;
        let mut generation_prompt = Value::Bool(options.add_generation_prompt);
        let own = match options.variables.borrow_value(runtime)? {
            Value::None => None,
            Value::Dict(variables) => {
                charge_entries(runtime, variables.len())?;
                for (key, value) in variables.iter() {
                    let name = key.as_str().unwrap_or_default();
                    repeats |= name != FLAG && is_repeated(name);
                    if name == FLAG && !options.add_generation_prompt {
                        generation_prompt = value;
                    } else {
                        check_name(name)?;
                    }
                }
                Some(variables)
            }
            other => {
                let ty = other.ty().name();
                let message = format!("{BASE}apply_chat_template() argument after ** must be a mapping, not {ty}");
                return Err(
                    refused(ErrorKind::Type, message).with_note(format!("`variables` is of type {ty}, and must be an object"))
                );
            }
        };
        Ok(Self {
            tokens,
            own,
            generation_prompt,
            repeats,
        })
    }

    /// Returns an error if a name is a parameter of `render_jinja_template`.
    pub fn check_call(&self) -> Result<()> {
        let function = "transformers.utils.chat_template_utils.render_jinja_template";
        self.check_names(&RENDER_PARAMETERS, function, "keyword argument")
    }

    /// Returns an error if a name is a parameter of the method that renders. The reference checks this last.
    pub fn check_render(&self, tracks_spans: bool) -> Result<()> {
        let (parameters, function, method): (&[&str], _, _) = if tracks_spans {
            let function = "transformers.utils.chat_template_utils._render_with_assistant_indices";
            (&["messages", "compiled_template"], function, "Template.generate")
        } else {
            (&["messages"], "jinja2.environment.Template.render", "Template.render")
        };
        self.check_names(parameters, function, "keyword argument")?;
        self.check_names(&["self"], method, "argument")
    }

    /// Returns whether a name is that of a special token that no variable replaces.
    fn is_token(&self, name: &str) -> bool {
        !self.is_variable(name) && self.tokens.iter().any(|(token, _)| token == name)
    }

    fn is_variable(&self, name: &str) -> bool {
        self.own.as_ref().is_some_and(|own| own.get_str(name).is_some())
    }

    /// Returns the special tokens and the variables, for a render that is traced.
    pub fn list_inputs(&self) -> impl Iterator<Item = Traced<'a>> {
        let tokens = self.tokens.iter().filter(|(name, _)| !self.is_variable(name));
        let tokens = tokens.map(|(name, text)| Traced::Token(name, text));
        let own = self.own.iter().flat_map(Dict::iter);
        let own = own.filter(|(name, _)| name.as_str() != Some(FLAG));
        tokens.chain(own.filter_map(|(name, value)| Traced::variable(&name, value)))
    }

    /// Returns the variables with which the template renders a conversation.
    pub fn make_context(
        &self,
        runtime: &mut Runtime<'a>,
        messages: Value<'a>,
        tools: Value<'a>,
        documents: Value<'a>,
    ) -> Result<Given<'a>> {
        let mut given = Given {
            arguments: Some([
                ("messages", messages),
                ("tools", tools),
                ("documents", documents),
                (FLAG, self.generation_prompt),
            ]),
            variables: self.own,
            tokens: self.tokens,
        };
        if self.tokens.len() > SCANNED {
            let mut entries = Entries::default();
            let tokens = self.tokens.iter().map(|(name, text)| (Value::text(name), Value::text(text)));
            for (name, value) in tokens.chain(self.own.iter().flat_map(Dict::iter)) {
                entries.insert(Key::new(runtime, name)?, value);
            }
            given.variables = Some(runtime.dict(entries)?);
            given.tokens = &[];
        }
        Ok(given)
    }

    /// Returns the error with the class [`Template`](crate::ErrorClass::Template) if the value at fault is a special token of the model or
    /// the whole list of messages. [`ErrorClass`](crate::ErrorClass) documents the rule.
    pub fn with_class(&self, error: Error) -> Error {
        let lacks_a_message = matches!(error.kind(), ErrorKind::Undefined | ErrorKind::Index);
        error.excuse_input(|path| match path.strip_prefix('/') {
            Some("messages") => !lacks_a_message,
            Some(root) => self.is_token(root),
            None => false,
        })
    }

    /// Returns an error about the first special token or variable that has one of these names, which are parameters of a function.
    fn check_names(&self, parameters: &[&str], function: &str, argument: &str) -> Result<()> {
        if !self.repeats {
            return Ok(());
        }
        let mut names = self.names().filter(|name| parameters.contains(name));
        names.next().map_or(Ok(()), |name| Err(repeated(function, argument, name)))
    }

    /// Returns the names of the special tokens and of the variables. The flag is an argument, also if it is among the variables.
    fn names(&self) -> impl Iterator<Item = &'a str> {
        let tokens = self.tokens.iter().map(|(name, _)| name.as_str());
        let own = self.own.iter().flat_map(Dict::keys).filter_map(|name| name.as_str());
        tokens.chain(own.filter(|name| *name != FLAG))
    }
}

/// The argument that says whether the prompt ends with the beginning of the model's message.
pub(super) const FLAG: &str = "add_generation_prompt";

const BASE: &str = "transformers.tokenization_utils_base.PreTrainedTokenizerBase.";

/// Returns whether one of the names of special tokens is that of a parameter of a function that renders.
pub(super) fn has_repeated(tokens: &[(String, String)]) -> bool {
    tokens.iter().any(|(name, _)| is_repeated(name))
}

fn is_repeated(name: &str) -> bool {
    RENDER_PARAMETERS.contains(&name) || TEMPLATE_PARAMETERS.contains(&name)
}

/// Counts the work of a number of entries.
pub(super) fn charge_entries(runtime: &mut Runtime<'_>, count: usize) -> Result<()> {
    runtime.meter.charge(STEPS_FOR_AN_ENTRY.saturating_mul(count as u64))
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
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    pub fn variables(&self) -> Vec<&str> {
        let mut names = indexmap::IndexSet::new();
        for template in self.parts.templates.all() {
            names.extend(template.compiled().map(|compiled| compiled.variables()).unwrap_or_default());
        }
        names.into_iter().collect()
    }
}
