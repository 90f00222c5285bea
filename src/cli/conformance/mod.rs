//! `chat-template conformance`: exports the suite, and runs it against a port.
//!
//! ```text
//! chat-template conformance run --port 'python3 adapter.py' --only loops --report report.html
//! ```
//!
//! Exit status: 0 if all cases are right, 1 if some are wrong, 2 if nothing could be run.

mod diff;
mod fuzz;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use crate::conformance::{self, Exceptions, Format, LICENCE, Ran, Report, Runner, SUITE_VERSION, Suite};
use clap::{Args, Subcommand, ValueEnum};
use indicatif::ProgressBar;

use super::{jobs, parse_count, parse_jobs, print, warn};
use crate::cli::show::When;

/// The number of causes for which a case is shown in full. A report has all cases.
const MAX_SHOWN: usize = 20;

/// The number of cases of a cause whose ids are shown.
const MAX_IDS: usize = 5;

#[derive(Subcommand)]
pub enum Command {
    /// Prints the whole suite as JSON lines: requests of the protocol, each with the reference's answer.
    #[command(after_help = format!(
        "Example:\n  chat-template conformance export > suite.jsonl\n\nSuite {SUITE_VERSION}, licence {LICENCE}."
    ))]
    Export,
    /// Runs the suite against a port, and shows what is right and wrong.
    #[command(
        after_help = "Example:\n  chat-template conformance run --port 'python3 adapter.py' --only loops --report report.html"
    )]
    Run(Box<RunArguments>),
    /// Runs a dozen checks against a port, and says what is wrong with its adapter.
    #[command(after_help = "Example:\n  chat-template conformance smoke --port 'python3 adapter.py'")]
    Smoke(PortArguments),
    /// Compares two ports over your own templates and conversations.
    #[command(after_help = diff::HELP)]
    Diff(Box<diff::DiffArguments>),
    /// Compares a port with the reference over random templates, and shows the differences as small cases.
    #[command(after_help = fuzz::HELP)]
    Fuzz(Box<fuzz::FuzzArguments>),
    /// Shows saved reports as one matrix.
    #[command(after_help = "Example:\n  chat-template conformance summary first.json second.json --format markdown")]
    Summary {
        /// Reports in JSON, as `run --report` writes them.
        #[arg(required = true)]
        reports: Vec<PathBuf>,
        /// The format of the summary.
        #[arg(long, value_enum, default_value = "text")]
        format: SummaryFormat,
    },
    /// Prints the file from which shields.io draws a badge.
    #[command(after_help = "Example:\n  chat-template conformance badge report.json > badge.json")]
    Badge {
        /// A report in JSON.
        report: PathBuf,
    },
}

#[derive(Args)]
pub struct PortArguments {
    /// The command of the port. It is split into words as a shell does, but no shell runs.
    #[arg(long, value_name = "COMMAND")]
    port: String,
    /// The time that one answer may take, in seconds.
    #[arg(long, value_name = "S", default_value = TIMEOUT, value_parser = seconds)]
    timeout: Duration,
}

/// The default time of an answer in seconds.
const TIMEOUT: &str = "10";

#[derive(Args)]
pub struct RunArguments {
    #[command(flatten)]
    port: PortArguments,
    /// Runs only these cases: an area, an id, or the beginning of ids up to a slash. Can be given several times.
    #[arg(long, value_name = "AREA|ID")]
    only: Vec<String>,
    /// The number of processes of the port. The default is the number of processors.
    #[arg(long, value_name = "N", value_parser = parse_jobs)]
    jobs: Option<std::num::NonZeroUsize>,
    /// Another suite: a file with a case on each line, or a folder of such files.
    #[arg(long, value_name = "PATH")]
    suite: Option<PathBuf>,
    /// Writes a report in the format of its name: .json, .md, .html, or .xml (JUnit). Can be given several times.
    #[arg(long, value_name = "FILE", value_parser = report_path)]
    report: Vec<PathBuf>,
    /// Fails only on answers that are worse than in an earlier report (.json), or that a file does not list as exceptions: a JSON
    /// object with id, aspect and reason on each line.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Also compares the kind, text and line of an error.
    #[arg(long)]
    strict: bool,
    /// Stops after the first wrong case.
    #[arg(long, conflicts_with = "max_fail")]
    fail_fast: bool,
    /// Stops after this number of wrong cases.
    #[arg(long, value_name = "N", value_parser = parse_count)]
    max_fail: Option<std::num::NonZeroUsize>,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum SummaryFormat {
    Text,
    Markdown,
    Json,
    Html,
}

/// Runs a command. The exit status is 2 if it cannot be run.
pub fn run(command: Command) -> ExitCode {
    let result = match command {
        Command::Export => Suite::embedded().and_then(|suite| print(suite.to_lines())).map(|()| true),
        Command::Run(arguments) => run_suite(&arguments),
        Command::Smoke(arguments) => smoke(&arguments),
        Command::Diff(arguments) => diff::diff(&arguments),
        Command::Fuzz(arguments) => fuzz::fuzz(&arguments),
        Command::Summary { reports, format } => summary(&reports, format).map(|()| true),
        Command::Badge { report } => Report::open(&report)
            .and_then(|report| print(conformance::printable_json(&conformance::badge(&report)).as_bytes()))
            .map(|()| true),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            warn(&format!("error: {message}"));
            ExitCode::from(2)
        }
    }
}

