//! Filters that cut a sequence into lists: `batch`, `slice`.
//!
//! A count can be any value that Python's arithmetic takes, because the reference does not check it. The rules are those of jinja2 3.1.6
//! `filters.py`: `do_batch`, `sync_do_slice`.

use super::lazy_input::LazyInput;
use crate::builtins::table::built_ins;
use crate::error::Result;
use crate::value::{ItemSource, Runtime, Seq, Value, not_an_index, ops};

built_ins! { FILTERS:
    /// Cuts the items into lists of a given length. A fill value, if there is one, completes the last list.
    ///
    /// `{{ [1, 2, 3]|batch(2)|list }} -> [[1, 2], [3]]`
    Python "do_batch" fn batch(runtime, value: Items, linecount: Count, fill_with = None) -> Generator {
        let below = value.height().max(fill_with.height()).saturating_add(1);
        let source = LazyInput::new(value);
        runtime.generator(
            below,
            Batch {
                source,
                count: linecount,
                fill: fill_with,
                next: None,
            },
        )
    }

    /// Cuts the items into a given number of lists of nearly equal length. A fill value, if there is one, is added to the lists that
    /// are shorter by one.
    ///
    /// `{{ [1, 2, 3, 4, 5]|slice(2)|list }} -> [[1, 2, 3], [4, 5]]`
    Python "sync_do_slice" fn slice(runtime, value: Items, slices: Count, fill_with = None) -> Generator {
        let below = value.height().max(fill_with.height()).saturating_add(1);
        runtime.generator(
            below,
            Slice {
                value,
                count: slices,
                fill: fill_with,
                columns: None,
            },
        )
    }
}

struct Batch<'a> {
    source: LazyInput<'a>,
    count: Value<'a>,
    fill: Value<'a>,
    /// The item that was read to find out that there is another row. It is the first item of that row.
    next: Option<Value<'a>>,
}

impl<'a> ItemSource<'a> for Batch<'a> {
    fn next_item(&mut self, runtime: &mut Runtime<'a>) -> Result<Option<Value<'a>>> {
        let mut row: Vec<Value<'a>> = self.next.take().into_iter().collect();
        while let Some(item) = self.source.next(runtime)? {
            if ops::equal(runtime, &Value::from(row.len()), &self.count)? {
                self.next = Some(item);
                return runtime.list(&row).map(Some);
            }
            runtime.check_values(row.len())?;
            row.push(item);
        }
        if row.is_empty() {
            return Ok(None);
        }
        let length = Value::from(row.len());
        let is_filled = !matches!(self.fill, Value::None) && ops::less(runtime, &length, &self.count)?;
        let row = runtime.list(&row)?;
        if !is_filled {
            return Ok(Some(row));
        }
        let missing = ops::subtract(runtime, &self.count, &length)?;
        let fill = runtime.list(&[self.fill])?;
        let filling = ops::multiply(runtime, &fill, &missing)?;
        ops::add(runtime, &row, &filling).map(Some)
    }

    fn name(&self) -> &'static str {
        "do_batch"
    }
}

struct Slice<'a> {
    value: Value<'a>,
    count: Value<'a>,
    fill: Value<'a>,
    columns: Option<Columns<'a>>,
}

/// The columns that have not been read yet.
struct Columns<'a> {
    items: Seq<'a>,
    /// The number of items of a short column.
    height: usize,
    /// The number of columns that have one more item.
    longer: usize,
    /// The number of columns that have not been read yet.
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
            items: runtime.items(&items)?,
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
        let end = (columns.height + usize::from(is_longer)).min(columns.items.len());
        let column = columns.items.slice(0..end).unwrap_or_else(Seq::empty);
        columns.items = columns.items.slice(end..columns.items.len()).unwrap_or_else(Seq::empty);
        if is_longer || matches!(self.fill, Value::None) {
            return Ok(Some(Value::List(column)));
        }
        runtime.meter.charge_items(column.len() / 8)?;
        let filled: Vec<_> = column.iter().chain([self.fill]).collect();
        runtime.list(&filled).map(Some)
    }

    fn name(&self) -> &'static str {
        "sync_do_slice"
    }
}
