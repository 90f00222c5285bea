//! Text to tokens, one at a time: `a {{ b }}` is data, the beginning of a print statement, a name, the end of the statement.
//!
//! The parser pulls the tokens, so that of two errors the one is reported that stands first, whoever finds it. The rule is jinja2 3.1.6
//! `lexer.py`, `Lexer.tokeniter` and `Lexer.wrap`, for `trim_blocks` and `lstrip_blocks` and without line statements. Text is scanned in
//! `text.rs`, code in `token.rs`; here is which of the two is meant, and that brackets match. What tokens may follow each other is
//! unknown here.

mod escape;
mod literal;
mod number;
mod text;
mod token;
mod word;

pub use token::{Token, TokenKind};

use self::text::{Closer, Opener, Opening};
use crate::ast::Literal;
use crate::error::{Error, Result};
use crate::source::Source;
use crate::span::Span;
use crate::text::quote;
use crate::unicode;

/// Makes tokens of a source. It ends where the source ends, even inside a tag; after an error nothing sensible follows.
#[derive(Debug)]
pub struct Lexer<'s> {
    text: &'s str,
    position: usize,
    mode: Mode,
    is_line_start: bool,
    /// The closing brackets that the tag still needs.
    brackets: Vec<TokenKind>,
    /// The value of the last string or number.
    literal: Option<Literal>,
}

/// What stands at the position.
#[derive(Clone, Copy, Debug)]
enum Mode {
    Text,
    Opener(Opener),
    Comment,
    Raw,
    Tag(Closer),
}

impl<'s> Lexer<'s> {
    /// A lexer at the beginning of the source.
    pub fn new(source: &'s Source) -> Self {
        Self {
            text: source.text(),
            position: 0,
            mode: Mode::Text,
            is_line_start: true,
            brackets: Vec::new(),
            literal: None,
        }
    }

    /// The next token; none at the end of the source.
    pub fn next(&mut self) -> Result<Option<Token<'s>>> {
        while self.position < self.text.len() {
            let token = match self.mode {
                Mode::Tag(closer) => self.code(closer)?,
                Mode::Text => {
                    let opener = text::find_opener(self.text, self.position);
                    self.data(opener)
                }
                Mode::Opener(opener) => self.open(opener),
                Mode::Comment => {
                    let end = text::find_comment_end(self.text, self.position);
                    self.leave(end.ok_or_else(|| self.error("Missing end of comment tag"))?);
                    None
                }
                Mode::Raw => {
                    let endraw = text::find_endraw(self.text, self.position);
                    self.data(Some(endraw.ok_or_else(|| self.error("Missing end of raw directive"))?))
                }
            };
            if token.is_some() {
                return Ok(token);
            }
        }
        Ok(None)
    }

    /// The value of the last token, if that was a string or a number; it is given once.
    pub fn take_literal(&mut self) -> Option<Literal> {
        self.literal.take()
    }

    /// The text up to an opener or to the end; none where nothing is left of it.
    fn data(&mut self, opener: Option<Opener>) -> Option<Token<'s>> {
        let start = self.position;
        let end = opener.map_or(self.text.len(), |opener| opener.start);
        let text = self.text.get(start..end).unwrap_or_default();
        let text = match opener {
            Some(opener) => text::strip_before(text, &opener, self.is_line_start),
            None => text,
        };
        self.position = end;
        if let Some(opener) = opener {
            self.mode = Mode::Opener(opener);
        }
        if text.is_empty() {
            return None;
        }
        Some(token(TokenKind::Data, start, text))
    }

    fn open(&mut self, opener: Opener) -> Option<Token<'s>> {
        let (kind, closer) = match opener.opening {
            Opening::Variable => (TokenKind::VariableBegin, Closer::Variable),
            Opening::Block => (TokenKind::BlockBegin, Closer::Block),
            Opening::Comment => return self.enter(Mode::Comment, opener.end),
            Opening::Raw => return self.enter(Mode::Raw, opener.end),
            Opening::EndRaw => {
                self.leave(opener.end);
                return None;
            }
        };
        self.position = opener.end;
        self.mode = Mode::Tag(closer);
        let text = self.text.get(opener.start..opener.end).unwrap_or_default();
        Some(token(kind, opener.start, text))
    }

    fn enter(&mut self, mode: Mode, end: usize) -> Option<Token<'s>> {
        self.is_line_start = self.ends_line(end);
        self.position = end;
        self.mode = mode;
        None
    }

    /// Goes back to text.
    fn leave(&mut self, end: usize) {
        self.enter(Mode::Text, end);
    }

    fn ends_line(&self, end: usize) -> bool {
        let before = self.text.get(..end).unwrap_or_default();
        before.ends_with('\n')
    }

    /// The next token of a tag. The closing delimiter is tried first, unless brackets are open.
    fn code(&mut self, closer: Closer) -> Result<Option<Token<'s>>> {
        let code = self.text.get(self.position..).unwrap_or_default();
        let blanks = word::blank_length(code);
        let code = code.get(blanks..).unwrap_or_default();
        let start = self.position.saturating_add(blanks);
        self.position = start;
        if code.is_empty() {
            return Ok(None);
        }
        if self.brackets.is_empty() {
            if let Some(length) = text::closer_length(code, closer) {
                self.leave(start.saturating_add(length));
                return Ok(Some(closing_token(closer, start, code)));
            }
        }
        let before = self.text.as_bytes().get(..start).unwrap_or_default();
        let Some((kind, length)) = token::scan(code, before.ends_with(b".")) else {
            return Err(self.unexpected_char());
        };
        self.position = start.saturating_add(length);
        let token = token(kind, start, code.get(..length).unwrap_or_default());
        match kind {
            TokenKind::Name => {
                if !token.text.is_ascii() && !unicode::is_identifier(token.text) {
                    return Err(Error::syntax("Invalid character in identifier", token.span));
                }
            }
            TokenKind::String => self.literal = Some(literal::string(token.text, token.span)?),
            TokenKind::Integer => self.literal = Some(literal::integer(token.text, token.span)?),
            TokenKind::Float => self.literal = Some(literal::float(token.text, token.span)?),
            _ => self.balance(&token)?,
        }
        Ok(Some(token))
    }

    /// Checks that brackets match.
    fn balance(&mut self, token: &Token<'_>) -> Result<()> {
        match token.kind {
            TokenKind::LeftBracket => self.brackets.push(TokenKind::RightBracket),
            TokenKind::LeftParen => self.brackets.push(TokenKind::RightParen),
            TokenKind::LeftBrace => self.brackets.push(TokenKind::RightBrace),
            TokenKind::RightBracket | TokenKind::RightParen | TokenKind::RightBrace => {
                let expected = self.brackets.pop();
                if expected != Some(token.kind) {
                    return Err(unbalanced(token, expected));
                }
            }
            _ => {}
        }
        Ok(())
    }

    #[cold]
    fn unexpected_char(&self) -> Error {
        let (before, after) = self.text.split_at_checked(self.position).unwrap_or((self.text, ""));
        let char: String = after.chars().take(1).collect();
        let message = format!("unexpected char {} at {}", quote::repr(&char), before.chars().count());
        Error::syntax(message, span(self.position, char.len()))
    }

    #[cold]
    fn error(&self, message: &str) -> Error {
        Error::syntax(message, span(self.position, 0))
    }
}

