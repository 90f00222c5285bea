//! Finds the text that must be appended after what the model has seen and written, when a conversation grows.
//!
//! ```text
//! seen <|user|>Hi<|end|><|assistant|>   sampled Hello!<|end|>   ->   the piece <|user|>Bye<|end|><|assistant|>
//! ```

use std::ops::Range;

use super::assistant::control::{common_prefix, control_tokens, is_eos};
use super::lookahead::list_lookahead;
use super::{ApplyOptions, AssistantOptions, ChatTemplate, Prompt, refused};
use crate::builtins::LOOKUPS;
use crate::error::{Error, ErrorKind, Result};
use crate::meter::Meter;
use crate::template::Input;
use crate::trace::{Origin, Segment};
use crate::value::{Runtime, Value};

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
    /// message, and without [`ApplyOptions::assistant`].
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
        let (_, own) = self.list_written().find(|(writer, _)| *writer == message)?;
        self.text.get(own.ok()?.end..)
    }

    /// Returns the messages that the model wrote, each with the byte range from its first character to its last. The error is that the
    /// range is not known.
    fn list_written(&self) -> impl Iterator<Item = (usize, std::result::Result<Range<usize>, &str>)> {
        self.assistant_turns().filter_map(|(message, spans)| {
            let range = spans.map(|spans| Some(spans.bytes.first()?.start..spans.bytes.last()?.end));
            Some((message?, range.transpose()?))
        })
    }

    /// Returns where the text after a sample begins, if the sample takes the place of what the model wrote in this range. The range can end
    /// with tokens of the template, such as the one that ends the turn. The text begins after the last of them with which the sample ends.
    fn end_of_sample(&self, range: &Range<usize>, sampled: &str) -> usize {
        let is_within = |segment: &&Segment| segment.bytes().start < range.end && segment.bytes().end > range.start;
        let is_printed =
            |segment: &&Segment| !is_eos(segment) && !matches!(segment.origin(), Origin::Template { .. } | Origin::Token { .. });
        let segments = self.segments.iter().filter(is_within);
        let start = segments
            .clone()
            .rfind(is_printed)
            .map_or(range.start, |last| last.bytes().end);
        let close = self.text.get(start..range.end).unwrap_or_default();
        let ends = segments.filter(|segment| is_eos(segment) && segment.bytes().start >= start);
        let ends = ends.map(|segment| segment.bytes().start - start..segment.bytes().end.min(range.end) - start);
        let mut tokens: Vec<Range<usize>> = control_tokens(close).chain(ends).collect();
        tokens.sort_by_key(|token| token.start);
        let text = sampled.trim_end();
        let is_last = |token: &&Range<usize>| close.get((*token).clone()).is_some_and(|token| text.ends_with(token));
        let blanks = sampled.get(text.len()..).unwrap_or_default();
        let end = match (tokens.iter().rfind(is_last), tokens.first()) {
            (Some(token), _) => {
                let rest = close.get(token.end..).unwrap_or_default();
                token.end.saturating_add(common_prefix(rest, blanks))
            }
            (None, Some(first)) if !close.get(..first.start).unwrap_or_default().trim().is_empty() => first.start,
            (None, Some(_)) => 0,
            (None, None) => close.len(),
        };
        start.saturating_add(end)
    }
}

/// Returns the line of the template that wrote the last text of the template among the first segments.
pub(crate) fn find_line(prompt: &Prompt, is_before: impl Fn(&Segment) -> bool) -> Option<usize> {
    let segments = prompt.segments.iter().take_while(|segment| is_before(segment));
    let lines = segments.filter_map(|segment| match segment.origin() {
        Origin::Template { line } => Some(line),
        _ => None,
    });
    lines.last()
}

