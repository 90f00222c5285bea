//! Finds out by renders how the template writes calls, reasoning and answers.
//!
//! ```text
//! user, a call of W with {"K": "V"}   ->   <tool_call>⏎{"name": "W", "arguments": {"K": "V"}}⏎</tool_call><|im_end|>
//! ```

use serde_json::{Map, Value, json};

use super::schema::Notation;
use crate::chat::{ChatTemplate, PromptOptions, common_prefix, control_tokens, is_thought};
use crate::deadline::Bounds;
use crate::error::Result;
use crate::json::to_data;
use crate::request::{PrepareOptions, Severity};
use crate::response::{ParseOptions, ResponseTemplate};
use crate::template::RenderOptions;

/// Words that are in no template.
pub const NAME: &str = "zq7yname";
const KEYS: [&str; 2] = ["zq7ysecond", "zq7yfirst"];
const VALUES: [&str; 2] = ["Zq7yOne", "Zq7yTwo"];
const INTEGER: u32 = 7_708_801;
const ASKED: &str = "Zq7yAsked";
const WRITTEN: &str = "Zq7yWritten";
const THOUGHT: &str = "Zq7yThought";

/// The placeholder for the number of a call.
pub const COUNT: &str = "\u{e000}";

/// The maximum size in bytes of a rendered message. If a template writes more for a message of a few words, its calls are not recognized.
const MAX_WRITTEN: usize = 2 << 10;

/// The ids of three calls.
pub const IDS: [&str; 3] = ["zq7yA1bC2", "zq7yD3eF4", "zq7yG5hI6"];

/// How a template writes calls.
#[derive(Clone, Debug)]
pub struct Calls {
    /// The string before the arguments of the first call, and the string between the arguments of two calls, if there can be several. Both
    /// contain the name.
    pub first: String,
    pub next: Option<String>,
    pub arguments: Arguments,
    /// Whether keys are sorted.
    pub sorts_keys: bool,
    /// The string after the arguments of the last call.
    pub end: String,
    /// The ids of the calls that the template writes.
    ids: [String; 3],
    /// A message with a call, one with several calls, and the prompt before them.
    pub witness: String,
    many: Option<String>,
    prompt: String,
    /// The generation prompt, with what precedes it.
    pub asked: String,
}

/// How a template writes the arguments of a call.
#[derive(Clone, Debug)]
pub enum Arguments {
    /// As one value.
    Value(Notation),
    /// Each with its key.
    Pairs(Pairs),
}

/// Strings around keys and values.
#[derive(Clone, Debug)]
pub struct Pairs {
    /// Before the first key, between a key and its value, before the next key, and after the last value.
    pub first: String,
    pub middle: String,
    /// Between a key and a value that is no string.
    pub other_middle: String,
    pub next: String,
    pub last: String,
    /// The notation of values. Without it, strings are as they are, and other values are JSON.
    pub notation: Option<Notation>,
}

/// How a template writes reasoning before a call or an answer.
#[derive(Clone, Debug)]
pub struct Reasoning {
    /// The string before it, which is empty if the prompt has begun it, and the string after it.
    pub open: String,
    pub close: String,
    /// What is between it and what begins the call or the answer.
    pub gap: String,
    pub begin: String,
    /// A message with reasoning, and the prompt before it.
    pub witness: String,
    pub prompt: String,
}

/// A message in a prompt.
struct Written {
    text: String,
    /// What is before the message.
    prompt: String,
    /// The generation prompt, with what precedes it.
    asked: String,
    /// What the generation prompt has at its end that is not before the message.
    opened: String,
}

/// Renders conversations of a template with the variables of a request.
pub struct Asker<'t> {
    pub template: &'t ChatTemplate,
    pub variables: Option<&'t Value>,
    pub bounds: Bounds<'t>,
}

