//! The command line.

mod apply_request;
mod conformance;
mod explain;
mod file;
mod port;
mod render;
mod show;
mod variable;

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
    /// Answers requests of the conformance protocol: JSON objects, one per line, from standard input to standard output.
    Port(port::Arguments),
    /// Exports the conformance suite, and tests ports with it.
    #[command(subcommand)]
    Conformance(conformance::Command),
    /// Prints the completion script of a shell.
    #[command(after_help = "Example:\n  chat-template completions bash > ~/.local/share/bash-completion/completions/chat-template")]
    Completions {
        /// The shell that reads the script.
        shell: Shell,
    },
}

/// Runs the command of the process's arguments.
pub fn run() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Render(arguments) => render::run(&arguments),
        Command::Port(arguments) => port::run(&arguments),
        Command::Conformance(command) => return conformance::run(command),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "chat-template", &mut script);
            print(script).map_err(|error| format!("error: {error}"))
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

/// Writes to standard output. It is not an error if the reader, such as `head`, closes the pipe.
fn print(text: impl AsRef<[u8]>) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_ref()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(format!("standard output: {error}")),
        _ => Ok(()),
    }
}
