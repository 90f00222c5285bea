//! Turns the body of a chat request into the messages that a template takes.

mod format;
mod node;
mod normal;
mod read;

use crate::error::{Error, ErrorClass, ErrorKind};

/// Returns an error about a value of the body. The message begins with the JSON pointer of the value.
fn wrong(path: String, message: impl std::fmt::Display) -> Error {
    let shown = if path.is_empty() { "the body" } else { &path };
    Error::new(ErrorKind::Value, format!("{shown}: {message}"))
        .without_line()
        .with_class(ErrorClass::Request)
        .about_input(path)
}
