//! The messages of Chat Completions and of Messages, and those among the items of Responses.

use super::super::format::Format;
use super::super::normal::{Answer, BodyArguments, BodyTurn, ExtraField, Role};
use super::super::places::BodyPlace;
use super::super::reasons as why;
use super::parts::is_opaque;
use super::{MAX_SHOWN, Reader};
use crate::error::Result;
use crate::json::Data;
use crate::text::message::elide;

/// The names of roles, with those that other libraries use for them.
#[rustfmt::skip]
const ROLES: [(&str, Role); 10] = [
    ("user", Role::User), ("assistant", Role::Assistant), ("tool", Role::Tool), ("system", Role::System), ("developer", Role::Developer),
    ("function", Role::Tool), ("human", Role::User), ("ai", Role::Assistant), ("model", Role::Assistant), ("bot", Role::Assistant),
];

/// The fields with the reasoning of a message, of which a client can send several: first those with all of it.
const REASONING: [&str; 5] = [
    "reasoning_content",
    "reasoning",
    "thinking",
    "reasoning_details",
    "thinking_blocks",
];

/// The places of most messages: the message, its content, and a call with its name and arguments in some.
const PLACES: usize = 5;

impl<'b> Reader<'b, '_, '_> {
    /// Adds the messages of a body.
    pub fn read_messages(&mut self, body: &'b Data<'b>, messages: &'b Data<'b>, format: Format) -> Result<()> {
        let is_anthropic = format == Format::Messages;
        if let Some(system) = body.get("system").filter(|_| is_anthropic) {
            self.push_instructions(system, "system")?;
        }
        self.normal.turns.reserve(messages.items().len());
        self.normal.places.reserve(messages.items().len().saturating_mul(PLACES));
        self.read_each(messages, BodyPlace::BODY, "messages", |reader, node, place| {
            let turn = reader.read_message(node, place, true)?;
            turn.map_or(Ok(()), |turn| reader.push(turn))
        })?;
        let has = |key| messages.items().next_back().and_then(|last| last.get(key)?.bool()) == Some(true);
        let ends_with_answer = self.normal.turns.last().is_some_and(|turn| turn.role == Role::Assistant);
        self.normal.is_prefilled = ends_with_answer && (is_anthropic || has("partial") || has("prefix"));
        Ok(())
    }

    /// Adds a system message for a field of the body.
    pub fn push_instructions(&mut self, instructions: &'b Data<'b>, key: &'b str) -> Result<()> {
        if instructions.text().is_none() && !instructions.is_list() {
            let place = self.key(BodyPlace::BODY, key);
            return Err(self.unfit(place, "must be a string or an array, and this is", instructions));
        }
        let mut turn = BodyTurn::new(Role::System, BodyPlace::BODY);
        self.read_content(&mut turn, instructions, key)?;
        turn.place = turn.content;
        if turn.parts.is_empty() { Ok(()) } else { self.push(turn) }
    }

