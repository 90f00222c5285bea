//! Passes over bytes that do not matter, sixteen at a time.
//!
//! ```text
//! skip_blocks(b"sixteen letters or\n", |byte| byte < b' ')   ->   b"or\n"
//! ```
//!
//! Written so that the compiler looks at a block as a whole. What is left is for the caller, who knows how to find one byte.

/// How many bytes a block has: as many as every processor looks at together.
pub const BLOCK: usize = 16;

/// The bytes without the blocks at their start in which none matters.
#[inline(always)]
pub fn skip_blocks(bytes: &[u8], matters: impl Fn(u8) -> bool + Copy) -> &[u8] {
    let mut tail = bytes;
    while let Some((block, rest)) = tail.split_first_chunk::<BLOCK>() {
        if block_has_match(block, matters) {
            break;
        }
        tail = rest;
    }
    tail
}

/// Whether a byte of a text matters: blocks, and one that overlaps them for the rest.
#[inline(always)]
pub fn has_match(bytes: &[u8], matters: impl Fn(u8) -> bool + Copy) -> bool {
    let tail = skip_blocks(bytes, matters);
    if tail.len() >= BLOCK {
        return true;
    }
    match bytes.last_chunk::<BLOCK>() {
        Some(last) => block_has_match(last, matters),
        None => has_match_in_few(tail, matters),
    }
}

/// The same of bytes that are no more than a block has: two halves that overlap make one block of them, which the compiler looks at as a
/// whole.
#[inline(always)]
pub fn has_match_in_few(bytes: &[u8], matters: impl Fn(u8) -> bool + Copy) -> bool {
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        return block_has_match(first, matters) | block_has_match(last, matters);
    }
    match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(first), Some(last)) => block_has_match(first, matters) | block_has_match(last, matters),
        _ => bytes.iter().any(|byte| matters(*byte)),
    }
}

/// Whether a byte of a block matters.
#[inline(always)]
fn block_has_match<const LENGTH: usize>(block: &[u8; LENGTH], matters: impl Fn(u8) -> bool) -> bool {
    block.iter().fold(false, |any, byte| any | matters(*byte))
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
