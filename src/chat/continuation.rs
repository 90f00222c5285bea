//! Leaving the last message open, so that the model continues it.
//!
//! ```text
//! {"content": "The answer is "}   ->   {"content": "The answer is CONTINUE_FINAL_MESSAGE_TAG "}
//! …The answer is CONTINUE_FINAL_MESSAGE_TAG <|im_end|>   ->   …The answer is
//! ```
//!
//! A tag is appended to the message, and the prompt is cut where it comes out. That a copy of the tag in the message's own text is not
//! told apart is the reference's way. The rule is transformers 5.23.0 `chat_template_utils.py`, `render_jinja_template`.

use super::messages::{REASONING_FIELDS, with_values};
use super::refused;
use crate::error::{Error, ErrorClass, ErrorKind, Result};
use crate::text::strip::{strip, strip_end};
use crate::value::{Dict, Runtime, Seq, Str, Value, ops};

/// What is appended; the space behind it tells whether the template strips the message.
const TAG: &str = "CONTINUE_FINAL_MESSAGE_TAG ";

/// A conversation whose last message is tagged.
pub(super) struct Continuation<'a> {
    /// The conversation for the template.
    pub messages: Value<'a>,
    /// The text to continue.
    final_text: Str<'a>,
}

impl<'a> Continuation<'a> {
    /// Tags a field of the last message; `source` is the template's, which has to speak of the field.
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
            return Err(refused(
                ErrorKind::Value,
                format!("continue_final_message is set but the final message has no \"{field}\" to continue!"),
            ));
        };
        let fields = copies(runtime, &message, field, &value)?;
        if !fields.iter().any(|field| source.contains(field)) {
            return Err(refused(
                ErrorKind::Value,
                format!("continue_final_message is set to \"{field}\" but this is not an accepted field in the chat_template"),
            ));
        }
        let (tagged, final_text) = match &value {
            Value::List(blocks) | Value::Tuple(blocks) => {
                let (blocks, text) = tag_last_text(runtime, blocks)?;
                let blocks = match value {
                    Value::Tuple(_) => runtime.tuple(blocks)?,
                    _ => runtime.list(blocks)?,
                };
                // Copies of the reasoning are one list in Python, which is changed in place.
                let tagged = with_values(runtime, &message, |_, old| match old.shares_storage(&value) {
                    true => blocks.clone(),
                    false => old,
                })?;
                (tagged, text)
            }
            _ => {
                let text = tag(runtime, &value)?;
                let tagged = with_values(runtime, &message, |name, old| match fields.contains(&name) {
                    true => text.clone(),
                    false => old,
                })?;
                (tagged, value)
            }
        };
        let Value::Str(final_text) = final_text else {
            return Err(Error::internal("a tagged text is no string"));
        };
        let mut items: Vec<Value<'a>> = items.iter().collect();
        if let Some(place) = items.last_mut() {
            *place = Value::Dict(tagged);
        }
        let messages = runtime.list(items)?;
        Ok(Self { messages, final_text })
    }

    /// Cuts the rendered text where the tag came out.
    pub fn close(&self, mut text: String) -> Result<String> {
        let final_text = strip(self.final_text.as_str(), None);
        let found = text.rfind(strip(TAG, None)).filter(|_| text.contains(final_text));
        let Some(place) = found else {
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
        let keeps_space = text.get(place..).is_some_and(|rest| rest.starts_with(TAG));
        text.truncate(place);
        if !keeps_space {
            let length = strip_end(&text, None).len();
            text.truncate(length);
        }
        Ok(text)
    }
}

/// The fields that hold the same text as the one to continue: reasoning is copied under several names.
fn copies<'f, 'a>(runtime: &mut Runtime<'a>, message: &Dict<'a>, field: &'f str, value: &Value<'a>) -> Result<Vec<&'f str>> {
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

