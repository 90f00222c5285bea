//! Derives the description of how the model writes a message from the way in which the template prints messages.
//!
//! ```text
//! <|im_start|>assistant⏎<think>⏎trenobilf⏎</think>⏎⏎vexolumiq<|im_end|>⏎
//!   ->   {"start_anchor": "<|im_start|>assistant", "fields": {"reasoning_content": {"open": "<think>", "close": "</think>"}, …}}
//! ```
//!
//! First, messages with known words are rendered, and the strings around these words become the anchors of the fields. Other messages are then
//! rendered and parsed by the description. If one does not come back, there is no description, and the reason says which.

mod calls;
mod patterns;
mod shots;
mod states;
mod trips;

use std::cell::RefCell;

use indexmap::IndexSet;
use serde_json::{Map, Value, json};

use patterns::{cut_tokens, is_tags};
use shots::{Called, Shot};

use super::calls::working_forms;
use super::conversation::arrange;
use super::experiments::Experiments;
use super::plant::{self, ARGUMENT, FUNCTION, Form, ID, PLANT, REASONING, SECOND_ID, USER, say};
use super::roles::list_forms;
use crate::chat::{common_prefix, control_tokens};
use crate::error::Result;
use crate::report::{Arguments, Basics, Response};
use crate::response::{Event, ResponseTemplate};
use crate::text::message::elide;

/// The name of the field with the reasoning.
const REASONING_FIELD: &str = "reasoning_content";

/// What the name of the part with the calls is in a partial description, and that of the reasoning.
const CALLS: &str = "calls";
const OBJECTS: &str = "arguments that are objects";
const THOUGHTS: &str = "reasoning";

/// The maximum number of characters of an excerpt in a reason.
const MAX_QUOTED: usize = 400;

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

/// What is known of the template while a description is derived.
struct Derivation<'e, 't> {
    experiments: &'e mut Experiments<'t>,
    form: Form,
    /// The order of the messages with which the template renders an answer.
    order: Option<&'static str>,
    /// The content of a message with calls and no text.
    empty: Option<Value>,
    /// Whether the id of a call has the name of its function, because a template prints the name nowhere else.
    has_named_ids: bool,
    /// Whether a conversation with calls has tools.
    has_tools: bool,
    /// The end of the text before each message, as a distance from the end of the user's text. Without an anchor, it is where the model
    /// begins.
    head: Option<usize>,
    /// The text before the message.
    anchor: String,
    /// The last description that was compiled.
    compiled: RefCell<Option<(Value, ResponseTemplate)>>,
}

/// A description, and what it does not read, with the reason for each.
struct Found {
    template: Value,
    lost: Vec<(String, String)>,
}

impl From<Found> for Response {
    fn from(Found { template, lost }: Found) -> Self {
        Self {
            template: Some(template),
            reason: lost.first().map(|(part, reason)| format!("{part}: {reason}")),
            partial: lost.into_iter().map(|(part, _)| part).collect(),
        }
    }
}

/// Returns the description of the template.
pub fn inspect(experiments: &mut Experiments<'_>, basics: &Basics) -> Result<Response> {
    let derivation = Derivation {
        experiments: &mut *experiments,
        form: list_forms(&basics.roles).first().copied().unwrap_or(Form::String),
        order: None,
        empty: None,
        has_named_ids: false,
        has_tools: false,
        head: None,
        anchor: String::new(),
        compiled: RefCell::default(),
    };
    match derivation.derive(basics) {
        Ok(found) => Ok(found.into()),
        Err(Failure::Reason(reason)) => {
            experiments.check_time()?;
            let reason = Some(reason);
            Ok(Response {
                reason,
                ..Response::default()
            })
        }
        Err(Failure::Stopped(error)) => Err(error),
    }
}

impl Derivation<'_, '_> {
    fn derive(mut self, basics: &Basics) -> Result<Found, Failure> {
        let plain = say("assistant", self.form, PLANT);
        let content = self.shoot("content", &plain)?;
        let content = content.ok_or("the template does not render an answer after a user message")?;
        if !content.written().contains(PLANT) {
            return Err("the template does not print the content of an answer as it is".into());
        }
        let mut reason = match basics.calls.arguments {
            Arguments::Neither => self.prints_tools()?.then_some("the template prints tools and no calls"),
            _ => Some("the template does not print the name and the arguments of a call after the user message"),
        }
        .map(str::to_owned);
        let forms = working_forms(&basics.calls);
        let mut objects = None;
        for is_text in forms {
            let Some(calls) = self.find_calls(*is_text)? else { continue };
            // The template prints JSON text as it is, and objects in the notation of Python.
            if forms.len() > 1 && !is_text && calls.one.written().contains(&format!("{{'{ARGUMENT}'")) {
                continue;
            }
            match self.describe_message(&content, Some(&calls)) {
                Err(Failure::Reason(other)) => {
                    objects = objects.or(Some(other.clone()).filter(|_| !is_text));
                    reason = Some(other);
                }
                Ok(mut found) => {
                    found.lost.extend(objects.map(|reason| (OBJECTS.to_owned(), reason)));
                    return Ok(found);
                }
                stopped => return stopped,
            }
        }
        let mut found = self.describe_message(&content, None)?;
        found.lost.splice(..0, reason.map(|reason| (CALLS.to_owned(), reason)));
        Ok(found)
    }

