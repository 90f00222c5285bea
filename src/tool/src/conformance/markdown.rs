//! Writes a report as Markdown, for an issue or a wiki.
//!
//! ```text
//! | area | right | wrong | … |
//! ```

use std::fmt::Write;

use super::report::{Report, Score};
use super::score::Strictness;
use super::text::{COLUMNS, failure};
use super::visible::{printable, to_line};

/// The largest size of a document in bytes, which leaves room for a link. GitHub refuses a summary of a job of more than 1 MiB.
const MAX_SIZE: usize = 1_000_000;

/// Returns a report as a Markdown document of less than 1 MiB. `whole` is the address of the whole report, which the document names if
/// something is left out.
pub fn markdown(report: &Report, whole: Option<&str>) -> String {
    let mut text = format!(
        "# {}: conformance\n\nSuite {}, answered by {}. Run on {} as `{}`.\n\n",
        escape_markdown(&report.port.title()),
        escape_markdown(&report.suite),
        escape_markdown(&report.reference),
        escape_markdown(&report.date),
        to_line(&report.port.command).replace('`', "'")
    );
    let (name, headline) = report.headline();
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "**{} {}**, {} unsupported\n",
        escape_markdown(name),
        headline.percent(),
        report.total().unsupported
    );
    let _ = writeln!(text, "| {} |\n|---{}|", COLUMNS.join(" | "), "|--:".repeat(COLUMNS.len() - 1));
    for (area, score) in report.tiers().into_iter().chain(report.areas()) {
        text.push_str(&row(&escape_markdown(area), &score));
    }
    text.push_str(&row("**all**", &report.total()));
    text.push_str("\nKind, text, line: the share of equal ones where both the port and the reference have an error. Outputs, errors: the share of right ones of all that was asked.\n");
    for line in report.notes() {
        let _ = write!(text, "\n{line}.\n");
    }
    text.push_str("\n## Causes\n\n| cases | cause | a case |\n|--:|---|---|\n");
    for cause in report.causes(Strictness::Text) {
        let case = cause.cases.first().map(|(case, _)| case.id.as_str()).unwrap_or_default();
        if text.len() > MAX_SIZE / 2 {
            break;
        }
        let _ = writeln!(
            text,
            "| {} | {} | {} |",
            cause.cases.len(),
            escape_markdown(cause.text),
            escape_markdown(case)
        );
    }
    text.push_str("\n## What is wrong\n\n");
    let mut failures: Vec<_> = report.failures().collect();
    failures.sort_by_key(|(case, _)| (case.is_known, !case.verdict.is_fault(), !case.is_wrong()));
    for (place, (case, detail)) in failures.iter().enumerate() {
        let shown = failure(case, detail, false);
        let shown = printable(&shown);
        let fence = fence(&shown);
        if text.len() + shown.len() > MAX_SIZE {
            let _ = writeln!(
                text,
                "{} more cases are in the whole report{}.",
                failures.len() - place,
                link_to(whole)
            );
            break;
        }
        let _ = write!(text, "{fence}diff\n{shown}{fence}\n\n");
    }
    text
}

fn link_to(whole: Option<&str>) -> String {
    whole
        .map(|whole| format!(": <{}>", to_line(whole).replace(['<', '>'], "")))
        .unwrap_or_default()
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
    format!("| {area} | {} |\n", score.cells().join(" | "))
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
