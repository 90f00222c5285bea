//! JSON text, read and written as Python's `json` does it.
//!
//! ```text
//! read(r#"{"n": 10000000000000000000, "x": [1e999, NaN, -0]}"#, DEPTH)  ->  {n: BigInt, x: [inf, nan, 0]}
//! ```
//!
//! Where this crate reads JSON text itself it needs what `serde_json::Value` cannot hold: integers beyond 64 bits, `-0` apart from
//! `-0.0`, `NaN` and `Infinity`. The rules are those of CPython 3.11 `json/decoder.py`, `json/encoder.py` and `_json.c`. The trees are
//! [`Data`]; how template values become text (`tojson`) is the value floor's, which takes the escaping and the [`Layout`] from
//! here.

mod error;
mod layout;
mod number;
mod read;
mod scan;
mod serialize;
mod string;
mod write;

pub use crate::data::{Data, Entry, Object};
pub use error::{JsonError, JsonErrorKind};
pub use layout::Layout;
pub use read::{DEPTH, read, read_bytes};
pub use serialize::to_data;
pub use write::{write_data, write_float, write_string};
pub(crate) use write::{write_escaped, write_short};
