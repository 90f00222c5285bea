//! The report as text for people.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;

use crate::conformance::printable;
use chat_template::internal::report::{
    Alternation, Boundary, Change, Counterexample, Finding, GenerationPrompt, Media, Medium, Outcome, Prefix, Reads, Reasoning,
    Replay, Response, Role, Roles, Switch, System, Witness,
};
use chat_template::{Error, Report};
use serde_json::Value;

use super::super::explain::{GREEN, GREY, ORANGE, RED, paint};

/// The number of characters before and after the place at which two prompts differ.
const AROUND: usize = 36;

/// The longest excerpt of a prompt in characters.
const EXCERPT: usize = 60;

/// The width of lists in characters.
const WIDTH: usize = 96;

/// The blanks before each row in the text.
pub const INDENT: &str = "  ";

/// What a report is.
pub const SUMMARY: &str = "What the template takes, as small conversations with unique words show";

/// A group of rows under a title.
pub struct Group {
    /// The title, and after two blanks or more the names of the columns.
    pub title: &'static str,
    pub rows: Vec<Row>,
}

/// The pieces of a row, which can have several lines.
pub type Row = Vec<(Tone, String)>;

/// The colour of a piece. Its name is also its CSS class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Head,
    Faint,
    Good,
    Warn,
    Bad,
}

impl Tone {
    /// Returns the CSS class.
    pub fn class(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Head => "head",
            Self::Faint => "faint",
            Self::Good => "good",
            Self::Warn => "warn",
            Self::Bad => "bad",
        }
    }

    fn paint(self, text: &str, is_colored: bool) -> String {
        let style = match self {
            _ if !is_colored || text.is_empty() => return text.to_owned(),
            Self::Plain => return text.to_owned(),
            Self::Head => "1",
            Self::Faint => GREY,
            Self::Good => GREEN,
            Self::Warn => ORANGE,
            Self::Bad => RED,
        };
        paint(style, text)
    }
}

/// The words of verdicts, with their colours and meanings.
const LEGEND: [(&str, Tone, &str); 9] = [
    ("printed", Tone::Good, "the prompt has the text"),
    (
        "repr",
        Tone::Warn,
        "the prompt has the parts in the notation of Python or JSON",
    ),
    (
        "double",
        Tone::Warn,
        "the prompt has arguments in JSON text encoded a second time",
    ),
    ("lost", Tone::Bad, "the prompt does not have the text"),
    ("refused", Tone::Bad, "the template calls raise_exception"),
    ("failed", Tone::Bad, "the render fails with another error"),
    ("kept", Tone::Good, "the prompt is a prefix in all pairs that were tried"),
    ("broken", Tone::Bad, "the two prompts differ at the caret"),
    ("unknown", Tone::Warn, "the template renders no pair that was tried"),
];

/// Returns the report as text.
pub fn write(title: &str, report: &Report<'_>, is_colored: bool) -> Result<String, Error> {
    let head = Tone::Head.paint(&printable(title), is_colored);
    let mut page = format!("{head}\n{}\n", Tone::Faint.paint(SUMMARY, is_colored));
    for group in list_groups(report)? {
        let (title, columns) = group.title.split_at(group.title.find("  ").unwrap_or(group.title.len()));
        let (title, columns) = (Tone::Head.paint(title, is_colored), Tone::Faint.paint(columns, is_colored));
        let _ = writeln!(page, "\n{title}{columns}");
        for row in group.rows {
            page.push_str(INDENT);
            for (tone, text) in row {
                for (index, line) in text.split('\n').enumerate() {
                    if index > 0 {
                        let _ = write!(page, "\n{INDENT}");
                    }
                    page.push_str(&tone.paint(&printable(line), is_colored));
                }
            }
            page.push('\n');
        }
    }
    Ok(page)
}

