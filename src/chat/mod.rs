//! The contract of transformers' `apply_chat_template`: it makes a prompt from a model's templates, its special tokens and a conversation.
//!
//! ```text
//! from_dir("Qwen3-8B").apply(messages, {tools, add_generation_prompt})   ->   "<|im_start|>system…<|im_start|>assistant\n"
//! ```
//!
//! [`crate::Template`] renders the templates. The rules are transformers 5.24.0 `tokenization_utils_base.py` and
//! `utils/chat_template_utils.py`; each file names the function that its rule comes from.

mod append;
mod apply;
mod continuation;
mod copied;
mod kept;
mod messages;
pub(crate) mod model;
mod options;
mod prompt;
mod render;
#[cfg(feature = "response")]
mod response;
mod stops;
mod templates;
mod turns;
mod variables;

use std::any::Any;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::OnceLock;

use indexmap::IndexMap;

use crate::deadline::Bounds;
use crate::error::{Error, ErrorClass, ErrorKind, Result};
use crate::meter::Meter;
#[cfg(feature = "inspect")]
use crate::template::Template;
use crate::value::Value;

pub use append::{Append, NextPiece, PrefixBroken};
#[cfg(feature = "inspect")]
pub(crate) use append::{find_line, list_lookahead};
use kept::Kept;
pub use model::LoadOptions;
#[cfg(feature = "inspect")]
pub(crate) use model::SPECIAL_TOKENS;
#[cfg(feature = "internal")]
pub use model::{Files, MAX_SPECIAL_TOKENS};
pub use options::{ApplyOptions, ContinueFinalMessage, PromptOptions};
pub use prompt::Prompt;
#[cfg(feature = "inspect")]
pub(crate) use stops::{NEXT_TURN, StopToken};
use templates::Compiler;
#[cfg(feature = "internal")]
pub use templates::MAX_TEMPLATES;
pub(crate) use templates::Templates;
pub use turns::assistant::AssistantOptions;
#[cfg(feature = "internal")]
pub use turns::assistant::AssistantSpans;
#[cfg(feature = "inspect")]
pub use turns::assistant::REASONING_FIELDS;
#[cfg(feature = "response")]
pub use turns::assistant::control::common_prefix;
#[cfg(feature = "inspect")]
pub(crate) use turns::assistant::control::common_suffix;
#[cfg(feature = "response")]
pub(crate) use turns::assistant::control::{control_tokens, is_thought};
pub use turns::{ControlPolicy, ControlToken, ControlTokens, Field, TextPiece, TokenOrigin, Turn, assistant_mask};
use variables::has_repeated;
#[cfg(feature = "inspect")]
pub use variables::is_reserved_name;

/// The compiled chat templates of a model with its special tokens.
///
/// It is `Send + Sync`, and a clone shares everything with its original.
///
/// ```
/// use chat_template::{ApplyOptions, ChatTemplate};
///
/// let template = ChatTemplate::from_source("{{ bos_token }}{{ messages[0].content }}", &[("bos_token", "<s>")])?;
/// let shared = template.clone();
/// let thread = std::thread::spawn(move || {
///     let messages = serde_json::json!([{"role": "user", "content": "Hi"}]);
///     shared.apply(&messages, &ApplyOptions::default()).map(|prompt| prompt.text)
/// });
/// assert_eq!(thread.join().unwrap()?, "<s>Hi");
/// # Ok::<(), chat_template::Error>(())
/// ```
///
#[doc = include_str!("model/cache.md")]
#[derive(Clone, Debug)]
pub struct ChatTemplate {
    parts: Arc<Parts>,
}

