//! The variables of a body: `chat_template_kwargs`, and the settings of the formats for reasoning.
//!
//! ```text
//! {"reasoning_effort": "high"}          ->   reasoning_effort: "high"
//! {"thinking": {"type": "disabled"}}    ->   enable_thinking: false       if the template reads that
//! ```

use std::borrow::Cow;
use std::collections::HashSet;

use super::change::What;
use super::message::Fitted;
use super::node::Node;
use super::path::{Key, Path, Pointers};
use super::record::Recorder;
use super::wrong;
use crate::chat::ChatTemplate;
use crate::error::Result;
use crate::json::{DEPTH, Data, Object};

/// The names of the variable that turns reasoning on and off.
const SWITCHES: [&str; 2] = ["enable_thinking", "thinking"];

/// The name of the variable with the effort of reasoning.
const EFFORT: &str = "reasoning_effort";

/// The options of a body that can also be in `chat_template_kwargs`, as vLLM takes them.
pub const OPTIONS: [&str; 2] = ["add_generation_prompt", "continue_final_message"];

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

/// Returns the variables of a body. Those of `chat_template_kwargs` override the settings of the body for reasoning.
pub fn read<'b>(template: &ChatTemplate, body: Node<'b>, is_exact: bool, changes: &mut Recorder<'_>) -> Result<Fitted<'b>> {
    let own = body.get("chat_template_kwargs");
    if let Some(own) = own.filter(|own| !own.is_object() && !is_exact) {
        let path = "/chat_template_kwargs".to_owned();
        return Err(wrong(path, format!("must be an object, and this is {}", own.describe())));
    }
    let reasoning = Reasoning::read(body);
    let mut names = HashSet::new();
    if !is_exact && (own.is_some() || !reasoning.is_empty()) {
        names.extend(template.variables());
    }
    if let Some(own) = own.filter(|_| !is_exact) {
        report_unread(&names, own, changes)?;
    }
    let flag = body.get("add_generation_prompt").filter(|flag| flag.bool().is_none());
    let has_options = !is_exact && own.is_some_and(|own| OPTIONS.iter().any(|name| own.has(name)));
    if reasoning.is_empty() && flag.is_none() && !has_options || own.is_some_and(|own| !own.is_object()) {
        return Ok(own.map_or(Fitted::Absent, Fitted::Kept));
    }
    let has_own = |name: &str| own.is_some_and(|own| own.has(name));
    let mut added = if is_exact {
        let effort = body.get(EFFORT).filter(|_| !has_own(EFFORT));
        Vec::from_iter(effort.map(|effort| (EFFORT.into(), effort.to_data(DEPTH))))
    } else {
        let added = reasoning.to_variables(&|name| names.contains(name) && !has_own(name));
        reasoning.report(&added, own, changes)?;
        added
    };
    added.extend(flag.map(|flag| ("add_generation_prompt".into(), flag.to_data(DEPTH))));
    if added.is_empty() && !has_options {
        return Ok(own.map_or(Fitted::Absent, Fitted::Kept));
    }
    let mut entries = match own.map(|own| changes.copy(own)).transpose()? {
        Some(Data::Object(own)) => own.into_entries(),
        _ => Vec::new(),
    };
    entries.retain(|(name, _)| is_exact || !OPTIONS.contains(&name.as_ref()));
    entries.extend(added);
    Ok(Fitted::Own(Data::Object(Object::new(entries))))
}

/// Adds a change for each variable of `chat_template_kwargs` that the template does not read.
fn report_unread(names: &HashSet<&str>, own: Node<'_>, changes: &mut Recorder<'_>) -> Result<()> {
    let root = Path {
        parent: None,
        key: Key::Name("chat_template_kwargs"),
    };
    let mut pointers = Pointers::default();
    for (name, _) in own.entries() {
        changes.visit(0)?;
        if !names.contains(name) && !OPTIONS.contains(&name) {
            let path = pointers.write(root.name(name));
            changes.claim(path.len())?;
            changes.add(path, What::Dropped, "the template reads no variable of this name")?;
        }
    }
    Ok(())
}

/// The settings of a body for reasoning.
struct Reasoning<'b> {
    effort: Option<Setting<'b>>,
    thinking: Option<Setting<'b>>,
}

