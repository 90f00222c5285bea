//! The command `port`, which answers requests of the conformance protocol.
//!
//! A line that is not a request has an answer too: an error of the kind `request`.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;

use crate::conformance::nearest;
use chat_template::json::{self, Data, JsonErrorKind, Object};
use chat_template::{Bounds, ChatTemplate, Deadline, Error, ErrorKind, Limits, LocalTime, Prompt, RenderOptions, Template};

use super::apply_request::{Applier, read_seen};
use super::masks::Masks;
use super::model::Source;
use super::response_request::Responder;
use super::show::{self, Mode, Wanted, object};
use super::terminal::JsonOutput;
use super::{file, lines, timed};

/// The largest size of a line in bytes. The rest of a longer line is skipped.
const MAX_LINE: u64 = 64 << 20;

/// The size of a line in bytes after which nothing is kept for the next request: neither the line's memory nor the compiled template.
const MAX_KEPT: usize = 8 << 20;

/// The largest size of an id in bytes: each answer repeats it.
const MAX_ID: usize = 1024;

/// The largest number of unknown keys of a request that are compared with the known keys to suggest one.
const MAX_GUESSES: usize = 8;

/// The size of the input buffer in bytes.
const INPUT_BUFFER: usize = 256 << 10;

/// The size of the output buffer in bytes.
const BUFFER: usize = 64 << 10;

/// The keys of a request.
const KEYS: [&str; 16] = [
    "id",
    "template",
    "context",
    "apply",
    "chat",
    "inspect",
    "response",
    "generation",
    "trace",
    "assistant",
    "turns",
    "control_tokens",
    "after",
    "sampled",
    "now",
    "describe",
];

/// The arguments of `port`.
#[derive(clap::Args)]
#[command(after_help = r#"Examples:
  echo '{"id": 1, "template": "Hello {{ name }}!", "context": {"name": "Ada"}}' | chat-template port
  echo '{"id": 1, "apply": {"messages": [{"role": "user", "content": "Hi"}]}}' | chat-template port --model Qwen3-8B

With --model or --template, an `apply`, `chat` or `inspect` needs no `template`."#)]
pub struct Arguments {
    #[command(flatten)]
    source: Source,

    /// The limits of each request: a JSON object such as {"steps": 1000000, "milliseconds": 500}. The time, which is processor time, begins
    /// with the first byte of a line, and covers reading it, all work, and writing the answer.
    #[arg(long, value_name = "FILE")]
    limits: Option<PathBuf>,

    /// Renders with the general form of each expression. The answers are the same; a check compares them.
    #[arg(long, hide = true)]
    plain: bool,

    /// Answers each request as if it had `"trace": true`, without the segments. The text is the same; a check compares them.
    #[arg(long, hide = true)]
    traced: bool,
}

impl Arguments {
    fn mode(&self) -> Mode {
        match (self.traced, self.plain) {
            (true, _) => Mode::Traced,
            (false, true) => Mode::Plain,
            (false, false) => Mode::Fast,
        }
    }
}

/// Answers the requests of standard input on standard output.
pub fn run(arguments: &Arguments) -> Result<(), String> {
    let limits = file::read_limits(arguments.limits.as_deref(), Limits::default())?;
    let model = arguments.source.load_if_given(&limits)?;
    let out = JsonOutput::new(io::stdout().lock(), io::stdout().is_terminal());
    let input = BufReader::with_capacity(INPUT_BUFFER, io::stdin().lock());
    match answer_lines(limits, arguments.mode(), model, input, out) {
        // The reader of the answers has ended.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        answered => answered.map_err(|error| format!("error: standard input or standard output: {error}")),
    }
}

/// Answers each line of the input that is not blank with a line.
pub fn answer_lines(
    limits: Limits,
    mode: Mode,
    model: Option<ChatTemplate>,
    mut input: impl BufRead,
    out: impl Write,
) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(BUFFER, out);
    let mut port = Port {
        limits,
        mode,
        applier: Applier::new(mode, model),
        ..Port::default()
    };
    let mut line = Vec::new();
    loop {
        line.clear();
        // Waiting for the next request is not part of it, and takes time where the clock is not that of the processor.
        input.fill_buf()?;
        let deadline = Deadline::from(&port.limits);
        let _running = deadline.start();
        // The answer to a request that comes too late says so.
        let _ = deadline.check(Duration::ZERO);
        let Some(length) = lines::read_start(&mut input, MAX_LINE, &mut line)? else {
            return Ok(());
        };
        let response = match length > MAX_LINE {
            false if line.trim_ascii().is_empty() => continue,
            false => port.answer(line.trim_ascii_end(), &deadline, &mut out)?,
            true => Err(request_error(
                Data::None,
                format!("the line has more than {MAX_LINE} bytes, which is the limit"),
            )),
        };
        if let Err(error) = response {
            write_data(&error, &mut out)?;
        }
        out.write_all(b"\n")?;
        out.flush()?;
        if length > MAX_LINE {
            lines::skip_rest(&mut input, &line)?;
        }
        if line.capacity() > MAX_KEPT {
            line = Vec::new();
            (port.compiled, port.responder) = (None, Responder::default());
            port.applier.forget_requests();
        }
    }
}

