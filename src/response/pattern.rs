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

use regex_syntax::ast::{self, Ast};
use regex_syntax::hir::translate::TranslatorBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};

use super::automaton::Automaton;
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
    complete: Automaton,
    /// A second expression, which matches the beginning of a match that reaches the end of the text.
    beginning: Automaton,
    /// The literal strings, if the anchor is no regular expression.
    literals: Option<Vec<String>>,
}

/// An expression of this crate, which is compiled when it is first used.
pub type Constant = LazyLock<Option<Pattern>>;

/// A match, with the text of each named group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    pub bytes: Range<usize>,
    /// The end of the text that decides about the match.
    reach: usize,
    /// The name and the text of each group that took part, in the order of the groups.
    pub groups: Vec<(String, String)>,
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
        let hir = Hir::alternation(literals.iter().map(|literal| Hir::literal(literal.as_bytes())).collect());
        let pattern = Self::from_hir(&hir).map_err(|message| Error::new(ErrorKind::Unsupported, message))?;
        Ok(Self {
            literals: Some(literals.into_iter().map(str::to_owned).collect()),
            ..pattern
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
        Self::from_hir(&hir).map_err(|_| unsupported("too many states"))
    }

    /// Compiles an expression of this crate, which is valid.
    pub fn constant(source: &str) -> Option<Self> {
        Self::from_regex(source, "", "").ok()
    }

    fn from_hir(hir: &Hir) -> Result<Self, String> {
        let at_end = Hir::concat(vec![beginning_of(hir), Hir::look(Look::End)]);
        Ok(Self {
            complete: Automaton::new(hir)?,
            beginning: Automaton::new(&at_end)?,
            literals: None,
        })
    }

    /// Returns the size of the automatons in bytes.
    pub fn memory(&self) -> usize {
        self.complete.memory.saturating_add(self.beginning.memory)
    }

    /// Returns the names of the groups.
    pub fn group_names(&self) -> impl Iterator<Item = &str> {
        self.complete.group_names().filter(|name| !name.starts_with(END))
    }

    /// Returns the first match that begins at or after a byte.
    pub fn find(&self, text: &str, from: usize, meter: &mut Meter<'_>) -> Result<Option<Match>> {
        self.find_from(text, from, false, meter)
    }

    /// Returns the match that begins at a byte.
    pub fn find_at(&self, text: &str, start: usize, meter: &mut Meter<'_>) -> Result<Option<Match>> {
        self.find_from(text, start, true, meter)
    }

    fn find_from(&self, text: &str, from: usize, is_anchored: bool, meter: &mut Meter<'_>) -> Result<Option<Match>> {
        let Some(mut bytes) = self.complete.find(text, from, is_anchored, meter)? else {
            return Ok(None);
        };
        let (ends, groups): (Vec<_>, Vec<_>) = self
            .complete
            .groups(text, &bytes, meter)?
            .into_iter()
            .partition(|(name, _)| name.starts_with(END));
        let reach = bytes.end;
        bytes.end = ends.iter().map(|(_, end)| end.start).min().unwrap_or(bytes.end);
        let read = |(name, range): (&str, Range<usize>)| {
            // A group around a mark goes on after the end of the match.
            let end = if range.start < bytes.end {
                range.end.min(bytes.end)
            } else {
                range.end
            };
            (name.to_owned(), text.get(range.start..end).unwrap_or_default().to_owned())
        };
        let groups = groups.into_iter().map(read).collect();
        Ok(Some(Match { bytes, reach, groups }))
    }

    /// Returns the offset from which on the end of the text can be the beginning of a match, or the length of the text.
    pub fn find_beginning(&self, text: &str, from: usize, meter: &mut Meter<'_>) -> Result<usize> {
        let found = self.beginning.find(text, from, false, meter)?;
        Ok(found.map_or(text.len(), |found| found.start))
    }

    /// Returns whether more text can change a match.
    ///
    /// The rule is that of transformers 5.24.0 `response_parser.py`, `_can_grow`, which tries one more character. Where it takes the first
    /// of two strings, because the second one is not complete yet, this waits, so that the message does not depend on how the text is cut.
    pub fn can_grow(&self, text: &str, found: &Match, meter: &mut Meter<'_>) -> Result<bool> {
        let Some(literals) = &self.literals else {
            return self.complete.can_grow(text, &(found.bytes.start..found.reach), meter);
        };
        let rest = text.get(found.bytes.start..).unwrap_or_default();
        Ok(literals
            .iter()
            .any(|literal| literal.len() > rest.len() && literal.starts_with(rest)))
    }
}

/// Returns an expression that matches each beginning of a match of the given one, also the empty beginning. Assertions count as fulfilled.
fn beginning_of(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Hir::empty(),
        HirKind::Literal(literal) => beginning_of_text(std::str::from_utf8(&literal.0).unwrap_or_default()),
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

/// Returns an expression that matches each beginning of a string. It is made of halves, so that it is not nested deeply.
fn beginning_of_text(text: &str) -> Hir {
    let middle = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
    match text.split_at_checked(middle) {
        Some((left, right)) if !left.is_empty() => {
            let through = Hir::concat(vec![Hir::literal(left.as_bytes()), beginning_of_text(right)]);
            Hir::alternation(vec![through, beginning_of_text(left)])
        }
        _ => optional(Hir::literal(text.as_bytes())),
    }
}

/// Returns an expression that matches each beginning of a sequence, made of halves as in [`beginning_of_text`].
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
            '(' if source.get(index..).is_some_and(|rest| rest.starts_with("(?=")) && !is_class => {
                chars.next();
                chars.next();
                written.push_str(&mark());
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
