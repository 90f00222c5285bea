//! The types of values as templates write them: expressions of a type, attributes of a type, and the types that functions take and return.
//!
//! ```text
//! expressions_of(Type::Range)    range(3), range(5, 0, -2), range(0)
//! attributes_of(Type::Joiner)    sep, used
//! parameter_types("upper")       strings and Markup
//! return_type("split")           a list
//! ```
//!
//! The tables need not be exact: they only make sensible calls likely. A test fails if a function has no row.

use crate::value::Type;

/// Returns expressions whose value has a type. There are none for the types of literals.
pub fn expressions_of(ty: Type) -> &'static [&'static str] {
    match ty {
        Type::Markup => &["('<b>'|safe)", "('a&b <i>'|escape)", "(' a,b '|safe)"],
        Type::Tuple => &["(1, 'a')", "()", "('a', 'b')", "(1, 2, 1)"],
        Type::Group => &["([{'a': 1}, {'a': 2}, {'a': 1}]|groupby('a')|first)"],
        Type::Keys => &["{'a': 1, 'b': 2}.keys()", "{}.keys()"],
        Type::Values => &["{'a': 1, 'b': 2}.values()"],
        Type::Items => &["{'a': 1, 'b': 2}.items()", "{'a': 'x'}.items()"],
        Type::Range => &["range(3)", "range(5, 0, -2)", "range(0)"],
        Type::Undefined => &["nope", "{}.a", "(1 if false)", "none.a"],
        Type::Generator => &["(['a', 'b']|map('upper'))", "([1, 2, 3]|select('odd'))", "('ab'|batch(1))"],
        Type::ListReverseIterator => &["([1, 2]|reverse)"],
        Type::DictReverseIterator => &["({'a': 1, 'b': 2}|reverse)"],
        Type::Namespace => &["namespace(a=1, b='x')", "namespace()"],
        Type::Cycler => &["cycler('a', 'b')", "cycler(1)"],
        Type::Joiner => &["joiner()", "joiner('; ')"],
        Type::Function => &["range", "strftime_now", "raise_exception"],
        Type::Class => &["namespace", "cycler"],
        Type::TemplateDict => &["dict"],
        Type::Method => &["'a'.upper", "[].index", "{}.get"],
        Type::Loop => &["loop"],
        _ => &[],
    }
}

/// Types with an entry in [`expressions_of`], from which the walk picks at random. A type that templates use often is listed twice.
pub const EXPRESSION_TYPES: [Type; 18] = [
    Type::Markup,
    Type::Markup,
    Type::Tuple,
    Type::Tuple,
    Type::Group,
    Type::Keys,
    Type::Values,
    Type::Items,
    Type::Range,
    Type::Range,
    Type::Undefined,
    Type::Generator,
    Type::ListReverseIterator,
    Type::DictReverseIterator,
    Type::Cycler,
    Type::Joiner,
    Type::TemplateDict,
    Type::Method,
];

/// Returns the names of the attributes of a type that are not methods.
pub fn attributes_of(ty: Type) -> &'static [&'static str] {
    match ty {
        Type::Loop => &[
            "index",
            "index0",
            "revindex",
            "revindex0",
            "first",
            "last",
            "length",
            "depth",
            "depth0",
            "previtem",
            "nextitem",
        ],
        Type::Macro => &[
            "name",
            "arguments",
            "catch_kwargs",
            "catch_varargs",
            "caller",
            "explicit_caller",
        ],
        Type::Group => &["grouper", "list"],
        Type::Cycler => &["current", "pos", "items"],
        Type::Joiner => &["sep", "used"],
        Type::Namespace => &["a", "b", "x"],
        Type::List => &["append", "sort", "pop"],
        Type::Dict => &["update", "pop"],
        _ => &[],
    }
}

