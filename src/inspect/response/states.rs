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
use crate::inspect::plant::{self, Form, PLANT, SECOND, USER};

/// The tags between which models write reasoning.
const THINK_TAGS: [(&str, &str); 2] = [("<think>", "</think>"), ("[THINK]", "[/THINK]")];

/// What the name of the part is in a partial description that the template prints between a prompt and the content.
const BEGINNING: &str = "the beginning of an answer";

/// The maximum number of stop tokens that close the content. An anchor has at most 32 strings.
const MAX_STOPS: usize = 12;

/// A prompt that the model continues.
struct State {
    /// Where the prompt ends, for a reason.
    what: &'static str,
    prompt: String,
    /// The generation prompt in it, if it is known.
    appended: Option<String>,
    /// What the template prints between the prompt and the content of an answer, if an answer begins with the prompt.
    lead: Option<String>,
}

/// The pointer of an object in a description, and the key of its anchor.
type Place = (&'static str, &'static str);

impl State {
    /// Returns strings that an anchor can have so that the description also reads what a model writes here.
    fn list_anchors(&self) -> impl Iterator<Item = (Place, &str)> {
        let token = control_tokens(before_thought(&self.prompt)).last();
        let token = token.and_then(|token| self.prompt.get(token));
        let appended = self.appended.as_deref().map(|appended| before_thought(appended).trim());
        let anchors = token.into_iter().chain(appended).filter(|anchor| !anchor.is_empty());
        // What is no tag can be in content too.
        let lead = self.lead.as_deref().map(str::trim);
        let lead = lead.filter(|lead| control_tokens(lead).next().is_some());
        let anchors = anchors.map(|anchor| (("", "start_anchor"), anchor));
        anchors.chain(lead.map(|lead| (("/fields/content", "close"), lead)))
    }
}

/// Returns the text after the last word that was planted in a question or in the result of a tool.
fn after_words(text: &str) -> Option<&str> {
    let ends = [USER, SECOND]
        .iter()
        .filter_map(|word| Some(text.rfind(word)?.saturating_add(word.len())));
    text.get(ends.max()?..)
}

/// Returns what the template prints between a prompt and the content of an answer to it. Before the last message, the two can differ.
fn find_lead(prompt: &str, answered: &str) -> Option<String> {
    let answer = after_words(answered.rsplit_once(PLANT)?.0)?;
    answer.strip_prefix(after_words(prompt)?.trim_end()).map(str::to_owned)
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
            let has_tools = derivation.has_tools;
            let tools = [None, has_tools.then(tools)]
                .into_iter()
                .skip(usize::from(has_tools && order.ends_with('r')));
            for (tools, switch) in tools.flat_map(|tools| [None, Some(true), Some(false)].map(|switch| (tools.clone(), switch))) {
                let has_more = tools.is_some() && !order.ends_with('r');
                let variables = switch.map(|on| json!({"enable_thinking": on, "thinking": on}));
                let conversation = conversation.clone().with_tools(tools).with_variables(variables);
                let rendered = derivation.experiments.render(&conversation.clone().prompted())?;
                let Ok(prompt) = &*rendered else { continue };
                if states.iter().any(|state: &State| state.prompt == prompt.text) {
                    continue;
                }
                let appended = prompt.generation_prompt.clone().and_then(|range| prompt.text.get(range));
                let answer = plant::say("assistant", derivation.form, PLANT);
                let answered = derivation.experiments.text(&conversation.with_message(answer))?;
                let lead = answered.and_then(|answered| find_lead(&prompt.text, &answered));
                // Other tools before the last message change nothing after it.
                let is_same_end = |state: &State| state.lead == lead && after_words(&state.prompt) == after_words(&prompt.text);
                if !(has_more && states.iter().any(is_same_end)) {
                    states.push(State {
                        what,
                        prompt: prompt.text.clone(),
                        appended: appended.map(str::to_owned),
                        lead,
                    });
                }
            }
        }
    }
    Ok(states)
}

/// Parses what a model writes after a prompt, and after its generation prompt alone. Returns why the answer that the template prints there
/// is not read, if another one is.
fn check_state(derivation: &Derivation<'_, '_>, description: &Value, state: &State) -> Result<Option<String>, Failure> {
    let template = derivation.compile(description)?;
    let anchor = |key: &str| {
        description
            .pointer(&format!("/fields/{REASONING_FIELD}/{key}"))
            .and_then(Value::as_str)
    };
    let mut unread = None;
    for prefix in [Some(&state.prompt), state.appended.as_ref()].into_iter().flatten() {
        let tags = anchor("open").zip(anchor("close"));
        let close = tags.and_then(|(open, close)| prefix.trim_end().ends_with(open).then_some(close));
        let message = match close {
            Some(_) => json!({"content": CONTENT, REASONING_FIELD: THOUGHT}),
            None => json!({"content": CONTENT}),
        };
        let find_fault = |text: &str| derivation.find_fault(&template, (prefix, text), (&message, None), text);
        let reason = |fault: String| format!("an answer {} does not come back {fault}", state.what);
        let Some(close) = close else {
            // A model can begin in either way.
            let plain = find_fault(CONTENT)?;
            let printed = match &state.lead {
                Some(lead) => find_fault(&format!("{lead}{CONTENT}"))?,
                None => plain.clone(),
            };
            if let (Some(fault), Some(_)) = (plain, &printed) {
                return Err(Failure::Reason(reason(fault)));
            }
            unread = unread.or(printed.map(reason));
            continue;
        };
        if let Some(fault) = find_fault(&format!("{THOUGHT}\n{close}\n{CONTENT}"))? {
            return Err(Failure::Reason(reason(fault)));
        }
    }
    Ok(unread)
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
        let mut unread = None;
        for state in list_states(self, facts.1)? {
            let mut best = check_state(self, &description, &state);
            for (place, anchor) in state.list_anchors() {
                if !matches!(best, Ok(Some(_)) | Err(Failure::Reason(_))) {
                    break;
                }
                let wider = with_string(&description, place, anchor);
                let checked = check_state(self, &wider, &state).and_then(|fault| Ok((fault, trips::check(self, &wider, facts)?)));
                match checked {
                    Ok((fault, wider_lost)) if wider_lost.len() <= lost.len() && (fault.is_none() || best.is_err()) => {
                        (best, description, lost) = (Ok(fault), wider, wider_lost);
                    }
                    Ok(_) | Err(Failure::Reason(_)) => {}
                    Err(stopped) => return Err(stopped),
                }
            }
            unread = unread.or(best?);
        }
        lost.extend(unread.map(|fault| (BEGINNING.to_owned(), fault)));
        Ok(Found {
            template: description,
            lost,
        })
    }
}

/// Returns a description with one more string in an anchor.
fn with_string(description: &Value, (pointer, key): Place, string: &str) -> Value {
    let mut wider = description.clone();
    if let Some(object) = wider.pointer_mut(pointer) {
        let known = match object.get(key) {
            Some(Value::Array(strings)) => strings.as_slice(),
            known => known.map(std::slice::from_ref).unwrap_or_default(),
        };
        let strings = known.iter().cloned().chain([string.into()]).collect();
        let plain = plant::with_field(object, &format!("{key}_pattern"), None);
        *object = plant::with_field(&plain, key, Some(strings));
    }
    wider
}
