//! One-pass iterators: the generators of lazy filters and of loops with a condition, and Python's reverse iterators.

use std::fmt;

use super::Value;
use super::runtime::Runtime;
use super::types::Type;
use crate::error::{Error, Result};

/// How much higher an item that a generator makes can be than the generator's input. The caller's data counts as one level however deep it
/// is, so a list of its parts is higher than the data.
pub const GAIN: u32 = 2;

/// Produces the items of a one-pass iterator, one at a time.
pub trait ItemSource<'a> {
    /// Returns the next item, or `None` after the last.
    fn next_item(&mut self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>>;

    /// Returns the number of bytes of memory that only this source uses, besides the source itself.
    fn owned_bytes(&self) -> usize {
        0
    }

    /// Returns the name in the `repr` of the generator: `<generator object sync_do_map at 0x…>`.
    fn name(&self) -> &'static str {
        "generator"
    }
}

/// A one-pass iterator. After an error or its last item it stays empty, as a Python generator does.
#[derive(Debug)]
pub struct Generator {
    pub(super) ty: Type,
    pub(super) name: &'static str,
    pub(super) height: u32,
    /// The index of the source on the heap.
    pub(super) source: usize,
}

/// The source of a one-pass iterator.
pub enum Source<'a> {
    /// It can make the next item.
    Ready(Box<dyn ItemSource<'a> + 'a>),
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
        let mut source = match self.replace(runtime, Source::Running) {
            Source::Ready(source) => source,
            Source::Running => return Err(Error::value("generator already executing")),
            Source::Ended => {
                self.replace(runtime, Source::Ended);
                return Ok(None);
            }
        };
        let item = source.next_item(runtime);
        let is_last = !matches!(item, Ok(Some(_)));
        self.replace(runtime, if is_last { Source::Ended } else { Source::Ready(source) });
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
