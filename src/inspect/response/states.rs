//! Fits a description to each prompt that a model continues, and to what models write that the template does not print: tags of reasoning
//! that the prompt opens, and stop tokens.
//!
//! ```text
//! after a user      …[/INST]            after a result      …[/TOOL_RESULTS]   ->   "start_anchor": ["[/INST]", "[/TOOL_RESULTS]"]
//! ```

use serde_json::{Value, json};

use super::trips::{self, CONTENT, THOUGHT, tools};
use super::{Derivation, Failure, Found, REASONING_FIELD};
use crate::chat::{NEXT_TURN, StopToken, control_tokens};
use crate::error::Result;
use crate::inspect::conversation::arrange;
use crate::inspect::plant::{self, Form};

/// The tags between which models write reasoning.
const THINK_TAGS: [(&str, &str); 2] = [("<think>", "</think>"), ("[THINK]", "[/THINK]")];

/// The maximum number of stop tokens that close the content. An anchor has at most 32 strings.
const MAX_STOPS: usize = 12;

/// A prompt that the model continues.
struct State {
    /// Where the prompt ends, for a reason.
    what: &'static str,
    prompt: String,
    /// The generation prompt in it, if it is known.
    appended: Option<String>,
}

impl State {
    /// Returns strings with which the model's text may begin here.
    fn anchors(&self) -> impl Iterator<Item = &str> {
        let token = control_tokens(before_thought(&self.prompt)).last();
        let token = token.and_then(|token| self.prompt.get(token));
        [
            token,
            self.appended.as_deref().map(|appended| before_thought(appended).trim()),
        ]
        .into_iter()
        .flatten()
        .filter(|anchor| !anchor.is_empty())
    }
}

/// Returns a prompt without the tag at its end that opens reasoning.
fn before_thought(prompt: &str) -> &str {
    let end = prompt.trim_end();
    THINK_TAGS
        .iter()
        .find_map(|(open, _)| end.strip_suffix(open))
        .unwrap_or(prompt)
}

/// Renders the prompts after a user, in a second turn, and after the result of a call, each with the switches of reasoning on, off and unset.
fn list_states(derivation: &mut Derivation<'_, '_>, is_text: Option<bool>) -> Result<Vec<State>, Failure> {
    let before = derivation.order.and_then(|order| order.split('*').next()).unwrap_or_default();
    let call = is_text.map(|is_text| derivation.call_with(&derivation.make_calls(1, is_text)));
    let mut states = Vec::new();
    for (what, order) in [("after a user", ""), ("in a second turn", "au"), ("after a result", "cr")] {
        if order == "cr" && call.is_none() {
            continue;
        }
        let order = format!("{before}{order}");
        let id = call
            .as_ref()
            .and_then(|call| call.pointer("/tool_calls/0/id")?.as_str())
            .unwrap_or_default();
        let planted = |form: Form| {
            let result = plant::result(id, plant::FUNCTION, &form.content(plant::SECOND));
            [('c', call.clone().unwrap_or_default()), ('r', result)]
        };
        for conversation in arrange(&[derivation.form], &[order.as_str()], planted) {
            let tools = (derivation.has_tools && order.ends_with('r')).then(tools);
            let conversation = conversation.with_tools(tools).prompted();
            for switch in [None, Some(true), Some(false)] {
                let variables = switch.map(|on| json!({"enable_thinking": on, "thinking": on}));
                let rendered = derivation
                    .experiments
                    .render(&conversation.clone().with_variables(variables))?;
                let Ok(prompt) = &*rendered else { continue };
                let appended = prompt.generation_prompt.clone().and_then(|range| prompt.text.get(range));
                if states.iter().all(|state: &State| state.prompt != prompt.text) {
                    states.push(State {
                        what,
                        prompt: prompt.text.clone(),
                        appended: appended.map(str::to_owned),
                    });
                }
            }
        }
    }
    Ok(states)
}

