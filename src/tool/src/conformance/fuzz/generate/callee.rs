//! The arguments that functions take, by what their declarations say of each parameter.
//!
//! ```text
//! |center(width)            a small integer
//! |replace(old, new)        two texts
//! |selectattr(…)            the name of an attribute, the name of a test, anything
//! ```

use chat_template::internal::{Function, Kind, Type};

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
    /// One of these strings.
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

impl Callee {
    /// Returns the arguments of a function of the tables. If `is_applied`, its first parameter is the value that it is applied to.
    pub fn of(function: &Function, is_applied: bool) -> Self {
        let signature = &function.signature;
        let hidden = signature.parameters.iter().filter(|parameter| parameter.hidden).count();
        let skipped = hidden + usize::from(is_applied);
        let parameters = signature.parameters.get(skipped..).unwrap_or_default();
        let named = parameters
            .get(signature.unnamed.saturating_sub(skipped)..)
            .unwrap_or_default();
        let further = signature.star.unwrap_or_default();
        let mut callee = Self {
            wishes: parameters
                .iter()
                .map(|parameter| parameter.kind)
                .chain(further.iter().copied())
                .map(wish)
                .collect(),
            required: parameters.iter().filter(|parameter| !parameter.optional).count(),
            keywords: named
                .iter()
                .map(|parameter| (parameter.name.to_owned(), wish(parameter.kind)))
                .collect(),
        };
        // Of further arguments, most functions need one.
        if further
            .first()
            .is_some_and(|first| !matches!(first, Kind::Pairs | Kind::Dict))
        {
            callee.required += 1;
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

/// Returns the value that an argument should have.
fn wish(kind: Kind) -> Wish {
    match kind {
        Kind::Any | Kind::Number => Wish::Any,
        Kind::Text => Wish::Of(Type::Str),
        Kind::OneOf(texts) => Wish::OneOf(texts),
        Kind::Count => Wish::Count,
        Kind::Flag => Wish::Of(Type::Bool),
        Kind::Items | Kind::Records => Wish::Of(Type::List),
        Kind::Dict => Wish::Of(Type::Dict),
        Kind::Pairs => Wish::Pairs,
        Kind::Attribute => Wish::Attribute,
        Kind::Filter => Wish::Filter,
        Kind::Test => Wish::Test,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chat_template::internal::{filters, globals, methods};

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
        let wishes = Callee::of(globals::find("strftime_now").unwrap(), false).wishes;
        assert!(matches!(wishes[..], [Wish::OneOf(_)]), "{wishes:?}");
    }
}
