//! Finds the bytes that a JSON string cannot contain unescaped: quotation marks, backslashes and control characters.
//!
//! ```text
//! plain_length(b"say \"hi\"")                                            ->  4
//! Marks::new(b"say \"hi\"")  .find_next(0), .find_next(5), .find_next(8) ->  4, 7, 8
//! ```
//!
//! Most of the time of reading and writing JSON is spent in this search. The writer has one string at a time and checks sixteen bytes at
//! once. The reader goes through a whole document with many short strings and escapes, so it checks each block of 64 bytes once and keeps
//! the result.

use crate::text::scan_blocks::{self, has_match_in_few, skip_blocks};

/// The special bytes of a document, found block by block as the reader advances.
pub(super) struct Marks<'t> {
    text: &'t [u8],
    /// The offset of the current block.
    block: usize,
    /// One bit for each byte of the current block, the lowest for the first byte. The bit is set if the byte is special.
    bits: u64,
    /// The bits of the next block. They are computed early, while the processor still works on the current block.
    bits_ahead: u64,
}

/// The number of bytes in a block: the number of bits in a `u64`.
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

    /// Returns the offset of the first special byte at or after `from`, or the length of the text.
    #[inline]
    pub fn find_next(&mut self, from: usize) -> usize {
        let inside = from % BLOCK;
        let block = from & !(BLOCK - 1);
        if block != self.block {
            if block == self.block + BLOCK {
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
        while self.block + BLOCK < self.text.len() {
            self.advance_block();
            if self.bits != 0 {
                return self.block + self.bits.trailing_zeros() as usize;
            }
        }
        self.text.len()
    }

    /// Moves to the next block.
    #[inline(never)]
    fn advance_block(&mut self) {
        self.block += BLOCK;
        self.bits = self.bits_ahead;
        self.bits_ahead = self.mark_block_at(self.block + BLOCK);
    }

    #[cold]
    fn load_block(&mut self, block: usize) {
        self.block = block;
        self.bits = self.mark_block_at(block);
        self.bits_ahead = self.mark_block_at(block + BLOCK);
    }

    #[inline]
    fn mark_block_at(&self, block: usize) -> u64 {
        let tail = self.text.get(block..).unwrap_or_default();
        tail.first_chunk().map_or_else(|| mark_last_block(tail), mark_block)
    }
}

/// Returns one bit for each byte of a block, set if the byte is special. The loop has a form that the compiler vectorises.
#[inline]
fn mark_block(block: &[u8; BLOCK]) -> u64 {
    let mut marks = [0; BLOCK];
    for (index, (mark, byte)) in marks.iter_mut().zip(block).enumerate() {
        *mark = if is_special(*byte) { 1_u8 << (index / 8) } else { 0 };
    }
    // Each mark uses the bit of its row, so one word can hold all rows. Transposing it puts the bits into the order of the bytes.
    let words = marks.chunks_exact(8).filter_map(|word| word.first_chunk::<8>());
    transpose(words.fold(0, |all, word| all | u64::from_le_bytes(*word)))
}

/// Transposes a square of eight rows of eight bits. It exchanges the two off-diagonal quarters in squares of one, two and four bits.
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

/// Returns the bits of the last, partial block of a document. It is padded with spaces, which are not special.
#[cold]
fn mark_last_block(tail: &[u8]) -> u64 {
    let mut block = [b' '; BLOCK];
    block.iter_mut().zip(tail).for_each(|(to, from)| *to = *from);
    mark_block(&block)
}

/// The length in bytes up to which a string counts as short. Most strings are short.
const SHORT: usize = scan_blocks::BLOCK;

/// Returns whether a string is short and has no special bytes.
#[inline(always)]
pub(super) fn is_short_and_plain(bytes: &[u8]) -> bool {
    bytes.len() <= SHORT && !has_match_in_few(bytes, is_special)
}

/// Returns whether a byte is a quotation mark, a backslash or a control character below U+0020. Flipping the second bit moves the
/// quotation mark next to the control characters, so one comparison covers both.
#[inline]
fn is_special(byte: u8) -> bool {
    (byte ^ 0x02 <= 0x20) | (byte == b'\\')
}

/// Returns the number of leading bytes that are not special.
#[inline]
pub(super) fn plain_length(bytes: &[u8]) -> usize {
    length_until(bytes, is_special, |word| special_bits(word) & !word & HIGH_BITS)
}

/// Returns the number of leading bytes that `ensure_ascii` does not escape: neither special, nor U+007F, nor outside ASCII.
#[inline]
pub(super) fn plain_ascii_length(bytes: &[u8]) -> usize {
    let is_special = |byte| is_special(byte) | (byte >= 0x7F);
    // The addition sets the high bit for U+007F. Bytes outside ASCII have it already, and carries into it do no harm.
    length_until(bytes, is_special, |word| {
        (special_bits(word) | word | (word & !HIGH_BITS).wrapping_add(LOW_BITS)) & HIGH_BITS
    })
}

const LOW_BITS: u64 = 0x0101_0101_0101_0101;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// Returns the offset of the first special byte, or the length. `marks` sets the high bit of each special byte in a word.
///
/// Marks after the first correct one may be wrong, because a borrow propagates upwards. Only the lowest mark is used.
#[inline]
fn length_until(bytes: &[u8], is_special: impl Fn(u8) -> bool + Copy, marks: impl Fn(u64) -> u64) -> usize {
    let mut tail = if bytes.len() > SHORT {
        skip_blocks(bytes, is_special)
    } else {
        bytes
    };
    while let Some((word, rest)) = tail.split_first_chunk::<8>() {
        let marked = marks(u64::from_le_bytes(*word));
        if marked != 0 {
            return bytes.len() - tail.len() + marked.trailing_zeros() as usize / 8;
        }
        tail = rest;
    }
    let plain = tail.iter().position(|byte| is_special(*byte));
    plain.map_or(bytes.len(), |plain| bytes.len() - tail.len() + plain)
}

/// Sets the high bit of each byte that is special. The high bits of bytes outside ASCII are arbitrary. It flips bits as [`is_special`]
/// does.
#[inline]
fn special_bits(word: u64) -> u64 {
    let below = (word ^ (LOW_BITS * 0x02)).wrapping_sub(LOW_BITS * 0x21);
    let backslash = (word ^ (LOW_BITS * 0x5C)).wrapping_sub(LOW_BITS);
    below | backslash
}
