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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tildes_and_slashes_are_escaped() {
        for (key, expected) in [("", ""), ("a.b", "a.b"), ("a/b~", "a~1b~0"), ("~1", "~01")] {
            assert_eq!(escape_key(key), expected, "{key}");
        }
    }
}