    /// Describes answers, with reasoning if it is printed, and with calls if there are any.
    fn describe_message(&mut self, content: &Shot, calls: Option<&Called>) -> Result<Found, Failure> {
        let mut shots = vec![content.clone()];
        shots.extend(
            calls
                .iter()
                .flat_map(|calls| calls.others.iter().chain([&calls.one]).chain(&calls.two).cloned()),
        );
        // Some templates print reasoning only in messages with calls.
        let mut thoughts = vec![plant::thinking(&say("assistant", self.form, PLANT))];
        thoughts.extend(calls.map(|calls| plant::thinking(&calls.message)));
        let mut thinking = None;
        for message in &thoughts {
            let shot = self.shoot("reasoning", message)?;
            if let Some(shot) = shot.filter(|shot| shot.written().contains(REASONING)) {
                thinking = thinking.or_else(|| Some(shot.clone()));
                shots.push(shot);
            }
        }
        match self.describe_anchored(&shots, thinking.as_ref(), calls) {
            Err(Failure::Reason(reason)) if thinking.is_some() => {
                shots.retain(|shot| !shot.written().contains(REASONING));
                match self.describe_anchored(&shots, None, calls) {
                    Ok(mut found) => {
                        found.lost.push((THOUGHTS.to_owned(), reason));
                        Ok(found)
                    }
                    Err(Failure::Reason(_)) => Err(Failure::Reason(reason)),
                    stopped => stopped,
                }
            }
            other => other,
        }
    }

    /// Describes messages after the text that begins them all, or else after any prompt.
    fn describe_anchored(&mut self, shots: &[Shot], thinking: Option<&Shot>, calls: Option<&Called>) -> Result<Found, Failure> {
        self.find_anchor(shots)?;
        let is_opened = |shot: &&Shot| {
            self.text(shot)
                .split(REASONING)
                .next()
                .is_some_and(|before| before.trim().is_empty())
        };
        // The text before the message can have the tag that opens the reasoning, of one token or two.
        let opened = thinking.filter(is_opened);
        let whole = (self.anchor.clone(), self.head);
        let mut anchors = IndexSet::new();
        for tokens in if opened.is_some() { 1..=2 } else { 0..=0 } {
            (self.anchor, self.head) = whole.clone();
            if opened.is_none_or(|shot| self.shorten_anchor(shot, tokens).is_some()) {
                anchors.insert((self.anchor.clone(), self.head));
            }
        }
        let (longest, head) = anchors.first().cloned().ok_or("nothing is before the reasoning")?;
        // What is after the last token can begin the content or a call, and the text before the message may be no part of the generation
        // prompt.
        let token = control_tokens(&longest).last().map_or(0, |token| token.end);
        let rest = longest.len().saturating_sub(token);
        let shorter = head.filter(|_| rest > 0 && token > 0).map(|head| head.saturating_sub(rest));
        anchors.extend(shorter.map(|head| (longest.get(..token).unwrap_or_default().to_owned(), Some(head))));
        anchors.insert((String::new(), None));
        let mut first = None;
        for anchor in anchors {
            (self.anchor, self.head) = anchor;
            match self.describe_shots(shots, thinking, calls) {
                Err(Failure::Reason(reason)) => first = first.or(Some(reason)),
                other => return other,
            }
        }
        Err(Failure::Reason(first.unwrap_or_default()))
    }

