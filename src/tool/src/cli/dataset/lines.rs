//! Collects the output lines of the rows of a chunk, and sends them to the writer whenever they are large.
//!
//! An answer can be six times as long as its prompt, because a character can become six. So a line is sent in parts.

use std::fmt;
use std::io;

use chat_template::json::Data;
use serde::Serialize;

/// Output lines that are collected until they reach a size.
pub struct Lines<'s> {
    text: Vec<u8>,
    /// The size in bytes from which the lines are sent.
    size: usize,
    send: &'s dyn Fn(Vec<u8>),
}

impl<'s> Lines<'s> {
    /// Makes an empty collection that uses the memory of a buffer, and that passes the lines to a function when they reach a size.
    pub fn new(mut text: Vec<u8>, size: usize, send: &'s dyn Fn(Vec<u8>)) -> Self {
        text.clear();
        Self { text, size, send }
    }

    /// Returns the lines that were not sent.
    pub fn into_text(self) -> Vec<u8> {
        self.text
    }

    /// Reserves memory for more bytes.
    pub fn reserve(&mut self, bytes: usize) {
        self.text.reserve(bytes);
    }

    /// Adds text as it is.
    pub fn push(&mut self, text: &str) {
        self.push_bytes(text.as_bytes());
    }

    fn push_bytes(&mut self, bytes: &[u8]) {
        self.text.extend_from_slice(bytes);
        if self.text.len() >= self.size {
            (self.send)(std::mem::take(&mut self.text));
        }
    }

    /// Adds a string in the notation of JSON.
    pub fn write_string(&mut self, text: &str) {
        self.write_data(&Data::Str(text.into()));
    }

    /// Adds a value in the notation of JSON.
    pub fn write_data(&mut self, data: &Data<'_>) {
        // Writing here cannot fail.
        let _ = chat_template::internal::write_data(data, self);
    }

    /// Adds the key of an entry.
    pub fn write_key(&mut self, key: &str) {
        self.write_string(key);
        self.push(":");
    }

    /// Adds a comma and an entry.
    pub fn write_entry<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), String> {
        self.push(",");
        self.write_key(key);
        serde_json::to_writer(self, value).map_err(|error| error.to_string())
    }
}

impl fmt::Write for Lines<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text);
        Ok(())
    }
}

impl io::Write for &mut Lines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push_bytes(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
