//! Parses the text that a model writes: finds the regions of the fields, also while the text is still arriving.
//!
//! The rules are transformers 5.24.0 `response_parser.py`.

use std::collections::HashMap;

use serde::Serialize;

use super::coerce::ToolSchemas;
use super::content::{Entries, is_empty, list, text};
use super::pattern::{Match, Pattern};
use super::template::{Field, ResponseTemplate};
use crate::deadline::Bounds;
use crate::error::{Error, ErrorKind, Result};
use crate::json::{Data, Object};
use crate::meter::Meter;
use crate::setters::setters;

/// The arguments of parsing.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct ParseOptions<'o> {
    /// The prompt that the model continued, because a template can write the beginning of the message, such as `<think>`. If the text is
    /// the complete message, it is empty.
    pub prefix: &'o str,
    /// The tools as they were passed to the template: a list. Arguments of calls that are strings get the types of the tool's parameters.
    pub tools: Option<&'o serde_json::Value>,
    /// The limits, the deadline and the flag that cancels.
    pub bounds: Bounds<'o>,
}

setters! { ParseOptions<'o>:
    with_prefix(&'o str) = @prefix;
    with_tools(impl Into<Option<&'o serde_json::Value>>) = @tools;
    with_bounds(impl Into<Bounds<'o>>) = @bounds;
}

/// What a parser found in the text.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// The text of a field begins.
    #[serde(rename = "region_open")]
    Open {
        /// The name of the field.
        field: String,
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
    },
    /// The text of a field ends.
    #[serde(rename = "region_close")]
    Close {
        /// The name of the field.
        field: String,
        /// The value of the field.
        value: Data<'static>,
    },
}

impl ResponseTemplate {
    /// Returns the message that a complete text is.
    ///
    /// # Errors
    /// If a part of the text does not have the form that the description says, with the message of transformers, and if a limit is reached.
    pub fn parse(&self, text: &str, options: &ParseOptions<'_>) -> Result<Object<'static>> {
        let deadline = options.bounds.start();
        let meter = &mut Meter::within(options.bounds, &deadline);
        let mut stream = Stream::new(self, options, meter)?;
        stream.has_events = false;
        stream.feed(text, meter)?;
        stream.finish(meter).map(|(message, _)| message)
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
    /// The number of steps that the parts so far have cost.
    steps: u64,
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
            steps: meter.steps(),
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
        meter.charge(self.steps)?;
        let events = self.stream.feed(text, &mut meter)?;
        self.steps = meter.steps();
        Ok(events)
    }

    /// Returns the message after the last part of the text, and what was found at its end.
    ///
    /// # Errors
    /// Those of [`ResponseTemplate::parse`].
    pub fn finish(self) -> Result<(Object<'static>, Vec<Event>)> {
        let deadline = self.bounds.start();
        let mut meter = Meter::within(self.bounds, &deadline);
        meter.charge(self.steps)?;
        self.stream.finish(&mut meter)
    }
}

/// The state of parsing.
#[derive(Debug)]
struct Stream<'t> {
    template: &'t ResponseTemplate,
    tools: ToolSchemas,
    first_events: Vec<Event>,
    /// Whether events are wanted.
    has_events: bool,
    buffer: String,
    /// The offset up to which the buffer is parsed.
    at: usize,
    output: Entries,
    region: Region,
    /// The first match of each anchor that was looked for since the buffer last grew.
    found: HashMap<Anchor, Option<Match>>,
    /// Where the first incomplete match begins of each anchor that was not found since then.
    beginnings: HashMap<Anchor, usize>,
}

/// The region that is being read.
#[derive(Debug, Default)]
struct Region {
    /// The index of the field, or `None` if the text is dropped.
    field: Option<usize>,
    /// The groups of the anchors that have names, with the text of each.
    captures: Entries,
    body: String,
    is_open: bool,
}

/// A pattern that begins the region of a field or ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Anchor {
    is_close: bool,
    field: usize,
}

impl<'t> Stream<'t> {
    fn new(template: &'t ResponseTemplate, options: &ParseOptions<'_>, meter: &mut Meter<'_>) -> Result<Self> {
        let mut stream = Self {
            template,
            tools: ToolSchemas::read(options.tools, meter)?,
            first_events: Vec::new(),
            buffer: String::new(),
            at: 0,
            output: template.defaults.iter().cloned().collect(),
            region: Region::default(),
            found: HashMap::new(),
            beginnings: HashMap::new(),
            has_events: true,
        };
        stream.leave_region();
        stream.first_events = stream.feed(after_last(template, options.prefix, meter)?, meter)?;
        Ok(stream)
    }

    fn feed(&mut self, text: &str, meter: &mut Meter<'_>) -> Result<Vec<Event>> {
        meter.check_size(self.buffer.len().saturating_add(text.len()))?;
        self.buffer.push_str(text);
        self.found.clear();
        self.beginnings.clear();
        let mut events = Vec::new();
        self.process(&mut events, false, meter)?;
        Ok(events)
    }

    fn finish(mut self, meter: &mut Meter<'_>) -> Result<(Object<'static>, Vec<Event>)> {
        let mut events = Vec::new();
        self.found.clear();
        self.process(&mut events, true, meter)?;
        let fields = self.template.fields.iter();
        let missing = fields.filter(|field| !field.is_optional && !self.output.contains_key(&field.name));
        let missing: Vec<_> = missing.map(|field| field.name.as_str()).collect();
        if !missing.is_empty() {
            let missing = list(missing);
            return Err(Error::value(format!(
                "Required response_template fields missing from parsed output: {missing}"
            )));
        }
        let defaults = &self.template.defaults;
        let is_default = |name: &str| defaults.iter().any(|(default, _)| default == name);
        let kept = self
            .output
            .into_iter()
            .filter(|(name, value)| is_default(name) || !is_empty(value));
        Ok((Object::new(kept.map(|(name, value)| (name.into(), value)).collect()), events))
    }

    /// Parses the buffer up to its end, or up to a place where an incomplete anchor can begin.
    fn process(&mut self, events: &mut Vec<Event>, is_end: bool, meter: &mut Meter<'_>) -> Result<()> {
        loop {
            let (best, held) = self.scan(is_end, meter)?;
            let Some((anchor, found)) = best else {
                self.read_to(if is_end { self.buffer.len() } else { held }, events);
                if is_end {
                    self.close(events, meter)?;
                }
                return Ok(());
            };
            self.read_to(found.bytes.start, events);
            self.at = found.bytes.end;
            let groups = found.groups.into_iter().map(|(name, group)| (name, text(group)));
            if anchor.is_close {
                let was_open = self.region.is_open;
                self.region.captures.extend(groups);
                self.close(events, meter)?;
                // An empty match that closes nothing would be found again and again.
                if !was_open && found.bytes.is_empty() {
                    return Ok(());
                }
            } else {
                let captures = groups.collect();
                self.close(events, meter)?;
                self.region = Region {
                    field: Some(anchor.field),
                    captures,
                    body: String::new(),
                    is_open: true,
                };
                events.push(Event::Open {
                    field: self.field(anchor.field).map_or_else(String::new, |field| field.name.clone()),
                });
            }
        }
    }

    fn field(&self, index: usize) -> Option<&'t Field> {
        self.template.fields.get(index)
    }

    fn pattern(&self, anchor: Anchor) -> Option<&'t Pattern> {
        let field = self.field(anchor.field)?;
        if anchor.is_close { &field.close } else { &field.open }.as_ref()
    }

    /// Returns the anchors that can come next.
    fn anchors(&self) -> Vec<Anchor> {
        let implicit = self.template.implicit;
        let close = |field: usize| Anchor { is_close: true, field };
        let closed = self
            .region
            .field
            .filter(|field| self.field(*field).is_some_and(|field| field.close.is_some()))
            .map(close);
        if self.region.field != implicit {
            return closed.into_iter().collect();
        }
        let fields = (0..).zip(&self.template.fields).filter(|(_, field)| field.open.is_some());
        fields
            .map(|(field, _)| Anchor { is_close: false, field })
            .chain(closed)
            .collect()
    }

    /// Returns the anchor that comes first, or the longest of those that begin at the same place. Also returns the offset from which on the
    /// buffer can have the beginning of another one.
    fn scan(&mut self, is_end: bool, meter: &mut Meter<'_>) -> Result<(Option<(Anchor, Match)>, usize)> {
        let mut held = self.buffer.len();
        let mut best: Option<(Anchor, Match)> = None;
        for anchor in self.anchors() {
            let Some(pattern) = self.pattern(anchor) else { continue };
            let found = self.find(anchor, meter)?;
            if !is_end && found.as_ref().is_none_or(|found| found.bytes.start > self.at) {
                // The first beginning is the same until it is passed.
                let known = self.beginnings.get(&anchor).copied().filter(|at| *at >= self.at);
                let beginning = known.map_or_else(|| pattern.find_beginning(&self.buffer, self.at, meter), Ok)?;
                self.beginnings.insert(anchor, beginning);
                if found.as_ref().is_none_or(|found| beginning < found.bytes.start) {
                    held = held.min(beginning);
                    continue;
                }
            }
            let Some(found) = found else { continue };
            if !is_end && pattern.can_grow(&self.buffer, &found, meter)? {
                held = held.min(found.bytes.start);
                continue;
            }
            let rank = |anchor: &Anchor, found: &Match| (found.bytes.start, std::cmp::Reverse(found.bytes.len()), anchor.is_close);
            let name = |anchor: &Anchor| self.field(anchor.field).map(|field| field.name.as_str());
            let is_better = best
                .as_ref()
                .is_none_or(|(other, best)| (rank(&anchor, &found), name(&anchor)) < (rank(other, best), name(other)));
            if is_better {
                best = Some((anchor, found));
            }
        }
        Ok((best.filter(|(_, found)| found.bytes.start < held), held))
    }

    /// Returns the first match of an anchor in the rest of the buffer.
    fn find(&mut self, anchor: Anchor, meter: &mut Meter<'_>) -> Result<Option<Match>> {
        if let Some(first) = self.found.get(&anchor) {
            if first.as_ref().is_none_or(|first| first.bytes.start >= self.at) {
                return Ok(first.clone());
            }
        }
        let first = match self.pattern(anchor) {
            Some(pattern) => pattern.find(&self.buffer, self.at, meter)?,
            None => None,
        };
        self.found.insert(anchor, first.clone());
        Ok(first)
    }

    /// Adds the buffer up to a byte to the region.
    fn read_to(&mut self, end: usize, events: &mut Vec<Event>) {
        let start = self.at;
        self.at = end.max(start);
        let Some(field) = self.region.field.and_then(|field| self.field(field)) else {
            return;
        };
        let part = self.buffer.get(start..end).unwrap_or_default();
        if part.is_empty() {
            return;
        }
        if !std::mem::replace(&mut self.region.is_open, true) {
            events.push(Event::Open {
                field: field.name.clone(),
            });
        }
        self.region.body.push_str(part);
        if self.has_events {
            events.push(Event::Chunk {
                field: field.name.clone(),
                text: part.to_owned(),
                dirty: !field.content.is_streamed(),
            });
        }
    }

    /// Ends the region, and stores its value.
    fn close(&mut self, events: &mut Vec<Event>, meter: &mut Meter<'_>) -> Result<()> {
        meter.check_size(events.len().saturating_mul(size_of::<Event>()))?;
        let region = std::mem::take(&mut self.region);
        self.leave_region();
        let Some(field) = region.field.and_then(|field| self.field(field)).filter(|_| region.is_open) else {
            return Ok(());
        };
        let mut value = transform(field, field.content.parse(&region.body, meter)?, region.captures)?;
        self.tools.coerce(&mut value, meter)?;
        if self.has_events {
            events.push(Event::Close {
                field: field.name.clone(),
                value: value.clone(),
            });
        }
        match &field.join {
            Some(join) => {
                let Data::Str(part) = &value else {
                    let ty = crate::value::Value::from(&value).ty().name();
                    return Err(Error::value(format!(
                        "Field '{}': 'join' requires each match to parse to a string, got {ty}.",
                        field.name
                    )));
                };
                let added = join.len().saturating_add(part.len());
                meter.charge_bytes(added)?;
                match self.output.get_mut(&field.name) {
                    None | Some(Data::None) => drop(self.output.insert(field.name.clone(), value)),
                    Some(Data::Str(before)) => {
                        meter.check_size(before.len().saturating_add(added))?;
                        before.to_mut().extend([join.as_str(), part]);
                    }
                    Some(_) => {
                        let message = format!("Field '{}': the default of a field with 'join' is not a string", field.name);
                        return Err(Error::type_error(message));
                    }
                }
            }
            None if field.repeats => match self
                .output
                .entry(field.name.clone())
                .or_insert_with(|| Data::List(Vec::new()))
            {
                Data::List(items) => items.push(value),
                _ => {
                    let message = format!("Field '{}': the default of a field that repeats is not a list", field.name);
                    return Err(Error::new(ErrorKind::Attribute, message));
                }
            },
            None => drop(self.output.insert(field.name.clone(), value)),
        }
        Ok(())
    }

    /// Begins the region of the field that has no opening, between two other regions.
    fn leave_region(&mut self) {
        self.region = Region {
            field: self.template.implicit,
            ..Region::default()
        };
    }
}

