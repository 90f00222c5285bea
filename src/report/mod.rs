//! What a template takes: the parts of a [`Report`](crate::Report).
//!
//! ```text
//! roles.user.parts: repr, because [{"role": "user", "content": [{"type": "text", …}]}] is rendered as "[{'type': 'text', …"
//! ```

mod prefix;
mod verdicts;
mod witness;

pub use prefix::{Boundary, Counterexample, Look, Prefix};
pub(crate) use verdicts::Basics;
pub use verdicts::{
    Alternation, Arguments, Calls, Change, Content, Finding, GenerationPrompt, Media, Medium, NullContent, Outcome, Read, Reads,
    Reasoning, Replay, Response, Role, Roles, Switch, System, Tools,
};
pub use witness::Witness;
