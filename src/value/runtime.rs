//! The state of one render, which every operator and built-in receives: the meter, the clock, and the heap.

use super::Value;
use super::call::Lookups;
use super::dict::{Dict, Entries};
use super::frames::Frames;
use super::generator::{Generator, ItemSource};
use super::key::Key;
use super::list::Seq;
use super::loop_context::Loop;
use super::namespace::{Namespace, NamespaceId};
use super::recycle::{Pool, Recycler};
use super::str::{OwnedText, Str};
use super::trace::Tape;
use super::types::Type;
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::limits::{Limit, LimitExceeded};
use crate::meter::{Claim, Meter};
use crate::trace::Pieces;
use std::rc::Rc;

/// The state of one render.
pub struct Runtime<'a> {
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
    changed: Vec<Option<Value<'a>>>,
    /// The state of the evaluator.
    pub frames: Frames<'a>,
    /// The buffers of strings that nothing uses any more.
    pub recycler: Recycler,
    /// The loops that have ended and that nothing uses any more.
    pub(super) ended_loops: Pool<Rc<Loop<'a>>>,
}

/// The maximum unused capacity, in bytes, that a finished string keeps. Reallocating for less is not worth its time.
const MAX_SPARE: usize = 16 << 10;

/// The number of steps that it costs to make and drop the string that a `set` block or a macro writes.
pub const CAPTURE: u64 = 2;

/// The number of steps that it costs to make and drop the list of a string's pieces.
const PIECES_STEPS: u64 = 2;

impl<'a> Runtime<'a> {
    /// Creates the runtime of a render that uses an existing meter.
    pub fn with_meter(meter: Meter<'a>, clock: &'a dyn Clock, lookups: &'static Lookups) -> Self {
        Self {
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
        let claim = self.meter.claim_text(text.capacity() + pieces.bytes())?;
        Ok(self.heap.recycler.make_str(OwnedText::new(text, pieces, claim)))
    }

    /// Makes a string value of a finished buffer.
    pub fn finish_str(&mut self, text: String, pieces: Pieces) -> Result<Value<'a>> {
        self.finish_text(text, pieces).map(Value::Str)
    }

