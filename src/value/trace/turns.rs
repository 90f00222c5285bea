//! The message whose turn it is: the owner of what a traced render writes.
//!
//! ```text
//! {% for message in messages %}…{% endfor %}                              the item is the message
//! {% for i in range(messages|length) %}{{ messages[i].role }}…{% endfor %}    the round reads the message by its index
//! {% if messages[0].role == "system" %}<s>{{ messages[0].content }}</s>{% endif %}    text around a text of the message
//! ```

use super::{Owner, Source, Trace, Value};
use crate::error::Result;
use crate::meter::Meter;
use crate::value::{Dict, Runtime};

/// The round of a loop, whose text a message may own.
#[derive(Debug)]
pub struct Turn {
    /// The owner before the round.
    outer: Owner,
    outer_index: Option<u32>,
    /// The index of the first piece of the round.
    first: usize,
}

impl<'a> Trace<'a> {
    /// Returns the message that an item of a loop is, or is made from. Charges the items of a list, and the entries of a copy with the
    /// pieces of their texts.
    fn message_of_item(&mut self, item: &Value<'a>, meter: &mut Meter<'_>) -> Result<Owner> {
        Ok(match item {
            Value::Dict(dict) => match self.message(dict) {
                Some(owner) => owner,
                None => self.message_of_copy(dict, meter)?,
            },
            Value::List(items) | Value::Tuple(items) if items.len() <= MAX_EXAMINED => {
                // A message is looked for among all messages.
                meter.charge(items.len() as u64)?;
                let mut owners = items.iter().filter_map(|item| match item {
                    Value::Dict(dict) => self.message(&dict),
                    _ => None,
                });
                match (owners.next(), owners.next()) {
                    (Some(owner), None) => owner,
                    _ => Owner::NONE,
                }
            }
            _ => Owner::NONE,
        })
    }

    /// Returns the message that all strings of a dict come from, if the render made the dict.
    fn message_of_copy(&mut self, dict: &Dict<'a>, meter: &mut Meter<'_>) -> Result<Owner> {
        let Dict::Owned(_) = dict else { return Ok(Owner::NONE) };
        // For each entry, the texts of the input are searched for its value.
        meter.charge(dict.len().min(MAX_EXAMINED) as u64)?;
        let mut message = Owner::NONE;
        for (_, value) in dict.iter().take(MAX_EXAMINED) {
            let Value::Str(text) = value else { continue };
            let sources: Vec<Source> = match text.pieces() {
                Some((pieces, _)) => pieces.list().iter().take(MAX_EXAMINED).map(|piece| piece.source).collect(),
                None => vec![self.places.find_text(text.as_str())],
            };
            // Most texts of a copy have one piece, which takes no step.
            meter.charge(sources.len() as u64 >> 2)?;
            for source in sources {
                match self.places.owner(source, Owner::NONE) {
                    Owner::NONE => {}
                    owner if owner == message.or(owner) => message = owner,
                    _ => return Ok(Owner::NONE),
                }
            }
        }
        Ok(message)
    }
}

/// The maximum number of values of a list or a dict, and of pieces of a text in it, that are examined to find the message of a copy.
const MAX_EXAMINED: usize = 64;

impl<'a> Runtime<'a> {
    /// Begins the round of a loop, in a render that is traced.
    pub fn begin_turn(&mut self) -> Turn {
        let mut turn = Turn {
            outer: Owner::NONE,
            outer_index: None,
            first: self.heap.pieces.end_piece(),
        };
        if let Some(trace) = &mut self.heap.trace {
            (turn.outer, turn.outer_index) = (trace.owner, trace.index.take());
            trace.is_read = false;
        }
        turn
    }

    /// Makes a message the owner of the round, if an item of the round is that message or is made from it. `variable` is the name of the
    /// item. If the item is an integer, the round may read a message by it.
    pub fn take_turn(&mut self, item: &Value<'a>, variable: u32) -> Result<()> {
        if let Some(trace) = &mut self.heap.trace {
            if let Value::Int(_) = item {
                trace.index = Some(variable);
            }
            trace.owner = trace.message_of_item(item, &mut self.meter)?.or(trace.owner);
        }
        Ok(())
    }

    /// Ends a round. If only a late part of the round shows which message it belongs to, that message also owns the text before.
    #[cold]
    pub fn end_turn(&mut self, turn: Turn) -> Result<()> {
        let Some(trace) = &mut self.heap.trace else { return Ok(()) };
        let owner = std::mem::replace(&mut trace.owner, turn.outer);
        trace.index = turn.outer_index;
        if owner != turn.outer {
            self.charge_pieces_from(turn.first)?;
            self.heap.pieces.own_from(turn.first, owner);
        }
        Ok(())
    }

    /// Charges the work of visiting the pieces of the text that is being written, from an index on.
    #[inline]
    fn charge_pieces_from(&mut self, first: usize) -> Result<()> {
        // A step is the time of visiting eight pieces.
        self.meter.charge(self.heap.pieces.len().saturating_sub(first) as u64 >> 3)
    }

    /// Records that the round of a loop over indices has read an item by an expression with its variable. `is_exact` says whether
    /// the expression is just that variable.
    pub fn read_by_index(&mut self, variable: u32, is_exact: bool, item: &Value<'a>) {
        let Some(trace) = &mut self.heap.trace else { return };
        let Value::Dict(dict) = item else { return };
        if trace.index != Some(variable) || (trace.is_read && !is_exact) {
            return;
        }
        if let Some(owner) = trace.message(dict) {
            trace.owner = owner;
            trace.is_read = true;
        }
    }

    /// Begins a stretch of the text that is being written. Returns the index of its first piece if the render is traced.
    #[inline]
    pub fn begin_stretch(&mut self) -> Option<usize> {
        match self.heap.trace {
            None => None,
            Some(_) => Some(self.heap.pieces.end_piece()),
        }
    }

    /// Records whether the value of a `set` is being evaluated, in a render that is traced.
    pub fn set_setting(&mut self, is_setting: bool) {
        if let Some(trace) = &mut self.heap.trace {
            trace.is_setting = is_setting;
        }
    }

    /// Returns whether the value of a `set` is being evaluated in a render that is traced. A sum in it is a stretch of its own.
    #[inline]
    pub fn is_setting(&self) -> bool {
        self.heap.trace.as_ref().is_some_and(|trace| trace.is_setting)
    }

    /// Ends the concatenation of two texts in the value of a `set`, which is a stretch.
    #[inline]
    pub fn end_sum(&mut self, end: usize) -> Result<()> {
        match self.is_setting() {
            true => self.end_stretch(0, end),
            false => Ok(()),
        }
    }

    /// Ends a stretch that began at the piece `first`. If all text of the input in it comes from one message, that message also owns the
    /// text around it.
    #[inline]
    pub fn end_stretch(&mut self, first: usize, end: usize) -> Result<()> {
        let Some(trace) = &self.heap.trace else { return Ok(()) };
        let owner = trace.owner;
        self.heap.pieces.fill(end, Source::Made, owner);
        self.charge_pieces_from(first)?;
        self.heap.pieces.own_around(first, owner);
        Ok(())
    }
}