/// The type that a function returns.
#[derive(Clone, Copy, Debug)]
enum Returns {
    /// Any type.
    Unknown,
    /// One type.
    Of(Type),
    /// The type of the value that it is applied to.
    Same,
    /// The type of the value that it is applied to, if that is a string or Markup. Otherwise, a string.
    SameText,
}

use Returns::{Of, Same, SameText, Unknown};

/// A name of filters, methods or global functions.
struct Row {
    name: &'static str,
    /// The types that the filter is made for. It is applied to values of any type if there are none.
    takes: &'static [Type],
    returns: Returns,
}

const fn row(name: &'static str, takes: &'static [Type], returns: Returns) -> Row {
    Row { name, takes, returns }
}

const ANY: &[Type] = &[];
const TEXTS: &[Type] = &[Type::Str, Type::Markup];
const NUMBERS: &[Type] = &[Type::Int, Type::Float, Type::Bool];
const ITERABLES: &[Type] = &[
    Type::List,
    Type::Tuple,
    Type::Str,
    Type::Dict,
    Type::Range,
    Type::Generator,
    Type::Keys,
];

#[rustfmt::skip]
static ROWS: &[Row] = &[
    row("abs", NUMBERS, Unknown),
    row("attr", ANY, Unknown),
    row("batch", ITERABLES, Of(Type::Generator)),
    row("capitalize", TEXTS, SameText),
    row("casefold", ANY, SameText),
    row("center", TEXTS, Of(Type::Str)),
    row("changed", ANY, Of(Type::Bool)),
    row("copy", ANY, Same),
    row("count", ITERABLES, Of(Type::Int)),
    row("cycle", ANY, Unknown),
    row("cycler", ANY, Of(Type::Cycler)),
    row("d", ANY, Unknown),
    row("default", ANY, Unknown),
    row("dict", ANY, Of(Type::Dict)),
    row("dictsort", &[Type::Dict], Of(Type::List)),
    row("e", ANY, Of(Type::Markup)),
    row("endswith", ANY, Of(Type::Bool)),
    row("escape", ANY, Of(Type::Markup)),
    row("expandtabs", ANY, SameText),
    row("filesizeformat", NUMBERS, Of(Type::Str)),
    row("find", ANY, Of(Type::Int)),
    row("first", ITERABLES, Unknown),
    row("float", ANY, Of(Type::Float)),
    row("forceescape", ANY, Of(Type::Markup)),
    row("format", TEXTS, SameText),
    row("format_map", ANY, SameText),
    row("get", ANY, Unknown),
    row("groupby", &[Type::List, Type::Generator], Of(Type::List)),
    row("indent", TEXTS, Of(Type::Str)),
    row("index", ANY, Of(Type::Int)),
    row("int", ANY, Of(Type::Int)),
    row("is_integer", ANY, Of(Type::Bool)),
    row("isalnum", ANY, Of(Type::Bool)),
    row("isalpha", ANY, Of(Type::Bool)),
    row("isascii", ANY, Of(Type::Bool)),
    row("isdecimal", ANY, Of(Type::Bool)),
    row("isdigit", ANY, Of(Type::Bool)),
    row("isidentifier", ANY, Of(Type::Bool)),
    row("islower", ANY, Of(Type::Bool)),
    row("isnumeric", ANY, Of(Type::Bool)),
    row("isprintable", ANY, Of(Type::Bool)),
    row("isspace", ANY, Of(Type::Bool)),
    row("istitle", ANY, Of(Type::Bool)),
    row("isupper", ANY, Of(Type::Bool)),
    row("items", &[Type::Dict], Of(Type::Items)),
    row("join", ITERABLES, SameText),
    row("joiner", ANY, Of(Type::Joiner)),
    row("keys", ANY, Of(Type::Keys)),
    row("last", ITERABLES, Unknown),
    row("length", ITERABLES, Of(Type::Int)),
    row("list", ITERABLES, Of(Type::List)),
    row("ljust", ANY, SameText),
    row("lower", TEXTS, SameText),
    row("lstrip", ANY, SameText),
    row("maketrans", ANY, Unknown),
    row("map", ITERABLES, Of(Type::Generator)),
    row("max", ITERABLES, Unknown),
    row("min", ITERABLES, Unknown),
    row("namespace", ANY, Of(Type::Namespace)),
    row("next", ANY, Unknown),
    row("partition", ANY, Of(Type::Tuple)),
    row("raise_exception", ANY, Unknown),
    row("range", ANY, Of(Type::Range)),
    row("reject", ITERABLES, Of(Type::Generator)),
    row("rejectattr", &[Type::List, Type::Generator], Of(Type::Generator)),
    row("removeprefix", ANY, SameText),
    row("removesuffix", ANY, SameText),
    row("replace", TEXTS, SameText),
    row("reset", ANY, Unknown),
    row("reverse", ITERABLES, Unknown),
    row("rfind", ANY, Of(Type::Int)),
    row("rindex", ANY, Of(Type::Int)),
    row("rjust", ANY, SameText),
    row("round", NUMBERS, Of(Type::Float)),
    row("rpartition", ANY, Of(Type::Tuple)),
    row("rsplit", ANY, Of(Type::List)),
    row("rstrip", ANY, SameText),
    row("safe", ANY, Of(Type::Markup)),
    row("select", ITERABLES, Of(Type::Generator)),
    row("selectattr", &[Type::List, Type::Generator], Of(Type::Generator)),
    row("slice", ITERABLES, Of(Type::Generator)),
    row("sort", ITERABLES, Of(Type::List)),
    row("split", ANY, Of(Type::List)),
    row("splitlines", ANY, Of(Type::List)),
    row("startswith", ANY, Of(Type::Bool)),
    row("strftime_now", ANY, Of(Type::Str)),
    row("string", ANY, Of(Type::Str)),
    row("strip", ANY, SameText),
    row("sum", &[Type::List, Type::Range, Type::Tuple], Unknown),
    row("swapcase", ANY, SameText),
    row("title", TEXTS, SameText),
    row("tojson", ANY, Of(Type::Str)),
    row("translate", ANY, Unknown),
    row("trim", TEXTS, Of(Type::Str)),
    row("truncate", TEXTS, Of(Type::Str)),
    row("unique", ITERABLES, Of(Type::Generator)),
    row("upper", TEXTS, SameText),
    row("values", ANY, Of(Type::Values)),
    row("wordcount", TEXTS, Of(Type::Int)),
    row("wordwrap", TEXTS, Of(Type::Str)),
    row("zfill", ANY, SameText),
];

