//! What a request says, whatever its format.
//!
//! ```text
//! {"role": "assistant", "content": "Let me look.", "tool_calls": [{"id": "a", "function": {"name": "ls", "arguments": "{}"}}]}
//!     ->   Turn { role: Assistant, parts: [Text("Let me look.")], calls: [Call { id: "a", name: "ls", arguments: Text("{}") }] }
//! ```
//!
//! A reader of a format makes it. A reader changes nothing that the body says, and loses nothing but what it lists in [`Normal::dropped`].

use std::borrow::Cow;

use super::node::Node;
use crate::error::Result;
use crate::json::Data;
use crate::meter::Meter;
use crate::number::text::write_int;

/// The largest number of lists that a [`Place`] is nested in. The place of a value that is nested deeper is that of the item around it.
const LEVELS: usize = 4;

/// The place of a value in the body: `/messages/1/content/0/text`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    items: [Option<(&'static str, u32)>; LEVELS],
    field: &'static str,
}

impl Place {
    /// Returns the place of a value of the body, such as `/system`.
    pub fn root(field: &'static str) -> Self {
        Self::default().field(field)
    }

    /// Returns the place of an item of a list in this place: `Place::default().item("/messages", 1).item("/content", 0)`. A place that is
    /// nested too deeply stays the same.
    #[must_use]
    pub fn item(mut self, list: &'static str, index: usize) -> Self {
        if let Some(free) = self.items.iter_mut().find(|item| item.is_none()) {
            *free = Some((list, u32::try_from(index).unwrap_or(u32::MAX)));
            self.field = "";
        }
        self
    }

    /// Returns the place of a field of the innermost item: `/text`, `/function/arguments`.
    #[must_use]
    pub fn field(self, field: &'static str) -> Self {
        Self { field, ..self }
    }

    /// Returns the JSON pointer (RFC 6901).
    pub fn pointer(&self) -> String {
        let mut pointer = String::with_capacity(48);
        for (list, index) in self.items.iter().flatten() {
            pointer.push_str(list);
            pointer.push('/');
            write_int(i64::from(*index), &mut pointer);
        }
        pointer.push_str(self.field);
        pointer
    }
}

/// A conversation and its tools.
#[derive(Debug, Default)]
pub struct Normal<'b> {
    /// The turns in the order of the body. `system` of Messages and `instructions` of Responses are the first turn.
    pub turns: Vec<Turn<'b>>,
    /// The tools that have a name and a schema, or are custom, in the order of the body.
    pub tools: Vec<Tool<'b>>,
    /// The values that no template can take, such as a compaction, an approval, or a server tool without a schema, each with the reason.
    pub dropped: Vec<(Place, &'static str)>,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role<'b> {
    System,
    Developer,
    User,
    Assistant,
    /// A result of a call. Also the role `function` of Chat Completions.
    Tool,
    /// Any other string. The writer refuses it unless the template names it.
    Other(&'b str),
}

impl<'b> Role<'b> {
    /// Returns the role with a name.
    pub fn new(name: &'b str) -> Self {
        match name {
            "system" => Self::System,
            "developer" => Self::Developer,
            "user" | "human" => Self::User,
            "assistant" | "ai" | "model" | "bot" => Self::Assistant,
            "tool" | "function" => Self::Tool,
            other => Self::Other(other),
        }
    }

    /// Returns the name.
    pub fn name(self) -> &'b str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::Other(name) => name,
        }
    }
}

/// The form in which the body has the content of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Form {
    /// There is no content, or the format has no such field (an item `function_call` of Responses).
    #[default]
    Absent,
    /// `null`
    Null,
    /// A string.
    Text,
    /// A list of parts or blocks.
    Parts,
}

/// A message.
#[derive(Clone, Debug)]
pub struct Turn<'b> {
    pub role: Role<'b>,
    /// The place of the message, item or block.
    pub place: Place,
    /// The message of Chat Completions that the turn is read from, which the template can get as it is if nothing has to change; `None` in
    /// the other formats, and if the reader has put something into the turn that is elsewhere in the body or has another form there
    /// (`function_call`, a part that is a call, `refusal`).
    pub own: Option<Node<'b>>,
    pub form: Form,
    /// The parts of the content. A string is one part; an empty string and an empty list are none. A refusal is a part with its text.
    pub parts: Vec<Part<'b>>,
    /// The reasoning, each text once, even if the body has it under several keys.
    pub thoughts: Vec<Thought<'b>>,
    /// The key under which a message of Chat Completions has its reasoning as a string: `reasoning_content`, `reasoning`, `thinking`.
    pub thought_key: Option<&'static str>,
    /// The calls of the assistant, in order.
    pub calls: Vec<Call<'b>>,
    /// What a turn with the role [`Role::Tool`] answers.
    pub result: Option<CallResult<'b>>,
    /// The keys of a message of Chat Completions that are not read, such as `name` of a user, `prefix`, `partial`: they are passed on.
    pub rest: Vec<(&'b str, Node<'b>)>,
}

