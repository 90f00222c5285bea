//! The program `chat-template`: the command line, the conformance suite and its runner, and the fuzzer.
//!
//! The program is what is promised. This library is for its tests, the benches and the fuzz targets.

mod cli;
pub mod conformance;
mod page;

#[cfg(fuzzing)]
pub use cli::answer_requests;
pub use cli::run;
