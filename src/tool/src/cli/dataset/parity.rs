//! The command `parity`, which compares what a trainer reads of conversations with what a server lets the model read.
//!
//! ```text
//! trainer   the prompt of the whole conversation, and the spans of what the model writes
//! server    the prompt of the first messages, what the model writes, the piece to append, what the model writes, …
//! ```
//!
//! What the model writes in a message is what the template prints of it while it is the last one.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::PathBuf;
use std::process::ExitCode;

use chat_template::internal::common_prefix;
use chat_template::json::{Data, Object};
use chat_template::{Append, ApplyOptions, Bounds, ChatTemplate, Deadline, Limits};
use chat_template_rows::{Conversation, Failure, Reader};

use super::reading::Reading;
use super::row::read_row;
use super::rows::{CHUNK, Chunk, Rows};
use crate::cli::encoder::Encoder;
use crate::cli::file::Texts;
use crate::cli::masks::Masks;
use crate::cli::model::{Settings, Source};
use crate::cli::{bar, parse_count, warn};

/// The number of characters of a text that are shown around a difference.
const SHOWN: usize = 60;

const HELP: &str = "\
Examples:
  chat-template parity --model Qwen3-8B chats.jsonl
  chat-template parity --model Qwen3-8B --tokenizer Qwen3-8B/tokenizer.json chats.jsonl --show 10

A trainer renders a whole conversation and trains what the model writes. A server renders the first messages with the generation prompt, lets
the model write, and appends the next messages. The command says where the two first differ in a row:
  context   the model is trained after another text than it is served after
  mask      what is trained begins elsewhere than the generation prompt ends; the mark | shows where
  answer    the model is trained to write another text than the template prints while the message is the last one
  tokens    the texts are equal, but the tokens are not: with --tokenizer, what is served is encoded part by part
  refused   the template does not render what a server asks for
The rows are those of the command dataset. The exit status is 0 if no row differs, 1 if one does, and 2 if the rows cannot be read.";

/// The arguments of `parity`.
#[derive(clap::Args)]
#[command(after_help = HELP)]
#[command(group = Source::required())]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    reading: Reading,
    /// Compares tokens by the file tokenizer.json of the model.
    #[arg(long, value_name = "FILE")]
    tokenizer: Option<PathBuf>,
    /// The number of rows that differ of which the difference is shown.
    #[arg(long, value_name = "N", value_parser = parse_count, default_value = "1")]
    show: NonZeroUsize,
    #[command(flatten)]
    masks: Masks,
    #[command(flatten)]
    settings: Settings,
}

/// The first place at which a trainer and a server differ in a row.
struct Difference {
    kind: &'static str,
    /// The index of the message that the model writes.
    message: usize,
    /// The place in the trainer's prompt, such as `token 7`.
    at: String,
    trained: String,
    served: String,
}

/// Compares the rows.
pub fn run(arguments: &Arguments) -> ExitCode {
    super::exit(check(arguments))
}

/// Compares the rows. Returns whether none differs.
fn check(arguments: &Arguments) -> Result<bool, String> {
    let input = arguments.reading.list_files()?;
    let bar = bar(None, "{spinner}");
    let (reader, first) = arguments.reading.open(&input, &bar)?;
    let texts = Texts::read(arguments.source.files(), arguments.settings.read_limits(Limits::default())?)?;
    let chat = arguments.source.load_chosen(&texts)?;
    chat.check().map_err(|error| arguments.source.explain(&error))?;
    let checker = Checker {
        ends: chat.stop_tokens().map_err(|error| arguments.source.explain(&error))?,
        encoder: arguments.tokenizer.as_deref().map(Encoder::read).transpose()?,
        chat,
        reader,
        arguments,
        limits: &texts.limits,
    };
    let sizes = (arguments.reading.max_row(), CHUNK);
    let mut rows =
        Rows::open(&input, Some(first), super::rows::Place::default(), sizes, &bar).map_err(|error| error.to_string())?;
    let (mut chunk, mut count, mut different, mut failed) = (Chunk::default(), 0_u64, 0_usize, 0_u64);
    while rows
        .read_chunk(&mut chunk)
        .map_err(|error| format!("{}: {error}", rows.describe()))?
    {
        for row in chunk.rows() {
            count = count.saturating_add(1);
            let file = row.file.map_or(String::new(), |file| format!("{file}, "));
            match checker.check_row(row.text.unwrap_or_default()) {
                Ok(None) => {}
                Ok(Some(found)) => {
                    different = different.saturating_add(1);
                    if different <= arguments.show.get() {
                        show(&format!("{file}line {}", row.line), &found)?;
                    }
                }
                Err(failure) => {
                    failed = failed.saturating_add(1);
                    warn(&format!("{file}line {}: {failure}", row.line));
                }
            }
        }
    }
    let unread = if failed > 0 {
        format!(", {failed} were not compared")
    } else {
        String::new()
    };
    crate::cli::print_text(&format!("{different} of {count} rows differ{unread}\n"))?;
    Ok(different == 0 && failed == 0)
}

