//! The values of literals: `'a\n'`, `0x_1F`, `1.5e3` as the tree keeps them.
//!
//! The rule is jinja2 3.1.6 `lexer.py`, `wrap`, which raises CPython's own errors where a literal has the right shape but no value:
//! an integer of more than 4300 digits is a ValueError without a line, `1.٣` a SyntaxError of Python's. What numbers and escapes mean
//! is said in [`crate::number`] and in `escape.rs`; this file knows only their errors.

use std::borrow::Cow;

use super::escape::{self, Fault};
use crate::ast::Literal;
use crate::error::{Error, ErrorKind, Result};
use crate::json::Data;
use crate::number::parse::{parse_float_literal, parse_int_literal};
use crate::number::{Int, NumberError};
use crate::span::Span;
use crate::unsupported::Unsupported;

/// The value of a string token.
#[derive(Debug)]
pub enum Text {
    /// The source between the quotes.
    Plain,
    /// Another text, because the source has escapes.
    Escaped(Box<str>),
    /// None: an escape is not supported, which is an error when the literal is reached.
    Unsupported(&'static Unsupported),
}

/// Returns the value of a string token, which is given with its quotes.
pub fn string(token: &str, span: Span) -> Result<Text> {
    match escape::decode(between_quotes(token)) {
        Ok(Cow::Borrowed(_)) => Ok(Text::Plain),
        Ok(Cow::Owned(text)) => Ok(Text::Escaped(text.into())),
        Err(Fault::Unsupported(row)) => Ok(Text::Unsupported(row)),
        Err(Fault::Syntax(message)) => Err(Error::syntax(message, span)),
    }
}

/// Returns the source between the quotes of a string token.
pub fn between_quotes(token: &str) -> &str {
    token.get(1..token.len().saturating_sub(1)).unwrap_or_default()
}

/// The value of an integer token.
pub fn integer(token: &str, span: Span) -> Result<Literal> {
    // Nearly all are a few decimal digits.
    if let Ok(int) = token.parse() {
        return Ok(Literal::Int(int));
    }
    match parse_int_literal(token) {
        Ok(Int::Small(int)) => Ok(Literal::Int(int)),
        Ok(Int::Big(int)) => Ok(Data::BigInt(Box::new(int)).into()),
        Err(error) => Err(python_error(error, span)),
    }
}

/// The value of a float token.
pub fn float(token: &str, span: Span) -> Result<Literal> {
    let float = parse_float_literal(token).map_err(|error| python_error(error, span))?;
    Ok(Literal::Float(float))
}

/// An exception that is not Jinja's, and so names no line of the template.
fn python_error(error: NumberError, span: Span) -> Error {
    let kind = match error {
        NumberError::Value(_) => ErrorKind::Value,
        _ => ErrorKind::Syntax,
    };
    Error::new(kind, error.to_string()).at(span).without_line()
}
