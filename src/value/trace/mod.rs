//! Records where the texts of values come from in a traced render.
//!
//! ```text
//! {{ "[" + message.content|upper }}   ->   "[" of line 1, then a text made from /messages/0/content
//! ```
//!
//! A text that [`Runtime::push`] or another function of this module writes keeps its pieces. Any other text that a function makes counts as
//! made from all texts among the arguments, which is less precise but never wrong.

mod composed;
mod turns;
mod unite;

pub use composed::{backslash_escape, html_escape};

use std::ops::Range;

use super::call::{Arguments, Body};
use super::runtime::Runtime;
use super::{Dict, Seq, Str, Value};
use crate::ast::Symbols;
use crate::error::Result;
use crate::meter::{Claim, Meter, STEP_BYTES};
use crate::trace::{
    Container, Literals, Owner, Piece, Pieces, Places, Segment, Source, Step, count_paths, count_pointer_bytes, memory_of,
};

/// The steps that are charged for each value that a segment comes from. They are for the work after the render, which has no meter: making
/// the turns, and their JSON.
const PATH_STEPS: u64 = 4;

/// The steps of the work after the render that are not charged. Usual prompts take far fewer.
const FREE_STEPS: u64 = 1 << 16;

/// The number of segments whose memory is claimed at once.
const SEGMENTS_PER_CLAIM: usize = 1 << 10;

/// The bytes that are kept of each segment while the text of the model is looked for.
const SEGMENT_NOTES: usize = 48;

/// The state of a traced render.
#[derive(Debug)]
pub struct Trace<'a> {
    places: Places<'a>,
    /// The names that the template mentions. A variable of another name is never read.
    names: &'a Symbols,
    /// The buffer of the containers whose items are not added yet.
    pending: Vec<Pending<'a>>,
    /// The owner of what is written now.
    pub owner: Owner,
    /// The variable of the innermost loop, if it goes over integers.
    index: Option<u32>,
    /// Whether the value of a `set` is being evaluated.
    is_setting: bool,
    /// Whether the current round of the innermost loop has read a message by the variable of the loop.
    is_read: bool,
    /// The messages that the template sees.
    messages: Seq<'a>,
    /// The messages by the addresses of their dicts, sorted, unless the list is the caller's.
    addresses: Vec<(usize, Owner)>,
    /// The arguments of the functions that run.
    arguments: Vec<Value<'a>>,
    /// The claim to the memory of `arguments`.
    claim: Option<Claim>,
    /// The index of the first argument of the innermost function that runs.
    first_argument: usize,
}

/// A list or a dict of the input whose items are not added yet.
type Pending<'a> = (Container, Value<'a>);

impl<'a> Trace<'a> {
    fn new(names: &'a Symbols, literals: &'a Literals) -> Self {
        Self {
            places: Places::new(literals),
            names,
            pending: Vec::new(),
            owner: Owner::NONE,
            index: None,
            is_setting: false,
            is_read: false,
            messages: Seq::empty(),
            addresses: Vec::new(),
            arguments: Vec::new(),
            claim: None,
            first_argument: 0,
        }
    }

