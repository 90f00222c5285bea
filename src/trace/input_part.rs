//! The parts of an input of `apply` that turns distinguish.
//!
//! ```text
//! /messages/0/tool_calls/0/function/arguments/city   ->   in the field `arguments` of a call
//! ```

use super::known::Role;

/// A part of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputPart {
    Root,
    /// A special token, or a variable other than the messages, the tools and the documents.
    Other,
    /// The tools, the documents, or a part of them.
    Foreign,
    Messages,
    Message,
    /// The field `role` of a message.
    Role,
    /// The field `tool_calls` of a message.
    Calls,
    Call,
    /// The field `function` of a call.
    Function,
    /// Any other field of a message, or of one of its calls.
    Field,
}

impl InputPart {
    /// Returns the part that a value in this part belongs to.
    pub(super) fn enter(self, role: Role, key: &str) -> Self {
        match (self, role == Role::Item, key) {
            (Self::Root, ..) if role == Role::Token => Self::Other,
            (Self::Root, _, "messages") => Self::Messages,
            (Self::Root, _, "tools" | "documents") => Self::Foreign,
            (Self::Messages, true, _) => Self::Message,
            (Self::Messages, false, _) => Self::Foreign,
            (Self::Message, false, "role") => Self::Role,
            (Self::Message, false, "tool_calls") => Self::Calls,
            (Self::Calls, ..) => Self::Call,
            (Self::Call, false, "function") => Self::Function,
            (Self::Message | Self::Call | Self::Function, ..) => Self::Field,
            (Self::Field | Self::Role | Self::Foreign, ..) => self,
            (Self::Root | Self::Other, ..) => Self::Other,
        }
    }
}
