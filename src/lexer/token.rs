//! Tokens and their kinds. The first token of `items|first` is the [`TokenKind::Name`] `items`.

use crate::span::Span;

/// A token. The source has its text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Token {
    pub kind: TokenKind,
    /// The range of the token in the source, without the blanks that tags strip.
    pub span: Span,
    /// The offset whose line the reference gives the token. It is the beginning of the token, except that [`TokenKind::End`] has the line
    /// of the token before it.
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

/// Declares [`TokenKind`] with the name of each kind in messages (jinja2 3.1.6 `lexer.py`, `_describe_token_type`). The name of an operator
/// is its text.
macro_rules! token_kinds {
    ($($(#[$attribute:meta])* $kind:ident = $name:literal,)*) => {
        /// The kinds of tokens.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    Name = "name",
    Integer = "integer",
    Float = "float",
    String = "string",
    Add = "+",
    Sub = "-",
    Div = "/",
    FloorDiv = "//",
    Mul = "*",
    Mod = "%",
    Pow = "**",
    Tilde = "~",
    LeftBracket = "[",
    RightBracket = "]",
    LeftParen = "(",
    RightParen = ")",
    LeftBrace = "{",
    RightBrace = "}",
    Eq = "==",
    Ne = "!=",
    Gt = ">",
    Ge = ">=",
    Lt = "<",
    Le = "<=",
    Assign = "=",
    Dot = ".",
    Colon = ":",
    Pipe = "|",
    Comma = ",",
    Semicolon = ";",
}

impl TokenKind {
    /// Returns the operator that begins with two bytes.
    #[inline]
    pub(super) fn find_operator(first: Option<u8>, second: Option<u8>) -> Option<Self> {
        let is_long = second == Some(b'=');
        Some(match first? {
            b'+' => Self::Add,
            b'-' => Self::Sub,
            b'/' if second == Some(b'/') => Self::FloorDiv,
            b'/' => Self::Div,
            b'*' if second == Some(b'*') => Self::Pow,
            b'*' => Self::Mul,
            b'%' => Self::Mod,
            b'~' => Self::Tilde,
            b'[' => Self::LeftBracket,
            b']' => Self::RightBracket,
            b'(' => Self::LeftParen,
            b')' => Self::RightParen,
            b'{' => Self::LeftBrace,
            b'}' => Self::RightBrace,
            b'=' if is_long => Self::Eq,
            b'=' => Self::Assign,
            b'!' if is_long => Self::Ne,
            b'>' if is_long => Self::Ge,
            b'>' => Self::Gt,
            b'<' if is_long => Self::Le,
            b'<' => Self::Lt,
            b'.' => Self::Dot,
            b':' => Self::Colon,
            b'|' => Self::Pipe,
            b',' => Self::Comma,
            b';' => Self::Semicolon,
            _ => return None,
        })
    }
}
