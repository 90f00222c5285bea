//! The arguments that functions take, guessed from the names of their parameters.
//!
//! ```text
//! |center(width)            a small integer
//! |replace(old, new)        two texts
//! |selectattr(…)            the name of an attribute, the name of a test, anything
//! ```
//!
//! The parameters are those of the crate's tables. Only functions with `*args` are listed here.

use crate::value::{Function, Parameter, Type};

/// The value that an expression should have.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Wish {
    /// Any value.
    #[default]
    Any,
    /// A value of a type.
    Of(Type),
    /// A small integer, so that no result is large.
    Count,
    Exponent,
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// The name of an attribute.
    Attribute,
    /// The name of a filter.
    Filter,
    /// The name of a test.
    Test,
    /// An iterable of pairs.
    Pairs,
}

/// The arguments that a function, a method or a macro takes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Callee {
    /// The positional arguments.
    pub wishes: Vec<Wish>,
    /// The number of required positional arguments.
    pub required: usize,
    /// The arguments that can be passed by name.
    pub keywords: Vec<(String, Wish)>,
}

/// Formats for `strftime`.
const TIMES: &[&str] = &["%Y-%m-%d", "%d %b %Y", "%H:%M:%S", "%A %j", "%%", "%-d", "", "%y %B %p %I"];

impl Callee {
    /// Returns the arguments of a function of the tables. If `is_applied`, its first parameter is the value that it is applied to.
    pub fn of(function: &Function, is_applied: bool) -> Self {
        let taken = function.signature.parameters.iter().filter(|parameter| !parameter.hidden);
        let parameters: Vec<&Parameter> = taken.skip(usize::from(is_applied)).collect();
        let mut callee = Self {
            wishes: parameters.iter().map(|parameter| wish(function, parameter.name)).collect(),
            required: parameters.iter().filter(|parameter| !parameter.optional).count(),
            keywords: parameters
                .iter()
                .filter(|parameter| !parameter.positional_only && !parameter.name.is_empty())
                .map(|parameter| (parameter.name.to_owned(), wish(function, parameter.name)))
                .collect(),
        };
        if callee.wishes.is_empty() {
            let (wishes, least) = list_wishes(function);
            callee.wishes.extend(wishes);
            callee.required = least;
        }
        if function.name == "map" {
            callee.keywords = vec![("attribute".to_owned(), Wish::Attribute), ("default".to_owned(), Wish::Any)];
        }
        if matches!(function.name, "dict" | "namespace") {
            callee.keywords = ["a", "b"].map(|name| (name.to_owned(), Wish::Any)).to_vec();
        }
        callee
    }

    /// Returns the arguments of a macro with these parameters.
    pub fn of_macro(parameters: &[String]) -> Self {
        Self {
            wishes: vec![Wish::Any; parameters.len()],
            required: parameters.len(),
            keywords: parameters.iter().map(|name| (name.clone(), Wish::Any)).collect(),
        }
    }
}

/// Returns the positional arguments of a function with `*args`, and the number of required ones.
fn list_wishes(function: &Function) -> (&'static [Wish], usize) {
    match function.name {
        "map" => (&[Wish::Filter], 1),
        "select" | "reject" => (&[Wish::Test, Wish::Any], 1),
        "selectattr" | "rejectattr" => (&[Wish::Attribute, Wish::Test, Wish::Any], 1),
        "range" => (&[Wish::Count, Wish::Count, Wish::Count], 1),
        "dict" => (&[Wish::Pairs], 0),
        "namespace" => (&[Wish::Of(Type::Dict)], 0),
        "cycler" | "cycle" | "changed" => (&[Wish::Any, Wish::Any], 1),
        "format" => (&[Wish::Any, Wish::Any], 1),
        _ => (&[], 0),
    }
}

/// Returns the value that an argument should have. A test fails if a parameter has no entry in [`known_wish`].
fn wish(function: &Function, name: &str) -> Wish {
    known_wish(function, name).unwrap_or_default()
}

