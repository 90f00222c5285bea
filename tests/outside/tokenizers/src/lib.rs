//! Encodes prompts with huggingface/tokenizers so that no control token comes from a user.
//!
//! ```text
//! "<|user|>" may have control tokens, "<|end|>" may not   ->   [id of <|user|>, ids of "<", "|", "end", "|", ">"]
//! ```
#![warn(missing_docs)]

use chat_template::Prompt;
use serde_json::Value;
use tokenizers::Tokenizer;

/// A tokenizer, with and without its added tokens.
#[derive(Debug)]
pub struct Encoder {
    whole: Tokenizer,
    plain: Tokenizer,
    /// The texts of the added tokens.
    pub control_tokens: Vec<String>,
}

impl Encoder {
    /// Makes an encoder from the content of a `tokenizer.json`.
    ///
    /// # Errors
    /// Returns an error if the content is not that of a tokenizer.
    pub fn new(json: &str) -> tokenizers::Result<Self> {
        let mut plain: Value = serde_json::from_str(json)?;
        // `Tokenizer::set_encode_special_tokens` would leave the added tokens that are not special.
        let added = plain
            .as_object_mut()
            .and_then(|plain| plain.insert("added_tokens".to_owned(), Value::Array(Vec::new())));
        let added = added.as_ref().and_then(Value::as_array).into_iter().flatten();
        let contents = added.filter_map(|token| Some(token.get("content")?.as_str()?.to_owned()));
        Ok(Self {
            whole: json.parse()?,
            control_tokens: contents.collect(),
            plain: plain.to_string().parse()?,
        })
    }

    /// Returns the ids of a prompt. A piece that may not have control tokens is encoded as plain text.
    ///
    /// # Errors
    /// Returns an error if the tokenizer fails.
    pub fn encode(&self, prompt: &Prompt) -> tokenizers::Result<Vec<u32>> {
        let mut ids = Vec::new();
        for piece in prompt.pieces() {
            let tokenizer = if piece.has_control_tokens { &self.whole } else { &self.plain };
            ids.extend_from_slice(tokenizer.encode_fast(piece.text, false)?.get_ids());
        }
        Ok(ids)
    }

    /// Returns the tokenizer with its added tokens.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.whole
    }
}

#[cfg(test)]
mod tests;