    /// Makes a string of a finished buffer. Releases spare capacity, which would count as memory.
    fn finish_text(&mut self, mut text: String, mut pieces: Pieces) -> Result<Str<'a>> {
        if text.capacity().saturating_sub(text.len()) > MAX_SPARE {
            text.shrink_to_fit();
        }
        self.finish_pieces(&mut pieces, text.len())?;
        self.text_with_pieces(text, pieces)
    }

    /// Makes a string value of the text that a function writes.
    pub fn capture(&mut self, write: impl FnOnce(&mut Self, &mut String) -> Result<()>) -> Result<Value<'a>> {
        self.capture_text(write).map(Value::Str)
    }

    /// Makes a string of the text that a function writes.
    pub fn capture_text(&mut self, write: impl FnOnce(&mut Self, &mut String) -> Result<()>) -> Result<Str<'a>> {
        let text = self.heap.recycler.take_buffer();
        self.capture_in(text, write)
    }

    /// Makes a string of the text that a function writes to an empty buffer.
    pub fn capture_in(&mut self, mut text: String, write: impl FnOnce(&mut Self, &mut String) -> Result<()>) -> Result<Str<'a>> {
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

    /// Checks the size of a dict before it is made.
    #[inline]
    pub fn check_entries(&self, count: usize) -> Result<()> {
        self.meter.check_size(count.saturating_mul(size_of::<(Key<'_>, Value<'_>)>()))
    }

    /// Makes the items of a list or tuple and claims their memory.
    pub fn items(&mut self, mut values: Vec<Value<'a>>) -> Result<Seq<'a>> {
        let mut below = 0;
        for value in &mut values {
            below = below.max(value.height());
            self.claim_object(value)?;
        }
        self.meter.charge_items(values.len() / 8)?;
        self.items_of_height(values, below.saturating_add(1))
    }

    /// Makes the items of a list or tuple, whose nesting depth the caller knows.
    #[inline]
    pub(super) fn items_of_height(&mut self, values: Vec<Value<'a>>, height: u32) -> Result<Seq<'a>> {
        self.meter.check_height(height)?;
        let claim = self.meter.claim(values.capacity().saturating_mul(size_of::<Value<'_>>()))?;
        Ok(Seq::owned(values, height, claim))
    }

    pub fn list(&mut self, values: Vec<Value<'a>>) -> Result<Value<'a>> {
        Ok(Value::List(self.items(values)?))
    }

    pub fn tuple(&mut self, values: Vec<Value<'a>>) -> Result<Value<'a>> {
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
        let claim = self.claim_entries(entries.capacity())?;
        Ok(Dict::owned(entries, height, claim))
    }

    /// Claims the memory of the entries of a dict.
    pub fn claim_entries(&mut self, count: usize) -> Result<Claim> {
        let entry = size_of::<(Key<'_>, Value<'_>)>() + 16;
        self.meter.claim(count.saturating_mul(entry))
    }

    /// Makes a generator. `below` is the nesting depth of the values that it draws from.
    pub fn generator(&mut self, below: u32, source: impl ItemSource<'a> + 'a) -> Result<Value<'a>> {
        self.iterator(Type::Generator, below, source)
    }

    /// Makes a one-pass iterator of a Python type. `below` is the nesting depth of the values that it draws from.
    pub fn iterator<S: ItemSource<'a> + 'a>(&mut self, ty: Type, below: u32, source: S) -> Result<Value<'a>> {
        let height = below.saturating_add(1);
        self.meter.check_height(height)?;
        let bytes = size_of::<Generator<'_>>() + size_of::<S>();
        let claim = self.meter.claim(bytes + source.owned_bytes())?;
        Ok(Value::Iterator(Rc::new(Generator::new(ty, height, Box::new(source), claim))))
    }

    /// Makes a namespace of attributes with distinct names, and returns its index.
    pub fn namespace(&mut self, attributes: Vec<(Value<'a>, Value<'a>)>) -> Result<NamespaceId> {
        self.meter.charge(2)?;
        let namespace = Namespace::new(&mut self.meter, attributes)?;
        let number = next_object_index(self.heap.namespaces.len())?;
        self.heap.namespaces.push(namespace);
        Ok(NamespaceId(number))
    }
}

/// Returns the index of the next namespace or environment, or an error if there are too many.
pub fn next_object_index(count: usize) -> Result<u32> {
    u32::try_from(count).map_err(|_| Error::limit(LimitExceeded::from_sizes(Limit::Objects, count, u32::MAX as usize)))
}

impl<'a> Heap<'a> {
    pub fn namespace(&self, id: NamespaceId) -> Option<&Namespace<'a>> {
        self.namespaces.get(id.0 as usize)
    }

    /// Returns a namespace for modification.
    pub fn namespace_mut(&mut self, id: NamespaceId) -> Option<&mut Namespace<'a>> {
        self.namespaces.get_mut(id.0 as usize)
    }

    /// Reserves a place in the heap for the arguments of a loop's `loop.changed`, and returns its index.
    pub(super) fn reserve_changed(&mut self) -> usize {
        self.changed.push(None);
        self.changed.len().saturating_sub(1)
    }

    /// Forgets the arguments of the last `loop.changed`.
    pub(super) fn clear_changed(&mut self, index: usize) {
        if let Some(place) = self.changed.get_mut(index) {
            *place = None;
        }
    }

    /// Stores the arguments of `loop.changed` and returns those of the call before.
    pub fn replace_changed(&mut self, index: usize, value: Value<'a>) -> Option<Value<'a>> {
        self.changed.get_mut(index)?.replace(value)
    }

    /// Returns the arguments of the last `loop.changed`.
    pub fn last_changed(&self, index: usize) -> Option<&Value<'a>> {
        self.changed.get(index)?.as_ref()
    }
}
