//! What the lexer makes: tokens, their kinds, and the rules of code, which stands inside tags.
//!
//! `items|first` begins with the [`TokenKind::Name`] `items`. The rules are those of jinja2 3.1.6 `lexer.py`: the closing delimiter
//! unless brackets are open, `whitespace_re`, `float_re`, `integer_re`, `_identifier.py`, `string_re`, `operators`, in this order; the
//! names of tokens in messages are those of `_describe_token_type`.
//!
//! This is the door of the crate `logos`. Its own character classes follow a later Unicode, so its patterns are ASCII, and what lies
//! beyond is asked of [`crate::unicode`] in callbacks. Knows nothing of text outside tags, of brackets that match, or of a token's value.

use logos::{FilterResult, Lexer, Logos};

use super::text::{self, Closer};
use super::{number, word};
use crate::span::Span;
use crate::unicode;

/// A source that is read as code from the place on that was bumped to.
pub type Code<'s> = Lexer<'s, TokenKind>;

/// What decides whether a sign ends a tag.
#[derive(Debug)]
pub struct Tag {
    /// What closes it.
    pub closer: Closer,
    /// The closing brackets that are awaited before.
    pub brackets: Vec<TokenKind>,
}

/// Why code has no token at a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    /// No rule matches.
    #[default]
    Char,
    /// A name is no identifier.
    Identifier,
}

/// The code of a source.
pub fn code(text: &str) -> Code<'_> {
    let tag = Tag {
        closer: Closer::Variable,
        brackets: Vec::new(),
    };
    TokenKind::lexer_with_extras(text, tag)
}

/// One token. Its text is asked of the source.
#[derive(Clone, Copy, Debug, Default)]
pub struct Token {
    /// Which.
    pub kind: TokenKind,
    /// Its source, without the blanks that its delimiter strips. Of text between tags what is left after stripping.
    pub span: Span,
    /// Offset of the place whose line the reference gives the token: where it begins, but for [`TokenKind::End`], which has the line
    /// of the token before it.
    pub at: u32,
}

impl Token {
    /// Makes it another one, of so many bytes.
    pub(super) fn set(&mut self, kind: TokenKind, start: usize, length: usize) {
        self.kind = kind;
        self.span = span(start, length);
        self.at = self.span.start;
    }
}

/// The span of so many bytes; offsets fit because the size of a source is limited.
pub(super) fn span(start: usize, length: usize) -> Span {
    let offset = |at| u32::try_from(at).unwrap_or(u32::MAX);
    Span::new(offset(start), offset(start.saturating_add(length)))
}

/// The kinds of tokens.
#[derive(Logos, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[logos(extras = Tag)]
#[logos(error = Fault)]
#[logos(skip r"[\t-\r\x1c- ]+")]
pub enum TokenKind {
    /// Text between tags.
    Data,
    /// `{{`
    VariableBegin,
    /// `}}`
    VariableEnd,
    /// `{%`
    BlockBegin,
    /// `%}`
    BlockEnd,
    /// The end of the template.
    #[default]
    End,
    /// `messages`
    #[regex("[A-Za-z_][A-Za-z0-9_]*", extend_name)]
    #[regex(r"[^\x00-\x7f]", scan_beyond_ascii)]
    Name,
    /// `1_000`, `0xff`
    #[regex("[0-9]", scan_number)]
    Integer,
    /// `1.5`, `1e3`
    Float,
    /// `'text'`, `"text"`
    #[regex(r"'([^'\\]|\\.|\\\n)*'")]
    #[regex(r#""([^"\\]|\\.|\\\n)*""#)]
    String,
    /// `+`
    #[token("+", |lexer| end_or(lexer, TokenKind::Add))]
    Add,
    /// `-`
    #[token("-", |lexer| end_or(lexer, TokenKind::Sub))]
    Sub,
    /// `/`
    #[token("/")]
    Div,
    /// `//`
    #[token("//")]
    FloorDiv,
    /// `*`
    #[token("*")]
    Mul,
    /// `%`
    #[token("%", |lexer| end_or(lexer, TokenKind::Mod))]
    Mod,
    /// `**`
    #[token("**")]
    Pow,
    /// `~`
    #[token("~")]
    Tilde,
    /// `[`
    #[token("[")]
    LeftBracket,
    /// `]`
    #[token("]")]
    RightBracket,
    /// `(`
    #[token("(")]
    LeftParen,
    /// `)`
    #[token(")")]
    RightParen,
    /// `{`
    #[token("{")]
    LeftBrace,
    /// `}`
    #[token("}", |lexer| end_or(lexer, TokenKind::RightBrace))]
    RightBrace,
    /// `==`
    #[token("==")]
    Eq,
    /// `!=`
    #[token("!=")]
    Ne,
    /// `>`
    #[token(">")]
    Gt,
    /// `>=`
    #[token(">=")]
    Ge,
    /// `<`
    #[token("<")]
    Lt,
    /// `<=`
    #[token("<=")]
    Le,
    /// `=`
    #[token("=")]
    Assign,
    /// `.`
    #[token(".")]
    Dot,
    /// `:`
    #[token(":")]
    Colon,
    /// `|`
    #[token("|")]
    Pipe,
    /// `,`
    #[token(",")]
    Comma,
    /// `;`
    #[token(";")]
    Semicolon,
}

