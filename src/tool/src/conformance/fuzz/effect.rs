//! Finds the features of a template that determine its output: without one of them, this crate renders something else.
//!
//! ```text
//! {{ 'a'|upper|trim }}     upper has an effect, trim has none
//! ```

use std::collections::BTreeSet;

use super::generate::sentence::{Sentence, Use};
use super::round::Round;
use chat_template::ErrorKind;
use chat_template::LocalTime;
use chat_template::RenderOptions;
use chat_template::Template;
use chat_template::json::{Data, Object};

/// The expression that replaces a removed one.
const NOTHING: &str = "none";

/// The maximum number of ranges around a feature that are removed, one after the other, to find whether the feature has an effect.
const MAX_RANGES: usize = 8;

/// Returns the indices of the features with an effect, or `None` if this crate fails to render the round. The message of `raise_exception`
/// counts as an output.
pub fn effective_features(round: &Round, uses: &[Use]) -> Option<BTreeSet<usize>> {
    let renderer = Renderer::new(round)?;
    let output = renderer.render(&round.sentence)??;
    let mut effective = BTreeSet::new();
    for part in uses {
        if part.start >= part.end || part.features.iter().all(|feature| effective.contains(feature)) {
            continue;
        }
        let render = |removed: &Use, replacement: &str| renderer.render(&without(&round.sentence, removed, replacement));
        // A feature whose removal does not compile is removed with the parts around it.
        let around = uses
            .iter()
            .filter(|outer| outer.start <= part.start && part.end <= outer.end && outer.end > outer.start);
        let mut around: Vec<&Use> = around.collect();
        around.sort_by_key(|outer| outer.end.saturating_sub(outer.start));
        let rendered = std::iter::once(part).chain(around.into_iter().take(MAX_RANGES));
        let rendered = rendered
            .flat_map(|part| [(part, ""), (part, NOTHING)])
            .find_map(|(part, replacement)| render(part, replacement));
        if rendered.is_some_and(|rendered| rendered.as_ref() != Some(&output)) {
            effective.extend(&part.features);
        }
    }
    Some(effective)
}

/// Returns a template without a range of tokens, except for the part of the range that stays.
fn without(sentence: &Sentence, part: &Use, replacement: &str) -> Sentence {
    let mut sentence = sentence.clone();
    let (first, last) = part.kept.unwrap_or((part.end, part.end));
    for (index, token) in sentence.tokens.iter_mut().enumerate() {
        if (part.start..part.end).contains(&index) && !(first..last).contains(&index) {
            token.text.clear();
        }
    }
    if !replacement.is_empty() {
        sentence.replace(part.start, replacement.to_owned());
    }
    sentence
}

/// The arguments of the renders of a round.
struct Renderer {
    context: Data<'static>,
    clock: LocalTime,
    generation: bool,
}

impl Renderer {
    fn new(round: &Round) -> Option<Self> {
        Some(Self {
            context: Data::Object(Object::new(round.context.clone())),
            clock: round.now.parse().ok()?,
            generation: round.generation,
        })
    }

    /// Returns `None` if the template does not compile, and `Some(None)` if it fails.
    fn render(&self, sentence: &Sentence) -> Option<Option<(String, Vec<std::ops::Range<usize>>)>> {
        let template = Template::compile(&sentence.source()).ok()?;
        let options = RenderOptions::default()
            .with_clock(&self.clock)
            .with_reference_spans(self.generation);
        Some(match template.render(&self.context, &options) {
            Ok(rendered) => Some((rendered.text, rendered.reference_spans.code_points)),
            Err(error) if error.kind() == ErrorKind::Raised => Some((error.message().to_owned(), Vec::new())),
            Err(_) => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::generate::vocabulary::Vocabulary;
    use super::*;

    #[test]
    fn a_filter_without_effect_is_found() {
        let vocabulary = Vocabulary::new();
        let mut round = Round::generate(&vocabulary, 1, 0).round;
        round.context.clear();
        round.sentence = Sentence::default();
        for token in ["{{", "'a'", "|", "upper", "|", "trim", "}}"] {
            round.sentence.push(token, "");
        }
        let filter = |feature, start| Use {
            features: vec![feature],
            start,
            end: start + 2,
            kept: None,
        };
        let effective = effective_features(&round, &[filter(0, 2), filter(1, 4)]);
        assert_eq!(effective, Some(BTreeSet::from([0])));
    }

    #[test]
    fn two_thirds_of_the_rounds_print() {
        let vocabulary = Vocabulary::new();
        let prints = |index: &u64| {
            let round = Round::generate(&vocabulary, 3, *index).round;
            let rendered = Renderer::new(&round).unwrap().render(&round.sentence);
            rendered.flatten().is_some_and(|(output, _)| !output.is_empty())
        };
        let printing = (0..600).filter(prints).count();
        assert!(printing > 400, "{printing} of 600");
    }
}
