//! The variables of a body: `chat_template_kwargs`, and the settings of the formats for reasoning.
//!
//! ```text
//! {"reasoning_effort": "high"}          ->   reasoning_effort: "high"
//! {"thinking": {"type": "disabled"}}    ->   enable_thinking: false       if the template reads that
//!                                            thinking_mode: "off"         if it compares that with "off"
//! ```

use std::collections::HashSet;

use super::change::{Change, ChangeKind};
use super::plan::{Kinds, SettingForm, kind};
use super::{is_quote, neighbors, wrong};
use crate::chat::ChatTemplate;
use crate::error::Result;
use crate::json::{Data, Entry, Object, escape_key};
use crate::meter::Meter;

/// What a variable says of reasoning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    /// The effort, a word.
    Effort,
    /// Whether there is reasoning, a bool.
    Flag,
    /// Whether there is reasoning, a word.
    Mode,
    /// The number of tokens.
    Budget,
}

/// The names of variables for reasoning.
const VARIABLES: [(&str, Says); 11] = [
    ("reasoning_effort", Says::Effort),
    ("thinking_effort", Says::Effort),
    ("reasoning_strength", Says::Effort),
    ("enable_thinking", Says::Flag),
    ("thinking", Says::Flag),
    ("reasoning", Says::Flag),
    ("enable_reasoning", Says::Flag),
    ("think", Says::Flag),
    ("thinking_mode", Says::Mode),
    ("reasoning_mode", Says::Mode),
    ("thinking_budget", Says::Budget),
];

/// The words with which templates compare a mode, for reasoning and for none.
const ON: [&str; 5] = ["on", "enabled", "thinking", "think", "/think"];
const OFF: [&str; 7] = ["off", "disabled", "chat", "no_think", "/no_think", "non-thinking", "none"];

/// The efforts, from none to the most.
pub const LEVELS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// A word that is no effort.
const NO_LEVEL: &str = "qz";

/// Another word for the effort `none`.
const NO_THINK: &str = "no_think";

/// The options of a body that can also be in `chat_template_kwargs`, as vLLM takes them.
pub const OPTIONS: [&str; 2] = ["add_generation_prompt", "continue_final_message"];

/// The memory of a variable and of its change.
const BYTES: usize = 256;

/// Returns an option of a body, which is also looked for in `chat_template_kwargs`.
///
/// # Errors
/// If the two places have different values, or if the one in `chat_template_kwargs` is neither a bool nor, for `continue_final_message`,
/// the name of a field.
pub fn read_option<'b>(body: &'b Data<'b>, name: &str) -> Result<Option<&'b Data<'b>>> {
    let own = body.get(name);
    let Some(nested) = body.get("chat_template_kwargs").and_then(|variables| variables.get(name)) else {
        return Ok(own);
    };
    let refuse = |fault: String| Err(wrong(format!("/chat_template_kwargs/{name}"), fault));
    let is_field = name == "continue_final_message" && nested.text().is_some();
    let is_other = |own: &Data<'_>| (own.bool(), own.text()) != (nested.bool(), nested.text());
    if nested.bool().is_none() && !is_field {
        refuse(format!("must be a bool, and this is {}", nested.describe()))
    } else if own.is_some_and(is_other) {
        refuse(format!("the body has `{name}` too, with another value"))
    } else {
        Ok(Some(nested))
    }
}

/// The variables of a body. Those of `chat_template_kwargs` override the settings for reasoning.
#[derive(Clone, Debug, Default)]
pub struct Variables<'b> {
    own: Vec<Entry<'b>>,
    /// The changes of the variables of `chat_template_kwargs`.
    changes: Vec<Change>,
    effort: Option<Setting<'b>>,
    thinking: Option<Setting<'b>>,
    /// The variables for reasoning that the template reads and `chat_template_kwargs` does not have.
    read: Vec<(&'static str, Says)>,
    /// The words of a mode and an effort that the template has.
    words: Vec<&'static str>,
}

