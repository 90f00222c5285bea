//! The base conversations around the messages of an experiment.
//!
//! ```text
//! around("assistant", m)   ->   [user, m]   [user, m, user]   [system, user, m]   …
//! ```
//!
//! A report says that a template refuses a message only if the template refuses each of these conversations, because the refusal of one
//! can be due to the other messages in it.

use serde_json::Value;

use super::lab::Trial;
use super::plant::{self, ANSWER, Form, PLANT, SECOND, SYSTEM, USER, say};

/// Returns conversations around a message of a role. The texts of the other messages have one of the forms.
pub fn around(role: &str, message: &Value, forms: &[Form]) -> Vec<Trial> {
    let mut trials = Vec::new();
    for form in forms {
        let [system, user, answer] = base(*form);
        let orders: &[&[&Value]] = match role {
            "system" => &[
                &[message, &user],
                &[message],
                &[message, &user, &answer, &user],
                &[&user, message],
                &[&user, &answer, message, &user],
            ],
            "developer" => &[
                &[message, &user],
                &[message],
                &[message, &user, &answer, &user],
                &[&system, message, &user],
                &[&user, message],
                &[&user, message, &user],
                &[&user, &answer, message, &user],
            ],
            "assistant" => &[
                &[&user, message],
                &[&user, message, &user],
                &[&system, &user, message],
                &[&system, &user, message, &user],
                &[&user, &answer, &user, message],
                &[message],
                &[message, &user],
            ],
            "tool" => &[
                &[&user, message],
                &[&user, &answer, message],
                &[&system, &user, &answer, message],
                &[message],
            ],
            _ => &[
                &[message],
                &[&system, message],
                &[&user, &answer, message],
                &[&system, &user, &answer, message],
                &[&user, message],
                &[message, &answer],
                &[message, &answer, &user],
            ],
        };
        trials.extend(orders.iter().map(|order| Trial::new(join(order))));
    }
    trials
}

/// Returns a message of the system, of the user and of the assistant.
pub fn base(form: Form) -> [Value; 3] {
    [
        say("system", form, SYSTEM),
        say("user", form, USER),
        say("assistant", form, ANSWER),
    ]
}

/// Returns a conversation of copies of messages.
pub fn join(messages: &[&Value]) -> Vec<Value> {
    messages.iter().map(|message| (*message).clone()).collect()
}

/// A call of a tool with its result, and the forms in which conversations contain the two.
pub struct Cycle<'c> {
    /// Returns the calls. Their arguments are JSON text if the flag is true, and objects otherwise.
    pub calls: &'c dyn Fn(bool) -> Vec<Value>,
    pub results: Vec<Value>,
    /// The values of the flag of `calls`, in the order in which they are tried.
    pub are_text: &'c [bool],
    pub forms: &'c [Form],
}

/// The number of trials of a [`Cycle`] that have tools, for one form of content and two forms of arguments.
pub const WITH_TOOLS: usize = 18;

impl Cycle<'_> {
    /// Returns the conversations of the cycle: first those with tools, and in each half first those with a result.
    pub fn trials(&self) -> Vec<Trial> {
        let mut trials = Vec::new();
        let variants = [true, false].into_iter();
        for (with_tools, form) in variants.flat_map(|with_tools| self.forms.iter().map(move |form| (with_tools, *form))) {
            let [_, user, answer] = base(form);
            for end in [End::Result, End::Answer, End::Call] {
                for content in [Some(Value::from("")), None, Some(form.content(PLANT))] {
                    for is_text in self.are_text {
                        let mut messages = vec![user.clone(), plant::calling(&(self.calls)(*is_text), content.clone())];
                        if end != End::Call {
                            messages.extend(self.results.iter().cloned());
                        }
                        if end == End::Answer {
                            messages.push(answer.clone());
                        }
                        let tools = with_tools.then(|| plant::tools(plant::FUNCTION));
                        trials.push(Trial::new(messages).with_tools(tools));
                    }
                }
            }
        }
        trials
    }
}

/// The last message of a conversation with a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Call,
    Result,
    Answer,
}

/// Returns the result of the call with the planted id.
pub fn planted_result(form: Form) -> Value {
    plant::result(plant::ID, plant::FUNCTION, &form.content(SECOND))
}
