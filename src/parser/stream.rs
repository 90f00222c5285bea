//! The tokens as the parser sees them: the current one, one of lookahead on demand, and what was expected instead.
//!
//! Tokens are pulled when the parser goes on, one behind the current one at most, as jinja2 3.1.6 `lexer.py`, `TokenStream`, does; the
//! texts are those of its `expect`. Grammar is unknown here.

use std::borrow::Cow;

use crate::ast::Literal;
use crate::error::{Error, Result};
use crate::lexer::{Lexer, Token, TokenKind, between_quotes};
use crate::source::Source;
use crate::span::Span;
use crate::unsupported::Unsupported;

/// The tokens of a source, from the current one on.
#[derive(Debug)]
pub struct TokenStream<'s> {
    source: &'s Source<'s>,
    lexer: Lexer<'s>,
    current: Token,
    ahead: Option<Token>,
    /// Where the token before the current one ends.
    end: u32,
}

impl<'s> TokenStream<'s> {
    /// The tokens of a source; the first one is pulled at once.
    pub fn new(source: &'s Source<'s>) -> Result<Self> {
        let mut lexer = Lexer::new(source);
        let mut current = Token::default();
        lexer.next(&mut current)?;
        Ok(Self {
            source,
            lexer,
            current,
            ahead: None,
            end: 0,
        })
    }

    /// The current token.
    pub fn current(&self) -> Token {
        self.current
    }

    /// Where the last token that was taken ends.
    pub fn end(&self) -> u32 {
        self.end
    }

    /// The token behind the current one.
    pub fn look(&mut self) -> Result<Token> {
        if let Some(token) = self.ahead {
            return Ok(token);
        }
        let mut token = self.current;
        self.lexer.next(&mut token)?;
        self.ahead = Some(token);
        Ok(token)
    }

    /// Whether the token behind the current one is the name `word`.
    pub fn is_ahead(&mut self, word: &str) -> Result<bool> {
        let token = self.look()?;
        Ok(self.is_word(token, word))
    }

    /// Goes on to the next token. The end stays where it is.
    #[inline(never)]
    pub fn bump(&mut self) -> Result<()> {
        self.end = self.current.span.end;
        match self.ahead.take() {
            Some(token) => self.current = token,
            None => self.lexer.next(&mut self.current)?,
        }
        Ok(())
    }

    /// Takes the current token.
    #[inline]
    pub fn take(&mut self) -> Result<Token> {
        let token = self.current;
        self.bump()?;
        Ok(token)
    }

    /// The source of a token.
    pub fn text(&self, token: Token) -> &'s str {
        self.source.slice(token.span)
    }

    /// The name of a token in messages; a name is its own.
    pub fn describe(&self, token: Token) -> &'s str {
        match token.kind {
            TokenKind::Name => self.text(token),
            kind => kind.describe(),
        }
    }

    /// Whether a token is the name `word`.
    #[inline]
    pub fn is_word(&self, token: Token, word: &str) -> bool {
        let Span { start, end } = token.span;
        token.kind == TokenKind::Name && end.saturating_sub(start) as usize == word.len() && self.text(token) == word
    }

    /// Whether a token is a name among `words`.
    #[inline]
    pub fn is_any_word(&self, token: Token, words: &[&str]) -> bool {
        words.iter().any(|word| self.is_word(token, word))
    }

    /// The value of the current token, if that is a string with escapes or a number. Whoever looks at the token behind it stands at a
    /// name, so that the last literal is the current token's.
    pub fn take_literal(&mut self) -> Option<Literal> {
        self.lexer.take_literal()
    }

    /// Takes the row of an escape in the current token, if that is a string with an escape that is not supported.
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

    /// Whether the current token is of a kind.
    pub fn is_at(&self, kind: TokenKind) -> bool {
        self.current.kind == kind
    }

    /// Whether the current token is the name `word`.
    pub fn is_at_word(&self, word: &str) -> bool {
        self.is_word(self.current, word)
    }

    /// Takes the current token if it is of a kind.
    pub fn eat(&mut self, kind: TokenKind) -> Result<bool> {
        let is_there = self.is_at(kind);
        if is_there {
            self.bump()?;
        }
        Ok(is_there)
    }

    /// Takes the current token if it is the name `word`.
    pub fn eat_word(&mut self, word: &str) -> Result<bool> {
        let is_there = self.is_at_word(word);
        if is_there {
            self.bump()?;
        }
        Ok(is_there)
    }

    /// Takes the current token, which has to be of a kind.
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
        self.error(format!("expected token '{expected}', got '{}'", self.describe(self.current)))
    }
}
