//! Finds out in which forms the content of each role is printed.

use serde_json::{Value, json};

use super::calls;
use super::conversations::{Cycle, around, base, join, planted_result};
use super::lab::{Lab, Rendered, Trial, find_words, outcome_of};
use super::plant::{self, Form, PLANT, SECOND, say};
use crate::error::Result;
use crate::report::{Alternation, Content, Media, Medium, NullContent, Outcome, Report, Role, System};

/// Tries all roles but `tool`, and the orders of roles. Returns the forms for the other messages of later experiments.
pub fn inspect(lab: &mut Lab<'_>, report: &mut Report) -> Result<Vec<Form>> {
    report.roles.user = ask_role(lab, "user", &[Form::String, Form::Parts])?;
    let forms: &[Form] = match report.roles.user.content {
        Content::Parts => &[Form::Parts],
        Content::Neither => &[Form::String, Form::Parts],
        Content::String | Content::Both => &[Form::String],
    };
    report.roles.system = ask_role(lab, "system", forms)?;
    report.roles.assistant = ask_role(lab, "assistant", forms)?;
    report.roles.developer = ask_role(lab, "developer", forms)?;
    report.system = ask_system(lab, forms)?;
    report.alternation = ask_alternation(lab, forms)?;
    report.media = Media {
        image: ask_medium(lab, "image", report.roles.user.parts)?,
        audio: ask_medium(lab, "audio", report.roles.user.parts)?,
        video: ask_medium(lab, "video", report.roles.user.parts)?,
    };
    Ok(forms.to_vec())
}

fn ask_role(lab: &mut Lab<'_>, role: &str, forms: &[Form]) -> Result<Role> {
    let mut ask = |form: Form, name: &str| {
        let trials = around(role, &say(role, form, PLANT), forms);
        lab.ask(&format!("roles.{role}.{name}"), trials, |text| judge_text(text, PLANT, form))
    };
    let string = ask(Form::String, "string")?;
    let parts = ask(Form::Parts, "parts")?;
    let null = if role == "assistant" {
        NullContent::default()
    } else {
        ask_null(lab, role, string)?
    };
    Ok(Role {
        string,
        parts,
        content: find_content(string, parts),
        null,
        empty: None,
    })
}

/// Tries the role `tool`, whose messages are results of calls, and the calls of an assistant.
pub fn inspect_tools(lab: &mut Lab<'_>, report: &mut Report, forms: &[Form]) -> Result<()> {
    let string = calls::inspect(lab, report, forms)?;
    let are_text = calls::working_forms(&report.calls);
    let cycle = Cycle {
        calls: &|is_text| vec![plant::call(plant::ID, plant::FUNCTION, &plant::arguments(is_text))],
        results: vec![planted_result(Form::Parts)],
        are_text,
        forms,
    };
    let bare = around("tool", &planted_result(Form::Parts), forms);
    let with_result = cycle.trials().into_iter().filter(|trial| trial.messages.len() > 2);
    let parts = lab.ask("roles.tool.parts", with_result.chain(bare), |text| {
        judge_text(text, SECOND, Form::Parts)
    })?;
    report.roles.tool = Role {
        string,
        parts,
        content: find_content(string, parts),
        null: ask_null(lab, "tool", string)?,
        empty: None,
    };
    report.roles.assistant.null = match report.roles.assistant.empty {
        Some(Outcome::Printed) => ask_null_at(lab, "assistant", "roles.assistant.empty")?,
        _ => ask_null(lab, "assistant", report.roles.assistant.string)?,
    };
    Ok(())
}

/// Returns the outcome for a planted text that was given in a form.
fn judge_text(text: &str, word: &str, form: Form) -> Outcome {
    if !text.contains(word) {
        return Outcome::Lost;
    }
    match form {
        Form::Parts if has_printed_part(text) => Outcome::Repr,
        Form::Parts | Form::String => Outcome::Printed,
    }
}

/// Returns whether a text has a part in the notation of Python or JSON. The notation may itself be within a JSON string.
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

/// Finds out which text the template renders for null content, in the conversation in which a string was printed.
fn ask_null(lab: &mut Lab<'_>, role: &str, string: Outcome) -> Result<NullContent> {
    match string {
        Outcome::Printed => ask_null_at(lab, role, &format!("roles.{role}.string")),
        _ => Ok(NullContent::default()),
    }
}

