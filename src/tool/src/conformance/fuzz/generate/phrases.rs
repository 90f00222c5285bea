//! The phrases of `phrases.txt`, from which typed templates are written.
//!
//! ```text
//! == TEXT
//! TEXT|center(WIDTH)     a hole for a text, the tokens `|` `center` `(`, a hole for a width, the token `)`
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::phrase_features::features;
use super::phrase_reader::{is_filtered, is_operation, read_pieces};
use super::types::{parameter_types, return_type};
use super::vocabulary::Vocabulary;
use chat_template::internal::{Function, Kind, Type};
use chat_template::internal::{filters, globals, jinja_tests};

const TABLE: &str = include_str!("phrases.txt");

/// The height of a phrase that is not yet known.
const UNKNOWN: usize = usize::MAX;

/// A type of phrases: its index in [`Phrases`].
pub type TypeName = usize;

/// All phrases, by their types.
#[derive(Default)]
pub struct Phrases {
    names: BTreeMap<String, TypeName>,
    types: Vec<PhraseType>,
    /// The expressions with holes: the type and the index of each, as often as its weight says.
    spotlights: Vec<(TypeName, usize)>,
}

/// The phrases of one type.
#[derive(Default)]
pub struct PhraseType {
    pub name: String,
    /// Whether the phrases of this type begin outside of tags.
    pub is_outside: bool,
    pub phrases: Vec<Phrase>,
    /// The number of nested phrases in the smallest template text that a phrase of this type becomes.
    height: usize,
}

/// A piece of a template with holes for other phrases.
pub struct Phrase {
    pub weight: usize,
    pub pieces: Vec<Piece>,
    /// The types of variables that must be set before.
    pub needs: Vec<TypeName>,
    /// Whether an operator or a blank is outside of its brackets.
    pub is_operation: bool,
    /// Whether a filter is outside of its brackets.
    pub is_filtered: bool,
    /// Whether the phrase sets variables for the phrases after it.
    pub sets: bool,
    /// The number of nested phrases in the smallest template text that the phrase becomes.
    pub height: usize,
    /// The indices of the features that it uses.
    pub features: Vec<usize>,
}

/// A part of a phrase.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// A token of a tag, and whether a blank is before it.
    Token(String, bool),
    /// Text outside of tags, a comment, or a raw block.
    Text(String),
    /// A place for an expression or for further text.
    Hole {
        kind: Hole,
        of: TypeName,
        has_space: bool,
        place: Place,
    },
}

/// The place of a hole, which determines the expressions that need parentheses there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Between delimiters: no expression.
    Delimited,
    /// An operand of an operator: operations.
    Operand,
    /// Before an attribute, a subscript or a call, or after a sign: operations, filters and tests.
    Postfixed,
}

/// The content of a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hole {
    /// A phrase or a variable.
    Phrase,
    /// A variable that is set.
    Variable,
    /// The name of a new variable.
    New,
}

