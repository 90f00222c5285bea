//! The items of Responses, of which several can be one assistant message.
//!
//! ```text
//! reasoning, message, function_call, function_call   ->   one turn with a thought, a part and two calls
//! function_call_output                               ->   a result
//! web_search_call, code_interpreter_call             ->   a call and its result
//! ```
use super::super::normal::{BodyArguments, BodyTurn, Call, Medium, Role};
use super::super::places::BodyPlace;
use super::messages::{push_instructions, read_call, read_message};
use super::parts::{ENCRYPTED, is_opaque};
use super::{Reader, tools};
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

/// Adds the turns of a body.
pub fn read<'b>(reader: &mut Reader<'b, '_, '_>, body: &'b Data<'b>, input: &'b Data<'b>) -> Result<()> {
    if let Some(instructions) = body.get("instructions") {
        push_instructions(reader, instructions, "instructions")?;
    }
    if input.text().is_some() {
        let mut turn = BodyTurn::new(Role::User, BodyPlace::BODY);
        reader.read_content(&mut turn, input, "input")?;
        turn.place = turn.content;
        return reader.push(turn);
    }
    let place = reader.key(BodyPlace::BODY, "input");
    if !input.is_list() {
        let found = input.describe();
        return Err(reader.wrong(place, format!("must be a string or an array, and is {found}")));
    }
    let mut open = None;
    for (index, item) in input.items().enumerate() {
        let place = reader.item(BodyPlace::BODY, "input", index);
        reader.visit(0)?;
        if !item.is_object() {
            let found = item.describe();
            return Err(reader.wrong(place, format!("an item must be an object, and this is {found}")));
        }
        read_item(reader, item, place, &mut open)?;
    }
    close(reader, &mut open)
}

/// Adds the open turn.
fn close<'b>(reader: &mut Reader<'b, '_, '_>, open: &mut Option<BodyTurn<'b>>) -> Result<()> {
    match open.take() {
        Some(turn) if !turn.is_empty() => reader.push(turn),
        _ => Ok(()),
    }
}

/// Adds an item to the open turn of the assistant, or adds that turn and then the item.
fn read_item<'b>(
    reader: &mut Reader<'b, '_, '_>,
    item: &'b Data<'b>,
    place: BodyPlace,
    open: &mut Option<BodyTurn<'b>>,
) -> Result<()> {
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
        close(reader, open)?;
    }
    match kind {
        "message" if is_answer => {
            let message = read_message(reader, item, place, false)?;
            match (open.as_mut(), message) {
                (Some(open), Some(message)) => {
                    (open.form, open.content, open.parts) = (message.form, message.content, message.parts);
                }
                (None, message) => *open = message,
                (Some(_), None) => {}
            }
            Ok(())
        }
        "message" => match read_message(reader, item, place, false)? {
            Some(turn) => reader.push(turn),
            None => Ok(()),
        },
        "reasoning" => read_reasoning(reader, item, place, open),
        "item_reference" => {
            let place = reader.key(place, "id");
            Err(reader.wrong(place, "the item is stored elsewhere; pass the item itself"))
        }
        "mcp_list_tools" | "additional_tools" => match item.get("tools") {
            Some(list) => tools::read(reader, list, place, "tools"),
            None => Ok(()),
        },
        "compaction" => reader.drop(place, "the earlier conversation is encrypted"),
        "compaction_trigger" => Ok(()),
        "configuration_update" => reader.drop(place, "the settings of a prompt are the same for all messages"),
        "mcp_approval_request" => {
            let turn = open.get_or_insert_with(|| BodyTurn::new(Role::Assistant, place));
            read_call(reader, turn, item, place, item.get_text("id"), place)
        }
        "mcp_approval_response" => {
            let mut turn = BodyTurn::result(place, item.get_text("approval_request_id"));
            reader.push_block(&mut turn, item, place)?;
            reader.push(turn)
        }
        "program" => read_server_call(reader, item, place, kind, open),
        _ if kind.ends_with("_call") => read_server_call(reader, item, place, kind, open),
        _ if kind.ends_with("_output") => read_output(reader, item, place),
        _ => {
            let mut turn = BodyTurn::new(Role::User, place);
            reader.read_part(&mut turn, item, place)?;
            reader.push(turn)
        }
    }
}

