//! What the lexer makes: tokens, their kinds, and the rules of code, which stands inside tags.
//!
//! `scan("items|first", false)` is `(TokenKind::Name, 5)`. The rules are those of jinja2 3.1.6 `lexer.py`: `float_re`,
//! `integer_re`, `_identifier.py`, `string_re`, `operators`, in this order; the names of tokens in messages are those of
//! `_describe_token_type`.
//!
//! This is the door of the crate `logos`. Its own character classes follow a later Unicode, so its patterns are ASCII, and what lies
//! beyond is asked of [`crate::unicode`] in callbacks. Knows nothing of blanks, of delimiters, of brackets that match, or of a token's value.

use logos::{Lexer, Logos};

use super::{number, word};
use crate::span::Span;

/// One token.
#[derive(Clone, Copy, Debug)]
pub struct Token<'s> {
    /// Which.
    pub kind: TokenKind,
    /// Its source, without the blanks that its delimiter strips.
    pub span: Span,
    /// Offset of the place whose line the reference gives the token: where it begins, but for [`TokenKind::End`], which has the line
    /// of the token before it.
    pub at: u32,
    /// The text between tags as it stands after stripping, a name, or else the source.
    pub text: &'s str,
}

/// The kinds of tokens.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
// Whether a dot stands before the token.
#[logos(extras = bool)]
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
    #[token("+")]
    Add,
    /// `-`
    #[token("-")]
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
    #[token("%")]
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
    #[token("}")]
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

impl Token<'_> {
    /// The name in messages; a name is its own.
    pub fn describe(&self) -> &str {
        match self.kind {
            TokenKind::Name => self.text,
            kind => kind.describe(),
        }
    }

    /// Whether this is the name `word`.
    pub fn is_word(&self, word: &str) -> bool {
        self.kind == TokenKind::Name && self.text == word
    }

    /// Whether this is a name among `words`.
    pub fn is_any_word(&self, words: &[&str]) -> bool {
        self.kind == TokenKind::Name && words.contains(&self.text)
    }
}

/// The token that `code` begins with, and its length; none where no rule matches. After a dot no float begins.
pub fn scan(code: &str, is_after_dot: bool) -> Option<(TokenKind, usize)> {
    let mut lexer = TokenKind::lexer_with_extras(code, is_after_dot);
    let kind = lexer.next()?.ok()?;
    Some((kind, lexer.span().end))
}

fn extend_name(lexer: &mut Lexer<'_, TokenKind>) {
    if !lexer.remainder().starts_with(|char: char| char.is_ascii()) {
        lexer.bump(word::name_length(lexer.remainder()));
    }
}

fn scan_number(lexer: &mut Lexer<'_, TokenKind>) -> TokenKind {
    let code = lexer.source().get(lexer.span().start..).unwrap_or_default();
    let float = if lexer.extras { None } else { number::float_length(code) };
    let (kind, length) = match float {
        Some(length) => (TokenKind::Float, length),
        None => (TokenKind::Integer, number::integer_length(code).unwrap_or(1)),
    };
    lexer.bump(length.saturating_sub(lexer.slice().len()));
    kind
}

/// Numbers and names that begin outside ASCII.
fn scan_beyond_ascii(lexer: &mut Lexer<'_, TokenKind>) -> Result<TokenKind, ()> {
    let code = lexer.source().get(lexer.span().start..).unwrap_or_default();
    let float = if lexer.extras { None } else { number::float_length(code) };
    let (kind, length) = match float {
        Some(length) => (TokenKind::Float, length),
        None => (TokenKind::Name, word::name_length(code)),
    };
    if length == 0 {
        return Err(());
    }
    lexer.bump(length.saturating_sub(lexer.slice().len()));
    Ok(kind)
}
