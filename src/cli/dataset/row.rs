//! Renders one row: a line of JSON in, a line of JSON with the prompt out.
//!
//! ```text
//! {"id": 7, "messages": [{"role": "user", "content": "Hi"}]}   ->   {"id":7,"text":"<|user|>Hi"}
//! ```
//!
//! The keys are those of TRL's trainers (`messages`, `tools`, `chat_template_kwargs`), and the roles of ShareGPT those of axolotl.

use std::borrow::Cow;

use crate::json::{self, Data, Entry, JsonErrorKind, Object};
use crate::{
    ApplyOptions, AssistantOptions, Bounds, ChatTemplate, ContinueFinalMessage, Deadline, Error, FixedClock, Input, Limits,
};

use super::lines::Lines;
use super::notes::Notes;
use super::rows::Row;

/// The roles of ShareGPT that have another name in `messages`. Any other role is kept.
const SHAREGPT_ROLES: [(&str, &str); 2] = [("human", "user"), ("gpt", "assistant")];

/// The template and the options with which all rows of a run are rendered.
pub struct Renderer {
    pub chat: ChatTemplate,
    /// The name of one of the model's templates.
    pub name: Option<String>,
    /// The key of the messages.
    pub messages_key: String,
    /// Whether messages have the form of ShareGPT.
    pub is_sharegpt: bool,
    /// Whether the line of a row has the spans of `{% generation %}` blocks.
    pub wants_spans: bool,
    /// Whether the line of a row has the spans of what the model writes.
    pub wants_assistant: bool,
    /// Whether the line of a row has its turns.
    pub wants_turns: bool,
    pub notes: Notes,
    pub add_generation_prompt: bool,
    pub continue_final_message: Option<String>,
    /// The variables of all rows.
    pub variables: Object<'static>,
    pub limits: Limits,
    pub clock: Option<FixedClock>,
    /// The largest length of a row in bytes.
    pub max_row: u64,
}

/// The parts of a row.
#[derive(Default)]
struct Parts<'r> {
    messages: Option<Cow<'r, Data<'r>>>,
    tools: Option<Cow<'r, Data<'r>>>,
    documents: Option<&'r Data<'r>>,
    variables: Option<&'r Data<'r>>,
    /// The key `system` of a row in the form of ShareGPT.
    system: Option<&'r Data<'r>>,
    /// The entries of the row that the output repeats.
    kept: Vec<&'r Entry<'r>>,
}

impl Renderer {
    /// Writes the line of a row to `out`, or the line with its error to `errors`. Returns whether the row has a prompt.
    pub fn render(&self, row: &Row<'_>, out: &mut Lines<'_>, errors: &mut Lines<'_>) -> bool {
        let deadline = Deadline::from(&self.limits);
        let _running = deadline.start();
        let read = match row.text {
            Some(text) => read_row(text, &deadline),
            None => Err(format!(
                "the row has more than {} MiB, which is the limit",
                self.max_row >> 20
            )),
        };
        let rendered = match &read {
            Ok(data) => self.render_data(data, &deadline, out),
            Err(error) => Err(error.clone()),
        };
        match rendered {
            Ok(()) => true,
            Err(error) => {
                write_error(row, &error, read.as_ref().ok(), errors);
                false
            }
        }
    }

    /// Returns the template and the options as a line of JSON. Two runs with equal lines have equal answers to equal rows.
    pub fn describe(&self) -> String {
        let mut variables = String::new();
        // Writing to a string cannot fail.
        let _ = json::write_data(&Data::Object(self.variables.clone()), &mut variables);
        let named = self.chat.names().into_iter().map(|name| (name, self.chat.named_source(name)));
        serde_json::json!({
            "chat-template": env!("CARGO_PKG_VERSION"),
            "source": self.chat.source(),
            "named_sources": named.collect::<Vec<_>>(),
            "special_tokens": self.chat.special_tokens(),
            "name": self.name,
            "messages_key": self.messages_key,
            "sharegpt": self.is_sharegpt,
            "spans": self.wants_spans,
            "assistant": self.wants_assistant,
            "turns": self.wants_turns,
            "add_generation_prompt": self.add_generation_prompt,
            "continue_final_message": self.continue_final_message,
            "variables": variables,
            "limits": self.limits,
            "now": format!("{:?}", self.clock),
            "max_row": self.max_row,
        })
        .to_string()
    }

    fn render_data(&self, row: &Data<'_>, deadline: &Deadline, out: &mut Lines<'_>) -> Result<(), String> {
        let Data::Object(row) = row else {
            return Err(format!("the row must be an object, and this is {}", row.describe()));
        };
        let explain = |error: Error| error.to_string();
        let parts = self.split(row, deadline)?;
        let Some(messages) = &parts.messages else {
            return Err(format!("the row has no {:?}", self.messages_key));
        };
        let variables = self.merge_variables(parts.variables)?;
        let mut options = ApplyOptions {
            bounds: Bounds {
                deadline: Some(deadline),
                ..Bounds::from(&self.limits)
            },
            tools: parts.tools.as_deref().map(|tools| tools as &dyn Input),
            documents: parts.documents.map(|documents| documents as &dyn Input),
            chat_template: self.name.as_deref(),
            // A variable of the row replaces the option.
            add_generation_prompt: self.add_generation_prompt && variables.get("add_generation_prompt").is_none(),
            continue_final_message: match &self.continue_final_message {
                Some(field) => ContinueFinalMessage::Field(field),
                None => ContinueFinalMessage::No,
            },
            variables: Some(&*variables),
            reference_spans: self.wants_spans,
            assistant: self.wants_assistant.then(AssistantOptions::default),
            trace: self.wants_turns,
            ..ApplyOptions::default()
        };
        if let Some(clock) = &self.clock {
            options.clock = clock;
        }
        let prompt = self.chat.apply(&**messages, &options).map_err(explain)?;
        let bounds = Bounds {
            limits: &self.limits,
            ..Bounds::from(deadline)
        };
        let turns = self
            .wants_turns
            .then(|| prompt.turns_within(bounds))
            .transpose()
            .map_err(explain)?;
        out.push("{");
        for (key, value) in &parts.kept {
            out.write_key(key);
            out.write_data(value);
            out.push(",");
        }
        out.write_key("text");
        out.write_string(&prompt.text);
        if self.wants_spans {
            out.write_entry("generation", &prompt.reference_spans)?;
        }
        if self.wants_assistant {
            out.write_entry("assistant", &prompt.assistant)?;
            self.notes.note_mask(&prompt);
        }
        if let Some(turns) = turns {
            out.write_entry("turns", &turns)?;
        }
        out.push("}\n");
        Ok(())
    }

