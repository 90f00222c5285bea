//! Bodies of OpenAI's Chat Completions, whose messages already have the form that templates read.

use super::calls::{NEW_CALL, OPEN_CALL, fit_arguments, make_call};
use super::change::What;
use super::content;
use super::fitter::{Fitter, NO_REASONING};
use super::message::{Message, Place};
use super::node::Node;
use super::wrong;
use crate::chat::REASONING_FIELDS;
use crate::error::Result;
use crate::json::{Data, Object};
use crate::text::short_eq::is_equal;

/// Adds the messages of a body.
pub fn read<'b>(fitter: &mut Fitter<'b, '_>, messages: Node<'b>) -> Result<()> {
    for (index, message) in messages.items().enumerate() {
        fitter.changes.visit(0)?;
        let place = Place::item("/messages", index);
        let role = read_plain(message).filter(|role| fitter.facts.takes_text(role));
        let is_kept = match role {
            Some(role) => fitter.keep(place, role)?,
            None => false,
        };
        if !is_kept {
            read_message(fitter, message, place)?;
        }
    }
    Ok(())
}

/// Returns the role of a message that has only a role and a text, as most have, and is not a result.
fn read_plain(node: Node<'_>) -> Option<&str> {
    let (mut role, mut has_text, mut has_more) = (None, false, false);
    node.for_each_entry(|key, value| match (key, value.text()) {
        ("role", text) => role = text,
        ("content", Some(text)) => has_text = !text.is_empty(),
        _ => has_more = true,
    });
    role.filter(|role| has_text && !has_more && !is_equal(role, "tool"))
}

/// The fields of a message that the door reads. A field that is null is absent.
#[derive(Default)]
struct Fields<'b> {
    role: Option<&'b str>,
    content: Option<Node<'b>>,
    tool_calls: Option<Node<'b>>,
    tool_call_id: Option<&'b str>,
    has_name: bool,
    /// The key and the value of the reasoning.
    reasoning: Option<(&'b str, Node<'b>)>,
    audio: Option<Node<'b>>,
    has_null: bool,
}

impl<'b> Fields<'b> {
    /// Reads the fields in one pass.
    fn new(node: Node<'b>) -> Self {
        let mut fields = Self::default();
        node.for_each_entry(|key, value| match key {
            _ if value.is_null() => fields.has_null = true,
            "role" => fields.role = value.text(),
            "content" => fields.content = Some(value),
            "tool_calls" => fields.tool_calls = Some(value),
            "tool_call_id" => fields.tool_call_id = value.text(),
            "name" => fields.has_name = true,
            "audio" => fields.audio = Some(value),
            _ if REASONING_FIELDS.contains(&key) => fields.reasoning = Some((key, value)),
            _ => {}
        });
        fields
    }
}

/// Adds a message.
pub fn read_message<'b>(fitter: &mut Fitter<'b, '_>, node: Node<'b>, place: Place) -> Result<()> {
    let fields = Fields::new(node);
    let body_role = fields.role.map_or_else(|| read_role(node, place), Ok)?;
    fitter.is_clean &= !fields.has_null && fields.reasoning.is_none();
    let mut name = None;
    if is_equal(body_role, "tool") {
        let called = fitter.calls.close(fields.tool_call_id, &|| place.path())?;
        name = called.filter(|_| fitter.facts.prints_name_of_result && !fields.has_name);
        let has_text = fields.content.and_then(Node::text).is_some_and(|text| !text.is_empty());
        if has_text && name.is_none() && fitter.facts.takes_text(body_role) && fitter.keep_result(place, body_role)? {
            return Ok(());
        }
    }
    let mut message = Message::kept(node, place);
    let role = fitter.recast(body_role, place)?;
    if role != body_role {
        message.set("role", Data::Str(role.into()), &mut fitter.changes)?;
    }
    let calls = fields.tool_calls.filter(|_| body_role == "assistant");
    let mut has_calls = calls.is_some_and(|calls| calls.items().next().is_some());
    if calls.is_some_and(|calls| calls.is_list() && !has_calls) {
        let path = place.field("/tool_calls");
        fitter.changes.add(
            path,
            What::Omitted,
            "a list of no calls can make the template fail or print it",
        )?;
        message.take("tool_calls", &mut fitter.changes)?;
    }
    if let Some(audio) = fields.audio.filter(|_| body_role == "assistant") {
        let why = "templates do not read the audio of an answer";
        fitter.changes.drop_value(audio, place.field("/audio"), why)?;
    }
    if let Some(content) = fields.content {
        let role = if has_calls && fitter.facts.takes.calls {
            "caller"
        } else {
            role
        };
        if role == "caller" && !fitter.facts.writes_content_beside && content.text().is_none_or(|text| !text.trim().is_empty()) {
            let path = place.field("/content");
            fitter.changes.drop_value(
                content,
                path,
                "the template does not print content beside calls (calls.content_beside is lost)",
            )?;
        }
        if let Some(fitted) = content::fit(fitter.facts, role, content, &|| place.field("/content"), &mut fitter.changes)? {
            message.set("content", fitted, &mut fitter.changes)?;
        }
    }
    if let Some(fitted) = calls.map(|calls| read_calls(fitter, calls, place)).transpose()?.flatten() {
        message.set("tool_calls", fitted, &mut fitter.changes)?;
    }
    if let (Some(calls), Some(why)) = (calls.filter(|_| has_calls), fitter.facts.judge_calls()) {
        fitter.changes.drop_value(calls, place.field("/tool_calls"), why)?;
        if !fitter.facts.takes.calls {
            has_calls = false;
            message.take("tool_calls", &mut fitter.changes)?;
        }
    }
    if let Some(name) = name {
        fitter.changes.add(
            place.field("/name"),
            What::Named,
            "the template prints the name of the function (calls.name_in_result is printed)",
        )?;
        message.set("name", Data::Str(name.into()), &mut fitter.changes)?;
    }
    if fields.content.is_none_or(|content| content.text().is_none_or(str::is_empty)) {
        fitter.fill_content(&mut message, has_calls)?;
    }
    if let Some((key, reasoning)) = fields.reasoning.filter(|_| body_role == "assistant") {
        if !fitter.facts.reads_reasoning {
            let path = place.field(&format!("/{key}"));
            fitter.changes.drop_value(reasoning, path, NO_REASONING)?;
        }
        fitter.rename_reasoning(&mut message)?;
    }
    match body_role {
        "tool" => fitter.push_as_result(message, role),
        _ => fitter.push(message, role),
    }
}

