//! The variable `loop` (jinja2 3.1.6 `runtime.py`, `LoopContext`).

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::Value;
use super::dict::Dict;
use super::iter::Iter;
use super::list::Seq;
use super::peek::{Peek, ValueRef};
use super::runtime::{Heap, Runtime};
use super::undefined::Undefined;
use crate::ast::LoopNumber;
use crate::error::{Error, Result};
use crate::meter::Claim;
use crate::value::Callable;

/// The memory in bytes that is claimed for the function that makes the recursive calls of a loop.
const RECURSION_BYTES: usize = 128;

/// A loop in progress, with the item before and the item after the current one.
#[derive(Debug)]
pub struct Loop<'a> {
    /// The items, if the loop goes over a whole list or tuple. `loop.previtem` and `loop.nextitem` are then looked up there.
    items: Option<Seq<'a>>,
    /// The number of rounds that have begun.
    rounds: Cell<usize>,
    state: RefCell<State<'a>>,
    recurse: Option<Rc<dyn Callable<'a> + 'a>>,
    height: u32,
    /// The number of recursive calls that enclose this loop: `loop.depth0`.
    pub depth0: i64,
    /// The index in the heap of the arguments of the last `loop.changed`. They are not stored here, because a loop that is passed its own
    /// variable would own itself.
    changed: Cell<Option<usize>>,
    _claim: Claim,
}

/// The state of a loop over anything but a list or tuple.
#[derive(Debug)]
struct State<'a> {
    iter: Iter<'a>,
    /// The length of the iterable, if it is known.
    length: Option<usize>,
    before: Option<Value<'a>>,
    current: Option<Value<'a>>,
    /// The next item, if it was looked at before its round.
    after: Option<Value<'a>>,
}

impl<'a> State<'a> {
    /// Returns the state before the first round.
    fn new(iter: Iter<'a>, length: Option<usize>) -> Self {
        Self {
            iter,
            length,
            before: None,
            current: None,
            after: None,
        }
    }

    /// Returns the iterator, so that it can run while the loop is accessible. A generator remains in the state, and reports an error if
    /// it is advanced while it is running.
    fn take_iter(&mut self) -> Iter<'a> {
        match &self.iter {
            Iter::Generator(iterator) => Iter::Generator(Rc::clone(iterator)),
            _ => std::mem::replace(&mut self.iter, Iter::empty()),
        }
    }
}

impl<'a> Loop<'a> {
    /// Makes a recursive loop before its first round. `length` is the length of the iterable, if it has one, `below` its height, and
    /// `depth0` the number of enclosing calls.
    pub fn recursive(
        runtime: &mut Runtime<'a>,
        iter: Iter<'a>,
        length: Option<usize>,
        below: u32,
        recurse: Rc<dyn Callable<'a> + 'a>,
        depth0: i64,
    ) -> Result<Rc<Self>> {
        // In Python, the function that makes the recursive calls is an object of its own.
        let claim = runtime.meter.claim(size_of::<Self>() + RECURSION_BYTES)?;
        let mut context = Self::empty(claim);
        context.begin(runtime, iter, length, below)?;
        context.recurse = Some(recurse);
        context.depth0 = depth0;
        Ok(Rc::new(context))
    }

    /// Makes a loop before its first round. It reuses the memory of a loop that has ended, if there is one. `length` is the length of the
    /// iterable, if it has one, and `below` its height.
    pub fn new(runtime: &mut Runtime<'a>, iter: Iter<'a>, length: Option<usize>, below: u32) -> Result<Rc<Self>> {
        if let Some(mut context) = runtime.heap.ended_loops.pop() {
            if let Some(own) = Rc::get_mut(&mut context) {
                own.begin(runtime, iter, length, below)?;
                if let Some(index) = own.changed.get() {
                    runtime.heap.clear_changed(index);
                }
                return Ok(context);
            }
        }
        let claim = runtime.meter.claim(size_of::<Self>())?;
        let mut context = Self::empty(claim);
        context.begin(runtime, iter, length, below)?;
        Ok(Rc::new(context))
    }