fn run_suite(arguments: &RunArguments) -> Result<bool, String> {
    let mut suite = match &arguments.suite {
        Some(path) => Suite::open(path)?,
        None => Suite::embedded()?,
    };
    suite.select(&arguments.only)?;
    let exceptions = match &arguments.baseline {
        Some(path) => Exceptions::open(path)?,
        None => Exceptions::default(),
    };
    let max_fail = arguments.max_fail.map(std::num::NonZeroUsize::get);
    let runner = Runner {
        command: words("--port", &arguments.port.port)?,
        jobs: jobs(arguments.jobs),
        timeout: arguments.port.timeout,
        max_fail: if arguments.fail_fast { Some(1) } else { max_fail },
    };
    arguments.report.iter().try_for_each(|path| check_writable(path))?;
    let bar = bar(suite.cases.len());
    let ran = runner.run(&suite, |done, wrong| {
        bar.set_position(done as u64);
        bar.set_message(format!("{wrong} wrong"));
    });
    bar.finish_and_clear();
    let ran = ran?;
    for path in &arguments.report {
        write_report(path, &ran.report)?;
    }
    let compared = exceptions.compare(&ran.report, arguments.strict);
    print(describe_run(&ran, &compared, arguments).as_bytes())?;
    Ok(compared.worse.is_empty())
}

/// Returns the text about a run, with its control characters escaped.
fn describe_run(ran: &Ran, compared: &conformance::Compared, arguments: &RunArguments) -> String {
    let report = &ran.report;
    let causes = report.causes(arguments.strict);
    let mut shown = String::new();
    for cause in causes.iter().take(MAX_SHOWN) {
        let Some((case, detail)) = cause.cases.first() else { continue };
        shown.push_str(&conformance::failure(case, detail, When::Auto.is_colored()));
        let again = command_for(&case.id, arguments);
        let rest = format!("  {}: {}\n  again: {again}\n\n", cause.text, ids(&cause.cases));
        shown.push_str(&conformance::printable(&rest));
    }
    shown.push_str(&conformance::printable(&describe_totals(
        ran,
        compared,
        arguments,
        causes.len(),
    )));
    shown
}

/// Returns the text about a run below its causes.
fn describe_totals(ran: &Ran, compared: &conformance::Compared, arguments: &RunArguments, causes: usize) -> String {
    let report = &ran.report;
    let mut shown = String::new();
    if causes > MAX_SHOWN {
        let more = causes.saturating_sub(MAX_SHOWN);
        shown.push_str(&format!("… and {more} more causes; --report FILE.html shows all cases\n\n"));
    }
    shown.push_str(&format!(
        "{}\nsuite {}, answered by {}\n\n{}",
        report.port.title(),
        report.suite,
        report.reference,
        conformance::table(report)
    ));
    let is_asked = |case: &&conformance::CaseReport| case.is_lowered && case.verdict != conformance::Verdict::Unsupported;
    let lowered = report.cases.iter().filter(is_asked).count();
    if lowered > 0 {
        shown.push_str(&format!(
            "{lowered} `apply` cases were sent as `render` requests, because the port only renders\n"
        ));
    }
    if ran.left > 0 {
        shown.push_str(&format!("stopped early: {} cases were not run\n", ran.left));
    }
    if arguments.baseline.is_some() {
        for (title, lines) in [
            ("worse than the baseline", &compared.worse),
            ("listed in the baseline, and right", &compared.better),
        ] {
            if !lines.is_empty() {
                shown.push_str(&format!("\n{title}:\n  {}\n", lines.join("\n  ")));
            }
        }
    }
    shown
}

