//! The difference between two strings, line by line, with marks for the parts of a line that differ.
//!
//! ```text
//! - <s>[Hi]⏎      the reference
//! + <s> [Hi]⏎     the port
//! ```

use std::time::Duration;

use similar::{ChangeTag, TextDiff};

use super::visible::visible;

/// The number of equal lines around a difference.
const AROUND: usize = 2;

/// The time limit of the search for the shortest difference.
const TIME: Duration = Duration::from_millis(300);

/// A line of the difference between two strings.
pub struct Line {
    /// `-` for the reference, `+` for the port, a blank for both, `@` where lines were left out.
    pub sign: char,
    /// The parts of the line. The flag says whether a part differs from the other line.
    pub pieces: Vec<(bool, String)>,
}

impl Line {
    /// Returns the text of the line.
    pub fn text(&self) -> String {
        self.pieces.iter().map(|(_, piece)| piece.as_str()).collect()
    }
}

/// Returns the difference between the expected and the actual text, with visible signs for invisible characters. An empty text is
/// shown as `(nothing)`.
pub fn difference(want: &str, got: &str) -> Vec<Line> {
    let (want, got) = (visible(want), visible(got));
    let texts = TextDiff::configure().timeout(TIME).diff_lines(want.as_str(), got.as_str());
    let mut lines = Vec::new();
    for (place, group) in texts.grouped_ops(AROUND).iter().enumerate() {
        if place > 0 {
            lines.push(Line {
                sign: '@',
                pieces: vec![(false, "…".to_owned())],
            });
        }
        for change in group.iter().flat_map(|op| texts.iter_inline_changes(op)) {
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            let piece =
                |(is_different, piece): (bool, std::borrow::Cow<'_, str>)| (is_different, piece.trim_end_matches('\n').to_owned());
            lines.push(Line {
                sign,
                pieces: change.iter_strings_lossy().map(piece).collect(),
            });
        }
    }
    let note = |sign, text: &str| Line {
        sign,
        pieces: vec![(false, text.to_owned())],
    };
    match (want.is_empty(), got.is_empty()) {
        _ if lines.is_empty() => lines.push(note(' ', "(equal as text)")),
        (true, _) => lines.insert(0, note('-', "(nothing)")),
        (_, true) => lines.push(note('+', "(nothing)")),
        _ => {}
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::difference;

    fn shown(want: &str, got: &str) -> String {
        let lines = difference(want, got);
        lines.iter().map(|line| format!("{}{}\n", line.sign, line.text())).collect()
    }

    #[test]
    fn a_newline_at_the_end_is_a_difference() {
        assert_eq!(shown("a\nb\n", "a\nb"), " a⏎\n-b⏎\n+b\n");
        assert_eq!(shown("", "b "), "-(nothing)\n+b·\n");
        assert_eq!(shown("b", ""), "-b\n+(nothing)\n");
    }
}
