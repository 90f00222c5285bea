//! What stands outside tags: finding the next tag, the ends of comments and raw blocks, and what their marks strip.
//!
//! In `a {%- raw %}…` the next opener is the whole raw tag with the mark `-`, which strips the blank before it.
//!
//! The rules are the regular expressions in `Lexer.__init__` and the `OptionalLStrip` branch of `tokeniter` in jinja2 3.1.6
//! `lexer.py`, for `trim_blocks` and `lstrip_blocks`. They are scanned by hand, in time linear in the text. Offsets are bytes; tokens,
//! lines and errors are unknown here.

use super::word::{blank_length, trim_end_blanks, trim_end_indent};

/// What an opener opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// `{{`
    Variable,
    /// `{%`
    Block,
    /// `{#`
    Comment,
    /// `{% raw %}`
    Raw,
    /// `{% endraw %}`
    EndRaw,
}

/// The sign behind an opening delimiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// No sign.
    None,
    /// `-`: all blanks before the tag go.
    Strip,
    /// `+`: nothing goes.
    Keep,
}

/// An opening delimiter with its mark, or the whole of a raw block's tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opener {
    /// What it opens.
    pub opening: Opening,
    /// The sign.
    pub mark: Mark,
    /// Where it begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// The leftmost opener at or after `from`.
