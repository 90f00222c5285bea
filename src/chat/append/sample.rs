//! Finds where the text after a sample begins, in the prompt of a conversation that has grown.
//!
//! ```text
//! prompt <|user|>Hi<|end|><|model|>Hello<|end|><|user|>Bye   sampled Hello<|eos|>   ->   before the second <|user|>
//! ```
//!
//! The sample takes the place of what the template writes for the last assistant message. What was seen says where the model began,
//! and the end of the sample how much of the end of its turn it wrote.

use std::ops::Range;

use crate::builtins::LOOKUPS;
use crate::chat::stops::StopToken;
use crate::chat::turns::assistant::control::{
    common_prefix, control_token, control_tokens, is_eos, is_thought, last_control_token,
};
use crate::chat::{ApplyOptions, ChatTemplate, Prompt, refused};
use crate::error::{Error, ErrorKind, Result};
use crate::meter::Meter;
use crate::template::Input;
use crate::trace::{Part, Place};
use crate::value::{Arena, Runtime, Value};

/// The number of tokens at the end of a sample that can end its turn, such as the template's own and then another one.
const MAX_STOPS: usize = 3;

/// The number of tokens after a turn at which the model can have stopped: the end of the turn, and what begins the next one.
const MAX_NEXT: usize = 2;

/// The number of characters of the end of a turn that are compared with the end of a sample.
const MAX_CLOSE: usize = 1 << 10;

/// What the model writes in a turn of the prompt, from its first character to its last.
#[derive(Clone)]
pub(super) struct Written {
    pub range: Range<usize>,
    /// Whether a token at the end of the range ends the turn.
    has_end: bool,
}

impl Prompt {
    /// Returns the messages that the model wrote, each with its text. The error is that the text is not known.
    fn list_written(&self) -> impl Iterator<Item = (usize, std::result::Result<Written, &str>)> {
        self.assistant.turns.iter().filter_map(|turn| {
            let written = turn.spans.as_ref().map_err(String::as_str).map(|spans| {
                let range = spans.bytes.first()?.start..spans.bytes.last()?.end;
                let has_end = turn.has_end;
                Some(Written { range, has_end })
            });
            Some((turn.message?, written.transpose()?))
        })
    }

    /// Returns the text that the model wrote in a message.
    pub(super) fn find_written(&self, message: usize) -> Option<std::result::Result<Written, &str>> {
        let mut written = self.list_written().filter(|(writer, _)| *writer == message);
        written.next().map(|(_, written)| written)
    }
}

/// A conversation that has grown, and what the model has seen and written of it.
pub(super) struct Grown<'g> {
    pub template: &'g ChatTemplate,
    pub messages: &'g dyn Input,
    /// The prompt of the whole conversation.
    pub prompt: &'g Prompt,
    pub options: &'g ApplyOptions<'g>,
    pub seen: &'g str,
    pub sampled: &'g str,
    /// The strings at which the model can have stopped.
    pub stops: &'g [StopToken],
}

impl<'g> Grown<'g> {
    /// Returns where the text after the sample begins in the prompt. The inner error is the place at which the prompt differs from what was
    /// seen.
    pub fn find_rest(&self, meter: &mut Meter<'_>) -> Result<Result<usize, usize>> {
        let mut answers = self.list_answers(meter)?;
        let Some(last) = answers.pop() else {
            return Err(refused(ErrorKind::Value, "no message of the conversation is the assistant's"));
        };
        meter.charge_scan(self.sampled.len())?;
        let own = match self.find_own(last, answers.last().copied(), meter)? {
            Ok(own) => own,
            Err(at) => return Ok(Err(at)),
        };
        let stops = self.list_stops(&own);
        let is_end = own.has_end && stops.iter().any(|stop| self.text(own.range.clone()).ends_with(*stop));
        let own = match is_end || find_stop(self.sampled.trim_end(), &stops).is_none() {
            true => own,
            false => self.find_late_end(own, last, meter)?,
        };
        Ok(Ok(self.end_of_sample(&own, &stops)))
    }

