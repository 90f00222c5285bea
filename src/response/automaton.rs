//! Searches for a regular expression in time that is linear in the text, whatever the expression is.
//!
//! Lazy DFAs find where a match ends, where it starts, and where the end of a text can begin one. A DFA does not fall back to a slower
//! engine where its states do not fit its memory, but gives up; then the expression is an error. The groups of a match are found by a
//! simulation of the NFA, whose time is charged before.

use std::ops::Range;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::meta;
use regex_automata::nfa::thompson::{Compiler, Config, NFA, WhichCaptures};
use regex_automata::util::pool::Pool;
use regex_automata::util::prefilter::Prefilter;
use regex_automata::{Anchored, Input, MatchKind, Span};
use regex_syntax::hir::Hir;

use crate::error::{Error, ErrorKind, Result};
use crate::meter::Meter;

/// The maximum size of an NFA in bytes.
const MAX_NFA: usize = 2 << 20;

/// The number of bytes of memory for the states of a DFA that reads forwards, and of another one. The memory is cleared when it is full.
const FORWARD: usize = 1 << 20;
const BACKWARD: usize = 512 << 10;

/// How often a DFA may clear its memory after only a few bytes of the text. Then it gives up.
const CLEARS: usize = 4;

/// The number of bytes of the text for each new state of a DFA that are too few.
const BYTES_PER_STATE: usize = 8;

/// The maximum size of the memory in which the groups of a match are found, in bytes.
const MAX_GROUPS: usize = 4 << 20;

/// The number of slots of groups, in all states of an NFA, whose simulation for one byte costs one step.
const SLOTS_PER_STEP: usize = 64;

/// The number of bytes of a text between two checks of the time, and the number of states of an NFA that may be visited meanwhile.
const STRIDE: usize = 4096;
const VISITS: usize = 256 << 10;

type Shared<T> = Pool<T, Box<dyn Fn() -> T + Send + Sync + UnwindSafe + RefUnwindSafe>>;

/// A compiled regular expression.
#[derive(Clone, Debug)]
pub struct Automaton {
    forward: Machine,
    backward: Machine,
    /// Matches, from the end of the text backwards, what can be the beginning of a match.
    beginning: Machine,
    prefilter: Option<Prefilter>,
    /// What finds the groups of a match. It is absent if no group has a name.
    groups: Option<meta::Regex>,
    /// The size of the NFAs in bytes.
    pub memory: usize,
}

/// A DFA with the memory for its states.
#[derive(Clone, Debug)]
struct Machine {
    dfa: Arc<DFA>,
    caches: Arc<Shared<Cache>>,
}

impl Machine {
    fn new(nfa: NFA, kind: MatchKind) -> Result<Self, String> {
        let is_forward = kind == MatchKind::LeftmostFirst;
        let config = DFA::config()
            .match_kind(kind)
            .cache_capacity(if is_forward { FORWARD } else { BACKWARD })
            .skip_cache_capacity_check(true)
            .minimum_cache_clear_count(Some(CLEARS))
            .minimum_bytes_per_state(Some(BYTES_PER_STATE))
            .specialize_start_states(is_forward);
        let dfa = DFA::builder().configure(config).build_from_nfa(nfa);
        let dfa = Arc::new(dfa.map_err(|error| error.to_string())?);
        let maker = Arc::clone(&dfa);
        Ok(Self {
            dfa,
            caches: Arc::new(Pool::new(Box::new(move || maker.create_cache()))),
        })
    }

    /// Calls a function with memory for the states, in which no other search has cleared anything.
    fn with_cache<T>(&self, search: impl FnOnce(&mut Cache) -> Result<T>) -> Result<T> {
        let mut cache = self.caches.get();
        if cache.clear_count() > 0 {
            self.dfa.reset_cache(&mut cache);
        }
        search(&mut cache)
    }

