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
use crate::error::{Error, Result};
use crate::limits::Claim;
use crate::value::Callable;

/// Bytes of what calls a recursive loop.
const RECURSION: usize = 128;

/// A loop under way: where it is, and one item on either side.
#[derive(Debug)]
pub struct Loop<'a> {
    /// The list or tuple that it goes over from its start, where it does: then the neighbours are looked up there.
    items: Option<Seq<'a>>,
    /// How many rounds have begun.
    rounds: Cell<usize>,
    state: RefCell<State<'a>>,
    recurse: Option<Rc<dyn Callable<'a> + 'a>>,
    /// How many recursive calls are around this one.
    pub depth0: i64,
    /// The number of what `loop.changed` remembers, once it was called: not kept here, where a loop that is asked for itself would own
    /// itself.
    changed: Cell<Option<usize>>,
    _claim: Claim,
}

/// Where a loop over anything else is.
#[derive(Debug)]
struct State<'a> {
    iter: Iter<'a>,
    /// What `len` says of the iterable, where it says anything.
    length: Option<usize>,
    before: Option<Value<'a>>,
    current: Option<Value<'a>>,
    /// The item that was looked at ahead of its round.
    after: Option<Value<'a>>,
}

impl<'a> State<'a> {
    /// Before the first round.
    fn new(iter: Iter<'a>, length: Option<usize>) -> Self {
        Self {
            iter,
            length,
            before: None,
            current: None,
            after: None,
        }
    }

    /// The iterator, to be run and put back: what runs may look at the loop. A generator stays here too, and complains when it is asked
    /// for an item while it makes one.
    fn running(&mut self) -> Iter<'a> {
        match &self.iter {
            Iter::Generator(iterator) => Iter::Generator(Rc::clone(iterator)),
            _ => std::mem::replace(&mut self.iter, Iter::empty()),
        }
    }
}

impl<'a> Loop<'a> {
    /// A recursive loop before its first round, inside so many calls of itself. `length` is what `len` says of the iterable, if it has
    /// one.
    pub fn recursive(
        runtime: &mut Runtime<'a>,
        iter: Iter<'a>,
        length: Option<usize>,
        recurse: Rc<dyn Callable<'a> + 'a>,
        depth0: i64,
    ) -> Result<Rc<Self>> {
        // What makes a recursive call is an object of its own.
        let claim = runtime.meter.claim(size_of::<Self>().saturating_add(RECURSION))?;
        let mut context = Self::ended(claim);
        context.begin(iter, length);
        context.recurse = Some(recurse);
        context.depth0 = depth0;
        Ok(Rc::new(context))
    }

    /// The same for any other loop, in the place of one that has ended if there is one.
    pub fn plain(runtime: &mut Runtime<'a>, iter: Iter<'a>, length: Option<usize>) -> Result<Rc<Self>> {
        if let Some(mut context) = runtime.heap.idle.take_loop() {
            if let Some(own) = Rc::get_mut(&mut context) {
                own.begin(iter, length);
                if let Some(memory) = own.changed.get() {
                    runtime.heap.forget(memory);
                }
                return Ok(context);
            }
        }
        let claim = runtime.meter.claim(size_of::<Self>())?;
        let mut context = Self::ended(claim);
        context.begin(iter, length);
        Ok(Rc::new(context))
    }

    /// A loop that goes over nothing.
    fn ended(claim: Claim) -> Self {
        Self {
            items: None,
            rounds: Cell::new(0),
            state: RefCell::new(State::new(Iter::empty(), None)),
            recurse: None,
            depth0: 0,
            changed: Cell::new(None),
            _claim: claim,
        }
    }

    fn begin(&mut self, iter: Iter<'a>, length: Option<usize>) {
        self.rounds.set(0);
        match (iter, length) {
            (Iter::Seq(items, 0), Some(_)) => self.items = Some(items),
            (iter, length) => *self.state.get_mut() = State::new(iter, length),
        }
    }

    /// Holds nothing more of what it went over.
    pub(super) fn end(&mut self) {
        if self.items.take().is_none() {
            *self.state.get_mut() = State::new(Iter::empty(), None);
        }
        self.recurse = None;
        self.depth0 = 0;
    }

    /// Goes on to the next round and gives its item. Who does so charges for the round.
    #[inline]
    pub fn advance(&self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        let Some(items) = &self.items else {
            return self.advance_others(runtime);
        };
        let round = self.rounds.get();
        if round < items.len() {
            self.rounds.set(round.saturating_add(1));
        }
        Ok(items.get(round))
    }

