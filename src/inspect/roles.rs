//! Finds out in which forms the content of each role is printed.

use std::rc::Rc;

use serde_json::{Value, json};

use super::calls;
use super::conversation::{Conversation, around, arrange, with_calls};
use super::experiments::{Experiments, Rendered, find_words, outcome_of};
use super::plant::{self, Form, PLANT, SECOND, say};
use crate::chat::common_prefix;
use crate::error::Result;
use crate::report::{Alternation, Basics, Content, Media, Medium, NullContent, Outcome, Role, Roles, System};

/// Tries the messages of each role, tools, and calls with their results.
pub fn inspect(experiments: &mut Experiments<'_>) -> Result<Basics> {
    let mut roles = Roles {
        user: ask_role(experiments, "user", &[Form::String, Form::Part])?,
        ..Roles::default()
    };
    let forms = list_forms(&roles);
    roles.system = ask_role(experiments, "system", forms)?;
    roles.assistant = ask_role(experiments, "assistant", forms)?;
    roles.developer = ask_role(experiments, "developer", forms)?;
    let tools = calls::inspect_tools(experiments, forms)?;
    let found = calls::inspect(experiments, forms)?;
    let result = calls::planted_result(Form::Part);
    let are_text = calls::working_forms(&found.calls);
    let mut trials = with_calls(forms, are_text, calls::plant_call, std::slice::from_ref(&result));
    trials.retain(|trial| trial.messages.len() > 2);
    trials.extend(around("tool", &result, forms));
    let parts = experiments.ask("roles.tool.parts", &trials, |text| judge_text(text, SECOND, Form::Part))?;
    roles.tool = Role {
        string: found.result,
        parts,
        content: find_content(found.result, parts),
        null: ask_null(experiments, "tool", "string", found.result)?,
        empty: None,
    };
    roles.assistant.empty = Some(found.empty);
    roles.assistant.null = match found.empty {
        Outcome::Printed => ask_null(experiments, "assistant", "empty", found.empty)?,
        _ => ask_null(experiments, "assistant", "string", roles.assistant.string)?,
    };
    Ok(Basics {
        roles,
        tools,
        calls: found.calls,
    })
}

/// Returns the forms of content that the other messages of an experiment's conversations have.
pub fn list_forms(roles: &Roles) -> &'static [Form] {
    match roles.user.content {
        Content::Parts => &[Form::Part],
        Content::Neither => &[Form::String, Form::Part],
        Content::String | Content::Both => &[Form::String],
    }
}

fn ask_role(experiments: &mut Experiments<'_>, role: &str, forms: &[Form]) -> Result<Role> {
    let mut ask = |form: Form, name: &str| {
        let trials = around(role, &say(role, form, PLANT), forms);
        experiments.ask(&format!("roles.{role}.{name}"), &trials, |text| judge_text(text, PLANT, form))
    };
    let (string, parts) = (ask(Form::String, "string")?, ask(Form::Part, "parts")?);
    let null = match role {
        // An assistant's message without content has calls.
        "assistant" => NullContent::default(),
        _ => ask_null(experiments, role, "string", string)?,
    };
    Ok(Role {
        string,
        parts,
        content: find_content(string, parts),
        null,
        empty: None,
    })
}

/// Returns the outcome for the planted word in content of a form.
fn judge_text(text: &str, word: &str, form: Form) -> Outcome {
    match find_words(text, &[word]) {
        Outcome::Printed if form != Form::String && has_printed_part(text) => Outcome::Repr,
        outcome => outcome,
    }
}

/// Returns whether a string has a part in the notation of Python or JSON. The notation may itself be within a JSON string.
pub fn has_printed_part(text: &str) -> bool {
    let is_sign = |char: &char| !matches!(char, '\\' | ' ' | '\n');
    let bare: String = text.chars().filter(is_sign).collect();
    let bare = bare.replace('\'', "\"");
    [PLANT, SECOND]
        .iter()
        .any(|word| bare.contains(&format!("\"text\":\"{word}")))
}

