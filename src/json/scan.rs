//! Finds the bytes that JSON text does not hold in a string as they are: quotation marks, backslashes and control characters.
//!
//! ```text
//! plain_length(b"say \"hi\"")                                     ->  4
//! Marks::new(b"say \"hi\"")  .find_next(0), .find_next(5), .find_next(8)         ->  4, 7, 8
//! ```
//!
//! Reading and escaping strings are the hot paths of this floor, and both are a search for the few bytes that matter. Who writes has
//! one string at a time and looks at sixteen bytes together. Who reads goes through a whole text, whose strings are short and whose escapes
//! are many: it looks at each block of 64 bytes once. Knows no escapes.

use crate::text::scan_blocks::{self, has_match_in_few, skip_blocks};

/// The bytes of a text that matter, found block by block as the reader gets there.
pub(super) struct Marks<'t> {
    text: &'t [u8],
    /// Where the block starts that the reader is in.
    block: usize,
    /// A bit for each byte of that block, the lowest for its first.
    bits: u64,
    /// The same for the block behind it. It is looked at before it is wanted, so that the processor does so while it still reads the
    /// one before.
    bits_ahead: u64,
}

/// How many bytes a block has: as many as there are bits in a word.
const BLOCK: usize = 64;

impl<'t> Marks<'t> {
    pub fn new(text: &'t [u8]) -> Self {
        let mut marks = Self {
            text,
            block: 0,
            bits: 0,
            bits_ahead: 0,
        };
        marks.load_block(0);
        marks
    }

    /// The place of the first byte from there on that is_special, or the text's length.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "a place in the text, and at most as many bytes more as its block has"
    )]
    #[inline]
    pub fn find_next(&mut self, from: usize) -> usize {
        let inside = from % BLOCK;
        let block = from & !(BLOCK - 1);
        if block != self.block {
            if block == self.block.saturating_add(BLOCK) {
                self.advance_block();
            } else {
                self.load_block(block);
            }
        }
        match self.bits >> inside {
            0 => self.find_in_later_blocks(),
            bits => from + bits.trailing_zeros() as usize,
        }
    }

    fn find_in_later_blocks(&mut self) -> usize {
        while self.block.saturating_add(BLOCK) < self.text.len() {
            self.advance_block();
            if self.bits != 0 {
                return self.block.saturating_add(self.bits.trailing_zeros() as usize);
            }
        }
        self.text.len()
    }

    /// Goes on to the next block.
    #[inline(never)]
    fn advance_block(&mut self) {
        self.block = self.block.saturating_add(BLOCK);
        self.bits = self.bits_ahead;
        self.bits_ahead = self.mark_block_at(self.block.saturating_add(BLOCK));
    }

    #[cold]
    fn load_block(&mut self, block: usize) {
        self.block = block;
        self.bits = self.mark_block_at(block);
        self.bits_ahead = self.mark_block_at(block.saturating_add(BLOCK));
    }

    #[inline]
    fn mark_block_at(&self, block: usize) -> u64 {
        let tail = self.text.get(block..).unwrap_or_default();
        tail.first_chunk().map_or_else(|| mark_last_block(tail), mark_block)
    }
}

/// A bit for each byte that is_special. Written so that the compiler looks at sixteen bytes at a time.
#[inline]
fn mark_block(block: &[u8; BLOCK]) -> u64 {
    let mut marks = [0; BLOCK];
    for (index, (mark, byte)) in marks.iter_mut().zip(block).enumerate() {
        *mark = if is_special(*byte) { 1_u8 << (index / 8) } else { 0 };
    }
    // Each word of eight bytes has a bit of its own: one word holds them all, a row for each place in a word.
    let words = marks.chunks_exact(8).filter_map(|word| word.first_chunk::<8>());
    transpose(words.fold(0, |all, word| all | u64::from_le_bytes(*word)))
}

/// The square of eight rows of eight bits with its rows as columns: the halves change places across the diagonal, in squares of one
/// bit, of two and of four.
#[inline]
fn transpose(square: u64) -> u64 {
    [
        (7, 0x00AA_00AA_00AA_00AA),
        (14, 0x0000_CCCC_0000_CCCC),
        (28, 0x0000_0000_F0F0_F0F0),
    ]
    .into_iter()
    .fold(square, |square, (distance, upper)| {
        let differs = (square ^ (square >> distance)) & upper;
        square ^ differs ^ (differs << distance)
    })
}

/// The same for the rest of a text that is no whole block. Spaces do not matter, so that they may fill it up.
#[cold]
fn mark_last_block(tail: &[u8]) -> u64 {
    let mut block = [b' '; BLOCK];
    block.iter_mut().zip(tail).for_each(|(to, from)| *to = *from);
    mark_block(&block)
}

/// Most strings are at most so long.
const SHORT: usize = scan_blocks::BLOCK;

/// Whether a text is short, and JSON holds all its bytes as they are: none is a quotation mark, a backslash or a
/// control character below U+0020.
#[inline(always)]
pub(super) fn is_short_and_plain(bytes: &[u8]) -> bool {
    bytes.len() <= SHORT && !has_match_in_few(bytes, is_special)
}

/// Whether JSON does not hold a byte as it is. Flipped in its second bit a quotation mark comes to stand right behind the control
/// characters, and these stay among themselves.
#[inline]
fn is_special(byte: u8) -> bool {
    (byte ^ 0x02 <= 0x20) | (byte == b'\\')
}

