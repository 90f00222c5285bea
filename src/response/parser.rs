//! Parses the text that a model writes, whole or while it is still arriving.
//!
//! The rules are transformers 5.24.0 `response_parser.py`.

use std::ops::Range;

use serde::Serialize;

use super::stream::Stream;
use super::template::ResponseTemplate;
use crate::deadline::Bounds;
use crate::error::Result;
use crate::json::{Data, Object};
use crate::meter::{Counted, Meter};
use crate::setters::setters;

/// The arguments of parsing.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct ParseOptions<'o> {
    /// The prompt that the model continued, because a template can write the beginning of the message, such as `<think>`. Its
    /// [generation prompt](crate::Prompt::generation_prompt) is enough. If the text is the complete message, the prefix is empty.
    pub prefix: &'o str,
    /// The tools as they were passed to the template: a list. Arguments of calls that are strings get the types of the tool's parameters.
    pub tools: Option<&'o serde_json::Value>,
    /// Whether text that does not have the form that the description says is kept instead of being an error. What is cut or malformed is in the
    /// content as the model wrote it, and the calls before and after it are calls. The message then has the key `unread`: a list with the
    /// `reason` of each place, `cut` or `malformed`, and its start and end in the text of the model in `bytes` and in `code_points`.
    pub lenient: bool,
    /// The limits, the deadline and the flag that cancels.
    pub bounds: Bounds<'o>,
}

