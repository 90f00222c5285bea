//! A round: a template and a context, the request that asks for them, and the case that they make.
//!
//! ```text
//! round 7 of seed 1   ->   {"id": "fuzz/1-7", "template": …, "context": …, "now": "2026-01-02T03:04:05"}
//! ```

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::super::answer::{Answer, Failure};
use super::super::write_line::{self, string};
use super::context::context;
use super::rng::Rng;
use super::sentence::Sentence;
use super::vocabulary::Vocabulary;
use super::walk::Walker;
use crate::json::{Data, Entry, Object};

/// The local times that rounds have; each round has one, because without it no two answers need agree.
const TIMES: [&str; 4] = [
    "2026-01-02T03:04:05",
    "2024-02-29T23:59:59",
    "1999-12-31T12:00:00",
    "2026-11-21T00:30:09",
];

/// A template and all that it is rendered with.
#[derive(Clone, Debug)]
pub struct Round {
    /// Its name: the seed, a dash and the number.
    pub id: String,
    /// The template.
    pub sentence: Sentence,
    /// The context.
    pub context: Vec<Entry<'static>>,
    /// The time.
    pub now: &'static str,
    /// Whether spans are asked for.
    pub generation: bool,
}

impl Round {
    /// The round of this number, and what it hits.
    pub fn new(words: &Vocabulary, seed: u64, number: u64) -> (Self, BTreeSet<usize>) {
        let mut random = Rng::for_round(seed, number);
        let context = context(&mut random);
        let now = random.text(&TIMES);
        let walked = Walker::walk(words, random, &context);
        let has_spans = walked.sentence.tokens.iter().any(|token| token.text == "generation");
        let round = Self {
            id: format!("fuzz/{seed}-{number}"),
            sentence: walked.sentence,
            context,
            now,
            generation: has_spans,
        };
        (round, walked.hits)
    }

    /// The line that a port is sent.
    pub fn request(&self) -> String {
        write_line::of(self.entries())
    }

    /// It as a line of a suite; an answer that the suite has no form for is left out.
    pub fn case(&self, rule: &str, expect: Option<&Answer>) -> String {
        let mut entries = self.entries();
        entries.insert(1, (Cow::Borrowed("rule"), string(rule)));
        entries.extend(expect.map(|answer| (Cow::Borrowed("expect"), expected(answer))));
        write_line::of(entries)
    }

    /// The context as JSON.
    pub fn context_shown(&self) -> String {
        write_line::of(self.context.clone())
    }

    /// The words of the template that are no variables of the context, each once, in the order of the alphabet.
    pub fn words(&self) -> Vec<String> {
        let tokens = self.sentence.tokens.iter().map(|token| token.text.as_str());
        let is_word = |text: &&str| text.starts_with(|char: char| char.is_ascii_alphabetic() || "+-*/%~<>=!".contains(char));
        let is_own = |text: &&str| text.len() > 1 && self.context.iter().all(|(name, _)| name != text);
        let words: BTreeSet<String> = tokens.filter(is_word).filter(is_own).map(str::to_owned).collect();
        words.into_iter().collect()
    }

    fn entries(&self) -> Vec<Entry<'static>> {
        let mut entries = vec![
            (Cow::Borrowed("id"), string(&self.id)),
            (Cow::Borrowed("template"), string(&self.sentence.source())),
            (Cow::Borrowed("context"), Data::Object(Object::new(self.context.clone()))),
            (Cow::Borrowed("now"), string(self.now)),
        ];
        if self.generation {
            entries.push((Cow::Borrowed("generation"), Data::Bool(true)));
        }
        entries
    }
}

fn expected(answer: &Answer) -> Data<'static> {
    let number = |number: u64| Data::Int(i64::try_from(number).unwrap_or(i64::MAX));
    let entries = match answer {
        Answer::Output { text, generation } => {
            let mut entries = vec![(Cow::Borrowed("output"), string(text))];
            let spans = generation.as_ref().map(|spans| {
                let pair = |(start, end): &(u64, u64)| Data::List(vec![number(*start), number(*end)]);
                Data::List(spans.iter().map(pair).collect())
            });
            entries.extend(spans.map(|spans| (Cow::Borrowed("generation"), spans)));
            entries
        }
        Answer::Error(Failure { kind, message, line }) => {
            let mut error = vec![
                (Cow::Borrowed("kind"), string(kind)),
                (Cow::Borrowed("message"), string(message)),
            ];
            error.extend(line.map(|line| (Cow::Borrowed("line"), line.map_or(Data::None, number))));
            vec![(Cow::Borrowed("error"), Data::Object(Object::new(error)))]
        }
    };
    Data::Object(Object::new(entries))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_is_the_same_each_time() {
        let words = Vocabulary::new().unwrap();
        let rounds: Vec<String> = (0..200).map(|number| Round::new(&words, 7, number).0.request()).collect();
        let again: Vec<String> = (0..200).map(|number| Round::new(&words, 7, number).0.request()).collect();
        assert_eq!(rounds, again);
        let other = Round::new(&words, 8, 0).0.request();
        assert_ne!(rounds.first(), Some(&other));
    }
}
