//! Runs a suite against a port: several processes of it at once, each asked one case at a time.
//!
//! ```text
//! Runner { command: ["python", "port.py"], jobs: 2, … }.run(&suite, |done, wrong| …)   ->   Ran { report, … }
//! ```

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use super::case::Case;
use super::child::{Port, Reply};
use super::report::{CaseReport, Detail, Faults, Report};
use super::score::{Aspect, Verdict, wrong_aspects};
use super::suite::{REFERENCE, Suite};
use super::visible::visible;
use crate::clock::{Clock, SystemClock};

/// A port that has not answered anything after so many faults will not.
const MOST_FAULTS_BEFORE_AN_ANSWER: usize = 20;

/// How a suite is run.
#[derive(Clone, Debug)]
pub struct Runner {
    /// The port: a program and its arguments.
    pub command: Vec<String>,
    /// How many processes of the port run at once.
    pub jobs: usize,
    /// How long one answer may take.
    pub timeout: Duration,
    /// Stop after so many cases that are wrong.
    pub max_fail: Option<usize>,
}

/// What a run gave.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The cases that were asked, in the suite's order.
    pub report: Report,
    /// How many cases were not asked, because enough were wrong.
    pub left: usize,
}

impl Runner {
    /// The command of a text, split as a POSIX shell splits it; no shell runs.
    ///
    /// # Errors
    /// When a quote is not closed or nothing is in it.
    pub fn split(command: &str) -> Result<Vec<String>, String> {
        match shlex::split(command) {
            None => Err(format!("a quote or a backslash at the end stands alone in {command:?}")),
            Some(words) if words.is_empty() => Err("the command is empty".to_owned()),
            Some(words) => Ok(words),
        }
    }

    /// Asks all cases, and tells after each how many are done and how many of them are wrong.
    ///
    /// # Errors
    /// When the port cannot be started, or never answers.
    pub fn run(&self, suite: &Suite, mut told: impl FnMut(usize, usize)) -> Result<Ran, String> {
        let port = Port::new(&self.command, self.timeout).describe()?;
        let next = AtomicUsize::new(0);
        let stop = AtomicBool::new(false);
        let mut done: Vec<(usize, CaseReport)> = Vec::new();
        let (mut wrong, mut restarts, mut answers) = (0_usize, 0_u64, 0_usize);
        let mut failed = None;
        std::thread::scope(|scope| {
            let (results, arrived) = channel();
            for _ in 0..self.jobs.clamp(1, suite.cases.len().max(1)) {
                let (results, next, stop) = (results.clone(), &next, &stop);
                scope.spawn(move || self.work(suite, next, stop, &results));
            }
            drop(results);
            for result in arrived {
                match result {
                    Told::Case(place, case) => {
                        wrong = wrong.saturating_add(usize::from(case.is_wrong()));
                        answers = answers.saturating_add(usize::from(!case.verdict.is_fault()));
                        done.push((place, *case));
                        told(done.len(), wrong);
                    }
                    Told::Restarts(more) => restarts = restarts.saturating_add(more),
                    Told::Failed(text) => failed = Some(text),
                }
                if answers == 0 && done.len() >= MOST_FAULTS_BEFORE_AN_ANSWER && failed.is_none() {
                    let last = done.last().and_then(|(_, case)| case.detail.as_ref());
                    let last = last.map(|detail| visible(&detail.got)).unwrap_or_default();
                    failed = Some(format!(
                        "the port answered none of the first {} cases, at last: {last}",
                        done.len()
                    ));
                }
                if failed.is_some() || self.max_fail.is_some_and(|most| wrong >= most) {
                    stop.store(true, Ordering::Relaxed);
                }
            }
        });
        if let Some(text) = failed {
            return Err(text);
        }
        done.sort_by_key(|(place, _)| *place);
        let cases: Vec<CaseReport> = done.into_iter().map(|(_, case)| case).collect();
        let left = suite.cases.len().saturating_sub(cases.len());
        let report = Report {
            suite: suite.version.clone(),
            reference: REFERENCE.map(|(name, version)| format!("{name} {version}")).join(", "),
            date: today(),
            faults: Faults::of(&cases, restarts),
            port,
            cases,
        };
        Ok(Ran { report, left })
    }

    fn work(&self, suite: &Suite, next: &AtomicUsize, stop: &AtomicBool, results: &Sender<Told>) {
        let mut port = Port::new(&self.command, self.timeout);
        while !stop.load(Ordering::Relaxed) {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = suite.cases.get(place) else { break };
            let told = match port.ask(&case.id, &case.request()) {
                Ok(reply) => Told::Case(place, Box::new(judged(case, reply))),
                Err(text) => Told::Failed(text),
            };
            // The other end listens until all threads are done.
            let _ = results.send(told);
        }
        let _ = results.send(Told::Restarts(port.starts.saturating_sub(1)));
    }
}

/// What a thread tells.
enum Told {
    Case(usize, Box<CaseReport>),
    Restarts(u64),
    Failed(String),
}

/// The date of today, as `2026-01-02`.
fn today() -> String {
    let now = SystemClock.now();
    format!("{:04}-{:02}-{:02}", now.year(), now.month(), now.day())
}

/// The report of a case, with all that a reader needs where something is wrong.
pub fn judged(case: &Case, reply: Reply) -> CaseReport {
    let (verdict, wrong, got) = match reply {
        Reply::Unsupported(why) => (Verdict::Unsupported, Vec::new(), why),
        Reply::Fault(verdict, text) => (verdict, vec![Aspect::Output], text),
        Reply::Answer(answer) => {
            let wrong = wrong_aspects(&case.expect, &answer);
            let verdict = match wrong.contains(&Aspect::Output) {
                true => Verdict::Wrong,
                false => Verdict::Right,
            };
            (verdict, wrong, answer.described())
        }
    };
    let detail = (!wrong.is_empty()).then(|| Detail {
        rule: case.rule.clone(),
        request: case.shown(),
        context: case.shown_context(),
        want: case.expect.described(),
        got,
    });
    CaseReport {
        id: case.id.clone(),
        errs: case.expect.is_error(),
        verdict,
        wrong,
        detail,
    }
}
