//! Sends the same rounds to a port and to the reference port, several at once, and reduces each difference to a small case.
//!
//! ```text
//! Fuzzer { port, reference, seed: 1, count: 20_000, … }.run(|done, different| …)   ->   Fuzzed { tally, findings, … }
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use super::super::answer::Answer;
use super::super::compare::{Comparison, Signature, brief, compare, plain};
use super::super::port_process::{Port, Reply};
use super::super::score::{Aspect, Strictness, wrong_aspects};
use super::super::suite::Suite;
use super::effect::effective_features;
use super::generate::vocabulary::Vocabulary;
use super::round::{NewRound, Round};
use super::shrink::shrink;
use super::summary::{Finding, Fuzzed, Hits, Tally};

/// The number of unanswered rounds after which a run ends, if the reference has answered none before.
const MAX_UNANSWERED: usize = 20;

/// The number of differences of one kind, and of all kinds, that are reduced to small cases.
const MAX_SHRUNK_OF_A_KIND: usize = 3;
const MAX_SHRUNK: usize = 150;

/// The number of further processes of the reference that must agree with it before a difference counts.
const WITNESSES: usize = 6;

/// Two ports, and the rounds in which they are compared.
#[derive(Clone, Debug)]
pub struct Fuzzer {
    /// The command of the port under test: a program and its arguments.
    pub port: Vec<String>,
    /// The command of the reference port: a program and its arguments.
    pub reference: Vec<String>,
    /// The seed of the rounds.
    pub seed: u64,
    /// The index of the first round.
    pub first: u64,
    /// The number of rounds.
    pub count: usize,
    /// The number of threads, each with its own processes.
    pub jobs: usize,
    /// The time that one answer may take.
    pub timeout: Duration,
    /// Whether the kind, the text and the line of an error are compared, too.
    pub strictness: Strictness,
    /// Whether the rounds ask for segments, and have planted words that show unsound ones.
    pub is_traced: bool,
    /// The ids of cases that the port is known to answer wrongly. A difference is known if the port answers it with the error of such a
    /// case.
    pub known: Vec<String>,
}

/// The result of a round, which a thread sends to the thread that collects them.
struct Done {
    index: u64,
    features: BTreeSet<usize>,
    /// The features with an effect, if the round prints something or calls `raise_exception`.
    effective: Option<BTreeSet<usize>>,
    reply: Option<Answer>,
    compared: Comparison,
    is_uncertain: bool,
}

enum Message {
    Round(Box<Done>),
    Failed(String),
}

/// The processes of a thread.
struct Ports<'f> {
    strictness: Strictness,
    port: Port<'f>,
    reference: Port<'f>,
    witnesses: Vec<Port<'f>>,
}

impl Fuzzer {
    /// Runs all rounds. After each it passes the number of finished rounds and of differences to `on_progress`.
    ///
    /// # Errors
    /// Returns a message if a port cannot be started, or the reference never answers.
    pub fn run(&self, mut on_progress: impl FnMut(usize, usize)) -> Result<Fuzzed, String> {
        let vocabulary = Vocabulary::new();
        let port = Port::new(&self.port, self.timeout).describe()?;
        let reference = Port::new(&self.reference, self.timeout).describe()?;
        let known = self.known_errors()?;
        let mut tally = Tally::default();
        let mut hits = Hits::new(&vocabulary);
        let mut known_rounds: BTreeMap<String, usize> = BTreeMap::new();
        let mut different: BTreeMap<Signature, Vec<u64>> = BTreeMap::new();
        let (mut done_count, mut different_count) = (0_usize, 0_usize);
        self.each_round(&vocabulary, |done| {
            done_count += 1;
            let compiles = tally.count(done.reply.as_ref(), &done.compared, done.is_uncertain);
            if compiles {
                hits.count(&done.features, done.effective.as_ref());
            }
            if let (Comparison::Different(signature), false) = (done.compared, done.is_uncertain) {
                match known.get(&signature.got) {
                    Some(id) => {
                        tally.known += 1;
                        let rounds = known_rounds.entry(id.clone()).or_default();
                        *rounds += 1;
                    }
                    None => {
                        different_count += 1;
                        different.entry(signature).or_default().push(done.index);
                    }
                }
            }
            on_progress(done_count, different_count);
            if tally.unanswered >= MAX_UNANSWERED && tally.unanswered == tally.rounds {
                return Err(format!("the reference answered none of the first {} rounds", tally.rounds));
            }
            Ok(())
        })?;
        tally.different = different_count;
        let findings = self.shrink(&vocabulary, different)?;
        Ok(Fuzzed {
            port,
            reference,
            seed: self.seed,
            first: self.first,
            tally,
            hits,
            known: known_rounds.into_iter().collect(),
            findings,
        })
    }

