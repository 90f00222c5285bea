//! What a row has and its prompt does not show.
//!
//! ```text
//! {"messages": [{"role": "assistant"}]}   ->   lost_message at /messages/0: the prompt has nothing of this message
//! ```

use super::failure::Failure;
use super::forms::Conversation;
use chat_template::Prompt;
use chat_template::json::{Data, Object};

/// The reason for a warning about a row, or for its failure with `--strict`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    Message,
    Content,
    Call,
    Tool,
    Null,
    Bos,
    Mask,
    Cut,
}

impl Cause {
    /// Returns the name in the file of errors.
    pub fn name(self) -> &'static str {
        match self {
            Self::Message => "lost_message",
            Self::Content => "lost_content",
            Self::Call => "lost_call",
            Self::Tool => "lost_tool",
            Self::Null => "null_key",
            Self::Bos => "second_bos",
            Self::Mask => "unknown_spans",
            Self::Cut => "cut",
        }
    }
}

/// A part of a row that its prompt does not show, or shows as the row hardly means it.
#[derive(Debug, PartialEq, Eq)]
pub struct Loss {
    pub cause: Cause,
    /// The JSON pointer in the row.
    pub pointer: String,
    pub message: String,
}

impl Loss {
    pub fn new(cause: Cause, pointer: String, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { cause, pointer, message }
    }
}

/// The parts of a row that a prompt was made of.
pub struct Source<'s> {
    pub conversation: &'s Conversation<'s>,
    pub tools: Option<&'s Data<'s>>,
    /// The token that begins the text, or an empty string.
    pub bos: &'s str,
}

/// Returns what the prompt does not show of its row. The prompt is traced.
pub fn find_losses(source: &Source<'_>, prompt: &Prompt) -> Vec<Loss> {
    let mut paths: Vec<&str> = prompt.segments().iter().flat_map(|segment| segment.paths()).collect();
    paths.sort_unstable();
    paths.dedup();
    let mut owners: Vec<usize> = prompt.segments().iter().filter_map(|segment| segment.message()).collect();
    owners.sort_unstable();
    owners.dedup();
    // Text made of a container is of all strings in it.
    let is_printed = |pointer: &str| {
        let within = paths.partition_point(|path| *path < pointer);
        let is_within = |path: &&str| {
            path.strip_prefix(pointer)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let holds = |path: &str| paths.binary_search(&path).is_ok();
        let mut outer = pointer.match_indices('/').filter_map(|(at, _)| pointer.get(..at));
        // A path such as `/messages/0-` would be between the pointer and those within it.
        paths
            .iter()
            .skip(within)
            .take_while(|path| path.starts_with(pointer))
            .any(is_within)
            || outer.any(holds)
    };
    let mut losses = Vec::new();
    let messages = as_list(&source.conversation.messages);
    for (index, message) in messages.iter().enumerate() {
        let Data::Object(message) = message else { continue };
        let inner = format!("/messages/{index}");
        let outer = source.conversation.pointer(index);
        if owners.binary_search(&index).is_err() && !is_printed(&inner) {
            losses.push(Loss::new(Cause::Message, outer, "the prompt has nothing of this message"));
            continue;
        }
        if message.get("content").is_some_and(has_text) && !is_printed(&format!("{inner}/content")) {
            let what = match message.get("role") {
                Some(Data::Str(role)) if role == "tool" => "the prompt has nothing of this result of a tool",
                _ => "the prompt has nothing of the content of this message",
            };
            losses.push(Loss::new(Cause::Content, format!("{outer}/content"), what));
        }
        for (call, _) in as_list(message.get("tool_calls").unwrap_or(&Data::None)).iter().enumerate() {
            if !is_printed(&format!("{inner}/tool_calls/{call}")) {
                let pointer = format!("{outer}/tool_calls/{call}");
                losses.push(Loss::new(Cause::Call, pointer, "the prompt has nothing of this call"));
            }
        }
        for (key, value) in message.entries() {
            find_null(value, &format!("{outer}/{key}"), &mut losses);
        }
    }
    for (index, tool) in as_list(source.tools.unwrap_or(&Data::None)).iter().enumerate() {
        let pointer = format!("/tools/{index}");
        find_null(tool, &pointer, &mut losses);
        if !is_printed(&pointer) {
            losses.push(Loss::new(Cause::Tool, pointer, "the prompt has nothing of this tool"));
        }
    }
    let rest = prompt
        .text
        .trim_start()
        .strip_prefix(source.bos)
        .filter(|_| !source.bos.is_empty());
    if rest.is_some_and(|rest| rest.trim_start().starts_with(source.bos)) {
        let message = format!("the prompt begins with {} twice", source.bos);
        losses.push(Loss::new(Cause::Bos, String::new(), message));
    }
    for (message, reason) in prompt.assistant_spans().reasons() {
        let pointer = message.map(|index| source.conversation.pointer(index));
        losses.push(Loss::new(
            Cause::Mask,
            pointer.unwrap_or_default(),
            format!("it is unknown which text the model writes: {reason}"),
        ));
    }
    losses
}

/// Returns the items of a list, or none.
fn as_list<'d, 'r>(data: &'d Data<'r>) -> &'d [Data<'r>] {
    match data {
        Data::List(items) => items,
        _ => &[],
    }
}

/// Returns whether content has text that a template can print.
fn has_text(content: &Data<'_>) -> bool {
    match content {
        Data::Str(text) => !text.trim().is_empty(),
        Data::List(parts) => parts.iter().any(|part| match part {
            Data::Object(part) => part.get("text").is_some_and(has_text),
            part => has_text(part),
        }),
        _ => false,
    }
}

/// Adds the first key in a value that is null. Columns of a data set have all keys of all rows, and those that a row lacks are null.
fn find_null(value: &Data<'_>, pointer: &str, losses: &mut Vec<Loss>) {
    if let Some(pointer) = null_key(value, pointer) {
        losses.push(Loss::new(
            Cause::Null,
            pointer,
            "this key is null; --remove-null removes such keys",
        ));
    }
}

fn null_key(value: &Data<'_>, pointer: &str) -> Option<String> {
    match value {
        Data::List(items) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(index, item)| null_key(item, &format!("{pointer}/{index}")))
        }
        Data::Object(object) => object.entries().iter().find_map(|(key, value)| {
            let pointer = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
            match value {
                // The default of a parameter can be null.
                Data::None => (key != "default").then_some(pointer),
                value => null_key(value, &pointer),
            }
        }),
        _ => None,
    }
}

/// Removes the keys that are null from all objects in a value.
pub fn remove_null(value: &mut Data<'_>) {
    match value {
        Data::List(items) => items.iter_mut().for_each(remove_null),
        Data::Object(object) => {
            let entries = object.entries().iter().filter(|(_, value)| !matches!(value, Data::None));
            let mut entries: Vec<_> = entries.cloned().collect();
            entries.iter_mut().for_each(|(_, value)| remove_null(value));
            *object = Object::new(entries);
        }
        _ => {}
    }
}

impl From<Loss> for Failure {
    fn from(loss: Loss) -> Self {
        Self::at(loss.cause.name(), loss.pointer, loss.message)
    }
}
