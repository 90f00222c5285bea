//! The values of literals: `0x_1F`, `1.5e3`.
//!
//! As in jinja2 3.1.6 `lexer.py`, `wrap`, a literal that has the right form but no value raises an error of CPython: an integer of more
//! than 4300 digits is a ValueError without a line, and `1.٣` is a SyntaxError. Numbers are parsed by [`crate::number`] and escapes by
//! `escape.rs`.

use crate::ast::Literal;
use crate::error::{Error, Result};
use crate::json::Data;
use crate::number::Int;
use crate::number::parse::{parse_float_literal, parse_int_literal};
use crate::span::Span;

/// Returns the source between the quotes of a string token.
pub fn between_quotes(token: &str) -> &str {
    token.get(1..token.len().saturating_sub(1)).unwrap_or_default()
}

/// Returns the value of an integer token.
pub fn parse_integer(token: &str, span: Span) -> Result<Literal> {
    // Nearly all integers are a few decimal digits.
    if let Ok(int) = token.parse() {
        return Ok(Literal::Int(int));
    }
    match parse_int_literal(token) {
        Ok(Int::Small(int)) => Ok(Literal::Int(int)),
        Ok(Int::Big(int)) => Ok(Data::BigInt(Box::new(int)).into()),
        Err(error) => Err(python_error(error, span)),
    }
}

/// Returns the value of a float token.
pub fn parse_float(token: &str, span: Span) -> Result<Literal> {
    let float = parse_float_literal(token).map_err(|error| python_error(error, span))?;
    Ok(Literal::Float(float))
}

/// Returns the error for an exception that CPython raises. Unlike Jinja's exceptions, it has no line.
fn python_error(error: Error, span: Span) -> Error {
    error.at(span).without_line()
}
