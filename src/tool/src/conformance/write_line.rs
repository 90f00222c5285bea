//! Writes a line of a suite or a request. `schema` reads them.
//!
//! ```text
//! [("id", string("loops/first")), …]   ->   {"id":"loops/first",…}
//! ```

use std::borrow::Cow;

use chat_template::internal::Entry;
use chat_template::json::{Data, Object};

/// Writes an object with these entries, without a line end.
pub fn of(entries: Vec<Entry<'static>>) -> String {
    of_value(&Data::Object(Object::new(entries)))
}

/// Writes a value on one line.
pub fn of_value(data: &Data<'_>) -> String {
    let mut line = String::new();
    // Writing to a string cannot fail.
    let _ = chat_template::internal::write_data(data, &mut line);
    line
}

/// Returns a JSON string.
pub fn string(text: &str) -> Data<'static> {
    Data::Str(Cow::Owned(text.to_owned()))
}
