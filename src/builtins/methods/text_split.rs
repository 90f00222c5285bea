//! The methods of `str` that take it apart, and `join`.
//!
//! ```text
//! {{ "a,b,c".rsplit(",", 1) }}       ['a,b', 'c']
//! {{ "k=v".partition("=") }}         ('k', '=', 'v')
//! {{ "-".join("abc") }}              a-b-c
//! ```
//!
//! Pieces are views of the same text. Where to cut is known in [`crate::text::split`] and [`crate::text::lines`]; arguments and
//! complaints are those of CPython 3.11 `unicodeobject.c`, and of markupsafe 3.0.4 where the text is a Markup: then so are the pieces.

use super::argument::{c_int, receiver, size, text};
use super::row::{SELF, clinic, one_argument, optional};
use crate::error::{Error, Result};
use crate::text::{lines, search, split};
use crate::value::{Arguments, Function, Iter, Parameter, Runtime, Shortcut, Str, Value};

const SPLIT: &[Parameter] = &[SELF, optional("sep"), optional("maxsplit")];

/// The rows.
pub(super) static METHODS: [Function; 6] = [
    clinic("split", "str.split", SPLIT, split).with_shortcut(Shortcut::Item(piece_at)),
    clinic("rsplit", "str.rsplit", SPLIT, split_from_end),
    clinic("splitlines", "str.splitlines", &[SELF, optional("keepends")], split_lines),
    one_argument("join", "str.join", join),
    one_argument("partition", "str.partition", partition),
    one_argument("rpartition", "str.rpartition", partition_at_last),
];

/// The pieces of a text as views of it. A piece takes more room than the character it may be, so the list's size is checked.
fn views<'a, 't>(runtime: &mut Runtime<'a>, text: &Str<'a>, pieces: impl Iterator<Item = &'t str>) -> Result<Vec<Value<'a>>> {
    runtime.meter.charge_scan(text.as_str().len())?;
    let mut views: Vec<Value<'a>> = Vec::new();
    for piece in pieces {
        runtime.meter.charge(1)?;
        runtime.check_values(views.len())?;
        views.push(Value::Str(text.piece(piece)));
    }
    Ok(views)
}

/// The text, the separator if there is one, and how often to split.
fn split_arguments<'a>(mut arguments: Arguments<'a>) -> Result<(Str<'a>, Option<Str<'a>>, i64)> {
    let from = receiver(&mut arguments)?;
    let maxsplit = size(arguments.get(2), -1)?;
    let separator = match arguments.take(1) {
        None | Some(Value::None) => None,
        separator => Some(text(separator, |ty| format!("must be str or None, not {ty}"))?),
    };
    Ok((from, separator, maxsplit))
}

#[cold]
fn empty_separator() -> Error {
    Error::value("empty separator")
}

/// Returns `text.split(separator)[index]` for the first and the last index, without making the list.
fn piece_at<'a>(runtime: &mut Runtime<'a>, text: &Str<'a>, separator: &str, index: i64) -> Result<Option<Value<'a>>> {
    runtime.meter.charge_scan(text.as_str().len())?;
    let whole = text.as_str();
    let piece = match index {
        _ if separator.is_empty() => return Err(empty_separator()),
        0 => search::find_first(whole, separator).map_or(Some(whole), |end| whole.get(..end)),
        -1 => match search::find_last(whole, separator) {
            None => Some(whole),
            // Pieces are cut off from the left, which matters where separators could overlap.
            Some(_) if overlaps_itself(separator) => return Ok(None),
            Some(at) => whole.get(at.saturating_add(separator.len())..),
        },
        _ => return Ok(None),
    };
    Ok(piece.map(|piece| Value::Str(text.piece(piece))))
}

/// Whether a text may begin inside itself, as `aa` does: then its last place from the right may be none from the left.
fn overlaps_itself(text: &str) -> bool {
    (1..text.len()).any(|shift| {
        text.as_bytes()
            .get(shift..)
            .is_some_and(|rest| text.as_bytes().starts_with(rest))
    })
}

