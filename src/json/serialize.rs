//! Turns anything `Serialize` into a tree, as `serde_json::to_value` would.
//!
//! ```text
//! Message { role: "user", id: Some(u64::MAX) }   ->   Object[("role", Str), ("id", BigInt)]
//! ```
//!
//! It keeps what `serde_json::Value` loses: integers of 128 bits, `NaN` and the infinities. The rule for everything else is serde_json
//! `value/ser.rs`, its two private marks included: a `Number` under `arbitrary_precision`, and a `RawValue`, come as JSON text, which
//! our own reader reads. Which keys a map may have is [`KeySerializer`]'s business.

use std::borrow::Cow;

use num_bigint::BigInt;
use serde::ser::{self, Serialize, Serializer};

use super::error::SerializeError;
use super::read::read;
use super::serialize_key::KeySerializer;
use super::tree::{Data, Entry, Object};

/// Turns a value into a tree that borrows from nothing.
///
/// # Errors
/// When the value says that it cannot be serialized, a key is no string, or values nest deeper than the limit. Options and newtypes
/// count as levels too, for they can nest without end.
pub fn to_data<T: Serialize + ?Sized>(value: &T, depth_limit: usize) -> Result<Data<'static>, SerializeError> {
    let data = value.serialize(DataSerializer {
        levels_left: depth_limit,
    });
    data.map_err(|error| match error {
        // Only here the limit is known.
        SerializeError::TooDeep(_) => SerializeError::TooDeep(depth_limit),
        error => error,
    })
}

#[derive(Clone, Copy)]
struct DataSerializer {
    levels_left: usize,
}

impl DataSerializer {
    /// The serializer for what is inside.
    fn inner(self) -> Result<Self, SerializeError> {
        match self.levels_left.checked_sub(1) {
            Some(levels_left) => Ok(Self { levels_left }),
            None => Err(SerializeError::TooDeep(0)),
        }
    }

    fn items(self, length: Option<usize>, variant: Option<&'static str>) -> Result<Items, SerializeError> {
        Ok(Items {
            items: Vec::with_capacity(expected(length)),
            variant,
            inner: self.enclosed(variant)?,
        })
    }

    fn fields(self, length: Option<usize>, variant: Option<&'static str>) -> Result<Fields, SerializeError> {
        Ok(Fields {
            entries: Vec::with_capacity(expected(length)),
            key: Cow::Borrowed(""),
            variant,
            inner: self.enclosed(variant)?,
        })
    }

    /// The serializer for the members of an array or object, which a variant puts into an object of its own.
    fn enclosed(self, variant: Option<&'static str>) -> Result<Self, SerializeError> {
        let inner = self.inner()?;
        variant.map_or(Ok(inner), |_| inner.inner())
    }
}

/// The capacity for so many members. Whoever promises more than can be expected gets them, but not at once.
fn expected(length: Option<usize>) -> usize {
    length.unwrap_or(0).min(1 << 12)
}

fn int(int: impl Copy + TryInto<i64> + Into<BigInt>) -> Data<'static> {
    int.try_into().map_or_else(|_| Data::BigInt(Box::new(int.into())), Data::Int)
}

fn in_variant(variant: Option<&'static str>, data: Data<'static>) -> Data<'static> {
    match variant {
        Some(variant) => Data::Object(Object::new(vec![(Cow::Borrowed(variant), data)])),
        None => data,
    }
}

impl Serializer for DataSerializer {
    type Ok = Data<'static>;
    type Error = SerializeError;
    type SerializeSeq = Items;
    type SerializeTuple = Items;
    type SerializeTupleStruct = Items;
    type SerializeTupleVariant = Items;
    type SerializeMap = Fields;
    type SerializeStruct = Struct;
    type SerializeStructVariant = Fields;

