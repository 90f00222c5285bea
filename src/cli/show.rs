//! How a prompt is shown: as JSON with its spans, or in colour.
//!
//! ```text
//! {"text": "…", "generation": {"code_points": [[0, 5]], "bytes": [[0, 5]]}, "true_spans": {…}, "steps": 42}
//! ```

use std::borrow::Cow;
use std::io::IsTerminal;
use std::ops::Range;

use chat_template::json::{self, Data, Object};
use chat_template::{Prompt, Rendered, Spans};

/// A prompt with its spans, as a line of JSON.
pub fn prompt(prompt: &Prompt) -> String {
    let both = |both: &Spans| object([("code_points", spans(&both.code_points)), ("bytes", spans(&both.bytes))]);
    line(&object([
        ("text", Data::Str(Cow::Borrowed(&prompt.text))),
        ("generation", both(&prompt.generation)),
        ("true_spans", both(&prompt.true_spans)),
        ("steps", steps(prompt.steps)),
    ]))
}

/// The result of the bare engine, as a line of JSON.
pub fn rendered(rendered: &Rendered) -> String {
    let generation = object([("code_points", spans(&rendered.generation))]);
    line(&object([
        ("text", Data::Str(Cow::Borrowed(&rendered.text))),
        ("generation", generation),
        ("steps", steps(rendered.steps)),
    ]))
}

fn steps(steps: u64) -> Data<'static> {
    Data::Int(i64::try_from(steps).unwrap_or(i64::MAX))
}

/// Spans as a list of pairs: where each begins and ends.
pub fn spans(spans: &[Range<usize>]) -> Data<'static> {
    let int = |number: usize| Data::Int(i64::try_from(number).unwrap_or(i64::MAX));
    let pair = |span: &Range<usize>| Data::List(vec![int(span.start), int(span.end)]);
    Data::List(spans.iter().map(pair).collect())
}

/// Whether what is shown has colours: in a terminal, unless its user wants none anywhere.
pub fn is_in_colour() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// The text with these stretches of bytes in green; they may overlap.
pub fn colored(text: &str, spans: &[Range<usize>]) -> String {
    let mut edges: Vec<(usize, bool)> = spans
        .iter()
        .filter(|span| !span.is_empty())
        .flat_map(|span| [(span.start, true), (span.end, false)])
        .collect();
    edges.sort_unstable();
    let (mut shown, mut at, mut depth) = (String::with_capacity(text.len()), 0, 0_usize);
    for (edge, opens) in edges {
        shown.push_str(text.get(at..edge).unwrap_or_default());
        at = edge;
        match (depth, opens) {
            (0, true) => shown.push_str("\x1b[32m"),
            (1, false) => shown.push_str("\x1b[0m"),
            _ => {}
        }
        depth = if opens {
            depth.saturating_add(1)
        } else {
            depth.saturating_sub(1)
        };
    }
    shown.push_str(text.get(at..).unwrap_or_default());
    shown
}

fn line(data: &Data<'_>) -> String {
    let mut line = String::new();
    json::write_data(data, &mut line);
    line.push('\n');
    line
}

/// An object with these entries.
pub fn object<'d>(entries: impl IntoIterator<Item = (&'static str, Data<'d>)>) -> Data<'d> {
    let entries = entries.into_iter().map(|(key, value)| (Cow::Borrowed(key), value));
    Data::Object(Object::new(entries.collect()))
}

#[cfg(test)]
mod tests {
    use super::colored;

    #[test]
    fn stretches_that_overlap_are_one() {
        assert_eq!(colored("abcd", &[1..3, 1..2]), "a\x1b[32mbc\x1b[0md");
        assert_eq!(colored("abcd", &[0..1, 1..1]), "\x1b[32ma\x1b[0mbcd");
        assert_eq!(colored("abcd", &[]), "abcd");
    }
}
