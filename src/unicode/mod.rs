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
//! The rules are CPython's `unicodectype.c` and `unicodeobject.c`. The script `tests/reference/unicode_tables.py` generates the tables by
//! calling the reference.

mod case;
mod class;
mod identifier;
mod predicates;
mod tables;

pub use case::{capitalize, casefold, swapcase, to_lower, to_title, to_upper};
pub use class::{
    decimal_value, is_alnum, is_alpha, is_decimal, is_digit, is_name, is_numeric, is_printable, is_whitespace, is_word,
};
pub use identifier::{is_python_keyword, nfkc};
pub use predicates::{has_only, is_identifier, is_lower_str, is_printable_str, is_title_str, is_upper_str};

/// Computes the digest that `tests/reference/unicode_tables.py` takes of a property: FNV-1a over numbers.
#[cfg(test)]
fn digest(numbers: impl Iterator<Item = u32>) -> u64 {
    numbers.fold(0xcbf2_9ce4_8422_2325, |state, number| {
        (state ^ u64::from(number)).wrapping_mul(0x100_0000_01b3)
    })
}

/// Returns the reference's digest of a property.
#[cfg(test)]
fn reference_digest(name: &str) -> u64 {
    let found = tables::DIGESTS.iter().find(|(property, _)| *property == name);
    found.expect("the tables have a digest of that name").1
}
