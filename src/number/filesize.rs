//! The filter `filesizeformat`: `1500` is `1.5 kB`, and with binary prefixes `1024` is `1.0 KiB`.
//!
//! The rule is jinja2's `do_filesizeformat`. The caller converts strings to numbers.

use super::arithmetic::to_float;
use super::digits::{FloatFormat, Notation, format_float};
use super::int::{IntRef, NumberRef};
use super::int_arithmetic::power;
use super::int_float::{compare, int_to_float, truncate};
use super::text::int_text;
use crate::error::Result;

/// The units of file sizes in powers of 1000 bytes.
const DECIMAL: [&str; 8] = ["kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"];

/// The units of file sizes in powers of 1024 bytes.
const BINARY: [&str; 8] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"];

/// Returns a number of bytes as text with a unit.
pub fn filesize(bytes: NumberRef<'_>, is_binary: bool) -> Result<String> {
    let bytes = to_float(bytes)?;
    let (base, units) = if is_binary { (1024_u32, BINARY) } else { (1000, DECIMAL) };
    if bytes == 1.0 {
        return Ok("1 Byte".to_owned());
    }
    if is_below(bytes, IntRef::Small(i64::from(base))) {
        let whole = int_text(truncate(bytes)?.as_ref())?;
        return Ok(format!("{whole} Bytes"));
    }
    // The first size that is too large for the unit. The largest, 1024**9, has 91 bits.
    let end_of_unit = |exponent| power(IntRef::Small(i64::from(base)), IntRef::Small(exponent), 128);
    let (mut end, mut unit) = (end_of_unit(2)?, units[0]);
    for (exponent, larger) in (3..).zip(&units[1..]) {
        if is_below(bytes, end.as_ref()) {
            break;
        }
        (end, unit) = (end_of_unit(exponent)?, larger);
    }
    let count = f64::from(base) * bytes / int_to_float(end.as_ref())?;
    let digits = format_float(count, &FloatFormat::new(Notation::Fixed, 1), 1)?;
    Ok(format!("{digits} {unit}"))
}

/// Returns `float < int`.
fn is_below(float: f64, int: IntRef<'_>) -> bool {
    compare(NumberRef::Float(float), NumberRef::Int(int)).is_some_and(std::cmp::Ordering::is_lt)
}