/// The blocks with the tag on the last one that has a text, whatever its type, and that text.
fn tag_last_text<'a>(runtime: &mut Runtime<'a>, blocks: &Seq<'a>) -> Result<(Vec<Value<'a>>, Value<'a>)> {
    let key = Value::text("text");
    let mut tagged: Vec<Value<'a>> = blocks.iter().collect();
    for place in tagged.iter_mut().rev() {
        if !ops::contains(runtime, place, &key).map_err(of_request)? {
            continue;
        }
        let text = ops::get_item(runtime, place, &key).map_err(of_request)?;
        let with_tag = tag(runtime, &text)?;
        if let Value::Dict(block) = &*place {
            let block = with_values(runtime, block, |name, old| match name {
                "text" => with_tag.clone(),
                _ => old,
            })?;
            *place = Value::Dict(block);
        }
        return Ok((tagged, text));
    }
    let message = "continue_final_message is set but we could not find any text to continue in the final message!";
    Err(refused(ErrorKind::Value, message))
}

/// Python's `text + tag`, which complains where it is no text.
fn tag<'a>(runtime: &mut Runtime<'a>, text: &Value<'a>) -> Result<Value<'a>> {
    ops::add(runtime, text, &Value::text(TAG)).map_err(of_request)
}

/// What a value of the request made fail; a limit stays a limit.
fn of_request(error: Error) -> Error {
    match error.class() {
        ErrorClass::Template => error.without_line().with_class(ErrorClass::Request),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use crate::chat::{ApplyOptions, ChatTemplate, ContinueFinalMessage};
    use crate::json::{self, DEPTH};

    fn continued(source: &str, message: &str, field: &str) -> Result<String, String> {
        let messages = json::read(message, DEPTH).map_err(|error| error.to_string())?;
        let options = ApplyOptions {
            continue_final_message: ContinueFinalMessage::Field(field),
            ..ApplyOptions::default()
        };
        let prompt = ChatTemplate::from_source(source, &[]).apply(&messages, &options);
        prompt.map(|prompt| prompt.text).map_err(|error| error.message().to_owned())
    }

    /// Answers of transformers 5.23.0, whose list of blocks may hold anything.
    #[test]
    fn values_that_are_no_text_fail_as_in_python() {
        for (content, expected) in [
            ("7", "unsupported operand type(s) for +: 'int' and 'str'"),
            (r#"{"text": "x"}"#, "unsupported operand type(s) for +: 'dict' and 'str'"),
            (r#"[{"text": [1]}]"#, "can only concatenate list (not \"str\") to list"),
            (
                r#"[{"text": null}]"#,
                "unsupported operand type(s) for +: 'NoneType' and 'str'",
            ),
            ("[null]", "argument of type 'NoneType' is not iterable"),
            (r#"["a text"]"#, "string indices must be integers, not 'str'"),
            (r#"[["text"]]"#, "list indices must be integers or slices, not str"),
            (
                r#"[{"a": 1}, []]"#,
                "continue_final_message is set but we could not find any text to continue in the final message!",
            ),
        ] {
            let message = format!(r#"[{{"role": "a", "content": {content}}}]"#);
            let result = continued("{{ messages[0].content }}", &message, "content");
            assert_eq!(result, Err(expected.to_owned()), "{content}");
        }
    }

    #[test]
    fn copies_of_reasoning_are_one_list_and_equal_ones_are_not() {
        let shared = r#"[{"reasoning": [{"text": "A"}]}]"#;
        let text = "{'thinking': [{'text': 'ACONTINUE_FINAL_MESSAGE_TAG '}], 'reasoning': [{'text': 'ACONTINUE_FINAL_MESSAGE_TAG '}], \
                    'reasoning_content': [{'text': 'A";
        assert_eq!(
            continued("{{ messages[0] }}{# reasoning #}", shared, "reasoning").as_deref(),
            Ok(text)
        );
        let equal = r#"[{"reasoning": [{"text": "A"}], "thinking": [{"text": "A"}]}]"#;
        let text = "{'thinking': [{'text': 'A'}], 'reasoning': [{'text': 'A";
        assert_eq!(
            continued("{{ messages[0] }}{# reasoning #}", equal, "reasoning").as_deref(),
            Ok(text)
        );
    }
}
