//! How to write a value that no literal makes, and the attributes of a type that are not methods.
//!
//! ```text
//! written(Type::Range)    range(3)          parts(Type::Joiner)    sep, used
//! ```

use crate::value::Type;

/// How values are written that no literal makes, or none of these.
pub fn written(ty: Type) -> &'static [&'static str] {
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

/// The types of [`written`], those more often that templates use more.
pub const WRITTEN: [Type; 18] = [
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

/// The attributes of a type that are no methods.
pub fn parts(ty: Type) -> &'static [&'static str] {
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
