//! Conversions of values to text: Python's `str`, `repr` and `ascii`, and JSON.

mod objects;
mod repr;
mod to_json;

pub(super) use objects::class_path;
pub use repr::{ascii, repr, to_str, write_str};
pub use to_json::{JsonOptions, write_json};
