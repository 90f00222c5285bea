//! The state of one render, which every operator and built-in receives: the meter, the clock, and the heap.

use super::Value;
use super::arena::Arena;
use super::call::Lookups;
use super::dict::{Dict, Entries};
use super::frames::Frames;
use super::generator::{Generator, Source};
use super::key::Key;
use super::list::Seq;
use super::loop_context::LoopState;
use super::namespace::{Content, Namespace, NamespaceId};
use super::str::Str;
use super::trace::Tape;
use super::types::Type;
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::limits::{Limit, LimitExceeded};
use crate::meter::{Claim, Meter};
use crate::trace::Pieces;
use std::num::NonZeroU32;
use std::ops::Range;

/// The state of one render.
pub struct Runtime<'a> {
    /// The memory of the values that the render makes.
    pub arena: &'a Arena,
    /// Counts steps and memory.
    pub meter: Meter<'a>,
    /// The clock of `strftime_now`.
    pub clock: &'a dyn Clock,
    /// Looks up attributes, items, filters and tests by name.
    pub lookups: &'static Lookups,
    /// The objects that change.
    pub heap: Heap<'a>,
    /// The pieces of the text that is being written: where each of its bytes came from.
    pub pieces: Pieces,
    /// The tape of a render that is traced: where its strings come from. Absent in other renders.
    pub tape: Option<Box<Tape<'a>>>,
}

/// The objects of a render that change. They are freed with the render, even if they refer to each other.
#[derive(Debug, Default)]
pub struct Heap<'a> {
    namespaces: Vec<Namespace<'a>>,
    /// The arguments of the last `loop.changed` of each loop that called it.
    pub(super) changed: Vec<Value<'a>>,
    /// The state of the evaluator.
    pub frames: Frames<'a>,
    /// Empty buffers, in which strings are built.
    buffers: Vec<String>,
    /// The sources of one-pass iterators.
    pub(super) sources: Vec<Source<'a>>,
    /// The states of loops over anything but lists and tuples.
    pub(super) loops: Vec<LoopState<'a>>,
    /// The pieces of the strings that the render made, each with the address of its string.
    made: Vec<(usize, Pieces)>,
}

/// The number of empty buffers that are kept: one for each of a few strings, each built while the one before is.
const BUFFERS: usize = 4;

/// The length in bytes from which a string is not copied from the buffer in which it was built, but keeps it.
const LONG: usize = 16 << 10;

/// The number of steps that it costs to make and drop the string that a `set` block or a macro writes.
pub const CAPTURE: u64 = 2;

/// The number of steps that it costs to make and drop the list of a string's pieces.
const PIECES_STEPS: u64 = 2;

/// The number of bytes of an entry of a dict, with its place in the table.
const ENTRY: usize = size_of::<(Key<'_>, Value<'_>)>() + 16;

impl<'a> Runtime<'a> {
    /// Creates the runtime of a render that uses an existing meter.
    pub fn with_meter(arena: &'a Arena, meter: Meter<'a>, clock: &'a dyn Clock, lookups: &'static Lookups) -> Self {
        Self {
            arena,
            meter,
            clock,
            lookups,
            heap: Heap::default(),
            pieces: Pieces::default(),
            tape: None,
        }
    }

