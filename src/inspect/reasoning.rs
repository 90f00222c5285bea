//! Finds out what the generation prompt is, and whether the reasoning of earlier messages is in the prompt.

use serde_json::Value;

use super::calls;
use super::conversations::{base, join};
use super::lab::{Lab, Trial, find_words};
use super::plant::{self, FUNCTION, Form, ID, PLANT, REASONING, SECOND};
use crate::chat::REASONING_FIELDS;
use crate::error::Result;
use crate::report::{GenerationPrompt, Outcome, Reasoning, Replay, Report};

/// Tries the generation prompt and the reasoning of messages.
pub fn inspect(lab: &mut Lab<'_>, report: &mut Report, forms: &[Form]) -> Result<()> {
    report.generation_prompt = ask_generation_prompt(lab, forms)?;
    let is_read = |field: &&&str| report.reads.messages.iter().any(|read| read.name == ***field);
    let (replayed, cuts_think) = (ask_replay(lab, report, forms)?, ask_cut(lab, forms)?);
    report.reasoning = Reasoning {
        fields: REASONING_FIELDS
            .iter()
            .filter(is_read)
            .map(|field| (*field).to_owned())
            .collect(),
        replayed,
        cuts_think,
    };
    Ok(())
}

fn ask_generation_prompt(lab: &mut Lab<'_>, forms: &[Form]) -> Result<GenerationPrompt> {
    for form in forms {
        let [system, user, answer] = base(*form);
        let orders: [&[&Value]; 3] = [&[&user], &[&system, &user], &[&user, &answer, &user]];
        for order in orders {
            let trial = Trial::new(join(order));
            let (without, trial) = (lab.render(&trial)?, trial.prompted());
            let with = lab.render(&trial)?;
            if !lab.witnesses.contains_key("generation_prompt") || with.is_ok() {
                lab.keep("generation_prompt", &trial, &with);
            }
            if let (Ok(without), Ok(with)) = (without, with) {
                let text = with.text.strip_prefix(without.text.as_str()).map(str::to_owned);
                return Ok(GenerationPrompt {
                    read: with.text != without.text,
                    opens_reasoning: text.as_deref().is_some_and(opens_reasoning),
                    text,
                });
            }
        }
    }
    Ok(GenerationPrompt::default())
}

/// Returns whether the last tag of reasoning in a text opens it: `<think>`, `[THINK]`, `<|START_THINKING|>`.
fn opens_reasoning(text: &str) -> bool {
    let text = text.to_lowercase();
    let tags = text.split(['<', '[']).skip(1).filter_map(|tag| tag.split(['>', ']']).next());
    let tags = tags.filter(|tag| ["think", "thought", "reason"].iter().any(|word| tag.contains(word)));
    tags.last()
        .is_some_and(|tag| !tag.contains('/') && !tag.contains("end") && !tag.contains("off") && !tag.contains("no"))
}

/// Finds out whether the reasoning of messages before and after the last user message is in the prompt.
fn ask_replay(lab: &mut Lab<'_>, report: &Report, forms: &[Form]) -> Result<Replay> {
    let (mut early, mut late) = (Vec::new(), Vec::new());
    for form in forms {
        let [system, user, answer] = base(*form);
        let thought = plant::thinking(&answer);
        early.extend([
            Trial::new(join(&[&user, &thought, &user])),
            Trial::new(join(&[&user, &thought, &user, &answer])),
            Trial::new(join(&[&system, &user, &thought, &user])),
        ]);
        for is_text in calls::working_forms(&report.calls) {
            let call = [plant::call(ID, FUNCTION, &plant::arguments(*is_text))];
            let call = plant::thinking(&plant::calling(&call, Some(Value::from(""))));
            let result = plant::result(ID, FUNCTION, &form.content(SECOND));
            let tools = Some(plant::tools(FUNCTION));
            late.push(
                Trial::new(join(&[&user, &call, &result]))
                    .with_tools(tools.clone())
                    .prompted(),
            );
            late.push(Trial::new(join(&[&user, &call, &result, &answer])).with_tools(tools));
        }
        late.extend([
            Trial::new(join(&[&user, &thought])),
            Trial::new(join(&[&system, &user, &thought])),
        ]);
    }
    let judge = |text: &str| find_words(text, &[REASONING]);
    if lab.ask("reasoning.replayed", early, judge)? == Outcome::Printed {
        return Ok(Replay::Always);
    }
    // The witness of a text that is only in the last turn shows that turn.
    let never = lab.witnesses.get("reasoning.replayed").cloned();
    if lab.ask("reasoning.replayed", late, judge)? == Outcome::Printed {
        return Ok(Replay::LastTurn);
    }
    lab.witnesses
        .extend(never.map(|witness| ("reasoning.replayed".to_owned(), witness)));
    Ok(Replay::Never)
}

/// Finds out whether reasoning in the content of an earlier message is left out.
fn ask_cut(lab: &mut Lab<'_>, forms: &[Form]) -> Result<bool> {
    let mut trials = Vec::new();
    for form in forms {
        let [system, user, answer] = base(*form);
        let thought = plant::say("assistant", *form, &format!("<think>\n{REASONING}\n</think>\n\n{PLANT}"));
        trials.extend([
            Trial::new(join(&[&user, &thought, &user])),
            Trial::new(join(&[&user, &thought, &user, &answer])),
            Trial::new(join(&[&system, &user, &thought, &user])),
        ]);
    }
    let is_cut = |text: &str| match text.contains(PLANT) && !text.contains(REASONING) {
        true => Outcome::Printed,
        false => Outcome::Lost,
    };
    Ok(lab.ask("reasoning.cuts_think", trials, is_cut)? == Outcome::Printed)
}
