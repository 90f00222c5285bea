//! The parts of a content, of all formats.

use std::borrow::Cow;

use super::super::normal::{BodyTurn, ContentForm, ContentPart, Medium, PartKind, Thought};
use super::super::places::BodyPlace;
use super::super::reasons::{self as why, Reason};
use super::Reader;
use crate::error::{Error, Result};
use crate::json::{self, Data, Object};

/// What a type of parts is.
#[derive(Clone, Copy)]
enum Reads {
    /// A string in a field.
    Text(&'static str),
    /// Reasoning in a field: a string, or a list of parts.
    Thought(&'static str),
    Medium(Medium),
    /// No text, for a reason.
    Nothing(Reason),
    /// A document, whose source is a string, parts or a file.
    Document,
    /// A title, a source and parts.
    SearchResult,
    /// A list of tools, in a field.
    Tools(&'static str),
    /// A tool that is added, if it is defined here.
    ToolChange,
    /// A reference to a file, in a field.
    Stored(&'static str),
    Call,
    Result,
}

/// The types of parts.
#[rustfmt::skip]
const PARTS: [(&str, Reads); 39] = [
    ("text", Reads::Text("text")),
    ("input_text", Reads::Text("text")),
    ("output_text", Reads::Text("text")),
    ("summary_text", Reads::Text("text")),
    ("reasoning_text", Reads::Text("text")),
    ("refusal", Reads::Text("refusal")),
    ("logs", Reads::Text("logs")),
    ("tool_reference", Reads::Text("tool_name")),
    ("advisor_result", Reads::Text("text")),
    ("compaction", Reads::Text("content")),
    ("thinking", Reads::Thought("thinking")),
    ("reasoning", Reads::Thought("text")),
    ("reasoning.text", Reads::Thought("text")),
    ("reasoning.summary", Reads::Thought("summary")),
    ("reasoning.encrypted", Reads::Nothing(why::ENCRYPTED)),
    ("redacted_thinking", Reads::Nothing(why::ENCRYPTED)),
    ("fallback", Reads::Nothing(why::MODEL_NAME)),
    ("image", Reads::Medium(Medium::Image)),
    ("image_url", Reads::Medium(Medium::Image)),
    ("input_image", Reads::Medium(Medium::Image)),
    ("image_embeds", Reads::Medium(Medium::Image)),
    ("computer_screenshot", Reads::Medium(Medium::Image)),
    ("audio", Reads::Medium(Medium::Audio)),
    ("audio_url", Reads::Medium(Medium::Audio)),
    ("input_audio", Reads::Medium(Medium::Audio)),
    ("video", Reads::Medium(Medium::Video)),
    ("video_url", Reads::Medium(Medium::Video)),
    ("file", Reads::Medium(Medium::File)),
    ("input_file", Reads::Medium(Medium::File)),
    ("document", Reads::Document),
    ("search_result", Reads::SearchResult),
    ("mcp_tool_listing", Reads::Tools("tools")),
    ("tool_addition", Reads::ToolChange),
    ("tool_removal", Reads::ToolChange),
    ("container_upload", Reads::Stored("file_id")),
    ("tool_use", Reads::Call),
    ("server_tool_use", Reads::Call),
    ("mcp_tool_use", Reads::Call),
    ("tool_result", Reads::Result),
];

/// Keys that are no content: settings, identifiers, and what only the maker of the body can read.
#[rustfmt::skip]
const OPAQUE: [&str; 22] = [
    "type", "id", "call_id", "status", "signature", "encrypted_content", "encrypted_index", "encrypted_stdout",
    "cache_control", "prompt_cache_breakpoint", "citations", "annotations", "logprobs", "tool_use_id",
    "approval_request_id", "caller", "fingerprint", "container_id", "environment", "pending_safety_checks",
    "acknowledged_safety_checks", "media_type",
];

/// Returns whether a key is no content.
pub fn is_opaque(key: &str) -> bool {
    OPAQUE.contains(&key)
}

impl<'b> Reader<'b, '_, '_> {
    /// Reads the content of a turn.
    pub fn read_content(&mut self, turn: &mut BodyTurn<'b>, content: &'b Data<'b>, key: &'b str) -> Result<()> {
        turn.content = self.key(turn.place, key);
        match content {
            Data::None => {
                turn.form = ContentForm::Null;
                Ok(())
            }
            Data::Str(text) => {
                turn.form = ContentForm::Text;
                turn.parts.reserve_exact(1);
                self.push_text(turn, text, content, turn.content)
            }
            Data::List(_) => {
                turn.form = ContentForm::Parts;
                self.read_each(content, turn.place, key, |reader, part, place| {
                    reader.read_part(turn, part, place)
                })
            }
            Data::Object(_) => {
                (turn.form, turn.node) = (ContentForm::Parts, None);
                self.read_part(turn, content, turn.content)
            }
            _ => {
                (turn.form, turn.node) = (ContentForm::Text, None);
                let text = content.to_string();
                self.visit(text.len())?;
                self.push_part(turn, PartKind::Text, text, content, turn.content)
            }
        }
    }

    /// Reads a part into a turn.
    pub fn read_part(&mut self, turn: &mut BodyTurn<'b>, part: &'b Data<'b>, place: BodyPlace) -> Result<()> {
        self.visit(0)?;
        let kind = part.get_text("type");
        let reads = match kind {
            Some(kind) => PARTS.iter().find(|(name, _)| *name == kind),
            // A part without a type has the key that one with a type has too.
            None => PARTS.iter().find(|(name, _)| is_only_key(part, name)),
        };
        let is_result = kind.is_some_and(|kind| kind.ends_with("_tool_result"));
        let reads = reads.map(|(_, reads)| *reads).or(is_result.then_some(Reads::Result));
        if kind != Some("text") && !matches!(reads, Some(Reads::Medium(_))) {
            turn.node = None;
        }
        if let Some(text) = part.text() {
            return self.push_text(turn, text, part, place);
        }
        if !part.is_object() {
            return Err(self.unfit(place, "a part must be an object or a string, and this is", part));
        }
        match reads {
            Some(Reads::Text(field)) => match part.get_text(field) {
                Some(text) => {
                    let place = self.key(place, field);
                    self.push_text(turn, text, part, place)
                }
                None if part.has("encrypted_content") => self.note(place, why::ENCRYPTED_TEXT),
                None => Err(self.wrong(place, format!("the part must have a string `{field}`"))),
            },
            Some(Reads::Thought(field)) => match part.get(field).or_else(|| part.get("summary")) {
                Some(thought) => self.read_thoughts(turn, thought, place, field),
                None => self.note(place, why::NO_THOUGHT),
            },
            Some(Reads::Medium(medium)) => self.push_medium(turn, medium, part, place),
            Some(Reads::Nothing(reason)) => self.note(place, reason),
            Some(Reads::Document) => self.read_document(turn, part, place),
            Some(Reads::SearchResult) => {
                self.read_field(turn, part, place, "title")?;
                self.read_field(turn, part, place, "source")?;
                self.read_inner(turn, part, place, "content")
            }
            Some(Reads::Tools(field)) => part.get(field).map_or(Ok(()), |tools| self.read_tools(tools, place, field)),
            Some(Reads::ToolChange) => match part.get("tool").and_then(|tool| tool.get("definition")) {
                Some(tool) => {
                    let place = self.key(place, "tool");
                    let place = self.key(place, "definition");
                    self.read_tool(tool, place)
                }
                None => self.note(place, why::TOOL_CHANGE),
            },
            Some(Reads::Stored(field)) => Err(self.refuse_stored(place, field)),
            Some(Reads::Call) if turn.result.is_none() => self.read_call_block(turn, part, place),
            Some(Reads::Result) if turn.result.is_none() => self.read_result_block(turn, part, place),
            Some(Reads::Call | Reads::Result) | None => self.push_block(turn, part, place),
        }
    }

    /// Adds a part to a turn.
    fn push_part(
        &mut self,
        turn: &mut BodyTurn<'b>,
        kind: PartKind,
        text: impl Into<Cow<'b, str>>,
        node: &'b Data<'b>,
        place: BodyPlace,
    ) -> Result<()> {
        self.visit(size_of::<ContentPart<'b>>())?;
        let text = text.into();
        self.count_bytes(&text);
        if kind != PartKind::Text {
            self.count(node)?;
        }
        turn.parts.push(ContentPart { kind, text, node, place });
        Ok(())
    }

    /// Adds a string to a turn.
    pub fn push_text(&mut self, turn: &mut BodyTurn<'b>, text: &'b str, node: &'b Data<'b>, place: BodyPlace) -> Result<()> {
        self.push_part(turn, PartKind::Text, text, node, place)
    }

    /// Adds the string of a field, if the part has it.
    fn read_field(&mut self, turn: &mut BodyTurn<'b>, part: &'b Data<'b>, place: BodyPlace, field: &'b str) -> Result<()> {
        let value = part.get(field).and_then(|value| Some((value, value.text()?)));
        let Some((value, text)) = value.filter(|(_, text)| !text.is_empty()) else {
            return Ok(());
        };
        let place = self.key(place, field);
        self.push_text(turn, text, value, place)
    }

    /// Adds a string, or the parts of a list in a part.
    fn read_inner(&mut self, turn: &mut BodyTurn<'b>, part: &'b Data<'b>, parent: BodyPlace, key: &'b str) -> Result<()> {
        match part.get(key).filter(|inner| inner.is_list()) {
            Some(inner) => self.read_each(inner, parent, key, |reader, part, place| reader.read_part(turn, part, place)),
            None => self.read_field(turn, part, parent, key),
        }
    }

    /// Adds a document: its title, context and text, or a file.
    fn read_document(&mut self, turn: &mut BodyTurn<'b>, part: &'b Data<'b>, place: BodyPlace) -> Result<()> {
        let Some(source) = part.get("source").filter(|source| source.is_object()) else {
            return self.push_block(turn, part, place);
        };
        for field in ["title", "context"] {
            self.read_field(turn, part, place, field)?;
        }
        let inner = self.key(place, "source");
        match source.get_text("type") {
            Some("text") => self.read_field(turn, source, inner, "data"),
            Some("content") => self.read_inner(turn, source, inner, "content"),
            _ => self.push_medium(turn, Medium::File, part, place),
        }
    }

    /// Adds a medium.
    pub fn push_medium(&mut self, turn: &mut BodyTurn<'b>, medium: Medium, part: &'b Data<'b>, place: BodyPlace) -> Result<()> {
        let is_stored = |holder: &Data<'_>| {
            let has = |key: &&str| holder.get(key).is_some();
            has(&"file_id") && !["image_url", "file_url", "file_data"].iter().any(has)
        };
        if is_stored(part) {
            return Err(self.refuse_stored(place, "file_id"));
        }
        let inner = ["file", "source", "image_url", "input_audio"]
            .into_iter()
            .find(|key| part.get(key).is_some());
        if let Some(key) = inner.filter(|key| part.get(key).is_some_and(is_stored)) {
            let place = self.key(place, key);
            return Err(self.refuse_stored(place, "file_id"));
        }
        self.push_part(turn, PartKind::Medium(medium), "", part, place)
    }

    /// Returns an error about a file that is named by an identifier.
    fn refuse_stored(&mut self, place: BodyPlace, field: &'b str) -> Error {
        let place = self.key(place, field);
        self.wrong(place, "the file is stored elsewhere; pass its data or its URL")
    }

    /// Adds a block of another type as its JSON.
    pub fn push_block(&mut self, turn: &mut BodyTurn<'b>, block: &'b Data<'b>, place: BodyPlace) -> Result<()> {
        let count = block.count_values();
        self.meter.charge_items(count)?;
        let is_result = block.get_text("type").is_some_and(|kind| kind.contains("_result"));
        let mut data = copy(block);
        if let (Data::Object(object), Some(kind)) = (&mut data, block.get_text("type").filter(|_| !is_result)) {
            let own = std::mem::take(object).into_entries();
            *object = Object::new([("type".into(), Data::Str(kind.into()))].into_iter().chain(own).collect());
        }
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = json::write_data(&data, &mut text);
        self.meter.charge_bytes(text.len())?;
        self.visit(text.len())?;
        // The output of a call can be any JSON.
        let is_output = turn.result.is_some() && !self.normal.places.pointer(turn.content).ends_with("/content");
        if !is_output && !is_result {
            self.note(place, why::UNKNOWN_PART)?;
        }
        self.push_part(turn, PartKind::Block, text, block, place)
    }

    /// Adds the reasoning at a key of a value: a string, or a list of strings and parts. A string that is in the reasoning of another
    /// key is not added again.
    pub fn read_thoughts(&mut self, turn: &mut BodyTurn<'b>, value: &'b Data<'b>, parent: BodyPlace, key: &'b str) -> Result<()> {
        let known = turn.thoughts.len();
        if let Some(text) = value.text() {
            let place = self.key(parent, key);
            return self.push_thought(turn, text, place, known);
        }
        turn.node = None;
        for (index, part) in value.items().enumerate() {
            let mut place = self.item(parent, key, index);
            let fields = ["text", "thinking", "summary"].into_iter();
            let field = fields.into_iter().find_map(|field| Some((field, part.get_text(field)?)));
            if let Some((field, _)) = field {
                place = self.key(place, field);
            }
            match part.text().or(field.map(|(_, text)| text)) {
                Some(text) => self.push_thought(turn, text, place, known)?,
                None => self.note(place, why::ENCRYPTED)?,
            }
        }
        Ok(())
    }

    fn push_thought(&mut self, turn: &mut BodyTurn<'b>, text: &'b str, place: BodyPlace, known: usize) -> Result<()> {
        self.visit(size_of::<Thought<'b>>())?;
        let mut is_known = text.is_empty();
        for thought in turn.thoughts.iter().take(known) {
            self.meter.charge_scan(thought.text.len())?;
            is_known |= thought.text.contains(text);
        }
        if !is_known {
            self.count_bytes(text);
            turn.thoughts.push(Thought { text, place });
        }
        Ok(())
    }
}

/// Returns whether the only content of a part without a type is at a key.
fn is_only_key(part: &Data<'_>, key: &str) -> bool {
    part.has(key) && part.entries().all(|(other, _)| other == key || is_opaque(other))
}

/// Returns a copy of a block without the keys that are no content.
fn copy<'b>(node: &'b Data<'b>) -> Data<'b> {
    if node.is_list() {
        return Data::List(node.items().map(copy).collect());
    }
    if !node.is_object() {
        return node.borrowed();
    }
    let is_binary = node.get_text("type") == Some("base64");
    let entries = node
        .entries()
        .filter(|(key, _)| !(is_opaque(key) || is_binary && *key == "data"));
    Data::Object(Object::new(entries.map(|(key, value)| (key.into(), copy(value))).collect()))
}
