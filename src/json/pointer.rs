//! Steps of JSON pointers (RFC 6901): the key `a/b` is written as `a~1b`.

use std::borrow::Cow;

/// Returns a key as it is written in a JSON pointer.
pub fn escape_key(key: &str) -> Cow<'_, str> {
    if key.bytes().any(|byte| matches!(byte, b'~' | b'/')) {
        key.replace('~', "~0").replace('/', "~1").into()
    } else {
        key.into()
    }
}
