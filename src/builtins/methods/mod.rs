//! What a value has behind a dot: its methods and its parts, and what the sandbox hides.
//!
//! ```text
//! find(Type::Str, "upper")              the row of `str.upper`
//! attribute(runtime, namespace, "n")    Attribute::Value(…)
//! attribute(runtime, list, "append")    Attribute::Unsafe
//! attribute(runtime, int, "real")       an error: not supported
//! ```
//!
//! A method is one row in the table of its type. What a missing attribute becomes is in [`super::access`]. The names are those of
//! CPython 3.11, jinja2 3.1.6 and markupsafe 3.0.4.

mod argument;
mod dict;
mod engine;
mod hidden;
mod markup;
pub(super) mod row;
mod sequence;
mod text_case;
mod text_class;
mod text_find;
mod text_format;
mod text_pad;
mod text_replace;
mod text_split;
mod text_strip;

pub(super) use argument::{c_int, clinic_text};
pub(super) use dict::is_attribute as is_dict_attribute;
pub(super) use engine::{call_joiner, loop_attribute};
pub(super) use row::{Body, SELF, optional, python, required, row, unnamed};
pub(super) use text_case::mapped_text;

use crate::error::{Error, Result};
use crate::unsupported::{self, Place};
use crate::value::{Function, Runtime, Type, Value};

/// What stands behind a dot.
#[derive(Debug)]
pub enum Attribute<'a> {
    /// A part of the value.
    Value(Value<'a>),
    /// One of its methods.
    Method(&'static Function),
    /// Something that the sandbox refuses.
    Unsafe,
    /// Nothing.
    Missing,
}

/// The methods of `str`, those first that templates call most.
static TEXT: [&[Function]; 8] = [
    &text_strip::METHODS,
    &text_split::METHODS,
    &text_find::METHODS,
    &text_replace::METHODS,
    &text_case::METHODS,
    &text_format::METHODS,
    &text_class::METHODS,
    &text_pad::METHODS,
];

/// The initials and lengths of their names. Most names that templates ask a string for in vain (`message.content is defined`) have
/// others, and the rows of all methods are much to look at.
static TEXT_SHAPES: u128 = shapes(&TEXT);

const fn shapes(mut tables: &[&[Function]]) -> u128 {
    let mut shapes = 0;
    while let [table, other_tables @ ..] = tables {
        let mut rows = *table;
        while let [function, others @ ..] = rows {
            shapes |= shape(function.name);
            rows = others;
        }
        tables = other_tables;
    }
    shapes
}

/// One bit for an initial and the last two bits of a length.
#[expect(clippy::cast_possible_truncation, reason = "two bits are left")]
const fn shape(name: &str) -> u128 {
    let length = (name.len() & 3) as u32;
    match name.as_bytes() {
        [initial, ..] => 1_u128.wrapping_shl((*initial as u32 & 31).wrapping_mul(4).wrapping_add(length)),
        [] => 0,
    }
}

/// The number of the method of `str` of that name: the number of its table, and its row there.
pub fn find_text(name: &str) -> Option<u16> {
    if TEXT_SHAPES & shape(name) == 0 {
        return None;
    }
    TEXT.iter().zip(0_u8..).find_map(|(table, number)| {
        let (_, row) = table.iter().zip(0_u8..).find(|(function, _)| function.name == name)?;
        Some(u16::from_be_bytes([number, row]))
    })
}

/// The method of `str` of that number.
#[inline]
pub fn text(number: u16) -> Option<&'static Function> {
    let [table, row] = number.to_be_bytes();
    TEXT.get(usize::from(table))?.get(usize::from(row))
}

/// The types that have methods; those of others are the same.
#[cfg(feature = "cli")]
pub const TYPES: [Type; 7] = [
    Type::Str,
    Type::Markup,
    Type::Dict,
    Type::List,
    Type::Tuple,
    Type::Loop,
    Type::Cycler,
];