/// Returns the role of a message.
pub fn read_role(node: Node<'_>, place: Place) -> Result<&str> {
    if !node.is_object() {
        return Err(wrong(
            place.path(),
            format!("a message must be an object, and this is {}", node.describe()),
        ));
    }
    node.get_text("role")
        .ok_or_else(|| wrong(place.path(), "the message has no string `role`"))
}

/// Opens the calls of a message, and returns them as the template takes them, or `None` if the template gets those of the body.
fn read_calls<'b>(fitter: &mut Fitter<'b, '_>, calls: Node<'b>, place: Place) -> Result<Option<Data<'b>>> {
    if !calls.is_list() {
        let found = calls.describe();
        return Err(wrong(
            place.field("/tool_calls"),
            format!("the calls must be an array, and this is {found}"),
        ));
    }
    let mut changed = Vec::new();
    for (index, call) in calls.items().enumerate() {
        fitter.changes.visit(OPEN_CALL)?;
        let path = |field: &str| place.field(&format!("/tool_calls/{index}{field}"));
        let (field, function, key) = match (call.get("function"), call.get("custom")) {
            (Some(function), _) => ("/function", function, "arguments"),
            (None, Some(custom)) => ("/custom", custom, "input"),
            (None, None) => ("", call, "arguments"),
        };
        let Some(name) = function.get_text("name") else {
            return Err(wrong(
                path(field),
                "a call must have a string `name` in `function` or `custom`",
            ));
        };
        let id = call.get_text("id");
        fitter.calls.add(id, Some(name), &|| path(""))?;
        let Some(arguments) = function.get(key) else {
            if key == "input" {
                return Err(wrong(path(field), "a call of a custom tool must have an `input`"));
            }
            continue;
        };
        let path_of_arguments = || path(&format!("{field}/{key}"));
        let fitted = fit_arguments(fitter.facts, arguments, &path_of_arguments, &mut fitter.changes)?;
        if fitted.is_some() || key == "input" {
            fitter.changes.claim(NEW_CALL)?;
        }
        if key == "input" {
            fitter
                .changes
                .add(path(""), What::Translated, "templates read `function` of a call")?;
            let arguments = match fitted {
                Some(fitted) => fitted,
                None => fitter.changes.copy(arguments)?,
            };
            changed.push((index, make_call(id, name, arguments)));
        } else if let Some(fitted) = fitted {
            changed.push((index, with_arguments(fitter.changes.copy(call)?, fitted)));
        }
    }
    if changed.is_empty() {
        return Ok(None);
    }
    let mut changed = changed.into_iter().peekable();
    let fitted = calls
        .items()
        .enumerate()
        .map(|(index, call)| match changed.next_if(|(other, _)| *other == index) {
            Some((_, fitted)) => Ok(fitted),
            None => fitter.changes.copy(call),
        });
    let fitted: Result<_> = fitted.collect();
    Ok(Some(Data::List(fitted?)))
}

/// Returns a call with other arguments.
fn with_arguments<'b>(call: Data<'b>, arguments: Data<'b>) -> Data<'b> {
    let Data::Object(call) = call else {
        return call;
    };
    let mut entries = call.into_entries();
    match entries.iter_mut().find(|(key, _)| key == "function") {
        Some((_, function)) => *function = with_arguments(std::mem::replace(function, Data::None), arguments),
        None => entries.push(("arguments".into(), arguments)),
    }
    Data::Object(Object::new(entries))
}
