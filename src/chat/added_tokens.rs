//! The special tokens of a model's files that have no names.
//!
//! ```text
//! tokenizer_config.json    "additional_special_tokens": ["<|tool|>"], "added_tokens_decoder": {"7": {"content": "<|end|>", "special": true}}
//! tokenizer.json           "added_tokens": [{"content": "<|end|>", "special": true}]
//! ```
//!
//! A token that is not what it should be is passed over: the rules of the contract are in [`super::tokens`], and templates see none of
//! these.

use std::collections::HashSet;
use std::io::{BufReader, Read};

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::json::{Data, Object};

/// Returns the tokens of the lists in `tokenizer_config.json`, then those of `tokenizer.json`, each once.
pub(super) fn of_files(config: &Object<'_>, tokenizer: Option<impl Read>) -> Vec<String> {
    let mut tokens = Vec::new();
    for key in ["extra_special_tokens", "additional_special_tokens"] {
        if let Some(Data::List(items)) = config.get(key) {
            tokens.extend(items.iter().filter_map(content));
        }
    }
    if let Some(Data::Object(added)) = config.get("added_tokens_decoder") {
        let added = added.entries().iter().map(|(_, token)| token);
        tokens.extend(added.filter(|token| is_special(token)).filter_map(content));
    }
    if let Some(tokenizer) = tokenizer {
        let mut read = Vec::new();
        // Reading stops after the list, which is near the beginning of the file, with the error that more follows.
        let _ = serde_json::Deserializer::from_reader(BufReader::new(tokenizer)).deserialize_map(AddedTokens(&mut read));
        tokens.append(&mut read);
    }
    let mut seen = HashSet::new();
    tokens.retain(|token| seen.insert(token.clone()));
    tokens
}

fn content(token: &Data<'_>) -> Option<String> {
    match token {
        Data::Str(content) => Some(content.clone().into_owned()),
        Data::Object(token) => match token.get("content") {
            Some(Data::Str(content)) => Some(content.clone().into_owned()),
            _ => None,
        },
        _ => None,
    }
}

fn is_special(token: &Data<'_>) -> bool {
    matches!(token, Data::Object(token) if token.get("special") == Some(&Data::Bool(true)))
}

/// Reads the list `added_tokens` of `tokenizer.json`, and nothing after it.
struct AddedTokens<'t>(&'t mut Vec<String>);

impl<'de> Visitor<'de> for AddedTokens<'_> {
    type Value = ();

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("the object of a tokenizer")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key != "added_tokens" {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let tokens: Vec<serde_json::Value> = map.next_value()?;
            let special = tokens
                .iter()
                .filter(|token| token.get("special") == Some(&serde_json::Value::Bool(true)));
            self.0
                .extend(special.filter_map(|token| Some(token.get("content")?.as_str()?.to_owned())));
            break;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::of_files;
    use crate::json::Object;

    #[test]
    fn nothing_is_read_after_the_list() {
        let tokenizer = r#"{"version": "1.0", "added_tokens": [{"content": "<a>", "special": true}, {"content": "b"}], "model": {"#;
        assert_eq!(of_files(&Object::default(), Some(tokenizer.as_bytes())), ["<a>"]);
    }
}