impl<'b> Reasoning<'b> {
    fn read(body: Node<'b>) -> Self {
        let nested = |key: &str| body.get(key).and_then(|options| options.get("effort"));
        let efforts = [
            ("/reasoning_effort", body.get(EFFORT)),
            ("/reasoning/effort", nested("reasoning")),
            ("/output_config/effort", nested("output_config")),
        ];
        let effort = efforts.into_iter().find_map(|(path, effort)| Some((path, effort?)));
        Self {
            effort: effort.map(|(path, effort)| Setting {
                path,
                effort: Some(effort),
                is_on: effort.text().map(|effort| effort != "none"),
            }),
            thinking: body.get("thinking").map(|thinking| Setting {
                path: "/thinking",
                effort: None,
                is_on: match thinking.get_text("type") {
                    Some("enabled" | "adaptive") => Some(true),
                    Some("disabled") => Some(false),
                    _ => thinking.bool(),
                },
            }),
        }
    }

    fn is_empty(&self) -> bool {
        self.effort.is_none() && self.thinking.is_none()
    }

    fn settings(&self) -> impl Iterator<Item = &Setting<'b>> {
        self.effort.iter().chain(&self.thinking)
    }

    /// Returns whether reasoning is on. `thinking` overrides an effort.
    fn is_on(&self) -> Option<bool> {
        let is_on = |setting: &Option<Setting<'_>>| setting.as_ref().and_then(|setting| setting.is_on);
        is_on(&self.thinking).or_else(|| is_on(&self.effort))
    }

    /// Returns the variables to add, of those that the template reads. An effort that is read implies that reasoning is on.
    fn to_variables(&self, reads: &dyn Fn(&str) -> bool) -> Vec<(Cow<'b, str>, Data<'b>)> {
        let effort = self.effort.as_ref().and_then(|setting| setting.effort);
        let effort = effort.filter(|_| reads(EFFORT));
        let is_implied = effort.is_some() && self.thinking.is_none() && self.is_on() == Some(true);
        let switch = SWITCHES.into_iter().find(|name| reads(name)).filter(|_| !is_implied);
        let effort = effort.map(|effort| (EFFORT.into(), effort.to_data(DEPTH)));
        let switch = switch.zip(self.is_on()).map(|(name, is_on)| (name.into(), Data::Bool(is_on)));
        effort.into_iter().chain(switch).collect()
    }

    /// Adds a change for each setting, unless a variable has its value.
    fn report(&self, added: &[(Cow<'_, str>, Data<'_>)], own: Option<Node<'_>>, changes: &mut Recorder<'_>) -> Result<()> {
        let has = |name: &str| added.iter().any(|(added, _)| added == name);
        let (is_effort_read, is_switched) = (has(EFFORT), SWITCHES.into_iter().any(has));
        for setting in self.settings() {
            let change = match setting.effort {
                Some(_) if is_effort_read => None,
                _ if is_switched && setting.is_on == self.is_on() => Some((
                    What::Translated,
                    "the template reads whether there is reasoning, as a variable",
                )),
                _ => setting.judge(own).map(|why| (What::Dropped, why)),
            };
            if let Some((what, why)) = change {
                changes.add(setting.path.to_owned(), what, why)?;
            }
        }
        Ok(())
    }
}

/// An option of a body for reasoning.
struct Setting<'b> {
    path: &'static str,
    effort: Option<Node<'b>>,
    /// Whether the option turns reasoning on, or `None` if its value is unknown.
    is_on: Option<bool>,
}

impl Setting<'_> {
    /// Returns why no variable has the value of the option, or `None` if a variable of `chat_template_kwargs` has it.
    fn judge(&self, own: Option<Node<'_>>) -> Option<&'static str> {
        if self.effort.is_none() && self.is_on.is_none() {
            return Some("`thinking` has an unknown type");
        }
        let effort = own.filter(|_| self.effort.is_some()).and_then(|own| own.get(EFFORT));
        let mut switches = SWITCHES.into_iter().filter_map(|name| own?.get(name)).peekable();
        if effort.is_none() && switches.peek().is_none() {
            return Some("the template reads no variable for it (switches)");
        }
        let is_same_effort = effort.is_some_and(|effort| effort.text() == self.effort.and_then(Node::text));
        let is_same_switch = switches.any(|switch| switch.bool() == self.is_on);
        (!is_same_effort && !is_same_switch).then_some("`chat_template_kwargs` has another value")
    }
}