/// Adds the reasoning of an item to the open turn: its content, or else its summary.
fn read_reasoning<'b>(
    reader: &mut Reader<'b, '_, '_>,
    item: &'b Data<'b>,
    place: BodyPlace,
    open: &mut Option<BodyTurn<'b>>,
) -> Result<()> {
    let has_text = |key: &&str| {
        item.get(key)
            .into_iter()
            .flat_map(Data::items)
            .any(|part| part.get_text("text").is_some())
    };
    let Some(key) = ["content", "summary"].into_iter().find(has_text) else {
        return reader.drop(place, ENCRYPTED);
    };
    let turn = open.get_or_insert_with(|| BodyTurn::new(Role::Assistant, place));
    match item.get(key) {
        Some(thoughts) => reader.read_thoughts(turn, thoughts, place, key),
        None => Ok(()),
    }
}

/// Adds a call to the open turn, and its result if the item has it.
fn read_server_call<'b>(
    reader: &mut Reader<'b, '_, '_>,
    item: &'b Data<'b>,
    place: BodyPlace,
    kind: &'b str,
    open: &mut Option<BodyTurn<'b>>,
) -> Result<()> {
    let id = item.get_text("call_id").or_else(|| item.get_text("id"));
    let turn = open.get_or_insert_with(|| BodyTurn::new(Role::Assistant, place));
    if matches!(kind, "function_call" | "custom_tool_call") {
        return read_call(reader, turn, item, place, id, place);
    }
    let result = RESULTS.into_iter().find_map(|key| Some((key, item.get(key)?)));
    let whole = ARGUMENTS.into_iter().find_map(|key| Some((key, item.get(key)?)));
    // The action of an image is a word, and no object with arguments.
    let whole = whole.filter(|(key, value)| *key == "arguments" || value.is_object());
    let (arguments, arguments_place) = match whole {
        Some((key, value)) => {
            let arguments = reader.read_arguments(value)?;
            (arguments, reader.key(place, key))
        }
        None => {
            let is_argument = |(key, value): &(&str, &Data<'_>)| {
                !(is_opaque(key)
                    || value.is_null()
                    || RESULTS.contains(key)
                    || matches!(*key, "name" | "server_label" | "svg_usage"))
            };
            let fields: Vec<_> = item.entries().filter(is_argument).collect();
            reader.visit(fields.len().saturating_mul(size_of::<(&str, &'b Data<'b>)>()))?;
            fields.iter().try_for_each(|(_, value)| reader.count(value))?;
            (BodyArguments::Fields(fields), place)
        }
    };
    let (name, name_place) = match item.get_text("name") {
        Some(name) => (name, reader.key(place, "name")),
        None => (kind.strip_suffix("_call").unwrap_or(kind), place),
    };
    let call = Call {
        id,
        name,
        arguments,
        place,
        name_place,
        arguments_place,
    };
    reader.push_call(turn, call)?;
    if result.is_none() && !RUN_BY_SERVER.contains(&kind) {
        return Ok(());
    }
    close(reader, open)?;
    match result {
        Some((_, image)) if kind == "image_generation_call" && image.text().is_some() => {
            let mut turn = BodyTurn::result(place, id);
            reader.push_medium(&mut turn, Medium::Image, item, place)?;
            reader.push(turn)
        }
        _ => reader.push_result(place, id, result),
    }
}

/// Adds the result of an earlier call. One that has no text has its status.
fn read_output<'b>(reader: &mut Reader<'b, '_, '_>, item: &'b Data<'b>, place: BodyPlace) -> Result<()> {
    if let Some(list) = item.get("tools") {
        tools::read(reader, list, place, "tools")?;
    }
    let id = item.get_text("call_id").or_else(|| item.get_text("id"));
    let content = RESULTS
        .into_iter()
        .chain(["status"])
        .find_map(|key| Some((key, item.get(key)?)));
    let name = item.get_text("name");
    reader.push_result(place, id, content)?;
    if let Some(result) = reader.normal.turns.last_mut().and_then(|turn| turn.result.as_mut()) {
        result.name = name;
    }
    Ok(())
}