/// Returns the text after the last match of the anchor `start`, or all of it if there is none.
fn after_last<'p>(template: &ResponseTemplate, prefix: &'p str, meter: &mut Meter<'_>) -> Result<&'p str> {
    let mut end = None;
    let mut from = 0;
    while let Some(found) = template.start.find(prefix, from, meter)? {
        end = Some(found.bytes.end);
        from = match prefix.get(found.bytes.end..).and_then(|rest| rest.chars().next()) {
            _ if !found.bytes.is_empty() => found.bytes.end,
            Some(next) => found.bytes.end.saturating_add(next.len_utf8()),
            None => break,
        };
    }
    Ok(prefix.get(end.unwrap_or_default()..).unwrap_or_default())
}

/// Returns the value of a field in the form that its transform says.
fn transform(field: &Field, value: Data<'static>, captures: Entries) -> Result<Data<'static>> {
    let Some(transform) = &field.transform else { return Ok(value) };
    let wrong = |part: &str, wanted: &str, value: &Data<'_>| {
        let ty = crate::value::Value::from(value).ty().name();
        Error::value(format!(
            "Field '{}': transform_each requires {part} to be a {wanted}, got {ty}.",
            field.name
        ))
    };
    if !field.transforms_each {
        let mut scope = captures;
        scope.insert("content".to_owned(), value);
        return transform.apply(&scope);
    }
    let Data::List(items) = value else {
        return Err(wrong("the parsed content", "list", &value));
    };
    let items = items.into_iter().map(|item| {
        let Data::Object(item) = item else {
            return Err(wrong("each list element", "dict", &item));
        };
        let mut scope = captures.clone();
        scope.extend(item.into_entries().into_iter().map(|(key, value)| (key.into_owned(), value)));
        transform.apply(&scope)
    });
    Ok(Data::List(items.collect::<Result<_>>()?))
}
