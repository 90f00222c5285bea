//! Makes the body of a sketch.

use super::{BLANK, BLOCK, EMPTY, Outline, Sketch, THINKS, THOUGHT_KEYS, ToolOutline, WORDS};
use crate::json::{self, Data, Entry, Object};
use crate::request::normal::ContentForm;

impl Sketch {
    /// Returns a body of Chat Completions with the sketch.
    pub fn body(&self) -> Data<'static> {
        let mut ids = Ids::default();
        let messages = self.list_outlines().enumerate();
        let messages = messages.map(|(index, outline)| outline.message(index, &mut ids)).collect();
        let mut entries = vec![entry("messages", Data::List(messages))];
        if !self.tools.is_empty() {
            let tools = self.tools.iter().enumerate();
            let tools = tools.map(|(index, tool)| tool.make(index)).collect();
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
            ContentForm::Absent => {}
            ContentForm::Null => entries.push(entry("content", Data::None)),
            ContentForm::Text => entries.extend(parts.next().map(|part| entry("content", part))),
            ContentForm::Parts => {
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
        if let Some(result) = self.result {
            let id = match result.is_next {
                Some(true) if !ids.open.is_empty() => ids.open.remove(0),
                Some(false) => ids.open.pop().flatten(),
                _ => None,
            };
            if result.has_id {
                let id = id.unwrap_or_else(|| "unknown".to_owned());
                entries.push(entry("tool_call_id", Data::Str(id.into())));
            }
            if result.has_name {
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

impl ToolOutline {
    /// Returns a tool with the outline.
    fn make(&self, index: usize) -> Data<'static> {
        let words = |words: String| Data::Str(words.into());
        let mut function = vec![entry("name", words(format!("find{index}")))];
        let description = |has_words: bool| {
            if has_words {
                format!("It finds {index}.")
            } else {
                String::new()
            }
        };
        function.extend(
            self.description
                .map(|has_words| entry("description", words(description(has_words)))),
        );
        if let Some((key, properties)) = self.parameters {
            let mut parameters = vec![entry("type", text("object"))];
            let kinds = [(true, true), (true, false), (false, true), (false, false)];
            let make = |number: usize, (is_typed, is_described): (bool, bool)| {
                let mut property = Vec::new();
                property.extend(is_typed.then(|| entry("type", text("string"))));
                property.extend(is_described.then(|| entry("description", words(format!("The key{number} of {index}.")))));
                (format!("key{number}").into(), object(property))
            };
            if let Some(some) = properties {
                let kinds = kinds.into_iter().zip(some).filter(|(_, is_there)| *is_there);
                let properties = kinds.enumerate().map(|(number, (kind, _))| make(number, kind));
                parameters.push(entry("properties", object(properties.collect())));
            }
            function.push(entry(key, object(parameters)));
        }
        if self.grammar == Some(true) {
            let format = vec![entry("type", text("grammar")), entry("definition", text("start: word"))];
            function.push(entry("format", object(format)));
        }
        if self.is_flat {
            return object(function);
        }
        let kind = if self.grammar.is_some() { "custom" } else { "function" };
        object(vec![entry("type", text(kind)), entry(kind, object(function))])
    }
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
