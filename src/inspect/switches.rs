//! Finds out which variables of the caller change the prompt, with which values, and which part of the prompt.
//!
//! ```text
//! {% if enable_thinking == false %}<think></think>{% endif %}   ->   enable_thinking changes the generation prompt, default true
//! ```

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::calls;
use super::conversation::{Conversation, arrange};
use super::experiments::Experiments;
use super::literals::{self, Literals};
use super::plant::{self, ANSWER, FUNCTION, Form, PLANT, SECOND, USER, say};
use super::roles::{find_insertion, list_forms};
use crate::chat::{SPECIAL_TOKENS, is_reserved_name};
use crate::error::Result;
use crate::report::{Arguments, Basics, Change, Switch};

/// The number with which the numeric constants of a template are compared. A constant counts as a value of a variable only if the prompts
/// with the two differ.
const OTHER_NUMBER: i64 = 7;

/// The maximum number of variables of a report.
const MAX_VARIABLES: usize = 64;

/// The parts of a prompt.
#[derive(Clone, PartialEq)]
struct View {
    system: String,
    history: String,
    generation_prompt: Option<String>,
}

/// A conversation in which a variable is set. Its prompt has the generation prompt.
struct Scene {
    trial: Conversation,
    /// The prompt without the variable.
    plain: Option<String>,
    /// The parts of this prompt.
    view: Option<View>,
}

impl Scene {
    fn new(experiments: &mut Experiments<'_>, trial: Conversation) -> Result<Self> {
        let plain = experiments.text(&trial)?;
        let view = match &plain {
            Some(plain) => view(experiments, &trial, plain)?,
            None => None,
        };
        Ok(Self { trial, plain, view })
    }
}

/// Finds the variables of the caller that change the prompt: tries each variable that a template reads and that is not a part of the
/// contract. The conversations depend on the verdicts of other parts: on calls, on whether the documents are read, and on the type of parts
/// with images.
pub fn inspect(
    experiments: &mut Experiments<'_>,
    basics: &Basics,
    (has_documents, image): (bool, Option<&String>),
) -> Result<Vec<Switch>> {
    let template = experiments.template;
    let mut budget = experiments.budget(literals::MAX_WORK);
    let find = |compiled| Literals::find(compiled, &mut budget);
    let literals: Vec<Literals<'_>> = template.compiled().map(find).collect();
    let tokens: HashSet<&str> = template.special_tokens().iter().map(|(token, _)| token.as_str()).collect();
    // A template that is inspected without its special tokens reads variables that are never set.
    let is_token = |name: &str| SPECIAL_TOKENS.contains(&name) || name == "additional_special_tokens" || tokens.contains(name);
    let names = template.variables().into_iter();
    let names: Vec<&str> = names
        .filter(|name| !is_reserved_name(name) && !is_token(name))
        .take(MAX_VARIABLES)
        .collect();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let compared = names.iter().map(|name| literals::list_all(&literals, name, &mut budget));
    let compared: Vec<Vec<(Value, bool)>> = compared.collect();
    let scenes = make_scenes(experiments, basics, (has_documents, image))?;
    let mut switches = Vec::new();
    // Values of all variables: true, false, or the first string that the variable is compared with.
    let settings: Vec<Map<String, Value>> = [Some(true), Some(false), None]
        .iter()
        .map(|bool| {
            let value = |compared: &Vec<(Value, bool)>| match bool {
                Some(bool) => Value::from(*bool),
                None => {
                    let mut values = compared.iter().map(|(value, _)| value);
                    values.find(|value| value.is_string()).cloned().unwrap_or(Value::from(true))
                }
            };
            let named = names.iter().zip(&compared);
            named.map(|(name, compared)| ((*name).to_owned(), value(compared))).collect()
        })
        .collect();
    for (name, compared) in names.iter().zip(&compared) {
        let mut switch = Switching::new(name).ask(experiments, &scenes, compared)?;
        // A variable may matter only together with another one.
        for others in settings.iter().filter(|_| names.len() > 1) {
            if switch.is_none() {
                let mut others = others.clone();
                others.remove(*name);
                let others = Value::Object(others);
                let scenes = scenes
                    .iter()
                    .map(|scene| Scene::new(experiments, scene.trial.clone().with_variables(Some(others.clone()))));
                let scenes: Vec<Scene> = scenes.collect::<Result<_>>()?;
                switch = Switching::new(name).ask(experiments, &scenes, compared)?;
            }
        }
        switches.extend(switch);
    }
    Ok(switches)
}

