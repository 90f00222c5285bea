//! Reads bodies of all types of messages, items, blocks and tools, which are in `tests/request/read.jsonl`, and compares what they say with the lines there.

use super::super::format::Format;
use super::super::node::Node;
use super::super::normal::{Answer, Arguments, Normal, Part, PartKind, ToolForm, Turn};
use crate::limits::Limits;
use crate::meter::Meter;

/// Returns a line for each turn, tool and note, or one with the error.
fn describe(body: &serde_json::Value) -> Vec<String> {
    let node = Node::Json(body);
    let mut meter = Meter::new(Limits::default());
    let read = Format::find(node).and_then(|format| super::read(node, format, &mut meter));
    let normal = match read {
        Ok(normal) => normal,
        Err(error) => return vec![format!("error {}", error.message())],
    };
    let turns = normal.turns.iter().map(|turn| describe_turn(&normal, turn));
    let tools = normal.tools.iter().map(|tool| {
        let form = match tool.form {
            ToolForm::Wrapped => "wrapped".to_owned(),
            ToolForm::Flat => "flat".to_owned(),
            ToolForm::Custom(grammar) => format!("custom {grammar:?}"),
        };
        let parameters = tool.parameters.map_or_else(String::new, Node::to_json);
        let place = normal.places.pointer(tool.place);
        format!(
            "tool {place} {form} {} {:?} {parameters}",
            tool.name,
            tool.description.unwrap_or_default()
        )
    });
    let notes = normal.notes.iter().map(|note| {
        let what = if note.is_moved { "moved" } else { "dropped" };
        format!("{what} {}: {}", normal.places.pointer(note.place), note.reason)
    });
    let flags = [(normal.refuses_tools, "refuses tools"), (normal.is_prefilled, "prefilled")];
    let flags = flags.into_iter().filter(|(flag, _)| *flag).map(|(_, name)| name.to_owned());
    turns.chain(tools).chain(notes).chain(flags).collect()
}

fn describe_turn(normal: &Normal<'_>, turn: &Turn<'_>) -> String {
    let place = |place| normal.places.pointer(place);
    let mut line = format!("{} {}", turn.role, place(turn.place));
    if turn.node.is_some() {
        line.push_str(" kept");
    }
    if let Some(Answer { id, name, call }) = &turn.result {
        line.push_str(&format!(" [id {id:?} name {name:?} call {call:?}]"));
    }
    line.push_str(&format!(" {:?}", turn.form));
    for Part {
        kind, text, place: at, ..
    } in &turn.parts
    {
        match kind {
            PartKind::Medium(medium) => line.push_str(&format!(" {medium:?} {}", place(*at))),
            _ => line.push_str(&format!(" {kind:?} {} {text:?}", place(*at))),
        }
    }
    for thought in &turn.thoughts {
        line.push_str(&format!(" thought {} {:?}", place(thought.place), thought.text));
    }
    for call in &turn.calls {
        let arguments = match &call.arguments {
            Arguments::Absent => "absent".to_owned(),
            Arguments::Json(text) => format!("json {text:?}"),
            Arguments::Value(value) => format!("value {}", value.to_json()),
            Arguments::Input(text) => format!("input {text:?}"),
            Arguments::Fields(fields) => {
                let fields: Vec<_> = fields
                    .iter()
                    .map(|(key, value)| format!("{key}={}", value.to_json()))
                    .collect();
                format!("fields {}", fields.join(" "))
            }
        };
        line.push_str(&format!(
            " call {} {:?} {} {arguments}",
            place(call.arguments_place),
            call.id,
            call.name
        ));
    }
    for field in turn.name.iter().chain(&turn.others) {
        line.push_str(&format!(" field {}={}", place(field.place), field.value.to_json()));
    }
    line
}

#[test]
fn each_type_is_read_as_the_file_says() {
    let cases = include_str!("../../../tests/request/read.jsonl");
    let wanted = std::env::var_os("CHAT_TEMPLATE_PRINT").is_none();
    for case in cases.lines() {
        let case: serde_json::Value = serde_json::from_str(case).unwrap();
        let lines = describe(&case["body"]);
        match wanted {
            true => assert_eq!(serde_json::json!(lines), case["says"], "{}", case["name"]),
            false => println!("{}", serde_json::json!({"name": case["name"], "says": lines})),
        }
    }
}
