//! The line of a source that an error shows, with carets below the part that failed.

use std::fmt;

use crate::source::{Position, Source};
use crate::span::Span;

/// The number of characters of a line that are shown.
const SHOWN: usize = 120;

/// The maximum number of characters of a longer line that are shown before the part that failed.
const BEFORE: usize = 50;

/// A line of a source with an underlined part.
#[derive(Clone, Debug)]
pub(crate) struct Excerpt {
    /// The start of the underlined part.
    pub position: Position,
    /// The shown text of the line.
    text: String,
    /// The index of the first underlined character of the text.
    indent: usize,
    /// The number of underlined characters.
    width: usize,
}

impl Excerpt {
    /// Returns the excerpt for a span, which is underlined up to the end of its first line. A long line is cut around the underlined part.
    pub fn new(source: &Source<'_>, span: Span) -> Self {
        let position = source.position(span.start);
        let line = source.line_text(position.line);
        let width = source.slice(span).chars().take_while(|c| *c != '\n').count();
        let column = (position.column as usize).saturating_sub(1);
        let total = line.chars().count();
        let width = width.min(total.saturating_sub(column)).max(1);
        let start = column.saturating_sub(BEFORE).min(total.saturating_sub(SHOWN));
        let mut text = String::new();
        if start > 0 {
            text.push('…');
        }
        let indent = column.saturating_sub(start) + text.chars().count();
        text.extend(line.chars().skip(start).take(SHOWN).map(visible));
        let end = start + SHOWN;
        if end < total {
            text.push('…');
        }
        Self {
            position,
            text,
            indent,
            width: width.min(end.saturating_sub(column)),
        }
    }
}

impl fmt::Display for Excerpt {
    /// Writes the line with its number, and carets below it.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.position.line;
        let margin = line.to_string().len();
        let text = &self.text;
        let indent = " ".repeat(self.indent);
        let carets = "^".repeat(self.width);
        write!(out, "{line} | {text}\n{:margin$} | {indent}{carets}", "")
    }
}

/// Returns a space for a control character, which would move the carets or the cursor, and any other character unchanged.
fn visible(character: char) -> char {
    if character.is_control() { ' ' } else { character }
}
