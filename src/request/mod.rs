//! Turns the body of a chat request into what a template takes, by the outcome of renders.
//!
//! ```text
//! body -> read -> Normal -> write(Normal, Plan) -> messages, tools, changes -> render -> judge -> Outcome -> search
//! ```
//!
#![doc = include_str!("server.md")]

mod change;
mod constraints;
mod format;
mod judge;
mod memory;
mod normal;
mod operators;
mod options;
mod places;
mod plan;
mod prepared;
mod read;
mod reasons;
mod search;
mod sketch;
mod variables;
mod write;

pub use change::{Change, ChangeKind, Severity};
pub use constraints::ToolChoice;
pub use format::Format;
pub use options::{After, LaterSystem, Policy, PrepareOptions};
pub use prepared::{CountTokens, Media, Prepared};

use crate::error::{Error, ErrorClass, ErrorKind, Result};
use crate::meter::{Claim, Meter};

/// Returns an error about a value of the body. The message begins with the JSON pointer of the value.
fn wrong(path: String, message: impl std::fmt::Display) -> Error {
    let shown = if path.is_empty() { "the body" } else { &path };
    Error::new(ErrorKind::Value, format!("{shown}: {message}"))
        .without_line()
        .with_class(ErrorClass::Request)
        .about_input(path)
}

/// Claims memory that can be larger than the largest value, in parts of 64 KiB.
fn claim_parts(meter: &mut Meter<'_>, bytes: usize) -> Result<Vec<Claim>> {
    let parts = (0..bytes).step_by(64 << 10);
    parts.map(|start| meter.claim((bytes - start).min(64 << 10))).collect()
}

/// Returns the characters before and after each occurrence of a word in a source.
fn neighbors(source: &str, word: &str) -> impl Iterator<Item = (Option<char>, Option<char>)> {
    source.match_indices(word).map(|(at, word)| {
        let (before, rest) = source.split_at(at);
        let after = rest.strip_prefix(word).and_then(|rest| rest.chars().next());
        (before.chars().next_back(), after)
    })
}

/// Returns whether a character is a quote of a string in a source.
fn is_quote(character: Option<char>) -> bool {
    matches!(character, Some('\'' | '"'))
}
