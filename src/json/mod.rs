//! JSON text, read and written as Python's `json` does.
//!
//! ```text
//! read(r#"{"n": 10000000000000000000, "x": [1e999, NaN, -0]}"#)  ->  {n: BigInt, x: [inf, nan, 0]}
//! ```
//!
//! JSON text is read into [`Data`], because `serde_json::Value` cannot hold integers beyond 64 bits, `NaN` and `Infinity`, and does not
//! distinguish `-0` from `-0.0`. The rules are CPython 3.13 `json/decoder.py`, `json/encoder.py` and `_json.c`. Template values are
//! written as JSON by the filter `tojson`, which uses the escaping and the layout of this module.

mod error;
mod layout;
mod number;
pub(crate) mod pointer;
pub(crate) mod read;
mod scan;
mod serialize;
mod string;
pub(crate) mod tree;
mod unfinished;
pub(crate) mod write;

pub use error::{JsonError, JsonErrorKind};
pub(crate) use layout::Layout;
pub(crate) use pointer::escape_key;
pub use read::read;
pub(crate) use read::{read_bytes, read_until};
pub use serialize::to_data;
pub(crate) use tree::Entry;
pub use tree::{Data, Object};
pub(crate) use write::write_data;
pub(crate) use write::write_string;
pub(crate) use write::{write_escaped, write_float, write_short};
