//! The stream of tokens that the parser reads: the current token, and one token of lookahead.
//!
//! As in jinja2 3.1.6 `lexer.py`, `TokenStream`, a token is read from the lexer only when the parser needs it. The messages are those of
//! its `expect`.

use std::borrow::Cow;

use crate::ast::Literal;
use crate::error::{Error, Result};
use crate::lexer::{Lexer, Token, TokenKind, between_quotes};
use crate::meter::Meter;
use crate::source::Source;
use crate::span::Span;
use crate::unsupported::Unsupported;

/// The least number of bytes of source for which the meter is charged at once.
const BLOCK: u32 = 1024;
/// The number of bytes of source that cost one step to parse. Lexing costs as much.
const STEP: u32 = 8;

/// The tokens of a source, from the current one to the end.
#[derive(Debug)]
pub struct TokenStream<'s> {
    source: &'s Source<'s>,
    lexer: Lexer<'s>,
    meter: Meter<'s>,
    /// The offset up to which the source is charged.
    charged: u32,
    /// The offset at which the source is charged again.
    next_charge: u32,
    current: Token,
    ahead: Option<Token>,
    /// The offset after the token before the current one.
    end: u32,
}

impl<'s> TokenStream<'s> {
    /// Returns the tokens of a source, and reads the first one. Lexing is charged at once, because a token or a
    /// comment may be as long as the source, and parsing when the tokens are taken.
    pub fn new(source: &'s Source<'s>, mut meter: Meter<'s>) -> Result<Self> {
        let charged = meter.charge_scan(source.text().len());
        charged.map_err(|error| error.at(Span::default()))?;
        let mut stream = Self {
            source,
            lexer: Lexer::new(source),
            meter,
            charged: 0,
            next_charge: BLOCK,
            current: Token::default(),
            ahead: None,
            end: 0,
        };
        stream.lexer.next(&mut stream.current)?;
        Ok(stream)
    }

    pub fn into_meter(self) -> Meter<'s> {
        self.meter
    }

    /// Charges the meter for the source since the last charge. A token alone is too short to be charged.
    #[cold]
    fn charge(&mut self) -> Result<()> {
        let bytes = self.end.saturating_sub(self.charged);
        self.charged = self.end;
        self.next_charge = self.end.saturating_add(BLOCK);
        let charged = self.meter.charge(u64::from(bytes / STEP));
        charged.map_err(|error| error.at(self.current.span))
    }

    pub fn current(&self) -> Token {
        self.current
    }

    /// Returns the offset after the last token that was taken.
    pub fn end(&self) -> u32 {
        self.end
    }

    pub fn peek(&mut self) -> Result<Token> {
        if let Some(token) = self.ahead {
            return Ok(token);
        }
        let mut token = self.current;
        self.lexer.next(&mut token)?;
        self.ahead = Some(token);
        Ok(token)
    }

    /// Returns whether the token after the current one is the name `word`.
    pub fn is_next_word(&mut self, word: &str) -> Result<bool> {
        let token = self.peek()?;
        Ok(self.is_word(token, word))
    }

    /// Moves to the next token. At the end of the template, the current token stays the same.
    #[inline(never)]
    pub fn bump(&mut self) -> Result<()> {
        self.end = self.current.span.end;
        match self.ahead.take() {
            Some(token) => self.current = token,
            None => self.lexer.next(&mut self.current)?,
        }
        if self.end >= self.next_charge {
            self.charge()?;
        }
        Ok(())
    }

    /// Returns the current token and moves to the next one.
    #[inline]
    pub fn take(&mut self) -> Result<Token> {
        let token = self.current;
        self.bump()?;
        Ok(token)
    }

    pub fn text(&self, token: Token) -> &'s str {
        self.source.slice(token.span)
    }

    /// Returns how messages name a token: a name by its text, and any other token by its kind.
    pub fn describe(&self, token: Token) -> &'s str {
        match token.kind {
            TokenKind::Name => self.text(token),
            kind => kind.describe(),
        }
    }

    /// Returns whether a token is the name `word`.
    #[inline]
    pub fn is_word(&self, token: Token, word: &str) -> bool {
        let Span { start, end } = token.span;
        token.kind == TokenKind::Name && end.saturating_sub(start) as usize == word.len() && self.text(token) == word
    }

    /// Returns whether a token is one of the names `words`.
    #[inline]
    pub fn is_any_word(&self, token: Token, words: &[&str]) -> bool {
        words.iter().any(|word| self.is_word(token, word))
    }

    /// Takes the value of the current token, if it is a number or a string with escapes.
    ///
    /// The lexer has the value of the last token that it read. This is the current token, because the parser peeks only when it is at a
    /// name.
    pub fn take_literal(&mut self) -> Option<Literal> {
        self.lexer.take_literal()
    }

    /// Takes the unsupported escape of the current token, if it is a string that has one.
    pub fn take_unsupported(&mut self) -> Option<&'static Unsupported> {
        self.lexer.take_unsupported()
    }

    /// Takes the current token, which is a string, and returns its value.
    pub fn take_string(&mut self) -> Result<Cow<'s, str>> {
        let literal = self.take_literal();
        let token = self.take()?;
        Ok(match literal {
            Some(Literal::Str(text)) => Cow::Owned(text.into()),
            _ => Cow::Borrowed(between_quotes(self.text(token))),
        })
    }

    pub fn is_at(&self, kind: TokenKind) -> bool {
        self.current.kind == kind
    }

    /// Returns whether the current token is the name `word`.
    pub fn is_at_word(&self, word: &str) -> bool {
        self.is_word(self.current, word)
    }

    /// Takes the current token if it has this kind. Returns whether it did.
    pub fn eat(&mut self, kind: TokenKind) -> Result<bool> {
        let is_there = self.is_at(kind);
        if is_there {
            self.bump()?;
        }
        Ok(is_there)
    }

    /// Takes the current token if it is the name `word`. Returns whether it was.
    pub fn eat_word(&mut self, word: &str) -> Result<bool> {
        let is_there = self.is_at_word(word);
        if is_there {
            self.bump()?;
        }
        Ok(is_there)
    }

    /// Takes the current token, which has to have this kind.
    pub fn expect(&mut self, kind: TokenKind) -> Result<Token> {
        if self.is_at(kind) {
            self.take()
        } else {
            Err(self.unexpected(kind.describe()))
        }
    }

    /// Takes the current token, which has to be the name `word`.
    pub fn expect_word(&mut self, word: &str) -> Result<Token> {
        if self.is_at_word(word) {
            self.take()
        } else {
            Err(self.unexpected(word))
        }
    }

    /// Returns a syntax error at the current token.
    #[cold]
    pub fn error(&self, message: impl Into<String>) -> Error {
        self.error_at(message, self.current.span, self.current.at)
    }

    /// Returns a syntax error at `span`, with the line of the offset `at`.
    #[cold]
    pub fn error_at(&self, message: impl Into<String>, span: Span, at: u32) -> Error {
        Error::syntax(message, span).on_line(self.source.line(at))
    }

    /// Returns the error for a current token that is not the expected one.
    #[cold]
    fn unexpected(&self, expected: &str) -> Error {
        if self.is_at(TokenKind::End) {
            return self.error(format!("unexpected end of template, expected '{expected}'."));
        }
        self.error(format!("expected token '{expected}', got '{}'", self.describe(self.current)))
    }
}
