//! The predicates of Python's `str`: `isalpha`, `istitle`, `isidentifier` and others.
//!
//! ```text
//! has_only("", is_alpha)    false
//! is_upper_str("A1")        true     uncased characters are ignored
//! is_title_str("A Bc")      true
//! ```
//!
//! The properties of single characters are in `class.rs`. The rules are those of CPython 3.13 `unicodeobject.c`,
//! `unicode_isalpha_impl` and the similar functions around it.

use super::class;

/// `str.isalpha`, `str.isdigit` and others: the text is not empty, and all its characters have a property.
pub fn has_only(text: &str, property: fn(char) -> bool) -> bool {
    !text.is_empty() && text.chars().all(property)
}

/// `str.isprintable`: all characters are printable. It is true for the empty string.
pub fn is_printable_str(text: &str) -> bool {
    text.chars().all(class::is_printable)
}

/// `str.isidentifier`: the text has the form of an identifier. It does not normalise and accepts keywords.
pub fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    let first = chars.next();
    first.is_some_and(|char| char == '_' || class::is_xid_start(char)) && chars.all(class::is_xid_continue)
}

/// `str.islower`: some character is lower case, and none is upper or title case.
pub fn is_lower_str(text: &str) -> bool {
    has_only_case(text, class::is_lowercase, class::is_uppercase)
}

/// `str.isupper`: some character is upper case, and none is lower or title case.
pub fn is_upper_str(text: &str) -> bool {
    has_only_case(text, class::is_uppercase, class::is_lowercase)
}

/// Returns whether some character has the wanted case, and none has the other case or title case.
fn has_only_case(text: &str, wanted: fn(char) -> bool, other: fn(char) -> bool) -> bool {
    let mut seen = false;
    for char in text.chars() {
        if other(char) || class::is_titlecase(char) {
            return false;
        }
        seen = seen || wanted(char);
    }
    seen
}

/// `str.istitle`: upper and title case occur only after uncased characters, and lower case only after cased ones.
pub fn is_title_str(text: &str) -> bool {
    let mut seen = false;
    let mut previous_is_cased = false;
    for char in text.chars() {
        if class::is_uppercase(char) || class::is_titlecase(char) {
            if previous_is_cased {
                return false;
            }
            previous_is_cased = true;
            seen = true;
        } else if class::is_lowercase(char) {
            if !previous_is_cased {
                return false;
            }
            seen = true;
        } else {
            previous_is_cased = false;
        }
    }
    seen
}