impl TokenKind {
    /// The name in messages.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Data => "template data / text",
            Self::VariableBegin => "begin of print statement",
            Self::VariableEnd => "end of print statement",
            Self::BlockBegin => "begin of statement block",
            Self::BlockEnd => "end of statement block",
            Self::End => "end of template",
            Self::Name => "name",
            Self::Integer => "integer",
            Self::Float => "float",
            Self::String => "string",
            Self::Add => "+",
            Self::Sub => "-",
            Self::Div => "/",
            Self::FloorDiv => "//",
            Self::Mul => "*",
            Self::Mod => "%",
            Self::Pow => "**",
            Self::Tilde => "~",
            Self::LeftBracket => "[",
            Self::RightBracket => "]",
            Self::LeftParen => "(",
            Self::RightParen => ")",
            Self::LeftBrace => "{",
            Self::RightBrace => "}",
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Assign => "=",
            Self::Dot => ".",
            Self::Colon => ":",
            Self::Pipe => "|",
            Self::Comma => ",",
            Self::Semicolon => ";",
        }
    }
}

/// The end of the tag, if that is what a sign begins.
fn end_or(lexer: &mut Code<'_>, sign: TokenKind) -> TokenKind {
    let Tag { closer, brackets } = &lexer.extras;
    if !brackets.is_empty() {
        return sign;
    }
    let end = match closer {
        Closer::Variable => TokenKind::VariableEnd,
        Closer::Block | Closer::Comment => TokenKind::BlockEnd,
    };
    match text::closer_length(token_and_rest(lexer), *closer) {
        Some(length) => {
            lexer.bump(length.saturating_sub(lexer.slice().len()));
            end
        }
        None => sign,
    }
}

/// Only names that go beyond ASCII may be none of Python's identifiers.
fn extend_name(lexer: &mut Code<'_>) -> Result<(), Fault> {
    if lexer.remainder().as_bytes().first().is_none_or(u8::is_ascii) {
        return Ok(());
    }
    lexer.bump(word::name_length(lexer.remainder()));
    check_identifier(lexer.slice())
}

fn check_identifier(name: &str) -> Result<(), Fault> {
    match unicode::is_identifier(name) {
        true => Ok(()),
        false => Err(Fault::Identifier),
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

/// Blanks, numbers and names that begin outside ASCII.
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

/// The length of a float; after a dot none begins.
fn float_length(lexer: &Code<'_>) -> Option<usize> {
    let before = lexer.source().as_bytes().get(..lexer.span().start)?;
    if before.ends_with(b".") {
        return None;
    }
    number::float_length(token_and_rest(lexer))
}

/// The source from the beginning of the token on.
fn token_and_rest<'s>(lexer: &Code<'s>) -> &'s str {
    lexer.source().get(lexer.span().start..).unwrap_or_default()
}
