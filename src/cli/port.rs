//! `chat-template port`: the conformance protocol.
//!
//! Nothing that a line holds stops it: a line that is no request is answered with an error of kind `request`.

use std::borrow::Cow;
use std::io::{BufRead, Write};
use std::ops::Range;
use std::path::PathBuf;

use chat_template::json::{self, Data, Object};
use chat_template::{Error, ErrorKind, FixedClock, Limits, LocalTime, RenderOptions, Template};

use super::apply_request::Applier;
use super::file;
use super::show::{self, object};

/// A line of more bytes is refused without being read to memory.
const MAX_LINE: u64 = 256 << 20;

/// What `port` takes.
#[derive(clap::Args)]
pub struct Arguments {
    /// Limits of each request that are not the defaults, a JSON object such as {"steps": 1000000, "milliseconds": 500}.
    #[arg(long, value_name = "FILE")]
    limits: Option<PathBuf>,

    /// Render without the shortcuts of the evaluator. The answers are the same; a check compares them.
    #[arg(long, hide = true)]
    plain: bool,
}

/// Answers standard input on standard output.
pub fn run(arguments: &Arguments) -> Result<(), String> {
    let limits = file::limits(arguments.limits.as_deref())?;
    answer_lines(limits, arguments.plain, std::io::stdin().lock(), std::io::stdout().lock()).map_err(|error| error.to_string())
}

/// Answers each line that is not blank by one, until the end of the input.
pub fn answer_lines(limits: Limits, is_plain: bool, mut input: impl BufRead, mut out: impl Write) -> std::io::Result<()> {
    let mut port = Port {
        limits,
        is_plain,
        ..Port::default()
    };
    let mut line = Vec::new();
    let mut answer = String::new();
    while let Some(is_whole) = read_line(&mut input, &mut line)? {
        let response = match is_whole {
            true if line.trim_ascii().is_empty() => continue,
            true => port.answer(&line),
            false => request_error(Data::None, format!("a line has more than {MAX_LINE} bytes")),
        };
        answer.clear();
        json::write_data(&response, &mut answer);
        answer.push('\n');
        out.write_all(answer.as_bytes())?;
        out.flush()?;
    }
    Ok(())
}

/// Reads one line; None at the end of the input, false where it is too long, of which the rest is skipped.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<Option<bool>> {
    use std::io::Read;
    line.clear();
    let read = input.by_ref().take(MAX_LINE).read_until(b'\n', line)?;
    if read == 0 {
        return Ok(None);
    }
    if line.ends_with(b"\n") || (read as u64) < MAX_LINE {
        return Ok(Some(true));
    }
    line.clear();
    input.skip_until(b'\n')?;
    Ok(Some(false))
}

/// The last template is kept, because a suite asks for the same one again and again.
#[derive(Default)]
struct Port {
    limits: Limits,
    is_plain: bool,
    compiled: Option<(String, Result<Template, Error>)>,
    applier: Applier,
}

/// What a request of either kind gives: a text and, where they were asked for, its spans.
pub struct Output {
    /// The text.
    pub text: String,
    /// The spans in code points.
    pub spans: Vec<Range<usize>>,
}

impl Port {
    fn answer(&mut self, line: &[u8]) -> Data<'static> {
        let request = match json::read_bytes(line, json::DEPTH) {
            Ok(request) => request,
            Err(error) => return request_error(Data::None, error.to_string()),
        };
        let Data::Object(request) = request else {
            return request_error(Data::None, "a request is a JSON object".to_owned());
        };
        let id = request.get("id").cloned().unwrap_or(Data::None).into_owned();
        let is_wanted = |key| request.get(key) == Some(&Data::Bool(true));
        if is_wanted("describe") {
            return describe(id);
        }
        let wants_spans = is_wanted("generation");
        let result = fixed_clock(&request).and_then(|clock| match (request.get("apply"), request.get("template")) {
            (Some(Data::Object(apply)), _) => self.apply(apply, clock.as_ref(), wants_spans),
            (_, Some(Data::Str(source))) => self.render(source, &request, clock.as_ref(), wants_spans),
            _ => Err("a request has a template, which is a string, or an apply, which is an object".to_owned()),
        });
        match result {
            Ok(Ok(output)) => success(id, output, wants_spans),
            Ok(Err(error)) => failure(id, &error),
            Err(message) => request_error(id, message),
        }
    }

    fn apply(
        &mut self,
        request: &Object<'_>,
        clock: Option<&FixedClock>,
        wants_spans: bool,
    ) -> Result<Result<Output, Error>, String> {
        self.applier.apply(request, clock, wants_spans, self.is_plain, &self.limits)
    }

    /// The error outside is one of the request, the one inside the template's.
    fn render(
        &mut self,
        source: &str,
        request: &Object<'_>,
        clock: Option<&FixedClock>,
        wants_spans: bool,
    ) -> Result<Result<Output, Error>, String> {
        let empty = Data::Object(Object::new(Vec::new()));
        let context = request.get("context").unwrap_or(&empty);
        if !matches!(context, Data::Object(_)) {
            return Err("the context is not an object".to_owned());
        }
        let limits = self.limits.clone();
        let mut options = RenderOptions {
            limits: &limits,
            generation: wants_spans,
            plain: self.is_plain,
            ..RenderOptions::default()
        };
        if let Some(clock) = clock {
            options.clock = clock;
        }
        let template = match self.compile(source) {
            Ok(template) => template,
            Err(error) => return Ok(Err(error.clone())),
        };
        Ok(template.render_with(context, &options).map(|rendered| Output {
            text: rendered.text,
            spans: rendered.generation,
        }))
    }

    fn compile(&mut self, source: &str) -> &Result<Template, Error> {
        if self.compiled.as_ref().is_none_or(|(compiled, _)| compiled != source) {
            self.compiled = None;
        }
        let (_, template) = self
            .compiled
            .get_or_insert_with(|| (source.to_owned(), Template::compile_with(source, &self.limits)));
        template
    }
}

fn fixed_clock(request: &Object<'_>) -> Result<Option<FixedClock>, String> {
    match request.get("now") {
        None | Some(Data::None) => Ok(None),
        Some(Data::Str(now)) => match now.parse::<LocalTime>() {
            Ok(time) => Ok(Some(FixedClock(time))),
            Err(error) => Err(error.to_string()),
        },
        Some(_) => Err("now is not a string".to_owned()),
    }
}

fn success(id: Data<'static>, output: Output, wants_spans: bool) -> Data<'static> {
    let mut entries = vec![("id", id), ("output", Data::Str(Cow::Owned(output.text)))];
    if wants_spans {
        entries.push(("generation", show::spans(&output.spans)));
    }
    object(entries)
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
    if let Some(position) = error.position() {
        entries.push(("column", Data::Int(i64::from(position.column))));
    }
    if let Some(reached) = error.reached() {
        // The reference's own words for a recursion without end do not name the limit.
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
    let requests = Data::List(vec![text("render"), text("apply"), text("generation")]);
    let port = object([
        ("name", text(env!("CARGO_PKG_NAME"))),
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
