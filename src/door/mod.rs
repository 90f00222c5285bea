//! Turns the body of a chat request into the messages that a template takes.
//!
//! ```text
//! {"messages": [{"role": "developer", "content": [{"type": "text", "text": "Be brief."}]}, …]}
//!     ->   [{"role": "system", "content": "Be brief."}, …]
//!          /messages/0: recast, /messages/0/content: joined
//! ```
//!
//! The [`Facts`](facts::Facts), which a report proves, say what has to change. A message that needs no change is borrowed from the body.

mod anthropic;
mod calls;
pub(crate) mod change;
mod chat;
mod check;
mod content;
mod facts;
mod fitter;
mod format;
mod merge;
pub(crate) mod message;
pub(crate) mod node;
mod path;
mod prepared;
pub(crate) mod record;
mod responses;
mod search;
mod sought;
mod tools;
pub(crate) mod variables;

pub use change::{Change, Changes, What};
pub use format::Format;
pub use prepared::{Body, Policy, PrepareOptions, Prepared};

use crate::error::{Error, ErrorClass, ErrorKind};

/// Returns an error about a value of the body. The message begins with the JSON pointer of the value.
fn wrong(path: String, message: impl std::fmt::Display) -> Error {
    let shown = if path.is_empty() { "the body" } else { &path };
    Error::new(ErrorKind::Value, format!("{shown}: {message}"))
        .without_line()
        .with_class(ErrorClass::Request)
        .about_input(path)
}
