//! A report as one self-contained page: the matrix of areas, and the difference of every failure.
//!
//! ```text
//! <table>…<details><summary>loops/first wrong</summary><pre class="difference">…
//! ```
//!
//! It loads nothing and runs no script: a failure is opened by `details`, and colours follow the reader's choice of light or dark.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::difference::difference;
use super::report::{CaseReport, Detail, Report, Score};
use super::text::headline;
use super::visible::visible;

/// How everything looks, for every page.
const STYLE: &str = include_str!("style.css");

/// A report as a page.
pub fn html(report: &Report) -> String {
    let total = report.total();
    let title = format!("{}: conformance", report.port.title());
    let body = html! {
        header {
            h1 { (report.port.title()) " " span class=(shade(&total)) { (total.percent()) } }
            p {
                "Suite " (report.suite) ", answered by " (report.reference) ". Run on " (report.date) " as " code { (report.port.command) } "."
                @if !report.port.language.is_empty() { " Written in " (report.port.language) "." }
                @if report.port.homepage.starts_with("http") { " " a href=(report.port.homepage) { (report.port.homepage) } }
            }
            @if let Some(line) = report.faults.line() { p { "The port: " (line) "." } }
        }
        table {
            thead { tr {
                @for name in ["area", "right", "wrong", "unsupported", "", "kind", "text", "line"] { th { (name) } }
            } }
            tbody {
                @for (area, score) in report.areas() { (row(area, &score, true)) }
                (row("all", &total, false))
            }
        }
        p class="note" {
            "Kind, text, line: of the errors that the port makes where the reference does. "
            "Below, − is the reference's answer and + the port's."
        }
        (failures(report))
    };
    page(&title, &body)
}

/// A page with this title and body.
pub fn page(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { main { (body) } }
        }
    };
    page.into_string()
}

/// The class of a cell's colour.
pub fn shade(score: &Score) -> &'static str {
    match (score.asked, score.right.saturating_mul(100).checked_div(score.asked)) {
        (_, None) => "share none",
        (asked, _) if asked == score.right => "share all",
        (_, Some(90..)) => "share most",
        (_, Some(50..)) => "share half",
        _ => "share few",
    }
}

fn row(area: &str, score: &Score, is_linked: bool) -> Markup {
    html! {
        tr class=[(!is_linked).then_some("total")] {
            th scope="row" {
                @if is_linked && score.wrong() > 0 { a href={ "#" (area) } { (area) } } @else { (area) }
            }
            td { (score.right) }
            td { (score.wrong()) }
            td { (score.unsupported) }
            td class=(shade(score)) { (score.percent()) }
            @for percent in score.error_percents() { td { (percent) } }
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
                h2 id=(area) { (area) }
                @for (case, detail) in wrong.into_iter().chain(only_errors) { (failure(case, detail)) }
            }
        }
    }
}

fn failure(case: &CaseReport, detail: &Detail) -> Markup {
    html! {
        details {
            summary { code { (case.id) } " " span class=(if case.is_wrong() { "few" } else { "half" }) { (headline(case)) } " " span class="note" { (detail.rule) } }
            pre { (visible(&detail.request)) }
            @if case.verdict.is_fault() {
                pre class="difference" { span class="got" { (visible(&detail.got)) } }
            } @else {
                pre class="difference" {
                    @for line in difference(&detail.want, &detail.got) {
                        span class=(match line.sign { '-' => "want", '+' => "got", _ => "both" }) {
                            (line.sign) " "
                            @for (is_different, piece) in &line.pieces {
                                @if *is_different { mark { (piece) } } @else { (piece) }
                            }
                        }
                    }
                }
            }
        }
    }
}
