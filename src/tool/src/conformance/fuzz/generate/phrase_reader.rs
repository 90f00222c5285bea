//! Reads a phrase of `phrases.txt`: its tokens, its template text and its holes.
//!
//! ```text
//! TEXT|center(WIDTH)     a hole for a text, the tokens `|` `center` `(`, a hole for a width, the token `)`
//! ```

use super::phrases::{Hole, Phrases, Piece, Place};

/// Reads the pieces of a phrase. `is_outside` says whether it begins outside of tags.
pub fn read_pieces(phrases: &mut Phrases, text: &str, is_outside: bool) -> Vec<Piece> {
    let mut reader = Reader {
        phrases,
        rest: text,
        pieces: Vec::new(),
        is_outside,
        can_close: is_outside,
    };
    reader.read();
    let mut pieces = reader.pieces;
    delimit(&mut pieces);
    pieces
}

/// Reads the pieces of a phrase.
struct Reader<'r> {
    phrases: &'r mut Phrases,
    rest: &'r str,
    pieces: Vec<Piece>,
    is_outside: bool,
    /// Whether `}}` and `%}` end a tag. In an expression, they end dicts.
    can_close: bool,
}

const OPENERS: [&str; 6] = ["{{-", "{%-", "{%+", "{{", "{%", "{#"];
const CLOSERS: [&str; 5] = ["-}}", "-%}", "+%}", "}}", "%}"];
const OPERATORS: [&str; 6] = ["**", "//", "==", "!=", "<=", ">="];

impl<'r> Reader<'r> {
    fn read(&mut self) {
        while !self.rest.is_empty() {
            let before = self.rest.len();
            self.rest = self.rest.trim_start_matches(' ');
            let has_space = self.rest.len() < before;
            if self.is_outside {
                self.outside();
            } else {
                self.inside(has_space);
            }
        }
    }

    fn cut(&mut self, length: usize) -> &'r str {
        let (text, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.rest = rest;
        text
    }

    /// Reads what is between tags: the start of a tag, a hole, or text.
    fn outside(&mut self) {
        let raw = self.rest.trim_start_matches(['{', '%', '-', ' ']).starts_with("raw ");
        if self.rest.starts_with("{#") || (self.rest.starts_with("{%") && raw) {
            let end = if raw { "endraw" } else { "#}" };
            let end = self.rest.find(end).unwrap_or(self.rest.len());
            let close = self.rest.get(end..).and_then(|rest| rest.find('}')).unwrap_or_default();
            let text = self.cut(end + close + 1);
            return self.push_text(text);
        }
        if let Some(opener) = OPENERS.iter().find(|opener| self.rest.starts_with(**opener)) {
            let opener = self.cut(opener.len());
            self.pieces.push(Piece::Token(opener.to_owned(), false));
            self.is_outside = false;
            return;
        }
        if self.hole(false) || self.rest.is_empty() {
            return;
        }
        let openers = OPENERS.iter().filter_map(|opener| self.rest.find(opener));
        let end = openers.chain(self.rest.find(' ')).min().unwrap_or(self.rest.len());
        let end = holes(self.rest).find(|start| *start > 0).map_or(end, |start| start.min(end));
        let text = self.cut(end);
        self.push_text(text);
    }

    fn push_text(&mut self, text: &str) {
        let text = text.replace('␣', " ").replace('⏎', "\n").replace('␍', "\r");
        self.pieces.push(Piece::Text(text));
    }

    /// Reads a token of a tag.
    fn inside(&mut self, has_space: bool) {
        if self.can_close {
            if let Some(closer) = CLOSERS.iter().find(|closer| self.rest.starts_with(**closer)) {
                let closer = self.cut(closer.len());
                self.pieces.push(Piece::Token(closer.to_owned(), has_space));
                self.is_outside = true;
                return;
            }
        }
        if self.hole(has_space) {
            return;
        }
        let operator = OPERATORS.iter().find(|operator| self.rest.starts_with(**operator));
        let length = operator.map_or_else(|| token_length(self.rest), |operator| operator.len());
        let token = self.cut(length);
        if !token.is_empty() {
            self.pieces.push(Piece::Token(token.to_owned(), has_space));
        }
    }

