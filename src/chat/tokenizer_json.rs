//! The keys of `tokenizer.json` that the contract reads.
//!
//! ```text
//! {"version": "1.0", "truncation": null, "padding": {…, "pad_token": "<pad>"}, "added_tokens": [{"content": "<end>", "special": true}], …}
//!     ->   the pad token <pad>, and the special token <end>
//! ```
//!
//! After transformers 5.23.0 `tokenization_utils_tokenizers.py`, `TokenizersBackend.__init__`. The file can have many megabytes, and both
//! keys are near its beginning: nothing after them is read or checked.

use std::fmt::{Formatter, Result as FmtResult};
use std::io::{BufReader, Read};

use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::limits::{Limit, Reached};

/// The tokens that a `tokenizer.json` names. The default is that of a folder without this file.
#[derive(Debug, Default)]
pub(super) struct TokenizerJson {
    /// The token that the tokenizer pads with.
    pub pad_token: Option<String>,
    /// The contents of the added tokens that are special.
    pub special_tokens: Vec<String>,
}

impl TokenizerJson {
    /// Reads the file up to its last key that matters. A key with another type than expected is ignored, and so is text that is not JSON.
    ///
    /// # Errors
    /// If the values of these keys take too much memory.
    pub fn read(file: impl Read) -> Result<Self> {
        let mut keys = Keys {
            content: Self::default(),
            bytes: 0,
        };
        // Reading stops early, which the deserializer reports as an error.
        let _ = serde_json::Deserializer::from_reader(BufReader::new(file)).deserialize_map(&mut keys);
        match keys.bytes {
            0..=MAX_BYTES => Ok(keys.content),
            bytes => Err(Error::limit(Reached::from_sizes(Limit::JsonValues, bytes, MAX_BYTES))),
        }
    }
}

/// The most bytes of the values that are read.
const MAX_BYTES: usize = 96 << 20;

/// The bytes of a value, with its part of the object or list around it.
const VALUE: usize = 128;

struct Keys {
    content: TokenizerJson,
    /// The bytes of the values read so far.
    bytes: usize,
}

impl<'de> Visitor<'de> for &mut Keys {
    type Value = ();

    fn expecting(&self, formatter: &mut Formatter<'_>) -> FmtResult {
        formatter.write_str("a tokenizer")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut entries: M) -> Result<(), M::Error> {
        let (mut has_padding, mut has_added) = (false, false);
        while !(has_padding && has_added) {
            match entries.next_key::<String>()?.as_deref() {
                Some("padding") => {
                    let padding = entries.next_value_seed(Sift(&mut self.bytes))?;
                    self.content.pad_token = padding.get("pad_token").and_then(Value::as_str).map(str::to_owned);
                    has_padding = true;
                }
                Some("added_tokens") => {
                    let tokens = entries.next_value_seed(Sift(&mut self.bytes))?;
                    let special = tokens.as_array().into_iter().flatten();
                    let special = special.filter(|token| token.get("special") == Some(&Value::Bool(true)));
                    let contents = special.filter_map(|token| Some(token.get("content")?.as_str()?.to_owned()));
                    self.content.special_tokens = contents.collect();
                    has_added = true;
                }
                Some(_) => drop(entries.next_value::<IgnoredAny>()?),
                None => break,
            }
        }
        Ok(())
    }
}

/// Reads a value, of whose objects only the keys that matter are kept, and counts its bytes.
struct Sift<'b>(&'b mut usize);

impl Sift<'_> {
    fn count<E: serde::de::Error>(&mut self, bytes: usize) -> Result<(), E> {
        *self.0 = self.0.saturating_add(bytes).saturating_add(VALUE);
        match *self.0 {
            0..=MAX_BYTES => Ok(()),
            _ => Err(E::custom("the values take too much memory")),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Sift<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(mut self, deserializer: D) -> Result<Value, D::Error> {
        self.count(0)?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Sift<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut Formatter<'_>) -> FmtResult {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, bool: bool) -> Result<Value, E> {
        Ok(Value::Bool(bool))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_str<E: serde::de::Error>(mut self, text: &str) -> Result<Value, E> {
        self.count(text.len())?;
        Ok(Value::String(text.to_owned()))
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut items: S) -> Result<Value, S::Error> {
        let mut kept = Vec::new();
        while let Some(item) = items.next_element_seed(Sift(self.0))? {
            kept.push(item);
        }
        Ok(Value::Array(kept))
    }

    fn visit_map<M: MapAccess<'de>>(self, mut entries: M) -> Result<Value, M::Error> {
        let mut kept = serde_json::Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            match key.as_str() {
                "pad_token" | "special" | "content" => {
                    kept.insert(key, entries.next_value_seed(Sift(self.0))?);
                }
                _ => drop(entries.next_value::<IgnoredAny>()?),
            }
        }
        Ok(Value::Object(kept))
    }
}

#[cfg(test)]
mod tests {
    use super::TokenizerJson;

    #[test]
    fn nothing_is_read_after_both_keys() {
        let file = r#"{"padding": {"pad_token": "<p>"}, "added_tokens": [{"content": "<a>", "special": true}, {"content": "b"}], and so on"#;
        let content = TokenizerJson::read(file.as_bytes()).unwrap();
        assert_eq!(content.pad_token.as_deref(), Some("<p>"));
        assert_eq!(content.special_tokens, ["<a>"]);
    }

    #[test]
    fn other_types_and_other_texts_name_no_token() {
        for file in [
            "rubbish",
            r#"{"padding": {"pad_token": 0}, "added_tokens": null}"#,
            r#"{"model": {"padding": {"pad_token": "a"}}}"#,
        ] {
            assert_eq!(TokenizerJson::read(file.as_bytes()).unwrap().pad_token, None, "{file}");
        }
    }
}
