//! Finds the message whose turn it is: the owner of what a traced render writes.
//!
//! ```text
//! {% for message in messages %}…{% endfor %}                              the item is the message
//! {% for i in range(messages|length) %}{{ messages[i].role }}…{% endfor %}    the round reads the message by its index
//! {% if messages[0].role == "system" %}<s>{{ messages[0].content }}</s>{% endif %}    text around a string of the message
//! ```

use super::inputs::storage;
use super::{Owner, PieceOrigin, Tape, Value};
use crate::ast::TextLines;
use crate::error::Result;
use crate::meter::Meter;
use crate::trace::{Address, Pieces};
use crate::value::{Dict, Given, Heap, Runtime, Seq};

/// A round of a loop, whose text may belong to a message.
#[derive(Debug)]
pub struct LoopRound {
    /// The owner of what was written before the round. It is the owner again after the round.
    outer: Owner,
    outer_index: Option<u32>,
    /// Whether the round had an owner from its start.
    is_owned: bool,
    /// The byte of the output at which the text of the round begins.
    start: usize,
}

/// A part of the output, such as an `if` block, that belongs to one message if all its text of the input does.
#[derive(Debug, Default)]
pub struct Passage {
    /// The byte of the output at which it begins.
    start: usize,
    /// The number of pieces before it.
    before: usize,
    /// The byte at which those end.
    filled: usize,
    /// The owner of what is written.
    owner: Owner,
}

impl Passage {
    /// Returns the number of pieces since its beginning.
    pub fn added(&self, pieces: &Pieces) -> u64 {
        pieces.len().saturating_sub(self.before) as u64
    }

    /// Records that a string of the input has been appended to the output, which now ends at a byte.
    #[inline]
    pub fn record_copy(&self, pieces: &mut Pieces, text: &str, end: usize) {
        pieces.fill(end - text.len(), PieceOrigin::Made, self.owner);
        pieces.fill(end, PieceOrigin::Memory(Address::of(text)), self.owner);
    }

    /// Records that text of the template has been appended to the output, which now ends at a byte.
    #[inline]
    pub fn record_lines(&self, pieces: &mut Pieces, text: &str, lines: &TextLines, end: usize) {
        let start = end - text.len();
        pieces.fill(start, PieceOrigin::Made, self.owner);
        let mut line = lines.first;
        for (at, next) in &lines.joined {
            pieces.fill(start + *at as usize, PieceOrigin::Template(line), self.owner);
            line = *next;
        }
        pieces.fill(end, PieceOrigin::Template(line), self.owner);
    }
}

/// The messages that a template sees.
#[derive(Debug)]
pub(super) struct Seen<'a> {
    list: Seq<'a>,
    /// The index of the message that was found last, or `usize::MAX` before the first one.
    last: usize,
    /// The messages by address, once one is looked for that is not next to the last one.
    sorted: Option<Vec<(usize, usize)>>,
}

impl<'a> Seen<'a> {
    fn new(given: &Given<'a>) -> Self {
        let list = match given.get("messages") {
            Some(Value::List(items) | Value::Tuple(items)) => items,
            _ => Seq::empty(),
        };
        Self {
            list,
            last: usize::MAX,
            sorted: None,
        }
    }

    /// Returns the index of a dict that is one of the messages. A loop often goes over them in their order.
    fn find(&mut self, dict: &Dict<'a>, meter: &mut Meter<'_>) -> Result<Option<usize>> {
        let address = dict.address();
        if self.sorted.is_none() {
            let near = [self.last.wrapping_add(1), self.last];
            let found = near.into_iter().find(|index| match self.list.get(*index) {
                Some(Value::Dict(message)) => message.address() == address,
                _ => false,
            });
            if let Some(index) = found {
                self.last = index;
                return Ok(found);
            }
        }
        let sorted = match &mut self.sorted {
            Some(sorted) => sorted,
            none => {
                // Most messages have the addresses in order already, which the sort finds out in a fraction of a step for each.
                meter.charge(self.list.len() as u64 >> 2)?;
                meter.claim_for_render(self.list.len().saturating_mul(size_of::<(usize, usize)>()))?;
                let messages = self.list.iter().enumerate();
                let mut addresses: Vec<_> = messages
                    .filter_map(|(index, item)| Some((storage(&item)?.0, index)))
                    .collect();
                addresses.sort_unstable();
                none.insert(addresses)
            }
        };
        let place = sorted.binary_search_by_key(&address, |(message, _)| *message).ok();
        Ok(place.and_then(|place| sorted.get(place)).map(|(_, index)| *index))
    }
}