impl Asker<'_> {
    /// Returns what the template writes for a message after the prompt, and the prompt. `None` if the template does not write all of the
    /// message.
    fn ask(&self, message: &Value, has_tools: bool) -> Result<Option<Written>> {
        let user = json!({"role": "user", "content": ASKED});
        let (Some(whole), Some(prompt)) = (
            self.render(json!([user, message]), has_tools, false)?,
            self.render(json!([user]), has_tools, true)?,
        ) else {
            return Ok(None);
        };
        // What is before the last word of the user can depend on what follows.
        let after = |text: &str| text.rfind(ASKED).map(|at| at.saturating_add(ASKED.len()));
        let (Some(start), Some(ask)) = (after(&whole), after(&prompt)) else {
            return Ok(None);
        };
        let [tail, rest] = [(&whole, start), (&prompt, ask)].map(|(text, at)| text.get(at..).unwrap_or_default());
        let (common, asked) = common_starts(tail, rest);
        // Two tokens can begin alike.
        let inside = |text: &str, at: usize| {
            let token = control_tokens(text).find(|token| token.start < at && at < token.end);
            token.map_or(0, |token| at.saturating_sub(token.start))
        };
        let begun = inside(tail, common).max(inside(rest, asked));
        let [common, asked] = [common, asked].map(|at| at.saturating_sub(begun));
        let text = tail.get(common..).unwrap_or_default();
        if text.len() > MAX_WRITTEN {
            return Ok(None);
        }
        Ok(Some(Written {
            text: cut_next(text, &prompt).to_owned(),
            prompt: whole.get(..start.saturating_add(common)).unwrap_or_default().to_owned(),
            opened: rest.get(asked..).unwrap_or_default().trim().to_owned(),
            asked: prompt,
        }))
    }

    fn render(&self, messages: Value, has_tools: bool, adds_prompt: bool) -> Result<Option<String>> {
        let mut body = Map::new();
        body.insert("messages".to_owned(), messages);
        body.insert("add_generation_prompt".to_owned(), adds_prompt.into());
        if has_tools {
            let property = json!({"type": "string", "description": "A word."});
            let parameters = json!({"type": "object", "properties": {KEYS[0]: property, KEYS[1]: property}, "required": KEYS});
            let function = json!({"name": NAME, "description": "Finds words.", "parameters": parameters});
            body.insert("tools".to_owned(), json!([{"type": "function", "function": function}]));
        }
        if let Some(variables) = self.variables {
            body.insert("chat_template_kwargs".to_owned(), variables.clone());
        }
        let body = to_data(&Value::Object(body))?;
        let prepared = match self
            .template
            .prepare_with(&body, &PrepareOptions::default().with_bounds(self.bounds))
        {
            Err(error) if error.reached().is_none() => return Ok(None),
            prepared => prepared?,
        };
        let options = PromptOptions::default().with_render(RenderOptions::default().with_bounds(self.bounds));
        let (prompt, changes) = match prepared.render_with(&options) {
            Err(error) if error.reached().is_none() => return Ok(None),
            rendered => rendered?,
        };
        // A name can be in the id.
        let is_kept = |path: &str| !path.starts_with("/messages/1") || path.ends_with("/function/name");
        let is_lost = changes
            .iter()
            .any(|change| change.severity == Severity::Lost && !is_kept(&change.path));
        Ok((!is_lost).then_some(prompt.text))
    }

    /// Finds how the template writes calls. The strings at which the model stops are no part of them.
    pub fn ask_calls(&self, stops: &[String]) -> Result<Option<Calls>> {
        let both = json!({KEYS[0]: VALUES[0], KEYS[1]: VALUES[1]});
        // Some templates print the name of a call as a part of its id alone.
        for ids in [
            IDS.map(str::to_owned),
            [0, 1, 2].map(|index| format!("functions.{NAME}:{index}")),
        ] {
            let Some(one) = self.ask(&call_message(&ids[..1], &both, None), true)? else {
                continue;
            };
            let none = self
                .ask(&call_message(&ids[..1], &json!({}), None), true)?
                .map(|none| none.text);
            let many = self.ask(&call_message(&ids, &both, None), true)?.map(|many| many.text);
            let others = json!({KEYS[0]: INTEGER, KEYS[1]: true});
            let others = self
                .ask(&call_message(&ids[..1], &others, None), true)?
                .map(|others| others.text);
            let found = read_calls(one, none.as_deref(), many.as_deref(), stops).map(|calls| Calls {
                ids: ids.clone(),
                arguments: calls.arguments.with_others(others.as_deref()),
                ..calls
            });
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Finds how the template writes reasoning before a call or an answer. `before` is what it writes there without reasoning. Returns `None`
    /// if the template does not write reasoning.
    pub fn ask_reasoning(&self, calls: Option<&Calls>, before: &str) -> Result<Option<Reasoning>> {
        let message = |thought: Option<&str>| match calls {
            Some(calls) => call_message(&calls.ids[..1], &json!({KEYS[0]: VALUES[0], KEYS[1]: VALUES[1]}), thought),
            None => json!({"role": "assistant", "content": WRITTEN, "reasoning_content": thought}),
        };
        // A template can refuse reasoning, or lose it.
        let written = match self.ask(&message(Some(THOUGHT)), calls.is_some())? {
            None => self.ask(&message(None), calls.is_some())?,
            written => written,
        };
        Ok(written.and_then(|written| match written.opened.as_str() {
            "" => find_reasoning(&written, before),
            opened => close_reasoning(opened, &written, before),
        }))
    }

    /// Finds the strings around an answer.
    pub fn ask_answer(&self) -> Result<Option<(String, String)>> {
        let written = self.ask(&json!({"role": "assistant", "content": WRITTEN}), false)?;
        Ok(written.and_then(|written| {
            let (open, close) = written.text.split_once(WRITTEN)?;
            Some((open.to_owned(), close.to_owned()))
        }))
    }
}

/// Returns how reasoning is written that the prompt has begun, and that the template does not write before a call or an answer: by the tag
/// that closes the prompt's own.
fn close_reasoning(opened: &str, written: &Written, before: &str) -> Option<Reasoning> {
    let is_one = control_tokens(opened).next().is_some_and(|token| token.len() == opened.len());
    let is_tag = is_one && is_thought(opened) && !opened.contains('/') && !written.text.contains(THOUGHT);
    let (bracket, name) = opened.split_at_checked(1).filter(|_| is_tag)?;
    let close = format!("{bracket}/{name}");
    Some(Reasoning {
        open: String::new(),
        gap: String::new(),
        begin: before.trim_start().to_owned(),
        witness: format!("{THOUGHT}{close}{}", written.text),
        prompt: written.asked.clone(),
        close,
    })
}

/// Returns how the template writes reasoning before what begins with `before`.
fn find_reasoning(written: &Written, before: &str) -> Option<Reasoning> {
    let (open, rest) = written.text.split_once(THOUGHT)?;
    let end = control_tokens(rest).next()?;
    let (close, after) = (rest.get(end.clone())?, rest.get(end.end..)?);
    // The template can write reasoning that is empty.
    let begin = before.split_once(close).map_or(before, |(_, begin)| begin).trim_start();
    let next = if begin.is_empty() { WRITTEN } else { begin };
    let gap = after.find(next).and_then(|at| after.get(..at))?;
    Some(Reasoning {
        open: open.trim_end().to_owned(),
        close: close.to_owned(),
        gap: gap.trim().to_owned(),
        begin: begin.to_owned(),
        witness: written.text.clone(),
        prompt: written.prompt.clone(),
    })
}

fn call_message(ids: &[String], arguments: &Value, reasoning: Option<&str>) -> Value {
    let call = |id: &String| json!({"id": id, "type": "function", "function": {"name": NAME, "arguments": arguments}});
    let calls: Vec<Value> = ids.iter().map(call).collect();
    match reasoning {
        Some(reasoning) => json!({"role": "assistant", "content": null, "reasoning_content": reasoning, "tool_calls": calls}),
        None => json!({"role": "assistant", "content": null, "tool_calls": calls}),
    }
}

/// Returns the length of the longest start of each of two strings for which both are equal apart from white space.
fn common_starts(one: &str, other: &str) -> (usize, usize) {
    let (mut at, mut to) = (0_usize, 0_usize);
    loop {
        let [rest, others] = [one.get(at..), other.get(to..)].map(Option::unwrap_or_default);
        let common = common_prefix(rest, others);
        let [rest, others] = [rest, others].map(|rest| rest.get(common..).unwrap_or_default());
        (at, to) = (at.saturating_add(common), to.saturating_add(common));
        let [next, after] = [rest, others].map(str::trim_start);
        if common_prefix(next, after) == 0 {
            return (at, to);
        }
        at = one.len().saturating_sub(next.len());
        to = other.len().saturating_sub(after.len());
    }
}

/// Removes the beginning of the next message from the end of a message. Some templates always write it, and `prompt` ends with it too.
fn cut_next<'t>(text: &'t str, prompt: &str) -> &'t str {
    let begins_next = |at: &usize| text.get(*at..).is_some_and(|rest| prompt.ends_with(rest));
    let starts = control_tokens(text).map(|token| token.start).find(begins_next);
    starts.and_then(|at| text.get(..at)).unwrap_or(text)
}

