//! The variables of a body: `chat_template_kwargs`, and the settings of the formats for reasoning.
//!
//! ```text
//! {"reasoning_effort": "high"}          ->   reasoning_effort: "high"
//! {"thinking": {"type": "disabled"}}    ->   enable_thinking: false       if the template reads that
//!                                            thinking_mode: "off"         if it compares that with "off"
//! ```

use std::collections::HashSet;

use super::change::{Change, ChangeKind};
use super::node::Node;
use super::wrong;
use crate::chat::ChatTemplate;
use crate::error::Result;
use crate::json::{DEPTH, Data, Entry, Object};
use crate::meter::Meter;

/// The names of variables with the effort of reasoning.
const EFFORTS: [&str; 3] = ["reasoning_effort", "thinking_effort", "reasoning_strength"];

/// The names of variables that are true if there is reasoning.
const FLAGS: [&str; 5] = ["enable_thinking", "thinking", "reasoning", "enable_reasoning", "think"];

/// The names of variables that have a word for whether there is reasoning.
const MODES: [&str; 2] = ["thinking_mode", "reasoning_mode"];

/// The words with which templates compare a mode, for reasoning and for none.
const ON: [&str; 5] = ["on", "enabled", "thinking", "think", "/think"];
const OFF: [&str; 7] = ["off", "disabled", "chat", "no_think", "/no_think", "non-thinking", "none"];

/// The name of the variable with the number of tokens for reasoning.
const BUDGET: &str = "thinking_budget";

/// The options of a body that can also be in `chat_template_kwargs`, as vLLM takes them.
pub const OPTIONS: [&str; 2] = ["add_generation_prompt", "continue_final_message"];

/// The memory of a variable and of its change.
const BYTES: usize = 256;

/// Returns an option of a body, which is also looked for in `chat_template_kwargs`.
///
/// # Errors
/// If the two places have different values, or if the one in `chat_template_kwargs` is neither a bool nor, for `continue_final_message`,
/// the name of a field.
pub fn read_option<'b>(body: Node<'b>, name: &str) -> Result<Option<Node<'b>>> {
    let own = body.get(name);
    let Some(nested) = body.get("chat_template_kwargs").and_then(|variables| variables.get(name)) else {
        return Ok(own);
    };
    let path = || format!("/chat_template_kwargs/{name}");
    let read = |node: Node<'b>| (node.bool(), node.text());
    let is_field = name == "continue_final_message" && nested.text().is_some();
    if nested.bool().is_none() && !is_field {
        return Err(wrong(path(), format!("must be a bool, and this is {}", nested.describe())));
    }
    match own {
        Some(own) if read(own) != read(nested) => Err(wrong(path(), format!("the body has `{name}` too, with another value"))),
        _ => Ok(Some(nested)),
    }
}

/// Returns the variables of a body that is passed on as it is. The effort of reasoning is a variable.
pub fn read_exact<'b>(body: Node<'b>) -> Data<'b> {
    let Some(own) = body.get("chat_template_kwargs") else {
        let effort = body.get("reasoning_effort");
        let effort = effort.map(|effort| ("reasoning_effort".into(), effort.to_data(DEPTH)));
        return effort.map_or(Data::None, |effort| Data::Object(Object::new(vec![effort])));
    };
    let mut own = own.to_data(DEPTH);
    if let (Data::Object(own), Some(effort)) = (&mut own, body.get("reasoning_effort")) {
        let mut entries = std::mem::take(own).into_entries();
        if !entries.iter().any(|(name, _)| name == "reasoning_effort") {
            entries.push(("reasoning_effort".into(), effort.to_data(DEPTH)));
        }
        *own = Object::new(entries);
    }
    own
}