/// Makes the conversations in which variables are set, those that render without them.
fn make_scenes(
    experiments: &mut Experiments<'_>,
    basics: &Basics,
    (has_documents, image): (bool, Option<&String>),
) -> Result<Vec<Scene>> {
    let (calls, forms) = (&basics.calls, list_forms(&basics.roles));
    let form = forms.first().copied().unwrap_or(Form::String);
    let thought = plant::thinking(&say("assistant", form, ANSWER));
    let call = calls::plant_call(calls.arguments == Arguments::String);
    let call = plant::thinking(&plant::calling(&call, Some(Value::from(""))));
    let arranged = |orders: &[&str]| {
        let trials = arrange(&[form], orders, |form| {
            let parts = json!([{"type": "text", "text": USER}, {"type": image, "image": "i"}]);
            let image = json!({"role": "user", "content": parts});
            [
                ('t', thought.clone()),
                ('c', call.clone()),
                ('r', calls::planted_result(form)),
                ('i', image),
            ]
        });
        trials.into_iter().map(Conversation::prompted)
    };
    let with_tools = |trial: Conversation| trial.with_tools(Some(plant::tools(FUNCTION)));
    let mut trials: Vec<Conversation> = arranged(&["u", "su", "utu"]).collect();
    trials.extend(arranged(&["u"]).map(with_tools));
    if calls.written {
        trials.extend(arranged(&["ucr"]).map(with_tools));
    }
    if has_documents {
        let documents = json!([{"title": PLANT, "text": SECOND, "doc_id": "1", "contents": SECOND}]);
        trials.extend(arranged(&["u"]).map(|trial| Conversation {
            documents: Some(documents.clone()),
            ..trial
        }));
    }
    if image.is_some() {
        trials.extend(arranged(&["i"]));
    }
    let scenes = trials.into_iter().map(|trial| Scene::new(experiments, trial));
    let mut scenes: Vec<Scene> = scenes.collect::<Result<_>>()?;
    scenes.retain(|scene| scene.plain.is_some());
    Ok(scenes)
}

/// The search for what one variable changes.
struct Switching<'n> {
    name: &'n str,
    changes: Vec<Change>,
    is_printed: bool,
    /// The values that were tried, each with the prompts of all scenes.
    effects: Vec<(Value, Vec<Option<String>>)>,
}

impl<'n> Switching<'n> {
    fn new(name: &'n str) -> Self {
        Self {
            name,
            changes: Vec::new(),
            is_printed: false,
            effects: Vec::new(),
        }
    }

    /// Finds out what the variable changes, if anything. `compared` has constants, each with whether it is compared with the variable
    /// itself.
    fn ask(mut self, experiments: &mut Experiments<'_>, scenes: &[Scene], compared: &[(Value, bool)]) -> Result<Option<Switch>> {
        let [on, off] = [true, false].map(Value::from);
        let [word, null, number] = [Value::from(PLANT), Value::Null, Value::from(OTHER_NUMBER)];
        let constants = compared.iter().map(|(value, _)| value);
        for value in [&on, &off].into_iter().chain(constants).chain([&word, &null, &number]) {
            self.try_value(experiments, scenes, value)?;
        }
        if self.changes.is_empty() {
            for value in [
                json!([PLANT]),
                plant::tools(PLANT),
                json!({"name": PLANT, "description": SECOND}),
            ] {
                self.try_value(experiments, scenes, &value)?;
            }
        }
        if self.changes.is_empty() {
            return Ok(None);
        }
        let mut values = Vec::new();
        if self.effect(&on) != self.effect(&off) {
            values.extend([&on, &off].into_iter().filter(|value| self.is_rendered(value)).cloned());
        }
        let plain: Vec<Option<String>> = scenes.iter().map(|scene| scene.plain.clone()).collect();
        let is_word_distinguished = self.effect(&word) != Some(&plain);
        for (value, is_direct) in compared {
            let is_kept = *is_direct || is_word_distinguished && self.effect(value) == Some(&plain);
            if (is_kept || self.distinguishes(experiments, scenes, value)?) && !values.contains(value) {
                values.push(value.clone());
            }
        }
        let is_default = |value: &&Value| self.effect(value) == Some(&plain);
        let default = values.iter().chain([&on, &off, &null]).find(is_default).cloned();
        self.changes.sort_unstable();
        self.changes.dedup();
        Ok(Some(Switch {
            name: self.name.to_owned(),
            values,
            printed: self.is_printed,
            default,
            changes: self.changes,
        }))
    }