/// Returns a string up to the first stop token, without white space at its end.
pub fn cut_stop<'t>(text: &'t str, stops: &[String]) -> &'t str {
    let end = stops.iter().filter_map(|stop| text.find(stop.as_str())).min();
    text.get(..end.unwrap_or(text.len())).unwrap_or_default().trim_end()
}

/// Reads a message with one call, one whose call has no arguments, and one with three calls.
fn read_calls(one: Written, none: Option<&str>, many: Option<&str>, stops: &[String]) -> Option<Calls> {
    let Written {
        text: witness,
        prompt,
        asked,
        ..
    } = one;
    let one = witness.as_str();
    let sorts_keys = one.find(KEYS[1])? < one.find(KEYS[0])?;
    let ([mut first_key, mut next_key], [mut first_value, mut last_value]) = (KEYS, VALUES);
    if sorts_keys {
        std::mem::swap(&mut first_key, &mut next_key);
        std::mem::swap(&mut first_value, &mut last_value);
    }
    let (head, rest) = one.split_once(first_key)?;
    let (middle, rest) = rest.split_once(first_value)?;
    let (next, rest) = rest.split_once(next_key)?;
    let tail = rest.split_once(last_value)?.1;
    let arguments = if find_object(head).is_some() {
        let open = middle.trim_start_matches('"').trim_start().strip_prefix(':')?.trim_start();
        let close = tail.get(..tail.find('}')?)?.trim_end();
        Arguments::Value(Notation {
            has_bare_keys: middle.starts_with(':'),
            delimiters: (open != "\"").then(|| [open.to_owned(), close.to_owned()]),
            ..Notation::JSON
        })
    } else if head.ends_with('(') && middle.starts_with('=') {
        Arguments::Pairs(Pairs {
            first: String::new(),
            middle: "=".to_owned(),
            other_middle: "=".to_owned(),
            next: ", ".to_owned(),
            last: String::new(),
            notation: Some(Notation {
                is_python: true,
                ..Notation::JSON
            }),
        })
    } else {
        // What a call without arguments has too is no part of a tag.
        let none = none?;
        let shared = common_prefix(head, none);
        let last = tail.strip_suffix(none.get(shared..)?)?;
        Arguments::Pairs(Pairs {
            first: head.get(shared..)?.to_owned(),
            middle: middle.to_owned(),
            other_middle: middle.to_owned(),
            next: next.to_owned(),
            last: last.to_owned(),
            notation: None,
        })
    };
    let first = arguments.before(head)?;
    let is_ended = |text: &String| stops.iter().any(|stop| text.contains(stop.as_str()));
    let between = many.and_then(|many| {
        let parts: Vec<&str> = many.split(last_value).collect();
        let [_, second, third, _] = parts.as_slice() else {
            return None;
        };
        let between = |text: &str| {
            arguments
                .before(arguments.after(text)?.split_once(first_key)?.0)
                .map(str::to_owned)
        };
        let between = |text: &str| between(&text.replace(IDS[1], IDS[0]).replace(IDS[2], IDS[0]));
        join_counts(&between(second)?, &between(third)?)
    });
    first.contains(NAME).then(|| Calls {
        first: first.to_owned(),
        next: between.filter(|between| !is_ended(between)),
        end: cut_stop(arguments.after(tail).unwrap_or_default(), stops).to_owned(),
        arguments,
        sorts_keys,
        prompt,
        asked,
        ids: IDS.map(str::to_owned),
        witness: one.to_owned(),
        many: many.map(str::to_owned),
    })
}