/// The state of the command. The last template stays compiled, because a suite repeats it in many requests.
#[derive(Default)]
struct Port {
    limits: Limits,
    mode: Mode,
    compiled: Option<(String, Result<Template, Error>)>,
    applier: Applier,
    responder: Responder,
}

impl Port {
    /// Writes the answer to a request, or returns an error that is the answer.
    fn answer(&mut self, line: &[u8], deadline: &Deadline, out: &mut impl Write) -> io::Result<Result<(), Data<'static>>> {
        let request = match json::Data::read_within(line, deadline) {
            Ok(request) => request,
            Err(error) if error.kind() == JsonErrorKind::TimedOut => return Ok(Err(failure(Data::None, &error.into()))),
            Err(error) => return Ok(Err(request_error(Data::None, format!("the line is not JSON: {error}")))),
        };
        let Data::Object(request) = request else {
            let found = request.describe();
            let message = format!("a request must be a JSON object, and this is {found}");
            return Ok(Err(request_error(Data::None, message)));
        };
        let limits = self.limits.clone();
        let bounds = Bounds::default()
            .with_limits(&limits)
            .with_deadline(deadline)
            .with_cancel(None);
        let id = match read_id(&request) {
            Ok(id) => id,
            Err(message) => return Ok(Err(request_error(Data::None, message))),
        };
        let is_wanted = |key| request.get(key) == Some(&Data::Bool(true));
        if is_wanted("describe") {
            return write_data(&describe(id), out).map(Ok);
        }
        if let Some(Data::Object(request)) = request.get("inspect") {
            return Ok(match self.applier.inspect(request, bounds) {
                Ok(Ok(report)) => {
                    let written = write_answer(&id, deadline, out, |out| show::stream_entry("report", &report, out))?;
                    return Ok(written.map_err(|error| failure(id, &error)));
                }
                Ok(Err(error)) => Err(failure(id, &error)),
                Err(message) => Err(request_error(id, message)),
            });
        }
        let masks = match Masks::read(&request) {
            Ok(masks) => masks,
            Err(message) => return Ok(Err(request_error(id, message))),
        };
        let roles = masks.as_ref().map(Masks::roles).unwrap_or_default();
        if let Some(Data::Object(request)) = request.get("response") {
            return Ok(match self.responder.parse(request, bounds) {
                Ok(Ok(parsed)) => {
                    let written = write_answer(&id, deadline, out, |out| {
                        out.write_all(b",\"message\":")?;
                        write_data(&parsed.message, out)?;
                        let Some(unread) = &parsed.unread else { return Ok(()) };
                        out.write_all(b",\"unread\":")?;
                        write_data(unread, out)
                    })?;
                    written.map_err(|error| failure(id, &error))
                }
                Ok(Err(error)) => Err(failure(id, &error)),
                Err(message) => Err(request_error(id, message)),
            });
        }
        let wanted = Wanted {
            generation: is_wanted("generation"),
            trace: is_wanted("trace"),
            assistant: masks.as_ref().map(|masks| masks.options(&roles)),
            turns: is_wanted("turns"),
            generation_prompt: is_wanted("generation_prompt"),
            mode: self.mode,
        };
        let (mut changes, mut grammar, mut next) = (None, None, None);
        let result = fixed_clock(&request).and_then(|clock| {
            let clock = clock.as_ref();
            match (request.get("apply"), request.get("chat"), request.get("template")) {
                (Some(Data::Object(apply)), ..) => {
                    let answer = self.applier.apply(apply, clock, wanted, bounds, read_seen(&request)?)?;
                    Ok(answer.map(|(prompt, found)| {
                        next = found;
                        prompt
                    }))
                }
                (_, Some(Data::Object(chat)), _) => {
                    let answer = self.applier.chat(chat, clock, wanted, bounds)?;
                    Ok(answer.map(|(prompt, made, allowed)| {
                        (changes, grammar) = (Some(made), allowed);
                        prompt
                    }))
                }
                (.., Some(Data::Str(source))) => self.render(source, &request, clock, wanted, bounds),
                _ => Err(explain_request(&request)),
            }
        });
        let control_tokens = match control_tokens(&request) {
            Ok(tokens) => tokens,
            Err(message) => return Ok(Err(request_error(id, message))),
        };
        Ok(match result {
            Ok(Ok(prompt)) => {
                let wanted_tokens = control_tokens.filter(|_| wanted.trace);
                let left = bounds
                    .limits
                    .clone()
                    .with_steps(bounds.limits.steps.saturating_sub(prompt.steps));
                let left = bounds.with_limits(&left);
                let found = wanted_tokens.map(|tokens| prompt.control_tokens(&tokens, left));
                let turns = wanted.turns.then(|| prompt.turns_within(left));
                let found = found.transpose().and_then(|found| Ok((found, turns.transpose()?)));
                let written = match found {
                    Ok((tokens, turns)) => write_answer(&id, deadline, out, |out| {
                        if let Some(grammar) = &grammar {
                            show::stream_entry("grammar", grammar, out)?;
                        }
                        show::stream_prompt(
                            &prompt,
                            (changes.as_deref(), next.as_ref()),
                            wanted,
                            tokens.as_deref(),
                            turns.as_deref(),
                            out,
                        )
                    })?,
                    Err(error) => Err(error),
                };
                written.map_err(|error| failure(id, &error))
            }
            Ok(Err(error)) => Err(failure(id, &error)),
            Err(message) => Err(request_error(id, message)),
        })
    }

    /// Renders a template. The outer error is about the form of the request, and the inner error is that of the template.
    fn render(
        &mut self,
        source: &str,
        request: &Object<'_>,
        clock: Option<&LocalTime>,
        wanted: Wanted<'_>,
        bounds: Bounds<'_>,
    ) -> Result<Result<Prompt, Error>, String> {
        let empty = Data::Object(Object::new(Vec::new()));
        let context = request.get("context").unwrap_or(&empty);
        if !matches!(context, Data::Object(_)) {
            return Err(format!("`context` must be an object, and this is {}", context.describe()));
        }
        let template = match self.compile(source, bounds) {
            Ok(template) => template,
            Err(error) => return Ok(Err(error.clone())),
        };
        let mut options = RenderOptions::default()
            .with_bounds(bounds)
            .with_reference_spans(wanted.generation)
            .with_trace(wanted.is_traced());
        if let Some(clock) = clock {
            options.clock = clock;
        }
        Ok(template.render_prompt(context, &options, wanted.assistant))
    }

    fn compile(&mut self, source: &str, bounds: Bounds<'_>) -> &Result<Template, Error> {
        if self.compiled.as_ref().is_none_or(|(compiled, _)| compiled != source) {
            self.compiled = None;
        }
        let is_plain = self.mode == Mode::Plain;
        let (_, template) = self.compiled.get_or_insert_with(|| {
            let mut template = Template::compile_with(source, bounds);
            template.iter_mut().filter(|_| is_plain).for_each(Template::generalize);
            (source.to_owned(), template)
        });
        template
    }
}

