//! Converts `Serialize` values to trees.
//!
//! ```text
//! Message { role: "user", id: Some(u128::MAX) }   ->   Object[("role", Str("user")), ("id", BigInt(340…455))]
//! ```
//!
//! The tree is that of the JSON text which serde_json writes for the value: a variant with content is an object with the variant's name,
//! and a key that is a number or a bool becomes its text. Unlike `serde_json::to_value`, this keeps integers of 128 bits, and limits the
//! depth and the size.

use std::borrow::Cow;

use num_bigint::BigInt;
use serde::ser::{
    self, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple, SerializeTupleStruct,
    SerializeTupleVariant, Serializer,
};

use super::error::{JsonError, JsonErrorKind};
use super::read::{DEPTH, MAX_BYTES, read_text};
use super::tree::{Data, Entry, Object};

/// The largest number of items or entries for which memory is allocated in advance. The length that a value announces can be wrong.
const MAX_RESERVED: usize = 256;

/// What the names of serde_json's structs for JSON text begin with: a number of the feature `arbitrary_precision`, or a `RawValue`.
const JSON_TEXT: &str = "$serde_json::private::";

/// Converts a value to a tree that owns its strings. A float that is `NaN` or infinite becomes [`Data::None`], as serde_json writes
/// `null` for it. An `f32` becomes the `f64` of equal value.
///
/// # Errors
/// If the value does not support serialization, a key is not a string, arrays and objects nest deeper than [`Data::MAX_DEPTH`], or the
/// tree takes more memory than [`read`](super::read()) allows, its strings included.
pub fn to_data<T: Serialize + ?Sized>(value: &T) -> Result<Data<'static>, JsonError> {
    let mut room = Room {
        levels_left: DEPTH,
        bytes_left: MAX_BYTES,
    };
    value.serialize(&mut room).map_err(|error| *error)
}

type Made = Result<Data<'static>, Box<JsonError>>;

/// What is left of the limits. It is the serializer of each value.
struct Room {
    levels_left: usize,
    bytes_left: usize,
}

impl Room {
    /// Takes the bytes of a value or a key, besides its place in a container.
    fn take(&mut self, bytes: usize) -> Result<(), Box<JsonError>> {
        let wanted = bytes.saturating_add(size_of::<Data<'_>>());
        match self.bytes_left.checked_sub(wanted) {
            Some(left) => {
                self.bytes_left = left;
                Ok(())
            }
            None => Err(Box::new(JsonError::too_large(MAX_BYTES + 1, MAX_BYTES, None))),
        }
    }

    fn scalar(&mut self, data: Data<'static>) -> Made {
        self.take(0)?;
        Ok(data)
    }

    /// Opens a container for items. `variant` is the key under which an object has them.
    fn open<I>(&mut self, variant: Option<&'static str>, len: Option<usize>) -> Result<Open<'_, I>, Box<JsonError>> {
        // A variant with content is an object that has one entry.
        let levels = 1 + usize::from(variant.is_some());
        let too_deep = || Box::new(JsonError::too_deep(DEPTH, None));
        self.levels_left = self.levels_left.checked_sub(levels).ok_or_else(too_deep)?;
        self.take(0)?;
        Ok(Open {
            items: Vec::with_capacity(len.unwrap_or_default().min(MAX_RESERVED)),
            key: None,
            variant,
            room: self,
        })
    }
}

/// An array or an object that has no end yet.
struct Open<'r, I> {
    items: Vec<I>,
    /// The key of the next value of a map.
    key: Option<Cow<'static, str>>,
    variant: Option<&'static str>,
    room: &'r mut Room,
}

impl<I> Open<'_, I> {
    fn close(self, make: impl FnOnce(Vec<I>) -> Data<'static>) -> Data<'static> {
        self.room.levels_left += 1 + usize::from(self.variant.is_some());
        let data = make(self.items);
        match self.variant {
            Some(variant) => wrap(variant, data),
            None => data,
        }
    }
}

impl Open<'_, Data<'static>> {
    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Box<JsonError>> {
        self.items.push(value.serialize(&mut *self.room)?);
        Ok(())
    }

    fn finish(self) -> Made {
        Ok(self.close(Data::List))
    }
}

impl Open<'_, Entry<'static>> {
    fn insert<T: Serialize + ?Sized>(&mut self, key: Cow<'static, str>, value: &T) -> Result<(), Box<JsonError>> {
        self.room.take(key.len())?;
        self.items.push((key, value.serialize(&mut *self.room)?));
        Ok(())
    }

    fn finish(self) -> Made {
        Ok(self.close(|entries| Data::Object(Object::new(entries))))
    }
}

/// Returns the object of a variant with content.
fn wrap(variant: &'static str, content: Data<'static>) -> Data<'static> {
    Data::Object(Object::new(vec![(variant.into(), content)]))
}

