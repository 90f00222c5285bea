//! Converts other forms of conversations to messages of transformers.
//!
//! ```text
//! {"from": "function_call", "value": "{\"name\": \"f\", \"arguments\": {}}"}
//!     ->   {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": {}}}]}
//! ```
//!
//! The roles of ShareGPT are those of axolotl and LLaMA-Factory, and the parts of Alpaca are joined as by LLaMA-Factory and ms-swift. The
//! messages of OpenAI's older files have `function_call` and the role `function`.

use std::borrow::Cow;

use chat_template::Deadline;
use chat_template::json::{self, Data, Object};

use crate::conversation::{Conversation, Section, get, has_role, list, make_message};
use crate::failure::Failure;

/// The roles of ShareGPT that have another name in `messages`. Any other role is kept.
const SHAREGPT_ROLES: [(&str, &str); 7] = [
    ("human", "user"),
    ("gpt", "assistant"),
    ("chatgpt", "assistant"),
    ("bard", "assistant"),
    ("bing", "assistant"),
    ("observation", "tool"),
    ("function_response", "tool"),
];

impl<'r> Conversation<'r> {
    /// Converts messages of ShareGPT. If the first message does not have the role `system`, the text of `system` is inserted before it.
    pub(crate) fn convert_sharegpt(&mut self, system: Option<&Data<'r>>) -> Result<(), Failure> {
        let converted = self.list().iter().enumerate().map(|(index, message)| {
            convert_sharegpt(message).map_err(|error| Failure::at("message", format!("{}/value", self.pointer(index)), error))
        });
        let mut converted: Vec<Data<'r>> = converted.collect::<Result<_, _>>()?;
        if converted.is_empty() {
            return Ok(());
        }
        let has_system = converted.first().is_some_and(|first| has_role(first, &["system"]));
        if let (Some(Data::Str(system)), false) = (system, has_system) {
            converted.insert(0, make_message("system", system.clone()));
            let section = Section {
                key: "system",
                count: 1,
                is_list: false,
            };
            self.sections.insert(0, section);
            self.first = if self.first == 0 { 0 } else { self.first.saturating_add(1) };
        }
        self.messages = Cow::Owned(Data::List(converted));
        Ok(())
    }

    /// Converts calls and results in the older form of OpenAI.
    pub(crate) fn convert_functions(&mut self) {
        let is_old = |message: &Data<'_>| matches!(get(message, "function_call"), Some(Data::Object(_)));
        if !self.list().iter().any(is_old) {
            return;
        }
        let (Data::List(messages) | Data::Tuple(messages)) = self.messages.to_mut() else {
            return;
        };
        for message in messages {
            let is_result = has_role(message, &["function"]);
            let Data::Object(object) = message else { continue };
            if let (true, Some(role)) = (is_result, object.get_mut("role")) {
                *role = Data::Str("tool".into());
            }
            if matches!(object.get("function_call"), Some(Data::Object(_))) {
                let entries = std::mem::take(object)
                    .into_entries()
                    .into_iter()
                    .map(|(key, value)| match &*key {
                        "function_call" => ("tool_calls".into(), Data::List(vec![make_function(value)])),
                        _ => (key, value),
                    });
                *object = Object::new(entries.collect());
            }
        }
    }

    /// Reads the arguments of calls, which can be JSON text.
    pub(crate) fn read_arguments(&mut self, deadline: &Deadline) -> Result<(), Failure> {
        let has_calls = |message: &Data<'_>| get(message, "tool_calls").is_some();
        if !self.list().iter().any(has_calls) {
            return Ok(());
        }
        let mut messages = self.messages.clone().into_owned();
        let (Data::List(items) | Data::Tuple(items)) = &mut messages else {
            return Ok(());
        };
        for (index, message) in items.iter_mut().enumerate() {
            let Some(Data::List(calls) | Data::Tuple(calls)) = entry_mut(message, "tool_calls") else {
                continue;
            };
            for (call, value) in calls.iter_mut().enumerate() {
                let Some(arguments) = entry_mut(value, "function").and_then(|function| entry_mut(function, "arguments")) else {
                    continue;
                };
                let Data::Str(text) = &*arguments else { continue };
                let read = json::Data::read_within(text.as_bytes(), deadline).map(Data::into_owned);
                *arguments = read.map_err(|error| {
                    let pointer = format!("{}/tool_calls/{call}/function/arguments", self.pointer(index));
                    Failure::at(
                        "json",
                        pointer,
                        format!("the arguments are a string that is not JSON: {error}"),
                    )
                })?;
            }
        }
        self.messages = Cow::Owned(messages);
        Ok(())
    }
}

