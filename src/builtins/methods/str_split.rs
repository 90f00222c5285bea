//! The methods of `str` that split it, and `join`.
//!
//! ```text
//! {{ "a,b,c".rsplit(",", 1) }}       ['a,b', 'c']
//! {{ "k=v".partition("=") }}         ('k', '=', 'v')
//! {{ "-".join("abc") }}              a-b-c
//! ```
//!
//! The parts of a string share its memory; [`crate::text::split`] and [`crate::text::lines`] find them. Arguments and errors are those of
//! CPython 3.13 `unicodeobject.c`. The parts of a Markup are Markups (markupsafe 3.0.4).

use crate::builtins::arguments::{not_a_string, read_size, require_str};
use crate::builtins::table::built_ins;
use crate::error::{Error, Result};
use crate::text::short_eq::SHORT;
use crate::text::{lines, search, split};
use crate::value::{Iter, Runtime, Shortcut, Str, Value, ops};

/// Returns the pieces of a string as values that share its memory. A list of short pieces is larger than the text, so its size is checked.
fn to_values<'a, 't>(runtime: &mut Runtime<'a>, text: &Str<'a>, pieces: impl Iterator<Item = &'t str>) -> Result<Vec<Value<'a>>> {
    runtime.meter.charge_scan(text.as_str().len())?;
    let (mut values, mut claim): (Vec<Value<'a>>, _) = (Vec::new(), None);
    for piece in pieces {
        runtime.meter.charge(1)?;
        runtime.check_values(values.len())?;
        runtime
            .meter
            .claim_growth::<Value<'_>>(&mut claim, values.len(), values.capacity())?;
        values.push(Value::Str(text.piece(piece)));
    }
    Ok(values)
}

/// Reads a separator and the maximum number of splits.
fn read_split_arguments<'a>(runtime: &mut Runtime<'a>, sep: Value<'a>, maxsplit: &Value<'a>) -> Result<(Option<Str<'a>>, i64)> {
    let maxsplit = read_size(maxsplit)?;
    let separator = match sep {
        Value::None => None,
        sep => Some(require_str(sep, |ty| format!("must be str or None, not {ty}"))?),
    };
    charge_separator(runtime, separator.as_ref())?;
    Ok((separator, maxsplit))
}

/// Charges for a separator before a search for it. It costs as much as a scan of the separator, even if the text is empty.
fn charge_separator(runtime: &mut Runtime<'_>, separator: Option<&Str<'_>>) -> Result<()> {
    let bytes = separator.map_or(0, |separator| separator.as_str().len());
    runtime.meter.charge(bytes as u64 >> 3)
}

#[cold]
fn empty_separator() -> Error {
    Error::value("empty separator")
}

/// Returns `str.split(sep)[index]` for the index 0 or -1, without making the list. Returns `None` for any other index, and for -1 if the
/// separator is long or can overlap itself.
pub(super) fn get_split_item<'a>(
    runtime: &mut Runtime<'a>,
    text: &Str<'a>,
    separator: &str,
    index: i64,
) -> Result<Option<Value<'a>>> {
    runtime.meter.charge_scan(text.as_str().len())?;
    let whole = text.as_str();
    let piece = match index {
        _ if separator.is_empty() => return Err(empty_separator()),
        0 => search::find_first(whole, separator).map_or(Some(whole), |end| whole.get(..end)),
        -1 => match search::find_last(whole, separator) {
            None => Some(whole),
            // Python splits from the left, and the last separator from the left can begin before the last one from the right.
            Some(_) if separator.len() > SHORT || overlaps_itself(separator) => return Ok(None),
            Some(at) => whole.get(at + separator.len()..),
        },
        _ => return Ok(None),
    };
    Ok(piece.map(|piece| Value::Str(text.piece(piece))))
}

/// Returns whether two occurrences of a string can overlap, as those of `aa` in `aaa` do.
fn overlaps_itself(text: &str) -> bool {
    (1..text.len()).any(|shift| {
        text.as_bytes()
            .get(shift..)
            .is_some_and(|rest| text.as_bytes().starts_with(rest))
    })
}

