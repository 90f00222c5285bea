//! Renders one row: a line of JSON in, a line of JSON with the prompt out.
//!
//! ```text
//! {"id": 7, "messages": [{"role": "user", "content": "Hi"}]}   ->   {"id":7,"text":"<|user|>Hi"}
//! ```
//!
//! The keys are those of TRL's trainers (`messages`, `tools`, `chat_template_kwargs`).

use std::borrow::Cow;

use chat_template::internal::Entry;
use chat_template::json::{self, Data, JsonErrorKind, Object};
use chat_template::{ApplyOptions, Bounds, ChatTemplate, ContinueFinalMessage, Deadline, Limits, LocalTime, Prompt, Turn};

use super::failure::Failure;
use super::forms::{Conversation, check_messages, read_text};
use super::lines::Lines;
use super::losses::{Loss, Source, find_losses, remove_null};
use super::notes::Notes;
use super::rows::Row;
use super::tokens::{Tokenizer, Tokens};
use crate::cli::masks::Masks;

/// The largest number of characters of a row that the file of errors repeats.
const MAX_QUOTED: usize = 64 << 10;

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
    /// Which text the model writes, if the line of a row has its spans.
    pub masks: Option<Masks>,
    /// Whether a row fails if its prompt does not show all of it.
    pub is_strict: bool,
    /// Whether keys that are null are removed from messages and tools.
    pub removes_null: bool,
    /// Whether the arguments of calls are JSON text.
    pub reads_arguments: bool,
    /// Whether the line of a row has its turns.
    pub wants_turns: bool,
    /// Makes the tokens of each row. It needs the spans of the text that the model writes.
    pub tokenizer: Option<Tokenizer>,
    pub notes: Notes,
    pub add_generation_prompt: bool,
    pub continue_final_message: Option<String>,
    /// The variables of all rows.
    pub variables: Object<'static>,
    pub limits: Limits,
    pub clock: Option<LocalTime>,
    /// The largest length of a row in bytes.
    pub max_row: u64,
}

