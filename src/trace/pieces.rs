//! The pieces of a text that the render made.

use std::ops::Range;

use super::writes::Writes;

/// The origin of a piece, by indices that only its render knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A `{% generation %}` block wrote the piece. Other pieces have the origins of the characters that it covers.
    Generation,
    /// The template's text or a literal that begins on this line.
    Template(u32),
    /// A special token, by the index of its path in [`Places`](super::Places).
    Token(u32),
    /// A part of a string of the input: the index of the string, and the byte at which the part begins.
    Input(u32, u32),
    /// Made from strings of the input: the index of the set of their paths.
    Changed(u32),
    /// None of these.
    Made,
}

/// The message that owns a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner(u32);

impl Owner {
    /// No message.
    pub const NONE: Self = Self(u32::MAX);

    /// Returns the owner that is the message with an index.
    pub fn message(index: usize) -> Self {
        Self(to_offset(index))
    }

    /// Returns the index of the message.
    pub fn index(self) -> Option<usize> {
        (self != Self::NONE).then_some(self.0 as usize)
    }

    /// Returns the owner, or another one if there is none.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        if self == Self::NONE { other } else { self }
    }
}

impl Default for Owner {
    fn default() -> Self {
        Self::NONE
    }
}

/// A byte range of a text, with its origin and its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The first byte and the byte after the last. A text that is traced is shorter than 4 GiB.
    bytes: [u32; 2],
    /// The origin.
    pub source: Source,
    /// The owner.
    pub owner: Owner,
}

