//! `+` and `*` of strings, lists and tuples.
//!
//! `'a' + 'b'`, `[1] + [2]`, `'-' * 3`. A Markup escapes a `str` on the other side of `+` (markupsafe 3.0.4, `Markup.__add__` and
//! `__radd__`), and its error is that of a Python class, not that of `str`. The rules are those of CPython 3.13
//! `abstract.c`, `PyNumber_Add`, `PyNumber_Multiply` and `sequence_repeat`.

use super::arithmetic::unsupported_operands;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{Limit, LimitExceeded};
use crate::text::slice::char_count;
use crate::value::{Runtime, Seq, Str, Value, markup};

/// A size beyond the memory of any machine, where CPython raises MemoryError without a message.
const MAX_MEMORY: u64 = 1 << 46;

/// Returns `left + right` for two strings.
#[inline]
pub fn concat_texts<'a>(runtime: &mut Runtime<'a>, left: &Str<'a>, right: &Str<'a>) -> Result<Value<'a>> {
    match (left.is_markup(), right.is_markup()) {
        (true, false) => {
            let right = markup::escape_text(runtime, right)?;
            concat_plain(runtime, left, &right)
        }
        (false, true) => {
            let left = markup::escape_text(runtime, left)?;
            concat_plain(runtime, &left, right)
        }
        _ => concat_plain(runtime, left, right),
    }
}

fn concat_plain<'a>(runtime: &mut Runtime<'a>, left: &Str<'a>, right: &Str<'a>) -> Result<Value<'a>> {
    let (start, end) = (left.as_str(), right.as_str());
    if start.is_empty() {
        return Ok(Value::Str(*right));
    }
    if end.is_empty() {
        return Ok(Value::Str(*left));
    }
    let len = start.len() + end.len();
    runtime.meter.charge_bytes(len)?;
    runtime.meter.check_size(len)?;
    let sum = runtime.capture_text(|runtime, text| {
        text.reserve(len);
        runtime.push(left, text)?;
        runtime.push(right, text)?;
        runtime.end_sum(text.len())
    })?;
    Ok(Value::Str(sum.with_markup(left.is_markup())))
}

/// Returns `left + right` for values that are neither numbers nor strings.
pub(super) fn concatenate<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<Value<'a>> {
    match (left, right) {
        (Value::List(left), Value::List(right)) => {
            let items = chain_items(runtime, left, right)?;
            runtime.list(&items)
        }
        // An empty tuple plus another tuple is the other tuple.
        (Value::Tuple(none), Value::Tuple(all)) | (Value::Tuple(all), Value::Tuple(none)) if none.is_empty() && !all.is_group() => {
            Ok(Value::Tuple(*all))
        }
        (Value::Tuple(left), Value::Tuple(right)) => {
            let items = chain_items(runtime, left, right)?;
            runtime.tuple(&items)
        }
        (Value::Undefined(undefined), _) | (_, Value::Undefined(undefined)) => Err(undefined.error()),
        (Value::Str(text), _) if !text.is_markup() => Err(concat_error("str", right)),
        (Value::List(_), _) => Err(concat_error("list", right)),
        (Value::Tuple(_), _) => Err(concat_error("tuple", right)),
        _ => Err(unsupported_operands("+", left, right)),
    }
}

fn chain_items<'a>(runtime: &mut Runtime<'a>, left: &Seq<'a>, right: &Seq<'a>) -> Result<Vec<Value<'a>>> {
    let len = left.len() + right.len();
    runtime.meter.charge_items(len)?;
    runtime.check_values(len)?;
    Ok(left.iter().chain(right.iter()).collect())
}

/// Returns `left * right` for values that are not both numbers.
pub(super) fn repeat<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<Value<'a>> {
    // The methods of a Markup come before those of sequences, and treat an undefined value as any other object.
    match (left, right) {
        (Value::Undefined(undefined), _) => Err(undefined.error()),
        (Value::Str(text), count) if text.is_markup() => repeat_text(runtime, text, count.index()?),
        (count, Value::Str(text)) if text.is_markup() => repeat_text(runtime, text, count.index()?),
        (_, Value::Undefined(undefined)) => Err(undefined.error()),
        _ if is_sequence(left) => repeat_sequence(runtime, left, right),
        _ if is_sequence(right) => repeat_sequence(runtime, right, left),
        _ => Err(unsupported_operands("*", left, right)),
    }
}