    /// Adds a variable of the template, with all strings in it. Each container is charged before its items are added.
    fn add_variable(&mut self, name: &'a str, value: Value<'a>, meter: &mut Meter<'_>) -> Result<()> {
        let mut pending = std::mem::take(&mut self.pending);
        self.add_value(self.places.root(), Step::Key(name), value, &mut pending);
        while let Some((container, value)) = pending.pop() {
            let first = pending.len();
            match value {
                Value::List(items) | Value::Tuple(items) => {
                    meter.charge_items(items.len())?;
                    for (index, item) in (0..).zip(items.iter()).filter(|(_, item)| holds_strings(item)) {
                        self.add_value(container, Step::Index(index), item, &mut pending);
                    }
                }
                Value::Dict(Dict::Json(map)) => {
                    meter.charge_items(map.len())?;
                    for (key, value) in map {
                        let step = Step::Key(key);
                        charge_long_key(meter, key)?;
                        match value {
                            serde_json::Value::String(text) => self.places.add_string(container, step, text),
                            _ => self.add_value(container, step, Value::from(value), &mut pending),
                        }
                    }
                }
                Value::Dict(dict) => {
                    meter.charge_items(dict.len())?;
                    for (key, value) in dict.iter() {
                        if let Value::Str(key) = &key {
                            let step = Step::Key(key.borrowed().unwrap_or_default());
                            charge_long_key(meter, key.as_str())?;
                            self.add_value(container, step, value, &mut pending);
                        }
                    }
                }
                _ => {}
            }
            // The last value is taken first, so the new ones are reversed to be taken in their order.
            pending.get_mut(first..).unwrap_or_default().reverse();
        }
        self.pending = pending;
        Ok(())
    }

    /// Adds a value of a container. If it can contain strings itself, it is added to those that are pending.
    fn add_value(&mut self, container: Container, step: Step<'a>, value: Value<'a>, pending: &mut Vec<Pending<'a>>) {
        match value {
            Value::Str(text) => self.places.add_string(container, step, text.borrowed().unwrap_or_default()),
            Value::List(_) | Value::Tuple(_) | Value::Dict(_) => {
                let container = self.places.add(container, step);
                pending.push((container, value));
            }
            _ => {
                self.places.add(container, step);
            }
        }
    }

    /// Begins a render, after which nothing is added to the input. `messages` are those that the template sees.
    pub fn begin(&mut self, messages: Option<Value<'a>>, meter: &mut Meter<'_>) -> Result<()> {
        let Some(Value::List(items) | Value::Tuple(items)) = messages else {
            return Ok(());
        };
        if !matches!(items, Seq::Json(_)) {
            // Most lists have the addresses in order already, which the sort finds out in a fraction of a step for each.
            meter.charge(items.len() as u64 >> 2)?;
            meter.claim_for_render(items.len().saturating_mul(size_of::<(usize, Owner)>()))?;
            self.addresses.reserve(items.len());
            for (index, item) in items.iter().enumerate() {
                if let Value::Dict(dict) = &item {
                    self.addresses.push((dict.address(), Owner::message(index)));
                }
            }
            // The sort is stable: of two messages that are one dict, the first is found.
            self.addresses.sort_by_key(|(address, _)| *address);
        }
        self.messages = items;
        Ok(())
    }

    /// Returns the owner for the message that is the given dict, or `None` if no message is.
    fn message(&self, dict: &Dict<'a>) -> Option<Owner> {
        let address = dict.address();
        if let Seq::Json(items) = self.messages {
            // The object is within the item of the caller's array.
            let at = address.checked_sub(items.as_ptr().addr())?;
            let index = at.checked_div(size_of::<serde_json::Value>())?;
            let item = items.get(index)?.as_object()?;
            return (std::ptr::from_ref(item).addr() == address).then(|| Owner::message(index));
        }
        let index = self.addresses.partition_point(|(other, _)| *other < address);
        let (found, owner) = self.addresses.get(index)?;
        (*found == address).then_some(*owner)
    }

    /// Begins a call of a function, and returns the index of the first argument of the enclosing one.
    #[inline]
    pub fn enter(&mut self, meter: &mut Meter<'_>, count: usize, arguments: impl IntoIterator<Item = Value<'a>>) -> Result<usize> {
        let first = self.arguments.len();
        meter.claim_growth::<Value<'_>>(&mut self.claim, first.saturating_add(count), self.arguments.capacity())?;
        self.arguments.extend(arguments);
        Ok(std::mem::replace(&mut self.first_argument, first))
    }

    /// Ends a call of a function.
    pub fn leave(&mut self, outer: usize) {
        self.arguments.truncate(self.first_argument);
        self.first_argument = outer;
    }

