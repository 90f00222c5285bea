//! The messages from which the search makes its conversations.

use std::rc::Rc;

use serde_json::{Value, json};

use super::Growth;
use crate::inspect::plant::{self, Form};

/// A message of the search.
#[derive(Clone, Debug)]
pub struct Turn {
    pub kind: Kind,
    /// The message.
    pub message: Rc<Value>,
}

/// The kind of a message, which decides where it can be in a conversation, and the number of its calls. A letter is the kind: `h` are
/// instructions before all other messages, `u` is a user message, `a` an assistant message without calls, `c` one with calls, and `r` the
/// result of a call.
pub type Kind = (char, usize);

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
            "user" => 'u',
            "tool" => 'r',
            "assistant" if count > 0 => 'c',
            "assistant" => 'a',
            _ => 'h',
        };
        let message = match kind {
            'c' => {
                let calls = CALLS.iter().take(count).map(|call| make_call(call, has_text_arguments));
                plant::calling(&calls.collect::<Vec<_>>(), content)
            }
            'r' => plant::result(CALLS[0].0, FUNCTION, &content.unwrap_or_default()),
            _ => json!({"role": role, "content": content}),
        };
        let message = match reasoning {
            Some(reasoning) => plant::with_field(&message, "reasoning_content", Some(Value::from(reasoning))),
            None => message,
        };
        Turn {
            kind: (kind, count),
            message: Rc::new(message),
        }
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
    for (kind, calls) in kinds {
        let fits = match kind {
            'h' => last.is_none(),
            'u' => matches!(last, None | Some('h' | 'a')),
            'r' => waiting > 0,
            _ => waiting == 0 && matches!(last, Some('u' | 'r')),
        };
        if !fits {
            return false;
        }
        waiting = if kind == 'r' { waiting.saturating_sub(1) } else { calls };
        last = Some(kind);
    }
    last.is_some()
}

impl Growth {
    /// Returns whether a conversation whose last message is of the kind `last` grows in this way by a message of the kind `next`.
    pub fn joins(self, last: char, next: char) -> bool {
        match self {
            Self::GenerationPrompt | Self::Assistant => matches!((last, next), ('u' | 'r', 'a' | 'c')),
            Self::Tool => matches!((last, next), ('c' | 'r', 'r')),
            Self::User => (last, next) == ('a', 'u'),
        }
    }
}
