//! `apply_chat_template`, step by step.
//!
//! ```text
//! choose a template, check the messages, compile, check tools and documents   ->   for each conversation: variables, render, cut
//! ```
//!
//! The order of the steps is what a caller sees of it: which of two errors is raised. The rule is transformers 5.23.0
//! `tokenization_utils_base.py`, `apply_chat_template`, and `utils/chat_template_utils.py`, `render_jinja_template`. Folders, tokens and
//! masks are not known here.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::AtomicBool;

use serde::Serialize;

use super::continuation::Continuation;
use super::input::sealed::Borrow;
use super::messages::Conversations;
use super::prompt::{Prompt, Spans};
use super::templates::NamedTemplate;
use super::variables::Variables;
use super::{ChatTemplate, Input, refused};
use crate::clock::Clock;
use crate::error::{Error, ErrorKind, Result};
use crate::json;
use crate::limits::Limits;
use crate::meter::Meter;
use crate::template::{RenderOptions, Template};
use crate::value::{Runtime, Value, ops};

/// Which field of the last message the model is to continue.
///
/// ```
/// use chat_template::{ApplyOptions, ChatTemplate, ContinueFinalMessage};
///
/// let template = ChatTemplate::from_source(
///     "{% for m in messages %}<think>{{ m.reasoning_content }}</think>{{ m.content }}<end>{% endfor %}",
///     &[],
/// );
/// let messages = serde_json::json!([{"role": "assistant", "reasoning": "Well, "}]);
/// let options = ApplyOptions {
///     continue_final_message: ContinueFinalMessage::Field("reasoning"),
///     ..Default::default()
/// };
/// assert_eq!(template.apply(&messages, &options)?.text, "<think>Well, ");
/// # Ok::<(), chat_template::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContinueFinalMessage<'o> {
    /// None: the conversation is rendered as it is.
    #[default]
    No,
    /// Its `content`.
    Content,
    /// The field of that name, such as `reasoning_content`; the empty name means none, as in Python.
    Field(&'o str),
}

/// The arguments of `apply_chat_template`. Fill in what matters, and take the rest from [`Default`]. An argument that is null is the same
/// as none.
///
/// ```
/// use chat_template::ApplyOptions;
///
/// let tools = serde_json::json!([{"type": "function", "function": {"name": "weather"}}]);
/// let variables = serde_json::json!({"enable_thinking": false});
/// let options = ApplyOptions {
///     tools: Some(&tools),
///     variables: Some(&variables),
///     add_generation_prompt: true,
///     ..Default::default()
/// };
/// assert!(options.documents.is_none());
/// ```
#[derive(Clone, Copy)]
pub struct ApplyOptions<'o> {
    /// The tools: a list of JSON schemas, which reach the template unchanged. An empty list is not the same as none: `tool_use` is chosen
    /// by it, and the template sees it.
    pub tools: Option<&'o dyn Input>,
    /// The documents: a list of objects, which reach the template unchanged.
    pub documents: Option<&'o dyn Input>,
    /// The name of one of the model's templates, or else the source of another one, which is compiled for this call alone: what is asked
    /// for again should be a [`ChatTemplate`] of its own.
    pub chat_template: Option<&'o str>,
    /// Whether the prompt is to open the model's answer. A flag that is no bool reaches the template unchanged from
    /// [`ApplyOptions::variables`], under this name.
    pub add_generation_prompt: bool,
    /// Whether the last message is to be left open, so that the model continues it.
    pub continue_final_message: ContinueFinalMessage<'o>,
    /// The caller's own variables: an object. They win over special tokens, null included; none may be called like a parameter of
    /// `apply_chat_template`.
    pub variables: Option<&'o dyn Input>,
    /// Special tokens that take the place of the model's.
    pub special_tokens: Option<&'o [(String, String)]>,
    /// What `strftime_now` sees: local time unless given.
    pub clock: &'o dyn Clock,
    /// What the render may use; in a batch, what each may use.
    pub limits: &'o Limits,
    /// A flag that ends the render soon after someone sets it, from any thread.
    pub cancel: Option<&'o AtomicBool>,
    /// Whether the spans of `{% generation %}` blocks are wanted as the reference counts them, for [`assistant_mask`]. As in the reference,
    /// this does not go with [`ApplyOptions::continue_final_message`].
    ///
    /// [`assistant_mask`]: crate::assistant_mask
    pub generation: bool,
    /// Whether the spans are wanted where the blocks really stand, also if they were written by a macro, a set block or a call block. A
    /// text that is written twice stands in two places; one that a filter made a new text of (`upper`, `replace`), in none. What is cut
    /// off a continued message is cut off its span.
    pub true_spans: bool,
    /// Whether the render does without the shortcuts of the evaluator; see [`RenderOptions::plain`].
    #[doc(hidden)]
    pub plain: bool,
}

