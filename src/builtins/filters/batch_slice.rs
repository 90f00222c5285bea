//! Filters that cut a sequence into lists: `batch`, `slice`.
//!
//! ```text
//! {{ [1, 2, 3]|batch(2, "x")|list }}    [[1, 2], [3, 'x']]       rows of two
//! {{ [1, 2, 3]|slice(2, "x")|list }}    [[1, 2], [3, 'x']]       two columns, the longer ones first
//! ```
//!
//! The counts may be anything that Python's operators take, since the reference only computes with them. After jinja2 3.1.6
//! `filters.py`: `do_batch`, `sync_do_slice`.

use super::given;
use super::lazy_input::LazyInput;
use crate::error::Result;
use crate::value::{Arguments, ItemSource, Runtime, Seq, Value, not_an_index, ops};

/// Lists of so many items; the last one may be filled up.
///
/// `{{ [1, 2, 3]|batch(2)|list }} -> [[1, 2], [3]]`
pub(super) fn batch<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let value = given(&mut arguments, 0);
    let count = given(&mut arguments, 1);
    let fill = given(&mut arguments, 2);
    let below = value.height().max(fill.height()).saturating_add(1);
    let source = LazyInput::new(value);
    runtime.generator(
        below,
        Batch {
            source,
            count,
            fill,
            next: None,
        },
    )
}

struct Batch<'a> {
    source: LazyInput<'a>,
    count: Value<'a>,
    fill: Value<'a>,
    /// The item that did not fit any more.
    next: Option<Value<'a>>,
}

impl<'a> ItemSource<'a> for Batch<'a> {
    fn next_item(&mut self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        let mut row: Vec<Value<'a>> = self.next.take().into_iter().collect();
        while let Some(item) = self.source.next(runtime)? {
            if ops::equal(runtime, &Value::from(row.len()), &self.count)? {
                self.next = Some(item);
                return runtime.list(row).map(Some);
            }
            runtime.check_values(row.len())?;
            row.push(item);
        }
        if row.is_empty() {
            return Ok(None);
        }
        let length = Value::from(row.len());
        let is_filled = !matches!(self.fill, Value::None) && ops::less(runtime, &length, &self.count)?;
        let row = runtime.list(row)?;
        if !is_filled {
            return Ok(Some(row));
        }
        let missing = ops::subtract(runtime, &self.count, &length)?;
        let fill = runtime.list(vec![self.fill.clone()])?;
        let filling = ops::multiply(runtime, &fill, &missing)?;
        ops::add(runtime, &row, &filling).map(Some)
    }

    fn name(&self) -> &'static str {
        "do_batch"
    }
}

/// So many lists of nearly the same length; the shorter ones may be filled up, and all where they are equal.
///
/// `{{ [1, 2, 3, 4, 5]|slice(2)|list }} -> [[1, 2, 3], [4, 5]]`
pub(super) fn slice<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let value = given(&mut arguments, 0);
    let count = given(&mut arguments, 1);
    let fill = given(&mut arguments, 2);
    let below = value.height().max(fill.height()).saturating_add(1);
    runtime.generator(
        below,
        Slice {
            value,
            count,
            fill,
            columns: None,
        },
    )
}

struct Slice<'a> {
    value: Value<'a>,
    count: Value<'a>,
    fill: Value<'a>,
    columns: Option<Columns<'a>>,
}

/// What is left to be cut.
struct Columns<'a> {
    items: Seq<'a>,
    /// The least items of a column.
    height: usize,
    /// How many columns have one more.
    longer: usize,
    /// How many columns are still to come.
    left: u64,
}

impl<'a> Slice<'a> {
    fn columns(&self, runtime: &mut Runtime<'a>) -> Result<Columns<'a>> {
        let items = ops::collect(runtime, &self.value)?;
        let length = Value::from(items.len());
        let height = ops::floor_divide(runtime, &length, &self.count)?;
        let longer = ops::modulo(runtime, &length, &self.count)?;
        let left = match &self.count {
            Value::Big(_) => u64::MAX,
            count => count.as_int().ok_or_else(|| not_an_index(count))?.try_into().unwrap_or(0),
        };
        let size = |value: &Value<'_>| value.as_int().and_then(|int| usize::try_from(int).ok()).unwrap_or(0);
        Ok(Columns {
            items: runtime.items(items)?,
            height: size(&height),
            longer: size(&longer),
            left,
        })
    }
}

impl<'a> ItemSource<'a> for Slice<'a> {
    fn next_item(&mut self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        if self.columns.is_none() {
            self.columns = Some(self.columns(runtime)?);
        }
        let Some(columns) = &mut self.columns else { return Ok(None) };
        let Some(left) = columns.left.checked_sub(1) else {
            return Ok(None);
        };
        columns.left = left;
        let is_longer = columns.longer > 0;
        columns.longer = columns.longer.saturating_sub(1);
        let end = columns.height.saturating_add(usize::from(is_longer)).min(columns.items.len());
        let column = columns.items.slice(0..end);
        columns.items = columns.items.slice(end..columns.items.len());
        if is_longer || matches!(self.fill, Value::None) {
            return Ok(Some(Value::List(column)));
        }
        let filled: Vec<_> = column.iter().chain([self.fill.clone()]).collect();
        runtime.list(filled).map(Some)
    }

    fn name(&self) -> &'static str {
        "sync_do_slice"
    }
}
