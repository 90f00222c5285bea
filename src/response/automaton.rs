//! Searches for a regular expression in time that is linear in the text, whatever the expression is.
//!
//! Lazy DFAs find where a match ends, where it starts, and where the end of a text can begin one. A DFA does not fall back to a slower
//! engine where its states do not fit its memory, but gives up; then the expression is an error. The groups of a match are found by a
//! simulation of the NFA, whose time is charged before, or in parts.

use std::ops::Range;

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::Cache;
use regex_automata::nfa::thompson::NFA;
use regex_automata::util::prefilter::Prefilter;
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::hir::Hir;

use super::groups::{Groups, Places, Split};
use super::machine::{Machine, compile, too_many_states};
use crate::error::{ErrorKind, Result};
use crate::meter::Meter;

/// The number of bytes of a match from which on its groups are found sooner in parts.
const LONG: usize = 128;

/// A compiled regular expression.
#[derive(Clone, Debug)]
pub struct Automaton {
    forward: Machine,
    backward: Machine,
    /// Matches, from the end of the text backwards, what can be the beginning of a match.
    beginning: Machine,
    prefilter: Option<Prefilter>,
    /// Whether what the prefilter finds is a match, because the expression is one of several strings.
    is_literal: bool,
    /// What finds the groups of a match. It is absent if no group has a name.
    groups: Option<Groups>,
    /// What finds them sooner in most matches.
    split: Option<Box<Split>>,
    /// The size of the NFAs in bytes.
    pub memory: usize,
}

/// A place in a text from which on a match is being read. The text may be growing.
#[derive(Debug)]
pub struct Cursor {
    cache: Cache,
    state: LazyStateID,
    pub start: usize,
    /// The offset of the byte that is read next.
    at: usize,
    /// The end of the match so far.
    end: Option<usize>,
}

/// What is known of a match that begins at a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// More text can change the match.
    Open,
    /// No more text changes the match, whose end this is. `None` if there is no match.
    Settled(Option<usize>),
}

impl Automaton {
    /// Compiles an expression, and a second one that matches each beginning of a match. The second one is made after the first one was not
    /// too large.
    ///
    /// # Errors
    /// Returns a message if an expression has too many states, or looks at words.
    pub fn new(hir: &Hir, beginning_of: impl FnOnce(&Hir) -> Hir) -> Result<Self, String> {
        let mut whole = Self::compile(hir, beginning_of)?;
        let split = Split::new(hir)?;
        whole.memory = whole.memory.saturating_add(split.as_ref().map_or(0, Split::memory));
        whole.split = split.map(Box::new);
        Ok(whole)
    }

    /// Compiles an expression without finding the groups of a match in parts.
    pub fn compile(hir: &Hir, beginning_of: impl FnOnce(&Hir) -> Hir) -> Result<Self, String> {
        let (forward, reversed) = (compile(hir, false)?, compile(hir, true)?);
        let beginning = compile(&beginning_of(hir), true)?;
        Ok(Self {
            memory: [&forward, &reversed, &beginning].map(NFA::memory_usage).iter().sum(),
            groups: Groups::new(hir, &forward)?,
            split: None,
            forward: Machine::new(forward, MatchKind::LeftmostFirst)?,
            backward: Machine::new(reversed, MatchKind::All)?,
            beginning: Machine::new(beginning, MatchKind::All)?,
            prefilter: Prefilter::from_hir_prefix(MatchKind::LeftmostFirst, hir),
            is_literal: false,
        })
    }

    /// Compiles an expression that matches any of these strings, and prefers the first.
    pub fn from_literals(literals: &[&str], beginning_of: impl FnOnce(&Hir) -> Hir) -> Result<Self, String> {
        let hir = Hir::alternation(literals.iter().map(|literal| Hir::literal(literal.as_bytes())).collect());
        let prefilter = Prefilter::new(MatchKind::LeftmostFirst, literals);
        let automaton = Self::compile(&hir, beginning_of)?;
        Ok(match prefilter {
            Some(_) => Self {
                prefilter,
                is_literal: true,
                ..automaton
            },
            None => automaton,
        })
    }