    fn generate(&self, vocabulary: &Vocabulary, index: u64) -> NewRound {
        let mut new = Round::generate(vocabulary, self.seed, index);
        if self.is_traced {
            new.round.plant();
        }
        new
    }

    fn ports(&self) -> Ports<'_> {
        let reference = || Port::new(&self.reference, self.timeout);
        Ports {
            strictness: self.strictness,
            port: Port::new(&self.port, self.timeout),
            reference: reference(),
            witnesses: (0..WITNESSES).map(|_| reference()).collect(),
        }
    }

    /// Returns the errors of the port in cases that it is known to answer wrongly, each with the id of the case.
    fn known_errors(&self) -> Result<BTreeMap<String, String>, String> {
        let mut known = BTreeMap::new();
        if self.known.is_empty() {
            return Ok(known);
        }
        let suite = Suite::embedded()?;
        let mut port = Port::new(&self.port, self.timeout);
        for case in suite.cases.iter().filter(|case| self.known.contains(&case.id)) {
            let reply = port.ask(&case.id, &case.request())?;
            let Reply::Answer(answer @ Answer::Error(_)) = &reply else {
                continue;
            };
            // An error that differs only in its text may occur elsewhere, too.
            let aspects = wrong_aspects(&case.expect, answer);
            if aspects.contains(&Aspect::Output) || aspects.contains(&Aspect::Kind) {
                known.entry(brief(&plain(answer))).or_insert_with(|| case.id.clone());
            }
        }
        Ok(known)
    }

    /// Runs all rounds, and passes each result to `take` in this thread. The results come in any order.
    fn each_round(&self, vocabulary: &Vocabulary, mut take: impl FnMut(Done) -> Result<(), String>) -> Result<(), String> {
        let next = AtomicUsize::new(0);
        let stop = AtomicBool::new(false);
        let mut failed = None;
        std::thread::scope(|scope| {
            let (results, arrived) = channel();
            for _ in 0..self.jobs.max(1) {
                let (results, next, stop) = (results.clone(), &next, &stop);
                scope.spawn(move || self.work(vocabulary, next, stop, &results));
            }
            drop(results);
            for message in arrived {
                let result = match message {
                    Message::Round(done) => take(*done),
                    Message::Failed(text) => Err(text),
                };
                if let Err(text) = result {
                    stop.store(true, Ordering::Relaxed);
                    failed.get_or_insert(text);
                }
            }
        });
        failed.map_or(Ok(()), Err)
    }

    fn work(&self, vocabulary: &Vocabulary, next: &AtomicUsize, stop: &AtomicBool, results: &Sender<Message>) {
        let mut ports = self.ports();
        while !stop.load(Ordering::Relaxed) {
            let offset = next.fetch_add(1, Ordering::Relaxed);
            if offset >= self.count {
                break;
            }
            let index = self.first.saturating_add(offset as u64);
            let NewRound { round, features, uses } = self.generate(vocabulary, index);
            let message = match ports.compare(&round) {
                Ok((reply, compared, is_uncertain)) => Message::Round(Box::new(Done {
                    index,
                    features,
                    effective: match &reply {
                        Some(Answer::Output { text, .. }) if text.is_empty() => None,
                        Some(_) => effective_features(&round, &uses),
                        None => None,
                    },
                    reply,
                    compared,
                    is_uncertain,
                })),
                Err(text) => Message::Failed(text),
            };
            // The receiver lives until all threads have ended.
            let _ = results.send(message);
        }
    }

    /// Reduces the first rounds of each kind of difference to small cases, and groups equal cases.
    fn shrink(&self, vocabulary: &Vocabulary, mut different: BTreeMap<Signature, Vec<u64>>) -> Result<Vec<Finding>, String> {
        // The threads report in no order.
        different.values_mut().for_each(|indexes| indexes.sort_unstable());
        let mut chosen: Vec<(u64, &Signature, usize)> = Vec::new();
        // Each kind has its first case before any kind has its second.
        for turn in 0..MAX_SHRUNK_OF_A_KIND {
            for (signature, indexes) in &different {
                let alike = if turn == 0 { indexes.len() } else { 0 };
                chosen.extend(indexes.get(turn).map(|index| (*index, signature, alike)));
            }
        }
        let left_out: usize = chosen.iter().skip(MAX_SHRUNK).map(|(_, _, alike)| alike).sum();
        chosen.truncate(MAX_SHRUNK);
        let next = AtomicUsize::new(0);
        let chosen = &chosen;
        let results: Vec<Result<Vec<(usize, Finding)>, String>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.jobs.clamp(1, chosen.len().max(1)))
                .map(|_| {
                    scope.spawn(|| {
                        let mut ports = self.ports();
                        let mut findings = Vec::new();
                        loop {
                            let offset = next.fetch_add(1, Ordering::Relaxed);
                            let Some((index, signature, alike)) = chosen.get(offset) else {
                                return Ok(findings);
                            };
                            let finding = ports.shrink(self.generate(vocabulary, *index).round, signature, *alike)?;
                            findings.push((offset, finding));
                        }
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|_| Err("a thread of the run ended".to_owned())))
                .collect()
        });
        let mut findings = Vec::new();
        for result in results {
            findings.extend(result?);
        }
        findings.sort_by_key(|(offset, _)| *offset);
        let findings = findings.into_iter().map(|(_, finding)| finding).collect();
        Ok(Finding::group(findings, left_out))
    }
}

