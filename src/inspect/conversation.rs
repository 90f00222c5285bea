//! The conversations that experiments render.
//!
//! ```text
//! arrange(&[Form::String], &["*", "su*"], …)   ->   [m]   [system, user, m]
//! ```
//!
//! A report says that a template refuses a message only if the template refuses each of several conversations with it, because the refusal
//! of one can be due to the other messages in it.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use serde_json::{Map, Value};

use super::plant::{self, ANSWER, FUNCTION, Form, PLANT, SYSTEM, USER, say};
use crate::report::Witness;

/// A conversation that is rendered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conversation {
    pub messages: Vec<Rc<Value>>,
    pub tools: Option<Rc<Value>>,
    pub documents: Option<Value>,
    pub variables: Option<Value>,
    pub add_generation_prompt: bool,
}

impl Conversation {
    pub fn new(messages: impl IntoIterator<Item = Value>) -> Self {
        Self {
            messages: messages.into_iter().map(Rc::new).collect(),
            ..Self::default()
        }
    }

    /// Sets the tools.
    pub fn with_tools(mut self, tools: Option<Value>) -> Self {
        self.tools = tools.map(Rc::new);
        self
    }

    /// Adds a message.
    pub fn with_message(mut self, message: Value) -> Self {
        self.messages.push(Rc::new(message));
        self
    }

    /// Requests a generation prompt at the end of the prompt.
    pub fn prompted(mut self) -> Self {
        self.add_generation_prompt = true;
        self
    }

    /// Sets the variables of the caller.
    pub fn with_variables(mut self, variables: Option<Value>) -> Self {
        self.variables = variables;
        self
    }

    /// Sets or removes the content of the last message that is wanted, if there is one.
    pub fn with_content(mut self, is_wanted: impl Fn(&Value) -> bool, content: Option<Value>) -> Self {
        if let Some(message) = self.messages.iter_mut().rfind(|message| is_wanted(message)) {
            *message = Rc::new(plant::with_content(message, content));
        }
        self
    }

    /// Returns the value at a pointer of the first message that has a key.
    pub fn value(&self, key: &str, pointer: &str) -> Option<&Value> {
        self.messages
            .iter()
            .find(|message| message.get(key).is_some())?
            .pointer(pointer)
    }

    /// Returns a witness of the conversation, without its prompt or error.
    pub fn to_witness(&self) -> Witness {
        Witness {
            messages: self.messages.iter().map(|message| (**message).clone()).collect(),
            tools: self.tools.as_deref().cloned(),
            documents: self.documents.clone(),
            variables: self.variables.clone(),
            add_generation_prompt: self.add_generation_prompt,
            ..Witness::default()
        }
    }
}

impl From<&Witness> for Conversation {
    fn from(witness: &Witness) -> Self {
        Self {
            documents: witness.documents.clone(),
            variables: witness.variables.clone(),
            add_generation_prompt: witness.add_generation_prompt,
            ..Self::new(witness.messages.as_array().cloned().unwrap_or_default())
        }
        .with_tools(witness.tools.clone())
    }
}

/// Hashes the number of messages and the last two messages, which differ between most conversations. To hash all of their JSON would take
/// as long as a render.
impl Hash for Conversation {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.messages.len().hash(state);
        for message in self.messages.iter().rev().take(2) {
            message.as_object().map(Map::len).hash(state);
            message.get("content").and_then(Value::as_str).hash(state);
        }
        (&self.variables, self.tools.is_some(), self.add_generation_prompt).hash(state);
    }
}

/// Returns conversations in several orders of messages, each in several versions: in a version, the messages around the planted one have
/// one of the forms. An order is a string: `s`, `u` and `a` are a system message, a user message and an assistant message, and any other
/// letter is a message that `planted` returns for this letter.
pub fn arrange<const N: usize>(forms: &[Form], orders: &[&str], planted: impl Fn(Form) -> [(char, Value); N]) -> Vec<Conversation> {
    let in_form = |form: &Form| {
        let [system, user, answer] =
            [("system", SYSTEM), ("user", USER), ("assistant", ANSWER)].map(|(role, text)| say(role, *form, text));
        let others = planted(*form);
        let known = [('s', system), ('u', user), ('a', answer)].into_iter().chain(others);
        let known: Vec<(char, Rc<Value>)> = known.map(|(letter, message)| (letter, Rc::new(message))).collect();
        let find = |letter: char| {
            known
                .iter()
                .find(|(other, _)| *other == letter)
                .map(|(_, message)| Rc::clone(message))
        };
        let conversation = |order: &&str| Conversation {
            messages: order.chars().filter_map(find).collect(),
            ..Conversation::default()
        };
        orders.iter().map(conversation).collect::<Vec<_>>()
    };
    forms.iter().flat_map(in_form).collect()
}

/// Returns conversations that contain a message of a role. The content of the other messages has one of the forms.
pub fn around(role: &str, message: &Value, forms: &[Form]) -> Vec<Conversation> {
    let orders: &[&str] = match role {
        "system" => &["*u", "*", "*uau", "u*", "ua*u"],
        "developer" => &["*u", "*", "*uau", "s*u", "u*", "u*u", "ua*u"],
        "assistant" => &["u*", "u*u", "su*", "su*u", "uau*", "*", "*u"],
        "tool" => &["u*", "ua*", "sua*", "*"],
        _ => &["*", "s*", "ua*", "sua*", "u*", "*a", "*au"],
    };
    arrange(forms, orders, |_| [('*', message.clone())])
}

/// The number of conversations with tools that [`with_calls`] returns for one form of content and two forms of arguments.
pub const WITH_TOOLS: usize = 18;

/// Returns conversations with calls. The content of the other messages has one of the forms. Conversations with tools come before those
/// without, and within each group those with results come first. `calls` returns the calls with arguments as JSON text or as an object;
/// `are_text` says in which order the two are tried.
pub fn with_calls(forms: &[Form], are_text: &[bool], calls: impl Fn(bool) -> Vec<Value>, results: &[Value]) -> Vec<Conversation> {
    let mut conversations = Vec::new();
    for (tools, form) in [true, false]
        .into_iter()
        .flat_map(|tools| forms.iter().map(move |form| (tools, *form)))
    {
        for (has_results, has_answer) in [(true, false), (true, true), (false, false)] {
            for content in [Some(Value::from("")), None, Some(form.content(PLANT))] {
                for is_text in are_text {
                    let mut messages = vec![say("user", form, USER), plant::calling(&calls(*is_text), content.clone())];
                    messages.extend(results.iter().filter(|_| has_results).cloned());
                    messages.extend(has_answer.then(|| say("assistant", form, ANSWER)));
                    conversations.push(Conversation::new(messages).with_tools(tools.then(|| plant::tools(FUNCTION))));
                }
            }
        }
    }
    conversations
}
