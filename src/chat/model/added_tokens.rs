//! The special tokens of a model's files that have no names, so that no template sees them.
//!
//! ```text
//! tokenizer_config.json    "additional_special_tokens": ["<|tool|>"], "added_tokens_decoder": {"7": {"content": "<|end|>", "special": true}}
//! tokenizer.json           "added_tokens": [{"content": "<|end|>", "special": true}]
//! ```
//!
//! An entry that is not a token is skipped: [`super::tokens`] reports the errors that transformers raises.

use std::collections::HashSet;

use crate::error::{Error, Result};
use crate::json::{Data, Object};
use crate::limits::{Limit, LimitExceeded};

/// The maximum number of special tokens without names that a model may have: as many as the largest known vocabulary has tokens.
pub(super) const MAX_ADDED_TOKENS: usize = 1 << 18;

/// Returns the tokens that `tokenizer_config.json` names, then `of_tokenizer`, which are those of `tokenizer.json`, each once.
///
/// # Errors
/// If there are more than [`MAX_ADDED_TOKENS`].
pub(super) fn collect_added_tokens(config: &Object<'_>, of_tokenizer: &[String]) -> Result<Vec<String>> {
    let mut tokens: Vec<&str> = Vec::new();
    for key in ["extra_special_tokens", "additional_special_tokens"] {
        if let Some(Data::List(items)) = config.get(key) {
            tokens.extend(items.iter().filter_map(content));
        }
    }
    if let Some(Data::Object(added)) = config.get("added_tokens_decoder") {
        let added = added.entries().iter().map(|(_, token)| token);
        tokens.extend(
            added
                .filter(|token| token.get("special") == Some(&Data::Bool(true)))
                .filter_map(content),
        );
    }
    tokens.extend(of_tokenizer.iter().map(String::as_str));
    if tokens.len() > MAX_ADDED_TOKENS {
        let reached = LimitExceeded::from_sizes(Limit::AddedTokens, tokens.len(), MAX_ADDED_TOKENS);
        return Err(Error::limit(reached));
    }
    let mut seen = HashSet::with_capacity(tokens.len());
    tokens.retain(|token| seen.insert(*token));
    drop(seen);
    Ok(tokens.into_iter().map(str::to_owned).collect())
}

fn content<'t>(token: &'t Data<'_>) -> Option<&'t str> {
    token.get("content").unwrap_or(token).text()
}
