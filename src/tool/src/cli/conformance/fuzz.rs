//! `chat-template conformance fuzz`: sends random templates to a port and to the reference.
//!
//! ```text
//! chat-template conformance fuzz --port 'python3 adapter.py' --reference 'python3 tests/reference/port.py' --seed 1 --count 2000
//! ```

use std::path::PathBuf;
use std::time::Duration;

use crate::conformance::{Exceptions, Fuzzer, Strictness};
use clap::Args;

use super::{bar, check_outputs, parse_jobs, print, seconds, words, write};

/// The text of `--help` below the options.
pub const HELP: &str = "\
Each round has a template from typed phrases, most of which print. A quarter of the templates are mutated, and most of these fail.
Outputs are compared, and whether there is an error; with --strict also the kind, the text and the line of errors.
Some things are not compared: addresses (0x7f…) that Python prints; the end of a SyntaxError's text that names a line of generated
Python; and rounds in which a port answers `limit`, the reference does not answer, or processes of the reference answer differently.
The summary counts the rounds in which removing a filter, an operator or a production would have changed the output.
Exit status: 0 if each difference is listed, 1 if one is not, 2 if nothing could be run.

Example:
  chat-template conformance fuzz --port 'python3 adapter.py' --reference 'python3 tests/reference/port.py' --seed 1 --count 2000";

#[derive(Args)]
pub struct FuzzArguments {
    /// The command of the port. It is split into words as a shell does, but no shell runs.
    #[arg(long, value_name = "COMMAND")]
    port: String,
    /// The command of the port that it is compared with.
    #[arg(long, value_name = "COMMAND")]
    reference: String,
    /// The seed of the rounds. A seed makes the same rounds on every machine.
    #[arg(long, value_name = "N", default_value = "1")]
    seed: u64,
    /// The number of rounds.
    #[arg(long, value_name = "N", default_value = "1000")]
    count: usize,
    /// The index of the first round. With --count 1 it repeats a round that a report names.
    #[arg(long, value_name = "N", default_value = "0")]
    first: u64,
    /// The number of processes of each port. The default is the number of processors.
    #[arg(long, value_name = "N", value_parser = parse_jobs)]
    jobs: Option<std::num::NonZeroUsize>,
    /// The time that one answer may take, in seconds.
    #[arg(long, value_name = "S", default_value = "10", value_parser = seconds)]
    timeout: Duration,
    /// Also compares the kind of an error, or its kind, text and line, which is the default of this option. Without it, only outputs are
    /// compared, and whether there is an error.
    #[arg(long, value_name = "WHAT", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    strict: Option<Strictness>,
    /// Asks the port for segments, plants a word after each string of the context and after free keys, and checks that the segments tile
    /// the text, that each verbatim one is the part of the input that it names, and that the origin of each planted word is the input.
    #[arg(long)]
    trace: bool,
    /// Exceptions: a JSON object with id, aspect and reason on each line. A difference is known if the port's error is the one that it
    /// returns for a listed case, and the reference returns no error or one of another kind.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Writes a report to a file: JSON if its name ends in .json, or else text.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Writes the differences to a file, as a suite with the reference's answers for `run --suite`.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
}

/// Runs the rounds. Returns false if something differs.
pub fn fuzz(arguments: &FuzzArguments) -> Result<bool, String> {
    let known = match &arguments.baseline {
        Some(path) => Exceptions::open(path)?.ids(),
        None => Vec::new(),
    };
    let fuzzer = Fuzzer {
        port: words("--port", &arguments.port)?,
        reference: words("--reference", &arguments.reference)?,
        seed: arguments.seed,
        first: arguments.first,
        count: arguments.count,
        jobs: super::jobs(arguments.jobs),
        timeout: arguments.timeout,
        strictness: arguments.strict.unwrap_or_default(),
        is_traced: arguments.trace,
        known,
    };
    check_outputs(&[], arguments.report.iter().chain(&arguments.save))?;
    let bar = bar(arguments.count);
    let fuzzed = fuzzer.run(|done, different| {
        bar.set_position(done as u64);
        bar.set_message(format!("{different} differ"));
    });
    bar.finish_and_clear();
    let fuzzed = fuzzed?;
    if let Some(path) = &arguments.report {
        let is_json = path.extension().is_some_and(|end| end == "json");
        write(path, &if is_json { fuzzed.json() } else { fuzzed.text() })?;
    }
    if let Some(path) = &arguments.save {
        write(path, &fuzzed.cases())?;
    }
    print(crate::conformance::printable(&fuzzed.text()).as_bytes())?;
    let tally = &fuzzed.tally;
    if tally.rounds > 0 && tally.unanswered == tally.rounds {
        return Err(format!(
            "the reference answered none of {} rounds: is it a port?",
            tally.rounds
        ));
    }
    Ok(tally.different == 0)
}
