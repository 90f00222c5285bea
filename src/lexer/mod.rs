//! Converts the source of a template to tokens: `a {{ b }}` is the text `a `, the token `{{`, the name `b` and the token `}}`.
//!
//! The parser requests one token at a time, so that the first error in the source is reported, whether the lexer or the parser finds it.
//! The rules are those of jinja2 3.1.6 `lexer.py`, `Lexer.tokeniter` and `Lexer.wrap`, with `trim_blocks` and `lstrip_blocks` and without
//! line statements. `text.rs` scans the text outside tags and `token.rs` the code inside them. This file switches between the two, and
//! checks that brackets match.

mod escape;
mod literal;
mod number;
mod text;
mod token;
mod word;

pub use literal::between_quotes;
pub use token::{Token, TokenKind};

use std::borrow::Cow;

use self::text::{Closer, Opener, Opening};
use self::token::{Code, Fault, lex_code};
use crate::ast::Literal;
use crate::error::{Error, Result};
use crate::source::Source;
use crate::text::quote;
use crate::unsupported::Unsupported;

/// The lexer of a source.
///
/// It ends at the end of the source, even inside a tag. The tokens after an error are unspecified.
#[derive(Debug)]
pub struct Lexer<'s> {
    /// The lexer for code, whose position is also that of this lexer: at the next token or the blanks before it.
    code: Code<'s>,
    mode: Mode,
    is_line_start: bool,
    /// The value of the last number, or of the last string that has escapes.
    literal: Option<Literal>,
    /// The unsupported escape of the last string, if it has one.
    unsupported: Option<&'static Unsupported>,
}

/// The construct at the current position.
#[derive(Clone, Copy, Debug)]
enum Mode {
    Text,
    Opener(Opener),
    Comment,
    Raw,
    Tag,
}

impl<'s> Lexer<'s> {
    pub fn new(source: &'s Source<'s>) -> Self {
        Self {
            code: lex_code(source.text()),
            mode: Mode::Text,
            is_line_start: true,
            literal: None,
            unsupported: None,
        }
    }

    /// Replaces a token with the next one. After the last token it is [`TokenKind::End`].
    pub fn next(&mut self, token: &mut Token) -> Result<()> {
        match self.mode {
            Mode::Tag => self.lex_tag(token),
            _ => self.lex_text(token),
        }
    }

    /// Takes the value of the last token, if it is a number or a string with escapes. A second call returns `None`.
    pub fn take_literal(&mut self) -> Option<Literal> {
        self.literal.take()
    }

