//! A value of a request's body, borrowed from either of the two types of JSON trees.

use serde::{Serialize, Serializer};

use crate::error::Result;
use crate::json::{self, Data, Object};
use crate::template::Borrow;
use crate::value::{Runtime, Value, json_entry};

/// A value of a body.
#[derive(Clone, Copy, Debug)]
pub enum Node<'b> {
    Json(&'b serde_json::Value),
    Data(&'b Data<'b>),
}

impl<'b> Node<'b> {
    /// Returns the value of a key, unless it is null.
    pub fn get(self, key: &str) -> Option<Self> {
        let value = match self {
            Self::Json(value) => Self::Json(json_entry(value.as_object()?, key)?),
            Self::Data(Data::Object(object)) => Self::Data(object.get(key)?),
            Self::Data(_) => return None,
        };
        (!value.is_null()).then_some(value)
    }

    /// Returns whether there is a key, even with the value null.
    pub fn has(self, key: &str) -> bool {
        match self {
            Self::Json(value) => value.as_object().is_some_and(|map| json_entry(map, key).is_some()),
            Self::Data(data) => matches!(data, Data::Object(object) if object.get(key).is_some()),
        }
    }

    /// Returns the address of the value.
    pub fn address(self) -> usize {
        match self {
            Self::Json(value) => std::ptr::from_ref(value).addr(),
            Self::Data(data) => std::ptr::from_ref(data).addr(),
        }
    }

    /// Returns the value, if it is a string.
    pub fn text(self) -> Option<&'b str> {
        match self {
            Self::Json(value) => value.as_str(),
            Self::Data(Data::Str(text)) => Some(text),
            Self::Data(_) => None,
        }
    }

    /// Returns the string at a key.
    pub fn get_text(self, key: &str) -> Option<&'b str> {
        self.get(key)?.text()
    }

    /// Returns the value, if it is a bool.
    pub fn bool(self) -> Option<bool> {
        match self {
            Self::Json(value) => value.as_bool(),
            Self::Data(Data::Bool(bool)) => Some(*bool),
            Self::Data(_) => None,
        }
    }

    pub fn is_null(self) -> bool {
        matches!(self, Self::Json(serde_json::Value::Null) | Self::Data(Data::None))
    }

    pub fn is_list(self) -> bool {
        matches!(self, Self::Json(serde_json::Value::Array(_)) | Self::Data(Data::List(_)))
    }

    pub fn is_object(self) -> bool {
        matches!(self, Self::Json(serde_json::Value::Object(_)) | Self::Data(Data::Object(_)))
    }

    /// Returns the items of a list. Any other value has none.
    pub fn items(self) -> impl Iterator<Item = Self> + Clone + use<'b> {
        let (json, data): (&'b [serde_json::Value], &'b [Data<'b>]) = match self {
            Self::Json(serde_json::Value::Array(items)) => (items, &[]),
            Self::Data(Data::List(items)) => (&[], items),
            _ => (&[], &[]),
        };
        json.iter().map(Self::Json).chain(data.iter().map(Self::Data))
    }

    /// Returns the entries of an object. Any other value has none.
    pub fn entries(self) -> impl Iterator<Item = (&'b str, Self)> + use<'b> {
        let (json, data) = match self {
            Self::Json(value) => (value.as_object(), None),
            Self::Data(Data::Object(object)) => (None, Some(object.entries())),
            Self::Data(_) => (None, None),
        };
        let json = json
            .into_iter()
            .flatten()
            .map(|(key, value)| (key.as_str(), Self::Json(value)));
        let data = data.into_iter().flatten();
        json.chain(data.map(|(key, value)| (&**key, Self::Data(value))))
    }

    /// Returns the JSON of the value without white space.
    pub fn to_json(self) -> String {
        match self {
            Self::Json(value) => value.to_string(),
            Self::Data(data) => {
                let mut text = String::new();
                // Writing to a string cannot fail.
                let _ = json::write_data(data, &mut text);
                text
            }
        }
    }

    /// Returns the number of values in the tree that [`Node::to_data`] returns.
    pub fn count_values(self, levels: usize) -> usize {
        let Some(levels) = levels.checked_sub(1) else { return 1 };
        let items = self.items().map(|item| item.count_values(levels));
        let entries = self.entries().map(|(_, value)| value.count_values(levels));
        items.chain(entries).fold(1, usize::saturating_add)
    }

    /// Returns a tree whose strings are borrowed. Values that are nested deeper than `levels` become null.
    pub fn to_data(self, levels: usize) -> Data<'b> {
        let Some(levels) = levels.checked_sub(1) else {
            return Data::None;
        };
        match self {
            Self::Data(Data::List(_)) | Self::Json(serde_json::Value::Array(_)) => {
                Data::List(self.items().map(|item| item.to_data(levels)).collect())
            }
            Self::Data(Data::Object(_)) | Self::Json(serde_json::Value::Object(_)) => {
                let entries = self.entries().map(|(key, value)| (key.into(), value.to_data(levels)));
                Data::Object(Object::new(entries.collect()))
            }
            Self::Data(Data::Str(text)) => Data::Str(text.as_ref().into()),
            Self::Data(data) => data.clone(),
            Self::Json(serde_json::Value::Null) => Data::None,
            Self::Json(serde_json::Value::Bool(bool)) => Data::Bool(*bool),
            Self::Json(serde_json::Value::String(text)) => Data::Str(text.as_str().into()),
            Self::Json(number) => json::to_data(number).unwrap_or(Data::None),
        }
    }

    /// Returns the name of the value's type for a message.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Json(serde_json::Value::Null) => "null",
            Self::Json(serde_json::Value::Bool(_)) => "a bool",
            Self::Json(serde_json::Value::Number(_)) => "a number",
            Self::Json(serde_json::Value::String(_)) => "a string",
            Self::Json(serde_json::Value::Array(_)) => "an array",
            Self::Json(serde_json::Value::Object(_)) => "an object",
            Self::Data(data) => data.describe(),
        }
    }
}

impl Borrow for Node<'_> {
    fn borrow_value<'a>(&'a self, runtime: &mut Runtime<'a>) -> Result<Value<'a>> {
        match self {
            Self::Json(value) => value.borrow_value(runtime),
            Self::Data(data) => data.borrow_value(runtime),
        }
    }
}

impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Json(value) => value.serialize(serializer),
            Self::Data(data) => data.serialize(serializer),
        }
    }
}
