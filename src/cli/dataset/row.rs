//! Rendering one row: a line of JSON in, a line of JSON with the prompt out.
//!
//! ```text
//! {"id": 7, "messages": [{"role": "user", "content": "Hi"}]}   ->   {"id":7,"text":"<|user|>Hi"}
//! ```
//!
//! The keys are those of TRL's trainers (`messages`, `tools`, `chat_template_kwargs`), and the roles of ShareGPT those of axolotl.

use std::borrow::Cow;

use chat_template::json::{self, Data, Entry, Object};
use chat_template::{ApplyOptions, AssistantOptions, ChatTemplate, ContinueFinalMessage, FixedClock, Input, Limits};

use super::notes::Notes;
use super::rows::Row;
use crate::cli::show::write_entry;

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
    messages: Option<Data<'r>>,
    tools: Option<Data<'r>>,
    documents: Option<Data<'r>>,
    variables: Option<Data<'r>>,
    /// The key `system` of a row in the form of ShareGPT.
    system: Option<Data<'r>>,
    /// The entries that the output keeps.
    kept: Vec<Entry<'r>>,
}

impl Renderer {
    /// Appends the line of a row to `out`, or the line with its error to `errors`. Returns whether the row has a prompt.
    pub fn render(&self, row: &Row<'_>, out: &mut String, errors: &mut String) -> bool {
        let rendered = match row.text {
            Some(text) => self.render_text(text, out),
            None => Err(format!(
                "the row has more than {} MiB, which is the limit",
                self.max_row >> 20
            )),
        };
        match rendered {
            Ok(()) => true,
            Err(error) => {
                write_error(row, &error, errors);
                false
            }
        }
    }

    /// Returns the template and the options as a line of JSON. Two runs with equal lines have equal answers to equal rows.
    pub fn describe(&self) -> String {
        let mut variables = String::new();
        json::write_data(&Data::Object(self.variables.clone()), &mut variables);
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

    fn render_text(&self, text: &[u8], out: &mut String) -> Result<(), String> {
        let row = json::read_bytes(text, json::DEPTH).map_err(|error| {
            let cut = if text.ends_with(b"\n") {
                ""
            } else {
                "; the input ends in this row"
            };
            format!("the row is not JSON: {error}{cut}")
        })?;
        let Data::Object(row) = row else {
            return Err(format!("the row must be an object, and this is {}", row.describe()));
        };
        let parts = self.split(row)?;
        let Some(messages) = &parts.messages else {
            return Err(format!("the row has no {:?}", self.messages_key));
        };
        let variables = self.merge_variables(parts.variables)?;
        let mut options = ApplyOptions {
            limits: &self.limits,
            tools: parts.tools.as_ref().map(|tools| tools as &dyn Input),
            documents: parts.documents.as_ref().map(|documents| documents as &dyn Input),
            chat_template: self.name.as_deref(),
            // A variable of the row replaces the option.
            add_generation_prompt: self.add_generation_prompt && variables.get("add_generation_prompt").is_none(),
            continue_final_message: match &self.continue_final_message {
                Some(field) => ContinueFinalMessage::Field(field),
                None => ContinueFinalMessage::No,
            },
            variables: Some(&*variables),
            generation: self.wants_spans,
            assistant: self.wants_assistant.then(AssistantOptions::default),
            trace: self.wants_turns,
            ..ApplyOptions::default()
        };
        if let Some(clock) = &self.clock {
            options.clock = clock;
        }
        let prompt = self.chat.apply(messages, &options).map_err(|error| error.to_string())?;
        out.push('{');
        for (key, value) in &parts.kept {
            write_key(key, out);
            json::write_data(value, out);
            out.push(',');
        }
        write_key("text", out);
        json::write_string(&prompt.text, false, out);
        if self.wants_spans {
            write_entry("generation", &prompt.generation, out)?;
        }
        if self.wants_assistant {
            write_entry("assistant", &prompt.assistant, out)?;
            self.notes.note_mask(&prompt);
        }
        if self.wants_turns {
            write_entry("turns", &prompt.turns(), out)?;
        }
        out.push_str("}\n");
        Ok(())
    }

    /// Splits a row by its keys.
    fn split<'r>(&self, row: Object<'r>) -> Result<Parts<'r>, String> {
        let mut parts = Parts::default();
        let mut is_replaced = false;
        for (key, value) in row.into_entries() {
            match &*key {
                key if key == self.messages_key => parts.messages = Some(value),
                "tools" => parts.tools = Some(read_tools(value)?),
                "documents" => parts.documents = Some(value),
                "chat_template_kwargs" => parts.variables = Some(value),
                "system" if self.is_sharegpt => parts.system = Some(value),
                "text" => is_replaced = true,
                "generation" if self.wants_spans => is_replaced = true,
                "assistant" if self.wants_assistant => is_replaced = true,
                "turns" if self.wants_turns => is_replaced = true,
                _ => parts.kept.push((key, value)),
            }
        }
        if is_replaced {
            self.notes.note_replaced();
        }
        if self.is_sharegpt {
            parts.messages = parts.messages.map(|messages| convert_messages(messages, parts.system.take()));
        }
        Ok(parts)
    }

    /// Returns the variables of all rows, replaced by those of a row.
    fn merge_variables<'r>(&'r self, row: Option<Data<'r>>) -> Result<Cow<'r, Object<'r>>, String> {
        if let Some(Data::Object(row)) = &row {
            self.notes.note_unread(row);
        }
        match row {
            None | Some(Data::None) => Ok(Cow::Borrowed(&self.variables)),
            Some(Data::Object(row)) if self.variables.is_empty() => Ok(Cow::Owned(row)),
            Some(Data::Object(row)) => {
                let mut entries = self.variables.entries().to_vec();
                entries.extend(row.into_entries());
                Ok(Cow::Owned(Object::new(entries)))
            }
            Some(other) => Err(format!(
                "chat_template_kwargs must be an object, and this is {}",
                other.describe()
            )),
        }
    }
}