fn known_wish(function: &Function, name: &str) -> Option<Wish> {
    let text = Wish::Of(Type::Str);
    Some(match (function.name, name) {
        ("truncate", "end") => text,
        ("round", "method") => Wish::OneOf(&["common", "ceil", "floor", "nope"]),
        ("dictsort", "by") => Wish::OneOf(&["key", "value", "nope"]),
        ("sum", "start") => Wish::Any,
        ("attr", "name") => Wish::Attribute,
        ("removeprefix" | "removesuffix" | "partition" | "rpartition", _) => text,
        ("format_map" | "translate", _) => Wish::Of(Type::Dict),
        ("join", name) if name != "d" && name != "attribute" => Wish::Of(Type::List),
        (_, "attribute") => Wish::Attribute,
        (_, "format") => Wish::OneOf(TIMES),
        (_, "fillchar") => Wish::OneOf(&["*", "é", "ab"]),
        (_, "seq" | "iterable" | "x") => Wish::Of(Type::List),
        (_, "s" | "d" | "old" | "new" | "chars" | "sep" | "sub" | "prefix" | "suffix" | "key" | "message" | "wrapstring") => text,
        (_, "case_sensitive" | "reverse" | "first" | "blank" | "boolean" | "binary" | "killwords") => Wish::Of(Type::Bool),
        (_, "break_long_words" | "break_on_hyphens" | "ensure_ascii" | "sort_keys" | "keepends") => Wish::Of(Type::Bool),
        (_, "value" | "default" | "default_value" | "fill_with" | "other" | "a" | "b" | "separators") => Wish::Any,
        (
            _,
            "base" | "count" | "end" | "indent" | "leeway" | "length" | "linecount" | "maxsplit" | "num" | "object" | "precision"
            | "slices" | "start" | "stop" | "tabsize" | "width" | "y" | "z",
        ) => Wish::Count,
        (_, _) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtins::{filters, globals, jinja_tests, methods};

    #[test]
    fn each_parameter_has_a_wish() {
        let applied = filters::all().iter().chain(jinja_tests::all());
        let applied = applied
            .chain(methods::types().flat_map(methods::all))
            .map(|function| (function, 1));
        let functions = applied.chain(globals::all().iter().map(|function| (function, 0)));
        let missing: std::collections::BTreeSet<_> = functions
            .flat_map(|(function, applied)| {
                let parameters = function
                    .signature
                    .parameters
                    .iter()
                    .filter(|parameter| !parameter.hidden)
                    .skip(applied);
                parameters
                    .map(|parameter| (parameter.name, function.name))
                    .filter(|(name, _)| known_wish(function, name).is_none())
            })
            .collect();
        assert!(missing.is_empty(), "parameters without a wish: {missing:?}");
    }

    #[test]
    fn parameters_are_those_of_the_tables() {
        let filter = |name: &str| Callee::of(filters::all().iter().find(|filter| filter.name == name).unwrap(), true);
        assert_eq!(filter("center").wishes, [Wish::Count]);
        assert_eq!(filter("replace").wishes[..2], [Wish::Of(Type::Str), Wish::Of(Type::Str)]);
        assert_eq!((filter("replace").required, filter("upper").wishes.len()), (2, 0));
        assert_eq!(filter("selectattr").wishes.len(), 3);
        let method = |ty, name| Callee::of(methods::find(ty, name).unwrap(), true);
        assert_eq!(method(Type::Str, "zfill").wishes, [Wish::Count]);
        assert_eq!(method(Type::Dict, "get").wishes, [Wish::Of(Type::Str), Wish::Any]);
        assert_eq!(Callee::of(globals::find("range").unwrap(), false).wishes.len(), 3);
        assert_eq!(
            Callee::of(globals::find("strftime_now").unwrap(), false).wishes,
            [Wish::OneOf(TIMES)]
        );
    }
}