#[derive(Clone, Debug)]
struct Parts {
    templates: Templates,
    special_tokens: Vec<(String, String)>,
    /// Whether one of them has the name of a parameter of a function that renders.
    repeats: bool,
    added_special_tokens: Vec<String>,
    /// The tokens that the model's files name as ends besides `eos_token`, and the kind of these files.
    own_stops: Vec<(String, &'static str)>,
    /// Whether a text begins with `bos_token`, if a GGUF file says so.
    adds_bos: Option<bool>,
    /// The description of what the model writes.
    #[cfg(feature = "response")]
    response: Option<Result<crate::response::ResponseTemplate>>,
    /// The values that modules of higher floors keep.
    kept: Kept,
    /// For each template, a `ChatTemplate` that has only this one, made by the first request that needs it.
    singles: Vec<OnceLock<ChatTemplate>>,
}

impl ChatTemplate {
    /// Makes a `ChatTemplate` from the source of a template and its special tokens.
    ///
    /// ```
    /// use chat_template::{ApplyOptions, ChatTemplate, ErrorKind};
    ///
    /// let template = ChatTemplate::from_source("{{ messages[0].content }}{{ eos_token }}", &[("eos_token", "</s>")])?;
    /// let messages = serde_json::json!([{"role": "user", "content": "Hi"}]);
    /// assert_eq!(template.apply(&messages, &ApplyOptions::default())?.text, "Hi</s>");
    /// assert_eq!(ChatTemplate::from_source("{% if %}", &[]).unwrap_err().kind(), ErrorKind::Syntax);
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the source does not compile.
    pub fn from_source(source: impl Into<String>, special_tokens: &[(&str, &str)]) -> Result<Self> {
        Self::from_source_with(source, special_tokens, Bounds::default())
    }

    /// Makes a `ChatTemplate` like [`ChatTemplate::from_source`], and compiles the source within bounds, such as limits or a deadline.
    ///
    /// # Errors
    /// Those of [`ChatTemplate::from_source`].
    pub fn from_source_with<'o>(
        source: impl Into<String>,
        special_tokens: &[(&str, &str)],
        bounds: impl Into<Bounds<'o>>,
    ) -> Result<Self> {
        Self::load_source(source, special_tokens, bounds.into()).checked()
    }

    /// Makes a `ChatTemplate` from a source. If it does not compile, [`ChatTemplate::apply`] returns the error.
    #[doc(hidden)]
    pub fn load_source(source: impl Into<String>, special_tokens: &[(&str, &str)], bounds: Bounds<'_>) -> Self {
        let template = Compiler::new(Meter::within(bounds, &bounds.start())).compile("", source);
        Self::assemble(Templates::one(template), to_owned(special_tokens))
    }

    /// Makes a `ChatTemplate` from several named templates. A repeated name replaces the earlier template.
    ///
    /// Without [`ApplyOptions::chat_template`], a request with tools (an empty list counts) is rendered by `tool_use`, if there is one, and
    /// any other by `default`.
    ///
    /// ```
    /// use chat_template::{ApplyOptions, ChatTemplate};
    ///
    /// let template = ChatTemplate::from_named(&[("default", "plain"), ("tool_use", "tools"), ("rag", "documents")], &[])?;
    /// let messages = serde_json::json!([{"role": "user", "content": "Hi"}]);
    /// let text = |options: ApplyOptions| template.apply(&messages, &options).map(|prompt| prompt.text);
    /// assert_eq!(text(ApplyOptions::default())?, "plain");
    /// assert_eq!(text(ApplyOptions::default().with_tools(&serde_json::json!([])))?, "tools");
    /// assert_eq!(text(ApplyOptions::default().with_chat_template("rag"))?, "documents");
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the template named `default` does not compile. As in transformers, which compiles a template when a request needs it, another
    /// template that does not compile is an error of the requests that choose it; [`ChatTemplate::check`] finds it earlier.
    pub fn from_named(templates: &[(&str, &str)], special_tokens: &[(&str, &str)]) -> Result<Self> {
        Self::from_named_with(templates, special_tokens, Bounds::default())
    }