    fn effect(&self, value: &Value) -> Option<&Vec<Option<String>>> {
        self.effects
            .iter()
            .find(|(other, _)| other == value)
            .map(|(_, effect)| effect)
    }

    /// Returns whether a scene can be rendered with a value.
    fn is_rendered(&self, value: &Value) -> bool {
        self.effect(value).is_some_and(|prompts| prompts.iter().any(Option::is_some))
    }

    /// Returns whether the prompts with a constant differ from those with another value of its type. A string is also tried as the only
    /// item of a list.
    fn distinguishes(&mut self, experiments: &mut Experiments<'_>, scenes: &[Scene], value: &Value) -> Result<bool> {
        let Some(text) = value.as_str() else {
            return Ok(self.is_rendered(value) && self.effect(value) != self.effect(&Value::from(OTHER_NUMBER)));
        };
        for (value, other) in [(value.clone(), json!(PLANT)), (json!([text]), json!([PLANT]))] {
            self.try_value(experiments, scenes, &value)?;
            self.try_value(experiments, scenes, &other)?;
            let prompts = self
                .effect(&value)
                .into_iter()
                .flatten()
                .zip(self.effect(&other).into_iter().flatten());
            // Prompts that only print the values do not count as different.
            let differs =
                |(own, other): (&Option<String>, &Option<String>)| *own != other.as_ref().map(|other| other.replace(PLANT, text));
            if self.is_rendered(&value) && prompts.into_iter().any(differs) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Renders all scenes with a value.
    fn try_value(&mut self, experiments: &mut Experiments<'_>, scenes: &[Scene], value: &Value) -> Result<()> {
        if self.effect(value).is_some() {
            return Ok(());
        }
        let mut effect = Vec::new();
        for scene in scenes {
            let mut variables = match &scene.trial.variables {
                Some(Value::Object(others)) => others.clone(),
                _ => Map::new(),
            };
            variables.insert(self.name.to_owned(), value.clone());
            let trial = scene.trial.clone().with_variables(Some(Value::Object(variables)));
            let text = experiments.text(&trial)?;
            if let (Some(text), Some(plain)) = (&text, &scene.plain) {
                if text != plain {
                    self.is_printed |= value.to_string().contains(PLANT) && text.contains(PLANT) && !plain.contains(PLANT);
                    let changes = match (&scene.view, view(experiments, &trial, text)?) {
                        (Some(plain), Some(changed)) => plain.compare(&changed),
                        _ => Vec::new(),
                    };
                    let shows_prompt =
                        changes.contains(&Change::GenerationPrompt) && !self.changes.contains(&Change::GenerationPrompt);
                    if shows_prompt || (self.changes.is_empty() && !changes.is_empty()) {
                        experiments.show(&format!("switches.{}", self.name), &trial);
                    }
                    self.changes.extend(changes);
                }
            }
            effect.push(text);
        }
        self.effects.push((value.clone(), effect));
        Ok(())
    }
}

impl View {
    /// Returns the parts in which two prompts differ.
    fn compare(&self, other: &Self) -> Vec<Change> {
        let prompts = self.generation_prompt.as_ref().zip(other.generation_prompt.as_ref());
        let parts = [
            (
                prompts.is_some_and(|(prompt, other)| prompt != other),
                Change::GenerationPrompt,
            ),
            (self.history != other.history, Change::History),
            (self.system != other.system, Change::System),
        ];
        let changed = parts.into_iter().filter(|(differs, _)| *differs);
        changed.map(|(_, change)| change).collect()
    }
}

/// Returns the parts of a prompt, if the conversation can also be rendered without the generation prompt.
fn view(experiments: &mut Experiments<'_>, trial: &Conversation, with: &str) -> Result<Option<View>> {
    let mut without = trial.clone();
    without.add_generation_prompt = false;
    let Some(without) = experiments.text(&without)? else {
        return Ok(None);
    };
    let at = without.find(USER).unwrap_or_default();
    let (system, history) = without.split_at_checked(at).unwrap_or_default();
    Ok(Some(View {
        system: system.to_owned(),
        history: history.to_owned(),
        // A template may write more after the generation prompt. Where it also writes other turns, the prompt has no such part.
        generation_prompt: find_insertion(&without, with).map(|(_, text)| text.to_owned()),
    }))
}
