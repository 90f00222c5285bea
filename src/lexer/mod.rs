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

pub use literal::between_quotes;
pub use token::{Token, TokenKind};

use self::literal::Text;
use self::text::{Closer, Opener, Opening};
use self::token::{Code, Fault, code};
use crate::ast::Literal;
use crate::error::{Error, Result};
use crate::source::Source;
use crate::text::quote;
use crate::unsupported::Unsupported;

/// Makes tokens of a source. It ends where the source ends, even inside a tag; after an error nothing sensible follows.
#[derive(Debug)]
pub struct Lexer<'s> {
    /// Reads the code of tags, and stands where the next token begins, or the blanks before it.
    code: Code<'s>,
    mode: Mode,
    is_line_start: bool,
    /// The value of the last string with escapes or number.
    literal: Option<Literal>,
    /// The row of an escape in the last string, if that is not supported.
    unsupported: Option<&'static Unsupported>,
}

/// What stands at the position.
#[derive(Clone, Copy, Debug)]
enum Mode {
    Text,
    Opener(Opener),
    Comment,
    Raw,
    Tag,
}

impl<'s> Lexer<'s> {
    /// A lexer at the beginning of the source.
    pub fn new(source: &'s Source<'s>) -> Self {
        Self {
            code: code(source.text()),
            mode: Mode::Text,
            is_line_start: true,
            literal: None,
            unsupported: None,
        }
    }

    /// Replaces a token by the one behind it; the one behind the last is [`TokenKind::End`].
    pub fn next(&mut self, token: &mut Token) -> Result<()> {
        match self.mode {
            Mode::Tag => self.tag(token),
            _ => self.outside(token),
        }
    }

    /// The value of the last token, if that was a string with escapes or a number; it is given once.
    pub fn take_literal(&mut self) -> Option<Literal> {
        self.literal.take()
    }

