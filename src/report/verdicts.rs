//! The verdicts on what a template takes.
#![allow(
    missing_docs,
    reason = "a field or variant without docs is a key or value of the report that its name explains"
)]

use serde::Serialize;
use serde_json::Value;

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
    String,
    Parts,
    Both,
    #[default]
    Neither,
}

/// The verdicts on the messages of each role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Roles {
    pub system: Role,
    pub user: Role,
    pub assistant: Role,
    pub tool: Role,
    pub developer: Role,
}

/// The verdicts on the messages of one role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Role {
    pub string: Outcome,
    /// The outcome for content that is a list of one part: `[{"type": "text", "text": "…"}]`.
    pub parts: Outcome,
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
    pub image: Medium,
    pub audio: Medium,
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
    pub first: Outcome,
    pub middle: Outcome,
    /// The second of two system messages at the beginning.
    pub twice: Outcome,
    /// Tools in a conversation without a system message: whether the name of a function is printed.
    pub tools_without_system: Outcome,
}

/// The outcomes for orders of roles in which user and assistant do not alternate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Alternation {
    pub user_twice: Outcome,
    pub assistant_twice: Outcome,
    /// An assistant message before all others.
    pub assistant_first: Outcome,
}

/// The verdicts on the tools that a conversation can use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tools {
    /// Whether the tools change the prompt.
    pub read: bool,
    pub name: Outcome,
    pub description: Outcome,
    pub parameter: Outcome,
}

/// The forms of a call's arguments that are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Arguments {
    Object,
    String,
    Both,
    #[default]
    Neither,
}

/// The verdicts on the calls of an assistant message, and on their results.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Calls {
    /// Whether the prompt has the name of a called function.
    pub written: bool,
    pub object: Outcome,
    /// The outcome for arguments that are JSON text.
    pub string: Outcome,
    pub arguments: Arguments,
    pub parallel: Outcome,
    pub id: Outcome,
    /// The outcome for the key `name` of a result.
    pub name_in_result: Outcome,
    /// The outcome for the key `tool_call_id` of a result.
    pub id_in_result: Outcome,
    pub content_beside: Outcome,
}

/// The verdicts on roles, tools and calls, which come from the same experiments. Other parts depend on them.
#[derive(Debug)]
pub(crate) struct Basics {
    pub roles: Roles,
    pub tools: Tools,
    pub calls: Calls,
}

/// The verdicts on the reasoning of assistant messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Reasoning {
    /// The names of the fields with reasoning that the template reads in messages: `reasoning_content`, `thinking`, `reasoning`.
    pub fields: Vec<String>,
    /// When the reasoning of an earlier message is in the prompt.
    pub replayed: Replay,
    /// Whether the text between `<think>` and `</think>` in the content of an earlier assistant message is left out.
    pub cuts_think: bool,
}

/// When the reasoning of an assistant message is in the prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Replay {
    Always,
    /// After the last user message only.
    LastTurn,
    #[default]
    Never,
}

/// The verdicts on the text that `add_generation_prompt` appends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GenerationPrompt {
    /// Whether `add_generation_prompt` changes the prompt.
    pub read: bool,
    /// The text that it appends, if it only appends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Whether the text opens the reasoning, and does not close it.
    pub opens_reasoning: bool,
}

/// A variable of the caller that changes the prompt.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Switch {
    /// The name of the variable: `enable_thinking`.
    pub name: String,
    /// The values that the template distinguishes: `true` and `false`, unless the render fails with them, and the constants that it
    /// compares the variable with.
    pub values: Vec<Value>,
    /// Whether the prompt has the text of the variable.
    pub printed: bool,
    /// The value that renders as the absent variable does, if there is one.
    pub default: Option<Value>,
    /// The parts of the prompt that the variable changes.
    pub changes: Vec<Change>,
}

/// A part of the prompt that a switch changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The text that `add_generation_prompt` appends.
    GenerationPrompt,
    /// The turns of the conversation.
    History,
    /// The text before the first turn of a user, such as a system message.
    System,
}

/// The description of how the model writes a message.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Response {
    /// A description that transformers reads as `response_template`. It parses the text of each message of the experiments to that message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<Value>,
    /// The parts and the messages that the description does not read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub partial: Vec<String>,
    /// Why there is no description, or why it does not read the first of these parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The names that the source of a template reads. A read that no render reaches is listed too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Reads {
    pub variables: Vec<Read>,
    /// The fields of messages: `content`.
    pub messages: Vec<Read>,
    /// The fields of calls of tools: `function.name`.
    pub calls: Vec<Read>,
    /// The fields of tools: `function.parameters`.
    pub tools: Vec<Read>,
    /// The function that reads the clock, `strftime_now`.
    pub clock: Vec<Read>,
}

/// A name with the line that reads it first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Read {
    /// The name of the variable, or the path of the field.
    pub name: String,
    /// The line, from 1.
    pub line: usize,
    /// The name of the template, or its beginning if it is long, if the model has several.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub template: String,
}

/// A fault in the source of a template.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The name of the rule: `python-method`.
    pub rule: String,
    /// The group of the rule: `portable`, `white space`, `tokens` or `reading`.
    pub group: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The text of the line, or its beginning if the line has more than 16 KiB.
    pub excerpt: String,
    /// The fault, in a sentence.
    pub message: String,
    pub why: String,
    pub instead: String,
}
