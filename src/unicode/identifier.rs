//! Identifiers of Python: their normal form, and the keywords.
//!
//! ```text
//! nfkc("ﬁ")    "fi"
//! ```
//!
//! Normalisation comes from the crate `unicode-normalization`, which has a later Unicode. This makes no difference for identifiers: their
//! characters are assigned in Unicode 15.1, and the normal form of an assigned character never changes. The rule is CPython's `pegen.c`
//! `_PyPegen_new_identifier`.

use std::borrow::Cow;
use unicode_normalization::UnicodeNormalization;

/// Returns an identifier in normal form KC, which Python's compiler uses for local names.
pub fn nfkc(identifier: &str) -> Cow<'_, str> {
    if identifier.is_ascii() {
        return Cow::Borrowed(identifier);
    }
    Cow::Owned(identifier.nfkc().collect())
}

/// The keywords of Python (`keyword.kwlist`).
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else",
    "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise",
    "return", "try", "while", "with", "yield",
];

/// Returns whether a name is a keyword of Python (`keyword.iskeyword`).
pub fn is_python_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}
