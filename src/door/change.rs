//! The changes of a body, each with its place, kind and reason.

use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

use serde::{Serialize, Serializer};

use super::node::Node;

/// A change that was made to the body of a request, or a value of the body that the prompt does not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// The JSON pointer (RFC 6901) of the value in the body: `/messages/2/tool_calls/0/function/arguments`.
    pub path: String,
    /// The kind of change.
    pub what: What,
    /// The reason, followed by the verdict of the [`Report`](crate::Report) where there is one: `(takes.arguments)`.
    pub why: Cow<'static, str>,
}

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum What {
    /// A field, block or item of another format was brought into the form of Chat Completions.
    Translated,
    /// Arguments that were JSON text were parsed to an object.
    Parsed,
    /// Arguments are not the JSON that the template takes, and stay text.
    Unparsed,
    /// Arguments that were an object, or an empty text, were encoded as JSON text.
    Encoded,
    /// A list of parts was joined to a string, or its text parts to one part.
    Joined,
    /// A string was wrapped in a list of one part, or a flat tool in `{"type": "function", "function": …}`.
    Wrapped,
    /// The type of a part, or a field with reasoning, was renamed to what the template reads.
    Renamed,
    /// A message was given another role.
    Recast,
    /// A message was merged into an earlier one.
    Merged,
    /// Content that was null, absent or an empty list was set to an empty text.
    Emptied,
    /// Empty content or an empty list of calls was removed.
    Omitted,
    /// A result was given the name of the called function.
    Named,
    /// A result was moved to the place of its call among others, a block after the results of its message, or a system message to the
    /// beginning.
    Moved,
    /// The value is not in the prompt.
    Dropped,
}

impl What {
    /// Returns the name, such as `parsed`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Translated => "translated",
            Self::Parsed => "parsed",
            Self::Unparsed => "unparsed",
            Self::Encoded => "encoded",
            Self::Joined => "joined",
            Self::Wrapped => "wrapped",
            Self::Renamed => "renamed",
            Self::Recast => "recast",
            Self::Merged => "merged",
            Self::Emptied => "emptied",
            Self::Omitted => "omitted",
            Self::Named => "named",
            Self::Moved => "moved",
            Self::Dropped => "dropped",
        }
    }
}

/// `/messages/1: merged, the template does not take two system messages (takes.two_systems is false)`
impl fmt::Display for Change {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}, {}", self.path, self.what.name(), self.why)
    }
}

/// The changes of a body: those that were made before the render, and the texts that the first render dropped.
///
/// The second list is in a `OnceLock`, because [`Prepared::apply`](super::Prepared::apply) takes the request by shared reference.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    made: Vec<Change>,
    /// The addresses of the values that are known to be dropped before the render.
    dropped_values: Vec<usize>,
    dropped: OnceLock<Vec<Change>>,
}

impl Changes {
    /// Adds a change.
    pub(super) fn add(&mut self, path: String, what: What, why: impl Into<Cow<'static, str>>) {
        let why = why.into();
        self.made.push(Change { path, what, why });
    }

    /// Adds a value of the body to those that are not in the prompt. The caller adds the change.
    pub(super) fn add_dropped(&mut self, value: Node<'_>) {
        self.dropped_values.push(value.address());
    }

    /// Returns whether a value of the body is known to be dropped before the render.
    pub(super) fn is_dropped(&self, value: Node<'_>) -> bool {
        !self.dropped_values.is_empty() && self.dropped_values.binary_search(&value.address()).is_ok()
    }

    /// Sorts the addresses of the values that are dropped, for the search by address.
    pub(super) fn sort_dropped(&mut self) {
        self.dropped_values.sort_unstable();
    }

    /// Sets the texts that the render dropped, unless an earlier render set them.
    pub(super) fn set_dropped(&self, dropped: Vec<Change>) {
        self.dropped.get_or_init(|| dropped);
    }

    /// Returns the changes, in the order in which they were made.
    pub fn iter(&self) -> impl Iterator<Item = &Change> {
        self.into_iter()
    }

    /// Returns the number of changes.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Returns whether nothing was changed.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}

impl<'c> IntoIterator for &'c Changes {
    type Item = &'c Change;
    type IntoIter = std::iter::Chain<std::slice::Iter<'c, Change>, std::slice::Iter<'c, Change>>;

    fn into_iter(self) -> Self::IntoIter {
        let dropped = self.dropped.get().map_or(&[] as &[Change], Vec::as_slice);
        self.made.iter().chain(dropped)
    }
}

impl Serialize for Changes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self)
    }
}
