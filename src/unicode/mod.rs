//! Classes and case mappings of characters and strings as in CPython 3.13, which has Unicode 15.1.
//!
//! The standard library has a later Unicode and other properties: `char::is_alphabetic` is not `str.isalpha`, and `char::is_whitespace`
//! lacks U+001C to U+001F. So this crate uses these functions for all characters outside ASCII. Only the case mappings are those of the
//! standard library, between the characters of Unicode 15.1.
//!
//! ```text
//! is_alpha('\u{345}')      false    a combining mark, which is alphabetic for the standard library
//! to_lower("ΑΣ")           "ας"     a final sigma
//! ```
//!
//! The rules are CPython's `unicodectype.c` and `unicodeobject.c`. The script `tests/reference/unicode_tables.py` writes the tables by
//! calling the reference.

mod case;
pub mod class;
mod identifier;
mod predicates;
mod tables;

pub use case::{capitalize, casefold, swapcase, to_lower, to_title, to_upper};
pub use class::{
    decimal_value, is_alnum, is_alpha, is_decimal, is_digit, is_name, is_numeric, is_printable, is_whitespace, is_word,
};
pub use identifier::{is_python_keyword, nfkc};
pub use predicates::{has_only, is_identifier, is_lower_str, is_printable_str, is_title_str, is_upper_str};
