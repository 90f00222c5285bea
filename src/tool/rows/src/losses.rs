//! What a row has and its prompt does not show.
//!
//! ```text
//! {"messages": [{"role": "assistant"}]}   ->   lost_message at /messages/0: the prompt has nothing of this message
//! ```

use std::collections::BTreeSet;
use std::fmt;

use chat_template::internal::{Entry, REASONING_FIELDS};
use chat_template::json::{Data, Object};
use chat_template::{ChatTemplate, Limits, Prompt, RenderOptions, Template};

use crate::conversation::{Conversation, get, has_role, list};
use crate::failure::{Failure, write_at};
use crate::null::find_null;
use crate::shown::Shown;

/// The number of media of a row that are judged alone, by a render each.
const MAX_MEDIA: usize = 16;

/// How many contents and arguments of a row are printed to look for them in the prompt, and the largest number of steps for each.
const MAX_PRINTED: (usize, u64) = (16, 1 << 20);

/// The reason for a warning about a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The prompt has nothing of a message.
    Message,
    /// The prompt has nothing of a system prompt beside the messages.
    System,
    /// The prompt has nothing of a content.
    Content,
    /// The prompt has nothing of a reasoning.
    Reasoning,
    /// The prompt is the same without an image or another medium.
    Media,
    /// The prompt has nothing of a call.
    Call,
    /// A list or an object is in the prompt as Python prints it.
    Repr,
    /// Arguments that are JSON text are in the prompt as a string in JSON.
    Doubled,
    /// The prompt has nothing of a tool.
    Tool,
    /// The prompt has nothing of a document.
    Document,
    /// A key is null.
    Null,
    /// The prompt begins with its first token twice.
    Bos,
    /// A message has a control token in its text.
    Control,
    /// The template does not read a variable.
    Variable,
    /// It is unknown which text the model writes.
    Mask,
    /// The model writes nothing of the prompt.
    Untrained,
    /// The row has the tokens of its first turns alone.
    Cut,
}

impl Cause {
    /// Returns the name in a file of errors.
    pub fn name(self) -> &'static str {
        match self {
            Self::Message => "lost_message",
            Self::System => "lost_system",
            Self::Content => "lost_content",
            Self::Reasoning => "lost_reasoning",
            Self::Media => "lost_media",
            Self::Call => "lost_call",
            Self::Repr => "python_repr",
            Self::Doubled => "double_json",
            Self::Tool => "lost_tool",
            Self::Document => "lost_document",
            Self::Null => "null_key",
            Self::Bos => "second_bos",
            Self::Control => "control_token",
            Self::Variable => "unread_variable",
            Self::Mask => "unknown_spans",
            Self::Untrained => "nothing_trained",
            Self::Cut => "cut",
        }
    }
}

/// A part of a row that its prompt does not show, or another problem of the row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The reason.
    pub cause: Cause,
    /// The JSON pointer in the row.
    pub pointer: String,
    /// What the prompt does not show.
    pub message: String,
}

impl Loss {
    /// Makes a loss.
    pub fn new(cause: Cause, pointer: String, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { cause, pointer, message }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_at(formatter, &self.pointer, &self.message)
    }
}

impl From<Loss> for Failure {
    fn from(loss: Loss) -> Self {
        Self::at(loss.cause.name(), loss.pointer, loss.message)
    }
}

/// The facts about a template that hold for all rows.
#[derive(Debug)]
pub struct Known {
    /// The names of the variables that the template reads.
    variables: BTreeSet<String>,
    /// The token that begins a prompt, or an empty string.
    bos: String,
    control_tokens: Vec<String>,
    /// The characters with which the control tokens begin.
    starts: BTreeSet<char>,
    /// Templates that print a variable `x` as text and as JSON.
    printers: Option<[Template; 2]>,
}

impl Known {
    /// Reads the facts about a template.
    pub fn new(chat: &ChatTemplate) -> Self {
        let bos = chat.special_tokens().iter().find(|(name, _)| name == "bos_token");
        let tokens = chat.control_tokens().into_iter().filter(|token| !token.is_empty());
        let control_tokens: Vec<_> = tokens.map(str::to_owned).collect();
        Self {
            variables: chat.variables().into_iter().map(str::to_owned).collect(),
            bos: bos.map_or(String::new(), |(_, bos)| bos.clone()),
            starts: control_tokens.iter().filter_map(|token| token.chars().next()).collect(),
            control_tokens,
            printers: Template::compile("{{ x }}")
                .ok()
                .zip(Template::compile("{{ x | tojson }}").ok())
                .map(Into::into),
        }
    }

