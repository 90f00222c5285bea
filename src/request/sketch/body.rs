//! Makes the body of a sketch.

use super::{
    BLANK, BLOCK, CUSTOM, EMPTY, FLAT, HAS_DESCRIPTION, HAS_GRAMMAR, HAS_ID, HAS_NAME, HAS_PARAMETERS, HAS_PROPERTIES, HAS_SCHEMA,
    IS_DESCRIBED, IS_MATCHED, IS_NEXT, Outline, SOME_DESCRIBED, SOME_TYPED, SOME_UNDESCRIBED, SOME_UNTYPED, Sketch, THINKS,
    THOUGHT_KEYS, WORDS,
};
use crate::json::{self, Data, Entry, Object};
use crate::request::normal::{Form, Role};

impl Sketch {
    /// Returns a body of Chat Completions with the sketch.
    pub fn body(&self) -> Data<'static> {
        let mut ids = Ids::default();
        let messages = self.list_outlines().enumerate();
        let messages = messages.map(|(index, outline)| outline.message(index, &mut ids)).collect();
        let mut entries = vec![entry("messages", Data::List(messages))];
        if !self.tools.is_empty() {
            let tools = self.tools.iter().enumerate();
            let tools = tools.map(|(index, form)| make_tool(index, *form)).collect();
            entries.push(entry("tools", Data::List(tools)));
        }
        if let Ok(documents) = json::read(&self.documents) {
            entries.push(entry("documents", documents.into_owned()));
        }
        object(entries)
    }
}

impl Outline {
    /// Returns a message of Chat Completions with the outline.
    fn message(&self, index: usize, ids: &mut Ids) -> Data<'static> {
        let mut entries = vec![entry("role", text(self.role.name()))];
        let words = |number: usize| Data::Str(format!("Words {index}-{number}.").into());
        let mut media = self.values.iter().filter(|(key, _)| key.is_empty());
        let mut parts = self.parts.list().enumerate().map(|(number, code)| match code {
            EMPTY => text(""),
            BLANK => text(" "),
            WORDS => words(number),
            THINKS => Data::Str(format!("<think>\nThoughts {index}-{number}.\n</think>\n\nWords {index}-{number}.").into()),
            BLOCK => object(vec![entry("type", text("block")), entry("words", words(number))]),
            _ => media.next().map_or(Data::None, |(_, json)| read(json)),
        });
        match self.form {
            Form::Absent => {}
            Form::Null => entries.push(entry("content", Data::None)),
            Form::Text => entries.extend(parts.next().map(|part| entry("content", part))),
            Form::Parts => {
                let wrap = |part| match part {
                    Data::Str(_) => object(vec![entry("type", text("text")), entry("text", part)]),
                    part => part,
                };
                entries.push(entry("content", Data::List(parts.by_ref().map(wrap).collect())));
            }
        }
        entries.extend(parts.next().map(|part| entry("refusal", part)));
        let thought = |number: usize| Data::Str(format!("Thoughts {index}-{number}.").into());
        let key = self.thought_key.and_then(|key| THOUGHT_KEYS.get(key));
        entries.extend(key.map(|key| entry(key, thought(0))));
        let own = usize::from(key.is_some());
        if self.thoughts > own {
            let details = (own..self.thoughts).map(thought);
            let details = details.map(|words| object(vec![entry("type", text("reasoning.text")), entry("text", words)]));
            entries.push(entry("reasoning_details", Data::List(details.collect())));
        }
        let fields = self.values.iter().filter(|(key, _)| !key.is_empty());
        entries.extend(fields.map(|(key, json)| (key.clone().into(), read(json))));
        let calls = self.calls.list().enumerate();
        let calls: Vec<Data<'static>> = calls.map(|(number, code)| make_call(code, (index, number), ids)).collect();
        if !calls.is_empty() {
            entries.push(entry("tool_calls", Data::List(calls)));
        }
        if self.role == Role::Tool {
            let id = if self.result & IS_MATCHED == 0 {
                None
            } else if self.result & IS_NEXT != 0 {
                (!ids.open.is_empty()).then(|| ids.open.remove(0)).flatten()
            } else {
                ids.open.pop().flatten()
            };
            if self.result & HAS_ID != 0 {
                entries.push(entry(
                    "tool_call_id",
                    Data::Str(id.unwrap_or_else(|| "unknown".to_owned()).into()),
                ));
            }
            if self.result & HAS_NAME != 0 {
                entries.push(entry("name", text("find")));
            }
        }
        object(entries)
    }
}

