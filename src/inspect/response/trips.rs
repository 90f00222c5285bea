//! Renders messages and parses them back, which shows whether a description is right.

use serde_json::{Map, Value, json};

use super::{Derivation, Failure, MAX_QUOTED, REASONING_FIELD, Shot, in_text};
use crate::error::Result;
use crate::inspect::plant::{self, FUNCTION, ID, SECOND_ID, SPARE};
use crate::response::ParseOptions;
use crate::text::truncate::elide;

/// The content of the messages, with characters that could be taken for an anchor.
pub const CONTENT: &str = "Yes: \"it\" is 1 < 2, 'so' [see] {here} & <b>there</b>.\n\n- É 😀; #3 | a=b (c), x > y!\nEnd";
pub const THOUGHT: &str = "First: {a} [b] \"c\".\nThen 1 < 2 – so?";

/// What only values in the notation of Python have.
const PYTHON: [&str; 5] = ["{'", "['", ": None", ":None", ": True"];

/// Returns the tools of the messages.
pub fn tools() -> Value {
    let parameters = [
        (plant::ARGUMENT, "string"),
        (plant::PARAMETER, "string"),
        ("text", "string"),
        ("count", "integer"),
        ("items", "array"),
        ("options", "object"),
    ];
    let parameters = parameters.map(|(name, ty)| (name.to_owned(), json!({"type": ty, "description": "d"})));
    let parameters = json!({"type": "object", "properties": Map::from_iter(parameters)});
    let tool = |name| json!({"type": "function", "function": {"name": name, "description": "d", "parameters": parameters}});
    json!([tool(FUNCTION), tool(SPARE)])
}

/// Returns the messages, each with a word for it. Arguments are objects or JSON text.
fn list_messages(derivation: &Derivation<'_, '_>, (thinks, is_text): (bool, Option<bool>)) -> Vec<(&'static str, Value)> {
    let content = |text: &str| derivation.form.content(text);
    let mut messages = vec![("content", json!({"role": "assistant", "content": content(CONTENT)}))];
    let thinking = |message: Value| plant::with_field(&message, REASONING_FIELD, Some(THOUGHT.into()));
    if thinks {
        messages.push((
            "reasoning",
            thinking(json!({"role": "assistant", "content": content(CONTENT)})),
        ));
    }
    if let Some(is_text) = is_text {
        let call = |id, name, arguments| plant::call(id, name, &in_text(arguments, is_text));
        let plain = call(
            ID,
            FUNCTION,
            json!({"text": "Åre, \"SE\"\nO'Neil <b> {x}: [1], \\d", "count": 3}),
        );
        let nested = call(
            SECOND_ID,
            SPARE,
            json!({"items": ["a", {"b": [1, 2]}], "options": {"deep": {"on": true, "off": null}, "n": 1.5}, "text": "z"}),
        );
        let empty = call(ID, FUNCTION, json!({}));
        let calling = |calls: &[&Value], text: &str| {
            let calls: Vec<Value> = calls.iter().map(|call| (*call).clone()).collect();
            match text {
                "" => derivation.call_with(&calls),
                text => plant::with_content(&derivation.call_with(&calls), Some(content(text))),
            }
        };
        messages.extend([
            ("one call", calling(&[&plain], "")),
            ("a call with nested arguments", calling(&[&nested], "")),
            ("a call without arguments", calling(&[&empty], "")),
            ("content beside a call", calling(&[&plain], "Wait: 1 < 2.")),
            ("two calls", calling(&[&plain, &nested], "")),
        ]);
        if thinks {
            messages.push(("reasoning before a call", thinking(calling(&[&plain], ""))));
        }
    }
    messages
}

/// Parses the messages that the template prints. The reason is the first that does not come back.
pub fn check(derivation: &mut Derivation<'_, '_>, description: &Value, facts: (bool, Option<bool>)) -> Result<(), Failure> {
    let template = derivation.compile(description)?;
    let tools = tools();
    for (what, message) in list_messages(derivation, facts) {
        derivation.experiments.check_time()?;
        let Some(shot) = derivation.shoot("", &message)? else {
            continue;
        };
        let begin = shot.start;
        let (prefix, text) = shot.prompt.split_at_checked(begin).unwrap_or_default();
        let text = text.get(..shot.end.saturating_sub(begin)).unwrap_or_default();
        let options = ParseOptions::default().with_prefix(prefix).with_tools(&tools);
        let parsed = template.parse_metered(text, &options, &mut derivation.experiments.renew_meter());
        let reason = match parsed.map(serde_json::to_value) {
            Ok(Ok(parsed)) => find_difference(&message, &parsed, &shot).map(|field| {
                let is_thought = field == "the content" && parsed.get(REASONING_FIELD) == message.get("content");
                let read = elide(&parsed.to_string(), MAX_QUOTED).into_owned();
                match is_thought {
                    true => "it is written as reasoning".to_owned(),
                    false => format!("{field} is read as {read}"),
                }
            }),
            Ok(Err(error)) => Some(error.to_string()),
            Err(error) => match derivation.explain(&error, "") {
                Failure::Reason(reason) => Some(reason),
                stopped => return Err(stopped),
            },
        };
        if let Some(reason) = reason {
            let is_python = PYTHON.iter().any(|notation| text.contains(notation));
            let notation = if is_python {
                ", which has values in the notation of Python"
            } else {
                ""
            };
            let text = elide(text, MAX_QUOTED);
            return Err(Failure::Reason(format!(
                "{what} does not come back from {text:?}{notation}: {reason}"
            )));
        }
    }
    Ok(())
}

/// Returns the field of a message that differs from the parsed one. A field that the prompt does not have is not expected.
fn find_difference(message: &Value, parsed: &Value, shot: &Shot) -> Option<&'static str> {
    let text_of = |value: Option<&Value>| match value {
        Some(Value::Array(parts)) => parts
            .first()
            .and_then(|part| part.get("text"))
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        other => other.and_then(Value::as_str).unwrap_or_default().to_owned(),
    };
    let written = shot.written();
    let differs = |field: &str| {
        let (wanted, found) = (text_of(message.get(field)), text_of(parsed.get(field)));
        let first = wanted.split_whitespace().next().unwrap_or_default();
        let is_changed = !written.contains(wanted.trim()) && written.contains(first);
        let is_lost = !written.contains(first);
        !is_changed && found.trim() != if is_lost { "" } else { wanted.trim() }
    };
    if differs("content") {
        return Some("the content");
    }
    if differs(REASONING_FIELD) {
        return Some("the reasoning");
    }
    let calls_of = |message: &Value| {
        message
            .get("tool_calls")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default()
    };
    let is_printed = |call: &&Value| {
        call.pointer("/function/name")
            .and_then(Value::as_str)
            .is_some_and(|name| written.contains(name))
    };
    let wanted: Vec<_> = calls_of(message).iter().filter(is_printed).map(read_call).collect();
    let found: Vec<_> = calls_of(parsed).iter().map(read_call).collect();
    (wanted != found).then_some("a call")
}

/// Returns the name and the arguments of a call. Arguments in JSON text are read.
fn read_call(call: &Value) -> (Value, Value) {
    let part = |name: &str| call.pointer(&format!("/function/{name}")).cloned().unwrap_or_default();
    let arguments = match part("arguments") {
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        arguments => arguments,
    };
    let arguments = match arguments {
        Value::Object(mut object) => {
            object.sort_keys();
            Value::Object(object)
        }
        other => other,
    };
    (part("name"), arguments)
}