    fn serialize_bool(self, bool: bool) -> Result<Data<'static>, SerializeError> {
        Ok(Data::Bool(bool))
    }

    fn serialize_i8(self, number: i8) -> Result<Data<'static>, SerializeError> {
        Ok(int(number))
    }

    fn serialize_i16(self, number: i16) -> Result<Data<'static>, SerializeError> {
        Ok(int(number))
    }

    fn serialize_i32(self, number: i32) -> Result<Data<'static>, SerializeError> {
        Ok(int(number))
    }

    fn serialize_i64(self, number: i64) -> Result<Data<'static>, SerializeError> {
        Ok(int(number))
    }

    fn serialize_i128(self, number: i128) -> Result<Data<'static>, SerializeError> {
        Ok(int(number))
    }

    fn serialize_u8(self, number: u8) -> Result<Data<'static>, SerializeError> {
        Ok(int(number))
    }

    fn serialize_u16(self, number: u16) -> Result<Data<'static>, SerializeError> {
        Ok(int(number))
    }

    fn serialize_u32(self, number: u32) -> Result<Data<'static>, SerializeError> {
        Ok(int(number))
    }

    fn serialize_u64(self, number: u64) -> Result<Data<'static>, SerializeError> {
        Ok(int(number))
    }

    fn serialize_u128(self, number: u128) -> Result<Data<'static>, SerializeError> {
        Ok(int(number))
    }

    fn serialize_f32(self, float: f32) -> Result<Data<'static>, SerializeError> {
        Ok(Data::Float(f64::from(float)))
    }

    fn serialize_f64(self, float: f64) -> Result<Data<'static>, SerializeError> {
        Ok(Data::Float(float))
    }

    fn serialize_char(self, character: char) -> Result<Data<'static>, SerializeError> {
        Ok(Data::Str(Cow::Owned(character.to_string())))
    }

    fn serialize_str(self, text: &str) -> Result<Data<'static>, SerializeError> {
        Ok(Data::Str(Cow::Owned(text.to_owned())))
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<Data<'static>, SerializeError> {
        self.inner()?;
        Ok(Data::List(bytes.iter().map(|byte| int(*byte)).collect()))
    }

    fn serialize_none(self) -> Result<Data<'static>, SerializeError> {
        Ok(Data::None)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Data<'static>, SerializeError> {
        value.serialize(self.inner()?)
    }

    fn serialize_unit(self) -> Result<Data<'static>, SerializeError> {
        Ok(Data::None)
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<Data<'static>, SerializeError> {
        Ok(Data::None)
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<Data<'static>, SerializeError> {
        Ok(Data::Str(Cow::Borrowed(variant)))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<Data<'static>, SerializeError> {
        value.serialize(self.inner()?)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Data<'static>, SerializeError> {
        Ok(in_variant(Some(variant), value.serialize(self.inner()?)?))
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Items, SerializeError> {
        self.items(length, None)
    }

    fn serialize_tuple(self, length: usize) -> Result<Items, SerializeError> {
        self.items(Some(length), None)
    }

    fn serialize_tuple_struct(self, _name: &'static str, length: usize) -> Result<Items, SerializeError> {
        self.items(Some(length), None)
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Items, SerializeError> {
        self.items(Some(length), Some(variant))
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Fields, SerializeError> {
        self.fields(length, None)
    }

    fn serialize_struct(self, name: &'static str, length: usize) -> Result<Struct, SerializeError> {
        match name {
            "$serde_json::private::Number" | "$serde_json::private::RawValue" => Ok(Struct::JsonText {
                data: Data::None,
                serializer: self,
            }),
            _ => self.fields(Some(length), None).map(Struct::Fields),
        }
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Fields, SerializeError> {
        self.fields(Some(length), Some(variant))
    }
}

/// The items of an array so far.
struct Items {
    items: Vec<Data<'static>>,
    variant: Option<&'static str>,
    inner: DataSerializer,
}

impl Items {
    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerializeError> {
        self.items.push(value.serialize(self.inner)?);
        Ok(())
    }

    fn finish(self) -> Data<'static> {
        in_variant(self.variant, Data::List(self.items))
    }
}

/// The entries of an object so far, and the key whose value comes next.
struct Fields {
    entries: Vec<Entry<'static>>,
    key: Cow<'static, str>,
    variant: Option<&'static str>,
    inner: DataSerializer,
}

impl Fields {
    fn push<T: Serialize + ?Sized>(&mut self, key: Cow<'static, str>, value: &T) -> Result<(), SerializeError> {
        self.entries.push((key, value.serialize(self.inner)?));
        Ok(())
    }

    fn finish(self) -> Data<'static> {
        in_variant(self.variant, Data::Object(Object::new(self.entries)))
    }
}

/// A struct, or one of serde_json's private ones, whose only field is the JSON text of a value.
enum Struct {
    Fields(Fields),
    JsonText {
        data: Data<'static>,
        serializer: DataSerializer,
    },
}

impl ser::SerializeSeq for Items {
    type Ok = Data<'static>;
    type Error = SerializeError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerializeError> {
        self.push(value)
    }

    fn end(self) -> Result<Data<'static>, SerializeError> {
        Ok(self.finish())
    }
}

