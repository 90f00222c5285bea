//! Limits from JSON: an object with the names of the fields.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

use super::Limits;

/// The names, as [`Limits`] has them.
const NAMES: &[&str] = &[
    "steps",
    "output",
    "value",
    "live",
    "calls",
    "height",
    "stack",
    "source",
    "width",
    "bits",
    "milliseconds",
];

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
            match name.as_str() {
                "steps" => limits.steps = map.next_value()?,
                "output" => limits.output = map.next_value()?,
                "value" => limits.value = map.next_value()?,
                "live" => limits.live = map.next_value()?,
                "calls" => limits.calls = map.next_value()?,
                "height" => limits.height = map.next_value()?,
                "stack" => limits.stack = map.next_value()?,
                "source" => limits.source = map.next_value()?,
                "width" => limits.width = map.next_value()?,
                "bits" => limits.bits = map.next_value()?,
                "milliseconds" => limits.milliseconds = map.next_value()?,
                other => return Err(A::Error::unknown_field(other, NAMES)),
            }
        }
        Ok(limits)
    }
}

#[cfg(test)]
mod tests {
    use super::{Limits, NAMES};

    #[test]
    fn every_name_is_read() {
        for name in NAMES {
            let limits: Limits = serde_json::from_str(&format!("{{\"{name}\": 7}}")).unwrap();
            assert_ne!(limits, Limits::default(), "{name}");
        }
        assert_eq!(
            serde_json::from_str::<Limits>("{\"milliseconds\": null}").unwrap(),
            Limits::default()
        );
    }

    #[test]
    fn what_is_wrong_is_said() {
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
