//! The text outside tags: finds the next tag and the ends of comments and raw blocks, and strips whitespace.
//!
//! In `a {%- raw %}…` the next opener is the whole raw tag. It has the mark `-`, which strips the blank before it.
//!
//! The rules are the regular expressions in `Lexer.__init__` and the `OptionalLStrip` branch of `tokeniter` in jinja2 3.1.6
//! `lexer.py`, with `trim_blocks` and `lstrip_blocks`; `grammar/whitespace.md` explains them. The text is scanned by hand in linear time.
//! Offsets and lengths are in bytes.

use super::word::{blank_length, trim_end_blanks, trim_end_indent};

/// The construct that an opener begins or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// The opener `{{`.
    Variable,
    /// The opener `{%`.
    Block,
    /// The opener `{#`.
    Comment,
    /// The opener `{% raw %}`.
    Raw,
    /// The opener `{% endraw %}`.
    EndRaw,
}

/// An opening delimiter with its mark, or a whole `raw` or `endraw` tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opener {
    /// The construct that the opener begins or ends.
    pub opening: Opening,
    /// The mark after the delimiter: `-` strips all blanks before the tag, and `+` strips nothing.
    pub mark: Option<u8>,
    /// The offset of the first byte.
    pub start: usize,
    /// The offset after the last byte, and after the blanks that the tag of a raw block strips.
    pub end: usize,
}

/// Returns the first opener at or after `from`.
pub fn find_opener(text: &str, from: usize) -> Option<Opener> {
    find_braces(text, from).find_map(|start| {
        let opening = match text.as_bytes().get(start + 1)? {
            b'{' => Opening::Variable,
            b'%' => Opening::Block,
            b'#' => Opening::Comment,
            _ => return None,
        };
        let (mark, end) = read_mark(text, start + 2);
        let raw_end = match opening {
            Opening::Block => raw_tag_end(text, end),
            _ => None,
        };
        Some(Opener {
            opening: if raw_end.is_some() { Opening::Raw } else { opening },
            mark,
            start,
            end: raw_end.unwrap_or(end),
        })
    })
}

/// Returns the first `{% endraw %}` at or after `from`.
pub fn find_endraw(text: &str, from: usize) -> Option<Opener> {
    find_braces(text, from).find_map(|start| {
        let (mark, end) = match text.as_bytes().get(start + 1)? {
            b'%' => read_mark(text, start + 2),
            _ => return None,
        };
        let end = keyword_end(text, end, "endraw")?;
        Some(Opener {
            opening: Opening::EndRaw,
            mark,
            start,
            end: closer_end(text, end, Closer::Block)?,
        })
    })
}

/// Returns the offset after a comment whose text begins at `from`, and after the blanks that the comment strips.
pub fn find_comment_end(text: &str, from: usize) -> Option<usize> {
    let inside = text_from(text, from);
    let at = inside.find("#}")?;
    let before = inside.get(..at).unwrap_or_default();
    let marked = before.strip_suffix(['+', '-']).unwrap_or(before);
    closer_end(text, from + marked.len(), Closer::Comment)
}

/// A closing delimiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closer {
    /// The closer `}}`.
    Variable,
    /// The closer `%}`.
    Block,
    /// The closer `#}`.
    Comment,
}

/// Returns the length of the closer at the start of `code`, with its mark.
pub fn closer_length(code: &[u8], closer: Closer) -> Option<usize> {
    let sign = match closer {
        Closer::Variable => b'}',
        Closer::Block => b'%',
        Closer::Comment => b'#',
    };
    match code {
        [first, b'}', ..] if *first == sign => Some(2),
        [b'-', first, b'}', ..] if *first == sign => Some(3),
        [b'+', first, b'}', ..] if *first == sign && closer != Closer::Variable => Some(3),
        _ => None,
    }
}

/// Returns the length of the blanks that a closer strips from the text after it. `delimiter` is the source of the closer.
pub fn stripped_length(text: &str, closer: Closer, delimiter: &str) -> usize {
    match delimiter.as_bytes().first() {
        Some(b'-') => blank_length(text),
        Some(b'+') => 0,
        _ => usize::from(closer != Closer::Variable && text.starts_with('\n')),
    }
}

/// Returns the offset after the closer at `from`, and after the blanks that it strips.
fn closer_end(text: &str, from: usize, closer: Closer) -> Option<usize> {
    let code = text_from(text, from);
    let (delimiter, after) = code.split_at_checked(closer_length(code.as_bytes(), closer)?)?;
    let end = from + delimiter.len();
    Some(end + stripped_length(after, closer, delimiter))
}

/// Returns the text before an opener without the blanks that the opener strips. `is_line_start` says whether the text begins a line.
pub fn strip_before<'s>(text: &'s str, opener: &Opener, is_line_start: bool) -> &'s str {
    match opener.mark {
        Some(b'-') => trim_end_blanks(text),
        // jinja2 3.1.6 lexer.py tokeniter: lstrip only where the opener is not a variable.
        None if opener.opening != Opening::Variable => {
            let line = trim_end_indent(text);
            let strips = line.ends_with('\n') || (line.is_empty() && is_line_start);
            if strips { line } else { text }
        }
        _ => text,
    }
}

/// Returns the offsets of `{` at or after `from`.
fn find_braces(text: &str, from: usize) -> impl Iterator<Item = usize> {
    let bytes = text.bytes().enumerate().skip(from);
    bytes.filter(|(_, byte)| *byte == b'{').map(|(at, _)| at)
}

/// Returns the mark at an offset, and the offset after it.
fn read_mark(text: &str, at: usize) -> (Option<u8>, usize) {
    let mark = text.as_bytes().get(at).filter(|byte| matches!(byte, b'-' | b'+'));
    (mark.copied(), at + usize::from(mark.is_some()))
}

/// Returns the offset after a `raw` tag whose opening delimiter and mark end at `from`.
///
/// Unlike that of other tags, its closing delimiter takes no `+` and strips no line feed.
fn raw_tag_end(text: &str, from: usize) -> Option<usize> {
    let end = keyword_end(text, from, "raw")?;
    let closer = text_from(text, end);
    if closer.starts_with("%}") {
        return Some(end + 2);
    }
    let after = closer.strip_prefix("-%}")?;
    Some(blank_length(after) + 3 + end)
}

/// Returns the offset after a word and the blanks around it, if they begin at `from`.
fn keyword_end(text: &str, from: usize, word: &str) -> Option<usize> {
    let start = from + blank_length(text_from(text, from));
    let after = text_from(text, start).strip_prefix(word)?;
    Some(start + word.len() + blank_length(after))
}

fn text_from(text: &str, from: usize) -> &str {
    text.get(from..).unwrap_or_default()
}
