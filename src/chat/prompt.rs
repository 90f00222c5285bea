//! The prompt of a conversation: its text, and where the parts of the text came from.

use std::ops::Range;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::ControlToken;
use super::turns::assistant::AssistantSpans;
use super::turns::{Turn, assistant_mask, find_turns};
#[cfg(feature = "internal")]
use crate::deadline::Bounds;
use crate::error::{Error, ErrorKind, Result};
#[cfg(feature = "internal")]
use crate::meter::Meter;
use crate::trace::{Copies, Segment, Spans, Trace};

/// The label of a token that is not trained, which PyTorch ignores.
const NO_LABEL: i64 = -100;

/// The number of steps that each segment costs while turns are made.
#[cfg(feature = "internal")]
const TURN_STEPS: usize = 6;

/// The prompt of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prompt {
    /// The text. A prompt is to be tokenized with no special tokens added.
    pub text: String,
    /// The spans of `{% generation %}` blocks as transformers counts them. Empty unless [`RenderOptions::reference_spans`] is set.
    ///
    /// [`RenderOptions::reference_spans`]: crate::RenderOptions::reference_spans
    pub reference_spans: Spans,
    /// The places of `{% generation %}` blocks in the text. Empty unless [`RenderOptions::generation_spans`] is set.
    ///
    /// [`RenderOptions::generation_spans`]: crate::RenderOptions::generation_spans
    pub generation_spans: Spans,
    /// The bytes of the text that [`ApplyOptions::add_generation_prompt`] appended: the beginning of the model's message, such as
    /// `<|im_start|>assistant\n<think>\n`. Without the option, they are the empty end of the text. `None` unless
    /// [`PromptOptions::generation_prompt`] is set, and if they are not known, because the template prints another text without the option,
    /// or fails.
    ///
    /// It is all that a parser needs of the prompt; see [`ParseOptions::prefix`](crate::response::ParseOptions::prefix).
    ///
    /// [`ApplyOptions::add_generation_prompt`]: super::ApplyOptions::add_generation_prompt
    /// [`PromptOptions::generation_prompt`]: super::PromptOptions::generation_prompt
    pub generation_prompt: Option<Range<usize>>,
    /// The control tokens that come from the input, at least in part. Empty unless the policy is
    /// [`ControlPolicy::Split`](super::ControlPolicy::Split).
    pub untrusted: Vec<ControlToken>,
    /// The number of steps that the render took; [`Limits::steps`](crate::Limits::steps) is their limit.
    pub steps: u64,
    pub(crate) trace: Trace,
    pub(crate) assistant: AssistantSpans,
    /// Whether strings of the input share memory, so that the segments can name one of them in place of another.
    pub(crate) is_ambiguous: bool,
    /// What was copied from strings, if the caller in this crate wants to know.
    pub(crate) copies: Copies,
}

/// Writes the text, the generation prompt in code points, the spans, the segments, the turns and the steps.
///
/// ```
/// use chat_template::{ApplyOptions, ChatTemplate};
///
/// let template = ChatTemplate::from_source("{% generation %}é{% endgeneration %}", &[])?;
/// let options = ApplyOptions::default().with_generation_spans(true);
/// let prompt = template.apply(&serde_json::json!([{}]), &options)?;
/// let json = serde_json::to_value(&prompt).unwrap();
/// assert_eq!(json["text"], "é");
/// assert_eq!(json["generation_spans"], serde_json::json!({"code_points": [[0, 1]], "bytes": [[0, 2]]}));
/// assert_eq!(json["steps"], prompt.steps);
/// # Ok::<(), chat_template::Error>(())
/// ```
impl Serialize for Prompt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Prompt", 9)?;
        object.serialize_field("text", &self.text)?;
        object.serialize_field("generation_prompt", &self.generation_prompt_code_points())?;
        object.serialize_field("reference_spans", &self.reference_spans)?;
        object.serialize_field("generation_spans", &self.generation_spans)?;
        object.serialize_field("segments", self.segments())?;
        object.serialize_field("assistant", &self.assistant)?;
        object.serialize_field("unknown_turns", &self.assistant.unknown_turns())?;
        object.serialize_field("turns", &self.turns())?;
        object.serialize_field("steps", &self.steps)?;
        object.end()
    }
}

impl Prompt {
    /// Returns the turns of the model with all that is known about them.
    #[cfg(feature = "internal")]
    #[doc(hidden)]
    pub fn assistant_spans(&self) -> &AssistantSpans {
        &self.assistant
    }

    /// Returns what was copied from strings, as [`ChatTemplate::apply_keeping`](crate::ChatTemplate::apply_keeping) was asked.
    #[cfg(feature = "internal")]
    #[doc(hidden)]
    pub fn copies(&self) -> &Copies {
        &self.copies
    }

    /// Leaves out the spans of what the model writes before a message.
    #[cfg(feature = "internal")]
    #[doc(hidden)]
    pub fn keep_assistant_from(&mut self, first: usize) {
        self.assistant
            .turns
            .retain(|turn| turn.message.is_none_or(|message| message >= first));
    }

