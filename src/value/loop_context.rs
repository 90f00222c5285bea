//! The variable `loop` (jinja2 3.1.6 `runtime.py`, `LoopContext`).

use std::cell::Cell;

use super::Value;
use super::dict::Dict;
use super::iter::Iter;
use super::list::Seq;
use super::runtime::{Heap, Runtime};
use super::undefined::Undefined;
use crate::ast::LoopNumber;
use crate::error::{Error, Result};
use crate::value::Callable;

/// The memory in bytes that is claimed for the function that makes the recursive calls of a loop.
const RECURSION_BYTES: usize = 128;

/// A loop in progress, with the item before and the item after the current one.
#[derive(Debug)]
pub struct Loop<'a> {
    source: LoopSource<'a>,
    /// The number of rounds that have begun.
    rounds: Cell<usize>,
    recurse: Option<&'a (dyn Callable + 'a)>,
    height: u32,
    /// The number of recursive calls that enclose this loop: `loop.depth0`.
    pub depth0: i64,
    /// The index in the heap of the arguments of the last `loop.changed`.
    changed: Cell<Option<usize>>,
}

/// What a loop goes over.
#[derive(Debug)]
enum LoopSource<'a> {
    /// A whole list or tuple, in which `loop.previtem` and `loop.nextitem` are looked up.
    Items(Seq<'a>),
    /// Anything else: the index of its state on the heap.
    State(usize),
}

/// The state of a loop over anything but a list or tuple.
#[derive(Debug)]
pub(super) struct LoopState<'a> {
    iter: Iter<'a>,
    /// The length of the iterable, if it is known.
    length: Option<usize>,
    before: Option<Value<'a>>,
    current: Option<Value<'a>>,
    /// The next item, if it was looked at before its round.
    after: Option<Value<'a>>,
}

impl<'a> LoopState<'a> {
    /// Returns the iterator, so that it can run while the loop is accessible. A generator remains in the state, and reports an error if
    /// it is advanced while it is running.
    fn take_iter(&mut self) -> Iter<'a> {
        match &self.iter {
            Iter::Generator(iterator) => Iter::Generator(iterator),
            _ => std::mem::replace(&mut self.iter, Iter::empty()),
        }
    }
}

