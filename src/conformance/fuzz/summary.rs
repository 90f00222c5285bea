//! The result of a run: how many rounds printed or failed, which names were used, and each difference as a small case.
//!
//! ```text
//! 20000 rounds of seed 1: 9120 printed (45.6 %), 4100 failed at run time (20.5 %), …
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::super::answer::Answer;
use super::super::compare::{Comparison, Signature};
use super::super::port_process::Reply;
use super::super::report::{CaseReport, Detail, PortInfo, percent};
use super::super::text::failure;
use super::round::Round;
use super::vocabulary::{KINDS, Vocabulary};

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Fuzzed {
    /// The port under test.
    pub port: PortInfo,
    /// The reference port.
    pub reference: PortInfo,
    /// The seed.
    pub seed: u64,
    /// The number of the first round.
    pub first: u64,
    /// The number of rounds by their result.
    pub tally: Tally,
    /// The names and productions that rounds used.
    pub hits: Hits,
    /// Known differences: the case that is listed, and in how many rounds.
    pub known: Vec<(String, usize)>,
    /// The other differences, made small and grouped.
    pub findings: Vec<Finding>,
}

/// The number of rounds by the reference's answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// All rounds.
    pub rounds: usize,
    /// Rendered non-empty output.
    pub printed: usize,
    /// Rendered empty output.
    pub empty: usize,
    /// Did not compile.
    pub refused: usize,
    /// Failed at run time.
    pub failed: usize,
    /// Not compared: a port reached a limit or does not support the request.
    pub limited: usize,
    /// Not compared: the reference did not answer.
    pub unanswered: usize,
    /// Not compared: processes of the reference answer differently.
    pub uncertain: usize,
    /// Differ as a listed case does.
    pub known: usize,
    /// Differ.
    pub different: usize,
}

/// The things of each kind that rounds used. Only rounds that compile count.
#[derive(Clone, Debug)]
pub struct Hits {
    /// The kinds in order.
    pub kinds: Vec<HitKind>,
}

/// One kind of thing that can be hit.
#[derive(Clone, Debug)]
pub struct HitKind {
    /// Its name.
    pub name: &'static str,
    /// The number of things of this kind.
    pub all: usize,
    /// The things that no round used.
    pub never: Vec<String>,
}

/// A difference.
#[derive(Clone, Debug)]
pub struct Finding {
    /// A line of a suite, with the reference's answer.
    pub case: String,
    /// The text for a reader.
    pub shown: String,
    /// The number of rounds with a difference of this kind.
    pub rounds: usize,
    /// The rounds that led to the same small case.
    pub alike: Vec<String>,
    key: (Signature, Vec<String>),
}

impl Tally {
    /// Counts a round, and returns whether it compiled.
    pub(super) fn count(&mut self, answer: Option<&Answer>, compared: &Comparison, is_uncertain: bool) -> bool {
        let count = |counter: &mut usize| *counter = counter.saturating_add(1);
        count(&mut self.rounds);
        match compared {
            Comparison::Limited => count(&mut self.limited),
            Comparison::Unanswered => count(&mut self.unanswered),
            Comparison::Same | Comparison::Different(_) => {}
        }
        if is_uncertain {
            count(&mut self.uncertain);
        }
        match answer {
            None => return false,
            Some(Answer::Output { text, .. }) if text.is_empty() => count(&mut self.empty),
            Some(Answer::Output { .. }) => count(&mut self.printed),
            Some(Answer::Error(failure)) if failure.kind == "syntax" => {
                count(&mut self.refused);
                return false;
            }
            Some(Answer::Error(_)) => count(&mut self.failed),
        }
        true
    }
}

impl Hits {
    pub(super) fn new(words: &Vocabulary, hit: &BTreeSet<usize>) -> Self {
        let kind = |name: &'static str| {
            let things = words.things().iter().enumerate().filter(|(_, (kind, _))| *kind == name);
            let never = things.clone().filter(|(number, _)| !hit.contains(number));
            HitKind {
                name,
                all: things.count(),
                never: never.map(|(_, (_, thing))| thing.clone()).collect(),
            }
        };
        Self {
            kinds: KINDS.map(kind).to_vec(),
        }
    }
}

impl HitKind {
    /// The number of things that rounds used.
    pub fn hit(&self) -> usize {
        self.all.saturating_sub(self.never.len())
    }
}

