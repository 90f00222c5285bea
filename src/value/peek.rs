//! Borrowed references to values in the input or on the heap.
//!
//! ```text
//! ValueRef::Json({"role": "user"}).key(heap, "role")  ->  Peek::Found(ValueRef::Json("user"))
//! ```
//!
//! The methods of a reference need no runtime. For all other operations, [`ValueRef::to_value`] makes a value.

use super::dict::Dict;
use super::runtime::Heap;
use super::types::Type;
use super::{Value, dict};
use crate::json::{Data, Object};
use crate::text::short_eq::{SHORT, is_equal};

/// A borrowed reference to a value.
#[derive(Clone, Copy, Debug)]
pub enum ValueRef<'v, 'a> {
    /// A value of the caller's JSON.
    Json(&'a serde_json::Value),
    /// A value of a JSON text, or a literal.
    Data(&'a Data<'a>),
    /// A value of a variable, of a namespace, or of a dict that the render made.
    Value(&'v Value<'a>),
    /// An integer attribute of `loop`.
    Int(i64),
    /// A boolean attribute of `loop`.
    Bool(bool),
}

/// The result of looking up a key or an attribute without a runtime.
#[derive(Clone, Copy, Debug)]
pub enum Peek<'v, 'a> {
    /// The value under the key.
    Found(ValueRef<'v, 'a>),
    /// A dict of this type has no such key, or a string has no such attribute.
    Absent(Type),
    /// Not known without a runtime: the rules of [`crate::builtins::access`] apply.
    Unknown,
}

impl<'v, 'a> Peek<'v, 'a> {
    /// Looks up a key of the caller's object. A long key, or a key of a large object, is left to the lookup that charges for it.
    #[inline(always)]
    pub fn in_json(map: &'a serde_json::Map<String, serde_json::Value>, key: &str) -> Self {
        match dict::scan_json(map, key) {
            Some(found) if key.len() <= SHORT => found.map_or(Self::Absent(Type::Dict), Self::json),
            _ => Self::in_large_json(map, key),
        }
    }

    #[inline(never)]
    fn in_large_json(map: &'a serde_json::Map<String, serde_json::Value>, key: &str) -> Self {
        if !Dict::Json(map).is_found_at_once(key) {
            return Self::Unknown;
        }
        dict::json_entry(map, key).map_or(Self::Absent(Type::Dict), Self::json)
    }

    /// Looks up a key of an object of a JSON text or of a dict literal.
    #[inline]
    pub fn in_data(object: &'a Object<'a>, key: &str) -> Self {
        if !Dict::Data(object).is_found_at_once(key) {
            return Self::Unknown;
        }
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
    /// Looks up a key that is not the name of a dict method, or an attribute of a namespace or of `loop`.
    pub fn key(self, heap: &'v Heap<'a>, key: &str) -> Peek<'v, 'a> {
        match self {
            Self::Json(serde_json::Value::Object(map)) => Peek::in_json(map, key),
            Self::Data(Data::Object(object)) => Peek::in_data(object, key),
            Self::Value(value) => Self::of_value(value, heap, key),
            _ => Peek::Unknown,
        }
    }

    /// Looks up a key or an attribute of a value of the render.
    #[inline(always)]
    pub fn of_value(value: &'v Value<'a>, heap: &'v Heap<'a>, key: &str) -> Peek<'v, 'a> {
        match value {
            Value::Dict(Dict::Json(map)) => Peek::in_json(map, key),
            Value::Dict(Dict::Data(object)) => Peek::in_data(object, key),
            Value::Dict(dict) if !dict.is_found_at_once(key) => Peek::Unknown,
            Value::Dict(dict) => dict.owned_entry(key).map_or(Peek::Absent(Type::Dict), Peek::value),
            Value::Namespace(id) => {
                // The general lookup charges for a search of many attributes or for a long name.
                let namespace = heap.namespace(*id).filter(|namespace| namespace.is_found_at_once(key));
                let attribute = namespace.and_then(|namespace| namespace.get(key));
                attribute.map_or(Peek::Unknown, Peek::value)
            }
            Value::Loop(context) => context.peek_attribute(heap, key),
            _ => Peek::Unknown,
        }
    }

    /// Returns an item of a list or a tuple, if it has an item at the index. A negative index counts from the end.
    pub fn item(self, index: i64) -> Option<Self> {
        let (Self::Value(Value::List(items)) | Self::Value(Value::Tuple(items))) = self else {
            return None;
        };
        let from_start = usize::try_from(index).ok();
        items.peek(from_start.or_else(|| items.len().checked_sub(usize::try_from(index.unsigned_abs()).ok()?))?)
    }

    /// Returns the text of a `str`, unless the tape of the render has its pieces.
    #[inline]
    pub fn plain_text(self) -> Option<&'v str> {
        match self {
            Self::Json(serde_json::Value::String(text)) => Some(text),
            Self::Data(Data::Str(text)) => Some(text),
            Self::Value(Value::Str(text)) if !text.is_markup() && text.pieces().is_none() => Some(text.as_str()),
            _ => None,
        }
    }

