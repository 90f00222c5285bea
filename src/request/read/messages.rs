//! The messages of Chat Completions and of Messages, and those among the items of Responses.

use super::super::change::ChangeKind;
use super::super::format::Format;
use super::super::normal::{Answer, BodyArguments, BodyTurn, Call, ContentForm, ExtraField, Role};
use super::super::places::BodyPlace;
use super::parts::is_opaque;
use super::{MAX_SHOWN, Reader};
use crate::error::Result;
use crate::json::Data;
use crate::text::truncate::elide;

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

/// Adds the messages of a body.
pub fn read<'b>(reader: &mut Reader<'b, '_, '_>, body: &'b Data<'b>, messages: &'b Data<'b>, format: Format) -> Result<()> {
    if let Some(system) = body.get("system").filter(|_| format == Format::Messages) {
        push_instructions(reader, system, "system")?;
    }
    let place = reader.key(BodyPlace::BODY, "messages");
    let mut is_prefilled = format == Format::Messages;
    reader.normal.turns.reserve(messages.items().len());
    reader.normal.places.reserve(messages.items().len().saturating_mul(3));
    for (index, node) in reader.items_of(messages, place)? {
        let place = reader.item(BodyPlace::BODY, "messages", index);
        let has = |key| node.get(key).and_then(Data::bool) == Some(true);
        is_prefilled = format == Format::Messages || has("partial") || has("prefix");
        if let Some(turn) = read_message(reader, node, place, true)? {
            reader.push(turn)?;
        }
    }
    reader.normal.is_prefilled = is_prefilled && reader.normal.turns.last().is_some_and(|turn| turn.role == Role::Assistant);
    Ok(())
}

/// Adds a system message for a field of the body.
pub fn push_instructions<'b>(reader: &mut Reader<'b, '_, '_>, instructions: &'b Data<'b>, key: &'b str) -> Result<()> {
    if instructions.text().is_none() && !instructions.is_list() {
        let place = reader.key(BodyPlace::BODY, key);
        let found = instructions.describe();
        return Err(reader.wrong(place, format!("must be a string or an array, and this is {found}")));
    }
    let mut turn = BodyTurn::new(Role::System, BodyPlace::BODY);
    reader.read_content(&mut turn, instructions, key)?;
    turn.place = turn.content;
    if turn.parts.is_empty() { Ok(()) } else { reader.push(turn) }
}

/// Reads a message. Its results become turns; returns the turn with the rest, unless there is none. `is_kept` tells whether the message has
/// the form that templates read.
pub fn read_message<'b>(
    reader: &mut Reader<'b, '_, '_>,
    node: &'b Data<'b>,
    place: BodyPlace,
    is_kept: bool,
) -> Result<Option<BodyTurn<'b>>> {
    if !node.is_object() {
        let found = node.describe();
        return Err(reader.wrong(place, format!("a message must be an object, and this is {found}")));
    }
    let Some(name) = node.get_text("role") else {
        return Err(reader.wrong(place, "the message has no string `role`"));
    };
    let Some((known, role)) = ROLES.iter().find(|(known, _)| *known == name) else {
        let place = reader.key(place, "role");
        return Err(reader.wrong(
            place,
            format!(
                "the role `{}` is unknown; known ones are system, developer, user, assistant and tool",
                elide(name, MAX_SHOWN)
            ),
        ));
    };
    reader.visit(0)?;
    let mut turn = BodyTurn::new(*role, place);
    turn.node = (is_kept && *known == role.name()).then_some(node);
    if *role == Role::Tool {
        turn.result = Some(Answer::default());
    }
    // Calls come first: the content can have the same calls again, as blocks.
    read_calls(reader, &mut turn, node)?;
    let mut has_thoughts = false;
    for (key, value) in node.entries() {
        if *role == Role::Assistant && REASONING.contains(&key) {
            has_thoughts = true;
        } else {
            read_field(reader, &mut turn, key, value)?;
        }
    }
    let fields = REASONING.into_iter().filter(|_| has_thoughts);
    for (key, thoughts) in fields.filter_map(|key| Some((key, node.get(key)?))) {
        reader.read_thoughts(&mut turn, thoughts, place, key)?;
        turn.thought_key = turn.thought_key.or(thoughts.text().map(|_| key));
    }
    let content = node.get("content");
    if let Some(wrong) = content.filter(|content| content.text().is_none() && !content.is_list()) {
        let place = reader.key(place, "content");
        let found = wrong.describe();
        return Err(reader.wrong(
            place,
            format!("must be a string, a list of parts or null, and this is {found}"),
        ));
    }
    if content.is_none() && node.has("content") {
        turn.form = ContentForm::Null;
        turn.content = reader.key(place, "content");
    }
    let has_results = match content {
        Some(content) => read_blocks(reader, &mut turn, content)?,
        None => false,
    };
    if let Some(refusal) = node.get("refusal").filter(|refusal| refusal.text().is_some()) {
        let place = reader.key(place, "refusal");
        reader.push_text(&mut turn, refusal.text().unwrap_or_default(), refusal, place)?;
        turn.node = None;
    }
    Ok((!has_results || !turn.is_empty()).then_some(turn))
}

