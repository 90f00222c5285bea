//! The command line.

mod apply_request;
mod child;
mod conformance;
#[cfg(not(target_family = "wasm"))]
mod dataset;
mod encoder;
mod explain;
mod file;
mod grammar;
mod inspect;
mod lines;
mod masks;
mod model;
mod port;
mod render;
mod response_request;
mod show;
mod terminal;
mod timed;
mod variable;

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::ExitCode;

use crate::conformance::printable;
use clap::error::{ContextKind, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;
use indicatif::{ProgressBar, ProgressStyle};

use terminal::JsonOutput;

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
    /// Renders each row of a data set: JSON Lines with conversations in, JSON Lines with prompts out.
    #[cfg(not(target_family = "wasm"))]
    Dataset(Box<dataset::Arguments>),
    /// Compares what a trainer reads of conversations with what a server lets the model read, and says where the two first differ.
    #[cfg(not(target_family = "wasm"))]
    Parity(Box<dataset::parity::Arguments>),
    /// Encodes prompts, for the commands `dataset` and `render`, which start this one.
    #[command(hide = true)]
    Encode,
    /// Writes a Parquet or Arrow file as JSON Lines, for the commands `dataset` and `parity`, which start this one.
    #[cfg(all(feature = "parquet", not(target_family = "wasm")))]
    #[command(hide = true)]
    Table { file: std::path::PathBuf },
    /// Shows what a template takes: roles, parts, tools, arguments, switches, and whether prompts stay prefixes.
    Inspect(Box<inspect::Arguments>),
    /// Prints what a model may write, as a grammar: calls of tools whose arguments fit their schemas, or an answer that fits a schema.
    Grammar(Box<grammar::Arguments>),
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
    /// Prints the manual page of the program or of a command.
    #[command(after_help = "Example:\n  chat-template manual dataset | man -l -")]
    Manual {
        /// The name of a command.
        name: Option<String>,
    },
}

/// Answers requests as `port` does, for a fuzz target.
///
/// # Errors
/// If reading or writing fails.
#[cfg(fuzzing)]
pub fn answer_requests(limits: chat_template::Limits, input: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
    port::answer_lines(limits, show::Mode::Fast, None, input, out)
}

/// Runs the command that the process's arguments name.
pub fn run() -> ExitCode {
    let matches = command().try_get_matches();
    let arguments = match matches.and_then(|matches| Arguments::from_arg_matches(&matches)) {
        Ok(arguments) => arguments,
        Err(error) => return refuse_arguments(&error),
    };
    let result = match arguments.command {
        Command::Render(arguments) => render::run(&arguments),
        #[cfg(not(target_family = "wasm"))]
        Command::Dataset(arguments) => return dataset::run(&arguments),
        #[cfg(not(target_family = "wasm"))]
        Command::Parity(arguments) => return dataset::parity::run(&arguments),
        Command::Encode => encoder::serve().map_err(|error| format!("error: {error}")),
        #[cfg(all(feature = "parquet", not(target_family = "wasm")))]
        Command::Table { file } => dataset::table::write(&file),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Grammar(arguments) => grammar::run(&arguments),
        Command::Port(arguments) => port::run(&arguments),
        Command::Conformance(command) => return conformance::run(command),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "chat-template", &mut script);
            print(script).map_err(|error| format!("error: {error}"))
        }
        Command::Manual { name } => print_manual(name.as_deref()).map_err(|error| format!("error: {error}")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            warn(&message);
            ExitCode::FAILURE
        }
    }
}

/// Returns the description of the arguments. The lines of a paragraph of its help are joined, because they are broken at the width of the
/// terminal.
fn command() -> clap::Command {
    Arguments::command().mut_subcommands(|command| match command.get_after_help() {
        Some(help) => {
            let help = join_lines(&help.to_string());
            command.after_help(help)
        }
        None => command,
    })
}

