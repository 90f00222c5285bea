//! Finds the parts of an output that the model would write.
//!
//! ```text
//! a template with {% generation %}: its blocks      another one: the trace, and the same template with fewer messages
//! ```

use std::ops::Range;

use super::answer::Found;
use super::blanks::Blanks;
use super::{AssistantOptions, AssistantSpans, Scene, find_spans};
use crate::error::Result;
use crate::limits::Limit;
use crate::meter::Meter;
use crate::template::{Output, Template};
use crate::trace::{Part, Pieces, Trace};
use crate::value::{Entries, Given, Key, Runtime, Seq, Str, Value};

impl Template {
    /// Returns the places of what the model would write in an output, which has these pieces. `runtime` is that of the render, and its
    /// variables are removed from it.
    ///
    /// # Errors
    /// If a limit of the render is reached.
    pub(crate) fn find_assistant<'a>(
        &'a self,
        runtime: &mut Runtime<'a>,
        output: &Output,
        pieces: Pieces,
        options: &AssistantOptions<'_>,
    ) -> Result<AssistantSpans> {
        let given = std::mem::take(&mut runtime.heap.frames.input);
        let messages = match given.get("messages") {
            Some(Value::List(messages) | Value::Tuple(messages)) => Some(messages),
            _ => None,
        };
        let count = messages.as_ref().map_or(0, Seq::len);
        runtime.meter.charge_items(count.saturating_mul(3))?;
        let are_trained = messages.iter().flat_map(Seq::iter).map(|message| is_trained(&message));
        let are_trained: Vec<bool> = are_trained.collect();
        if self.has_generation() {
            runtime.meter.charge_bytes(output.text.len())?;
            runtime.meter.charge_items(pieces.len())?;
            let blocks = outermost(pieces.blocks());
            return Ok(assign_blocks(blocks, &output.trace, &are_trained, options, &output.text));
        }
        let Some(messages) = messages else {
            return Ok(AssistantSpans::unknown("the context has no list `messages`"));
        };
        drop(pieces);
        let _claims = runtime.claim_parts(output.trace.parts().len())?;
        let roles = messages.iter().map(|message| match message {
            Value::Dict(message) => message.get_str("role").unwrap_or(Value::None),
            _ => Value::None,
        });
        let roles: Vec<Value<'a>> = roles.collect();
        let roles: Vec<&str> = roles.iter().map(|role| role.as_str().unwrap_or_default()).collect();
        let eos = given.get("eos_token");
        runtime.meter.charge_items(output.trace.parts().len().saturating_mul(4))?;
        let scene = Scene {
            text: &output.text,
            trace: &output.trace,
            roles: &roles,
            are_trained: &are_trained,
            eos: eos.as_ref().and_then(Value::as_str).unwrap_or_default(),
            is_prompted: matches!(given.get("add_generation_prompt"), Some(Value::Bool(true))),
            options,
            blanks: Blanks::new(&output.text, &mut runtime.meter)?,
        };
        // The other renders are not traced, and count towards the limits of this one.
        runtime.tape = None;
        let openings = Openings {
            template: self,
            runtime,
            given,
            messages,
        };
        find_spans(scene, openings)
    }
}

/// A conversation whose prompt shows the generation prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// The messages before an index, with the generation prompt.
    Before(usize),
    /// One user message, with or without the generation prompt.
    Greeting(bool),
    /// One user message, and the answer [`ANSWER`].
    Answer,
}

/// The content of the user's message.
pub(super) const GREETING: &str = "Hello";

/// A content that is not in a template.
pub(super) const ANSWER: &str = "Zq7yAnswer";

/// The renders of a template with other messages and the same variables.
pub(super) struct Openings<'o, 'a> {
    template: &'a Template,
    runtime: &'o mut Runtime<'a>,
    given: Given<'a>,
    messages: Seq<'a>,
}

