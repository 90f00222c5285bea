//! Writes JSON to a terminal.
//!
//! ```text
//! {"output":"…U+009B 2J…"}   ->   {"output":"…\u009b2J…"}
//! ```

use std::io::{Result, Write};

use crate::conformance::printable_json;

/// A writer of JSON text in UTF-8. If it writes to a terminal, the characters on which a terminal acts have JSON's escapes.
pub struct JsonOutput<W> {
    out: W,
    is_terminal: bool,
    /// The first bytes of a character whose other bytes have not been written yet.
    incomplete: Vec<u8>,
}

impl<W: Write> JsonOutput<W> {
    /// Makes a writer around another one.
    pub fn new(out: W, is_terminal: bool) -> Self {
        Self {
            out,
            is_terminal,
            incomplete: Vec::new(),
        }
    }
}

impl<W: Write> Write for JsonOutput<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        if !self.is_terminal {
            return self.out.write(bytes);
        }
        self.incomplete.extend_from_slice(bytes);
        let complete = match std::str::from_utf8(&self.incomplete) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.incomplete.len(),
        };
        let text = String::from_utf8_lossy(self.incomplete.get(..complete).unwrap_or_default());
        self.out.write_all(printable_json(&text).as_bytes())?;
        drop(text);
        self.incomplete.drain(..complete);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::JsonOutput;

    #[test]
    fn a_character_can_be_written_in_parts() {
        let json = "\"é\u{9b}2J\u{202e}\u{7f}\"\n".as_bytes();
        for cut in 0..=json.len() {
            let mut written = Vec::new();
            let mut out = JsonOutput::new(&mut written, true);
            out.write_all(&json[..cut]).unwrap();
            out.write_all(&json[cut..]).unwrap();
            assert_eq!(String::from_utf8(written).unwrap(), "\"é\\u009b2J\\u202e\\u007f\"\n");
        }
    }
}
