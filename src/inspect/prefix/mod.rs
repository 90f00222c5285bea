//! Finds out whether the prompt of a conversation is a prefix of the prompt of the longer conversation.
//!
//! ```text
//! {% for m in messages %}<{{ m.role }}>{{ m.content }}{% if not loop.last %}\n{% endif %}{% endfor %}
//! user: <user>Hi.<assistant>Yes.   ->   <user>Hi.\n<assistant>Yes.\n<user>Hi.      a counterexample: line 1 looks at loop.last
//! ```
//!
//! A search renders small conversations. Where it finds no counterexample, a proof is tried: it evaluates the template with unknown
//! messages, once for the shorter and once for the longer conversation, and compares the two texts. `grammar/prefix.md` says what a proof
//! rests on.

mod looks;
mod proof;
mod search;
mod switches;
mod turns;

use super::lab::Lab;
use crate::report::{Boundary, Prefix, Verdict};
use crate::template::Template;
use search::Search;
use switches::list_settings;

/// A way in which a conversation grows by one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// An assistant message, after the generation prompt.
    GenerationPrompt,
    /// An assistant message, without the generation prompt.
    Assistant,
    /// A result of a call.
    Tool,
    /// A user message.
    User,
}

/// Returns the verdicts for a template. When the limits of the report are used up, nothing is rendered.
pub fn inspect(lab: &mut Lab<'_>) -> Prefix {
    let template = lab.template;
    let settings = list_settings(lab);
    let mut search = Search::new(template, settings, lab.lend(search::MAX_STEPS));
    let is_proven = |way| {
        let mut trees = template.compiled().map(Template::tree);
        trees.all(|tree| lab.check_time().is_ok() && proof::is_proven(tree, way, lab.meter(proof::MAX_STEPS)))
    };
    let mut judge = |way| {
        // The few conversations that show most faults are tried before the proof, and the many others only if it fails.
        let mut counterexample = search.find_usual(way);
        let mut verdict = Verdict::Counterexample;
        if counterexample.is_none() {
            if is_proven(way) {
                verdict = Verdict::Proven;
            } else {
                counterexample = search.find_unusual(way);
                verdict = counterexample.as_ref().map_or(Verdict::Unknown, |_| Verdict::Counterexample);
            }
        }
        Boundary { verdict, counterexample }
    };
    let prefix = Prefix {
        generation_prompt: judge(Way::GenerationPrompt),
        assistant: judge(Way::Assistant),
        tool: judge(Way::Tool),
        user: judge(Way::User),
    };
    lab.spend(search.steps());
    prefix
}