/// Returns the groups of the report that have rows.
pub fn list_groups(report: &Report<'_>) -> Result<Vec<Group>, Error> {
    let groups = [
        ("roles          string    parts     null", list_roles(report.roles()?)),
        (
            "orders                             outcome",
            list_orders(report.system()?, report.alternation()?),
        ),
        ("media          in user messages", list_media(report.media()?)),
        ("tools                              outcome", list_tools(report)?),
        ("reasoning", list_reasoning(report.reasoning()?)),
        ("generation prompt", list_generation_prompt(report.generation_prompt()?)),
        ("response template", list_response(report.response()?)),
        (
            "switches",
            report
                .switches()?
                .iter()
                .map(|switch| plain(describe_switch(switch)))
                .collect(),
        ),
        ("reads          name (line)", list_reads(report.reads()?)),
        (
            "prompt stays a prefix when the conversation grows by",
            list_prefix(report.prefix()?),
        ),
        ("lint", list_findings(report.lint()?)),
        ("why", list_reasons(report.witnesses()?)),
    ];
    let groups = groups.into_iter().map(|(title, rows)| Group { title, rows });
    let mut groups: Vec<Group> = groups.filter(|group| !group.rows.is_empty()).collect();
    let pieces = groups.iter().flat_map(|group| group.rows.iter().flatten());
    let words: HashSet<&str> = pieces
        .filter(|(tone, _)| *tone != Tone::Plain)
        .map(|(_, text)| text.trim())
        .collect();
    let used = LEGEND.iter().filter(|(word, ..)| words.contains(word));
    let rows = used.map(|(word, tone, meaning)| vec![(*tone, format!("{word:<13}")), (Tone::Plain, (*meaning).to_owned())]);
    let rows = rows.collect();
    groups.push(Group { title: "legend", rows });
    Ok(groups)
}

/// Returns a row without colours.
fn plain(text: String) -> Row {
    vec![(Tone::Plain, text)]
}

/// Returns the word of a verdict in its colour, with blanks up to a width.
fn word(word: &str, width: usize) -> (Tone, String) {
    let known = LEGEND.iter().find(|(known, ..)| *known == word);
    (known.map_or(Tone::Plain, |(_, tone, _)| *tone), format!("{word:<width$}"))
}

/// Returns the word of an outcome.
pub fn name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Printed => "printed",
        Outcome::Repr => "repr",
        Outcome::Double => "double",
        Outcome::Lost => "lost",
        Outcome::Refused => "refused",
        Outcome::Failed => "failed",
    }
}

fn list_roles(roles: &Roles) -> Vec<Row> {
    let row = |(role, verdicts): (&str, &Role)| {
        let null = match (&verdicts.null.text, verdicts.null.error) {
            (Some(text), _) if text.is_empty() => (Tone::Plain, "nothing".to_owned()),
            (Some(text), _) => (Tone::Plain, quote(text)),
            (None, Some(error)) => word(name(error), 0),
            (None, None) => (Tone::Plain, "-".to_owned()),
        };
        let role = (Tone::Plain, format!("{role:<13}"));
        vec![role, word(name(verdicts.string), 10), word(name(verdicts.parts), 10), null]
    };
    let rows = [
        ("system", &roles.system),
        ("user", &roles.user),
        ("assistant", &roles.assistant),
        ("tool", &roles.tool),
        ("developer", &roles.developer),
    ];
    rows.into_iter().map(row).collect()
}

fn list_orders(system: &System, alternation: &Alternation) -> Vec<Row> {
    let rows = [
        ("system first", system.first),
        ("system in the middle", system.middle),
        ("two system messages", system.twice),
        ("two user messages in a row", alternation.user_twice),
        ("two assistant messages in a row", alternation.assistant_twice),
        ("assistant first", alternation.assistant_first),
    ];
    rows.map(describe_outcome).to_vec()
}

/// Returns a row with an outcome.
fn describe_outcome((what, outcome): (&str, Outcome)) -> Row {
    vec![(Tone::Plain, format!("{what:<33}")), word(name(outcome), 0)]
}

fn list_media(media: &Media) -> Vec<Row> {
    let media = [("image", &media.image), ("audio", &media.audio), ("video", &media.video)];
    let row = |(kind, medium): (&str, &Medium)| match &medium.text {
        Some(text) => {
            let place = if medium.in_order { "in its place" } else { "elsewhere" };
            plain(format!(
                "{kind:<12} {} {place}, for parts of type {}",
                quote(text),
                medium.types.join(", ")
            ))
        }
        None => vec![(Tone::Plain, format!("{kind:<13}")), word(name(medium.outcome), 0)],
    };
    media.into_iter().map(row).collect()
}

fn list_tools(report: &Report<'_>) -> Result<Vec<Row>, Error> {
    let (tools, calls) = (report.tools()?, report.calls()?);
    let mut rows = vec![
        ("name of a function", tools.name),
        ("description of a function", tools.description),
        ("name of a parameter", tools.parameter),
        ("tools without a system message", report.system()?.tools_without_system),
        ("arguments that are an object", calls.object),
        ("arguments that are JSON text", calls.string),
    ];
    if calls.written {
        rows.extend([
            ("second call of a message", calls.parallel),
            ("content beside a call", calls.content_beside),
            ("call without content", report.roles()?.assistant.empty.unwrap_or_default()),
            ("id of a call", calls.id),
            ("name in a result", calls.name_in_result),
            ("id in a result", calls.id_in_result),
        ]);
    }
    Ok(rows.into_iter().map(describe_outcome).collect())
}

