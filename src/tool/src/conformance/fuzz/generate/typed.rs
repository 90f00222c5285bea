//! Writes a template: phrases whose holes are filled with phrases and variables of their types. Some templates are then mutated.
//!
//! ```text
//! TEXT|center(WIDTH)     ->     message['content']|trim|center(12)
//! ```

use super::phrases::{Hole, Phrase, Phrases, Piece, Place, TypeName};
use super::rng::Rng;
use super::sentence::{Part, Sentence, Use};
use chat_template::internal::Entry;
use chat_template::json::Data;

/// Names of variables that templates set.
const NAMES: [&str; 12] = ["a", "b", "i", "k", "v", "x", "y", "item", "message", "part", "é", "_t"];

/// The depth after which only the smallest phrases are written.
const MAX_DEPTH: usize = 9;

/// The depth of an expression after which only the smallest phrases are written.
const MAX_EXPRESSION_DEPTH: usize = 4;

/// The percentage of templates that are mutated, so that many fail.
const MUTATED: usize = 25;

struct Variable {
    name: String,
    of: TypeName,
}

/// The kind of the tag that is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tag {
    /// Only its opening delimiter is written.
    Begun,
    /// A `set` without `=`.
    BlockSet,
    Other,
}

/// The state of writing a template.
pub struct Writer<'w> {
    phrases: &'w Phrases,
    random: Rng,
    sentence: Sentence,
    /// The variables that are set, the innermost scope last.
    scope: Vec<Variable>,
    /// The variables of the tag that is being written. They are set at its end.
    of_tag: Vec<Variable>,
    /// The variables that are set at the end of the phrase.
    of_phrase: Vec<Variable>,
    tag: Tag,
    depth: usize,
    expressions: usize,
    max_tokens: usize,
}