    fn start(&self, cache: &mut Cache, input: &Input<'_>, is_backward: bool) -> Result<LazyStateID> {
        let state = match is_backward {
            true => self.dfa.start_state_reverse(cache, input),
            false => self.dfa.start_state_forward(cache, input),
        };
        state.map_err(|_| too_many_states())
    }

    /// Follows bytes from a state on, and calls `see` with the index of each byte and the state after it if this is marked. Returns the last
    /// state, or `None` if `see` stopped.
    #[inline(always)]
    fn follow<'b>(
        &self,
        cache: &mut Cache,
        mut state: LazyStateID,
        mut bytes: impl Iterator<Item = &'b u8>,
        meter: &mut Meter<'_>,
        mut see: impl FnMut(LazyStateID, usize) -> bool,
    ) -> Result<Option<LazyStateID>> {
        let stride = (VISITS / self.dfa.get_nfa().states().len().max(1)).clamp(1, STRIDE);
        let (mut index, mut is_stopped) = (0, false);
        cache.search_start(0);
        loop {
            let (start, memory) = (index, cache.memory_usage());
            for byte in bytes.by_ref().take(stride) {
                state = self.dfa.next_state(cache, state, *byte).map_err(|_| too_many_states())?;
                index += 1;
                if state.is_tagged() && !see(state, index - 1) {
                    is_stopped = true;
                    break;
                }
            }
            cache.search_update(index);
            meter.charge_part(index - start)?;
            if is_stopped || index - start < stride {
                return Ok((!is_stopped).then_some(state));
            }
            // To make a state takes long.
            if cache.memory_usage() != memory {
                meter.check_time()?;
            }
        }
    }

    /// Returns the state after the end of an input.
    fn end(&self, cache: &mut Cache, input: &Input<'_>, state: LazyStateID, is_backward: bool) -> Result<LazyStateID> {
        let bytes = input.haystack();
        let next = match is_backward {
            true => input.start().checked_sub(1),
            false => Some(input.end()),
        };
        let state = match next.and_then(|next| bytes.get(next)) {
            Some(next) => self.dfa.next_state(cache, state, *next),
            None => self.dfa.next_eoi_state(cache, state),
        };
        state.map_err(|_| too_many_states())
    }

    /// Returns the start of the longest match that ends where the input ends.
    fn find_start(&self, input: &Input<'_>, meter: &mut Meter<'_>) -> Result<Option<usize>> {
        let input = input.clone().anchored(Anchored::Yes);
        let bytes = input.haystack().get(input.get_range()).unwrap_or_default();
        self.with_cache(|cache| {
            let state = self.start(cache, &input, true)?;
            let mut start = None;
            // The state says that there is a match one byte late.
            let last = self.follow(cache, state, bytes.iter().rev(), meter, |state, index| {
                if state.is_match() {
                    start = Some(input.end() - index);
                }
                !state.is_dead()
            })?;
            if let Some(last) = last {
                if self.end(cache, &input, last, true)?.is_match() {
                    start = Some(input.start());
                }
            }
            Ok(start)
        })
    }
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
        let message = |error: &dyn std::error::Error| error.to_string();
        let compile = |hir: &Hir, config: Config| {
            let config = config.nfa_size_limit(Some(MAX_NFA));
            Compiler::new()
                .configure(config)
                .build_from_hir(hir)
                .map_err(|error| message(&error))
        };
        let backward = || Config::new().reverse(true).which_captures(WhichCaptures::None);
        let (forward, reversed) = (compile(hir, Config::new())?, compile(hir, backward())?);
        let beginning = compile(&beginning_of(hir), backward())?;
        let memory = [&forward, &reversed, &beginning].map(NFA::memory_usage).iter().sum();
        let has_groups = forward.group_info().all_names().any(|(_, _, name)| name.is_some());
        let groups = if has_groups {
            let slots = forward.states().len().saturating_mul(forward.group_info().slot_len());
            if slots.saturating_mul(2 * size_of::<usize>()) > MAX_GROUPS {
                return Err("the groups of all states take too much memory".to_owned());
            }
            // The place of a match is known, and each state is visited at each byte at most once.
            let config = meta::Config::new()
                .hybrid(false)
                .auto_prefilter(false)
                .nfa_size_limit(Some(MAX_NFA));
            let groups = meta::Builder::new().configure(config).build_from_hir(hir);
            Some(groups.map_err(|error| message(&error))?)
        } else {
            None
        };
        Ok(Self {
            forward: Machine::new(forward, MatchKind::LeftmostFirst)?,
            backward: Machine::new(reversed, MatchKind::All)?,
            beginning: Machine::new(beginning, MatchKind::All)?,
            prefilter: Prefilter::from_hir_prefix(MatchKind::LeftmostFirst, hir),
            groups,
            memory,
        })
    }

    /// Returns the byte range of the first match that begins at or after a byte, or exactly at the byte if `is_anchored`. If the text is
    /// not whole, a match is found that ends before its last byte.
    pub fn find(
        &self,
        text: &str,
        from: usize,
        is_anchored: bool,
        is_whole: bool,
        meter: &mut Meter<'_>,
    ) -> Result<Option<Range<usize>>> {
        let anchored = if is_anchored { Anchored::Yes } else { Anchored::No };
        let prefilter = self.prefilter.as_ref().filter(|_| !is_anchored);
        let end = self.forward.with_cache(|cache| {
            let mut from = from;
            loop {
                if let Some(prefilter) = prefilter {
                    let next = prefilter.find(text.as_bytes(), Span::from(from..text.len()));
                    let next = next.map(|next| next.start);
                    meter.charge_part(next.unwrap_or(text.len()) - from)?;
                    let Some(next) = next else { return Ok(None) };
                    from = next;
                }
                let input = Input::new(text).range(from..).anchored(anchored);
                let state = self.forward.start(cache, &input, false)?;
                let (mut end, mut restart) = (None, None);
                let bytes = text.as_bytes().get(from..).unwrap_or_default();
                let last = self.forward.follow(cache, state, bytes.iter(), meter, |state, index| {
                    if state.is_match() {
                        end = Some(from + index);
                    } else if state.is_start() && end.is_none() && prefilter.is_some() {
                        restart = Some(from + index + 1);
                    }
                    !state.is_dead() && restart.is_none()
                })?;
                if let Some(last) = last.filter(|_| is_whole) {
                    if self.forward.end(cache, &input, last, false)?.is_match() {
                        end = Some(text.len());
                    }
                }
                match restart {
                    Some(restart) => from = restart,
                    None => return Ok(end),
                }
            }
        })?;
        let Some(end) = end else { return Ok(None) };
        if is_anchored {
            return Ok(Some(from..end));
        }
        let start = self.backward.find_start(&Input::new(text).range(from..end), meter)?;
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
        let names = self.groups.iter().flat_map(|groups| groups.group_info().all_names());
        names.filter_map(|(_, _, name)| name)
    }

    /// Returns the name and the byte range of each group of a match, without groups that took no part.
    pub fn groups(&self, text: &str, found: &Range<usize>, meter: &mut Meter<'_>) -> Result<Vec<(&str, Range<usize>)>> {
        let Some(groups) = &self.groups else { return Ok(Vec::new()) };
        let states = self.forward.dfa.get_nfa().states().len();
        let slots = groups.group_info().slot_len().saturating_add(SLOTS_PER_STEP / 8);
        let visited = states.saturating_mul(slots).div_ceil(SLOTS_PER_STEP);
        meter.charge(visited.saturating_mul(found.len().saturating_add(1)) as u64)?;
        let mut captures = groups.create_captures();
        let input = Input::new(text).range(found.clone()).anchored(Anchored::Yes);
        groups.search_captures(&input, &mut captures);
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
