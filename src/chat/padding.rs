//! The token that a tokenizer pads with, where only `tokenizer.json` says so.
//!
//! ```text
//! {"version": "1.0", "truncation": null, "padding": {…, "pad_token": "<pad>"}, "added_tokens": […]}     ->   <pad>
//! ```
//!
//! After transformers 5.23.0 `tokenization_utils_tokenizers.py`: `TokenizersBackend.__init__`. The file may have many megabytes, of which
//! this stands among the first: no more is read. Whether the rest is a tokenizer is deliberately not known here.

use std::fmt::{Formatter, Result as FmtResult};
use std::io::{BufReader, Read};

use serde::Deserializer;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

/// The token that a `tokenizer.json` pads with, if it is one and pads.
pub(super) fn pad_token(file: impl Read) -> Option<String> {
    let mut found = None;
    let mut reader = serde_json::Deserializer::from_reader(BufReader::new(file));
    // The error that there is more behind it is one that is meant.
    let _ = reader.deserialize_map(Search(&mut found));
    found
}

/// Looks through the file's entries.
struct Search<'f>(&'f mut Option<String>);

impl<'de> Visitor<'de> for Search<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut Formatter<'_>) -> FmtResult {
        formatter.write_str("a tokenizer")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut entries: M) -> Result<(), M::Error> {
        while let Some(key) = entries.next_key::<String>()? {
            if key == "padding" {
                let padding: Value = entries.next_value()?;
                *self.0 = padding.get("pad_token").and_then(Value::as_str).map(str::to_owned);
                break;
            }
            entries.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::pad_token;

    #[test]
    fn only_the_beginning_is_read() {
        let begins = |padding: &str| format!("{{\"version\": \"1.0\", \"padding\": {padding}, \"added_tokens\": [and so on");
        let found = |padding: &str| pad_token(begins(padding).as_bytes());
        assert_eq!(found("{\"pad_id\": 0, \"pad_token\": \"<pad>\"}").as_deref(), Some("<pad>"));
        assert_eq!(found("null"), None);
        assert_eq!(found("{\"pad_token\": 0}"), None);
        assert_eq!(
            pad_token("{\"model\": {\"padding\": {\"pad_token\": \"a\"}}}".as_bytes()),
            None
        );
        assert_eq!(pad_token("rubbish".as_bytes()), None);
    }
}