#[cold]
fn unbalanced(token: &Token<'_>, expected: Option<TokenKind>) -> Error {
    let found = token.kind.describe();
    let message = match expected {
        Some(expected) => format!("unexpected '{found}', expected '{}'", expected.describe()),
        None => format!("unexpected '{found}'"),
    };
    Error::syntax(message, token.span)
}

fn token(kind: TokenKind, start: usize, text: &str) -> Token<'_> {
    let span = span(start, text.len());
    Token {
        kind,
        span,
        at: span.start,
        text,
    }
}

fn closing_token(closer: Closer, start: usize, code: &str) -> Token<'_> {
    let kind = match closer {
        Closer::Variable => TokenKind::VariableEnd,
        Closer::Block | Closer::Comment => TokenKind::BlockEnd,
    };
    let length = closer.delimiter().len();
    let marked = if code.starts_with(['-', '+']) {
        length.saturating_add(1)
    } else {
        length
    };
    token(kind, start, code.get(..marked).unwrap_or_default())
}

/// The span of so many bytes; offsets fit because the size of a source is limited.
fn span(start: usize, length: usize) -> Span {
    let offset = |at| u32::try_from(at).unwrap_or(u32::MAX);
    Span::new(offset(start), offset(start.saturating_add(length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<String> {
        let source = Source::new(text);
        let mut lexer = Lexer::new(&source);
        let next = std::iter::from_fn(|| lexer.next().transpose());
        next.map(|token| token.map_or_else(|error| error.message().to_owned(), |token| token.text.to_owned()))
            .take(20)
            .collect()
    }

    #[test]
    fn tags_end_only_where_their_brackets_are_closed() {
        assert_eq!(tokens("{{ {'}}': {a}}}}"), ["{{", "{", "'}}'", ":", "{", "a", "}", "}", "}}"]);
        assert_eq!(tokens("{% -%}\n x")[..3], ["{%", "-%}", "x"]);
        assert_eq!(tokens("{{+%}")[..3], ["{{+", "%", "unexpected '}'"]);
        assert_eq!(tokens("{{ (1]")[3], "unexpected ']', expected ')'");
    }

    #[test]
    fn text_is_stripped_as_marks_and_line_starts_say() {
        assert_eq!(
            tokens("a \n  {%- b %}\n  {% c %} {{ d -}}  e"),
            ["a", "{%-", "b", "%}", "{%", "c", "%}", " ", "{{", "d", "-}}", "e"]
        );
        assert_eq!(tokens(" {% raw %}\n{{ a }}\n {% endraw %}\n {# c #}b"), ["\n{{ a }}\n", "b"]);
        assert_eq!(tokens("a {#"), ["a "]);
    }

    #[test]
    fn errors_come_when_they_are_reached() {
        assert_eq!(tokens("{{ 'é' $")[..3], ["{{", "'é'", "unexpected char '$' at 7"]);
        assert_eq!(tokens("{{ 'a }}")[1], "unexpected char \"'\" at 3");
        assert_eq!(tokens("{{ x² }}")[1], "Invalid character in identifier");
        assert_eq!(tokens("{{ 1.٣ }}")[1], "invalid character '٣' (U+0663) (<unknown>, line 1)");
        assert_eq!(tokens("a {# b")[1], "Missing end of comment tag");
        assert_eq!(tokens("{% raw %}a")[0], "Missing end of raw directive");
    }

    #[test]
    fn numbers_after_a_dot_are_integers() {
        assert_eq!(tokens("{{ a.0.5 . 1.5")[1..], ["a", ".", "0", ".", "5", ".", "1.5"]);
        assert_eq!(tokens("{{ 007.5 1__0 0x_1Fg")[1..], ["007.5", "1", "__0", "0x_1F", "g"]);
    }
}