fn list_reasoning(reasoning: &Reasoning) -> Vec<Row> {
    let mut rows = Vec::new();
    if !reasoning.fields.is_empty() {
        rows.push(format!("read from {}", reasoning.fields.join(", ")));
    }
    rows.push(
        match reasoning.replayed {
            Replay::Always => "in the prompt in every turn",
            Replay::LastTurn => "in the prompt after the last user message only",
            Replay::Never => "never in the prompt",
        }
        .to_owned(),
    );
    if reasoning.cuts_think {
        rows.push("<think>…</think> in the content of an earlier message is left out".to_owned());
    }
    rows.into_iter().map(plain).collect()
}

fn list_generation_prompt(prompt: &GenerationPrompt) -> Vec<Row> {
    let row = match (&prompt.text, prompt.read) {
        (_, false) => "add_generation_prompt changes nothing".to_owned(),
        (Some(text), true) => {
            let note = if prompt.opens_reasoning {
                ", which opens the reasoning"
            } else {
                ""
            };
            format!("{}{note}", quote(text))
        }
        (None, true) => "add_generation_prompt changes the prompt before its end".to_owned(),
    };
    vec![plain(row)]
}

fn list_response(response: &Response) -> Vec<Row> {
    let fields = response
        .template
        .as_ref()
        .and_then(|template| template.get("fields"))
        .and_then(Value::as_object);
    let row = match fields {
        Some(fields) if response.partial.is_empty() => {
            wrap("derived, with the fields ", &fields.keys().cloned().collect::<Vec<_>>())
        }
        Some(_) => wrap("derived, without ", &response.partial),
        None => format!("none: {}", shorten(response.reason.as_deref().unwrap_or_default())),
    };
    vec![plain(row)]
}

/// Returns a switch as a sentence.
fn describe_switch(switch: &Switch) -> String {
    let values: Vec<String> = switch.values.iter().map(Value::to_string).collect();
    let values = match (values.as_slice(), switch.printed) {
        ([], true) => " = any text".to_owned(),
        ([], false) => String::new(),
        (values, true) => format!(" = {}, or any text", values.join(", ")),
        (values, false) => format!(" = {}", values.join(" or ")),
    };
    let default = match &switch.default {
        Some(default) => format!(" ({default} if absent)"),
        None => String::new(),
    };
    let changes = switch.changes.iter().map(|change| match change {
        Change::GenerationPrompt => "the generation prompt",
        Change::History => "the turns",
        Change::System => "what comes before the first user message",
    });
    let changes: Vec<&str> = changes.collect();
    format!("{}{values}{default} changes {}", switch.name, changes.join(" and "))
}

fn list_reads(reads: &Reads) -> Vec<Row> {
    let kinds = [
        ("variables", &reads.variables),
        ("messages", &reads.messages),
        ("calls", &reads.calls),
        ("tools", &reads.tools),
        ("the clock", &reads.clock),
    ];
    let rows = kinds.into_iter().filter(|(_, reads)| !reads.is_empty());
    rows.map(|(kind, reads)| {
        let names: Vec<String> = reads.iter().map(|read| format!("{} ({})", read.name, read.line)).collect();
        plain(wrap(&format!("{kind:<12} "), &names))
    })
    .collect()
}

/// Returns a head and words with commas between them, in lines of about [`WIDTH`] characters.
fn wrap(head: &str, words: &[String]) -> String {
    let indent = head.chars().count();
    let (mut text, mut width) = (head.to_owned(), indent);
    for (index, word) in words.iter().enumerate() {
        let length = word.chars().count().saturating_add(2);
        if width > indent && width.saturating_add(length) > WIDTH {
            let _ = write!(text, "\n{:indent$}", "");
            width = indent;
        }
        text.push_str(word);
        let is_last = index.saturating_add(1) == words.len();
        text.push_str(if is_last { "" } else { ", " });
        width = width.saturating_add(length);
    }
    text
}

