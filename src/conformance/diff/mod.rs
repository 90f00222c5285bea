//! A user's own templates with a user's own conversations, asked of two ports: where do they differ?
//!
//! ```text
//! chat-template conformance diff --port PORT --reference REFERENCE --templates ~/models --conversations chats.jsonl
//! ```
//!
//! [`find`](templates::find) looks for templates, [`read`](conversations::read) reads conversations, and each pair is an `apply` request,
//! or one to render where a port does not know `apply`.

mod conversations;
mod pairs;
mod templates;

pub use conversations::{Conversation, read as read_conversations};
pub use pairs::{Differ, Differed, Difference};
pub use templates::{Found, find as find_templates};
