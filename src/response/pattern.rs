//! The anchors of a description: literal strings and regular expressions. An anchor also says whether the end of the text can be the start
//! of a match.
//!
//! ```text
//! \s*<tool_call>   in "x  <tool_call>{"   ->   a match at 1..14
//! \s*<tool_call>   in "x  <tool"          ->   a match can begin at 1
//! ```
//!
//! A description has the syntax of Python's module `regex`, with its flag `DOTALL`. Of this, the crate `regex-automata` can do what needs
//! no backtracking. Look-around, also at words, backreferences and what Rust's syntax reads in another way are refused by name. A look ahead
//! at the end of a pattern is possible, because it does not change what is before it: the automaton matches what it looks at too, and a
//! group without text marks where the match ends.
//!
//! ```text
//! <end>|$        ->   <end>|(?P<end.0>)(?:\n?\z)
//! a(?=b)         ->   a(?P<end.0>)(?:b)
//! ```

use std::ops::Range;
use std::sync::LazyLock;

use regex_automata::{Anchored, Input};
use regex_syntax::ast::{self, Ast};
use regex_syntax::hir::translate::TranslatorBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

use super::automaton::{Automaton, Cursor, Reading};
use crate::error::{Error, ErrorKind, Result};
use crate::meter::Meter;

/// The maximum length of a pattern, or of all literal strings of an anchor, in bytes.
const MAX_LENGTH: usize = 1 << 12;

/// The maximum number of groups and repetitions that enclose one another in a pattern.
const MAX_NESTING: u32 = 64;

/// The start of the name of a group that marks the end of a match. A name in Python has no dot.
const END: &str = "end.";

/// A compiled anchor.
#[derive(Clone, Debug)]
pub struct Pattern {
    automaton: Automaton,
    /// The literal strings, if the anchor is no regular expression.
    literals: Option<Vec<String>>,
}

/// An expression of this crate, which is compiled when it is first used.
pub type Constant = LazyLock<Option<Pattern>>;

/// A match, with the place of each named group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match<'p> {
    pub bytes: Range<usize>,
    /// The name and the place of each group that took part, in the order of the groups.
    pub groups: Vec<(&'p str, Range<usize>)>,
}

impl<'p> Match<'p> {
    /// Returns the name and the text of each group.
    pub fn texts<'t>(&self, text: &'t str) -> impl Iterator<Item = (&'p str, &'t str)> {
        let groups = self.groups.iter();
        groups.map(|(name, range)| (*name, text.get(range.clone()).unwrap_or_default()))
    }
}

