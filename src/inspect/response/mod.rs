//! Derives the description of how the model writes a message from the way in which the template prints messages.
//!
//! ```text
//! <|im_start|>assistant⏎<think>⏎trenobilf⏎</think>⏎⏎vexolumiq<|im_end|>⏎
//!   ->   {"start_anchor": "<|im_start|>assistant", "fields": {"reasoning_content": {"open": "<think>", "close": "</think>"}, …}}
//! ```
//!
//! Messages with planted words are rendered, and the texts around the words become the anchors of the fields. Other messages are then
//! rendered and parsed by the description. If one does not come back, there is no description, and the reason says which.

mod calls;
mod trips;

use serde_json::{Value, json};

use super::calls::working_forms;
use super::conversation::arrange;
use super::experiments::Experiments;
use super::plant::{self, ARGUMENT, FUNCTION, Form, ID, PARAMETER, PLANT, REASONING, SECOND, SECOND_ID, SPARE, USER, VALUE, say};
use super::roles::list_forms;
use crate::chat::{common_prefix, control_tokens};
use crate::error::Result;
use crate::report::{Basics, Response};
use crate::response::{Event, ResponseTemplate};

/// The name of the field with the reasoning.
const REASONING_FIELD: &str = "reasoning_content";

/// Why there is no description, or an error of a limit.
enum Failure {
    Reason(String),
    Stopped(crate::Error),
}

impl From<crate::Error> for Failure {
    fn from(error: crate::Error) -> Self {
        Self::Stopped(error)
    }
}

impl From<&str> for Failure {
    fn from(reason: &str) -> Self {
        Self::Reason(reason.to_owned())
    }
}

/// A message of the assistant in a prompt.
#[derive(Clone, Debug)]
struct Shot {
    prompt: String,
    /// The end of the user's text.
    after: usize,
    /// The part of the prompt that the model writes.
    start: usize,
    end: usize,
}

/// What is known of the template while a description is derived.
struct Derivation<'e, 't> {
    experiments: &'e mut Experiments<'t>,
    form: Form,
    /// The order of the messages with which the template renders an answer.
    order: Option<&'static str>,
    /// The end of the text before each message, as a distance from the end of the user's text. Without an anchor, it is where the model
    /// begins.
    head: Option<usize>,
    /// The text before the message.
    anchor: String,
}

/// Returns the description of the template.
///
/// # Errors
/// See [`Experiments::render`].
pub fn inspect(experiments: &mut Experiments<'_>, basics: &Basics) -> Result<Response> {
    let mut last = "the template does not render a message of a user and an answer".to_owned();
    for form in list_forms(&basics.roles) {
        let derivation = Derivation {
            experiments: &mut *experiments,
            form: *form,
            order: None,
            head: None,
            anchor: String::new(),
        };
        match derivation.derive(basics) {
            Ok(template) => return Ok(Response::Template(template)),
            Err(Failure::Reason(reason)) => last = reason,
            Err(Failure::Stopped(error)) => return Err(error),
        }
    }
    experiments.check_time()?;
    Ok(Response::Reason(last))
}

