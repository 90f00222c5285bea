//! Names as Python's compiler sees them: their normal form, and which are words of the language.
//!
//! ```text
//! nfkc("ﬁ")    "fi"
//! ```
//!
//! The door of the crate `unicode-normalization`, which knows a later Unicode. That makes no
//! difference for identifiers: their characters are assigned in Unicode 14, and the normal form of
//! what is assigned never changes. The rule is that of CPython's `pegen.c`, `_PyPegen_new_identifier`.

use std::borrow::Cow;
use unicode_normalization::UnicodeNormalization;

/// The identifier in normal form KC, which is how Python's compiler knows a local name.
pub fn nfkc(identifier: &str) -> Cow<'_, str> {
    if identifier.is_ascii() {
        return Cow::Borrowed(identifier);
    }
    Cow::Owned(identifier.nfkc().collect())
}

/// Whether Python keeps a name to itself (`keyword.iskeyword`).
pub fn is_python_keyword(name: &str) -> bool {
    matches!(
        name,
        "False"
            | "None"
            | "True"
            | "and"
            | "as"
            | "assert"
            | "async"
            | "await"
            | "break"
            | "class"
            | "continue"
            | "def"
            | "del"
            | "elif"
            | "else"
            | "except"
            | "finally"
            | "for"
            | "from"
            | "global"
            | "if"
            | "import"
            | "in"
            | "is"
            | "lambda"
            | "nonlocal"
            | "not"
            | "or"
            | "pass"
            | "raise"
            | "return"
            | "try"
            | "while"
            | "with"
            | "yield"
    )
}

#[cfg(test)]
mod tests {
    use super::super::{digest, is_xid_continue, reference_digest};
    use super::*;

    #[test]
    fn normal_forms_are_the_references_over_all_identifier_characters() {
        let normal = ('\0'..=char::MAX).filter(|&char| is_xid_continue(char)).flat_map(|char| {
            let text = String::from(char);
            nfkc(&text).chars().map(u32::from).collect::<Vec<_>>()
        });
        assert_eq!(digest(normal), reference_digest("NFKC"));
    }

    #[test]
    fn ascii_is_borrowed() {
        assert!(matches!(nfkc("loop"), Cow::Borrowed("loop")));
        assert_eq!(nfkc("ﬁ"), "fi");
        assert_eq!(nfkc("e\u{301}"), "é");
    }
}
