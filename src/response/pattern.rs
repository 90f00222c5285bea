//! The anchors of a description: literal strings and regular expressions, and whether the end of a text can be the start of one.
//!
//! ```text
//! \s*<tool_call>   in "x  <tool_call>{"   ->   a match at 1..14
//! \s*<tool_call>   in "x  <tool"          ->   a match can begin at 1
//! ```
//!
//! A description has the syntax of Python's module `regex`, with its flag `DOTALL`. Of this, the crate `regex-automata` can do what needs no
//! backtracking. Look-around, backreferences and what Rust's syntax reads in another way are refused by name.

use std::ops::Range;

use regex_automata::meta::{BuildError, Config, Regex};
use regex_automata::util::captures::Captures;
use regex_automata::{Anchored, Input};
use regex_syntax::ast::{self, Ast};
use regex_syntax::hir::translate::TranslatorBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};

use crate::error::{Error, ErrorKind, Result};
use crate::meter::Meter;

/// The maximum length of a pattern in bytes.
const MAX_LENGTH: usize = 1 << 14;

/// The maximum size of the automaton of a pattern in bytes.
const MAX_AUTOMATON: usize = 1 << 21;

/// The maximum number of groups and repetitions that enclose one another in a pattern.
const MAX_NESTING: u32 = 64;

/// A compiled anchor.
#[derive(Clone, Debug)]
pub struct Pattern {
    complete: Regex,
    /// Matches the beginnings of matches that reach the end of the text.
    beginning: Regex,
    /// Whether the anchor is a literal string or a list of them.
    is_literal: bool,
    /// Whether one of the literal strings begins with another one, so that a match at the end of a text can become longer.
    can_extend: bool,
}

/// A match, and the texts of its named groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    pub bytes: Range<usize>,
    /// The name and the text of each group that took part, in the order of the groups.
    pub groups: Vec<(String, String)>,
}

impl Pattern {
    /// Compiles a list of literal strings, of which any matches. The longest of those that match at a place is preferred.
    pub fn from_literals(mut literals: Vec<&str>) -> Result<Self> {
        let can_extend = literals
            .iter()
            .any(|long| literals.iter().any(|short| long != short && long.starts_with(short)));
        // The reference sorts by code points. The sort is stable in both.
        literals.sort_by_key(|literal| std::cmp::Reverse(literal.chars().count()));
        let hir = Hir::alternation(literals.iter().map(|literal| Hir::literal(literal.as_bytes())).collect());
        Ok(Self {
            is_literal: true,
            can_extend,
            ..Self::from_hir(&hir).map_err(|error| Error::value(error.to_string()))?
        })
    }

    /// Compiles a regular expression. `scope` and `key` say where the description has it.
    ///
    /// # Errors
    /// If the expression is invalid, or this crate does not support it.
    pub fn from_regex(source: &str, scope: &str, key: &str) -> Result<Self> {
        let invalid = |error: &dyn std::fmt::Display| Error::value(format!("{scope}: invalid {key} regex: {error}"));
        let unsupported = |what: &str| {
            let message = format!("{scope}: the regex of {key} has {what}, which is not supported: {source}");
            Error::new(ErrorKind::Unsupported, message)
        };
        if source.len() > MAX_LENGTH {
            return Err(unsupported(&format!("more than {MAX_LENGTH} bytes")));
        }
        let source = to_rust(source);
        let ast = ast::parse::ParserBuilder::new()
            .nest_limit(MAX_NESTING)
            .build()
            .parse(&source);
        let ast = ast.map_err(|error| match error.kind() {
            ast::ErrorKind::UnsupportedLookAround => unsupported("look-around"),
            ast::ErrorKind::UnsupportedBackreference => unsupported("a backreference"),
            ast::ErrorKind::FlagUnrecognized | ast::ErrorKind::GroupNameDuplicate { .. } => {
                unsupported("a group of a kind that needs backtracking")
            }
            ast::ErrorKind::NestLimitExceeded(_) => unsupported("too many nested groups"),
            kind => invalid(kind),
        })?;
        if let Some(what) = find_difference(&ast) {
            return Err(unsupported(what));
        }
        let hir = TranslatorBuilder::new()
            .dot_matches_new_line(true)
            .build()
            .translate(&source, &ast);
        let hir = hir.map_err(|error| invalid(error.kind()))?;
        Self::from_hir(&hir).map_err(|error| match error.size_limit() {
            Some(_) => unsupported("too many states"),
            None => invalid(&error),
        })
    }