fn find_content(string: Outcome, parts: Outcome) -> Content {
    match (string == Outcome::Printed, parts == Outcome::Printed) {
        (true, true) => Content::Both,
        (true, false) => Content::String,
        (false, true) => Content::Parts,
        (false, false) => Content::Neither,
    }
}

/// Finds out which text the template renders for null content, in the conversation of another verdict on the role, if its outcome is
/// [`Outcome::Printed`].
fn ask_null(experiments: &mut Experiments<'_>, role: &str, verdict: &str, outcome: Outcome) -> Result<NullContent> {
    let shown = experiments.shown.get(&format!("roles.{role}.{verdict}"));
    let Some(trial) = shown.filter(|_| outcome == Outcome::Printed).cloned() else {
        return Ok(NullContent::default());
    };
    let set = |content: Option<Value>| {
        let is_planted = |message: &Value| {
            let content = message.get("content").and_then(Value::as_str);
            message.get("role").is_some_and(|other| other == role)
                && content.is_some_and(|content| [PLANT, SECOND, ""].contains(&content))
        };
        trial.clone().with_content(is_planted, content)
    };
    let absent = set(None);
    experiments.show(&format!("roles.{role}.null"), &absent);
    let rendered = experiments.render(&absent)?;
    let null = match &*rendered {
        Ok(prompt) => &prompt.text,
        Err(error) => {
            return Ok(NullContent {
                text: None,
                error: Some(outcome_of(error)),
            });
        }
    };
    // Of the three prompts, the one with the word shows where the content begins and ends.
    let word = experiments.text(&set(Some(Value::from(PLANT))))?;
    let empty = experiments.text(&set(Some(Value::from(""))))?;
    let between = |text: String| {
        let (before, after) = text.split_once(PLANT)?;
        let strip = |before: &str, after: &str| null.strip_prefix(before)?.strip_suffix(after).map(str::to_owned);
        // A string may be written as JSON.
        strip(before, after).or_else(|| strip(before.strip_suffix('"')?, after.strip_prefix('"')?))
    };
    let text = match empty {
        Some(empty) if empty == *null => Some(String::new()),
        empty => word
            .and_then(between)
            .or_else(|| find_insertion(&empty?, null).map(|(_, text)| text.to_owned())),
    };
    Ok(NullContent { text, error: None })
}

/// Returns what is inserted into a shorter string to make a longer one, and its byte offset, if the two differ in nothing else.
pub fn find_insertion<'t>(shorter: &str, longer: &'t str) -> Option<(usize, &'t str)> {
    let at = common_prefix(shorter, longer);
    let rest = shorter.get(at..)?;
    longer.get(at..)?.strip_suffix(rest).map(|text| (at, text))
}

/// Tries the places of system messages, and the orders of roles.
pub fn inspect_orders(experiments: &mut Experiments<'_>, forms: &[Form]) -> Result<(System, Alternation)> {
    let mut ask = |path: &str, role: &str, words: &[&str], orders: &[&str]| {
        let trials = arrange(forms, orders, |form| {
            [('*', say(role, form, PLANT)), ('+', say(role, form, SECOND))]
        });
        experiments.ask(path, &trials, |text| find_words(text, words))
    };
    let (one, two) = (&[PLANT], &[PLANT, SECOND]);
    let mut system = System {
        first: ask("system.first", "system", one, &["*u", "*", "*uau"])?,
        middle: ask("system.middle", "system", one, &["ua*u", "u*au", "sua*u", "uau*"])?,
        twice: ask("system.twice", "system", two, &["*+u", "*+", "*+uau"])?,
        tools_without_system: Outcome::default(),
    };
    let alternation = Alternation {
        user_twice: ask("alternation.user_twice", "user", two, &["*+", "s*+", "ua*+"])?,
        assistant_twice: ask("alternation.assistant_twice", "assistant", two, &["u*+", "u*+u", "su*+"])?,
        assistant_first: ask("alternation.assistant_first", "assistant", one, &["*u", "*", "s*u"])?,
    };
    let trials = arrange(forms, &["u", "uau"], |_| []).into_iter();
    let trials = trials.map(|trial| trial.with_tools(Some(plant::tools(PLANT))));
    system.tools_without_system = experiments.ask("system.tools_without_system", trials, |text| find_words(text, one))?;
    Ok((system, alternation))
}

