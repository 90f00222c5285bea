//! Faults of style in the source of a template.

use serde::Serialize;

/// A fault of style in the source of a template.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The name of the rule.
    pub rule: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong, and why.
    pub message: String,
    /// How to write it instead.
    pub instead: String,
}
