//! Writes static pages about several reports.
//!
//! ```text
//! index.html            a row for each port with its newest report: the day, the suite, and its shares; and the older reports
//! ports/1.html          a report
//! cases/loops.html      the cases of an area, each at the anchor of its id, with the verdict on each port
//! ```

use std::cmp::Reverse;
use std::collections::HashMap;

use maud::{Markup, html as markup};

use super::case::Case;
use super::html::{html, page, shade};
use super::report::{CaseReport, Report};
use super::score::Verdict;
use super::suite::Suite;
use super::summary::{Format, summary};
use super::text::headline;
use super::visible::visible;

/// Returns the pages with their paths. The reports of a port are its history, and its newest one has the verdicts on the pages of cases.
/// Of reports of one day, the last is the newest.
pub fn pages(suite: &Suite, reports: &[Report]) -> Vec<(String, String)> {
    let mut order: Vec<(usize, &Report)> = reports.iter().enumerate().collect();
    order.sort_by_key(|(place, report)| (name_of(report), Reverse((&report.date, *place))));
    let (mut newest, mut older) = (Vec::<(usize, &Report)>::new(), Vec::new());
    for (place, report) in order {
        match newest.last() {
            Some((_, last)) if name_of(last) == name_of(report) => older.push((place, report)),
            _ => newest.push((place, report)),
        }
    }
    let mut pages = vec![("index.html".to_owned(), index(suite, &newest, &older))];
    let latest: Vec<Report> = newest.iter().map(|(_, report)| (*report).clone()).collect();
    pages.push(("areas.html".to_owned(), summary(&latest, Format::Html)));
    pages.extend(
        reports
            .iter()
            .enumerate()
            .map(|(place, report)| (path_of(place), html(report))),
    );
    let verdicts: Vec<(String, HashMap<&str, &CaseReport>)> = newest
        .iter()
        .map(|(_, report)| {
            let cases = report.cases.iter().map(|case| (case.id.as_str(), case));
            (report.port.title(), cases.collect())
        })
        .collect();
    for area in suite.areas() {
        let cases: Vec<&Case> = suite.cases.iter().filter(|case| case.area() == area).collect();
        pages.push((format!("cases/{area}.html"), area_page(area, &cases, &verdicts)));
    }
    pages
}

/// Returns the name of a report's port, or its command if it has no name.
fn name_of(report: &Report) -> &str {
    match report.port.name.as_str() {
        "" => &report.port.command,
        name => name,
    }
}

fn path_of(place: usize) -> String {
    format!("ports/{}.html", place.saturating_add(1))
}

fn index(suite: &Suite, newest: &[(usize, &Report)], older: &[(usize, &Report)]) -> String {
    let body = markup! {
        h1 { "Conformance of ports" }
        p { "Suite " (suite.version) " with " (suite.cases.len()) " cases. " a href="areas.html" { "Shares by area" } "." }
        (table_of(newest))
        @if !older.is_empty() {
            h2 { "History" }
            (table_of(older))
        }
        h2 { "Cases" }
        p { @for area in suite.areas() { a href={ "cases/" (area) ".html" } { (area) } " " } }
    };
    page("Conformance of ports", &body)
}

/// Returns a table with a row for each report.
fn table_of(reports: &[(usize, &Report)]) -> Markup {
    markup! {
        div class="wide" { table {
            thead { tr { @for name in ["port", "day", "suite", "everyday", "outputs", "errors", "unsupported"] { th { (name) } } } }
            tbody { @for (place, report) in reports {
                @let (name, everyday) = report.headline();
                @let total = report.total();
                tr {
                    th scope="row" { a href=(path_of(*place)) { (report.port.title()) } }
                    td { (report.date) }
                    td { (report.suite) }
                    td class=(shade(&everyday)) { (everyday.percent()) @if name != "everyday" { " of " (name) } }
                    @for part in total.parts() { td { (part) } }
                    td { (total.unsupported) }
                }
            } }
        } }
    }
}

fn area_page(area: &str, cases: &[&Case], verdicts: &[(String, HashMap<&str, &CaseReport>)]) -> String {
    let body = markup! {
        h1 { (area) }
        p { a href="../index.html" { "All ports" } }
        @for case in cases { (case_entry(case, verdicts)) }
    };
    page(area, &body)
}

fn case_entry(case: &Case, verdicts: &[(String, HashMap<&str, &CaseReport>)]) -> Markup {
    markup! {
        section id=(case.id) {
            h2 { a href={ "#" (case.id) } { (case.id) } }
            p { (case.rule) " " span class="note" { (case.tier()) ", " (case.uses()) " real templates" } }
            pre { (visible(&case.template_text())) }
            @if !case.context_text().is_empty() { pre { "with " (visible(&case.context_text())) } }
            pre { (visible(&case.expect.describe())) }
            p { @for (title, cases) in verdicts {
                @if let Some(report) = cases.get(case.id.as_str()) {
                    @let class = if report.verdict == Verdict::Right && report.wrong.is_empty() { "share all" } else { "share few" };
                    span class=(class) { (title) ": " (if report.wrong.is_empty() { report.verdict.name().to_owned() } else { headline(report) }) } " "
                }
            } }
        }
    }
}
