//! Finds the regions of the fields in a text, also while the text is still arriving.
//!
//! ```text
//! a<think>b</think>c   ->   content "a", reasoning "b", content "c"
//! ```

use std::collections::HashMap;
use std::ops::Range;

use super::coerce::ToolSchemas;
use super::content::{Entries, Scope, is_empty, list, text};
use super::parser::{Event, ParseOptions};
use super::pattern::{Found, Match, Pattern, Search};
use super::template::{Field, ResponseTemplate};
use super::weight;
use crate::error::{Error, ErrorKind, Result};
use crate::json::{Data, Object};
use crate::meter::Meter;

/// The state of parsing.
#[derive(Debug)]
pub struct Stream<'t> {
    template: &'t ResponseTemplate,
    tools: ToolSchemas<'t>,
    /// What was found in the prefix.
    pub first_events: Vec<Event>,
    /// Whether events are wanted.
    pub has_events: bool,
    /// The number of bytes that an event takes at most, without parts of the text and values.
    event_size: usize,
    buffer: String,
    /// The offset up to which the buffer is parsed.
    at: usize,
    output: Entries,
    region: Region,
    /// What was found so far of each anchor that was looked for.
    searches: HashMap<Anchor, Search<'t>>,
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
    pub fn new(template: &'t ResponseTemplate, options: &ParseOptions<'t>, meter: &mut Meter<'_>) -> Result<Self> {
        for (name, value) in &template.defaults {
            meter.claim_for_render(name.len())?;
            weight::claim(value, meter)?;
        }
        let names = template.fields.iter().map(|field| field.name.len());
        let mut stream = Self {
            template,
            tools: ToolSchemas::read(options.tools, meter)?,
            first_events: Vec::new(),
            event_size: names.max().unwrap_or_default().saturating_add(size_of::<Event>()),
            buffer: String::new(),
            at: 0,
            output: template.defaults.iter().cloned().collect(),
            region: Region::default(),
            searches: HashMap::new(),
            has_events: true,
        };
        stream.leave_region();
        stream.first_events = stream.feed(after_last(template, options.prefix, meter)?, meter)?;
        Ok(stream)
    }

    pub fn append(&mut self, text: &str, meter: &mut Meter<'_>) -> Result<()> {
        meter.check_size(self.buffer.len().saturating_add(text.len()))?;
        meter.charge_part(text.len())?;
        self.buffer.push_str(text);
        Ok(())
    }

    pub fn feed(&mut self, text: &str, meter: &mut Meter<'_>) -> Result<Vec<Event>> {
        self.append(text, meter)?;
        let mut events = Vec::new();
        self.process(&mut events, false, meter)?;
        Ok(events)
    }

    pub fn finish(mut self, meter: &mut Meter<'_>) -> Result<(Object<'static>, Vec<Event>)> {
        let mut events = Vec::new();
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
        // The defaults are first.
        let defaults = self.template.defaults.len();
        meter.charge_items(self.output.len())?;
        let kept = (0..)
            .zip(self.output)
            .filter(|(index, (_, value))| *index < defaults || !is_empty(value));
        let kept = kept.map(|(_, (name, value))| (name.into(), value));
        Ok((Object::new(kept.collect()), events))
    }

    /// Parses the buffer up to its end, or up to a place where an incomplete anchor can begin.
    fn process(&mut self, events: &mut Vec<Event>, is_end: bool, meter: &mut Meter<'_>) -> Result<()> {
        loop {
            let (best, held) = self.scan(is_end, meter)?;
            let Some((anchor, found)) = best else {
                self.read_to(if is_end { self.buffer.len() } else { held }, events, meter)?;
                if is_end {
                    self.close(events, meter)?;
                }
                return Ok(());
            };
            self.read_to(found.bytes.start, events, meter)?;
            self.at = found.bytes.end;
            let mut captures = self.read_groups(&found, meter)?;
            if anchor.is_close {
                let was_open = self.region.is_open;
                self.region.captures.append(&mut captures);
                self.close(events, meter)?;
                // An empty match that closes nothing would be found again and again.
                if !was_open && found.bytes.is_empty() {
                    return Ok(());
                }
            } else {
                self.close(events, meter)?;
                self.region = Region {
                    field: Some(anchor.field),
                    captures,
                    body: String::new(),
                    is_open: true,
                };
                self.push_open(events);
            }
        }
    }

    /// Returns the named groups of a match with their texts.
    fn read_groups(&self, found: &Match<'_>, meter: &mut Meter<'_>) -> Result<Entries> {
        let mut captures = Entries::new();
        for (name, group) in found.texts(&self.buffer) {
            meter.charge_bytes(group.len())?;
            captures.insert(name.to_owned(), text(group));
        }
        Ok(captures)
    }

    fn push_open(&self, events: &mut Vec<Event>) {
        if let Some(field) = self
            .region
            .field
            .and_then(|field| self.field(field))
            .filter(|_| self.has_events)
        {
            events.push(Event::Open {
                field: field.name.clone(),
            });
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
    fn scan(&mut self, is_end: bool, meter: &mut Meter<'_>) -> Result<(Option<(Anchor, Match<'t>)>, usize)> {
        let mut held = self.buffer.len();
        let mut best: Option<(Anchor, Range<usize>)> = None;
        for anchor in self.anchors() {
            let Some(pattern) = self.pattern(anchor) else { continue };
            let search = self.searches.entry(anchor).or_default();
            let found = match search.advance(pattern, &self.buffer, self.at, is_end, meter)? {
                Found::Match(found) => found,
                Found::After(at) => {
                    held = held.min(at);
                    continue;
                }
            };
            let rank = |anchor: &Anchor, found: &Range<usize>| (found.start, std::cmp::Reverse(found.len()), anchor.is_close);
            let name = |anchor: &Anchor| self.field(anchor.field).map(|field| field.name.as_str());
            let is_better = best
                .as_ref()
                .is_none_or(|(other, best)| (rank(&anchor, &found), name(&anchor)) < (rank(other, best), name(other)));
            if is_better {
                best = Some((anchor, found));
            }
        }
        let best = best.filter(|(_, found)| found.start < held);
        let best = best.and_then(|(anchor, _)| Some((anchor, self.searches.get_mut(&anchor)?.take()?)));
        Ok((best, held))
    }

    /// Adds the buffer up to a byte to the region.
    fn read_to(&mut self, end: usize, events: &mut Vec<Event>, meter: &mut Meter<'_>) -> Result<()> {
        let start = self.at;
        self.at = end.max(start);
        let Some(field) = self.region.field.and_then(|field| self.field(field)) else {
            return Ok(());
        };
        let part = self.buffer.get(start..end).unwrap_or_default();
        if part.is_empty() {
            return Ok(());
        }
        meter.charge_part(part.len())?;
        if !std::mem::replace(&mut self.region.is_open, true) {
            self.push_open(events);
        }
        self.region.body.push_str(part);
        if self.has_events {
            events.push(Event::Chunk {
                field: field.name.clone(),
                text: part.to_owned(),
                dirty: !field.content.is_streamed(),
            });
        }
        Ok(())
    }

    /// Ends the region, and stores its value.
    fn close(&mut self, events: &mut Vec<Event>, meter: &mut Meter<'_>) -> Result<()> {
        meter.charge(1)?;
        meter.check_size(events.len().saturating_mul(self.event_size))?;
        let region = std::mem::take(&mut self.region);
        self.leave_region();
        let Some(field) = region.field.and_then(|field| self.field(field)).filter(|_| region.is_open) else {
            return Ok(());
        };
        let mut value = transform(field, field.content.parse(&region.body, meter)?, &region.captures, meter)?;
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
fn transform(field: &Field, value: Data<'static>, captures: &Entries, meter: &mut Meter<'_>) -> Result<Data<'static>> {
    let Some(transform) = &field.transform else {
        weight::claim(&value, meter)?;
        return Ok(value);
    };
    let wrong = |part: &str, wanted: &str, value: &Data<'_>| {
        let ty = crate::value::Value::from(value).ty().name();
        Error::value(format!(
            "Field '{}': transform_each requires {part} to be a {wanted}, got {ty}.",
            field.name
        ))
    };
    if !field.transforms_each {
        let own = Entries::from([("content".to_owned(), value)]);
        return transform.apply(&Scope { own: &own, captures }, 0, meter);
    }
    let Data::List(items) = value else {
        return Err(wrong("the parsed content", "list", &value));
    };
    weight::claim_container(items.len(), 0, meter)?;
    let items = items.into_iter().map(|item| {
        let Data::Object(item) = item else {
            return Err(wrong("each list element", "dict", &item));
        };
        meter.charge_items(item.len())?;
        let own = item.into_entries().into_iter().map(|(key, value)| (key.into_owned(), value));
        transform.apply(
            &Scope {
                own: &own.collect(),
                captures,
            },
            1,
            meter,
        )
    });
    Ok(Data::List(items.collect::<Result<_>>()?))
}
