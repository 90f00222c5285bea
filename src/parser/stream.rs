//! The tokens as the parser sees them: the current one, one of lookahead on demand, and what was expected instead.
//!
//! Tokens are pulled when the parser goes on, one behind the current one at most, as jinja2 3.1.6 `lexer.py`, `TokenStream`, does; the
//! texts are those of its `expect`. Grammar is unknown here.

use crate::ast::Literal;
use crate::error::{Error, Result};
use crate::lexer::{Lexer, Token, TokenKind};
use crate::source::Source;
use crate::span::Span;

/// The tokens of a source, from the current one on.
#[derive(Debug)]
pub struct TokenStream<'s> {
    source: &'s Source,
    lexer: Lexer<'s>,
    current: Token<'s>,
    ahead: Option<Token<'s>>,
    /// Where the token before the current one ends.
    end: u32,
}

impl<'s> TokenStream<'s> {
    /// The tokens of a source; the first one is pulled at once.
    pub fn new(source: &'s Source) -> Result<Self> {
        let mut stream = Self {
            source,
            lexer: Lexer::new(source),
            current: end_token(source, 0),
            ahead: None,
            end: 0,
        };
        stream.current = stream.pull()?;
        Ok(stream)
    }

    /// The current token.
    pub fn current(&self) -> &Token<'s> {
        &self.current
    }

    /// Where the last token that was taken ends.
    pub fn end(&self) -> u32 {
        self.end
    }

    /// The token behind the current one.
    pub fn look(&mut self) -> Result<&Token<'s>> {
        let token = match self.ahead.take() {
            Some(token) => token,
            None => self.pull()?,
        };
        Ok(self.ahead.insert(token))
    }

    /// Takes the current token. The end stays where it is.
    pub fn bump(&mut self) -> Result<Token<'s>> {
        let next = match self.ahead.take() {
            Some(token) => token,
            None => self.pull()?,
        };
        self.end = self.current.span.end;
        Ok(std::mem::replace(&mut self.current, next))
    }

    /// The value of the current token, if that is a string or a number. Whoever looks at the token behind it stands at a name, so that
    /// the last literal is the current token's.
    pub fn take_literal(&mut self) -> Option<Literal> {
        self.lexer.take_literal()
    }

    /// Whether the current token is of a kind.
    pub fn is_at(&self, kind: TokenKind) -> bool {
        self.current.kind == kind
    }

    /// Whether the current token is a name.
    pub fn is_at_word(&self, word: &str) -> bool {
        self.current.is_word(word)
    }

    /// Takes the current token if it is of a kind.
    pub fn eat(&mut self, kind: TokenKind) -> Result<bool> {
        let is_there = self.is_at(kind);
        if is_there {
            self.bump()?;
        }
        Ok(is_there)
    }

    /// Takes the current token if it is a name.
    pub fn eat_word(&mut self, word: &str) -> Result<bool> {
        let is_there = self.is_at_word(word);
        if is_there {
            self.bump()?;
        }
        Ok(is_there)
    }

    /// Takes the current token, which has to be of a kind.
    pub fn expect(&mut self, kind: TokenKind) -> Result<Token<'s>> {
        if self.is_at(kind) {
            self.bump()
        } else {
            Err(self.unexpected(kind.describe()))
        }
    }

    /// Takes the current token, which has to be a name.
    pub fn expect_word(&mut self, word: &str) -> Result<Token<'s>> {
        if self.is_at_word(word) {
            self.bump()
        } else {
            Err(self.unexpected(word))
        }
    }

    /// A syntax error at the current token.
    #[cold]
    pub fn error(&self, message: impl Into<String>) -> Error {
        self.error_at(message, self.current.span, self.current.at)
    }

    /// A syntax error with the line of an offset.
    #[cold]
    pub fn error_at(&self, message: impl Into<String>, span: Span, at: u32) -> Error {
        Error::syntax(message, span).on_line(self.source.line(at))
    }

    #[cold]
    fn unexpected(&self, expected: &str) -> Error {
        if self.is_at(TokenKind::End) {
            return self.error(format!("unexpected end of template, expected '{expected}'."));
        }
        self.error(format!("expected token '{expected}', got '{}'", self.current.describe()))
    }

    fn pull(&mut self) -> Result<Token<'s>> {
        let token = self.lexer.next()?;
        Ok(token.unwrap_or_else(|| end_token(self.source, self.current.at)))
    }
}

/// The end of the template, which has the line of the token before it.
fn end_token(source: &Source, at: u32) -> Token<'_> {
    let end = u32::try_from(source.text().len()).unwrap_or(u32::MAX);
    Token {
        kind: TokenKind::End,
        span: Span::new(end, end),
        at,
        text: "",
    }
}
