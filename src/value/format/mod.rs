//! Python's formatting: `str.format`, `format(value, spec)` and `%`.

mod conversion;
mod percent;
mod replacement;
mod str_format;

pub use percent::format_percent;
pub use str_format::{Fields, Named, format_str};