impl Finding {
    pub(super) fn new(round: Round, signature: Signature, want: &Reply, got: &Reply, rounds: usize) -> Self {
        let expect = match want {
            Reply::Answer(answer) => Some(answer),
            _ => None,
        };
        let report = CaseReport {
            id: round.id.clone(),
            verdict: got.verdict(),
            errs: expect.is_some_and(Answer::is_error),
            is_lowered: false,
            cause: String::new(),
            wrong: signature.aspects.clone(),
            detail: None,
        };
        let detail = Detail {
            rule: "found by fuzzing".to_owned(),
            request: round.sentence.source(),
            context: if round.context.is_empty() {
                String::new()
            } else {
                round.context_shown()
            },
            want: want.described(),
            got: got.described(),
        };
        let names = round.words();
        Self {
            case: round.case("found by fuzzing", expect),
            shown: failure(&report, &detail, false),
            rounds,
            alike: vec![round.id.clone()],
            key: (signature, names),
        }
    }

    /// Joins findings that are alike. The most frequent comes first.
    pub(super) fn grouped(findings: Vec<Self>, left_out: usize) -> Vec<Self> {
        let mut groups: BTreeMap<(Signature, Vec<String>), Self> = BTreeMap::new();
        for finding in findings {
            match groups.get_mut(&finding.key) {
                Some(group) => {
                    group.rounds = group.rounds.saturating_add(finding.rounds);
                    group.alike.extend(finding.alike);
                    if finding.case.len() < group.case.len() {
                        (group.case, group.shown) = (finding.case, finding.shown);
                    }
                }
                None => {
                    groups.insert(finding.key.clone(), finding);
                }
            }
        }
        let mut findings: Vec<Self> = groups.into_values().collect();
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.rounds));
        if let (Some(last), true) = (findings.last_mut(), left_out > 0) {
            let _ = write!(last.shown, "\n… and {left_out} more rounds, none of which was made small\n");
        }
        findings
    }
}

impl Fuzzed {
    /// The summary as text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for finding in &self.findings {
            // A String takes all that is written.
            let _ = writeln!(
                text,
                "{}  in {} rounds; {}\n",
                finding.shown,
                finding.rounds.max(finding.alike.len()),
                finding.alike.join(", ")
            );
        }
        let tally = &self.tally;
        let _ = writeln!(text, "{} beside {}", self.port.title(), self.reference.title());
        let _ = writeln!(text, "seed {}, {} rounds from {} on\n", self.seed, tally.rounds, self.first);
        let rows = [
            ("printed something", tally.printed),
            ("printed nothing", tally.empty),
            ("did not compile", tally.refused),
            ("failed at run time", tally.failed),
            ("not compared: a limit", tally.limited),
            ("not compared: the reference did not answer", tally.unanswered),
            ("not compared: the reference does not agree with itself", tally.uncertain),
            ("differ as a listed case does", tally.known),
            ("differ", tally.different),
        ];
        for (name, count) in rows {
            let _ = writeln!(text, "{name:<56}{count:>8}{:>9}", percent(count, tally.rounds));
        }
        for (id, rounds) in &self.known {
            let _ = writeln!(text, "  {id}: {rounds}");
        }
        text.push('\n');
        for kind in &self.hits.kinds {
            let share = percent(kind.hit(), kind.all);
            let _ = writeln!(
                text,
                "{:<12}{:>4} of {:>4} hit{:>9}",
                format!("{}s", kind.name),
                kind.hit(),
                kind.all,
                share
            );
        }
        for kind in self.hits.kinds.iter().filter(|kind| !kind.never.is_empty()) {
            let _ = writeln!(text, "never hit, {}s: {}", kind.name, kind.never.join(", "));
        }
        text
    }

    /// The summary as JSON.
    pub fn json(&self) -> String {
        let tally = &self.tally;
        let hits: serde_json::Map<String, serde_json::Value> = self
            .hits
            .kinds
            .iter()
            .map(|kind| {
                (
                    kind.name.to_owned(),
                    serde_json::json!({"hit": kind.hit(), "all": kind.all, "never": kind.never}),
                )
            })
            .collect();
        let findings: Vec<_> = self
            .findings
            .iter()
            .map(|finding| {
                let case = serde_json::from_str::<serde_json::Value>(&finding.case).unwrap_or_else(|_| finding.case.clone().into());
                serde_json::json!({"case": case, "shown": finding.shown, "rounds": finding.rounds, "alike": finding.alike})
            })
            .collect();
        let report = serde_json::json!({
            "port": self.port, "reference": self.reference, "seed": self.seed, "first": self.first,
            "rounds": tally.rounds, "printed": tally.printed, "empty": tally.empty, "refused": tally.refused, "failed": tally.failed,
            "limited": tally.limited, "unanswered": tally.unanswered, "uncertain": tally.uncertain,
            "known": self.known.iter().cloned().collect::<BTreeMap<_, _>>(), "different": tally.different,
            "hits": hits, "findings": findings,
        });
        format!("{report:#}\n")
    }

    /// The differences as a suite.
    pub fn cases(&self) -> String {
        self.findings.iter().map(|finding| format!("{}\n", finding.case)).collect()
    }
}
