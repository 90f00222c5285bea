//! Turns the keys of a map into strings, as `serde_json::to_value` would.
//!
//! ```text
//! "a" -> a      7 -> 7      1.0 -> 1.0      true -> true      Role::User -> User      None -> key must be a string
//! ```
//!
//! The rule, texts included, is serde_json `value/ser.rs` `MapKeySerializer`. Knows nothing of values.

use std::borrow::Cow;

use serde::ser::{Error, Impossible, Serialize, Serializer};

use super::error::SerializeError;

/// Makes the text of a key.
#[derive(Clone, Copy)]
pub(super) struct KeySerializer {
    /// How many newtypes the key may still be wrapped into.
    pub(super) levels_left: usize,
}

type Key = Cow<'static, str>;

fn no_string<T>() -> Result<T, SerializeError> {
    Err(SerializeError::custom("key must be a string"))
}

/// serde_json's text of a float.
fn float_key(float: impl Serialize + Into<f64> + Copy) -> Result<Key, SerializeError> {
    if !float.into().is_finite() {
        return Err(SerializeError::custom("float key must be finite (got NaN or +/-inf)"));
    }
    serde_json::to_string(&float).map(Cow::Owned).map_err(SerializeError::custom)
}

impl Serializer for KeySerializer {
    type Ok = Key;
    type Error = SerializeError;
    type SerializeSeq = Impossible<Key, SerializeError>;
    type SerializeTuple = Impossible<Key, SerializeError>;
    type SerializeTupleStruct = Impossible<Key, SerializeError>;
    type SerializeTupleVariant = Impossible<Key, SerializeError>;
    type SerializeMap = Impossible<Key, SerializeError>;
    type SerializeStruct = Impossible<Key, SerializeError>;
    type SerializeStructVariant = Impossible<Key, SerializeError>;

    fn serialize_bool(self, bool: bool) -> Result<Key, SerializeError> {
        Ok(Cow::Borrowed(if bool { "true" } else { "false" }))
    }

    fn serialize_i8(self, number: i8) -> Result<Key, SerializeError> {
        self.serialize_i128(number.into())
    }

    fn serialize_i16(self, number: i16) -> Result<Key, SerializeError> {
        self.serialize_i128(number.into())
    }

    fn serialize_i32(self, number: i32) -> Result<Key, SerializeError> {
        self.serialize_i128(number.into())
    }

    fn serialize_i64(self, number: i64) -> Result<Key, SerializeError> {
        self.serialize_i128(number.into())
    }

    fn serialize_i128(self, number: i128) -> Result<Key, SerializeError> {
        Ok(Cow::Owned(number.to_string()))
    }

    fn serialize_u8(self, number: u8) -> Result<Key, SerializeError> {
        self.serialize_u128(number.into())
    }

    fn serialize_u16(self, number: u16) -> Result<Key, SerializeError> {
        self.serialize_u128(number.into())
    }

    fn serialize_u32(self, number: u32) -> Result<Key, SerializeError> {
        self.serialize_u128(number.into())
    }

    fn serialize_u64(self, number: u64) -> Result<Key, SerializeError> {
        self.serialize_u128(number.into())
    }

    fn serialize_u128(self, number: u128) -> Result<Key, SerializeError> {
        Ok(Cow::Owned(number.to_string()))
    }

    fn serialize_f32(self, float: f32) -> Result<Key, SerializeError> {
        float_key(float)
    }

    fn serialize_f64(self, float: f64) -> Result<Key, SerializeError> {
        float_key(float)
    }

    fn serialize_char(self, character: char) -> Result<Key, SerializeError> {
        Ok(Cow::Owned(character.to_string()))
    }

    fn serialize_str(self, text: &str) -> Result<Key, SerializeError> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn serialize_bytes(self, _bytes: &[u8]) -> Result<Key, SerializeError> {
        no_string()
    }

    fn serialize_none(self) -> Result<Key, SerializeError> {
        no_string()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _value: &T) -> Result<Key, SerializeError> {
        no_string()
    }

    fn serialize_unit(self) -> Result<Key, SerializeError> {
        no_string()
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<Key, SerializeError> {
        no_string()
    }

    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Result<Key, SerializeError> {
        Ok(Cow::Borrowed(variant))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _name: &'static str, value: &T) -> Result<Key, SerializeError> {
        match self.levels_left.checked_sub(1) {
            Some(levels_left) => value.serialize(Self { levels_left }),
            None => Err(SerializeError::TooDeep(0)),
        }
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _value: &T,
    ) -> Result<Key, SerializeError> {
        no_string()
    }

    fn serialize_seq(self, _length: Option<usize>) -> Result<Self::SerializeSeq, SerializeError> {
        no_string()
    }

    fn serialize_tuple(self, _length: usize) -> Result<Self::SerializeTuple, SerializeError> {
        no_string()
    }

    fn serialize_tuple_struct(self, _name: &'static str, _length: usize) -> Result<Self::SerializeTupleStruct, SerializeError> {
        no_string()
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _length: usize,
    ) -> Result<Self::SerializeTupleVariant, SerializeError> {
        no_string()
    }

    fn serialize_map(self, _length: Option<usize>) -> Result<Self::SerializeMap, SerializeError> {
        no_string()
    }

    fn serialize_struct(self, _name: &'static str, _length: usize) -> Result<Self::SerializeStruct, SerializeError> {
        no_string()
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _length: usize,
    ) -> Result<Self::SerializeStructVariant, SerializeError> {
        no_string()
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;

    use crate::json::{DEPTH, to_data, write_data};

    /// A map with one entry and any key.
    struct Entry<K>(K);

    impl<K: Serialize> Serialize for Entry<K> {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_map([(&self.0, 0)])
        }
    }

    fn written(key: impl Serialize) -> String {
        let mut out = String::new();
        match to_data(&Entry(key), DEPTH) {
            Ok(data) => write_data(&data, &mut out),
            Err(error) => out = error.to_string(),
        }
        out
    }

    #[test]
    fn keys_are_serde_json_s() {
        assert_eq!(written("a"), r#"{"a":0}"#);
        assert_eq!(written('a'), r#"{"a":0}"#);
        assert_eq!(written(-7_i8), r#"{"-7":0}"#);
        assert_eq!(written(u128::MAX), r#"{"340282366920938463463374607431768211455":0}"#);
        assert_eq!(written(true), r#"{"true":0}"#);
        assert_eq!(written(2.50), r#"{"2.5":0}"#);
        assert_eq!(written(0.1_f32), r#"{"0.1":0}"#);
        assert_eq!(written(f64::NAN), "float key must be finite (got NaN or +/-inf)");
        assert_eq!(written(Some("a")), "key must be a string");
        assert_eq!(written(()), "key must be a string");
    }
}