impl Piece {
    /// Makes a piece of a byte range.
    pub fn new(bytes: Range<usize>, source: Source, owner: Owner) -> Self {
        Self {
            bytes: [bytes.start, bytes.end].map(to_offset),
            source,
            owner,
        }
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

    /// Moves the end to that of the piece that continues this one.
    pub(super) fn extend(&mut self, next: &Self) {
        let ([_, end], [_, next]) = (&mut self.bytes, next.bytes);
        *end = next;
    }

    /// Returns whether the piece continues another one, so the two can be merged.
    pub(super) fn follows(&self, last: &Self) -> bool {
        let continues = match (&last.source, &self.source) {
            (Source::Template(line), Source::Template(other)) => line == other,
            (Source::Input(string, at), Source::Input(other, next)) => {
                let end = (*at as usize).saturating_add(last.bytes().len());
                string == other && end == *next as usize
            }
            (Source::Token(token), Source::Token(other)) => token == other,
            (Source::Changed(set), Source::Changed(other)) => set == other,
            (Source::Made, Source::Made) => true,
            _ => false,
        };
        continues && last.owner == self.owner && last.end() == self.start()
    }
}

/// The pieces of a text, sorted by their ends.
///
/// A render that is not traced records only the pieces of `{% generation %}` blocks. In one that is traced, each text also has pieces with
/// an origin, from its first byte to its last without a gap.
#[derive(Clone, Debug, Default)]
pub struct Pieces {
    list: Vec<Piece>,
    /// No piece at or after this index is a block.
    blocks_end: usize,
    /// The byte after the last piece with an origin.
    filled: usize,
    /// The number of pieces at the start of the list that no longer grow.
    sealed: usize,
    /// The values that were written to the text, if the caller asked for them.
    writes: Option<Box<Writes>>,
}

impl Pieces {
    /// Makes a list with memory for the pieces of a short output.
    pub fn with_capacity() -> Self {
        Self {
            list: Vec::with_capacity(FEW),
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
    pub fn bytes(&self) -> usize {
        let writes = self.writes.as_ref().map_or(0, |writes| writes.bytes());
        self.list.capacity().saturating_mul(size_of::<Piece>()).saturating_add(writes)
    }

    /// Makes room for a number of writes.
    pub fn reserve_writes(&mut self, capacity: usize) {
        self.writes = Some(Box::new(Writes::with_capacity(capacity)));
    }

    /// Takes the list of what was written to the text. The list is empty if nothing was recorded.
    pub fn take_writes(&mut self) -> Writes {
        self.writes.take().map(|writes| *writes).unwrap_or_default()
    }

    /// Returns what was written to the text, if anything was recorded.
    pub fn writes(&self) -> Option<&Writes> {
        self.writes.as_deref()
    }

    /// Returns the list of what was written to the text, and makes it if there is none.
    pub fn writes_mut(&mut self) -> &mut Writes {
        self.writes.get_or_insert_default()
    }

    /// Records that a value was written to a byte range of the text. `memory` is that of a [`Write`](super::Write).
    pub fn add_write(&mut self, output: Range<usize>, memory: Range<usize>) {
        if !output.is_empty() {
            self.writes_mut().push(output, memory);
        }
    }

    /// Removes the writes from the start of a byte range on, and records that a value made by the render was written to the range.
    pub fn add_made_write(&mut self, output: Range<usize>) {
        self.writes_mut().truncate(output.start);
        self.add_write(output, 0..0);
    }

    /// Adds the byte range of a `{% generation %}` block that has just ended.
    pub fn push_block(&mut self, block: Range<usize>) {
        self.push(Piece::new(block, Source::Generation, Owner::NONE));
    }

    /// Adds a piece after the others. An empty one is left out, unless it is a block.
    pub fn push(&mut self, piece: Piece) {
        if piece.source == Source::Generation {
            self.list.push(piece);
            self.blocks_end = self.list.len();
            return;
        }
        if piece.bytes().is_empty() {
            return;
        }
        self.filled = piece.end();
        let is_open = self.list.len() > self.sealed;
        match self.list.last_mut() {
            Some(last) if is_open && piece.follows(last) => last.extend(&piece),
            _ => self.list.push(piece),
        }
    }

    /// Adds a piece from the end of the last piece with an origin to a byte, if there is a gap.
    pub fn fill(&mut self, end: usize, source: Source, owner: Owner) {
        if self.filled < end {
            self.push(Piece::new(self.filled..end, source, owner));
        }
    }

    /// Returns the pieces that have bytes in a range, and blocks between and after them. The caller charges a step for each.
    pub fn overlapping(&self, range: Range<usize>) -> impl Iterator<Item = &Piece> {
        let first = self.list.partition_point(|piece| piece.end() <= range.start);
        let rest = self.list.get(first..).unwrap_or_default().iter();
        rest.take_while(move |piece| piece.source == Source::Generation || piece.start() < range.end)
    }

    /// Returns the pieces that a view of the text can have, for [`Pieces::append_view`]. A block ends after the pieces in it, so all up to
    /// the last block can be in the view. The caller charges a step for each.
    pub fn in_view(&self, view: &Range<usize>) -> &[Piece] {
        let first = self.list.partition_point(|piece| piece.end() < view.start);
        let rest = self.list.get(first..).unwrap_or_default();
        let ended = rest.partition_point(|piece| piece.end() < view.end);
        let after = ended.max(self.blocks_end.saturating_sub(first)).saturating_add(1);
        rest.get(..after).unwrap_or(rest)
    }

    /// Adds the pieces `found` of another text, a range of which is written to this text at the byte `at`. A piece without an owner gets
    /// the given owner.
    pub fn append_view(&mut self, found: &[Piece], view: &Range<usize>, at: usize, owner: Owner) {
        for piece in found {
            let is_block = piece.source == Source::Generation;
            let (start, end) = (piece.start().max(view.start), piece.end().min(view.end));
            let is_empty_block = is_block && piece.bytes().is_empty() && (start..end) == piece.bytes();
            if start < end || is_empty_block {
                let shift = |byte: usize| byte.saturating_sub(view.start).saturating_add(at);
                let source = match piece.source {
                    Source::Input(string, at) => {
                        let skipped = start.saturating_sub(piece.start());
                        Source::Input(string, at.saturating_add(to_offset(skipped)))
                    }
                    source => source,
                };
                self.push(Piece::new(shift(start)..shift(end), source, piece.owner.or(owner)));
            }
        }
    }

    /// Moves the end of the last piece to a byte after it.
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
        if let Some(writes) = &mut self.writes {
            // No write is cut, so the text is not needed.
            let _ = taken.writes_mut().append_view(writes, "", &view, 0);
            writes.truncate(start);
        }
        taken
    }

    /// Removes the pieces from a byte on, where the text was cut. A block that begins at that byte is kept, and becomes empty.
    pub fn truncate(&mut self, length: usize) {
        let first = self.list.partition_point(|piece| piece.end() < length);
        let cut = self.list.split_off(first).into_iter();
        let kept = cut.filter(|piece| piece.start() < length || (piece.source == Source::Generation && piece.start() == length));
        self.list.extend(kept.map(|mut piece| {
            piece.bytes = piece.bytes.map(|byte| byte.min(to_offset(length)));
            piece
        }));
        self.blocks_end = self.blocks_end.min(self.list.len());
        self.filled = self.filled.min(length);
        if let Some(writes) = &mut self.writes {
            writes.truncate(length);
        }
    }

    /// Frees the memory that is not needed when no more pieces are added.
    pub fn finish(&mut self) {
        free_spare(&mut self.list);
    }

    /// Ends the last piece, so that later text has pieces of its own. Returns the number of pieces.
    pub fn end_piece(&mut self) -> usize {
        self.sealed = self.list.len();
        self.sealed
    }

    /// Sets the owner of the pieces that have none, from an index on.
    pub fn own_from(&mut self, index: usize, owner: Owner) {
        let new = self.list.get_mut(index..).unwrap_or_default();
        new.iter_mut().for_each(|piece| piece.owner = piece.owner.or(owner));
    }

    /// Makes a message the owner of the text around its own texts, unless texts of other parts of the input are among them. Only pieces
    /// from an index on change, and only those that have the owner `current` and are not text of the input.
    pub fn own_around(&mut self, index: usize, current: Owner) {
        let is_input = |piece: &Piece| matches!(piece.source, Source::Input(..) | Source::Changed(_));
        let new = self.list.get_mut(index..).unwrap_or_default();
        let mut inputs = new.iter().filter(|piece| is_input(piece)).map(|piece| piece.owner);
        let Some(owner) = inputs.next().filter(|owner| *owner != current && *owner != Owner::NONE) else {
            return;
        };
        if inputs.all(|other| other == owner) {
            let around = new.iter_mut().filter(|piece| !is_input(piece) && piece.owner == current);
            around.for_each(|piece| piece.owner = owner);
        }
    }

    /// Returns the byte after the last piece with an origin.
    pub(super) fn filled(&self) -> usize {
        self.filled
    }

    /// Returns the pieces in the order of their ends.
    pub fn list(&self) -> &[Piece] {
        &self.list
    }

    /// Returns the byte ranges of the `{% generation %}` blocks, sorted by start. An outer block comes before an inner one.
    pub fn blocks(&self) -> Vec<Range<usize>> {
        let blocks = self.list.iter().filter(|piece| piece.source == Source::Generation);
        let mut blocks: Vec<_> = blocks.map(Piece::bytes).collect();
        blocks.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
        blocks
    }
}

/// The number of items that a list has memory for from the start. A short conversation needs no more, and glibc's allocator is fastest for
/// blocks of at most 1032 bytes.
pub(super) const FEW: usize = 32;

/// The unused capacity that a finished list or text may keep, in items or bytes.
const MAX_SPARE: usize = 512;

/// Frees the unused memory of a list to which no more items are added, unless it is little.
pub(super) fn free_spare<T>(list: &mut Vec<T>) {
    if list.capacity().saturating_sub(list.len()) > MAX_SPARE {
        list.shrink_to_fit();
    }
}

/// Frees the unused memory of a text to which nothing more is added, unless it is little.
pub fn free_spare_text(text: &mut String) {
    if text.capacity().saturating_sub(text.len()) > MAX_SPARE {
        text.shrink_to_fit();
    }
}

/// Converts an offset to 32 bits. An offset that does not fit becomes `u32::MAX`.
pub(super) fn to_offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
