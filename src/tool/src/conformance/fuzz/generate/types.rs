//! The types of values as templates write them: expressions of a type, attributes of a type, and the types that functions take and return.
//!
//! ```text
//! expressions_of(Type::Range)    range(3), range(5, 0, -2), range(0)
//! attributes_of(Type::Joiner)    sep, used
//! parameter_types(upper)         strings and Markup
//! return_type(split)             a list
//! ```
//!
//! The types need not be exact: they only make sensible calls likely.

use chat_template::internal::{Function, Kind, Returns, Type};

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

const TEXTS: &[Type] = &[Type::Str, Type::Markup];

/// Returns the types that a filter is made for, or an empty slice if it takes any type.
pub fn parameter_types(filter: &Function) -> &'static [Type] {
    let value = filter.signature.parameters.iter().find(|parameter| !parameter.hidden);
    match value.map(|value| value.kind) {
        Some(Kind::Text) => TEXTS,
        Some(Kind::Number) => &[Type::Int, Type::Float, Type::Bool],
        Some(Kind::Items) => &[
            Type::List,
            Type::Tuple,
            Type::Str,
            Type::Dict,
            Type::Range,
            Type::Generator,
            Type::Keys,
        ],
        Some(Kind::Records) => &[Type::List, Type::Generator],
        Some(Kind::Dict) => &[Type::Dict],
        _ => &[],
    }
}

/// Returns the type of the result of a filter, a method or a global function. `receiver` is the type that it is applied to.
pub fn return_type(function: &Function, receiver: Option<Type>) -> Option<Type> {
    match function.returns {
        Returns::Any => None,
        Returns::Of(ty) => Some(ty),
        Returns::Same => receiver,
        Returns::Text => receiver.filter(|ty| TEXTS.contains(ty)).or(Some(Type::Str)),
    }
}
