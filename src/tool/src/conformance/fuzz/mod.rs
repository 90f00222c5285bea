//! Random templates and contexts that a port and a reference port answer.
//!
//! ```text
//! chat-template conformance fuzz --port PORT --reference REFERENCE --seed 1 --count 20000
//! ```
//!
//! A round is a random template with a random context, made by [`generate`]. Both ports answer it,
//! [`compare`](super::compare) says whether the answers agree, [`shrink`] reduces a round with a difference to a small case, and
//! [`effect`] counts which parts of the templates determined their output.

mod effect;
mod generate;
mod round;
mod run;
mod shrink;
mod summary;

pub use round::random_request;
pub use run::Fuzzer;
pub use summary::{Feature, Finding, Fuzzed, HitKind, Hits, Tally};
