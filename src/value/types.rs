//! The types of values, and their names in messages of Python and Jinja.

use super::Value;

/// Declares [`Type`] with the `__name__` of each type.
macro_rules! types {
    ($($variant:ident = $name:literal,)*) => {
        /// The Python type of a value.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "each variant is the Python type of its name")]
        pub enum Type {
            $($variant,)*
        }

        impl Type {
            /// Returns `type(x).__name__`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

types! {
    None = "NoneType",
    Bool = "bool",
    Int = "int",
    Float = "float",
    Str = "str",
    Markup = "Markup",
    List = "list",
    Tuple = "tuple",
    Group = "_GroupTuple",
    Dict = "dict",
    Keys = "dict_keys",
    Values = "dict_values",
    Items = "dict_items",
    Range = "range",
    Undefined = "Undefined",
    Generator = "generator",
    ListReverseIterator = "list_reverseiterator",
    DictReverseIterator = "dict_reversekeyiterator",
    ValuesReverseIterator = "dict_reversevalueiterator",
    ItemsReverseIterator = "dict_reverseitemiterator",
    ReverseIterator = "reversed",
    RangeIterator = "range_iterator",
    Namespace = "TemplateNamespace",
    Loop = "LoopContext",
    Macro = "Macro",
    Cycler = "Cycler",
    Joiner = "Joiner",
    Function = "function",
    BuiltinFunction = "builtin_function_or_method",
    Method = "method",
    Class = "type",
    Missing = "_MissingType",
    TemplateDict = "TemplateDict",
}

impl Type {
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
