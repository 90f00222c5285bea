//! Writes a report for a terminal: a table of areas, and the failures.
//!
//! ```text
//! area   right  wrong  unsupported  outputs   errors     kind    text     line
//! loops     54      0            0  100.0 %  100.0 %  100.0 %  98.0 %  100.0 %
//! ```

use std::fmt::Write;

use super::report::{CaseReport, Detail, Report, Score};
use super::score::Verdict;
use super::text_diff::difference;
use super::visible::{printable, to_line};

/// The number of lines of a template and of a difference that are shown.
const MAX_LINES: usize = 40;

/// The number of characters of a context that are shown.
const MAX_CONTEXT: usize = 300;

/// Returns the table of areas.
pub fn table(report: &Report) -> String {
    let mut rows = vec![COLUMNS.map(str::to_owned).to_vec()];
    let row = |(area, score): (&str, Score)| [to_line(area)].into_iter().chain(score.cells()).collect();
    rows.extend(report.tiers().into_iter().chain(report.areas()).map(row));
    rows.push(row(("all", report.total())));
    let mut table = align(&rows);
    table.push_str("outputs, errors: the share of right ones of all that was asked\n");
    table.push_str("kind, text, line: the share of equal ones where both the port and the reference have an error\n");
    let (name, headline) = report.headline();
    table.push_str(&format!("{name}: {}\n", headline.percent()));
    for line in report.notes() {
        table.push_str(&line);
        table.push('\n');
    }
    table
}

/// The columns of a table of scores.
pub(super) const COLUMNS: [&str; 9] = [
    "area",
    "right",
    "wrong",
    "unsupported",
    "outputs",
    "errors",
    "kind",
    "text",
    "line",
];

/// Returns lines with the columns of rows below each other: the first column on the left, and the others on the right.
pub(super) fn align(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            let lengths = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
            lengths.max().unwrap_or_default()
        })
        .collect();
    let mut table = String::new();
    for row in rows {
        let mut line = String::new();
        for (place, (cell, width)) in row.iter().zip(&widths).enumerate() {
            // Writing to a String cannot fail.
            let _ = match place {
                0 => write!(line, "{cell:<width$}"),
                _ => write!(line, "  {cell:>width$}"),
            };
        }
        table.push_str(line.trim_end());
        table.push('\n');
    }
    table
}

/// Describes a wrong answer: the headline, the request, and the difference between the answers. Control characters are escaped.
pub fn failure(case: &CaseReport, detail: &Detail, in_colour: bool) -> String {
    let mut shown = format!("{}: {} ({})\n", printable(&case.id), headline(case), printable(&detail.rule));
    let request = super::visible::visible(&detail.request);
    for line in some(request.lines().map(str::to_owned).collect()) {
        shown.push_str(&format!("  | {line}\n"));
    }
    if !detail.context.is_empty() {
        let context = super::visible::visible(&detail.context);
        let start: String = context.chars().take(MAX_CONTEXT).collect();
        let more = if start.len() < context.len() { "…" } else { "" };
        shown.push_str(&format!("  with {start}{more}\n"));
    }
    if case.verdict.is_fault() {
        for line in super::visible::visible(&detail.got).lines() {
            shown.push_str(&format!("  ! {}\n", line.trim_end_matches('⏎')));
        }
        return shown;
    }
    let lines = difference(&detail.want, &detail.got);
    let lines = lines.iter().map(|line| {
        let (start, end) = match (in_colour, line.sign) {
            (true, '-') => ("\x1b[32m", "\x1b[0m"),
            (true, '+') => ("\x1b[31m", "\x1b[0m"),
            _ => ("", ""),
        };
        format!("{start}{} {}{end}", line.sign, line.text())
    });
    for line in some(lines.collect()) {
        shown.push_str(&format!("  {line}\n"));
    }
    shown
}

/// Returns the verdict on a case in words. If only aspects of an error are wrong, it names them.
pub fn headline(case: &CaseReport) -> String {
    match case.verdict {
        Verdict::Right => {
            let aspects: Vec<&str> = case.wrong.iter().map(|aspect| aspect.name()).collect();
            format!("an error, but not its {}", aspects.join(", "))
        }
        verdict => verdict.name().to_owned(),
    }
}

fn some(mut lines: Vec<String>) -> Vec<String> {
    let left = lines.len().saturating_sub(MAX_LINES);
    if left > 0 {
        lines.truncate(MAX_LINES);
        lines.push(format!("… {left} more lines"));
    }
    lines
}
