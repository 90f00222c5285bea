//! The line of a source that an error shows, with carets below the part that failed.

use std::fmt;

use crate::source::{Position, Source};
use crate::span::Span;

/// The number of characters of a line that are shown.
const SHOWN: usize = 120;

/// The most characters of a longer line that are shown before the part that failed.
const BEFORE: usize = 50;

/// A line of a source with an underlined part.
#[derive(Clone, Debug)]
pub(crate) struct Excerpt {
    /// The start of the underlined part.
    pub position: Position,
    text: String,
    width: usize,
}

impl Excerpt {
    /// Returns the excerpt for a span, which is underlined up to the end of its first line.
    pub fn new(source: &Source<'_>, span: Span) -> Self {
        let position = source.position(span.start);
        let text = source.line_text(position.line);
        let width = source.slice(span).chars().take_while(|c| *c != '\n').count();
        let room = text
            .chars()
            .count()
            .saturating_add(1)
            .saturating_sub(position.column as usize);
        Self {
            position,
            text: text.to_owned(),
            width: width.min(room).max(1),
        }
    }

    /// Returns the shown text of the line, the index of its first underlined character, and the number of underlined characters. A long
    /// line is cut around the underlined part.
    fn window(&self) -> (String, usize, usize) {
        let column = (self.position.column as usize).saturating_sub(1);
        let total = self.text.chars().count();
        let start = column.saturating_sub(BEFORE).min(total.saturating_sub(SHOWN));
        let mut text = String::new();
        if start > 0 {
            text.push('…');
        }
        let indent = column.saturating_sub(start).saturating_add(text.chars().count());
        text.extend(self.text.chars().skip(start).take(SHOWN).map(visible));
        let end = start.saturating_add(SHOWN);
        if end < total {
            text.push('…');
        }
        (text, indent, self.width.min(end.saturating_sub(column)))
    }
}

impl fmt::Display for Excerpt {
    /// Writes the line with its number, and carets below it.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.position.line;
        let margin = line.to_string().len();
        let (text, indent, width) = self.window();
        let indent = " ".repeat(indent);
        let carets = "^".repeat(width);
        write!(out, "{line} | {text}\n{:margin$} | {indent}{carets}", "")
    }
}

/// Returns a space for a control character, which would move the carets or the cursor.
fn visible(character: char) -> char {
    if character.is_control() { ' ' } else { character }
}
