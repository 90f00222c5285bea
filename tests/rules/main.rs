//! Rules of this crate's code that the compiler does not check.
#![allow(clippy::restriction, clippy::pedantic, reason = "a test says what it expects by failing")]

mod charges;
mod floors;
mod public;
mod sources;