    /// Returns the origin and the owner of a borrowed text that is written now, by its address and its length in bytes.
    #[inline]
    fn find(&mut self, address: usize, length: usize) -> (Source, Owner) {
        let source = self.places.find(address, length);
        (source, self.owner_of(source))
    }

    /// Returns the owner of a text that is written now, by its origin.
    fn owner_of(&self, source: Source) -> Owner {
        self.places.owner(source, self.owner)
    }
}

/// Charges for the copy of a key, which is part of the cost of its container if it is short.
#[inline]
fn charge_long_key(meter: &mut Meter<'_>, key: &str) -> Result<()> {
    match key.len() / STEP_BYTES {
        0 => Ok(()),
        steps => meter.charge(steps as u64),
    }
}

/// Returns whether a value of the input can be or contain a string.
fn holds_strings(value: &Value<'_>) -> bool {
    matches!(value, Value::Str(_) | Value::List(_) | Value::Tuple(_) | Value::Dict(_))
}

impl<'a> Runtime<'a> {
    /// Starts the trace of a render. The places of its pieces have 32 bits, so a text cannot have more than 4 GiB.
    pub fn begin_trace(&mut self, names: &'a Symbols, literals: &'a Literals) {
        self.meter.cap_sizes(u64::from(u32::MAX));
        self.heap.trace = Some(Box::new(Trace::new(names, literals)));
        self.heap.pieces = Pieces::with_capacity();
    }

    /// Adds variables and the strings in them to the places of the input, if the render is traced and the template has their names.
    pub fn trace_variables(&mut self, variables: impl IntoIterator<Item = (Value<'a>, Value<'a>)>) -> Result<()> {
        let Some(trace) = &mut self.heap.trace else { return Ok(()) };
        for (name, value) in variables {
            if let (true, Value::Str(name)) = (holds_strings(&value), &name) {
                let name = name.borrowed().unwrap_or_default();
                if trace.names.find(name).is_some() {
                    trace.add_variable(name, value, &mut self.meter)?;
                }
            }
        }
        Ok(())
    }

    /// Adds a special token to the places of the input.
    pub fn trace_token(&mut self, name: &'a str, text: &'a str) -> Result<()> {
        if let Some(trace) = &mut self.heap.trace {
            self.meter.charge_bytes(name.len())?;
            trace.places.add_token(name, text);
        }
        Ok(())
    }

    /// Sorts the places of the input, after all are added and before the first text is made of them.
    pub fn sort_places(&mut self) {
        if let Some(trace) = &mut self.heap.trace {
            trace.places.sort();
        }
    }

    /// Returns the segments of the output, if the render is traced. No other text of the render has segments.
    pub fn take_segments(&mut self, pieces: &Pieces, text: &str) -> Result<Vec<Segment>> {
        let Some(trace) = self.heap.trace.as_mut() else {
            return Ok(Vec::new());
        };
        self.meter.charge_items(pieces.len() / 8)?;
        let segments = trace.places.take_segments(pieces, text);
        let bytes = count_pointer_bytes(&segments, self.meter.limits().output);
        self.meter.check_extra(bytes)?;
        let later = count_paths(&segments)
            .saturating_mul(PATH_STEPS)
            .saturating_add(text.len() as u64 >> 3);
        self.meter.charge(later.saturating_sub(FREE_STEPS))?;
        Ok(segments)
    }

    /// Claims the memory of a number of segments, and of what [`find_assistant`](crate::trace::find_assistant) keeps of each.
    pub fn claim_segments(&mut self, count: usize) -> Result<Vec<Claim>> {
        let bytes = size_of::<Segment>().saturating_add(SEGMENT_NOTES);
        // Each claim is smaller than the largest value.
        let parts = (0..count)
            .step_by(SEGMENTS_PER_CLAIM)
            .map(|start| count.saturating_sub(start).min(SEGMENTS_PER_CLAIM));
        parts.map(|part| self.meter.claim(part.saturating_mul(bytes))).collect()
    }

