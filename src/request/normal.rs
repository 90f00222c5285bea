//! What a request says, whatever its format.
//!
//! ```text
//! chat       {"role": "assistant", "content": "Looking", "tool_calls": [{"id": "a", "function": {"name": "f", …}}]}
//! responses  {"type": "message", "role": "assistant", …}, {"type": "function_call", "call_id": "a", "name": "f", …}
//! messages   {"role": "assistant", "content": [{"type": "text", …}, {"type": "tool_use", "id": "a", "name": "f", …}]}
//!     ->     BodyTurn {role: Assistant, parts: ["Looking"], calls: [f]}
//! ```
//!
//! A reader fills a [`Normal`] with everything that the body says. Strings stay as they are, in the order of the body. What no prompt can
//! have becomes a note.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::claim_parts;
use super::places::{BodyPlace, Places};
use super::reasons::Reason;
use crate::error::Result;
use crate::json::{self, Data, JsonErrorKind};
use crate::meter::Meter;

/// What a request says.
#[derive(Debug, Default)]
pub struct Normal<'b> {
    pub turns: Vec<BodyTurn<'b>>,
    /// The calls of all turns, in their order.
    pub calls: Vec<Call<'b>>,
    pub tools: Vec<Tool<'b>>,
    /// The values that the turns do not have, or not in their place.
    pub notes: Vec<(BodyPlace, Reason)>,
    /// The strings of `documents`.
    pub documents: Vec<(BodyPlace, &'b str)>,
    /// The places of all values.
    pub places: Places<'b>,
    /// Whether `tool_choice` is `none`, so that the request asks for a prompt without tools.
    pub refuses_tools: bool,
    /// Whether the body has settings for reasoning.
    pub has_settings: bool,
    /// The number of values that a plan can write, and the bytes of their strings.
    pub values: usize,
    pub bytes: usize,
    /// Whether the last message is the beginning of the answer: it has `partial` or `prefix`, or a body of Messages ends with the assistant.
    pub is_prefilled: bool,
}

/// The role of a turn. A reader also accepts aliases, such as `human` for `user`; any other role is an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Role {
    System,
    Developer,
    #[default]
    User,
    Assistant,
    /// The result of a call: the turn has a [`BodyTurn::result`].
    Tool,
}

/// A kind of turns whose content a template can want in a form of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    System,
    User,
    Assistant,
    /// The assistant with calls.
    Caller,
    Tool,
}

/// How the body gives the content of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ContentForm {
    /// The body has no content, or the turn has none of its own, such as a call that is an item.
    #[default]
    Absent,
    Null,
    /// A string. The turn has one part, even if the string is empty.
    Text,
    /// A list. The turn has as many parts, but for blocks that are calls, results or thoughts.
    Parts,
}

/// A message as a template can have it: the content and calls of one speaker, or one result. A message of a body can become several turns,
/// and a plan can write a turn as several messages.
#[derive(Clone, Debug, Default)]
pub struct BodyTurn<'b> {
    pub role: Role,
    /// The message, item or block of the body, or [`BodyPlace::BODY`] if the body has no such message.
    pub place: BodyPlace,
    /// The message of the body, if it has the form that templates read and says this turn and nothing else, so that it can be passed on.
    pub node: Option<&'b Data<'b>>,
    pub form: ContentForm,
    /// The place of the content.
    pub content: BodyPlace,
    pub parts: Vec<ContentPart<'b>>,
    pub thoughts: Vec<Thought<'b>>,
    /// The field of the message with the thoughts, if it is a string.
    pub thought_key: Option<&'b str>,
    /// The indices of the calls in [`Normal::calls`].
    pub calls: Vec<usize>,
    /// The call to which the turn is the answer, if the role is [`Role::Tool`].
    pub result: Option<Answer<'b>>,
    /// Fields of a message that have no other place here: the name of the speaker, then others such as `note` or the `tools` of a message.
    pub fields: Vec<ExtraField<'b>>,
    /// Whether the parts become one string.
    pub is_joined: bool,
}

/// A field of a message that is passed on.
#[derive(Clone, Copy, Debug)]
pub struct ExtraField<'b> {
    pub key: &'b str,
    pub value: &'b Data<'b>,
    pub place: BodyPlace,
}

