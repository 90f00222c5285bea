//! Finds the parts of an output that the model would write.
//!
//! ```text
//! a template with {% generation %}: its blocks      another one: the trace, and the same template with fewer messages
//! ```

use super::{AssistantOptions, AssistantSpans, Conversation, find_spans};
use crate::error::Result;
use crate::eval;
use crate::limits::Limit;
use crate::meter::Meter;
use crate::template::Template;
use crate::trace::{Pieces, Segment, Spans};
use crate::value::{Entries, Given, Key, Runtime, Seq, Str, Value};

impl Template {
    /// Returns whether a render must be traced to find what the model would write.
    pub(crate) fn needs_trace(&self, options: Option<AssistantOptions<'_>>) -> bool {
        options.is_some() && !self.has_generation()
    }

    /// Returns the places of what the model would write in an output, and drops the pieces of the output. The runtime is that of the
    /// render, whose variables are taken out.
    ///
    /// # Errors
    /// If a limit of the render is reached.
    pub(crate) fn find_assistant<'a>(
        &'a self,
        runtime: &mut Runtime<'a>,
        output: &mut eval::Output,
        segments: &[Segment],
        options: &AssistantOptions<'_>,
    ) -> Result<AssistantSpans> {
        if self.has_generation() {
            runtime.meter.charge_bytes(output.text.len())?;
            runtime.meter.charge_items(output.pieces.len())?;
            let blocks = outermost(output.pieces.blocks());
            return Ok(AssistantSpans::Known(Spans::from_bytes(blocks, &output.text)));
        }
        let given = std::mem::take(&mut runtime.heap.frames.input);
        let Some(Value::List(messages) | Value::Tuple(messages)) = given.get("messages") else {
            return Ok(AssistantSpans::Unknown("the context has no list `messages`".to_owned()));
        };
        output.pieces = Pieces::default();
        let _claims = runtime.claim_segments(segments.len())?;
        runtime.meter.charge_items(messages.len())?;
        let roles = messages.iter().map(|message| match message {
            Value::Dict(message) => message.get_str("role").unwrap_or(Value::None),
            _ => Value::None,
        });
        let roles: Vec<Value<'a>> = roles.collect();
        let roles: Vec<&str> = roles.iter().map(|role| role.as_str().unwrap_or_default()).collect();
        let conversation = Conversation {
            text: &output.text,
            segments,
            roles: &roles,
            is_prompted: matches!(given.get("add_generation_prompt"), Some(Value::Bool(true))),
            options,
        };
        // The other renders are not traced, and count towards the limits of this one.
        runtime.tape = None;
        let openings = Openings {
            template: self,
            runtime,
            given,
            messages,
        };
        find_spans(&conversation, openings)
    }
}

/// A conversation whose prompt shows the generation prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// The messages before an index, with the generation prompt.
    Before(usize),
    /// One message of a user, with or without the generation prompt.
    Greeting(bool),
}

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

    /// Returns the text of a conversation, or `None` if the render fails. `held` is the number of bytes of earlier texts still in use,
    /// including the text of the conversation.
    ///
    /// # Errors
    /// If the steps or the time are used up, or if the render is cancelled.
    pub fn render(&mut self, opening: Opening, held: usize) -> Result<Option<String>> {
        // The texts that are in use count towards the limit on the output.
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
            Opening::Greeting(prompted) => (greeting(runtime)?, prompted),
        };
        let mut given = self.given.clone();
        given.set("messages", messages);
        given.set("add_generation_prompt", Value::Bool(prompted));
        self.template.render_opening(runtime, given)
    }
}

/// Returns a conversation of one message.
fn greeting<'a>(runtime: &mut Runtime<'a>) -> Result<Value<'a>> {
    let mut entries = Entries::default();
    entries.insert(Key::from(Str::from("role")), Value::text("user"));
    entries.insert(Key::from(Str::from("content")), Value::text("Hello"));
    let message = runtime.dict(entries)?;
    runtime.list(vec![Value::Dict(message)])
}

/// Returns the spans that are not within another one. The spans are sorted by their starts, an outer one before an inner one.
fn outermost(spans: Vec<std::ops::Range<usize>>) -> Vec<std::ops::Range<usize>> {
    let mut end = 0;
    let is_outer = |span: &std::ops::Range<usize>| {
        let is_outer = span.end > end;
        end = end.max(span.end);
        is_outer
    };
    spans.into_iter().filter(is_outer).collect()
}