    /// Returns the names of the variables that the template reads.
    pub fn variables(&self) -> &BTreeSet<String> {
        &self.variables
    }

    /// Returns a control token in a string.
    fn find_control_token(&self, text: &str) -> Option<&str> {
        let places = self.starts.iter().flat_map(|start| text.match_indices(*start));
        let mut rests = places.filter_map(|(at, _)| text.get(at..));
        rests
            .find_map(|rest| self.control_tokens.iter().find(|token| rest.starts_with(&***token)))
            .map(String::as_str)
    }
}

/// The parts of a row that a prompt was made of.
#[derive(Clone, Copy)]
pub struct Source<'s, 'r> {
    /// The template.
    pub known: &'s Known,
    /// The messages.
    pub conversation: &'s Conversation<'r>,
    /// The tools.
    pub tools: Option<&'s Data<'r>>,
    /// The documents.
    pub documents: Option<&'s Data<'r>>,
    /// The variables of the row.
    pub variables: Option<&'s Object<'r>>,
    /// The entries of the row that are no part of the conversation.
    pub kept: &'s [&'s Entry<'r>],
    /// Whether the prompt has the spans of what the model writes.
    pub is_masked: bool,
    /// Returns the prompt of other messages, or `None` if it has none. It finds out whether a medium is in the prompt.
    pub render: &'s dyn Fn(&Data<'_>) -> Option<String>,
}

/// Returns what a prompt does not show of its row. Returns `None` if the prompt must be rendered with
/// [`Keeps::Sources`](chat_template::internal::Keeps::Sources) to find out.
pub fn find_losses(source: &Source<'_, '_>, prompt: &Prompt) -> Option<Vec<Loss>> {
    let mut finder = Finder {
        source,
        prompt,
        shown: Shown::new(prompt),
        media: Vec::new(),
        printed: 0,
        losses: Vec::new(),
    };
    finder.find_system();
    for (index, message) in source.conversation.list().iter().enumerate() {
        if let Data::Object(message) = message {
            finder.find_in_message(index, message)?;
        }
    }
    finder.find_media();
    for (index, tool) in source.tools.map_or(&[][..], list).iter().enumerate() {
        let pointer = || format!("/tools/{index}");
        finder.add_null(tool, &pointer);
        if !finder.shown.has_value(tool)? {
            finder.add(Cause::Tool, pointer(), "the prompt has nothing of this tool");
        }
    }
    for (index, document) in source.documents.map_or(&[][..], list).iter().enumerate() {
        if !finder.shown.has_value(document)? {
            finder.add(
                Cause::Document,
                format!("/documents/{index}"),
                "the prompt has nothing of this document",
            );
        }
    }
    finder.find_in_prompt();
    Some(finder.losses)
}

struct Finder<'f, 's, 'r> {
    source: &'f Source<'s, 'r>,
    prompt: &'f Prompt,
    shown: Shown<'f>,
    media: Vec<Medium>,
    /// The number of values that were printed to look for them in the prompt.
    printed: usize,
    losses: Vec<Loss>,
}

/// A part of a content that is neither text nor of an unknown form.
struct Medium {
    /// The index of the message.
    message: usize,
    /// The index in the content.
    part: usize,
    /// The type, such as `image_url`.
    kind: String,
}

