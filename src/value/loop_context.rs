//! The variable `loop` (jinja2 3.1.6 `runtime.py`, `LoopContext`).

use std::cell::RefCell;
use std::rc::Rc;

use super::Value;
use super::call::Callable;
use super::found::Found;
use super::iterate::Iter;
use super::runtime::Runtime;
use super::seq::Seq;
use super::undefined::Undefined;
use crate::error::{Error, Result};
use crate::limits::Claim;

/// Bytes of what calls a recursive loop.
const RECURSION: usize = 128;

/// A loop under way: where it is, and one item on either side.
#[derive(Debug)]
pub struct Loop<'a> {
    state: RefCell<State<'a>>,
    recurse: Option<Rc<dyn Callable<'a> + 'a>>,
    /// How many recursive calls are around this one.
    pub depth0: i64,
    /// The number of what [`Loop::changed`] remembers: not kept here, where a loop that is asked for itself would own itself.
    changed: usize,
    _claim: Claim,
}

#[derive(Debug)]
struct State<'a> {
    iter: Iter<'a>,
    /// Whether the loop goes over a list or tuple from its start: then the neighbours are looked up, and the fields for them stay empty.
    in_items: bool,
    /// What `len` says of the iterable, where it says anything.
    length: Option<usize>,
    /// -1 before the first round.
    index0: i64,
    before: Option<Value<'a>>,
    current: Option<Value<'a>>,
    /// The item that was looked at ahead of its round.
    after: Option<Value<'a>>,
}

impl<'a> State<'a> {
    /// The items of a loop over a list or tuple, whose neighbours need not be remembered.
    #[inline]
    fn items(&self) -> Option<(&Seq<'a>, usize)> {
        match &self.iter {
            Iter::Seq(items, next) if self.in_items => Some((items, *next)),
            _ => None,
        }
    }
}

