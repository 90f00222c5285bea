//! Finds the text that must be appended after what the model has seen and written, when a conversation grows.
//!
//! ```text
//! seen <|user|>Hi<|end|><|assistant|>   sampled Hello!<|end|>   ->   the piece <|user|>Bye<|end|><|assistant|>
//! ```

mod lookahead;
mod sample;

pub(crate) use lookahead::list_lookahead;
use sample::Grown;

use crate::chat::turns::assistant::control::common_prefix;
use crate::chat::{ApplyOptions, AssistantOptions, ChatTemplate, Prompt, PromptOptions};
use crate::error::Result;
use crate::meter::Meter;
use crate::template::Input;
use crate::trace::{Keeps, Origin, Segment};

/// What the model must read when a conversation has grown.
///
/// ```
/// use chat_template::{Append, ApplyOptions, ChatTemplate};
///
/// let template = ChatTemplate::from_source("{% for m in messages %}{{ m.content }}{{ '.' if loop.last }}{% endfor %}", &[])?;
/// let messages = serde_json::json!([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]);
/// let read = match template.append(&messages, "a.", None, &ApplyOptions::default())? {
///     Append::Piece(piece) => piece.text().to_owned(),
///     Append::Broken(broken) => broken.prompt.text, // from the beginning: `loop.last` has changed what was seen
/// };
/// assert_eq!(read, "ab.");
/// # Ok::<(), chat_template::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Append {
    /// The text after what the model has seen and written.
    Piece(NextPiece),
    /// There is no such text, because the prompt of the longer conversation has another beginning.
    Broken(PrefixBroken),
}

impl Append {
    /// Returns the piece, or the error that there is none.
    ///
    /// # Errors
    /// [`Append::Broken`].
    pub fn into_result(self) -> std::result::Result<NextPiece, PrefixBroken> {
        match self {
            Self::Piece(piece) => Ok(piece),
            Self::Broken(broken) => Err(broken),
        }
    }
}

/// The prompt of a conversation that has grown, and the part of it that the model has not seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NextPiece {
    /// The prompt of the whole conversation.
    pub prompt: Prompt,
    /// The byte index at which the piece begins in the text of the prompt. The piece ends with the text.
    pub start: usize,
}

impl NextPiece {
    /// Returns the text to append.
    pub fn text(&self) -> &str {
        self.prompt.text.get(self.start..).unwrap_or_default()
    }
}

/// The prompt of the longer conversation differs from what the model has seen, so that there is no piece to append.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, serde::Serialize)]
#[error("the prompt differs from the text that was seen, at character {at}{}", .line.map(|line| format!(", which line {line} of the template wrote")).unwrap_or_default())]
#[non_exhaustive]
pub struct PrefixBroken {
    /// The prompt of the whole conversation, which the model must read from the beginning.
    #[serde(skip)]
    pub prompt: Box<Prompt>,
    /// The index in code points of the first character of the prompt that differs from the text that was seen.
    pub at: usize,
    /// The line of the template, from 1, that wrote the character, or the nearest text before it that the template wrote.
    pub line: Option<usize>,
    /// Expressions of the template that read later messages or the number of messages, each with its line. Those near `line` are first.
    pub looks_at: Vec<(usize, String)>,
}

impl Prompt {
    /// Returns the text after what the model wrote in a message: the rest of its turn, the messages after it and the generation prompt.
    /// The token that ends the turn is in it only if [`AssistantOptions::end_of_turn`] is false. `None` if the model wrote no text in this
    /// message, and without [`PromptOptions::assistant`](crate::PromptOptions::assistant).
    ///
    /// ```
    /// use chat_template::{ApplyOptions, AssistantOptions, ChatTemplate};
    ///
    /// let source = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}\
    ///               {% if add_generation_prompt %}<|assistant|>{% endif %}";
    /// let template = ChatTemplate::from_source(source, &[])?;
    /// let messages = serde_json::json!([
    ///     {"role": "user", "content": "Hi"},
    ///     {"role": "assistant", "content": "Hello!"},
    ///     {"role": "user", "content": "Bye"},
    /// ]);
    /// let assistant = Some(AssistantOptions::default());
    /// let prompt = template.apply(&messages, &ApplyOptions::default().with_assistant(assistant))?;
    /// assert_eq!(prompt.after(1), Some("<|user|>Bye<|end|>"));
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    pub fn after(&self, message: usize) -> Option<&str> {
        let written = self.find_written(message)?.ok()?;
        self.text.get(written.range.end..)
    }
}

/// Returns the line of the template that wrote the last text of the template among the first segments.
pub(crate) fn find_line(prompt: &Prompt, is_before: impl Fn(&Segment) -> bool) -> Option<usize> {
    let segments = prompt.segments().iter().take_while(|segment| is_before(segment));
    let lines = segments.filter_map(|segment| match segment.origin() {
        Origin::Template { line } => Some(line),
        _ => None,
    });
    lines.last()
}