    /// Describes the fields and checks the description.
    fn describe_shots(&mut self, shots: &[Shot], thinking: Option<&Shot>, calls: Option<&Called>) -> Result<Found, Failure> {
        let mut fields = Map::new();
        if let Some(shot) = thinking {
            fields.insert(REASONING_FIELD.to_owned(), describe_reasoning(self.text(shot))?);
        }
        let stops = self.find_stops()?;
        if let Some(Called { one, two, .. }) = calls {
            let two = two.as_ref().map(|two| self.text(two).replace(SECOND_ID, ID));
            let (one, plain) = (self.text(one), shots.first().map_or("", |shot| self.text(shot)));
            // What is before the content too is no part of a call.
            let skipped = cut_tokens(one, common_prefix(one, plain), plain);
            let source = self.experiments.template.source().unwrap_or_default();
            let writing = calls::Writing { stops: &stops, source };
            let described = calls::describe(one, skipped, two.as_deref(), &writing);
            let described = described.ok_or("the way in which a call is written is not known")?;
            fields.insert("tool_calls".to_owned(), described);
        }
        let facts = (thinking.is_some(), calls.map(|calls| calls.is_text));
        let close = self.find_fragments(&describe(&self.anchor, &fields, &[]), shots)?;
        let around = fields
            .get("tool_calls")
            .map_or(&[][..], calls::list_around)
            .iter()
            .map(|text| (*text).to_owned());
        // An engine strips the token at which the model stops, and each string can be alone.
        let ends = || stops.iter().chain(&close).map(String::as_str);
        let stripped = close.iter().flat_map(|text| ends().filter_map(|end| text.strip_suffix(end)));
        let more = around
            .chain(stripped.map(|text| text.trim().to_owned()))
            .filter(|text| !text.is_empty());
        let close: IndexSet<String> = close.iter().cloned().chain(more).collect();
        let opens: Vec<&str> = fields.values().filter_map(|field| field.get("open")?.as_str()).collect();
        let stops = stops.into_iter().filter(|stop| !opens.iter().any(|open| open.contains(stop)));
        let close: IndexSet<String> = close.into_iter().chain(stops).collect();
        let close: Vec<String> = close.into_iter().collect();
        let mut first = None;
        // Tags of reasoning that the template knows can have another use.
        for tags in [self.find_tags().filter(|_| thinking.is_none()), None] {
            let mut fields = fields.clone();
            if let Some((open, close)) = tags {
                fields.shift_insert(0, REASONING_FIELD.to_owned(), json!({"open": open, "close": close}));
            }
            let description = describe(&self.anchor, &fields, &close);
            match trips::check(self, &description, facts).and_then(|lost| self.fit_states(description, lost, facts)) {
                Err(Failure::Reason(reason)) if tags.is_some() => first = Some(reason),
                Err(Failure::Reason(reason)) => return Err(Failure::Reason(first.unwrap_or(reason))),
                other => return other,
            }
        }
        Err(Failure::Reason(first.unwrap_or_default()))
    }

    /// Finds the text of the template before each message. The generation prompt begins with it.
    fn find_anchor(&mut self, shots: &[Shot]) -> Result<(), Failure> {
        let order = self.order.unwrap_or_default();
        let asked = arrange(&[self.form], &[order.split('*').next().unwrap_or_default()], |_| []);
        let tail = |text: Option<String>| Some(text?.rsplit_once(USER)?.1.to_owned());
        let closed = match asked.first() {
            Some(asked) => tail(self.experiments.text(asked)?).unwrap_or_default(),
            None => return Ok(()),
        };
        let opened = tail(self.ask(order, false)?).ok_or("the template does not render a user message alone")?;
        let after = |shot: &Shot| shot.prompt.get(shot.after..).unwrap_or_default().to_owned();
        let mut length = opened.len();
        for shot in shots {
            length = cut_tokens(
                &opened,
                common_prefix(opened.get(..length).unwrap_or_default(), &after(shot)),
                &after(shot),
            );
        }
        let close = cut_tokens(&opened, common_prefix(&closed, &opened), &closed);
        self.set_anchor(&opened, length, close);
        Ok(())
    }

    /// Sets the anchor to the end of the first `length` bytes of a string, whose first `close` bytes end the turn of the user.
    fn set_anchor(&mut self, text: &str, length: usize, close: usize) {
        let head = text.get(..length).unwrap_or_default().trim_end();
        let own = head.get(close.min(head.len())..).unwrap_or_default().trim();
        self.anchor = if own.is_empty() { head.trim() } else { own }.to_owned();
        self.head = (!self.anchor.is_empty()).then_some(head.len());
    }

