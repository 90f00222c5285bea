//! Finds the regions of the fields in a text, also while the text is still arriving.
//!
//! ```text
//! a<think>b</think>c   ->   content "a", reasoning "b", content "c"
//! ```

use std::ops::Range;

use super::arguments::{Part, Reader};
use super::coerce::ToolSchemas;
use super::content::{Entries, is_empty, list as list_names, text};
use super::parser::{Event, ParseOptions};
use super::pattern::{Found, Match, Search};
use super::template::{Field, ResponseTemplate};
use super::weight;
use crate::error::{Error, ErrorClass, Result};
use crate::json::{Data, Object};
use crate::limits::Limit;
use crate::meter::{Meter, STEP_BYTES};
use crate::text::strip::{strip, strip_end, strip_start};

/// The state of parsing.
#[derive(Debug)]
pub struct Stream<'t> {
    pub template: &'t ResponseTemplate,
    pub tools: ToolSchemas<'t>,
    /// What was found in the prefix.
    pub first_events: Vec<Event>,
    /// What was found since the events were taken, if events are wanted.
    pub has_events: bool,
    events: Vec<Event>,
    /// The number of bytes that an event takes at most, without parts of the text and values.
    event_size: usize,
    pub is_lenient: bool,
    pub buffer: String,
    /// The number of bytes of the buffer that are of the prefix.
    pub prefix: usize,
    /// The offset up to which the buffer is parsed.
    pub at: usize,
    /// The start of the region that was read last, and the offset from which on the buffer could be an incomplete anchor.
    pub held: (usize, usize),
    pub output: Entries,
    /// Whether each field has a value from the text.
    pub is_written: Vec<bool>,
    pub region: Region<'t>,
    /// What was found so far of the opening and the closing anchor of each field.
    searches: Vec<[Search<'t>; 2]>,
    /// The number of calls that began.
    calls: usize,
    /// The places of the text without a value.
    pub unread: Vec<Data<'static>>,
    /// The end of the last of these places, in bytes of the buffer and in code points of the model's text.
    pub counted: (usize, usize),
    /// The number of bytes that were read again, after an anchor that began no value.
    pub reread: usize,
}

/// A field with its index.
pub type Indexed<'t> = (usize, &'t Field);

/// An anchor of a field, whether it closes the field, and where it is.
type Anchored<'t, M> = (Indexed<'t>, bool, M);