/// Finds out which text the template renders for null content. `path` is the path of the verdict whose conversation gets this content.
fn ask_null_at(lab: &mut Lab<'_>, role: &str, path: &str) -> Result<NullContent> {
    let Some(trial) = lab.witnesses.get(path).map(Trial::from) else {
        return Ok(NullContent::default());
    };
    let set = |content: Option<Value>| {
        let mut trial = trial.clone();
        let mut messages = trial.messages.iter_mut().rev();
        let has_word = |message: &Value| {
            let content = message.get("content").and_then(Value::as_str);
            content.is_some_and(|content| [PLANT, SECOND, ""].contains(&content))
        };
        if let Some(message) = messages.find(|message| message.get("role").is_some_and(|other| other == role) && has_word(message))
        {
            *message = plant::with_content(message, content);
        }
        trial
    };
    let absent = set(None);
    let rendered = lab.render(&absent)?;
    lab.keep(format!("roles.{role}.null"), &absent, &rendered);
    let null = match rendered {
        Ok(prompt) => prompt.text,
        Err(error) => {
            return Ok(NullContent {
                text: None,
                error: Some(outcome_of(&error)),
            });
        }
    };
    // Of the three prompts, the one with the word shows where the content begins and ends.
    let word = lab.render(&set(Some(Value::from(PLANT))))?;
    let empty = lab.render(&set(Some(Value::from(""))))?;
    let between = |rendered: &Rendered| {
        let text = &rendered.as_ref().ok()?.text;
        let (before, after) = text.split_once(PLANT)?;
        let strip = |before: &str, after: &str| null.strip_prefix(before)?.strip_suffix(after).map(str::to_owned);
        // A string may be written as JSON.
        strip(before, after).or_else(|| strip(before.strip_suffix('"')?, after.strip_prefix('"')?))
    };
    let is_empty = empty.as_ref().is_ok_and(|empty| empty.text == null);
    let text = if is_empty {
        Some(String::new())
    } else {
        between(&word).or_else(|| find_insertion(&empty.ok()?.text, &null).map(|(_, text)| text.to_owned()))
    };
    Ok(NullContent { text, error: None })
}

/// Returns the text that is inserted into a shorter text to make a longer one, and its byte offset, if the two differ in nothing else.
pub fn find_insertion<'t>(shorter: &str, longer: &'t str) -> Option<(usize, &'t str)> {
    let common = shorter
        .char_indices()
        .zip(longer.chars())
        .find(|((_, left), right)| left != right);
    let at = common.map_or(shorter.len().min(longer.len()), |((at, _), _)| at);
    let rest = shorter.get(at..)?;
    longer.get(at..)?.strip_suffix(rest).map(|text| (at, text))
}

fn ask_system(lab: &mut Lab<'_>, forms: &[Form]) -> Result<System> {
    let (mut first, mut middle, mut twice, mut tools) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for form in forms {
        let [system, user, answer] = base(*form);
        let [planted, second] = [PLANT, SECOND].map(|word| say("system", *form, word));
        let order = |messages: &[&Value]| Trial::new(join(messages));
        first.extend([
            order(&[&planted, &user]),
            order(&[&planted]),
            order(&[&planted, &user, &answer, &user]),
        ]);
        middle.extend([
            order(&[&user, &answer, &planted, &user]),
            order(&[&user, &planted, &answer, &user]),
            order(&[&system, &user, &answer, &planted, &user]),
            order(&[&user, &answer, &user, &planted]),
        ]);
        twice.extend([
            order(&[&planted, &second, &user]),
            order(&[&planted, &second]),
            order(&[&planted, &second, &user, &answer, &user]),
        ]);
        let declared = Some(plant::tools(PLANT));
        tools.extend([
            order(&[&user]).with_tools(declared.clone()),
            order(&[&user, &answer, &user]).with_tools(declared),
        ]);
    }
    let planted = |text: &str| find_words(text, &[PLANT]);
    Ok(System {
        first: lab.ask("system.first", first, planted)?,
        middle: lab.ask("system.middle", middle, planted)?,
        twice: lab.ask("system.twice", twice, |text| find_words(text, &[PLANT, SECOND]))?,
        tools_without_system: lab.ask("system.tools_without_system", tools, planted)?,
    })
}

