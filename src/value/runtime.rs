//! What one render owns, and what every operator and built-in receives: the meter, the clock, and the heap of things with state.

use super::Value;
use super::call::Lookups;
use super::dict::{Dict, Entries, Key};
use super::generator::{Generator, ItemSource};
use super::list::Seq;
use super::namespace::{Namespace, NamespaceId};
use super::recycle::Idle;
use super::str::{OwnedText, Str};
use super::types::Type;
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::limits::{Limit, Meter, Reached};
use std::ops::Range;
use std::rc::Rc;

/// One render's means.
pub struct Runtime<'a> {
    /// Counts work and memory.
    pub meter: Meter<'a>,
    /// What `strftime_now` asks.
    pub clock: &'a dyn Clock,
    /// Looks up attributes, items, filters and tests by name.
    pub lookups: &'static Lookups,
    /// Things with state, by their numbers.
    pub heap: Heap<'a>,
}

/// Things with state: freed with the render, however they hold each other.
#[derive(Debug, Default)]
pub struct Heap<'a> {
    namespaces: Vec<Namespace<'a>>,
    /// What `loop.changed` remembers, by the loop's number.
    memories: Vec<Option<Value<'a>>>,
    /// What the template is rendered with.
    pub input: Option<Dict<'a>>,
    /// What the root has set at top level, by symbol; empty before something is set.
    pub exported: Vec<Option<Value<'a>>>,
    /// What the input or the globals have, by symbol, as far as it was looked up: neither changes.
    pub given: Vec<Option<Option<Value<'a>>>>,
    /// The variables of running frames that only they see.
    pub locals: Vec<Option<Value<'a>>>,
    /// The variables that macros close over; a frame's stand together.
    pub cells: Vec<Option<Value<'a>>>,
    /// The frames that have such variables.
    pub environments: Vec<Environment>,
    /// What may be used again.
    pub idle: Idle<'a>,
    /// Where `generation` blocks stand in the text that is being written now, in bytes; empty unless someone asked.
    pub generated: Vec<Range<usize>>,
    /// What is counted for the spans of `generation` blocks, where someone asked for them.
    pub tracked: Option<Box<Tracked>>,
}

/// The spans of `generation` blocks as the reference counts them.
#[derive(Debug, Default)]
pub struct Tracked {
    /// In code points, in the order in which the blocks ended.
    pub spans: Vec<Range<usize>>,
    /// Code points that the root has written in finished outputs.
    pub root_length: usize,
}

/// A frame whose variables are closed over: where they begin, and the frame around it.
#[derive(Clone, Copy, Debug)]
pub struct Environment {
    /// The first of its cells.
    pub cells: usize,
    /// The environment of the frame around it.
    pub parent: Option<EnvironmentId>,
}

/// The number of an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnvironmentId(pub u32);

/// Bytes of a namespace with a few attributes.
const NAMESPACE: usize = 256;

/// Bytes behind the end of a finished text that are not worth giving back.
const SPARE: usize = 16 << 10;

impl<'a> Runtime<'a> {
    /// Creates a runtime without lookups, for tests of values.
    #[cfg(test)]
    pub fn new(limits: crate::limits::Limits, clock: &'a dyn Clock) -> Self {
        Self::with_meter(Meter::new(limits), clock, &Lookups::NONE)
    }

    /// Creates the runtime of a render. The meter counts its work and memory.
    pub fn with_meter(meter: Meter<'a>, clock: &'a dyn Clock, lookups: &'static Lookups) -> Self {
        Self {
            meter,
            clock,
            lookups,
            heap: Heap::default(),
        }
    }