impl ChatTemplate {
    /// Returns the text to append when a conversation grows, so that the model need not read again what it has seen. `messages` is the
    /// whole conversation and `seen` the prompt of its first messages. The prefix is broken if the prompt of the whole conversation does not
    /// begin with `seen`.
    ///
    /// With `sampled`, the model has read `seen` and then written `sampled`, which is the last assistant message, whatever the
    /// template would print for it. The piece is what the template writes after this message. In `seen`, each earlier message of the
    /// assistant can have any text. The [`Prompt`] is then traced, and has the spans of the default [`AssistantOptions`].
    ///
    /// `sampled` can end with the token at which the model stopped, or without it, as many engines return it. The piece does not repeat
    /// what the sample has: the template's own end of the turn or a part of it, and the token that begins the next turn. Another token that
    /// ends a turn, such as the end-of-sequence token, takes the place of the template's own.
    ///
    /// # Agents and training: tokens in, tokens out
    ///
    /// A template can print an answer in another way than the model wrote it: without its reasoning, with other white space, with other
    /// JSON. The tokens of the past then change, and with them a cache or a gradient. So keep the tokens that were read and written, and
    /// append the tokens of each piece:
    ///
    /// ```
    /// use chat_template::{ApplyOptions, ChatTemplate};
    /// use serde_json::json;
    ///
    /// let source = "{% for m in messages %}<|{{ m.role }}|>{{ m.content|trim }}<|end|>\n{% endfor %}\
    ///               {% if add_generation_prompt %}<|assistant|>{% endif %}";
    /// let template = ChatTemplate::from_source(source, &[])?;
    /// let options = ApplyOptions::default().with_add_generation_prompt(true);
    /// let mut messages = vec![json!({"role": "user", "content": "Hi"})];
    /// let mut seen = template.apply(messages.as_slice(), &options)?.text;
    ///
    /// let sampled = " Hello! <|end|>"; // what the model writes after `seen`
    /// messages.push(json!({"role": "assistant", "content": " Hello! "}));
    /// messages.push(json!({"role": "user", "content": "Bye"}));
    /// let next = template.append(messages.as_slice(), &seen, Some(sampled), &options)?.into_result()?;
    /// assert_eq!(next.text(), "\n<|user|>Bye<|end|>\n<|assistant|>");
    ///
    /// seen = seen + sampled + next.text(); // and so on
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// `Report::get` with `prefix` says for which templates a search of small conversations found no broken prefix.
    ///
    /// # Errors
    /// Those of [`ChatTemplate::apply`]. With `sampled` also if no message is the assistant's, or if it is unknown which text the model
    /// writes.
    pub fn append<M: Input + ?Sized>(
        &self,
        messages: &M,
        seen: &str,
        sampled: Option<&str>,
        options: &ApplyOptions<'_>,
    ) -> Result<Append> {
        let deadline = options.prompt.render.bounds.start();
        let mut meter = Meter::within(options.prompt.render.bounds, &deadline).share_steps();
        let traced = options.with_prompt(options.prompt.traced(sampled));
        let wanted = if sampled.is_some() { &traced } else { options };
        let prompt = self.apply_within(messages, wanted, Keeps::Nothing, &meter)?;
        self.find_piece(messages, prompt, (seen, sampled), options, &mut meter)
    }

    /// Returns the text to append after what was seen and sampled, in the prompt of a conversation that has grown. With a sample, the
    /// prompt is traced.
    pub(crate) fn find_piece<M: Input + ?Sized>(
        &self,
        messages: &M,
        prompt: Prompt,
        (seen, sampled): (&str, Option<&str>),
        options: &ApplyOptions<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<Append> {
        meter.charge_scan(seen.len())?;
        meter.charge_scan(prompt.text.len().saturating_mul(2))?;
        meter.charge_items(prompt.trace.parts().len().saturating_mul(4))?;
        let start = match sampled {
            Some(sampled) => {
                let stops = self.find_stop_tokens(options.special_tokens, meter)?;
                let grown = Grown {
                    template: self,
                    messages: &messages,
                    prompt: &prompt,
                    options,
                    seen,
                    sampled,
                    stops: &stops,
                };
                grown.find_rest(meter)?
            }
            None if prompt.text.starts_with(seen) => Ok(seen.len()),
            None => Err(common_prefix(&prompt.text, seen)),
        };
        let at = match start {
            Ok(start) => return Ok(Append::Piece(NextPiece { prompt, start })),
            Err(at) => at,
        };
        let prompt = if prompt.trace.parts().is_empty() {
            self.apply_within(
                messages,
                &options.with_prompt(options.prompt.traced(sampled)),
                Keeps::Nothing,
                meter,
            )?
        } else {
            prompt
        };
        let line = find_line(&prompt, |segment| segment.bytes().start <= at);
        let has_tools = options.tools.is_some();
        let template = self.parts.templates.choose(options.chat_template, has_tools, meter)?;
        Ok(Append::Broken(PrefixBroken {
            at: prompt.text.get(..at).unwrap_or_default().chars().count(),
            line,
            looks_at: list_lookahead(template.template().compiled()?, line.unwrap_or_default()),
            prompt: Box::new(prompt),
        }))
    }
}

impl PromptOptions<'_> {
    /// Returns the options of a traced render that finds the text after a sample.
    pub(crate) fn traced(&self, sampled: Option<&str>) -> Self {
        let assistant = sampled.map(|_| AssistantOptions::default()).or(self.assistant);
        self.with_trace(true).with_assistant(assistant)
    }
}