fn ask_alternation(lab: &mut Lab<'_>, forms: &[Form]) -> Result<Alternation> {
    let (mut users, mut answers, mut first) = (Vec::new(), Vec::new(), Vec::new());
    for form in forms {
        let [system, user, answer] = base(*form);
        let order = |messages: &[&Value]| Trial::new(join(messages));
        let [planted, second] = [PLANT, SECOND].map(|word| say("user", *form, word));
        users.extend([
            order(&[&planted, &second]),
            order(&[&system, &planted, &second]),
            order(&[&user, &answer, &planted, &second]),
        ]);
        let [planted, second] = [PLANT, SECOND].map(|word| say("assistant", *form, word));
        answers.extend([
            order(&[&user, &planted, &second]),
            order(&[&user, &planted, &second, &user]),
            order(&[&system, &user, &planted, &second]),
        ]);
        first.extend([
            order(&[&planted, &user]),
            order(&[&planted]),
            order(&[&system, &planted, &user]),
        ]);
    }
    let both = |text: &str| find_words(text, &[PLANT, SECOND]);
    Ok(Alternation {
        user_twice: lab.ask("alternation.user_twice", users, both)?,
        assistant_twice: lab.ask("alternation.assistant_twice", answers, both)?,
        assistant_first: lab.ask("alternation.assistant_first", first, |text| find_words(text, &[PLANT]))?,
    })
}

/// Finds the text that a media part prints: the difference between the prompt of text, part, text and that of the two texts.
fn ask_medium(lab: &mut Lab<'_>, kind: &str, parts: Outcome) -> Result<Medium> {
    let mut medium = Medium {
        outcome: parts,
        ..Medium::default()
    };
    // The conversation in which parts were printed, or failed.
    let Some(trial) = lab.witnesses.get("roles.user.parts").map(Trial::from) else {
        return Ok(medium);
    };
    let text = |word: &str| json!({"type": "text", "text": word});
    let address = "https://example.com/medium";
    let forms = [
        (kind.to_owned(), json!({"type": kind, kind: address})),
        (kind.to_owned(), json!({"type": kind})),
        (
            format!("{kind}_url"),
            json!({"type": format!("{kind}_url"), format!("{kind}_url"): {"url": address}}),
        ),
        (
            format!("input_{kind}"),
            json!({"type": format!("input_{kind}"), format!("input_{kind}"): {"data": address}}),
        ),
    ];
    let set = |parts: Value| {
        let mut trial = trial.clone();
        let is_planted = |message: &&mut Value| {
            message
                .get("content")
                .is_some_and(|content| content.to_string().contains(PLANT))
        };
        if let Some(message) = trial.messages.iter_mut().find(is_planted) {
            *message = plant::with_content(message, Some(parts));
        }
        trial
    };
    let plain = lab.render(&set(json!([text(PLANT), text(SECOND)])))?;
    let mut best: Option<Outcome> = None;
    for (name, part) in forms {
        let trial = set(json!([text(PLANT), part, text(SECOND)]));
        let rendered = lab.render(&trial)?;
        let (outcome, found) = match (&rendered, &plain) {
            (Err(error), _) => (outcome_of(error), None),
            (Ok(with), Ok(plain)) if !has_printed_part(&with.text) => match find_medium(&plain.text, &with.text) {
                Some(found) => (Outcome::Printed, Some(found)),
                None => (Outcome::Lost, None),
            },
            (Ok(_), _) => (Outcome::Repr, None),
        };
        if outcome == Outcome::Printed && !medium.types.contains(&name) {
            medium.types.push(name);
        }
        if best.is_none_or(|best| outcome < best) {
            best = Some(outcome);
            medium.outcome = outcome;
            (medium.text, medium.in_order) = found.map_or((None, false), |(text, in_order)| (Some(text), in_order));
            lab.keep(format!("media.{kind}"), &trial, &rendered);
        }
    }
    Ok(medium)
}

/// Returns the text that a prompt has for a medium, and whether it is between the two texts.
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
