//! Replaces invisible characters by visible ones, for messages.
//!
//! ```text
//! "a\tb \n"   ->   a⇥b·⏎
//! ```

/// Returns a text with visible signs for trailing blanks, tabs, line feeds, control characters and other characters without a glyph.
/// Each line feed follows its sign.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (body, end) = match line.strip_suffix('\n') {
            Some(body) => (body, "⏎\n"),
            None => (line, ""),
        };
        let trimmed = body.trim_end_matches(' ');
        trimmed.chars().for_each(|char| show(char, &mut shown));
        (trimmed.len()..body.len()).for_each(|_| shown.push('·'));
        shown.push_str(end);
    }
    shown
}

fn show(char: char, shown: &mut String) {
    match char {
        '\t' => shown.push('⇥'),
        '\r' => shown.push('␍'),
        ' ' => shown.push(' '),
        // The block of control pictures has the order of the control characters.
        '\0'..='\x1f' => shown.extend(char::from_u32(0x2400_u32.saturating_add(u32::from(char)))),
        char => match char.escape_debug().next() {
            // `Debug` escapes characters without a glyph. It also escapes quotes, the backslash and combining marks.
            Some('\\') if !matches!(char, '\\' | '\'' | '"') && !is_mark(char) => shown.extend(char.escape_unicode()),
            _ if is_blank_or_joiner(char) => shown.extend(char.escape_unicode()),
            _ => shown.push(char),
        },
    }
}

fn is_mark(char: char) -> bool {
    matches!(char, '\u{300}'..='\u{36f}')
}

fn is_blank_or_joiner(char: char) -> bool {
    char.is_whitespace() || matches!(char, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
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
    }
}