/// Reads a field of a message other than its content, its calls and its refusal.
fn read_field<'b>(reader: &mut Reader<'b, '_, '_>, turn: &mut BodyTurn<'b>, key: &'b str, value: &'b Data<'b>) -> Result<()> {
    let is_assistant = turn.role == Role::Assistant;
    match (key, &mut turn.result) {
        ("role" | "content" | "refusal" | "object" | "phase", _) => {}
        _ if value.is_null() => {}
        ("tool_call_id", Some(result)) => result.id = value.text(),
        ("name", Some(result)) => result.name = value.text(),
        ("tool_calls" | "function_call", _) if is_assistant => {}
        ("partial" | "prefix", _) if value.bool().is_some() => {}
        ("audio", _) if is_assistant && value.get("id").is_some() => {
            let place = reader.key(turn.place, key);
            reader.drop(place, "the audio of an earlier answer is stored elsewhere")?;
        }
        _ if is_opaque(key) => {}
        _ => {
            reader.visit(size_of::<ExtraField<'b>>())?;
            reader.count(value)?;
            let place = reader.key(turn.place, key);
            let field = ExtraField { key, value, place };
            let at = if key == "name" { 0 } else { turn.fields.len() };
            turn.fields.insert(at, field);
        }
    }
    Ok(())
}

/// Reads the calls of a message of Chat Completions.
fn read_calls<'b>(reader: &mut Reader<'b, '_, '_>, turn: &mut BodyTurn<'b>, node: &'b Data<'b>) -> Result<()> {
    if turn.role != Role::Assistant {
        return Ok(());
    }
    if let Some(calls) = node.get("tool_calls") {
        let place = reader.key(turn.place, "tool_calls");
        if calls.items().next().is_none() {
            // A template can print the tags of calls for a list that is there.
            turn.node = None;
        }
        for (index, call) in reader.items_of(calls, place)? {
            let place = reader.item(turn.place, "tool_calls", index);
            let inner = ["function", "custom"]
                .into_iter()
                .find(|key| call.get(key).is_some_and(Data::is_object));
            if inner != Some("function") {
                turn.node = None;
            }
            let (function, at) = match inner.and_then(|key| Some((call.get(key)?, key))) {
                Some((function, key)) => (function, reader.key(place, key)),
                None => (call, place),
            };
            read_call(reader, turn, function, at, call.get_text("id"), place)?;
        }
    }
    if let Some(call) = node.get("function_call").filter(|call| call.is_object()) {
        let place = reader.key(turn.place, "function_call");
        read_call(reader, turn, call, place, None, place)?;
        turn.node = None;
    }
    Ok(())
}

