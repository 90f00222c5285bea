//! The methods of `bytes` that look for other bytes, and that cut and join.
//!
//! ```text
//! {{ "abc".encode().find(98) }}                        1
//! {{ "a,b".encode().split(",".encode()) }}             [b'a', b'b']
//! ```
//!
//! After CPython 3.11 `bytesobject.c` and `bytes_methods.c`; how bytes become text and back is known in [`super::bytes`].

use super::argument::{bound, c_int, size};
use super::bytes::{bytes_like, from_text, is_space, receiver, to_text};
use super::row::{Body, SELF, clinic, one_argument, optional, positional, required, tuple};
use crate::error::{Error, Result};
use crate::text::{replace, search, split, strip};
use crate::value::{Arguments, Function, Iter, Parameter, Runtime, Value};

const FINDS: &[Parameter] = &[SELF, required("sub"), optional("start"), optional("end")];
const SPLIT: &[Parameter] = &[SELF, optional("sep"), optional("maxsplit")];

/// The rows.
pub(super) static METHODS: [Function; 19] = [
    tuple("startswith", "bytes.startswith", FINDS, |runtime, arguments| {
        affixed(runtime, arguments, "startswith", search::starts_with)
    }),
    tuple("endswith", "bytes.endswith", FINDS, |runtime, arguments| {
        affixed(runtime, arguments, "endswith", search::ends_with)
    }),
    find_row("find", "bytes.find", |runtime, arguments| {
        Ok(position(found(runtime, arguments, search::find)?))
    }),
    find_row("rfind", "bytes.rfind", |runtime, arguments| {
        Ok(position(found(runtime, arguments, search::rfind)?))
    }),
    find_row("index", "bytes.index", |runtime, arguments| {
        index(found(runtime, arguments, search::find)?)
    }),
    find_row("rindex", "bytes.rindex", |runtime, arguments| {
        index(found(runtime, arguments, search::rfind)?)
    }),
    find_row("count", "bytes.count", |runtime, arguments| {
        Ok(position(found(runtime, arguments, |text, wanted, start, end| {
            Some(search::count(text, wanted, start, end))
        })?))
    }),
    positional("strip", "bytes.strip", &[SELF, optional("bytes")], |runtime, arguments| {
        stripped(runtime, arguments, strip::strip_chars)
    }),
    positional("lstrip", "bytes.lstrip", &[SELF, optional("bytes")], |runtime, arguments| {
        stripped(runtime, arguments, strip::strip_start_chars)
    }),
    positional("rstrip", "bytes.rstrip", &[SELF, optional("bytes")], |runtime, arguments| {
        stripped(runtime, arguments, strip::strip_end_chars)
    }),
    one_argument("removeprefix", "bytes.removeprefix", |runtime, arguments| {
        removed(runtime, arguments, |text, affix| text.strip_prefix(affix))
    }),
    one_argument("removesuffix", "bytes.removesuffix", |runtime, arguments| {
        removed(runtime, arguments, |text, affix| text.strip_suffix(affix))
    }),
    positional(
        "replace",
        "bytes.replace",
        &[SELF, required("old"), required("new"), optional("count")],
        replace,
    ),
    clinic("split", "bytes.split", SPLIT, |runtime, arguments| {
        split(runtime, arguments, false)
    }),
    clinic("rsplit", "bytes.rsplit", SPLIT, |runtime, arguments| {
        split(runtime, arguments, true)
    }),
    clinic("splitlines", "bytes.splitlines", &[SELF, optional("keepends")], split_lines),
    one_argument("partition", "bytes.partition", |runtime, arguments| {
        parted(runtime, arguments, split::partition)
    }),
    one_argument("rpartition", "bytes.rpartition", |runtime, arguments| {
        parted(runtime, arguments, split::rpartition)
    }),
    one_argument("join", "bytes.join", join),
];

const fn find_row(name: &'static str, python: &'static str, body: Body) -> Function {
    tuple(name, python, FINDS, body)
}

/// An argument that has to be bytes, as text.
fn bytes_argument(runtime: &mut Runtime<'_>, argument: Option<Value<'_>>) -> Result<String> {
    let bytes = bytes_like(argument)?;
    runtime.meter.charge_scan(bytes.len())?;
    Ok(to_text(&bytes))
}