    /// Appends a string to the text that is being written, and records its pieces.
    pub fn push(&mut self, text: &Str<'a>, out: &mut String) -> Result<()> {
        self.record(text, out.len())?;
        if self.heap.records_writes {
            self.record_write(text, out.len())?;
        }
        out.push_str(text.as_str());
        Ok(())
    }

    /// Records that a string is about to be written at a byte of the text that is being written, in a render that records its writes.
    #[cold]
    pub fn record_write(&mut self, text: &Str<'a>, at: usize) -> Result<()> {
        let Some((from, whole, view)) = text.writes() else {
            let memory = text.borrowed().map_or(0..0, memory_of);
            self.heap.pieces.add_write(at..at.saturating_add(text.as_str().len()), memory);
            return Ok(());
        };
        self.meter.charge(from.count_in(&view) as u64)?;
        let read = self.heap.pieces.writes_mut().append_view(from, whole, &view, at);
        self.meter.charge(read as u64 >> 3)?;
        self.check_pieces()
    }

    /// Records the pieces of a string that is about to be written at a byte of the text that is being written.
    #[inline]
    pub fn record(&mut self, text: &Str<'a>, at: usize) -> Result<()> {
        if self.heap.trace.is_none() && !text.has_pieces() {
            return Ok(());
        }
        self.record_pieces(text, at)
    }

    #[inline(never)]
    fn record_pieces(&mut self, text: &Str<'a>, at: usize) -> Result<()> {
        let Some((from, view)) = text.pieces() else {
            let text = text.as_str();
            return self.record_at_end(text.len(), at.saturating_add(text.len()), |trace| {
                trace.find(text.as_ptr().addr(), text.len())
            });
        };
        let found = from.in_view(&view);
        self.meter.charge(found.len() as u64)?;
        let pieces = &mut self.heap.pieces;
        let owner = self.heap.trace.as_ref().map_or(Owner::NONE, |trace| trace.owner);
        if self.heap.trace.is_some() {
            pieces.fill(at, Source::Made, owner);
        }
        pieces.append_view(found, &view, at, owner);
        self.check_pieces()
    }

    /// Records a text of the input or of the template that was copied from a place in memory to the end of the text that is being written.
    #[inline(never)]
    pub fn record_copy(&mut self, place: Range<*const u8>, end: usize) -> Result<()> {
        let (address, length) = (place.start.addr(), place.end.addr().saturating_sub(place.start.addr()));
        self.record_at_end(length, end, |trace| trace.find(address, length))
    }

    /// Records a string literal of the template that was copied to the end of the text that is being written.
    #[inline(never)]
    pub fn record_literal(&mut self, text: &str, end: usize) -> Result<()> {
        // A literal belongs to the message whose turn it is.
        let address = text.as_ptr().addr();
        self.record_at_end(text.len(), end, |trace| (trace.places.find_literal(address), trace.owner))
    }

