//! One-pass iterators: the generators of lazy filters and of loops with a condition, and Python's reverse iterators.

use std::cell::RefCell;
use std::fmt;

use super::Value;
use super::runtime::Runtime;
use super::types::Type;
use crate::error::{Error, Result};
use crate::meter::Claim;

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
pub struct Generator<'a> {
    ty: Type,
    name: &'static str,
    height: u32,
    source: RefCell<Option<Box<dyn ItemSource<'a> + 'a>>>,
    _claim: Claim,
}

impl<'a> Generator<'a> {
    pub(super) fn new(ty: Type, height: u32, source: Box<dyn ItemSource<'a> + 'a>, claim: Claim) -> Self {
        Self {
            ty,
            name: source.name(),
            height,
            source: RefCell::new(Some(source)),
            _claim: claim,
        }
    }

    /// Returns the Python type of the iterator.
    pub fn ty(&self) -> Type {
        self.ty
    }

    /// Returns the name in the `repr` of the generator.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the height, which is at least that of each item. A container of the generator's items is one higher.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Returns the next item, or `None` after the last.
    pub fn next(&self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        runtime.meter.charge(1)?;
        runtime.meter.check_stack()?;
        let Ok(mut source) = self.source.try_borrow_mut() else {
            return Err(Error::value("generator already executing"));
        };
        let item = match source.as_mut() {
            Some(source) => source.next_item(runtime),
            None => Ok(None),
        };
        match &item {
            Ok(Some(item)) => runtime.meter.check_item_height(item.height(), self.height)?,
            _ => *source = None,
        }
        item
    }
}

impl fmt::Debug for Generator<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Generator({})", self.ty.name())
    }
}
