//! Searches for bytes with a property, sixteen bytes at a time.
//!
//! ```text
//! skip_blocks(b"sixteen letters or\n", |byte| byte < b' ')   ->   b"or\n"
//! ```
//!
//! The loops have a form that the compiler turns into vector instructions. The caller finds the byte within the remaining bytes.

/// The number of bytes in a block: the width of a vector register on every common processor.
pub const BLOCK: usize = 16;

/// Returns the bytes after the leading blocks in which no byte matches.
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

/// Returns whether any byte matches. The bytes after the last whole block are checked in a block that overlaps it.
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

/// Returns whether any byte matches, for at most [`BLOCK`] bytes. The bytes are checked as two overlapping halves.
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

/// Returns whether any byte of a block matches.
#[inline(always)]
fn block_has_match<const LENGTH: usize>(block: &[u8; LENGTH], matches: impl Fn(u8) -> bool) -> bool {
    block.iter().fold(false, |any, byte| any | matches(*byte))
}
