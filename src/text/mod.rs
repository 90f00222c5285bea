//! Algorithms on text: Python's `str` methods, jinja2's text filters and markupsafe, as functions from `&str` to `&str` or `String`.
//!
//! ```text
//! strip::strip("  a ", None)                   "a", a piece of the input
//! search::find("hello", "l", None, Some(-2))   Some(2), counted in code points
//! quote::write_repr(&mut output, "it's")       "it's" in double quotes
//! ```
//!
//! A result that is a part of the input borrows from it. A result that may be longer than its input is written by a `write_…` function
//! into any `fmt::Write`, so that a caller can meter each piece; `written::Length` only counts the bytes. If a
//! small input can ask for a huge result, as in padding, the length is computed before anything is written.
//!
//! Each algorithm takes time linear in its input and output. This module does not know values, Markup, error kinds or limits. Indices
//! count code points, as in Python. A caller clamps larger integers to `i64`, as CPython clamps them to `ssize_t`.

pub mod escape;
pub mod lines;
pub mod message;
pub mod pad;
pub mod quote;
pub mod replace;
pub mod scan_blocks;
pub mod search;
pub mod short_eq;
pub mod slice;
pub mod split;
pub mod strip;
pub mod words;
pub mod wrap;
pub mod wrap_chunks;
pub mod written;