    /// Takes the last tokens out of the anchor. `None` if there is no text before them.
    fn shorten_anchor(&mut self, shot: &Shot, tokens: usize) -> Option<()> {
        let all: Vec<_> = control_tokens(&self.anchor).collect();
        let token = all.get(all.len().checked_sub(tokens)?).filter(|token| token.start > 0)?;
        let cut = self.anchor.len().saturating_sub(token.start);
        let head = self.head.unwrap_or_default().saturating_sub(cut);
        let text = shot.prompt.get(shot.after..).unwrap_or_default();
        self.set_anchor(text, head, head.saturating_sub(token.start));
        Some(())
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

    fn compile(&self, description: &Value) -> Result<ResponseTemplate, Failure> {
        if let Some((_, known)) = self.compiled.borrow().as_ref().filter(|(other, _)| other == description) {
            return Ok(known.clone());
        }
        let data = crate::json::to_data(description).map_err(crate::Error::from)?;
        let template = ResponseTemplate::load(&data, &mut self.experiments.renew_meter());
        let template = template.map_err(|error| self.explain(&error, ""))?;
        *self.compiled.borrow_mut() = Some((description.clone(), template.clone()));
        Ok(template)
    }

    /// Returns an error of a limit of the caller as such, and another one as a reason, which begins with some words.
    fn explain(&self, error: &crate::Error, words: &str) -> Failure {
        match self.experiments.find_stop(error) {
            Some(stop) => Failure::Stopped(stop),
            None => Failure::Reason(format!("{words}{}", elide(error.message(), MAX_QUOTED))),
        }
    }

    /// Returns the strings of the template that a parser would take for content.
    fn find_fragments(&self, description: &Value, shots: &[Shot]) -> Result<Vec<String>, Failure> {
        let template = self.compile(description)?;
        let mut fragments = Vec::new();
        for shot in shots {
            let begin = shot.start;
            let text = shot.prompt.get(begin..shot.end).unwrap_or_default();
            let prefix = shot.prompt.get(..begin).unwrap_or_default();
            let events = template.find_events(prefix, text, &mut self.experiments.renew_meter());
            let events = match events.map_err(|error| self.explain(&error, "")) {
                Ok(events) => events,
                // The check of the messages says which this is.
                Err(Failure::Reason(_)) => continue,
                Err(stopped) => return Err(stopped),
            };
            for event in events {
                if let Event::Close {
                    field,
                    value: crate::json::Data::Str(value),
                    ..
                } = event
                {
                    if field == "content" {
                        fragments.extend(value.split(PLANT).map(|part| part.trim().to_owned()));
                    }
                }
            }
        }
        // A tag alone can also end the content.
        let tags: Vec<String> = fragments
            .iter()
            .filter(|text| is_tags(text))
            .flat_map(|text| control_tokens(text).map(|tag| text.get(tag).unwrap_or_default().to_owned()))
            .collect();
        fragments.extend(tags);
        if fragments
            .iter()
            .any(|text| [USER, plant::SYSTEM].iter().any(|word| text.contains(word)))
        {
            return Err("the text of other messages is in what the model writes".into());
        }
        fragments.retain(|text| text.contains(|char: char| !matches!(char, ',' | ';') && !char.is_whitespace()));
        fragments.sort();
        fragments.dedup();
        Ok(fragments)
    }
}

/// Returns a description with these fields and the content, which ends at each of the strings `close`.
fn describe(anchor: &str, fields: &Map<String, Value>, close: &[String]) -> Value {
    let mut fields = fields.clone();
    let content = match close {
        [] => json!({"repeats": true, "join": ""}),
        // The content can be in several places. White space in the others does not replace it.
        close => json!({"repeats": true, "join": "", "close": close}),
    };
    fields.insert("content".to_owned(), content);
    match anchor {
        // The model writes all text after the prompt.
        "" => json!({"defaults": {"role": "assistant"}, "start_anchor_pattern": ".+", "fields": fields}),
        anchor => json!({"defaults": {"role": "assistant"}, "start_anchor": anchor, "fields": fields}),
    }
}

/// Returns whether a string is a word.
fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(|char: char| !char.is_alphanumeric())
}

/// Returns arguments as they are, or as JSON text.
fn in_text(arguments: Value, is_text: bool) -> Value {
    if is_text { arguments.to_string().into() } else { arguments }
}

/// Returns the field of the reasoning, whose anchors are the strings before and after it.
fn describe_reasoning(text: &str) -> Result<Value, Failure> {
    let (before, after) = text.split_once(REASONING).ok_or("the reasoning is before the message")?;
    let end = [PLANT, FUNCTION].iter().filter_map(|word| after.find(word)).min();
    let between = after.get(..end.unwrap_or(after.len())).unwrap_or_default().trim();
    let mut tokens = control_tokens(between);
    let end = match (tokens.next(), tokens.next()) {
        // Two tokens around a word are one tag: <|close|>think<|sep|>
        (Some(first), Some(second)) if between.get(first.end..second.start).is_some_and(is_word) => second.end,
        (Some(first), _) => first.end,
        (None, _) => between.len(),
    };
    match (before.trim(), between.get(..end).unwrap_or_default()) {
        ("", _) | (_, "") => Err("no text separates the reasoning from the content".into()),
        (open, close) => Ok(json!({"open": open, "close": close})),
    }
}
