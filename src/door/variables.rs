//! The variables of a body: `chat_template_kwargs`, and what the formats say of reasoning.
//!
//! ```text
//! {"reasoning_effort": "high"}          ->   reasoning_effort: "high"
//! {"thinking": {"type": "disabled"}}    ->   enable_thinking: false       if the template reads that
//! ```

use super::change::{Changes, What};
use super::message::Fitted;
use super::node::Node;
use super::path::{Key, Path};
use super::wrong;
use crate::chat::ChatTemplate;
use crate::error::Result;
use crate::json::{DEPTH, Data, Object};

/// The names of the variable that turns reasoning on and off.
const SWITCHES: [&str; 2] = ["enable_thinking", "thinking"];

/// The options of a body that can also be in `chat_template_kwargs`, as vLLM takes them.
pub const OPTIONS: [&str; 2] = ["add_generation_prompt", "continue_final_message"];

/// Returns an option of a body, which is also looked for in `chat_template_kwargs`.
///
/// # Errors
/// If the two places have different values, or if that in `chat_template_kwargs` is no bool. The field in which a message is continued is a
/// string.
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

/// Returns the variables of a body. Those of `chat_template_kwargs` go before what the body says of reasoning, of which only
/// `reasoning_effort` is a variable of every template.
pub fn read<'b>(template: &ChatTemplate, body: Node<'b>, is_exact: bool, changes: &mut Changes) -> Result<Fitted<'b>> {
    let own = body.get("chat_template_kwargs");
    if let Some(own) = own.filter(|own| !own.is_object() && !is_exact) {
        let path = "/chat_template_kwargs".to_owned();
        return Err(wrong(path, format!("must be an object, and this is {}", own.describe())));
    }
    if let Some(own) = own.filter(|_| !is_exact) {
        report_unread(&template.variables(), own, changes);
    }
    let reasoning = read_reasoning(body);
    let flag = body.get("add_generation_prompt").filter(|flag| flag.bool().is_none());
    let has_options = !is_exact && own.is_some_and(|own| OPTIONS.iter().any(|name| own.has(name)));
    if reasoning.is_none() && flag.is_none() && !has_options || own.is_some_and(|own| !own.is_object()) {
        return Ok(own.map_or(Fitted::Absent, Fitted::Kept));
    }
    let mut added = Vec::new();
    if is_exact {
        let effort = body
            .get("reasoning_effort")
            .filter(|_| own.is_none_or(|own| !own.has("reasoning_effort")));
        added.extend(effort.map(|effort| ("reasoning_effort".into(), effort.to_data(DEPTH))));
    } else if let Some(reasoning) = reasoning {
        let names = template.variables();
        let reads = |name: &str| names.contains(&name) && own.is_none_or(|own| !own.has(name));
        if let Some(effort) = reasoning.effort.filter(|_| reads("reasoning_effort")) {
            added.push(("reasoning_effort".into(), effort.to_data(DEPTH)));
        }
        let is_effort_read = !added.is_empty();
        let switch = SWITCHES.into_iter().find(|name| reads(name));
        if let (Some(name), Some(is_on)) = (switch, reasoning.is_on.filter(|is_on| !is_on || !is_effort_read)) {
            added.push((name.into(), Data::Bool(is_on)));
        }
        let change = match (is_effort_read, added.is_empty()) {
            (true, _) => None,
            (false, false) => Some((
                What::Translated,
                "the template reads whether there is reasoning, as a variable",
            )),
            (false, true) => reasoning.judge(own).map(|why| (What::Dropped, why)),
        };
        if let Some((what, why)) = change {
            changes.add(reasoning.path.to_owned(), what, why);
        }
        if reasoning.effort.is_some() && body.get("thinking").is_some() {
            changes.add(
                "/thinking".to_owned(),
                What::Dropped,
                "the body has an effort of reasoning too",
            );
        }
    }
    added.extend(flag.map(|flag| ("add_generation_prompt".into(), flag.to_data(DEPTH))));
    if added.is_empty() && !has_options {
        return Ok(own.map_or(Fitted::Absent, Fitted::Kept));
    }
    let mut entries = match own.map(|own| own.to_data(DEPTH)) {
        Some(Data::Object(own)) => own.into_entries(),
        _ => Vec::new(),
    };
    entries.retain(|(name, _)| is_exact || !OPTIONS.contains(&name.as_ref()));
    entries.extend(added);
    Ok(Fitted::Own(Data::Object(Object::new(entries))))
}

/// Adds the change that the template does not read a variable, for each of `chat_template_kwargs`.
fn report_unread(names: &[&str], own: Node<'_>, changes: &mut Changes) {
    let root = Path {
        parent: None,
        key: Key::Name("chat_template_kwargs"),
    };
    for (name, _) in own.entries() {
        if !names.contains(&name) && !OPTIONS.contains(&name) {
            let path = root.name(name).to_pointer();
            changes.add(path, What::Dropped, "the template reads no variable of this name");
        }
    }
}

/// The options of a body about reasoning.
struct Reasoning<'b> {
    path: &'static str,
    effort: Option<Node<'b>>,
    is_on: Option<bool>,
}

impl Reasoning<'_> {
    /// Returns why no variable has what the body says, or `None` if a variable of `chat_template_kwargs` says it too.
    fn judge(&self, own: Option<Node<'_>>) -> Option<&'static str> {
        let effort = own.and_then(|own| own.get("reasoning_effort"));
        let mut switches = SWITCHES.into_iter().filter_map(|name| own?.get(name)).peekable();
        if effort.is_none() && switches.peek().is_none() {
            return Some("the template reads no variable for it (switches)");
        }
        let is_same_effort = effort.is_some_and(|effort| effort.text() == self.effort.and_then(Node::text));
        let is_same_switch = switches.any(|switch| switch.bool() == self.is_on);
        (!is_same_effort && !is_same_switch).then_some("`chat_template_kwargs` has another value")
    }
}

/// Returns what a body says of reasoning, if anything.
fn read_reasoning(body: Node<'_>) -> Option<Reasoning<'_>> {
    let nested = || body.get("reasoning").and_then(|reasoning| reasoning.get("effort"));
    let effort = body.get("reasoning_effort").map(|effort| ("/reasoning_effort", effort));
    if let Some((path, effort)) = effort.or_else(|| Some(("/reasoning/effort", nested()?))) {
        let is_on = effort.text().map(|effort| effort != "none");
        let effort = Some(effort);
        return Some(Reasoning { path, effort, is_on });
    }
    let thinking = body.get("thinking")?;
    let is_on = match thinking.get_text("type") {
        Some("enabled") => Some(true),
        Some("disabled") => Some(false),
        _ => thinking.bool(),
    };
    let (path, effort) = ("/thinking", None);
    is_on.map(|_| Reasoning { path, effort, is_on })
}
