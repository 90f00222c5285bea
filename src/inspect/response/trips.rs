//! Renders messages and parses them back, which shows whether a description is right.

use serde_json::{Map, Value, json};

use super::{Derivation, Failure, MAX_QUOTED, REASONING_FIELD, in_text};
use crate::error::Result;
use crate::inspect::plant::{self, FUNCTION, SPARE};
use crate::response::{ParseOptions, ResponseTemplate};
use crate::text::message::elide;

/// The content of the messages, with characters that could be taken for an anchor.
pub const CONTENT: &str = "Yes: \"it\" is 1 < 2, 'so' [see] {here} & <b>there</b>.\n\n- É 😀; #3 | a=b (c), x > y!\nEnd";
pub const THOUGHT: &str = "First: {a} [b] \"c\".\nThen 1 < 2 – so?";

/// The value of the argument of a call.
const ARGUMENT_TEXT: &str = "Åre 7";

/// The names of a message with one call, and of the same with other white space.
const CALL: &str = "a call";
const SPACES: &str = "other white space in a call";

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

/// A message that is rendered and parsed back.
struct Trip {
    what: &'static str,
    message: Value,
    /// Whether a description must read it. What else is not read is named.
    is_needed: bool,
}

/// Returns the messages. Arguments are objects or JSON text.
fn list_messages(derivation: &Derivation<'_, '_>, (thinks, is_text): (bool, Option<bool>)) -> Vec<Trip> {
    let content = |text: &str| derivation.form.content(text);
    let trip = |what, message, is_needed| Trip {
        what,
        message,
        is_needed,
    };
    let answer = json!({"role": "assistant", "content": content(CONTENT)});
    let thinking = |message: &Value| plant::with_field(message, REASONING_FIELD, Some(THOUGHT.into()));
    let mut messages = vec![trip("content", answer.clone(), true)];
    if thinks {
        messages.push(trip("reasoning", thinking(&answer), true));
    }
    if let Some(is_text) = is_text {
        let call = |is_second, name, arguments| derivation.call(is_second, name, &in_text(arguments, is_text));
        let plain = call(false, FUNCTION, json!({"text": ARGUMENT_TEXT}));
        let second = call(true, SPARE, json!({"count": 3, "text": "z"}));
        let quoted = call(
            false,
            FUNCTION,
            json!({"text": "Åre, \"SE\"\nO'Neil <b> {x}: [1], \\d", "count": 3}),
        );
        let nested = call(
            true,
            SPARE,
            json!({"items": ["a", {"b": [1, 2]}], "options": {"deep": {"c": "d"}, "n": 1.5}, "text": "z"}),
        );
        let constants = call(false, FUNCTION, json!({"options": {"on": true, "off": null}}));
        let empty = call(false, FUNCTION, json!({}));
        let calling = |calls: &[&Value]| derivation.call_with(&calls.iter().map(|call| (*call).clone()).collect::<Vec<_>>());
        let one = calling(&[&plain]);
        messages.extend([
            trip(CALL, one.clone(), true),
            trip("quotes and line breaks in arguments", calling(&[&quoted]), false),
            trip("nested arguments", calling(&[&nested]), false),
            trip("true and null in nested arguments", calling(&[&constants]), false),
            trip("a call without arguments", calling(&[&empty]), false),
            trip(
                "content beside a call",
                plant::with_content(&one, Some(content("Wait: 1 < 2."))),
                false,
            ),
            trip("two calls", calling(&[&plain, &second]), false),
        ]);
        if thinks {
            messages.push(trip("reasoning before a call", thinking(&one), false));
        }
    }
    messages
}