    /// Returns the strings at which the model can have stopped. The tokens that the prompt has after its text are some of them.
    fn list_stops(&self, own: &Written) -> Vec<&'g str> {
        let mut stops: Vec<&str> = self.stops.iter().map(|(stop, _)| stop.as_str()).collect();
        let mut rest = self.text(own.range.end..self.prompt.text.len()).trim_start();
        while let Some((token, after)) = control_token(rest).and_then(|length| rest.split_at_checked(length)) {
            if stops.len() == self.stops.len().saturating_add(MAX_NEXT) {
                break;
            }
            stops.push(token);
            rest = after.trim_start();
        }
        stops
    }

    /// Adds the token that ends the turn of a message to what the model writes in it, if the template writes it with the next message, but
    /// also if there is none.
    fn find_late_end(&self, own: Written, last: usize, meter: &Meter<'_>) -> Result<Written> {
        let Some(length) = control_token(self.text(own.range.end..self.prompt.text.len())) else {
            return Ok(own);
        };
        let options = self
            .options
            .with_add_generation_prompt(false)
            .with_trace(false)
            .with_assistant(None);
        let end = own.range.end.saturating_add(length);
        match self
            .template
            .apply_first(self.messages, last.saturating_add(1), &options, meter)
        {
            Ok(answered) if answered.trim_end() == self.text(0..end) => Ok(Written {
                range: own.range.start..end,
                has_end: true,
            }),
            Err(error) if error.reached().is_some() => Err(error),
            _ => Ok(own),
        }
    }

    /// Returns the indices of the assistant messages.
    fn list_answers(&self, meter: &Meter<'_>) -> Result<Vec<usize>> {
        let arena = Arena::default();
        let mut runtime = Runtime::with_meter(&arena, meter.renew(), self.options.prompt.render.clock, &LOOKUPS);
        let messages = match self.messages.borrow_value(&mut runtime)? {
            Value::List(items) | Value::Tuple(items) => items,
            _ => return Ok(Vec::new()),
        };
        runtime.meter.charge_items(messages.len())?;
        let is_answer = |message: &Value<'_>| match message {
            Value::Dict(message) => message.get_str("role").is_some_and(|role| role.as_str() == Some("assistant")),
            _ => false,
        };
        let answers = messages.iter().enumerate().filter(|(_, message)| is_answer(message));
        Ok(answers.map(|(index, _)| index).collect())
    }

    fn text(&self, range: Range<usize>) -> &'g str {
        self.prompt.text.get(range).unwrap_or_default()
    }

    /// Returns the text that the template writes for the last assistant message, if what was seen ends before it. `earlier` is the
    /// assistant message before it.
    fn find_own(&self, last: usize, earlier: Option<usize>, meter: &mut Meter<'_>) -> Result<Result<Written, usize>> {
        let followed = self.follow(last);
        let own = self.prompt.find_written(last);
        if let (Some((at, rest)), Some(Ok(own))) = (&followed, &own) {
            let literal = self.text(*at..own.range.start);
            if if *at == 0 { *rest == literal } else { rest.ends_with(literal) } {
                return Ok(Ok(own.clone()));
            }
        }
        // The spans do not show where the model began. The prompt before the message does. It can have text at its end that the turn does
        // not have, such as the tag that opens reasoning.
        let asking = self
            .options
            .with_add_generation_prompt(true)
            .with_trace(false)
            .with_assistant(None);
        let before = self.template.apply_first(self.messages, last, &asking, meter)?;
        meter.charge_scan(before.len().saturating_mul(2))?;
        let common = common_prefix(&self.prompt.text, &before);
        let at = match (&followed, earlier) {
            (Some((at, _)), _) => *at,
            (None, Some(earlier)) => self.find_start(|message| message > earlier).unwrap_or(common),
            (None, None) => 0,
        };
        let opened = before.get(common..).unwrap_or_default();
        let start = match &own {
            _ if opened.is_empty() => common,
            Some(Ok(own)) => own.range.start,
            _ if opened.trim().is_empty() || is_thought(opened) => common,
            Some(Err(reason)) => return Err(unknown(reason)),
            None => return Err(unknown(&format!("the prompt has none for message {last}"))),
        };
        let turn = self
            .find_start(|message| message == last)
            .unwrap_or(start)
            .clamp(at, start.max(at));
        let tail = before.get(at..).unwrap_or_default();
        let is_kept = turn <= common
            && if at == 0 {
                self.seen == tail
            } else {
                self.seen.ends_with(tail)
            };
        if !is_kept {
            let is_first = at == 0;
            return Ok(Err(if is_first {
                common_prefix(&self.prompt.text, self.seen)
            } else {
                at
            }));
        }
        Ok(Ok(match own {
            Some(Ok(own)) => Written {
                range: start..own.range.end.max(start),
                ..own
            },
            _ => self.read_turn(last, start),
        }))
    }

    /// Follows what was seen up to the last assistant message. It has the text of the template, and between it the text of earlier
    /// answers, which can be any. Returns the end of the last earlier answer in the prompt, and the rest of what was seen, or `None` if an
    /// answer is not known or the text of the template is not there.
    fn follow(&self, last: usize) -> Option<(usize, &'g str)> {
        let (mut at, mut rest) = (0, self.seen);
        for (_, answer) in self.prompt.list_written().take_while(|(message, _)| *message != last) {
            let answer = answer.ok()?.range;
            let literal = self.text(at..answer.start);
            let found = if at == 0 {
                rest.starts_with(literal).then_some(0)
            } else {
                rest.find(literal)
            };
            rest = rest.get(found?.saturating_add(literal.len())..)?;
            at = answer.end;
        }
        Some((at, rest))
    }

    /// Returns where the first turn of a message begins that is chosen.
    fn find_start(&self, is_chosen: impl Fn(usize) -> bool) -> Option<usize> {
        let mut parts = self.prompt.trace.parts().iter();
        let first = parts.find(|part| part.message().is_some_and(&is_chosen))?;
        Some(first.bytes().start)
    }

    /// Returns what the model writes in the turn of a message, in which it begins at a place.
    fn read_turn(&self, message: usize, start: usize) -> Written {
        let mut parts = self.prompt.trace.parts().iter();
        let last = parts.rfind(|part| part.message() == Some(message));
        let end = last.map_or(start, |part| part.bytes().end.max(start));
        let text = self.text(start..end).trim_end();
        let has_end = last_control_token(text).is_some_and(|token| token.end == text.len());
        Written {
            range: start..start.saturating_add(text.len()),
            has_end,
        }
    }

    /// Returns where the text after the sample begins, if the sample takes the place of what the model wrote in its turn.
    fn end_of_sample(&self, own: &Written, known: &[&str]) -> usize {
        let Written { range, has_end } = own;
        let is_within = |part: &&Part| part.bytes().start < range.end && part.bytes().end > range.start;
        let is_eos = |part: &&Part| is_eos(part, self.prompt.trace.paths());
        let is_printed = |part: &&Part| !is_eos(part) && !matches!(part.place, Place::Template(_) | Place::Token(_));
        let parts = self.prompt.trace.parts().iter().filter(is_within);
        let printed = parts.clone().rfind(is_printed);
        let start = printed.map_or(range.start, |last| last.bytes().end.min(range.end));
        let close = self.text(start..range.end);
        let ends = parts.filter(|part| is_eos(part) && part.bytes().start >= start);
        let ends = ends.map(|part| part.bytes().start - start..part.bytes().end.min(range.end) - start);
        let mut tokens: Vec<Range<usize>> = control_tokens(close).chain(ends).collect();
        tokens.sort_by_key(|token| token.start);
        let token_at = |token: &Range<usize>| close.get(token.clone()).unwrap_or_default();
        let mut text = self.sampled.trim_end();
        let blanks = self.sampled.get(text.len()..).unwrap_or_default();
        // The tokens at which the model stopped, the last one first, if they are not those that the template writes there.
        let mut stops = Vec::new();
        while let Some(stop) = find_stop(text, known).filter(|_| stops.len() < MAX_STOPS) {
            if tokens.iter().any(|own| token_at(own) == stop) {
                break;
            }
            stops.push(stop);
            text = text.get(..text.len().saturating_sub(stop.len())).unwrap_or_default();
            text = text.trim_end();
        }
        let last = tokens.iter().rfind(|token| text.ends_with(token_at(token)));
        let written = last.map_or(0, |token| token.end).max(count_written(close, text));
        let end = if stops.is_empty() {
            match tokens.first() {
                _ if written > 0 => start.saturating_add(written),
                Some(first) if !close.get(..first.start).unwrap_or_default().trim().is_empty() => {
                    return start.saturating_add(first.start);
                }
                None if !close.trim().is_empty() => return range.end,
                _ => {
                    let printed = self.text(range.start..start);
                    let own = printed.get(printed.trim_end().len()..).unwrap_or_default();
                    let more = blanks.strip_prefix(own).unwrap_or_default();
                    return start.saturating_add(common_prefix(close, more));
                }
            }
        } else {
            let mut end = start.saturating_add(close.trim_end().len());
            // The first of them takes the place of a token of the template that the sample does not have.
            let is_replaced = *has_end && written < close.trim_end().len();
            let mut next = stops.iter().rev().filter(|_| !is_replaced);
            while let Some(rest) = next.next().and_then(|stop| {
                let rest = self.text(end..self.prompt.text.len());
                rest.trim_start().strip_prefix(stop)
            }) {
                end = self.prompt.text.len().saturating_sub(rest.len());
            }
            end
        };
        let rest = self.text(end..self.prompt.text.len());
        end.saturating_add(common_prefix(rest, blanks))
    }
}

/// Returns the longest stop token at the end of a text.
fn find_stop<'t>(text: &'t str, stops: &[&str]) -> Option<&'t str> {
    let length = stops
        .iter()
        .filter(|stop| text.ends_with(**stop))
        .map(|stop| stop.len())
        .max()?;
    text.get(text.len().saturating_sub(length)..)
}

/// Returns the length of the longest part of a close, from its start, with which a sample ends.
fn count_written(close: &str, text: &str) -> usize {
    let ends = close.char_indices().map(|(at, char)| at.saturating_add(char.len_utf8()));
    let is_written = |end: &usize| {
        let part = close.get(..*end).unwrap_or_default();
        !part.trim().is_empty() && text.ends_with(part)
    };
    ends.take(MAX_CLOSE).filter(is_written).last().unwrap_or_default()
}

fn unknown(reason: &str) -> Error {
    let message = format!("it is unknown which text the model writes: {reason}");
    Error::new(ErrorKind::Runtime, message).without_line()
}