impl<'b> Variables<'b> {
    pub fn read(template: &ChatTemplate, body: &'b Data<'b>, meter: &mut Meter<'_>) -> Result<Self> {
        let own = find_own(body)?;
        let mut variables = Self {
            effort: Setting::read_effort(body),
            thinking: Setting::read_thinking(body),
            ..Self::default()
        };
        if own.is_some() || variables.has_settings() {
            let names: HashSet<&str> = template.variables().into_iter().collect();
            for (name, value) in own.into_iter().flat_map(Data::entries) {
                let count = value.count_values();
                meter.charge_items(count)?;
                meter.claim_for_render(BYTES.saturating_add(count.saturating_mul(size_of::<Entry<'b>>())))?;
                if OPTIONS.contains(&name) {
                    continue;
                }
                if !names.contains(name) {
                    let path = format!("/chat_template_kwargs/{}", escape_key(name));
                    let reason = "the template reads no variable of this name";
                    variables.changes.push(Change::new(path, ChangeKind::Dropped, reason));
                }
                variables.own.push((name.into(), value.borrowed()));
            }
            let is_own = |name: &str| variables.own.iter().any(|(own, _)| own == name);
            let known = VARIABLES.into_iter();
            variables.read = known.filter(|(name, _)| names.contains(name) && !is_own(name)).collect();
            let source = template.source().unwrap_or_default();
            let words = [ON.as_slice(), &OFF, &LEVELS, &[NO_THINK]].concat();
            meter.charge_scan(source.len().saturating_mul(words.len()))?;
            let is_literal = |word: &str| neighbors(source, word).any(|(before, after)| is_quote(before) && is_quote(after));
            variables.words = words.into_iter().filter(|word| is_literal(word)).collect();
        }
        let flag = body.get("add_generation_prompt").filter(|flag| flag.bool().is_none());
        let flag = flag.map(|flag| ("add_generation_prompt".into(), flag.borrowed()));
        variables.own.extend(flag);
        Ok(variables)
    }

    /// Returns the variables of a body with the policy [`Exact`](super::Policy::Exact), which are passed on as they are. The effort of
    /// reasoning is a variable.
    pub fn read_exact(body: &'b Data<'b>) -> Result<Self> {
        let own = find_own(body)?.into_iter().flat_map(Data::entries);
        let effort = body.get("reasoning_effort").map(|effort| ("reasoning_effort", effort));
        let mut entries: Vec<Entry<'b>> = Vec::new();
        for (name, value) in own.chain(effort) {
            if !entries.iter().any(|(own, _)| own == name) {
                entries.push((name.into(), value.borrowed()));
            }
        }
        let own = entries;
        Ok(Self { own, ..Self::default() })
    }

    /// Returns whether the body has settings for reasoning.
    pub fn has_settings(&self) -> bool {
        self.effort.is_some() || self.thinking.is_some()
    }

    /// Returns the variables and the settings as text, or an empty string if there are none.
    pub fn describe(&self) -> String {
        if self.own.is_empty() && !self.has_settings() {
            return String::new();
        }
        format!("{:?}", (&self.own, &self.effort, &self.thinking))
    }

    /// Returns the variables by a choice, and the settings that no variable has or that one has in another form.
    pub fn write(&self, choice: SettingForm) -> (Data<'b>, Vec<Change>) {
        let mut changes = self.changes.clone();
        let added = match choice {
            SettingForm::Dropped => Vec::new(),
            _ => self.write_settings(choice, &mut changes),
        };
        let has_effort = added.iter().any(|((_, says), _)| *says == Says::Effort);
        let is_switched = added.iter().any(|((_, says), _)| *says != Says::Effort);
        if let Some(effort) = self.effort.as_ref().filter(|_| !has_effort) {
            match effort.is_on.filter(|_| is_switched && effort.is_on == self.is_on()) {
                Some(true) => {
                    let reason = "the template reads whether there is reasoning, and no effort";
                    changes.push(Change::new(effort.path.to_owned(), ChangeKind::Renamed, reason));
                }
                Some(false) => {}
                None => changes.extend(self.find_loss(effort, choice)),
            }
        }
        let thinking = self.thinking.as_ref();
        if let Some(thinking) = thinking.filter(|thinking| !is_switched || thinking.is_on.is_none()) {
            changes.extend(self.find_loss(thinking, choice));
        }
        let added = added.into_iter().map(|((name, _), value)| (name.into(), value));
        let entries: Vec<Entry<'b>> = self.own.iter().cloned().chain(added).collect();
        let variables = (!entries.is_empty()).then(|| Data::Object(Object::new(entries)));
        (variables.unwrap_or_default(), changes)
    }

    /// Returns the index of the effort, if it is one that is known.
    pub fn level(&self) -> Option<usize> {
        let word = self.effort.as_ref()?.value?.text()?;
        LEVELS.iter().position(|level| *level == word)
    }

    /// Returns whether the template reads a variable with an effort.
    pub fn reads_effort(&self) -> bool {
        self.reads(Says::Effort)
    }

    /// Returns whether a variable can say that there is reasoning, or that there is none.
    pub fn has_switch(&self) -> bool {
        self.is_on().is_some() && (self.reads(Says::Flag) || self.reads(Says::Mode))
    }

    /// Returns the pointer of the setting for an effort or for reasoning.
    pub fn path(&self, kind: Kinds) -> Option<&'static str> {
        let setting = match kind {
            kind::EFFORT => &self.effort,
            kind::THINKING => &self.thinking,
            _ => &None,
        };
        setting.as_ref().map(|setting| setting.path)
    }

    /// Returns whether the body asks for reasoning. `thinking` overrides an effort.
    fn is_on(&self) -> Option<bool> {
        let mut settings = [&self.thinking, &self.effort].into_iter().flatten();
        settings.find_map(|setting| setting.is_on)
    }

    fn reads(&self, says: Says) -> bool {
        self.read.iter().any(|(_, own)| *own == says)
    }

    /// Returns the variables for reasoning.
    fn write_settings(&self, choice: SettingForm, changes: &mut Vec<Change>) -> Vec<((&'static str, Says), Data<'b>)> {
        let effort = self.effort.as_ref().filter(|_| choice != SettingForm::WithoutEffort);
        let effort = effort.and_then(|effort| Some((effort.path, effort.value?)));
        let nearest = effort.and_then(|(_, value)| self.find_level(value.text()?, choice));
        let has_effort = effort.is_some() && self.reads_effort();
        if let Some((path, _)) = effort.filter(|_| has_effort && nearest.is_some_and(|word| word != NO_THINK)) {
            changes.push(Change::new(
                path.to_owned(),
                ChangeKind::Renamed,
                "the template knows other efforts",
            ));
        }
        // An effort that is read implies that there is reasoning.
        let is_switched = matches!(choice, SettingForm::Level { is_switched: true, .. });
        let is_implied = has_effort && self.thinking.is_none() && !is_switched;
        let is_on = self.is_on().filter(|is_on| !(is_implied && *is_on));
        let is_on = is_on.map(|is_on| is_on != (choice == SettingForm::Inverted));
        let budget = self.thinking.as_ref().and_then(|thinking| thinking.value);
        let has_word = |word: &&&str| self.words.contains(*word);
        let write = |says| match (says, is_on) {
            (Says::Effort, _) => effort.map(|(_, value)| nearest.map_or_else(|| value.borrowed(), |word| Data::Str(word.into()))),
            (Says::Flag, _) => is_on.map(Data::Bool),
            (Says::Mode, Some(true)) => ON.iter().find(has_word).map(|word| Data::Str((*word).into())),
            (Says::Mode, Some(false)) => OFF.iter().find(has_word).map(|word| Data::Str((*word).into())),
            (Says::Budget, Some(true)) => budget.map(Data::borrowed),
            (Says::Budget, Some(false)) => Some(Data::Int(0)),
            (Says::Mode | Says::Budget, None) => None,
        };
        let read = self.read.iter();
        read.filter_map(|(name, says)| Some(((*name, *says), write(*says)?)))
            .collect()
    }

    /// Returns the word of the template for an effort, if it is another one.
    fn find_level(&self, word: &str, choice: SettingForm) -> Option<&'static str> {
        if let SettingForm::Level { level, .. } = choice {
            let level = LEVELS.get(level).copied().unwrap_or(NO_LEVEL);
            return (level != word).then_some(level);
        }
        if word == LEVELS[0] && !self.words.contains(&word) && self.words.contains(&NO_THINK) {
            return Some(NO_THINK);
        }
        let nearest = choice == SettingForm::Nearest;
        let at = LEVELS.iter().position(|level| *level == word).filter(|_| nearest)?;
        let known = LEVELS.iter().enumerate().filter(|(_, level)| self.words.contains(level));
        let nearest = known.min_by_key(|(other, _)| (at.abs_diff(*other), at > *other))?;
        Some(*nearest.1)
    }

    /// Returns the change that no variable has the value of a setting, unless one of `chat_template_kwargs` has it.
    fn find_loss(&self, setting: &Setting<'_>, choice: SettingForm) -> Option<Change> {
        let find = |says| {
            let is_one = |name: &str| VARIABLES.contains(&(name, says));
            self.own.iter().find(|(name, _)| is_one(name)).map(|(_, value)| value)
        };
        let (effort, flag) = (find(Says::Effort), find(Says::Flag));
        let text = setting.value.and_then(Data::text);
        let is_same_effort = text.is_some() && effort.and_then(Data::text) == text;
        let is_same_flag = setting.is_on.is_some() && flag.and_then(Data::bool) == setting.is_on;
        let reason = if setting.is_on.is_none() && setting.path.ends_with("thinking") {
            "its value is unknown"
        } else if is_same_effort || is_same_flag {
            return None;
        } else if effort.is_some() || flag.is_some() {
            "`chat_template_kwargs` has another value"
        } else if choice == SettingForm::Dropped {
            "the template refuses it"
        } else {
            "the template reads no variable for it"
        };
        Some(Change::new(setting.path.to_owned(), ChangeKind::Dropped, reason))
    }
}

/// Returns `chat_template_kwargs`.
fn find_own<'b>(body: &'b Data<'b>) -> Result<Option<&'b Data<'b>>> {
    match body.get("chat_template_kwargs") {
        Some(own) if !own.is_object() => {
            let fault = format!("must be an object, and this is {}", own.describe());
            Err(wrong("/chat_template_kwargs".to_owned(), fault))
        }
        own => Ok(own),
    }
}

/// A setting of a body for reasoning.
#[derive(Clone, Debug)]
struct Setting<'b> {
    path: &'static str,
    /// The effort, or the number of tokens for reasoning.
    value: Option<&'b Data<'b>>,
    /// Whether the setting turns reasoning on, or `None` if its value is unknown.
    is_on: Option<bool>,
}

impl<'b> Setting<'b> {
    fn read_effort(body: &'b Data<'b>) -> Option<Self> {
        let nested = |key: &str| body.get(key).and_then(|options| options.get("effort"));
        let efforts = [
            ("/reasoning_effort", body.get("reasoning_effort")),
            ("/reasoning/effort", nested("reasoning")),
            ("/output_config/effort", nested("output_config")),
        ];
        let (path, effort) = efforts.into_iter().find_map(|(path, effort)| Some((path, effort?)))?;
        let (value, is_on) = (Some(effort), effort.text().map(|effort| effort != LEVELS[0]));
        Some(Self { path, value, is_on })
    }

    fn read_thinking(body: &'b Data<'b>) -> Option<Self> {
        let (path, value, is_on) = match body.get("thinking") {
            None => ("/enable_thinking", None, body.get("enable_thinking")?.bool()),
            Some(thinking) => {
                let is_on = match thinking.get_text("type") {
                    Some("enabled" | "adaptive") => Some(true),
                    Some("disabled") => Some(false),
                    _ => thinking.bool(),
                };
                ("/thinking", thinking.get("budget_tokens"), is_on)
            }
        };
        Some(Self { path, value, is_on })
    }
}
