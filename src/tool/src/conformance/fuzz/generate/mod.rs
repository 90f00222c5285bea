//! Random templates and contexts.
//!
//! ```text
//! a wild template      {{ x.upper(1) is odd }}{% for a in 3 %}…
//! a typed template     {% for a in ['a', 'b'] %}{{ loop.index }}{{ a|upper }}{% endfor %}
//! ```
//!
//! [`walk`] writes a wild template by walking `grammar/template.ebnf`: it uses every production, and most of its templates fail.
//! [`typed`] writes a typed template from the phrases of `phrases.txt`: most of its templates print. Both make a [`sentence`] for a
//! [`context`]. Of the engine, only the names and parameters of its built-ins are used here.

mod callee;
pub mod context;
mod names;
mod phrase_features;
mod phrase_reader;
pub mod phrases;
pub mod rng;
pub mod sentence;
mod tokens;
pub mod typed;
pub mod typed_context;
mod types;
pub mod vocabulary;
pub mod walk;
mod weights;
