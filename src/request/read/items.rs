//! The items of Responses, of which several can be one assistant message.
//!
//! ```text
//! reasoning, message, function_call, function_call   ->   one turn with a thought, a part and two calls
//! function_call_output                               ->   a result
//! web_search_call, code_interpreter_call             ->   a call and its result
//! ```
use super::super::normal::{BodyArguments, BodyTurn, Medium, Role};
use super::super::places::BodyPlace;
use super::super::reasons as why;
use super::Reader;
use super::parts::is_opaque;
use crate::error::Result;
use crate::json::Data;

/// The calls that the server runs. The item has the result too, or the server keeps it for itself.
const RUN_BY_SERVER: [&str; 5] = [
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_call",
];

/// The fields with the arguments of a call that has one field for all of them.
const ARGUMENTS: [&str; 3] = ["arguments", "action", "operation"];

/// The fields with the result of a call, in its own item or in one after it.
const RESULTS: [&str; 5] = ["output", "outputs", "results", "result", "error"];

/// The turn of the assistant to which the next items can belong.
type Open<'b> = Option<BodyTurn<'b>>;

impl<'b> Reader<'b, '_, '_> {
    /// Adds the turns of a body.
    pub fn read_items(&mut self, body: &'b Data<'b>, input: &'b Data<'b>) -> Result<()> {
        if let Some(instructions) = body.get("instructions") {
            self.push_instructions(instructions, "instructions")?;
        }
        if input.text().is_some() {
            let mut turn = BodyTurn::new(Role::User, BodyPlace::BODY);
            self.read_content(&mut turn, input, "input")?;
            turn.place = turn.content;
            return self.push(turn);
        }
        if !input.is_list() {
            let place = self.key(BodyPlace::BODY, "input");
            return Err(self.unfit(place, "must be a string or an array, and is", input));
        }
        let mut open = None;
        self.read_each(input, BodyPlace::BODY, "input", |reader, item, place| {
            reader.visit(0)?;
            if !item.is_object() {
                return Err(reader.unfit(place, "an item must be an object, and this is", item));
            }
            reader.read_item(item, place, &mut open)
        })?;
        self.close(&mut open)
    }

    /// Adds the open turn.
    fn close(&mut self, open: &mut Open<'b>) -> Result<()> {
        match open.take() {
            Some(turn) if !turn.is_empty() => self.push(turn),
            _ => Ok(()),
        }
    }

    /// Adds an item to the open turn of the assistant, or adds that turn and then the item.
    fn read_item(&mut self, item: &'b Data<'b>, place: BodyPlace, open: &mut Open<'b>) -> Result<()> {
        let kind = match item.get_text("type") {
            Some(kind) => kind,
            None if item.has("role") || !item.has("id") => "message",
            None => "item_reference",
        };
        let is_answer = kind == "message" && item.get_text("role") == Some("assistant");
        let is_complete = open
            .as_ref()
            .is_some_and(|turn| !turn.parts.is_empty() || !turn.calls.is_empty());
        if !(kind.ends_with("_call") || kind == "program" || (is_answer || kind == "reasoning") && !is_complete) {
            self.close(open)?;
        }
        match kind {
            "message" => match (self.read_message(item, place, false)?, &mut *open) {
                (Some(turn), _) if !is_answer => self.push(turn)?,
                (Some(turn), Some(open)) => (open.form, open.content, open.parts) = (turn.form, turn.content, turn.parts),
                (turn, None) if is_answer => *open = turn,
                _ => {}
            },
            "reasoning" => self.read_reasoning(item, place, open)?,
            "item_reference" => {
                let place = self.key(place, "id");
                return Err(self.wrong(place, "the item is stored elsewhere; pass the item itself"));
            }
            "mcp_list_tools" | "additional_tools" => self.read_own_tools(item, place)?,
            "compaction" => self.note(place, why::COMPACTION)?,
            "compaction_trigger" => {}
            "configuration_update" => self.note(place, why::CONFIGURATION)?,
            "mcp_approval_request" => {
                let turn = open.get_or_insert_with(|| BodyTurn::new(Role::Assistant, place));
                self.read_call(turn, item, place, item.get_text("id"), place)?;
            }
            "mcp_approval_response" => {
                let mut turn = BodyTurn::result(place, item.get_text("approval_request_id"));
                self.push_block(&mut turn, item, place)?;
                self.push(turn)?;
            }
            _ if kind.ends_with("_call") || kind == "program" => self.read_server_call(item, place, kind, open)?,
            _ if kind.ends_with("_output") => self.read_output(item, place)?,
            _ => {
                let mut turn = BodyTurn::new(Role::User, place);
                self.read_part(&mut turn, item, place)?;
                self.push(turn)?;
            }
        }
        Ok(())
    }

