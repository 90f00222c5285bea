//! Finds the owners of pieces: a message owns its strings, and the text of the template around them.
//!
//! ```text
//! {% if messages[0].role == "system" %}<s>{{ messages[0].content }}</s>{% endif %}   ->   message 0 owns `<s>`, its content and `</s>`
//! ```
//!
//! The tape has a mark where a part of the output ends whose owner depends on what is in it. The marks are applied once the origins of the
//! pieces are known.

use super::pieces::{Piece, Pieces};
use super::source::{Owner, Source, to_offset};

impl Pieces {
    /// Records the end of a stretch that began at a byte, after a number of pieces. If all its text of the input has one owner,
    /// [`Pieces::resolve`] makes that the owner of the text around it. `current` is the owner of what is written now. Returns the number of
    /// pieces in the stretch.
    pub fn end_stretch(&mut self, start: usize, before: usize, current: Owner) -> usize {
        let mut count = self.list.len().saturating_sub(before);
        if count <= 1 {
            // The pieces before the stretch can have become fewer.
            count = self.after(start).len();
        }
        let mark = Piece::new(self.filled..self.filled, Source::Stretch(to_offset(start)), current);
        // A piece alone has no text around it, and a stretch that is all of an outer one has found the owner of that.
        if count > 1 && self.list.last() != Some(&mark) {
            self.push_mark(mark);
        }
        count
    }

    /// Records the end of a round of a loop that began at a byte. Its owner becomes that of the pieces that have none. Returns the number
    /// of pieces in the round.
    pub fn end_round(&mut self, start: usize, owner: Owner) -> usize {
        let pieces = self.after(start);
        let count = pieces.len();
        if pieces.iter().any(|piece| piece.owner == Owner::NONE) {
            self.push_mark(Piece::new(self.filled..self.filled, Source::Round(to_offset(start)), owner));
        }
        count
    }

    fn push_mark(&mut self, mark: Piece) {
        self.marks += 1;
        self.list.push(mark);
    }

    /// Applies the stretches and rounds, and removes their marks.
    pub(super) fn apply_marks(&mut self) {
        self.marks = 0;
        let mut kept = 0;
        for index in 0..self.list.len() {
            let Some(piece) = self.list.get(index).copied() else { break };
            let before = self.list.get_mut(..kept).unwrap_or_default();
            match piece.source {
                Source::Stretch(start) => own_around(before, start as usize, piece.owner),
                Source::Round(start) => own_from(before, start as usize, piece.owner),
                _ => {
                    if let Some(place) = self.list.get_mut(kept) {
                        *place = piece;
                    }
                    kept += 1;
                    if piece.source == Source::Generation {
                        self.blocks_end = kept;
                    }
                }
            }
        }
        self.list.truncate(kept);
    }

    /// Returns the pieces that have bytes after a byte.
    fn after(&self, byte: usize) -> &[Piece] {
        self.list.get(first_after(&self.list, byte)..).unwrap_or_default()
    }
}

/// Returns the index of the first piece that has bytes after a byte. It is searched from the end, because the byte is near it.
fn first_after(pieces: &[Piece], byte: usize) -> usize {
    let count = pieces.iter().rev().take_while(|piece| piece.end() > byte).count();
    pieces.len() - count
}

/// Sets the owner of the pieces that have none, from a byte on.
fn own_from(pieces: &mut [Piece], start: usize, owner: Owner) {
    let first = first_after(pieces, start);
    for piece in pieces.get_mut(first..).unwrap_or_default() {
        piece.owner = piece.owner.or(owner);
    }
}

/// Applies a stretch: its message becomes the owner of the text around its strings, unless strings of other parts of the input are among
/// them. Only pieces from a byte on change, and only those that have the owner `current` and are not text of the input.
fn own_around(pieces: &mut [Piece], start: usize, current: Owner) {
    let is_input = |piece: &Piece| matches!(piece.source, Source::Input(..) | Source::Changed(_));
    let is_after = |piece: &Piece| piece.end() > start;
    let mut found = None;
    for piece in pieces.iter().rev().take_while(|piece| is_after(piece)) {
        match found {
            _ if !is_input(piece) => {}
            // Mostly, a string of the current message is found at once.
            _ if piece.owner == current || piece.owner == Owner::NONE => return,
            None => found = Some(piece.owner),
            Some(owner) if owner != piece.owner => return,
            Some(_) => {}
        }
    }
    let Some(owner) = found else { return };
    let new = pieces.iter_mut().rev().take_while(|piece| is_after(piece));
    let around = new.filter(|piece| !is_input(piece) && piece.owner == current);
    around.for_each(|piece| piece.owner = owner);
}