impl Derivation<'_, '_> {
    fn derive(mut self, basics: &Basics) -> Result<Value, Failure> {
        let plain = self.shoot("content", &say("assistant", self.form, PLANT), false)?;
        let plain = plain.ok_or("the template does not render an answer after a message of a user")?;
        if !plain.prompt.get(plain.after..).unwrap_or_default().contains(PLANT) {
            return Err("the template does not print the content of an answer as it is".into());
        }
        let thinking = plant::thinking(&say("assistant", self.form, PLANT));
        let thinking = self
            .shoot("reasoning", &thinking, false)?
            .filter(|shot| shot.prompt.contains(REASONING));
        let mut call = None;
        for is_text in working_forms(&basics.calls) {
            let wanted = |shot: &Shot| [FUNCTION, VALUE, SECOND].iter().all(|word| shot.written().contains(word));
            let one = self
                .shoot("call", &plant::calling(&make_calls(1, *is_text), Some("".into())), true)?
                .filter(wanted);
            if let Some(one) = one {
                let two = self.shoot("calls", &plant::calling(&make_calls(2, *is_text), Some("".into())), true)?;
                let beside = plant::calling(&make_calls(1, *is_text), Some(self.form.content(PLANT)));
                let beside = self.shoot("beside", &beside, true)?;
                call = Some((one, two.filter(|shot| shot.written().contains(SPARE)), beside, *is_text));
                break;
            }
        }
        if call.is_none() && basics.calls.arguments != crate::report::Arguments::Neither {
            return Err("the template does not print the name and the arguments of a call in the text of the message".into());
        }
        let mut shots: Vec<&Shot> = [&plain].into_iter().chain(&thinking).collect();
        if let Some((one, two, beside, _)) = &call {
            shots.extend([Some(one), two.as_ref(), beside.as_ref()].into_iter().flatten());
        }
        self.find_anchor(&shots)?;
        let mut reasoning = None;
        if let Some(shot) = &thinking {
            // The text before the message can have the tag that opens the reasoning.
            if self
                .text(shot)
                .split(REASONING)
                .next()
                .is_some_and(|before| before.trim().is_empty())
            {
                self.shorten_anchor(shot)?;
            }
            reasoning = Some(describe_reasoning(self.text(shot))?);
        }
        let anchor = self.anchor.clone();
        let fields = |calls: Option<&Value>, close: &[String]| {
            let mut fields = serde_json::Map::new();
            fields.extend(reasoning.iter().map(|field| (REASONING_FIELD.to_owned(), field.clone())));
            fields.extend(calls.map(|calls| ("tool_calls".to_owned(), calls.clone())));
            let mut content = match fields.is_empty() {
                true => json!({}),
                false => json!({"repeats": true, "join": ""}),
            };
            if let (Some(content), false) = (content.as_object_mut(), close.is_empty()) {
                content.insert("close".to_owned(), json!(close));
            }
            fields.insert("content".to_owned(), content);
            describe(&anchor, &fields.into())
        };
        let candidates = match &call {
            Some((one, two, ..)) => calls::describe(self.text(one), two.as_ref().map(|two| self.text(two)))?
                .into_iter()
                .map(Some)
                .collect(),
            None => vec![None],
        };
        let mut last = Failure::from("no description of the calls fits");
        for candidate in candidates {
            let described = self
                .find_fragments(&fields(candidate.as_ref(), &[]), &shots)
                .map(|close| fields(candidate.as_ref(), &close));
            let tried = match described {
                Ok(description) => {
                    let is_text = call.as_ref().map(|(.., is_text)| *is_text);
                    let facts = (reasoning.is_some(), is_text);
                    trips::check(&mut self, &description, facts).map(|()| description)
                }
                Err(failure) => Err(failure),
            };
            match tried {
                Err(Failure::Reason(reason)) => last = Failure::Reason(reason),
                other => return other,
            }
        }
        Err(last)
    }

    /// Renders a message of the assistant after one of a user. `None` if the template refuses it.
    fn shoot(&mut self, path: &str, message: &Value, has_tools: bool) -> Result<Option<Shot>> {
        for order in ["u*", "su*"] {
            if self.order.is_some_and(|known| known != order) {
                continue;
            }
            for conversation in arrange(&[self.form], &[order], |_| [('*', message.clone())]) {
                let conversation = conversation.with_tools(has_tools.then(trips::tools));
                let Ok(prompt) = &*self.experiments.find_written(&conversation)? else {
                    continue;
                };
                let Some(after) = prompt.text.rfind(USER) else { continue };
                let after = after.saturating_add(USER.len());
                let spans = prompt.assistant().map(|spans| spans.bytes.as_slice()).unwrap_or_default();
                let (start, end) = match (spans.first(), spans.last()) {
                    (Some(first), Some(last)) if last.end > after => (first.start.max(after), last.end),
                    _ => (after, prompt.text.len()),
                };
                self.order = Some(order);
                if !path.is_empty() {
                    self.experiments.show(&format!("response.{path}"), &conversation);
                }
                return Ok(Some(Shot {
                    prompt: prompt.text.clone(),
                    after,
                    start,
                    end,
                }));
            }
        }
        Ok(None)
    }

    /// Finds the text of the template before each message. The generation prompt begins with it.
    fn find_anchor(&mut self, shots: &[&Shot]) -> Result<(), Failure> {
        let asked = arrange(&[self.form], &[self.order.unwrap_or("u*").trim_end_matches('*')], |_| []);
        let Some(asked) = asked.into_iter().next() else {
            return Ok(());
        };
        let tail = |text: Option<String>| Some(text?.rsplit_once(USER)?.1.to_owned());
        let closed = tail(self.experiments.text(&asked)?).unwrap_or_default();
        let Some(opened) = tail(self.experiments.text(&asked.prompted())?) else {
            return Err("the template does not render a message of a user alone".into());
        };
        let after = |shot: &Shot| shot.prompt.get(shot.after..).unwrap_or_default().to_owned();
        let mut length = opened.len();
        for shot in shots {
            length = cut_tokens(
                &opened,
                common_prefix(opened.get(..length).unwrap_or_default(), &after(shot)),
                &after(shot),
            );
        }
        self.set_anchor(&opened, length, common_prefix(&closed, &opened));
        Ok(())
    }

    /// Sets the anchor to the end of a text. `close` is the length of its part that ends the turn of the user.
    fn set_anchor(&mut self, text: &str, length: usize, close: usize) {
        let head = text.get(..length).unwrap_or_default().trim_end();
        let own = head.get(close.min(head.len())..).unwrap_or_default().trim();
        self.anchor = if own.is_empty() { head.trim() } else { own }.to_owned();
        self.head = (!self.anchor.is_empty()).then_some(head.len());
    }

