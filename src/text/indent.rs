//! Indented text: the filter `indent`.
//!
//! ```text
//! write_indented(output, "a\n\nb", "  ", Indent::default())    "a\n\n  b"
//! ```
//!
//! Every line break becomes `\n`, and a final one stays. How a width becomes an indentation is the
//! filter's affair. The rule is that of jinja2's `do_indent`.

use super::lines::{is_line_break, split_lines};
use std::fmt::{Result, Write};

/// Which lines are indented besides all later ones that are not blank.
#[derive(Debug, Clone, Copy, Default)]
pub struct Indent {
    /// The first line too.
    pub first: bool,
    /// Empty lines too.
    pub blank: bool,
}

/// Writes the text with the indentation before its lines.
pub fn write_indented(output: &mut impl Write, text: &str, indentation: &str, indent: Indent) -> Result {
    if indent.first {
        output.write_str(indentation)?;
    }
    // The reference appends `\n` first, so that behind a line break there is one more line, an empty one;
    // but behind a final `\r` it only completes that line break.
    let ends_in_line = text.is_empty() || text.ends_with(|char| is_line_break(char) && char != '\r');
    let last = ends_in_line.then_some("");
    for (number, line) in split_lines(text, false).chain(last).enumerate() {
        if number > 0 {
            output.write_str("\n")?;
            if indent.blank || !line.is_empty() {
                output.write_str(indentation)?;
            }
        }
        output.write_str(line)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::written_len::write_to_string;
    use super::*;

    fn indented(text: &str, first: bool, blank: bool) -> String {
        write_to_string(|output| write_indented(output, text, "  ", Indent { first, blank }))
    }

    #[test]
    fn the_first_line_and_blank_lines_are_left() {
        assert_eq!(indented("a\n\nb", false, false), "a\n\n  b");
        assert_eq!(indented("a\r\nb\n", false, false), "a\n  b\n");
        assert_eq!(indented("", false, false), "");
        assert_eq!(indented("a\r", false, false), "a");
    }

    #[test]
    fn they_are_indented_on_request() {
        assert_eq!(indented("a\n\nb\n", true, true), "  a\n  \n  b\n  ");
        assert_eq!(indented("", true, false), "  ");
    }
}
