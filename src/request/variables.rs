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
use super::wrong;
use crate::chat::ChatTemplate;
use crate::error::Result;
use crate::json::{Data, Entry, Object, escape_key};
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

/// The efforts, from none to the most.
pub const LEVELS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// A word that is no effort.
const NO_LEVEL: &str = "qz";

/// Another word for the effort `none`.
const NO_THINK: &str = "no_think";

/// The pointer of the setting of Messages.
const THINKING: &str = "/thinking";

/// The pointer of the setting that vLLM and SGLang take.
const ENABLE_THINKING: &str = "/enable_thinking";

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
    let path = || format!("/chat_template_kwargs/{name}");
    let read = |node: &'b Data<'b>| (node.bool(), node.text());
    let is_field = name == "continue_final_message" && nested.text().is_some();
    if nested.bool().is_none() && !is_field {
        return Err(wrong(path(), format!("must be a bool, and this is {}", nested.describe())));
    }
    match own {
        Some(own) if read(own) != read(nested) => Err(wrong(path(), format!("the body has `{name}` too, with another value"))),
        _ => Ok(Some(nested)),
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
    /// The names of variables for reasoning that the template reads, and the words of a mode and an effort that it knows.
    names: Vec<&'static str>,
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
        let flag = body.get("add_generation_prompt").filter(|flag| flag.bool().is_none());
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
            let known = [EFFORTS.as_slice(), &FLAGS, &MODES, &[BUDGET]].concat().into_iter();
            variables.names = known.filter(|name| names.contains(name)).collect();
            let source = template.source().unwrap_or_default();
            let words = [ON.as_slice(), &OFF, &LEVELS, &[NO_THINK]].concat();
            meter.charge_scan(source.len().saturating_mul(words.len()))?;
            variables.words = words.into_iter().filter(|word| has_literal(source, word)).collect();
        }
        variables
            .own
            .extend(flag.map(|flag| ("add_generation_prompt".into(), flag.borrowed())));
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
        let added = if choice == SettingForm::Dropped {
            Vec::new()
        } else {
            self.write_settings(choice, &mut changes)
        };
        let has = |names: &[&str]| added.iter().any(|(name, _)| names.contains(&name.as_ref()));
        let (has_effort, is_switched) = (has(&EFFORTS), has(&FLAGS) || has(&MODES) || has(&[BUDGET]));
        if let Some(effort) = self.effort.as_ref().filter(|_| !has_effort) {
            let is_kept = is_switched && effort.is_on == self.is_on();
            match effort.is_on {
                Some(true) if is_kept => {
                    let reason = "the template reads whether there is reasoning, and no effort";
                    changes.push(Change::new(effort.path.to_owned(), ChangeKind::Renamed, reason));
                }
                Some(false) if is_kept => {}
                _ => changes.extend(self.find_loss(effort, choice)),
            }
        }
        if let Some(thinking) = self
            .thinking
            .as_ref()
            .filter(|thinking| !is_switched || thinking.is_on.is_none())
        {
            changes.extend(self.find_loss(thinking, choice));
        }
        let entries: Vec<Entry<'b>> = self.own.iter().cloned().chain(added).collect();
        let variables = if entries.is_empty() {
            Data::None
        } else {
            Data::Object(Object::new(entries))
        };
        (variables, changes)
    }

    /// Returns the index of the effort, if it is one that is known.
    pub fn level(&self) -> Option<usize> {
        let word = self.effort.as_ref()?.value?.text()?;
        LEVELS.iter().position(|level| *level == word)
    }

    /// Returns whether the template reads a variable with an effort.
    pub fn reads_effort(&self) -> bool {
        self.names_in(&EFFORTS).next().is_some()
    }

    /// Returns whether a variable can say that there is reasoning, or that there is none.
    pub fn has_switch(&self) -> bool {
        let mut names = self.names_in(&FLAGS).chain(self.names_in(&MODES));
        self.is_on().is_some() && names.next().is_some()
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
        [&self.thinking, &self.effort]
            .into_iter()
            .flatten()
            .find_map(|setting| setting.is_on)
    }

    /// Returns the names of a group that the template reads and `chat_template_kwargs` does not have.
    fn names_in(&self, group: &'static [&'static str]) -> impl Iterator<Item = &'static str> {
        let is_free = |name: &&&str| self.names.contains(*name) && !self.own.iter().any(|(own, _)| own == **name);
        group.iter().filter(is_free).copied()
    }

    /// Returns the variables for reasoning.
    fn write_settings(&self, choice: SettingForm, changes: &mut Vec<Change>) -> Vec<Entry<'b>> {
        let mut added: Vec<Entry<'b>> = Vec::new();
        let effort = self.effort.as_ref().filter(|_| choice != SettingForm::WithoutEffort);
        if let Some((effort, value)) = effort.and_then(|effort| Some((effort, effort.value?))) {
            let nearest = value.text().and_then(|word| self.find_level(word, choice));
            added.extend(self.names_in(&EFFORTS).map(|name| {
                let value = nearest.map_or_else(|| value.borrowed(), |word| Data::Str(word.into()));
                (name.into(), value)
            }));
            if nearest.is_some_and(|word| word != NO_THINK) && !added.is_empty() {
                let reason = "the template knows other efforts";
                changes.push(Change::new(effort.path.to_owned(), ChangeKind::Renamed, reason));
            }
        }
        // An effort that is read implies that there is reasoning.
        let is_switched = matches!(choice, SettingForm::Level { is_switched: true, .. });
        let is_implied = |is_on: &bool| !added.is_empty() && self.thinking.is_none() && *is_on && !is_switched;
        let Some(is_on) = self.is_on().filter(|is_on| !is_implied(is_on)) else {
            return added;
        };
        let is_on = is_on != (choice == SettingForm::Inverted);
        added.extend(self.names_in(&FLAGS).map(|name| (name.into(), Data::Bool(is_on))));
        let words: &[&'static str] = if is_on { &ON } else { &OFF };
        if let Some(word) = words.iter().find(|word| self.words.contains(word)) {
            added.extend(self.names_in(&MODES).map(|name| (name.into(), Data::Str((*word).into()))));
        }
        let budget = match self.thinking.as_ref().and_then(|thinking| thinking.value) {
            Some(budget) if is_on => Some(budget.borrowed()),
            _ => (!is_on).then_some(Data::Int(0)),
        };
        added.extend(
            self.names_in(&[BUDGET])
                .zip(budget)
                .map(|(name, budget)| (name.into(), budget)),
        );
        added
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
        let find = |names: &[&str]| {
            self.own
                .iter()
                .find(|(name, _)| names.contains(&name.as_ref()))
                .map(|(_, value)| value)
        };
        let (effort, flag) = (find(&EFFORTS), find(&FLAGS));
        let is_same_effort = matches!((effort, setting.value), (Some(Data::Str(own)), Some(value)) if value.text() == Some(own));
        let is_same_flag = matches!((flag, setting.is_on), (Some(Data::Bool(own)), Some(is_on)) if *own == is_on);
        let reason = if matches!(setting.path, THINKING | ENABLE_THINKING) && setting.is_on.is_none() {
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
    let own = body.get("chat_template_kwargs");
    match own.filter(|own| !own.is_object()) {
        Some(own) => {
            let fault = format!("must be an object, and this is {}", own.describe());
            Err(wrong("/chat_template_kwargs".to_owned(), fault))
        }
        None => Ok(own),
    }
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
        Some(Self {
            path,
            value: Some(effort),
            is_on: effort.text().map(|effort| effort != "none"),
        })
    }

    fn read_thinking(body: &'b Data<'b>) -> Option<Self> {
        let Some(thinking) = body.get("thinking") else {
            let flag = body.get("enable_thinking")?;
            return Some(Self {
                path: ENABLE_THINKING,
                value: None,
                is_on: flag.bool(),
            });
        };
        Some(Self {
            path: THINKING,
            value: thinking.get("budget_tokens"),
            is_on: match thinking.get_text("type") {
                Some("enabled" | "adaptive") => Some(true),
                Some("disabled") => Some(false),
                _ => thinking.bool(),
            },
        })
    }
}
