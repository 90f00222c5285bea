//! Parses a format of `str.format` into literal text and replacement fields.
//!
//! ```text
//! next_part("ab{0.x!r:>5}c")    literal `ab`, field `0.x`, conversion `r`, specification `>5`; `c` is left
//! ```
//!
//! The rules are those of CPython 3.13 `Objects/stringlib/unicode_format.h` (`MarkupIterator_next`, `parse_field`,
//! `FieldNameIterator_next`).

use crate::error::{Error, Result};

/// Literal text and the replacement field after it.
pub(super) struct Part<'t> {
    pub literal: &'t str,
    pub replacement: Option<Replacement<'t>>,
}

/// The text between braces.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Replacement<'t> {
    pub field: &'t str,
    pub conversion: Option<char>,
    pub specification: &'t str,
}

/// A step from a value to its attribute or item.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FieldName<'t> {
    /// `.name`
    Attribute(&'t str),
    /// `[key]`
    Item(&'t str),
}

/// The steps after the first name of a field.
pub(super) struct Steps<'t>(&'t str);

/// Splits a string at a byte between two characters.
fn cut(text: &str, at: usize) -> (&str, &str) {
    text.split_at_checked(at).unwrap_or((text, ""))
}

/// Removes the first character and returns it.
fn eat(rest: &mut &str) -> Option<char> {
    let mut characters = rest.chars();
    let first = characters.next()?;
    *rest = characters.as_str();
    Some(first)
}

/// Removes the next part from a nonempty format.
pub(super) fn next_part<'t>(rest: &mut &'t str) -> Result<Part<'t>> {
    let text = *rest;
    let Some((literal, brace)) = text.find(['{', '}']).map(|at| cut(text, at)) else {
        *rest = "";
        return Ok(Part {
            literal: text,
            replacement: None,
        });
    };
    let mut after = brace;
    let first = eat(&mut after).unwrap_or('{');
    if after.starts_with(first) {
        // A doubled brace is a literal brace: the first of the two is part of the literal, and the second is skipped.
        let (literal, _) = cut(text, literal.len() + 1);
        eat(&mut after);
        *rest = after;
        return Ok(Part {
            literal,
            replacement: None,
        });
    }
    if first == '}' || after.is_empty() {
        return Err(Error::value(format!("Single '{first}' encountered in format string")));
    }
    *rest = after;
    let replacement = Some(take_replacement(rest)?);
    Ok(Part { literal, replacement })
}

/// Removes a replacement field with its closing brace.
fn take_replacement<'t>(rest: &mut &'t str) -> Result<Replacement<'t>> {
    let text = *rest;
    let mut end = None;
    while let Some(character) = eat(rest) {
        match character {
            '{' => return Err(Error::value("unexpected '{' in field name")),
            '[' => *rest = rest.find(']').map_or("", |at| cut(rest, at).1),
            '}' | ':' | '!' => {
                end = Some(character);
                break;
            }
            _ => {}
        }
    }
    let Some(end) = end else {
        return Err(Error::value("expected '}' before end of string"));
    };
    let taken = text.len().saturating_sub(rest.len()).saturating_sub(1);
    let (field, _) = cut(text, taken);
    let mut conversion = None;
    let mut is_closed = end == '}';
    if end == '!' {
        conversion = eat(rest);
        if conversion.is_none() {
            return Err(Error::value("end of string while looking for conversion specifier"));
        }
        match eat(rest) {
            Some('}') => is_closed = true,
            Some(':') | None => {}
            Some(_) => return Err(Error::value("expected ':' after conversion specifier")),
        }
    }
    let specification = if is_closed { "" } else { take_specification(rest)? };
    Ok(Replacement {
        field,
        conversion,
        specification,
    })
}

/// Removes a specification with the closing brace. Braces within it come in pairs.
fn take_specification<'t>(rest: &mut &'t str) -> Result<&'t str> {
    let text = *rest;
    let mut open: usize = 1;
    while let Some(character) = eat(rest) {
        match character {
            '{' => open += 1,
            '}' => open = open.saturating_sub(1),
            _ => {}
        }
        if open == 0 {
            let len = text.len().saturating_sub(rest.len()).saturating_sub(1);
            return Ok(cut(text, len).0);
        }
    }
    Err(Error::value("unmatched '{' in format spec"))
}

impl<'t> FieldName<'t> {
    /// Splits a field into its first name and the steps after it.
    pub(super) fn split(field: &'t str) -> (&'t str, Steps<'t>) {
        let (first, rest) = cut(field, field.find(['.', '[']).unwrap_or(field.len()));
        (first, Steps(rest))
    }
}

impl<'t> Steps<'t> {
    pub(super) fn next_step(&mut self) -> Result<Option<FieldName<'t>>> {
        let step = match eat(&mut self.0) {
            None => return Ok(None),
            Some('.') => {
                let (name, rest) = cut(self.0, self.0.find(['.', '[']).unwrap_or(self.0.len()));
                self.0 = rest;
                FieldName::Attribute(name)
            }
            Some('[') => {
                let Some((key, rest)) = self.0.split_once(']') else {
                    return Err(Error::value("Missing ']' in format string"));
                };
                self.0 = rest;
                FieldName::Item(key)
            }
            Some(_) => return Err(Error::value("Only '.' or '[' may follow ']' in format field specifier")),
        };
        match step {
            FieldName::Attribute("") | FieldName::Item("") => Err(Error::value("Empty attribute in format string")),
            step => Ok(Some(step)),
        }
    }
}