/// Returns the tools, which can be JSON text. Data sets that are stored in columns have such text, because the schemas of two tools have
/// different keys.
fn read_tools(tools: Data<'_>) -> Result<Data<'_>, String> {
    match &tools {
        Data::Str(text) => match json::read(text, json::DEPTH) {
            Ok(tools) => Ok(tools.into_owned()),
            Err(error) => Err(format!("the tools are a string that is not JSON: {error}")),
        },
        _ => Ok(tools),
    }
}

/// Converts messages of ShareGPT: `{"from": "human", "value": "Hi"}` becomes `{"role": "user", "content": "Hi"}`. If the first message does
/// not have the role `system`, the text of `system` is inserted before it.
fn convert_messages<'r>(messages: Data<'r>, system: Option<Data<'r>>) -> Data<'r> {
    let Data::List(messages) = messages else {
        return messages;
    };
    let mut messages: Vec<Data<'r>> = messages.into_iter().map(convert_message).collect();
    let has_system =
        matches!(messages.first(), Some(Data::Object(first)) if first.get("role") == Some(&Data::Str("system".into())));
    if let (Some(Data::Str(system)), false) = (system, has_system) {
        let entries = vec![
            ("role".into(), Data::Str("system".into())),
            ("content".into(), Data::Str(system)),
        ];
        messages.insert(0, Data::Object(Object::new(entries)));
    }
    Data::List(messages)
}

fn convert_message(message: Data<'_>) -> Data<'_> {
    let Data::Object(message) = message else {
        return message;
    };
    let entries = message.into_entries().into_iter().map(|(key, value)| match &*key {
        "from" => {
            let role = match &value {
                Data::Str(from) => SHAREGPT_ROLES.iter().find(|(name, _)| name == from),
                _ => None,
            };
            ("role".into(), role.map_or(value, |(_, role)| Data::Str((*role).into())))
        }
        "value" => ("content".into(), value),
        _ => (key, value),
    });
    Data::Object(Object::new(entries.collect()))
}

/// Writes the line of a row that failed: its line number, the error, and the row, as a string if it is not JSON.
fn write_error(row: &Row<'_>, error: &str, errors: &mut String) {
    errors.push_str(&format!("{{\"line\":{},\"error\":", row.line));
    json::write_string(error, false, errors);
    if let Some(bytes) = row.text {
        errors.push_str(",\"row\":");
        match json::read_bytes(bytes, json::DEPTH) {
            Ok(row) => json::write_data(&row, errors),
            Err(_) => {
                let text = String::from_utf8_lossy(bytes);
                json::write_string(text.strip_suffix('\n').unwrap_or(&text), false, errors);
            }
        }
    }
    errors.push_str("}\n");
}

fn write_key(key: &str, out: &mut String) {
    json::write_string(key, false, out);
    out.push(':');
}
