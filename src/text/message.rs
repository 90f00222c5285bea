//! Strings for messages.
//!
//! ```text
//! elide("hello world", 5)         "hello…"
//! describe_fault(b"a\xff")        invalid UTF-8 at byte 1
//! ```

use std::borrow::Cow;
use std::string::FromUtf8Error;

use super::slice::split_at_char;

/// The maximum number of bytes of an error message. Messages of the reference can repeat a string of any length.
pub const MAX_MESSAGE: usize = 64 << 10;

/// Returns a string for a message: if it has more than `length` code points, it is cut and ends in an ellipsis.
pub fn elide(text: &str, length: usize) -> Cow<'_, str> {
    match split_at_char(text, length) {
        (_, "") => Cow::Borrowed(text),
        (beginning, _) => Cow::Owned(format!("{beginning}…")),
    }
}

/// Returns a message with the place of the first byte that is not UTF-8.
pub fn describe_fault(error: &FromUtf8Error) -> String {
    let at = error.utf8_error().valid_up_to();
    let hint = match error.as_bytes() {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "; the file is UTF-16, so save it as UTF-8",
        [b'G', b'G', b'U', b'F', ..] => "; the file is GGUF: load it as a model",
        _ => "",
    };
    format!("invalid UTF-8 at byte {at}{hint}")
}
