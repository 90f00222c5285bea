//! Faults that a few renders show.

use serde_json::{Value, json};

use super::rules::{DOUBLE_BOS, DROPPED_ROLE, Rule, UNTRIMMED_CONTENT};
use super::{find_message_loop, make_finding};
use crate::chat::{ApplyOptions, ChatTemplate};
use crate::limits::Limits;
use crate::report::Finding;

/// A word that no template has.
const WORD: &str = "zq7xword";

pub fn inspect(template: &ChatTemplate, findings: &mut Vec<Finding>) {
    let Some(compiled) = template.compiled().next() else { return };
    let line = find_message_loop(compiled);
    let mut add = |rule: &Rule, subject: &str| findings.push(make_finding(rule, compiled.source(), line, subject));
    let limits = Limits::default().with_milliseconds(100);
    let render = |messages: Value| {
        let options = ApplyOptions {
            limits: &limits,
            ..ApplyOptions::default()
        };
        template.apply(&messages, &options).ok().map(|prompt| prompt.text)
    };
    let say = |role: &str, content: &str| json!({"role": role, "content": content});
    let bos = template.special_tokens().iter().find(|(name, _)| name == "bos_token");
    if let (Some((_, bos)), Some(prompt)) = (bos.filter(|(_, bos)| !bos.is_empty()), render(json!([say("user", "Hi.")]))) {
        if prompt.starts_with(&bos.repeat(2)) {
            add(&DOUBLE_BOS, "");
        }
    }
    for role in ["system", "user", "assistant"] {
        let drops = |content: Value| {
            let said = json!({"role": role, "content": content});
            let messages = match role {
                "system" => json!([said, say("user", "Hi.")]),
                "user" => json!([said]),
                _ => json!([say("user", "Hi."), said, say("user", "Hi.")]),
            };
            render(messages).map(|prompt| !prompt.contains(WORD))
        };
        // Some templates take the content only as parts.
        if drops(json!(WORD)) == Some(true) && drops(json!([{"type": "text", "text": WORD}])) != Some(false) {
            add(&DROPPED_ROLE, role);
        }
    }
    let padded = |role: &str, word: &str| say(role, &format!("\t{word}\t"));
    let (user, answer) = ("zq7xuser", "zq7xanswer");
    let Some(prompt) = render(json!([padded("user", user), padded("assistant", answer), say("user", "Hi.")])) else {
        return;
    };
    let is_kept = |word: &str| prompt.contains(word).then(|| prompt.contains(&format!("\t{word}\t")));
    match (is_kept(user), is_kept(answer)) {
        (Some(true), Some(false)) => add(&UNTRIMMED_CONTENT, "user"),
        (Some(false), Some(true)) => add(&UNTRIMMED_CONTENT, "assistant"),
        _ => {}
    }
}