impl Phrases {
    /// Reads `phrases.txt`, and adds phrases for the built-ins that it does not use.
    pub fn new(vocabulary: &mut Vocabulary) -> Self {
        let mut phrases = Self::default();
        let mut current = 0;
        for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
            if let Some(header) = line.strip_prefix("== ") {
                let (name, mark) = header.split_once(' ').unwrap_or((header, ""));
                current = phrases.type_name(name);
                if let Some(ty) = phrases.types.get_mut(current) {
                    ty.is_outside = mark == "outside";
                }
                continue;
            }
            phrases.add(current, line, vocabulary);
        }
        phrases.add_built_ins(vocabulary);
        phrases.find_spotlights();
        phrases.find_needs();
        phrases.measure();
        phrases
    }

    /// Reads a phrase of a type.
    fn add(&mut self, of: TypeName, line: &str, vocabulary: &mut Vocabulary) {
        let is_outside = self.types.get(of).is_some_and(|ty| ty.is_outside);
        let mut phrase = self.read(line, is_outside);
        phrase.features = features(&phrase.pieces, |of| self.name(of), vocabulary);
        if let Some(ty) = self.types.get_mut(of) {
            ty.phrases.push(phrase);
        }
    }

    /// Adds a phrase for each filter, test and global function that no other phrase uses, by its declaration.
    fn add_built_ins(&mut self, vocabulary: &mut Vocabulary) {
        let phrases = self.types.iter().flat_map(|ty| &ty.phrases);
        let used: BTreeSet<usize> = phrases.flat_map(|phrase| phrase.features.iter().copied()).collect();
        let kinds = [
            ("filter", "|", filters::all()),
            ("test", " is ", jinja_tests::all()),
            ("global", "", globals::all()),
        ];
        for (kind, sign, functions) in kinds {
            let is_unused = |name: &str| vocabulary.index(kind, name).is_some_and(|index| !used.contains(&index));
            // This function always fails.
            let is_unused = |function: &&Function| is_unused(function.name) && function.name != "raise_exception";
            let unused: Vec<&Function> = functions.iter().filter(is_unused).collect();
            for function in unused {
                let value = match kind {
                    "global" => "",
                    _ => name_of_type(parameter_types(function).first().copied()),
                };
                let arguments: Vec<_> = list_required(function, kind != "global").map(write_argument).collect();
                let of = match kind {
                    "test" => "BOOL",
                    _ => name_of_type(return_type(function, None)),
                };
                let line = format!("{value}{sign}{}({})", function.name, arguments.join(", "));
                let of = self.type_name(of);
                self.add(of, &line, vocabulary);
            }
        }
    }

    /// Returns the phrases of a type.
    pub fn get(&self, of: TypeName) -> Option<&PhraseType> {
        self.types.get(of)
    }

    /// Returns the index of a type.
    pub fn find(&self, name: &str) -> Option<TypeName> {
        self.names.get(name).copied()
    }

    fn name(&self, of: TypeName) -> &str {
        self.types.get(of).map_or("", |ty| ty.name.as_str())
    }

    /// Returns the index of a type, which is added if it is new.
    pub(super) fn type_name(&mut self, name: &str) -> TypeName {
        if let Some(of) = self.find(name) {
            return of;
        }
        let of = self.types.len();
        self.names.insert(name.to_owned(), of);
        self.types.push(PhraseType {
            name: name.to_owned(),
            height: UNKNOWN,
            ..PhraseType::default()
        });
        of
    }

    fn read(&mut self, line: &str, is_outside: bool) -> Phrase {
        let weighted = line
            .split_once(": ")
            .and_then(|(weight, rest)| Some((weight.parse().ok()?, rest)));
        let (weight, text) = weighted.unwrap_or((1, line));
        let pieces = read_pieces(self, text, is_outside);
        let sets = is_outside && text.trim_start_matches(['{', '%', '-', ' ']).starts_with("set ");
        Phrase {
            weight,
            is_operation: !is_outside && is_operation(&pieces),
            is_filtered: !is_outside && is_filtered(&pieces),
            sets,
            needs: Vec::new(),
            height: UNKNOWN,
            features: Vec::new(),
            pieces,
        }
    }

    /// Returns the expressions with holes, as often as their weights say.
    pub fn spotlights(&self) -> &[(TypeName, usize)] {
        &self.spotlights
    }

    fn find_spotlights(&mut self) {
        for (of, ty) in self.types.iter().enumerate().filter(|(_, ty)| !ty.is_outside) {
            for (index, phrase) in ty.phrases.iter().enumerate() {
                if phrase.pieces.len() > 1 && phrase.pieces.iter().any(|piece| matches!(piece, Piece::Hole { .. })) {
                    self.spotlights.extend(std::iter::repeat_n((of, index), phrase.weight));
                }
            }
        }
    }

    /// Notes which variables each phrase needs: those of its holes for variables, and `loop`.
    fn find_needs(&mut self) {
        let lonely: Vec<bool> = self.types.iter().map(|ty| ty.phrases.is_empty()).collect();
        let loop_type = self.type_name("LOOP");
        let spotlight = self.find("SPOTLIGHT");
        for phrase in self.types.iter_mut().flat_map(|ty| ty.phrases.iter_mut()) {
            let mut new = Vec::new();
            for piece in &phrase.pieces {
                let need = match piece {
                    Piece::Hole { kind: Hole::New, of, .. } => {
                        new.push(*of);
                        continue;
                    }
                    Piece::Hole {
                        kind: Hole::Variable,
                        of,
                        ..
                    } => *of,
                    Piece::Hole { of, .. } if lonely.get(*of) == Some(&true) && Some(*of) != spotlight => *of,
                    Piece::Token(text, _) if text == "loop" => loop_type,
                    _ => continue,
                };
                if !new.contains(&need) {
                    phrase.needs.push(need);
                }
            }
        }
    }

    /// Finds the heights, from the phrases without holes upwards.
    fn measure(&mut self) {
        loop {
            let heights: Vec<usize> = self.types.iter().map(|ty| ty.height).collect();
            for ty in &mut self.types {
                for phrase in &mut ty.phrases {
                    let of_hole = |piece: &Piece| match piece {
                        Piece::Hole {
                            kind: Hole::Phrase, of, ..
                        } => heights.get(*of).copied(),
                        _ => None,
                    };
                    let highest = phrase.pieces.iter().filter_map(of_hole).max().unwrap_or_default();
                    phrase.height = highest.saturating_add(1);
                }
                // A phrase that needs a variable is not always possible. A type without phrases only has variables.
                let always = ty.phrases.iter().filter(|phrase| phrase.needs.is_empty());
                let least = always.map(|phrase| phrase.height).min();
                ty.height = least.unwrap_or(usize::from(!ty.phrases.is_empty()));
            }
            if self.types.iter().map(|ty| ty.height).eq(heights) {
                return;
            }
        }
    }
}