setters! { ParseOptions<'o>:
    with_prefix(&'o str) = @prefix;
    with_tools(impl Into<Option<&'o serde_json::Value>>) = @tools;
    with_lenient(bool) = @lenient;
    with_bounds(impl Into<Bounds<'o>>) = @bounds;
}

/// What a parser found in the text. `bytes` is the place in the text of the model that it was found in. What the prefix has is at byte 0.
///
/// The chunks of a field together are its value, unless they are `dirty`. The arguments of a call together are their JSON text.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// The text of a field begins.
    #[serde(rename = "region_open")]
    Open {
        /// The name of the field.
        field: String,
        /// The place of the anchor.
        bytes: Range<usize>,
    },
    /// A part of the text of a field.
    #[serde(rename = "region_chunk")]
    Chunk {
        /// The name of the field.
        field: String,
        /// The part.
        text: String,
        /// Whether the value of the field is made when its text is complete, so that this part is not a part of the value.
        dirty: bool,
        /// The place of the part.
        bytes: Range<usize>,
    },
    /// A call whose name is known begins.
    Call {
        /// The number of calls that began before.
        index: usize,
        /// The name of the function.
        name: String,
        /// The id, if the model wrote one before the arguments.
        id: Option<String>,
        /// The place of the text in which the name was found.
        bytes: Range<usize>,
    },
    /// A part of the arguments of a call.
    Arguments {
        /// The number of calls that began before this one.
        index: usize,
        /// The part: JSON as the model writes it, or else the JSON text of one argument or of all.
        text: String,
        /// The place of what the part was made from.
        bytes: Range<usize>,
    },
    /// The text of a field ends.
    #[serde(rename = "region_close")]
    Close {
        /// The name of the field.
        field: String,
        /// The value of the field.
        value: Data<'static>,
        /// The place of the anchor.
        bytes: Range<usize>,
    },
    /// The text of a field ends without a value. What follows are the events of the content that the text becomes. Only with
    /// [`ParseOptions::lenient`].
    #[serde(rename = "region_unread")]
    Unread {
        /// The name of the field.
        field: String,
        /// `cut` or `malformed`.
        reason: &'static str,
        /// The place of the text with its anchors.
        bytes: Range<usize>,
    },
}

impl ResponseTemplate {
    /// Returns the message that a complete text is.
    ///
    /// # Errors
    /// If a part of the text does not have the form that the description says, with the message of transformers, and if a limit is reached.
    pub fn parse(&self, text: &str, options: &ParseOptions<'_>) -> Result<Object<'static>> {
        let deadline = options.bounds.start();
        self.parse_metered(text, options, &mut Meter::within(options.bounds, &deadline))
    }

    /// Returns the message as [`ResponseTemplate::parse`] does, within the bounds of a meter.
    pub(crate) fn parse_metered(&self, text: &str, options: &ParseOptions<'_>, meter: &mut Meter<'_>) -> Result<Object<'static>> {
        let mut stream = Stream::new(self, options, meter)?;
        stream.has_events = false;
        stream.append(text, meter)?;
        stream.finish(meter).map(|(message, _)| message)
    }

    /// Parses a text after a prefix, and returns what was found.
    #[cfg(feature = "inspect")]
    pub(crate) fn find_events(&self, prefix: &str, text: &str, meter: &mut Meter<'_>) -> Result<Vec<Event>> {
        let options = ParseOptions::default().with_prefix(prefix);
        let mut stream = Stream::new(self, &options, meter)?;
        let mut events = std::mem::take(&mut stream.first_events);
        events.extend(stream.feed(text, meter)?);
        events.extend(stream.finish(meter)?.1);
        Ok(events)
    }
}

/// A parser that gets the text in parts, as a model writes it.
///
/// However the text is cut, the message is the same. The limits are those of all parts together, but [`Limits::milliseconds`] is for each.
///
/// ```
/// use chat_template::response::{Event, ParseOptions, ResponseParser, ResponseTemplate};
///
/// let description = serde_json::json!({"start_anchor": "<bot>", "fields": {"content": {"close": "<end>"}}});
/// let template = ResponseTemplate::new(&description)?;
/// let mut parser = ResponseParser::new(&template, &ParseOptions::default())?;
/// assert_eq!(parser.feed("Hello<e")?.len(), 2);
/// let events = parser.feed("nd>")?;
/// assert!(matches!(&events[..], [Event::Close { field, .. }] if field == "content"));
/// let (message, _) = parser.finish()?;
/// assert_eq!(serde_json::to_value(message).unwrap(), serde_json::json!({"content": "Hello"}));
/// # Ok::<(), chat_template::Error>(())
/// ```
///
/// [`Limits::milliseconds`]: crate::Limits::milliseconds
#[derive(Debug)]
pub struct ResponseParser<'t> {
    stream: Stream<'t>,
    bounds: Bounds<'t>,
    /// What the parts so far have cost.
    counted: Counted,
}

impl<'t> ResponseParser<'t> {
    /// Makes a parser, and parses the end of the prefix.
    ///
    /// # Errors
    /// Those of [`ResponseTemplate::parse`].
    pub fn new(template: &'t ResponseTemplate, options: &ParseOptions<'t>) -> Result<Self> {
        let deadline = options.bounds.start();
        let mut meter = Meter::within(options.bounds, &deadline);
        let stream = Stream::new(template, options, &mut meter)?;
        Ok(Self {
            stream,
            bounds: options.bounds,
            counted: meter.counted(),
        })
    }

    /// Returns what was found in the prefix. A second call returns nothing.
    pub fn take_first_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.stream.first_events)
    }

    /// Parses the next part of the text, and returns what was found. The end of the part is kept back if an anchor can begin there.
    ///
    /// # Errors
    /// Those of [`ResponseTemplate::parse`]. After an error, the parser is of no use.
    pub fn feed(&mut self, text: &str) -> Result<Vec<Event>> {
        let deadline = self.bounds.start();
        let mut meter = Meter::within(self.bounds, &deadline);
        meter.resume(self.counted)?;
        let events = self.stream.feed(text, &mut meter)?;
        self.counted = meter.counted();
        Ok(events)
    }

    /// Returns the message after the last part of the text, and what was found at its end.
    ///
    /// # Errors
    /// Those of [`ResponseTemplate::parse`].
    pub fn finish(self) -> Result<(Object<'static>, Vec<Event>)> {
        let deadline = self.bounds.start();
        let mut meter = Meter::within(self.bounds, &deadline);
        meter.resume(self.counted)?;
        self.stream.finish(&mut meter)
    }
}
