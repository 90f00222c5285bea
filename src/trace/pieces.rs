//! The tape: the pieces of a string, in the order in which a render wrote them.

use std::ops::Range;

use super::map::InputMap;
use super::owners::Mark;
use super::source::{FEW, Owner, PieceOrigin, free_spare, to_offset};

/// A byte range of a string, with its origin and its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The first byte and the byte after the last. A string that is traced is shorter than 4 GiB.
    bytes: [u32; 2],
    /// The origin.
    pub source: PieceOrigin,
    /// The owner.
    pub owner: Owner,
}

impl Piece {
    /// Makes a piece of a byte range.
    pub fn new(bytes: Range<usize>, source: PieceOrigin, owner: Owner) -> Self {
        Self {
            bytes: [bytes.start, bytes.end].map(to_offset),
            source,
            owner,
        }
    }

    /// Returns the first byte and the byte after the last.
    pub(super) fn offsets(&self) -> [u32; 2] {
        self.bytes
    }

    /// Returns the byte range.
    pub fn bytes(&self) -> Range<usize> {
        self.start()..self.end()
    }

    fn start(&self) -> usize {
        let [start, _] = self.bytes;
        start as usize
    }

    /// Returns the byte after the last.
    pub(super) fn end(&self) -> usize {
        let [_, end] = self.bytes;
        end as usize
    }

    /// Makes this piece end where the piece that continues it ends.
    pub(super) fn extend(&mut self, next: &Self) {
        let ([_, end], [_, next]) = (&mut self.bytes, next.bytes);
        *end = next;
    }

    /// Returns whether the piece continues another one, so the two can be merged.
    #[inline]
    pub(super) fn follows(&self, last: &Self) -> bool {
        let continues = match (&last.source, &self.source) {
            (PieceOrigin::Template(line), PieceOrigin::Template(other)) => line == other,
            (PieceOrigin::Input(string, at), PieceOrigin::Input(other, next)) => {
                let end = (*at as usize).saturating_add(last.bytes().len());
                string == other && end == *next as usize
            }
            (PieceOrigin::Memory(start), PieceOrigin::Memory(next)) => start.after(last.bytes().len()) == *next,
            (PieceOrigin::Token(token), PieceOrigin::Token(other)) => token == other,
            (PieceOrigin::Changed(set), PieceOrigin::Changed(other)) => set == other,
            (PieceOrigin::Made, PieceOrigin::Made) | (PieceOrigin::Clock, PieceOrigin::Clock) => true,
            _ => false,
        };
        continues && last.owner == self.owner && last.end() == self.start()
    }
}

/// The pieces of a string, sorted by their ends.
///
/// A render that is not traced records only the pieces of `{% generation %}` blocks. In one that is traced, each string also has pieces
/// with an origin, from its first byte to its last without a gap.
#[derive(Clone, Debug, Default)]
pub struct Pieces {
    pub(super) list: Vec<Piece>,
    /// The index after the last piece that is a block.
    pub(super) blocks_end: usize,
    /// The byte after the last piece with an origin.
    pub(super) filled: usize,
    /// The number of pieces at the start of the list that have ended: a later piece is not merged with them.
    sealed: usize,
    /// The ends of passages and rounds that [`Pieces::resolve`] has not applied.
    pub(super) marks: Vec<Mark>,
}

impl Pieces {
    /// Makes a list with memory for a number of pieces, at least those of a short output.
    pub fn with_capacity(count: usize) -> Self {
        Self {
            list: Vec::with_capacity(count.max(FEW)),
            ..Self::default()
        }
    }

