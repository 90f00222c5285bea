//! Renders one row: a line of JSON in, a line of JSON with the prompt out.
//!
//! ```text
//! {"id": 7, "messages": [{"role": "user", "content": "Hi"}]}   ->   {"id":7,"text":"<|user|>Hi"}
//! ```
//!
//! The keys are those of TRL's trainers (`messages`, `tools`, `chat_template_kwargs`).

use std::borrow::Cow;

use chat_template::internal::Keeps;
use chat_template::json::{self, Data, JsonErrorKind, Object};
use chat_template::{ApplyOptions, Bounds, ChatTemplate, ContinueFinalMessage, Deadline, Limits, LocalTime, Prompt, Turn};
use chat_template_rows::{Cause, Failure, Known, Loss, Reader, Source, find_losses};

use super::lines::Lines;
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
    pub reader: Reader,
    pub known: Known,
    /// Whether the line of a row has the spans of `{% generation %}` blocks.
    pub wants_spans: bool,
    /// Which text the model writes, if the line of a row has its spans.
    pub masks: Option<Masks>,
    /// Whether a row fails if its prompt does not show all of it.
    pub is_strict: bool,
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

/// A prompt of a row, with what its line has of it.
struct Answer {
    name: &'static str,
    prompt: Prompt,
    turns: Vec<Turn>,
    tokens: Option<Tokens>,
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
                    write_warning(row, loss, errors);
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
            "reader": format!("{:?}", self.reader),
            "spans": self.wants_spans,
            "assistant": self.masks.as_ref().map(|masks| format!("{:?}", masks.options(&masks.roles()))),
            "strict": self.is_strict,
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
        let parts = self.reader.read(row, deadline)?;
        let roles = self.masks.as_ref().map(Masks::roles).unwrap_or_default();
        let variables = self.merge_variables(parts.variables.as_deref())?;
        let (tools, documents) = (parts.tools.as_deref(), parts.documents.as_deref());
        let mut options = ApplyOptions::default()
            .with_bounds(Bounds::from(&self.limits).with_deadline(deadline))
            .with_tools(&tools)
            .with_documents(&documents)
            .with_chat_template(self.name.as_deref())
            .with_continue_final_message(match &self.continue_final_message {
                Some(field) => ContinueFinalMessage::Field(field),
                None => ContinueFinalMessage::No,
            })
            .with_variables(&*variables);
        if let Some(clock) = &self.clock {
            options = options.with_clock(clock);
        }
        let opens = variables.get("add_generation_prompt").is_none();
        let (mut answers, mut losses) = (Vec::new(), Vec::new());
        for conversation in &parts.conversations {
            let is_open = self.add_generation_prompt || conversation.is_open && self.continue_final_message.is_none();
            // A variable of the row replaces the option.
            let options = options.with_add_generation_prompt(is_open && opens);
            let source = Source {
                conversation,
                known: &self.known,
                tools,
                documents,
                variables: match parts.variables.as_deref() {
                    Some(Data::Object(variables)) => Some(variables),
                    _ => None,
                },
                kept: &parts.kept,
                is_masked: self.masks.is_some(),
                render: &|messages: &Data<'_>| self.chat.apply(messages, &options).ok().map(|prompt| prompt.text),
            };
            let assistant = self.masks.as_ref().map(|masks| masks.options(&roles));
            let options = options.with_reference_spans(self.wants_spans).with_assistant(assistant);
            let (answer, found) = self.answer(&source, &options, deadline)?;
            for loss in found {
                // A row without an answer is all in its prompt.
                if self.is_strict && loss.cause != Cause::Untrained {
                    return Err(loss.into());
                }
                // Two conversations can have the same messages.
                if parts.conversations.len() == 1 || !losses.contains(&loss) {
                    losses.push(loss);
                }
            }
            answers.push(answer);
        }
        let mut is_replaced = false;
        out.push("{");
        for (key, value) in &parts.kept {
            if self.replaces(key) {
                is_replaced = true;
                continue;
            }
            out.write_key(key);
            out.write_data(value);
            out.push(",");
        }
        if is_replaced {
            self.notes.note_replaced();
        }
        for (index, answer) in answers.iter().enumerate() {
            if index > 0 {
                out.push(",");
            }
            out.write_key(answer.name);
            out.write_string(&answer.prompt.text);
            self.write_entries(answer, out)
                .map_err(|error| Failure::new("output", error))?;
        }
        out.push("}\n");
        Ok(losses)
    }

    /// Makes the answer to a conversation, and returns what its prompt does not show.
    fn answer(
        &self,
        source: &Source<'_, '_>,
        options: &ApplyOptions<'_>,
        deadline: &Deadline,
    ) -> Result<(Answer, Vec<Loss>), Failure> {
        let conversation = source.conversation;
        conversation.check(self.chat.source().unwrap_or_default())?;
        let wants_turns = self.wants_turns || self.tokenizer.is_some();
        let (mut prompt, mut losses) = self.apply(source, &options.with_trace(wants_turns))?;
        let bounds = Bounds::from(deadline).with_limits(&self.limits);
        let turns = if wants_turns {
            prompt.turns_within(bounds)?
        } else {
            Vec::new()
        };
        prompt.keep_assistant_from(conversation.first);
        let tokens = self.tokenizer.as_ref().map(|tokenizer| tokenizer.encode(&prompt, &turns));
        let mut tokens = tokens.transpose()?;
        losses.extend(tokens.as_mut().and_then(|tokens| tokens.loss.take()));
        let answer = Answer {
            name: conversation.name,
            prompt,
            turns,
            tokens,
        };
        Ok((answer, losses))
    }

    /// Renders a conversation. A render that keeps addresses alone is fast, and for most rows it shows that nothing is lost.
    fn apply(&self, source: &Source<'_, '_>, options: &ApplyOptions<'_>) -> Result<(Prompt, Vec<Loss>), Failure> {
        let mut keeps = Keeps::Addresses;
        loop {
            let prompt = self.chat.apply_keeping(&*source.conversation.messages, options, keeps)?;
            match find_losses(source, &prompt) {
                Some(losses) => return Ok((prompt, losses)),
                None if keeps == Keeps::Sources => return Ok((prompt, Vec::new())),
                None => keeps = Keeps::Sources,
            }
        }
    }

    /// Returns whether the output has an entry of its own with a key.
    fn replaces(&self, key: &str) -> bool {
        match key {
            "text" => true,
            "generation" => self.wants_spans,
            "assistant" | "unknown_turns" => self.masks.is_some(),
            "turns" => self.wants_turns,
            "input_ids" | "labels" => self.tokenizer.is_some(),
            _ => false,
        }
    }

    /// Writes the entries of a prompt after its text. The name of the text is before their keys, unless it is `text`.
    fn write_entries(&self, answer: &Answer, out: &mut Lines<'_>) -> Result<(), String> {
        let Answer {
            name,
            prompt,
            turns,
            tokens,
        } = answer;
        let key = |key: &str| match *name {
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

    /// Returns the variables of all rows, replaced by those of a row.
    fn merge_variables<'r>(&'r self, row: Option<&'r Data<'r>>) -> Result<Cow<'r, Object<'r>>, Failure> {
        match row {
            None | Some(Data::None) => Ok(Cow::Borrowed(&self.variables)),
            Some(Data::Object(row)) => {
                self.notes.note_unread(row, &self.known);
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

/// Reads the text of a row.
pub fn read_row<'r>(text: &'r [u8], deadline: &Deadline) -> Result<Data<'r>, Failure> {
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
fn write_warning(row: &Row<'_>, loss: &Loss, errors: &mut Lines<'_>) {
    write_place(row, errors);
    errors.push(&format!(",\"warning\":\"{}\"", loss.cause.name()));
    for (key, text) in [("pointer", &loss.pointer), ("message", &loss.message)] {
        errors.push(",");
        errors.write_key(key);
        errors.write_string(text);
    }
    errors.push("}\n");
}

/// Writes the beginning of a line about a row: its file, if the input has several, and its line number.
fn write_place(row: &Row<'_>, errors: &mut Lines<'_>) {
    errors.push("{");
    if let Some(file) = row.file {
        errors.push("\"file\":");
        errors.write_string(file);
        errors.push(",");
    }
    errors.push(&format!("\"line\":{}", row.line));
}

/// Writes the line of a row that failed: its place, the error, and the row, as a string if it is not JSON or is long.
fn write_error(row: &Row<'_>, failure: &Failure, data: Option<&Data<'_>>, errors: &mut Lines<'_>) {
    write_place(row, errors);
    for (key, text) in [
        ("kind", &failure.kind),
        ("pointer", &failure.pointer),
        ("error", &failure.message),
    ] {
        errors.push(",");
        errors.write_key(key);
        errors.write_string(text);
    }
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