/// `str.split(sep, maxsplit)`
pub(super) fn split<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    let (text, separator, maxsplit) = split_arguments(arguments)?;
    let pieces = match &separator {
        None => views(runtime, &text, split::split_whitespace(text.as_str(), maxsplit))?,
        Some(separator) => {
            let pieces = split::split(text.as_str(), separator.as_str(), maxsplit);
            views(runtime, &text, pieces.ok_or_else(empty_separator)?)?
        }
    };
    runtime.list(pieces)
}

/// `str.rsplit(sep, maxsplit)`
pub(super) fn split_from_end<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    let (text, separator, maxsplit) = split_arguments(arguments)?;
    let mut pieces = match &separator {
        None => views(runtime, &text, split::rsplit_whitespace(text.as_str(), maxsplit))?,
        Some(separator) => {
            let pieces = split::rsplit(text.as_str(), separator.as_str(), maxsplit);
            views(runtime, &text, pieces.ok_or_else(empty_separator)?)?
        }
    };
    pieces.reverse();
    runtime.list(pieces)
}

/// `str.splitlines(keepends)`
pub(super) fn split_lines<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let text = receiver(&mut arguments)?;
    let keeps_ends = c_int(arguments.get(1), 0)? != 0;
    let pieces = views(runtime, &text, lines::split_lines(text.as_str(), keeps_ends))?;
    runtime.list(pieces)
}

/// A tuple of what stands before, at and after the separator. A separator that was found is the argument itself, of its own type,
/// unless the text is a Markup.
fn parted<'a>(
    runtime: &mut Runtime<'a>,
    mut arguments: Arguments<'a>,
    part: for<'t> fn(&'t str, &str) -> Option<split::Partition<'t>>,
) -> Result<Value<'a>> {
    let whole = receiver(&mut arguments)?;
    let separator = text(arguments.take(1), |ty| format!("must be str, not {ty}"))?;
    runtime.meter.charge_scan(whole.as_str().len())?;
    let (before, at, after) = part(whole.as_str(), separator.as_str()).ok_or_else(empty_separator)?;
    let middle = match at {
        "" => whole.piece(""),
        _ if whole.is_markup() => whole.piece(at),
        _ => separator,
    };
    let (before, after) = (whole.piece(before), whole.piece(after));
    runtime.tuple(vec![Value::Str(before), Value::Str(middle), Value::Str(after)])
}

/// `str.partition(sep)`
pub(super) fn partition<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    parted(runtime, arguments, split::partition)
}

/// `str.rpartition(sep)`
pub(super) fn partition_at_last<'a>(runtime: &mut Runtime<'a>, arguments: Arguments<'a>) -> Result<Value<'a>> {
    parted(runtime, arguments, split::rpartition)
}

/// `str.join(iterable)`
fn join<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let separator = receiver(&mut arguments)?;
    let iterable = arguments.take(1).unwrap_or(Value::None);
    let mut iter = Iter::try_new(&iterable).ok_or_else(|| Error::type_error("can only join an iterable"))?;
    let items = iter.drain(runtime)?;
    joined(runtime, &separator, &items)
}

/// The strings with the separator between them; a single plain string is given back as it is.
pub(super) fn joined<'a>(runtime: &mut Runtime<'a>, separator: &Str<'a>, items: &[Value<'a>]) -> Result<Value<'a>> {
    let mut len = separator.as_str().len().saturating_mul(items.len().saturating_sub(1));
    for (index, item) in items.iter().enumerate() {
        match item {
            Value::Str(text) => len = len.saturating_add(text.as_str().len()),
            other => {
                let ty = other.ty().name();
                return Err(Error::type_error(format!(
                    "sequence item {index}: expected str instance, {ty} found"
                )));
            }
        }
    }
    if let [Value::Str(only)] = items {
        return Ok(Value::Str(only.clone().with_markup(false)));
    }
    runtime.meter.check_size(len)?;
    runtime.meter.charge_scan(len)?;
    let mut text = String::with_capacity(len);
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            text.push_str(separator.as_str());
        }
        text.push_str(item.as_str().unwrap_or_default());
    }
    runtime.str(text)
}