/// Tries each kind of media in the conversation in which parts were printed, or failed.
pub fn inspect_media(experiments: &mut Experiments<'_>, parts: Outcome, trial: Option<&Conversation>) -> Result<Media> {
    let mut ask = |kind| ask_medium(experiments, kind, parts, trial);
    Ok(Media {
        image: ask("image")?,
        audio: ask("audio")?,
        video: ask("video")?,
    })
}

/// Finds the text that a media part prints, by the difference of two prompts: one with the part between two strings, and one with the two
/// strings alone.
fn ask_medium(experiments: &mut Experiments<'_>, kind: &str, parts: Outcome, trial: Option<&Conversation>) -> Result<Medium> {
    let mut medium = Medium {
        outcome: parts,
        ..Medium::default()
    };
    let Some(trial) = trial else {
        return Ok(medium);
    };
    let (address, url, input) = ("https://example.com/medium", format!("{kind}_url"), format!("input_{kind}"));
    let forms = [
        (kind, json!({"type": kind, kind: address})),
        (kind, json!({"type": kind})),
        (&*url, json!({"type": url, &*url: {"url": address}})),
        (&*input, json!({"type": input, &*input: {"data": address}})),
    ];
    let set = |part: Option<Value>| {
        let [before, after] = [PLANT, SECOND].map(|word| json!({"type": "text", "text": word}));
        let parts: Value = [Some(before), part, Some(after)].into_iter().flatten().collect();
        let is_planted = |message: &Value| {
            let content = message.get("content");
            content.is_some_and(|content| content.to_string().contains(PLANT))
        };
        trial.clone().with_content(is_planted, Some(parts))
    };
    let plain: Rc<Rendered> = experiments.render(&set(None))?;
    let mut best = None;
    for (name, part) in forms {
        let trial = set(Some(part));
        let (outcome, found) = match (&*experiments.render(&trial)?, &*plain) {
            (Err(error), _) => (outcome_of(error), None),
            (Ok(with), Ok(plain)) if !has_printed_part(&with.text) => match find_medium(&plain.text, &with.text) {
                Some(found) => (Outcome::Printed, Some(found)),
                None => (Outcome::Lost, None),
            },
            (Ok(_), _) => (Outcome::Repr, None),
        };
        if outcome == Outcome::Printed && !medium.types.iter().any(|known| known == name) {
            medium.types.push(name.to_owned());
        }
        if best.is_none_or(|best| outcome < best) {
            medium.outcome = outcome;
            (medium.text, medium.in_order) = found.map_or((None, false), |(text, in_order)| (Some(text), in_order));
        }
        experiments.keep_best(&format!("media.{kind}"), &trial, outcome, &mut best);
    }
    Ok(medium)
}

/// Returns the text that a prompt has for a media part, and whether it is between the two strings around the part.
fn find_medium(plain: &str, with: &str) -> Option<(String, bool)> {
    let between = |text: &str| -> Option<String> {
        let (_, rest) = text.split_once(PLANT)?;
        rest.split_once(SECOND).map(|(between, _)| between.to_owned())
    };
    let is_text = |text: &str| !text.trim().is_empty();
    if let (Some(separator), Some(found)) = (between(plain), between(with)) {
        let text = found.strip_prefix(separator.as_str()).unwrap_or(&found);
        let text = text.strip_suffix(separator.as_str()).unwrap_or(text);
        if found != separator && is_text(text) {
            return Some((text.to_owned(), true));
        }
    }
    let (_, text) = find_insertion(plain, with)?;
    is_text(text).then(|| (text.to_owned(), false))
}