/// The arguments that are [`Input`] are shown as `Some(_)`, and the clock is left out.
///
/// ```
/// let options = chat_template::ApplyOptions { add_generation_prompt: true, ..Default::default() };
/// let shown = format!("{options:?}");
/// assert!(shown.starts_with("ApplyOptions { tools: None, documents: None, chat_template: None, add_generation_prompt: true, "));
/// ```
impl fmt::Debug for ApplyOptions<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |input: Option<&dyn Input>| input.map(|_| format_args!("_"));
        formatter
            .debug_struct("ApplyOptions")
            .field("tools", &shown(self.tools))
            .field("documents", &shown(self.documents))
            .field("chat_template", &self.chat_template)
            .field("add_generation_prompt", &self.add_generation_prompt)
            .field("continue_final_message", &self.continue_final_message)
            .field("variables", &shown(self.variables))
            .field("special_tokens", &self.special_tokens)
            .field("limits", self.limits)
            .field("cancel", &self.cancel)
            .field("generation", &self.generation)
            .field("true_spans", &self.true_spans)
            .finish_non_exhaustive()
    }
}

impl Default for ApplyOptions<'_> {
    fn default() -> Self {
        let RenderOptions {
            clock, limits, cancel, ..
        } = RenderOptions::default();
        Self {
            tools: None,
            documents: None,
            chat_template: None,
            add_generation_prompt: false,
            continue_final_message: ContinueFinalMessage::No,
            variables: None,
            special_tokens: None,
            clock,
            limits,
            cancel,
            generation: false,
            true_spans: false,
            plain: false,
        }
    }
}

impl ChatTemplate {
    /// The prompt of a conversation: a list of messages, each of them an object.
    ///
    /// ```
    /// use chat_template::{ApplyOptions, ChatTemplate};
    ///
    /// let source = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}";
    /// let template = ChatTemplate::from_source(source, &[]);
    /// let messages = serde_json::json!([{"role": "user", "content": "Hi"}]);
    /// let options = ApplyOptions { add_generation_prompt: true, ..Default::default() };
    /// assert_eq!(template.apply(&messages, &options)?.text, "user: Hi\nassistant:");
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    ///
    /// # Errors
    /// What transformers raises, in its order: the request breaks the contract ([`ErrorClass::Request`]), the template refuses the
    /// conversation ([`ErrorClass::Refused`]) or cannot render a value in it ([`ErrorClass::Mismatch`]), does not compile or fails on
    /// its own ([`ErrorClass::Template`]). A reached limit too.
    ///
    /// [`ErrorClass::Request`]: crate::ErrorClass::Request
    /// [`ErrorClass::Refused`]: crate::ErrorClass::Refused
    /// [`ErrorClass::Mismatch`]: crate::ErrorClass::Mismatch
    /// [`ErrorClass::Template`]: crate::ErrorClass::Template
    pub fn apply<M: Input + ?Sized>(&self, messages: &M, options: &ApplyOptions<'_>) -> Result<Prompt> {
        let prompts = self.apply_all(messages, options, false)?;
        prompts
            .into_iter()
            .next()
            .ok_or_else(|| Error::internal("a conversation has no prompt"))
    }

