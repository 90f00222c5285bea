//! The difference of two texts, line by line, with what differs inside of lines.
//!
//! ```text
//! - <s>[Hi]⏎      the reference
//! + <s> [Hi]⏎     the port
//! ```

use std::time::Duration;

use similar::{ChangeTag, TextDiff};

use super::visible::visible;

/// How many equal lines stand round what differs.
const AROUND: usize = 2;

/// How long a difference may be looked for; what is found then is longer than it need be.
const TIME: Duration = Duration::from_millis(300);

/// A line of a difference.
pub struct Line {
    /// `-` for the reference, `+` for the port, a blank for both, `@` where lines were left out.
    pub sign: char,
    /// Its parts, and whether they differ from those of the other line.
    pub pieces: Vec<(bool, String)>,
}

impl Line {
    /// Its text.
    pub fn text(&self) -> String {
        self.pieces.iter().map(|(_, piece)| piece.as_str()).collect()
    }
}

/// The difference of what should be and what is. What one does not see is shown, a text in which there is nothing too.
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
