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
    /// The content of a message or of an item in one.
    Content,
}

impl InputPart {
    /// Returns the part that a value in this part belongs to. `is_in_item` says whether its container is the item of a list.
    #[inline]
    pub(super) fn enter(self, is_in_item: bool, role: Role, key: &str) -> Self {
        let is_item = role == Role::Item;
        match self {
            Self::Content | Self::Foreign => self,
            Self::Message | Self::Call | Self::Field if is_in_item && !is_item && key == "content" => Self::Content,
            Self::Message if !is_item && key == "role" => Self::Role,
            Self::Message if !is_item && key == "tool_calls" => Self::Calls,
            Self::Call if !is_item && key == "function" => Self::Function,
            Self::Message | Self::Call | Self::Function => Self::Field,
            Self::Field | Self::Role => self,
            Self::Calls => Self::Call,
            Self::Messages if is_item => Self::Message,
            Self::Messages => Self::Foreign,
            Self::Root if role == Role::Token => Self::Other,
            Self::Root if key == "messages" => Self::Messages,
            Self::Root if matches!(key, "tools" | "documents") => Self::Foreign,
            Self::Root | Self::Other => Self::Other,
        }
    }

    /// Returns whether the part is a field of a message or of a call. The list of calls, a call and its function are no fields.
    pub(super) fn is_field(self) -> bool {
        matches!(self, Self::Role | Self::Field | Self::Content)
    }

    /// Returns whether the part is a message or in one.
    pub(super) fn is_in_message(self) -> bool {
        self.is_field() || matches!(self, Self::Message | Self::Calls | Self::Call | Self::Function)
    }
}
