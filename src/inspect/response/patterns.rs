//! Makes regular expressions for what a model writes from what a template prints.
//!
//! ```text
//! <call> <id>Kd7mWx2Qp</id>   ->   <call>\s*<id>\s*\S*?\s*</id>
//! ```

use crate::chat::control_tokens;
use crate::inspect::plant::{ARGUMENT, FUNCTION, ID, PARAMETER};

/// The attributes of a string between tags, and those of other values too.
const TYPES: [(&str, &str); 2] = [
    ("\"true\"", "\"(?:true|false)\""),
    ("\"string\"", "\"(?:string|number|integer|boolean|array|object|null)\""),
];

/// Removes an incomplete tag from the end of a string.
pub fn cut_end(text: &str) -> &str {
    let (before, tag) = text.rfind(['<', '[']).map_or((text, ""), |at| text.split_at(at));
    if tag.contains(['>', ']']) { text } else { before }
}

/// Returns the parts of a string between which a model can write other white space: words, tags, and text after the punctuation of JSON.
pub fn split(text: &str) -> Vec<&str> {
    let tokens: Vec<_> = control_tokens(text).collect();
    let is_cut = |at: usize| {
        let (before, after) = text.split_at_checked(at).unwrap_or_default();
        let (last, next) = (before.chars().next_back(), after.chars().next());
        let is_within = tokens.iter().any(|token| token.start < at && at < token.end);
        let is_edge = before.ends_with(['>', ']', '{', '[', ',']) || before.ends_with("\":") || after.starts_with(['<', '[', '}']);
        !is_within && last != next && is_edge
    };
    let mut parts = Vec::new();
    let mut start = 0;
    let cuts = text.char_indices().map(|(at, _)| at).filter(|at| is_cut(*at));
    for cut in cuts.chain([text.len()]) {
        parts.extend(text.get(start..cut).unwrap_or_default().split_whitespace());
        start = cut;
    }
    parts
}

/// Returns a regular expression for a string, with any white space between its parts.
pub fn escape(text: &str) -> String {
    let parts: Vec<String> = split(text).into_iter().map(escape_exact).collect();
    parts.join(r"\s*")
}

/// Returns a regular expression for a string, with any white space between its parts and around it.
pub fn escape_around(text: &str) -> String {
    match text.trim() {
        "" => r"\s*".to_owned(),
        text => format!(r"\s*{}\s*", escape(text)),
    }
}

/// Returns a regular expression for a string that was rendered with planted words. Other words, and other types of values, can take the place
/// of the planted ones.
pub fn escape_exact(text: &str) -> String {
    let mut pattern = String::new();
    for char in text.chars() {
        match char {
            '\n' => pattern.push_str(r"\n"),
            '\\' | '.' | '+' | '*' | '?' | '(' | ')' | '|' | '[' | ']' | '{' | '}' | '^' | '$' => pattern.extend(['\\', char]),
            char => pattern.push(char),
        }
    }
    let varied = [ID, FUNCTION, ARGUMENT, PARAMETER];
    let pattern = varied.iter().fold(pattern, |pattern, word| pattern.replace(word, r"\S*?"));
    TYPES.iter().fold(pattern, |pattern, (own, all)| pattern.replace(own, all))
}

/// Returns whether a string has only control tokens and white space.
pub fn is_tags(text: &str) -> bool {
    let length: usize = control_tokens(text).map(|token| token.len()).sum();
    length == text.split_whitespace().map(str::len).sum::<usize>()
}

/// Returns the greatest length, at most `length`, at which a cut is inside no control token and no word of either string.
pub fn cut_tokens(one: &str, length: usize, other: &str) -> usize {
    let inside = [one, other]
        .into_iter()
        .find_map(|text| control_tokens(text).find(|token| token.start < length && length < token.end));
    let length = inside.map_or(length, |token| token.start);
    let is_word = |text: &str| text.get(length..).is_some_and(|rest| rest.starts_with(char::is_alphanumeric));
    let head = one.get(..length).unwrap_or_default();
    if (is_word(one) || is_word(other)) && head.ends_with(char::is_alphanumeric) {
        head.trim_end_matches(char::is_alphanumeric).len()
    } else {
        length
    }
}
