//! Where a long text is cut: the filter `truncate`.
//!
//! ```text
//! truncated("hello world foo", 6, 5, false)     Some("hello")    at the last blank
//! truncated("hello world foo", 7, 8, false)     None             short enough
//! ```
//!
//! The ellipsis, and the assertions about its length, are the filter's. The rule is that of jinja2's
//! `do_truncate`.

use super::slice::{char_count, split_at_char};

/// What is kept of the text, or `None` if the whole fits.
///
/// `kept` is the length asked for minus that of the ellipsis, `tolerated` the length that is left as it is
/// (the length asked for plus the leeway).
pub fn truncated(text: &str, kept: usize, tolerated: usize, kills_words: bool) -> Option<&str> {
    if char_count(text) <= tolerated {
        return None;
    }
    let (beginning, _) = split_at_char(text, kept);
    if kills_words {
        return Some(beginning);
    }
    Some(beginning.rsplit_once(' ').map_or(beginning, |(before, _)| before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_at_the_last_blank() {
        assert_eq!(truncated("hello world foo", 6, 14, false), Some("hello"));
        assert_eq!(truncated("hello world foo", 8, 11, true), Some("hello wo"));
        assert_eq!(truncated("hello world foo", 4, 11, false), Some("hell"));
        assert_eq!(truncated("hello world foo", 7, 15, false), None);
    }
}
