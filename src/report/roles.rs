//! The verdicts on the messages of a conversation.

use serde::Serialize;

/// What a template does with a known text that a test conversation has at some place. The outcomes are ordered from the best to the worst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The prompt has the text.
    Printed,
    /// The content was a list of parts, and the prompt has a part in the notation of Python or JSON: `{'type': 'text', …`.
    Repr,
    /// The arguments of a call were JSON text, and the prompt has them encoded a second time: `\"city\"`.
    Double,
    /// The prompt does not have the text.
    Lost,
    /// The template called `raise_exception`.
    Refused,
    /// The render failed with another error.
    #[default]
    Failed,
}

/// The forms of content that are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Content {
    /// Only a string.
    String,
    /// Only a list of parts.
    Parts,
    /// A string and a list of parts.
    Both,
    /// Neither a string nor a list of parts.
    #[default]
    Neither,
}

/// The verdicts on the messages of each role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Roles {
    /// The role `system`.
    pub system: Role,
    /// The role `user`.
    pub user: Role,
    /// The role `assistant`.
    pub assistant: Role,
    /// The role `tool`.
    pub tool: Role,
    /// The role `developer`.
    pub developer: Role,
}

/// The verdicts on the messages of one role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Role {
    /// The outcome for content that is a string.
    pub string: Outcome,
    /// The outcome for content that is a list of one part: `[{"type": "text", "text": "…"}]`.
    pub parts: Outcome,
    /// The forms of content that are printed.
    pub content: Content,
    /// The text that is rendered in the place of content that is null. For an assistant, the message has a call if [`Role::empty`] is
    /// [`Outcome::Printed`].
    pub null: NullContent,
    /// The outcome for an assistant message with a call whose content is the empty string: whether the call is printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub empty: Option<Outcome>,
}

/// The text that is rendered in the place of content that is null. `apply` removes the key, as transformers does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NullContent {
    /// The text in the place of the content, such as `None`. It is absent if the render failed, if other text of the prompt changed too, or
    /// if no string is printed as content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// [`Outcome::Refused`] or [`Outcome::Failed`], if the render failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Outcome>,
}

/// The verdicts on parts of user messages that are not text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Media {
    /// A part such as `{"type": "image"}`.
    pub image: Medium,
    /// A part such as `{"type": "audio"}`.
    pub audio: Medium,
    /// A part such as `{"type": "video"}`.
    pub video: Medium,
}

/// The verdict on one kind of media.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Medium {
    /// [`Outcome::Printed`] if the template writes a string for the part, and [`Outcome::Lost`] if it writes none.
    pub outcome: Outcome,
    /// The types of parts for which the template writes a string: `image`, `image_url`.
    pub types: Vec<String>,
    /// The text that the template writes for the part: `<|image_pad|>`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Whether a part between two strings is rendered between them.
    pub in_order: bool,
}

/// The outcomes for system messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct System {
    /// A system message before all others.
    pub first: Outcome,
    /// A system message between others.
    pub middle: Outcome,
    /// The second of two system messages at the beginning.
    pub twice: Outcome,
    /// Tools in a conversation without a system message: whether the name of a function is printed.
    pub tools_without_system: Outcome,
}

/// The outcomes for orders of roles in which user and assistant do not alternate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Alternation {
    /// Two user messages in a row.
    pub user_twice: Outcome,
    /// Two assistant messages in a row.
    pub assistant_twice: Outcome,
    /// An assistant message before all others.
    pub assistant_first: Outcome,
}