impl<'a> State<'a> {
    /// The item of the next round of a loop over a list or tuple.
    #[inline]
    fn next_of_items(&mut self) -> Option<Value<'a>> {
        let Iter::Seq(items, next) = &mut self.iter else { return None };
        let at = *next;
        if at < items.len() {
            *next = at.saturating_add(1);
            self.index0 = self.index0.saturating_add(1);
        }
        items.get(at)
    }

    /// Before the first round.
    fn new(iter: Iter<'a>, length: Option<usize>) -> Self {
        Self {
            in_items: matches!(iter, Iter::Seq(_, 0)) && length.is_some(),
            iter,
            length,
            index0: -1,
            before: None,
            current: None,
            after: None,
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
        Ok(Rc::new(Self {
            state: RefCell::new(State::new(iter, length)),
            recurse: Some(recurse),
            depth0,
            changed: runtime.heap.new_memory(),
            _claim: claim,
        }))
    }

    /// The same for any other loop, in the place of one that has ended if there is one.
    pub fn plain(runtime: &mut Runtime<'a>, iter: Iter<'a>, length: Option<usize>) -> Result<Rc<Self>> {
        if let Some(mut context) = runtime.heap.idle.take_loop() {
            if let Some(own) = Rc::get_mut(&mut context) {
                *own.state.get_mut() = State::new(iter, length);
                runtime.heap.forget(own.changed);
                return Ok(context);
            }
        }
        Ok(Rc::new(Self {
            state: RefCell::new(State::new(iter, length)),
            recurse: None,
            depth0: 0,
            changed: runtime.heap.new_memory(),
            _claim: runtime.meter.claim(size_of::<Self>())?,
        }))
    }

    /// Holds nothing more of what it went over.
    pub(super) fn end(&mut self) {
        *self.state.get_mut() = State::new(Iter::empty(), None);
        self.recurse = None;
        self.depth0 = 0;
    }

    /// Goes on to the next round and gives its item.
    #[inline]
    pub fn advance(&self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        if let Ok(mut state) = self.state.try_borrow_mut() {
            if state.in_items {
                runtime.meter.charge(1)?;
                return Ok(state.next_of_items());
            }
        }
        self.advance_others(runtime)
    }

    /// The same of what has no items in places, or of an iterator that is looked at ahead.
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
        self.with(|state| {
            state.index0 = state.index0.saturating_add(1);
            state.before = state.current.replace(item.clone());
        })?;
        Ok(Some(item))
    }

    /// `loop.index0`
    pub fn index0(&self) -> Result<i64> {
        self.with(|state| state.index0)
    }

    /// `loop.length`: an iterable without a length is drained into a list first.
    pub fn length(&self, runtime: &mut Runtime<'a>) -> Result<i64> {
        if let Some(length) = self.with(|state| state.length)? {
            return Ok(i64::try_from(length).unwrap_or(i64::MAX));
        }
        let mut iter = self.with(|state| std::mem::replace(&mut state.iter, Iter::empty()))?;
        let rest = runtime.drain(&mut iter)?;
        let items = rest.len();
        let Value::List(rest) = runtime.list(rest)? else {
            return Err(Error::internal("a list is no list"));
        };
        self.with(|state| {
            state.iter = Iter::Seq(rest, 0);
            let index = usize::try_from(state.index0.saturating_add(1)).unwrap_or(0);
            let length = items.saturating_add(index).saturating_add(usize::from(state.after.is_some()));
            state.length = Some(length);
            i64::try_from(length).unwrap_or(i64::MAX)
        })
    }

    /// `loop.last`: looks one item ahead.
    pub fn is_last(&self, runtime: &mut Runtime<'a>) -> Result<bool> {
        match self.with(|state| state.items().map(|(items, next)| next >= items.len()))? {
            Some(is_last) => Ok(is_last),
            None => Ok(self.peek(runtime)?.is_none()),
        }
    }

    /// A part of it that is a number or a truth value and is known without going on; None for other names, and where the next item
    /// would have to be looked at first.
    pub(super) fn look(&self, name: &str) -> Option<Found<'_, 'a>> {
        let state = self.state.try_borrow().ok()?;
        let length = |state: &State<'a>| i64::try_from(state.length?).ok();
        Some(match name {
            "index" => Found::Int(state.index0.saturating_add(1)),
            "index0" => Found::Int(state.index0),
            "first" => Found::Bool(state.index0 == 0),
            "last" => {
                let (items, next) = state.items()?;
                Found::Bool(next >= items.len())
            }
            "length" => Found::Int(length(&state)?),
            "revindex" => Found::Int(length(&state)?.saturating_sub(state.index0)),
            "revindex0" => Found::Int(length(&state)?.saturating_sub(state.index0).saturating_sub(1)),
            _ => return None,
        })
    }

    /// `loop.previtem`
    pub fn previous(&self) -> Result<Value<'a>> {
        let before = self.with(|state| match state.items() {
            Some((items, next)) => items.get(next.checked_sub(2)?),
            None => state.before.clone(),
        })?;
        Ok(before.unwrap_or(Value::Undefined(Undefined::Hint("there is no previous item"))))
    }

    /// `loop.nextitem`: looks one item ahead.
    pub fn following(&self, runtime: &mut Runtime<'a>) -> Result<Value<'a>> {
        let after = self.peek(runtime)?;
        Ok(after.unwrap_or(Value::Undefined(Undefined::Hint("there is no next item"))))
    }

    /// Where `loop.changed(…)` keeps the arguments of its last call.
    pub fn memory(&self) -> usize {
        self.changed
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
                Iter::OnePass(iterator) => iterator.height().saturating_add(1),
                Iter::Loop(context) => context.height().saturating_add(1),
                _ => 1,
            },
            Err(_) => 1,
        }
    }

    fn peek(&self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        if let Some(after) = self.with(|state| state.items().map(|(items, next)| items.get(next)))? {
            return Ok(after);
        }
        if let Some(after) = self.with(|state| state.after.clone())? {
            return Ok(Some(after));
        }
        let after = self.pull(runtime)?;
        self.with(|state| state.after.clone_from(&after))?;
        Ok(after)
    }

    /// The iterator is taken out while it runs, so that what runs may look at the loop.
    fn pull(&self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        let mut iter = self.with(|state| std::mem::replace(&mut state.iter, Iter::empty()))?;
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