    /// Reads a message. Its results become turns; returns the turn with the rest, unless there is none. `is_kept` tells whether the message
    /// has the form that templates read.
    pub fn read_message(&mut self, node: &'b Data<'b>, place: BodyPlace, is_kept: bool) -> Result<Option<BodyTurn<'b>>> {
        if !node.is_object() {
            return Err(self.unfit(place, "a message must be an object, and this is", node));
        }
        let Some(name) = node.get_text("role") else {
            return Err(self.wrong(place, "the message has no string `role`"));
        };
        let Some((known, role)) = ROLES.iter().find(|(known, _)| *known == name) else {
            let place = self.key(place, "role");
            let (name, known) = (elide(name, MAX_SHOWN), "system, developer, user, assistant and tool");
            return Err(self.wrong(place, format!("the role `{name}` is unknown; known ones are {known}")));
        };
        self.visit(0)?;
        let mut turn = BodyTurn::new(*role, place);
        turn.node = (is_kept && *known == role.name()).then_some(node);
        turn.result = (*role == Role::Tool).then(Answer::default);
        // Calls come first: the content can have the same calls again, as blocks.
        self.read_calls(&mut turn, node)?;
        let (mut content, mut refusal, mut has_thoughts) = (None, None, false);
        for (key, value) in node.entries() {
            match key {
                "content" => content = Some(value),
                "refusal" => refusal = value.text().map(|text| (value, text)),
                _ if *role == Role::Assistant && REASONING.contains(&key) => has_thoughts = true,
                _ => self.read_extra_field(&mut turn, key, value)?,
            }
        }
        let fields = REASONING.into_iter().filter(|_| has_thoughts);
        for (key, thoughts) in fields.filter_map(|key| Some((key, node.get(key)?))) {
            self.read_thoughts(&mut turn, thoughts, place, key)?;
            turn.thought_key = turn.thought_key.or(thoughts.text().map(|_| key));
        }
        let before = self.normal.turns.len();
        match content {
            Some(content) if !matches!(content, Data::None | Data::Str(_) | Data::List(_)) => {
                let place = self.key(place, "content");
                return Err(self.unfit(place, "must be a string, a list of parts or null, and this is", content));
            }
            Some(content) => self.read_content(&mut turn, content, "content")?,
            None => {}
        }
        if let Some((refusal, text)) = refusal {
            let place = self.key(place, "refusal");
            self.push_text(&mut turn, text, refusal, place)?;
            turn.node = None;
        }
        let has_results = self.normal.turns.len() > before;
        Ok((!has_results || !turn.is_empty()).then_some(turn))
    }

    /// Reads a field of a message other than its content, its calls and its refusal.
    fn read_extra_field(&mut self, turn: &mut BodyTurn<'b>, key: &'b str, value: &'b Data<'b>) -> Result<()> {
        let is_assistant = turn.role == Role::Assistant;
        match (key, &mut turn.result) {
            ("role" | "object" | "phase", _) => {}
            _ if value.is_null() => {}
            ("tool_call_id", Some(result)) => result.id = value.text(),
            ("name", Some(result)) => result.name = value.text(),
            ("tool_calls" | "function_call", _) if is_assistant => {}
            ("partial" | "prefix", _) if value.bool().is_some() => {}
            ("audio", _) if is_assistant && value.get("id").is_some() => {
                let place = self.key(turn.place, key);
                self.note(place, why::STORED_AUDIO)?;
            }
            _ if is_opaque(key) => {}
            _ => {
                self.visit(size_of::<ExtraField<'b>>())?;
                self.count(value)?;
                let place = self.key(turn.place, key);
                let at = if key == "name" { 0 } else { turn.fields.len() };
                turn.fields.insert(at, ExtraField { key, value, place });
            }
        }
        Ok(())
    }

    /// Reads the calls of a message of Chat Completions. The message cannot be passed on as it is if its list is empty, or a call has another
    /// form than that of a function.
    fn read_calls(&mut self, turn: &mut BodyTurn<'b>, node: &'b Data<'b>) -> Result<()> {
        if turn.role != Role::Assistant {
            return Ok(());
        }
        if let Some(calls) = node.get("tool_calls") {
            if calls.items().next().is_none() {
                // A template can print the tags of calls for a list that is there.
                turn.node = None;
            }
            self.read_each(calls, turn.place, "tool_calls", |reader, call, place| {
                let is_inner = |key: &&str| call.get(key).is_some_and(Data::is_object);
                let inner = ["function", "custom"].into_iter().find(is_inner);
                if inner != Some("function") {
                    turn.node = None;
                }
                let (function, at) = match inner.and_then(|key| Some((call.get(key)?, key))) {
                    Some((function, key)) => (function, reader.key(place, key)),
                    None => (call, place),
                };
                reader.read_call(turn, function, at, call.get_text("id"), place)
            })?;
        }
        if let Some(call) = node.get("function_call").filter(|call| call.is_object()) {
            let place = self.key(turn.place, "function_call");
            self.read_call(turn, call, place, None, place)?;
            turn.node = None;
        }
        Ok(())
    }

    /// Adds a call. `function` has the name and the arguments, which are the `input` of a custom tool or of a block.
    pub fn read_call(
        &mut self,
        turn: &mut BodyTurn<'b>,
        function: &'b Data<'b>,
        at: BodyPlace,
        id: Option<&'b str>,
        place: BodyPlace,
    ) -> Result<()> {
        let Some(name) = function.get_text("name") else {
            return Err(self.wrong(at, "a call must have a string `name`"));
        };
        let key = if function.has("arguments") || !function.has("input") {
            "arguments"
        } else {
            "input"
        };
        let arguments = match function.get(key) {
            None => (BodyArguments::Absent, at),
            Some(value) => (self.read_arguments(value, key == "input")?, self.key(at, key)),
        };
        let name_place = self.key(at, "name");
        self.push_call(turn, (id, place), (name, name_place), arguments)
    }

    /// Reads a block that is a call into its turn, unless a field of the message has the same call.
    pub fn read_call_block(&mut self, turn: &mut BodyTurn<'b>, block: &'b Data<'b>, place: BodyPlace) -> Result<()> {
        if turn.role != Role::Assistant {
            return Err(self.wrong(place, "only an assistant message can have a call"));
        }
        let id = block.get_text("id");
        // The calls of a field were read before the content.
        let known = self.normal.calls_of(&turn.calls);
        for call in known.take_while(|call| id.is_some() && call.place < turn.content) {
            self.meter.charge(1)?;
            if call.id == id {
                return Ok(());
            }
        }
        self.read_call(turn, block, place, id, place)
    }

    /// Adds the result of a block, which comes before the other blocks of its message, and ends a turn of the assistant.
    pub fn read_result_block(&mut self, turn: &mut BodyTurn<'b>, block: &'b Data<'b>, place: BodyPlace) -> Result<()> {
        if turn.role == Role::Assistant {
            let mut rest = BodyTurn::new(Role::Assistant, turn.place);
            (rest.form, rest.content) = (turn.form, turn.content);
            let before = std::mem::replace(turn, rest);
            if !before.is_empty() {
                self.push(before)?;
            }
        } else if let Some(part) = turn.parts.first() {
            self.note(part.place, why::RESULT_FIRST)?;
        }
        if block.get("is_error").and_then(Data::bool) == Some(true) {
            let place = self.key(place, "is_error");
            self.note(place, why::ERROR_MARK)?;
        }
        let content = block.get("content").map(|content| ("content", content));
        self.push_result(place, block.get_text("tool_use_id"), content)
    }
}