/// A part of the content.
#[derive(Clone, Debug)]
pub struct ContentPart<'b> {
    pub kind: PartKind,
    /// The text; that of a medium is empty.
    pub text: Cow<'b, str>,
    /// The part of the body: of a medium, all of it. A part that the body does not have is null.
    pub node: &'b Data<'b>,
    /// The place of the string if the part is text, else the place of the part.
    pub place: BodyPlace,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PartKind {
    Text,
    /// A block of another type, whose text is its JSON without what only its maker can read.
    Block,
    Medium(Medium),
    /// The reasoning of the turn, as a part of its own.
    Thinking,
    /// A string that the body does not have.
    Label,
    /// The reasoning of the turn, in tags.
    Thoughts,
}

/// What a part is that is no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Medium {
    Image,
    Audio,
    Video,
    File,
}

/// A string of reasoning. Equal strings of a message are one thought.
#[derive(Clone, Copy, Debug)]
pub struct Thought<'b> {
    pub text: &'b str,
    pub place: BodyPlace,
}

/// A call of a tool.
#[derive(Debug)]
pub struct Call<'b> {
    /// The identifier. A call that has none is found by the order of the results.
    pub id: Option<&'b str>,
    pub name: &'b str,
    pub arguments: BodyArguments<'b>,
    pub place: BodyPlace,
    /// The place of the name, or that of the call if the type of the call is its name.
    pub name_place: BodyPlace,
    /// The place of the arguments, or that of the call if it has no value for all of them.
    pub arguments_place: BodyPlace,
}

/// The arguments of a call.
#[derive(Debug)]
pub enum BodyArguments<'b> {
    /// None: they are absent or null.
    Absent,
    /// A string, which should be the JSON of an object.
    Json(JsonText<'b>),
    /// A value, which should be an object.
    Value(&'b Data<'b>),
    /// The input of a custom tool, a string. The template gets `{"input": …}`.
    Input(&'b str),
    /// Fields of the body that together are the object.
    Fields(Vec<(&'b str, &'b Data<'b>)>),
}

/// What the body says about the call of a result.
#[derive(Clone, Copy, Debug, Default)]
pub struct Answer<'b> {
    pub id: Option<&'b str>,
    /// The name of the function, if the body has it.
    pub name: Option<&'b str>,
    /// The index of the call, found by the identifier, else by the name, else by the order. A result whose call is not in the body has none.
    pub call: Option<usize>,
}

/// A tool that the model can call.
#[derive(Debug)]
pub struct Tool<'b> {
    pub name: &'b str,
    pub description: Option<&'b str>,
    /// The schema of the arguments. That of a custom tool is an object with one string, `input`.
    pub parameters: Option<&'b Data<'b>>,
    pub form: ToolForm<'b>,
    /// The tool of the body.
    pub node: &'b Data<'b>,
    /// The object with the name: the tool, or one in it.
    pub function: &'b Data<'b>,
    pub place: BodyPlace,
}

#[derive(Clone, Copy, Debug)]
pub enum ToolForm<'b> {
    /// `{"type": "function", "function": …}`.
    Wrapped,
    /// The function without an object around it.
    Flat,
    /// A custom tool, whose input is a string, with the grammar of the string if the body has one.
    Custom(Option<&'b str>),
}

/// Arguments in JSON text.
#[derive(Debug)]
pub struct JsonText<'b> {
    pub text: &'b str,
    object: OnceLock<Option<Data<'b>>>,
}

impl<'b> JsonText<'b> {
    pub fn new(text: &'b str) -> Self {
        let object = OnceLock::new();
        Self { text, object }
    }

    /// Returns whether the string means an empty object.
    pub fn is_nothing(&self) -> bool {
        matches!(self.text.trim(), "" | "null")
    }

