//! Tokens, their kinds, and the lexer for the code inside tags.
//!
//! The first token of `items|first` is the [`TokenKind::Name`] `items`. As in jinja2 3.1.6 `lexer.py`, the rules are tried in this order:
//! the closing delimiter unless brackets are open, `whitespace_re`, `float_re`, `integer_re`, `_identifier.py`, `string_re`, `operators`.
//! The names of tokens in messages are those of `_describe_token_type`.
//!
//! This is the only file that uses the crate `logos`. The character classes of `logos` follow a later version of Unicode, so the patterns
//! match only ASCII, and callbacks handle other characters with [`crate::unicode`].

use logos::{FilterResult, Lexer, Logos};

use super::text::{self, Closer};
use super::{number, word};
use crate::span::Span;
use crate::unicode;

/// The lexer for the code inside tags. Its position can be moved past text that is not code.
pub type Code<'s> = Lexer<'s, TokenKind>;

/// The tag that the lexer is in, which determines whether a sign ends the tag.
#[derive(Debug)]
pub struct Tag {
    /// The delimiter that closes the tag.
    pub closer: Closer,
    /// The closing brackets that the open brackets of the tag need. The innermost is the last.
    pub brackets: Vec<TokenKind>,
}

/// The reason for the error at a position without a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    /// No rule matches the character.
    #[default]
    Char,
    /// The name is not a Python identifier.
    Identifier,
}

/// Returns a lexer for the code of a source.
pub fn lex_code(text: &str) -> Code<'_> {
    let tag = Tag {
        closer: Closer::Variable,
        brackets: Vec::new(),
    };
    TokenKind::lexer_with_extras(text, tag)
}

/// A token. The source has its text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Token {
    pub kind: TokenKind,
    /// The range of the token in the source, without the blanks that tags strip.
    pub span: Span,
    /// The offset whose line the reference reports for the token. It is the beginning of the token, except that [`TokenKind::End`] has the
    /// line of the token before it.
    pub at: u32,
}

impl Token {
    /// Replaces this token by one that begins at `start` and has `length` bytes.
    pub(super) fn set(&mut self, kind: TokenKind, start: usize, length: usize) {
        self.kind = kind;
        self.span = make_span(start, length);
        self.at = self.span.start;
    }
}

/// Returns the span of `length` bytes from `start`. Offsets fit in 32 bits, because the size of a source is limited.
pub(super) fn make_span(start: usize, length: usize) -> Span {
    let offset = |at| u32::try_from(at).unwrap_or(u32::MAX);
    Span::new(offset(start), offset(start + length))
}