impl<'a> Tape<'a> {
    /// Returns the owner for a dict that is one of the messages that the template sees, or `None` for another dict.
    fn message(&mut self, dict: &Dict<'a>, given: &Given<'a>, meter: &mut Meter<'_>) -> Result<Option<Owner>> {
        if self.known.is_none() {
            return Ok(None);
        }
        let seen = self.seen.get_or_insert_with(|| Seen::new(given));
        Ok(seen.find(dict, meter)?.map(Owner::message))
    }

    /// Returns the message that an item of a loop is, or is made from. Charges the items of a list, and the entries of a copy with the
    /// pieces of their strings.
    fn message_of_item(&mut self, item: &Value<'a>, heap: &Heap<'a>, meter: &mut Meter<'_>) -> Result<Owner> {
        match item {
            Value::Dict(dict) => match self.message(dict, &heap.frames.input, meter)? {
                Some(owner) => Ok(owner),
                None => self.message_of_copy(dict, heap, meter),
            },
            Value::List(items) | Value::Tuple(items) if items.len() <= MAX_EXAMINED => {
                // A message is looked for among all messages.
                meter.charge(items.len() as u64)?;
                let mut found = Owner::NONE;
                for item in items.iter() {
                    let Value::Dict(dict) = &item else { continue };
                    if let Some(owner) = self.message(dict, &heap.frames.input, meter)? {
                        if found != Owner::NONE {
                            return Ok(Owner::NONE);
                        }
                        found = owner;
                    }
                }
                Ok(found)
            }
            _ => Ok(Owner::NONE),
        }
    }

    /// Returns the message that all strings of a dict come from, if the render made the dict.
    fn message_of_copy(&mut self, dict: &Dict<'a>, heap: &Heap<'a>, meter: &mut Meter<'_>) -> Result<Owner> {
        let (Dict::Owned(_), Some(map)) = (dict, self.map(meter)?) else {
            return Ok(Owner::NONE);
        };
        // For each entry, the strings of the input are searched for its value.
        meter.charge(dict.len().min(MAX_EXAMINED) as u64)?;
        let mut message = Owner::NONE;
        for (_, value) in dict.iter().take(MAX_EXAMINED) {
            let Value::Str(text) = value else { continue };
            let sources: Vec<PieceOrigin> = match heap.pieces_of(&text) {
                Some((pieces, _)) => pieces.list().iter().take(MAX_EXAMINED).map(|piece| piece.source).collect(),
                None => vec![PieceOrigin::Memory(Address::of(text.as_str()))],
            };
            // Most strings of a copy have one piece, which takes no step.
            meter.charge(sources.len() as u64 >> 2)?;
            for source in sources {
                match map.owner(source, Owner::NONE) {
                    Owner::NONE => {}
                    owner if owner == message.or(owner) => message = owner,
                    _ => return Ok(Owner::NONE),
                }
            }
        }
        Ok(message)
    }
}

/// The maximum number of values of a list or a dict, and of pieces of a string in it, that are examined to find the message of a copy.
const MAX_EXAMINED: usize = 64;

impl<'a> Runtime<'a> {
    /// Begins the round of a loop at a byte of the text that is being written, in a render that is traced.
    pub fn begin_turn(&mut self, start: usize) -> LoopRound {
        let mut turn = LoopRound {
            outer: Owner::NONE,
            outer_index: None,
            is_owned: false,
            start,
        };
        self.pieces.end_piece();
        if let Some(tape) = &mut self.tape {
            (turn.outer, turn.outer_index) = (tape.owner, tape.index.take());
            tape.is_read = false;
        }
        turn
    }

