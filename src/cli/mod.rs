//! The commands.

mod apply_request;
mod conformance;
mod file;
mod port;
mod render;
mod show;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;

/// Renders the chat templates of language models exactly as Python's transformers does.
#[derive(Parser)]
#[command(name = "chat-template", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Renders a conversation with a model's chat template and prints the prompt.
    Render(Box<render::Arguments>),
    /// Answers requests of the conformance protocol: one JSON object a line, from standard input to standard output.
    Port(port::Arguments),
    /// The conformance suite: exports it, and runs it against a port.
    #[command(subcommand)]
    Conformance(conformance::Command),
    /// Prints completions for a shell, to be put where it looks for them.
    #[command(after_help = "Example:\n  chat-template completions bash > ~/.local/share/bash-completion/completions/chat-template")]
    Completions {
        /// The shell.
        shell: Shell,
    },
}

/// Runs what the command line asks for.
pub fn run() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Render(arguments) => render::run(&arguments),
        Command::Port(arguments) => port::run(&arguments),
        Command::Conformance(command) => return conformance::run(command),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "chat-template", &mut script);
            let written = std::io::stdout().lock().write_all(&script);
            written.map_err(|error| format!("error: standard output: {error}"))
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