/// Adds a call. `function` has the name and the arguments, which are the `input` of a custom tool or of a block.
pub fn read_call<'b>(
    reader: &mut Reader<'b, '_, '_>,
    turn: &mut BodyTurn<'b>,
    function: &'b Data<'b>,
    at: BodyPlace,
    id: Option<&'b str>,
    place: BodyPlace,
) -> Result<()> {
    let Some(name) = function.get_text("name") else {
        return Err(reader.wrong(at, "a call must have a string `name`"));
    };
    let key = ["arguments", "input"]
        .into_iter()
        .find(|key| function.has(key))
        .unwrap_or("arguments");
    let value = function.get(key);
    let arguments = match value.map(|value| (value, value.text())) {
        None => BodyArguments::Absent,
        Some((_, Some(text))) if key == "input" => {
            reader.normal.bytes = reader.normal.bytes.saturating_add(text.len());
            BodyArguments::Input(text)
        }
        Some((value, _)) => reader.read_arguments(value)?,
    };
    let arguments_place = if value.is_some() { reader.key(at, key) } else { at };
    let name_place = reader.key(at, "name");
    let call = Call {
        id,
        name,
        arguments,
        place,
        name_place,
        arguments_place,
    };
    reader.push_call(turn, call)
}

/// Reads the content of a message into its turn. Results come before the other blocks of their message, and end a turn of the assistant.
/// Returns whether there are results.
fn read_blocks<'b>(reader: &mut Reader<'b, '_, '_>, turn: &mut BodyTurn<'b>, content: &'b Data<'b>) -> Result<bool> {
    let place = turn.place;
    reader.meter.charge_items(content.items().count())?;
    if turn.result.is_some() || !content.items().any(is_special) {
        reader.read_content(turn, content, "content")?;
        return Ok(false);
    }
    let (mut has_results, mut is_moved) = (false, false);
    turn.node = None;
    turn.form = ContentForm::Parts;
    turn.content = reader.key(place, "content");
    let known = turn.calls.len();
    for (index, block) in content.items().enumerate() {
        let at = reader.item(place, "content", index);
        let kind = block.get_text("type").unwrap_or_default();
        if is_call(kind) {
            if turn.role != Role::Assistant {
                return Err(reader.wrong(at, "only an assistant message can have a call"));
            }
            let id = block.get_text("id");
            reader.meter.charge_items(known)?;
            if id.is_none() || reader.normal.calls_of(&turn.calls).take(known).all(|call| call.id != id) {
                read_call(reader, turn, block, at, id, at)?;
            }
            continue;
        }
        if !is_result(kind) {
            reader.read_part(turn, block, at)?;
            continue;
        }
        has_results = true;
        if turn.role == Role::Assistant {
            let mut rest = BodyTurn::new(Role::Assistant, place);
            (rest.form, rest.content) = (turn.form, turn.content);
            let before = std::mem::replace(turn, rest);
            if !before.is_empty() {
                reader.push(before)?;
            }
        } else if let Some(part) = turn.parts.first().filter(|_| !is_moved) {
            reader.note(part.place, ChangeKind::Moved, "results come directly after their calls")?;
            is_moved = true;
        }
        if block.get("is_error").and_then(Data::bool) == Some(true) {
            let at = reader.key(at, "is_error");
            reader.drop(at, "templates have no place for the mark of a result that is an error")?;
        }
        let content = block.get("content").map(|content| ("content", content));
        reader.push_result(at, block.get_text("tool_use_id"), content)?;
    }
    Ok(has_results)
}

/// Returns whether a block is a call or a result.
fn is_special(block: &Data<'_>) -> bool {
    block.get_text("type").is_some_and(|kind| is_call(kind) || is_result(kind))
}

fn is_call(kind: &str) -> bool {
    matches!(kind, "tool_use" | "server_tool_use" | "mcp_tool_use")
}

fn is_result(kind: &str) -> bool {
    kind == "tool_result" || kind.ends_with("_tool_result")
}