    /// Returns where the characters of the text came from: stretches of the text, each with its [`Origin`](crate::Origin) and the message
    /// whose turn it was. They show who wrote a line break, which message a character belongs to, and where a tool is in the prompt. Empty
    /// unless [`RenderOptions::trace`] is set. Tracing does not change the text, and costs nothing if it is off. The first call makes the
    /// segments, and needs [`Prompt::text`] as it was rendered.
    ///
    /// On the command line, `chat-template render --explain` prints the prompt in colours, and `--explain-html FILE` writes a page.
    ///
    /// [`RenderOptions::trace`]: crate::RenderOptions::trace
    pub fn segments(&self) -> &[Segment] {
        self.trace.segments(&self.text)
    }

    /// Returns the code points of [`Prompt::generation_prompt`], as Python counts them: the start and the end.
    pub fn generation_prompt_code_points(&self) -> Option<[usize; 2]> {
        let prompt = self.generation_prompt.clone()?;
        let start = self.text.get(..prompt.start)?.chars().count();
        Some([start, start.saturating_add(self.text.get(prompt)?.chars().count())])
    }

    /// Returns the places of the text that the model would write. Empty unless [`PromptOptions::assistant`] is set.
    ///
    /// [`PromptOptions::assistant`]: crate::PromptOptions::assistant
    ///
    /// # Errors
    /// If the spans of a turn are not known. The message says why.
    pub fn assistant(&self) -> Result<Spans> {
        match self.assistant.reasons().next() {
            None => Ok(self.assistant.spans()),
            Some((_, reason)) => {
                let message = format!("it is unknown which text the model writes: {reason}");
                Err(Error::new(ErrorKind::Runtime, message).without_line())
            }
        }
    }

    /// Returns the turns of the model in the order of the text: the index of the message, and its spans or the reason why they are not
    /// known. Empty unless [`PromptOptions::assistant`] is set. The index is `None` for the whole text and for a `{% generation %}` block
    /// outside of messages.
    ///
    /// [`PromptOptions::assistant`]: crate::PromptOptions::assistant
    pub fn assistant_turns(&self) -> impl Iterator<Item = (Option<usize>, std::result::Result<&Spans, &str>)> {
        let turns = self.assistant.turns.iter();
        turns.map(|turn| (turn.message, turn.spans.as_ref().map_err(String::as_str)))
    }

    /// Returns the turns of the messages that own a part of the text, in the order of the messages. Empty unless [`RenderOptions::trace`]
    /// is set. With [`PromptOptions::assistant`], the header of a turn that the model writes ends where the model begins.
    ///
    /// ```
    /// use chat_template::{ApplyOptions, ChatTemplate};
    ///
    /// let template = ChatTemplate::from_source("{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>\n{% endfor %}", &[])?;
    /// let messages = serde_json::json!([{"role": "user", "content": "Hi"}]);
    /// let prompt = template.apply(&messages, &ApplyOptions::default().with_trace(true))?;
    /// assert_eq!(prompt.text, "<user>Hi<end>\n");
    /// let turns = prompt.turns();
    /// assert_eq!((turns[0].message, &turns[0].header.bytes[0]), (0, &(0..6)));
    /// assert_eq!((&turns[0].body.bytes[0], &turns[0].close.bytes[0]), (&(6..8), &(8..14)));
    /// assert_eq!((&*turns[0].fields[0].name, &turns[0].fields[0].spans.bytes[0]), ("content", &(6..8)));
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    ///
    /// [`RenderOptions::trace`]: crate::RenderOptions::trace
    /// [`PromptOptions::assistant`]: crate::PromptOptions::assistant
    pub fn turns(&self) -> Vec<Turn> {
        find_turns(&self.text, &self.trace, &self.assistant)
    }

    /// Returns the labels of tokens for training: the id of a token that overlaps a span of [`Prompt::assistant`], and -100 for the others.
    /// A turn whose spans are not known is not trained. `offsets` are the places of the tokens in bytes, as tokenizers return them.
    ///
    /// ```
    /// use chat_template::{ApplyOptions, AssistantOptions, ChatTemplate};
    ///
    /// let template = ChatTemplate::from_source("{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>{% endfor %}", &[])?;
    /// let messages = serde_json::json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]);
    /// let options = ApplyOptions::default().with_assistant(AssistantOptions::default());
    /// let prompt = template.apply(&messages, &options)?;
    /// assert_eq!(prompt.text, "<user>Hi<end><assistant>Ho<end>");
    /// let offsets = [(0, 6), (6, 8), (8, 13), (13, 24), (24, 26), (26, 31)];
    /// assert_eq!(prompt.labels(&offsets, &[7, 1, 9, 8, 2, 9]), [-100, -100, -100, -100, 2, 9]);
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    pub fn labels(&self, offsets: &[(usize, usize)], ids: &[u32]) -> Vec<i64> {
        let mask = assistant_mask(&self.assistant.spans().bytes, offsets);
        let label = |(is_marked, id): (u8, &u32)| if is_marked == 1 { i64::from(*id) } else { NO_LABEL };
        mask.into_iter().zip(ids).map(label).collect()
    }

    /// Returns the turns as [`Prompt::turns`] does, within the limits on time.
    #[cfg(feature = "internal")]
    #[doc(hidden)]
    pub fn turns_within(&self, bounds: Bounds<'_>) -> Result<Vec<Turn>> {
        let deadline = bounds.start();
        let mut meter = Meter::within(bounds, &deadline);
        meter.charge_scan(self.text.len())?;
        meter.charge_items(self.trace.parts().len().saturating_mul(TURN_STEPS))?;
        Ok(self.turns())
    }
}