fn find(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.name == name)
}

/// Returns the types that a filter is made for, or an empty slice if it takes any type.
pub fn parameter_types(filter: &str) -> &'static [Type] {
    find(filter).map_or(ANY, |row| row.takes)
}

/// Returns the type of the result of a filter, a method or a global function. `receiver` is the type that it is applied to.
pub fn return_type(name: &str, receiver: Option<Type>) -> Option<Type> {
    match find(name)?.returns {
        Unknown => None,
        Of(ty) => Some(ty),
        Same => receiver,
        SameText => receiver.filter(|ty| TEXTS.contains(ty)).or(Some(Type::Str)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::builtins::{filters, globals, methods};

    #[test]
    fn each_function_has_a_row() {
        let functions = filters::all().iter().chain(globals::all());
        let functions = functions.chain(methods::types().flat_map(methods::all));
        let names: BTreeSet<&str> = functions.map(|function| function.name).collect();
        let rows: BTreeSet<&str> = ROWS.iter().map(|row| row.name).collect();
        assert_eq!(rows.len(), ROWS.len(), "a name has two rows");
        let missing: Vec<_> = names.difference(&rows).collect();
        let unknown: Vec<_> = rows.difference(&names).collect();
        assert!(
            missing.is_empty() && unknown.is_empty(),
            "without a row: {missing:?}; without a function: {unknown:?}"
        );
    }
}
