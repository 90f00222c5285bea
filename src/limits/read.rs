//! Reads and writes limits with serde, as an object with the names of the fields.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::{Limit, LimitExceeded, Limits};

impl Serialize for Limits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Limits", Self::NAMES.len())?;
        self.write_fields(&mut object)?;
        object.end()
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Serialize for LimitExceeded {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("LimitExceeded", 3)?;
        object.serialize_field("limit", &self.limit)?;
        object.serialize_field("actual", &self.actual)?;
        object.serialize_field("allowed", &self.allowed)?;
        object.end()
    }
}

impl<'de> Deserialize<'de> for Limits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields)
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Limits;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object of limits")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Limits, A::Error> {
        let mut limits = Limits::default();
        while let Some(name) = map.next_key::<String>()? {
            if !limits.read_field(&name, &mut map)? {
                return Err(A::Error::unknown_field(&name, Limits::NAMES));
            }
        }
        Ok(limits)
    }
}

#[cfg(test)]
mod tests {
    use super::Limits;

    #[test]
    fn each_field_is_read_and_written() {
        for name in Limits::NAMES {
            let limits: Limits = serde_json::from_str(&format!("{{\"{name}\": 7}}")).unwrap();
            assert_ne!(limits, Limits::default(), "{name}");
            let written = serde_json::to_string(&limits).unwrap();
            assert_eq!(serde_json::from_str::<Limits>(&written).unwrap(), limits, "{name}");
        }
        assert_eq!(
            serde_json::from_str::<Limits>("{\"milliseconds\": null}").unwrap(),
            Limits::default().with_milliseconds(None)
        );
    }

    #[test]
    fn errors_name_the_invalid_part() {
        let message = |text: &str| serde_json::from_str::<Limits>(text).unwrap_err().to_string();
        assert!(
            message("{\"step\": 1}").starts_with("unknown field `step`, expected one of `steps`, "),
            "{}",
            message("{\"step\": 1}")
        );
        assert!(message("{\"steps\": -1}").starts_with("invalid value: integer `-1`, expected u64"));
        assert!(message("[]").starts_with("invalid type: sequence, expected an object of limits"));
    }
}