/// Returns the key that serde_json writes for a value.
fn to_key(value: Data<'static>) -> Result<Cow<'static, str>, Box<JsonError>> {
    Ok(match value {
        Data::Str(text) => text,
        Data::Bool(bool) => Cow::Owned(bool.to_string()),
        Data::Int(int) => Cow::Owned(int.to_string()),
        Data::BigInt(int) => Cow::Owned(int.to_string()),
        Data::Float(float) => Cow::Owned(serde_json::Value::from(float).to_string()),
        _ => return Err(ser::Error::custom("key must be a string")),
    })
}

impl ser::Error for Box<JsonError> {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self::new(JsonError::new(JsonErrorKind::Refused, message.to_string(), None))
    }
}

macro_rules! integers {
    ($($function:ident $type:ty),*) => {
        $(fn $function(self, value: $type) -> Made {
            match i64::try_from(value) {
                Ok(int) => self.scalar(Data::Int(int)),
                Err(_) => self.scalar(Data::BigInt(Box::new(BigInt::from(value)))),
            }
        })*
    };
}

impl<'r> Serializer for &'r mut Room {
    type Ok = Data<'static>;
    type Error = Box<JsonError>;
    type SerializeSeq = Open<'r, Data<'static>>;
    type SerializeTuple = Self::SerializeSeq;
    type SerializeTupleStruct = Self::SerializeSeq;
    type SerializeTupleVariant = Self::SerializeSeq;
    type SerializeMap = Open<'r, Entry<'static>>;
    type SerializeStruct = Struct<'r>;
    type SerializeStructVariant = Self::SerializeMap;

    integers! {
        serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64, serialize_i128 i128,
        serialize_u8 u8, serialize_u16 u16, serialize_u32 u32, serialize_u64 u64, serialize_u128 u128
    }

    fn serialize_bool(self, value: bool) -> Made {
        self.scalar(Data::Bool(value))
    }

