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

mod lookahead;
mod proof;
mod search;
mod settings;
mod turns;

use super::experiments::Experiments;
use crate::error::Result;
use crate::report::{Boundary, Prefix, Verdict};
use crate::template::Template;
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
///
/// # Errors
/// See [`Experiments::render`].
pub fn inspect(experiments: &mut Experiments<'_>) -> Result<Prefix> {
    let template = experiments.template;
    let mut search = Search::new(experiments.lend(search::MAX_STEPS), list_settings(experiments));
    let is_proven = |growth| {
        let mut trees = template.compiled().map(Template::tree);
        trees.all(|tree| proof::is_proven(tree, growth, experiments.meter(proof::MAX_STEPS)))
    };
    let mut judge = |growth| {
        experiments.check_time()?;
        // The few conversations that show most faults are tried before the proof, and the many others only if it fails.
        let mut counterexample = search.find_usual(growth);
        let is_proven = counterexample.is_none() && is_proven(growth);
        if counterexample.is_none() && !is_proven {
            counterexample = search.find_unusual(growth);
        }
        let verdict = match counterexample {
            Some(_) => Verdict::Counterexample,
            None if is_proven => Verdict::Proven,
            None => Verdict::Unknown,
        };
        search.error.take().map_or(Ok(Boundary { verdict, counterexample }), Err)
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