    /// Makes a message the owner of the round of a loop, if an item of the round is the message or is made from it: `for message in
    /// messages`. `variable` is the name of the item. An item that is an integer may be an index, by which the round reads a message later.
    pub fn take_turn(&mut self, turn: &mut LoopRound, item: &Value<'a>, variable: u32) -> Result<()> {
        if let Some(tape) = &mut self.tape {
            if let Value::Int(_) = item {
                tape.index = Some(variable);
            }
            tape.owner = tape.message_of_item(item, &self.heap, &mut self.meter)?.or(tape.owner);
            turn.is_owned = tape.owner != Owner::NONE;
        }
        Ok(())
    }

    /// Ends a round. If only a late part of the round shows which message it belongs to, that message also owns the text before.
    #[cold]
    pub fn end_turn(&mut self, turn: LoopRound) -> Result<()> {
        let Some(tape) = &mut self.tape else { return Ok(()) };
        let owner = std::mem::replace(&mut tape.owner, turn.outer);
        tape.index = turn.outer_index;
        if !turn.is_owned && owner != turn.outer {
            self.meter.charge(self.pieces.end_round(turn.start, owner) as u64 >> 3)?;
        }
        Ok(())
    }

    /// Records that a round of a loop over indices has read an item by its index, as `messages[i]` does. `is_exact` says whether the index
    /// is just the loop's variable.
    pub fn read_by_index(&mut self, variable: u32, is_exact: bool, item: &Value<'a>) -> Result<()> {
        let (Some(tape), Value::Dict(dict)) = (&mut self.tape, item) else {
            return Ok(());
        };
        if tape.index != Some(variable) || (tape.is_read && !is_exact) {
            return Ok(());
        }
        if let Some(owner) = tape.message(dict, &self.heap.frames.input, &mut self.meter)? {
            tape.owner = owner;
            tape.is_read = true;
        }
        Ok(())
    }

    /// Begins a passage at a byte of the text that is being written, if the render is traced.
    #[inline]
    pub fn begin_passage(&mut self, start: usize) -> Option<Passage> {
        let owner = self.tape.as_ref()?.owner;
        let (before, filled) = (self.pieces.end_piece(), self.pieces.filled());
        Some(Passage {
            start,
            before,
            filled,
            owner,
        })
    }

    /// Records whether the value of a `set` is being evaluated. A render that is not traced records nothing.
    pub fn set_setting(&mut self, is_setting: bool) {
        if let Some(tape) = &mut self.tape {
            tape.is_setting = is_setting;
        }
    }

    /// Returns whether the value of a `set` is being evaluated in a render that is traced. A sum in such a value is a passage.
    #[inline]
    pub fn is_setting(&self) -> bool {
        self.tape.as_ref().is_some_and(|tape| tape.is_setting)
    }

    /// Ends the passage of a sum of two strings in the value of a `set`.
    #[inline]
    pub fn end_sum(&mut self, end: usize) -> Result<()> {
        if self.is_setting() {
            let all = Passage::default();
            self.end_passage(&all, end)
        } else {
            Ok(())
        }
    }

    /// Ends a passage. If all text of the input in it comes from one message, that message also owns the text around it. A passage without
    /// text has no effect.
    #[inline]
    pub fn end_passage(&mut self, passage: &Passage, end: usize) -> Result<()> {
        let Some(tape) = &self.tape else { return Ok(()) };
        self.pieces.fill(end, PieceOrigin::Made, tape.owner);
        if tape.known.is_some() && passage.start < end {
            // A step is the time of visiting eight pieces.
            self.meter
                .charge(self.pieces.end_passage(passage.start, passage.before, tape.owner) as u64 >> 3)?;
        }
        Ok(())
    }

    /// Removes the pieces of a passage, after its text was removed from the output.
    pub fn undo_passage(&mut self, passage: &Passage) {
        self.pieces.undo(passage.before, passage.filled);
    }
}
