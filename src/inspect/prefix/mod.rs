//! Finds out whether the prompt of a conversation is a prefix of the prompt of the longer conversation.
//!
//! ```text
//! {% for m in messages %}<{{ m.role }}>{{ m.content }}{% if not loop.last %}\n{% endif %}{% endfor %}
//! user: <user>Hi.<assistant>Yes.   ->   <user>Hi.\n<assistant>Yes.\n<user>Hi.      a counterexample: line 1 looks at loop.last
//! ```
//!
//! A search renders small conversations. Where it finds no counterexample, a proof is tried: it evaluates the template with unknown
//! messages, once for the shorter and once for the longer conversation, and compares the two strings. `grammar/prefix.md` says what a proof
//! rests on.

mod proof;
mod search;
mod settings;
mod turns;

use super::experiments::Experiments;
use crate::chat::list_lookahead;
use crate::error::Result;
use crate::report::{Boundary, Prefix, Verdict};
use crate::template::Template;
use proof::Obstacle;
use search::Search;
use settings::list_settings;

/// How a conversation grows by one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// An assistant message, after the generation prompt.
    GenerationPrompt,
    /// An assistant message, without the generation prompt.
    Assistant,
    /// A result of a call.
    Tool,
    /// A user message.
    User,
}

/// Returns the verdicts for a template.
pub fn inspect(experiments: &mut Experiments<'_>) -> Result<Prefix> {
    let template = experiments.template;
    let mut search = Search::new(experiments.lend(search::MAX_STEPS), list_settings(experiments));
    let prove = |growth| {
        let mut templates = template.compiled();
        templates.try_for_each(|template| {
            let proof = proof::prove(template.tree(), growth, experiments.meter(proof::MAX_STEPS));
            proof.map_err(|obstacle| describe(obstacle, template))
        })
    };
    let mut judge = |growth| {
        experiments.check_time()?;
        // The few conversations that show most faults are tried before the proof, and the many others only if it fails.
        let mut counterexample = search.find_usual(growth);
        let proof = if counterexample.is_none() { prove(growth) } else { Ok(()) };
        if proof.is_err() {
            counterexample = search.find_unusual(growth);
        }
        let (verdict, reason) = match (&counterexample, proof) {
            (Some(_), _) => (Verdict::Counterexample, None),
            (None, Ok(())) => (Verdict::Proven, None),
            (None, Err(reason)) => (Verdict::Unknown, Some(reason)),
        };
        let boundary = Boundary {
            verdict,
            reason,
            counterexample,
        };
        search.error.take().map_or(Ok(boundary), Err)
    };
    let prefix = Prefix {
        generation_prompt: judge(Growth::GenerationPrompt)?,
        assistant: judge(Growth::Assistant)?,
        tool: judge(Growth::Tool)?,
        user: judge(Growth::User)?,
    };
    experiments.settle(&search.experiments, search::MAX_STEPS)?;
    experiments.check_time()?;
    Ok(prefix)
}

/// The largest number of characters of an expression in a reason.
const MAX_EXPRESSION: usize = 80;

/// Returns why no proof was found, as a sentence without its full stop.
fn describe(obstacle: Obstacle, template: &Template) -> String {
    let source = template.source();
    match obstacle {
        Obstacle::Expression(span) => {
            let (line, text) = (source.line(span.start), source.slice(span));
            let short: String = text.chars().take(MAX_EXPRESSION).collect();
            let short = short.split_whitespace().collect::<Vec<_>>().join(" ");
            match text.starts_with("strftime_now") {
                true => format!("line {line} reads the clock, and prompts of different times differ"),
                false => format!("line {line} has `{short}`, which a proof does not understand"),
            }
        }
        Obstacle::Size => "a proof does not understand the template, or is too long".to_owned(),
        Obstacle::Text => match list_lookahead(template, 1).first() {
            Some((line, look)) => format!("line {line} looks at {look}, on which the text of earlier messages may depend"),
            None => "the text of an earlier message may depend on later ones".to_owned(),
        },
    }
}