    /// Makes a `ChatTemplate` like [`ChatTemplate::from_named`], and compiles all sources together within bounds, such as limits or a
    /// deadline.
    ///
    /// # Errors
    /// Those of [`ChatTemplate::from_named`].
    pub fn from_named_with<'o>(
        templates: &[(&str, &str)],
        special_tokens: &[(&str, &str)],
        bounds: impl Into<Bounds<'o>>,
    ) -> Result<Self> {
        Self::load_named(templates, special_tokens, bounds.into()).checked()
    }

    /// Makes a `ChatTemplate` from named templates. All of them share the steps and the time of the bounds. If one does not compile,
    /// [`ChatTemplate::apply`] returns the error.
    #[doc(hidden)]
    pub fn load_named(templates: &[(&str, &str)], special_tokens: &[(&str, &str)], bounds: Bounds<'_>) -> Self {
        let deadline = bounds.start();
        let compiler = Compiler::new(Meter::within(bounds, &deadline));
        let templates = templates.iter().map(|(name, source)| compiler.compile(*name, *source));
        Self::assemble(Templates::from_named(templates), to_owned(special_tokens))
    }

    /// Returns the templates if the only one, or the one named `default`, compiles.
    pub(crate) fn checked(self) -> Result<Self> {
        let main = self.parts.templates.main();
        main.map_or(Ok(()), |template| template.compiled().map(drop))?;
        Ok(self)
    }

    pub(crate) fn assemble(templates: Templates, special_tokens: Vec<(String, String)>) -> Self {
        let parts = Parts {
            singles: vec![OnceLock::new(); templates.all().len()],
            templates,
            repeats: has_repeated(&special_tokens),
            special_tokens,
            added_special_tokens: Vec::new(),
            own_stops: Vec::new(),
            adds_bos: None,
            #[cfg(feature = "response")]
            response: None,
            kept: Kept::default(),
        };
        Self { parts: Arc::new(parts) }
    }

    /// Sets the description of what the model writes.
    #[cfg(feature = "response")]
    pub(crate) fn with_response(mut self, response: Option<Result<crate::response::ResponseTemplate>>) -> Self {
        self.parts_mut().response = response;
        self
    }

    /// Sets the special tokens without names. A token that also has a name is left out.
    pub(crate) fn with_added_special_tokens(mut self, tokens: Vec<String>) -> Self {
        let parts = self.parts_mut();
        let named: HashSet<&String> = parts.special_tokens.iter().map(|(_, token)| token).collect();
        parts.added_special_tokens = tokens.into_iter().filter(|token| !named.contains(token)).collect();
        self
    }

    /// Sets the tokens that a kind of file names as ends.
    pub(crate) fn with_own_stops(mut self, tokens: Vec<String>, source: &'static str) -> Self {
        self.parts_mut().own_stops = tokens.into_iter().map(|token| (token, source)).collect();
        self
    }

    pub(crate) fn with_bos_added(mut self, adds_bos: Option<bool>) -> Self {
        self.parts_mut().adds_bos = adds_bos;
        self
    }

    /// Adds a special token by its name and its text, such as `bos_token` and `<s>`. A special token of the same name is replaced.
    #[must_use]
    pub fn with_special_token(self, name: impl Into<String>, token: impl Into<String>) -> Self {
        self.with_special_tokens([(name, token)])
    }

    /// Sets the expressions of each template to the general form, unless another `ChatTemplate` shares it.
    #[cfg(feature = "internal")]
    #[doc(hidden)]
    pub fn generalize(mut self) -> Self {
        self.parts_mut().templates.generalize();
        self
    }

    /// Returns the parts of the model for modification, and drops what is kept and the single templates that were made from the old parts.
    fn parts_mut(&mut self) -> &mut Parts {
        let parts = Arc::make_mut(&mut self.parts);
        parts.kept = Kept::default();
        parts.singles.iter_mut().for_each(|single| drop(single.take()));
        parts
    }

    /// Returns a `ChatTemplate` that has only the template for a request. `argument` is the template's name in the request; without it,
    /// `has_tools` decides. Returns `self` if the templates have no names, or if no template is for the request.
    pub(crate) fn single(&self, argument: Option<&str>, has_tools: bool) -> &Self {
        let Some(index) = self.parts.templates.find_named(argument, has_tools) else {
            return self;
        };
        let parts = &*self.parts;
        match (parts.templates.all().get(index), parts.singles.get(index)) {
            (Some(template), Some(single)) => single.get_or_init(|| {
                let mut single = Self::assemble(Templates::one(template.clone()), parts.special_tokens.clone())
                    .with_added_special_tokens(parts.added_special_tokens.clone())
                    .with_bos_added(parts.adds_bos);
                single.parts_mut().own_stops.clone_from(&parts.own_stops);
                single
            }),
            _ => self,
        }
    }

    /// Returns the value of a type that a module of a higher floor keeps with these templates. It is made when it is first read.
    pub(crate) fn kept<T: Any + Send + Sync + Default>(&self) -> &T {
        self.parts.kept.find()
    }

    /// Adds special tokens, each by its name and its text. Special tokens of the same names are replaced.
    #[must_use]
    pub fn with_special_tokens<N: Into<String>, T: Into<String>>(mut self, tokens: impl IntoIterator<Item = (N, T)>) -> Self {
        let parts = self.parts_mut();
        let mut merged: IndexMap<String, String> = std::mem::take(&mut parts.special_tokens).into_iter().collect();
        merged.extend(tokens.into_iter().map(|(name, token)| (name.into(), token.into())));
        parts.special_tokens = merged.into_iter().collect();
        parts.repeats = has_repeated(&parts.special_tokens);
        self
    }

    /// Checks that all named templates compile. A server can call this when it starts; otherwise the first request that needs a broken
    /// template fails.
    ///
    /// # Errors
    /// The syntax error of the first template that does not compile.
    pub fn check(&self) -> Result<()> {
        self.parts
            .templates
            .all()
            .iter()
            .try_for_each(|template| template.compiled().map(drop))
    }

    /// Returns the source of the template that renders a request without tools: the only one, or the one named `default`.
    ///
    /// ```
    /// use chat_template::ChatTemplate;
    ///
    /// let template = ChatTemplate::from_named(&[("default", "plain"), ("tool_use", "tools")], &[])?;
    /// assert_eq!(template.source(), Some("plain"));
    /// assert_eq!(template.named_source("tool_use"), Some("tools"));
    /// assert_eq!(template.named_source("rag"), None);
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    pub fn source(&self) -> Option<&str> {
        self.parts.templates.main().map(|template| template.source.as_str())
    }

    /// Returns the source of the template with this name.
    pub fn named_source(&self, name: &str) -> Option<&str> {
        let found = self.parts.templates.named().iter().find(|template| template.name == name);
        found.map(|template| template.source.as_str())
    }

    /// Returns whether the model's tokenizer begins a text with `bos_token`, if a GGUF file says so: `tokenizer.ggml.add_bos_token`, or the rule of
    /// transformers for a vocabulary without it. A prompt is encoded without this token, because the template prints it where it belongs.
    pub fn adds_bos_token(&self) -> Option<bool> {
        self.parts.adds_bos
    }

    /// Returns whether a template has a `{% generation %}` block. Without one there are no spans, and every assistant mask is all zeros.
    pub fn has_generation(&self) -> bool {
        let mut templates = self.parts.templates.all().iter();
        templates.any(|template| template.compiled().is_ok_and(|compiled| compiled.has_generation()))
    }

    /// Returns the names and the strings of the special tokens that templates read as variables.
    pub fn special_tokens(&self) -> &[(String, String)] {
        &self.parts.special_tokens
    }

    /// Returns the special tokens without names, in the order of the model's files: the lists of extra tokens, and the added tokens that
    /// are special. Templates do not see them. A server can search the text of its users for them.
    ///
    /// ```
    /// use chat_template::ChatTemplate;
    ///
    /// let config = serde_json::json!({
    ///     "bos_token": "<s>",
    ///     "additional_special_tokens": ["<|tool|>"],
    ///     "added_tokens_decoder": {"1": {"content": "<|end|>", "special": true}, "2": {"content": "<think>", "special": false}},
    /// });
    /// let template = ChatTemplate::from_config(&config)?;
    /// assert_eq!(template.special_tokens(), [("bos_token".to_owned(), "<s>".to_owned())]);
    /// assert_eq!(template.added_special_tokens(), ["<|tool|>", "<|end|>"]);
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    pub fn added_special_tokens(&self) -> &[String] {
        &self.parts.added_special_tokens
    }

    /// Returns the control tokens that the model's files name: the special tokens with and without names.
    ///
    /// ```
    /// use chat_template::ChatTemplate;
    ///
    /// let config = serde_json::json!({"bos_token": "<s>", "additional_special_tokens": ["<|tool|>"]});
    /// assert_eq!(ChatTemplate::from_config(&config)?.control_tokens(), ["<s>", "<|tool|>"]);
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    pub fn control_tokens(&self) -> Vec<&str> {
        self.control_tokens_with(self.special_tokens())
    }

    /// Returns the control tokens of a call that replaces the special tokens with names.
    fn control_tokens_with<'t>(&'t self, special_tokens: &'t [(String, String)]) -> Vec<&'t str> {
        let named = special_tokens.iter().map(|(_, token)| token.as_str());
        named.chain(self.added_special_tokens().iter().map(String::as_str)).collect()
    }

    /// Returns the name and the source of each template, in order. A template without a name has the empty name.
    #[cfg(feature = "internal")]
    #[doc(hidden)]
    pub fn sources(&self) -> impl Iterator<Item = (&str, &str)> {
        let templates = self.parts.templates.all().iter();
        templates.map(|template| (template.name.as_str(), template.source.as_str()))
    }

    /// Returns the templates that compile, in order.
    #[cfg(feature = "inspect")]
    pub(crate) fn compiled(&self) -> impl Iterator<Item = &Template> {
        let templates = self.parts.templates.all().iter();
        templates.filter_map(|template| template.compiled().ok())
    }

    /// Returns the names of the templates, in order. A single template has no name, and the list is empty.
    ///
    /// ```
    /// use chat_template::ChatTemplate;
    ///
    /// assert_eq!(ChatTemplate::from_named(&[("default", ""), ("tool_use", "")], &[])?.names(), ["default", "tool_use"]);
    /// assert!(ChatTemplate::from_source("", &[])?.names().is_empty());
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    pub fn names(&self) -> Vec<&str> {
        let named = self.parts.templates.named().iter();
        named.map(|template| template.name.as_str()).collect()
    }
}

fn to_owned(special_tokens: &[(&str, &str)]) -> Vec<(String, String)> {
    let tokens = special_tokens.iter();
    tokens
        .map(|(name, token)| ((*name).to_owned(), (*token).to_owned()))
        .collect()
}

/// Returns an error of the class [`ErrorClass::Request`], without a line of the template.
fn refused(kind: ErrorKind, message: impl Into<String>) -> Error {
    Error::new(kind, message).without_line().with_class(ErrorClass::Request)
}

/// Returns Python's error for an argument that cannot be iterated.
fn not_iterable(value: &Value<'_>, argument: &str) -> Error {
    let ty = value.ty().name();
    refused(ErrorKind::Type, format!("'{ty}' object is not iterable")).with_note(explain_objects(value, argument))
}

/// Returns a note on an argument that is not a list of objects.
fn explain_objects(value: &Value<'_>, argument: &str) -> String {
    match value {
        Value::List(_) | Value::Tuple(_) => format!("`{argument}` has an item that is not an object"),
        _ => format!("`{argument}` is of type {}, and must be a list of objects", value.ty().name()),
    }
}
