//! Python's `value[start:stop:step]` of a string, a list, a tuple or a range. The result has the type of the value.
//!
//! A slice with a step of 1 or -1 is a view and copies nothing. The bounds are resolved by [`SliceIndices`]. Errors follow CPython 3.13
//! `PyObject_GetItem` and `sliceobject.c`.

use crate::error::{Error, ErrorKind, Result};
use crate::limits::{Limit, LimitExceeded};
use crate::text::slice::{self, SliceIndices};
use crate::value::print::{self, class_path};
use crate::value::{Key, Range, Runtime, Seq, Str, Type, Value};

/// The bounds of a slice, clamped to the range of `Py_ssize_t`.
#[derive(Clone, Copy)]
struct Bounds {
    start: Option<i64>,
    stop: Option<i64>,
    step: Option<i64>,
}

/// Returns `value[start:stop:step]`. A bound of `None` is an absent bound.
pub fn slice<'a>(
    runtime: &mut Runtime<'a>,
    value: &Value<'a>,
    start: Option<&Value<'a>>,
    stop: Option<&Value<'a>>,
    step: Option<&Value<'a>>,
) -> Result<Value<'a>> {
    let bounds = || Bounds::new(start, stop, step);
    match value {
        Value::Str(text) => Ok(Value::Str(slice_text(runtime, text, bounds()?)?)),
        Value::List(items) => {
            let bounds = bounds()?;
            if !bounds.within(items.len())?.is_all(items.len()) {
                return slice_items(runtime, items, bounds).map(Value::List);
            }
            // A slice of a whole list is another list for `sameas`, so it gets its own storage.
            runtime.meter.charge_items(items.len())?;
            runtime.check_values(items.len())?;
            runtime.list(&items.iter().collect::<Vec<_>>())
        }
        Value::Tuple(items) => {
            let bounds = bounds()?;
            // A slice of a whole tuple is the tuple itself.
            if !items.is_group() && bounds.within(items.len())?.is_all(items.len()) {
                return Ok(*value);
            }
            slice_items(runtime, items, bounds).map(Value::Tuple)
        }
        Value::Range(range) => slice_range(runtime, range, bounds()?),
        Value::Dict(_) => Err(missing_slice(runtime, [start, stop, step])?),
        Value::Undefined(undefined) => Err(undefined.error()),
        _ => Err(not_subscriptable(value)),
    }
}

fn slice_text<'a>(runtime: &mut Runtime<'a>, text: &Str<'a>, bounds: Bounds) -> Result<Str<'a>> {
    runtime.meter.charge_scan(text.as_str().len())?;
    let Bounds { start, stop, step } = bounds;
    match slice::slice(text.as_str(), start, stop, step) {
        Some(std::borrow::Cow::Borrowed(piece)) => Ok(text.piece(piece)),
        Some(std::borrow::Cow::Owned(piece)) => Ok(runtime.text(piece)?.with_markup(text.is_markup())),
        None => Err(zero_step()),
    }
}

fn slice_items<'a>(runtime: &mut Runtime<'a>, items: &Seq<'a>, bounds: Bounds) -> Result<Seq<'a>> {
    let indices = bounds.within(items.len())?;
    let first = indices.positions().next().unwrap_or(0);
    let SliceIndices { step, count, .. } = indices;
    let is_reversed = step == -1 && count > 1;
    let viewed = match step {
        _ if is_reversed => items.slice((first + 1).saturating_sub(count)..first + 1),
        _ if step == 1 || count <= 1 => items.slice(first..first + count),
        _ => None,
    };
    if let Some(view) = viewed {
        return if is_reversed {
            runtime.store(view).map(Seq::Reversed)
        } else {
            Ok(view)
        };
    }
    runtime.meter.charge_items(indices.count)?;
    runtime.check_values(indices.count)?;
    let mut values = Vec::with_capacity(indices.count);
    values.extend(indices.positions().filter_map(|index| items.get(index)));
    runtime.items(&values)
}

impl Bounds {
    /// Converts the bounds. CPython converts the step first, and refuses 0 before it looks at the others.
    fn new(start: Option<&Value<'_>>, stop: Option<&Value<'_>>, step: Option<&Value<'_>>) -> Result<Self> {
        let read = |bound: Option<&Value<'_>>| bound.map_or(Ok(None), read_bound);
        let step = read(step)?;
        if step == Some(0) {
            return Err(zero_step());
        }
        let (start, stop) = (read(start)?, read(stop)?);
        Ok(Self { start, stop, step })
    }

    fn within(self, len: usize) -> Result<SliceIndices> {
        SliceIndices::new(len, self.start, self.stop, self.step).ok_or_else(zero_step)
    }
}

/// Reads a bound of a slice, or of a method such as `str.find`. An integer that does not fit in an `i64` becomes the nearest one.
pub fn read_bound(bound: &Value<'_>) -> Result<Option<i64>> {
    match (bound, bound.clamped_index()) {
        (Value::None, _) => Ok(None),
        (_, Some(index)) => Ok(Some(index)),
        _ => Err(no_bound()),
    }
}

/// Returns the error for a bound that is not an integer.
pub fn no_bound() -> Error {
    Error::type_error("slice indices must be integers or None or have an __index__ method")
}

/// Returns a slice of a range, which is a range. Its bounds can be one step beyond the items (CPython `rangeobject.c`, `compute_slice`).
fn slice_range<'a>(runtime: &mut Runtime<'a>, range: &Range, bounds: Bounds) -> Result<Value<'a>> {
    let indices = bounds.within(usize::try_from(range.len).unwrap_or(0))?;
    let sliced = || {
        Some(Range {
            start: range.item(indices.start)?,
            stop: range.item(indices.stop)?,
            step: indices.step.checked_mul(range.step)?,
            len: i64::try_from(indices.count).ok()?,
        })
    };
    match sliced() {
        Some(range) => runtime.store(range).map(Value::Range),
        None => Err(Error::limit(LimitExceeded::new(Limit::RangeBits, 65, 64))),
    }
}

/// Returns the KeyError of a dict, which never has a slice as a key. The bounds must have hashes.
#[cold]
fn missing_slice<'a>(runtime: &mut Runtime<'a>, bounds: [Option<&Value<'a>>; 3]) -> Result<Error> {
    let bounds = runtime.tuple(&bounds.map(|bound| bound.copied().unwrap_or(Value::None)))?;
    Key::new(runtime, bounds)?;
    Ok(Error::new(ErrorKind::Key, format!("slice{}", print::repr(runtime, &bounds)?)))
}

#[cold]
fn zero_step() -> Error {
    Error::value("slice step cannot be zero")
}

/// Returns the error for a value without items.
#[cold]
pub(super) fn not_subscriptable(value: &Value<'_>) -> Error {
    Error::type_error(match (value.ty(), value) {
        (Type::Class, Value::Function(class)) => {
            let name = class_path(class.name).rsplit('.').next().unwrap_or_default();
            format!("type '{name}' is not subscriptable")
        }
        (ty, _) => format!("'{}' object is not subscriptable", ty.name()),
    })
}
