//! What types go in and come out: to which values a filter is applied, what a call gives, and how to write a value that no literal makes.
//!
//! ```text
//! takes("upper")    texts          gives("split")    a list
//! ```
//!
//! It need not be exact: what is missing here is applied to anything, and a result that is not known is one of any type. The names
//! themselves are the tables'.

use crate::value::Type;

/// The types that a filter is made for; none where any will do.
pub fn takes(filter: &str) -> &'static [Type] {
    match filter {
        "capitalize" | "center" | "indent" | "lower" | "replace" | "title" | "trim" | "truncate" | "upper" | "wordcount"
        | "wordwrap" | "format" => &[Type::Str, Type::Markup],
        "batch" | "first" | "last" | "map" | "max" | "min" | "reject" | "reverse" | "select" | "slice" | "sort" | "unique"
        | "join" | "list" | "length" | "count" => &[
            Type::List,
            Type::Tuple,
            Type::Str,
            Type::Dict,
            Type::Range,
            Type::Generator,
            Type::Keys,
        ],
        "sum" => &[Type::List, Type::Range, Type::Tuple],
        "selectattr" | "rejectattr" | "groupby" => &[Type::List, Type::Generator],
        "dictsort" | "items" => &[Type::Dict],
        "abs" | "round" | "filesizeformat" => &[Type::Int, Type::Float, Type::Bool],
        _ => &[],
    }
}

/// The type of what a filter, a method or a global function gives, when it is applied to a value of a type.
pub fn gives(name: &str, receiver: Option<Type>) -> Option<Type> {
    Some(match name {
        "safe" | "e" | "escape" | "forceescape" => Type::Markup,
        "string" | "tojson" | "center" | "indent" | "trim" | "truncate" | "wordwrap" | "strftime_now" | "filesizeformat" => {
            Type::Str
        }
        "capitalize" | "lower" | "upper" | "title" | "casefold" | "swapcase" | "strip" | "lstrip" | "rstrip" | "removeprefix"
        | "removesuffix" | "ljust" | "rjust" | "zfill" | "expandtabs" | "replace" | "format_map" | "format" | "join" => {
            return receiver
                .filter(|ty| matches!(ty, Type::Str | Type::Markup))
                .or(Some(Type::Str));
        }
        "split" | "rsplit" | "splitlines" | "list" | "sort" | "dictsort" | "groupby" => Type::List,
        "partition" | "rpartition" => Type::Tuple,
        "find" | "rfind" | "index" | "rindex" | "count" | "length" | "int" | "wordcount" => Type::Int,
        "float" | "round" => Type::Float,
        "batch" | "map" | "select" | "reject" | "selectattr" | "rejectattr" | "slice" | "unique" => Type::Generator,
        "keys" => Type::Keys,
        "values" => Type::Values,
        "items" => Type::Items,
        "dict" => Type::Dict,
        "copy" => return receiver,
        "range" => Type::Range,
        "namespace" => Type::Namespace,
        "cycler" => Type::Cycler,
        "joiner" => Type::Joiner,
        "startswith" | "endswith" | "changed" => Type::Bool,
        name if name.starts_with("is") => Type::Bool,
        _ => return None,
    })
}

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
        Type::TemplateReference => &["self"],
        Type::Method => &["'a'.upper", "[].index", "{}.get"],
        Type::Loop => &["loop"],
        _ => &[],
    }
}

/// The types of [`written`], those more often that templates use more.
pub const WRITTEN: [Type; 19] = [
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
    Type::TemplateReference,
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
