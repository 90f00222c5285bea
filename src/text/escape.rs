//! Escaping for HTML: `markupsafe.escape`.
//!
//! ```text
//! escape("<a href='x'>")    "&lt;a href=&#39;x&#39;&gt;"
//! ```
//!
//! The rule is that of markupsafe 3.0.4 `_native.py`, `_escape_inner`. The caller knows which texts are escaped already.

use super::written_len::written_len;
use std::borrow::Cow;
use std::fmt::{Result, Write};

/// What the character is escaped to.
fn escaped(char: char) -> Option<&'static str> {
    match char {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '\'' => Some("&#39;"),
        '"' => Some("&#34;"),
        _ => None,
    }
}

/// Writes the text escaped.
pub fn write_escaped(output: &mut impl Write, text: &str) -> Result {
    let mut plain_from = 0;
    for (at, char) in text.char_indices() {
        if let Some(escaped) = escaped(char) {
            output.write_str(text.get(plain_from..at).unwrap_or_default())?;
            output.write_str(escaped)?;
            plain_from = at.saturating_add(1);
        }
    }
    output.write_str(text.get(plain_from..).unwrap_or_default())
}

/// The length in bytes of what [`escape`] gives.
pub fn escaped_len(text: &str) -> usize {
    written_len(|output| write_escaped(output, text))
}

/// The text escaped; borrowed if nothing needs escaping.
pub fn escape(text: &str) -> Cow<'_, str> {
    let len = escaped_len(text);
    if len == text.len() {
        return Cow::Borrowed(text);
    }
    let mut output = String::with_capacity(len);
    // A string does not refuse what is written to it.
    let _ = write_escaped(&mut output, text);
    Cow::Owned(output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_characters_are_escaped() {
        assert_eq!(escape("<é & \"'>"), "&lt;é &amp; &#34;&#39;&gt;");
        assert_eq!(escaped_len("<é"), 6);
        assert!(matches!(escape("plain é"), Cow::Borrowed("plain é")));
    }
}