built_ins! { METHODS:
    /// Splits the text at whitespace or at a separator.
    Clinic "str.split" | "Markup.split"[1].with_shortcut(Shortcut::Item(get_split_item))
    fn split(runtime, &text: Str, sep: Text = None, maxsplit: Count = -1) -> List {
        let (separator, maxsplit) = read_split_arguments(runtime, sep, &maxsplit)?;
        let pieces = match &separator {
            None => to_values(runtime, &text, split::split_whitespace(text.as_str(), maxsplit))?,
            Some(separator) => {
                let pieces = split::split(text.as_str(), separator.as_str(), maxsplit);
                to_values(runtime, &text, pieces.ok_or_else(empty_separator)?)?
            }
        };
        runtime.list(&pieces)
    }

    /// Splits the text at whitespace or at a separator, from its end.
    Clinic "str.rsplit" | "Markup.rsplit"[1] fn rsplit(runtime, &text: Str, sep: Text = None, maxsplit: Count = -1) -> List {
        let (separator, maxsplit) = read_split_arguments(runtime, sep, &maxsplit)?;
        let mut pieces = match &separator {
            None => to_values(runtime, &text, split::rsplit_whitespace(text.as_str(), maxsplit))?,
            Some(separator) => {
                let pieces = split::rsplit(text.as_str(), separator.as_str(), maxsplit);
                to_values(runtime, &text, pieces.ok_or_else(empty_separator)?)?
            }
        };
        pieces.reverse();
        runtime.list(&pieces)
    }

    /// Splits the text into its lines.
    Clinic "str.splitlines" | "Markup.splitlines"[1] fn splitlines(runtime, &text: Str, keepends: Flag = false) -> List {
        let keeps_ends = ops::is_true(runtime, &keepends)?;
        let pieces = to_values(runtime, &text, lines::split_lines(text.as_str(), keeps_ends))?;
        runtime.list(&pieces)
    }

    /// Splits the text at the first separator.
    OneArgument "str.partition" | "Markup.partition"[2] fn partition(runtime, &text: Str, sep: Text) -> Tuple {
        split_in_three(runtime, &text, sep, split::partition)
    }

    /// Splits the text at the last separator.
    OneArgument "str.rpartition" | "Markup.rpartition"[2] fn rpartition(runtime, &text: Str, sep: Text) -> Tuple {
        split_in_three(runtime, &text, sep, split::rpartition)
    }

    /// Joins strings, with the text between them.
    OneArgument "str.join" fn join(runtime, &separator: Str, iterable: Items) -> Text {
        let mut iter = Iter::try_new(&iterable).ok_or_else(|| Error::type_error("can only join an iterable"))?;
        let items = iter.drain(runtime)?;
        join_items(runtime, &separator, &items)
    }
}

/// Returns a tuple of the text before, at and after the separator. A plain text returns the argument itself as the middle, which may be
/// a Markup.
fn split_in_three<'a>(
    runtime: &mut Runtime<'a>,
    whole: &Str<'a>,
    separator: Value<'a>,
    partition: for<'t> fn(&'t str, &str) -> Option<split::Partition<'t>>,
) -> Result<Value<'a>> {
    let separator = require_str(separator, |ty| format!("must be str, not {ty}"))?;
    runtime.meter.charge_scan(whole.as_str().len())?;
    charge_separator(runtime, Some(&separator))?;
    let (before, at, after) = partition(whole.as_str(), separator.as_str()).ok_or_else(empty_separator)?;
    let middle = match at {
        "" => whole.piece(""),
        _ if whole.is_markup() => whole.piece(at),
        _ => separator,
    };
    let (before, after) = (whole.piece(before), whole.piece(after));
    runtime.tuple(&[Value::Str(before), Value::Str(middle), Value::Str(after)])
}

/// Returns the items, which are strings, with the separator between them. A single item is returned itself, as a plain string.
pub(super) fn join_items<'a>(runtime: &mut Runtime<'a>, separator: &Str<'a>, items: &[Value<'a>]) -> Result<Value<'a>> {
    let mut len = separator.as_str().len().saturating_mul(items.len().saturating_sub(1));
    for (index, item) in items.iter().enumerate() {
        match item {
            Value::Str(text) => len += text.as_str().len(),
            other => return Err(not_a_string(index, other)),
        }
    }
    if let [Value::Str(only)] = items {
        return Ok(Value::Str((*only).with_markup(false)));
    }
    runtime.meter.check_size(len)?;
    runtime.meter.charge_scan(len)?;
    runtime.capture(|runtime, text| {
        text.reserve(len);
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                runtime.push(separator, text)?;
            }
            if let Value::Str(item) = item {
                runtime.push(item, text)?;
            }
        }
        Ok(())
    })
}