/// Returns the name of the phrases whose values have a type.
fn name_of_type(ty: Option<Type>) -> &'static str {
    match ty {
        Some(Type::Str) => "TEXT",
        Some(Type::Markup) => "MARKUP",
        Some(Type::Int) => "INT",
        Some(Type::Float) => "FLOAT",
        Some(Type::Bool) => "BOOL",
        Some(Type::List) => "LIST",
        Some(Type::Dict) => "DICT",
        _ => "ANY",
    }
}

/// Returns what the required arguments of a function should be. If it is applied, its first parameter is the value that it is applied to.
fn list_required(function: &Function, is_applied: bool) -> impl Iterator<Item = Kind> {
    let parameters = function.signature.parameters.iter();
    let parameters = parameters.filter(|parameter| !parameter.hidden).skip(usize::from(is_applied));
    let required = parameters
        .filter(|parameter| !parameter.optional)
        .map(|parameter| parameter.kind);
    // Of further arguments, most functions need one.
    let further = function.signature.star.and_then(|star| star.first().copied());
    required.chain(further.filter(|kind| !matches!(kind, Kind::Pairs | Kind::Dict)))
}

/// Returns an argument of a phrase.
fn write_argument(kind: Kind) -> String {
    match kind {
        Kind::OneOf(texts) => return format!("'{}'", texts.first().unwrap_or(&"")),
        Kind::Any | Kind::Number => "ANY",
        Kind::Text => "TEXT",
        Kind::Count => "SMALL",
        Kind::Flag => "BOOL",
        Kind::Items | Kind::Records => "LIST",
        Kind::Dict | Kind::Pairs => "DICT",
        Kind::Attribute => "'n'",
        Kind::Filter | Kind::Test => "'string'",
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_has_phrases_or_variables() {
        let phrases = Phrases::new(&mut Vocabulary::new());
        let is_set = |of| {
            let mut pieces = phrases
                .types
                .iter()
                .flat_map(|ty| &ty.phrases)
                .flat_map(|phrase| &phrase.pieces);
            pieces.any(|piece| matches!(piece, Piece::Hole { kind: Hole::New, of: new, .. } if *new == of))
        };
        for (of, ty) in phrases.types.iter().enumerate() {
            assert!(!ty.phrases.is_empty() || is_set(of) || ty.name == "SPOTLIGHT", "{}", ty.name);
            assert!(ty.height < 6, "{}", ty.name);
        }
    }

    #[test]
    fn a_built_in_has_a_phrase_by_its_declaration() {
        let mut vocabulary = Vocabulary::new();
        let mut phrases = Phrases::default();
        phrases.add_built_ins(&mut vocabulary);
        for (of, line) in [
            ("TEXT", "TEXT|replace(TEXT, TEXT)"),
            ("BOOL", "ANY is divisibleby(SMALL)"),
            ("ANY", "LIST|first()"),
        ] {
            let phrase = phrases.read(line, false);
            let of = phrases.find(of).and_then(|of| phrases.get(of)).unwrap();
            assert!(of.phrases.iter().any(|other| other.pieces == phrase.pieces), "{line}");
        }
    }

    #[test]
    fn a_phrase_is_read_as_tokens_and_holes() {
        let mut phrases = Phrases::default();
        let phrase = phrases.read("TEXT|f('\\'', 1e-5)", false);
        let text = phrases.find("TEXT").unwrap();
        let hole = Piece::Hole {
            kind: Hole::Phrase,
            of: text,
            has_space: false,
            place: Place::Operand,
        };
        let token = |text: &str, has_space| Piece::Token(text.to_owned(), has_space);
        let tokens = [
            ("|", false),
            ("f", false),
            ("(", false),
            ("'\\''", false),
            (",", false),
            ("1e-5", true),
            (")", false),
        ];
        let expected: Vec<Piece> = std::iter::once(hole)
            .chain(tokens.map(|(text, space)| token(text, space)))
            .collect();
        assert_eq!(phrase.pieces, expected);
        assert!(!phrase.is_operation && phrases.read("TEXT + TEXT", false).is_operation);
        let phrase = phrases.read("3: ␣x⏎{% for @TEXT in TEXT %}@LOOP{{ $TEXT }}", true);
        assert_eq!((phrase.weight, phrase.pieces.len()), (3, 11));
    }
}
