//! The failure of a row.

use std::fmt;

use chat_template::Error;

/// Why a row has no prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The name of the cause.
    pub kind: String,
    /// The JSON pointer of the place in the row, which is empty if the failure is about the whole row.
    pub pointer: String,
    /// What is wrong.
    pub message: String,
}

impl Failure {
    /// Makes a failure of the whole row.
    pub fn new(kind: &str, message: impl Into<String>) -> Self {
        Self::at(kind, String::new(), message)
    }

    /// Makes a failure of a part of the row.
    pub fn at(kind: &str, pointer: String, message: impl Into<String>) -> Self {
        Self {
            kind: kind.to_owned(),
            pointer,
            message: message.into(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_at(formatter, &self.pointer, &self.message)
    }
}

impl std::error::Error for Failure {}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::new(error.kind().name(), error.to_string())
    }
}

/// Writes a message after the place that it is about.
pub fn write_at(formatter: &mut fmt::Formatter<'_>, pointer: &str, message: &str) -> fmt::Result {
    if pointer.is_empty() {
        formatter.write_str(message)
    } else {
        write!(formatter, "{pointer}: {message}")
    }
}
