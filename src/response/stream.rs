//! Finds the regions of the fields in a text, also while the text is still arriving.
//!
//! ```text
//! a<think>b</think>c   ->   content "a", reasoning "b", content "c"
//! ```

use std::collections::HashMap;
use std::ops::Range;

use super::arguments::{Part, Reader};
use super::coerce::ToolSchemas;
use super::content::{Entries, Scope, is_empty, list as list_names, object, text};
use super::parser::{Event, ParseOptions};
use super::pattern::{Found, Match, Pattern, Search};
use super::template::{Field, ResponseTemplate};
use super::weight;
use crate::error::{Error, ErrorClass, ErrorKind, Result};
use crate::json::{self, Data, Object};
use crate::limits::Limit;
use crate::meter::Meter;
use crate::text::strip::{strip, strip_end, strip_start};

/// How much of the text is read again at most, in all: the length of the text this many times, and some bytes.
const REREAD: usize = 4;
const REREAD_BYTES: usize = 4096;

/// The state of parsing.
#[derive(Debug)]
pub struct Stream<'t> {
    template: &'t ResponseTemplate,
    tools: ToolSchemas<'t>,
    /// What was found in the prefix.
    pub first_events: Vec<Event>,
    /// Whether events are wanted.
    pub has_events: bool,
    is_lenient: bool,
    /// The number of bytes that an event takes at most, without parts of the text and values.
    event_size: usize,
    buffer: String,
    /// The number of bytes of the buffer that are of the prefix.
    prefix: usize,
    /// The offset up to which the buffer is parsed.
    at: usize,
    /// The offset from which on the buffer could be an incomplete anchor.
    held: usize,
    output: Entries,
    /// Whether each field has a value from the text.
    is_written: Vec<bool>,
    region: Region<'t>,
    /// What was found so far of each anchor that was looked for.
    searches: HashMap<Anchor, Search<'t>>,
    /// The number of calls that began.
    calls: usize,
    /// The places of the text without a value.
    unread: Vec<Data<'static>>,
    /// The end of the last of these places, in bytes of the buffer and in code points of the model's text.
    counted: (usize, usize),
    /// The number of bytes that were read again, after an anchor that began no value.
    reread: usize,
}

