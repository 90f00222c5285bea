//! The output of `render` and `port`: JSON with spans, or coloured text.
//!
//! ```text
//! {"text": "…", "reference_spans": {"code_points": [[0, 5]], "bytes": [[0, 5]]}, "generation_spans": {…}, …}
//! ```

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::ops::Range;

use crate::conformance::printable;
use chat_template::internal::AssistantSpans;
use chat_template::json::{Data, Object};
use chat_template::request::Change;
use chat_template::{AssistantOptions, Bounds, ControlToken, LocalTime, PrefixBroken, Prompt, PromptOptions, Turn};
use serde::Serialize;

/// The piece to append, as the byte index of its start in the prompt, or why there is none.
pub enum Next {
    Piece(usize),
    Broken(PrefixBroken),
}

/// The options of a request that add to its answer and do not change the text.
#[derive(Clone, Copy)]
pub struct Wanted<'o> {
    pub generation: bool,
    pub trace: bool,
    pub assistant: Option<AssistantOptions<'o>>,
    pub turns: bool,
    pub generation_prompt: bool,
    pub mode: Mode,
}

/// The way in which all requests are rendered. The text is the same in each way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// With the forms of expressions that the resolver chose.
    #[default]
    Fast,
    /// With the general form of each expression.
    Plain,
    /// With the origin of each character.
    Traced,
}

impl<'o> Wanted<'o> {
    /// Returns whether the render is traced.
    pub fn is_traced(self) -> bool {
        self.trace || self.turns || self.mode == Mode::Traced
    }

    /// Returns the options of a prompt. All other options have their defaults.
    pub fn options(self, bounds: Bounds<'o>, clock: Option<&'o LocalTime>) -> PromptOptions<'o> {
        let options = PromptOptions::default()
            .with_reference_spans(self.generation)
            .with_generation_prompt(self.generation_prompt)
            .with_trace(self.is_traced())
            .with_assistant(self.assistant)
            .with_bounds(bounds);
        match clock {
            Some(clock) => options.with_clock(clock),
            None => options,
        }
    }
}

/// Writes a value as a line of JSON.
pub fn write_line<T: Serialize>(value: &T, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

/// A prompt with the changes of its request.
#[derive(Serialize)]
struct Changed<'p> {
    #[serde(flatten)]
    prompt: &'p Prompt,
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<&'p [Change]>,
}

/// Writes a prompt with its spans as a line of JSON, and the changes of its request.
pub fn write_prompt(prompt: &Prompt, changes: Option<&[Change]>, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &Changed { prompt, changes })?;
    out.write_all(b"\n")
}

/// Writes the entries of the answer of a prompt.
pub fn stream_prompt(
    prompt: &Prompt,
    (changes, next): (Option<&[Change]>, Option<&Next>),
    wanted: Wanted<'_>,
    control_tokens: Option<&[ControlToken]>,
    turns: Option<&[Turn]>,
    out: &mut dyn Write,
) -> io::Result<()> {
    stream_entry("output", &prompt.text, out)?;
    if let Some(changes) = changes {
        stream_entry("changes", changes, out)?;
    }
    match next {
        Some(Next::Piece(start)) => stream_entry("piece", &prompt.text.get(*start..), out)?,
        Some(Next::Broken(broken)) => {
            stream_entry("piece", &None::<&str>, out)?;
            stream_entry("broken", broken, out)?;
        }
        None => {}
    }
    if wanted.generation {
        stream_entry("generation", &span_pairs(&prompt.reference_spans.code_points), out)?;
    }
    if wanted.generation_prompt {
        stream_entry("generation_prompt", &prompt.generation_prompt_code_points(), out)?;
    }
    if wanted.trace {
        stream_entry("segments", prompt.segments(), out)?;
    }
    if wanted.assistant.is_some() {
        stream_assistant(prompt.assistant_spans(), out)?;
    }
    if let Some(turns) = turns {
        stream_entry("turns", turns, out)?;
    }
    if let Some(tokens) = control_tokens {
        stream_entry("control_tokens", tokens, out)?;
    }
    Ok(())
}