fn list_prefix(prefix: &Prefix) -> Vec<Row> {
    let row = |(name, boundary): (&str, &Boundary)| {
        let (verdict, shown) = match boundary {
            Boundary::Kept { tried } => ("kept", format!(" in {tried} pairs")),
            Boundary::Broken(example) => ("broken", show_difference(example)),
            Boundary::Unknown => ("unknown", String::new()),
        };
        vec![(Tone::Plain, format!("{name:<19}")), word(verdict, 0), (Tone::Plain, shown)]
    };
    prefix.boundaries().into_iter().map(row).collect()
}

/// Returns the places at which two prompts differ, one below the other, with a caret.
fn show_difference(example: &Counterexample) -> String {
    let window = |text: &str| -> (String, String) {
        let start = example.at.saturating_sub(AROUND);
        let before: String = text.chars().skip(start).take(example.at.saturating_sub(start)).collect();
        let after: String = text.chars().skip(example.at).take(AROUND).collect();
        (escape(&before), escape(&after))
    };
    let ((before, short), (_, long)) = (window(&example.before), window(&example.after));
    let indent = " ".repeat(before.chars().count());
    let mut shown = match example.line {
        Some(line) => format!(": line {line}"),
        None => String::new(),
    };
    if let Some(look) = example.looks_at.first() {
        let _ = write!(shown, " looks at {}", look.expression);
    }
    let _ = write!(
        shown,
        "\n    before  {before}{short}\n    after   {before}{long}\n            {indent}^"
    );
    shown
}

fn list_findings(findings: &[Finding]) -> Vec<Row> {
    let mut explained = HashSet::new();
    let mut rows = Vec::new();
    for finding in findings {
        let (line, column) = (finding.line, finding.column);
        let place = (Tone::Faint, format!("{line}:{column} "));
        let (excerpt, indent) = cut_excerpt(&finding.excerpt, column.saturating_sub(1));
        let indent = " ".repeat(indent);
        let mut rest = format!(": {}\n    {excerpt}\n    {indent}^", finding.message);
        // Only the first finding of a rule shows the reason of the rule.
        if explained.insert(&finding.rule) {
            let _ = write!(rest, "\n    {}", finding.why);
        }
        let _ = write!(rest, "\n    Instead: {}.", finding.instead);
        rows.push(vec![place, (Tone::Warn, finding.rule.clone()), (Tone::Plain, rest)]);
    }
    rows
}

/// Returns the part of a line around a column, and the column in the part.
fn cut_excerpt(line: &str, column: usize) -> (String, usize) {
    // The excerpt of a very long line may end before the column.
    let column = column.min(line.chars().count());
    let margin = line.chars().take_while(|char| char.is_whitespace()).count().min(column);
    let last = WIDTH.saturating_sub(AROUND);
    let start = if column.saturating_sub(margin) < last {
        margin
    } else {
        column.saturating_sub(AROUND)
    };
    let (before, width) = if start > margin {
        ("…", WIDTH.saturating_sub(8))
    } else {
        ("", WIDTH.saturating_sub(7))
    };
    let shown = line.chars().skip(start).take(width);
    let shown = shown.map(|char| if char == '\t' { ' ' } else { char });
    let mut part: String = before.chars().chain(shown).collect();
    if line.chars().nth(start.saturating_add(width)).is_some() {
        part.push('…');
    }
    (part, column.saturating_sub(start).saturating_add(before.chars().count()))
}

/// Returns the reasons of the verdicts that are neither printed nor lost.
fn list_reasons(witnesses: &BTreeMap<String, Witness>) -> Vec<Row> {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for (path, witness) in witnesses {
        if let Some(reason) = describe_failure(witness) {
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, paths)) => paths.push(path.clone()),
                None => reasons.push((reason, vec![path.clone()])),
            }
        }
    }
    let row = |(reason, paths): (String, Vec<String>)| plain(format!("{reason}\n{}", wrap("    ", &paths)));
    reasons.into_iter().map(row).collect()
}

fn describe_failure(witness: &Witness) -> Option<String> {
    let error = witness.error.as_ref()?;
    let line = witness.line.map_or_else(String::new, |line| format!("line {line}: "));
    Some(format!("{line}{}", shorten(error)))
}

fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(EXCERPT.saturating_mul(2)).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short.replace('\n', " ")
}

/// Returns the first characters of a string in quotation marks, with escapes for line breaks and tabs.
pub fn quote(text: &str) -> String {
    let short: String = text.chars().take(EXCERPT).collect();
    let rest = if short.len() < text.len() { "…" } else { "" };
    format!("\"{}\"{rest}", escape(&short))
}

/// Returns a string with escapes for line breaks and tabs.
fn escape(text: &str) -> String {
    text.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t")
}
