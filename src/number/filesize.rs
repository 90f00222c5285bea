//! The filter `filesizeformat`: `1500` is `1.5 kB`, and with binary prefixes `1024` is `1.0 KiB`.
//!
//! The rule is jinja2's `do_filesizeformat`. The caller converts strings and integers to floats.

use super::digits::{FloatFormat, Notation, format_float};
use super::int_float::truncate;
use super::text::int_text;
use crate::error::Result;

/// The units of file sizes in powers of 1000 bytes.
const DECIMAL: [&str; 8] = ["kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"];

/// The units of file sizes in powers of 1024 bytes.
const BINARY: [&str; 8] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"];

/// Returns a number of bytes as text with a unit.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a float is below an integer if it is without its fraction, and Python too rounds the size of a unit"
)]
pub fn filesize(bytes: f64, is_binary: bool) -> Result<String> {
    let (base, units) = if is_binary { (1024_u128, BINARY) } else { (1000, DECIMAL) };
    if bytes == 1.0 {
        return Ok("1 Byte".to_owned());
    }
    let is_below = |end: u128| !bytes.is_nan() && (bytes as u128) < end;
    if is_below(base) {
        let whole = int_text(truncate(bytes)?.as_ref())?;
        return Ok(format!("{whole} Bytes"));
    }
    // Each unit with the first size that is too large for it. The largest, 1024**9, has 91 bits.
    let mut ends = (2..).map(|exponent| base.saturating_pow(exponent)).zip(units).peekable();
    while let Some((end, unit)) = ends.next() {
        if is_below(end) || ends.peek().is_none() {
            let count = base as f64 * bytes / end as f64;
            let format = FloatFormat {
                notation: Notation::Fixed,
                precision: 1,
                ..FloatFormat::default()
            };
            let digits = format_float(count, &format, 1)?;
            return Ok(format!("{digits} {unit}"));
        }
    }
    Ok(String::new())
}
