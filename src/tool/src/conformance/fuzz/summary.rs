//! The result of a run: how many rounds printed or failed, which features had an effect, and each difference as a small case.
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
use super::generate::vocabulary::{KINDS, Vocabulary};
use super::round::Round;

/// The number of features of each kind that the text lists.
const RAREST: usize = 12;

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Fuzzed {
    /// The port under test.
    pub port: PortInfo,
    /// The reference port.
    pub reference: PortInfo,
    /// The seed.
    pub seed: u64,
    /// The index of the first round.
    pub first: u64,
    /// The number of rounds by their result.
    pub tally: Tally,
    /// The features that rounds used.
    pub hits: Hits,
    /// The listed cases whose difference occurred, each with the number of rounds in which it did.
    pub known: Vec<(String, usize)>,
    /// The other differences, reduced to small cases and grouped.
    pub findings: Vec<Finding>,
}

/// The number of rounds of each result. `printed`, `empty`, `refused` and `failed` count the answers of the reference, the others the
/// comparisons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of all rounds.
    pub rounds: usize,
    /// Rounds with a non-empty output.
    pub printed: usize,
    /// Rounds with an empty output.
    pub empty: usize,
    /// Rounds whose template did not compile.
    pub refused: usize,
    /// Rounds that failed at run time.
    pub failed: usize,
    /// Rounds that were not compared because a port reached a limit or does not support the request, or because only the Python code
    /// that Jinja generates can raise the error.
    pub limited: usize,
    /// Rounds that were not compared because the reference did not answer.
    pub unanswered: usize,
    /// Rounds that were not compared because processes of the reference answer differently.
    pub uncertain: usize,
    /// Rounds with a difference of a listed case.
    pub known: usize,
    /// Rounds with another difference.
    pub different: usize,
}

/// The features of each kind that rounds used. Only rounds that compile count.
#[derive(Clone, Debug)]
pub struct Hits {
    /// The kinds in order.
    pub kinds: Vec<HitKind>,
}

/// One kind of feature: filters, for example.
#[derive(Clone, Debug)]
pub struct HitKind {
    /// The name of the kind.
    pub name: &'static str,
    /// The features of the kind.
    pub features: Vec<Feature>,
}

/// A production, an operator or a built-in.
#[derive(Clone, Debug)]
pub struct Feature {
    /// The name of the feature.
    pub name: String,
    /// The number of rounds that used it.
    pub used: usize,
    /// The number of rounds whose output would be different without it.
    pub effective: usize,
    index: usize,
}

/// A difference between the ports, reduced to a small case.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The case as a line of a suite, with the answer of the reference.
    pub case: String,
    /// The case and both answers as text.
    pub shown: String,
    /// The number of rounds with a difference of this kind.
    pub rounds: usize,
    /// The ids of the rounds that were reduced to this case.
    pub alike: Vec<String>,
    key: (Signature, Vec<String>),
}

impl Tally {
    /// Counts a round, and returns whether it compiled.
    pub(super) fn count(&mut self, answer: Option<&Answer>, compared: &Comparison, is_uncertain: bool) -> bool {
        let count = |counter: &mut usize| *counter += 1;
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
    pub(super) fn new(vocabulary: &Vocabulary) -> Self {
        let kind = |name: &'static str| {
            let features = vocabulary
                .features()
                .iter()
                .enumerate()
                .filter(|(_, (kind, _))| *kind == name);
            let feature = |(index, (_, name)): (usize, &(&str, String))| Feature {
                name: name.clone(),
                used: 0,
                effective: 0,
                index,
            };
            HitKind {
                name,
                features: features.map(feature).collect(),
            }
        };
        Self {
            kinds: KINDS.map(kind).to_vec(),
        }
    }

    /// Counts a round that uses some features, and those of them with an effect.
    pub(super) fn count(&mut self, used: &BTreeSet<usize>, effective: Option<&BTreeSet<usize>>) {
        for feature in self.kinds.iter_mut().flat_map(|kind| kind.features.iter_mut()) {
            feature.used += usize::from(used.contains(&feature.index));
            let has_effect = effective.is_some_and(|effective| effective.contains(&feature.index));
            feature.effective += usize::from(has_effect);
        }
    }
}

impl HitKind {
    /// Returns the number of features that rounds used.
    pub fn used(&self) -> usize {
        self.features.iter().filter(|feature| feature.used > 0).count()
    }

    /// Returns the number of features that had an effect in at least one round.
    pub fn effective(&self) -> usize {
        self.features.iter().filter(|feature| feature.effective > 0).count()
    }

    /// Returns the features with the fewest effects, each with its number of rounds.
    fn rarest(&self) -> String {
        let mut features: Vec<&Feature> = self.features.iter().collect();
        features.sort_by_key(|feature| feature.effective);
        let shown = features
            .iter()
            .take(RAREST)
            .map(|feature| format!("{} {}", feature.name, feature.effective));
        shown.collect::<Vec<_>>().join(", ")
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
            wrong: signature.aspects.clone(),
            ..CaseReport::default()
        };
        let detail = Detail {
            rule: "found by fuzzing".to_owned(),
            request: round.sentence.source(),
            context: if round.context.is_empty() {
                String::new()
            } else {
                round.context_text()
            },
            want: want.describe(),
            got: got.describe(),
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

    /// Joins equal findings. The most frequent comes first.
    pub(super) fn group(findings: Vec<Self>, left_out: usize) -> Vec<Self> {
        let mut groups: BTreeMap<(Signature, Vec<String>), Self> = BTreeMap::new();
        for finding in findings {
            match groups.get_mut(&finding.key) {
                Some(group) => {
                    group.rounds += finding.rounds;
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
            let _ = write!(last.shown, "\n… and {left_out} more rounds, which were not reduced\n");
        }
        findings
    }
}

impl Fuzzed {
    /// Returns the summary as text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for finding in &self.findings {
            let _ = writeln!(
                text,
                "{}  in {} rounds; {}\n",
                finding.shown,
                finding.rounds.max(finding.alike.len()),
                finding.alike.join(", ")
            );
        }
        let tally = &self.tally;
        let _ = writeln!(text, "{} compared with {}", self.port.title(), self.reference.title());
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
            let (all, used, effective) = (kind.features.len(), kind.used(), kind.effective());
            let name = format!("{}s", kind.name);
            let _ = writeln!(text, "{name:<12}{used:>4} of {all:>4} used{effective:>6} had an effect");
        }
        text.push_str("\nRounds in which removing a feature would have changed the output, for the rarest features:\n");
        for kind in &self.hits.kinds {
            let _ = writeln!(text, "{}s: {}", kind.name, kind.rarest());
        }
        text
    }

    /// Returns the summary as JSON.
    pub fn json(&self) -> String {
        let tally = &self.tally;
        let hits: serde_json::Map<String, serde_json::Value> = self
            .hits
            .kinds
            .iter()
            .map(|kind| {
                let feature = |feature: &Feature| {
                    let counts = serde_json::json!({"used": feature.used, "effective": feature.effective});
                    (feature.name.clone(), counts)
                };
                let features = kind.features.iter().map(feature).collect::<serde_json::Map<_, _>>();
                (kind.name.to_owned(), features.into())
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

    /// Returns the differences as a suite.
    pub fn cases(&self) -> String {
        self.findings.iter().map(|finding| format!("{}\n", finding.case)).collect()
    }
}