    /// Takes the last token out of the anchor.
    fn shorten_anchor(&mut self, shot: &Shot) -> Result<(), Failure> {
        let token = control_tokens(&self.anchor).last().filter(|token| token.start > 0);
        let token = token.ok_or("nothing is before the reasoning")?;
        let cut = self.anchor.len().saturating_sub(token.start);
        let head = self.head.unwrap_or_default().saturating_sub(cut);
        let text = shot.prompt.get(shot.after..).unwrap_or_default();
        self.set_anchor(text, head, head.saturating_sub(token.start));
        Ok(())
    }

    /// Returns the text of a message after the anchor.
    fn text<'s>(&self, shot: &'s Shot) -> &'s str {
        shot.prompt.get(self.begin(shot)..shot.end).unwrap_or_default()
    }

    /// Returns where the text of a message begins.
    fn begin(&self, shot: &Shot) -> usize {
        self.head
            .map_or(shot.start, |head| shot.after.saturating_add(head))
            .min(shot.end)
    }

    /// Returns the texts that the description leaves in the content and that are the template's.
    fn find_fragments(&self, description: &Value, shots: &[&Shot]) -> Result<Vec<String>, Failure> {
        let template = ResponseTemplate::new(description).map_err(|error| Failure::Reason(error.message().to_owned()))?;
        let mut fragments = Vec::new();
        for shot in shots {
            let begin = self.begin(shot).max(shot.start);
            let text = shot.prompt.get(begin..shot.end).unwrap_or_default();
            let events = trips::parse_events(&template, shot.prompt.get(..begin).unwrap_or_default(), text);
            let events = events.map_err(|error| Failure::Reason(format!("a message does not come back: {}", error.message())))?;
            for event in events {
                if let Event::Close {
                    field,
                    value: crate::json::Data::Str(value),
                } = event
                {
                    if field == "content" {
                        fragments.extend(value.split(PLANT).map(|part| part.trim().to_owned()));
                    }
                }
            }
        }
        // A tag on its own may also be the end of a text.
        let tags: Vec<String> = fragments
            .iter()
            .filter(|text| is_tags(text))
            .flat_map(|text| control_tokens(text).map(|tag| text.get(tag).unwrap_or_default().to_owned()))
            .collect();
        fragments.extend(tags);
        fragments.retain(|text| !text.is_empty());
        fragments.sort();
        fragments.dedup();
        Ok(fragments)
    }
}

impl Shot {
    /// Returns the text after the user's.
    fn written(&self) -> &str {
        self.prompt.get(self.after..).unwrap_or_default()
    }
}

/// Returns a description with these fields.
fn describe(anchor: &str, fields: &Value) -> Value {
    match anchor {
        // The model writes all text after the prompt.
        "" => json!({"defaults": {"role": "assistant"}, "start_anchor_pattern": ".+", "fields": fields}),
        anchor => json!({"defaults": {"role": "assistant"}, "start_anchor": anchor, "fields": fields}),
    }
}

/// Returns calls with two arguments each.
fn make_calls(count: usize, is_text: bool) -> Vec<Value> {
    let calls = [
        (ID, FUNCTION, VALUE, SECOND),
        (SECOND_ID, SPARE, plant::SYSTEM, plant::ANSWER),
    ];
    let call = |(id, name, first, second): (&str, &str, &str, &str)| {
        let arguments = json!({ARGUMENT: first, PARAMETER: second});
        let arguments = if is_text {
            Value::from(arguments.to_string())
        } else {
            arguments
        };
        plant::call(id, name, &arguments)
    };
    calls.into_iter().take(count).map(call).collect()
}

/// Returns whether a text has only control tokens and white space.
fn is_tags(text: &str) -> bool {
    let length: usize = control_tokens(text).map(|token| token.len()).sum();
    length == text.split_whitespace().map(str::len).sum::<usize>()
}

/// Returns a length at which neither of two texts is within a control token or a word.
fn cut_tokens(one: &str, length: usize, other: &str) -> usize {
    let inside = [one, other]
        .into_iter()
        .find_map(|text| control_tokens(text).find(|token| token.start < length && length < token.end));
    let length = inside.map_or(length, |token| token.start);
    let is_word = |text: &str| text.get(length..).is_some_and(|rest| rest.starts_with(char::is_alphanumeric));
    let head = one.get(..length).unwrap_or_default();
    match (is_word(one) || is_word(other)) && head.ends_with(char::is_alphanumeric) {
        true => head.trim_end_matches(char::is_alphanumeric).len(),
        false => length,
    }
}

/// Returns the field of the reasoning: the texts before and after it.
fn describe_reasoning(text: &str) -> Result<Value, Failure> {
    let (before, after) = text.split_once(REASONING).ok_or("the reasoning is before the message")?;
    let between = after.split_once(PLANT).ok_or("the content is before the reasoning")?.0.trim();
    let end = control_tokens(between).next().map_or(between.len(), |token| token.end);
    let close = between.get(..end).unwrap_or_default();
    if before.trim().is_empty() || close.is_empty() {
        return Err("no text separates the reasoning from the content".into());
    }
    Ok(json!({"open": before.trim(), "close": close}))
}
