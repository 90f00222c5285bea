//! Writes several saved reports as one matrix: a row for each area, a column for each port.
//!
//! ```text
//! area         jinja2 3.1.6       other 0.1
//! loops             100.0 %          98.1 %
//! time              100.0 %         60.0 %
//! all               100.0 %         97.0 %
//! unsupported             0              51
//! no answer               0               1
//! ```

use indexmap::IndexMap;
use maud::html;

use super::html::{STYLE, shade};
use super::markdown::escape_markdown;
use super::report::{CaseReport, Report, Score};
use super::score::Verdict;
use super::text::align;
use super::visible::to_line;
use crate::page::page;

/// The format of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Text for a terminal.
    Text,
    /// A table in Markdown.
    Markdown,
    /// A JSON object.
    Json,
    /// An HTML page.
    Html,
}

/// Writes the matrix of these reports.
pub fn summary(reports: &[Report], format: Format) -> String {
    let rows = matrix(reports);
    match format {
        Format::Text => text(reports, &rows),
        Format::Markdown => markdown(reports, &rows),
        Format::Json => json(reports, &rows),
        Format::Html => page_of(reports, &rows),
    }
}

type Row = (String, Vec<Option<Score>>);

/// Returns a row for each tier and each area of the reports, in the order in which they first occur, and a row with the totals.
fn matrix(reports: &[Report]) -> Vec<Row> {
    let mut rows: IndexMap<String, Vec<Option<Score>>> = IndexMap::new();
    for (column, report) in reports.iter().enumerate() {
        for (area, score) in rows_of(report) {
            let cells = rows.entry(area).or_insert_with(|| vec![None; reports.len()]);
            if let Some(cell) = cells.get_mut(column) {
                *cell = Some(score);
            }
        }
    }
    let mut rows: Vec<Row> = rows.into_iter().collect();
    rows.push(("all".to_owned(), reports.iter().map(|report| Some(report.total())).collect()));
    rows
}

/// Returns the scores of the tiers, which are named as by `--only`, and of the areas.
fn rows_of(report: &Report) -> impl Iterator<Item = (String, Score)> {
    let tiers = report
        .tiers()
        .into_iter()
        .map(|(tier, score)| (format!("tier:{tier}"), score));
    tiers.chain(report.areas().into_iter().map(|(area, score)| (area.to_owned(), score)))
}

/// Returns the rows below the shares: the number of cases that a port does not support, and the number without an answer.
fn counts(reports: &[Report]) -> [(&'static str, Vec<String>); 4] {
    let part = |part: fn(&Score) -> String| reports.iter().map(|report| part(&report.total())).collect();
    let count = |of: fn(&CaseReport) -> bool| {
        let count = |report: &Report| report.cases.iter().filter(|case| of(case)).count().to_string();
        reports.iter().map(count).collect()
    };
    [
        ("outputs", part(|total| total.parts().into_iter().next().unwrap_or_default())),
        ("errors", part(|total| total.parts().into_iter().nth(1).unwrap_or_default())),
        ("unsupported", count(|case| case.verdict == Verdict::Unsupported)),
        ("no answer", count(|case| case.verdict.is_fault())),
    ]
}

fn share(score: &Option<Score>) -> String {
    match score {
        None => "–".to_owned(),
        Some(score) if score.asked == score.unsupported => "unsupported".to_owned(),
        Some(score) => score.percent(),
    }
}

/// Returns the rows of a table without colours: the areas, and the counts below.
fn lines<'r>(reports: &[Report], rows: &'r [Row]) -> Vec<(&'r str, Vec<String>)> {
    let areas = rows
        .iter()
        .map(|(area, scores)| (area.as_str(), scores.iter().map(share).collect()));
    areas.chain(counts(reports)).collect()
}

fn text(reports: &[Report], rows: &[Row]) -> String {
    let titles = reports.iter().map(|report| to_line(&report.port.title()));
    let mut table: Vec<Vec<String>> = vec![["area".to_owned()].into_iter().chain(titles).collect()];
    let lines = lines(reports, rows).into_iter();
    table.extend(lines.map(|(name, cells)| [to_line(name)].into_iter().chain(cells).collect()));
    align(&table) + &provenance(reports) + "\n"
}

