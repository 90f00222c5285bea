//! Where a long text is cut: the filter `truncate`.
//!
//! ```text
//! shorten("hello world foo", 8, false)     "hello"       at the last blank
//! shorten("hello world foo", 8, true)      "hello wo"
//! ```
//!
//! Whether a text is too long, the ellipsis, and the assertions about its length are the filter's. The rule is that of jinja2's
//! `do_truncate`.

use super::slice::split_at_char;

/// What is left of a text of which so many code points are kept.
pub fn shorten(text: &str, kept: usize, kills_words: bool) -> &str {
    let (beginning, _) = split_at_char(text, kept);
    match beginning.rsplit_once(' ') {
        Some((before, _)) if !kills_words => before,
        _ => beginning,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_at_the_last_blank() {
        assert_eq!(shorten("hello world foo", 6, false), "hello");
        assert_eq!(shorten("hello world foo", 8, true), "hello wo");
        assert_eq!(shorten("hello world foo", 4, false), "hell");
        assert_eq!(shorten("hello", 9, false), "hello");
    }
}
