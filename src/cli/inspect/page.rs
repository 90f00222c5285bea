//! The report as text for people.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::conformance::printable;
use crate::report::{
    Alternation, Boundary, Change, Counterexample, Finding, GenerationPrompt, Media, Medium, Outcome, Prefix, Reads, Reasoning,
    Replay, Role, Roles, Switch, System, Verdict, Witness,
};
use crate::{Error, Report};
use serde_json::Value;

/// The number of characters before and after the place at which two prompts differ.
const AROUND: usize = 36;

/// The longest excerpt of a prompt in characters.
const EXCERPT: usize = 60;

/// The blanks before each row in the text.
pub const INDENT: &str = "  ";

/// A group of rows under a title.
pub struct Group {
    /// The title, and after two blanks or more the names of the columns.
    pub title: &'static str,
    pub rows: Vec<String>,
}

/// Returns the report as text.
pub fn write(title: &str, report: &Report<'_>) -> Result<String, Error> {
    let mut page = format!("{title}\n");
    for group in list_groups(report)? {
        let _ = write!(page, "\n{}\n", group.title);
        for row in group.rows {
            for line in row.lines() {
                let _ = writeln!(page, "{INDENT}{}", printable(line));
            }
        }
    }
    Ok(page)
}

/// Returns the groups of the report that have rows.
pub fn list_groups(report: &Report<'_>) -> Result<Vec<Group>, Error> {
    let groups = [
        ("roles          string    parts     null content", list_roles(report.roles()?)),
        ("orders", list_orders(report.system()?, report.alternation()?)),
        ("media in user messages", list_media(report.media()?)),
        ("tools", list_tools(report)?),
        ("reasoning", list_reasoning(report.reasoning()?)),
        ("generation prompt", list_generation_prompt(report.generation_prompt()?)),
        ("switches", report.switches()?.iter().map(describe_switch).collect()),
        ("reads", list_reads(report.reads()?)),
        (
            "prompt stays a prefix when the conversation grows by",
            list_prefix(report.prefix()?),
        ),
        ("lint", list_findings(report.lint()?)),
        ("why", list_reasons(report.witnesses()?)),
    ];
    let groups = groups.into_iter().map(|(title, rows)| Group { title, rows });
    Ok(groups.filter(|group| !group.rows.is_empty()).collect())
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

fn list_roles(roles: &Roles) -> Vec<String> {
    let row = |(role, verdicts): (&str, &Role)| {
        let null = match (&verdicts.null.text, verdicts.null.error) {
            (Some(text), _) if text.is_empty() => "nothing".to_owned(),
            (Some(text), _) => quote(text),
            (None, Some(error)) => name(error).to_owned(),
            (None, None) => "-".to_owned(),
        };
        format!("{role:<12} {:<9} {:<9} {null}", name(verdicts.string), name(verdicts.parts))
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

fn list_orders(system: &System, alternation: &Alternation) -> Vec<String> {
    let rows = [
        ("system first", system.first),
        ("system in the middle", system.middle),
        ("two system messages", system.twice),
        ("two user messages in a row", alternation.user_twice),
        ("two assistant messages in a row", alternation.assistant_twice),
        ("assistant first", alternation.assistant_first),
    ];
    rows.map(|(order, outcome)| format!("{order:<32} {}", name(outcome))).to_vec()
}

fn list_media(media: &Media) -> Vec<String> {
    let media = [("image", &media.image), ("audio", &media.audio), ("video", &media.video)];
    let row = |(kind, medium): (&str, &Medium)| match &medium.text {
        Some(text) => {
            let place = if medium.in_order { "in its place" } else { "elsewhere" };
            format!(
                "{kind:<12} {} {place}, for parts of type {}",
                quote(text),
                medium.types.join(", ")
            )
        }
        None => format!("{kind:<12} {}", name(medium.outcome)),
    };
    media.into_iter().map(row).collect()
}

fn list_tools(report: &Report<'_>) -> Result<Vec<String>, Error> {
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
    let row = |(what, outcome): (&str, Outcome)| format!("{what:<32} {}", name(outcome));
    Ok(rows.into_iter().map(row).collect())
}

fn list_reasoning(reasoning: &Reasoning) -> Vec<String> {
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
    rows
}

fn list_generation_prompt(prompt: &GenerationPrompt) -> Vec<String> {
    match (&prompt.text, prompt.read) {
        (_, false) => vec!["add_generation_prompt changes nothing".to_owned()],
        (Some(text), true) => {
            let note = if prompt.opens_reasoning {
                ", which opens the reasoning"
            } else {
                ""
            };
            vec![format!("{}{note}", quote(text))]
        }
        (None, true) => vec!["add_generation_prompt changes the prompt before its end".to_owned()],
    }
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

fn list_reads(reads: &Reads) -> Vec<String> {
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
        format!("{kind:<12} {}", names.join(", "))
    })
    .collect()
}

fn list_prefix(prefix: &Prefix) -> Vec<String> {
    let row = |(name, boundary): (&str, &Boundary)| {
        let verdict = match boundary.verdict {
            Verdict::Proven => "kept, proven",
            Verdict::Counterexample => "not kept",
            Verdict::Unknown => "unknown",
        };
        let shown = boundary.counterexample.as_ref().map(show_difference);
        format!("{name:<18} {verdict}{}", shown.unwrap_or_default())
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

fn list_findings(findings: &[Finding]) -> Vec<String> {
    findings
        .iter()
        .map(|finding| {
            let (line, column) = (finding.line, finding.column);
            // The excerpt of a very long line may end before the column.
            let indent = column.saturating_sub(1).min(finding.excerpt.chars().count());
            let indent = " ".repeat(indent);
            format!(
                "{line}:{column} {}: {}\n    {}\n    {indent}^\n    {} Instead: {}.",
                finding.rule, finding.message, finding.excerpt, finding.why, finding.instead
            )
        })
        .collect()
}

/// Returns the reasons of the verdicts that are neither printed nor lost.
fn list_reasons(witnesses: &BTreeMap<String, Witness>) -> Vec<String> {
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for (path, witness) in witnesses {
        if let Some(reason) = describe_failure(witness) {
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, paths)) => paths.push(path),
                None => reasons.push((reason, vec![path])),
            }
        }
    }
    let row = |(reason, paths): (String, Vec<&str>)| format!("{reason}\n    {}", paths.join(", "));
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