/// Declares [`TokenKind`] with the name of each kind in messages.
macro_rules! token_kinds {
    ($($(#[$attribute:meta])* $kind:ident = $name:literal,)*) => {
        /// The kinds of tokens.
        #[derive(Logos, Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[logos(extras = Tag)]
        #[logos(error = Fault)]
        #[logos(skip r"[\t-\r\x1c- ]+")]
        pub enum TokenKind {
            $($(#[$attribute])* $kind,)*
        }

        impl TokenKind {
            /// Returns the name of the kind in messages.
            pub fn describe(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }
    };
}

token_kinds! {
    Data = "template data / text",
    VariableBegin = "begin of print statement",
    VariableEnd = "end of print statement",
    BlockBegin = "begin of statement block",
    BlockEnd = "end of statement block",
    #[default]
    End = "end of template",
    #[regex("[A-Za-z_][A-Za-z0-9_]*", extend_name)]
    #[regex(r"[^\x00-\x7f]", scan_beyond_ascii)]
    Name = "name",
    #[regex("[0-9]", scan_number)]
    Integer = "integer",
    Float = "float",
    #[regex(r"'([^'\\]|\\.|\\\n)*'")]
    #[regex(r#""([^"\\]|\\.|\\\n)*""#)]
    String = "string",
    #[token("+", |lexer| close_or(lexer, TokenKind::Add))]
    Add = "+",
    #[token("-", |lexer| close_or(lexer, TokenKind::Sub))]
    Sub = "-",
    #[token("/")]
    Div = "/",
    #[token("//")]
    FloorDiv = "//",
    #[token("*")]
    Mul = "*",
    #[token("%", |lexer| close_or(lexer, TokenKind::Mod))]
    Mod = "%",
    #[token("**")]
    Pow = "**",
    #[token("~")]
    Tilde = "~",
    #[token("[")]
    LeftBracket = "[",
    #[token("]")]
    RightBracket = "]",
    #[token("(")]
    LeftParen = "(",
    #[token(")")]
    RightParen = ")",
    #[token("{")]
    LeftBrace = "{",
    #[token("}", |lexer| close_or(lexer, TokenKind::RightBrace))]
    RightBrace = "}",
    #[token("==")]
    Eq = "==",
    #[token("!=")]
    Ne = "!=",
    #[token(">")]
    Gt = ">",
    #[token(">=")]
    Ge = ">=",
    #[token("<")]
    Lt = "<",
    #[token("<=")]
    Le = "<=",
    #[token("=")]
    Assign = "=",
    #[token(".")]
    Dot = ".",
    #[token(":")]
    Colon = ":",
    #[token("|")]
    Pipe = "|",
    #[token(",")]
    Comma = ",",
    #[token(";")]
    Semicolon = ";",
}

/// Returns the kind of the closing delimiter that begins with this sign, or `sign` if there is none.
fn close_or(lexer: &mut Code<'_>, sign: TokenKind) -> TokenKind {
    let Tag { closer, brackets } = &lexer.extras;
    if !brackets.is_empty() {
        return sign;
    }
    let end = match closer {
        Closer::Variable => TokenKind::VariableEnd,
        Closer::Block | Closer::Comment => TokenKind::BlockEnd,
    };
    let code = lexer.source().as_bytes().get(lexer.span().start..);
    match text::closer_length(code.unwrap_or_default(), *closer) {
        Some(length) => {
            lexer.bump(length.saturating_sub(lexer.slice().len()));
            end
        }
        None => sign,
    }
}

/// Extends a name by characters outside ASCII. A name of only ASCII characters is always an identifier.
fn extend_name(lexer: &mut Code<'_>) -> Result<(), Fault> {
    let next = lexer.source().as_bytes().get(lexer.span().end);
    if next.is_none_or(u8::is_ascii) {
        return Ok(());
    }
    lexer.bump(word::name_length(lexer.remainder()));
    check_identifier(lexer.slice())
}

fn check_identifier(name: &str) -> Result<(), Fault> {
    if unicode::is_identifier(name) {
        Ok(())
    } else {
        Err(Fault::Identifier)
    }
}

fn scan_number(lexer: &mut Code<'_>) -> TokenKind {
    let code = token_and_rest(lexer);
    let (kind, length) = match float_length(lexer) {
        Some(length) => (TokenKind::Float, length),
        None => (TokenKind::Integer, number::integer_length(code).unwrap_or(1)),
    };
    lexer.bump(length.saturating_sub(lexer.slice().len()));
    kind
}

/// Reads blanks, a number or a name whose first character is outside ASCII.
fn scan_beyond_ascii(lexer: &mut Code<'_>) -> FilterResult<TokenKind, Fault> {
    let code = token_and_rest(lexer);
    let blanks = word::blank_length(code);
    let (kind, length) = match float_length(lexer) {
        _ if blanks > 0 => (None, blanks),
        Some(length) => (Some(TokenKind::Float), length),
        None => (Some(TokenKind::Name), word::name_length(code)),
    };
    if length == 0 {
        return FilterResult::Error(Fault::Char);
    }
    lexer.bump(length.saturating_sub(lexer.slice().len()));
    match kind {
        None => FilterResult::Skip,
        Some(TokenKind::Name) => match check_identifier(lexer.slice()) {
            Ok(()) => FilterResult::Emit(TokenKind::Name),
            Err(fault) => FilterResult::Error(fault),
        },
        Some(kind) => FilterResult::Emit(kind),
    }
}

/// Returns the length of the float at the current token, if there is one. No float begins directly after a dot.
fn float_length(lexer: &Code<'_>) -> Option<usize> {
    let before = lexer.source().as_bytes().get(..lexer.span().start)?;
    if before.ends_with(b".") {
        return None;
    }
    number::float_length(token_and_rest(lexer))
}

/// Returns the source from the beginning of the current token to the end.
fn token_and_rest<'s>(lexer: &Code<'s>) -> &'s str {
    lexer.source().get(lexer.span().start..).unwrap_or_default()
}