/// The region that is being read. Its text goes up to where the buffer is parsed.
#[derive(Debug, Default)]
struct Region<'t> {
    /// The index of the field, or `None` if the text is dropped.
    field: Option<usize>,
    /// The groups of the anchors that have names, with the text of each.
    captures: Entries,
    /// Where the white space before the anchor begins, and the anchor, and the text.
    before: usize,
    open: usize,
    start: usize,
    is_open: bool,
    /// Whether the text goes on the last value of the field.
    continues: bool,
    /// The end of the text that was passed on, if there is any.
    passed: Option<usize>,
    reader: Option<Reader<'t>>,
    /// The index of each call that was passed on, and whether it has arguments.
    calls: Vec<(usize, bool)>,
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
            is_lenient: options.lenient,
            buffer: String::new(),
            prefix: usize::MAX,
            at: 0,
            held: 0,
            output: template.defaults.iter().cloned().collect(),
            is_written: vec![false; template.fields.len()],
            region: Region::default(),
            searches: HashMap::new(),
            has_events: true,
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
        let mut events = Vec::new();
        self.process(&mut events, false, meter).map_err(about_text)?;
        Ok(events)
    }

    pub fn finish(mut self, meter: &mut Meter<'_>) -> Result<(Object<'static>, Vec<Event>)> {
        let mut events = Vec::new();
        if self.is_lenient {
            self.process(&mut events, false, meter).map_err(about_text)?;
        }
        self.process(&mut events, true, meter).map_err(about_text)?;
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
        Ok((Object::new(kept.map(|(name, value)| (name.into(), value)).collect()), events))
    }

    /// Parses the buffer up to its end, or up to a place where an incomplete anchor can begin.
    fn process(&mut self, events: &mut Vec<Event>, is_end: bool, meter: &mut Meter<'_>) -> Result<()> {
        loop {
            let (best, held) = self.scan(is_end, meter)?;
            let Some((anchor, found)) = best else {
                let end = self.buffer.len();
                if !is_end {
                    self.held = held;
                    return self.read_to(held, events, meter);
                }
                if self.region.field.is_none() && self.is_lenient && self.held >= self.at {
                    self.read_to(self.held, events, meter)?;
                    let is_blank = self.buffer.get(self.held..).is_none_or(|rest| strip(rest, None).is_empty());
                    if !is_blank {
                        self.keep(self.held, self.held..end, "cut", events, meter)?;
                    }
                }
                self.read_to(end, events, meter)?;
                self.close(end..end, events, meter)?;
                match self.at < end {
                    true => continue,
                    false => return Ok(()),
                }
            };
            self.read_to(found.bytes.start, events, meter)?;
            let mut captures = self.read_groups(&found, meter)?;
            let was_open = self.region.is_open;
            if anchor.is_close {
                self.region.captures.append(&mut captures);
                self.close(found.bytes.clone(), events, meter)?;
                // An empty match that closes nothing would be found again and again.
                if !was_open && found.bytes.is_empty() {
                    return Ok(());
                }
                continue;
            }
            let strips = self
                .region
                .field
                .and_then(|field| self.field(field))
                .is_some_and(|field| field.content.strips());
            let before = match self.region.is_open && strips {
                true => self.region.text_end(&self.buffer, found.bytes.start, meter)?,
                false => found.bytes.start,
            };
            self.close(found.bytes.start..found.bytes.start, events, meter)?;
            self.at = found.bytes.end;
            let field = self.field(anchor.field);
            let reader = field.filter(|_| self.has_events).and_then(|field| {
                let shape = field.call.as_ref()?;
                field.content.read_call(shape, &captures)
            });
            self.region = Region {
                field: Some(anchor.field),
                captures,
                before,
                open: found.bytes.start,
                start: found.bytes.end,
                is_open: true,
                reader,
                ..Region::default()
            };
            self.push_open(found.bytes, events, meter)?;
            self.read_call(false, events, meter)?;
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

    fn push(&self, event: Event, events: &mut Vec<Event>, meter: &mut Meter<'_>) -> Result<()> {
        meter.charge(1)?;
        events.push(event);
        meter.check_size(events.len().saturating_mul(self.event_size))
    }

    fn push_open(&self, anchor: Range<usize>, events: &mut Vec<Event>, meter: &mut Meter<'_>) -> Result<()> {
        let field = self
            .region
            .field
            .and_then(|field| self.field(field))
            .filter(|_| self.has_events);
        let Some(field) = field else { return Ok(()) };
        let field = field.name.clone();
        let bytes = self.of_model(anchor);
        self.push(Event::Open { field, bytes }, events, meter)
    }

    /// Returns the place in the model's text of a range of the buffer.
    fn of_model(&self, range: Range<usize>) -> Range<usize> {
        range.start.saturating_sub(self.prefix)..range.end.saturating_sub(self.prefix)
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
        let part = self.at..end.max(self.at);
        self.at = part.end;
        let field = self.region.field.and_then(|field| self.field(field));
        let Some(field) = field.filter(|_| !part.is_empty()) else {
            return Ok(());
        };
        meter.charge_part(part.len())?;
        if !std::mem::replace(&mut self.region.is_open, true) {
            self.push_open(part.start..part.start, events, meter)?;
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
        let text = self.buffer.get(passed.clone()).unwrap_or_default().to_owned();
        meter.charge_part(text.len())?;
        let (field, dirty) = (field.name.clone(), !field.content.is_streamed());
        let bytes = self.of_model(passed);
        self.push(
            Event::Chunk {
                field,
                text,
                dirty,
                bytes,
            },
            events,
            meter,
        )?;
        self.read_call(false, events, meter)
    }

    /// Passes on what the text has of calls.
    fn read_call(&mut self, is_whole: bool, events: &mut Vec<Event>, meter: &mut Meter<'_>) -> Result<()> {
        let Some(reader) = &mut self.region.reader else {
            return Ok(());
        };
        let start = self.region.start;
        let body = self.buffer.get(start..self.at).unwrap_or_default();
        let parts = match reader.read(body, is_whole, &self.tools, meter) {
            Ok(parts) => parts,
            // The error is that of the value, which is made when the text is complete.
            Err(error) if error.reached().is_none() => {
                self.region.reader = None;
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        for (part, place) in parts {
            let place = place.start.saturating_add(start)..place.end.saturating_add(start);
            self.push_part(part, place, events, meter)?;
        }
        Ok(())
    }

    fn push_part(&mut self, part: Part, place: Range<usize>, events: &mut Vec<Event>, meter: &mut Meter<'_>) -> Result<()> {
        let bytes = self.of_model(place);
        let event = match part {
            Part::Name(name, id) => {
                let index = self.calls;
                self.calls = index.saturating_add(1);
                self.region.calls.push((index, false));
                Event::Call { index, name, id, bytes }
            }
            Part::Arguments(text) => {
                meter.charge_part(text.len())?;
                let Some((index, has_arguments)) = self.region.calls.last_mut() else {
                    return Ok(());
                };
                *has_arguments = true;
                Event::Arguments {
                    index: *index,
                    text,
                    bytes,
                }
            }
        };
        self.push(event, events, meter)
    }

    /// Ends the region where its closing anchor is, and stores its value.
    fn close(&mut self, closing: Range<usize>, events: &mut Vec<Event>, meter: &mut Meter<'_>) -> Result<()> {
        meter.charge(1)?;
        self.at = closing.start;
        let Some((index, field)) = self.region.field.and_then(|index| Some((index, self.field(index)?))) else {
            self.at = closing.end;
            self.leave_region(closing.end);
            return Ok(());
        };
        if self.region.is_open {
            let place = self.region.start..closing.start;
            let is_closed = !closing.is_empty() || closing.end < self.buffer.len();
            match self.read_value((index, field), place.clone(), is_closed, meter) {
                Ok(value) => {
                    self.read_call(true, events, meter)?;
                    self.store((index, field), value, closing.clone(), events, meter)?;
                }
                Err(error) if self.is_lenient && is_recoverable(&error) => {
                    return self.give_back((index, field), closing, is_closed, events, meter);
                }
                Err(error) => return Err(error),
            }
        }
        self.at = closing.end;
        self.leave_region(closing.end);
        Ok(())
    }

    /// Returns the value of the text of the region.
    fn read_value(
        &self,
        (index, field): (usize, &Field),
        place: Range<usize>,
        is_closed: bool,
        meter: &mut Meter<'_>,
    ) -> Result<Data<'static>> {
        let source = self.buffer.get(place).unwrap_or_default();
        if self.region.continues {
            meter.charge_scan(source.len())?;
            return Ok(text(strip_end(source, None)));
        }
        let is_whole = is_closed || field.content.is_self_delimiting() || field.content.is_streamed() || field.open.is_none();
        if self.is_lenient && !is_whole {
            return Err(Error::value("the text ends before the value"));
        }
        let value = field.content.parse(source, self.is_lenient, meter)?;
        let mut value = transform(field, value, &self.region.captures, meter)?;
        self.tools.coerce(&mut value, meter)?;
        if self.is_lenient && !(has_whole_calls(field, &value, meter)? && self.has_place((index, field), &value)) {
            return Err(Error::value("the value is no call, or the field has another value"));
        }
        Ok(value)
    }

    /// Returns whether a field takes a value without losing an earlier one of the text.
    fn has_place(&self, (index, field): (usize, &Field), value: &Data<'_>) -> bool {
        let is_written = self.is_written.get(index).is_some_and(|is_written| *is_written);
        let joins = |before: &Data<'_>| matches!((before, value), (Data::Str(_), Data::Str(_)) | (Data::List(_), Data::List(_)));
        match &field.join {
            Some(_) => matches!(value, Data::Str(_)),
            None => !is_written || field.repeats || self.output.get(&field.name).is_none_or(joins),
        }
    }

    /// Stores a value of a field.
    fn store(
        &mut self,
        (index, field): (usize, &Field),
        value: Data<'static>,
        anchor: Range<usize>,
        events: &mut Vec<Event>,
        meter: &mut Meter<'_>,
    ) -> Result<()> {
        if self.has_events {
            self.push_calls(&value, anchor.clone(), events, meter)?;
            let event = Event::Close {
                field: field.name.clone(),
                value: value.clone(),
                bytes: self.of_model(anchor),
            };
            self.push(event, events, meter)?;
        }
        let continues = self.region.continues;
        let is_written = self
            .is_written
            .get_mut(index)
            .is_some_and(|is_written| std::mem::replace(is_written, true));
        // What replaces a value in the reference is added to it where nothing may be lost.
        let is_added = self.is_lenient && is_written;
        if field.repeats && field.join.is_none() {
            let list = self
                .output
                .entry(field.name.clone())
                .or_insert_with(|| Data::List(Vec::new()));
            let Data::List(items) = list else {
                let message = format!("Field '{}': the default of a field that repeats is not a list", field.name);
                return Err(Error::new(ErrorKind::Attribute, message));
            };
            match (items.last_mut(), &value) {
                (Some(Data::Str(last)), Data::Str(part)) if continues => {
                    meter.check_size(last.len().saturating_add(part.len()))?;
                    last.to_mut().push_str(part);
                }
                _ => items.push(value),
            }
            return Ok(());
        }
        if field.join.is_none() && !is_added {
            self.output.insert(field.name.clone(), value);
            return Ok(());
        }
        let join = field.join.as_deref().filter(|_| !continues).unwrap_or_default();
        let part = match (value, self.output.get_mut(&field.name)) {
            (Data::Str(part), _) => part,
            (Data::List(items), Some(Data::List(before))) if field.join.is_none() => {
                meter.charge_items(items.len())?;
                before.extend(items);
                return Ok(());
            }
            (value, _) => {
                let ty = crate::value::Value::from(&value).ty().name();
                return Err(Error::value(format!(
                    "Field '{}': 'join' requires each match to parse to a string, got {ty}.",
                    field.name
                )));
            }
        };
        let added = join.len().saturating_add(part.len());
        meter.charge_bytes(added)?;
        match self.output.get_mut(&field.name) {
            None | Some(Data::None) => drop(self.output.insert(field.name.clone(), Data::Str(part))),
            Some(Data::Str(before)) => {
                meter.check_size(before.len().saturating_add(added))?;
                before.to_mut().extend([join, &part]);
            }
            Some(_) => {
                let message = format!("Field '{}': the default of a field with 'join' is not a string", field.name);
                return Err(Error::type_error(message));
            }
        }
        Ok(())
    }

    /// Passes on what a complete value has of calls and was not passed on while the model wrote it.
    fn push_calls(&mut self, value: &Data<'_>, place: Range<usize>, events: &mut Vec<Event>, meter: &mut Meter<'_>) -> Result<()> {
        let begun = std::mem::take(&mut self.region.calls);
        let text = |value: &Data<'_>| match value {
            Data::Str(text) => text.to_string(),
            other => other.to_string(),
        };
        let calls = list(value).iter().filter_map(|call| {
            let Data::Object(call) = call else { return None };
            let Some(Data::Object(function)) = call.get("function") else {
                return None;
            };
            Some((function.get("name")?, call.get("id"), function.get("arguments")))
        });
        for (number, (name, id, arguments)) in calls.enumerate() {
            meter.charge(1)?;
            let has_arguments = match begun.get(number) {
                Some(call) => {
                    self.region.calls.push(*call);
                    call.1
                }
                None => {
                    let name = Part::Name(text(name), id.map(text));
                    self.push_part(name, place.clone(), events, meter)?;
                    false
                }
            };
            if let Some(arguments) = arguments.filter(|_| !has_arguments) {
                self.push_part(Part::Arguments(text(arguments)), place.clone(), events, meter)?;
            }
        }
        Ok(())
    }

    /// Adds the text of a region without a value to the content: all of it, or the part before another anchor, from which on it is read again.
    fn give_back(
        &mut self,
        (index, field): (usize, &Field),
        closing: Range<usize>,
        is_closed: bool,
        events: &mut Vec<Event>,
        meter: &mut Meter<'_>,
    ) -> Result<()> {
        let Region { before, open, start, .. } = self.region;
        self.reread = self.reread.saturating_add(closing.start.saturating_sub(start));
        let may_reread = self.reread <= closing.start.saturating_mul(REREAD).saturating_add(REREAD_BYTES);
        let body = self.buffer.get(..closing.start).unwrap_or_default();
        // The text ends at another opening, or where the content ends.
        let ends = self.template.implicit.and_then(|field| self.field(field)?.close.as_ref());
        let mut inner = None;
        for pattern in [field.open.as_ref(), ends].into_iter().flatten().filter(|_| may_reread) {
            let found = pattern.find(body, start, meter)?.map(|found| found.bytes);
            let found = found
                .filter(|found| !found.is_empty() && found.start > open)
                .map(|found| found.start);
            inner = inner.into_iter().chain(found).min();
        }
        match inner.filter(|_| field.open.is_some()) {
            Some(inner) => {
                match self.read_value((index, field), start..inner, false, meter) {
                    Ok(value) => {
                        self.store((index, field), value, inner..inner, events, meter)?;
                        self.leave_region(inner);
                    }
                    Err(error) if is_recoverable(&error) => self.keep(before, open..inner, "malformed", events, meter)?,
                    Err(error) => return Err(error),
                }
                self.at = inner;
            }
            None => {
                let text = body.get(start..).unwrap_or_default();
                let is_cut = !is_closed && field.content.can_begin(text);
                let reason = if is_cut { "cut" } else { "malformed" };
                self.keep(before, open..closing.end, reason, events, meter)?;
                self.at = closing.end;
            }
        }
        Ok(())
    }

    /// Notes a place of the text without a value, and adds it to the content with the white space before it. This is the end of the region.
    fn keep(
        &mut self,
        before: usize,
        range: Range<usize>,
        reason: &'static str,
        events: &mut Vec<Event>,
        meter: &mut Meter<'_>,
    ) -> Result<()> {
        let fields = || (0..).zip(&self.template.fields).filter(|(_, field)| field.content.is_text());
        let content = match self.template.implicit {
            Some(implicit) => fields().find(|(index, _)| *index == implicit),
            None => fields().find(|(_, field)| field.name == "content"),
        };
        let field = self.region.field.and_then(|field| self.field(field));
        let field = field.or(content.map(|(_, field)| field)).map(|field| field.name.clone());
        let bytes = self.of_model(range.clone());
        if !bytes.is_empty() {
            let (from, count) = self.counted;
            let points = |start: usize, end: usize| self.buffer.get(start..end).map_or(0, |text| text.chars().count());
            meter.charge_scan(range.end.saturating_sub(from))?;
            let start = count.saturating_add(points(from, range.start.max(from)));
            let end = start.saturating_add(points(range.start.max(from), range.end));
            self.counted = (range.end, end);
            let pair = |start: usize, end: usize| {
                Data::List([start, end].map(|at| Data::Int(i64::try_from(at).unwrap_or(i64::MAX))).into())
            };
            let place = [
                ("field", field.clone().map_or(Data::None, text)),
                ("reason", text(reason)),
                ("bytes", pair(bytes.start, bytes.end)),
                ("code_points", pair(start, end)),
            ];
            let place = object(place.map(|(key, value)| (key.to_owned(), value)).into());
            weight::claim(&place, meter)?;
            self.unread.push(place);
        }
        if let Some(field) = field.filter(|_| self.has_events) {
            self.push(Event::Unread { field, reason, bytes }, events, meter)?;
        }
        if let Some((index, field)) = content {
            let piece = self.buffer.get(before..range.end).unwrap_or_default().to_owned();
            meter.claim_for_render(piece.len())?;
            meter.charge_bytes(piece.len())?;
            self.region = Region {
                field: Some(index),
                continues: true,
                ..Region::default()
            };
            self.push_open(before..before, events, meter)?;
            if self.has_events {
                let (field, text) = (field.name.clone(), piece.clone());
                let bytes = self.of_model(before..range.end);
                self.push(
                    Event::Chunk {
                        field,
                        text,
                        dirty: false,
                        bytes,
                    },
                    events,
                    meter,
                )?;
            }
            self.store((index, field), text(piece), range.end..range.end, events, meter)?;
        }
        self.leave_region(range.end);
        self.region.continues = content.is_some_and(|(index, _)| Some(index) == self.template.implicit);
        Ok(())
    }

    /// Begins the region of the field that has no opening, between two other regions.
    fn leave_region(&mut self, at: usize) {
        self.region = Region {
            field: self.template.implicit,
            before: at,
            open: at,
            start: at,
            ..Region::default()
        };
    }
}

impl Region<'_> {
    /// Returns the end of the text before the white space at its end, or the end if there is no text.
    fn text_end(&self, text: &str, end: usize, meter: &mut Meter<'_>) -> Result<usize> {
        let text = text.get(self.start..end).unwrap_or_default();
        let stripped = strip_end(text, None).len();
        meter.charge_scan(text.len().saturating_sub(stripped))?;
        Ok(if stripped == 0 {
            end
        } else {
            self.start.saturating_add(stripped)
        })
    }
}

/// Gives an error about the model's text its class.
fn about_text(error: Error) -> Error {
    if is_recoverable(&error) {
        error.with_class(ErrorClass::Answer)
    } else {
        error
    }
}

/// Returns whether an error is about the model's text, and not about the time or memory that it takes.
fn is_recoverable(error: &Error) -> bool {
    let is_limit = error.reached().is_some_and(|reached| reached.limit != Limit::JsonDepth);
    !is_limit && error.class() != ErrorClass::Internal
}

/// Returns the items of a list, or a value that is no list.
fn list<'v, 'a>(value: &'v Data<'a>) -> &'v [Data<'a>] {
    match value {
        Data::List(items) => items,
        other => std::slice::from_ref(other),
    }
}

/// Returns whether a value has no call without a name or without arguments.
fn has_whole_calls(field: &Field, value: &Data<'_>, meter: &mut Meter<'_>) -> Result<bool> {
    let calls = field
        .transform
        .as_ref()
        .is_some_and(|transform| transform.entry("function").is_some());
    for item in list(value) {
        meter.charge(1)?;
        let function = match item {
            Data::Object(call) => call.get("function"),
            _ => None,
        };
        let (has_name, arguments) = match function {
            None if !calls => continue,
            Some(Data::Object(function)) => {
                let name = function.get("name");
                (
                    matches!(name, Some(Data::Str(name)) if !name.is_empty()),
                    function.get("arguments"),
                )
            }
            _ => (false, None),
        };
        let has_arguments = match arguments {
            Some(Data::Object(_)) => true,
            Some(Data::Str(text)) => {
                meter.charge_scan(text.len())?;
                matches!(json::read_until(text, meter.watch()), Ok(Data::Object(_)))
            }
            _ => false,
        };
        if !(has_name && has_arguments) {
            return Ok(false);
        }
    }
    Ok(true)
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
