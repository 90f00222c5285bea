//! Messages about bytes that are not UTF-8.

use std::string::FromUtf8Error;

/// Returns a message with the place of the first byte that is not UTF-8.
///
/// ```text
/// "a\xff"    invalid UTF-8 at byte 1
/// ```
pub fn describe_fault(error: &FromUtf8Error) -> String {
    let at = error.utf8_error().valid_up_to();
    let hint = match error.as_bytes() {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "; the file is UTF-16, so save it as UTF-8",
        [b'G', b'G', b'U', b'F', ..] => "; the file is GGUF: load it as a model",
        _ => "",
    };
    format!("invalid UTF-8 at byte {at}{hint}")
}
