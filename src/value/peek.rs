//! A value where it stands: in the caller's data or on the heap, looked at without a copy.
//!
//! ```text
//! ValueRef::Json({"role": "user"}).key(heap, "role")  ->  Peek::Found(ValueRef::Json("user"))
//! ```
//!
//! It answers what can be answered by looking alone, and leaves everything else to [`ValueRef::to_value`].

use super::dict::Dict;
use super::runtime::Heap;
use super::types::Type;
use super::{Value, dict};
use crate::data::{Data, Object};

/// A value that was found, and not copied.
#[derive(Clone, Copy, Debug)]
pub enum ValueRef<'v, 'a> {
    /// In the caller's JSON.
    Json(&'a serde_json::Value),
    /// In the tree of a JSON text, or in a literal.
    Data(&'a Data<'a>),
    /// In a variable, a namespace, or a dict that the render made.
    Value(&'v Value<'a>),
    /// A count of `loop`.
    Int(i64),
    /// What `loop` says of its round.
    Bool(bool),
}

/// What a key gives.
#[derive(Clone, Copy, Debug)]
pub enum Peek<'v, 'a> {
    /// Its value.
    Found(ValueRef<'v, 'a>),
    /// There is a dict that has no such key, or a string that has no such attribute.
    Absent(Type),
    /// There is no dict and no namespace that has it: the rules of [`crate::builtins::access`] decide.
    Unknown,
}

impl<'v, 'a> Peek<'v, 'a> {
    /// What stands under a key of an object of the caller.
    #[inline]
    pub fn in_json(map: &'a serde_json::Map<String, serde_json::Value>, key: &str) -> Self {
        dict::json_entry(map, key).map_or(Self::Absent(Type::Dict), Self::json)
    }

    /// The same of an object of a JSON text, or of a literal.
    #[inline]
    pub fn in_data(object: &'a Object<'a>, key: &str) -> Self {
        object.get(key).map_or(Self::Absent(Type::Dict), Self::data)
    }

    fn json(json: &'a serde_json::Value) -> Self {
        Self::Found(ValueRef::Json(json))
    }

    fn data(data: &'a Data<'a>) -> Self {
        Self::Found(ValueRef::Data(data))
    }

    fn value(value: &'v Value<'a>) -> Self {
        Self::Found(ValueRef::Value(value))
    }
}

impl<'v, 'a> ValueRef<'v, 'a> {
    /// What stands under a key that no method of a dict hides, or under the name of an attribute of a namespace.
    pub fn key(self, heap: &'v Heap<'a>, key: &str) -> Peek<'v, 'a> {
        match self {
            Self::Json(serde_json::Value::Object(map)) => Peek::in_json(map, key),
            Self::Data(Data::Object(object)) => Peek::in_data(object, key),
            Self::Value(value) => Self::of_value(value, heap, key),
            _ => Peek::Unknown,
        }
    }

    /// The same of a value that the render holds.
    #[inline]
    pub fn of_value(value: &'v Value<'a>, heap: &'v Heap<'a>, key: &str) -> Peek<'v, 'a> {
        match value {
            Value::Dict(Dict::Json(map)) => Peek::in_json(map, key),
            Value::Dict(Dict::Data(object)) => Peek::in_data(object, key),
            Value::Dict(dict) => dict.owned_entry(key).map_or(Peek::Absent(Type::Dict), Peek::value),
            Value::Namespace(id) => {
                // Of many attributes one is found the longer way, which charges for it.
                let namespace = heap.namespace(*id).filter(|namespace| namespace.looks() == 0);
                let attribute = namespace.and_then(|namespace| namespace.get(key));
                attribute.map_or(Peek::Unknown, Peek::value)
            }
            Value::Loop(context) => context.look(key),
            _ => Peek::Unknown,
        }
    }

    /// The text of a plain string, of which no part was generated.
    #[inline]
    pub fn plain_text(self) -> Option<&'v str> {
        match self {
            Self::Json(serde_json::Value::String(text)) => Some(text),
            Self::Data(Data::Str(text)) => Some(text),
            Self::Value(Value::Str(text)) if !text.is_markup() && text.generated_count() == 0 => Some(text.as_str()),
            _ => None,
        }
    }

    /// Whether it is true, where a look tells.
    #[inline]
    pub fn truth(self) -> Option<bool> {
        Some(match self {
            Self::Json(json) => match json {
                serde_json::Value::Null => false,
                serde_json::Value::Bool(bool) => *bool,
                serde_json::Value::String(text) => !text.is_empty(),
                serde_json::Value::Array(items) => !items.is_empty(),
                serde_json::Value::Object(map) => !map.is_empty(),
                serde_json::Value::Number(_) => return None,
            },
            Self::Data(data) => match data {
                Data::None => false,
                Data::Bool(bool) => *bool,
                Data::Str(text) => !text.is_empty(),
                Data::List(items) | Data::Tuple(items) => !items.is_empty(),
                Data::Object(object) => !object.is_empty(),
                Data::Int(_) | Data::BigInt(_) | Data::Float(_) => return None,
            },
            Self::Int(int) => int != 0,
            Self::Bool(bool) => bool,
            Self::Value(value) => match value {
                Value::Bool(bool) => *bool,
                Value::None | Value::Undefined(_) => false,
                Value::Str(text) => !text.as_str().is_empty(),
                _ => return None,
            },
        })
    }

    /// The value itself.
    #[inline]
    pub fn to_value(self) -> Value<'a> {
        match self {
            Self::Json(json) => Value::from(json),
            Self::Data(data) => Value::from(data),
            Self::Value(value) => value.clone(),
            Self::Int(int) => Value::Int(int),
            Self::Bool(bool) => Value::Bool(bool),
        }
    }
}