    /// A `str` of text that was made. The bytes are claimed here; what makes a long text checks its size before.
    pub fn text(&mut self, text: String) -> Result<Str<'a>> {
        if text.is_empty() {
            return Ok(Str::from(""));
        }
        let claim = self.meter.claim(text.capacity())?;
        Ok(self.heap.idle.fill(OwnedText::new(text, claim)))
    }

    /// The same as a value.
    pub fn str(&mut self, text: String) -> Result<Value<'a>> {
        Ok(Value::Str(self.text(text)?))
    }

    /// A `str` of text in which `generation` blocks stand: wherever it is written, they are noted.
    pub fn generated_str(&mut self, text: String, generated: Vec<Range<usize>>) -> Result<Value<'a>> {
        if generated.is_empty() || text.is_empty() {
            return self.str(text);
        }
        let places = generated.len().saturating_mul(size_of::<Range<usize>>());
        let claim = self.meter.claim(text.capacity().saturating_add(places))?;
        let text = self.heap.idle.fill(OwnedText::new(text, claim));
        Ok(Value::Str(text.with_generated(generated)))
    }

    /// The same of a text that was written piece by piece and is finished: much room behind its end is given back, or it would count.
    pub fn written_str(&mut self, mut text: String, generated: Vec<Range<usize>>) -> Result<Value<'a>> {
        if text.capacity().saturating_sub(text.len()) > SPARE {
            text.shrink_to_fit();
        }
        self.generated_str(text, generated)
    }

    /// Notes the `generation` blocks of a text that is about to be written at a byte of the output.
    #[inline]
    pub fn note_generated(&mut self, text: &Str<'a>, at: usize) -> Result<()> {
        match text.generated_count() {
            0 => Ok(()),
            count => {
                self.meter.charge(count as u64)?;
                let places = self.heap.generated.len().saturating_add(count);
                self.meter.check_size(places.saturating_mul(size_of::<Range<usize>>()))?;
                text.generated_at(at, &mut self.heap.generated);
                Ok(())
            }
        }
    }

    /// What `write` appends to an empty text, as a `str`.
    pub fn captured(&mut self, write: impl FnOnce(&mut Self, &mut String) -> Result<()>) -> Result<Value<'a>> {
        let outer = std::mem::take(&mut self.heap.generated);
        let mut text = self.heap.idle.room();
        write(self, &mut text)?;
        let generated = std::mem::replace(&mut self.heap.generated, outer);
        self.written_str(text, generated)
    }

    /// Checks the size of so many values, before they are made.
    #[inline]
    pub fn check_values(&self, count: usize) -> Result<()> {
        self.meter.check_size(count.saturating_mul(size_of::<Value<'_>>()))
    }

    /// Checks the size of so many entries of a dict, before they are made.
    #[inline]
    pub fn check_entries(&self, count: usize) -> Result<()> {
        self.meter.check_size(count.saturating_mul(size_of::<(Key<'_>, Value<'_>)>()))
    }

    /// The items of a list or tuple.
    pub fn items(&mut self, mut values: Vec<Value<'a>>) -> Result<Seq<'a>> {
        let mut below = 0;
        for value in &mut values {
            below = below.max(value.height());
            self.claim_object(value)?;
        }
        self.meter.charge_items(values.len() / 8)?;
        self.items_of_height(values, below.saturating_add(1))
    }

    /// The same where their height is known.
    #[inline]
    pub(super) fn items_of_height(&mut self, values: Vec<Value<'a>>, height: u32) -> Result<Seq<'a>> {
        self.meter.check_height(height)?;
        let claim = self.meter.claim(values.capacity().saturating_mul(size_of::<Value<'_>>()))?;
        Ok(Seq::owned(values, height, claim))
    }

    /// A list.
    pub fn list(&mut self, values: Vec<Value<'a>>) -> Result<Value<'a>> {
        Ok(Value::List(self.items(values)?))
    }

    /// A tuple.
    pub fn tuple(&mut self, values: Vec<Value<'a>>) -> Result<Value<'a>> {
        Ok(Value::Tuple(self.items(values)?))
    }

    /// A dict.
    pub fn dict(&mut self, entries: Entries<'a>) -> Result<Dict<'a>> {
        let below = entries
            .iter()
            .map(|(key, value)| key.value.height().max(value.height()))
            .max();
        let height = below.unwrap_or(0).saturating_add(1);
        self.meter.charge_items(entries.len() / 8)?;
        self.meter.check_height(height)?;
        let entry = size_of::<(Key<'_>, Value<'_>)>().saturating_add(16);
        let claim = self.meter.claim(entries.capacity().saturating_mul(entry))?;
        Ok(Dict::owned(entries, height, claim))
    }

    /// A generator; `below` is the height of what it draws from.
    pub fn generator(&mut self, below: u32, source: impl ItemSource<'a> + 'a) -> Result<Value<'a>> {
        self.iterator(Type::Generator, below, source)
    }

    /// A one-pass iterator of a type; `below` is the height of what it draws from.
    pub fn iterator<S: ItemSource<'a> + 'a>(&mut self, ty: Type, below: u32, source: S) -> Result<Value<'a>> {
        let height = below.saturating_add(1);
        self.meter.check_height(height)?;
        let bytes = size_of::<Generator<'_>>().saturating_add(size_of::<S>());
        let claim = self.meter.claim(bytes.saturating_add(source.owned_bytes()))?;
        Ok(Value::Iterator(Rc::new(Generator::new(ty, height, Box::new(source), claim))))
    }

    /// Keeps a namespace, and gives its number.
    pub fn namespace(&mut self, namespace: Namespace<'a>) -> Result<NamespaceId> {
        self.meter.charge(2)?;
        self.meter.check_size(self.heap.namespaces.len().saturating_mul(NAMESPACE))?;
        let number = object_number(self.heap.namespaces.len())?;
        self.heap.namespaces.push(namespace);
        Ok(NamespaceId(number))
    }
}

/// The number of the next of so many namespaces or environments.
pub fn object_number(count: usize) -> Result<u32> {
    u32::try_from(count).map_err(|_| Error::limit(Reached::sizes(Limit::Objects, count, u32::MAX as usize)))
}

impl<'a> Heap<'a> {
    /// Takes out the `generation` blocks from a byte of the text on, counted from there.
    pub fn take_generated(&mut self, start: usize) -> Vec<Range<usize>> {
        let (taken, left) = self.generated.drain(..).partition(|span| span.start >= start);
        self.generated = left;
        let shifted = |span: Range<usize>| span.start.saturating_sub(start)..span.end.saturating_sub(start);
        taken.into_iter().map(shifted).collect::<Vec<_>>()
    }

    /// The namespace of that number.
    pub fn namespace(&self, id: NamespaceId) -> Option<&Namespace<'a>> {
        self.namespaces.get(id.0 as usize)
    }

    /// The namespace of that number, to change it.
    pub fn namespace_mut(&mut self, id: NamespaceId) -> Option<&mut Namespace<'a>> {
        self.namespaces.get_mut(id.0 as usize)
    }

    /// A place for what a loop remembers.
    pub(super) fn new_memory(&mut self) -> usize {
        self.memories.push(None);
        self.memories.len().saturating_sub(1)
    }

    /// Forgets what a loop remembers.
    pub(super) fn forget(&mut self, memory: usize) {
        if let Some(place) = self.memories.get_mut(memory) {
            *place = None;
        }
    }

    /// Replaces what a loop remembers.
    pub fn remember(&mut self, memory: usize, value: Value<'a>) -> Option<Value<'a>> {
        self.memories.get_mut(memory)?.replace(value)
    }

    /// What a loop remembers.
    pub fn remembered(&self, memory: usize) -> Option<&Value<'a>> {
        self.memories.get(memory)?.as_ref()
    }
}
