//! The types of values, and their names in messages of Python and Jinja.

use super::Value;

/// The Python type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each variant is the Python type of its name")]
pub enum Type {
    None,
    Bool,
    Int,
    Float,
    Str,
    Markup,
    List,
    Tuple,
    Group,
    Dict,
    Keys,
    Values,
    Items,
    Range,
    Undefined,
    Generator,
    ListReverseIterator,
    DictReverseIterator,
    ValuesReverseIterator,
    ItemsReverseIterator,
    ReverseIterator,
    RangeIterator,
    Namespace,
    Loop,
    Macro,
    Cycler,
    Joiner,
    Function,
    BuiltinFunction,
    Method,
    Class,
    Missing,
    TemplateDict,
}

impl Type {
    /// Returns `type(x).__name__`.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "NoneType",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Float => "float",
            Self::Str => "str",
            Self::Markup => "Markup",
            Self::List => "list",
            Self::Tuple => "tuple",
            Self::Group => "_GroupTuple",
            Self::Dict => "dict",
            Self::Keys => "dict_keys",
            Self::Values => "dict_values",
            Self::Items => "dict_items",
            Self::Range => "range",
            Self::Undefined => "Undefined",
            Self::Generator => "generator",
            Self::ListReverseIterator => "list_reverseiterator",
            Self::DictReverseIterator => "dict_reversekeyiterator",
            Self::ValuesReverseIterator => "dict_reversevalueiterator",
            Self::ItemsReverseIterator => "dict_reverseitemiterator",
            Self::ReverseIterator => "reversed",
            Self::RangeIterator => "range_iterator",
            Self::Namespace => "TemplateNamespace",
            Self::Loop => "LoopContext",
            Self::Macro => "Macro",
            Self::Cycler => "Cycler",
            Self::Joiner => "Joiner",
            Self::Function => "function",
            Self::BuiltinFunction => "builtin_function_or_method",
            Self::Method => "method",
            Self::Class => "type",
            Self::Missing => "_MissingType",
            Self::TemplateDict => "TemplateDict",
        }
    }

    /// Returns the name of the owner in the message about a missing attribute (jinja2 `utils.py`, `object_type_repr`).
    pub fn object_name(self) -> String {
        let module = match self {
            Self::None => return "None".to_owned(),
            Self::Markup => "markupsafe.",
            Self::Group => "jinja2.filters.",
            Self::Undefined | Self::Loop | Self::Macro => "jinja2.runtime.",
            Self::Cycler | Self::Joiner | Self::Missing => "jinja2.utils.",
            Self::Namespace | Self::TemplateDict => "transformers.utils.chat_template_utils.",
            _ => "",
        };
        format!("{module}{} object", self.name())
    }
}

impl Value<'_> {
    /// Returns the type of the value.
    pub fn ty(&self) -> Type {
        match self {
            Self::None => Type::None,
            Self::Bool(_) => Type::Bool,
            Self::Int(_) | Self::Big(_) => Type::Int,
            Self::Float(_) => Type::Float,
            Self::Str(text) if text.is_markup() => Type::Markup,
            Self::Str(_) => Type::Str,
            Self::List(_) => Type::List,
            Self::Tuple(items) if items.is_group() => Type::Group,
            Self::Tuple(_) => Type::Tuple,
            Self::Dict(_) => Type::Dict,
            Self::Keys(_) => Type::Keys,
            Self::Values(_) => Type::Values,
            Self::Items(_) => Type::Items,
            Self::Range(_) => Type::Range,
            Self::Undefined(_) => Type::Undefined,
            Self::Iterator(iterator) => iterator.ty(),
            Self::Namespace(_) => Type::Namespace,
            Self::Loop(_) => Type::Loop,
            Self::Macro(_) => Type::Macro,
            Self::Cycler(_) => Type::Cycler,
            Self::Joiner(_) => Type::Joiner,
            Self::Function(function) => function.ty,
            Self::Method(method) => method.function.ty,
        }
    }
}
