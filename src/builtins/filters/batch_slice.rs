//! Filters that cut a sequence into lists: `batch`, `slice`.
//!
//! A count can be any value that Python's arithmetic takes, because the reference does not check it. The rules are those of jinja2 3.1.6
//! `filters.py`: `do_batch`, `sync_do_slice`.

use super::lazy_input::LazyInput;
use crate::builtins::table::built_ins;
use crate::error::Result;
use crate::value::{Runtime, Seq, Value, not_an_index, ops};

built_ins! { FILTERS:
    /// Cuts the items into lists of a given length. A fill value, if there is one, completes the last list.
    ///
    /// `{{ [1, 2, 3]|batch(2)|list }} -> [[1, 2], [3]]`
    Python "do_batch" fn batch(runtime, value: Items, linecount: Count, fill_with = None) -> Generator {
        let below = value.height().max(fill_with.height()).saturating_add(1);
        let mut source = LazyInput::new(value);
        // The item that was read to find out that there is another row. It is the first item of that row.
        let mut first: Option<Value<'a>> = None;
        runtime.generator("do_batch", below, move |runtime| {
            let mut row: Vec<Value<'a>> = Vec::from_iter(first.take());
            while let Some(item) = source.next(runtime)? {
                if ops::equal(runtime, &Value::from(row.len()), &linecount)? {
                    first = Some(item);
                    return runtime.list(&row).map(Some);
                }
                runtime.check_values(row.len())?;
                row.push(item);
            }
            if row.is_empty() {
                return Ok(None);
            }
            let length = Value::from(row.len());
            let is_filled = !matches!(fill_with, Value::None) && ops::less(runtime, &length, &linecount)?;
            let row = runtime.list(&row)?;
            if !is_filled {
                return Ok(Some(row));
            }
            let missing = ops::subtract(runtime, &linecount, &length)?;
            let fill = runtime.list(&[fill_with])?;
            let filling = ops::multiply(runtime, &fill, &missing)?;
            ops::add(runtime, &row, &filling).map(Some)
        })
    }

    /// Cuts the items into a given number of lists of nearly equal length. A fill value, if there is one, is added to the lists that
    /// are shorter by one.
    ///
    /// `{{ [1, 2, 3, 4, 5]|slice(2)|list }} -> [[1, 2, 3], [4, 5]]`
    Python "sync_do_slice" fn slice(runtime, value: Items, slices: Count, fill_with = None) -> Generator {
        let below = value.height().max(fill_with.height()).saturating_add(1);
        let mut columns = None;
        runtime.generator("sync_do_slice", below, move |runtime| {
            let columns = match &mut columns {
                Some(columns) => columns,
                none => none.insert(Columns::new(runtime, &value, &slices)?),
            };
            columns.next(runtime, fill_with)
        })
    }
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

impl<'a> Columns<'a> {
    fn new(runtime: &mut Runtime<'a>, value: &Value<'a>, count: &Value<'a>) -> Result<Self> {
        let items = ops::collect(runtime, value)?;
        let length = Value::from(items.len());
        let height = ops::floor_divide(runtime, &length, count)?;
        let longer = ops::modulo(runtime, &length, count)?;
        let left = match count {
            Value::Big(_) => u64::MAX,
            count => count.as_int().ok_or_else(|| not_an_index(count))?.try_into().unwrap_or(0),
        };
        let size = |value: &Value<'_>| value.as_int().and_then(|int| usize::try_from(int).ok()).unwrap_or(0);
        Ok(Self {
            items: runtime.items(&items)?,
            height: size(&height),
            longer: size(&longer),
            left,
        })
    }

    fn next(&mut self, runtime: &mut Runtime<'a>, fill: Value<'a>) -> Result<Option<Value<'a>>> {
        let Some(left) = self.left.checked_sub(1) else {
            return Ok(None);
        };
        self.left = left;
        let is_longer = self.longer > 0;
        self.longer = self.longer.saturating_sub(1);
        let end = (self.height + usize::from(is_longer)).min(self.items.len());
        let column = self.items.slice(0..end).unwrap_or_else(Seq::empty);
        self.items = self.items.slice(end..self.items.len()).unwrap_or_else(Seq::empty);
        if is_longer || matches!(fill, Value::None) {
            return Ok(Some(Value::List(column)));
        }
        runtime.meter.charge_items(column.len() / 8)?;
        let filled: Vec<_> = column.iter().chain([fill]).collect();
        runtime.list(&filled).map(Some)
    }
}
