//! Algorithms on text that know nothing of values: what Python's `str` methods, jinja2's text filters
//! and markupsafe do, as functions from `&str` to `&str` or `String`.
//!
//! ```text
//! strip::strip("  a ", None)                   "a", a piece of the input
//! search::find("hello", "l", None, Some(-2))   Some(2), counted in code points
//! quote::write_repr(&mut output, "it's")       "it's" with double quotes
//! ```
//!
//! A result that is a piece of the input is borrowed from it. What may be longer than its input is
//! written by a `write_...` function into any `fmt::Write`, so that a caller can meter each piece;
//! `measure::written_len` runs the same function only to count. Where a small input may ask for a
//! huge result (padding, tabs, replacement), the length is computed and never counted out.
//!
//! Each algorithm takes time linear in its input and output. Unknown here: values, Markup, errors
//! with a kind, limits. Indices are code points, as everywhere in Python; where a function takes
//! `i64` bounds, the caller has brought larger integers into that range as CPython does.

pub mod blocks;
pub mod chunk;
pub mod escape;
pub mod indent;
pub mod lines;
pub mod measure;
pub mod pad;
pub mod quote;
pub mod replace;
pub mod same;
pub mod search;
pub mod slice;
pub mod split;
pub mod strip;
pub mod title;
pub mod truncate;
pub mod word;
pub mod wrap;
