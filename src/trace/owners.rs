//! Finds the owners of pieces: a message owns its strings, and the text of the template around them.
//!
//! ```text
//! {% if messages[0].role == "system" %}<s>{{ messages[0].content }}</s>{% endif %}   ->   message 0 owns `<s>`, its content and `</s>`
//! ```
//!
//! A mark is set where a part of the output ends whose owner depends on what is in it. The marks are applied once the origins of the pieces
//! are known.

use super::pieces::{Piece, Pieces};
use super::source::{Owner, PieceOrigin};

/// The end of a part of the output whose owner depends on what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    kind: Kind,
    /// The byte at which the part begins.
    start: usize,
    /// The number of pieces up to its end.
    pub count: usize,
    /// For a passage, the owner of what is written when it ends. For a round, the owner that was found for it.
    owner: Owner,
}

/// What a mark ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A part of the output, such as an `if` block, that may belong to one message.
    Passage,
    /// A round of a loop, whose pieces without an owner get one.
    Round,
}

impl Pieces {
    /// Records the end of a passage that began at a byte, after a number of pieces. If all its text of the input has one owner,
    /// [`Pieces::resolve`] makes that the owner of the text around it. `current` is the owner of what is written now. Returns the number of
    /// pieces in the passage.
    pub fn end_passage(&mut self, start: usize, before: usize, current: Owner) -> usize {
        let mut count = self.list.len().saturating_sub(before);
        if count <= 1 {
            // The pieces before the passage can have become fewer.
            count = self.after(start).len();
        }
        // A piece alone has no text around it.
        if count > 1 {
            self.push_mark(Kind::Passage, start, current);
        }
        count
    }

    /// Records the end of a round of a loop that began at a byte. Its owner becomes that of the pieces that have none. Returns the number
    /// of pieces in the round.
    pub fn end_round(&mut self, start: usize, owner: Owner) -> usize {
        let pieces = self.after(start);
        let count = pieces.len();
        if pieces.iter().any(|piece| piece.owner == Owner::NONE) {
            self.push_mark(Kind::Round, start, owner);
        }
        count
    }

    fn push_mark(&mut self, kind: Kind, start: usize, owner: Owner) {
        let count = self.end_piece();
        let mark = Mark {
            kind,
            start,
            count,
            owner,
        };
        // A passage that is all of an outer one has found the owner of that.
        if self.marks.last() != Some(&mark) {
            self.marks.push(mark);
        }
    }

    /// Applies the passages and rounds in the order in which they ended.
    pub(super) fn apply_marks(&mut self) {
        for mark in std::mem::take(&mut self.marks) {
            let before = self.list.get_mut(..mark.count).unwrap_or_default();
            match mark.kind {
                Kind::Passage => own_around(before, mark.start, mark.owner),
                Kind::Round => own_from(before, mark.start, mark.owner),
            }
        }
    }

    /// Returns the pieces that have bytes after a byte.
    fn after(&self, byte: usize) -> &[Piece] {
        self.list.get(first_after(&self.list, byte)..).unwrap_or_default()
    }
}

/// Returns the index of the first piece that has bytes after a byte. The search begins at the end, because the byte is usually near it.
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

/// Applies a passage: its message becomes the owner of the text around its strings, unless strings of other parts of the input are among
/// them. Only pieces from a byte on change, and only those that have the owner `current` and are not text of the input.
fn own_around(pieces: &mut [Piece], start: usize, current: Owner) {
    let is_input = |piece: &Piece| matches!(piece.source, PieceOrigin::Input(..) | PieceOrigin::Changed(_));
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
