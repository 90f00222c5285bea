//! The error for a keyword that no parameter takes, with the parameter that CPython suggests in its place.
//!
//! ```text
//! 'a'.split(sepp=',')    split() got an unexpected keyword argument 'sepp'. Did you mean 'sep'?
//! ```
//!
//! The rule is CPython 3.13 `suggestions.c`, `_Py_CalculateSuggestions` and `levenshtein_distance`. It compares bytes.

use crate::error::Error;
use crate::value::Parameter;

/// What it costs to insert, delete or replace a byte.
const MOVE: usize = 2;

/// What it costs to replace a letter by the same letter in the other case.
const CASE: usize = 1;

/// A name is not compared if more bytes than this are left between the common bytes at both ends.
const LONGEST: usize = 40;

/// Returns the TypeError for a keyword that no parameter takes. `parameters` are those that can be passed by name.
pub(super) fn unexpected_keyword(function: &str, keyword: &str, parameters: &[Parameter]) -> Error {
    let mut message = format!("{function}() got an unexpected keyword argument '{keyword}'");
    if let Some(name) = suggest(keyword, parameters) {
        message.push_str(&format!(". Did you mean '{name}'?"));
    }
    Error::type_error(message)
}

/// Returns the first of the parameters with the smallest distance from the keyword, if less than a third of their bytes differ.
fn suggest(keyword: &str, parameters: &[Parameter]) -> Option<&'static str> {
    let (mut nearest, mut limit) = (None, usize::MAX);
    for Parameter { name, .. } in parameters {
        let bytes = keyword.len() + name.len() + 3;
        let most = limit.min(bytes.saturating_mul(MOVE) / 6);
        if let Some(distance) = distance(keyword.as_bytes(), name.as_bytes()).filter(|distance| *distance <= most) {
            nearest = Some(*name);
            let Some(smaller) = distance.checked_sub(1) else { break };
            limit = smaller;
        }
    }
    nearest
}

/// Returns the smallest cost of changing one string into the other, or `None` if they are too long to compare.
fn distance(mut left: &[u8], mut right: &[u8]) -> Option<usize> {
    while let ([first, left_rest @ ..], [other, right_rest @ ..]) = (left, right) {
        if first != other {
            break;
        }
        (left, right) = (left_rest, right_rest);
    }
    while let ([left_rest @ .., last], [right_rest @ .., other]) = (left, right) {
        if last != other {
            break;
        }
        (left, right) = (left_rest, right_rest);
    }
    if left.is_empty() || right.is_empty() {
        return Some((left.len() + right.len()).saturating_mul(MOVE));
    }
    if left.len().max(right.len()) > LONGEST {
        return None;
    }
    // The costs of changing nothing into each beginning of `left`, and then each beginning of `right` into them.
    let mut row: Vec<usize> = (0..=left.len()).map(|length| length.saturating_mul(MOVE)).collect();
    for byte in right {
        let mut before: Option<[usize; 2]> = None;
        for (index, cost) in row.iter_mut().enumerate() {
            let above = *cost;
            let moved = above + MOVE;
            *cost = match (before, index.checked_sub(1).and_then(|index| left.get(index))) {
                (Some([diagonal, behind]), Some(other)) => {
                    let replaced = diagonal + cost_of_replacing(*byte, *other);
                    replaced.min(moved).min(behind + MOVE)
                }
                _ => moved,
            };
            before = Some([above, *cost]);
        }
    }
    row.last().copied()
}

fn cost_of_replacing(byte: u8, other: u8) -> usize {
    if byte == other {
        0
    } else if byte.eq_ignore_ascii_case(&other) {
        CASE
    } else {
        MOVE
    }
}
