//! Indentation: the filter `indent`.
//!
//! ```text
//! write_indented(output, "a\n\nb", "  ", Indent::default())    "a\n\n  b"
//! ```
//!
//! Each line break becomes `\n`. The caller converts a width to the indentation text. The rule is jinja2's `do_indent`.

use super::lines::{is_line_break, split_lines};
use std::fmt::{Result, Write};

/// The lines that are indented in addition to all non-blank lines after the first.
#[derive(Debug, Clone, Copy, Default)]
pub struct Indent {
    /// Whether the first line is indented.
    pub first: bool,
    /// Whether empty lines are indented.
    pub blank: bool,
}

/// Writes a string with an indentation before its lines.
pub fn write_indented(output: &mut impl Write, text: &str, indentation: &str, indent: Indent) -> Result {
    if indent.first {
        output.write_str(indentation)?;
    }
    // The reference appends `\n` first, so a string that ends in a line break has one more line, which is empty. After a final `\r`, the
    // `\n` only completes that line break.
    let ends_in_line = text.is_empty() || text.ends_with(|char| is_line_break(char) && char != '\r');
    let last = ends_in_line.then_some("");
    for (index, line) in split_lines(text, false).chain(last).enumerate() {
        if index > 0 {
            output.write_str("\n")?;
            if indent.blank || !line.is_empty() {
                output.write_str(indentation)?;
            }
        }
        output.write_str(line)?;
    }
    Ok(())
}
