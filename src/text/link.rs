//! Addresses made links: the filter `urlize`.
//!
//! ```text
//! write_linked(output, "see (example.com).", ..)
//!     see (<a href="https://example.com">example.com</a>).
//! ```
//!
//! The text is escaped already (or Markup), the attributes too. What an address is stands in `address.rs`.
//! The rule is that of jinja2's `utils.urlize`.

use super::address::{is_mail_address, is_web_address};
use super::slice::{char_count, slice};
use crate::unicode::is_whitespace;
use std::fmt::{Result, Write};

/// How links are written.
#[derive(Debug, Clone, Copy, Default)]
pub struct Links<'a> {
    /// The most code points of an address that are shown; a negative number counts from its end.
    pub trim_url_limit: Option<i64>,
    /// The attribute `rel`, escaped; none if it is empty.
    pub rel: &'a str,
    /// The attribute `target`, escaped; none if it is empty.
    pub target: &'a str,
    /// Beginnings that make a word a link, besides those that are known.
    pub extra_schemes: &'a [&'a str],
}

/// Writes the text with links.
pub fn write_linked(output: &mut impl Write, text: &str, links: Links<'_>) -> Result {
    let mut rest = text;
    while !rest.is_empty() {
        let word_end = rest.find(is_whitespace).unwrap_or(rest.len());
        let (word, from_space) = rest.split_at_checked(word_end).unwrap_or((rest, ""));
        let space_end = from_space.find(|char| !is_whitespace(char)).unwrap_or(from_space.len());
        let (space, next) = from_space.split_at_checked(space_end).unwrap_or((from_space, ""));
        write_word(output, word, links)?;
        output.write_str(space)?;
        rest = next;
    }
    Ok(())
}

fn write_word(output: &mut impl Write, word: &str, links: Links<'_>) -> Result {
    let Some((head, middle, tail)) = split_word(word) else {
        return output.write_str(word);
    };
    output.write_str(head)?;
    write_middle(output, middle, links)?;
    output.write_str(tail)
}

/// What opens the word, what may be an address, and what closes the word.
fn split_word(word: &str) -> Option<(&str, &str, &str)> {
    let mut inner = word;
    while let Some(rest) = strip_any_prefix(inner, &["(", "<", "&lt;"]) {
        inner = rest;
    }
    let head_len = word.len().checked_sub(inner.len())?;
    let mut middle = inner;
    while let Some(rest) = strip_any_suffix(middle, &[")", ">", ".", ",", "&gt;"]) {
        middle = rest;
    }
    let mut middle_len = middle.len();
    // An address that opens brackets keeps as many of the closing ones as it can.
    for (opening, closing) in [("(", ")"), ("<", ">"), ("&lt;", "&gt;")] {
        let (middle, tail) = inner.split_at_checked(middle_len)?;
        let opened = middle.matches(opening).count();
        if opened > middle.matches(closing).count() {
            let kept = tail.match_indices(closing).take(opened).last();
            middle_len = middle_len.checked_add(kept.map_or(0, |(at, found)| at.saturating_add(found.len())))?;
        }
    }
    let (middle, tail) = inner.split_at_checked(middle_len)?;
    Some((word.get(..head_len)?, middle, tail))
}

fn strip_any_prefix<'a>(text: &'a str, prefixes: &[&str]) -> Option<&'a str> {
    prefixes.iter().find_map(|prefix| text.strip_prefix(prefix))
}

fn strip_any_suffix<'a>(text: &'a str, suffixes: &[&str]) -> Option<&'a str> {
    suffixes.iter().find_map(|suffix| text.strip_suffix(suffix))
}

fn write_middle(output: &mut impl Write, middle: &str, links: Links<'_>) -> Result {
    if is_web_address(middle) {
        let has_scheme = middle.starts_with("https://") || middle.starts_with("http://");
        let scheme = if has_scheme { "" } else { "https://" };
        write!(output, "<a href=\"{scheme}{middle}\"")?;
        write_attributes(output, links)?;
        output.write_str(">")?;
        write_trimmed(output, middle, links.trim_url_limit)?;
        return output.write_str("</a>");
    }
    if let Some(address) = middle.strip_prefix("mailto:").filter(|address| is_mail_address(address)) {
        return write!(output, "<a href=\"{middle}\">{address}</a>");
    }
    if !middle.starts_with("www.") && !middle.starts_with('@') && !middle.contains(':') && is_mail_address(middle) {
        return write!(output, "<a href=\"mailto:{middle}\">{middle}</a>");
    }
    // A link begins with `<`, which no scheme does; so the first scheme that fits is the only one.
    let has_extra_scheme = links
        .extra_schemes
        .iter()
        .any(|scheme| middle.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()));
    if !has_extra_scheme {
        return output.write_str(middle);
    }
    write!(output, "<a href=\"{middle}\"")?;
    write_attributes(output, links)?;
    write!(output, ">{middle}</a>")
}

fn write_attributes(output: &mut impl Write, links: Links<'_>) -> Result {
    for (name, value) in [("rel", links.rel), ("target", links.target)] {
        if !value.is_empty() {
            write!(output, " {name}=\"{value}\"")?;
        }
    }
    Ok(())
}

fn write_trimmed(output: &mut impl Write, address: &str, limit: Option<i64>) -> Result {
    let Some(limit) = limit else {
        return output.write_str(address);
    };
    // The comparison is with the limit as it is: a negative one always trims.
    let is_longer = usize::try_from(limit).map_or(true, |limit| char_count(address) > limit);
    if !is_longer {
        return output.write_str(address);
    }
    output.write_str(&slice(address, None, Some(limit), None).unwrap_or_default())?;
    output.write_str("...")
}

#[cfg(test)]
mod tests {
    use super::super::measure::written;
    use super::*;

    fn linked(text: &str, links: Links<'_>) -> String {
        written(|output| write_linked(output, text, links))
    }

    #[test]
    fn punctuation_stays_outside() {
        assert_eq!(
            linked("see (example.com).", Links::default()),
            "see (<a href=\"https://example.com\">example.com</a>)."
        );
        assert_eq!(
            linked("http://a.bc/x_(y),", Links::default()),
            "<a href=\"http://a.bc/x_(y)\">http://a.bc/x_(y)</a>,"
        );
    }

    #[test]
    fn mail_addresses_need_no_scheme() {
        assert_eq!(linked("a@b.c", Links::default()), "<a href=\"mailto:a@b.c\">a@b.c</a>");
        assert_eq!(linked("mailto:a@b.c", Links::default()), "<a href=\"mailto:a@b.c\">a@b.c</a>");
    }

    #[test]
    fn options_change_links() {
        let links = Links {
            trim_url_limit: Some(6),
            rel: "nofollow",
            target: "_blank",
            extra_schemes: &["tel:"],
        };
        assert_eq!(
            linked("http://a.bc\ttel:1 tel:", links),
            "<a href=\"http://a.bc\" rel=\"nofollow\" target=\"_blank\">http:/...</a>\t\
             <a href=\"tel:1\" rel=\"nofollow\" target=\"_blank\">tel:1</a> tel:"
        );
    }
}