    /// Adds the tools of an item.
    fn read_own_tools(&mut self, item: &'b Data<'b>, place: BodyPlace) -> Result<()> {
        item.get("tools").map_or(Ok(()), |list| self.read_tools(list, place, "tools"))
    }

    /// Adds the reasoning of an item to the open turn: its content, or else its summary.
    fn read_reasoning(&mut self, item: &'b Data<'b>, place: BodyPlace, open: &mut Open<'b>) -> Result<()> {
        let list = |key: &'b str| Some((key, item.get(key)?));
        let mut lists = ["content", "summary"].into_iter().filter_map(list);
        let Some((key, thoughts)) = lists.find(|(_, list)| list.items().any(|part| part.get_text("text").is_some())) else {
            return self.note(place, why::ENCRYPTED);
        };
        let turn = open.get_or_insert_with(|| BodyTurn::new(Role::Assistant, place));
        self.read_thoughts(turn, thoughts, place, key)
    }

    /// Adds a call to the open turn, and its result if the item has it.
    fn read_server_call(&mut self, item: &'b Data<'b>, place: BodyPlace, kind: &'b str, open: &mut Open<'b>) -> Result<()> {
        let id = item.get_text("call_id").or_else(|| item.get_text("id"));
        let turn = open.get_or_insert_with(|| BodyTurn::new(Role::Assistant, place));
        if matches!(kind, "function_call" | "custom_tool_call") {
            return self.read_call(turn, item, place, id, place);
        }
        let find = |key: &'static str| Some((key, item.get(key)?));
        let result = RESULTS.into_iter().find_map(find);
        let whole = ARGUMENTS.into_iter().find_map(find);
        // The action of an image is a word, and no object with arguments.
        let whole = whole.filter(|(key, value)| *key == "arguments" || value.is_object());
        let arguments = match whole {
            Some((key, value)) => (self.read_arguments(value, false)?, self.key(place, key)),
            None => {
                let is_other =
                    |key| is_opaque(key) || RESULTS.contains(&key) || matches!(key, "name" | "server_label" | "svg_usage");
                let fields = item.entries().filter(|(key, value)| !is_other(key) && !value.is_null());
                let fields: Vec<_> = fields.collect();
                self.visit(fields.len().saturating_mul(size_of::<(&str, &'b Data<'b>)>()))?;
                fields.iter().try_for_each(|(_, value)| self.count(value))?;
                (BodyArguments::Fields(fields), place)
            }
        };
        let name = match item.get_text("name") {
            Some(name) => (name, self.key(place, "name")),
            None => (kind.strip_suffix("_call").unwrap_or(kind), place),
        };
        self.push_call(turn, (id, place), name, arguments)?;
        if result.is_none() && !RUN_BY_SERVER.contains(&kind) {
            return Ok(());
        }
        self.close(open)?;
        if kind == "image_generation_call" && result.is_some_and(|(_, image)| image.text().is_some()) {
            let mut turn = BodyTurn::result(place, id);
            self.push_medium(&mut turn, Medium::Image, item, place)?;
            return self.push(turn);
        }
        self.push_result(place, id, result)
    }

    /// Adds the result of an earlier call. One that has no text has its status.
    fn read_output(&mut self, item: &'b Data<'b>, place: BodyPlace) -> Result<()> {
        self.read_own_tools(item, place)?;
        let id = item.get_text("call_id").or_else(|| item.get_text("id"));
        let mut keys = RESULTS.into_iter().chain(["status"]);
        self.push_result(place, id, keys.find_map(|key| Some((key, item.get(key)?))))?;
        if let Some(result) = self.normal.turns.last_mut().and_then(|turn| turn.result.as_mut()) {
            result.name = item.get_text("name");
        }
        Ok(())
    }
}
