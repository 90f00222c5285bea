//! The messages from which the search makes its conversations.

use std::rc::Rc;

use serde_json::{Value, json};

use super::Growth;
use crate::inspect::plant::{self, Form};

/// A message of the search.
#[derive(Clone, Debug)]
pub struct Turn {
    /// The kind of message.
    pub kind: Kind,
    /// The message.
    pub message: Rc<Value>,
}

/// The kind of a message, which decides where it can be in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A message with instructions before all others.
    Head,
    /// A message of the user.
    User,
    /// A message of the assistant without calls.
    Answer,
    /// A message of the assistant with this number of calls.
    Calls(usize),
    /// A result of a call.
    Result,
}

/// The role of a message, the number of its calls, its reasoning and its content.
type Row = (&'static str, usize, Option<&'static str>, Option<(Form, &'static str)>);

/// The messages of the search. The first message of each kind is the plainest.
const TURNS: [Row; 28] = [
    ("system", 0, None, text("Be kind.")),
    ("developer", 0, None, text("Be kind.")),
    ("user", 0, None, text("Hi.")),
    ("user", 0, None, part("Hi.")),
    ("user", 0, None, text(" Hi.\n")),
    ("user", 0, None, text("")),
    ("user", 0, None, text("<tool_response>\nHi.\n</tool_response>")),
    ("assistant", 0, None, text("Yes.")),
    ("assistant", 0, Some("Hm."), text("Yes.")),
    ("assistant", 0, None, text("<think>\nHm.\n</think>\n\nYes.")),
    ("assistant", 0, None, text("")),
    ("assistant", 0, None, text("\n Yes. \n")),
    ("assistant", 0, None, part("Yes.")),
    ("assistant", 0, Some("\nHm.\n"), text("\n\nYes.")),
    ("assistant", 0, None, text("<think>Hm.")),
    ("assistant", 0, None, text("Hm.</think>Yes.")),
    ("assistant", 0, Some(""), text("Yes.")),
    ("assistant", 0, Some("Hm."), text("")),
    ("assistant", 1, None, text("")),
    ("assistant", 1, Some("Hm."), text("")),
    ("assistant", 1, None, text("Wait.")),
    ("assistant", 1, None, None),
    ("assistant", 2, None, text("")),
    ("assistant", 1, None, text("<think>\nHm.\n</think>\n\n")),
    ("tool", 0, None, text("Sun.")),
    ("tool", 0, None, part("Sun.")),
    ("tool", 0, None, text("\n Sun.\n")),
    ("tool", 0, None, text("")),
];

/// The ids of the calls in a message, each with the value of the call's argument.
const CALLS: [(&str, &str); 2] = [("callone11", "Rome"), ("calltwo22", "Oslo")];

const FUNCTION: &str = "look";

const fn text(text: &'static str) -> Option<(Form, &'static str)> {
    Some((Form::String, text))
}

const fn part(text: &'static str) -> Option<(Form, &'static str)> {
    Some((Form::Part, text))
}

/// Returns the messages of the search. The arguments of calls are JSON text or objects.
pub fn list_turns(has_text_arguments: bool) -> Vec<Turn> {
    let turn = |&(role, count, reasoning, content): &Row| {
        let content = content.map(|(form, text)| form.content(text));
        let kind = match role {
            "user" => Kind::User,
            "tool" => Kind::Result,
            "assistant" if count > 0 => Kind::Calls(count),
            "assistant" => Kind::Answer,
            _ => Kind::Head,
        };
        let message = match kind {
            Kind::Calls(_) => {
                let calls = CALLS.iter().take(count).map(|call| make_call(call, has_text_arguments));
                plant::calling(&calls.collect::<Vec<_>>(), content)
            }
            Kind::Result => plant::result(CALLS[0].0, FUNCTION, &content.unwrap_or_default()),
            Kind::Head | Kind::User | Kind::Answer => json!({"role": role, "content": content}),
        };
        let message = match reasoning {
            Some(reasoning) => plant::with_field(&message, "reasoning_content", Some(Value::from(reasoning))),
            None => message,
        };
        let message = Rc::new(message);
        Turn { kind, message }
    };
    TURNS.iter().map(turn).collect()
}

fn make_call((id, city): &(&str, &str), has_text_arguments: bool) -> Value {
    let arguments = if has_text_arguments {
        Value::from(format!("{{\"city\": \"{city}\"}}"))
    } else {
        json!({"city": city})
    };
    plant::call(id, FUNCTION, &arguments)
}

/// Returns the tools of the conversations that have any.
pub fn tools() -> Value {
    plant::tool(FUNCTION, "Looks at the sky.", ("city", "The city."))
}

/// Returns whether each message is where a message of its kind can be.
pub fn is_conversation(kinds: impl Iterator<Item = Kind>) -> bool {
    let mut last = None;
    let mut waiting = 0_usize;
    for kind in kinds {
        let fits = match kind {
            Kind::Head => last.is_none(),
            Kind::User => matches!(last, None | Some(Kind::Head | Kind::Answer)),
            Kind::Answer | Kind::Calls(_) => waiting == 0 && matches!(last, Some(Kind::User | Kind::Result)),
            Kind::Result => waiting > 0,
        };
        waiting = match kind {
            Kind::Calls(calls) => calls,
            Kind::Result => waiting.saturating_sub(1),
            _ => waiting,
        };
        if !fits {
            return false;
        }
        last = Some(kind);
    }
    last.is_some()
}

impl Growth {
    /// Returns whether a conversation whose last message is of the kind `last` grows in this way by a message of the kind `next`.
    pub fn joins(self, last: Kind, next: Kind) -> bool {
        match self {
            Self::GenerationPrompt | Self::Assistant => {
                matches!(last, Kind::User | Kind::Result) && matches!(next, Kind::Answer | Kind::Calls(_))
            }
            Self::Tool => matches!(last, Kind::Calls(_) | Kind::Result) && next == Kind::Result,
            Self::User => last == Kind::Answer && next == Kind::User,
        }
    }
}
