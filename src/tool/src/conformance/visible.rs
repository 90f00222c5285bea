//! Replaces invisible characters by visible ones, for messages.
//!
//! ```text
//! "a\tb \n"   ->   a⇥b·⏎
//! ```

use std::borrow::Cow;

/// Returns a string with visible signs for trailing blanks, tabs, line feeds, control characters and other characters without a glyph. Each
/// line feed follows its sign.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (body, end) = match line.strip_suffix('\n') {
            Some(body) => (body, "⏎\n"),
            None => (line, ""),
        };
        let trimmed = body.trim_end_matches(' ');
        trimmed.chars().for_each(|char| match sign(char) {
            Some(sign) => shown.push_str(&sign),
            None => shown.push(char),
        });
        (trimmed.len()..body.len()).for_each(|_| shown.push('·'));
        shown.push_str(end);
    }
    shown
}

/// The number of characters that [`to_line`] shows.
const LINE: usize = 200;

/// Returns a text that is safe to show on a terminal. Control characters except line feeds and tabs, separators of lines and paragraphs,
/// characters that change the direction of writing, and characters without a width are escaped.
///
/// ```
/// use chat_template_cli::conformance::printable;
///
/// assert_eq!(printable("\x1b]0;title\x07\n\x1b[32mgreen"), "\\u{1b}]0;title\\u{7}\n\\u{1b}[32mgreen");
/// assert_eq!(printable("us\u{200b}er"), "us\\u{200b}er");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    replace_active(text, |char, shown| shown.extend(char.escape_unicode()))
}

/// Returns JSON text that is safe to show on a terminal: the characters that [`printable`] escapes have JSON's escapes, so it is still
/// JSON.
///
/// ```
/// use chat_template_cli::conformance::printable_json;
///
/// assert_eq!(printable_json("[\"a\u{9b}2J\"]\n"), "[\"a\\u009b2J\"]\n");
/// ```
pub fn printable_json(json: &str) -> Cow<'_, str> {
    // All active characters fit into one escape.
    replace_active(json, |char, shown| shown.push_str(&format!("\\u{:04x}", u32::from(char))))
}

/// Replaces the characters that a terminal does not show, except line feeds and tabs.
fn replace_active(text: &str, escape: impl Fn(char, &mut String)) -> Cow<'_, str> {
    let is_replaced = |char| is_active(char) && !matches!(char, '\n' | '\t');
    if !text.contains(is_replaced) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        if is_replaced(char) {
            escape(char, &mut shown)
        } else {
            shown.push(char)
        }
    }
    Cow::Owned(shown)
}

/// Returns a string on one line without control characters. A long one is cut.
pub fn to_line(text: &str) -> String {
    let mut line = String::new();
    for char in text.chars().take(LINE) {
        if is_active(char) {
            line.extend(char.escape_unicode())
        } else {
            line.push(char)
        }
    }
    if text.chars().nth(LINE).is_some() {
        line.push('…');
    }
    line
}

/// Returns whether a terminal acts on a character instead of showing it, or shows nothing for it. The joiners of emoji and of some scripts
/// are among these characters.
fn is_active(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Returns the sign that shows a character without a glyph, or `None` if the character is visible or is a blank.
pub fn sign(char: char) -> Option<String> {
    match char {
        ' '..='~' => None,
        '\t' => Some("⇥".to_owned()),
        '\n' => Some("⏎".to_owned()),
        '\r' => Some("␍".to_owned()),
        // The block of control pictures has the order of the control characters.
        '\0'..='\x1f' => char::from_u32(0x2400_u32.saturating_add(u32::from(char))).map(String::from),
        char => {
            // `Debug` escapes characters without a glyph, and combining marks at the start of a string.
            let is_escaped = String::from_iter(['a', char]).escape_debug().nth(1) == Some('\\');
            (is_escaped || is_invisible(char)).then(|| char.escape_unicode().to_string())
        }
    }
}

/// Returns whether a character that `Debug` does not escape is a blank, a filler, or selects a variant of the character before.
fn is_invisible(char: char) -> bool {
    char.is_whitespace()
        || matches!(char, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
        || matches!(
            char,
            '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}'
        )
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn invisible_characters_are_shown() {
        assert_eq!(visible("a\tb  \n\r\n"), "a⇥b··⏎\n␍⏎\n");
        assert_eq!(visible("it's \"x\\\" é"), "it's \"x\\\" é");
        assert_eq!(
            visible("\u{0}\u{a0}\u{200b}\u{7f}\u{feff}"),
            "␀\\u{a0}\\u{200b}\\u{7f}\\u{feff}"
        );
        assert_eq!(
            visible("e\u{301} \u{939}\u{94d} \u{202e}"),
            "e\u{301} \u{939}\u{94d} \\u{202e}"
        );
    }
}
