//! What a template takes, as [`ChatTemplate::inspect`](crate::ChatTemplate::inspect) found out by experiment.
//!
//! ```text
//! roles.user.parts: repr, because [{"role": "user", "content": [{"type": "text", …}]}] is rendered as "[{'type': 'text', …"
//! ```

mod calls;
mod lint;
mod prefix;
mod reads;
mod roles;
mod switches;
mod takes;
mod witness;

use std::collections::BTreeMap;

use serde::Serialize;

pub use calls::{Arguments, Calls, Tools};
pub use lint::Finding;
pub use prefix::{Boundary, Counterexample, Look, Prefix, Verdict};
pub use reads::{Read, Reads};
pub use roles::{Alternation, Content, Media, Medium, NullContent, Outcome, Role, Roles, System};
pub use switches::{Change, GenerationPrompt, Reasoning, Replay, Switch};
pub use takes::{Forms, Takes};
pub use witness::Witness;

/// What a template takes. Each verdict of an experiment has its witness in [`Report::witnesses`].
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The form of the content of each role's messages.
    pub roles: Roles,
    /// Images, audio and video in the content of a user message.
    pub media: Media,
    /// The places at which a system message is possible.
    pub system: System,
    /// The orders of roles that the template takes.
    pub alternation: Alternation,
    /// The tools that a conversation can use.
    pub tools: Tools,
    /// The calls of tools and their results.
    pub calls: Calls,
    /// What whole conversations can have. [`ChatTemplate::prepare`](crate::ChatTemplate::prepare) goes by it.
    pub takes: Takes,
    /// The reasoning of assistant messages.
    pub reasoning: Reasoning,
    /// The text that `add_generation_prompt` appends.
    pub generation_prompt: GenerationPrompt,
    /// The variables of the caller that change the prompt.
    pub switches: Vec<Switch>,
    /// The names that the source of the template reads.
    pub reads: Reads,
    /// Whether the prompt stays a prefix when the conversation grows.
    pub prefix: Prefix,
    /// Faults in the sources of the templates.
    pub lint: Vec<Finding>,
    /// The conversation that shows each verdict, by the path of the verdict in the report: `roles.user.parts`.
    pub witnesses: BTreeMap<String, Witness>,
}

impl Report {
    /// Returns the conversation that shows a verdict, by the path of the verdict in the report: `roles.user.parts`.
    pub fn witness(&self, path: &str) -> Option<&Witness> {
        self.witnesses.get(path)
    }
}
