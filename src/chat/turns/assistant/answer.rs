//! The options for the spans of the text that the model writes, and the spans of each turn.
//!
//! ```text
//! turns 1 [5..13]   3 "the template does not render the generation prompt before message 3"
//! ```

use std::ops::Range;

use serde::{Serialize, Serializer};

use crate::setters::setters;
use crate::trace::{Points, Spans};

/// Chooses which parts of a prompt count as written by the model. Begin with [`Default`], and set what matters.
///
/// A message with the key `weight` or `train` that is 0 or false never counts. Of a template with `{% generation %}`, the blocks are the
/// spans, and of the options only [`AssistantOptions::last_turn_only`] applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssistantOptions<'o> {
    /// The roles of the messages that the model writes. The default is `assistant`. The spans of any other role begin after the header of
    /// its message.
    pub roles: &'o [&'o str],
    /// Whether the spans include the token that ends the turn. The default is true.
    pub end_of_turn: bool,
    /// Whether the spans include the reasoning and the tags around it. The default is true.
    pub reasoning: bool,
    /// Whether only the last message of these roles has spans. The default is false.
    pub last_turn_only: bool,
    /// Whether the spans are only the text of the field `content`. The default is false.
    pub content_only: bool,
    /// Whether the spans include the white space after the end of the turn, such as a line break. The default is false.
    pub trailing_space: bool,
    /// Whether the spans include the token that begins the next turn, if the template writes no token that ends the turn. The model of such
    /// a template must learn to write it. The default is false.
    pub next_marker: bool,
}

setters! { AssistantOptions<'o>:
    with_roles(&'o [&'o str]) = @roles;
    with_end_of_turn(bool) = @end_of_turn;
    with_reasoning(bool) = @reasoning;
    with_last_turn_only(bool) = @last_turn_only;
    with_content_only(bool) = @content_only;
    with_trailing_space(bool) = @trailing_space;
    with_next_marker(bool) = @next_marker;
}

impl Default for AssistantOptions<'_> {
    fn default() -> Self {
        Self {
            roles: &["assistant"],
            end_of_turn: true,
            reasoning: true,
            last_turn_only: false,
            content_only: false,
            trailing_space: false,
            next_marker: false,
        }
    }
}

/// The text that the model writes, by turns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssistantSpans {
    /// The turns of the model that own a part of the text, in the order of the text.
    pub turns: Vec<AssistantTurn>,
}

/// The text that the model writes in one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssistantTurn {
    /// The index of the message. It is `None` for the whole text and for a `{% generation %}` block outside of messages.
    pub message: Option<usize>,
    /// The spans of the text, sorted, or the reason why they are not known.
    pub spans: std::result::Result<Spans, String>,
    /// Whether a token that ends the turn is in the text. Without one, a model learns where to stop only from the token that begins the
    /// next turn: see [`AssistantOptions::next_marker`].
    pub has_end: bool,
}

impl AssistantSpans {
    /// Returns a single turn for the whole text, whose spans are not known for the given reason.
    pub(super) fn unknown(reason: &str) -> Self {
        Self {
            turns: vec![AssistantTurn {
                message: None,
                spans: Err(reason.to_owned()),
                has_end: false,
            }],
        }
    }

    /// Converts the spans of turns, which are in bytes, to both units. The spans are sorted and do not overlap.
    pub(super) fn from_bytes(turns: Vec<Found>, text: &str) -> Self {
        let points = Points::new(if turns.is_empty() { "" } else { text });
        let turns = turns.into_iter().map(|turn| AssistantTurn {
            message: turn.message,
            spans: turn.spans.map(|spans| points.spans(spans)),
            has_end: turn.has_end,
        });
        Self { turns: turns.collect() }
    }

    /// Returns the spans of all turns whose spans are known, sorted.
    pub fn spans(&self) -> Spans {
        let mut spans = Spans::default();
        for turn in self.turns.iter().filter_map(|turn| turn.spans.as_ref().ok()) {
            spans.code_points.extend_from_slice(&turn.code_points);
            spans.bytes.extend_from_slice(&turn.bytes);
        }
        spans.code_points.sort_by_key(|span| span.start);
        spans.bytes.sort_by_key(|span| span.start);
        spans
    }

    /// Returns the messages of the turns whose spans are not known, each with the reason.
    pub fn reasons(&self) -> impl Iterator<Item = (Option<usize>, &str)> {
        let reason = |turn: &'_ AssistantTurn| turn.spans.is_err();
        self.turns.iter().filter(move |turn| reason(turn)).map(|turn| {
            let reason = turn.spans.as_ref().err().map_or("", String::as_str);
            (turn.message, reason)
        })
    }

    /// Returns the turns whose spans are not known, in the form of the conformance protocol.
    pub fn unknown_turns(&self) -> Vec<UnknownTurn<'_>> {
        self.reasons()
            .filter_map(|(message, reason)| {
                Some(UnknownTurn {
                    message: message?,
                    reason,
                })
            })
            .collect()
    }
}

/// A turn of the model whose spans are not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct UnknownTurn<'a> {
    /// The index of the message.
    pub message: usize,
    /// Why its spans are not known.
    #[serde(rename = "unknown")]
    pub reason: &'a str,
}

/// Serializes to the form of the conformance protocol: the spans of the known turns in code points, `[[2, 5]]`, or `{"unknown": "why"}` if
/// there are turns and none is known.
impl Serialize for AssistantSpans {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let first = self.reasons().next();
        match first.filter(|_| self.turns.iter().all(|turn| turn.spans.is_err())) {
            Some((_, reason)) => serializer.collect_map([("unknown", reason)]),
            None => self.spans().pairs().serialize(serializer),
        }
    }
}

/// The spans of a turn in bytes, or the reason why they are not known.
#[derive(Debug)]
pub(super) struct Found {
    pub message: Option<usize>,
    pub spans: std::result::Result<Vec<Range<usize>>, String>,
    pub has_end: bool,
}