fn repeat_sequence<'a>(runtime: &mut Runtime<'a>, sequence: &Value<'a>, count: &Value<'a>) -> Result<Value<'a>> {
    if count.as_integer().is_none() {
        let name = count.ty().name();
        return Err(Error::type_error(format!(
            "can't multiply sequence by non-int of type '{name}'"
        )));
    }
    let count = count.index()?;
    match sequence {
        Value::Str(text) => repeat_text(runtime, text, count),
        Value::Tuple(_) if count == 1 => Ok(*sequence),
        Value::Tuple(items) => {
            let items = repeat_items(runtime, items, count)?;
            runtime.tuple(&items)
        }
        Value::List(items) => {
            let items = repeat_items(runtime, items, count)?;
            runtime.list(&items)
        }
        _ => Err(unsupported_operands("*", sequence, &Value::Int(count))),
    }
}

fn repeat_text<'a>(runtime: &mut Runtime<'a>, text: &Str<'a>, count: i64) -> Result<Value<'a>> {
    if count == 1 || text.as_str().is_empty() {
        return Ok(Value::Str(*text));
    }
    runtime.meter.charge_bytes(text.as_str().len())?;
    let characters = char_count(text.as_str());
    let times = check_repetition(runtime, characters, text.as_str().len(), count, "repeated string is too long")?;
    let repeated = text.as_str().repeat(times);
    Ok(Value::Str(
        runtime.repeated_text(text, repeated)?.with_markup(text.is_markup()),
    ))
}

/// Checks the size of a repetition and returns the number of repetitions. `len` is the length that Python counts.
fn check_repetition<'a>(runtime: &mut Runtime<'a>, len: usize, bytes: usize, count: i64, too_long: &str) -> Result<usize> {
    let times = u64::try_from(count).unwrap_or(0);
    if (len as u64)
        .checked_mul(times)
        .is_none_or(|len| len > i64::MAX.unsigned_abs())
    {
        return Err(Error::new(ErrorKind::Overflow, too_long));
    }
    let bytes = check_memory(runtime, (bytes as u64).saturating_mul(times))?;
    runtime.meter.charge_bytes(bytes)?;
    Ok(usize::try_from(times).unwrap_or(usize::MAX))
}

/// Returns the number of bytes, or an error if the limits do not allow a value of this size.
fn check_memory<'a>(runtime: &Runtime<'a>, bytes: u64) -> Result<usize> {
    if bytes > MAX_MEMORY {
        return Err(Error::memory(LimitExceeded::new(Limit::Value, bytes, MAX_MEMORY)));
    }
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    runtime.meter.check_size(bytes)?;
    Ok(bytes)
}

fn repeat_items<'a>(runtime: &mut Runtime<'a>, items: &Seq<'a>, count: i64) -> Result<Vec<Value<'a>>> {
    // Repeating an empty sequence takes no time, however often.
    let times = if items.is_empty() {
        0
    } else {
        u64::try_from(count).unwrap_or(0)
    };
    let len = (items.len() as u64).saturating_mul(times);
    check_memory(runtime, len.saturating_mul(size_of::<Value<'_>>() as u64))?;
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    runtime.meter.charge_items(len)?;
    let mut repeated = Vec::with_capacity(len);
    (0..times).for_each(|_| repeated.extend(items.iter()));
    Ok(repeated)
}

/// Returns whether `*` repeats the value.
fn is_sequence(value: &Value<'_>) -> bool {
    matches!(value, Value::Str(_) | Value::List(_) | Value::Tuple(_))
}

#[cold]
fn concat_error(ty: &str, other: &Value<'_>) -> Error {
    let name = other.ty().name();
    Error::type_error(format!("can only concatenate {ty} (not \"{name}\") to {ty}"))
}
