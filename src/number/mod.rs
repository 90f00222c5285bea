//! Python's numbers and their text: arithmetic, rounding, parsing, printing, formatting.
//!
//! All functions work on [`Int`], `f64` and `&str`, and have the results and error messages of CPython 3.13: `7.5 // 2` is `3.0`, `2**100`
//! is exact, `'%.2f' % 2.675` is `2.67`. This module does not know values, templates or positions; a caller converts booleans to 0 and 1. A
//! function whose result can grow takes a limit and returns the error of the limit before it computes the result.

pub mod arithmetic;
pub mod digits;
pub mod error;
pub mod filesize;
pub mod float;
pub mod int;
pub mod int_arithmetic;
pub mod int_float;
pub mod parse;
pub mod round;
pub mod spec;
pub mod text;

pub use int::{Int, IntRef, Number, NumberRef};
