//! Reads any bytes as JSON. It must not panic, and data that is written and read again must be equal to the first data.
#![no_main]

use chat_template::{Bounds, json};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(data) = json::Data::read_within(bytes, Bounds::default()) else {
        return;
    };
    let text = data.to_string();
    let again = json::read(&text).expect("the written text is JSON");
    assert_eq!(text, again.to_string());
});
