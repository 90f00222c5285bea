//! The arguments of `apply_chat_template` besides the messages.
//!
//! ```text
//! ApplyOptions::default().with_tools(&tools).with_add_generation_prompt(true)
//! ```
//!
//! The names are those of transformers 5.24.0 `tokenization_utils_base.py`, `apply_chat_template`.

use super::ControlTokens;
use super::turns::assistant::AssistantOptions;
use crate::clock::Clock;
use crate::deadline::Bounds;
use crate::setters::setters;
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
/// let options = ApplyOptions::default().with_continue_final_message(ContinueFinalMessage::Field("reasoning"));
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

/// What a prompt contains besides its text, and the bounds on making it. Begin with [`Default`], and set what matters.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct PromptOptions<'o> {
    /// The options of the render: its bounds and its clock; whether the prompt has segments and the spans of `{% generation %}` blocks.
    pub render: RenderOptions<'o>,
    /// Whether to return [`Prompt::assistant`](super::Prompt::assistant): the places of the text that the model would write, for templates
    /// with and without `{% generation %}`. The text is the same.
    pub assistant: Option<AssistantOptions<'o>>,
    /// Whether to return [`Prompt::generation_prompt`](super::Prompt::generation_prompt). If `add_generation_prompt` is set and the template
    /// reads it, but no branch on it wrote the end of the text, the conversation is rendered a second time, without it.
    pub generation_prompt: bool,
    /// What happens if text of the input forms a control token. A policy other than [`ControlPolicy::Leave`](super::ControlPolicy::Leave)
    /// traces the prompt.
    pub control_tokens: ControlTokens<'o>,
}

setters! { PromptOptions<'o>:
    with_render(RenderOptions<'o>) = @render;
    with_assistant(impl Into<Option<AssistantOptions<'o>>>) = @assistant;
    with_generation_prompt(bool) = @generation_prompt;
    with_control_tokens(ControlTokens<'o>) = @control_tokens;
    with_bounds(impl Into<Bounds<'o>>) = .render @bounds;
    with_reference_spans(bool) = .render @reference_spans;
    with_generation_spans(bool) = .render @generation_spans;
    with_trace(bool) = .render @trace;
    with_clock(&'o dyn Clock) = .render @clock;
}

/// The arguments of `apply_chat_template`. Begin with [`Default`], and set what matters. An argument that is null counts as missing.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
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
    /// Special tokens that replace those of the model, each with its name, such as `bos_token`.
    pub special_tokens: Option<&'o [(&'o str, &'o str)]>,
    /// What the prompt contains besides its text, and the bounds on one conversation. The conversations of a batch share the time. As in
    /// transformers, [`RenderOptions::reference_spans`] are an error together with [`ApplyOptions::continue_final_message`].
    pub prompt: PromptOptions<'o>,
}

setters! { ApplyOptions<'o>:
    with_tools(&'o dyn Input) = Some @tools;
    with_documents(&'o dyn Input) = Some @documents;
    with_chat_template(impl Into<Option<&'o str>>) = @chat_template;
    with_add_generation_prompt(bool) = @add_generation_prompt;
    with_continue_final_message(ContinueFinalMessage<'o>) = @continue_final_message;
    with_variables(&'o dyn Input) = Some @variables;
    with_special_tokens(impl Into<Option<&'o [(&'o str, &'o str)]>>) = @special_tokens;
    with_prompt(PromptOptions<'o>) = @prompt;
    with_assistant(impl Into<Option<AssistantOptions<'o>>>) = .prompt @assistant;
    with_generation_prompt(bool) = .prompt @generation_prompt;
    with_control_tokens(ControlTokens<'o>) = .prompt @control_tokens;
    with_bounds(impl Into<Bounds<'o>>) = .prompt.render @bounds;
    with_reference_spans(bool) = .prompt.render @reference_spans;
    with_generation_spans(bool) = .prompt.render @generation_spans;
    with_trace(bool) = .prompt.render @trace;
    with_clock(&'o dyn Clock) = .prompt.render @clock;
}