impl Pattern {
    /// Compiles a list of literal strings, of which any matches. The longest of those that match at a place is preferred.
    pub fn from_literals(mut literals: Vec<&str>) -> Result<Self> {
        if literals.iter().map(|literal| literal.len()).sum::<usize>() > MAX_LENGTH {
            let message = format!("the literal strings of an anchor have more than {MAX_LENGTH} bytes");
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        // The reference sorts by code points. The sort is stable in both.
        literals.sort_by_key(|literal| std::cmp::Reverse(literal.chars().count()));
        let automaton = Automaton::from_literals(&literals, beginning_of);
        Ok(Self {
            automaton: automaton.map_err(|message| Error::new(ErrorKind::Unsupported, message))?,
            literals: Some(literals.into_iter().map(str::to_owned).collect()),
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
        let (source, ends) = to_rust(source);
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
        if count_ends(&ast) != ends {
            return Err(unsupported("look-around or `$` before its end"));
        }
        let hir = TranslatorBuilder::new()
            .dot_matches_new_line(true)
            .build()
            .translate(&source, &ast);
        let hir = hir.map_err(|error| invalid(error.kind()))?;
        Ok(Self {
            automaton: Automaton::new(&hir, beginning_of).map_err(|_| unsupported("too many states"))?,
            literals: None,
        })
    }

    /// Compiles an expression of this crate, which is valid.
    pub fn constant(source: &str) -> Option<Self> {
        Self::from_regex(source, "", "").ok()
    }

    /// Returns the size of the automatons in bytes.
    pub fn memory(&self) -> usize {
        self.automaton.memory
    }

    /// Returns the names of the groups.
    pub fn group_names(&self) -> impl Iterator<Item = &str> {
        self.automaton.group_names().filter(|name| !name.starts_with(END))
    }

    /// Returns the first match that begins at or after a byte.
    pub fn find(&self, text: &str, from: usize, meter: &mut Meter<'_>) -> Result<Option<Match<'_>>> {
        let found = self.automaton.find(&Input::new(text).range(from..), true, meter)?;
        found.map(|found| self.make_match(text, found, meter)).transpose()
    }

    /// Returns the match that begins at a byte.
    pub fn find_at(&self, text: &str, start: usize, meter: &mut Meter<'_>) -> Result<Option<Match<'_>>> {
        let input = Input::new(text).range(start..).anchored(Anchored::Yes);
        let found = self.automaton.find(&input, true, meter)?;
        found.map(|found| self.make_match(text, found, meter)).transpose()
    }

    /// Returns the match that the automaton found, whose end a group can mark.
    fn make_match(&self, text: &str, mut bytes: Range<usize>, meter: &mut Meter<'_>) -> Result<Match<'_>> {
        let (ends, mut groups): (Vec<_>, Vec<_>) = self
            .automaton
            .groups(text, &bytes, meter)?
            .into_iter()
            .partition(|(name, _)| name.starts_with(END));
        bytes.end = ends.iter().map(|(_, end)| end.start).min().unwrap_or(bytes.end);
        for (_, range) in &mut groups {
            // A group around a mark goes on after the end of the match.
            if range.start < bytes.end {
                range.end = range.end.min(bytes.end);
            }
        }
        Ok(Match { bytes, groups })
    }
}

/// Looks for the first match of an anchor in a text that grows. What was read once is not read again.
#[derive(Debug, Default)]
pub struct Search<'p> {
    /// The offset before which no match begins but the one that is being read.
    from: usize,
    /// The cursor at the first place where a match can begin.
    cursor: Option<Cursor>,
    is_reading: bool,
    found: Option<Match<'p>>,
}

/// What a search has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// The byte range of the first match, which no more text changes.
    Match(Range<usize>),
    /// No match begins before this offset.
    After(usize),
}

impl<'p> Search<'p> {
    /// Looks for the first match that begins at or after a byte. More text can follow unless the text is whole.
    pub fn advance(&mut self, pattern: &'p Pattern, text: &str, at: usize, is_whole: bool, meter: &mut Meter<'_>) -> Result<Found> {
        let automaton = &pattern.automaton;
        self.found.take_if(|found| found.bytes.start < at);
        self.is_reading &= self.cursor.as_ref().is_some_and(|cursor| cursor.start >= at);
        self.from = self.from.max(at);
        loop {
            if let Some(found) = &self.found {
                return Ok(Found::Match(found.bytes.clone()));
            }
            if self.is_reading {
                let Some(cursor) = &mut self.cursor else {
                    return Err(Error::internal("a search has no cursor"));
                };
                let start = cursor.start;
                let end = match automaton.read(cursor, text, is_whole, meter)? {
                    Reading::Settled(end) => end,
                    Reading::Open => match pattern.find_literal(text, start) {
                        None => return Ok(Found::After(start)),
                        end => end,
                    },
                };
                self.is_reading = false;
                self.found = end.map(|end| pattern.make_match(text, start..end, meter)).transpose()?;
                if self.found.is_none() {
                    let char = text.get(start..).and_then(|rest| rest.chars().next());
                    self.from = self.from.max(start.saturating_add(char.map_or(1, char::len_utf8)));
                }
                continue;
            }
            if self.from > text.len() {
                return Ok(Found::After(text.len()));
            }
            let first = automaton.find(&Input::new(text).range(self.from..), is_whole, meter)?;
            if is_whole {
                let Some(first) = first else {
                    self.from = text.len().saturating_add(1);
                    return Ok(Found::After(text.len()));
                };
                self.found = Some(pattern.make_match(text, first, meter)?);
                continue;
            }
            let begin = automaton.find_beginning(text, self.from, meter)?;
            let start = first.map_or(begin, |first| first.start.min(begin));
            self.from = start;
            if start >= text.len() {
                return Ok(Found::After(text.len()));
            }
            self.cursor = Some(automaton.begin(text, start, self.cursor.take())?);
            self.is_reading = true;
        }
    }

    /// Returns the match that was found, and forgets it.
    pub fn take(&mut self) -> Option<Match<'p>> {
        self.found.take()
    }
}

impl Pattern {
    /// Returns the end of the literal string at a place near the end of a text that may be growing, unless a longer one can follow.
    ///
    /// The rule is that of transformers 5.24.0 `response_parser.py`, `_can_grow`, which tries one more character. Where it takes the first
    /// of two strings, because the second one is not complete yet, this waits, so that the message does not depend on how the text is cut.
    fn find_literal(&self, text: &str, start: usize) -> Option<usize> {
        let literals = self.literals.as_ref()?;
        let rest = text.get(start..)?;
        let can_grow = |literal: &String| literal.len() > rest.len() && literal.starts_with(rest);
        if literals.iter().any(can_grow) {
            return None;
        }
        let found = literals.iter().find(|literal| rest.starts_with(literal.as_str()))?;
        Some(start.saturating_add(found.len()))
    }
}

/// Returns an expression that matches each beginning of a match of the given one, also the empty beginning. Assertions count as fulfilled.
fn beginning_of(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Hir::empty(),
        HirKind::Literal(literal) => {
            let chars = std::str::from_utf8(&literal.0).unwrap_or_default().chars();
            let chars: Vec<Hir> = chars.map(|char| Hir::literal(char.to_string().into_bytes())).collect();
            match chars.as_slice() {
                [char] => optional(char.clone()),
                chars => beginning_of_all(chars),
            }
        }
        HirKind::Class(Class::Unicode(class)) => optional(Hir::class(Class::Unicode(class.clone()))),
        HirKind::Class(Class::Bytes(class)) => optional(Hir::class(Class::Bytes(class.clone()))),
        HirKind::Capture(capture) => beginning_of(&capture.sub),
        HirKind::Alternation(items) => Hir::alternation(items.iter().map(beginning_of).collect()),
        HirKind::Concat(items) => beginning_of_all(items),
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

/// Returns an expression that matches each beginning of a sequence. It is made of halves, so that it is not nested deeply.
fn beginning_of_all(items: &[Hir]) -> Hir {
    match items {
        [] => Hir::empty(),
        [item] => beginning_of(item),
        items => {
            let (left, right) = items.split_at(items.len() / 2);
            let before = left.iter().map(without_groups).chain([beginning_of_all(right)]);
            Hir::alternation(vec![Hir::concat(before.collect()), beginning_of_all(left)])
        }
    }
}

/// Returns an expression that matches what the given one does, or nothing.
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

/// Rewrites for Rust what Python reads in another way: a brace that begins no repetition is itself, a repetition can lack its minimum, `\<`
/// and `\>` are brackets, `\Z` is the end of the text, and `$` also stands before a last line break. Returns the number of marks of the end
/// in it.
fn to_rust(source: &str) -> (String, usize) {
    let mut written = String::with_capacity(source.len());
    let mut ends = 0;
    let mut mark = || {
        ends += 1;
        format!("(?P<{END}{ends}>)(?:")
    };
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
            '$' if !is_class => {
                written.push_str(&mark());
                written.push_str(r"\n?\z)");
            }
            '(' if !is_class => {
                let rest = source.get(index + 1..).unwrap_or_default();
                if rest.starts_with("?=") {
                    chars.next();
                    chars.next();
                    written.push_str(&mark());
                } else {
                    // A group without a name is of no use.
                    written.push_str(if rest.starts_with('?') { "(" } else { "(?:" });
                }
            }
            '{' if !is_class => {
                let rest = source.get(index + 1..).unwrap_or_default();
                written.push_str(match begins_repetition(rest) {
                    false => "\\{",
                    // Rust wants a minimum.
                    true if rest.starts_with(',') => "{0",
                    true => "{",
                });
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
    (written, ends)
}

/// Returns the number of marks after which only what they look at is left to match.
fn count_ends(ast: &Ast) -> usize {
    let is_mark = |ast: &Ast| matches!(ast, Ast::Group(group) if matches!(&group.kind, ast::GroupKind::CaptureName { name, .. } if name.name.starts_with(END)));
    match ast {
        Ast::Concat(concat) => match concat.asts.as_slice() {
            [.., mark, last @ Ast::Group(_)] => usize::from(is_mark(mark)) + count_ends(last),
            [.., last] => count_ends(last),
            _ => 0,
        },
        Ast::Alternation(items) => items.asts.iter().map(count_ends).sum(),
        Ast::Group(group) => count_ends(&group.ast),
        _ => 0,
    }
}

fn begins_repetition(rest: &str) -> bool {
    let Some((counts, _)) = rest.split_once('}') else {
        return false;
    };
    let (min, max) = counts.split_once(',').unwrap_or((counts, counts));
    let is_number = |count: &str| count.bytes().all(|byte| byte.is_ascii_digit());
    !counts.is_empty() && is_number(min) && is_number(max)
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
                    ast::AssertionKind::StartLine | ast::AssertionKind::StartText | ast::AssertionKind::EndText => None,
                    _ => Some("an assertion about words"),
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
