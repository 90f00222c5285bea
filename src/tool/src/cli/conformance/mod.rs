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

use crate::conformance::{self, Exceptions, Format, LICENCE, Ran, Report, Runner, SUITE_VERSION, Strictness, Suite};
use clap::{Args, Subcommand};
use indicatif::ProgressBar;

use super::{jobs, parse_count, parse_jobs, print, warn};
use crate::cli::file::check_written;
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
    Export {
        /// Writes a release into a folder: suite-VERSION.jsonl.gz, and suite-VERSION.sha256 with the hashes of both forms.
        #[cfg(not(target_family = "wasm"))]
        #[arg(long, value_name = "DIR")]
        release: Option<PathBuf>,
    },
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
        format: Format,
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

/// How results are compared and reported.
#[derive(Args)]
pub struct JudgedArguments {
    /// Writes a report in the format of its name: .json, .md, .html, or .xml (JUnit). Can be given several times.
    #[arg(long, value_name = "FILE", value_parser = report_path)]
    report: Vec<PathBuf>,
    /// Fails only on answers that are worse than in an earlier report (.json), or that a file does not list as exceptions: a JSON
    /// object with id, aspect and reason on each line.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// The address of the whole report, which a Markdown report names if it does not have all cases.
    #[arg(long, value_name = "URL")]
    link: Option<String>,
    /// Also compares the kind of an error, or its kind, text and line, which is the default of this option.
    #[arg(long, value_name = "WHAT", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    strict: Option<Strictness>,
}

#[derive(Args)]
pub struct RunArguments {
    #[command(flatten)]
    port: PortArguments,
    /// Runs only these cases: an area, an id, the beginning of ids up to a slash, an id with `*`, or a tier, such as tier:everyday. Can be
    /// given several times.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// The number of processes of the port. The default is the number of processors.
    #[arg(long, value_name = "N", value_parser = parse_jobs)]
    jobs: Option<std::num::NonZeroUsize>,
    /// Leaves out these cases, which are named as by --only. Can be given several times.
    #[arg(long, value_name = "NAME")]
    exclude: Vec<String>,
    /// Another suite: a file with a case on each line, or a folder of such files.
    #[arg(long, value_name = "PATH")]
    suite: Option<PathBuf>,
    #[command(flatten)]
    judged: JudgedArguments,
    /// A version that the port mirrors, if its description does not say it, such as transformers=5.23.0 or python=3.11. Cases whose
    /// answer does not hold for it are skipped. Can be given several times.
    #[arg(long, value_name = "NAME=VERSION", value_parser = mirrored)]
    mirrors: Vec<(String, String)>,
    /// Stops after the first wrong case.
    #[arg(long, conflicts_with = "max_fail")]
    fail_fast: bool,
    /// Stops after this number of wrong cases.
    #[arg(long, value_name = "N", value_parser = parse_count)]
    max_fail: Option<std::num::NonZeroUsize>,
}

/// Runs a command. The exit status is 2 if it cannot be run.
pub fn run(command: Command) -> ExitCode {
    let result = match command {
        Command::Export {
            #[cfg(not(target_family = "wasm"))]
            release,
        } => export(
            #[cfg(not(target_family = "wasm"))]
            release.as_deref(),
        )
        .map(|()| true),
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

/// Prints the suite, or writes its release into a folder.
fn export(#[cfg(not(target_family = "wasm"))] release: Option<&Path>) -> Result<(), String> {
    let suite = Suite::embedded()?;
    #[cfg(not(target_family = "wasm"))]
    if let Some(folder) = release {
        return write_release(&suite, folder);
    }
    print(suite.to_lines())
}

#[cfg(not(target_family = "wasm"))]
fn write_release(suite: &Suite, folder: &Path) -> Result<(), String> {
    let fault = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(fault)?;
    let mut zipped = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut zipped, suite.to_lines().as_bytes()).map_err(fault)?;
    let zipped = zipped.finish().map_err(fault)?;
    let name = format!("suite-{}", suite.version);
    let sums = format!(
        "{}  {name}.jsonl.gz\n{}  {name}.jsonl\n",
        conformance::sha256(&zipped),
        suite.hash
    );
    std::fs::write(folder.join(format!("{name}.jsonl.gz")), zipped).map_err(fault)?;
    std::fs::write(folder.join(format!("{name}.sha256")), &sums).map_err(fault)?;
    print(sums)
}

fn run_suite(arguments: &RunArguments) -> Result<bool, String> {
    let mut suite = match &arguments.suite {
        Some(path) => Suite::open(path)?,
        None => Suite::embedded()?,
    };
    suite.select(&arguments.only)?;
    suite.exclude(&arguments.exclude)?;
    let judging = Judging::open(&arguments.judged, arguments.suite.as_slice())?;
    let max_fail = arguments.max_fail.map(std::num::NonZeroUsize::get);
    let runner = Runner {
        command: words("--port", &arguments.port.port)?,
        jobs: jobs(arguments.jobs),
        timeout: arguments.port.timeout,
        mirrors: arguments.mirrors.iter().cloned().collect(),
        max_fail: if arguments.fail_fast { Some(1) } else { max_fail },
    };
    let bar = bar(suite.cases.len());
    let ran = runner.run(&suite, |done, wrong| {
        bar.set_position(done as u64);
        bar.set_message(format!("{wrong} wrong"));
    });
    bar.finish_and_clear();
    let Ran { mut report, left } = ran?;
    let mut notes = String::new();
    let is_asked = |case: &&conformance::CaseReport| {
        case.is_lowered
            && !matches!(
                case.verdict,
                conformance::Verdict::Unsupported | conformance::Verdict::Skipped
            )
    };
    let lowered = report.cases.iter().filter(is_asked).count();
    if lowered > 0 {
        notes.push_str(&format!(
            "{lowered} `apply` cases were sent as `render` requests, because the port only renders\n"
        ));
    }
    if left > 0 {
        notes.push_str(&format!("stopped early: {left} cases were not run\n"));
    }
    judging.finish(&mut report, &notes, |id| Some(command_for(id, arguments)))
}

/// The exceptions and the options by which a report is judged.
struct Judging<'a> {
    exceptions: Exceptions,
    strictness: Strictness,
    arguments: &'a JudgedArguments,
}