/// Writes the entries of what the model writes. `unknown_turns` is there if a turn is not known.
fn stream_assistant(assistant: &AssistantSpans, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    stream_entry("assistant", assistant, out)?;
    let unknown = assistant.unknown_turns();
    if unknown.is_empty() {
        return Ok(());
    }
    stream_entry("unknown_turns", &unknown, out)
}

/// Writes a comma and an entry of an object.
pub fn stream_entry<T: Serialize + ?Sized>(key: &str, value: &T, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    write!(out, ",\"{key}\":")?;
    Ok(serde_json::to_writer(out, value)?)
}

/// Returns a warning if the text that the model writes is unknown, or if there is none although a message has the role `assistant`.
pub fn warn_of_mask(assistant: &AssistantSpans, messages: Option<&Data<'_>>) -> Option<String> {
    let is_assistant = |message: &Data<'_>| match message {
        Data::Object(message) => message.get("role") == Some(&Data::Str(Cow::Borrowed("assistant"))),
        _ => false,
    };
    let Some(Data::List(messages)) = messages else { return None };
    if let Some((_, reason)) = assistant.reasons().next() {
        return Some(format!("warning: it is unknown which text the model writes: {reason}"));
    }
    let is_empty = assistant.spans().bytes.is_empty() && messages.iter().any(is_assistant);
    is_empty.then(|| "warning: the prompt has no text that the model writes".to_owned())
}

/// Returns each span as a list of its start and its end.
pub fn span_pairs(spans: &[Range<usize>]) -> Vec<[usize; 2]> {
    spans.iter().map(|span| [span.start, span.end]).collect()
}

/// When to colour the output.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum When {
    /// If the output is a terminal and NO_COLOR is not set.
    Auto,
    /// In terminals, files and pipes.
    Always,
    /// Never.
    Never,
}

impl When {
    /// Returns whether the output is coloured.
    pub fn is_colored(self) -> bool {
        match self {
            Self::Always => true,
            Self::Auto => io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty()),
            Self::Never => false,
        }
    }
}

/// Returns the text with these spans in green. The spans are in bytes and can overlap. Control characters of the text are escaped if it
/// goes to a terminal.
pub fn color_spans(text: &str, spans: &[Range<usize>]) -> String {
    let escape = |part: &str| {
        if std::io::stdout().is_terminal() {
            printable(part).into_owned()
        } else {
            part.to_owned()
        }
    };
    let mut edges: Vec<(usize, bool)> = spans
        .iter()
        .filter(|span| !span.is_empty())
        .flat_map(|span| [(span.start, true), (span.end, false)])
        .collect();
    edges.sort_unstable();
    let (mut shown, mut at, mut depth) = (String::with_capacity(text.len()), 0, 0_usize);
    for (edge, opens) in edges {
        shown.push_str(&escape(text.get(at..edge).unwrap_or_default()));
        at = edge;
        match (depth, opens) {
            (0, true) => shown.push_str("\x1b[32m"),
            (1, false) => shown.push_str("\x1b[0m"),
            _ => {}
        }
        depth = if opens { depth + 1 } else { depth.saturating_sub(1) };
    }
    shown.push_str(&escape(text.get(at..).unwrap_or_default()));
    shown
}

/// Makes an object with these entries.
pub fn object<'d>(entries: impl IntoIterator<Item = (&'static str, Data<'d>)>) -> Data<'d> {
    let entries = entries.into_iter().map(|(key, value)| (Cow::Borrowed(key), value));
    Data::Object(Object::new(entries.collect()))
}

#[cfg(test)]
mod tests {
    use super::color_spans;

    #[test]
    fn spans_that_overlap_are_one() {
        assert_eq!(color_spans("abcd", &[1..3, 1..2]), "a\x1b[32mbc\x1b[0md");
        assert_eq!(color_spans("abcd", &[0..1, 1..1]), "\x1b[32ma\x1b[0mbcd");
        assert_eq!(color_spans("abcd", &[]), "abcd");
    }
}
