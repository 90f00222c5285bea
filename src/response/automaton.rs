//! Searches for a regular expression in time that is linear in the text, whatever the expression is.
//!
//! A lazy DFA finds a match. It does not fall back to a slower engine where its states do not fit its memory, but gives up; then the
//! expression is an error. The groups of a match are found by a simulation of the NFA, whose time is charged before.

use std::ops::Range;
use std::sync::Arc;

use regex_automata::hybrid::dfa::DFA;
use regex_automata::hybrid::regex::{Cache, Regex};
use regex_automata::nfa::thompson::pikevm::PikeVM;
use regex_automata::nfa::thompson::{Compiler, Config, NFA, WhichCaptures};
use regex_automata::util::pool::Pool;
use regex_automata::util::prefilter::Prefilter;
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::hir::Hir;

use crate::error::{Error, ErrorKind, Result};
use crate::meter::Meter;

/// The maximum size of an NFA in bytes.
const MAX_NFA: usize = 2 << 20;

/// The number of bytes of memory for the states of a DFA. The memory is cleared when it is full.
const CACHE: usize = 1 << 20;

/// How often a DFA may clear its memory after only a few bytes of the text. Then it gives up.
const CLEARS: usize = 4;

/// The number of states of an NFA whose simulation for one byte costs one step.
const STATES_PER_STEP: usize = 8;

type Caches = Pool<Cache, Box<dyn Fn() -> Cache + Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>>;

/// A compiled regular expression.
#[derive(Clone, Debug)]
pub struct Automaton {
    regex: Arc<Regex>,
    caches: Arc<Caches>,
    /// The simulation that finds the groups of a match. It is absent if no group has a name.
    groups: Option<Arc<PikeVM>>,
    /// The size of the NFAs in bytes.
    pub memory: usize,
}

impl Automaton {
    /// Compiles an expression.
    ///
    /// # Errors
    /// Returns a message if the expression has too many states, or looks at words.
    pub fn new(hir: &Hir) -> Result<Self, String> {
        let message = |error: &dyn std::error::Error| error.to_string();
        let compile = |config: Config| {
            let config = config.nfa_size_limit(Some(MAX_NFA));
            Compiler::new()
                .configure(config)
                .build_from_hir(hir)
                .map_err(|error| message(&error))
        };
        let build = |nfa: NFA, kind: MatchKind| {
            let config = DFA::config()
                .match_kind(kind)
                .cache_capacity(CACHE)
                .minimum_cache_clear_count(Some(CLEARS))
                .minimum_bytes_per_state(Some(4));
            let config = match kind {
                MatchKind::LeftmostFirst => config.prefilter(Prefilter::from_hir_prefix(kind, hir)),
                _ => config,
            };
            DFA::builder()
                .configure(config)
                .build_from_nfa(nfa)
                .map_err(|error| message(&error))
        };
        let forward = compile(Config::new())?;
        let backward = compile(Config::new().reverse(true).which_captures(WhichCaptures::None))?;
        let memory = forward.memory_usage().saturating_add(backward.memory_usage());
        let has_groups = forward.group_info().all_names().any(|(_, _, name)| name.is_some());
        let groups = if has_groups {
            let groups = PikeVM::new_from_nfa(forward.clone());
            Some(Arc::new(groups.map_err(|error| message(&error))?))
        } else {
            None
        };
        let forward = build(forward, MatchKind::LeftmostFirst)?;
        let regex = Regex::builder().build_from_dfas(forward, build(backward, MatchKind::All)?);
        let regex = Arc::new(regex);
        let maker = Arc::clone(&regex);
        Ok(Self {
            regex,
            caches: Arc::new(Pool::new(Box::new(move || maker.create_cache()))),
            groups,
            memory,
        })
    }

    /// Returns the byte range of the first match that begins at or after a byte, or exactly at the byte if `is_anchored`.
    pub fn find(&self, text: &str, from: usize, is_anchored: bool, meter: &mut Meter<'_>) -> Result<Option<Range<usize>>> {
        let anchored = if is_anchored { Anchored::Yes } else { Anchored::No };
        let found = self
            .regex
            .try_search(&mut self.caches.get(), &Input::new(text).range(from..).anchored(anchored));
        let found = found.map_err(|_| too_many_states())?;
        let end = found.map_or(if is_anchored { from } else { text.len() }, |found| found.end());
        meter.charge_bytes(end.saturating_sub(from))?;
        Ok(found.map(|found| found.range()))
    }

    /// Returns whether more text can change a match: where it ends, or whether there is one.
    pub fn can_grow(&self, text: &str, found: &Range<usize>, meter: &mut Meter<'_>) -> Result<bool> {
        let dfa = self.regex.forward();
        let mut caches = self.caches.get();
        let (cache, _) = caches.as_parts_mut();
        let input = Input::new(text).range(found.start..).anchored(Anchored::Yes);
        let mut state = dfa.start_state_forward(cache, &input).map_err(|_| too_many_states())?;
        let mut end = None;
        for (index, byte) in (0..).zip(text.as_bytes().get(found.start..).unwrap_or_default()) {
            state = dfa.next_state(cache, state, *byte).map_err(|_| too_many_states())?;
            if state.is_dead() {
                return meter.charge_bytes(index).map(|()| false);
            }
            // The state says that there is a match one byte late.
            if state.is_match() {
                end = Some(found.start.saturating_add(index));
            }
        }
        meter.charge_bytes(text.len().saturating_sub(found.start))?;
        // The match may depend on the end of the text.
        let mut is_settled = end == Some(found.end);
        for byte in 0..=u8::MAX {
            is_settled &= dfa.next_state(cache, state, byte).map_err(|_| too_many_states())?.is_dead();
        }
        Ok(!is_settled)
    }

    /// Returns the names of the groups.
    pub fn group_names(&self) -> impl Iterator<Item = &str> {
        let names = self
            .groups
            .iter()
            .flat_map(|groups| groups.get_nfa().group_info().all_names());
        names.filter_map(|(_, _, name)| name)
    }

    /// Returns the name and the byte range of each group of a match, without groups that took no part.
    pub fn groups(&self, text: &str, found: &Range<usize>, meter: &mut Meter<'_>) -> Result<Vec<(&str, Range<usize>)>> {
        let Some(groups) = &self.groups else { return Ok(Vec::new()) };
        let states = groups.get_nfa().states().len().div_ceil(STATES_PER_STEP);
        meter.charge(states.saturating_mul(found.len().saturating_add(1)) as u64)?;
        let mut captures = groups.create_captures();
        let input = Input::new(text).range(found.clone()).anchored(Anchored::Yes);
        groups.captures(&mut groups.create_cache(), input, &mut captures);
        let named = self.group_names();
        Ok(named
            .filter_map(|name| Some((name, captures.get_group_by_name(name)?.range())))
            .collect())
    }
}

#[cold]
fn too_many_states() -> Error {
    let message = "a regex of the response template has too many states for this text";
    Error::new(ErrorKind::Unsupported, message)
}
