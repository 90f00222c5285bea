//! The tape of a render that is traced: where the strings of values come from.
//!
//! ```text
//! {{ "[" + message.content|upper }}   ->   "[" of line 1, then a string made from /messages/0/content
//! ```
//!
//! A string that [`Runtime::push`] or another function of this module writes keeps its pieces. Any other string that a function makes
//! counts as made from all strings among the arguments, which is less precise but never wrong.

mod composed;
mod inputs;
mod turns;
mod unite;

pub use composed::Escapes;
pub use inputs::Traced;
pub use turns::Passage;
use turns::Seen;

use std::ops::Range;

use super::call::{Arguments, Body};
use super::runtime::Runtime;
use super::{Str, Value};
use crate::ast::Symbols;
use crate::error::Result;
use crate::meter::{Claim, Meter};
use crate::text::written;
use crate::trace::{Address, Copies, InputMap, Literals, Owner, Part, Piece, PieceOrigin, Pieces, Trace};
use inputs::{are_apart, map_inputs};

/// The number of steps that each value costs from which a part comes. They pay for the work after the render, which has no meter: making
/// the turns, and their JSON.
const PATH_STEPS: u64 = 4;

/// The number of steps of the work after the render that are free. Usual prompts take far fewer.
const FREE_STEPS: u64 = 1 << 16;

/// The number of parts whose memory is claimed at once.
const PARTS_PER_CLAIM: usize = 1 << 10;

/// The number of bytes that are kept for each part while the text of the model is looked for.
const PART_NOTES: usize = 48;

/// The state of a render that is traced.
///
/// What the render writes is recorded in the [`Pieces`] of each string, by places in memory. Only a string that is made from others, and
/// one that is kept and written later, need the input map during the render.
#[derive(Debug, Default)]
pub struct Tape<'a> {
    /// What the caller passed. Without it, the tape has only places in memory, which are not looked up.
    known: Option<Known<'a>>,
    /// The input map. It is made when it is first needed.
    map: Option<InputMap<'a>>,
    /// The messages that the template sees, once one is looked for.
    seen: Option<Seen<'a>>,
    /// The owner of what is written now: a message, or none.
    owner: Owner,
    /// The variable of the innermost loop, if it goes over integers.
    index: Option<u32>,
    /// Whether the value of a `set` is being evaluated.
    is_setting: bool,
    /// Whether the current round of the innermost loop has read a message by the variable of the loop.
    is_read: bool,
    /// The arguments of the functions that run.
    arguments: Vec<Value<'a>>,
    /// The claim to the memory of `arguments`.
    claim: Option<Claim>,
    /// The index of the first argument of the innermost function that runs.
    first_argument: usize,
}

/// What the caller passed to a render, and the names and the literals of the template.
#[derive(Debug)]
struct Known<'a> {
    inputs: Vec<Traced<'a>>,
    /// The value that has all inputs in it, if there is one.
    whole: Option<Value<'a>>,
    names: &'a Symbols,
    literals: &'a Literals,
}

impl<'a> Tape<'a> {
    /// Makes the tape of a render with these inputs. `whole` is the value that has all of them in it, if there is one.
    pub fn new(inputs: Vec<Traced<'a>>, whole: Option<Value<'a>>, names: &'a Symbols, literals: &'a Literals) -> Self {
        Self {
            known: Some(Known {
                inputs,
                whole,
                names,
                literals,
            }),
            ..Self::default()
        }
    }

    /// Returns the input map, which the first call makes, or `None` if the tape has only places in memory. The next string is looked for in
    /// the message that owns what is written now.
    #[inline]
    fn map(&mut self, meter: &mut Meter<'_>) -> Result<Option<&mut InputMap<'a>>> {
        if self.map.is_none() {
            self.make_map(meter)?;
        }
        if let Some(map) = &mut self.map {
            map.approach(self.owner);
        }
        Ok(self.map.as_mut())
    }

    #[cold]
    fn make_map(&mut self, meter: &mut Meter<'_>) -> Result<()> {
        if let Some(known) = &mut self.known {
            let inputs = std::mem::take(&mut known.inputs);
            let charge = &mut |steps| meter.charge(steps as u64).map(|()| true);
            let are_apart = are_apart(&inputs, known.whole, charge)?;
            let map = map_inputs(inputs, known.names, Some(known.literals), are_apart, charge)?;
            self.map = Some(map);
        }
        Ok(())
    }

    /// Records that a call of a function begins. Returns the index of the first argument of the enclosing call.
    #[inline]
    fn enter(&mut self, meter: &mut Meter<'_>, count: usize, arguments: impl IntoIterator<Item = Value<'a>>) -> Result<usize> {
        let first = self.arguments.len();
        meter.claim_growth::<Value<'_>>(&mut self.claim, first + count, self.arguments.capacity())?;
        self.arguments.extend(arguments);
        Ok(std::mem::replace(&mut self.first_argument, first))
    }

    /// Records that a call of a function has ended.
    fn leave(&mut self, outer: usize) {
        self.arguments.truncate(self.first_argument);
        self.first_argument = outer;
    }
}

impl<'a> Runtime<'a> {
    /// Starts to record a render. The places of its pieces have 32 bits, so a string cannot have more than 4 GiB. `messages` is the
    /// number of messages. A template writes some five strings for each.
    pub fn start_tape(&mut self, tape: Tape<'a>, messages: usize) {
        self.meter.cap_sizes(u64::from(u32::MAX));
        self.tape = Some(Box::new(tape));
        self.pieces = Pieces::with_capacity(messages.saturating_mul(6));
    }