impl<'a> Openings<'_, 'a> {
    /// Returns the meter of the renders, which also counts the work between them.
    pub fn meter(&mut self) -> &mut Meter<'a> {
        &mut self.runtime.meter
    }

    /// Returns the text of a conversation, or `None` if the render fails. `held` is the number of bytes of earlier strings still in use,
    /// including the text of the conversation.
    ///
    /// # Errors
    /// If the steps or the time are used up, or if the render is cancelled.
    pub fn render(&mut self, opening: Opening, held: usize) -> Result<Option<String>> {
        // The strings that are in use count towards the limit on the output.
        let rendered = self.runtime.meter.check_output(held).and_then(|()| {
            let outer = self.runtime.meter.begin_text();
            let rendered = self.render_opening(opening);
            self.runtime.meter.end_text(outer);
            rendered
        });
        match rendered {
            Ok(text) => Ok(Some(text)),
            Err(error) => match error.reached().map(|reached| reached.limit) {
                Some(Limit::Steps | Limit::Milliseconds | Limit::Cancel) => Err(error),
                _ => Ok(None),
            },
        }
    }

    /// Renders the template with other messages and another flag for the generation prompt.
    fn render_opening(&mut self, opening: Opening) -> Result<String> {
        let runtime = &mut *self.runtime;
        let (messages, prompted) = match opening {
            Opening::Before(end) => (Value::List(self.messages.slice(0..end).unwrap_or_else(Seq::empty)), true),
            Opening::Greeting(prompted) => (converse(runtime, &[("user", GREETING)])?, prompted),
            Opening::Answer => (converse(runtime, &[("user", GREETING), ("assistant", ANSWER)])?, false),
        };
        let mut given = self.given.clone();
        given.set("messages", messages);
        given.set("add_generation_prompt", Value::Bool(prompted));
        self.template.render_opening(runtime, given)
    }
}

/// Returns a conversation of messages with these roles and contents.
fn converse<'a>(runtime: &mut Runtime<'a>, turns: &[(&'static str, &'static str)]) -> Result<Value<'a>> {
    let mut messages = Vec::new();
    for (role, content) in turns {
        let mut entries = Entries::default();
        entries.insert(Key::from(Str::from("role")), Value::text(role));
        entries.insert(Key::from(Str::from("content")), Value::text(content));
        messages.push(Value::Dict(runtime.dict(entries)?));
    }
    runtime.list(&messages)
}

/// Returns whether a message has no key `weight` or `train` that is 0 or false.
fn is_trained(message: &Value<'_>) -> bool {
    let Value::Dict(message) = message else { return true };
    let is_off = |name| match message.get_str(name) {
        Some(Value::Bool(flag)) => !flag,
        Some(Value::Int(number)) => number == 0,
        Some(Value::Float(number)) => number == 0.0,
        _ => false,
    };
    !is_off("weight") && !is_off("train")
}

/// Returns the spans of the blocks, each in the turn of the message that owns its start.
fn assign_blocks(
    blocks: Vec<Range<usize>>,
    trace: &Trace,
    are_trained: &[bool],
    options: &AssistantOptions<'_>,
    text: &str,
) -> AssistantSpans {
    let mut turns: Vec<Found> = Vec::new();
    for block in blocks {
        let parts = trace.parts();
        let part = parts.get(parts.partition_point(|part| part.bytes().end <= block.start));
        let message = part.and_then(Part::message);
        if message.is_some_and(|message| are_trained.get(message) == Some(&false)) {
            continue;
        }
        match turns.last_mut() {
            Some(Found {
                message: last,
                spans: Ok(spans),
                ..
            }) if *last == message => spans.push(block),
            _ => turns.push(Found {
                message,
                spans: Ok(vec![block]),
                has_end: true,
            }),
        }
    }
    if options.last_turn_only {
        turns.drain(..turns.len().saturating_sub(1));
    }
    AssistantSpans::from_bytes(turns, text)
}

/// Returns the spans that are not within another one. The spans are sorted by their starts, an outer one before an inner one.
fn outermost(spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut end = 0;
    let is_outer = |span: &Range<usize>| {
        let is_outer = span.end > end;
        end = end.max(span.end);
        is_outer
    };
    spans.into_iter().filter(is_outer).collect()
}
