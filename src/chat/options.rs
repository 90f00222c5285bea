//! The arguments of `apply_chat_template` besides the messages.
//!
//! ```text
//! ApplyOptions { tools, documents, add_generation_prompt: true, ..Default::default() }
//! ```
//!
//! The names are those of transformers 5.24.0 `tokenization_utils_base.py`, `apply_chat_template`.

use super::ControlTokens;
use super::assistant::AssistantOptions;
use crate::clock::Clock;
use crate::deadline::Bounds;
use crate::template::{Input, RenderOptions};

/// The field of the last message that the model continues.
///
/// ```
/// use chat_template::{ApplyOptions, ChatTemplate, ContinueFinalMessage};
///
/// let template = ChatTemplate::from_source(
///     "{% for m in messages %}<think>{{ m.reasoning_content }}</think>{{ m.content }}<end>{% endfor %}",
///     &[],
/// )?;
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
    /// No field: the conversation is rendered as it is.
    #[default]
    No,
    /// The field `content`.
    Content,
    /// A field by its name, such as `reasoning_content`. The empty name means [`No`](Self::No), as in Python.
    Field(&'o str),
}

impl<'o> ContinueFinalMessage<'o> {
    /// Returns the name of the field to continue.
    pub fn field(self) -> Option<&'o str> {
        match self {
            Self::No | Self::Field("") => None,
            Self::Content => Some("content"),
            Self::Field(field) => Some(field),
        }
    }
}

/// The arguments of `apply_chat_template`. Set the fields you need, and take the others from [`Default`]. An argument that is null counts
/// as missing.
#[derive(Clone, Copy, Debug)]
pub struct ApplyOptions<'o> {
    /// The tools: a list of JSON schemas, which reach the template unchanged. An empty list counts as tools: it selects the template
    /// `tool_use`, and the template sees the list.
    pub tools: Option<&'o dyn Input>,
    /// The documents: a list of objects, which reach the template unchanged.
    pub documents: Option<&'o dyn Input>,
    /// The name of one of the model's templates. A string that is no such name is the source of another template, which is compiled for
    /// this call alone; to use it again, make a [`ChatTemplate`](super::ChatTemplate) from it.
    pub chat_template: Option<&'o str>,
    /// Whether the prompt ends with the beginning of the model's answer. To pass the template another type than a bool, leave this false
    /// and set `add_generation_prompt` in [`ApplyOptions::variables`].
    pub add_generation_prompt: bool,
    /// The field of the last message that is left open, so that the model continues it.
    pub continue_final_message: ContinueFinalMessage<'o>,
    /// Further variables of the template: an object. A variable replaces a special token of the same name, even if it is null. A variable
    /// with the name of a parameter of `apply_chat_template` is an error.
    pub variables: Option<&'o dyn Input>,
    /// Special tokens that replace those of the model.
    pub special_tokens: Option<&'o [(String, String)]>,
    /// The clock that `strftime_now` reads.
    pub clock: &'o dyn Clock,
    /// What one conversation may use: limits, a deadline, a flag that cancels it. The conversations of a batch share the time.
    pub bounds: Bounds<'o>,
    /// Whether to return [`Prompt::reference_spans`](super::Prompt::reference_spans): the spans of `{% generation %}` blocks as transformers counts
    /// them, for [`assistant_mask`]. As in transformers, it is an error together with [`ApplyOptions::continue_final_message`].
    ///
    /// [`assistant_mask`]: crate::assistant_mask
    pub reference_spans: bool,
    /// Whether to return [`Prompt::generation_spans`](super::Prompt::generation_spans): the places of `{% generation %}` blocks in the text, also for
    /// blocks in a macro, a set block or a call block. A block that is written twice has two spans, and one that a filter rewrites
    /// (`upper`, `replace`) has none.
    pub generation_spans: bool,
    /// Whether to return [`Prompt::segments`](super::Prompt::segments): where each character of the prompt came from, and which message
    /// owns it. The text is the same.
    pub trace: bool,
    /// Whether to return [`Prompt::assistant`](super::Prompt::assistant): the places of the text that the model would write, for templates
    /// with and without `{% generation %}`. The text is the same.
    pub assistant: Option<AssistantOptions<'o>>,
    /// What happens if text of the input forms a control token. A policy other than [`ControlPolicy::Leave`](super::ControlPolicy::Leave)
    /// traces the prompt.
    pub control_tokens: ControlTokens<'o>,
}

impl<'o> ApplyOptions<'o> {
    /// Returns the options of rendering alone.
    pub(super) fn render_options(&self) -> RenderOptions<'o> {
        RenderOptions {
            clock: self.clock,
            bounds: self.bounds,
            reference_spans: self.reference_spans,
            generation_spans: self.generation_spans,
            trace: self.trace,
        }
    }
}

impl Default for ApplyOptions<'_> {
    fn default() -> Self {
        let RenderOptions { clock, bounds, .. } = RenderOptions::default();
        Self {
            tools: None,
            documents: None,
            chat_template: None,
            add_generation_prompt: false,
            continue_final_message: ContinueFinalMessage::No,
            variables: None,
            special_tokens: None,
            clock,
            bounds,
            reference_spans: false,
            generation_spans: false,
            trace: false,
            assistant: None,
            control_tokens: ControlTokens::default(),
        }
    }
}
