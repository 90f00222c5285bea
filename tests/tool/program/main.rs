//! The program, run as its users run it: the commands `conformance`, `port` and `render`.
#![allow(clippy::restriction, clippy::pedantic, reason = "a test says what it expects by failing")]

mod conformance;
mod numbers;
mod port;
mod ports;
mod render;

use std::process::Output;

/// The program.
const BINARY: &str = env!("CARGO_BIN_EXE_chat-template");

/// The command of this crate's port, quoted because its path can contain spaces.
const OWN: &str = concat!("'", env!("CARGO_BIN_EXE_chat-template"), "' port");

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}