impl<'w> Writer<'w> {
    /// Returns a random template for a context.
    pub fn write(phrases: &'w Phrases, random: Rng, context: &[Entry<'static>]) -> Sentence {
        let mut writer = Self {
            phrases,
            random,
            sentence: Sentence::default(),
            scope: Vec::new(),
            of_tag: Vec::new(),
            of_phrase: Vec::new(),
            tag: Tag::Other,
            depth: 0,
            expressions: 0,
            max_tokens: 0,
        };
        writer.max_tokens = writer.random.below(110) + 20;
        for (name, value) in context {
            writer
                .scope
                .extend(type_of(value, name).and_then(|of| phrases.find(of)).map(|of| Variable {
                    name: name.clone().into_owned(),
                    of,
                }));
        }
        if let Some(template) = phrases.find("TEMPLATE") {
            writer.fill(template, Place::Delimited);
        }
        if writer.random.happens(MUTATED) {
            for _ in 0..=writer.random.below(3) {
                writer.sentence.mutate(&mut writer.random);
            }
        }
        writer.sentence
    }

    /// Writes a phrase of a type, in parentheses if the place demands them.
    fn fill(&mut self, of: TypeName, place: Place) {
        let Some(ty) = self.phrases.get(of) else { return };
        let is_large =
            self.depth > MAX_DEPTH || self.expressions > MAX_EXPRESSION_DEPTH || self.sentence.tokens.len() > self.max_tokens;
        let possible: Vec<&Phrase> = ty
            .phrases
            .iter()
            .filter(|phrase| phrase.needs.iter().all(|need| self.find(*need).next().is_some()))
            .collect();
        let least = possible.iter().map(|phrase| phrase.height).min().unwrap_or_default();
        let weight = |phrase: &&Phrase| {
            if is_large && phrase.height > least { 0 } else { phrase.weight }
        };
        let weights: Vec<usize> = possible.iter().map(weight).collect();
        let Some(phrase) = possible.get(self.random.pick_weighted(&weights)).copied() else {
            return;
        };
        self.write_phrase(phrase, ty.is_outside, place);
    }

    /// Writes any expression with a hole, so that each has its turn.
    fn spotlight(&mut self) {
        for _ in 0..8 {
            let spotlight = self.random.pick(self.phrases.spotlights()).copied();
            let phrase = spotlight.and_then(|(of, index)| self.phrases.get(of)?.phrases.get(index));
            let Some(phrase) = phrase else { return };
            if phrase.needs.iter().all(|need| self.find(*need).next().is_some()) {
                // Its own operands are simple, so that it rarely fails.
                self.expressions = MAX_EXPRESSION_DEPTH.saturating_sub(2);
                return self.write_phrase(phrase, false, Place::Delimited);
            }
        }
        self.sentence.push("none", "");
    }

    fn write_phrase(&mut self, phrase: &'w Phrase, is_outside: bool, place: Place) {
        let start = self.sentence.tokens.len();
        let scope = self.scope.len();
        let outer = (
            std::mem::take(&mut self.of_phrase),
            std::mem::take(&mut self.of_tag),
            self.tag,
        );
        self.depth += 1;
        self.expressions = if is_outside { 0 } else { self.expressions + 1 };
        let expressions = self.expressions;
        let is_wrapped = match place {
            Place::Delimited => false,
            Place::Operand => phrase.is_operation,
            Place::Postfixed => phrase.is_operation || phrase.is_filtered,
        };
        if is_wrapped {
            self.sentence.push("(", "");
        }
        let mut kept = None;
        for piece in &phrase.pieces {
            self.expressions = expressions;
            let first = self.sentence.tokens.len();
            // A phrase that is only a hole passes its place on.
            self.piece(piece, (phrase.pieces.len() == 1).then_some(place));
            if kept.is_none() && !is_outside && matches!(piece, Piece::Hole { .. }) {
                kept = Some((first, self.sentence.tokens.len()));
            }
        }
        if is_wrapped {
            self.sentence.push(")", "");
        }
        self.depth = self.depth.saturating_sub(1);
        self.expressions = expressions.saturating_sub(1);
        let set: Vec<Variable> = if phrase.sets {
            self.scope.drain(scope..).collect()
        } else {
            Vec::new()
        };
        self.scope.truncate(scope);
        self.scope.extend(set);
        let of_phrase = std::mem::take(&mut self.of_phrase);
        self.scope.extend(of_phrase);
        (self.of_phrase, self.of_tag, self.tag) = outer;
        let part = if is_outside { Part::Optional } else { Part::Expression };
        self.sentence.mark(part, start);
        self.sentence.uses.push(Use {
            features: phrase.features.clone(),
            start,
            end: self.sentence.tokens.len(),
            kept,
        });
    }

    fn piece(&mut self, piece: &Piece, outer_place: Option<Place>) {
        match piece {
            Piece::Text(text) => self.sentence.push(text, ""),
            Piece::Token(text, has_space) => self.token(text, *has_space),
            Piece::Hole {
                kind,
                of,
                has_space,
                place,
            } => {
                let start = self.sentence.tokens.len();
                match kind {
                    Hole::New => self.bind(*of),
                    Hole::Variable => self.variable(*of, true),
                    Hole::Phrase if self.phrases.find("SPOTLIGHT") == Some(*of) => self.spotlight(),
                    Hole::Phrase => {
                        let has_phrases = self.phrases.get(*of).is_some_and(|ty| !ty.phrases.is_empty());
                        let is_set = self.find(*of).next().is_some();
                        if is_set && (!has_phrases || self.random.happens(38)) {
                            self.variable(*of, false);
                        } else {
                            self.fill(*of, outer_place.unwrap_or(*place));
                        }
                    }
                }
                if let (Some(token), true) = (self.sentence.tokens.get_mut(start), *has_space) {
                    token.space = " ";
                }
            }
        }
    }

    /// Writes a token, sometimes with another space or with a sign that controls whitespace.
    fn token(&mut self, text: &str, has_space: bool) {
        let text = match (text, self.random.below(100)) {
            ("{{", 0..=8) => "{{-",
            ("{{", 9) => "{{+",
            ("{%", 0..=8) => "{%-",
            ("{%", 9..=11) => "{%+",
            ("}}", 0..=8) => "-}}",
            ("%}", 0..=8) => "-%}",
            ("%}", 9..=11) => "+%}",
            _ => text,
        };
        let space = match self.random.below(120) {
            0 if has_space => "\n",
            1 if has_space => "  ",
            _ if has_space => " ",
            _ => "",
        };
        self.tag = match (self.tag, text) {
            (_, "{%" | "{%-" | "{%+") => Tag::Begun,
            (Tag::Begun, "set") => Tag::BlockSet,
            (Tag::Begun, _) | (Tag::BlockSet, "=") => Tag::Other,
            (tag, _) => tag,
        };
        self.sentence.push(text, space);
        // The target of a block `set` is set at its `endset`.
        if text.ends_with("%}") && self.tag != Tag::BlockSet {
            self.scope.append(&mut self.of_tag);
        }
    }

    /// Writes the name of a new variable.
    fn bind(&mut self, of: TypeName) {
        let ty = self.phrases.get(of).map_or("", |ty| ty.name.as_str());
        match ty {
            "LOOP" => self.scope.push(Variable {
                name: ty.to_lowercase(),
                of,
            }),
            _ => {
                let mut name = self.random.text(&NAMES);
                let is_taken = |name: &str, variables: &[Variable]| variables.iter().any(|variable| variable.name == name);
                // Two targets with one name are an error, and a variable that hides another is rare.
                for _ in 0..4 {
                    if !is_taken(name, &self.of_tag)
                        && !is_taken(name, &self.of_phrase)
                        && (!is_taken(name, &self.scope) || self.random.happens(8))
                    {
                        break;
                    }
                    name = self.random.text(&NAMES);
                }
                self.sentence.push(name, "");
                let variable = Variable {
                    name: name.to_owned(),
                    of,
                };
                // A macro is not called in its own body.
                if ty.starts_with("MACRO") {
                    self.of_phrase.push(variable);
                } else {
                    self.of_tag.push(variable);
                }
            }
        }
    }

    /// Writes a variable of a type, which may be one of the tag that is being written.
    fn variable(&mut self, of: TypeName, is_of_tag: bool) {
        // The condition of a loop uses its target, and a default an earlier parameter.
        let of_tag = self
            .of_tag
            .iter()
            .find(|variable| is_of_tag && variable.of == of)
            .map(|variable| variable.name.clone());
        let names: Vec<String> = of_tag.map_or_else(|| self.find(of).map(str::to_owned).collect(), |name| vec![name]);
        // Those of the innermost scope are the most likely.
        let weights: Vec<usize> = (1..=names.len()).rev().map(|weight| weight.saturating_mul(weight)).collect();
        let name = names.get(self.random.pick_weighted(&weights)).map_or("nope", String::as_str);
        self.sentence.push(name, "");
    }

    /// Returns the names of the variables of a type, the innermost first.
    fn find(&self, of: TypeName) -> impl Iterator<Item = &str> {
        let variables = self
            .scope
            .iter()
            .enumerate()
            .rev()
            .filter(move |(_, variable)| variable.of == of);
        let is_hidden = |index: usize, name: &str| self.scope.iter().skip(index + 1).any(|later| later.name == name);
        variables
            .filter(move |(index, variable)| !is_hidden(*index, &variable.name))
            .map(|(_, variable)| variable.name.as_str())
    }
}

/// Returns the type of a variable of the context.
fn type_of(value: &Data<'static>, name: &str) -> Option<&'static str> {
    Some(match (name, value) {
        ("messages", _) => "MESSAGES",
        ("nested", _) => "NESTED",
        ("items", _) => "OBJECTS",
        ("tree", _) => "TREE",
        ("flat", _) => "FLAT",
        ("long", _) => "LONG",
        ("small", _) => "SMALL",
        (_, Data::None) => "NONE",
        (_, Data::Bool(_)) => "BOOL",
        (_, Data::Int(_) | Data::BigInt(_)) => "INT",
        (_, Data::Float(_)) => "FLOAT",
        (_, Data::Str(_)) => "TEXT",
        (_, Data::Object(_)) => "DICT",
        (_, Data::List(items) | Data::Tuple(items)) => match items.first() {
            Some(Data::Str(_)) => "TEXTS",
            Some(Data::Int(_)) => "INTS",
            _ => "LIST",
        },
    })
}
