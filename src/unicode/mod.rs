//! Characters and strings as CPython 3.11 (Unicode 14) classifies and cases them.
//!
//! `std` follows a later Unicode and other properties: `char::is_alphabetic` is not `str.isalpha`,
//! `char::is_whitespace` lacks U+001C to U+001F. So nothing in this crate asks `std` about a
//! character outside ASCII; it asks here:
//!
//! ```text
//! is_alpha('\u{345}')      false    a combining mark, alphabetic to std
//! to_lower("ΑΣ")           "ας"     a final sigma
//! ```
//!
//! Strings here are plain `&str`: values, errors and Python objects are unknown to this module. The
//! rules are those of CPython's `unicodectype.c` and `unicodeobject.c`; the tables are observed from
//! the reference by `tests/reference/unicode_tables.py`.

mod case;
mod class;
mod identifier;
mod predicates;
mod tables;

pub use case::{capitalize, casefold, swapcase, to_lower, to_title, to_upper};
pub use class::{decimal_value, is_decimal, is_printable, is_whitespace, is_word, is_xid_continue};
pub use identifier::{is_python_keyword, nfkc};
pub use predicates::{
    is_alnum_str, is_alpha_str, is_ascii_str, is_decimal_str, is_digit_str, is_identifier, is_lower_str, is_numeric_str,
    is_printable_str, is_space_str, is_title_str, is_upper_str,
};

/// The digest that `tests/reference/unicode_tables.py` takes of a property: FNV-1a over numbers.
#[cfg(test)]
fn digest(numbers: impl Iterator<Item = u32>) -> u64 {
    numbers.fold(0xcbf2_9ce4_8422_2325, |state, number| {
        (state ^ u64::from(number)).wrapping_mul(0x100_0000_01b3)
    })
}

/// The digest of the property of that name, as the reference has it.
#[cfg(test)]
fn reference_digest(name: &str) -> u64 {
    let found = tables::DIGESTS.iter().find(|(property, _)| *property == name);
    found.expect("the tables have a digest of that name").1
}
