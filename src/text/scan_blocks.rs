//! Passes over bytes that do not matter, sixteen at a time.
//!
//! ```text
//! skip_blocks(b"sixteen letters or\n", |byte| byte < b' ')   ->   b"or\n"
//! ```
//!
//! Written so that the compiler looks at a block as a whole. What is left is for the caller, who knows how to find one byte.

/// How many bytes a block has: as many as every processor looks at together.
pub const BLOCK: usize = 16;

/// The bytes without the blocks at their start in which none matches.
#[inline(always)]
pub fn skip_blocks(bytes: &[u8], matches: impl Fn(u8) -> bool + Copy) -> &[u8] {
    let mut tail = bytes;
    while let Some((block, rest)) = tail.split_first_chunk::<BLOCK>() {
        if block_has_match(block, matches) {
            break;
        }
        tail = rest;
    }
    tail
}

/// Whether a byte of a text matches: blocks, and one that overlaps them for the rest.
#[inline(always)]
pub fn has_match(bytes: &[u8], matches: impl Fn(u8) -> bool + Copy) -> bool {
    let tail = skip_blocks(bytes, matches);
    if tail.len() >= BLOCK {
        return true;
    }
    match bytes.last_chunk::<BLOCK>() {
        Some(last) => block_has_match(last, matches),
        None => has_match_in_few(tail, matches),
    }
}

/// The same of bytes that are no more than a block has: two halves that overlap make one block of them, which the compiler looks at as a
/// whole.
#[inline(always)]
pub fn has_match_in_few(bytes: &[u8], matches: impl Fn(u8) -> bool + Copy) -> bool {
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        return block_has_match(first, matches) | block_has_match(last, matches);
    }
    match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(first), Some(last)) => block_has_match(first, matches) | block_has_match(last, matches),
        _ => bytes.iter().any(|byte| matches(*byte)),
    }
}

/// Whether a byte of a block matches.
#[inline(always)]
fn block_has_match<const LENGTH: usize>(block: &[u8; LENGTH], matches: impl Fn(u8) -> bool) -> bool {
    block.iter().fold(false, |any, byte| any | matches(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_of_the_first_byte_that_matters_is_left() {
        for length in 0..70 {
            for place in 0..=length {
                let mut bytes = vec![b'~'; length];
                bytes.iter_mut().skip(place).for_each(|byte| *byte = b'\n');
                let left = skip_blocks(&bytes, |byte| byte < b' ').len();
                assert_eq!(left, length - place / BLOCK * BLOCK, "byte {place} of {length}");
                assert_eq!(
                    has_match(&bytes, |byte| byte < b' '),
                    place < length,
                    "byte {place} of {length}"
                );
            }
        }
    }
}
