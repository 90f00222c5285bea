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
use serde::ser::{self, Error, Serialize, Serializer};

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
type Opened<'r> = Result<Open<'r>, Box<JsonError>>;

/// What is left of the limits. It is the serializer of each value.
struct Room {
    levels_left: usize,
    bytes_left: usize,
}

impl Room {
    /// Takes the bytes of a value or a key, besides its place in a container.
    fn take(&mut self, bytes: usize) -> Result<(), Box<JsonError>> {
        let left = self.bytes_left.checked_sub(bytes.saturating_add(size_of::<Data<'_>>()));
        self.bytes_left = left.ok_or_else(|| Box::new(JsonError::too_large(MAX_BYTES + 1, MAX_BYTES, None)))?;
        Ok(())
    }

    fn scalar(&mut self, data: Data<'static>) -> Made {
        self.take(0)?;
        Ok(data)
    }

    /// Opens a container. `variant` is the key under which an object has it.
    fn open(&mut self, variant: Option<&'static str>, content: Content) -> Opened<'_> {
        let levels = match (&content, variant) {
            (Content::Text(_), _) => 0,
            (_, None) => 1,
            // A variant with content is an object that has one entry.
            (_, Some(_)) => 2,
        };
        let too_deep = || Box::new(JsonError::too_deep(DEPTH, None));
        self.levels_left = self.levels_left.checked_sub(levels).ok_or_else(too_deep)?;
        self.take(0)?;
        Ok(Open {
            content,
            key: Cow::Borrowed(""),
            variant,
            levels,
            room: self,
        })
    }
}

/// A container that has no end yet.
struct Open<'r> {
    content: Content,
    /// The key of the next value of a map.
    key: Cow<'static, str>,
    variant: Option<&'static str>,
    levels: usize,
    room: &'r mut Room,
}

enum Content {
    Items(Vec<Data<'static>>),
    Entries(Vec<Entry<'static>>),
    /// The only field of one of serde_json's structs: a string that is JSON text.
    Text(Data<'static>),
}

impl Content {
    fn items(len: Option<usize>) -> Self {
        Self::Items(Vec::with_capacity(len.unwrap_or_default().min(MAX_RESERVED)))
    }

    fn entries(len: Option<usize>) -> Self {
        Self::Entries(Vec::with_capacity(len.unwrap_or_default().min(MAX_RESERVED)))
    }
}

impl Open<'_> {
    /// Adds a value to the container. The key is used only if the container is an object.
    #[inline]
    fn add<T: Serialize + ?Sized>(&mut self, key: Cow<'static, str>, value: &T) -> Result<(), Box<JsonError>> {
        match &mut self.content {
            Content::Items(items) => items.push(value.serialize(&mut *self.room)?),
            Content::Entries(entries) => {
                self.room.take(key.len())?;
                entries.push((key, value.serialize(&mut *self.room)?));
            }
            Content::Text(text) => *text = value.serialize(&mut *self.room)?,
        }
        Ok(())
    }

    fn close(self) -> Made {
        self.room.levels_left += self.levels;
        let data = match self.content {
            Content::Items(items) => Data::List(items),
            Content::Entries(entries) => Data::Object(Object::new(entries)),
            Content::Text(Data::Str(text)) => read_text(&text, self.room.levels_left, None)?.into_owned(),
            Content::Text(_) => return Err(Error::custom("a number of serde_json has no text")),
        };
        Ok(match self.variant {
            Some(variant) => Data::Object(Object::new(vec![(variant.into(), data)])),
            None => data,
        })
    }
}

/// Returns the key that serde_json writes for a value.
fn to_key(value: Data<'static>) -> Result<Cow<'static, str>, Box<JsonError>> {
    Ok(match value {
        Data::Str(text) => text,
        Data::Bool(_) | Data::Int(_) | Data::BigInt(_) => Cow::Owned(value.to_string()),
        Data::Float(float) => Cow::Owned(serde_json::Value::from(float).to_string()),
        _ => return Err(Error::custom("key must be a string")),
    })
}

impl Error for Box<JsonError> {
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
    type SerializeSeq = Open<'r>;
    type SerializeTuple = Open<'r>;
    type SerializeTupleStruct = Open<'r>;
    type SerializeTupleVariant = Open<'r>;
    type SerializeMap = Open<'r>;
    type SerializeStruct = Open<'r>;
    type SerializeStructVariant = Open<'r>;

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
        let mut open = self.open(None, Content::entries(Some(1)))?;
        open.add(Cow::Borrowed(variant), value)?;
        open.close()
    }

    fn serialize_seq(self, len: Option<usize>) -> Opened<'r> {
        self.open(None, Content::items(len))
    }

    fn serialize_tuple(self, len: usize) -> Opened<'r> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_struct(self, _: &'static str, len: usize) -> Opened<'r> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_variant(self, _: &'static str, _: u32, variant: &'static str, len: usize) -> Opened<'r> {
        self.open(Some(variant), Content::items(Some(len)))
    }

    fn serialize_map(self, len: Option<usize>) -> Opened<'r> {
        self.open(None, Content::entries(len))
    }

    fn serialize_struct(self, name: &'static str, len: usize) -> Opened<'r> {
        match name.starts_with(JSON_TEXT) {
            true => self.open(None, Content::Text(Data::None)),
            false => self.serialize_map(Some(len)),
        }
    }

    fn serialize_struct_variant(self, _: &'static str, _: u32, variant: &'static str, len: usize) -> Opened<'r> {
        self.open(Some(variant), Content::entries(Some(len)))
    }
}

macro_rules! containers {
    ($($trait:ident $function:ident($($argument:ident: $type:ty)?) $key:expr;)*) => {
        $(impl ser::$trait for Open<'_> {
            type Ok = Data<'static>;
            type Error = Box<JsonError>;

            fn $function<T: Serialize + ?Sized>(&mut self, $($argument: $type,)? value: &T) -> Result<(), Self::Error> {
                self.add(Cow::Borrowed($key), value)
            }

            fn end(self) -> Made {
                self.close()
            }
        })*
    };
}

containers! {
    SerializeSeq serialize_element() "";
    SerializeTuple serialize_element() "";
    SerializeTupleStruct serialize_field() "";
    SerializeTupleVariant serialize_field() "";
    SerializeStruct serialize_field(key: &'static str) key;
    SerializeStructVariant serialize_field(key: &'static str) key;
}

impl ser::SerializeMap for Open<'_> {
    type Ok = Data<'static>;
    type Error = Box<JsonError>;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Self::Error> {
        self.key = to_key(key.serialize(&mut *self.room)?)?;
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Self::Error> {
        let key = std::mem::take(&mut self.key);
        self.add(key, value)
    }

    fn end(self) -> Made {
        self.close()
    }
}