    /// Returns whether there are no pieces.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the number of pieces.
    #[inline]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns the memory of the pieces in bytes.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.list.capacity() * size_of::<Piece>() + self.marks.capacity() * size_of::<Mark>()
    }

    /// Adds the byte range of a `{% generation %}` block that has just ended.
    pub fn push_block(&mut self, block: Range<usize>) {
        self.push(Piece::new(block, PieceOrigin::Generation, Owner::NONE));
    }

    /// Adds a piece after the others. An empty one is left out, unless it is a block.
    #[inline]
    pub fn push(&mut self, piece: Piece) {
        if piece.source == PieceOrigin::Generation {
            self.list.push(piece);
            self.blocks_end = self.list.len();
            return;
        }
        if !piece.bytes().is_empty() {
            self.append(piece);
        }
    }

    #[inline]
    fn append(&mut self, piece: Piece) {
        self.filled = piece.end();
        let is_open = self.list.len() > self.sealed;
        match self.list.last_mut() {
            Some(last) if is_open && piece.follows(last) => last.extend(&piece),
            _ => self.list.push(piece),
        }
    }

    /// Fills the gap between the last piece with an origin and a byte, if there is one, with a piece.
    #[inline]
    pub fn fill(&mut self, end: usize, source: PieceOrigin, owner: Owner) {
        if self.filled < end {
            self.append(Piece::new(self.filled..end, source, owner));
        }
    }

    /// Returns the pieces that have bytes in a range, and blocks between and after them. The caller charges a step for each.
    pub fn overlapping(&self, range: Range<usize>) -> impl Iterator<Item = &Piece> {
        let first = self.list.partition_point(|piece| piece.end() <= range.start);
        let rest = self.list.get(first..).unwrap_or_default().iter();
        rest.take_while(move |piece| piece.source == PieceOrigin::Generation || piece.start() < range.end)
    }

    /// Returns the pieces that can be in a view of the string, for [`Pieces::append_view`]. A block is stored after the pieces in it, so
    /// all pieces up to the last block can be in the view. The caller charges a step for each.
    pub fn in_view(&self, view: &Range<usize>) -> &[Piece] {
        let first = self.list.partition_point(|piece| piece.end() < view.start);
        let rest = self.list.get(first..).unwrap_or_default();
        let ended = rest.partition_point(|piece| piece.end() < view.end);
        let after = ended.max(self.blocks_end.saturating_sub(first)) + 1;
        rest.get(..after).unwrap_or(rest)
    }

    /// Adds the pieces `found` of another string after a range of it was copied to the byte `at` of this one. A piece without an owner gets
    /// the given owner.
    pub fn append_view(&mut self, found: &[Piece], view: &Range<usize>, at: usize, owner: Owner) {
        for piece in found {
            let is_block = piece.source == PieceOrigin::Generation;
            let (start, end) = (piece.start().max(view.start), piece.end().min(view.end));
            let is_empty_block = is_block && piece.bytes().is_empty() && (start..end) == piece.bytes();
            if start < end || is_empty_block {
                let shift = |byte: usize| byte.saturating_sub(view.start) + at;
                let source = match piece.source {
                    PieceOrigin::Input(string, at) => {
                        let skipped = start.saturating_sub(piece.start());
                        PieceOrigin::Input(string, at.saturating_add(to_offset(skipped)))
                    }
                    PieceOrigin::Memory(address) => PieceOrigin::Memory(address.after(start.saturating_sub(piece.start()))),
                    source => source,
                };
                self.push(Piece::new(shift(start)..shift(end), source, piece.owner.or(owner)));
            }
        }
    }

    /// Makes the last piece end at a later byte.
    pub fn stretch(&mut self, end: usize) {
        if let Some(last) = self.list.last_mut() {
            let [_, last] = &mut last.bytes;
            *last = to_offset(end);
            self.filled = end;
        }
    }

    /// Removes the pieces from a byte on, and returns them relative to that byte. The byte must not be within a block.
    #[must_use]
    pub fn split_off(&mut self, start: usize) -> Self {
        let mut taken = Self::default();
        let view = start..usize::MAX;
        taken.append_view(self.in_view(&view), &view, 0, Owner::NONE);
        while self.list.last().is_some_and(|piece| piece.start() >= start) {
            self.list.pop();
        }
        self.blocks_end = self.blocks_end.min(self.list.len());
        if let Some(last) = self.list.last_mut() {
            last.bytes = last.bytes.map(|byte| byte.min(to_offset(start)));
        }
        self.filled = self.filled.min(start);
        self.sealed = self.sealed.min(self.list.len());
        taken
    }

    /// Removes the pieces from a byte on, after the string was cut there. A block that begins at that byte is kept, and becomes empty.
    pub fn truncate(&mut self, length: usize) {
        let first = self.list.partition_point(|piece| piece.end() < length);
        let cut = self.list.split_off(first).into_iter();
        let kept =
            cut.filter(|piece| piece.start() < length || (piece.source == PieceOrigin::Generation && piece.start() == length));
        self.list.extend(kept.map(|mut piece| {
            piece.bytes = piece.bytes.map(|byte| byte.min(to_offset(length)));
            piece
        }));
        self.blocks_end = self.blocks_end.min(self.list.len());
        self.filled = self.filled.min(length);
    }

    /// Keeps only the first `count` pieces. The next piece begins at the byte `filled`.
    pub fn undo(&mut self, count: usize, filled: usize) {
        self.list.truncate(count);
        self.filled = filled;
        self.marks.retain(|mark| mark.count <= count);
    }

    /// Ends the last piece, so that what is written later has pieces of its own. Returns the number of pieces so far.
    pub fn end_piece(&mut self) -> usize {
        self.sealed = self.list.len();
        self.sealed
    }

    /// Returns whether there are passages or rounds that [`Pieces::resolve`] has not applied.
    #[inline]
    pub fn has_marks(&self) -> bool {
        !self.marks.is_empty()
    }

    /// Finds the origin of each piece that was copied from memory, and the owner of each piece.
    pub fn resolve(&mut self, map: &mut InputMap<'_>) {
        free_spare(&mut self.list);
        let mut are_whole = true;
        for piece in &mut self.list {
            match piece.source {
                PieceOrigin::Memory(address) => match map.find_whole(address, piece.bytes().len(), piece.owner) {
                    Some(source) => piece.source = source,
                    None => are_whole = false,
                },
                PieceOrigin::Input(..) | PieceOrigin::Changed(_) => {}
                _ => continue,
            }
            piece.owner = map.owner_of_known(piece.source, piece.owner);
        }
        if !are_whole {
            self.split(map);
        }
        self.apply_marks();
    }

    /// Splits the pieces whose memory has several origins.
    #[cold]
    fn split(&mut self, map: &mut InputMap<'_>) {
        let mut marks = self.marks.iter_mut().peekable();
        for (index, piece) in std::mem::take(&mut self.list).into_iter().enumerate() {
            while let Some(mark) = marks.next_if(|mark| mark.count <= index) {
                mark.count = self.list.len();
            }
            map.approach(piece.owner);
            match piece.source {
                PieceOrigin::Memory(address) => map.for_each_part(address, piece.bytes().len(), |map, part, source| {
                    let bytes = piece.start() + part.start..piece.start() + part.end;
                    let owner = map.owner_of_known(source, piece.owner);
                    self.list.push(Piece::new(bytes, source, owner));
                }),
                _ => self.list.push(piece),
            }
            if piece.source == PieceOrigin::Generation {
                self.blocks_end = self.list.len();
            }
        }
        marks.for_each(|mark| mark.count = self.list.len());
        self.sealed = self.list.len();
    }

    /// Returns the byte after the last piece with an origin.
    pub fn filled(&self) -> usize {
        self.filled
    }

    /// Returns the pieces in the order of their ends.
    pub fn list(&self) -> &[Piece] {
        &self.list
    }

    /// Returns the byte ranges of the `{% generation %}` blocks, sorted by start. An outer block comes before an inner one.
    pub fn blocks(&self) -> Vec<Range<usize>> {
        let blocks = self.list.iter().filter(|piece| piece.source == PieceOrigin::Generation);
        let mut blocks: Vec<_> = blocks.map(Piece::bytes).collect();
        blocks.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
        blocks
    }
}
