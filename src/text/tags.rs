//! Text without HTML tags: `Markup.striptags`.
//!
//! ```text
//! strip_tags("<p>a  <b>b</b></p> &lt;")    "a b <"
//! ```
//!
//! Tags and comments go, whitespace becomes single blanks, then references are resolved. The rule is
//! that of markupsafe 3.0.4's `Markup.striptags`: an unclosed tag or comment stays as text.

use super::split::split_whitespace;
use super::unescape::{TooManyDigits, unescape};

/// `Markup.striptags`
pub fn strip_tags(text: &str) -> Result<String, TooManyDigits> {
    let collapsed = collapse_whitespace(&without_tags(text));
    Ok(unescape(&collapsed)?.into_owned())
}

fn without_tags(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = split_at_tag(rest) {
        output.push_str(before);
        rest = after;
    }
    output.push_str(rest);
    output
}

/// What stands before and after the first tag or comment; `None` if it is not closed either.
fn split_at_tag(text: &str) -> Option<(&str, &str)> {
    let (before, inside) = text.split_once('<')?;
    let (_, after) = match inside.strip_prefix("!--") {
        Some(comment) => comment.split_once("-->")?,
        None => inside.split_once('>')?,
    };
    Some((before, after))
}

fn collapse_whitespace(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    for word in split_whitespace(text, -1) {
        if !output.is_empty() {
            output.push(' ');
        }
        output.push_str(word);
    }
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_comments_go() {
        assert_eq!(strip_tags("<p>a  <b>b</b></p> &lt;").as_deref(), Ok("a b <"));
        assert_eq!(strip_tags("a<!-- > --->b<!-->-->c").as_deref(), Ok("abc"));
    }

    #[test]
    fn what_is_not_closed_stays() {
        assert_eq!(strip_tags("a <b> c <d e").as_deref(), Ok("a c <d e"));
        assert_eq!(strip_tags("a <!-- <b> c").as_deref(), Ok("a <!-- <b> c"));
    }
}