    /// Records that the render made the rest of a string that is kept, and finds the owners of its pieces if they depend on one another.
    #[inline]
    pub(super) fn finish_pieces(&mut self, pieces: &mut Pieces, length: usize) -> Result<()> {
        let Some(tape) = &self.tape else { return Ok(()) };
        pieces.fill(length, PieceOrigin::Made, tape.owner);
        if pieces.has_marks() { self.resolve(pieces) } else { Ok(()) }
    }

    /// Finds the origins and the owners of the pieces of a string that is finished.
    #[inline]
    pub fn resolve(&mut self, pieces: &mut Pieces) -> Result<()> {
        if let Some(tape) = &mut self.tape {
            if let Some(map) = tape.map(&mut self.meter)? {
                self.meter.charge_items(pieces.len() / 8)?;
                pieces.resolve(map);
                map.claim(&mut self.meter)?;
            }
        }
        Ok(())
    }

    /// Removes the pieces of the text that is being written from a byte on, and returns them relative to that byte.
    pub fn split_pieces(&mut self, start: usize) -> Result<Pieces> {
        if self.pieces.has_marks() {
            let mut pieces = std::mem::take(&mut self.pieces);
            self.resolve(&mut pieces)?;
            self.pieces = pieces;
        }
        Ok(self.pieces.split_off(start))
    }

    /// Returns the trace of the output, whose pieces are resolved, if the render is traced. No other text of the render has one.
    pub fn take_trace(&mut self, pieces: &Pieces, length: usize) -> Result<Trace> {
        let Some(map) = self.tape.as_mut().and_then(|tape| tape.map.as_mut()) else {
            return Ok(Trace::default());
        };
        self.meter.charge_items(pieces.len() / 8)?;
        let trace = map.take_trace(pieces, length);
        let bytes = trace.count_pointer_bytes(self.meter.limits().output);
        self.meter.check_extra(bytes)?;
        let later = trace
            .count_paths()
            .saturating_mul(PATH_STEPS)
            .saturating_add(length as u64 >> 3);
        self.meter.charge(later.saturating_sub(FREE_STEPS))?;
        Ok(trace)
    }

    /// Returns what the output was copied from, and with `has_sources` what it was made from. The pieces of a traced output are resolved first.
    pub fn list_copies(&mut self, pieces: &mut Pieces, has_sources: bool) -> Result<Copies> {
        self.resolve(pieces)?;
        let mut map = self.tape.as_mut().and_then(|tape| tape.map.as_mut());
        if let Some(map) = map.as_deref_mut().filter(|_| has_sources) {
            self.meter.charge_items(map.count_values())?;
        }
        Ok(pieces.list_copies(map.as_deref(), has_sources))
    }

    /// Returns whether the origin of a piece is not known, because strings of the input share memory.
    pub fn is_ambiguous(&self) -> bool {
        let map = self.tape.as_ref().and_then(|tape| tape.map.as_ref());
        map.is_some_and(|map| map.is_ambiguous)
    }

    /// Claims the memory of a number of parts, and of what `find_assistant` in `chat` keeps of each.
    pub fn claim_parts(&mut self, count: usize) -> Result<Vec<Claim>> {
        let bytes = size_of::<Part>() + PART_NOTES;
        // Each claim is smaller than the largest value.
        let parts = (0..count)
            .step_by(PARTS_PER_CLAIM)
            .map(|start| count.saturating_sub(start).min(PARTS_PER_CLAIM));
        parts.map(|part| self.meter.claim(part.saturating_mul(bytes))).collect()
    }

    /// Appends a string to the text that is being written, and records its pieces.
    pub fn push(&mut self, text: &Str<'a>, out: &mut String) -> Result<()> {
        self.record(text, out.len())?;
        written::push(out, text.as_str());
        Ok(())
    }

    /// Records the pieces of a string that is about to be written at a byte of the text that is being written.
    #[inline]
    pub fn record(&mut self, text: &Str<'a>, at: usize) -> Result<()> {
        if self.tape.is_none() && text.pieces().is_none() {
            return Ok(());
        }
        self.record_pieces(text, at)
    }