/// The method of that name, of values of a type.
pub fn find(ty: Type, name: &str) -> Option<&'static Function> {
    if ty == Type::Str {
        return text(find_text(name)?);
    }
    in_tables(ty, |tables| {
        let mut methods = tables.iter().flat_map(|table| table.iter());
        methods.find(|function| function.name == name)
    })
}

/// The methods of values of a type.
#[cfg(feature = "cli")]
pub fn methods(ty: Type) -> Vec<&'static Function> {
    in_tables(ty, |tables| tables.iter().flat_map(|table| table.iter()).collect())
}

/// Looks into the tables of a type.
fn in_tables<R>(ty: Type, look: impl FnOnce(&[&'static [Function]]) -> R) -> R {
    let tables: &[&'static [Function]] = match ty {
        Type::Str => &TEXT,
        Type::Markup => &[
            &markup::METHODS,
            &text_find::METHODS,
            &text_class::METHODS,
            &text_replace::METHODS,
        ],
        Type::Dict => &[&dict::METHODS],
        Type::List => &[&sequence::LIST],
        Type::Tuple | Type::Group => &[&sequence::TUPLE],
        Type::Loop => &[&engine::LOOP],
        Type::Cycler => &[&engine::CYCLER],
        _ => &[],
    };
    look(tables)
}

/// What the value has under that name.
pub fn attribute<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, name: &str) -> Result<Attribute<'a>> {
    let ty = value.ty();
    if name.starts_with('_') {
        let is_hidden = match value {
            Value::Function(class) if ty == Type::Class && hidden::is_hidden_in_class(class.name, name) => true,
            _ => hidden::is_hidden(ty, name),
        };
        return Ok(if is_hidden { Attribute::Unsafe } else { Attribute::Missing });
    }
    let part = match value {
        Value::Namespace(id) => engine::namespace_attribute(runtime, *id, name)?,
        Value::Loop(context) => engine::loop_attribute(runtime, context, name)?,
        Value::Macro(code) => engine::macro_attribute(runtime, code, name)?,
        Value::Cycler(cycler) => engine::cycler_attribute(cycler, name),
        Value::Joiner(joiner) => engine::joiner_attribute(joiner, name),
        Value::Tuple(items) if ty == Type::Group => sequence::group_attribute(items, name),
        _ => None,
    };
    if let Some(part) = part {
        return Ok(Attribute::Value(part));
    }
    if let Some(method) = find(ty, name) {
        return Ok(Attribute::Method(method));
    }
    if is_refused(ty, name) {
        return Ok(Attribute::Unsafe);
    }
    match unsupported_attribute(value, name) {
        Some(error) => Err(error),
        None => Ok(Attribute::Missing),
    }
}

/// Returns the error of reaching an attribute that Python has and this crate does not.
#[cold]
fn unsupported_attribute(value: &Value<'_>, name: &str) -> Option<Error> {
    let owners: &[&str] = match value.ty() {
        Type::Str => &["str"],
        Type::Markup => &["Markup", "str"],
        Type::Int | Type::Bool => &["int"],
        Type::Float => &["float"],
        Type::Range => &["range"],
        Type::Dict | Type::TemplateDict => &["dict"],
        Type::Keys | Type::Items => &["view"],
        Type::Values if name == "mapping" => &["view"],
        Type::Generator => &["generator"],
        Type::Class if matches!(value, Value::Function(class) if class.name == "cycler") => &["cycler"],
        _ => &[],
    };
    owners
        .iter()
        .find_map(|owner| unsupported::find(Place::Attribute(owner), name))
}

/// Whether the name is that of a method which changes its object, or of the inside of a generator or a class (jinja2 3.1.6
/// `sandbox.py`, `modifies_known_mutable` and `is_internal_attribute`).
fn is_refused(ty: Type, name: &str) -> bool {
    let refused: &[&str] = match ty {
        Type::List => sequence::MUTATING,
        Type::Dict => dict::MUTATING,
        Type::Generator => &["gi_frame", "gi_code"],
        Type::Class => &["mro"],
        _ => &[],
    };
    refused.contains(&name)
}
