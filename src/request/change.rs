//! What was changed of a body for a template.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;

/// A change of a body: the prompt has a value of it in another form, in another place, or not at all.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// The JSON pointer of the value in the body.
    pub path: String,
    /// What was done with the value.
    pub kind: ChangeKind,
    /// Why the template needs it.
    pub reason: Cow<'static, str>,
    /// How much of what the body says it affects.
    pub severity: Severity,
}

/// How much of what the body says a change affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The prompt says the same in another form.
    Reshaped,
    /// The prompt says it in another place or as another speaker.
    Moved,
    /// The prompt does not say it.
    Lost,
}

/// What was done with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChangeKind {
    /// Several parts became one string.
    Joined,
    /// A string became a part, or a tool got an object around it.
    Wrapped,
    /// The object around a function was left out.
    Unwrapped,
    /// JSON text became a value.
    Parsed,
    /// A value became JSON text.
    Encoded,
    /// An absent content became an empty one.
    Emptied,
    /// An empty content became null.
    Omitted,
    /// A value that the template needs was added.
    Filled,
    /// An identifier, a key or a type got another name.
    Renamed,
    /// A message got another role.
    Recast,
    /// A value is in another place.
    Moved,
    /// A message became several.
    Split,
    /// Messages became one.
    Merged,
    /// A message without content was added before this one.
    Inserted,
    /// The prompt has the value in a notation that is none of the template's: as Python or JSON prints a part, or encoded twice.
    Garbled,
    /// The prompt does not have the value.
    Dropped,
}

/// The names of the kinds, in their order.
#[rustfmt::skip]
const NAMES: [&str; 16] = [
    "joined", "wrapped", "unwrapped", "parsed", "encoded", "emptied", "omitted", "filled", "renamed", "recast", "moved", "split", "merged",
    "inserted", "garbled", "dropped",
];

impl Change {
    /// Makes a change, with the severity of its kind.
    pub(super) fn new(path: String, kind: ChangeKind, reason: impl Into<Cow<'static, str>>) -> Self {
        Self {
            path,
            kind,
            reason: reason.into(),
            severity: kind.severity(),
        }
    }
}

/// `/messages/1: merged, the template takes one system message`
impl fmt::Display for Change {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}, {}", self.path, self.kind.name(), self.reason)
    }
}

impl ChangeKind {
    /// Returns the name, such as `parsed`.
    pub fn name(self) -> &'static str {
        NAMES.get(self as usize).copied().unwrap_or_default()
    }

    /// Returns how much of what the body says a change of this kind affects.
    pub fn severity(self) -> Severity {
        match self {
            Self::Dropped | Self::Garbled => Severity::Lost,
            Self::Recast | Self::Moved | Self::Split | Self::Merged | Self::Inserted => Severity::Moved,
            _ => Severity::Reshaped,
        }
    }
}
