//! The tables of methods, one for each type that has any.
//!
//! ```text
//! find(Type::Str, "upper")            the row of `str.upper`
//! is_refused(Type::List, "append")    true: the sandbox refuses what changes a list
//! ```
//!
//! A method is declared in the file of its topic ([`super::table`]). The lookup of attributes is in [`super::access`]. The names are those
//! of CPython 3.13, jinja2 3.1.6 and markupsafe 3.0.4.

pub(super) mod dict;
pub(super) mod dunder;
pub(super) mod jinja_objects;
pub(super) mod sequence;
pub(super) mod str_case;

mod markup;
mod number;
mod str_find;
mod str_format;
mod str_pad;
mod str_replace;
mod str_split;
mod str_strip;

use super::table::{BuiltIn, Rows, Table};
use crate::value::{Function, Type};

/// The methods of `str`: those of CPython 3.13 without `encode`, which is not supported.
const OF_STR: &[&[BuiltIn]] = &[
    str_case::METHODS,
    str_find::METHODS,
    str_format::METHODS,
    str_pad::METHODS,
    str_replace::METHODS,
    str_split::METHODS,
    str_strip::METHODS,
];

static STR: Table = Table::new(|| Rows::new(OF_STR));
static MARKUP: Table = Table::new(|| Rows::new(&[markup::OWN, &markup::override_methods(OF_STR)]));
static DICT: Table = Table::new(|| Rows::new(&[dict::METHODS]));
static LIST: Table = Table::new(|| Rows::new(&[sequence::LIST]));
static TUPLE: Table = Table::new(|| Rows::new(&[sequence::TUPLE]));
static NUMBER: Table = Table::new(|| Rows::new(&[number::METHODS]));
static LOOP: Table = Table::new(|| Rows::new(&[jinja_objects::LOOP]));
static CYCLER: Table = Table::new(|| Rows::new(&[jinja_objects::CYCLER]));
static EMPTY: Table = Table::new(|| Rows::new(&[]));

/// The tables of each type that has methods. A row of the first table overrides the row of its name in the second.
static TABLES: [(Type, [&Table; 2]); 10] = [
    (Type::Str, [&STR, &EMPTY]),
    (Type::Markup, [&MARKUP, &STR]),
    (Type::Dict, [&DICT, &EMPTY]),
    (Type::List, [&LIST, &EMPTY]),
    (Type::Tuple, [&TUPLE, &EMPTY]),
    (Type::Int, [&NUMBER, &EMPTY]),
    (Type::Bool, [&NUMBER, &EMPTY]),
    (Type::Float, [&NUMBER, &EMPTY]),
    (Type::Loop, [&LOOP, &EMPTY]),
    (Type::Cycler, [&CYCLER, &EMPTY]),
];

/// Returns the types that have methods. A group of the filter `groupby` has those of a tuple.
#[cfg(feature = "internal")]
pub fn types() -> impl Iterator<Item = Type> {
    TABLES.iter().map(|(ty, _)| *ty)
}

fn tables(ty: Type) -> [&'static Table; 2] {
    let ty = if ty == Type::Group { Type::Tuple } else { ty };
    let tables = TABLES.iter().find(|(owner, _)| *owner == ty);
    tables.map_or([&EMPTY, &EMPTY], |(_, tables)| *tables)
}

/// Returns the method of a type with the given name.
pub fn find(ty: Type, name: &str) -> Option<&'static Function> {
    tables(ty).into_iter().find_map(|table| table.find_row(name))
}

/// Returns the index of the method of `str` with the given name.
pub fn find_str_index(name: &str) -> Option<u16> {
    u16::try_from(STR.find_index(name)?).ok()
}

/// Returns the method of `str` at an index.
#[inline]
pub fn get_str(index: u16) -> Option<&'static Function> {
    STR.get(usize::from(index))
}

/// Returns the methods of a type.
#[cfg(feature = "internal")]
pub fn all(ty: Type) -> Vec<&'static Function> {
    let [own, inherited] = tables(ty);
    let inherited = inherited.iter().filter(|row| own.find_row(row.name).is_none());
    own.iter().chain(inherited).collect()
}

/// Returns whether the sandbox refuses the attribute: a method that changes its object, or an internal of a generator or class
/// (jinja2 3.1.6 `sandbox.py`, `modifies_known_mutable` and `is_internal_attribute`).
pub fn is_refused(ty: Type, name: &str) -> bool {
    let refused: &[&str] = match ty {
        Type::List => sequence::MUTATING,
        Type::Dict => dict::MUTATING,
        Type::Generator => &["gi_frame", "gi_code"],
        Type::Class => &["mro"],
        _ => &[],
    };
    refused.contains(&name)
}
