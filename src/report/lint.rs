//! Faults in the source of a template.

use serde::Serialize;

/// A fault in the source of a template.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The name of the rule: `python-method`.
    pub rule: String,
    /// The group of the rule: `portable`, `white space`, `tokens` or `reading`.
    pub group: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The text of the line, or its beginning if the line has more than 16 KiB.
    pub excerpt: String,
    /// The fault, in a sentence.
    pub message: String,
    /// The harm that it does.
    pub why: String,
    /// The code to write instead.
    pub instead: String,
}