    /// The prompts of a batch: a list of conversations. What is wrong with the messages of any is found before the first is rendered; in a
    /// batch, a conversation may be empty.
    ///
    /// ```
    /// use chat_template::{ApplyOptions, ChatTemplate};
    ///
    /// let template = ChatTemplate::from_source("{% for m in messages %}{{ m.content }}{% endfor %}", &[]);
    /// let conversations = serde_json::json!([[{"role": "user", "content": "Hi"}], [{"role": "user", "content": "Bye"}]]);
    /// let prompts = template.apply_batch(&conversations, &ApplyOptions::default())?;
    /// let texts: Vec<&str> = prompts.iter().map(|prompt| prompt.text.as_str()).collect();
    /// assert_eq!(texts, ["Hi", "Bye"]);
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`ChatTemplate::apply`]; the first conversation that fails ends the batch.
    pub fn apply_batch<M: Input + ?Sized>(&self, conversations: &M, options: &ApplyOptions<'_>) -> Result<Vec<Prompt>> {
        self.apply_all(conversations, options, true)
    }

    /// The prompt of a conversation that is anything `Serialize`. It is turned into a tree first; values that are at hand go to
    /// [`ChatTemplate::apply`] without a copy.
    ///
    /// ```
    /// use chat_template::{ApplyOptions, ChatTemplate};
    ///
    /// #[derive(serde::Serialize)]
    /// struct Message<'m> {
    ///     role: &'m str,
    ///     content: &'m str,
    /// }
    ///
    /// let template = ChatTemplate::from_source("{{ messages[0] }}", &[]);
    /// let messages = [Message { role: "user", content: "Hi" }];
    /// let prompt = template.apply_serialize(&messages, &ApplyOptions::default())?;
    /// assert_eq!(prompt.text, "{'role': 'user', 'content': 'Hi'}");
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`ChatTemplate::apply`], and where the messages do not serialize.
    pub fn apply_serialize<M: Serialize + ?Sized>(&self, messages: &M, options: &ApplyOptions<'_>) -> Result<Prompt> {
        self.apply(&json::to_data(messages, json::DEPTH)?, options)
    }

    /// The prompt of a conversation that is JSON text, read as Python's `json.loads` reads it. Texts without escapes are not copied.
    ///
    /// ```
    /// use chat_template::{ApplyOptions, ChatTemplate};
    ///
    /// let template = ChatTemplate::from_source("{{ messages[0].content }} {{ messages[0].seed }}", &[]);
    /// let messages = r#"[{"role": "user", "content": "Hi", "seed": 18446744073709551616}]"#;
    /// let prompt = template.apply_json(messages, &ApplyOptions::default())?;
    /// assert_eq!(prompt.text, "Hi 18446744073709551616");
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`ChatTemplate::apply`], and where the text is no JSON.
    pub fn apply_json(&self, messages: &str, options: &ApplyOptions<'_>) -> Result<Prompt> {
        self.apply(&json::read(messages, json::DEPTH)?, options)
    }

    /// The steps of the contract, in its order.
    fn apply_all<M: Input + ?Sized>(&self, messages: &M, options: &ApplyOptions<'_>, wants_batch: bool) -> Result<Vec<Prompt>> {
        // Declared before the runtime, which borrows from it.
        let chosen;
        let meter = Meter::with_cancel(options.limits.clone(), options.cancel);
        let mut runtime = Runtime::with_meter(meter, options.clock);
        let tools = options.tools.borrow_value(&mut runtime)?;
        let has_tools = !matches!(tools, Value::None);
        chosen = self.parts.templates.choose(options.chat_template, has_tools);
        let special_tokens = options.special_tokens.unwrap_or(self.special_tokens());
        let variables = Variables::merge(&mut runtime, special_tokens, options)?;
        let template = match &chosen {
            Ok(chosen) => chosen.template(),
            Err(error) => return Err(error.clone()),
        };
        let messages = messages.borrow_value(&mut runtime)?;
        let conversations = match (Conversations::new(&mut runtime, &messages)?, wants_batch) {
            (Conversations::One(conversation), false) => vec![conversation],
            (Conversations::Batch(conversations), true) => conversations,
            (Conversations::Batch(_), false) => {
                return Err(refused(ErrorKind::Type, "a batch of conversations is for apply_batch"));
            }
            (Conversations::One(_), true) => return Err(refused(ErrorKind::Type, "a single conversation is for apply")),
        };
        let field = options.continue_final_message.field();
        if field.is_some() {
            let flag = ops::is_true(&mut runtime, &variables.generation_prompt)?;
            check_continuation(flag, options.generation)?;
        }
        variables.check_call()?;
        let render = Render {
            template,
            compiled: template.compiled()?,
            tools: check_tools(&mut runtime, tools)?,
            documents: check_documents(options.documents.borrow_value(&mut runtime)?)?,
            variables,
            field,
            options,
        };
        conversations
            .into_iter()
            .map(|messages| render.conversation(messages))
            .collect()
    }
}

impl<'o> ContinueFinalMessage<'o> {
    /// The name of the field to continue, if there is one.
    ///
    /// ```
    /// use chat_template::ContinueFinalMessage;
    ///
    /// assert_eq!(ContinueFinalMessage::Content.field(), Some("content"));
    /// assert_eq!(ContinueFinalMessage::Field("").field(), None);
    /// ```
    pub fn field(self) -> Option<&'o str> {
        match self {
            Self::No | Self::Field("") => None,
            Self::Content => Some("content"),
            Self::Field(field) => Some(field),
        }
    }
}