/// The parts of a row.
#[derive(Default)]
struct Parts<'r> {
    conversations: Vec<Conversation<'r>>,
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
            None => Err(Failure::new(
                "length",
                format!("the row has more than {} MiB, which is the limit", self.max_row >> 20),
            )),
        };
        let rendered = match &read {
            Ok(data) => self.render_data(data, &deadline, out),
            Err(error) => Err(error.clone()),
        };
        match rendered {
            Ok(losses) => {
                for loss in &losses {
                    self.notes.note_loss(loss.cause);
                    write_warning(row.line, loss, errors);
                }
                true
            }
            Err(failure) => {
                self.notes.note_failure(&failure.kind);
                write_error(row, &failure, read.as_ref().ok(), errors);
                false
            }
        }
    }

    /// Returns the template and the options. Two runs with equal ones have equal answers to equal rows.
    pub fn describe(&self) -> serde_json::Value {
        let mut variables = String::new();
        // Writing to a string cannot fail.
        let _ = chat_template::internal::write_data(&Data::Object(self.variables.clone()), &mut variables);
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
            "assistant": self.masks.as_ref().map(|masks| format!("{:?}", masks.options(&masks.roles()))),
            "strict": self.is_strict,
            "remove_null": self.removes_null,
            "json_arguments": self.reads_arguments,
            "turns": self.wants_turns,
            "tokenizer": self.tokenizer.as_ref().map(Tokenizer::describe),
            "add_generation_prompt": self.add_generation_prompt,
            "continue_final_message": self.continue_final_message,
            "variables": variables,
            "limits": self.limits,
            "now": format!("{:?}", self.clock),
            "max_row": self.max_row,
        })
    }

    fn render_data(&self, row: &Data<'_>, deadline: &Deadline, out: &mut Lines<'_>) -> Result<Vec<Loss>, Failure> {
        let Data::Object(row) = row else {
            let message = format!("the row must be an object, and this is {}", row.describe());
            return Err(Failure::new("row", message));
        };
        let parts = self.split(row, deadline)?;
        let roles = self.masks.as_ref().map(Masks::roles).unwrap_or_default();
        let variables = self.merge_variables(parts.variables)?;
        let tools = parts.tools.as_deref();
        let mut options = ApplyOptions::default()
            .with_bounds(Bounds::from(&self.limits).with_deadline(deadline))
            .with_tools(&tools)
            .with_documents(&parts.documents)
            .with_chat_template(self.name.as_deref())
            // A variable of the row replaces the option.
            .with_add_generation_prompt(self.add_generation_prompt && variables.get("add_generation_prompt").is_none())
            .with_continue_final_message(match &self.continue_final_message {
                Some(field) => ContinueFinalMessage::Field(field),
                None => ContinueFinalMessage::No,
            })
            .with_variables(&*variables)
            .with_reference_spans(self.wants_spans)
            .with_assistant(self.masks.as_ref().map(|masks| masks.options(&roles)))
            .with_trace(true);
        if let Some(clock) = &self.clock {
            options = options.with_clock(clock);
        }
        let bos = self.chat.special_tokens().iter().find(|(name, _)| name == "bos_token");
        let bos = bos.map_or("", |(_, bos)| bos);
        let (mut answers, mut losses) = (Vec::new(), Vec::new());
        for conversation in &parts.conversations {
            check_messages(conversation, self.chat.source().unwrap_or_default())?;
            let prompt = self.chat.apply(&*conversation.messages, &options)?;
            let source = Source {
                conversation,
                tools: parts.tools.as_deref(),
                bos,
            };
            let bounds = Bounds::from(deadline).with_limits(&self.limits);
            let wants_turns = self.wants_turns || self.tokenizer.is_some();
            let turns = wants_turns
                .then(|| prompt.turns_within(bounds))
                .transpose()?
                .unwrap_or_default();
            let tokens = self.tokenizer.as_ref().map(|tokenizer| tokenizer.encode(&prompt, &turns));
            let mut tokens = tokens.transpose()?;
            let cut = tokens.as_mut().and_then(|tokens| tokens.loss.take());
            for loss in find_losses(&source, &prompt).into_iter().chain(cut) {
                if self.is_strict {
                    return Err(loss.into());
                }
                // Two conversations can have the same messages.
                if parts.conversations.len() == 1 || !losses.contains(&loss) {
                    losses.push(loss);
                }
            }
            answers.push((conversation.name, prompt, turns, tokens));
        }
        out.push("{");
        for (key, value) in &parts.kept {
            out.write_key(key);
            out.write_data(value);
            out.push(",");
        }
        for (index, (name, prompt, turns, tokens)) in answers.iter().enumerate() {
            if index > 0 {
                out.push(",");
            }
            out.write_key(name);
            out.write_string(&prompt.text);
            self.write_entries(name, prompt, turns, tokens.as_ref(), out)
                .map_err(|error| Failure::new("output", error))?;
        }
        out.push("}\n");
        Ok(losses)
    }

    /// Writes the entries of a prompt after its text. The name of the text is before their keys, unless it is `text`.
    fn write_entries(
        &self,
        name: &str,
        prompt: &Prompt,
        turns: &[Turn],
        tokens: Option<&Tokens>,
        out: &mut Lines<'_>,
    ) -> Result<(), String> {
        let key = |key: &str| match name {
            "text" => key.to_owned(),
            name => format!("{name}_{key}"),
        };
        if self.wants_spans {
            out.write_entry(&key("generation"), &prompt.reference_spans)?;
        }
        if self.masks.is_some() {
            out.write_entry(&key("assistant"), prompt.assistant_spans())?;
            let unknown = prompt.assistant_spans().unknown_turns();
            if !unknown.is_empty() {
                out.write_entry(&key("unknown_turns"), &unknown)?;
            }
            self.notes.note_mask(prompt);
        }
        if self.wants_turns {
            out.write_entry(&key("turns"), turns)?;
        }
        if let Some(tokens) = tokens {
            out.write_entry(&key("input_ids"), &tokens.ids)?;
            out.write_entry(&key("labels"), &tokens.labels)?;
        }
        Ok(())
    }

    /// Splits a row by its keys.
    fn split<'r>(&'r self, row: &'r Object<'r>, deadline: &Deadline) -> Result<Parts<'r>, Failure> {
        let mut parts = Parts::default();
        let mut is_replaced = false;
        let pair = [row.get("chosen"), row.get("rejected")];
        let is_conversation = |value: &Data<'_>| matches!(value, Data::Str(_) | Data::List(_) | Data::Object(_));
        let is_pair = pair.iter().all(|value| value.is_some_and(is_conversation));
        let messages = row.get(&self.messages_key);
        for entry in row.entries() {
            let (key, value) = entry;
            match &**key {
                key if key == self.messages_key => {}
                "chosen" | "rejected" | "prompt" if is_pair => {}
                "prompt" | "completion" if messages.is_none() => {}
                "tools" => parts.tools = Some(read_text(value, "tools", deadline)?),
                "documents" => parts.documents = Some(value),
                "chat_template_kwargs" => parts.variables = Some(value),
                "system" if self.is_sharegpt => parts.system = Some(value),
                "text" => is_replaced = true,
                "generation" if self.wants_spans => is_replaced = true,
                "assistant" | "unknown_turns" if self.masks.is_some() => is_replaced = true,
                "turns" if self.wants_turns => is_replaced = true,
                "input_ids" | "labels" if self.tokenizer.is_some() => is_replaced = true,
                _ => parts.kept.push(entry),
            }
        }
        if is_replaced {
            self.notes.note_replaced();
        }
        let prompt = [("prompt", row.get("prompt")), (&self.messages_key, messages)];
        let prompt = prompt.into_iter().find_map(|(key, value)| Some((key, value?, "user")));
        let answers = [
            ("chosen", "chosen", pair[0].filter(|_| is_pair)),
            ("rejected", "rejected", pair[1].filter(|_| is_pair)),
            (
                "text",
                "completion",
                row.get("completion").filter(|_| !is_pair && messages.is_none()),
            ),
        ];
        for (name, key, answer) in answers {
            let Some(answer) = answer else { continue };
            let answer = (key, answer, "assistant");
            let sections: Vec<_> = prompt.into_iter().chain([answer]).collect();
            parts.conversations.push(Conversation::join(name, &sections, deadline)?);
        }
        if parts.conversations.is_empty() {
            let Some(messages) = messages else {
                return Err(Failure::new("row", format!("the row has no {:?}", self.messages_key)));
            };
            parts
                .conversations
                .push(Conversation::new(&self.messages_key, messages, deadline)?);
        }
        for conversation in &mut parts.conversations {
            if self.is_sharegpt {
                conversation.convert_sharegpt(parts.system)?;
            }
            if self.reads_arguments {
                conversation.read_arguments(deadline)?;
            }
            if self.removes_null {
                remove_null(conversation.messages.to_mut());
            }
        }
        if let (true, Some(tools)) = (self.removes_null, &mut parts.tools) {
            remove_null(tools.to_mut());
        }
        Ok(parts)
    }

    /// Returns the variables of all rows, replaced by those of a row.
    fn merge_variables<'r>(&'r self, row: Option<&'r Data<'r>>) -> Result<Cow<'r, Object<'r>>, Failure> {
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
            Some(other) => {
                let message = format!("chat_template_kwargs must be an object, and this is {}", other.describe());
                Err(Failure::at("row", "/chat_template_kwargs".to_owned(), message))
            }
        }
    }
}