/// The region that is being read. Its text goes up to where the buffer is parsed.
#[derive(Debug, Default)]
pub struct Region<'t> {
    /// The field, or `None` if the text is dropped.
    pub field: Option<Indexed<'t>>,
    /// The groups of the anchors that have names, with the text of each.
    pub captures: Entries,
    /// Where the white space before the anchor begins, and the anchor, and the text.
    pub before: usize,
    pub open: usize,
    pub start: usize,
    pub is_open: bool,
    /// Whether the text is appended to the last value of the field.
    pub continues: bool,
    /// The end of the text that was passed on, if there is any.
    pub passed: Option<usize>,
    pub reader: Option<Box<Reader<'t>>>,
    /// The index of each call that was passed on, and whether it has arguments.
    pub calls: Vec<(usize, bool)>,
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
            has_events: true,
            events: Vec::new(),
            event_size: names.max().unwrap_or_default().saturating_add(size_of::<Event>()),
            is_lenient: options.lenient,
            buffer: String::new(),
            prefix: usize::MAX,
            at: 0,
            held: (0, 0),
            output: template.defaults.iter().cloned().collect(),
            is_written: vec![false; template.fields.len()],
            region: Region::default(),
            searches: template.fields.iter().map(|_| Default::default()).collect(),
            calls: 0,
            unread: Vec::new(),
            counted: (0, 0),
            reread: 0,
        };
        stream.leave_region(0);
        stream.first_events = stream.feed(after_last(template, options.prefix, meter)?, meter)?;
        stream.prefix = stream.buffer.len();
        stream.counted.0 = stream.prefix;
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
        self.process(false, meter).map_err(about_text)?;
        Ok(std::mem::take(&mut self.events))
    }

    pub fn finish(mut self, meter: &mut Meter<'_>) -> Result<(Object<'static>, Vec<Event>)> {
        if self.is_lenient {
            self.process(false, meter).map_err(about_text)?;
        }
        self.process(true, meter).map_err(about_text)?;
        let fields = self.template.fields.iter().filter(|_| !self.is_lenient);
        let missing = fields.filter(|field| !field.is_optional && !self.output.contains_key(&field.name));
        let missing: Vec<_> = missing.map(|field| field.name.as_str()).collect();
        if !missing.is_empty() {
            let missing = list_names(missing);
            let message = format!("Required response_template fields missing from parsed output: {missing}");
            return Err(about_text(Error::value(message)));
        }
        // The defaults are first.
        let defaults = self.template.defaults.len();
        meter.charge_items(self.output.len())?;
        let kept = (0..)
            .zip(self.output)
            .filter(|(index, (_, value))| *index < defaults || !is_empty(value));
        let unread = (!self.unread.is_empty()).then(|| ("unread".to_owned(), Data::List(self.unread)));
        let kept = kept.map(|(_, entry)| entry).chain(unread);
        let message = kept.map(|(name, value)| (name.into(), value)).collect();
        Ok((Object::new(message), self.events))
    }

    /// Parses the buffer up to its end, or up to a place where an incomplete anchor can begin.
    fn process(&mut self, is_end: bool, meter: &mut Meter<'_>) -> Result<()> {
        loop {
            let (best, held) = self.scan(is_end, meter)?;
            let Some((field, is_close, found)) = best else {
                if !is_end {
                    self.held = (self.region.start, held);
                    return self.read_to(held, meter);
                }
                let end = self.buffer.len();
                if self.is_lenient && self.region.field.is_none() && self.at <= self.held.1 {
                    self.keep_anchor(end, meter)?;
                }
                self.read_to(end, meter)?;
                self.close(end..end, meter)?;
                if self.at < end {
                    continue;
                }
                return Ok(());
            };
            let place = found.bytes.clone();
            self.read_to(place.start, meter)?;
            let mut captures = self.read_groups(&found, meter)?;
            let was_open = self.region.is_open;
            if is_close {
                self.region.captures.append(&mut captures);
                self.close(place.clone(), meter)?;
                // An empty match that closes nothing would be found again and again.
                if !was_open && place.is_empty() {
                    return Ok(());
                }
                continue;
            }
            let before = self.text_end(meter)?;
            self.close(place.start..place.start, meter)?;
            self.at = place.end;
            let wanted = field.1.call.as_ref().filter(|_| self.has_events);
            self.region = Region {
                reader: wanted
                    .and_then(|shape| field.1.content.read_call(shape, &captures))
                    .map(Box::new),
                field: Some(field),
                captures,
                before,
                open: place.start,
                start: place.end,
                ..Region::default()
            };
            self.open(place, meter)?;
            self.read_call(false, meter)?;
        }
    }

    /// Returns the anchor that comes first, or the longest of those that begin at the same place, as its field, whether it closes the field,
    /// and the match. Also returns the offset from which on the buffer can have the beginning of another one.
    fn scan(&mut self, is_end: bool, meter: &mut Meter<'_>) -> Result<(Option<Anchored<'t, Match<'t>>>, usize)> {
        let mut held = self.buffer.len();
        let mut best: Option<Anchored<'t, Range<usize>>> = None;
        let current = self.region.field.map(|(index, _)| index);
        let opens = current == self.template.implicit;
        for (field, searches) in self.template.fields.iter().enumerate().zip(&mut self.searches) {
            let closes = current == Some(field.0);
            let patterns = [
                field.1.open.as_ref().filter(|_| opens),
                field.1.close.as_ref().filter(|_| closes),
            ];
            for ((pattern, search), is_close) in patterns.into_iter().zip(searches).zip([false, true]) {
                let Some(pattern) = pattern else { continue };
                let found = match search.advance(pattern, &self.buffer, self.at, is_end, meter)? {
                    Found::Match(found) => found,
                    Found::After(at) => {
                        held = held.min(at);
                        continue;
                    }
                };
                let rank = |field: Indexed<'t>, is_close: bool, found: &Range<usize>| {
                    (found.start, std::cmp::Reverse(found.len()), is_close, &field.1.name)
                };
                let is_better = |(other, closes, best): &(_, bool, _)| rank(field, is_close, &found) < rank(*other, *closes, best);
                if best.as_ref().is_none_or(is_better) {
                    best = Some((field, is_close, found));
                }
            }
        }
        let best = best.filter(|(.., found)| found.start < held);
        let best = best.and_then(|(field, is_close, _)| {
            let search = self.searches.get_mut(field.0)?.get_mut(usize::from(is_close))?;
            Some((field, is_close, search.take()?))
        });
        Ok((best, held))
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

    /// Adds an event, if events are wanted. It is made with the place in the model's text of a range of the buffer.
    pub fn push(&mut self, place: Range<usize>, make: impl FnOnce(Range<usize>) -> Event, meter: &mut Meter<'_>) -> Result<()> {
        if !self.has_events {
            return Ok(());
        }
        // An event is half a step, so that within the default limits 16 MiB may arrive byte by byte.
        meter.charge_part(STEP_BYTES / 2)?;
        self.events.push(make(self.of_model(place)));
        meter.check_size(self.events.len().saturating_mul(self.event_size))
    }

    /// Returns the place in the model's text of a range of the buffer.
    pub fn of_model(&self, range: Range<usize>) -> Range<usize> {
        range.start.saturating_sub(self.prefix)..range.end.saturating_sub(self.prefix)
    }

    /// Opens the region, whose anchor is at a place.
    pub fn open(&mut self, place: Range<usize>, meter: &mut Meter<'_>) -> Result<()> {
        self.region.is_open = true;
        let Some((_, field)) = self.region.field else { return Ok(()) };
        let open = |bytes| Event::Open {
            field: field.name.clone(),
            bytes,
        };
        self.push(place, open, meter)
    }

    /// Begins the region of the field that has no opening, between two other regions.
    pub fn leave_region(&mut self, at: usize) {
        let fields = &self.template.fields;
        self.region = Region {
            field: self.template.implicit.and_then(|index| Some((index, fields.get(index)?))),
            before: at,
            open: at,
            start: at,
            ..Region::default()
        };
    }

    /// Returns the end of the text of the region so far, without white space at its end.
    fn text_end(&self, meter: &mut Meter<'_>) -> Result<usize> {
        let strips = self.region.field.is_some_and(|(_, field)| field.content.strips());
        let text = self.buffer.get(self.region.start..self.at).unwrap_or_default();
        let length = if strips { strip_end(text, None).len() } else { 0 };
        meter.charge_scan(text.len().saturating_sub(length))?;
        Ok(match length {
            0 => self.at,
            length => self.region.start.saturating_add(length),
        })
    }

    /// Adds the buffer up to a byte to the region.
    fn read_to(&mut self, end: usize, meter: &mut Meter<'_>) -> Result<()> {
        let part = self.at..end.max(self.at);
        self.at = part.end;
        let Some((_, field)) = self.region.field.filter(|_| !part.is_empty()) else {
            return Ok(());
        };
        meter.charge_part(part.len())?;
        if !self.region.is_open {
            self.open(part.start..part.start, meter)?;
        }
        if !self.has_events {
            return Ok(());
        }
        // White space around the text is no part of the value, and what is at its end so far may be around it.
        let first = if self.region.continues {
            self.region.start
        } else {
            part.start
        };
        let mut passed = self.region.passed.unwrap_or(first)..part.end;
        if field.content.strips() {
            let text = self.buffer.get(part.clone()).unwrap_or_default();
            meter.charge_part(text.len().saturating_mul(8))?;
            let stripped = strip_end(text, None);
            if stripped.is_empty() {
                return Ok(());
            }
            passed.end = part.start.saturating_add(stripped.len());
            if self.region.passed.is_none() && !self.region.continues {
                passed.start = part.end.saturating_sub(strip_start(text, None).len());
            }
        }
        self.region.passed = Some(passed.end);
        self.push_chunk(field, passed, meter)?;
        self.read_call(false, meter)
    }

    pub fn push_chunk(&mut self, field: &Field, place: Range<usize>, meter: &mut Meter<'_>) -> Result<()> {
        let text = self.buffer.get(place.clone()).filter(|_| self.has_events);
        let text = text.unwrap_or_default().to_owned();
        meter.charge_part(text.len())?;
        let chunk = |bytes| Event::Chunk {
            field: field.name.clone(),
            text,
            dirty: !field.content.is_streamed(),
            bytes,
        };
        self.push(place, chunk, meter)
    }

    /// Passes on what the text has of calls.
    pub fn read_call(&mut self, is_whole: bool, meter: &mut Meter<'_>) -> Result<()> {
        let Some(reader) = &mut self.region.reader else {
            return Ok(());
        };
        let start = self.region.start;
        let body = self.buffer.get(start..self.at).unwrap_or_default();
        let parts = match reader.read(body, is_whole, &self.tools, meter) {
            Ok(parts) => parts,
            // The error is that of the value, which is made when the text is complete.
            Err(error) if is_recoverable(&error) => {
                self.region.reader = None;
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        for (part, place) in parts {
            self.push_part(
                part,
                place.start.saturating_add(start)..place.end.saturating_add(start),
                meter,
            )?;
        }
        Ok(())
    }

    pub fn push_part(&mut self, part: Part, place: Range<usize>, meter: &mut Meter<'_>) -> Result<()> {
        match (part, self.region.calls.last_mut()) {
            (Part::Name(name, id), _) => {
                let index = self.calls;
                self.calls = index.saturating_add(1);
                self.region.calls.push((index, false));
                self.push(place, |bytes| Event::Call { index, name, id, bytes }, meter)
            }
            (Part::Arguments(text), Some((index, has_arguments))) => {
                *has_arguments = true;
                let index = *index;
                meter.charge_part(text.len())?;
                self.push(place, |bytes| Event::Arguments { index, text, bytes }, meter)
            }
            (Part::Arguments(_), None) => Ok(()),
        }
    }

    /// Keeps the end of the buffer, which can be the beginning of an anchor, where other text is dropped.
    fn keep_anchor(&mut self, end: usize, meter: &mut Meter<'_>) -> Result<()> {
        let (_, held) = self.held;
        let rest = self.buffer.get(held..end).unwrap_or_default();
        meter.charge_scan(rest.len())?;
        if strip(rest, None).is_empty() {
            return Ok(());
        }
        self.at = end;
        self.keep(held, held..end, "cut", meter)
    }
}

/// Gives an error about the model's text its class.
fn about_text(error: Error) -> Error {
    match is_recoverable(&error) {
        true => error.with_class(ErrorClass::Answer),
        false => error,
    }
}

/// Returns whether an error is about the model's text, and not about the time or memory that it takes.
pub fn is_recoverable(error: &Error) -> bool {
    let is_limit = error.reached().is_some_and(|reached| reached.limit != Limit::JsonDepth);
    !is_limit && error.class() != ErrorClass::Internal
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