impl Finder<'_, '_, '_> {
    fn add(&mut self, cause: Cause, pointer: String, message: impl Into<String>) {
        self.losses.push(Loss::new(cause, pointer, message));
    }

    /// Finds what the prompt does not show of a message. Returns `None` if only the sources can tell.
    fn find_in_message(&mut self, index: usize, message: &Object<'_>) -> Option<()> {
        let source = self.source;
        let outer = || source.conversation.pointer(index);
        let content = message.get("content").filter(|content| has_text(content));
        let shows_content = content.map(|content| self.shown.has_value(content));
        if shows_content.flatten() != Some(true) {
            let values = || message.entries().iter().map(|(_, value)| self.shown.has_value(value));
            if !self.shown.has_message(index)? && !values().any(|shown| shown == Some(true)) {
                self.add(Cause::Message, outer(), "the prompt has nothing of this message");
                return Some(());
            }
        }
        if let Some(false) = shows_content.map_or(Some(None), |shown| shown.map(Some))? {
            let what = if message.get("role") == Some(&Data::Str("tool".into())) {
                "the prompt has nothing of this result of a tool"
            } else {
                "the prompt has nothing of the content of this message"
            };
            self.add(Cause::Content, format!("{}/content", outer()), what);
        }
        for (key, value) in message.entries() {
            match (&**key, value) {
                ("content", Data::List(parts) | Data::Tuple(parts)) => {
                    self.find_printed(value, &|| format!("{}/content", outer()));
                    let media = parts.iter().enumerate();
                    self.media.extend(media.filter_map(|(part, value)| {
                        let kind = find_medium(value)?.to_owned();
                        Some(Medium {
                            message: index,
                            part,
                            kind,
                        })
                    }));
                }
                ("tool_calls", Data::List(calls) | Data::Tuple(calls)) => {
                    for (call, value) in calls.iter().enumerate() {
                        if !self.shown.has_value(value)? {
                            let pointer = format!("{}/tool_calls/{call}", outer());
                            self.add(Cause::Call, pointer, "the prompt has nothing of this call");
                        }
                        if let Some(arguments) = get(value, "function").and_then(|function| get(function, "arguments")) {
                            self.find_printed(arguments, &|| format!("{}/tool_calls/{call}/function/arguments", outer()));
                        }
                    }
                }
                (key, Data::Str(text))
                    if REASONING_FIELDS.contains(&key) && !text.trim().is_empty() && !self.shown.has_text(text)? =>
                {
                    let pointer = format!("{}/{key}", outer());
                    self.add(Cause::Reasoning, pointer, "the prompt has nothing of this reasoning");
                }
                _ => {}
            }
            self.add_null(value, &|| format!("{}/{key}", outer()));
            self.find_control_token(value, &|| format!("{}/{key}", outer()));
        }
        Some(())
    }

    /// Finds a system prompt beside messages that have none.
    fn find_system(&mut self) {
        let has_system = |message: &Data<'_>| has_role(message, &["system", "developer"]);
        if self.source.conversation.list().iter().any(has_system) {
            return;
        }
        let is_system = |(key, value): &&&Entry<'_>| matches!(&**key, "system" | "system_prompt") && has_text(value);
        if let Some((key, _)) = self.source.kept.iter().find(is_system) {
            let message = "the prompt has nothing of this system prompt; it must be one of the messages";
            self.add(Cause::System, format!("/{key}"), message);
        }
    }

    /// Adds a list or an object that is in the prompt as Python prints it, and JSON text that is in it as a string in JSON: the first of each
    /// in a row.
    fn find_printed(&mut self, value: &Data<'_>, pointer: &dyn Fn() -> String) {
        let (printer, start, cause, message) = match value {
            Data::Str(text) if text.trim_start().starts_with('{') => {
                let message = "these arguments are JSON text, and the prompt has them as a string in JSON; the option json_arguments (--json-arguments) reads them";
                (1, "\"{", Cause::Doubled, message)
            }
            Data::Object(object) if !object.is_empty() => (0, "{'", Cause::Repr, "the prompt has this object as Python prints it"),
            Data::List(list) if !list.is_empty() => (0, "[", Cause::Repr, "the prompt has this list as Python prints it"),
            _ => return,
        };
        if self.printed >= MAX_PRINTED.0 || self.losses.iter().any(|loss| loss.cause == cause) {
            return;
        }
        self.printed = self.printed.saturating_add(1);
        if !self.prompt.text.contains(start) {
            return;
        }
        let Some(printer) = self.source.known.printers.as_ref().and_then(|printers| printers.get(printer)) else {
            return;
        };
        let context = Data::Object(Object::new(vec![("x".into(), value.clone())]));
        let limits = Limits::default().with_steps(MAX_PRINTED.1);
        let printed = printer.render(&context, &RenderOptions::default().with_bounds(&limits));
        if printed.is_ok_and(|printed| self.prompt.text.contains(&printed.text)) {
            self.add(cause, pointer(), message);
        }
    }

    /// Finds the images and other media that are not in the prompt: it is the same with parts of an unknown type in their place. The first
    /// ones are judged alone, and all others together.
    fn find_media(&mut self) {
        let media = std::mem::take(&mut self.media);
        let (alone, others) = media.split_at(media.len().min(MAX_MEDIA));
        let others = Some(others).filter(|others| !others.is_empty());
        for group in alone.chunks(1).chain(others) {
            if !self.is_same_without(group) {
                continue;
            }
            for Medium { message, part, kind } in group {
                let pointer = format!("{}/content/{part}", self.source.conversation.pointer(*message));
                self.add(Cause::Media, pointer, format!("the prompt has nothing of this {kind}"));
            }
        }
    }

    /// Returns whether the prompt is the same without some media.
    fn is_same_without(&self, media: &[Medium]) -> bool {
        let mut messages = (*self.source.conversation.messages).clone();
        let (Data::List(list) | Data::Tuple(list)) = &mut messages else {
            return false;
        };
        for Medium { message, part, .. } in media {
            let Some(Data::Object(message)) = list.get_mut(*message) else {
                continue;
            };
            if let Some(Data::List(parts) | Data::Tuple(parts)) = message.get_mut("content") {
                let unknown = Data::Object(Object::new(vec![("type".into(), Data::Str("unknown".into()))]));
                parts.get_mut(*part).into_iter().for_each(|part| *part = unknown.clone());
            }
        }
        (self.source.render)(&messages).is_some_and(|text| text == self.prompt.text)
    }

    /// Adds the first key in a value that is null.
    fn add_null(&mut self, value: &Data<'_>, pointer: &dyn Fn() -> String) {
        if let Some(pointer) = find_null(value, pointer) {
            self.add(Cause::Null, pointer, "this key is null; --remove-null removes such keys");
        }
    }

    /// Adds the first control token of the model in a string, which tokenizers read as the token.
    fn find_control_token(&mut self, value: &Data<'_>, pointer: &dyn Fn() -> String) {
        match value {
            Data::Str(text) => {
                if let Some(token) = self.source.known.find_control_token(text) {
                    self.add(Cause::Control, pointer(), format!("the text has the control token {token}"));
                }
            }
            Data::List(parts) | Data::Tuple(parts) => {
                for (index, part) in parts.iter().enumerate() {
                    if let Some(text) = get(part, "text") {
                        self.find_control_token(text, &|| format!("{}/{index}/text", pointer()));
                    }
                }
            }
            _ => {}
        }
    }

    /// Finds what is wrong with the prompt as a whole, with its spans, and with the variables.
    fn find_in_prompt(&mut self) {
        let Source { known, conversation, .. } = self.source;
        let bos = known.bos.as_str();
        let rest = self.prompt.text.trim_start().strip_prefix(bos).filter(|_| !bos.is_empty());
        if rest.is_some_and(|rest| rest.trim_start().starts_with(bos)) {
            self.add(Cause::Bos, String::new(), format!("the prompt begins with {bos} twice"));
        }
        for (name, _) in self.source.variables.map_or(&[][..], Object::entries) {
            if !known.variables.contains(&**name) {
                let pointer = format!("/chat_template_kwargs/{name}");
                self.add(Cause::Variable, pointer, "the template does not read this variable");
            }
        }
        if !self.source.is_masked || conversation.is_open {
            return;
        }
        let mut is_trained = false;
        for (message, spans) in self.prompt.assistant_turns() {
            if message.is_some_and(|index| index < conversation.first) {
                continue;
            }
            match spans {
                Ok(spans) => is_trained |= !spans.bytes.is_empty(),
                Err(reason) => {
                    is_trained = true;
                    let pointer = message.map_or(String::new(), |index| conversation.pointer(index));
                    let message = format!("it is unknown which text the model writes: {reason}");
                    self.add(Cause::Mask, pointer, message);
                }
            }
        }
        if !is_trained {
            self.add(
                Cause::Untrained,
                String::new(),
                "the model writes nothing of the prompt, so nothing is trained",
            );
        }
    }
}

/// Returns whether content has text that a template can print.
fn has_text(content: &Data<'_>) -> bool {
    match content {
        Data::Str(text) => !text.trim().is_empty(),
        Data::List(parts) | Data::Tuple(parts) => parts.iter().any(|part| has_text(get(part, "text").unwrap_or(part))),
        _ => false,
    }
}

/// Returns the type of a part of a content, if it is that of a medium.
fn find_medium<'p>(part: &'p Data<'_>) -> Option<&'p str> {
    let Some(Data::Str(kind)) = get(part, "type") else {
        return None;
    };
    let is_medium = ["image", "video", "audio", "file", "document"]
        .iter()
        .any(|medium| kind.contains(medium));
    is_medium.then_some(&**kind)
}
