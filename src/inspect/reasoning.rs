//! Finds out what the generation prompt is, and whether the reasoning of earlier messages is in the prompt.

use super::calls;
use super::conversation::{Conversation, arrange};
use super::experiments::{Experiments, find_words};
use super::plant::{self, FUNCTION, Form, PLANT, REASONING, say};
use super::roles::list_forms;
use crate::chat::REASONING_FIELDS;
use crate::error::Result;
use crate::report::{Basics, Calls, GenerationPrompt, Outcome, Read, Reasoning, Replay};

/// Tries the reasoning of messages. `reads` are the fields of messages that the template reads.
pub fn inspect(experiments: &mut Experiments<'_>, reads: &[Read], basics: &Basics) -> Result<Reasoning> {
    let forms = list_forms(&basics.roles);
    let is_read = |field: &&&str| reads.iter().any(|read| read.name == ***field);
    Ok(Reasoning {
        fields: REASONING_FIELDS
            .iter()
            .filter(is_read)
            .map(|field| (*field).to_owned())
            .collect(),
        replayed: ask_replay(experiments, &basics.calls, forms)?,
        cuts_think: ask_cut(experiments, forms)?,
    })
}

/// Finds the text that `add_generation_prompt` appends.
pub fn inspect_generation_prompt(experiments: &mut Experiments<'_>, forms: &[Form]) -> Result<GenerationPrompt> {
    for trial in arrange(forms, &["u", "su", "uau"], |_| []) {
        let without = experiments.text(&trial)?;
        let trial = trial.prompted();
        let with = experiments.text(&trial)?;
        if with.is_some() || !experiments.shown.contains_key("generation_prompt") {
            experiments.show("generation_prompt", &trial);
        }
        if let (Some(without), Some(with)) = (without, with) {
            let text = with.strip_prefix(&without).map(str::to_owned);
            return Ok(GenerationPrompt {
                read: with != without,
                opens_reasoning: text.as_deref().is_some_and(opens_reasoning),
                text,
            });
        }
    }
    Ok(GenerationPrompt::default())
}

/// Returns whether the last tag of reasoning in a string opens it: `<think>`, `[THINK]`, `<|START_THINKING|>`.
fn opens_reasoning(text: &str) -> bool {
    let text = text.to_lowercase();
    let tags = text.split(['<', '[']).skip(1).filter_map(|tag| tag.split(['>', ']']).next());
    let tags = tags.filter(|tag| ["think", "thought", "reason"].iter().any(|word| tag.contains(word)));
    tags.last()
        .is_some_and(|tag| !tag.contains('/') && !tag.contains("end") && !tag.contains("off") && !tag.contains("no"))
}

/// Finds out whether the reasoning of messages before and after the last user message is in the prompt.
fn ask_replay(experiments: &mut Experiments<'_>, calls: &Calls, forms: &[Form]) -> Result<Replay> {
    // In the orders, `t` is an assistant message with reasoning, `c` one with a call too, and `r` the result of the call.
    let (mut early, mut late): (Vec<Conversation>, Vec<Conversation>) = (Vec::new(), Vec::new());
    for form in forms {
        let form = std::slice::from_ref(form);
        let thought = |form| [('t', plant::thinking(&say("assistant", form, plant::ANSWER)))];
        early.extend(arrange(form, &["utu", "utua", "sutu"], thought));
        for is_text in calls::working_forms(calls) {
            let call = plant::thinking(&plant::calling(&calls::plant_call(*is_text), Some("".into())));
            let cycle = arrange(form, &["ucr", "ucra"], |form| {
                [('c', call.clone()), ('r', calls::planted_result(form))]
            });
            let with_tools = cycle.into_iter().map(|trial| trial.with_tools(Some(plant::tools(FUNCTION))));
            late.extend(with_tools.map(|trial| Conversation {
                add_generation_prompt: trial.messages.len() == 3,
                ..trial
            }));
        }
        late.extend(arrange(form, &["ut", "sut"], thought));
    }
    let judge = |text: &str| find_words(text, &[REASONING]);
    if experiments.ask("reasoning.replayed", &early, judge)? == Outcome::Printed {
        return Ok(Replay::Always);
    }
    // If the reasoning is printed only in the last turn, the witness is a conversation with that turn.
    let never = experiments.shown.get("reasoning.replayed").cloned();
    if experiments.ask("reasoning.replayed", &late, judge)? == Outcome::Printed {
        return Ok(Replay::LastTurn);
    }
    never.iter().for_each(|never| experiments.show("reasoning.replayed", never));
    Ok(Replay::Never)
}

/// Finds out whether reasoning in the content of an earlier message is left out.
fn ask_cut(experiments: &mut Experiments<'_>, forms: &[Form]) -> Result<bool> {
    let text = format!("<think>\n{REASONING}\n</think>\n\n{PLANT}");
    let trials = arrange(forms, &["utu", "utua", "sutu"], |form| [('t', say("assistant", form, &text))]);
    let is_cut = |text: &str| {
        if text.contains(PLANT) && !text.contains(REASONING) {
            Outcome::Printed
        } else {
            Outcome::Lost
        }
    };
    Ok(experiments.ask("reasoning.cuts_think", &trials, is_cut)? == Outcome::Printed)
}
