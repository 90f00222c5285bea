//! Keeps the parts of a report that have been made. A part is made when it is first read.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::{
    Alternation, Calls, Finding, GenerationPrompt, Media, Prefix, Reads, Reasoning, Response, Roles, Switch, System, Tools, Witness,
};

/// The parts of a template's report that were made so far. None of them depends on the limits of the call that made it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Made {
    pub basics: OnceLock<Part<Basics>>,
    pub orders: OnceLock<Part<(System, Alternation)>>,
    pub media: OnceLock<Part<Media>>,
    pub reasoning: OnceLock<Part<Reasoning>>,
    pub generation_prompt: OnceLock<Part<GenerationPrompt>>,
    pub response: OnceLock<Part<Response>>,
    pub switches: OnceLock<Part<Vec<Switch>>>,
    pub reads: OnceLock<Part<Reads>>,
    pub prefix: OnceLock<Part<Prefix>>,
    pub lint: OnceLock<Part<Vec<Finding>>>,
    /// The witnesses of all parts, with their prompts or their errors.
    pub witnesses: OnceLock<BTreeMap<String, Witness>>,
}

/// Verdicts, each with the conversation that shows it.
#[derive(Clone, Debug)]
pub(crate) struct Part<T> {
    pub verdicts: T,
    pub witnesses: BTreeMap<String, Witness>,
}

/// The verdicts on roles, tools and calls, which come from the same experiments. Other parts depend on them.
#[derive(Clone, Debug)]
pub(crate) struct Basics {
    pub roles: Roles,
    pub tools: Tools,
    pub calls: Calls,
}