/// Parses the messages that the template prints, whole, without the token that ends them, and a call with other white space. Returns those that
/// a description may leave out and that do not come back, each with the reason.
pub fn check(
    derivation: &mut Derivation<'_, '_>,
    description: &Value,
    facts: (bool, Option<bool>),
) -> Result<Vec<(String, String)>, Failure> {
    let template = derivation.compile(description)?;
    let stops = derivation.find_stops()?;
    let tools = tools();
    let mut lost: Vec<(String, String)> = Vec::new();
    for Trip {
        what,
        message,
        is_needed,
    } in list_messages(derivation, facts)
    {
        derivation.experiments.check_time()?;
        let Some(shot) = derivation.shoot("", &message)? else {
            continue;
        };
        let (prefix, text) = shot.prompt.split_at_checked(shot.start).unwrap_or_default();
        let text = text.get(..shot.end.saturating_sub(shot.start)).unwrap_or_default();
        let written = text.trim();
        // An engine strips the token.
        let stripped = stops.iter().find_map(|stop| written.strip_suffix(stop.as_str()));
        let spaced = respace(text).filter(|_| what == CALL);
        let texts = [
            (what, Some(text), is_needed),
            (what, stripped.filter(|_| is_needed), true),
            (SPACES, spaced.as_deref(), false),
        ];
        for (what, text, is_needed) in texts {
            let Some(text) = text else { continue };
            let fault = derivation.find_fault(&template, (prefix, text), (&message, Some(&tools)), shot.written())?;
            match fault {
                Some(fault) if is_needed => return Err(Failure::Reason(format!("{what} does not come back {fault}"))),
                Some(fault) => lost.push((what.to_owned(), format!("a message does not come back {fault}"))),
                None => {}
            }
        }
    }
    Ok(lost)
}

/// Returns a call with other white space between its parts, but not beside its value.
fn respace(text: &str) -> Option<String> {
    let space = |text: &str| {
        text.split_whitespace()
            .collect::<Vec<_>>()
            .join("\n  ")
            .replace("><", ">\n  <")
    };
    let (before, after) = text.split_once(ARGUMENT_TEXT)?;
    let before_end = before.trim_end().len();
    let after_start = after.len().saturating_sub(after.trim_start().len());
    let (before, open) = before.split_at_checked(before_end)?;
    let (close, after) = after.split_at_checked(after_start)?;
    Some(format!("{}{open}{ARGUMENT_TEXT}{close}{}", space(before), space(after)))
}

impl Derivation<'_, '_> {
    /// Parses a message after a prefix, and returns how the parsed message differs. `written` is what the template prints.
    pub fn find_fault(
        &self,
        template: &ResponseTemplate,
        (prefix, text): (&str, &str),
        (message, tools): (&Value, Option<&Value>),
        written: &str,
    ) -> Result<Option<String>, Failure> {
        let options = ParseOptions::default().with_prefix(prefix).with_tools(tools);
        let parsed = template.parse_metered(text, &options, &mut self.experiments.renew_meter());
        let reason = match parsed.map(serde_json::to_value) {
            Ok(Ok(parsed)) => find_difference(message, &parsed, written).map(|field| {
                let is_thought = field == "the content" && parsed.get(REASONING_FIELD) == message.get("content");
                let read = elide(&parsed.to_string(), MAX_QUOTED).into_owned();
                match is_thought {
                    true => "it is written as reasoning".to_owned(),
                    false => format!("{field} is read as {read}"),
                }
            }),
            Ok(Err(error)) => Some(error.to_string()),
            Err(error) => match self.explain(&error, "") {
                Failure::Reason(reason) => Some(reason),
                stopped => return Err(stopped),
            },
        };
        Ok(reason.map(|reason| {
            let is_python = PYTHON.iter().any(|notation| text.contains(notation));
            let notation = if is_python {
                ", which has values in the notation of Python"
            } else {
                ""
            };
            format!("from {:?}{notation}: {reason}", elide(text, MAX_QUOTED))
        }))
    }
}

/// Returns the field of a message that differs from the parsed one. A field that the prompt does not have is not expected.
fn find_difference(message: &Value, parsed: &Value, written: &str) -> Option<&'static str> {
    let text_of = |value: Option<&Value>| match value {
        Some(Value::Array(parts)) => parts
            .first()
            .and_then(|part| part.get("text"))
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        other => other.and_then(Value::as_str).unwrap_or_default().to_owned(),
    };
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
