//! The DFAs of regular expressions, whose states are made when a text needs them.

use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{Compiler, Config, NFA, WhichCaptures};
use regex_automata::util::pool::Pool;
use regex_automata::util::prefilter::Prefilter;
use regex_automata::{Anchored, Input, MatchKind, Span};
use regex_syntax::hir::Hir;

use crate::error::{Error, ErrorKind, Result};
use crate::meter::Meter;

/// The maximum size of an NFA in bytes.
pub const MAX_NFA: usize = 2 << 20;

/// The number of bytes of memory for the states of a DFA that reads forwards, and of another one. The memory is cleared when it is full.
const FORWARD: usize = 1 << 20;
const BACKWARD: usize = 512 << 10;

/// How often a DFA may clear its memory after only a few bytes of the text. Then it gives up.
const CLEARS: usize = 4;

/// The number of bytes of the text for each new state of a DFA that are too few.
const BYTES_PER_STATE: usize = 8;

/// The number of bytes of a text between two checks of the time, and the number of states of an NFA that may be visited meanwhile.
const STRIDE: usize = 4096;
const VISITS: usize = 256 << 10;

type Shared<T> = Pool<T, Box<dyn Fn() -> T + Send + Sync + UnwindSafe + RefUnwindSafe>>;

/// A DFA with the memory for its states.
#[derive(Clone, Debug)]
pub struct Machine {
    pub dfa: Arc<DFA>,
    caches: Arc<Shared<Cache>>,
}

impl Machine {
    pub fn new(nfa: NFA, kind: MatchKind) -> Result<Self, String> {
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
    pub fn with_cache<T>(&self, search: impl FnOnce(&mut Cache) -> Result<T>) -> Result<T> {
        let mut cache = self.caches.get();
        if cache.clear_count() > 0 {
            self.dfa.reset_cache(&mut cache);
        }
        search(&mut cache)
    }

    pub fn start(&self, cache: &mut Cache, input: &Input<'_>, is_backward: bool) -> Result<LazyStateID> {
        let state = match is_backward {
            true => self.dfa.start_state_reverse(cache, input),
            false => self.dfa.start_state_forward(cache, input),
        };
        state.map_err(|_| too_many_states())
    }

    /// Follows bytes from a state on, and calls `see` with the index of each byte and the state after it if this is marked. Returns the last
    /// state, or `None` if `see` stopped.
    #[inline(always)]
    pub fn follow<'b>(
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
    pub fn end(&self, cache: &mut Cache, input: &Input<'_>, state: LazyStateID, is_backward: bool) -> Result<LazyStateID> {
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

    /// Returns the end of the first match in an input. If the input is not whole, a match is found that ends before its last byte.
    pub fn find_end(
        &self,
        input: &Input<'_>,
        prefilter: Option<&Prefilter>,
        is_whole: bool,
        meter: &mut Meter<'_>,
    ) -> Result<Option<usize>> {
        self.with_cache(|cache| {
            let (mut from, to) = (input.start(), input.end());
            loop {
                if let Some(prefilter) = prefilter {
                    let next = prefilter.find(input.haystack(), Span::from(from..to));
                    let next = next.map(|next| next.start);
                    meter.charge_part(next.unwrap_or(to) - from)?;
                    let Some(next) = next else { return Ok(None) };
                    from = next;
                }
                let input = input.clone().range(from..to);
                let state = self.start(cache, &input, false)?;
                let (mut end, mut restart) = (None, None);
                let bytes = input.haystack().get(from..to).unwrap_or_default();
                let last = self.follow(cache, state, bytes.iter(), meter, |state, index| {
                    if state.is_match() {
                        end = Some(from + index);
                    } else if state.is_start() && end.is_none() && prefilter.is_some() {
                        restart = Some(from + index + 1);
                    }
                    !state.is_dead() && restart.is_none()
                })?;
                if let Some(last) = last.filter(|_| is_whole) {
                    if self.end(cache, &input, last, false)?.is_match() {
                        end = Some(to);
                    }
                }
                match restart {
                    Some(restart) => from = restart,
                    None => return Ok(end),
                }
            }
        })
    }

    /// Returns the start of the longest match that ends where the input ends.
    pub fn find_start(&self, input: &Input<'_>, meter: &mut Meter<'_>) -> Result<Option<usize>> {
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

/// Compiles an expression, so that it is read forwards or backwards. Only what is read forwards has groups.
pub fn compile(hir: &Hir, is_backward: bool) -> Result<NFA, String> {
    let config = Config::new().nfa_size_limit(Some(MAX_NFA)).reverse(is_backward);
    let config = match is_backward {
        true => config.which_captures(WhichCaptures::None),
        false => config,
    };
    let nfa = Compiler::new().configure(config).build_from_hir(hir);
    nfa.map_err(|error| error.to_string())
}

#[cold]
pub fn too_many_states() -> Error {
    let message = "a regex of the response template has too many states for this text";
    Error::new(ErrorKind::Unsupported, message)
}
