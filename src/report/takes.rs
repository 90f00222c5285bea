//! The verdicts on whole conversations, which a template can refuse although it takes each message in another one.

use serde::Serialize;

use super::{Arguments, Content};

/// What a template takes of a request: conversations of several turns, in which all texts are looked for. Unlike the other verdicts, which
/// have the best of several outcomes, each of these holds for all conversations that were tried.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Takes {
    /// The forms of content of a system message at the beginning: a string, and a list of two parts.
    pub system: Content,
    /// The forms of content of a developer message at the beginning.
    pub developer: Content,
    /// The forms of content of user messages.
    pub user: Content,
    /// The forms of content of assistant messages.
    pub assistant: Content,
    /// The forms of content of the results of calls.
    pub tool: Content,
    /// Whether a system message can be between others, after a user and after an assistant.
    pub system_in_middle: bool,
    /// Whether a second system message can follow the first.
    pub two_systems: bool,
    /// Whether a user message can follow another one.
    pub two_users: bool,
    /// Whether an assistant message can follow another one.
    pub two_assistants: bool,
    /// Whether tools do not make the render fail.
    pub tools: bool,
    /// Whether calls do not make the render fail.
    pub calls: bool,
    /// The forms of the arguments of calls.
    pub arguments: Arguments,
    /// Whether an assistant message with calls can be without content.
    pub null: bool,
    /// Whether an assistant message with calls can have empty content.
    pub empty: bool,
    /// The types of a part that stand for an image.
    pub image: Vec<String>,
    /// The types of a part that stand for audio.
    pub audio: Vec<String>,
    /// The types of a part that stand for a video.
    pub video: Vec<String>,
}
