//! A report of a run: the port, the suite, the time, and the verdict on each case. It is saved as JSON and read again.
//!
//! ```text
//! {"port": {"name": "jinja2", …}, "suite": "1.0.0", …, "cases": [{"id": "loops/first", "verdict": "right"}, …]}
//! ```

use std::path::Path;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::case::TIERS;
use super::read_file::read_text;
use super::score::{Aspect, Strictness, Verdict};
use super::versions::Versions;
use super::visible::to_line;

/// The results of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// The port under test.
    pub port: PortInfo,
    /// The suite's version.
    pub suite: String,
    /// The SHA-256 of the exported suite, before cases were selected.
    #[serde(default)]
    pub hash: String,
    /// The reference that made the answers.
    pub reference: String,
    /// The day of the run, in the platform's time zone, or in UTC without the feature `local-time`.
    pub date: String,
    /// The numbers of requests that the port did not answer, and of its restarts.
    pub faults: Faults,
    /// The cases that were run, in the order of the suite.
    pub cases: Vec<CaseReport>,
}

/// A port's description of itself. Missing parts are empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PortInfo {
    /// The command that started the port.
    pub command: String,
    /// The name of the port.
    pub name: String,
    /// The version of the port.
    pub version: String,
    /// The programming language of the port.
    pub language: String,
    /// The address of the port's home page.
    pub homepage: String,
    /// `on` if the port has resource limits, or else `off`.
    pub limits: String,
    /// The kinds of requests that the port answers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<String>,
    /// The features of cases that the port declares not to have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<String>,
    /// The versions of the reference's software that the port mirrors, if they are not those of the suite.
    #[serde(skip_serializing_if = "Versions::is_empty")]
    pub mirrors: Versions,
}

/// The numbers of requests that a port did not answer, and of restarts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Faults {
    /// The number of times that the process ended.
    pub crashed: u64,
    /// The number of times that the port took too long.
    pub timed_out: u64,
    /// The number of times that the port wrote something that is not an answer.
    pub rubbish: u64,
    /// The number of times that the port answered another request.
    pub out_of_order: u64,
    /// The number of requests that only a second process answered.
    #[serde(default)]
    pub flaky: u64,
    /// The number of times that the port was started again.
    pub restarts: u64,
}

/// The result of a case.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CaseReport {
    /// The id of the case.
    pub id: String,
    /// The verdict on the answer.
    pub verdict: Verdict,
    /// The group in tables, if it is not the area.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The tier of the case, or an empty string.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tier: String,
    /// The number of real templates that use the rarest construct of the case.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub uses: u64,
    /// Whether the baseline lists all that is wrong.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_known: bool,
    /// Whether the reference fails. If it does, the kind, message and line of the error are compared.
    #[serde(default, skip_serializing_if = "is_false")]
    pub errs: bool,
    /// Whether an `apply` case was sent as a `render` request, because the port does not know `apply`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_lowered: bool,
    /// The cause of the wrong answer, in words that similar cases share.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cause: String,
    /// The aspects that are wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrong: Vec<Aspect>,
    /// The details of the answer, if an aspect is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
}

/// The details of a wrong answer, as readable text.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Detail {
    /// The rule that the case shows.
    pub rule: String,
    /// The template. If there are several, each follows its name.
    pub request: String,
    /// The context or the arguments as JSON, or an empty string if there are none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub context: String,
    /// The reference's answer.
    pub want: String,
    /// The port's answer.
    pub got: String,
}

/// The numbers of cases by their verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// The number of cases.
    pub asked: usize,
    /// The number of cases that are right.
    pub right: usize,
    /// The number of cases for which the reference has an output, and of those that are right.
    pub outputs: [usize; 2],
    /// The number of unsupported cases.
    pub unsupported: usize,
    /// The number of skipped cases. They are not among those that were asked.
    pub skipped: usize,
    /// The number of cases in which both the port and the reference fail.
    pub errors: usize,
    /// The numbers of those errors with the right kind, the right message and the right line.
    pub right_errors: [usize; 3],
}

