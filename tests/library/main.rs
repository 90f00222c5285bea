//! Tests of the library's public functions.
#![allow(clippy::restriction, clippy::pedantic, reason = "a test says what it expects by failing")]

#[cfg(feature = "response")]
mod answers;
mod append;
#[cfg(feature = "inspect")]
mod derive;
#[cfg(feature = "internal")]
mod examples;
mod gguf;
#[cfg(feature = "response")]
mod grammar;
mod hostile;
mod injection;
#[cfg(feature = "inspect")]
mod inspect;
mod json;
mod limits;
mod model;
mod names;
mod notes;
mod text;
#[cfg(feature = "internal")]
mod time;
mod trace;
#[cfg(feature = "internal")]
mod unicode;
mod unsupported;
