//! What a template takes: the parts of a [`Report`](crate::Report).
//!
//! ```text
//! roles.user.parts: repr, because [{"role": "user", "content": [{"type": "text", …}]}] is rendered as "[{'type': 'text', …"
//! ```

mod calls;
mod lint;
mod made;
mod prefix;
mod reads;
mod response;
mod roles;
mod switches;
mod witness;

pub use calls::{Arguments, Calls, Tools};
pub use lint::Finding;
pub(crate) use made::{Basics, Made, Part};
pub use prefix::{Boundary, Counterexample, Look, Prefix, Verdict};
pub use reads::{Read, Reads};
pub use response::Response;
pub use roles::{Alternation, Content, Media, Medium, NullContent, Outcome, Role, Roles, System};
pub use switches::{Change, GenerationPrompt, Reasoning, Replay, Switch};
pub use witness::Witness;
