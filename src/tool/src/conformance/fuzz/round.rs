//! A round: a random template and a random context, as a request to a port and as a case of a suite.
//!
//! ```text
//! round 7 of seed 1   ->   {"id": "fuzz/1-7", "template": …, "context": …, "now": "2026-01-02T03:04:05"}
//! ```

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::super::answer::{Answer, Failure};
use super::super::port_process::Reply;
use super::super::trace::{Planter, check_segments};
use super::super::write_line::{self, string};
use super::generate::context::context;
use super::generate::rng::Rng;
use super::generate::sentence::{Sentence, Use};
use super::generate::typed::Writer;
use super::generate::vocabulary::Vocabulary;
use chat_template::internal::Entry;
use chat_template::json::{Data, Object};

/// The local times of rounds. Each round has one, because two ports may see different times without it.
const TIMES: [&str; 4] = [
    "2026-01-02T03:04:05",
    "2024-02-29T23:59:59",
    "1999-12-31T12:00:00",
    "2026-11-21T00:30:09",
];

/// The variables whose keys get words, too. Templates read the keys of other variables by name.
const FREE: [&str; 3] = ["/nested", "/flat", "/tools"];

/// A template, and the other arguments of a render.
#[derive(Clone, Debug)]
pub struct Round {
    /// The seed and the index of the round.
    pub id: String,
    pub sentence: Sentence,
    pub context: Vec<Entry<'static>>,
    pub now: &'static str,
    /// Whether the request asks for spans.
    pub generation: bool,
    /// Whether the request asks for segments.
    pub trace: bool,
}

/// Returns a random request for a port: a template and its context. The vocabulary is made once.
pub fn random_request(seed: u64, index: u64) -> String {
    static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(Vocabulary::new);
    Round::generate(&VOCABULARY, seed, index).round.request()
}

/// A round, and the features that its template uses.
pub struct NewRound {
    pub round: Round,
    /// The indices of the features in the vocabulary.
    pub features: BTreeSet<usize>,
    /// The ranges of the template that use features.
    pub uses: Vec<Use>,
}

impl Round {
    /// Returns a round of a seed.
    pub fn generate(vocabulary: &Vocabulary, seed: u64, index: u64) -> NewRound {
        let mut random = Rng::for_round(seed, index);
        let now = random.text(&TIMES);
        let context = context(&mut random);
        let mut sentence = Writer::write(&vocabulary.phrases, random, &context);
        let features = sentence.uses.iter().flat_map(|part| part.features.clone()).collect();
        let generation = sentence.tokens.iter().any(|token| token.text == "generation");
        let uses = std::mem::take(&mut sentence.uses);
        let round = Self {
            id: format!("fuzz/{seed}-{index}"),
            sentence,
            context,
            now,
            generation,
            trace: false,
        };
        NewRound { round, features, uses }
    }

    /// Asks for segments, and plants words in the context that reveal unsound segments.
    pub fn plant(&mut self) {
        let is_free = |path: &str| FREE.iter().any(|name| path.starts_with(name)) || path.ends_with("arguments");
        let mut planter = Planter {
            is_free: &is_free,
            words: Vec::new(),
        };
        for (name, value) in &mut self.context {
            *value = planter.plant(value, &format!("/{name}"));
        }
        self.trace = true;
    }

    /// Checks the segments of a reply, if the round asks for them. A fault has no numbers, so that similar faults are equal.
    pub fn check_segments(&self, reply: &Reply) -> Result<(), String> {
        let Reply::Answer(Answer::Output { text, segments, .. }) = reply else {
            return Ok(());
        };
        if !self.trace {
            return Ok(());
        }
        let segments = segments.as_ref().unwrap_or(&Data::None);
        let context = Object::new(self.context.clone());
        check_segments(segments, text, &context).map_err(|fault| fault.replace(|char: char| char.is_ascii_digit(), ""))
    }

    /// Returns the request for a port.
    pub fn request(&self) -> String {
        write_line::of(self.entries())
    }

    /// Returns the round as a case of a suite, with the answer that is expected.
    pub fn case(&self, rule: &str, expect: Option<&Answer>) -> String {
        let mut entries = self.entries();
        entries.insert(1, (Cow::Borrowed("rule"), string(rule)));
        entries.extend(expect.map(|answer| (Cow::Borrowed("expect"), answer_data(answer))));
        write_line::of(entries)
    }

    /// Returns the context as JSON.
    pub fn context_text(&self) -> String {
        write_line::of(self.context.clone())
    }

    /// Returns the names and operators of the template that have more than one byte and are no variables of the context, sorted.
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
        if self.trace {
            entries.push((Cow::Borrowed("trace"), Data::Bool(true)));
        }
        entries
    }
}

fn answer_data(answer: &Answer) -> Data<'static> {
    let number = |number: u64| Data::Int(i64::try_from(number).unwrap_or(i64::MAX));
    let entries = match answer {
        Answer::Output { text, generation, .. } => {
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
        let vocabulary = Vocabulary::new();
        let rounds: Vec<String> = (0..200)
            .map(|number| Round::generate(&vocabulary, 7, number).round.request())
            .collect();
        let again: Vec<String> = (0..200)
            .map(|number| Round::generate(&vocabulary, 7, number).round.request())
            .collect();
        assert_eq!(rounds, again);
        let other = Round::generate(&vocabulary, 8, 0).round.request();
        assert_ne!(rounds.first(), Some(&other));
    }
}
