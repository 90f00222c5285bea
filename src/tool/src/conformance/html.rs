//! A report as one HTML page: a table of tiers and areas, and the difference of each failure.
//!
//! ```text
//! <table>…<details><summary>loops/first wrong</summary><pre class="difference">…
//! ```
//!
//! The page runs no script. Failures open by `details`.

use maud::{Markup, html};

use super::report::{CaseReport, Detail, Report, Score};
use super::score::Strictness;
use super::text::{COLUMNS, headline};
use super::text_diff::difference;
use super::visible::visible;
use crate::page::page;

/// The style sheet of reports.
pub const STYLE: &str = include_str!("report.css");

/// Returns a report as an HTML page.
pub fn html(report: &Report) -> String {
    let total = report.total();
    let (name, headline) = report.headline();
    let title = format!("{}: conformance", report.port.title());
    let body = html! {
        header id="top" {
            h1 { (report.port.title()) " " span class=(shade(&headline)) { (name) " " (headline.percent()) } }
            p {
                "Suite " (report.suite) ", answered by " (report.reference) ". Run on " (report.date) " as " code { (report.port.command) } "."
                @if !report.port.language.is_empty() { " Written in " (report.port.language) "." }
                @if report.port.homepage.starts_with("http") { " " a href=(report.port.homepage) { (report.port.homepage) } }
            }
            @for line in report.notes() { p { (line) "." } }
        }
        main {
            div class="wide" { table {
                thead { tr {
                    @for name in COLUMNS { th { (name) } }
                } }
                tbody {
                    @for (tier, score) in report.tiers() { tr { (cells(&html! { (tier) }, &score)) } }
                }
                tbody {
                    @for (area, score) in report.areas() { tr { (cells(&area_of(report, area), &score)) } }
                    tr class="total" { (cells(&html! { "all" }, &total)) }
                }
            } }
            p class="note" {
                "Outputs, errors: the share of right ones of all that was asked. Kind, text, line: of the errors in cases where the reference has an error, too. "
                "Below, wrong answers come before errors that differ only in their kind, text or line. − is the answer of the reference, + that of the port."
            }
            (causes(report))
            (failures(report))
        }
    };
    page(&title, STYLE, &body)
}

/// Returns the CSS class for the colour of a score.
pub fn shade(score: &Score) -> &'static str {
    match (score.asked, score.right.saturating_mul(100).checked_div(score.asked)) {
        (_, None) => "share none",
        (asked, _) if asked == score.right => "share all",
        (_, Some(90..)) => "share most",
        (_, Some(50..)) => "share half",
        _ => "share few",
    }
}

/// Returns the name of an area, with a link to its failures if it has any.
fn area_of(report: &Report, area: &str) -> Markup {
    let is_linked = report.failures().any(|(case, _)| case.area() == area);
    html! { @if is_linked { a href={ "#" (area) } { (area) } } @else { (area) } }
}

fn cells(name: &Markup, score: &Score) -> Markup {
    html! {
        th scope="row" { (name) }
        @for (place, cell) in score.cells().iter().enumerate() {
            td class=[(place == 3).then_some(shade(score))] { (cell) }
        }
    }
}

/// Returns a table of the causes of wrong answers, with a link to a case of each.
fn causes(report: &Report) -> Markup {
    let causes = report.causes(Strictness::Text);
    html! {
        @if !causes.is_empty() {
            h2 id="causes" { "Causes" }
            div class="wide" { table {
                thead { tr { @for name in ["cause", "cases", "a case"] { th { (name) } } } }
                tbody {
                    @for cause in &causes { tr {
                        th scope="row" { (cause.text) }
                        td { (cause.cases.len()) }
                        td { @for (case, _) in cause.cases.iter().take(1) { a href={ "#" (case.id) } { (case.id) } } }
                    } }
                }
            } }
        }
    }
}

fn failures(report: &Report) -> Markup {
    html! {
        @for (area, _) in report.areas() {
            @let (wrong, only_errors): (Vec<_>, Vec<_>) = report
                .failures()
                .filter(|(case, _)| case.area() == area)
                .partition(|(case, _)| case.is_wrong());
            @if !wrong.is_empty() || !only_errors.is_empty() {
                h2 id=(area) {
                    (area) " "
                    span class="note" { (wrong.len()) " wrong, " (only_errors.len()) " errors with another kind, text or line" }
                    " " a href="#top" { "↑" }
                }
                @for (case, detail) in wrong.into_iter().chain(only_errors) { (failure(case, detail)) }
            }
        }
    }
}

fn failure(case: &CaseReport, detail: &Detail) -> Markup {
    html! {
        details id=(case.id) {
            summary { code { (case.id) } " " span class=(if case.is_wrong() { "few" } else { "half" }) { (headline(case)) } " " span class="note" { (detail.rule) } }
            pre { (with_faint_ends(&visible(&detail.request))) }
            @if !detail.context.is_empty() { pre { "with " (with_faint_ends(&visible(&detail.context))) } }
            @if case.verdict.is_fault() {
                pre class="difference" { span class="got" { (with_faint_ends(&visible(&detail.got))) } }
            } @else {
                pre class="difference" {
                    @for line in difference(&detail.want, &detail.got) {
                        span class=(match line.sign { '-' => "want", '+' => "got", _ => "both" }) {
                            (line.sign) " "
                            @for (is_different, piece) in &line.pieces {
                                @if *is_different { mark { (with_faint_ends(piece)) } } @else { (with_faint_ends(piece)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns a string whose signs for line feeds are faint and cannot be selected.
fn with_faint_ends(text: &str) -> Markup {
    html! {
        @for (place, piece) in text.split('⏎').enumerate() {
            @if place > 0 { i { "⏎" } }
            (piece)
        }
    }
}
