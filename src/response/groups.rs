//! Finds the groups of a match whose place is known.

use std::ops::Range;

use regex_automata::nfa::thompson::NFA;
use regex_automata::{Anchored, Input, meta};
use regex_syntax::hir::{Dot, Hir, HirKind};

use super::automaton::Automaton;
use super::machine::MAX_NFA;
use crate::error::Result;
use crate::meter::Meter;

/// The maximum size of the memory in which the groups of a match are found, in bytes.
const MAX_GROUPS: usize = 4 << 20;

/// The number of slots of groups, in all states of an NFA, whose simulation for one byte costs one step.
const SLOTS_PER_STEP: usize = 64;

/// Finds the groups of a match whose place is known. Each state is visited at each byte at most once.
#[derive(Clone, Debug)]
pub struct Groups {
    regex: meta::Regex,
    /// The name of each group, and the index of the slot for its start, which is before that for its end.
    names: Vec<(String, usize)>,
    /// The number of steps that a byte costs.
    steps: usize,
}

/// The name and the byte range of each group that took part in a match.
pub type Places<'g> = Vec<(&'g str, Range<usize>)>;

impl Groups {
    /// Returns what finds the groups of an expression, or `None` if no group has a name.
    pub fn new(hir: &Hir, nfa: &NFA) -> Result<Option<Self>, String> {
        let info = nfa.group_info();
        let names = info
            .all_names()
            .filter_map(|(_, index, name)| Some((name?.to_owned(), 2 * index)));
        let names: Vec<_> = names.collect();
        if names.is_empty() {
            return Ok(None);
        }
        let slots = nfa.states().len().saturating_mul(info.slot_len());
        if slots.saturating_mul(2 * size_of::<usize>()) > MAX_GROUPS {
            return Err("the groups of all states take too much memory".to_owned());
        }
        let config = meta::Config::new()
            .hybrid(false)
            .auto_prefilter(false)
            .nfa_size_limit(Some(MAX_NFA));
        let regex = meta::Builder::new().configure(config).build_from_hir(hir);
        let slots = info.slot_len().saturating_add(SLOTS_PER_STEP / 8);
        Ok(Some(Self {
            regex: regex.map_err(|error| error.to_string())?,
            names,
            steps: nfa.states().len().saturating_mul(slots).div_ceil(SLOTS_PER_STEP),
        }))
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|(name, _)| name.as_str())
    }

    /// Returns the groups that took part in a match.
    pub fn find(&self, text: &str, found: &Range<usize>, meter: &mut Meter<'_>) -> Result<Places<'_>> {
        meter.charge(self.steps.saturating_mul(found.len().saturating_add(1)) as u64)?;
        let mut slots = vec![None; self.regex.group_info().slot_len()];
        let input = Input::new(text).range(found.clone()).anchored(Anchored::Yes);
        self.regex.search_slots(&input, &mut slots);
        let offset = |slot: usize| Some(slots.get(slot).copied()??.get());
        let names = self.names.iter();
        let places = names.filter_map(|(name, slot)| Some((name.as_str(), offset(*slot)?..offset(slot + 1)?)));
        Ok(places.collect())
    }
}

/// An expression with a group of any text, as short as possible: `<a=(?P<key>\w+)>(?P<value>.*?)</a>`. The text of this group needs no search
/// for groups.
///
/// A match prefers what its head prefers, then a short value, then what its tail prefers. So if the tail is found anywhere after the match that
/// the head prefers, then this is the head of the whole match, and the first place of the tail is that of its tail.
#[derive(Clone, Debug)]
pub struct Split {
    head: Automaton,
    name: String,
    tail: Automaton,
}

impl Split {
    /// Splits an expression at the last such group.
    pub fn new(hir: &Hir) -> Result<Option<Self>, String> {
        let HirKind::Concat(parts) = hir.kind() else { return Ok(None) };
        let Some((at, name)) = (0..).zip(parts).filter_map(|(at, part)| Some((at, any_text(part)?))).last() else {
            return Ok(None);
        };
        let (head, tail) = parts.split_at(at);
        let tail = tail.iter().skip(1).cloned();
        Ok(Some(Self {
            head: Automaton::compile(&Hir::concat(head.to_vec()), |_| Hir::empty())?,
            name: name.to_owned(),
            tail: Automaton::compile(&Hir::concat(tail.collect()), |_| Hir::empty())?,
        }))
    }

    /// Returns the size of the NFAs in bytes.
    pub fn memory(&self) -> usize {
        self.head.memory.saturating_add(self.tail.memory)
    }

    /// Returns the groups of a match, or `None` if the tail was not found.
    pub fn find(&self, text: &str, found: &Range<usize>, meter: &mut Meter<'_>) -> Result<Option<Places<'_>>> {
        let input = Input::new(text).range(found.clone());
        let head = self.head.find(&input.clone().anchored(Anchored::Yes), true, meter)?;
        let Some(head) = head else { return Ok(None) };
        let rest = input.range(head.end..found.end);
        let Some(tail) = self.tail.find(&rest, true, meter)? else {
            return Ok(None);
        };
        let mut groups = self.head.groups(text, &head, meter)?;
        groups.push((&self.name, head.end..tail.start));
        groups.extend(self.tail.groups(text, &tail, meter)?);
        Ok(Some(groups))
    }
}

/// Returns the name of a group of any text, as short as possible.
fn any_text(hir: &Hir) -> Option<&str> {
    let HirKind::Capture(capture) = hir.kind() else { return None };
    let HirKind::Repetition(repetition) = capture.sub.kind() else {
        return None;
    };
    let is_any = *repetition.sub == Hir::dot(Dot::AnyChar);
    let is_short = (repetition.min, repetition.max, repetition.greedy) == (0, None, false);
    capture.name.as_deref().filter(|_| is_any && is_short)
}
