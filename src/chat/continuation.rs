//! Leaves the last message of a conversation open, so that the model continues it.
//!
//! ```text
//! {"content": "The answer is "}   ->   {"content": "The answer is CONTINUE_FINAL_MESSAGE_TAG "}
//! …The answer is CONTINUE_FINAL_MESSAGE_TAG <|im_end|>   ->   …The answer is
//! ```
//!
//! A tag is appended to the message, and the prompt is cut at the last tag in it, as in the reference. The rule is transformers 5.24.0
//! `chat_template_utils.py`, `render_jinja_template`.

use super::messages::replace_values;
use super::refused;
use super::turns::assistant::REASONING_FIELDS;
use crate::error::{Error, ErrorClass, ErrorKind, Result};
use crate::text::strip::{strip, strip_end};
use crate::value::{Dict, Runtime, Seq, Str, Value, ops};

/// The tag that is appended to the message. If the space after it is missing in the prompt, the template strips the message.
const TAG: &str = "CONTINUE_FINAL_MESSAGE_TAG ";

/// A conversation whose last message has the tag.
pub(super) struct Continuation<'a> {
    /// The tagged conversation, which the template renders.
    pub messages: Value<'a>,
    /// The text that the model continues.
    final_text: Str<'a>,
}

impl<'a> Continuation<'a> {
    /// Adds the tag to a field of the last message. `source` is the source of the template, which must mention the field.
    pub fn open(runtime: &mut Runtime<'a>, messages: &Value<'a>, field: &str, source: &str) -> Result<Self> {
        let last = match messages {
            Value::List(items) => items.len().checked_sub(1).and_then(|last| items.get(last)),
            _ => None,
        };
        let (Value::List(items), Some(Value::Dict(message))) = (messages, last) else {
            let message = "continue_final_message is set but the conversation is empty!";
            return Err(refused(ErrorKind::Value, message));
        };
        let Some(value) = message.get_str(field).filter(|value| !matches!(value, Value::None)) else {
            let message = format!("continue_final_message is set but the final message has no \"{field}\" to continue!");
            return Err(refused(ErrorKind::Value, message));
        };
        let fields = fields_of_text(runtime, &message, field, &value)?;
        runtime.meter.charge_bytes(source.len().saturating_mul(fields.len()))?;
        if !fields.iter().any(|field| source.contains(field)) {
            let message =
                format!("continue_final_message is set to \"{field}\" but this is not an accepted field in the chat_template");
            return Err(refused(ErrorKind::Value, message));
        }
        let (tagged, final_text) = match &value {
            Value::List(blocks) | Value::Tuple(blocks) => {
                let (blocks, text) = tag_last_text(runtime, blocks)?;
                let blocks = match value {
                    Value::Tuple(_) => runtime.tuple(&blocks)?,
                    _ => runtime.list(&blocks)?,
                };
                // The reference changes the list in place, and the copies of the reasoning are the same list.
                let tagged = replace_values(
                    runtime,
                    &message,
                    |_, old| {
                        if old.shares_storage(&value) { blocks } else { old }
                    },
                )?;
                (tagged, text)
            }
            _ => {
                let text = add_tag(runtime, &value)?;
                let tagged = replace_values(runtime, &message, |name, old| if fields.contains(&name) { text } else { old })?;
                (tagged, value)
            }
        };
        let Value::Str(final_text) = final_text else {
            return Err(Error::internal("a tagged text is not a string"));
        };
        let mut items: Vec<Value<'a>> = items.iter().collect();
        if let Some(place) = items.last_mut() {
            *place = Value::Dict(tagged);
        }
        let messages = runtime.list(&items)?;
        Ok(Self { messages, final_text })
    }

    /// Cuts the rendered text at the tag.
    pub fn close(&self, runtime: &mut Runtime<'a>, mut text: String) -> Result<String> {
        // The tag and the final text are looked for.
        runtime.meter.charge_bytes(text.len().saturating_mul(2))?;
        let final_text = strip(self.final_text.as_str(), None);
        let start = text.rfind(strip(TAG, None)).filter(|_| text.contains(final_text));
        let Some(start) = start else {
            return Err(refused(
                ErrorKind::Value,
                format!(
                    "continue_final_message is set but the final message does not appear in the chat after applying the chat \
                     template! This can happen if the chat template deletes portions of the final message. Please verify the chat \
                     template and final message in your chat to ensure they are compatible.Final message to continue: \
                     {final_text}\nRendered chat:\n{text}"
                ),
            ));
        };
        let keeps_space = text.get(start..).is_some_and(|rest| rest.starts_with(TAG));
        text.truncate(start);
        if !keeps_space {
            let length = strip_end(&text, None).len();
            text.truncate(length);
        }
        Ok(text)
    }
}

/// Returns the fields with the text to continue. There can be several, because reasoning has several names.
fn fields_of_text<'f, 'a>(
    runtime: &mut Runtime<'a>,
    message: &Dict<'a>,
    field: &'f str,
    value: &Value<'a>,
) -> Result<Vec<&'f str>> {
    if !REASONING_FIELDS.contains(&field) {
        return Ok(vec![field]);
    }
    let mut fields = Vec::new();
    for other in REASONING_FIELDS {
        let copy = message.get_str(other).unwrap_or(Value::None);
        if ops::equal(runtime, &copy, value).map_err(of_request)? {
            fields.push(other);
        }
    }
    Ok(fields)
}

/// Adds the tag to the last block with a string, whatever its type, and returns the blocks and that string.
fn tag_last_text<'a>(runtime: &mut Runtime<'a>, blocks: &Seq<'a>) -> Result<(Vec<Value<'a>>, Value<'a>)> {
    let key = Value::text("text");
    let mut tagged: Vec<Value<'a>> = blocks.iter().collect();
    for place in tagged.iter_mut().rev() {
        if !ops::contains(runtime, place, &key).map_err(of_request)? {
            continue;
        }
        let text = ops::get_item(runtime, place, &key).map_err(of_request)?;
        let with_tag = add_tag(runtime, &text)?;
        if let Value::Dict(block) = &*place {
            let block = replace_values(runtime, block, |name, old| match name {
                "text" => with_tag,
                _ => old,
            })?;
            *place = Value::Dict(block);
        }
        return Ok((tagged, text));
    }
    let message = "continue_final_message is set but we could not find any text to continue in the final message!";
    Err(refused(ErrorKind::Value, message))
}

/// Returns the text with the tag, or Python's error for `text + tag`.
fn add_tag<'a>(runtime: &mut Runtime<'a>, text: &Value<'a>) -> Result<Value<'a>> {
    ops::add(runtime, text, &Value::text(TAG)).map_err(of_request)
}

/// Returns the error with the class [`ErrorClass::Request`], unless it is about a limit.
fn of_request(error: Error) -> Error {
    match error.class() {
        ErrorClass::Template => error.without_line().with_class(ErrorClass::Request),
        _ => error,
    }
}
