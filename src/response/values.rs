//! Makes the values of regions, and keeps the text of those that have none.
//!
//! ```text
//! a <call>{"b": c</call> d   ->   content "a <call>{"b": c</call> d", unread [2, 22]
//! ```

use std::ops::Range;

use super::arguments::Part;
use super::content::{object, text};
use super::parser::Event;
use super::stream::{Indexed, Region, Stream, is_recoverable};
use super::template::Field;
use super::transform::transform;
use super::weight;
use crate::error::{Error, ErrorKind, Result};
use crate::json::{self, Data};
use crate::meter::Meter;
use crate::text::strip::strip_end;

/// How much of the text is read again at most, in all: the length of the text this many times, and some bytes.
const REREAD: usize = 32;
const REREAD_BYTES: usize = 4096;

impl<'t> Stream<'t> {
    /// Ends the region where its closing anchor is, and stores its value. Text without a value is added to the content: all of it, or the part
    /// before another anchor, from which on it is read again.
    pub fn close(&mut self, closing: Range<usize>, meter: &mut Meter<'_>) -> Result<()> {
        meter.charge(1)?;
        let Some(field) = self.region.field.filter(|_| self.region.is_open) else {
            self.end_region(closing.end);
            return Ok(());
        };
        let Region { before, open, start, .. } = self.region;
        let is_closed = !closing.is_empty() || closing.end < self.buffer.len();
        if self.read_region(field, closing.start, closing.clone(), is_closed, meter)? {
            return Ok(());
        }
        // An engine can strip the token at the end of the anchor.
        let (held_by, held) = self.held;
        let is_held = !is_closed && held_by == start && (start..closing.start).contains(&held);
        if is_held && field.1.content.is_self_delimiting() && self.read_region(field, held, closing.clone(), false, meter)? {
            return Ok(());
        }
        let inner = self.find_inner(field, closing.start, meter)?;
        let place = open..inner.unwrap_or(closing.end);
        if inner.is_some() && self.read_region(field, place.end, place.end..place.end, false, meter)? {
            return Ok(());
        }
        let body = self.buffer.get(start..closing.start).unwrap_or_default();
        let is_cut = inner.is_none() && !is_closed && field.1.content.can_begin(body);
        self.at = place.end;
        self.keep(before, place, if is_cut { "cut" } else { "malformed" }, meter)
    }

    /// Stores the value of the text of the region up to a byte, and ends the region after an anchor. Returns whether there is a value.
    fn read_region(
        &mut self,
        field: Indexed<'t>,
        end: usize,
        anchor: Range<usize>,
        is_closed: bool,
        meter: &mut Meter<'_>,
    ) -> Result<bool> {
        let value = match self.read_value(field, end, is_closed, meter) {
            Err(error) if self.is_lenient && is_recoverable(&error) => return Ok(false),
            value => value?,
        };
        if end == self.at {
            self.read_call(true, meter)?;
        }
        self.store(field, value, anchor.clone(), meter)?;
        self.end_region(anchor.end);
        Ok(true)
    }

    fn end_region(&mut self, end: usize) {
        self.at = end;
        self.leave_region(end);
    }

    /// Returns the start of another opening of a field in the text of its region up to a byte, or of what closes the content there.
    fn find_inner(&mut self, (_, field): Indexed<'t>, end: usize, meter: &mut Meter<'_>) -> Result<Option<usize>> {
        let Region { open, start, .. } = self.region;
        self.reread = self.reread.saturating_add(end.saturating_sub(start));
        if field.open.is_none() || self.reread > end.saturating_mul(REREAD).saturating_add(REREAD_BYTES) {
            return Ok(None);
        }
        let body = self.buffer.get(..end).unwrap_or_default();
        let content = self.template.implicit.and_then(|index| self.template.fields.get(index));
        let patterns = [field.open.as_ref(), content.and_then(|content| content.close.as_ref())];
        let mut inner = None;
        for pattern in patterns.into_iter().flatten() {
            let found = pattern.find(body, start, meter)?.map(|found| found.bytes);
            let found = found.filter(|found| !found.is_empty() && found.start > open);
            inner = inner.into_iter().chain(found.map(|found| found.start)).min();
        }
        Ok(inner)
    }

