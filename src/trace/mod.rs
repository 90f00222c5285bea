//! Records where each character of an output came from.
//!
//! ```text
//! <s>[INST] Hi [/INST]   ->   0..3 the token bos_token, 3..10 line 4 of the template, 10..12 /messages/0/content, 12..20 line 4
//! ```
//!
//! [`Pieces`] belong to each string that a render makes: they say where its bytes came from, and which of them a `{% generation %}` block
//! wrote. A piece that was copied has only its place in memory; [`InputMap`] knows what is there. At the end, the pieces of the output
//! become the parts of a [`Trace`], and [`Segment`]s when these are asked for.

mod copies;
mod find;
mod input_part;
mod known;
mod literals;
mod map;
mod owners;
mod paths;
mod pieces;
mod segments;
mod sets;
mod source;
mod spans;
mod union;

#[cfg(feature = "internal")]
pub use copies::Sources;
pub use copies::{Copied, Copies, From, Keeps};
pub use input_part::InputPart;
pub use known::Role;
pub use literals::Literals;
pub use map::{Container, InputMap, Storage, Unseen};
pub use paths::{Paths, ROOT};
pub use pieces::{Piece, Pieces};
pub use segments::{Part, Place, Trace};
pub use source::{Address, Owner, PieceOrigin, free_spare_text};
pub use spans::{Points, Spans};
pub use union::Union;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap, Serializer};

/// A stretch of a prompt whose characters came from one place.
///
/// The segments of a prompt follow one another without gaps, none is empty, and neighbours differ in their origin or their message.
///
/// ```
/// use chat_template::{ApplyOptions, ChatTemplate, Origin};
///
/// let template = ChatTemplate::from_source(
///     "{{ bos_token }}{% for m in messages %}[INST] {{ m.content|trim }} [/INST]{% endfor %}",
///     &[("bos_token", "<s>")],
/// )?;
/// let messages = serde_json::json!([{"role": "user", "content": " Hi"}]);
/// let prompt = template.apply(&messages, &ApplyOptions::default().with_trace(true))?;
/// assert_eq!(prompt.text, "<s>[INST] Hi [/INST]");
/// assert_eq!(serde_json::to_value(prompt.segments()).unwrap(), serde_json::json!([
///     {"start": 0, "end": 3, "from": "token", "name": "bos_token"},
///     {"start": 3, "end": 10, "from": "template", "line": 1, "message": 0},
///     {"start": 10, "end": 12, "from": "input", "path": "/messages/0/content", "at": [1, 3], "message": 0},
///     {"start": 12, "end": 20, "from": "template", "line": 1, "message": 0},
/// ]));
/// # Ok::<(), chat_template::Error>(())
/// ```
#[derive(Clone)]
pub struct Segment {
    part: Part,
    code_points: [u32; 2],
    /// The paths and names of all segments of the prompt.
    paths: Arc<Paths>,
}

impl Segment {
    /// Returns the byte range of the segment in the prompt.
    pub fn bytes(&self) -> Range<usize> {
        self.part.bytes()
    }

    /// Returns the range of the segment in the prompt, in code points.
    pub fn code_points(&self) -> Range<usize> {
        let [start, end] = self.code_points;
        start as usize..end as usize
    }

    /// Returns where the characters came from.
    pub fn origin(&self) -> Origin<'_> {
        match self.part.place {
            Place::Template(line) => Origin::Template { line: line as usize },
            Place::Token(name) => Origin::Token {
                name: self.pointer(name),
            },
            Place::Input { path, starts, is_key } => {
                let [point, byte] = starts.map(|start| start as usize);
                Origin::Input {
                    path: self.pointer(path),
                    at: point..point.saturating_add(self.code_points().len()),
                    at_bytes: byte..byte.saturating_add(self.bytes().len()),
                    is_key,
                }
            }
            Place::Changed(_) => Origin::Changed {
                paths: self.paths().collect(),
            },
            Place::Clock => Origin::Clock,
            Place::Made => Origin::Made,
        }
    }

    /// Returns the JSON pointers of the strings of the input that the characters came from.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.part.path_indices(&self.paths).map(|path| self.pointer(path))
    }

    /// Returns the JSON pointer or the token name with an index.
    fn pointer(&self, index: u32) -> &str {
        self.paths.pointer(index)
    }

    /// Returns the index of the message that owns the segment, if one does.
    pub fn message(&self) -> Option<usize> {
        self.part.message()
    }
}

impl PartialEq for Segment {
    fn eq(&self, other: &Self) -> bool {
        self.code_points == other.code_points && self.part.is_equal(&self.paths, &other.part, &other.paths)
    }
}

impl Eq for Segment {}

impl fmt::Debug for Segment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Segment");
        shown.field("bytes", &self.bytes()).field("code_points", &self.code_points());
        shown.field("origin", &self.origin()).field("message", &self.message());
        shown.finish()
    }
}

/// The place that characters of a prompt came from.
///
/// The origin of a character of a string or a key of the input is always [`Input`](Self::Input) or [`Changed`](Self::Changed). A number
/// that a template reads from a string (`'12'|int`) is not a string of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin<'s> {
    /// The text of the template, or a string literal in it.
    Template {
        /// The line, from 1, on which the text or the literal begins.
        line: usize,
    },
    /// A special token of the model.
    Token {
        /// The name of the token, such as `bos_token`.
        name: &'s str,
    },
    /// A part of a string or a key of the input, unchanged.
    Input {
        /// The JSON pointer of the string: `/messages/0/content`. For a key, it is that of the value under the key.
        path: &'s str,
        /// The place in the string or the key in code points.
        at: Range<usize>,
        /// The place in the string or the key in bytes of UTF-8.
        at_bytes: Range<usize>,
        /// Whether the characters are part of the key, and not of its value.
        is_key: bool,
    },
    /// Characters made from strings or keys of the input, such as those of `upper` or of an escape in JSON.
    Changed {
        /// The JSON pointers of these strings or of their containers. There are at most eight.
        paths: Vec<&'s str>,
    },
    /// The time of the clock, as `strftime_now` returns it.
    Clock,
    /// None of these: a number, a truth value, the punctuation of a printed list.
    Made,
}

/// Serializes to the form of the conformance protocol, with places in code points.
impl Serialize for Segment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("start", &self.code_points().start)?;
        object.serialize_entry("end", &self.code_points().end)?;
        match self.origin() {
            Origin::Template { line } => {
                object.serialize_entry("from", "template")?;
                object.serialize_entry("line", &line)?;
            }
            Origin::Token { name } => {
                object.serialize_entry("from", "token")?;
                object.serialize_entry("name", name)?;
            }
            Origin::Input { path, at, is_key, .. } => {
                object.serialize_entry("from", "input")?;
                object.serialize_entry("path", path)?;
                object.serialize_entry("at", &[at.start, at.end])?;
                if is_key {
                    object.serialize_entry("key", &true)?;
                }
            }
            Origin::Changed { paths } => {
                object.serialize_entry("from", "input")?;
                object.serialize_entry("paths", &paths)?;
            }
            Origin::Clock => {
                object.serialize_entry("from", "made")?;
                object.serialize_entry("by", "clock")?;
            }
            Origin::Made => object.serialize_entry("from", "made")?,
        }
        if let Some(message) = self.message() {
            object.serialize_entry("message", &message)?;
        }
        object.end()
    }
}
