//! The types that functions take and return, as their declarations say.
//!
//! ```text
//! parameter_types(upper)         strings and Markup
//! return_type(split)             a list
//! ```
//!
//! The types need not be exact: they only make sensible calls likely.

use chat_template::internal::{Function, Kind, Returns, Type};

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