impl<'b> Turn<'b> {
    /// Makes a turn without content.
    pub fn new(role: Role<'b>, place: Place) -> Self {
        Self {
            role,
            place,
            own: None,
            form: Form::Absent,
            parts: Vec::new(),
            thoughts: Vec::new(),
            thought_key: None,
            calls: Vec::new(),
            result: None,
            rest: Vec::new(),
        }
    }
}

/// A part of a content.
#[derive(Clone, Debug)]
pub struct Part<'b> {
    pub kind: PartKind<'b>,
    /// The place of the text itself (`/messages/0/content`, `/messages/0/content/1/text`), or of the block.
    pub place: Place,
}

#[derive(Clone, Debug)]
pub enum PartKind<'b> {
    /// A text, which borrows from the body where it can.
    Text(Cow<'b, str>),
    /// A block whose type no template knows, as JSON text without opaque fields (signatures, encrypted content, cache control, data).
    Block(Cow<'b, str>),
    /// An image, a sound, a video or a file: the part or block as it is in the body.
    Media(Media, Node<'b>),
}

/// The kind of a medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Media {
    Image,
    Audio,
    Video,
    File,
}

/// A text of reasoning.
#[derive(Clone, Debug)]
pub struct Thought<'b> {
    pub text: Cow<'b, str>,
    /// The place of the text.
    pub place: Place,
}

/// A call of a tool. A block or an item of a server tool (`server_tool_use`, `web_search_call`) is a call, and what it has of a result is a
/// turn with the role [`Role::Tool`] after it.
#[derive(Clone, Debug)]
pub struct Call<'b> {
    /// The id in the body, if there is one that is not empty.
    pub id: Option<&'b str>,
    pub name: &'b str,
    pub arguments: Arguments<'b>,
    /// The place of the call.
    pub place: Place,
    /// The place of the arguments.
    pub arguments_place: Place,
    /// The index among the calls of the conversation. [`Normal::match_results`] sets it.
    pub index: usize,
}

/// The arguments of a call as the body has them.
#[derive(Clone, Debug)]
pub enum Arguments<'b> {
    /// There are none, or null.
    Absent,
    /// JSON text, or any other text.
    Text(&'b str),
    /// Any other value.
    Value(Node<'b>),
    /// The text of a custom tool, which becomes the argument `input`.
    Input(&'b str),
    /// An object that the reader makes, such as `{"code": …}` of a `code_interpreter_call`.
    Made(Data<'b>),
}

/// What a result answers.
#[derive(Clone, Debug, Default)]
pub struct CallResult<'b> {
    /// The id of the call in the body, if there is one that is not empty.
    pub id: Option<&'b str>,
    /// The name of the function, if the body has it.
    pub name: Option<&'b str>,
    /// Whether the body says that the call failed (`is_error`).
    pub is_error: bool,
    /// The index of the call. [`Normal::match_results`] sets it.
    pub call: Option<usize>,
}

/// A tool.
#[derive(Clone, Debug)]
pub struct Tool<'b> {
    pub name: &'b str,
    pub description: Option<&'b str>,
    /// The JSON schema of the parameters (`parameters`, `input_schema`).
    pub parameters: Option<Node<'b>>,
    /// Whether it is a custom tool, which takes a text. It becomes a function with the string parameter `input`.
    pub is_custom: bool,
    /// The tool in the body, if it has the form `{"type": "function", "function": {…}}`.
    pub own: Option<Node<'b>>,
    pub place: Place,
}

impl Normal<'_> {
    /// Numbers the calls, and matches each result with its call: by its id, else with the first call that has no result yet.
    ///
    /// # Errors
    /// If a limit of the meter is reached.
    pub fn match_results(&mut self, meter: &mut Meter<'_>) -> Result<()> {
        let mut count = 0_usize;
        // The calls without a result, with their ids.
        let mut open: Vec<(usize, Option<&str>)> = Vec::new();
        for turn in &mut self.turns {
            meter.charge_items(turn.calls.len().saturating_add(1))?;
            for call in &mut turn.calls {
                call.index = count;
                open.push((count, call.id));
                count = count.saturating_add(1);
            }
            if let Some(result) = &mut turn.result {
                meter.charge_items(open.len())?;
                // Of two calls with one id, a result answers the later one.
                let same = result.id.and_then(|id| open.iter().rposition(|(_, other)| *other == Some(id)));
                let found = same.or_else(|| open.iter().position(|(_, id)| result.id.is_none() || id.is_none()));
                result.call = found.map(|found| open.remove(found).0);
            }
        }
        Ok(())
    }
}