impl PortInfo {
    /// Returns the name and version of the port, or its command if it has no name. A long title is cut, and control characters are escaped.
    pub fn title(&self) -> String {
        let title = match (self.name.as_str(), self.version.as_str()) {
            ("", _) => self.command.clone(),
            (name, "") => name.to_owned(),
            (name, version) => format!("{name} {version}"),
        };
        to_line(&title)
    }
}

impl Faults {
    /// Counts the faults of these cases.
    pub(super) fn of(cases: &[CaseReport], restarts: u64) -> Self {
        let count = |verdict| cases.iter().filter(|case| case.verdict == verdict).count() as u64;
        Self {
            crashed: count(Verdict::Crashed),
            timed_out: count(Verdict::TimedOut),
            rubbish: count(Verdict::Rubbish),
            out_of_order: count(Verdict::OutOfOrder),
            flaky: count(Verdict::Flaky),
            restarts,
        }
    }

    /// Returns a line that describes the faults, or `None` if there are none.
    pub fn line(&self) -> Option<String> {
        (*self != Self::default()).then(|| {
            let Self {
                crashed,
                timed_out,
                rubbish,
                out_of_order,
                flaky,
                restarts,
            } = self;
            format!(
                "crashed {crashed}, timed out {timed_out}, rubbish {rubbish}, out of order {out_of_order}, flaky {flaky}, restarted {restarts}"
            )
        })
    }
}

impl CaseReport {
    /// Returns the area of the case, which is the part of the id before the first slash, or its group.
    pub fn area(&self) -> &str {
        let area = || self.id.split('/').next().unwrap_or_default();
        self.group.as_deref().unwrap_or_else(area)
    }

    /// Returns whether the answer is wrong in an aspect that counts.
    pub fn fails(&self, strictness: Strictness) -> bool {
        self.wrong.iter().any(|aspect| strictness.counts(*aspect))
    }

    /// Returns whether the case is neither right nor unsupported.
    pub fn is_wrong(&self) -> bool {
        self.wrong.contains(&Aspect::Output)
    }
}

impl Report {
    /// Reads a saved report.
    ///
    /// # Errors
    /// Returns a message that names the file if it cannot be read or is not a report.
    pub fn open(path: &Path) -> Result<Self, String> {
        let name = path.display();
        let text = read_text(path)?;
        serde_json::from_str(&text)
            .map_err(|error| format!("{name}: this is not a report, which `conformance run --report FILE.json` writes: {error}"))
    }

    /// Returns the report as JSON.
    ///
    /// # Errors
    /// Returns a message if a value cannot be written as JSON, which no known value causes.
    pub fn json(&self) -> Result<String, String> {
        let text = serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        Ok(text + "\n")
    }

    /// Returns the areas with their scores, in the order of their first cases.
    pub fn areas(&self) -> Vec<(&str, Score)> {
        let mut areas: IndexMap<&str, Score> = IndexMap::new();
        for case in &self.cases {
            areas.entry(case.area()).or_default().add(case);
        }
        areas.into_iter().collect()
    }

    /// Returns the tiers with their scores, in the order of [`TIERS`](super::case::TIERS).
    pub fn tiers(&self) -> Vec<(&str, Score)> {
        let cases = |tier: &'static str| self.cases.iter().filter(move |case| case.tier == tier);
        let all = TIERS.into_iter().map(|tier| (tier, Score::of(cases(tier))));
        all.filter(|(_, score)| *score != Score::default()).collect()
    }

    /// Returns the score of the tier `everyday`, or of all cases if none is in that tier.
    pub fn headline(&self) -> (&str, Score) {
        let everyday = self.tiers().into_iter().find(|(tier, _)| *tier == "everyday");
        everyday.unwrap_or_else(|| ("all", self.total()))
    }

