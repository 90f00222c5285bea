//! The failure of a row.

use chat_template::Error;

/// Why a row has no prompt.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The name of the cause.
    pub kind: String,
    /// The JSON pointer of the place in the row, which is empty if the failure is about the whole row.
    pub pointer: String,
    pub message: String,
}

impl Failure {
    pub fn new(kind: &str, message: impl Into<String>) -> Self {
        Self::at(kind, String::new(), message)
    }

    pub fn at(kind: &str, pointer: String, message: impl Into<String>) -> Self {
        Self {
            kind: kind.to_owned(),
            pointer,
            message: message.into(),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::new(error.kind().name(), error.to_string())
    }
}