/// Returns the number of cases, and the first ids.
fn ids(cases: &[(&conformance::CaseReport, &conformance::Detail)]) -> String {
    let first: Vec<&str> = cases.iter().take(MAX_IDS).map(|(case, _)| &*case.id).collect();
    let more = if cases.len() > first.len() { ", …" } else { "" };
    let noun = if cases.len() == 1 { "case" } else { "cases" };
    format!("{} {noun}: {}{more}", cases.len(), first.join(", "))
}

/// Returns the command that runs one case as this run did.
fn command_for(id: &str, arguments: &RunArguments) -> String {
    let mut words = vec![
        "chat-template",
        "conformance",
        "run",
        "--only",
        id,
        "--port",
        &arguments.port.port,
    ];
    let suite = arguments.suite.as_ref().map(|path| path.display().to_string());
    if let Some(suite) = &suite {
        words.extend(["--suite", suite]);
    }
    if arguments.strict {
        words.push("--strict");
    }
    let timeout = arguments.port.timeout.as_secs_f64().to_string();
    if timeout != TIMEOUT {
        words.extend(["--timeout", &timeout]);
    }
    shlex::try_join(words.iter().copied()).unwrap_or_else(|_| words.join(" "))
}

fn write_report(path: &Path, report: &Report) -> Result<(), String> {
    let text = match path.extension().and_then(|end| end.to_str()) {
        Some("json") => report.json()?,
        Some("md") => conformance::markdown(report),
        Some("html") => conformance::printable(&conformance::html(report)).into_owned(),
        _ => conformance::junit(report)?,
    };
    write(path, &text)
}

/// Returns an error if a file cannot be written, so that a run does not end without its report.
fn check_writable(path: &Path) -> Result<(), String> {
    let is_new = !path.exists();
    let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
    file.map_err(|error| format!("{}: {error}", path.display()))?;
    if is_new {
        // The run may fail, and would leave an empty report.
        let _ = std::fs::remove_file(path);
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Makes a progress bar for a number of steps.
fn bar(steps: usize) -> ProgressBar {
    super::bar(Some(steps as u64), "{bar:40} {pos}/{len} {msg} {eta}")
}

fn smoke(arguments: &PortArguments) -> Result<bool, String> {
    let checks = conformance::smoke(&words("--port", &arguments.port)?, arguments.timeout)?;
    let mut shown = String::new();
    for check in &checks {
        let word = match check.is_right {
            Some(true) => "ok",
            Some(false) => "no",
            None => "–",
        };
        shown.push_str(&format!("{word:<4} {}\n", check.what));
        for line in check.advice.lines() {
            shown.push_str(&format!("       {line}\n"));
        }
    }
    print(conformance::printable(&shown).as_bytes())?;
    Ok(checks.iter().all(|check| check.is_right != Some(false)))
}

fn summary(paths: &[PathBuf], format: SummaryFormat) -> Result<(), String> {
    let reports: Result<Vec<Report>, String> = paths.iter().map(|path| Report::open(path)).collect();
    let format = match format {
        SummaryFormat::Text => Format::Text,
        SummaryFormat::Markdown => Format::Markdown,
        SummaryFormat::Json => Format::Json,
        SummaryFormat::Html => Format::Html,
    };
    let shown = conformance::summary(&reports?, format);
    let shown = match format {
        Format::Json => conformance::printable_json(&shown),
        _ => conformance::printable(&shown),
    };
    print(shown.as_bytes())
}

/// Splits the command of an option into words.
fn words(option: &str, command: &str) -> Result<Vec<String>, String> {
    Runner::split(command).map_err(|error| format!("{option}: {error}"))
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| "this must be a number of seconds above zero".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err("this must be a number of seconds above zero, and not too large".to_owned()),
    }
}

fn report_path(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension().and_then(|end| end.to_str()) {
        Some("json" | "md" | "html" | "xml") => Ok(path),
        _ => Err("the name should end in .json, .md, .html or .xml".to_owned()),
    }
}