    fn from_hir(hir: &Hir) -> Result<Self, BuildError> {
        let config = Config::new()
            .nfa_size_limit(Some(MAX_AUTOMATON))
            .onepass_size_limit(Some(MAX_AUTOMATON))
            .utf8_empty(true);
        let mut builder = Regex::builder();
        builder.configure(config);
        let at_end = Hir::concat(vec![beginning_of(hir), Hir::look(Look::End)]);
        Ok(Self {
            complete: builder.build_from_hir(hir)?,
            beginning: builder.build_from_hir(&at_end)?,
            is_literal: false,
            can_extend: false,
        })
    }

    /// Returns the names of the groups.
    pub fn group_names(&self) -> impl Iterator<Item = &str> {
        self.complete
            .group_info()
            .pattern_names(regex_automata::PatternID::ZERO)
            .flatten()
    }

    /// Returns the first match that begins at or after a byte.
    pub fn find(&self, text: &str, from: usize, meter: &mut Meter<'_>) -> Result<Option<Match>> {
        self.find_in(Input::new(text).range(from..), meter)
    }

    /// Returns the match that begins at a byte.
    pub fn find_at(&self, text: &str, start: usize, meter: &mut Meter<'_>) -> Result<Option<Match>> {
        self.find_in(Input::new(text).range(start..).anchored(Anchored::Yes), meter)
    }

    fn find_in(&self, input: Input<'_>, meter: &mut Meter<'_>) -> Result<Option<Match>> {
        let Some(found) = self.complete.search_half(&input) else {
            meter.charge_bytes(input.get_span().len())?;
            return Ok(None);
        };
        meter.charge_bytes(found.offset().saturating_sub(input.start()))?;
        let mut captures = self.complete.create_captures();
        self.complete.search_captures(&input, &mut captures);
        Ok(captures.get_match().map(|found| Match {
            bytes: found.range(),
            groups: self.groups(input.haystack(), &captures),
        }))
    }

    fn groups(&self, text: &[u8], captures: &Captures) -> Vec<(String, String)> {
        let groups = self.group_names().filter_map(|name| {
            let bytes = text.get(captures.get_group_by_name(name)?.range())?;
            Some((name.to_owned(), String::from_utf8_lossy(bytes).into_owned()))
        });
        groups.collect()
    }

    /// Returns the byte from which on the end of a text can be the beginning of a match, at most the length of the text.
    pub fn find_beginning(&self, text: &str, from: usize, meter: &mut Meter<'_>) -> Result<usize> {
        meter.charge_bytes(text.len().saturating_sub(from))?;
        let found = self.beginning.search(&Input::new(text).range(from..));
        Ok(found.map_or(text.len(), |found| found.start()))
    }

    /// Returns whether more text can change a match. transformers 5.24.0 `response_parser.py`, `_can_grow`.
    pub fn can_grow(&self, text: &mut String, found: &Match, meter: &mut Meter<'_>) -> Result<bool> {
        if found.bytes.end == text.len() {
            return Ok(found.bytes.is_empty() || !self.is_literal || self.can_extend);
        }
        if self.is_literal {
            return Ok(false);
        }
        text.push('\0');
        let extended = self.find_at(text, found.bytes.start, meter);
        text.pop();
        Ok(extended?.as_ref() != Some(found))
    }
}

/// Returns the expression whose matches are the beginnings of the matches of an expression, also the empty one. Assertions count as
/// fulfilled.
fn beginning_of(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Hir::empty(),
        HirKind::Literal(literal) => {
            let chars = std::str::from_utf8(&literal.0).unwrap_or_default().chars();
            chars.rev().fold(Hir::empty(), |rest, char| {
                let mut buffer = [0; 4];
                optional(Hir::concat(vec![
                    Hir::literal(char.encode_utf8(&mut buffer).as_bytes()),
                    rest,
                ]))
            })
        }
        HirKind::Class(Class::Unicode(class)) => optional(Hir::class(Class::Unicode(class.clone()))),
        HirKind::Class(Class::Bytes(class)) => optional(Hir::class(Class::Bytes(class.clone()))),
        HirKind::Capture(capture) => beginning_of(&capture.sub),
        HirKind::Alternation(items) => Hir::alternation(items.iter().map(beginning_of).collect()),
        HirKind::Concat(items) => items.iter().rev().fold(Hir::empty(), |rest, item| {
            let through = Hir::concat(vec![without_groups(item), rest]);
            Hir::alternation(vec![through, beginning_of(item)])
        }),
        HirKind::Repetition(repetition) => {
            let before = Repetition {
                min: 0,
                max: repetition.max.map(|max| max.saturating_sub(1)),
                greedy: true,
                sub: Box::new(without_groups(&repetition.sub)),
            };
            match repetition.max {
                Some(0) => Hir::empty(),
                _ => Hir::concat(vec![Hir::repetition(before), beginning_of(&repetition.sub)]),
            }
        }
    }
}