    /// Returns the object, or `None` if the string is not the JSON of one. It is parsed once. While it is parsed, the memory of the most
    /// values that it can have is claimed.
    pub fn object(&self, meter: &mut Meter<'_>) -> Result<Option<&Data<'b>>> {
        if let Some(known) = self.object.get() {
            return Ok(known.as_ref());
        }
        meter.charge_scan(self.text.len())?;
        let values = count_beginnings(self.text).saturating_add(1).saturating_mul(VALUE);
        let _claims = claim_parts(meter, values)?;
        let object = match json::read_until(self.text, meter.watch()) {
            Ok(object @ Data::Object(_)) => Some(object),
            Err(error) if error.kind() == JsonErrorKind::TimedOut => return Err(error.into()),
            Ok(_) | Err(_) => None,
        };
        if let Some(object) = &object {
            let count = object.count_values();
            meter.charge_items(count)?;
            meter.claim_for_render(count.saturating_mul(VALUE))?;
        }
        Ok(self.object.get_or_init(|| object).as_ref())
    }
}

/// The memory of a value with its key, in bytes.
const VALUE: usize = 64;

/// Returns the number of commas and brackets of a JSON text that are not in its strings. Each value but the first is after one.
fn count_beginnings(text: &str) -> usize {
    let (mut is_in_string, mut is_escaped) = (false, false);
    let is_beginning = |byte: &u8| {
        let was_in_string = is_in_string;
        is_in_string ^= *byte == b'"' && !is_escaped;
        is_escaped = was_in_string && *byte == b'\\' && !is_escaped;
        !was_in_string && matches!(byte, b',' | b'[' | b'{')
    };
    text.bytes().filter(is_beginning).count()
}

impl Role {
    /// Returns the name that templates read.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

impl Medium {
    /// Returns the name that templates read as the type of a part.
    pub fn name(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Audio => "audio",
            Self::Video => "video",
            Self::File => "file",
        }
    }
}

impl<'b> Normal<'b> {
    /// Returns the calls with these indices.
    pub fn calls_of(&self, indices: &[usize]) -> impl Iterator<Item = &Call<'b>> {
        indices.iter().filter_map(|index| self.calls.get(*index))
    }
}

impl<'b> ContentPart<'b> {
    /// Makes a part that is not in the body.
    pub fn made(kind: PartKind, text: impl Into<String>) -> Self {
        Self {
            kind,
            text: Cow::Owned(text.into()),
            node: &Data::None,
            place: BodyPlace::BODY,
        }
    }

    pub fn medium(&self) -> Option<Medium> {
        match self.kind {
            PartKind::Medium(medium) => Some(medium),
            _ => None,
        }
    }
}

impl<'b> BodyTurn<'b> {
    /// Returns a turn without content.
    pub fn new(role: Role, place: BodyPlace) -> Self {
        Self {
            role,
            place,
            content: place,
            ..Self::default()
        }
    }

    /// Returns a turn for the result of the call with an identifier.
    pub fn result(place: BodyPlace, id: Option<&'b str>) -> Self {
        let answer = Answer { id, ..Answer::default() };
        Self {
            result: Some(answer),
            ..Self::new(Role::Tool, place)
        }
    }

    /// Makes a turn that is not in the body.
    pub fn made(role: Role, text: &str) -> Self {
        Self {
            form: ContentForm::Text,
            parts: Vec::from_iter((!text.is_empty()).then(|| ContentPart::made(PartKind::Label, text))),
            ..Self::new(role, BodyPlace::BODY)
        }
    }

    pub fn class(&self) -> Class {
        match self.role {
            Role::System | Role::Developer => Class::System,
            Role::User => Class::User,
            Role::Assistant if self.calls.is_empty() => Class::Assistant,
            Role::Assistant => Class::Caller,
            Role::Tool => Class::Tool,
        }
    }

    /// Returns whether the content has neither text nor a medium.
    pub fn lacks_content(&self) -> bool {
        self.parts.iter().all(|part| part.text.is_empty() && part.medium().is_none())
    }

    /// Gives the turn another role than that of the body.
    pub fn recast(&mut self, role: Role) {
        (self.role, self.node) = (role, None);
    }

    pub fn is_system(&self) -> bool {
        matches!(self.role, Role::System | Role::Developer)
    }

    /// Returns whether the turn says nothing.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.thoughts.is_empty() && self.calls.is_empty()
    }
}