impl Ports<'_> {
    /// Returns the answer of the reference, the comparison, and whether processes of the reference answer differently.
    fn compare(&mut self, round: &Round) -> Result<(Option<Answer>, Comparison, bool), String> {
        let request = round.request();
        let got = self.port.ask(&round.id, &request)?;
        let want = self.reference.ask(&round.id, &request)?;
        let compared = match round.check_segments(&got) {
            Ok(()) => compare(&got, &want, self.strictness),
            Err(fault) => Comparison::Different(Signature {
                aspects: vec![Aspect::Output],
                want: "segments".to_owned(),
                got: fault,
            }),
        };
        let answer = match want {
            Reply::Answer(answer) => Some(answer),
            _ => None,
        };
        let mut is_uncertain = false;
        if let (Comparison::Different(_), Some(answer)) = (&compared, &answer) {
            for witness in &mut self.witnesses {
                is_uncertain |= match witness.ask(&round.id, &request)? {
                    Reply::Answer(other) => plain(&other) != plain(answer),
                    _ => true,
                };
            }
        }
        Ok((answer, compared, is_uncertain))
    }

    fn shrink(&mut self, round: Round, signature: &Signature, alike: usize) -> Result<Finding, String> {
        let mut ask = |round: &Round| {
            let (_, compared, is_uncertain) = self.compare(round)?;
            Ok(!is_uncertain && matches!(compared, Comparison::Different(other) if other == *signature))
        };
        let round = shrink(round, &mut ask)?;
        let request = round.request();
        let want = self.reference.ask(&round.id, &request)?;
        let got = self.port.ask(&round.id, &request)?;
        Ok(Finding::new(round, signature.clone(), &want, &got, alike))
    }
}