    /// Makes a string and claims its memory. The caller checks the size of a long text before making it. In a render that is traced, the
    /// text counts as made from all strings among the arguments of the running function.
    pub fn text(&mut self, text: String) -> Result<Str<'a>> {
        match self.tape {
            None => self.text_with_pieces(text, Pieces::default()),
            Some(_) => self.text_of_arguments(text),
        }
    }

    /// Makes a string value and claims its memory.
    pub fn str(&mut self, text: String) -> Result<Value<'a>> {
        Ok(Value::Str(self.text(text)?))
    }

    /// Makes a string whose pieces are known. Wherever the string is written, its pieces are recorded.
    pub(super) fn text_with_pieces(&mut self, text: String, pieces: Pieces) -> Result<Str<'a>> {
        if text.is_empty() {
            return Ok(Str::from(""));
        }
        if !pieces.is_empty() {
            self.meter.charge(PIECES_STEPS)?;
        }
        self.meter.hold(text.len() + pieces.bytes())?;
        let kept = self.keep_text(text)?;
        let mut number = None;
        if !pieces.is_empty() {
            self.heap.made.push((kept.as_ptr().addr(), pieces));
            number = u32::try_from(self.heap.made.len()).ok().and_then(NonZeroU32::new);
        }
        Ok(Str::made(kept, number))
    }

    /// Stores the text of a buffer, and keeps the buffer for the next string unless the text is long.
    fn keep_text(&mut self, mut buffer: String) -> Result<&'a str> {
        if buffer.len() >= LONG {
            if buffer.capacity() - buffer.len() > LONG {
                buffer.shrink_to_fit();
            }
            return self.arena.keep_text(buffer).ok_or_else(too_many_objects);
        }
        let text = self.arena.store_text(&buffer);
        if buffer.capacity() <= LONG && self.heap.buffers.len() < BUFFERS {
            buffer.clear();
            self.heap.buffers.push(buffer);
        }
        Ok(text)
    }

    pub fn store<T>(&mut self, object: T) -> Result<&'a T> {
        self.meter.charge(1)?;
        self.meter.hold(size_of::<T>())?;
        Ok(self.arena.store(object))
    }

    /// Returns an empty buffer, in which a string can be built.
    #[inline]
    pub fn take_buffer(&mut self) -> String {
        self.heap.buffers.pop().unwrap_or_default()
    }

    pub fn finish_str(&mut self, text: String, pieces: Pieces) -> Result<Value<'a>> {
        self.finish_text(text, pieces).map(Value::Str)
    }

    fn finish_text(&mut self, text: String, mut pieces: Pieces) -> Result<Str<'a>> {
        self.finish_pieces(&mut pieces, text.len())?;
        self.text_with_pieces(text, pieces)
    }

    pub fn capture(&mut self, write: impl FnOnce(&mut Self, &mut String) -> Result<()>) -> Result<Value<'a>> {
        self.capture_text(write).map(Value::Str)
    }

    /// Makes a string of the text that a function writes.
    pub fn capture_text(&mut self, write: impl FnOnce(&mut Self, &mut String) -> Result<()>) -> Result<Str<'a>> {
        let mut text = self.take_buffer();
        self.meter.charge(CAPTURE)?;
        let _claim = self.claim_pieces()?;
        let outer = std::mem::take(&mut self.pieces);
        let written = self.meter.begin_text();
        let result = write(self, &mut text);
        self.meter.end_text(written);
        let pieces = std::mem::replace(&mut self.pieces, outer);
        result?;
        self.finish_text(text, pieces)
    }

    /// Checks the size of a list before it is made.
    #[inline]
    pub fn check_values(&self, count: usize) -> Result<()> {
        self.meter.check_size(count.saturating_mul(size_of::<Value<'_>>()))
    }

    /// Makes the items of a list or tuple and claims their memory.
    pub fn items(&mut self, values: &[Value<'a>]) -> Result<Seq<'a>> {
        let below = values.iter().map(Value::height).max().unwrap_or(0);
        self.meter.charge_items(values.len() / 8)?;
        self.items_of_height(values, below.saturating_add(1))
    }

    /// Makes the items of a list or tuple, whose nesting depth the caller knows.
    #[inline]
    pub(super) fn items_of_height(&mut self, values: &[Value<'a>], height: u32) -> Result<Seq<'a>> {
        self.meter.check_height(height)?;
        self.meter.hold(size_of_val(values))?;
        Ok(Seq::owned(self.arena, values, height))
    }

    pub fn list(&mut self, values: &[Value<'a>]) -> Result<Value<'a>> {
        Ok(Value::List(self.items(values)?))
    }

    pub fn tuple(&mut self, values: &[Value<'a>]) -> Result<Value<'a>> {
        Ok(Value::Tuple(self.items(values)?))
    }

    /// Adds an entry to a dict under construction. `claim` holds the memory of many entries; the caller releases it before the dict is
    /// made.
    pub fn insert(&mut self, entries: &mut Entries<'a>, claim: &mut Option<Claim>, key: Value<'a>, value: Value<'a>) -> Result<()> {
        self.meter
            .claim_growth::<(Key<'_>, Value<'_>)>(claim, entries.len(), entries.capacity())?;
        entries.insert(Key::new(self, key)?, value);
        Ok(())
    }

    /// Makes a dict and claims its memory.
    pub fn dict(&mut self, entries: Entries<'a>) -> Result<Dict<'a>> {
        let below = entries
            .iter()
            .map(|(key, value)| key.value.height().max(value.height()))
            .max();
        let height = below.unwrap_or(0).saturating_add(1);
        self.meter.charge_items(entries.len() / 8)?;
        self.meter.check_height(height)?;
        let _claim = self.meter.claim(entries.capacity().saturating_mul(ENTRY))?;
        self.meter.hold(entries.len().saturating_mul(ENTRY))?;
        Ok(Dict::owned(self.arena, &entries, height))
    }

    /// Makes a generator whose items a function makes. `name` is that of the function in Python, and `below` the nesting depth of the values
    /// that it draws from.
    pub fn generator<F>(&mut self, name: &'static str, below: u32, next: F) -> Result<Value<'a>>
    where
        F: FnMut(&mut Self) -> Result<Option<Value<'a>>> + 'a,
    {
        self.iterator(Type::Generator, name, below, next)
    }

    /// Makes a one-pass iterator of a Python type, as [`Runtime::generator`] does.
    pub fn iterator<F>(&mut self, ty: Type, name: &'static str, below: u32, next: F) -> Result<Value<'a>>
    where
        F: FnMut(&mut Self) -> Result<Option<Value<'a>>> + 'a,
    {
        let height = below.saturating_add(1);
        self.meter.check_height(height)?;
        self.meter
            .hold(size_of::<Generator>() + size_of::<Source<'_>>() + size_of::<F>())?;
        let source = self.heap.sources.len();
        let generator = Generator {
            ty,
            name,
            height,
            source,
        };
        self.heap.sources.push(Source::Ready(Box::new(next)));
        Ok(Value::Iterator(self.arena.store(generator)))
    }

    /// Makes a namespace of attributes with distinct names, and returns its index.
    pub fn namespace(&mut self, attributes: Vec<(Value<'a>, Content<'a>)>) -> Result<NamespaceId> {
        self.meter.charge(2)?;
        let namespace = Namespace::new(&mut self.meter, attributes)?;
        let number = next_object_index(self.heap.namespaces.len())?;
        self.heap.namespaces.push(namespace);
        Ok(NamespaceId(number))
    }
}

/// The error of a render that makes more objects than it can count.
#[cold]
pub(super) fn too_many_objects() -> Error {
    Error::limit(LimitExceeded::from_sizes(
        Limit::Objects,
        u32::MAX as usize,
        u32::MAX as usize,
    ))
}

/// Returns the index of the next namespace or environment, or an error if there are too many.
pub fn next_object_index(count: usize) -> Result<u32> {
    u32::try_from(count).map_err(|_| Error::limit(LimitExceeded::from_sizes(Limit::Objects, count, u32::MAX as usize)))
}

impl<'a> Heap<'a> {
    pub fn namespace(&self, id: NamespaceId) -> Option<&Namespace<'a>> {
        self.namespaces.get(id.0 as usize)
    }

    pub fn namespace_mut(&mut self, id: NamespaceId) -> Option<&mut Namespace<'a>> {
        self.namespaces.get_mut(id.0 as usize)
    }

    /// Returns the pieces of the text that a string is a view of, and the byte range of the view. A string of the input has none.
    pub(super) fn pieces_of(&self, text: &Str<'_>) -> Option<(&Pieces, Range<usize>)> {
        let index = text.pieces()?.get().checked_sub(1)?;
        let (address, pieces) = self.made.get(index as usize)?;
        let start = text.as_str().as_ptr().addr().wrapping_sub(*address);
        Some((pieces, start..start.saturating_add(text.as_str().len())))
    }
}