pub fn find_opener(text: &str, from: usize) -> Option<Opener> {
    braces(text, from).find_map(|start| {
        let opening = match text.as_bytes().get(start.saturating_add(1))? {
            b'{' => Opening::Variable,
            b'%' => Opening::Block,
            b'#' => Opening::Comment,
            _ => return None,
        };
        let (mark, end) = mark_at(text, start.saturating_add(2));
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

/// The leftmost `{% endraw %}` at or after `from`.
pub fn find_endraw(text: &str, from: usize) -> Option<Opener> {
    braces(text, from).find_map(|start| {
        let (mark, end) = match text.as_bytes().get(start.saturating_add(1))? {
            b'%' => mark_at(text, start.saturating_add(2)),
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

/// Where the comment ends whose inside begins at `from`, its delimiter and what that strips included.
pub fn find_comment_end(text: &str, from: usize) -> Option<usize> {
    let inside = rest(text, from);
    let at = inside.find("#}")?;
    let before = inside.get(..at).unwrap_or_default();
    let marked = before.strip_suffix(['+', '-']).unwrap_or(before);
    closer_end(text, from.saturating_add(marked.len()), Closer::Comment)
}

/// What closes a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closer {
    /// `}}`
    Variable,
    /// `%}`
    Block,
    /// `#}`
    Comment,
}

/// The length of the closer that `code` begins with, its mark included.
pub fn closer_length(code: &str, closer: Closer) -> Option<usize> {
    let sign = match closer {
        Closer::Variable => b'}',
        Closer::Block => b'%',
        Closer::Comment => b'#',
    };
    match code.as_bytes() {
        [first, b'}', ..] if *first == sign => Some(2),
        [b'-', first, b'}', ..] if *first == sign => Some(3),
        [b'+', first, b'}', ..] if *first == sign && closer != Closer::Variable => Some(3),
        _ => None,
    }
}

/// The length of what a closer strips from the text behind it, `delimiter` being its source.
pub fn stripped_length(text: &str, closer: Closer, delimiter: &str) -> usize {
    match delimiter.as_bytes().first() {
        Some(b'-') => blank_length(text),
        Some(b'+') => 0,
        _ => usize::from(closer != Closer::Variable && text.starts_with('\n')),
    }
}

/// Where the closer ends that begins at `from`, what it strips included.
fn closer_end(text: &str, from: usize, closer: Closer) -> Option<usize> {
    let code = rest(text, from);
    let (delimiter, after) = code.split_at_checked(closer_length(code, closer)?)?;
    let end = from.saturating_add(delimiter.len());
    Some(end.saturating_add(stripped_length(after, closer, delimiter)))
}

/// What is left of the text before an opener; `is_line_start` says that the text begins a line.
pub fn strip_before<'s>(text: &'s str, opener: &Opener, is_line_start: bool) -> &'s str {
    match opener.mark {
        Mark::Strip => trim_end_blanks(text),
        // jinja2 3.1.6 lexer.py tokeniter: lstrip only where the opener is not a variable.
        Mark::None if opener.opening != Opening::Variable => {
            let line = trim_end_indent(text);
            let strips = line.ends_with('\n') || (line.is_empty() && is_line_start);
            if strips { line } else { text }
        }
        Mark::None | Mark::Keep => text,
    }
}

/// Offsets of `{`, from left to right.
fn braces(text: &str, from: usize) -> impl Iterator<Item = usize> {
    let bytes = text.bytes().enumerate().skip(from);
    bytes.filter(|(_, byte)| *byte == b'{').map(|(at, _)| at)
}

/// The mark at an offset, and the offset behind it.
fn mark_at(text: &str, at: usize) -> (Mark, usize) {
    match text.as_bytes().get(at) {
        Some(b'-') => (Mark::Strip, at.saturating_add(1)),
        Some(b'+') => (Mark::Keep, at.saturating_add(1)),
        _ => (Mark::None, at),
    }
}

/// Where the raw tag ends whose opening delimiter and mark end at `from`. Its closer takes no `+` and trims no newline.
fn raw_tag_end(text: &str, from: usize) -> Option<usize> {
    let end = keyword_end(text, from, "raw")?;
    let closer = rest(text, end);
    if closer.starts_with("%}") {
        return Some(end.saturating_add(2));
    }
    let after = closer.strip_prefix("-%}")?;
    Some(blank_length(after).saturating_add(3).saturating_add(end))
}

/// Where a word and the blanks around it end.
fn keyword_end(text: &str, from: usize, word: &str) -> Option<usize> {
    let start = from.saturating_add(blank_length(rest(text, from)));
    let after = rest(text, start).strip_prefix(word)?;
    Some(start.saturating_add(word.len()).saturating_add(blank_length(after)))
}

fn rest(text: &str, from: usize) -> &str {
    text.get(from..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leftmost_opener_wins_and_a_raw_tag_is_one() {
        let found = |text| find_opener(text, 0).map(|opener| (opener.opening, opener.mark, opener.start, opener.end));
        assert_eq!(found("a }} { {{- 1 }}"), Some((Opening::Variable, Mark::Strip, 7, 10)));
        assert_eq!(found("{{{% x"), Some((Opening::Variable, Mark::None, 0, 2)));
        assert_eq!(found("{%+ \n raw -%} \n x"), Some((Opening::Raw, Mark::Keep, 0, 16)));
        assert_eq!(found("{% raw +%}"), Some((Opening::Block, Mark::None, 0, 2)));
        assert_eq!(found("{% rawx %}"), Some((Opening::Block, Mark::None, 0, 2)));
        assert_eq!(found("{ % %}"), None);
    }

    #[test]
    fn comments_and_raw_blocks_end_with_what_they_strip() {
        assert_eq!(find_comment_end("{# a -#} \n b", 2), Some(11));
        assert_eq!(find_comment_end("{#-#}\n b", 3), Some(6));
        assert_eq!(find_comment_end("{# +#}\n", 2), Some(6));
        assert_eq!(find_comment_end("{# a", 2), None);
        let endraw = find_endraw("{% raw %}{% x %}{%-endraw+%}\n", 9).map(|opener| (opener.mark, opener.start, opener.end));
        assert_eq!(endraw, Some((Mark::Strip, 16, 28)));
    }

    #[test]
    fn indents_of_blocks_go_where_they_begin_a_line() {
        let stripped = |text, is_line_start| {
            let opener = find_opener(text, 0).unwrap();
            strip_before(text.get(..opener.start).unwrap(), &opener, is_line_start)
        };
        assert_eq!(stripped("a\n \u{a0}{% x", false), "a\n");
        assert_eq!(stripped("  {% x", true), "");
        assert_eq!(stripped("  {% x", false), "  ");
        assert_eq!(stripped("  {%+ x", true), "  ");
        assert_eq!(stripped("\n  {{ x", true), "\n  ");
        assert_eq!(stripped("a \n  {{- x", false), "a");
    }
}
