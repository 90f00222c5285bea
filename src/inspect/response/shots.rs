//! Renders assistant messages, and finds what the model writes in the prompts.
//!
//! ```text
//! <|user|>holvantis<|end|><|assistant|>vexolumiq<|end|>   ->   the model writes vexolumiq<|end|>
//! ```

use serde_json::{Value, json};

use super::calls::NAMED_ID;
use super::patterns::cut_tokens;
use super::{Derivation, Failure, in_text, trips};
use crate::chat::{AssistantOptions, common_prefix, common_suffix};
use crate::error::Result;
use crate::inspect::conversation::arrange;
use crate::inspect::plant::{self, ARGUMENT, FUNCTION, Form, ID, PARAMETER, PLANT, SECOND, SECOND_ID, SPARE, USER, VALUE};

/// An assistant message in a prompt.
#[derive(Clone, Debug)]
pub struct Shot {
    pub prompt: String,
    /// The end of the user's text.
    pub after: usize,
    /// The part of the prompt that the model writes.
    pub start: usize,
    pub end: usize,
}

/// Messages with calls in prompts.
pub struct Called {
    /// The message with one call.
    pub message: Value,
    /// Whether the arguments are JSON text.
    pub is_text: bool,
    pub one: Shot,
    /// The message with two calls, if both are printed.
    pub two: Option<Shot>,
    /// The message with content beside the call, if the template renders it.
    pub others: Vec<Shot>,
}

impl Shot {
    /// Returns the text after the user's.
    pub fn written(&self) -> &str {
        self.prompt.get(self.after..).unwrap_or_default()
    }
}

impl Derivation<'_, '_> {
    /// Renders an assistant message after a user message. `None` if the template refuses it.
    pub fn shoot(&mut self, path: &str, message: &Value) -> Result<Option<Shot>> {
        for order in ["u*", "su*", "u*u", "su*u"] {
            if self.order.is_some_and(|known| known != order) {
                continue;
            }
            for conversation in arrange(&[self.form], &[order], |_| [('*', message.clone())]) {
                let has_tools = self.has_tools && message.get("tool_calls").is_some();
                let conversation = conversation.with_tools(has_tools.then(trips::tools));
                let Ok(prompt) = &*self.experiments.find_written(&conversation, AssistantOptions::default())? else {
                    continue;
                };
                let asked = self.ask(order, has_tools)?.unwrap_or_default();
                let spans = prompt.assistant().map(|spans| spans.bytes).unwrap_or_default();
                // Some templates print the generation prompt whatever the flag is.
                let printed = || {
                    prompt
                        .text
                        .len()
                        .saturating_sub(common_suffix(&prompt.text, &asked).trim().len())
                };
                let limit = spans.last().map_or_else(printed, |last| last.end);
                let before = prompt.text.get(..limit).unwrap_or_default();
                let Some(after) = before.rfind(USER).map(|at| at.saturating_add(USER.len())) else {
                    continue;
                };
                let common = cut_tokens(&asked, common_prefix(&asked, &prompt.text), &prompt.text);
                let first = spans
                    .first()
                    .filter(|_| common < asked.len())
                    .map_or(after, |first| first.start);
                let start = first.max(common).max(after);
                let end = limit.max(start);
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

    /// Returns the prompt before the assistant message in an order of messages.
    pub fn ask(&mut self, order: &str, has_tools: bool) -> Result<Option<String>> {
        let before = order.split('*').next().unwrap_or_default();
        let asked = arrange(&[self.form], &[before], |_| []);
        match asked.into_iter().next() {
            Some(asked) => self
                .experiments
                .text(&asked.with_tools(has_tools.then(trips::tools)).prompted()),
            None => Ok(None),
        }
    }

    /// Returns whether the template prints tools.
    pub fn prints_tools(&mut self) -> Result<bool> {
        let prompt = self.ask(self.order.unwrap_or_default(), true)?;
        Ok(prompt.is_some_and(|prompt| prompt.contains(FUNCTION)))
    }

    /// Renders messages with calls whose name and arguments are printed.
    pub fn find_calls(&mut self, is_text: bool) -> Result<Option<Called>, Failure> {
        let is_printed = |shot: &Shot| [FUNCTION, VALUE, SECOND].iter().all(|word| shot.written().contains(word));
        let contents: &[_] = match self.form {
            Form::String => &[Some("".into()), None, Some(" ".into())],
            Form::Part => &[Some(self.form.content("")), None, Some("".into())],
        };
        for (has_tools, empty) in [true, false]
            .into_iter()
            .flat_map(|tools| contents.iter().map(move |empty| (tools, empty)))
        {
            for has_named_ids in [false, true] {
                (self.empty, self.has_tools, self.has_named_ids) = (empty.clone(), has_tools, has_named_ids);
                let message = self.call_with(&self.make_calls(1, is_text));
                let Some(one) = self.shoot("call", &message)? else { break };
                if !is_printed(&one) {
                    continue;
                }
                let two = self.call_with(&self.make_calls(2, is_text));
                let two = self.shoot("calls", &two)?.filter(|shot| shot.written().contains(SPARE));
                let beside = plant::with_content(&message, Some(self.form.content(PLANT)));
                return Ok(Some(Called {
                    one,
                    two,
                    others: self.shoot("content_beside", &beside)?.into_iter().collect(),
                    message,
                    is_text,
                }));
            }
        }
        Ok(None)
    }

    /// Returns a message with calls and without content.
    pub fn call_with(&self, calls: &[Value]) -> Value {
        plant::calling(calls, self.empty.clone())
    }

    /// Returns a call of a function, the first of a message or the second.
    pub fn call(&self, is_second: bool, name: &str, arguments: &Value) -> Value {
        let id = if is_second { SECOND_ID } else { ID };
        match self.has_named_ids {
            true => plant::call(&format!("{NAMED_ID}{name}:{}", u8::from(is_second)), name, arguments),
            false => plant::call(id, name, arguments),
        }
    }

    /// Returns calls with two arguments each.
    pub fn make_calls(&self, count: usize, is_text: bool) -> Vec<Value> {
        let calls = [(false, FUNCTION, VALUE, SECOND), (true, SPARE, plant::SYSTEM, plant::ANSWER)];
        let call = |(is_second, name, first, second): (bool, &str, &str, &str)| {
            let arguments = json!({ARGUMENT: first, PARAMETER: second});
            self.call(is_second, name, &in_text(arguments, is_text))
        };
        calls.into_iter().take(count).map(call).collect()
    }
}
