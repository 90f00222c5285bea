//! The program `chat-template`.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