/// Returns the value of a key of an object.
fn entry_mut<'d, 'r>(data: &'d mut Data<'r>, key: &str) -> Option<&'d mut Data<'r>> {
    let Data::Object(object) = data else { return None };
    object.get_mut(key)
}

/// Makes a call or a tool of a function.
fn make_function<'r>(function: Data<'r>) -> Data<'r> {
    let entries = vec![("type".into(), Data::Str("function".into())), ("function".into(), function)];
    Data::Object(Object::new(entries))
}

/// Makes tools of functions, as OpenAI's older files and LLaMA-Factory have them. Tools are kept.
pub fn convert_functions<'r>(functions: &Data<'r>) -> Option<Data<'r>> {
    let make_tool = |function: &Data<'r>| match get(function, "name") {
        Some(_) if get(function, "function").is_none() => make_function(function.clone()),
        _ => function.clone(),
    };
    let tools: Vec<_> = list(functions).iter().map(make_tool).collect();
    (!tools.is_empty()).then_some(Data::List(tools))
}

fn convert_sharegpt<'r>(message: &Data<'r>) -> Result<Data<'r>, String> {
    let Data::Object(message) = message else {
        return Ok(message.clone());
    };
    if message.get("from") == Some(&Data::Str("function_call".into())) {
        return convert_call(message);
    }
    let entries = message.entries().iter().map(|(key, value)| match &**key {
        "from" => {
            let role = match value {
                Data::Str(from) => SHAREGPT_ROLES.iter().find(|(name, _)| name == from),
                _ => None,
            };
            let role = role.map(|(_, role)| Data::Str((*role).into()));
            ("role".into(), role.unwrap_or_else(|| value.clone()))
        }
        "value" => ("content".into(), value.clone()),
        _ => (key.clone(), value.clone()),
    });
    Ok(Data::Object(Object::new(entries.collect())))
}

/// Converts a call, or a list of calls, as an assistant message.
fn convert_call<'r>(message: &Object<'r>) -> Result<Data<'r>, String> {
    let value = match message.get("value") {
        Some(Data::Str(text)) => {
            let calls = json::read(text).map_err(|error| format!("the call is not JSON: {error}"))?;
            calls.into_owned()
        }
        Some(value) => value.clone(),
        None => return Err("the call has no value".to_owned()),
    };
    let calls = match value {
        Data::List(calls) => calls,
        call => vec![call],
    };
    if !calls
        .iter()
        .all(|call| matches!(call, Data::Object(call) if matches!(call.get("name"), Some(Data::Str(_)))))
    {
        return Err("a call must be an object with a name".to_owned());
    }
    let entries = vec![
        ("role".into(), Data::Str("assistant".into())),
        ("content".into(), Data::Str("".into())),
        (
            "tool_calls".into(),
            Data::List(calls.into_iter().map(make_function).collect()),
        ),
    ];
    Ok(Data::Object(Object::new(entries)))
}

/// Makes a conversation of a row of Alpaca: the system prompt, the rounds of `history`, the instruction with its input, and the output.
pub fn convert_alpaca<'r>(row: &'r Object<'r>) -> Result<Conversation<'r>, Failure> {
    let text = |key: &'static str| match row.get(key) {
        None | Some(Data::None) => Ok(None),
        Some(Data::Str(text)) => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
        Some(other) => {
            let message = format!("this must be a string, and is {}", other.describe());
            Err(Failure::at("row", format!("/{key}"), message))
        }
    };
    let (mut messages, mut sections) = (Vec::new(), Vec::new());
    let mut add = |key: &'static str, role: &'static str, content: Cow<'r, str>| {
        messages.push(make_message(role, content));
        sections.push(Section {
            key,
            count: 1,
            is_list: false,
        });
    };
    if let Some(system) = text("system")? {
        add("system", "system", system);
    }
    for round in row.get("history").map_or(&[][..], list) {
        let [Data::Str(asked), Data::Str(answered)] = list(round) else {
            let message = "each item must be a list of a question and an answer";
            return Err(Failure::at("row", "/history".to_owned(), message));
        };
        add("history", "user", asked.clone());
        add("history", "assistant", answered.clone());
    }
    let asked = match (text("instruction")?, text("input")?) {
        (Some(instruction), Some(input)) => Some(Cow::Owned(format!("{instruction}\n{input}"))),
        (instruction, input) => instruction.or(input),
    };
    let (Some(asked), Some(answer)) = (asked, text("output")?) else {
        return Err(Failure::new("row", "the row has no \"instruction\" or no \"output\""));
    };
    add("instruction", "user", asked);
    add("output", "assistant", answer);
    Ok(Conversation {
        name: "text",
        messages: Cow::Owned(Data::List(messages)),
        first: 0,
        is_open: false,
        sections,
    })
}
