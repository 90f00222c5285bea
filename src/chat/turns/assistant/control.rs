//! Finds strings that look like control tokens: `<|im_end|>`, `[INST]`, `</s>`.

use std::ops::Range;

use crate::trace::{Part, Paths, Place, ROOT};

/// The maximum number of bytes of a control token.
pub(in crate::chat) const MAX_BYTES: usize = 64;

/// Returns the length of the control token at the start of a string. A control token is enclosed in `<…>` or `[…]`, and has no
/// white space.
pub(in crate::chat) fn control_token(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (open, close) = match bytes.first()? {
        b'<' => (b'<', b'>'),
        b'[' => (b'[', b']'),
        _ => return None,
    };
    let mut at = 1_usize;
    while at < MAX_BYTES {
        match *bytes.get(at)? {
            byte if byte == close => return (at > 1).then(|| at + 1),
            byte if byte == open || matches!(byte, b' ' | b'\t'..=b'\r') => return None,
            0..0x80 => at += 1,
            _ => {
                let char = text.get(at..)?.chars().next().filter(|char| !char.is_whitespace())?;
                at += char.len_utf8();
            }
        }
    }
    None
}

/// Returns the control tokens of a string.
pub(crate) fn control_tokens(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0_usize;
    std::iter::from_fn(move || {
        while let Some(next) = text.get(at..)?.bytes().position(|byte| matches!(byte, b'<' | b'[')) {
            let start = at + next;
            at = start + 1;
            if let Some(length) = control_token(text.get(start..)?) {
                at = start + length;
                return Some(start..at);
            }
        }
        None
    })
}

/// Returns whether a string begins with a control token that opens or closes a thought, such as `<think>` or `<|channel|>analysis`.
pub(crate) fn is_thought(text: &str) -> bool {
    let text = text.trim_start();
    let Some(length) = control_token(text) else { return false };
    let (token, rest) = text.split_at_checked(length).unwrap_or_default();
    let has = |text: &str| {
        ["think", "thought", "reason", "analysis"]
            .iter()
            .any(|word| text.contains(word))
    };
    let word = rest
        .split(|char: char| !char.is_ascii_alphabetic())
        .next()
        .unwrap_or_default();
    let token = token.to_ascii_lowercase();
    has(&token) || (token.contains("channel") && has(&word.to_ascii_lowercase()))
}

/// Returns the start of the first control token that opens or closes a thought.
pub(super) fn find_thought(text: &str) -> Option<usize> {
    let mut starts = control_tokens(text).map(|token| token.start);
    starts.find(|start| is_thought(text.get(*start..).unwrap_or_default()))
}

/// Returns the last control token of a string.
pub(in crate::chat) fn last_control_token(text: &str) -> Option<Range<usize>> {
    control_tokens(text).last()
}

/// Returns the places within a generation prompt at which the text of a turn can begin to differ from it: around a control token and after
/// a line break, but not between a control token and a word after it, which names the role.
pub(super) fn prompt_edges(prompt: &str) -> impl Iterator<Item = usize> + '_ {
    let lines = prompt.match_indices('\n').map(|(at, _)| at + 1);
    let tokens = control_tokens(prompt).flat_map(|token| {
        let rest = prompt.get(token.end..).unwrap_or_default();
        let is_name = rest.starts_with(char::is_alphanumeric);
        [Some(token.start), (!is_name).then_some(token.end)]
    });
    lines.chain(tokens.flatten())
}

/// Returns whether a part of a prompt is the end-of-sequence token.
pub(in crate::chat) fn is_eos(part: &Part, paths: &Paths) -> bool {
    match part.place {
        Place::Token(name) => paths.key(name) == "eos_token",
        _ => part
            .path_indices(paths)
            .any(|path| paths.parent(path) == ROOT && paths.key(path) == "eos_token"),
    }
}

/// Returns the length in bytes of the common prefix of two strings, in whole characters.
pub fn common_prefix(left: &str, right: &str) -> usize {
    let common = left
        .bytes()
        .zip(right.bytes())
        .take_while(|(left, right)| left == right)
        .count();
    let is_edge = |at: &usize| left.is_char_boundary(*at) && right.is_char_boundary(*at);
    (0..=common).rev().find(is_edge).unwrap_or_default()
}

/// Returns the longest common suffix of two strings, in whole characters.
pub(crate) fn common_suffix<'t>(left: &'t str, right: &str) -> &'t str {
    let pairs = left.char_indices().rev().zip(right.chars().rev());
    let shared = pairs.take_while(|((_, left), right)| left == right);
    let start = shared.last().map_or(left.len(), |((at, _), _)| at);
    left.get(start..).unwrap_or_default()
}
