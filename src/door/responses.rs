//! Bodies of OpenAI's Responses: `instructions` and a list of items, of which several can be one assistant message.
//!
//! ```text
//! reasoning, message, function_call, function_call   ->   {"role": "assistant", "reasoning_content", "content", "tool_calls": [2]}
//! function_call_output                               ->   {"role": "tool"}
//! ```

use super::anthropic::push_instructions;
use super::change::What;
use super::chat::read_message;
use super::content::{self, MAX_SHOWN};
use super::fitter::Fitter;
use super::message::{Message, Place};
use super::node::Node;
use super::record::Recorder;
use super::wrong;
use crate::error::Result;
use crate::json::Data;
use crate::text::truncate::elide;

/// The content of an assistant message: a value of the body, or blocks of a message with their indices.
enum Content<'b> {
    Absent,
    Whole(Node<'b>, Place),
    Blocks(Vec<(usize, Node<'b>)>),
}

/// An assistant message that is being put together.
pub struct Assistant<'b> {
    place: Place,
    reasoning: Data<'b>,
    content: Content<'b>,
    pub calls: Vec<Data<'b>>,
}

impl<'b> Assistant<'b> {
    pub fn new(place: Place) -> Self {
        Self {
            place,
            reasoning: Data::None,
            content: Content::Absent,
            calls: Vec::new(),
        }
    }

    /// Sets the content to blocks of the message, if there are any.
    pub fn set_blocks(&mut self, blocks: Vec<(usize, Node<'b>)>) {
        if !blocks.is_empty() {
            self.content = Content::Blocks(blocks);
        }
    }

    /// Adds reasoning after earlier reasoning.
    pub fn add_reasoning(&mut self, text: &'b str, changes: &mut Recorder<'_>) -> Result<()> {
        changes.visit(text.len())?;
        let earlier = std::mem::replace(&mut self.reasoning, Data::None);
        self.reasoning = content::join(earlier, Data::Str(text.into()));
        Ok(())
    }

    /// Returns whether the next text or reasoning begins another message.
    fn is_complete(&self) -> bool {
        !matches!(self.content, Content::Absent) || !self.calls.is_empty()
    }

    /// Adds the message to the fitter.
    pub fn push(self, fitter: &mut Fitter<'b, '_>) -> Result<()> {
        let place = self.place;
        let mut message = Message::new("assistant", place);
        let has_calls = !self.calls.is_empty() && fitter.facts.takes.calls;
        let role = if has_calls { "caller" } else { "assistant" };
        let content = match self.content {
            Content::Absent => Data::None,
            Content::Whole(node, place) => fitter.fit_content(role, node, &|| place.field("/content"))?,
            Content::Blocks(blocks) => fitter.fit_parts(role, &blocks, &|index| place.block(index).path())?,
        };
        if content != Data::None {
            message.set("content", content, &mut fitter.changes)?;
        }
        if self.reasoning != Data::None {
            message.set("reasoning_content", self.reasoning, &mut fitter.changes)?;
        }
        if has_calls {
            message.set("tool_calls", Data::List(self.calls), &mut fitter.changes)?;
        }
        fitter.fill_content(&mut message, has_calls)?;
        fitter.rename_reasoning(&mut message)?;
        fitter.push(message, "assistant")
    }
}

/// Adds the messages of a body.
pub fn read<'b>(fitter: &mut Fitter<'b, '_>, body: Node<'b>, input: Node<'b>) -> Result<()> {
    if let Some(instructions) = body.get("instructions") {
        push_instructions(fitter, instructions, "/instructions")?;
    }
    if input.text().is_some() {
        let place = Place::root("/input");
        fitter
            .changes
            .add(place.path(), What::Translated, "templates read a message of the role `user`")?;
        let mut message = Message::new("user", place);
        let content = fitter.fit_content("user", input, &|| place.path())?;
        message.set("content", content, &mut fitter.changes)?;
        return fitter.push(message, "user");
    }
    let mut open: Option<Assistant<'b>> = None;
    for (index, item) in input.items().enumerate() {
        fitter.changes.visit(0)?;
        open = read_item(fitter, item, Place::item("/input", index), open)?;
    }
    if let Some(assistant) = open {
        assistant.push(fitter)?;
    }
    Ok(())
}

/// Adds an item to the assistant message that is open, or adds that message and then the item. Returns the message that is open then.
fn read_item<'b>(
    fitter: &mut Fitter<'b, '_>,
    item: Node<'b>,
    place: Place,
    mut open: Option<Assistant<'b>>,
) -> Result<Option<Assistant<'b>>> {
    let translated = "templates read messages";
    let kind = item.get_text("type").unwrap_or("message");
    let closes = match kind {
        "reasoning" => open.as_ref().is_some_and(Assistant::is_complete),
        "message" => item.get_text("role") != Some("assistant") || open.as_ref().is_some_and(Assistant::is_complete),
        "function_call" | "custom_tool_call" => false,
        _ => true,
    };
    if closes {
        if let Some(assistant) = open.take() {
            assistant.push(fitter)?;
        }
    }
    match kind {
        "message" if item.get_text("role") != Some("assistant") => {
            read_message(fitter, item, place)?;
            return Ok(None);
        }
        "function_call_output" | "custom_tool_call_output" => {
            fitter.push_result(item.get_text("call_id"), item.get("output"), place, "/output")?;
            return Ok(None);
        }
        _ => {}
    }
    let assistant = open.get_or_insert_with(|| Assistant::new(place));
    match kind {
        "message" => {
            fitter.changes.add(place.path(), What::Translated, translated)?;
            if let Some(content) = item.get("content") {
                assistant.content = Content::Whole(content, place);
            }
        }
        "reasoning" => {
            let field = ["content", "summary"].into_iter().find(|field| {
                let mut texts = item.get(field).into_iter().flat_map(Node::items);
                texts.any(|text| text.get_text("text").is_some())
            });
            let Some(field) = field else {
                fitter.changes.drop_value(item, place.path(), "the reasoning has no text")?;
                return Ok(open.filter(|open| open.is_complete() || open.reasoning != Data::None));
            };
            fitter.judge_reasoning(item, place)?;
            for text in item
                .get(field)
                .into_iter()
                .flat_map(Node::items)
                .filter_map(|text| text.get_text("text"))
            {
                assistant.add_reasoning(text, &mut fitter.changes)?;
            }
        }
        "function_call" | "custom_tool_call" => {
            // The input of a custom tool is a text of any form.
            let key = if kind == "function_call" { "/arguments" } else { "/input" };
            let arguments = item.get(key.trim_start_matches('/'));
            let (Some(name), Some(arguments)) = (item.get_text("name"), arguments) else {
                let key = key.trim_start_matches('/');
                return Err(wrong(
                    place.path(),
                    format!("a `{kind}` must have a string `name` and `{key}`"),
                ));
            };
            let call = fitter.open_call(item, item.get_text("call_id"), name, arguments, place, key)?;
            assistant.calls.push(call);
        }
        other => {
            let message = format!("the item has the unknown type `{}`", elide(other, MAX_SHOWN));
            return Err(wrong(place.path(), message));
        }
    }
    Ok(open)
}