impl<'a> Judging<'a> {
    /// Reads the baseline, and checks that the reports can be written, which are none of the files that are `read`.
    fn open(arguments: &'a JudgedArguments, read: &[PathBuf]) -> Result<Self, String> {
        check_outputs(read, &arguments.report)?;
        let exceptions = match &arguments.baseline {
            Some(path) => Exceptions::open(path)?,
            None => Exceptions::default(),
        };
        Ok(Self {
            exceptions,
            strictness: arguments.strict.unwrap_or_default(),
            arguments,
        })
    }

    /// Writes the reports, and shows what is wrong. Returns whether the run passes: something is right, and nothing is wrong that the
    /// baseline does not list.
    fn finish(&self, report: &mut Report, notes: &str, again: impl Fn(&str) -> Option<String>) -> Result<bool, String> {
        let compared = self.exceptions.compare(report, self.strictness);
        for path in &self.arguments.report {
            write_report(path, report, self.arguments.link.as_deref())?;
        }
        let causes = report.causes(self.strictness);
        let mut shown = String::new();
        for cause in causes.iter().take(MAX_SHOWN) {
            let Some((case, detail)) = cause.cases.first() else { continue };
            shown.push_str(&conformance::failure(case, detail, When::Auto.is_colored()));
            let again = again(&case.id).map(|again| format!("  again: {again}\n")).unwrap_or_default();
            let rest = format!("  {}: {}\n{again}\n", cause.text, ids(&cause.cases));
            shown.push_str(&conformance::printable(&rest));
        }
        let totals = self.describe_totals(report, &compared, notes, causes.len());
        shown.push_str(&conformance::printable(&totals));
        print(shown.as_bytes())?;
        Ok(compared.worse.is_empty() && report.total().right > 0)
    }

    /// Returns the text about a run below its causes.
    fn describe_totals(&self, report: &Report, compared: &conformance::Compared, notes: &str, causes: usize) -> String {
        let mut shown = String::new();
        if causes > MAX_SHOWN {
            let more = causes.saturating_sub(MAX_SHOWN);
            shown.push_str(&format!("… and {more} more causes; --report FILE.html shows all cases\n\n"));
        }
        let hash = match report.hash.get(..16) {
            Some(hash) => format!(" ({hash})"),
            None => String::new(),
        };
        shown.push_str(&format!(
            "{}\nsuite {}{hash}, answered by {}\n\n{}{notes}",
            report.port.title(),
            report.suite,
            report.reference,
            conformance::table(report)
        ));
        if report.total().right == 0 {
            shown.push_str("no case is right\n");
        }
        if self.arguments.baseline.is_some() {
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
    match arguments.judged.strict.unwrap_or_default() {
        Strictness::Outcome => {}
        Strictness::Kind => words.push("--strict=kind"),
        Strictness::Text => words.push("--strict"),
    }
    let timeout = arguments.port.timeout.as_secs_f64().to_string();
    if timeout != TIMEOUT {
        words.extend(["--timeout", &timeout]);
    }
    shlex::try_join(words.iter().copied()).unwrap_or_else(|_| words.join(" "))
}

fn write_report(path: &Path, report: &Report, link: Option<&str>) -> Result<(), String> {
    let text = match path.extension().and_then(|end| end.to_str()) {
        Some("json") => report.json()?,
        Some("md") => conformance::markdown(report, link),
        Some("html") => conformance::printable(&conformance::html(report)).into_owned(),
        _ => conformance::junit(report)?,
    };
    write(path, &text)
}

/// Returns an error if a file is also one that is read or is named twice, or cannot be written, so that a run does not end without its report.
fn check_outputs<'p>(read: &[PathBuf], written: impl IntoIterator<Item = &'p PathBuf> + Clone) -> Result<(), String> {
    check_written(read, written.clone())?;
    written.into_iter().try_for_each(|path| check_writable(path))
}

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

fn summary(paths: &[PathBuf], format: Format) -> Result<(), String> {
    let reports: Result<Vec<Report>, String> = paths.iter().map(|path| Report::open(path)).collect();
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

fn mirrored(text: &str) -> Result<(String, String), String> {
    let (name, version) = text
        .split_once('=')
        .ok_or("this must be a name, `=` and a version, such as transformers=5.23.0")?;
    conformance::check_version(name, version)?;
    Ok((name.to_owned(), version.to_owned()))
}

fn report_path(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension().and_then(|end| end.to_str()) {
        Some("json" | "md" | "html" | "xml") => Ok(path),
        _ => Err("the name should end in .json, .md, .html or .xml".to_owned()),
    }
}