fn markdown(reports: &[Report], rows: &[Row]) -> String {
    let titles: String = reports
        .iter()
        .map(|report| format!(" {} |", escape_markdown(&report.port.title())))
        .collect();
    let mut text = format!("| area |{titles}\n|---|{}\n", "--:|".repeat(reports.len()));
    for (name, cells) in lines(reports, rows) {
        text.push_str(&format!("| {} | {} |\n", escape_markdown(name), cells.join(" | ")));
    }
    text + "\n" + &escape_markdown(&provenance(reports)) + "\n"
}

fn json(reports: &[Report], rows: &[Row]) -> String {
    let port = |(column, report): (usize, &Report)| {
        let score = |(area, scores): &Row| {
            let score = scores.get(column).copied().flatten()?;
            let [kind, message, line] = score.right_errors;
            let errors = serde_json::json!({"both": score.errors, "kind": kind, "message": message, "line": line});
            let cell = serde_json::json!({
                "right": score.right, "wrong": score.wrong(), "outputs": score.outputs, "unsupported": score.unsupported, "errors": errors,
            });
            Some((area.clone(), cell))
        };
        let areas: serde_json::Map<_, _> = rows.iter().filter_map(score).collect();
        serde_json::json!({
            "name": report.port.name, "version": report.port.version, "command": report.port.command,
            "suite": report.suite, "reference": report.reference, "date": report.date, "areas": areas, "faults": report.faults,
        })
    };
    let ports: Vec<serde_json::Value> = reports.iter().enumerate().map(port).collect();
    format!("{:#}\n", serde_json::json!({ "ports": ports }))
}

fn page_of(reports: &[Report], rows: &[Row]) -> String {
    let body = html! {
        header { h1 { "Conformance of ports" } }
        main {
            div class="wide" { table {
                thead { tr { th { "area" } @for report in reports { th { (report.port.title()) } } } }
                tbody {
                    @for (place, (area, scores)) in rows.iter().enumerate() {
                        tr class=[(place + 1 == rows.len()).then_some("total")] {
                            th scope="row" { (area) }
                            @for score in scores { td class=(score.as_ref().map_or("share none", shade)) { (share(score)) } }
                        }
                    }
                    @for (name, cells) in counts(reports) {
                        tr { th scope="row" { (name) } @for cell in cells { td { (cell) } } }
                    }
                }
            } }
            p class="note" { (provenance(reports)) }
        }
    };
    page("Conformance of ports", STYLE, &body)
}

/// Describes the suite, the number of its cases, the reference, and the days of the runs, each once.
fn provenance(reports: &[Report]) -> String {
    let each = |part: fn(&Report) -> String| {
        let mut parts: Vec<String> = reports.iter().map(part).collect();
        parts.sort_unstable();
        parts.dedup();
        parts.join(" and ")
    };
    format!(
        "Suite {}, answered by {}; run on {}.",
        each(|report| format!("{} ({} cases)", report.suite, report.cases.len())),
        each(|report| report.reference.clone()),
        each(|report| report.date.clone())
    )
}

#[cfg(test)]
mod tests {
    use super::super::text::table;
    use super::*;

    #[test]
    fn a_long_name_of_an_area_is_cut_in_tables_of_text() {
        let case = format!(r#"{{"id": "{}/x", "verdict": "right"}}"#, "a".repeat(70_000));
        let report = Report {
            cases: vec![serde_json::from_str(&case).unwrap()],
            ..Report::default()
        };
        for table in [summary(std::slice::from_ref(&report), Format::Text), table(&report)] {
            assert!(table.contains("aaa…") && table.len() < 2000, "{}", table.len());
        }
    }

    #[test]
    fn an_area_has_one_row_in_the_order_of_the_first_cases() {
        let report = |ids: &[&str]| Report {
            cases: ids
                .iter()
                .map(|id| serde_json::from_str(&format!(r#"{{"id": "{id}", "verdict": "right"}}"#)).unwrap())
                .collect(),
            ..Report::default()
        };
        let rows = matrix(&[report(&["b/1", "a/1", "b/2"]), report(&["c/1", "a/2"])]);
        let names: Vec<&str> = rows.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["b", "a", "c", "all"]);
        let has = |row: usize| rows[row].1.iter().map(Option::is_some).collect::<Vec<_>>();
        assert_eq!([has(0), has(1), has(2)], [[true, false], [true, true], [false, true]]);
    }
}