    /// Makes a loop over no items.
    fn empty(claim: Claim) -> Self {
        Self {
            items: None,
            rounds: Cell::new(0),
            state: RefCell::new(State::new(Iter::empty(), None)),
            recurse: None,
            height: 0,
            depth0: 0,
            changed: Cell::new(None),
            _claim: claim,
        }
    }

    fn begin(&mut self, runtime: &Runtime<'a>, iter: Iter<'a>, length: Option<usize>, below: u32) -> Result<()> {
        // The items of a loop over a loop are tuples that hold the inner loop.
        let levels = if matches!(iter, Iter::Loop(_)) { 2 } else { 1 };
        self.height = below.saturating_add(levels);
        runtime.meter.check_height(self.height)?;
        self.rounds.set(0);
        match (iter, length) {
            (Iter::Seq(items, 0), Some(_)) => self.items = Some(items),
            (iter, length) => *self.state.get_mut() = State::new(iter, length),
        }
        Ok(())
    }

    /// Keeps a loop that has ended so that a later one can reuse its memory, unless another value uses it.
    pub fn recycle(mut self: Rc<Self>, heap: &mut Heap<'a>) {
        if let (Some(place), Some(own)) = (heap.ended_loops.free_slot(), Rc::get_mut(&mut self)) {
            own.end();
            *place = Some(self);
        }
    }

    /// Releases the iterated values.
    fn end(&mut self) {
        if self.items.take().is_none() {
            *self.state.get_mut() = State::new(Iter::empty(), None);
        }
        self.recurse = None;
        self.depth0 = 0;
    }

    /// Begins the next round and returns its item. The caller charges for the round.
    #[inline]
    pub fn advance(&self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        let Some(items) = &self.items else {
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
        let object = self.items.as_ref()?.object(round)?;
        self.rounds.set(round + 1);
        Some(object)
    }

    /// Begins the next round of a loop over anything but a list or tuple.
    #[inline(never)]
    fn advance_others(&self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        let ahead = self.with(|state| state.after.take())?;
        let item = match ahead {
            Some(item) => item,
            None => match self.pull_from_iter(runtime)? {
                Some(item) => item,
                None => return Ok(None),
            },
        };
        self.rounds.set(self.rounds.get() + 1);
        self.with(|state| state.before = state.current.replace(item.clone()))?;
        Ok(Some(item))
    }

    /// Returns `loop.index0`, which is -1 before the first round.
    #[inline]
    pub fn index0(&self) -> i64 {
        i64::try_from(self.rounds.get()).unwrap_or(i64::MAX).saturating_sub(1)
    }

    /// Returns `loop.length`. An iterable without a length is drained into a list first.
    pub fn length(&self, runtime: &mut Runtime<'a>) -> Result<i64> {
        if let Some(length) = self.known_length() {
            return Ok(length);
        }
        let mut iter = self.with(State::take_iter)?;
        let rest = iter.drain(runtime)?;
        let items = rest.len();
        let Value::List(rest) = runtime.list(rest)? else {
            return Err(Error::internal("the rest of a loop is not a list"));
        };
        self.with(|state| {
            state.iter = Iter::Seq(rest, 0);
            let length = items + self.rounds.get() + usize::from(state.after.is_some());
            state.length = Some(length);
            i64::try_from(length).unwrap_or(i64::MAX)
        })
    }

    /// Returns `loop.last`. Looks one item ahead.
    pub fn is_last(&self, runtime: &mut Runtime<'a>) -> Result<bool> {
        Ok(self.peek_next(runtime)?.is_none())
    }

    /// Returns an attribute that is a number or a boolean, if it is known without looking ahead, and otherwise [`Peek::Unknown`].
    #[inline]
    pub fn peek_number(&self, number: LoopNumber) -> Peek<'_, 'a> {
        let int = |int: i64| Peek::Found(ValueRef::Int(int));
        let from_end = |fewer: i64| {
            let length = self.known_length();
            length.map_or(Peek::Unknown, |length| int(length.saturating_sub(fewer)))
        };
        let bool = |bool: bool| Peek::Found(ValueRef::Bool(bool));
        match number {
            LoopNumber::Index => int(self.index0().saturating_add(1)),
            LoopNumber::Index0 => int(self.index0()),
            LoopNumber::First => bool(self.rounds.get() == 1),
            LoopNumber::Last => match &self.items {
                Some(items) => bool(self.rounds.get() >= items.len()),
                None => Peek::Unknown,
            },
            LoopNumber::Length => from_end(0),
            LoopNumber::RevIndex => from_end(self.index0()),
            LoopNumber::RevIndex0 => from_end(self.index0().saturating_add(1)),
        }
    }

    /// Returns the attribute of a name, as [`Loop::peek_number`] does.
    pub fn peek_attribute(&self, name: &str) -> Peek<'_, 'a> {
        LoopNumber::find(name).map_or(Peek::Unknown, |number| self.peek_number(number))
    }

    /// Returns the length, if it is known without draining the iterable.
    fn known_length(&self) -> Option<i64> {
        let length = match &self.items {
            Some(items) => items.len(),
            None => self.state.try_borrow().ok()?.length?,
        };
        i64::try_from(length).ok()
    }

    /// Returns `loop.previtem`.
    pub fn previous_item(&self) -> Result<Value<'a>> {
        let before = match &self.items {
            Some(items) => self.rounds.get().checked_sub(2).and_then(|index| items.get(index)),
            None => self.with(|state| state.before.clone())?,
        };
        Ok(before.unwrap_or(Value::Undefined(Undefined::Hint("there is no previous item"))))
    }