impl ChatTemplate {
    /// Returns the text to append when a conversation grows, so that the model need not read again what it has seen. `messages` is the
    /// whole conversation and `seen` the prompt of its first messages. The inner error is that the prompt of the whole conversation does not
    /// begin with `seen`.
    ///
    /// With `sampled`, the model has read `seen` and then written `sampled`, which is the last message of the assistant, whatever the
    /// template would print for it. The piece is what the template writes after this message, with the token that ends the turn unless
    /// `sampled` ends with it. In `seen`, each earlier message of the assistant can have any text. The [`Prompt`] is then traced, and has
    /// the spans of the default [`AssistantOptions`].
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
    /// let next = template.append(messages.as_slice(), &seen, Some(sampled), &options)?.expect("the prefix is kept");
    /// assert_eq!(next.text(), "\n<|user|>Bye<|end|>\n<|assistant|>");
    ///
    /// seen = seen + sampled + next.text(); // and so on
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    ///
    /// `Report::get` with `prefix` says for which templates no prefix is ever broken.
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
    ) -> Result<Result<NextPiece, PrefixBroken>> {
        let deadline = options.prompt.render.bounds.start();
        let mut meter = Meter::within(options.prompt.render.bounds, &deadline).share_steps();
        meter.charge_scan(seen.len())?;
        let assistant = sampled.map(|_| AssistantOptions::default()).or(options.prompt.assistant);
        let traced = options.with_trace(true).with_assistant(assistant);
        let wanted = if sampled.is_some() { &traced } else { options };
        let prompt = self.apply_within(messages, wanted, false, &meter)?;
        meter.charge_scan(prompt.text.len().saturating_mul(2))?;
        meter.charge_items(prompt.segments.len().saturating_mul(4))?;
        let start = match sampled {
            Some(sampled) => self.find_rest(messages, &prompt, (seen, sampled), options, &meter)?,
            None if prompt.text.starts_with(seen) => Ok(seen.len()),
            None => Err(common_prefix(&prompt.text, seen)),
        };
        let at = match start {
            Ok(start) => return Ok(Ok(NextPiece { prompt, start })),
            Err(at) => at,
        };
        let prompt = if prompt.segments.is_empty() {
            self.apply_within(messages, &traced, false, &meter)?
        } else {
            prompt
        };
        let line = find_line(&prompt, |segment| segment.bytes().start <= at);
        let has_tools = options.tools.is_some();
        let template = self.parts.templates.choose(options.chat_template, has_tools, &meter)?;
        Ok(Err(PrefixBroken {
            at: prompt.text.get(..at).unwrap_or_default().chars().count(),
            line,
            looks_at: list_lookahead(template.template().compiled()?, line.unwrap_or_default()),
            prompt: Box::new(prompt),
        }))
    }

    /// Returns where the text after the assistant's last message begins in a prompt. The inner error is the place at which the prompt
    /// differs from what was seen.
    fn find_rest<M: Input + ?Sized>(
        &self,
        messages: &M,
        prompt: &Prompt,
        (seen, sampled): (&str, &str),
        options: &ApplyOptions<'_>,
        meter: &Meter<'_>,
    ) -> Result<Result<usize, usize>> {
        let last = find_last_answer(&messages, options, meter)?;
        let unknown = |reason: &str| {
            let message = format!("it is unknown which text the model writes: {reason}");
            Error::new(ErrorKind::Runtime, message).without_line()
        };
        let mut earlier = Vec::new();
        let mut written = prompt.list_written();
        let own = loop {
            let Some((message, range)) = written.next() else {
                return Err(unknown(&format!("the prompt has none for message {last}")));
            };
            let range = range.map_err(unknown)?;
            if message == last {
                break range;
            }
            earlier.push(range);
        };
        let text = |range: Range<usize>| prompt.text.get(range).unwrap_or_default();
        // What was seen has the text of the template, and between it the text of earlier answers, which can be any.
        let (mut at, mut rest) = (0, seen);
        for answer in earlier {
            let literal = text(at..answer.start);
            let found = if at == 0 {
                rest.starts_with(literal).then_some(0)
            } else {
                rest.find(literal)
            };
            let Some(found) = found else {
                return Ok(Err(at.saturating_add(if at == 0 { common_prefix(literal, rest) } else { 0 })));
            };
            rest = rest.get(found.saturating_add(literal.len())..).unwrap_or_default();
            at = answer.end;
        }
        let ends = |literal: &str| if at == 0 { rest == literal } else { rest.ends_with(literal) };
        if !ends(text(at..own.start)) {
            // The generation prompt can have text that the turn does not have, such as the tag that opens reasoning.
            let mut turn = prompt.segments.iter().filter(|segment| segment.message() == Some(last));
            let turn = turn
                .next()
                .map_or(own.start, |first| first.bytes().start.clamp(at, own.start));
            let before = text(at..turn);
            let opened = match at {
                0 => rest.strip_prefix(before),
                _ => rest
                    .rfind(before)
                    .and_then(|found| rest.get(found.saturating_add(before.len())..)),
            };
            let asking = options
                .with_add_generation_prompt(true)
                .with_trace(false)
                .with_assistant(None);
            let is_opened = match opened {
                Some(opened) => self.apply_first(&messages, last, &asking, meter)?.ends_with(opened),
                None => false,
            };
            if !is_opened {
                return Ok(Err(at.saturating_add(if at == 0 {
                    common_prefix(&prompt.text, rest)
                } else {
                    0
                })));
            }
        }
        Ok(Ok(prompt.end_of_sample(&own, sampled)))
    }
}

/// Returns the index of the last message of the assistant.
fn find_last_answer(messages: &dyn Input, options: &ApplyOptions<'_>, meter: &Meter<'_>) -> Result<usize> {
    let mut runtime = Runtime::with_meter(meter.renew(), options.prompt.render.clock, &LOOKUPS);
    let last = match messages.borrow_value(&mut runtime)? {
        Value::List(items) | Value::Tuple(items) => items.iter().collect::<Vec<_>>().iter().rposition(|message| match message {
            Value::Dict(message) => message.get_str("role").is_some_and(|role| role.as_str() == Some("assistant")),
            _ => false,
        }),
        _ => None,
    };
    last.ok_or_else(|| refused(ErrorKind::Value, "no message of the conversation is the assistant's"))
}
