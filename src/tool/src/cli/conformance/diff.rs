//! The command `conformance diff`, which compares two ports over a user's own templates and conversations.
//!
//! ```text
//! chat-template conformance diff --port 'python3 adapter.py' --reference 'python3 tests/reference/port.py' --templates models
//! --conversations chats.jsonl
//! ```

use std::path::PathBuf;
use std::time::Duration;

use crate::conformance::{self, Differ, Differed};
use clap::Args;

use super::{JudgedArguments, Judging, bar, jobs, parse_jobs, seconds, words};

/// The text of `--help` below the options.
pub const HELP: &str = "\
Templates are .jinja files, tokenizer_config.json, chat_template.json(l), models' folders, folders of any of these, and a cache of models
(models--NAME/snapshots/REVISION). A model's special tokens go with its templates.
Conversations are JSON, or JSON lines: a list of messages, or an object with \"messages\" and further arguments of `apply` (tools, documents,
add_generation_prompt, continue_final_message, template_name, special_tokens, variables); a file of JSON may be a list of several.
If both ports know `apply`, they are compared by it; else by a render with the messages, the tokens and the variables.
Exit status: 0 if nothing differs, 1 if something does, 2 if nothing could be run.

Example:
  chat-template conformance diff --port 'python3 adapter.py' --reference 'chat-template port' --templates ~/.cache/huggingface/hub --conversations chats.jsonl";

#[derive(Args)]
pub struct DiffArguments {
    /// The command of the port. It is split into words as a shell does, but no shell runs.
    #[arg(long, value_name = "COMMAND")]
    port: String,
    /// The command of the port that it is compared with.
    #[arg(long, value_name = "COMMAND")]
    reference: String,
    /// Files and folders with templates.
    #[arg(long, value_name = "PATH", required = true, num_args = 1..)]
    templates: Vec<PathBuf>,
    /// A file of conversations.
    #[arg(long, value_name = "FILE")]
    conversations: PathBuf,
    /// The number of processes of each port. The default is the number of processors.
    #[arg(long, value_name = "N", value_parser = parse_jobs)]
    jobs: Option<std::num::NonZeroUsize>,
    /// The time that one answer may take, in seconds.
    #[arg(long, value_name = "S", default_value = "10", value_parser = seconds)]
    timeout: Duration,
    #[command(flatten)]
    judged: JudgedArguments,
    /// The local time that templates see.
    #[arg(long, value_name = "TIME", default_value = "2026-01-02T03:04:05", value_parser = time)]
    now: String,
}

fn time(text: &str) -> Result<String, String> {
    let time = text.parse::<chat_template::LocalTime>();
    time.map(|_| text.to_owned()).map_err(|error| error.to_string())
}

/// Compares all pairs. Returns false if the ports differ on one that the baseline does not list.
pub fn diff(arguments: &DiffArguments) -> Result<bool, String> {
    let read = [arguments.templates.as_slice(), std::slice::from_ref(&arguments.conversations)].concat();
    let templates = conformance::find_templates(&arguments.templates)?;
    let conversations = conformance::read_conversations(&arguments.conversations)?;
    let judging = Judging::open(&arguments.judged, &read)?;
    let differ = Differ {
        port: words("--port", &arguments.port)?,
        reference: words("--reference", &arguments.reference)?,
        jobs: jobs(arguments.jobs),
        timeout: arguments.timeout,
        now: arguments.now.clone(),
    };
    let bar = bar(templates.len().saturating_mul(conversations.len()));
    let differed = differ.run(&templates, &conversations, |done, different| {
        bar.set_position(done as u64);
        bar.set_message(format!("{different} differ"));
    });
    bar.finish_and_clear();
    let Differed {
        mut report,
        is_rendered,
        left_out,
    } = differed?;
    if report.cases.is_empty() && !left_out.is_empty() {
        return Err(format!(
            "nothing could be compared: {}",
            left_out.first().map(|(_, why)| why.as_str()).unwrap_or_default()
        ));
    }
    let mut notes = String::new();
    for (pair, why) in &left_out {
        notes.push_str(&format!("{pair}: not compared: {why}\n"));
    }
    let same = report.total().right;
    notes.push_str(&format!(
        "{} templates with {} conversations, {}: {same} same, {} differ, {} not compared\n",
        templates.len(),
        conversations.len(),
        if is_rendered { "rendered" } else { "applied" },
        report.cases.len().saturating_sub(same),
        left_out.len(),
    ));
    judging.finish(&mut report, &notes, |_| None)
}