impl Calls {
    /// Returns whether a description reads a call, and forgets how several are written if it does not read them.
    pub fn fit(&mut self, description: &ResponseTemplate, bounds: Bounds<'_>) -> Result<bool> {
        let count = |text: &str| count_calls(description, &self.prompt, text, bounds);
        let reads_many = match &self.many {
            Some(many) => count(many)? == IDS.len(),
            None => false,
        };
        let reads_one = count(&self.witness)? > 0;
        self.next.take_if(|_| !reads_many);
        Ok(reads_one)
    }
}

/// Returns how many calls of a witness a description reads in a message, or zero if it reads content too.
pub fn count_calls(description: &ResponseTemplate, prompt: &str, text: &str, bounds: Bounds<'_>) -> Result<usize> {
    let arguments = json!({KEYS[0]: VALUES[0], KEYS[1]: VALUES[1]});
    let options = ParseOptions::default().with_prefix(prompt).with_bounds(bounds);
    let message = match description.parse(text, &options) {
        Err(error) if error.reached().is_none() => return Ok(0),
        message => serde_json::to_value(message?).unwrap_or_default(),
    };
    let content = message.get("content").and_then(Value::as_str);
    if content.is_some_and(|content| !content.trim().is_empty()) {
        return Ok(0);
    }
    let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    let is_call = |call: &&Value| {
        let function = call.get("function");
        function.is_some_and(|function| function["name"] == NAME && function["arguments"] == arguments)
    };
    Ok(calls.filter(is_call).count())
}

