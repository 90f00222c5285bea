//! The commands.

mod port;
mod render;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Renders the chat templates of language models exactly as Python's transformers does.
#[derive(Parser)]
#[command(name = "chat-template", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Renders a template with a context and prints the output.
    Render(render::Arguments),
    /// Answers requests of the conformance protocol: one JSON object a line, from standard input to standard output.
    Port,
}

/// Runs what the command line asks for.
pub fn run() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Render(arguments) => render::run(&arguments),
        Command::Port => port::run().map_err(|error| error.to_string()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