    /// Goes on to the next round, if its item is an object from outside, and gives that: the messages of a conversation are.
    #[inline(always)]
    pub fn advance_to_object(&self) -> Option<Dict<'a>> {
        let round = self.rounds.get();
        let object = self.items.as_ref()?.object(round)?;
        self.rounds.set(round.saturating_add(1));
        Some(object)
    }

    /// The same of what is no list: an item may have been looked at already.
    #[inline(never)]
    fn advance_others(&self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        let ahead = self.with(|state| state.after.take())?;
        let item = match ahead {
            Some(item) => item,
            None => match self.pull(runtime)? {
                Some(item) => item,
                None => return Ok(None),
            },
        };
        self.rounds.set(self.rounds.get().saturating_add(1));
        self.with(|state| state.before = state.current.replace(item.clone()))?;
        Ok(Some(item))
    }

    /// `loop.index0`; -1 before the first round.
    #[inline]
    pub fn index0(&self) -> i64 {
        i64::try_from(self.rounds.get()).unwrap_or(i64::MAX).saturating_sub(1)
    }

    /// `loop.length`: an iterable without a length is drained into a list first.
    pub fn length(&self, runtime: &mut Runtime<'a>) -> Result<i64> {
        if let Some(length) = self.known_length() {
            return Ok(length);
        }
        let mut iter = self.with(State::running)?;
        let rest = iter.drain(runtime)?;
        let items = rest.len();
        let Value::List(rest) = runtime.list(rest)? else {
            return Err(Error::internal("a list is no list"));
        };
        self.with(|state| {
            state.iter = Iter::Seq(rest, 0);
            let length = items
                .saturating_add(self.rounds.get())
                .saturating_add(usize::from(state.after.is_some()));
            state.length = Some(length);
            i64::try_from(length).unwrap_or(i64::MAX)
        })
    }

    /// `loop.last`: looks one item ahead.
    pub fn is_last(&self, runtime: &mut Runtime<'a>) -> Result<bool> {
        Ok(self.peek(runtime)?.is_none())
    }

    /// A part of it that is a number or a truth value and is known without going on; [`Peek::Unknown`] for other names, and where
    /// the next item would have to be looked at first.
    pub fn look(&self, name: &str) -> Peek<'_, 'a> {
        let int = |int: i64| Peek::Found(ValueRef::Int(int));
        let bool = |bool: bool| Peek::Found(ValueRef::Bool(bool));
        match (name, &self.items) {
            ("index", _) => int(self.index0().saturating_add(1)),
            ("index0", _) => int(self.index0()),
            ("first", _) => bool(self.index0() == 0),
            ("last", Some(items)) => bool(self.rounds.get() >= items.len()),
            ("length", _) => self.known_length().map_or(Peek::Unknown, int),
            ("revindex", _) => self
                .known_length()
                .map_or(Peek::Unknown, |length| int(length.saturating_sub(self.index0()))),
            ("revindex0", _) => self.known_length().map_or(Peek::Unknown, |length| {
                int(length.saturating_sub(self.index0()).saturating_sub(1))
            }),
            _ => Peek::Unknown,
        }
    }

    /// The length, where it is known without going on.
    fn known_length(&self) -> Option<i64> {
        let length = match &self.items {
            Some(items) => items.len(),
            None => self.state.try_borrow().ok()?.length?,
        };
        i64::try_from(length).ok()
    }

    /// `loop.previtem`
    pub fn previous(&self) -> Result<Value<'a>> {
        let before = match &self.items {
            Some(items) => self.rounds.get().checked_sub(2).and_then(|index| items.get(index)),
            None => self.with(|state| state.before.clone())?,
        };
        Ok(before.unwrap_or(Value::Undefined(Undefined::Hint("there is no previous item"))))
    }

    /// `loop.nextitem`: looks one item ahead.
    pub fn following(&self, runtime: &mut Runtime<'a>) -> Result<Value<'a>> {
        let after = self.peek(runtime)?;
        Ok(after.unwrap_or(Value::Undefined(Undefined::Hint("there is no next item"))))
    }

    /// Where `loop.changed(…)` keeps the arguments of its last call.
    pub fn memory(&self, heap: &mut Heap<'a>) -> usize {
        let memory = self.changed.get().unwrap_or_else(|| heap.new_memory());
        self.changed.set(Some(memory));
        memory
    }

    /// `loop(iterable)`: renders the body again.
    pub fn recurse(&self) -> Result<Rc<dyn Callable<'a> + 'a>> {
        let recurse = self.recurse.as_ref().map(Rc::clone);
        recurse.ok_or_else(|| Error::type_error("The loop must have the 'recursive' marker to be called recursively."))
    }

    /// Iterators inside each other here.
    pub fn height(&self) -> u32 {
        match self.state.try_borrow() {
            Ok(state) => match &state.iter {
                Iter::Generator(iterator) => iterator.height().saturating_add(1),
                Iter::Loop(context) => context.height().saturating_add(1),
                _ => 1,
            },
            Err(_) => 1,
        }
    }

    fn peek(&self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        if let Some(items) = &self.items {
            return Ok(items.get(self.rounds.get()));
        }
        if let Some(after) = self.with(|state| state.after.clone())? {
            return Ok(Some(after));
        }
        let after = self.pull(runtime)?;
        self.with(|state| state.after.clone_from(&after))?;
        Ok(after)
    }

    fn pull(&self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        let mut iter = self.with(State::running)?;
        let item = iter.next(runtime);
        self.with(|state| state.iter = iter)?;
        item
    }

    #[inline]
    fn with<T>(&self, look: impl FnOnce(&mut State<'a>) -> T) -> Result<T> {
        match self.state.try_borrow_mut() {
            Ok(mut state) => Ok(look(&mut state)),
            Err(_) => Err(Error::internal("a loop was looked at while it changed")),
        }
    }
}
