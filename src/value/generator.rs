//! One-pass iterators: the generators of lazy filters and of loops with a condition, and Python's reverse iterators.

use std::fmt;

use super::Value;
use super::runtime::Runtime;
use super::types::Type;
use crate::error::{Error, Result};

/// How much higher an item that a generator makes can be than the generator's input. The caller's data counts as one level however deep it
/// is, so a list of its parts is higher than the data.
pub const GAIN: u32 = 2;

/// A one-pass iterator. After an error or its last item it stays empty, as a Python generator does.
#[derive(Debug)]
pub struct Generator {
    pub(super) ty: Type,
    /// The name in the `repr`: `<generator object sync_do_map at 0x…>`.
    pub(super) name: &'static str,
    pub(super) height: u32,
    /// The index of the source on the heap.
    pub(super) source: usize,
}

type NextItem<'a> = dyn FnMut(&mut Runtime<'a>) -> Result<Option<Value<'a>>> + 'a;

/// The source of a one-pass iterator.
pub enum Source<'a> {
    /// A function that makes the next item, or returns `None` after the last.
    Ready(Box<NextItem<'a>>),
    /// It is making an item.
    Running,
    /// It has made its last item.
    Ended,
}

impl Generator {
    pub fn ty(&self) -> Type {
        self.ty
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the height, which is at least that of each item. A container of the generator's items is one higher.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Returns the next item, or `None` after the last.
    pub fn next<'a>(&self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        runtime.meter.charge(1)?;
        runtime.meter.check_stack()?;
        let mut next = match self.replace(runtime, Source::Running) {
            Source::Ready(next) => next,
            Source::Running => return Err(Error::value("generator already executing")),
            Source::Ended => {
                self.replace(runtime, Source::Ended);
                return Ok(None);
            }
        };
        let item = next(runtime);
        let is_last = !matches!(item, Ok(Some(_)));
        self.replace(runtime, if is_last { Source::Ended } else { Source::Ready(next) });
        if let Ok(Some(item)) = &item {
            runtime.meter.check_item_height(item.height(), self.height)?;
        }
        item
    }

    fn replace<'a>(&self, runtime: &mut Runtime<'a>, source: Source<'a>) -> Source<'a> {
        let place = runtime.heap.sources.get_mut(self.source);
        place.map_or(Source::Ended, |place| std::mem::replace(place, source))
    }
}

impl fmt::Debug for Source<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Source")
    }
}