fn show(place: &str, found: &Difference) -> Result<(), String> {
    let Difference {
        kind,
        message,
        at,
        trained,
        served,
    } = found;
    crate::cli::print_text(&format!(
        "{place}, message {message}, {at}: {kind}\n  trained: {trained:?}\n  served:  {served:?}\n"
    ))
}

struct Checker<'a> {
    chat: ChatTemplate,
    /// The strings that end what the model writes.
    ends: Vec<(String, Vec<&'static str>)>,
    reader: Reader,
    encoder: Option<Encoder>,
    arguments: &'a Arguments,
    limits: &'a Limits,
}

impl Checker<'_> {
    /// Returns where a row first differs.
    fn check_row(&self, text: &[u8]) -> Result<Option<Difference>, Failure> {
        let deadline = Deadline::from(self.limits);
        let _running = deadline.start();
        let row = read_row(text, &deadline)?;
        let Data::Object(row) = &row else {
            return Err(Failure::new(
                "row",
                format!("the row must be an object, and this is {}", row.describe()),
            ));
        };
        let row = self.reader.read(row, &deadline)?;
        let roles = self.arguments.masks.roles();
        let own = self.arguments.settings.variables.iter();
        let mut variables: Vec<_> = own.map(|(name, value)| (name.as_str().into(), value.clone())).collect();
        if let Some(Data::Object(more)) = row.variables.as_deref() {
            variables.extend(more.entries().iter().cloned());
        }
        let variables = Object::new(variables);
        let (tools, documents) = (row.tools.as_deref(), row.documents.as_deref());
        let clock = self.arguments.settings.clock();
        let mut options = ApplyOptions::default()
            .with_bounds(Bounds::from(self.limits).with_deadline(&deadline))
            .with_tools(&tools)
            .with_documents(&documents)
            .with_variables(&variables)
            .with_assistant(self.arguments.masks.options(&roles).with_next_marker(false));
        if let Some(clock) = &clock {
            options = options.with_clock(clock);
        }
        for conversation in &row.conversations {
            conversation.check(self.chat.source().unwrap_or_default())?;
            if let Some(found) = self.compare(conversation, &options)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Returns where the trainer's prompt of a conversation first differs from what a server lets the model read and write.
    fn compare(&self, conversation: &Conversation<'_>, options: &ApplyOptions<'_>) -> Result<Option<Difference>, Failure> {
        let whole = self.chat.apply(&*conversation.messages, options)?;
        let trained = list_spans(&whole)?;
        let text = whole.text.as_str();
        let asked = options.with_assistant(None).with_add_generation_prompt(true);
        // The parts of what is served, and the text of all.
        let (mut parts, mut served): (Vec<String>, String) = (Vec::new(), String::new());
        for (message, span) in trained.into_iter().filter(|(message, _)| *message >= conversation.first) {
            let messages = |count: usize| Data::List(conversation.list().get(..count).unwrap_or_default().to_vec());
            let refused = |error: chat_template::Error| Difference {
                kind: "refused",
                message,
                at: format!("character {}", count_chars(text, span.start)),
                trained: show_around(text, span.start),
                served: error.message().to_owned(),
            };
            let next = match parts.last() {
                // The model has written what was served last.
                Some(sampled) => {
                    let seen = served.strip_suffix(sampled.as_str()).unwrap_or_default();
                    match self.chat.append(&messages(message), seen, Some(sampled), &asked) {
                        Ok(Append::Piece(piece)) => Ok((false, piece.text().to_owned())),
                        Ok(Append::Broken(broken)) => Ok((true, broken.prompt.text)),
                        Err(error) => Err(error),
                    }
                }
                None => self.chat.apply(&messages(message), &asked).map(|prompt| (true, prompt.text)),
            };
            let last = self.chat.apply(&messages(message.saturating_add(1)), options);
            let (next, last) = match (next, last) {
                (Ok(next), Ok(last)) => (next, last),
                (Err(error), _) | (_, Err(error)) if error.reached().is_some() => return Err(error.into()),
                (Err(error), _) | (_, Err(error)) => return Ok(Some(refused(error))),
            };
            if next.0 {
                parts.clear();
                served.clear();
            }
            served.push_str(&next.1);
            parts.push(next.1);
            let end = served.len();
            let start = span.start.min(end);
            let at = common_prefix(text, &served);
            if at < start {
                return Ok(Some(self.locate((text, at), (&served, at), ("context", message))?));
            }
            if span.start != end {
                return Ok(Some(self.locate((text, span.start), (&served, end), ("mask", message))?));
            }
            let own = list_spans(&last)?.into_iter().find(|(index, _)| *index == message);
            let sampled = own.and_then(|(_, own)| last.text.get(own)).unwrap_or_default();
            let trained = text.get(span.clone()).unwrap_or_default();
            let sampled = if self.adds_end(sampled, trained) { trained } else { sampled };
            served.push_str(sampled);
            parts.push(sampled.to_owned());
            if sampled != trained {
                let at = end.saturating_add(common_prefix(trained, sampled));
                return Ok(Some(self.locate((text, at), (&served, at), ("answer", message))?));
            }
            if let Some(found) = self.compare_tokens(text, &parts, message)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Returns whether what is trained is what the template prints for the last message and the token that ends it, which some templates print
    /// with the next message only.
    fn adds_end(&self, last: &str, trained: &str) -> bool {
        let end = trained.strip_prefix(last).map(str::trim);
        end.is_some_and(|end| end.is_empty() || self.ends.iter().any(|(token, _)| token == end))
    }

    /// Makes the difference at a byte of the trainer's prompt and a byte of what is served.
    fn locate(
        &self,
        (text, at): (&str, usize),
        (served, end): (&str, usize),
        (kind, message): (&'static str, usize),
    ) -> Result<Difference, Failure> {
        let first = at.min(end);
        let place = match &self.encoder {
            Some(encoder) => {
                let (_, offsets) = encode(encoder, text)?;
                format!("token {}", offsets.partition_point(|(_, end)| *end <= first))
            }
            None => format!("character {}", count_chars(text, first)),
        };
        Ok(Difference {
            kind,
            message,
            at: place,
            trained: show_around(text, at),
            served: show_around(served, end),
        })
    }

    /// Compares the tokens of the trainer's prompt with those of the parts that are served, whose text is its beginning.
    fn compare_tokens(&self, text: &str, parts: &[String], message: usize) -> Result<Option<Difference>, Failure> {
        let Some(encoder) = &self.encoder else { return Ok(None) };
        let (ids, offsets) = encode(encoder, text)?;
        let (mut at, mut index) = (0_usize, 0_usize);
        for part in parts {
            let (served, places) = encode(encoder, part)?;
            for (id, (start, end)) in served.into_iter().zip(places) {
                let trained = ids.get(index).zip(offsets.get(index));
                if trained.is_none_or(|(own, _)| *own != id) {
                    let own = trained
                        .and_then(|(_, (start, end))| text.get(*start..*end))
                        .unwrap_or_default();
                    return Ok(Some(Difference {
                        kind: "tokens",
                        message,
                        at: format!("token {index}"),
                        trained: format!("{}|{own}", show_before(text, at.saturating_add(start))),
                        served: format!(
                            "{}|{}",
                            show_before(text, at.saturating_add(start)),
                            part.get(start..end).unwrap_or_default()
                        ),
                    }));
                }
                index = index.saturating_add(1);
            }
            at = at.saturating_add(part.len());
        }
        Ok(None)
    }
}

/// Returns the messages that the model writes, each with the bytes from the start of its spans to their end.
fn list_spans(prompt: &chat_template::Prompt) -> Result<Vec<(usize, Range<usize>)>, Failure> {
    let mut spans = Vec::new();
    for (message, turn) in prompt.assistant_turns() {
        let turn = turn.map_err(|reason| {
            Failure::new(
                "unknown_spans",
                format!("it is unknown which text the model writes: {reason}"),
            )
        })?;
        let Some((first, last)) = turn.bytes.first().zip(turn.bytes.last()) else {
            continue;
        };
        spans.extend(message.map(|message| (message, first.start..last.end)));
    }
    spans.sort_by_key(|(message, _)| *message);
    Ok(spans)
}

fn encode(encoder: &Encoder, text: &str) -> Result<crate::cli::encoder::Encoded, Failure> {
    encoder.encode(text).map_err(|message| Failure::new("tokenizer", message))
}

fn count_chars(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or_default().chars().count()
}

/// Returns the last characters before a byte.
fn show_before(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or(text);
    let skipped = before.chars().count().saturating_sub(SHOWN / 2);
    before.chars().skip(skipped).collect()
}

/// Returns the characters around a byte, with a mark at it.
fn show_around(text: &str, at: usize) -> String {
    let after = text.get(at..).unwrap_or_default().chars().take(SHOWN / 2);
    format!("{}|{}", show_before(text, at), after.collect::<String>())
}
