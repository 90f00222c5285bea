//! The verdicts on whole conversations, which a template can refuse although it takes each message in another one.

use serde::Serialize;

use super::Arguments;

/// The forms of content that a template takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Forms {
    /// A string.
    pub string: bool,
    /// A list of one part with text.
    pub part: bool,
    /// A list of several parts with text.
    pub parts: bool,
}

impl Forms {
    /// All forms.
    pub const ALL: Self = Self {
        string: true,
        part: true,
        parts: true,
    };

    /// Returns whether any form is taken.
    pub fn is_any(self) -> bool {
        self.string || self.part || self.parts
    }
}

/// What a template takes of a request. The conversations have several turns, and the prompt must have all their strings. Unlike the other
/// verdicts of a report, which are the best of several outcomes, these hold for all conversations that were tried, except
/// [`calls`](Self::calls) and [`arguments`](Self::arguments).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Takes {
    /// The forms of content of a system message at the beginning.
    pub system: Forms,
    /// The forms of content of a developer message at the beginning.
    pub developer: Forms,
    /// The forms of content of user messages.
    pub user: Forms,
    /// The forms of content of assistant messages.
    pub assistant: Forms,
    /// The forms of content of assistant messages with calls.
    pub caller: Forms,
    /// The forms of content of the results of calls.
    pub tool: Forms,
    /// Whether a system message can be between others, after a user and after an assistant.
    pub system_in_middle: bool,
    /// Whether a second system message can follow the first.
    pub two_systems: bool,
    /// Whether a user message can follow another one.
    pub two_users: bool,
    /// Whether an assistant message can follow another one.
    pub two_assistants: bool,
    /// Whether the outcome of a render with tools is not [`Outcome::Failed`](super::Outcome::Failed).
    pub tools: bool,
    /// Whether the outcome of a render with calls is not [`Outcome::Failed`](super::Outcome::Failed).
    pub calls: bool,
    /// The forms of the arguments of calls.
    pub arguments: Arguments,
    /// Whether an assistant message with calls can be without content.
    pub null: bool,
    /// The forms of empty content that an assistant message can have, with and without calls: an empty string, and a part whose text is
    /// empty.
    pub empty: Forms,
    /// The types that a part with an image can have.
    pub image: Vec<String>,
    /// The types that a part with audio can have.
    pub audio: Vec<String>,
    /// The types that a part with a video can have.
    pub video: Vec<String>,
}