    /// Returns the byte range of the first match in an input. If the text is not whole, a match is found that ends before its last byte.
    pub fn find(&self, input: &Input<'_>, is_whole: bool, meter: &mut Meter<'_>) -> Result<Option<Range<usize>>> {
        let is_anchored = input.get_anchored().is_anchored();
        let prefilter = self.prefilter.as_ref().filter(|_| !is_anchored);
        if let Some(literals) = prefilter.filter(|_| self.is_literal) {
            let found = literals.find(input.haystack(), input.get_span());
            meter.charge_part(found.map_or(input.end(), |found| found.end).saturating_sub(input.start()))?;
            let found = found.filter(|found| is_whole || found.end < input.end());
            return Ok(found.map(|found| found.range()));
        }
        let Some(end) = self.forward.find_end(input, prefilter, is_whole, meter)? else {
            return Ok(None);
        };
        if is_anchored {
            return Ok(Some(input.start()..end));
        }
        let start = self.backward.find_start(&input.clone().range(input.start()..end), meter)?;
        Ok(Some(start.unwrap_or(end)..end))
    }

    /// Returns the offset from which on the end of the text can be the beginning of a match, or the length of the text.
    pub fn find_beginning(&self, text: &str, from: usize, meter: &mut Meter<'_>) -> Result<usize> {
        let start = self.beginning.find_start(&Input::new(text).range(from..), meter)?;
        Ok(start.unwrap_or(text.len()))
    }

    /// Puts a cursor at the start of a match. A cursor of another place is used again, because it has memory.
    pub fn begin(&self, text: &str, start: usize, other: Option<Cursor>) -> Result<Cursor> {
        let machine = &self.forward;
        let mut cache = match other {
            Some(other) if other.cache.clear_count() == 0 => other.cache,
            _ => machine.dfa.create_cache(),
        };
        let input = Input::new(text).range(start..).anchored(Anchored::Yes);
        Ok(Cursor {
            state: machine.start(&mut cache, &input, false)?,
            cache,
            start,
            at: start,
            end: None,
        })
    }

    /// Reads a match from a cursor up to the end of the text, which more text can follow unless it is whole.
    pub fn read(&self, cursor: &mut Cursor, text: &str, is_whole: bool, meter: &mut Meter<'_>) -> Result<Reading> {
        let machine = &self.forward;
        let Cursor {
            cache, state, at, end, ..
        } = cursor;
        let bytes = text.as_bytes().get(*at..).unwrap_or_default();
        let last = machine.follow(cache, *state, bytes.iter(), meter, |state, index| {
            if state.is_match() {
                *end = Some(*at + index);
            }
            !state.is_dead()
        })?;
        let Some(last) = last else {
            return Ok(Reading::Settled(*end));
        };
        (*state, *at) = (last, text.len());
        let clears = cache.clear_count();
        let is_match_at_end = machine.end(cache, &Input::new(text), last, false)?.is_match();
        if is_whole {
            return Ok(Reading::Settled(if is_match_at_end { Some(text.len()) } else { *end }));
        }
        let mut is_open = end.is_none() || is_match_at_end;
        let mut bytes = 0..=u8::MAX;
        while let Some(byte) = bytes.next().filter(|_| !is_open && cache.clear_count() == clears) {
            is_open = !machine
                .dfa
                .next_state(cache, last, byte)
                .map_err(|_| too_many_states())?
                .is_dead();
        }
        if cache.clear_count() == clears {
            return Ok(if is_open { Reading::Open } else { Reading::Settled(*end) });
        }
        // The state is no longer in the memory.
        *cursor = self.begin(text, cursor.start, None)?;
        Ok(Reading::Open)
    }

    /// Returns the names of the groups.
    pub fn group_names(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().flat_map(Groups::names)
    }

    /// Returns the name and the byte range of each group of a match, without groups that took no part.
    pub fn groups(&self, text: &str, found: &Range<usize>, meter: &mut Meter<'_>) -> Result<Places<'_>> {
        let in_parts = match &self.split {
            Some(split) if found.len() >= LONG => split.find(text, found, meter),
            _ => Ok(None),
        };
        match (in_parts, &self.groups) {
            (Ok(Some(groups)), _) => Ok(groups),
            (Err(error), _) if error.kind() != ErrorKind::Unsupported => Err(error),
            (_, Some(groups)) => groups.find(text, found, meter),
            (_, None) => Ok(Vec::new()),
        }
    }
}