    /// Splits a row by its keys.
    fn split<'r>(&self, row: &'r Object<'r>, deadline: &Deadline) -> Result<Parts<'r>, String> {
        let mut parts = Parts::default();
        let mut is_replaced = false;
        for entry in row.entries() {
            let (key, value) = entry;
            match &**key {
                key if key == self.messages_key => parts.messages = Some(Cow::Borrowed(value)),
                "tools" => parts.tools = Some(read_tools(value, deadline)?),
                "documents" => parts.documents = Some(value),
                "chat_template_kwargs" => parts.variables = Some(value),
                "system" if self.is_sharegpt => parts.system = Some(value),
                "text" => is_replaced = true,
                "generation" if self.wants_spans => is_replaced = true,
                "assistant" if self.wants_assistant => is_replaced = true,
                "turns" if self.wants_turns => is_replaced = true,
                _ => parts.kept.push(entry),
            }
        }
        if is_replaced {
            self.notes.note_replaced();
        }
        if self.is_sharegpt {
            parts.messages = parts.messages.map(|messages| convert_messages(messages, parts.system));
        }
        Ok(parts)
    }

    /// Returns the variables of all rows, replaced by those of a row.
    fn merge_variables<'r>(&'r self, row: Option<&'r Data<'r>>) -> Result<Cow<'r, Object<'r>>, String> {
        match row {
            None | Some(Data::None) => Ok(Cow::Borrowed(&self.variables)),
            Some(Data::Object(row)) => {
                self.notes.note_unread(row);
                if self.variables.is_empty() {
                    return Ok(Cow::Borrowed(row));
                }
                let entries = [self.variables.entries(), row.entries()].concat();
                Ok(Cow::Owned(Object::new(entries)))
            }
            Some(other) => Err(format!(
                "chat_template_kwargs must be an object, and this is {}",
                other.describe()
            )),
        }
    }
}

fn read_row<'r>(text: &'r [u8], deadline: &Deadline) -> Result<Data<'r>, String> {
    json::read_bytes_within(text, json::DEPTH, deadline).map_err(|error| {
        if error.kind() == JsonErrorKind::TimedOut {
            return error.to_string();
        }
        let cut = if text.ends_with(b"\n") {
            ""
        } else {
            "; the input ends in this row"
        };
        format!("the row is not JSON: {error}{cut}")
    })
}

/// Returns the tools, which can be JSON text. Data sets that are stored in columns have such text, because the schemas of two tools have
/// different keys.
fn read_tools<'r>(tools: &'r Data<'r>, deadline: &Deadline) -> Result<Cow<'r, Data<'r>>, String> {
    match tools {
        Data::Str(text) => match json::read_within(text, json::DEPTH, deadline) {
            Ok(tools) => Ok(Cow::Owned(tools)),
            Err(error) => Err(format!("the tools are a string that is not JSON: {error}")),
        },
        _ => Ok(Cow::Borrowed(tools)),
    }
}

/// Converts messages of ShareGPT: `{"from": "human", "value": "Hi"}` becomes `{"role": "user", "content": "Hi"}`. If the first message does
/// not have the role `system`, the text of `system` is inserted before it.
fn convert_messages<'r>(messages: Cow<'r, Data<'r>>, system: Option<&Data<'r>>) -> Cow<'r, Data<'r>> {
    let Data::List(list) = &*messages else {
        return messages;
    };
    let mut converted: Vec<Data<'r>> = list.iter().map(convert_message).collect();
    let has_system =
        matches!(converted.first(), Some(Data::Object(first)) if first.get("role") == Some(&Data::Str("system".into())));
    if let (Some(Data::Str(system)), false) = (system, has_system) {
        let entries = vec![
            ("role".into(), Data::Str("system".into())),
            ("content".into(), Data::Str(system.clone())),
        ];
        converted.insert(0, Data::Object(Object::new(entries)));
    }
    Cow::Owned(Data::List(converted))
}

fn convert_message<'r>(message: &Data<'r>) -> Data<'r> {
    let Data::Object(message) = message else {
        return message.clone();
    };
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
    Data::Object(Object::new(entries.collect()))
}

/// Writes the line of a row that failed: its line number, the error, and the row, as a string if it is not JSON.
fn write_error(row: &Row<'_>, error: &str, data: Option<&Data<'_>>, errors: &mut Lines<'_>) {
    errors.push(&format!("{{\"line\":{},\"error\":", row.line));
    errors.write_string(error);
    match (data, row.text) {
        (Some(data), _) => {
            errors.push(",\"row\":");
            errors.write_data(data);
        }
        (None, Some(bytes)) => {
            let text = String::from_utf8_lossy(bytes);
            errors.push(",\"row\":");
            errors.write_string(text.strip_suffix('\n').unwrap_or(&text));
        }
        (None, None) => {}
    }
    errors.push("}\n");
}
