//! Finds the end of the bytes in a string that JSON text holds as they are.
//!
//! ```text
//! plain_length(b"say \"hi\"")  ->  4
//! ```
//!
//! Reading and escaping strings are the hot paths of this floor, and both are a search for the few bytes that matter, eight at a time.
//! Knows no escapes.

/// How many bytes at the start are neither a quotation mark, a backslash nor a control character below U+0020: those that JSON holds
/// as they are.
#[inline]
pub(super) fn plain_length(bytes: &[u8]) -> usize {
    length_until(bytes, |word| below_space(word) | equal_to(word, b'"') | equal_to(word, b'\\'))
}

/// The same for bytes that `ensure_ascii` leaves as they are: it escapes U+007F and everything beyond ASCII too.
#[inline]
pub(super) fn plain_ascii_length(bytes: &[u8]) -> usize {
    length_until(bytes, |word| {
        below_space(word) | equal_to(word, b'"') | equal_to(word, b'\\') | equal_to(word, 0x7F) | (word & HIGH_BITS)
    })
}

const LOW_BITS: u64 = 0x0101_0101_0101_0101;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// Most strings are shorter; only beyond so many bytes does it pay to look at whole blocks.
const SHORT: usize = 16;

/// The index of the first byte that `marks` marks by its high bit, or the length.
///
/// A mark may be wrong above the first right one, because a borrow runs upwards; the first byte is the lowest one of the word.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "the tail is a part of the bytes, and a word has eight of them"
)]
#[inline]
fn length_until(bytes: &[u8], marks: impl Fn(u64) -> u64) -> usize {
    let mut tail = bytes;
    while let Some((word, rest)) = tail.split_first_chunk::<8>() {
        let marked = marks(u64::from_le_bytes(*word));
        if marked != 0 {
            return bytes.len() - tail.len() + marked.trailing_zeros() as usize / 8;
        }
        tail = rest;
        if bytes.len() - tail.len() == SHORT {
            tail = without_unmarked_blocks(tail, &marks);
        }
    }
    // Spaces are never marked, so that they may fill the last word up.
    let mut last = [b' '; 8];
    last.iter_mut().zip(tail).for_each(|(to, from)| *to = *from);
    match marks(u64::from_le_bytes(last)) {
        0 => bytes.len(),
        marked => bytes.len() - tail.len() + marked.trailing_zeros() as usize / 8,
    }
}

/// The bytes from the first block on that has a mark: four words at a time, which the compiler takes together.
#[inline]
fn without_unmarked_blocks(bytes: &[u8], marks: impl Fn(u64) -> u64) -> &[u8] {
    let mut tail = bytes;
    while let Some((block, rest)) = tail.split_first_chunk::<32>() {
        let words = block.chunks_exact(8).filter_map(|word| word.first_chunk::<8>());
        if words.fold(0, |all, word| all | marks(u64::from_le_bytes(*word))) != 0 {
            break;
        }
        tail = rest;
    }
    tail
}

#[inline]
fn below_space(word: u64) -> u64 {
    word.wrapping_sub(LOW_BITS * 0x20) & !word & HIGH_BITS
}

#[inline]
fn equal_to(word: u64, byte: u8) -> u64 {
    let difference = word ^ (LOW_BITS * u64::from(byte));
    difference.wrapping_sub(LOW_BITS) & !difference & HIGH_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_at_every_place() {
        for byte in 0..=u8::MAX {
            for place in 0..100 {
                let mut bytes = [b'~'; 100];
                bytes[place] = byte;
                let is_special = byte < 0x20 || byte == b'"' || byte == b'\\';
                assert_eq!(
                    plain_length(&bytes),
                    if is_special { place } else { 100 },
                    "{byte} at {place}"
                );
                let is_special = is_special || byte >= 0x7F;
                assert_eq!(
                    plain_ascii_length(&bytes),
                    if is_special { place } else { 100 },
                    "{byte} at {place}"
                );
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
