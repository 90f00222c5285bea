//! Runs a suite against a port. Several processes of the port run at once, and each gets one case at a time.
//!
//! ```text
//! Runner { command: ["python", "port.py"], jobs: 2, … }.run(&suite, |done, wrong| …)   ->   Ran { report, … }
//! ```

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use super::case::Case;
use super::cause;
use super::port_process::{Port, Reply};
use super::report::{CaseReport, Detail, Faults, Report};
use super::score::{Aspect, Verdict, wrong_aspects};
use super::suite::Suite;
use super::versions::{REFERENCE, Versions};
use super::visible::visible;
use chat_template::Clock;
use chat_template::internal::SystemClock;
use chat_template::internal::elide;

/// The number of cases after which a run ends if the port has answered none.
const MAX_FAULTS_BEFORE_AN_ANSWER: usize = 20;

/// The number of characters of a wrong answer and of its cause that a report keeps.
pub(super) const MAX_ANSWER: usize = 20_000;
const MAX_CAUSE: usize = 400;

/// The number of characters of a rule that a report keeps.
const MAX_RULE: usize = 400;

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct Runner {
    /// The command of the port: a program and its arguments.
    pub command: Vec<String>,
    /// The number of processes of the port.
    pub jobs: usize,
    /// The time that one answer may take.
    pub timeout: Duration,
    /// The versions that the port mirrors, if its description does not have them.
    pub mirrors: Versions,
    /// The number of wrong cases after which the run stops.
    pub max_fail: Option<usize>,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The cases that were run, in the order of the suite.
    pub report: Report,
    /// The number of cases that were not run, because enough were wrong.
    pub left: usize,
}

impl Runner {
    /// Splits a command into words as a POSIX shell does. No shell runs.
    ///
    /// # Errors
    /// Returns a message if a quote is not closed or the command is empty.
    pub fn split(command: &str) -> Result<Vec<String>, String> {
        match shlex::split(command) {
            None => Err(format!(
                "a quote is not closed, or a backslash is the last character, in {command:?}"
            )),
            Some(words) if words.is_empty() => Err("the command is empty".to_owned()),
            Some(words) => Ok(words),
        }
    }

