//! Serialization of errors, for logs and responses.

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::Error;

/// Serializes an error as an object. A field that is not known is null.
///
/// ```
/// let error = chat_template::Template::compile("{{ 1 + }}").unwrap_err();
/// let json = serde_json::to_value(&error).unwrap();
/// assert_eq!((json["kind"].as_str(), json["class"].as_str()), (Some("syntax"), Some("template")));
/// assert_eq!((json["line"].as_u64(), json["column"].as_u64()), (Some(1), Some(8)));
/// assert!(json["input_path"].is_null());
/// ```
impl Serialize for Error {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let trail: Vec<String> = self.trail().iter().map(ToString::to_string).collect();
        let mut object = serializer.serialize_struct("Error", 10)?;
        object.serialize_field("kind", &self.kind())?;
        object.serialize_field("class", &self.class())?;
        object.serialize_field("message", self.message())?;
        object.serialize_field("template", &self.template())?;
        object.serialize_field("line", &self.line())?;
        object.serialize_field("column", &self.position().map(|(_, column)| column))?;
        object.serialize_field("input_path", &self.input_path())?;
        object.serialize_field("note", &self.note())?;
        object.serialize_field("limit", &self.reached().map(|reached| reached.limit))?;
        object.serialize_field("trail", &trail)?;
        object.end()
    }
}
