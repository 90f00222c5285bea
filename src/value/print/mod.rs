//! Conversions of values to text: Python's `str`, `repr` and `ascii`.

mod objects;
mod repr;

pub(super) use objects::class_path;
pub(super) use repr::DIGITS;
pub use repr::{ascii, escape_non_ascii, repr, to_str, write_repr, write_str};
