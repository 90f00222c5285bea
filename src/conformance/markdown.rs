//! Writes a report as Markdown, for an issue or a wiki.
//!
//! ```text
//! | area | right | wrong | … |
//! ```

use std::fmt::Write;

use super::report::{Report, Score};
use super::text::failure;
use super::visible::{printable, to_line};

/// Returns a report as a Markdown document.
pub fn markdown(report: &Report) -> String {
    let mut text = format!(
        "# {}: conformance\n\nSuite {}, answered by {}. Run on {} as `{}`.\n\n",
        escape_markdown(&report.port.title()),
        escape_markdown(&report.suite),
        escape_markdown(&report.reference),
        escape_markdown(&report.date),
        to_line(&report.port.command).replace('`', "'")
    );
    text.push_str("| area | right | wrong | unsupported | | kind | text | line |\n|---|--:|--:|--:|--:|--:|--:|--:|\n");
    for (area, score) in report.areas() {
        text.push_str(&row(&escape_markdown(area), &score));
    }
    text.push_str(&row("**all**", &report.total()));
    text.push_str("\nKind, text, line: the share of equal ones where both the port and the reference have an error.\n");
    if let Some(line) = report.faults.line() {
        // Writing to a String cannot fail.
        let _ = write!(text, "\nThe port: {line}.\n");
    }
    text.push_str("\n## Causes\n\n| cases | cause | a case |\n|--:|---|---|\n");
    for cause in report.causes(true) {
        let case = cause.cases.first().map(|(case, _)| case.id.as_str()).unwrap_or_default();
        let _ = writeln!(
            text,
            "| {} | {} | {} |",
            cause.cases.len(),
            escape_markdown(cause.text),
            escape_markdown(case)
        );
    }
    text.push_str("\n## What is wrong\n\n");
    for (case, detail) in report.failures() {
        let shown = failure(case, detail, false);
        let shown = printable(&shown);
        let fence = fence(&shown);
        let _ = write!(text, "{fence}diff\n{shown}{fence}\n\n");
    }
    text
}

/// Returns a string on one line that Markdown shows as it is: each sign that Markdown reads is escaped.
pub(super) fn escape_markdown(text: &str) -> String {
    let mut shown = String::new();
    for char in to_line(text).chars() {
        if matches!(
            char,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '~' | '&' | '!'
        ) {
            shown.push('\\');
        }
        shown.push(char);
    }
    shown
}

/// Returns a fence for a block of code: a run of backquotes that is longer than any in the text.
fn fence(shown: &str) -> String {
    let longest = shown.split(|char| char != '`').map(str::len).max().unwrap_or_default();
    "`".repeat((longest + 1).max(3))
}

fn row(area: &str, score: &Score) -> String {
    let [kind, message, line] = score.error_percents();
    format!(
        "| {area} | {} | {} | {} | {} | {kind} | {message} | {line} |\n",
        score.right,
        score.wrong(),
        score.unsupported,
        score.percent()
    )
}

#[cfg(test)]
mod tests {
    use super::{escape_markdown, fence};

    #[test]
    fn a_name_is_shown_as_it_is() {
        assert_eq!(
            escape_markdown("<b>[a](b)|`\n\x1b"),
            "\\<b\\>\\[a\\](b)\\|\\`\\\\u{a}\\\\u{1b}"
        );
    }

    #[test]
    fn a_fence_is_longer_than_what_is_inside() {
        assert_eq!(fence("a"), "```");
        assert_eq!(fence("a ```` b"), "`````");
    }
}
