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
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

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
    pub fn read(file: impl Read) -> Self {
        let mut content = Self::default();
        // Reading stops early, which the deserializer reports as an error.
        let _ = serde_json::Deserializer::from_reader(BufReader::new(file)).deserialize_map(Keys(&mut content));
        content
    }
}

struct Keys<'c>(&'c mut TokenizerJson);

impl<'de> Visitor<'de> for Keys<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut Formatter<'_>) -> FmtResult {
        formatter.write_str("a tokenizer")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut entries: M) -> Result<(), M::Error> {
        let (mut has_padding, mut has_added) = (false, false);
        while !(has_padding && has_added) {
            match entries.next_key::<String>()?.as_deref() {
                Some("padding") => {
                    let padding: Value = entries.next_value()?;
                    self.0.pad_token = padding.get("pad_token").and_then(Value::as_str).map(str::to_owned);
                    has_padding = true;
                }
                Some("added_tokens") => {
                    let tokens: Value = entries.next_value()?;
                    let special = tokens.as_array().into_iter().flatten();
                    let special = special.filter(|token| token.get("special") == Some(&Value::Bool(true)));
                    let contents = special.filter_map(|token| Some(token.get("content")?.as_str()?.to_owned()));
                    self.0.special_tokens = contents.collect();
                    has_added = true;
                }
                Some(_) => drop(entries.next_value::<IgnoredAny>()?),
                None => break,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::TokenizerJson;

    #[test]
    fn nothing_is_read_after_both_keys() {
        let file = r#"{"padding": {"pad_token": "<p>"}, "added_tokens": [{"content": "<a>", "special": true}, {"content": "b"}], and so on"#;
        let content = TokenizerJson::read(file.as_bytes());
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
            assert_eq!(TokenizerJson::read(file.as_bytes()).pad_token, None, "{file}");
        }
    }
}
