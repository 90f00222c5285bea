//! Finds out whether the prompt of a conversation is a prefix of the prompt of the longer conversation.
//!
//! ```text
//! {% for m in messages %}<{{ m.role }}>{{ m.content }}{% if not loop.last %}\n{% endif %}{% endfor %}
//! user: <user>Hi.<assistant>Yes.   ->   <user>Hi.\n<assistant>Yes.\n<user>Hi.      a counterexample: line 1 looks at loop.last
//! ```
//!
//! A search renders small conversations, and the verdict says how many pairs it compared. `grammar/prefix.md` says which pairs there are.

mod search;
mod settings;
mod turns;

use super::experiments::Experiments;
use crate::error::Result;
use crate::report::{Boundary, Prefix};
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
    let mut search = Search::new(experiments.lend(search::MAX_STEPS), list_settings(experiments));
    let mut judge = |growth| {
        experiments.check_time()?;
        let found = search.find_usual(growth).or_else(|| search.find_unusual(growth));
        let boundary = match (found, std::mem::take(&mut search.tried)) {
            (Some(found), _) => Boundary::Broken(Box::new(found)),
            (None, 0) => Boundary::Unknown,
            (None, tried) => Boundary::Kept { tried },
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