/// Returns the start of the object whose first key follows the string.
fn find_object(head: &str) -> Option<usize> {
    let begin = head.rfind('{')?;
    let is_key = head.get(begin..)?.trim_matches(['{', '"', ' ', '\n', '\t']).is_empty();
    is_key.then_some(begin)
}

impl Arguments {
    /// Reads the string between a key and an integer, and whether `true` is that of Python, from a message.
    fn with_others(mut self, text: Option<&str>) -> Self {
        let found = text.and_then(|text| {
            let (_, rest) = text.split_once(KEYS[0])?;
            Some((text, rest.split_once(&INTEGER.to_string())?.0))
        });
        match (&mut self, found) {
            (Self::Pairs(Pairs { notation: Some(own), .. }), Some((text, _))) => own.is_python = text.contains("=True"),
            (Self::Pairs(pairs), Some((_, middle))) => middle.clone_into(&mut pairs.other_middle),
            _ => {}
        }
        self
    }

    /// Returns the part of a string that precedes the arguments. The string ends at the first key.
    fn before<'t>(&self, text: &'t str) -> Option<&'t str> {
        match self {
            Self::Value(_) => text.get(..find_object(text)?),
            Self::Pairs(pairs) => text.strip_suffix(pairs.first.as_str()),
        }
    }

    /// Returns the part of a string that follows the arguments. The string begins after the last value.
    fn after<'t>(&self, text: &'t str) -> Option<&'t str> {
        match self {
            Self::Value(_) => text.get(text.find('}')?.saturating_add(1)..),
            Self::Pairs(Pairs { notation: Some(_), .. }) => text.get(1..),
            Self::Pairs(pairs) => text.strip_prefix(pairs.last.as_str()),
        }
    }
}

/// Returns the string that two strings have in common if they differ only in numbers, which count the calls. [`COUNT`] takes the place of each
/// number that differs.
fn join_counts(one: &str, other: &str) -> Option<String> {
    let split = |text: &str| -> Vec<String> {
        let mut parts: Vec<String> = Vec::new();
        for char in text.chars() {
            match parts.last_mut() {
                Some(last) if last.ends_with(|last: char| last.is_ascii_digit()) == char.is_ascii_digit() => last.push(char),
                _ => parts.push(char.into()),
            }
        }
        parts
    };
    let (one, other) = (split(one), split(other));
    let is_number = |part: &str| part.starts_with(|char: char| char.is_ascii_digit());
    let parts = one.iter().zip(&other).map(|(one, other)| match one == other {
        true => Some(one.as_str()),
        false => (is_number(one) && is_number(other)).then_some(COUNT),
    });
    (one.len() == other.len()).then(|| parts.collect()).flatten()
}