/// Returns the id of a request, which is null if it has none.
fn read_id(request: &Object<'_>) -> Result<Data<'static>, String> {
    match request.get("id") {
        None => Ok(Data::None),
        Some(id @ (Data::None | Data::Bool(_) | Data::Int(_) | Data::Float(_))) => Ok(id.clone().into_owned()),
        Some(Data::Str(id)) if id.len() > MAX_ID => Err(format!("the id has {} bytes, and may have at most {MAX_ID}", id.len())),
        Some(id @ Data::Str(_)) => Ok(id.clone().into_owned()),
        Some(Data::BigInt(_)) => Err("the id must be an integer of 64 bits or a string".to_owned()),
        Some(other) => Err(format!(
            "the id must be a string, a number, a bool or null, and this is {}",
            other.describe()
        )),
    }
}

/// Returns the message for a request that neither renders nor applies a template.
fn explain_request(request: &Object<'_>) -> String {
    for name in ["apply", "chat", "inspect", "response"] {
        if let Some(other) = request.get(name) {
            return format!("`{name}` must be an object, and this is {}", other.describe());
        }
    }
    if let Some(template) = request.get("template") {
        return format!("`template` must be a string, and this is {}", template.describe());
    }
    let unknown = request.entries().iter().filter(|(key, _)| !KEYS.contains(&&**key));
    let hints = unknown
        .take(MAX_GUESSES)
        .filter_map(|(key, _)| Some(format!("; found {key:?}: did you mean {:?}?", nearest(key, &KEYS)?)));
    let hint: String = hints.take(1).collect();
    format!("a request must have `template`, a string, or `apply`, `chat`, `inspect` or `response`, an object{hint}")
}

fn fixed_clock(request: &Object<'_>) -> Result<Option<LocalTime>, String> {
    match request.get("now") {
        None | Some(Data::None) => Ok(None),
        Some(Data::Str(now)) => match now.parse::<LocalTime>() {
            Ok(time) => Ok(Some(time)),
            Err(error) => Err(format!("`now`: {error}")),
        },
        Some(other) => Err(format!("`now` must be a string, and this is {}", other.describe())),
    }
}

/// Returns the control tokens that a request names.
fn control_tokens<'r>(request: &'r Object<'_>) -> Result<Option<Vec<&'r str>>, String> {
    let tokens = match request.get("control_tokens") {
        None | Some(Data::None) => return Ok(None),
        Some(Data::List(items)) => items.iter().map(|item| match item {
            Data::Str(token) => Some(&**token),
            _ => None,
        }),
        Some(other) => {
            let found = other.describe();
            return Err(format!("`control_tokens` must be an array of strings, and this is {found}"));
        }
    };
    let tokens: Option<Vec<&str>> = tokens.collect();
    match tokens {
        Some(tokens) => Ok(Some(tokens)),
        None => Err("`control_tokens` must be an array of strings, and has another value".to_owned()),
    }
}

/// Writes an answer: an object with the id of the request and the entries that `write_entries` writes. Nothing is written if the time does
/// not suffice for the whole answer.
fn write_answer(
    id: &Data<'_>,
    deadline: &Deadline,
    out: &mut impl Write,
    write_entries: impl Fn(&mut dyn Write) -> io::Result<()>,
) -> io::Result<Result<(), Error>> {
    let write = |out: &mut dyn Write| {
        out.write_all(b"{\"id\":")?;
        write_data(id, out)?;
        write_entries(out)?;
        out.write_all(b"}")
    };
    timed::write(deadline, out, write)
}

/// Writes a value as JSON through a string, so the value should be small.
fn write_data(data: &Data<'_>, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = chat_template::internal::write_data(data, &mut text);
    out.write_all(text.as_bytes())
}

fn failure(id: Data<'static>, error: &Error) -> Data<'static> {
    if error.kind() == ErrorKind::Unsupported {
        return object([("id", id), ("unsupported", Data::Str(Cow::Owned(error.message().to_owned())))]);
    }
    let mut entries = vec![
        ("kind", text(error.kind().name())),
        ("message", Data::Str(Cow::Owned(error.message().to_owned()))),
        ("line", error.line().map_or(Data::None, |line| Data::Int(i64::from(line)))),
    ];
    entries.push(("class", text(error.class().name())));
    if let Some(path) = error.input_path() {
        entries.push(("path", Data::Str(Cow::Owned(path.to_owned()))));
    }
    if let Some((_, column)) = error.position() {
        entries.push(("column", Data::Int(i64::from(column))));
    }
    if let Some(reached) = error.reached() {
        // The message for too deep a recursion, which is that of the reference, does not name the limit.
        entries.push(("limit", Data::Str(Cow::Owned(reached.to_string()))));
    }
    object([("id", id), ("error", object(entries))])
}

fn request_error(id: Data<'static>, message: String) -> Data<'static> {
    let entries = [
        ("kind", text("request")),
        ("message", Data::Str(Cow::Owned(message))),
        ("line", Data::None),
    ];
    object([("id", id), ("error", object(entries))])
}

fn describe(id: Data<'static>) -> Data<'static> {
    let requests = "render apply generation trace assistant turns inspect chat response";
    let requests = Data::List(requests.split(' ').map(text).collect());
    let port = object([
        ("name", text("chat-template")),
        ("version", text(env!("CARGO_PKG_VERSION"))),
        ("language", text("Rust")),
        ("requests", requests),
        ("limits", text("on")),
    ]);
    object([("id", id), ("port", port)])
}

fn text(text: &'static str) -> Data<'static> {
    Data::Str(Cow::Borrowed(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_limit_applies_to_reading_a_line() {
        let limits = Limits::default().with_milliseconds(0);
        let line = format!(
            r#"{{"id": 1, "template": "x", "context": {{"l": [0{}]}}}}"#,
            ",0".repeat(600_000)
        );
        let mut out = Vec::new();
        answer_lines(limits, Mode::Fast, None, line.as_bytes(), &mut out).unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(answer["error"]["kind"], "limit");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.starts_with("limit reached: milliseconds"), "{message}");
    }
}
