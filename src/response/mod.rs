//! Turns the text that a model writes into a message, by a description of the model's format.
//!
//! ```text
//! <think>Greet.</think>Hello!<|end|>   ->   {"role": "assistant", "reasoning": "Greet.", "content": "Hello!"}
//! ```
//!
//! A description is the key `response_template` of a `tokenizer_config.json`. transformers 5.24.0 reads it in `utils/chat_parsing`;
//! [`ResponseTemplate`] gives the same message or the same error. [`ResponseParser`] does so while the model writes.
//!
//! Regular expressions have the syntax of Python's module `regex`. Of this, what needs backtracking is refused by name when the description
//! is loaded, so that the time of parsing is linear: look-around before the end of an expression, `\b`, backreferences and possessive
//! repetitions. Flags, and classes within classes, are refused too.

mod arguments;
mod automaton;
mod calls;
mod coerce;
mod content;
mod dialect;
mod groups;
mod machine;
mod parser;
mod pattern;
mod stream;
mod template;
mod transform;
mod values;
mod weight;

pub use parser::{Event, ParseOptions, ResponseParser};
pub use template::ResponseTemplate;