    /// Returns the value of the text of the region up to a byte.
    fn read_value(&self, field: Indexed<'_>, end: usize, is_closed: bool, meter: &mut Meter<'_>) -> Result<Data<'static>> {
        let source = self.buffer.get(self.region.start..end).unwrap_or_default();
        let content = &field.1.content;
        if self.region.continues {
            meter.charge_scan(source.len())?;
            return Ok(text(strip_end(source, None)));
        }
        let is_whole = is_closed || content.is_self_delimiting() || content.is_streamed() || field.1.open.is_none();
        if self.is_lenient && !is_whole {
            return Err(Error::value("the text ends before the value"));
        }
        let value = content.parse(source, self.is_lenient, meter)?;
        let mut value = transform(field.1, value, &self.region.captures, meter)?;
        self.tools.coerce(&mut value, meter)?;
        if self.is_lenient && !(has_whole_calls(field.1, &value, meter)? && self.has_place(field, &value)) {
            return Err(Error::value("the value is no call, or the field has another value"));
        }
        Ok(value)
    }

    /// Returns whether a field takes a value without losing an earlier one of the text.
    fn has_place(&self, (index, field): Indexed<'_>, value: &Data<'_>) -> bool {
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
        (index, field): Indexed<'_>,
        value: Data<'static>,
        anchor: Range<usize>,
        meter: &mut Meter<'_>,
    ) -> Result<()> {
        if self.has_events {
            self.push_calls(&value, anchor.clone(), meter)?;
            let (field, value) = (field.name.clone(), value.clone());
            self.push(anchor, |bytes| Event::Close { field, value, bytes }, meter)?;
        }
        let fail = |kind, problem: &str| Err(Error::new(kind, format!("Field '{}': {problem}", field.name)));
        let is_written = self.is_written.get_mut(index);
        let is_written = is_written.is_some_and(|is_written| std::mem::replace(is_written, true));
        // What replaces a value in the reference is added to it where nothing may be lost.
        let is_added = self.is_lenient && is_written;
        let (output, continues) = (&mut self.output, self.region.continues);
        let joint = match &field.join {
            Some(join) if !continues => join.as_str(),
            _ => "",
        };
        if let (true, Data::Str(part)) = (field.join.is_some() || is_added, &value) {
            meter.charge_bytes(joint.len().saturating_add(part.len()))?;
        }
        match (output.get_mut(&field.name), value) {
            (None, value) if field.repeats && field.join.is_none() => {
                drop(output.insert(field.name.clone(), Data::List(vec![value])))
            }
            (Some(Data::List(items)), value) if field.repeats && field.join.is_none() => match (items.last_mut(), &value) {
                (Some(Data::Str(last)), Data::Str(part)) if continues => {
                    meter.check_size(last.len().saturating_add(part.len()))?;
                    last.to_mut().push_str(part);
                }
                _ => items.push(value),
            },
            (Some(_), _) if field.repeats && field.join.is_none() => {
                return fail(ErrorKind::Attribute, "the default of a field that repeats is not a list");
            }
            (Some(Data::Str(before)), Data::Str(part)) if field.join.is_some() || is_added => {
                let added = joint.len().saturating_add(part.len());
                meter.check_size(before.len().saturating_add(added))?;
                before.to_mut().extend([joint, &part]);
            }
            (Some(Data::List(before)), Data::List(items)) if field.join.is_none() && is_added => {
                meter.charge_items(items.len())?;
                before.extend(items);
            }
            (before, Data::Str(_)) if field.join.is_some() && !matches!(before, None | Some(Data::None)) => {
                return fail(ErrorKind::Type, "the default of a field with 'join' is not a string");
            }
            (_, value) if field.join.is_some() && !matches!(value, Data::Str(_)) => {
                let ty = crate::value::Value::from(&value).ty().name();
                return fail(
                    ErrorKind::Value,
                    &format!("'join' requires each match to parse to a string, got {ty}."),
                );
            }
            (_, value) => drop(output.insert(field.name.clone(), value)),
        }
        Ok(())
    }

    /// Passes on what a complete value has of calls and was not passed on while the model wrote it.
    fn push_calls(&mut self, value: &Data<'_>, place: Range<usize>, meter: &mut Meter<'_>) -> Result<()> {
        let begun = std::mem::take(&mut self.region.calls);
        let text = |value: &Data<'_>| match value {
            Data::Str(text) => text.to_string(),
            other => other.to_string(),
        };
        let mut begun = begun.into_iter();
        for item in list(value) {
            meter.charge(1)?;
            let Data::Object(call) = item else { continue };
            let Some(Data::Object(function)) = call.get("function") else {
                continue;
            };
            let Some(name) = function.get("name") else { continue };
            let call = match begun.next() {
                Some(call) => call,
                None => {
                    let name = Part::Name(text(name), call.get("id").map(text));
                    self.push_part(name, place.clone(), meter)?;
                    self.region.calls.pop().unwrap_or_default()
                }
            };
            self.region.calls.push(call);
            if let (Some(arguments), (_, false)) = (function.get("arguments"), call) {
                self.push_part(Part::Arguments(text(arguments)), place.clone(), meter)?;
            }
        }
        Ok(())
    }

    /// Notes a place of the text without a value, and adds it to the content with the white space before it. This is the end of the region.
    pub fn keep(&mut self, before: usize, place: Range<usize>, reason: &'static str, meter: &mut Meter<'_>) -> Result<()> {
        let implicit = self.template.implicit;
        let mut fields = self
            .template
            .fields
            .iter()
            .enumerate()
            .filter(|(_, field)| field.content.is_text());
        let content = fields.find(|(index, field)| implicit.map_or(field.name == "content", |implicit| *index == implicit));
        let Some((_, field)) = self.region.field.or(content) else {
            self.leave_region(place.end);
            return Ok(());
        };
        let bytes = self.of_model(place.clone());
        if !bytes.is_empty() {
            let (from, count) = self.counted;
            meter.charge_scan(place.end.saturating_sub(from))?;
            let points = |start: usize, end: usize| self.buffer.get(start..end).map_or(0, |text| text.chars().count());
            let first = place.start.max(from);
            let start = count.saturating_add(points(from, first));
            let end = start.saturating_add(points(first, place.end));
            self.counted = (place.end, end);
            let pair = |pair: [usize; 2]| Data::List(pair.map(|at| Data::Int(i64::try_from(at).unwrap_or(i64::MAX))).into());
            let unread = [
                ("field", text(field.name.as_str())),
                ("reason", text(reason)),
                ("bytes", pair([bytes.start, bytes.end])),
                ("code_points", pair([start, end])),
            ];
            let unread = object(unread.map(|(key, value)| (key.to_owned(), value)).into());
            weight::claim(&unread, meter)?;
            self.unread.push(unread);
        }
        let unread = |bytes| Event::Unread {
            field: field.name.clone(),
            reason,
            bytes,
        };
        self.push(place.clone(), unread, meter)?;
        if let Some(content) = content {
            let place = before..place.end;
            let kept = self.buffer.get(place.clone()).unwrap_or_default().to_owned();
            meter.claim_for_render(kept.len())?;
            meter.charge_bytes(kept.len())?;
            self.region = Region {
                field: Some(content),
                continues: true,
                ..Region::default()
            };
            self.open(before..before, meter)?;
            self.push_chunk(content.1, place.clone(), meter)?;
            self.store(content, text(kept), place.end..place.end, meter)?;
        }
        self.leave_region(place.end);
        self.region.continues = content.is_some_and(|(index, _)| Some(index) == implicit);
        Ok(())
    }
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
        let Some(Data::Object(function)) = function else {
            if calls || function.is_some() {
                return Ok(false);
            }
            continue;
        };
        let has_name = matches!(function.get("name"), Some(Data::Str(name)) if !name.is_empty());
        let has_arguments = match function.get("arguments") {
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