/// Returns the variables of a body, or null, and the settings that no variable has or that one has in another form. The variables of
/// `chat_template_kwargs` override the settings for reasoning.
pub fn read<'b>(template: &ChatTemplate, body: Node<'b>, meter: &mut Meter<'_>) -> Result<(Data<'b>, Vec<Change>)> {
    let own = body.get("chat_template_kwargs");
    if let Some(own) = own.filter(|own| !own.is_object()) {
        let fault = format!("must be an object, and this is {}", own.describe());
        return Err(wrong("/chat_template_kwargs".to_owned(), fault));
    }
    let (effort, thinking) = (Setting::read_effort(body), Setting::read_thinking(body));
    let flag = body.get("add_generation_prompt").filter(|flag| flag.bool().is_none());
    if own.is_none() && effort.is_none() && thinking.is_none() && flag.is_none() {
        return Ok((Data::None, Vec::new()));
    }
    let source = template.source().unwrap_or_default();
    let names: HashSet<&str> = template.variables().into_iter().collect();
    let mut changes = Vec::new();
    let mut entries: Vec<Entry<'b>> = Vec::new();
    for (name, value) in own.into_iter().flat_map(Node::entries) {
        let count = value.count_values(DEPTH);
        meter.charge_items(count)?;
        meter.claim_for_render(BYTES.saturating_add(count.saturating_mul(size_of::<Entry<'b>>())))?;
        if OPTIONS.contains(&name) {
            continue;
        }
        if !names.contains(name) {
            let path = format!("/chat_template_kwargs/{}", crate::json::escape_key(name));
            let reason = "the template reads no variable of this name";
            changes.push(Change::new(path, ChangeKind::Dropped, reason));
        }
        entries.push((name.into(), value.to_data(DEPTH)));
    }
    let is_free = |name: &&&str| names.contains(**name) && own.is_none_or(|own| !own.has(name));
    // `thinking` overrides an effort.
    let is_on = [&thinking, &effort].into_iter().flatten().find_map(|setting| setting.is_on);
    let mut added: Vec<Entry<'b>> = Vec::new();
    if let Some(value) = effort.as_ref().and_then(|effort| effort.value) {
        for name in EFFORTS.iter().filter(is_free) {
            let is_no_think = value.text() == Some("none") && !has_literal(source, "none") && has_literal(source, "no_think");
            let word = is_no_think.then(|| Data::Str("no_think".into()));
            added.push(((*name).into(), word.unwrap_or_else(|| value.to_data(DEPTH))));
        }
    }
    let has_effort = !added.is_empty();
    // An effort that is read implies that there is reasoning.
    if let Some(is_on) = is_on.filter(|is_on| !(has_effort && thinking.is_none() && *is_on)) {
        added.extend(FLAGS.iter().filter(is_free).map(|name| ((*name).into(), Data::Bool(is_on))));
        let words: &[&'static str] = if is_on { &ON } else { &OFF };
        if let Some(word) = words.iter().find(|word| has_literal(source, word)) {
            added.extend(
                MODES
                    .iter()
                    .filter(is_free)
                    .map(|name| ((*name).into(), Data::Str((*word).into()))),
            );
        }
        let budget = match thinking.as_ref().and_then(|thinking| thinking.value) {
            Some(budget) if is_on => Some(budget.to_data(DEPTH)),
            _ => (!is_on).then(|| Data::Int(0)),
        };
        added.extend(
            [&BUDGET]
                .into_iter()
                .filter(is_free)
                .zip(budget)
                .map(|(name, budget)| ((*name).into(), budget)),
        );
    }
    let is_switched = added.iter().any(|(name, _)| !EFFORTS.contains(&name.as_ref()));
    for setting in effort.iter().chain(&thinking) {
        let is_effort = std::ptr::eq(setting, effort.as_ref().unwrap_or(setting)) && effort.is_some();
        let change = match setting.is_on {
            _ if is_effort && has_effort => None,
            Some(own) if is_switched && Some(own) == is_on => {
                let says_more = is_effort && own;
                says_more.then_some((
                    ChangeKind::Renamed,
                    "the template reads whether there is reasoning, and no effort",
                ))
            }
            _ => setting.judge(own).map(|reason| (ChangeKind::Dropped, reason)),
        };
        changes.extend(change.map(|(kind, reason)| Change::new(setting.path.to_owned(), kind, reason)));
    }
    added.extend(flag.map(|flag| ("add_generation_prompt".into(), flag.to_data(DEPTH))));
    entries.extend(added);
    Ok((Data::Object(Object::new(entries)), changes))
}

/// Returns whether a source has a string with this value.
fn has_literal(source: &str, value: &str) -> bool {
    let is_quote = |character: Option<char>| matches!(character, Some('\'' | '"'));
    source.match_indices(value).any(|(at, _)| {
        let (before, rest) = source.split_at(at);
        is_quote(before.chars().next_back()) && is_quote(rest.get(value.len()..).and_then(|rest| rest.chars().next()))
    })
}

/// A setting of a body for reasoning.
struct Setting<'b> {
    path: &'static str,
    /// The effort, or the number of tokens for reasoning.
    value: Option<Node<'b>>,
    /// Whether the setting turns reasoning on, or `None` if its value is unknown.
    is_on: Option<bool>,
}

impl<'b> Setting<'b> {
    fn read_effort(body: Node<'b>) -> Option<Self> {
        let nested = |key: &str| body.get(key).and_then(|options| options.get("effort"));
        let efforts = [
            ("/reasoning_effort", body.get("reasoning_effort")),
            ("/reasoning/effort", nested("reasoning")),
            ("/output_config/effort", nested("output_config")),
        ];
        let (path, effort) = efforts.into_iter().find_map(|(path, effort)| Some((path, effort?)))?;
        Some(Self {
            path,
            value: Some(effort),
            is_on: effort.text().map(|effort| effort != "none"),
        })
    }

    fn read_thinking(body: Node<'b>) -> Option<Self> {
        let thinking = body.get("thinking")?;
        Some(Self {
            path: "/thinking",
            value: thinking.get("budget_tokens"),
            is_on: match thinking.get_text("type") {
                Some("enabled" | "adaptive") => Some(true),
                Some("disabled") => Some(false),
                _ => thinking.bool(),
            },
        })
    }

    /// Returns why no variable has the value of the setting, or `None` if a variable of `chat_template_kwargs` has it.
    fn judge(&self, own: Option<Node<'_>>) -> Option<&'static str> {
        if self.path == "/thinking" && self.is_on.is_none() {
            return Some("`thinking` has an unknown type");
        }
        let find = |names: &[&str]| names.iter().find_map(|name| own?.get(name));
        let (effort, flag) = (find(&EFFORTS), find(&FLAGS));
        if effort.is_none() && flag.is_none() {
            return Some("the template reads no variable for it (switches)");
        }
        let is_same_effort = effort.is_some_and(|effort| effort.text() == self.value.and_then(Node::text));
        let is_same_flag = flag.is_some_and(|flag| flag.bool() == self.is_on);
        (!is_same_effort && !is_same_flag).then_some("`chat_template_kwargs` has another value")
    }
}