    /// Returns `loop.nextitem`. Looks one item ahead.
    pub fn next_item(&self, runtime: &mut Runtime<'a>) -> Result<Value<'a>> {
        let after = self.peek_next(runtime)?;
        Ok(after.unwrap_or(Value::Undefined(Undefined::Hint("there is no next item"))))
    }

    /// Returns the index in the heap of the arguments of the last `loop.changed`.
    pub fn changed_index(&self, heap: &mut Heap<'a>) -> usize {
        let index = self.changed.get().unwrap_or_else(|| heap.reserve_changed());
        self.changed.set(Some(index));
        index
    }

    /// Returns the function that renders the body again for `loop(iterable)`.
    pub fn recurse(&self) -> Result<Rc<dyn Callable<'a> + 'a>> {
        let recurse = self.recurse.as_ref().map(Rc::clone);
        recurse.ok_or_else(|| Error::type_error("The loop must have the 'recursive' marker to be called recursively."))
    }

    /// Returns the height: one more than that of the iterable and of its items.
    pub fn height(&self) -> u32 {
        self.height
    }

    fn peek_next(&self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        if let Some(items) = &self.items {
            return Ok(items.get(self.rounds.get()));
        }
        if let Some(after) = self.with(|state| state.after.clone())? {
            return Ok(Some(after));
        }
        let after = self.pull_from_iter(runtime)?;
        self.with(|state| state.after.clone_from(&after))?;
        Ok(after)
    }

    fn pull_from_iter(&self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        let mut iter = self.with(State::take_iter)?;
        let item = iter.next(runtime);
        self.with(|state| state.iter = iter)?;
        item
    }

    #[inline]
    fn with<T>(&self, access: impl FnOnce(&mut State<'a>) -> T) -> Result<T> {
        match self.state.try_borrow_mut() {
            Ok(mut state) => Ok(access(&mut state)),
            Err(_) => Err(Error::internal("a loop was read while it changed")),
        }
    }
}