    #[inline(always)]
    fn record_at_end(&mut self, length: usize, end: usize, find: impl FnOnce(&mut Trace<'a>) -> (Source, Owner)) -> Result<()> {
        let Some(trace) = &mut self.heap.trace else { return Ok(()) };
        let pieces = &mut self.heap.pieces;
        let (start, before) = (end.saturating_sub(length), pieces.len());
        pieces.fill(start, Source::Made, trace.owner);
        let (source, owner) = find(trace);
        pieces.push(Piece::new(start..end, source, owner));
        match pieces.len().saturating_sub(before) {
            0 => Ok(()),
            added => {
                self.meter.charge(added as u64)?;
                self.meter.check_size(pieces.bytes())
            }
        }
    }

    /// Records that a byte range of the text that is being written comes from a line of the template.
    pub fn record_template(&mut self, line: u32, range: Range<usize>) -> Result<()> {
        let Some(trace) = &self.heap.trace else { return Ok(()) };
        self.heap.pieces.fill(range.start, Source::Made, trace.owner);
        self.heap.pieces.push(Piece::new(range, Source::Template(line), trace.owner));
        self.check_pieces()
    }

    /// Records a `{% generation %}` block that has just ended.
    pub fn record_block(&mut self, block: Range<usize>) -> Result<()> {
        self.heap.pieces.push_block(block);
        self.check_pieces()
    }

    /// Checks the memory of the pieces of the text that is being written.
    pub(super) fn check_pieces(&self) -> Result<()> {
        self.meter.check_size(self.heap.pieces.bytes())
    }

    /// Returns a text with another one appended, and with the pieces of both.
    pub(super) fn append_text(&mut self, mut text: String, pieces: Pieces, end: &Str<'a>) -> Result<Value<'a>> {
        let len = text.len().saturating_add(end.as_str().len());
        self.meter.charge_bytes(end.as_str().len())?;
        self.meter.check_size(len)?;
        let outer = std::mem::replace(&mut self.heap.pieces, pieces);
        if self.heap.records_writes && self.heap.pieces.writes().is_none() {
            self.heap.pieces.add_write(0..text.len(), 0..0);
        }
        let pushed = self.push(end, &mut text);
        let pieces = std::mem::replace(&mut self.heap.pieces, outer);
        pushed?;
        self.text_with_pieces(text, pieces).map(Value::Str)
    }

    /// Makes a string of a text that repeats another one.
    pub(super) fn repeated_text(&mut self, text: &Str<'a>, repeated: String) -> Result<Str<'a>> {
        if self.heap.trace.is_none() && !text.has_pieces() {
            return self.text(repeated);
        }
        let outer = std::mem::take(&mut self.heap.pieces);
        let recorded = self.record_repeated(text, repeated.len());
        let pieces = std::mem::replace(&mut self.heap.pieces, outer);
        recorded?;
        self.text_with_pieces(repeated, pieces)
    }

    /// Records the pieces of a string that is written again and again, up to a byte of the text that is being written.
    fn record_repeated(&mut self, text: &Str<'a>, end: usize) -> Result<()> {
        let (mut at, mut before) = (0_usize, 0);
        while at < end {
            self.record(text, at)?;
            let count = self.heap.pieces.len();
            if count == before {
                // All of the string continues the last piece, and so do its other copies.
                self.heap.pieces.stretch(end);
                return Ok(());
            }
            (at, before) = (at.saturating_add(text.as_str().len()), count);
        }
        Ok(())
    }

    /// Runs the body of a function. The texts that it makes count as made from its arguments, unless it records another origin.
    #[inline]
    pub(super) fn run_traced(&mut self, arguments: &mut Arguments<'a>, run: Body) -> Result<Value<'a>> {
        let Some(trace) = &mut self.heap.trace else {
            return run(self, std::mem::take(arguments));
        };
        let count = arguments.keywords().len().saturating_mul(2).saturating_add(arguments.len());
        let outer = trace.enter(&mut self.meter, count, arguments.values())?;
        let result = run(self, std::mem::take(arguments));
        if let Some(trace) = &mut self.heap.trace {
            trace.leave(outer);
        }
        result
    }

    /// Runs a function. The texts that it makes have the origin of these values, unless the function records a more exact one.
    #[inline]
    pub fn with_sources<T>(&mut self, values: &[&Value<'a>], run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let Some(trace) = &mut self.heap.trace else {
            return run(self);
        };
        let sources = values.iter().map(|value| (*value).clone());
        let outer = trace.enter(&mut self.meter, values.len(), sources)?;
        let result = run(self);
        if let Some(trace) = &mut self.heap.trace {
            trace.leave(outer);
        }
        result
    }
}