    /// Returns the score of all cases.
    pub fn total(&self) -> Score {
        Score::of(self.cases.iter())
    }

    /// Returns lines about the skipped cases and about the faults of the port.
    pub(super) fn notes(&self) -> Vec<String> {
        let skipped = self.total().skipped;
        let note = || {
            format!("skipped, and not counted: {skipped} cases that hold for other versions, or are extensions that the port lacks")
        };
        let skipped = (skipped > 0).then(note);
        let faults = self.faults.line().map(|line| format!("the port: {line}"));
        skipped.into_iter().chain(faults).collect()
    }

    /// Returns the cases with a wrong aspect, even if it is only the text of an error.
    pub fn failures(&self) -> impl Iterator<Item = (&CaseReport, &Detail)> {
        self.cases.iter().filter_map(|case| Some((case, case.detail.as_ref()?)))
    }
}

impl Score {
    fn of<'r>(cases: impl Iterator<Item = &'r CaseReport>) -> Self {
        let mut score = Self::default();
        cases.for_each(|case| score.add(case));
        score
    }

    fn add(&mut self, case: &CaseReport) {
        if case.verdict == Verdict::Skipped {
            self.skipped += 1;
            return;
        }
        self.asked += 1;
        self.unsupported += usize::from(case.verdict == Verdict::Unsupported);
        let is_right = case.verdict == Verdict::Right;
        let [asked, right] = &mut self.outputs;
        *asked += usize::from(!case.errs);
        *right += usize::from(!case.errs && is_right);
        if !is_right {
            return;
        }
        self.right += 1;
        if case.errs {
            self.errors += 1;
            let aspects = [Aspect::Kind, Aspect::Message, Aspect::Line];
            for (count, aspect) in self.right_errors.iter_mut().zip(aspects) {
                *count += usize::from(!case.wrong.contains(&aspect));
            }
        }
    }

    /// Returns the number of cases that are neither right nor unsupported.
    pub fn wrong(&self) -> usize {
        self.asked.saturating_sub(self.right).saturating_sub(self.unsupported)
    }

    /// Returns the shares of right outputs and of right errors as percentages.
    pub fn parts(&self) -> [String; 2] {
        let [asked, right] = self.outputs;
        let errors = (self.right.saturating_sub(right), self.asked.saturating_sub(asked));
        [percent(right, asked), percent(errors.0, errors.1)]
    }

    /// Returns the share of right cases as a percentage, or a dash if there are no cases.
    pub fn percent(&self) -> String {
        percent(self.right, self.asked)
    }

    /// Returns the cells of a row in a table of scores, in the order of its columns.
    pub(super) fn cells(&self) -> [String; 8] {
        let [outputs, errors] = self.parts();
        let [kind, message, line] = self.error_percents();
        let counts = [self.right, self.wrong(), self.unsupported].map(|count| count.to_string());
        let [right, wrong, unsupported] = counts;
        [right, wrong, unsupported, outputs, errors, kind, message, line]
    }

    /// Returns the shares of errors with the right kind, the right message and the right line, as percentages.
    pub fn error_percents(&self) -> [String; 3] {
        self.right_errors.map(|right| percent(right, self.errors))
    }
}

/// Returns a percentage, or a dash if there are no cases. It is rounded down, so that only all cases are 100 %.
pub(super) fn percent(part: usize, all: usize) -> String {
    match part.saturating_mul(1000).checked_div(all) {
        None => "–".to_owned(),
        Some(mille) => format!("{}.{} %", mille / 10, mille % 10),
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn is_false(bool: &bool) -> bool {
    !bool
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn only_all_is_all() {
        assert_eq!(percent(1999, 2000), "99.9 %");
        assert_eq!(percent(2000, 2000), "100.0 %");
        assert_eq!(percent(0, 0), "–");
    }
}
