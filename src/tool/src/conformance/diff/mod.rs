//! Compares two ports over a user's own templates and conversations.
//!
//! ```text
//! chat-template conformance diff --port PORT --reference REFERENCE --templates ~/models --conversations chats.jsonl
//! ```
//!
//! [`find`](templates::find) finds the templates and [`read`](conversations::read) reads the conversations. Each pair becomes an
//! `apply` request, or a `render` request if a port does not know `apply`.

mod conversations;
mod pairs;
mod templates;

pub use conversations::{Conversation, read as read_conversations};
pub use pairs::{Differ, Differed};
pub use templates::{Found, find as find_templates};
