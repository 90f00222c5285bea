//! Converts the source of a template to tokens: `a {{ b }}` is the text `a `, the token `{{`, the name `b` and the token `}}`.
//!
//! The parser requests one token at a time, so that the first error in the source is reported, whether the lexer or the parser finds it.
//! The rules are those of jinja2 3.1.6 `lexer.py`, `Lexer.tokeniter` and `Lexer.wrap`, with `trim_blocks` and `lstrip_blocks` and without
//! line statements. `text.rs` scans the text outside tags.

mod escape;
mod number;
mod text;
mod token;
mod word;

pub use token::{Token, TokenKind};

use self::text::{Closer, Opener, Opening, text_from};
use self::token::make_span;
use crate::ast::ExprKind;
use crate::error::{Error, Result};
use crate::source::Source;
use crate::text::quote;
use crate::unicode;

/// The lexer of a source.
///
/// It ends at the end of the source, even inside a tag. The tokens after an error are unspecified.
#[derive(Debug)]
pub struct Lexer<'s> {
    text: &'s str,
    /// The offset of the next token, or of the blanks before it.
    position: usize,
    mode: Mode,
    is_line_start: bool,
    /// The delimiter that closes the tag.
    closer: Closer,
    /// The closing brackets that the open brackets of the tag need. The innermost is the last.
    brackets: Vec<TokenKind>,
    /// The value of the last number, or of the last string that has escapes.
    value: Option<ExprKind>,
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
    /// Returns a lexer at the beginning of the source.
    pub fn new(source: &'s Source<'s>) -> Self {
        Self {
            text: source.text(),
            position: 0,
            mode: Mode::Text,
            is_line_start: true,
            closer: Closer::Variable,
            brackets: Vec::new(),
            value: None,
        }
    }

    /// Replaces a token with the next one. After the last token it is [`TokenKind::End`].
    pub fn next(&mut self, token: &mut Token) -> Result<()> {
        match self.mode {
            Mode::Tag => self.lex_tag(token),
            _ => self.lex_text(token),
        }
    }

    /// Takes the value of the last token, if it is a number, or a string with escapes. A second call returns `None`.
    pub fn take_value(&mut self) -> Option<ExprKind> {
        self.value.take()
    }

    /// Reads the next token inside a tag. The rules are tried in the order of the reference: the closing delimiter unless brackets are open,
    /// `whitespace_re`, `float_re`, `integer_re`, `_identifier.py`, `string_re`, `operators`.
    fn lex_tag(&mut self, token: &mut Token) -> Result<()> {
        let code = self.text.as_bytes();
        let mut start = self.position;
        // Most tokens are separated by one space.
        if code.get(start) == Some(&b' ') {
            start += 1;
        }
        if code.get(start).is_some_and(|byte| !matches!(byte, b'!'..=b'~')) {
            start += word::blank_length(text_from(self.text, start));
        }
        let Some(first) = code.get(start) else {
            self.set_end(token);
            return Ok(());
        };
        let (kind, length) = match first {
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => {
                let end = word::name_end(code, start);
                if code.get(end).is_none_or(u8::is_ascii) {
                    token.set(TokenKind::Name, start, end.saturating_sub(start));
                    self.position = end;
                    return Ok(());
                }
                (TokenKind::Name, word::name_length(text_from(self.text, start)))
            }
            b'0'..=b'9' | 0x80.. => self.find_number_or_name(start),
            b'\'' | b'"' => (TokenKind::String, string_length(code, start).unwrap_or_default()),
            b'+' | b'-' | b'%' | b'}' if self.brackets.is_empty() => self.find_closer(start),
            _ => find_operator(code, start),
        };
        if length == 0 {
            return Err(self.unexpected_char(start));
        }
        token.set(kind, start, length);
        self.position = start + length;
        match kind {
            // Most tokens are not literals, brackets or closing delimiters.
            TokenKind::Dot | TokenKind::Comma | TokenKind::Assign | TokenKind::Eq | TokenKind::Add | TokenKind::Pipe => Ok(()),
            _ => self.finish_token(token),
        }
    }

    /// Returns the kind and the length of the number or the name at an offset. No float begins directly after a dot.
    fn find_number_or_name(&self, start: usize) -> (TokenKind, usize) {
        let (before, code) = self.text.split_at_checked(start).unwrap_or_default();
        if let Some(length) = number::float_length(code).filter(|_| !before.ends_with('.')) {
            return (TokenKind::Float, length);
        }
        match number::integer_length(code) {
            Some(length) => (TokenKind::Integer, length),
            None => (TokenKind::Name, word::name_length(code)),
        }
    }

    /// Returns the kind and the length of the closing delimiter or the operator at an offset.
    fn find_closer(&self, start: usize) -> (TokenKind, usize) {
        let code = self.text.as_bytes();
        match text::closer_length(code.get(start..).unwrap_or_default(), self.closer) {
            Some(length) => (self.closer.kind(), length),
            None => find_operator(code, start),
        }
    }

    /// Checks a name, stores the value of a literal, matches a bracket, or leaves the tag after a closing delimiter.
    #[inline(never)]
    fn finish_token(&mut self, token: &Token) -> Result<()> {
        let start = token.span.start as usize;
        let source = self.text.get(start..self.position).unwrap_or_default();
        match token.kind {
            TokenKind::Name if unicode::is_identifier(source) => {}
            TokenKind::Name => return Err(Error::syntax("Invalid character in identifier", token.span)),
            TokenKind::String => {
                let value = escape::decode(between_quotes(source));
                self.value = value.map_err(|message| Error::syntax(message, token.span))?;
            }
            TokenKind::Integer => self.value = Some(ExprKind::Literal(number::parse_integer(source, token.span)?)),
            TokenKind::Float => self.value = Some(ExprKind::Literal(number::parse_float(source, token.span)?)),
            TokenKind::VariableEnd | TokenKind::BlockEnd => {
                let stripped = text::stripped_length(text_from(self.text, self.position), self.closer, source);
                self.skip_to(Mode::Text, self.position + stripped);
            }
            TokenKind::LeftBracket => self.brackets.push(TokenKind::RightBracket),
            TokenKind::LeftParen => self.brackets.push(TokenKind::RightParen),
            TokenKind::LeftBrace => self.brackets.push(TokenKind::RightBrace),
            TokenKind::RightBracket | TokenKind::RightParen | TokenKind::RightBrace => {
                let expected = self.brackets.pop();
                if expected != Some(token.kind) {
                    return Err(unmatched_bracket(token, expected));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads the next token outside tags: text, or an opening delimiter.
    #[inline(never)]
    fn lex_text(&mut self, token: &mut Token) -> Result<()> {
        loop {
            let position = self.position;
            if position >= self.text.len() {
                self.set_end(token);
                return Ok(());
            }
            let is_token = match self.mode {
                Mode::Tag => return self.lex_tag(token),
                Mode::Text => self.take_text(text::find_opener(self.text, position), token),
                Mode::Opener(opener) => self.open_tag(opener, token),
                Mode::Comment => {
                    let end = text::find_comment_end(self.text, position);
                    self.skip_to(Mode::Text, end.ok_or_else(|| self.error_here("Missing end of comment tag"))?)
                }
                Mode::Raw => {
                    let endraw = text::find_endraw(self.text, position);
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
        let start = self.position;
        self.position = opener.map_or(self.text.len(), |opener| opener.start);
        let mut text = self.text.get(start..self.position).unwrap_or_default();
        if let Some(opener) = opener {
            text = text::strip_before(text, &opener, self.is_line_start);
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
        self.position = opener.end;
        self.mode = Mode::Tag;
        self.closer = closer;
        token.set(kind, opener.start, opener.end.saturating_sub(opener.start));
        true
    }

    /// Moves to an offset and switches to another mode. Returns false, because no token has been read.
    fn skip_to(&mut self, mode: Mode, end: usize) -> bool {
        self.position = end;
        self.is_line_start = self.text.as_bytes().get(..end).is_some_and(|before| before.ends_with(b"\n"));
        self.mode = mode;
        false
    }

    /// Replaces a token with the end of the template, which has the line of the token before it.
    fn set_end(&self, token: &mut Token) {
        let at = token.at;
        token.set(TokenKind::End, self.text.len(), 0);
        token.at = at;
    }

    /// Returns the error for an offset where there is no token.
    #[cold]
    fn unexpected_char(&self, at: usize) -> Error {
        let (before, after) = self.text.split_at_checked(at).unwrap_or_default();
        let char: String = after.chars().take(1).collect();
        let message = format!("unexpected char {} at {}", quote::repr(&char), before.chars().count());
        Error::syntax(message, make_span(at, char.len()))
    }

    /// Returns a syntax error at the current position.
    #[cold]
    fn error_here(&self, message: &str) -> Error {
        Error::syntax(message, make_span(self.position, 0))
    }
}

/// Returns the source between the quotes of a string token.
pub fn between_quotes(token: &str) -> &str {
    token.get(1..token.len().saturating_sub(1)).unwrap_or_default()
}

/// Returns the length of the string at an offset, with its quotes. A backslash takes the character after it.
fn string_length(code: &[u8], start: usize) -> Option<usize> {
    let quote = code.get(start)?;
    let mut end = start + 1;
    loop {
        match code.get(end)? {
            b'\\' => end += 2,
            byte if byte == quote => return Some(end + 1 - start),
            _ => end += 1,
        }
    }
}

/// Returns the kind and the length of the operator at an offset. The length is 0 if there is none.
fn find_operator(code: &[u8], start: usize) -> (TokenKind, usize) {
    let operator = TokenKind::find_operator(code.get(start).copied(), code.get(start + 1).copied());
    operator.map_or((TokenKind::End, 0), |kind| (kind, kind.describe().len()))
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