/// What a search finds between the bounds; a number is looked for as the byte that it is.
fn found<'a>(
    runtime: &mut Runtime<'a>,
    mut arguments: Arguments<'a>,
    find: fn(&str, &str, Option<i64>, Option<i64>) -> Option<usize>,
) -> Result<Option<usize>> {
    let bytes = receiver(runtime, &mut arguments)?;
    let (start, end) = (bound(arguments.get(2))?, bound(arguments.get(3))?);
    let wanted = arguments.take(1).unwrap_or(Value::None);
    let wanted = match &wanted {
        Value::Bytes(wanted) => to_text(wanted),
        number if number.as_integer().is_some() => match number.as_int().map(u8::try_from) {
            Some(Ok(byte)) => char::from(byte).to_string(),
            _ => return Err(Error::value("byte must be in range(0, 256)")),
        },
        other => {
            let ty = other.ty().name();
            return Err(Error::type_error(format!(
                "argument should be integer or bytes-like object, not '{ty}'"
            )));
        }
    };
    Ok(find(&to_text(&bytes), &wanted, start, end))
}

fn position<'a>(found: Option<usize>) -> Value<'a> {
    found.map_or(Value::Int(-1), Value::from)
}

fn index<'a>(found: Option<usize>) -> Result<Value<'a>> {
    found.map(Value::from).ok_or_else(|| Error::value("subsection not found"))
}

fn affixed<'a>(
    runtime: &mut Runtime<'a>,
    mut arguments: Arguments<'a>,
    name: &str,
    look: fn(&str, &str, Option<i64>, Option<i64>) -> bool,
) -> Result<Value<'a>> {
    let text = to_text(&receiver(runtime, &mut arguments)?);
    let (start, end) = (bound(arguments.get(2))?, bound(arguments.get(3))?);
    match arguments.take(1) {
        Some(Value::Tuple(affixes)) => {
            for affix in affixes.iter() {
                if look(&text, &bytes_argument(runtime, Some(affix))?, start, end) {
                    return Ok(Value::Bool(true));
                }
            }
            Ok(Value::Bool(false))
        }
        Some(Value::Bytes(affix)) => Ok(Value::Bool(look(&text, &to_text(&affix), start, end))),
        other => {
            let ty = other.as_ref().map_or("NoneType", |value| value.ty().name());
            Err(Error::type_error(format!(
                "{name} first arg must be bytes or a tuple of bytes, not {ty}"
            )))
        }
    }
}

fn stripped<'a>(
    runtime: &mut Runtime<'a>,
    mut arguments: Arguments<'a>,
    strip: for<'t> fn(&'t str, &str) -> &'t str,
) -> Result<Value<'a>> {
    let text = to_text(&receiver(runtime, &mut arguments)?);
    let set = match arguments.take(1) {
        None | Some(Value::None) => " \t\n\u{b}\u{c}\r".to_owned(),
        set => bytes_argument(runtime, set)?,
    };
    Ok(from_text(strip(&text, &set)))
}

fn removed<'a>(
    runtime: &mut Runtime<'a>,
    mut arguments: Arguments<'a>,
    remove: for<'t> fn(&'t str, &str) -> Option<&'t str>,
) -> Result<Value<'a>> {
    let text = to_text(&receiver(runtime, &mut arguments)?);
    let affix = bytes_argument(runtime, arguments.take(1))?;
    Ok(from_text(remove(&text, &affix).unwrap_or(&text)))
}

fn replace<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let text = to_text(&receiver(runtime, &mut arguments)?);
    let old = bytes_argument(runtime, arguments.take(1))?;
    let new = bytes_argument(runtime, arguments.take(2))?;
    let count = size(arguments.get(3), -1)?;
    let len = replace::replaced_len(&text, &old, &new, count).unwrap_or(usize::MAX);
    runtime.meter.check_size(len)?;
    runtime.meter.charge_scan(len)?;
    Ok(from_text(&replace::replace(&text, &old, &new, count)))
}

fn pieces<'a, 't>(runtime: &mut Runtime<'a>, pieces: impl Iterator<Item = &'t str>) -> Result<Vec<Value<'a>>> {
    let mut values = Vec::new();
    for piece in pieces {
        runtime.meter.charge(1)?;
        runtime.check_values(values.len())?;
        values.push(from_text(piece));
    }
    Ok(values)
}

fn split<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>, is_from_end: bool) -> Result<Value<'a>> {
    let bytes = receiver(runtime, &mut arguments)?;
    let maxsplit = size(arguments.get(2), -1)?;
    let mut values = match arguments.take(1) {
        None | Some(Value::None) => split_at_blanks(runtime, &bytes, maxsplit, is_from_end)?,
        separator => {
            let separator = bytes_argument(runtime, separator)?;
            let text = to_text(&bytes);
            let empty = || Error::value("empty separator");
            if is_from_end {
                pieces(runtime, split::rsplit(&text, &separator, maxsplit).ok_or_else(empty)?)?
            } else {
                pieces(runtime, split::split(&text, &separator, maxsplit).ok_or_else(empty)?)?
            }
        }
    };
    if is_from_end {
        values.reverse();
    }
    runtime.list(values)
}