    /// Takes the row of an escape in the last token, if that was a string with an escape that is not supported.
    pub fn take_unsupported(&mut self) -> Option<&'static Unsupported> {
        self.unsupported.take()
    }

    /// The next token of a tag.
    fn tag(&mut self, token: &mut Token) -> Result<()> {
        if self.code.remainder().starts_with(' ') {
            // Most blanks are one space, which the lexer would take for a round of its own.
            self.code.bump(1);
        }
        let kind = match self.code.next() {
            Some(Ok(kind)) => kind,
            Some(Err(fault)) => return Err(self.refuse(fault)),
            None => {
                self.end(token);
                return Ok(());
            }
        };
        let span = self.code.span();
        token.set(kind, span.start, span.len());
        match kind {
            // Most have no value, are no bracket and end nothing.
            TokenKind::Name
            | TokenKind::Dot
            | TokenKind::Comma
            | TokenKind::Assign
            | TokenKind::Eq
            | TokenKind::Add
            | TokenKind::Pipe => Ok(()),
            _ => self.finish(token),
        }
    }

    /// What there is to do about other tokens of a tag.
    #[inline(never)]
    fn finish(&mut self, token: &Token) -> Result<()> {
        let text = self.code.slice();
        match token.kind {
            TokenKind::String => match literal::string(text, token.span)? {
                Text::Plain => self.literal = None,
                Text::Escaped(text) => self.literal = Some(Literal::Str(text)),
                Text::Unsupported(row) => self.unsupported = Some(row),
            },
            TokenKind::Integer => self.literal = Some(literal::integer(text, token.span)?),
            TokenKind::Float => self.literal = Some(literal::float(text, token.span)?),
            TokenKind::VariableEnd | TokenKind::BlockEnd => {
                let stripped = text::stripped_length(self.code.remainder(), self.code.extras.closer, text);
                self.enter(Mode::Text, self.position().saturating_add(stripped));
            }
            _ => self.balance(token)?,
        }
        Ok(())
    }

    /// The next token outside of tags: text, or what opens a tag.
    #[inline(never)]
    fn outside(&mut self, token: &mut Token) -> Result<()> {
        let text = self.code.source();
        loop {
            let position = self.position();
            if position >= text.len() {
                self.end(token);
                return Ok(());
            }
            let is_token = match self.mode {
                Mode::Tag => return self.tag(token),
                Mode::Text => self.data(text::find_opener(text, position), token),
                Mode::Opener(opener) => self.open(opener, token),
                Mode::Comment => {
                    let end = text::find_comment_end(text, position);
                    self.enter(Mode::Text, end.ok_or_else(|| self.error("Missing end of comment tag"))?)
                }
                Mode::Raw => {
                    let endraw = text::find_endraw(text, position);
                    self.data(Some(endraw.ok_or_else(|| self.error("Missing end of raw directive"))?), token)
                }
            };
            if is_token {
                return Ok(());
            }
        }
    }

    /// The text up to an opener or to the end; gives whether something is left of it.
    fn data(&mut self, opener: Option<Opener>, token: &mut Token) -> bool {
        let start = self.position();
        let end = opener.map_or(self.code.source().len(), |opener| opener.start);
        let text = self.code.source().get(start..end).unwrap_or_default();
        let text = match opener {
            Some(opener) => text::strip_before(text, &opener, self.is_line_start),
            None => text,
        };
        self.go_on(end);
        if let Some(opener) = opener {
            self.mode = Mode::Opener(opener);
        }
        if !text.is_empty() {
            token.set(TokenKind::Data, start, text.len());
        }
        !text.is_empty()
    }

    /// Goes behind an opener; gives whether it is a token.
    fn open(&mut self, opener: Opener, token: &mut Token) -> bool {
        let (kind, closer) = match opener.opening {
            Opening::Variable => (TokenKind::VariableBegin, Closer::Variable),
            Opening::Block => (TokenKind::BlockBegin, Closer::Block),
            Opening::Comment => return self.enter(Mode::Comment, opener.end),
            Opening::Raw => return self.enter(Mode::Raw, opener.end),
            Opening::EndRaw => return self.enter(Mode::Text, opener.end),
        };
        self.go_on(opener.end);
        self.mode = Mode::Tag;
        self.code.extras.closer = closer;
        token.set(kind, opener.start, opener.end.saturating_sub(opener.start));
        true
    }

    /// Goes on in another mode, which makes no token.
    fn enter(&mut self, mode: Mode, end: usize) -> bool {
        self.go_on(end);
        self.is_line_start = self.code.slice().ends_with('\n');
        self.mode = mode;
        false
    }

    /// The end of the template, which has the line of the token before it.
    fn end(&self, token: &mut Token) {
        let at = token.at;
        token.set(TokenKind::End, self.code.source().len(), 0);
        token.at = at;
    }

    /// How much of the source has been read.
    fn position(&self) -> usize {
        self.code.span().end
    }

    /// Goes on to an offset.
    fn go_on(&mut self, end: usize) {
        self.code.bump(end.saturating_sub(self.position()));
    }

    /// Checks that brackets match.
    fn balance(&mut self, token: &Token) -> Result<()> {
        let brackets = &mut self.code.extras.brackets;
        match token.kind {
            TokenKind::LeftBracket => brackets.push(TokenKind::RightBracket),
            TokenKind::LeftParen => brackets.push(TokenKind::RightParen),
            TokenKind::LeftBrace => brackets.push(TokenKind::RightBrace),
            TokenKind::RightBracket | TokenKind::RightParen | TokenKind::RightBrace => {
                let expected = brackets.pop();
                if expected != Some(token.kind) {
                    return Err(unbalanced(token, expected));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The error where code has a fault.
    #[cold]
    fn refuse(&self, fault: Fault) -> Error {
        let at = self.code.span().start;
        if fault == Fault::Identifier {
            return Error::syntax("Invalid character in identifier", token::span(at, self.code.slice().len()));
        }
        let (before, after) = self.code.source().split_at_checked(at).unwrap_or_default();
        let char: String = after.chars().take(1).collect();
        let message = format!("unexpected char {} at {}", quote::repr(&char), before.chars().count());
        Error::syntax(message, token::span(at, char.len()))
    }

    #[cold]
    fn error(&self, message: &str) -> Error {
        Error::syntax(message, token::span(self.position(), 0))
    }
}

#[cold]
fn unbalanced(token: &Token, expected: Option<TokenKind>) -> Error {
    let found = token.kind.describe();
    let message = match expected {
        Some(expected) => format!("unexpected '{found}', expected '{}'", expected.describe()),
        None => format!("unexpected '{found}'"),
    };
    Error::syntax(message, token.span)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<String> {
        let source = Source::new(text);
        let mut lexer = Lexer::new(&source);
        let mut token = Token::default();
        let next = std::iter::from_fn(|| match lexer.next(&mut token) {
            Ok(()) if token.kind == TokenKind::End => None,
            Ok(()) => Some(source.slice(token.span).to_owned()),
            Err(error) => Some(error.message().to_owned()),
        });
        next.take(20).collect()
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
