//! Reads any bytes as JSON. It must not panic, and data that is written and read again must be equal to the first data.
#![no_main]

use chat_template::{Bounds, json};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(data) = json::read_within(bytes, Bounds::default()) else {
        return;
    };
    let mut text = String::new();
    json::write_data(&data, &mut text).expect("a string takes all text");
    let again = json::read(&text).expect("the written text is JSON");
    let mut second = String::new();
    json::write_data(&again, &mut second).expect("a string takes all text");
    assert_eq!(text, second);
});