/// The pieces between runs of blanks, of which only ASCII's count.
fn split_at_blanks<'a>(runtime: &mut Runtime<'a>, bytes: &[u8], maxsplit: i64, is_from_end: bool) -> Result<Vec<Value<'a>>> {
    let limit = u64::try_from(maxsplit).unwrap_or(u64::MAX);
    let mut values: Vec<Value<'a>> = Vec::new();
    let is_word = |byte: &u8| !is_space(*byte);
    let trimmed = |rest: &'_ [u8]| -> Option<(usize, usize)> {
        let start = rest.iter().position(is_word)?;
        let end = rest.iter().rposition(is_word)?.saturating_add(1);
        Some(if is_from_end { (0, end) } else { (start, rest.len()) })
    };
    let mut rest = bytes;
    while let Some((start, end)) = trimmed(rest) {
        runtime.meter.charge(1)?;
        runtime.check_values(values.len())?;
        rest = rest.get(start..end).unwrap_or_default();
        if values.len() as u64 >= limit {
            values.push(Value::Bytes(rest.into()));
            break;
        }
        let piece;
        (piece, rest) = if is_from_end {
            let at = rest
                .iter()
                .rposition(|byte| is_space(*byte))
                .map_or(0, |at| at.saturating_add(1));
            let (before, piece) = rest.split_at_checked(at).unwrap_or((&[], rest));
            (piece, before)
        } else {
            let at = rest.iter().position(|byte| is_space(*byte)).unwrap_or(rest.len());
            rest.split_at_checked(at).unwrap_or((rest, &[]))
        };
        values.push(Value::Bytes(piece.into()));
    }
    Ok(values)
}

fn split_lines<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let bytes = receiver(runtime, &mut arguments)?;
    let keeps_ends = c_int(arguments.get(1), 0)? != 0;
    let mut lines: Vec<Value<'a>> = Vec::new();
    let mut rest: &[u8] = &bytes;
    while !rest.is_empty() {
        runtime.meter.charge(1)?;
        runtime.check_values(lines.len())?;
        let at = rest
            .iter()
            .position(|byte| matches!(byte, b'\n' | b'\r'))
            .unwrap_or(rest.len());
        let (line, from_end) = rest.split_at_checked(at).unwrap_or((rest, &[]));
        let end = match from_end {
            [b'\r', b'\n', ..] => 2,
            [_, ..] => 1,
            [] => 0,
        };
        let whole = rest.get(..at.saturating_add(end)).unwrap_or(rest);
        rest = rest.get(whole.len()..).unwrap_or_default();
        lines.push(Value::Bytes(if keeps_ends { whole.into() } else { line.into() }));
    }
    runtime.list(lines)
}

fn parted<'a>(
    runtime: &mut Runtime<'a>,
    mut arguments: Arguments<'a>,
    part: for<'t> fn(&'t str, &str) -> Option<split::Partition<'t>>,
) -> Result<Value<'a>> {
    let text = to_text(&receiver(runtime, &mut arguments)?);
    let separator = bytes_argument(runtime, arguments.take(1))?;
    let (before, at, after) = part(&text, &separator).ok_or_else(|| Error::value("empty separator"))?;
    runtime.tuple(vec![from_text(before), from_text(at), from_text(after)])
}

fn join<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let separator = receiver(runtime, &mut arguments)?;
    let iterable = arguments.take(1).unwrap_or(Value::None);
    let mut iter = Iter::try_new(&iterable).ok_or_else(|| Error::type_error("can only join an iterable"))?;
    let mut joined: Vec<u8> = Vec::new();
    let items = runtime.drain(&mut iter)?;
    for (index, item) in items.iter().enumerate() {
        let Value::Bytes(bytes) = item else {
            let ty = item.ty().name();
            return Err(Error::type_error(format!(
                "sequence item {index}: expected a bytes-like object, {ty} found"
            )));
        };
        if index > 0 {
            joined.extend_from_slice(&separator);
        }
        joined.extend_from_slice(bytes);
        runtime.meter.charge_scan(bytes.len())?;
        runtime.meter.check_size(joined.len())?;
    }
    Ok(Value::Bytes(joined.into()))
}
