//! The JSON door: no panic on any bytes, and what was read and written is read again as the same.
#![no_main]

use chat_template::json;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(data) = json::read_bytes(bytes, json::DEPTH) else {
        return;
    };
    let mut text = String::new();
    json::write_data(&data, &mut text);
    let again = json::read(&text, json::DEPTH).expect("what was written is JSON");
    let mut second = String::new();
    json::write_data(&again, &mut second);
    assert_eq!(text, second);
});
