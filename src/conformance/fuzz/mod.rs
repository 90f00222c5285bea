//! Random templates and contexts, made from `grammar/` itself, asked of a port and of the reference.
//!
//! ```text
//! chat-template conformance fuzz --port PORT --reference REFERENCE --seed 1 --count 20000
//! ```
//!
//! A round is a template that [`walk`] writes by walking the grammar, for a [`context`] of values of every type. Both ports answer it,
//! [`compare`](super::compare) says whether they agree, and [`shrink`] makes what differs a small case. Of the engine only the names and parameters of
//! its built-ins are known here.

mod callee;
mod context;
mod function_types;
mod kinds;
mod names;
mod rng;
mod round;
mod run;
mod sentence;
mod shrink;
mod summary;
mod tokens;
mod vocabulary;
mod walk;
mod weights;

pub use run::Fuzzer;
pub use summary::{Finding, Fuzzed, HitKind, Hits, Tally};