    /// Reads a hole, if one is next.
    fn hole(&mut self, has_space: bool) -> bool {
        let kind = match self.rest.chars().next() {
            Some('@') => Hole::New,
            Some('$') => Hole::Variable,
            _ => Hole::Phrase,
        };
        let sign = usize::from(kind != Hole::Phrase);
        let rest = self.rest.get(sign..).unwrap_or_default();
        let length = rest.find(|char: char| !char.is_ascii_uppercase()).unwrap_or(rest.len());
        let goes_on = rest
            .get(length..)
            .is_some_and(|rest| rest.starts_with(|char: char| char.is_alphanumeric() || char == '_'));
        if length < 2 || goes_on {
            return false;
        }
        let name = self.cut(length + sign).trim_start_matches(['@', '$']);
        let of = self.phrases.type_name(name);
        self.pieces.push(Piece::Hole {
            kind,
            of,
            has_space,
            place: Place::Operand,
        });
        true
    }
}

/// Returns the indices at which holes may begin.
fn holes(text: &str) -> impl Iterator<Item = usize> + '_ {
    text.char_indices()
        .filter(|(_, char)| char.is_ascii_uppercase() || matches!(char, '@' | '$'))
        .map(|(index, _)| index)
}

/// Returns the length of the string, number, name or sign at the start of a string.
fn token_length(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    let Some((_, first)) = chars.next() else { return 0 };
    let is_name = |char: char| char.is_alphanumeric() || char == '_';
    let mut before = first;
    for (index, char) in chars {
        let next = text.get(index + 1..).and_then(|rest| rest.chars().next());
        let goes_on = match first {
            '\'' | '"' => {
                if char == first && before != '\\' {
                    return index + 1;
                }
                true
            }
            '0'..='9' => {
                let is_point = char == '.' && next.is_some_and(|next| next.is_ascii_digit());
                let is_sign = matches!(char, '+' | '-') && before == 'e' && !text.starts_with("0x");
                is_name(char) || is_point || is_sign
            }
            first => is_name(first) && is_name(char),
        };
        if !goes_on {
            return index;
        }
        // Two backslashes do not escape what follows them.
        before = if (before, char) == ('\\', '\\') { ' ' } else { char };
    }
    text.len()
}

/// Finds the place of each hole.
fn delimit(pieces: &mut [Piece]) {
    let texts: Vec<String> = pieces
        .iter()
        .map(|piece| match piece {
            Piece::Token(text, _) => text.clone(),
            _ => String::new(),
        })
        .collect();
    let count = pieces.len();
    for (index, piece) in pieces.iter_mut().enumerate() {
        let before = index.checked_sub(1).and_then(|before| texts.get(before)).map(String::as_str);
        let after = texts.get(index + 1).map(String::as_str);
        let opens = matches!(
            before,
            Some("(" | "[" | "," | "=" | ":" | "{" | "{{" | "{{-" | "print" | "if" | "elif")
        );
        let closes = matches!(after, Some(")" | "]" | "," | ":" | "}" | "}}" | "-}}" | "%}" | "-%}"));
        let is_postfixed = matches!(after, Some("." | "[" | "(")) || matches!((index, before), (1, Some("-" | "+")));
        if let Piece::Hole { place, .. } = piece {
            if is_postfixed {
                *place = Place::Postfixed;
            } else if opens && closes || count == 1 {
                *place = Place::Delimited;
            }
        }
    }
}

/// Returns whether a blank or a sign is outside of the brackets of an expression.
pub fn is_operation(pieces: &[Piece]) -> bool {
    let mut depth = 0_usize;
    for (index, piece) in pieces.iter().enumerate() {
        let has_space = match piece {
            Piece::Token(text, has_space) => {
                match text.as_str() {
                    "(" | "[" | "{" => depth += 1,
                    ")" | "]" | "}" => depth = depth.saturating_sub(1),
                    "-" | "+" if index == 0 => return true,
                    _ => {}
                }
                *has_space
            }
            Piece::Hole { has_space, .. } => *has_space,
            Piece::Text(_) => false,
        };
        if has_space && depth == 0 && index > 0 {
            return true;
        }
    }
    false
}

/// Returns whether a filter is outside of the brackets of an expression.
pub fn is_filtered(pieces: &[Piece]) -> bool {
    let mut depth = 0_usize;
    for piece in pieces {
        if let Piece::Token(text, _) = piece {
            match text.as_str() {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                "|" if depth == 0 => return true,
                _ => {}
            }
        }
    }
    false
}