/// The identifiers of the calls without a result.
#[derive(Default)]
struct Ids {
    open: Vec<Option<String>>,
}

fn make_call(code: u8, (index, number): (usize, usize), ids: &mut Ids) -> Data<'static> {
    let id = match code >> 3 {
        1 => None,
        2 => Some(format!("call{:05}", index * 100 + number)),
        _ => Some(format!("call_{index}_{number}")),
    };
    let words = |kind: &str| format!("{kind} {index}-{number}.");
    let value = || object(vec![entry("key", Data::Str(words("Value").into()))]);
    let mut function = vec![entry("name", text("find"))];
    match code & 7 {
        0 => function.push(entry("input", Data::Str(words("Input").into()))),
        1 => {}
        2 => function.push(entry("arguments", text(""))),
        3 => function.push(entry(
            "arguments",
            Data::Str(format!("{{\"key\": \"{}\"}}", words("Value")).into()),
        )),
        4 => function.push(entry("arguments", Data::Str(words("Words").into()))),
        5 => function.push(entry("arguments", Data::List(vec![Data::Str(words("Value").into())]))),
        6 => function.push(entry("arguments", value())),
        _ => function.push(entry("arguments", object(Vec::new()))),
    }
    let kind = if code & 7 == 0 { "custom" } else { "function" };
    ids.open.push(id.clone());
    let mut entries: Vec<Entry<'static>> = id.map(|id| entry("id", Data::Str(id.into()))).into_iter().collect();
    entries.extend([entry("type", text(kind)), entry(kind, object(function))]);
    object(entries)
}

fn make_tool(index: usize, form: u16) -> Data<'static> {
    let has = |bit: u16| form & bit != 0;
    let mut function = vec![entry("name", Data::Str(format!("find{index}").into()))];
    if has(HAS_DESCRIPTION) {
        let description = if has(IS_DESCRIBED) {
            format!("It finds {index}.")
        } else {
            String::new()
        };
        function.push(entry("description", Data::Str(description.into())));
    }
    let mut properties = Vec::new();
    for (is_typed, typed) in [(true, SOME_TYPED), (false, SOME_UNTYPED)] {
        for (is_described, described) in [(true, SOME_DESCRIBED), (false, SOME_UNDESCRIBED)] {
            if has(typed) && has(described) {
                let name = format!("key{}", properties.len());
                let mut property = Vec::new();
                if is_typed {
                    property.push(entry("type", text("string")));
                }
                if is_described {
                    property.push(entry("description", Data::Str(format!("The {name} of {index}.").into())));
                }
                properties.push((name.into(), object(property)));
            }
        }
    }
    if has(HAS_PARAMETERS) {
        let mut parameters = vec![entry("type", text("object"))];
        if has(HAS_PROPERTIES) {
            parameters.push(entry("properties", object(properties)));
        }
        let key = if has(HAS_SCHEMA) { "input_schema" } else { "parameters" };
        function.push(entry(key, object(parameters)));
    }
    if has(HAS_GRAMMAR) {
        let format = vec![entry("type", text("grammar")), entry("definition", text("start: word"))];
        function.push(entry("format", object(format)));
    }
    if has(FLAT) {
        return object(function);
    }
    let kind = if has(CUSTOM) { "custom" } else { "function" };
    object(vec![entry("type", text(kind)), entry(kind, object(function))])
}

fn read(json: &str) -> Data<'static> {
    json::read(json).map_or(Data::None, Data::into_owned)
}

fn text(text: &str) -> Data<'static> {
    Data::Str(text.to_owned().into())
}

fn entry(key: &str, value: Data<'static>) -> Entry<'static> {
    (key.to_owned().into(), value)
}

fn object(entries: Vec<Entry<'static>>) -> Data<'static> {
    Data::Object(Object::new(entries))
}
