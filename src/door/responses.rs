//! Bodies of OpenAI's Responses: `instructions` and a list of items, of which several can be one assistant message.
//!
//! ```text
//! reasoning, message, function_call, function_call   ->   {"role": "assistant", "reasoning_content", "content", "tool_calls": [2]}
//! function_call_output                               ->   {"role": "tool"}
//! ```

use super::anthropic::push_instructions;
use super::change::What;
use super::chat::read_message;
use super::content::MAX_SHOWN;
use super::fitter::Fitter;
use super::message::{Message, Place};
use super::node::Node;
use super::wrong;
use crate::error::Result;
use crate::json::Data;
use crate::text::truncate::elide;

/// An assistant message that is put together.
pub struct Assistant<'b> {
    place: Place,
    pub reasoning: Data<'b>,
    pub content: Option<Data<'b>>,
    pub calls: Vec<Data<'b>>,
}

impl<'b> Assistant<'b> {
    pub fn new(place: Place) -> Self {
        Self {
            place,
            reasoning: Data::None,
            content: None,
            calls: Vec::new(),
        }
    }

    /// Adds the message.
    pub fn push(self, fitter: &mut Fitter<'b, '_>) {
        let mut message = Message::new("assistant", self.place);
        let has_calls = !self.calls.is_empty() && fitter.facts.takes.calls;
        if let Some(content) = self.content {
            message.set("content", content);
        }
        if self.reasoning != Data::None {
            message.set("reasoning_content", self.reasoning);
        }
        if has_calls {
            message.set("tool_calls", Data::List(self.calls));
        }
        fitter.fill_content(&mut message, has_calls);
        fitter.rename_reasoning(&mut message);
        fitter.push(message);
    }
}

/// Adds the messages of a body.
pub fn read<'b>(fitter: &mut Fitter<'b, '_>, body: Node<'b>, input: Node<'b>) -> Result<()> {
    if let Some(instructions) = body.get("instructions") {
        push_instructions(fitter, instructions, "/instructions")?;
    }
    if input.text().is_some() {
        let place = Place::root("/input");
        fitter.changes.add(place.path(), What::Translated, "templates read a message of the role `user`");
        let mut message = Message::new("user", place);
        let content = fitter.fit_content("user", Some(input), place)?;
        message.set("content", content);
        fitter.push(message);
        return Ok(());
    }
    let mut open: Option<Assistant<'b>> = None;
    for (index, item) in input.items().enumerate() {
        open = read_item(fitter, item, Place::item("/input", index), open)?;
    }
    if let Some(assistant) = open {
        assistant.push(fitter);
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
        "reasoning" => open.as_ref().is_some_and(|open| open.content.is_some() || !open.calls.is_empty()),
        "message" => {
            let is_assistant = item.get_text("role") == Some("assistant");
            !is_assistant || open.as_ref().is_some_and(|open| open.content.is_some() || !open.calls.is_empty())
        }
        "function_call" => false,
        _ => true,
    };
    if closes {
        if let Some(assistant) = open.take() {
            assistant.push(fitter);
        }
    }
    match kind {
        "message" if item.get_text("role") != Some("assistant") => {
            read_message(fitter, item, place)?;
            return Ok(None);
        }
        "function_call_output" => {
            fitter.push_result(item.get_text("call_id"), item.get("output"), place, "output")?;
            return Ok(None);
        }
        _ => {}
    }
    let assistant = open.get_or_insert_with(|| Assistant::new(place));
    match kind {
        "message" => {
            fitter.changes.add(place.path(), What::Translated, translated);
            assistant.content = Some(fitter.fit_content("assistant", item.get("content"), place)?);
        }
        "reasoning" => {
            let field = ["content", "summary"].into_iter().find(|field| {
                let mut texts = item.get(field).into_iter().flat_map(Node::items);
                texts.any(|text| text.get_text("text").is_some())
            });
            let Some(field) = field else {
                fitter.changes.add(place.path(), What::Dropped, "the reasoning has no text");
                return Ok(open.filter(|open| open.content.is_some() || !open.calls.is_empty() || open.reasoning != Data::None));
            };
            fitter.changes.add(place.path(), What::Translated, "templates read `reasoning_content` of an assistant message");
            for text in item.get(field).into_iter().flat_map(Node::items).filter_map(|text| text.get_text("text")) {
                assistant.add_reasoning(text);
            }
        }
        "function_call" => {
            let (Some(name), Some(arguments)) = (item.get_text("name"), item.get("arguments")) else {
                return Err(wrong(place.path(), "the item has no string `name` or no `arguments`"));
            };
            let call = fitter.make_call(item.get_text("call_id"), name, arguments, place, "/arguments")?;
            assistant.calls.push(call);
        }
        other => {
            let message = format!("the item has the unknown type `{}`", elide(other, MAX_SHOWN));
            return Err(wrong(place.path(), message));
        }
    }
    Ok(open)
}
