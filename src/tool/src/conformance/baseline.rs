//! The wrong answers that a port may give: listed exceptions, or all that were wrong in an earlier report.
//!
//! ```text
//! {"id": "strings/form-feed", "aspect": "output", "reason": "not yet"}
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use super::read_file::read_text;
use super::report::Report;
use super::schema::{check_keys, text};
use super::score::{Aspect, Strictness, Verdict};
use chat_template::json::{self, Data};

/// The aspects of cases that a port may answer wrongly, each with the reason.
#[derive(Clone, Debug, Default)]
pub struct Exceptions {
    rows: BTreeMap<(String, Aspect), String>,
    unsupported: Vec<String>,
    /// Whether the exceptions are an earlier report. A report also knows which kinds, messages and lines of errors were right, so new
    /// differences in these count.
    is_report: bool,
}

/// A report compared with exceptions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Descriptions of the wrong aspects that are not listed.
    pub worse: Vec<String>,
    /// Descriptions of the listed aspects that are right.
    pub better: Vec<String>,
}

impl Exceptions {
    /// Reads a report in JSON, or a file with an exception on each line.
    ///
    /// # Errors
    /// Returns a message that names the file and the line if the file cannot be read or a line is not an exception.
    pub fn open(path: &Path) -> Result<Self, String> {
        let name = path.display().to_string();
        if path.extension().is_some_and(|end| end == "json") {
            return Report::open(path).map(|report| Self::of_report(&report));
        }
        let text = read_text(path)?;
        let mut exceptions = Self::default();
        for (place, line) in text.split('\n').enumerate().filter(|(_, line)| !line.trim_ascii().is_empty()) {
            let fault = |fault| format!("{name}:{}: {fault}", place + 1);
            let (row, reason) = read_row(line).map_err(fault)?;
            if exceptions.rows.insert(row, reason).is_some() {
                return Err(fault("this is listed already".to_owned()));
            }
        }
        Ok(exceptions)
    }

    /// Returns the ids of the listed cases, each once.
    pub fn ids(&self) -> Vec<String> {
        let mut ids: Vec<String> = self.rows.keys().map(|(id, _)| id.clone()).collect();
        ids.dedup();
        ids
    }

    fn of_report(report: &Report) -> Self {
        let mut exceptions = Self {
            is_report: true,
            ..Self::default()
        };
        for case in &report.cases {
            if case.verdict == Verdict::Unsupported {
                exceptions.unsupported.push(case.id.clone());
            }
            for aspect in &case.wrong {
                let reason = format!("wrong on {}", report.date);
                exceptions.rows.insert((case.id.clone(), *aspect), reason);
            }
        }
        exceptions
    }

    /// Compares a report with the exceptions, and marks the cases whose faults are all listed. Every aspect of an error counts if the
    /// exceptions are an earlier report.
    pub fn compare(&self, report: &mut Report, strictness: Strictness) -> Compared {
        let mut compared = Compared::default();
        for case in &mut report.cases {
            let before = compared.worse.len();
            if self.is_report && case.verdict == Verdict::Unsupported && !self.unsupported.contains(&case.id) {
                compared.worse.push(format!("{}: unsupported now", case.id));
            }
            for aspect in Aspect::ALL {
                let listed = self.rows.get(&(case.id.clone(), aspect));
                let counts = strictness.counts(aspect) || self.is_report;
                // The text of an error can be right only if there is an error.
                let is_compared = aspect == Aspect::Output || !case.is_wrong();
                match (case.wrong.contains(&aspect), listed) {
                    (true, None) if counts => compared.worse.push(format!("{}: {}", case.id, aspect.name())),
                    (false, Some(reason)) if is_compared && !matches!(case.verdict, Verdict::Unsupported | Verdict::Skipped) => {
                        compared.better.push(format!("{}: {} ({reason})", case.id, aspect.name()));
                    }
                    _ => {}
                }
            }
            case.is_known = case.fails(Strictness::Text) && compared.worse.len() == before;
        }
        compared
    }
}

fn read_row(line: &str) -> Result<((String, Aspect), String), String> {
    let row = match json::read(line).map_err(|error| error.to_string())? {
        Data::Object(row) => row,
        _ => return Err("an exception is a JSON object".to_owned()),
    };
    check_keys(&row, &["id", "aspect", "reason"])?;
    let name = text(&row, "aspect")?;
    let Some(aspect) = Aspect::ALL.into_iter().find(|aspect| aspect.name() == name) else {
        return Err(format!("no aspect is called {name:?}; they are output, kind, message, line"));
    };
    Ok(((text(&row, "id")?.to_owned(), aspect), text(&row, "reason")?.to_owned()))
}
