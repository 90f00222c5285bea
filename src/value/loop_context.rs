//! The variable `loop` (jinja2 3.1.6 `runtime.py`, `LoopContext`).

use std::cell::RefCell;
use std::rc::Rc;

use super::Value;
use super::call::Callable;
use super::iterate::Iter;
use super::runtime::Runtime;
use super::undefined::Undefined;
use crate::error::{Error, Result};

/// A loop under way: where it is, and one item on either side.
#[derive(Debug)]
pub struct Loop<'a> {
    state: RefCell<State<'a>>,
    recurse: Option<Rc<dyn Callable<'a> + 'a>>,
    /// How many recursive calls are around this one.
    pub depth0: i64,
    /// The number of what [`Loop::changed`] remembers: not kept here, where a loop that is asked for itself would own itself.
    changed: usize,
}

#[derive(Debug)]
struct State<'a> {
    iter: Iter<'a>,
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
    /// The next round of a loop over a list or tuple, which needs nothing else; None for other loops, and after a look ahead.
    fn advance_in_items(&mut self) -> Option<Option<Value<'a>>> {
        let Iter::Seq(items, next) = &mut self.iter else { return None };
        if self.after.is_some() {
            return None;
        }
        let item = items.get(*next);
        *next = next.saturating_add(1);
        if let Some(item) = &item {
            self.index0 = self.index0.saturating_add(1);
            self.before = self.current.replace(item.clone());
        }
        Some(item)
    }
}

impl<'a> Loop<'a> {
    /// A loop before its first round. `length` is what `len` says of the iterable, if it has one.
    pub fn new(
        runtime: &mut Runtime<'a>,
        iter: Iter<'a>,
        length: Option<usize>,
        recurse: Option<Rc<dyn Callable<'a> + 'a>>,
        depth0: i64,
    ) -> Self {
        Self {
            state: RefCell::new(State {
                iter,
                length,
                index0: -1,
                before: None,
                current: None,
                after: None,
            }),
            recurse,
            depth0,
            changed: runtime.heap.new_memory(),
        }
    }

    /// Goes on to the next round and gives its item.
    pub fn advance(&self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        if let Some(item) = self.with(State::advance_in_items)? {
            runtime.meter.charge(1)?;
            return Ok(item);
        }
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
        Ok(self.peek(runtime)?.is_none())
    }

    /// `loop.previtem`
    pub fn previous(&self) -> Result<Value<'a>> {
        let before = self.with(|state| state.before.clone())?;
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

    fn with<T>(&self, look: impl FnOnce(&mut State<'a>) -> T) -> Result<T> {
        match self.state.try_borrow_mut() {
            Ok(mut state) => Ok(look(&mut state)),
            Err(_) => Err(Error::internal("a loop was looked at while it changed")),
        }
    }
}
