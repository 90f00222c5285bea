//! Faults that a few renders show.

use serde_json::{Value, json};

use super::make_finding;
use super::rules::{DOUBLE_BOS, DROPPED_ROLE, Rule, UNTRAINED_STOP, UNTRIMMED_CONTENT};
use super::tree::find_message_loop;
use crate::chat::AssistantOptions;
use crate::error::Result;
use crate::inspect::conversation::Conversation;
use crate::inspect::experiments::Experiments;
use crate::report::Finding;

/// A word that no template has.
const WORD: &str = "zq7xword";

/// Adds the faults that renders show.
pub fn inspect(experiments: &mut Experiments<'_>, findings: &mut Vec<Finding>) -> Result<()> {
    let template = experiments.template;
    let Some(compiled) = template.compiled().next() else {
        return Ok(());
    };
    let line = find_message_loop(compiled).map_or(1, |at| compiled.source().line(at));
    let mut add = |rule: &Rule, subject: &str| findings.push(make_finding(rule, compiled.source(), line, subject));
    let say = |role: &str, content: &str| json!({"role": role, "content": content});
    let answered = Conversation::new(vec![say("user", "Hi."), say("assistant", WORD), say("user", "Hi.")]);
    let mut has_end = |next_marker: bool| -> Result<Option<bool>> {
        let options = AssistantOptions::default().with_next_marker(next_marker);
        let written = experiments.find_written(&answered, options)?;
        let turn = (*written).as_ref().ok().and_then(|prompt| prompt.assistant.turns.first());
        Ok(turn.filter(|turn| turn.spans.is_ok()).map(|turn| turn.has_end))
    };
    if has_end(false)? == Some(false) && has_end(true)? == Some(true) {
        add(&UNTRAINED_STOP, "");
    }
    let mut render = |messages: Vec<Value>| experiments.text(&Conversation::new(messages));
    let bos = template.special_tokens().iter().find(|(name, _)| name == "bos_token");
    if let (Some((_, bos)), Some(prompt)) = (bos.filter(|(_, bos)| !bos.is_empty()), render(vec![say("user", "Hi.")])?) {
        if prompt.starts_with(&bos.repeat(2)) {
            add(&DOUBLE_BOS, "");
        }
    }
    for role in ["system", "user", "assistant"] {
        let mut drops = |content: Value| -> Result<Option<bool>> {
            let said = json!({"role": role, "content": content});
            let messages = match role {
                "system" => vec![said, say("user", "Hi.")],
                "user" => vec![said],
                _ => vec![say("user", "Hi."), said, say("user", "Hi.")],
            };
            Ok(render(messages)?.map(|prompt| !prompt.contains(WORD)))
        };
        // Some templates take the content only as parts.
        if drops(json!(WORD))? == Some(true) && drops(json!([{"type": "text", "text": WORD}]))? != Some(false) {
            add(&DROPPED_ROLE, role);
        }
    }
    let padded = |role: &str, word: &str| say(role, &format!("\t{word}\t"));
    let (user, answer) = ("zq7xuser", "zq7xanswer");
    let Some(prompt) = render(vec![padded("user", user), padded("assistant", answer), say("user", "Hi.")])? else {
        return Ok(());
    };
    let is_kept = |word: &str| prompt.contains(word).then(|| prompt.contains(&format!("\t{word}\t")));
    match (is_kept(user), is_kept(answer)) {
        (Some(true), Some(false)) => add(&UNTRIMMED_CONTENT, "user"),
        (Some(false), Some(true)) => add(&UNTRIMMED_CONTENT, "assistant"),
        _ => {}
    }
    Ok(())
}
