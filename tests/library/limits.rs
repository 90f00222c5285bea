//! Limits as JSON.

use chat_template::Limits;
use serde_json::Value;

#[test]
fn each_field_is_read_and_written() {
    let Value::Object(names) = serde_json::to_value(Limits::default()).unwrap() else {
        panic!("limits are an object")
    };
    for name in names.keys() {
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
}
