//! The global function `range`.
//!
//! `{{ range(5, 0, -2)|list }}` is `[5, 3, 1]`. The rules are those of CPython 3.13 `rangeobject.c` (`range_from_array`,
//! `compute_range_length`) and jinja2 3.1.6 `sandbox.py` (`safe_range`), which allows 100000 items.

use crate::builtins::table::built_ins;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{Limit, LimitExceeded};
use crate::number::IntRef;
use crate::value::{Range, Type, Value};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive, Zero};

/// The maximum number of items that the sandbox allows.
const MAX_RANGE: i64 = 100_000;

built_ins! { RANGE:
    /// Returns the integers from a start to a stop: `range(stop)`, `range(start, stop, step)`.
    Python "safe_range".with_type(Type::Function) fn range(runtime, *bounds[Count, Count, Count]) -> Range {
        for bound in &bounds {
            let bits = bound.as_integer().map_or(0, IntRef::bit_length);
            runtime.meter.charge(bits >> 7)?;
        }
        let (start, stop, step) = match bounds.as_slice() {
            [] => return Err(Error::type_error("range expected at least 1 argument, got 0")),
            [stop] => (BigInt::ZERO, read_integer(stop)?, BigInt::from(1)),
            [start, stop] => (read_integer(start)?, read_integer(stop)?, BigInt::from(1)),
            [start, stop, step] => (read_integer(start)?, read_integer(stop)?, read_integer(step)?),
            _ => {
                let count = bounds.len();
                return Err(Error::type_error(format!("range expected at most 3 arguments, got {count}")));
            }
        };
        if step.is_zero() {
            return Err(Error::value("range() arg 3 must not be zero"));
        }
        let len = count_items(&start, &stop, &step);
        let overflow = |message: String| Err(Error::new(ErrorKind::Overflow, message));
        let Some(len) = len.to_i64() else {
            return overflow("Python int too large to convert to C ssize_t".to_owned());
        };
        if len > MAX_RANGE {
            return overflow(format!(
                "Range too big. The sandbox blocks ranges larger than MAX_RANGE ({MAX_RANGE})."
            ));
        }
        match (start.to_i64(), stop.to_i64(), step.to_i64()) {
            (Some(start), Some(stop), Some(step)) => runtime.store(Range { start, stop, step, len }).map(Value::Range),
            _ => {
                // The sign takes one more bit.
                let bits = [&start, &stop, &step].map(BigInt::bits).into_iter().max();
                let reached = LimitExceeded::new(Limit::RangeBits, bits.unwrap_or(0).saturating_add(1), 64);
                Err(Error::limit(reached))
            }
        }
    }
}

fn read_integer(value: &Value<'_>) -> Result<BigInt> {
    match value.as_integer() {
        Some(int) => Ok(int.to_big().into_owned()),
        None => value.index().map(BigInt::from),
    }
}

/// Returns the number of items of a range.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "big integers do not overflow, and a difference has at most one more bit"
)]
fn count_items(start: &BigInt, stop: &BigInt, step: &BigInt) -> BigInt {
    let distance = if step.is_negative() { start - stop } else { stop - start };
    if distance.is_positive() {
        distance.div_ceil(&step.abs())
    } else {
        BigInt::ZERO
    }
}
