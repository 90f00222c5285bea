//! The command `dataset`, which renders each row of a data set.
//!
//! ```text
//! reader  --chunks-->  workers: parse, render, compress  --blocks in order-->  writer, journal
//! ```
//!
//! The thread of the command reads and writes; the threads of a pool do the rest. A window limits the chunks that are under way, so the
//! memory does not depend on the length of the input.

mod codec;
mod input;
mod journal;
mod kinds;
mod lines;
mod notes;
mod output;
pub mod parity;
mod reading;
mod row;
mod rows;
mod run;
#[cfg(feature = "parquet")]
pub mod table;
#[cfg(test)]
mod tests;
mod text;
mod tokens;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use chat_template::Limits;
use chat_template::json::Object;
use chat_template_rows::Known;

use self::notes::Notes;
use self::output::is_regular;
use self::reading::Reading;
use self::row::Renderer;
use self::rows::CHUNK;
use self::run::{ANSWERS, Files, Run, default_errors, summarize};
use self::tokens::Tokenizer;
use super::file::{Texts, is_dash};
use super::masks::Masks;
use super::model::{Settings, Source};
use super::{parse_count, parse_jobs, warn};

/// The progress bar of a file.
const BAR: &str = "{bar:40} {percent:>3}% {msg} {eta}";

/// The time between two checkpoints.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(1);

const HELP: &str = "\
Examples:
  chat-template dataset --model Qwen3-8B chats.jsonl --output prompts.jsonl
  chat-template dataset --model Qwen3-8B --input chats.jsonl.gz --output prompts.jsonl.zst --resume
  chat-template dataset --model Qwen3-8B --spans < sharegpt.jsonl | gzip > prompts.jsonl.gz
  chat-template dataset --model Qwen3-8B chats/ --output prompts.jsonl
  chat-template dataset --model Qwen3-8B --tokenizer Qwen3-8B/tokenizer.json --max-length 4096 chats.jsonl --output tokens.jsonl

The input is JSON Lines, one JSON array, or, if the command was built with the feature `parquet`, a Parquet or Arrow file. Text can be UTF-8
or UTF-16, and compressed by gzip or zstd. A folder and a pattern such as 'part-*.jsonl' are all of their files.