impl ser::SerializeTuple for Items {
    type Ok = Data<'static>;
    type Error = SerializeError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerializeError> {
        self.push(value)
    }

    fn end(self) -> Result<Data<'static>, SerializeError> {
        Ok(self.finish())
    }
}

impl ser::SerializeTupleStruct for Items {
    type Ok = Data<'static>;
    type Error = SerializeError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerializeError> {
        self.push(value)
    }

    fn end(self) -> Result<Data<'static>, SerializeError> {
        Ok(self.finish())
    }
}

impl ser::SerializeTupleVariant for Items {
    type Ok = Data<'static>;
    type Error = SerializeError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerializeError> {
        self.push(value)
    }

    fn end(self) -> Result<Data<'static>, SerializeError> {
        Ok(self.finish())
    }
}

impl ser::SerializeMap for Fields {
    type Ok = Data<'static>;
    type Error = SerializeError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), SerializeError> {
        self.key = key.serialize(KeySerializer {
            levels_left: self.inner.levels_left,
        })?;
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SerializeError> {
        let key = std::mem::take(&mut self.key);
        self.push(key, value)
    }

    fn end(self) -> Result<Data<'static>, SerializeError> {
        Ok(self.finish())
    }
}

impl ser::SerializeStructVariant for Fields {
    type Ok = Data<'static>;
    type Error = SerializeError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), SerializeError> {
        self.push(Cow::Borrowed(key), value)
    }

    fn end(self) -> Result<Data<'static>, SerializeError> {
        Ok(self.finish())
    }
}

impl ser::SerializeStruct for Struct {
    type Ok = Data<'static>;
    type Error = SerializeError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), SerializeError> {
        match self {
            Self::Fields(fields) => fields.push(Cow::Borrowed(key), value),
            Self::JsonText { data, serializer } => {
                let Data::Str(text) = value.serialize(*serializer)? else {
                    return Err(SerializeError::Refused(format!("{key} without JSON text")));
                };
                *data = read(&text, serializer.levels_left).map_err(ser::Error::custom)?.into_owned();
                Ok(())
            }
        }
    }

    fn end(self) -> Result<Data<'static>, SerializeError> {
        Ok(match self {
            Self::Fields(fields) => fields.finish(),
            Self::JsonText { data, .. } => data,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::DEPTH;

    fn debug<T: Serialize + ?Sized>(value: &T) -> String {
        match to_data(value, DEPTH) {
            Ok(data) => format!("{data:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn numbers_keep_their_value() {
        assert_eq!(debug(&u64::MAX), "BigInt(18446744073709551615)");
        assert_eq!(debug(&i128::MIN), format!("BigInt({})", i128::MIN));
        assert_eq!(debug(&-1_i128), "Int(-1)");
        assert_eq!(debug(&0.1_f32), "Float(0.10000000149011612)");
        assert_eq!(debug(&f64::NAN), "Float(NaN)");
    }

    #[test]
    fn trees_come_back_as_they_were() {
        let text = r#"{"b": [1, 18446744073709551616, -0.0, "x", null, true], "a": {"z": {}, "": []}}"#;
        let data = read(text, DEPTH).unwrap();
        assert_eq!(to_data(&data, DEPTH), Ok(data.clone()));
        let value: serde_json::Value = serde_json::from_str(r#"{"b": [1, 2.5, "x", null], "a": {}}"#).unwrap();
        assert_eq!(to_data(&value, DEPTH), Ok(read(&value.to_string(), DEPTH).unwrap()));
    }

    #[test]
    fn depth_is_bounded() {
        let deep = read("[[[1]]]", DEPTH).unwrap();
        assert!(to_data(&deep, 3).is_ok());
        assert!(to_data(&deep, 2).is_err());
        assert!(to_data(&Some(Some(1)), 1).is_err());
    }

    /// What serde_json makes of a number under its feature `arbitrary_precision`.
    struct PreciseNumber(&'static str);

    impl Serialize for PreciseNumber {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mark = "$serde_json::private::Number";
            let mut number = serializer.serialize_struct(mark, 1)?;
            ser::SerializeStruct::serialize_field(&mut number, mark, self.0)?;
            ser::SerializeStruct::end(number)
        }
    }

    #[test]
    fn precise_numbers_are_read() {
        assert_eq!(debug(&PreciseNumber("18446744073709551616")), "BigInt(18446744073709551616)");
        assert_eq!(debug(&PreciseNumber("1.50")), "Float(1.5)");
        assert_eq!(debug(&PreciseNumber("x")), "Expecting value: line 1 column 1 (char 0)");
    }
}
