//! Converts `Serialize` values to trees: serde_json writes JSON text, and the reader of this module reads it.
//!
//! ```text
//! Message { role: "user", id: Some(u128::MAX) }   ->   {"role":"user","id":340…455}   ->   Object[("role", Str), ("id", BigInt)]
//! ```
//!
//! Unlike `serde_json::to_value`, this keeps integers of 128 bits and limits the depth. A float that is `NaN` or infinite becomes `None`,
//! as in all uses of serde_json.

use std::io::{self, ErrorKind, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

use super::error::{JsonError, JsonErrorKind};
use super::read::{MAX_BYTES, read_bytes};
use super::tree::Data;

/// Converts a value to a tree that owns its strings. A float that is `NaN` or infinite becomes [`Data::None`], as serde_json writes
/// `null` for it. An `f32` becomes the `f64` of equal value.
///
/// # Errors
/// If the value does not support serialization, a key is not a string, arrays and objects nest deeper than `depth_limit`, or the text or
/// the tree takes more memory than [`read`](super::read()) allows for a tree.
pub fn to_data<T: Serialize + ?Sized>(value: &T, depth_limit: usize) -> Result<Data<'static>, JsonError> {
    let text = to_text(value, depth_limit)?;
    read_bytes(&text, depth_limit).map(Data::into_owned)
}

/// Returns the JSON text of a value.
fn to_text<T: Serialize + ?Sized>(value: &T, depth_limit: usize) -> Result<Vec<u8>, JsonError> {
    let formatter = BoundedFormatter {
        levels_left: depth_limit,
    };
    let mut text = BoundedText(Vec::new());
    match value.serialize(&mut Serializer::with_formatter(&mut text, formatter)) {
        Ok(()) => Ok(text.0),
        Err(error) if error.io_error_kind() == Some(ErrorKind::OutOfMemory) => {
            Err(JsonError::too_large(MAX_BYTES + 1, MAX_BYTES, None))
        }
        Err(error) if error.is_io() => Err(JsonError::too_deep(depth_limit, None)),
        Err(error) => Err(JsonError::new(JsonErrorKind::Refused, error.to_string(), None)),
    }
}

/// A buffer for JSON text of at most [`MAX_BYTES`] bytes, as many as the tree may take. The strings are limited too, because the tree
/// copies them.
struct BoundedText(Vec<u8>);

impl Write for BoundedText {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > MAX_BYTES.saturating_sub(self.0.len()) {
            return Err(ErrorKind::OutOfMemory.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A formatter for compact JSON that fails at the first array or object beyond the depth limit.
struct BoundedFormatter {
    levels_left: usize,
}

impl BoundedFormatter {
    fn open<W: Write + ?Sized>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.levels_left = self.levels_left.checked_sub(1).ok_or(io::ErrorKind::Other)?;
        writer.write_all(bracket)
    }

    fn close<W: Write + ?Sized>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.levels_left += 1;
        writer.write_all(bracket)
    }
}

impl Formatter for BoundedFormatter {
    fn begin_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"[")
    }

    fn end_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"]")
    }

    fn begin_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"{")
    }

    fn end_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"}")
    }

    /// Writes the `f64` of equal value: 0.1 is `0.10000000149011612`, as Python prints it.
    fn write_f32<W: Write + ?Sized>(&mut self, writer: &mut W, float: f32) -> io::Result<()> {
        self.write_f64(writer, f64::from(float))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::json::{DEPTH, read};

    fn debug<T: Serialize + ?Sized>(value: &T) -> String {
        match to_data(value, DEPTH) {
            Ok(data) => format!("{data:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn numbers_keep_their_value() {
        assert_eq!(debug(&u64::MAX), "BigInt(18446744073709551615)");
        assert_eq!(debug(&i128::MIN), format!("BigInt({})", i128::MIN));
        assert_eq!(debug(&-1_i128), "Int(-1)");
        assert_eq!(debug(&1_f64), "Float(1.0)");
        assert_eq!(debug(&-0.0_f64), "Float(-0.0)");
        assert_eq!(debug(&f64::MAX), format!("Float({:?})", f64::MAX));
        assert_eq!(debug(&0.1_f32), "Float(0.10000000149011612)");
    }

    #[test]
    fn floats_that_are_not_finite_become_none() {
        assert_eq!(debug(&[f64::NAN, f64::INFINITY]), "List([None, None])");
        assert_eq!(debug(&f32::NEG_INFINITY), "None");
    }

    #[test]
    fn a_tree_is_converted_to_an_equal_tree() {
        let text = r#"{"b": [1, 18446744073709551616, -0.0, "x\u0000\"é", null, true], "a": {"z": {}, "": []}}"#;
        let data = read(text, DEPTH).unwrap();
        assert_eq!(to_data(&data, DEPTH), Ok(data.clone()));
        let value: serde_json::Value = serde_json::from_str(r#"{"b": [1, 2.5, "x", null], "a": {}}"#).unwrap();
        assert_eq!(to_data(&value, DEPTH), Ok(read(&value.to_string(), DEPTH).unwrap()));
    }

    #[test]
    fn depth_is_bounded() {
        let deep = read("[[[1]], [[]]]", DEPTH).unwrap();
        assert!(to_data(&deep, 3).is_ok());
        assert_eq!(to_data(&deep, 2).unwrap_err().kind(), JsonErrorKind::TooDeep);
    }

    #[test]
    fn the_text_is_bounded() {
        let endless = Endless;
        assert_eq!(to_data(&endless, DEPTH).unwrap_err().kind(), JsonErrorKind::TooLarge);
    }

    struct Endless;

    impl Serialize for Endless {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_seq(std::iter::repeat("a".repeat(1 << 20)))
        }
    }

    #[test]
    fn a_key_that_is_not_a_string_is_refused() {
        let error = to_data(&BTreeMap::from([((), 0)]), DEPTH).unwrap_err();
        assert_eq!(error.kind(), JsonErrorKind::Refused);
        assert_eq!(error.to_string(), "key must be a string");
    }

    /// If a dependent crate enables the feature `arbitrary_precision` of serde_json, its numbers are stored as text.
    #[test]
    fn numbers_of_serde_json_are_read() {
        let number = |text: &str| debug(&serde_json::from_str::<serde_json::Number>(text).unwrap());
        assert_eq!(number("18446744073709551615"), "BigInt(18446744073709551615)");
        assert_eq!(number("1.50"), "Float(1.5)");
        assert_eq!(number("-7"), "Int(-7)");
    }
}