/// Parses what a model writes after a prompt, and after its generation prompt alone.
fn check_state(derivation: &Derivation<'_, '_>, description: &Value, state: &State) -> Result<(), Failure> {
    let template = derivation.compile(description)?;
    let anchor = |key: &str| {
        description
            .pointer(&format!("/fields/{REASONING_FIELD}/{key}"))
            .and_then(Value::as_str)
    };
    for prefix in [Some(&state.prompt), state.appended.as_ref()].into_iter().flatten() {
        let tags = anchor("open").zip(anchor("close"));
        let (message, texts) = match tags.filter(|(open, _)| prefix.trim_end().ends_with(open)) {
            Some((_, close)) => (
                json!({"content": CONTENT, REASONING_FIELD: THOUGHT}),
                vec![format!("{THOUGHT}\n{close}\n{CONTENT}")],
            ),
            None => (
                json!({"content": CONTENT}),
                vec![CONTENT.to_owned(), format!("{}{CONTENT}", derivation.lead)],
            ),
        };
        let faults = texts
            .iter()
            .map(|text| derivation.find_fault(&template, (prefix, text), (&message, None), text));
        // A model can begin in either way.
        if let Some(fault) = faults
            .collect::<Result<Option<Vec<_>>, _>>()?
            .and_then(|faults| faults.into_iter().next())
        {
            return Err(Failure::Reason(format!(
                "an answer {} does not come back {fault}",
                state.what
            )));
        }
    }
    Ok(())
}

impl Derivation<'_, '_> {
    /// Returns the tags of reasoning that the source of the template knows.
    pub fn find_tags(&self) -> Option<(&'static str, &'static str)> {
        let source = self.experiments.template.source()?;
        THINK_TAGS
            .into_iter()
            .find(|(open, close)| source.contains(open) || source.contains(close))
    }

    /// Returns the strings at which the model stops.
    pub fn find_stops(&self) -> Result<Vec<String>> {
        let stops = self
            .experiments
            .template
            .find_stop_tokens(None, &self.experiments.renew_meter())?;
        let is_token = |(text, sources): &&StopToken| sources.as_slice() != [NEXT_TURN] || control_tokens(text).next().is_some();
        let texts = stops.iter().filter(is_token).map(|(text, _)| text);
        Ok(texts.take(MAX_STOPS).cloned().collect())
    }

    /// Adds anchors to a description until an answer is read after each prompt that a model continues. The description does not read `lost`.
    pub fn fit_states(
        &mut self,
        mut description: Value,
        mut lost: Vec<(String, String)>,
        facts: (bool, Option<bool>),
    ) -> Result<Found, Failure> {
        for state in list_states(self, facts.1)? {
            let Err(failure) = check_state(self, &description, &state) else {
                continue;
            };
            let Failure::Reason(_) = failure else { return Err(failure) };
            let mut fitting = None;
            for anchor in state.anchors() {
                let wider = with_anchor(&description, anchor);
                let checked = check_state(self, &wider, &state).and_then(|()| trips::check(self, &wider, facts));
                match checked {
                    Ok(wider_lost) if wider_lost.len() <= lost.len() => {
                        fitting = Some((wider, wider_lost));
                        break;
                    }
                    Ok(_) | Err(Failure::Reason(_)) => {}
                    Err(stopped) => return Err(stopped),
                }
            }
            (description, lost) = fitting.ok_or(failure)?;
        }
        Ok(Found {
            template: description,
            lost,
        })
    }
}

/// Returns a description with one more string after which the model writes.
fn with_anchor(description: &Value, anchor: &str) -> Value {
    let mut anchors = match description.get("start_anchor") {
        Some(Value::Array(anchors)) => anchors.clone(),
        Some(known) => vec![known.clone()],
        None => Vec::new(),
    };
    anchors.push(anchor.into());
    let wider = plant::with_field(description, "start_anchor_pattern", None);
    plant::with_field(&wider, "start_anchor", Some(anchors.into()))
}