A row is a JSON object. These of its keys are used:
  messages              the conversation; --messages-key sets another name
  tools, documents      the arguments of these names
  chat_template_kwargs  variables of the template for this row, such as {\"enable_thinking\": false}
All of these can also be JSON text. The key functions, and function_call in a message, are those of OpenAI's older files.

A row of the output has all other keys of its row, in their order, and then these:
  text        the prompt
  generation  with --spans: the spans of {% generation %} blocks, in code points and in bytes, as `render --json` prints them
  assistant   with --assistant: the spans of what the model writes, in code points, or {\"unknown\": the reason} if no turn is known
  unknown_turns   with --assistant: the messages of turns that are not known, with the reasons
  turns       with --turns: the header, the body, the close and the fields of each message, in code points
  input_ids   with --tokenizer: the tokens of the prompt, up to the end of a turn if there are more than --max-length
  labels      with --tokenizer: the tokens that the model writes, and -100 for the others
The rows of the output are in the order of the input.

A row can have \"prompt\" and \"completion\" in place of messages. Each is a list of messages, or a string of the user or the assistant. What
the model writes is then in the completion alone. A prompt without a completion ends with the generation prompt.
A row can also have two answers, \"chosen\" and \"rejected\", after a \"prompt\" or messages. In its output, chosen and rejected are the two
prompts, and the other keys are chosen_assistant, rejected_assistant and so on.

The first rows show which format the rows have; --format sets it:
  messages   as above
  sharegpt   the key conversations has messages such as {\"from\": \"human\", \"value\": \"Hi\"}. human is the role user, gpt is assistant,
             observation is tool, and the value of function_call becomes calls. If the first message does not have the role system, the text
             of the key \"system\" is inserted before it
  alpaca     the keys instruction and input are a message of the user, output is that of the assistant; system and history come before

A row that fails does not stop the others. It becomes a line of the file of errors:
  {\"line\": 7, \"kind\": \"message\", \"pointer\": \"/messages/2\", \"error\": \"...\", \"row\": {...}}
A line also has its \"file\" if there are several. This file is OUTPUT.errors.jsonl, or standard error if the output is -. A row fails if a message has no role, a role that is unknown, or content
that is neither text nor parts.

The file of errors also has warnings of rows that have prompts: {\"line\": 8, \"warning\": \"lost_call\", \"pointer\": \"...\", \"message\": \"...\"}.
  lost_message, lost_system, lost_content, lost_reasoning, lost_media, lost_call, lost_tool, lost_document   the prompt has nothing of it
  python_repr       a content or arguments are in the prompt as Python prints a list or an object, with single quotes
  double_json       arguments are JSON text, and the template writes them as JSON once more
  null_key          a key is null, as in a data set of columns
  second_bos        the prompt begins with the token twice
  control_token     a message has a control token of the model in its text
  unread_variable   the template does not read a variable of the row
  unknown_spans     with --assistant: it is unknown which text the model writes in a turn
  nothing_trained   with --assistant: the model writes nothing of the prompt
  cut               with --max-length: the row has the tokens of its first turns alone
With --strict, such a row fails, but for nothing_trained.

Files whose names end in .gz or .zst are compressed.

The command keeps the file OUTPUT.journal with its template, its options and a hash of the input. After an interruption of any kind, the
same command with --resume continues: no row is lost or repeated, and the files become those of an undisturbed run. --resume also starts a
run that has no output yet, and continues a complete one if rows were appended to the input. It is an error if the options or the rows
that were read have changed, or if another process writes the output.

The exit status is 0 if each row has a prompt, 1 if rows failed, and 2 if the run ended early.";

/// The arguments of `dataset`.
#[derive(clap::Args)]
#[command(after_help = HELP)]
#[command(group = Source::required())]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    reading: Reading,
    /// The rows with their prompts: JSON Lines.
    #[arg(long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// The rows that failed, with their lines and errors: JSON Lines.
    #[arg(long, value_name = "FILE")]
    errors: Option<PathBuf>,
    /// The number of threads that render. The default is the number of processors.
    #[arg(long, value_name = "N", value_parser = parse_jobs)]
    jobs: Option<NonZeroUsize>,
    /// Continues an interrupted run.
    #[arg(long)]
    resume: bool,
    /// Adds the spans of {% generation %} blocks to each row.
    #[arg(long, conflicts_with = "continue_final_message")]
    spans: bool,
    /// Adds the spans of what the model writes to each row. They do not need {% generation %} blocks.
    #[arg(long)]
    assistant: bool,
    /// Adds the parts of the prompt that each message owns to each row.
    #[arg(long)]
    turns: bool,
    /// Adds the tokens of the prompt and their labels to each row, by the file tokenizer.json of the model. Implies --assistant.
    #[arg(long, value_name = "FILE")]
    tokenizer: Option<PathBuf>,
    /// The largest number of tokens of a prompt. A longer one is cut where a turn ends, and a row fails if its first turn is longer.
    #[arg(long, value_name = "N", requires = "tokenizer", value_parser = parse_count)]
    max_length: Option<NonZeroUsize>,
    /// Fails each row of which the prompt does not show a message, a call or a tool, or which has another warning than nothing_trained.
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    masks: Masks,
    #[command(flatten)]
    settings: Settings,
}

/// The largest prompt of a row in bytes, unless a file of limits says otherwise. Several rows are in memory at one time.
const MAX_ANSWER: u64 = 16 << 20;

/// Renders a data set. The exit status is 2 if the run ends early.
pub fn run(arguments: &Arguments) -> ExitCode {
    exit(run_arguments(arguments))
}

/// Returns the exit status of a command that answers whether all rows are as they should be.
fn exit(answer: Result<bool, String>) -> ExitCode {
    match answer {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            let prefix = if message.starts_with("error: ") { "" } else { "error: " };
            warn(&format!("{prefix}{message}"));
            ExitCode::from(2)
        }
    }
}

fn run_arguments(arguments: &Arguments) -> Result<bool, String> {
    let files = Files {
        input: arguments.reading.list_files()?,
        output: arguments.output.clone(),
        errors: arguments.errors.clone().or_else(|| default_errors(&arguments.output)),
    };
    let read = arguments.source.list_read();
    let others = [&arguments.tokenizer, &arguments.settings.limits].into_iter().flatten();
    files.check(read.iter().chain(others))?;
    if files.input.iter().any(|input| is_dash(input)) && arguments.source.files().any(is_dash) {
        return Err("only one file can be - (standard input)".to_owned());
    }
    let settings = &arguments.settings;
    let limits = Limits::default()
        .with_output(MAX_ANSWER)
        .with_value(MAX_ANSWER)
        .with_live(2 * MAX_ANSWER);
    let texts = Texts::read(arguments.source.files(), settings.read_limits(limits)?)?;
    let chat = arguments.source.load(&texts)?;
    chat.check().map_err(|error| arguments.source.explain(&error))?;
    if arguments.spans && !chat.has_generation() {
        warn("warning: the template has no {% generation %} blocks, so all spans are empty; --assistant needs none");
    }
    settings.warn_of_unread(&chat).iter().for_each(|warning| warn(warning));
    let variables = settings.variables.iter();
    let is_sized = files.input.iter().all(|input| is_regular(input));
    let bar = super::bar(None, if is_sized { BAR } else { "{spinner} {msg}" });
    let (reader, first) = arguments.reading.open(&files.input, &bar)?;
    let max_length = arguments.max_length.map(NonZeroUsize::get);
    let tokenizer = arguments
        .tokenizer
        .as_ref()
        .map(|path| Tokenizer::read(path, max_length))
        .transpose()?;
    let mut masks = None;
    if arguments.assistant || tokenizer.is_some() {
        let (own, warning) = arguments.masks.for_template(&chat, texts.bounds());
        warning.into_iter().for_each(warn);
        masks = Some(own);
    }
    let renderer = Renderer {
        known: Known::new(&chat),
        chat,
        name: arguments.source.name.clone(),
        reader,
        wants_spans: arguments.spans,
        masks,
        is_strict: arguments.strict,
        wants_turns: arguments.turns,
        tokenizer,
        notes: Notes::default(),
        add_generation_prompt: settings.add_generation_prompt,
        continue_final_message: settings.continue_final_message.clone(),
        variables: Object::new(variables.map(|(name, value)| (name.clone().into(), value.clone())).collect()),
        limits: texts.limits.clone(),
        clock: settings.clock(),
        max_row: arguments.reading.max_row(),
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(super::jobs(arguments.jobs));
    let run = Run {
        renderer,
        files,
        pool: pool.build().map_err(|error| error.to_string())?,
        chunk_size: CHUNK,
        answers_size: ANSWERS,
        interval: CHECKPOINT_INTERVAL,
    };
    let start = run.find_start(arguments.resume)?;
    let before = start.checkpoint;
    if is_regular(&run.files.output) {
        let bar = bar.clone();
        // A second handler is an error, and the first one stays.
        let _ = ctrlc::set_handler(move || {
            bar.finish_and_clear();
            warn("interrupted; the same command with --resume continues the run");
            std::process::exit(130);
        });
    }
    let started = Instant::now();
    let ended = run.render(start, Some(first), &bar);
    bar.finish_and_clear();
    let Some(ended) = ended? else { return Ok(true) };
    if ended == before {
        warn(&format!("{}: the output is complete", run.files.output.display()));
    }
    warn(&summarize(&run.files, &before, &ended, started.elapsed()));
    let Renderer { notes, known, .. } = run.renderer;
    notes.warnings(&known).iter().for_each(|warning| warn(warning));
    Ok(ended.failed == 0)
}