    /// Returns whether the value is equal to a string, if it is known without a runtime.
    #[inline]
    pub fn is_text(self, text: &str) -> Option<bool> {
        match (self.plain_text(), self) {
            (Some(left), _) => Some(is_equal(left, text)),
            (None, Self::Value(_)) => None,
            (None, Self::Json(_) | Self::Data(_) | Self::Int(_) | Self::Bool(_)) => Some(false),
        }
    }

    /// Returns the truth of the value, if it is known without a runtime.
    #[inline]
    pub fn truth(self) -> Option<bool> {
        use serde_json::Value as Json;
        Some(match self {
            Self::Int(int) => int != 0,
            Self::Json(Json::Null) | Self::Data(Data::None) | Self::Value(Value::None | Value::Undefined(_)) => false,
            Self::Json(Json::Bool(bool)) | Self::Data(Data::Bool(bool)) | Self::Value(Value::Bool(bool)) => *bool,
            Self::Bool(bool) => bool,
            Self::Json(Json::String(text)) => !text.is_empty(),
            Self::Data(Data::Str(text)) => !text.is_empty(),
            Self::Value(Value::Str(text)) => !text.as_str().is_empty(),
            Self::Json(_) | Self::Data(_) => self.item_count()? > 0,
            Self::Value(_) => return None,
        })
    }

    /// Returns the value if it is an integer of at most 64 bits. A `bool` is not an integer here.
    #[inline]
    pub fn as_int(self) -> Option<i64> {
        match self {
            Self::Int(int) => Some(int),
            Self::Value(Value::Int(int)) | Self::Data(Data::Int(int)) => Some(*int),
            Self::Json(serde_json::Value::Number(number)) => number.as_i64(),
            _ => None,
        }
    }

    /// Returns the number of items of a list, a tuple or a dict.
    #[inline]
    pub fn item_count(self) -> Option<usize> {
        match self {
            Self::Json(serde_json::Value::Array(items)) => Some(items.len()),
            Self::Json(serde_json::Value::Object(map)) => Some(map.len()),
            Self::Data(Data::List(items) | Data::Tuple(items)) => Some(items.len()),
            Self::Data(Data::Object(object)) => Some(object.len()),
            Self::Value(Value::List(items) | Value::Tuple(items)) => Some(items.len()),
            Self::Value(Value::Dict(dict)) => Some(dict.len()),
            _ => None,
        }
    }

    #[inline]
    pub fn to_value(self) -> Value<'a> {
        match self {
            Self::Json(json) => Value::from(json),
            Self::Data(data) => Value::from(data),
            Self::Value(value) => *value,
            Self::Int(int) => Value::Int(int),
            Self::Bool(bool) => Value::Bool(bool),
        }
    }
}