impl<'a> Loop<'a> {
    /// Makes a loop before its first round. `length` is the length of the iterable, if it has one, and `below` its height. A recursive loop
    /// has the function that renders its body again, and `depth0` enclosing calls.
    pub fn new(
        runtime: &mut Runtime<'a>,
        iter: Iter<'a>,
        length: Option<usize>,
        below: u32,
        recurse: Option<&'a (dyn Callable + 'a)>,
        depth0: i64,
    ) -> Result<&'a Self> {
        // The items of a loop over a loop are tuples that hold the inner loop.
        let levels = if matches!(iter, Iter::Loop(_)) { 2 } else { 1 };
        let height = below.saturating_add(levels);
        runtime.meter.check_height(height)?;
        // In Python, the function that makes the recursive calls is an object of its own.
        let bytes = recurse.map_or(0, |_| RECURSION_BYTES);
        runtime.meter.hold(size_of::<Self>() + bytes)?;
        let source = match (iter, length) {
            (Iter::Seq(items, 0), Some(_)) => LoopSource::Items(items),
            (iter, length) => {
                runtime.meter.hold(size_of::<LoopState<'_>>())?;
                runtime.heap.loops.push(LoopState {
                    iter,
                    length,
                    before: None,
                    current: None,
                    after: None,
                });
                LoopSource::State(runtime.heap.loops.len() - 1)
            }
        };
        Ok(runtime.arena.store(Self {
            source,
            rounds: Cell::new(0),
            recurse,
            height,
            depth0,
            changed: Cell::new(None),
        }))
    }

    /// Begins the next round and returns its item. The caller charges for the round.
    #[inline]
    pub fn advance(&self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        let LoopSource::Items(items) = &self.source else {
            return self.advance_others(runtime);
        };
        let round = self.rounds.get();
        if round < items.len() {
            self.rounds.set(round + 1);
        }
        Ok(items.get(round))
    }

    /// Begins the next round and returns its item, if that is an object of the caller or of a JSON text, as messages are.
    #[inline(always)]
    pub fn advance_to_object(&self) -> Option<Dict<'a>> {
        let round = self.rounds.get();
        let LoopSource::Items(items) = &self.source else { return None };
        let object = items.object(round)?;
        self.rounds.set(round + 1);
        Some(object)
    }

    /// Begins the next round of a loop over anything but a list or tuple.
    #[inline(never)]
    fn advance_others(&self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        let ahead = self.state(&mut runtime.heap)?.after.take();
        let item = match ahead {
            Some(item) => item,
            None => match self.pull_from_iter(runtime)? {
                Some(item) => item,
                None => return Ok(None),
            },
        };
        self.rounds.set(self.rounds.get() + 1);
        let state = self.state(&mut runtime.heap)?;
        state.before = state.current.replace(item);
        Ok(Some(item))
    }

    /// Returns `loop.index0`, which is -1 before the first round.
    #[inline]
    pub fn index0(&self) -> i64 {
        i64::try_from(self.rounds.get()).unwrap_or(i64::MAX).saturating_sub(1)
    }

    /// Returns `loop.length`. An iterable without a length is drained into a list first.
    pub fn length(&self, runtime: &mut Runtime<'a>) -> Result<i64> {
        if let Some(length) = self.known_length(&runtime.heap) {
            return Ok(length);
        }
        let mut iter = self.state(&mut runtime.heap)?.take_iter();
        let rest = iter.drain(runtime)?;
        let items = rest.len();
        let rest = runtime.items(&rest)?;
        let state = self.state(&mut runtime.heap)?;
        state.iter = Iter::Seq(rest, 0);
        let length = items + self.rounds.get() + usize::from(state.after.is_some());
        state.length = Some(length);
        Ok(i64::try_from(length).unwrap_or(i64::MAX))
    }

    /// Returns `loop.last`. Looks one item ahead.
    pub fn is_last(&self, runtime: &mut Runtime<'a>) -> Result<bool> {
        Ok(self.peek_next(runtime)?.is_none())
    }

    /// Returns an attribute that is a number or a boolean, if it is known without looking ahead.
    #[inline(always)]
    pub fn peek_number(&self, heap: &Heap<'a>, number: LoopNumber) -> Option<Value<'a>> {
        let from_end = |fewer: i64| Some(Value::Int(self.known_length(heap)?.saturating_sub(fewer)));
        match number {
            LoopNumber::Index => Some(Value::Int(self.index0().saturating_add(1))),
            LoopNumber::Index0 => Some(Value::Int(self.index0())),
            LoopNumber::First => Some(Value::Bool(self.rounds.get() == 1)),
            LoopNumber::Last => match &self.source {
                LoopSource::Items(items) => Some(Value::Bool(self.rounds.get() >= items.len())),
                LoopSource::State(_) => None,
            },
            LoopNumber::Length => from_end(0),
            LoopNumber::RevIndex => from_end(self.index0()),
            LoopNumber::RevIndex0 => from_end(self.index0().saturating_add(1)),
        }
    }

    /// Returns the length, if it is known without draining the iterable.
    fn known_length(&self, heap: &Heap<'a>) -> Option<i64> {
        let length = match &self.source {
            LoopSource::Items(items) => items.len(),
            LoopSource::State(index) => heap.loops.get(*index)?.length?,
        };
        i64::try_from(length).ok()
    }

    /// Returns `loop.previtem`.
    pub fn previous_item(&self, heap: &mut Heap<'a>) -> Result<Value<'a>> {
        let before = match &self.source {
            LoopSource::Items(items) => self.rounds.get().checked_sub(2).and_then(|index| items.get(index)),
            LoopSource::State(_) => self.state(heap)?.before,
        };
        Ok(before.unwrap_or(Value::Undefined(Undefined::Hint("there is no previous item"))))
    }

    /// Returns `loop.nextitem`. Looks one item ahead.
    pub fn next_item(&self, runtime: &mut Runtime<'a>) -> Result<Value<'a>> {
        let after = self.peek_next(runtime)?;
        Ok(after.unwrap_or(Value::Undefined(Undefined::Hint("there is no next item"))))
    }

    /// Returns where the heap has the arguments of the last `loop.changed`.
    pub fn last_changed<'h>(&self, heap: &'h mut Heap<'a>) -> Option<&'h mut Value<'a>> {
        heap.changed.get_mut(self.changed.get()?)
    }

    /// Stores the arguments of the first `loop.changed`.
    pub fn set_changed(&self, heap: &mut Heap<'a>, values: Value<'a>) {
        self.changed.set(Some(heap.changed.len()));
        heap.changed.push(values);
    }

    /// Returns the function that renders the body again for `loop(iterable)`.
    pub fn recurse(&self) -> Result<&'a (dyn Callable + 'a)> {
        self.recurse
            .ok_or_else(|| Error::type_error("The loop must have the 'recursive' marker to be called recursively."))
    }

    /// Returns the height: one more than that of the iterable and of its items.
    pub fn height(&self) -> u32 {
        self.height
    }

    fn peek_next(&self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        if let LoopSource::Items(items) = &self.source {
            return Ok(items.get(self.rounds.get()));
        }
        if let Some(after) = self.state(&mut runtime.heap)?.after {
            return Ok(Some(after));
        }
        let after = self.pull_from_iter(runtime)?;
        self.state(&mut runtime.heap)?.after = after;
        Ok(after)
    }

    fn pull_from_iter(&self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        let mut iter = self.state(&mut runtime.heap)?.take_iter();
        let item = iter.next(runtime);
        self.state(&mut runtime.heap)?.iter = iter;
        item
    }

    /// Returns the state of a loop over anything but a list or tuple.
    fn state<'h>(&self, heap: &'h mut Heap<'a>) -> Result<&'h mut LoopState<'a>> {
        let state = match &self.source {
            LoopSource::State(index) => heap.loops.get_mut(*index),
            LoopSource::Items(_) => None,
        };
        state.ok_or_else(|| Error::internal("a loop has no state"))
    }
}