/// Returns an expression or the empty one.
fn optional(hir: Hir) -> Hir {
    Hir::alternation(vec![hir, Hir::empty()])
}

/// Returns an expression without its groups and assertions.
fn without_groups(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Capture(capture) => without_groups(&capture.sub),
        HirKind::Look(_) => Hir::empty(),
        HirKind::Concat(items) => Hir::concat(items.iter().map(without_groups).collect()),
        HirKind::Alternation(items) => Hir::alternation(items.iter().map(without_groups).collect()),
        HirKind::Repetition(repetition) => Hir::repetition(repetition.with(without_groups(&repetition.sub))),
        _ => hir.clone(),
    }
}

/// Writes what Python reads in another way than Rust: a brace that begins no repetition is itself, `\<` and `\>` are brackets, and `\Z` is the
/// end of the text.
fn to_rust(source: &str) -> String {
    let mut written = String::with_capacity(source.len());
    let mut chars = source.char_indices();
    let mut is_class = false;
    while let Some((index, char)) = chars.next() {
        match char {
            '\\' => match chars.next() {
                Some((_, bracket @ ('<' | '>'))) => written.push(bracket),
                Some((_, 'Z')) if !is_class => written.push_str("\\z"),
                Some((_, next)) => written.extend(['\\', next]),
                None => written.push('\\'),
            },
            '{' if !is_class && !begins_repetition(source.get(index.saturating_add(1)..).unwrap_or_default()) => {
                written.push_str("\\{")
            }
            _ => {
                is_class = match char {
                    '[' => true,
                    // A bracket at the start of a class is one of its characters.
                    ']' => is_class && written.ends_with(['[', '^']),
                    _ => is_class,
                };
                written.push(char);
            }
        }
    }
    written
}

fn begins_repetition(rest: &str) -> bool {
    let Some((counts, _)) = rest.split_once('}') else {
        return false;
    };
    let (min, max) = counts.split_once(',').unwrap_or((counts, counts));
    let is_number = |count: &str| count.bytes().all(|byte| byte.is_ascii_digit());
    !counts.trim_matches(',').is_empty() && is_number(min) && is_number(max)
}

/// Returns the name of a part that Python reads in another way than Rust, if there is one.
fn find_difference(ast: &Ast) -> Option<&'static str> {
    struct Visitor(Option<&'static str>);
    impl ast::Visitor for Visitor {
        type Output = Option<&'static str>;
        type Err = ();

        fn finish(self) -> Result<Self::Output, ()> {
            Ok(self.0)
        }

        fn visit_pre(&mut self, ast: &Ast) -> Result<(), ()> {
            let found = match ast {
                Ast::Flags(_) => Some("flags"),
                Ast::Assertion(assertion) => match assertion.kind {
                    ast::AssertionKind::EndLine => Some("`$`, for which `\\Z` can stand"),
                    _ => None,
                },
                Ast::Repetition(repetition) if matches!(*repetition.ast, Ast::Repetition(_)) => Some("a possessive repetition"),
                Ast::Group(group) if group.flags().is_some_and(|flags| !flags.items.is_empty()) => Some("flags"),
                _ => None,
            };
            self.0 = self.0.or(found);
            Ok(())
        }

        fn visit_class_set_item_pre(&mut self, item: &ast::ClassSetItem) -> Result<(), ()> {
            if matches!(item, ast::ClassSetItem::Bracketed(_) | ast::ClassSetItem::Ascii(_)) {
                self.0 = self.0.or(Some("a class within a class"));
            }
            Ok(())
        }

        fn visit_class_set_binary_op_pre(&mut self, _: &ast::ClassSetBinaryOp) -> Result<(), ()> {
            self.0 = self.0.or(Some("an operator of sets"));
            Ok(())
        }
    }
    ast::visit(ast, Visitor(None)).unwrap_or_default()
}