fn read_row<'r>(text: &'r [u8], deadline: &Deadline) -> Result<Data<'r>, Failure> {
    json::Data::read_within(text, deadline).map_err(|error| {
        if error.kind() == JsonErrorKind::TimedOut {
            return Failure::new("limit", error.to_string());
        }
        let cut = if text.ends_with(b"\n") {
            ""
        } else {
            "; the input ends in this row"
        };
        Failure::new("json", format!("the row is not JSON: {error}{cut}"))
    })
}

/// Writes the line of a warning about a row that has a prompt.
fn write_warning(line: u64, loss: &Loss, errors: &mut Lines<'_>) {
    errors.push(&format!(
        "{{\"line\":{line},\"warning\":\"{}\",\"pointer\":",
        loss.cause.name()
    ));
    errors.write_string(&loss.pointer);
    errors.push(",\"message\":");
    errors.write_string(&loss.message);
    errors.push("}\n");
}

/// Writes the line of a row that failed: its line number, the error, and the row, as a string if it is not JSON or is long.
fn write_error(row: &Row<'_>, failure: &Failure, data: Option<&Data<'_>>, errors: &mut Lines<'_>) {
    errors.push(&format!("{{\"line\":{},\"kind\":", row.line));
    errors.write_string(&failure.kind);
    errors.push(",\"pointer\":");
    errors.write_string(&failure.pointer);
    errors.push(",\"error\":");
    errors.write_string(&failure.message);
    match (data, row.text) {
        (_, Some(bytes)) if bytes.len() > MAX_QUOTED => {
            let start = bytes.get(..MAX_QUOTED).unwrap_or_default();
            errors.push(",\"row\":");
            errors.write_string(&format!("{}…", String::from_utf8_lossy(start)));
        }
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