    /// Records the pieces of a string in a render that is traced, or of a string that has pieces, as [`Runtime::record`] does.
    #[inline(never)]
    fn record_pieces(&mut self, text: &Str<'a>, at: usize) -> Result<()> {
        let Some((from, view)) = self.heap.pieces_of(text) else {
            return self.record_memory(text.as_str(), at + text.as_str().len());
        };
        let found = from.in_view(&view);
        self.meter.charge(found.len() as u64)?;
        let owner = self.tape.as_ref().map_or(Owner::NONE, |tape| tape.owner);
        if let Some(tape) = &mut self.tape {
            self.pieces.fill(at, PieceOrigin::Made, owner);
            if owner != Owner::NONE && found.iter().any(|piece| piece.owner == Owner::NONE) {
                if let Some(map) = tape.map(&mut self.meter)? {
                    // A piece that no turn owns belongs to the message whose string it comes from.
                    let mut found = found.to_vec();
                    found
                        .iter_mut()
                        .for_each(|piece| piece.owner = map.owner(piece.source, piece.owner));
                    self.pieces.append_view(&found, &view, at, owner);
                    return self.check_pieces();
                }
            }
        }
        self.pieces.append_view(found, &view, at, owner);
        self.check_pieces()
    }

    /// Records a string of the input or of the template that was copied to the end of the text that is being written.
    #[inline(never)]
    pub fn record_memory(&mut self, text: &str, end: usize) -> Result<()> {
        self.record_copy(Address::of(text), text.len(), end)
    }

    /// Records a string of the input or of the template, by its address and its length in bytes, that was copied to the end of the text
    /// that is being written.
    #[inline(never)]
    pub fn record_copy(&mut self, address: Address, length: usize, end: usize) -> Result<()> {
        let Some(tape) = &self.tape else { return Ok(()) };
        let (start, before) = (end.saturating_sub(length), self.pieces.len());
        self.pieces.fill(start, PieceOrigin::Made, tape.owner);
        self.pieces
            .push(Piece::new(start..end, PieceOrigin::Memory(address), tape.owner));
        match self.pieces.len().saturating_sub(before) {
            0 => Ok(()),
            added => {
                self.meter.charge(added as u64)?;
                self.check_pieces()
            }
        }
    }

    /// Records a `{% generation %}` block that has just ended.
    pub fn record_block(&mut self, block: Range<usize>) -> Result<()> {
        self.pieces.push_block(block);
        self.check_pieces()
    }

    /// Checks that the pieces of the text that is being written do not take more memory than the limits allow.
    pub fn check_pieces(&self) -> Result<()> {
        self.meter.check_size(self.pieces.bytes())
    }

    /// Makes a string that repeats another one.
    pub(super) fn repeated_text(&mut self, text: &Str<'a>, repeated: String) -> Result<Str<'a>> {
        if self.tape.is_none() && text.pieces().is_none() {
            return self.text(repeated);
        }
        let pieces = self.record_apart(|runtime| runtime.record_repeated(text, repeated.len()))?;
        self.text_with_pieces(repeated, pieces)
    }

    /// Records the pieces of a string that is written again and again, up to a byte of the text that is being written.
    fn record_repeated(&mut self, text: &Str<'a>, end: usize) -> Result<()> {
        let (mut at, mut before) = (0_usize, 0);
        while at < end {
            self.record(text, at)?;
            let count = self.pieces.len();
            if count == before {
                // All of the string continues the last piece, and so do its other copies.
                self.pieces.stretch(end);
                return Ok(());
            }
            (at, before) = (at + text.as_str().len(), count);
        }
        Ok(())
    }

    /// Runs the body of a function. The strings that it makes count as made from its arguments, unless it records another origin.
    #[inline]
    pub(super) fn run_traced(&mut self, arguments: &mut Arguments<'a>, run: Body) -> Result<Value<'a>> {
        let Some(tape) = &mut self.tape else {
            return run(self, std::mem::take(arguments));
        };
        let count = arguments.keywords().len().saturating_mul(2) + arguments.len();
        let outer = tape.enter(&mut self.meter, count, arguments.values())?;
        let result = run(self, std::mem::take(arguments));
        if let Some(tape) = &mut self.tape {
            tape.leave(outer);
        }
        result
    }

    /// Runs a function. The strings that it makes have the origin of these values, unless the function records a more exact one.
    #[inline]
    pub fn with_sources<T>(&mut self, values: &[&Value<'a>], run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let Some(tape) = &mut self.tape else {
            return run(self);
        };
        let sources = values.iter().map(|value| *(*value));
        let outer = tape.enter(&mut self.meter, values.len(), sources)?;
        let result = run(self);
        if let Some(tape) = &mut self.tape {
            tape.leave(outer);
        }
        result
    }
}