    fn serialize_f32(self, value: f32) -> Made {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Made {
        self.scalar(if value.is_finite() { Data::Float(value) } else { Data::None })
    }

    fn serialize_char(self, value: char) -> Made {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Made {
        self.take(value.len())?;
        Ok(Data::Str(Cow::Owned(value.to_owned())))
    }

    fn serialize_bytes(self, value: &[u8]) -> Made {
        value.serialize(self)
    }

    fn serialize_none(self) -> Made {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Made {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Made {
        self.scalar(Data::None)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Made {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Made {
        self.scalar(Data::Str(Cow::Borrowed(variant)))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Made {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(self, _: &'static str, _: u32, variant: &'static str, value: &T) -> Made {
        let mut open = self.open::<Entry<'static>>(None, Some(1))?;
        open.insert(Cow::Borrowed(variant), value)?;
        open.finish()
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Self::SerializeSeq, Self::Error> {
        self.open(None, len)
    }

    fn serialize_tuple(self, len: usize) -> Result<Self::SerializeSeq, Self::Error> {
        self.open(None, Some(len))
    }

    fn serialize_tuple_struct(self, _: &'static str, len: usize) -> Result<Self::SerializeSeq, Self::Error> {
        self.open(None, Some(len))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeSeq, Self::Error> {
        self.open(Some(variant), Some(len))
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Self::SerializeMap, Self::Error> {
        self.open(None, len)
    }

    fn serialize_struct(self, name: &'static str, len: usize) -> Result<Self::SerializeStruct, Self::Error> {
        Ok(if name.starts_with(JSON_TEXT) {
            Struct::Text(Data::None, self)
        } else {
            Struct::Fields(self.open(None, Some(len))?)
        })
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeMap, Self::Error> {
        self.open(Some(variant), Some(len))
    }
}

macro_rules! items {
    ($($trait:ident $function:ident),*) => {
        $(impl $trait for Open<'_, Data<'static>> {
            type Ok = Data<'static>;
            type Error = Box<JsonError>;

            fn $function<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Self::Error> {
                self.push(value)
            }

            fn end(self) -> Made {
                self.finish()
            }
        })*
    };
}

items! {
    SerializeSeq serialize_element, SerializeTuple serialize_element, SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field
}

impl SerializeMap for Open<'_, Entry<'static>> {
    type Ok = Data<'static>;
    type Error = Box<JsonError>;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Self::Error> {
        self.key = Some(to_key(key.serialize(&mut *self.room)?)?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Self::Error> {
        let key = self.key.take().unwrap_or_default();
        self.insert(key, value)
    }

    fn end(self) -> Made {
        self.finish()
    }
}

impl SerializeStructVariant for Open<'_, Entry<'static>> {
    type Ok = Data<'static>;
    type Error = Box<JsonError>;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Self::Error> {
        self.insert(Cow::Borrowed(key), value)
    }

    fn end(self) -> Made {
        self.finish()
    }
}

/// A struct that has no end yet.
enum Struct<'r> {
    Fields(Open<'r, Entry<'static>>),
    /// One of serde_json's structs, with its only field: a string that is JSON text.
    Text(Data<'static>, &'r mut Room),
}

impl SerializeStruct for Struct<'_> {
    type Ok = Data<'static>;
    type Error = Box<JsonError>;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Self::Error> {
        match self {
            Self::Fields(open) => open.insert(Cow::Borrowed(key), value),
            Self::Text(text, room) => {
                *text = value.serialize(&mut **room)?;
                Ok(())
            }
        }
    }

    fn end(self) -> Made {
        match self {
            Self::Fields(open) => open.finish(),
            Self::Text(Data::Str(text), room) => Ok(read_text(&text, room.levels_left, None)?.into_owned()),
            Self::Text(..) => Err(ser::Error::custom("a number of serde_json has no text")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::json::read;

    fn debug<T: Serialize + ?Sized>(value: &T) -> String {
        match to_data(value) {
            Ok(data) => format!("{data:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn numbers_keep_their_value() {
        assert_eq!(debug(&u64::MAX), "BigInt(18446744073709551615)");
        assert_eq!(debug(&i128::MIN), format!("BigInt({})", i128::MIN));
        assert_eq!(debug(&-1_i128), "Int(-1)");
        assert_eq!(debug(&1_f64), "Float(1.0)");
        assert_eq!(debug(&-0.0_f64), "Float(-0.0)");
        assert_eq!(debug(&f64::MAX), format!("Float({:?})", f64::MAX));
        assert_eq!(debug(&0.1_f32), "Float(0.10000000149011612)");
    }

    #[test]
    fn floats_that_are_not_finite_become_none() {
        assert_eq!(debug(&[f64::NAN, f64::INFINITY]), "List([None, None])");
        assert_eq!(debug(&f32::NEG_INFINITY), "None");
    }

    #[test]
    fn a_tree_is_converted_to_an_equal_tree() {
        let text = r#"{"b": [1, 18446744073709551616, -0.0, "x\u0000\"é", null, true], "a": {"z": {}, "": []}}"#;
        let data = read(text).unwrap();
        assert_eq!(to_data(&data), Ok(data.clone()));
        let value: serde_json::Value = serde_json::from_str(r#"{"b": [1, 2.5, "x", null], "a": {}}"#).unwrap();
        assert_eq!(to_data(&value), Ok(read(&value.to_string()).unwrap()));
    }

    #[test]
    fn depth_is_bounded() {
        let nest = |levels| (1..levels).fold(Data::List(Vec::new()), |data, _| Data::List(vec![data]));
        assert!(to_data(&nest(DEPTH)).is_ok());
        assert_eq!(to_data(&nest(DEPTH + 1)).unwrap_err().kind(), JsonErrorKind::TooDeep);
    }

    #[test]
    fn the_size_is_bounded() {
        assert_eq!(to_data(&Endless).unwrap_err().kind(), JsonErrorKind::TooLarge);
    }

    struct Endless;

    impl Serialize for Endless {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_seq(std::iter::repeat("a".repeat(1 << 20)))
        }
    }

    #[derive(serde::Serialize, PartialEq, Eq, PartialOrd, Ord)]
    enum Shape {
        Unit,
        One(u8),
        Two(u8, char),
        Named { a: Option<()>, b: bool },
    }

    #[derive(serde::Serialize)]
    struct Wrapped(f32);

    #[test]
    fn a_tree_is_that_of_the_text() {
        let shapes = [
            Shape::Unit,
            Shape::One(1),
            Shape::Two(2, 'é'),
            Shape::Named { a: None, b: true },
        ];
        let keys = (
            BTreeMap::from([(true, 1)]),
            BTreeMap::from([(-7_i128, 2)]),
            BTreeMap::from([('x', 3)]),
        );
        let value = (shapes, keys, Wrapped(1.5), (), BTreeMap::from([(Shape::Unit, [0_u8; 0])]));
        let text = serde_json::to_string(&value).unwrap();
        assert_eq!(to_data(&value), Ok(read(&text).unwrap()));
    }

    #[test]
    fn a_key_that_is_not_a_string_is_refused() {
        let error = to_data(&BTreeMap::from([((), 0)])).unwrap_err();
        assert_eq!(error.kind(), JsonErrorKind::Refused);
        assert_eq!(error.to_string(), "key must be a string");
    }

    /// If a dependent crate enables the feature `arbitrary_precision` of serde_json, its numbers are stored as text.
    #[test]
    fn numbers_of_serde_json_are_read() {
        let number = |text: &str| debug(&serde_json::from_str::<serde_json::Number>(text).unwrap());
        assert_eq!(number("18446744073709551615"), "BigInt(18446744073709551615)");
        assert_eq!(number("1.50"), "Float(1.5)");
        assert_eq!(number("-7"), "Int(-7)");
    }
}