    /// Takes the unsupported escape of the last token, if it is a string that has one. A second call returns `None`.
    pub fn take_unsupported(&mut self) -> Option<&'static Unsupported> {
        self.unsupported.take()
    }

    /// Reads the next token inside a tag.
    fn lex_tag(&mut self, token: &mut Token) -> Result<()> {
        if self.code.source().as_bytes().get(self.position()) == Some(&b' ') {
            // Most tokens are separated by one space. Skipping it here is faster than a call of the code lexer.
            self.code.bump(1);
        }
        let kind = match self.code.next() {
            Some(Ok(kind)) => kind,
            Some(Err(fault)) => return Err(self.fault_error(fault)),
            None => {
                self.set_end(token);
                return Ok(());
            }
        };
        let span = self.code.span();
        token.set(kind, span.start, span.len());
        match kind {
            // Most tokens are not literals, brackets or closing delimiters.
            TokenKind::Name
            | TokenKind::Dot
            | TokenKind::Comma
            | TokenKind::Assign
            | TokenKind::Eq
            | TokenKind::Add
            | TokenKind::Pipe => Ok(()),
            _ => self.finish_token(token),
        }
    }

    /// Stores the value of a literal, matches a bracket, or leaves the tag after a closing delimiter.
    #[inline(never)]
    fn finish_token(&mut self, token: &Token) -> Result<()> {
        let code = &self.code;
        match token.kind {
            TokenKind::String => match escape::decode(between_quotes(code.slice())) {
                Ok(Cow::Borrowed(_)) => self.literal = None,
                Ok(Cow::Owned(text)) => self.literal = Some(Literal::Str(text.into())),
                Err(escape::Fault::Unsupported(row)) => self.unsupported = Some(row),
                Err(escape::Fault::Syntax(message)) => return Err(Error::syntax(message, token.span)),
            },
            TokenKind::Integer => self.literal = Some(literal::parse_integer(code.slice(), token.span)?),
            TokenKind::Float => self.literal = Some(literal::parse_float(code.slice(), token.span)?),
            TokenKind::VariableEnd | TokenKind::BlockEnd => {
                let stripped = text::stripped_length(code.remainder(), code.extras.closer, code.slice());
                self.skip_to(Mode::Text, self.position() + stripped);
            }
            _ => self.match_bracket(token)?,
        }
        Ok(())
    }

    /// Reads the next token outside tags: text, or an opening delimiter.
    #[inline(never)]
    fn lex_text(&mut self, token: &mut Token) -> Result<()> {
        let text = self.code.source();
        loop {
            let position = self.position();
            if position >= text.len() {
                self.set_end(token);
                return Ok(());
            }
            let is_token = match self.mode {
                Mode::Tag => return self.lex_tag(token),
                Mode::Text => self.take_text(text::find_opener(text, position), token),
                Mode::Opener(opener) => self.open_tag(opener, token),
                Mode::Comment => {
                    let end = text::find_comment_end(text, position);
                    self.skip_to(Mode::Text, end.ok_or_else(|| self.error_here("Missing end of comment tag"))?)
                }
                Mode::Raw => {
                    let endraw = text::find_endraw(text, position);
                    self.take_text(
                        Some(endraw.ok_or_else(|| self.error_here("Missing end of raw directive"))?),
                        token,
                    )
                }
            };
            if is_token {
                return Ok(());
            }
        }
    }

    /// Takes the text up to an opener, or to the end of the source. Returns whether any text is left after stripping.
    fn take_text(&mut self, opener: Option<Opener>, token: &mut Token) -> bool {
        let start = self.position();
        let end = opener.map_or(self.code.source().len(), |opener| opener.start);
        let text = self.code.source().get(start..end).unwrap_or_default();
        let text = match opener {
            Some(opener) => text::strip_before(text, &opener, self.is_line_start),
            None => text,
        };
        self.advance_to(end);
        if let Some(opener) = opener {
            self.mode = Mode::Opener(opener);
        }
        if !text.is_empty() {
            token.set(TokenKind::Data, start, text.len());
        }
        !text.is_empty()
    }

    /// Moves to the end of an opener. Returns whether it is a token.
    fn open_tag(&mut self, opener: Opener, token: &mut Token) -> bool {
        let (kind, closer) = match opener.opening {
            Opening::Variable => (TokenKind::VariableBegin, Closer::Variable),
            Opening::Block => (TokenKind::BlockBegin, Closer::Block),
            Opening::Comment => return self.skip_to(Mode::Comment, opener.end),
            Opening::Raw => return self.skip_to(Mode::Raw, opener.end),
            Opening::EndRaw => return self.skip_to(Mode::Text, opener.end),
        };
        self.advance_to(opener.end);
        self.mode = Mode::Tag;
        self.code.extras.closer = closer;
        token.set(kind, opener.start, opener.end.saturating_sub(opener.start));
        true
    }

    /// Moves to an offset and switches to another mode. Returns false, because no token has been read.
    fn skip_to(&mut self, mode: Mode, end: usize) -> bool {
        self.advance_to(end);
        self.is_line_start = self.code.slice().ends_with('\n');
        self.mode = mode;
        false
    }

    /// Replaces a token with the end of the template, which has the line of the token before it.
    fn set_end(&self, token: &mut Token) {
        let at = token.at;
        token.set(TokenKind::End, self.code.source().len(), 0);
        token.at = at;
    }

    fn position(&self) -> usize {
        self.code.span().end
    }

    fn advance_to(&mut self, end: usize) {
        self.code.bump(end.saturating_sub(self.position()));
    }

    /// Opens or closes a bracket, and checks that a closing bracket matches.
    fn match_bracket(&mut self, token: &Token) -> Result<()> {
        let brackets = &mut self.code.extras.brackets;
        match token.kind {
            TokenKind::LeftBracket => brackets.push(TokenKind::RightBracket),
            TokenKind::LeftParen => brackets.push(TokenKind::RightParen),
            TokenKind::LeftBrace => brackets.push(TokenKind::RightBrace),
            TokenKind::RightBracket | TokenKind::RightParen | TokenKind::RightBrace => {
                let expected = brackets.pop();
                if expected != Some(token.kind) {
                    return Err(unmatched_bracket(token, expected));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the error for a position where there is no token.
    #[cold]
    fn fault_error(&self, fault: Fault) -> Error {
        let at = self.code.span().start;
        if fault == Fault::Identifier {
            return Error::syntax(
                "Invalid character in identifier",
                token::make_span(at, self.code.slice().len()),
            );
        }
        let (before, after) = self.code.source().split_at_checked(at).unwrap_or_default();
        let char: String = after.chars().take(1).collect();
        let message = format!("unexpected char {} at {}", quote::repr(&char), before.chars().count());
        Error::syntax(message, token::make_span(at, char.len()))
    }

    /// Returns a syntax error at the current position.
    #[cold]
    fn error_here(&self, message: &str) -> Error {
        Error::syntax(message, token::make_span(self.position(), 0))
    }
}

/// Returns the error for a closing bracket that does not match.
#[cold]
fn unmatched_bracket(token: &Token, expected: Option<TokenKind>) -> Error {
    let found = token.kind.describe();
    let message = match expected {
        Some(expected) => format!("unexpected '{found}', expected '{}'", expected.describe()),
        None => format!("unexpected '{found}'"),
    };
    Error::syntax(message, token.span)
}