    /// Runs all cases. After each it passes the number of finished and of wrong cases to `on_progress`.
    ///
    /// # Errors
    /// Returns a message if the port cannot be started, or never answers.
    pub fn run(&self, suite: &Suite, mut on_progress: impl FnMut(usize, usize)) -> Result<Ran, String> {
        let mut first = Port::new(&self.command, self.timeout);
        let mut port = first.describe()?;
        port.mirrors.extend(self.mirrors.clone());
        let mut declared = port.lacks.clone();
        if !port.requests.iter().any(|name| name == "trace") {
            declared.push("trace".to_owned());
        }
        let has_apply = !declared.iter().any(|name| name == "apply");
        let lacks = Lacks {
            apply: suite.cases.iter().any(Case::is_apply) && !(has_apply && first.knows_apply(&port)?),
            // A port without `apply` gets a `render` in its place.
            declared: declared.iter().map(String::as_str).filter(|name| *name != "apply").collect(),
            mirrors: &port.mirrors,
        };
        drop(first);
        let next = AtomicUsize::new(0);
        let stop = AtomicBool::new(false);
        let mut done: Vec<(usize, CaseReport)> = Vec::new();
        let (mut wrong, mut restarts, mut answers) = (0_usize, 0_u64, 0_usize);
        let mut failed = None;
        std::thread::scope(|scope| {
            let (results, arrived) = channel();
            for _ in 0..self.jobs.clamp(1, suite.cases.len().max(1)) {
                let (results, next, stop) = (results.clone(), &next, &stop);
                let lacks = &lacks;
                scope.spawn(move || self.work(suite, lacks, next, stop, &results));
            }
            drop(results);
            for result in arrived {
                match result {
                    Message::Case(place, case) => {
                        wrong += usize::from(case.is_wrong());
                        answers += usize::from(!case.verdict.is_fault());
                        done.push((place, *case));
                        on_progress(done.len(), wrong);
                    }
                    Message::Restarts(more) => restarts = restarts.saturating_add(more),
                    Message::Failed(text) => failed = Some(text),
                }
                if answers == 0 && done.len() >= MAX_FAULTS_BEFORE_AN_ANSWER && failed.is_none() {
                    let last = done.last().and_then(|(_, case)| case.detail.as_ref());
                    let last = last.map(|detail| visible(&detail.got)).unwrap_or_default();
                    failed = Some(format!(
                        "the port answered none of the first {} cases; the last one: {last}",
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
            hash: suite.hash.clone(),
            reference: REFERENCE.map(|(name, version)| format!("{name} {version}")).join(", "),
            date: today(),
            faults: Faults::of(&cases, restarts),
            port,
            cases,
        };
        Ok(Ran { report, left })
    }

    fn work(&self, suite: &Suite, lacks: &Lacks<'_>, next: &AtomicUsize, stop: &AtomicBool, results: &Sender<Message>) {
        let mut port = Port::new(&self.command, self.timeout);
        while !stop.load(Ordering::Relaxed) {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = suite.cases.get(place) else { break };
            let lack = case.features().into_iter().find(|name| lacks.declared.contains(name));
            let outside = case.outside(lacks.mirrors);
            let is_skipped = outside.is_some() || (lack.is_some() && case.tier() == "extensions");
            let why = outside.or_else(|| lack.map(|name| format!("the port declares that it lacks `{name}`")));
            let reply = match why {
                Some(why) => Ok(Reply::Unsupported(why)),
                None if lacks.apply => send_lowered(&mut port, case),
                None => port.ask(&case.id, &case.request()),
            };
            let message = match reply.map(|reply| judge(case, reply)) {
                Ok(mut report) => {
                    report.is_lowered = lacks.apply && case.is_apply();
                    if is_skipped {
                        report.verdict = Verdict::Skipped;
                    }
                    Message::Case(place, Box::new(report))
                }
                Err(text) => Message::Failed(text),
            };
            // The receiver lives until all threads have ended.
            let _ = results.send(message);
        }
        let _ = results.send(Message::Restarts(port.starts.saturating_sub(1)));
    }
}

/// What a port does not answer.
struct Lacks<'n> {
    /// Whether it does not answer `apply`.
    apply: bool,
    /// The features of cases that its description says it does not have.
    declared: Vec<&'n str>,
    /// The versions that it mirrors.
    mirrors: &'n Versions,
}

/// Sends a case to a port that only renders.
fn send_lowered(port: &mut Port<'_>, case: &Case) -> Result<Reply, String> {
    match case.lower_request() {
        Ok(request) => port.ask(&case.id, &request),
        Err(why) => Ok(Reply::Unsupported(why)),
    }
}

/// A message of a thread.
enum Message {
    Case(usize, Box<CaseReport>),
    Restarts(u64),
    Failed(String),
}

/// Returns today's date in the form `2026-01-02`.
pub(super) fn today() -> String {
    let now = SystemClock.now();
    format!("{:04}-{:02}-{:02}", now.year(), now.month(), now.day())
}

/// Compares a port's reply with the answer that a case expects. The report has details if anything is wrong.
pub fn judge(case: &Case, reply: Reply) -> CaseReport {
    let mut wrong = match &reply {
        Reply::Unsupported(_) => Vec::new(),
        Reply::Fault(..) => vec![Aspect::Output],
        Reply::Answer(answer) => wrong_aspects(&case.expect, answer),
    };
    let fault = match &reply {
        Reply::Answer(answer) if case.is_traced() && wrong.is_empty() => case.check_segments(answer).err(),
        _ => None,
    };
    let cause = match &fault {
        Some(_) => "wrong segments".to_owned(),
        None => elide(&cause::describe(case, &reply, &wrong), MAX_CAUSE).into_owned(),
    };
    wrong.extend(fault.as_ref().map(|_| Aspect::Output));
    let (verdict, got) = match reply {
        Reply::Unsupported(why) => (Verdict::Unsupported, why),
        Reply::Fault(verdict, text) => (verdict, text),
        Reply::Answer(answer) => {
            let verdict = if wrong.contains(&Aspect::Output) {
                Verdict::Wrong
            } else {
                Verdict::Right
            };
            (verdict, fault.unwrap_or_else(|| answer.describe()))
        }
    };
    let detail = (!wrong.is_empty()).then(|| Detail {
        rule: elide(&case.rule, MAX_RULE).into_owned(),
        request: case.template_text(),
        context: case.context_text(),
        want: case.expect.describe(),
        got: elide(&got, MAX_ANSWER).into_owned(),
    });
    CaseReport {
        id: case.id.clone(),
        group: None,
        tier: case.tier().to_owned(),
        uses: case.uses(),
        is_known: false,
        errs: case.expect.is_error(),
        is_lowered: false,
        cause,
        verdict,
        wrong,
        detail,
    }
}