/// Joins a line that is broken near column 140 with the next one, unless that one begins an entry of a table.
fn join_lines(help: &str) -> String {
    let mut joined = String::new();
    let mut before = "";
    for line in help.lines() {
        let indent = line.len().saturating_sub(line.trim_start().len());
        let continues = indent == 0 && !before.starts_with(' ') && !line.is_empty() || indent > 4;
        match before.len() > 115 && continues {
            true => joined.push(' '),
            false if joined.is_empty() => {}
            false => joined.push('\n'),
        }
        let is_joined = joined.ends_with(' ');
        joined.push_str(if is_joined { line.trim_start() } else { line });
        before = line;
    }
    joined
}

fn print_manual(name: Option<&str>) -> Result<(), String> {
    let mut command = command();
    command.build();
    let chosen = match name {
        Some(name) => command
            .find_subcommand(name)
            .ok_or_else(|| format!("there is no command {name}"))?,
        None => &command,
    };
    let mut page = Vec::new();
    let chosen = chosen.clone().disable_help_subcommand(true);
    clap_mangen::Man::new(chosen)
        .render(&mut page)
        .map_err(|error| error.to_string())?;
    print(page)
}

/// Prints the error of wrong arguments, or the text of `--help` or `--version`. The error repeats arguments, which can be names of files
/// from strangers.
fn refuse_arguments(error: &clap::Error) -> ExitCode {
    let is_active = |argument: std::ffi::OsString| matches!(printable(&argument.to_string_lossy()), Cow::Owned(_));
    if error.use_stderr() && std::env::args_os().any(is_active) {
        warn(error.render().to_string().trim_end());
    } else {
        // The text is lost if the stream is closed.
        drop(error.print());
    }
    let wrong = error.get(ContextKind::InvalidArg).map(ToString::to_string);
    if let Some(model) = wrong.filter(|wrong| error.kind() == ErrorKind::UnknownArgument && !wrong.starts_with('-')) {
        if std::env::args_os().nth(1).is_some_and(|command| command == "render") {
            warn(&format!(
                "\nA model and a conversation are options:\n  chat-template render --model {model} --messages FILE"
            ));
        }
    }
    u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
}

/// Writes a line to standard error, with its control characters escaped. The line is lost if standard error is closed.
fn warn(message: &str) {
    drop(writeln!(std::io::stderr(), "{}", printable(message)));
}

/// Writes text to standard output. Control characters are escaped on a terminal, but not in a file or a pipe.
fn print_text(text: &str) -> Result<(), String> {
    if std::io::stdout().is_terminal() {
        print(printable(text).as_bytes())
    } else {
        print(text)
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

/// Writes to standard output the JSON that a function writes, without a copy of the whole.
fn print_json(write: impl FnOnce(&mut &mut dyn Write) -> io::Result<()>) -> Result<(), String> {
    let stdout = io::stdout();
    let is_terminal = stdout.is_terminal();
    let mut out = BufWriter::new(JsonOutput::new(stdout.lock(), is_terminal));
    let written = write(&mut (&mut out as &mut dyn Write));
    match written.and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(format!("standard output: {error}")),
        _ => Ok(()),
    }
}

/// Makes a progress bar on standard error. It is drawn only on a terminal. Without a number of steps it is a spinner.
fn bar(steps: Option<u64>, template: &str) -> ProgressBar {
    let bar = steps.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// The maximum number of jobs. Each has a thread, and a process if it runs a port.
const MAX_JOBS: usize = 256;

/// Parses a number of cases.
fn parse_count(text: &str) -> Result<std::num::NonZeroUsize, String> {
    text.parse().map_err(|_| "this must be a whole number from 1".to_owned())
}

/// Parses a number of jobs.
fn parse_jobs(text: &str) -> Result<std::num::NonZeroUsize, String> {
    let jobs = text
        .parse()
        .ok()
        .filter(|jobs: &std::num::NonZeroUsize| jobs.get() <= MAX_JOBS);
    jobs.ok_or_else(|| format!("this must be a whole number from 1 to {MAX_JOBS}"))
}

/// Returns the given number of jobs, or the number of processors.
fn jobs(asked: Option<std::num::NonZeroUsize>) -> usize {
    let jobs = asked.or_else(|| std::thread::available_parallelism().ok());
    jobs.map_or(1, std::num::NonZeroUsize::get)
}