/// What all conversations of a call share once it is checked.
struct Render<'a> {
    template: &'a NamedTemplate,
    compiled: &'a Template,
    tools: Value<'a>,
    documents: Value<'a>,
    variables: Variables<'a>,
    field: Option<&'a str>,
    options: &'a ApplyOptions<'a>,
}

impl<'a> Render<'a> {
    fn conversation(&self, messages: Value<'a>) -> Result<Prompt> {
        let options = self.options;
        let meter = Meter::with_cancel(options.limits.clone(), options.cancel);
        let mut runtime = Runtime::with_meter(meter, options.clock);
        let continuation = match self.field {
            Some(field) => Some(Continuation::open(&mut runtime, &messages, field, &self.template.source)?),
            None => None,
        };
        self.variables.check_render(options.generation)?;
        let messages = continuation
            .as_ref()
            .map_or(messages, |continuation| continuation.messages.clone());
        let context = self
            .variables
            .context(&mut runtime, messages, self.tools.clone(), self.documents.clone())?;
        let tracks_spans = options.generation || options.true_spans;
        let output = self.compiled.render_value(&mut runtime, context, tracks_spans, options.plain);
        let mut output = output.map_err(|error| self.template.name_in(self.variables.with_class(error)))?;
        if let Some(continuation) = &continuation {
            output.text = continuation.close(output.text)?;
            output.true_spans = clipped(output.true_spans, output.text.len());
        }
        let mut prompt = Prompt::default();
        if options.generation {
            prompt.generation = Spans::from_code_points(output.spans, &output.text);
        }
        if options.true_spans {
            prompt.true_spans = Spans::from_bytes(output.true_spans, &output.text);
        }
        prompt.text = output.text;
        prompt.steps = runtime.meter.steps();
        Ok(prompt)
    }
}

fn check_continuation(adds_generation_prompt: bool, wants_mask: bool) -> Result<()> {
    if adds_generation_prompt {
        return Err(refused(
            ErrorKind::Value,
            "continue_final_message and add_generation_prompt are not compatible. Use continue_final_message when you want the model \
             to continue the final message, and add_generation_prompt when you want to add a header that will prompt it to start a \
             new assistant message instead.",
        ));
    }
    if wants_mask {
        let message = "continue_final_message is not compatible with return_assistant_tokens_mask.";
        return Err(refused(ErrorKind::Value, message));
    }
    Ok(())
}

/// Returns the tools as a list; each must be an object. Python makes a list of anything that it can iterate.
fn check_tools<'a>(runtime: &mut Runtime<'a>, tools: Value<'a>) -> Result<Value<'a>> {
    if matches!(tools, Value::None) {
        return Ok(tools);
    }
    if !are_objects(&tools)? {
        return Err(refused(
            ErrorKind::Value,
            "Tools should either be a JSON schema, or a callable function with type hints and a docstring suitable for \
             auto-conversion to a schema.",
        ));
    }
    match tools {
        Value::List(items) | Value::Tuple(items) => Ok(Value::List(items)),
        _ => runtime.list(Vec::new()),
    }
}

/// Returns the documents as they are; each must be an object.
fn check_documents(documents: Value<'_>) -> Result<Value<'_>> {
    match matches!(documents, Value::None) || are_objects(&documents)? {
        true => Ok(documents),
        false => Err(refused(
            ErrorKind::Type,
            "Documents should be a list of dicts with 'title' and 'text' keys!",
        )),
    }
}

/// Whether all that Python would go over are objects; characters and keys are none.
fn are_objects(value: &Value<'_>) -> Result<bool> {
    match value {
        Value::List(items) | Value::Tuple(items) => Ok(items.iter().all(|item| matches!(item, Value::Dict(_)))),
        Value::Dict(dict) => Ok(dict.is_empty()),
        Value::Str(text) => Ok(text.as_str().is_empty()),
        other => {
            let message = format!("'{}' object is not iterable", other.ty().name());
            Err(refused(ErrorKind::Type, message))
        }
    }
}

/// Spans of a text that was cut at its end.
fn clipped(spans: Vec<Range<usize>>, length: usize) -> Vec<Range<usize>> {
    let inside = spans.into_iter().filter(|span| span.start <= length);
    inside.map(|span| span.start..span.end.min(length)).collect()
}
