//! Conversions from `serde_json` values and from our own JSON tree, which values borrow, and to a tree that is a copy.

use std::borrow::Cow;

use super::Value;
use super::dict::Dict;
use super::list::Seq;
use crate::error::{Error, Result};
use crate::json::{Data, Object};
use crate::number::IntRef;

impl<'a> From<&'a serde_json::Value> for Value<'a> {
    #[inline]
    fn from(json: &'a serde_json::Value) -> Self {
        match json {
            serde_json::Value::Null => Self::None,
            serde_json::Value::Bool(bool) => Self::Bool(*bool),
            serde_json::Value::Number(number) => from_number(number),
            serde_json::Value::String(text) => Self::text(text),
            serde_json::Value::Array(items) => Self::List(Seq::Json(items)),
            serde_json::Value::Object(map) => Self::Dict(Dict::Json(map)),
        }
    }
}

impl<'a> From<&'a Data<'a>> for Value<'a> {
    #[inline]
    fn from(data: &'a Data<'a>) -> Self {
        match data {
            Data::None => Self::None,
            Data::Bool(bool) => Self::Bool(*bool),
            Data::Int(int) => Self::Int(*int),
            Data::BigInt(big) => Self::Big(IntRef::Big(big)),
            Data::Float(float) => Self::Float(*float),
            Data::Str(text) => Self::text(text),
            Data::List(items) => Self::List(Seq::Data(items)),
            Data::Tuple(items) => Self::Tuple(Seq::Data(items)),
            Data::Object(object) => Self::Dict(Dict::Data(object)),
        }
    }
}

/// Returns a number of the caller. If a dependent crate enables `arbitrary_precision`, the number is a string and can be an integer of any
/// size.
fn from_number(number: &serde_json::Number) -> Value<'_> {
    if let Some(int) = number.as_i64() {
        return Value::Int(int);
    }
    if number.is_f64() {
        return Value::Float(number.as_f64().unwrap_or(f64::NAN));
    }
    let is_digit = |byte: u8| byte.is_ascii_digit() || byte == b'-';
    if number.is_u64() || number.to_string().bytes().all(is_digit) {
        return Value::Big(IntRef::Json(number));
    }
    Value::Float(number.to_string().parse().unwrap_or(f64::NAN))
}

impl Value<'_> {
    /// Copies the value to a tree of its own. `weigh` is called with each value before it is copied, and with whether it is a key. It
    /// refuses what a tree cannot have.
    pub fn copy_data(&self, weigh: &mut dyn FnMut(&Value<'_>, bool) -> Result<()>) -> Result<Data<'static>> {
        weigh(self, false)?;
        let mut all = |items: &Seq<'_>| items.iter().map(|item| item.copy_data(weigh)).collect::<Result<Vec<_>>>();
        Ok(match self {
            Self::None => Data::None,
            Self::Bool(bool) => Data::Bool(*bool),
            Self::Int(int) => Data::Int(*int),
            Self::Big(big) => Data::BigInt(Box::new(big.to_big().into_owned())),
            Self::Float(float) => Data::Float(*float),
            Self::Str(text) => Data::Str(Cow::Owned(text.as_str().to_owned())),
            Self::List(items) => Data::List(all(items)?),
            Self::Tuple(items) => Data::Tuple(all(items)?),
            Self::Dict(dict) => {
                let mut entries = Vec::with_capacity(dict.len());
                for (key, value) in dict.iter() {
                    weigh(&key, true)?;
                    let key = key.as_str().unwrap_or_default().to_owned();
                    entries.push((Cow::Owned(key), value.copy_data(weigh)?));
                }
                Data::Object(Object::new(entries))
            }
            _ => return Err(Error::internal("a value is not JSON")),
        })
    }
}
