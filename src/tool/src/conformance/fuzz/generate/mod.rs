//! Random templates and contexts.
//!
//! ```text
//! a template      {% for a in ['a', 'b'] %}{{ loop.index }}{{ a|upper }}{% endfor %}
//! a mutated one   {% for a in ['a', 'b'] %}{{ loop.index a }}{{ ()|upper }}{% endfor %}
//! ```
//!
//! [`typed`] writes a template from the phrases of `phrases.txt`, most of which print, for a [`context`]. A quarter of them are mutated,
//! token by token, by [`sentence`]; most of these fail. Of the engine, only the names and parameters of its built-ins are used here.

pub mod context;
mod phrase_features;
mod phrase_reader;
pub mod phrases;
pub mod rng;
pub mod sentence;
pub mod typed;
mod types;
pub mod vocabulary;
