//! Python's numbers and their text: arithmetic, rounding, parsing, printing, formatting.
//!
//! Everything here is a function over [`Int`], `f64` and `&str`, with the answers and the error texts of CPython 3.11:
//! `7.5 // 2` is `3.0`, `2**100` is exact, `'%.2f' % 2.675` is `2.67`. Nothing here knows a value, a template or a place; booleans are
//! the integers 0 and 1 before they come here. What can grow takes a limit and answers [`NumberError::TooLarge`] before it computes.

pub mod arithmetic;
pub mod digits;
pub mod error;
pub mod filesize;
pub mod float;
pub mod int;
pub mod int_arithmetic;
pub mod int_float;
pub mod layout;
pub mod parse;
pub mod percent;
pub mod round;
pub mod spec;
pub mod text;

pub use error::{NumberError, NumberResult};
pub use int::{Int, IntRef, Number, NumberRef};