/// How many bytes at the start JSON holds as they are.
#[inline]
pub(super) fn plain_length(bytes: &[u8]) -> usize {
    length_until(bytes, is_special, |word| special_bits(word) & !word & HIGH_BITS)
}

/// The same for bytes that `ensure_ascii` leaves as they are: it escapes U+007F and everything beyond ASCII too.
#[inline]
pub(super) fn plain_ascii_length(bytes: &[u8]) -> usize {
    let is_special = |byte| is_special(byte) | (byte >= 0x7F);
    // U+007F, and with it the bytes that have the high bit, whatever carries into that.
    length_until(bytes, is_special, |word| {
        (special_bits(word) | word | (word & !HIGH_BITS).wrapping_add(LOW_BITS)) & HIGH_BITS
    })
}

const LOW_BITS: u64 = 0x0101_0101_0101_0101;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// The index of the first byte that is_special, which `marks` marks by its high bit, or the length.
///
/// A mark may be wrong above the first right one, because a borrow runs upwards; the first byte is the lowest one of the word.
#[inline]
fn length_until(bytes: &[u8], is_special: impl Fn(u8) -> bool + Copy, marks: impl Fn(u64) -> u64) -> usize {
    if bytes.len() > SHORT {
        return long_length_until(bytes, is_special, marks);
    }
    match bytes.first_chunk::<8>().map_or(0, |word| marks(u64::from_le_bytes(*word))) {
        0 => tail_length_until(bytes, marks),
        marked => marked.trailing_zeros() as usize / 8,
    }
}

#[expect(
    clippy::arithmetic_side_effects,
    reason = "the tail is a part of the bytes, and a word has eight of them"
)]
#[inline]
fn long_length_until(bytes: &[u8], is_special: impl Fn(u8) -> bool + Copy, marks: impl Fn(u64) -> u64) -> usize {
    let mut tail = skip_blocks(bytes, is_special);
    while let Some((word, rest)) = tail.split_first_chunk::<8>() {
        let marked = marks(u64::from_le_bytes(*word));
        if marked != 0 {
            return bytes.len() - tail.len() + marked.trailing_zeros() as usize / 8;
        }
        tail = rest;
    }
    tail_length_until(bytes, marks)
}

/// The same for bytes of which only the last eight may be marked.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "a byte that is marked is among the last eight, or among fewer"
)]
#[inline]
fn tail_length_until(bytes: &[u8], marks: impl Fn(u64) -> u64) -> usize {
    match marks(last_word(bytes)) {
        0 => bytes.len(),
        marked => match marked.trailing_zeros() as usize / 8 {
            place if place < 4 && bytes.len() < 8 => place,
            place => (bytes.len() + place) - 8,
        },
    }
}

/// The last eight bytes; of fewer than eight the first four and the last four, and of fewer than four all, filled up with spaces, which
/// are never marked. Put together in a register: from memory it could be read only once its parts are there.
#[inline]
fn last_word(bytes: &[u8]) -> u64 {
    if let Some(word) = bytes.last_chunk() {
        return u64::from_le_bytes(*word);
    }
    match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(first), Some(last)) => u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32,
        _ => bytes
            .iter()
            .rev()
            .fold(LOW_BITS * 0x20, |word, byte| word << 8 | u64::from(*byte)),
    }
}

/// The high bit of each byte that is a quotation mark, a backslash or a control character; what it says of bytes beyond ASCII is no use.
///
/// Flipped as in [`is_special`].
#[inline]
fn special_bits(word: u64) -> u64 {
    let below = (word ^ (LOW_BITS * 0x02)).wrapping_sub(LOW_BITS * 0x21);
    let backslash = (word ^ (LOW_BITS * 0x5C)).wrapping_sub(LOW_BITS);
    below | backslash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_at_every_place() {
        for byte in 0..=u8::MAX {
            for place in 0..50 {
                let mut bytes = [b'~'; 50];
                bytes[place] = byte;
                let is_special = byte < 0x20 || byte == b'"' || byte == b'\\';
                for length in place + 1..=50 {
                    let bytes = &bytes[..length];
                    let plain = if is_special { place } else { length };
                    assert_eq!(plain_length(bytes), plain, "{byte} at {place} of {length}");
                    assert_eq!(
                        is_short_and_plain(bytes),
                        length <= SHORT && !is_special,
                        "{byte} at {place} of {length}"
                    );
                    let plain = if is_special || byte >= 0x7F { place } else { length };
                    assert_eq!(plain_ascii_length(bytes), plain, "{byte} at {place} of {length}");
                }
            }
        }
    }

    #[test]
    fn every_mark_of_a_text_is_found_in_order() {
        for length in [0, 1, 63, 64, 65, 200] {
            for step in [1, 2, 7, 63, 64, 65] {
                let mut text = vec![b'~'; length];
                let places: Vec<usize> = (0..length).step_by(step).collect();
                for (index, place) in places.iter().enumerate() {
                    text[*place] = [b'"', b'\\', 0, 0x1F][index % 4];
                }
                let (mut marks, mut from, mut found) = (Marks::new(&text), 0, Vec::new());
                while from < length {
                    let place = marks.find_next(from);
                    found.extend((place < length).then_some(place));
                    from = place + 1;
                }
                assert_eq!(found, places, "{length} bytes");
                assert_eq!(marks.find_next(length), length);
            }
        }
    }

    #[test]
    fn the_first_of_several_counts() {
        assert_eq!(plain_length(b"!\"!\x20\x1f\\"), 1);
        assert_eq!(plain_length(b"12345678901\x01\x02\""), 11);
        assert_eq!(plain_length(b""), 0);
    }
}
