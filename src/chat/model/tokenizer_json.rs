//! The keys of `tokenizer.json` that name special tokens.
//!
//! ```text
//! {"version": "1.0", "truncation": null, "padding": {…, "pad_token": "<pad>"}, "added_tokens": [{"content": "<end>", "special": true}], …}
//!     ->   the pad token <pad>, and the special token <end>
//! ```
//!
//! The rule is transformers 5.24.0 `tokenization_utils_tokenizers.py`, `TokenizersBackend.__init__`. The file can have many megabytes, and
//! both keys are near its beginning: nothing after them is read. The values of other keys are skipped, and not checked.

use std::io::BufRead;
use std::time::Duration;

use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::json::{self, Data};
use crate::limits::{Limit, LimitExceeded};

/// The tokens that a `tokenizer.json` names. The default is that of a folder without this file.
#[derive(Debug, Default)]
pub(super) struct TokenizerJson {
    /// The token that the tokenizer pads with.
    pub pad_token: Option<String>,
    /// The contents of the added tokens that are special.
    pub special_tokens: Vec<String>,
    /// The ids and the contents of these tokens.
    pub ids: Vec<(i64, String)>,
}

impl TokenizerJson {
    /// Reads the file up to its last key that matters. A value of another type than expected is ignored, and so is text that is not JSON.
    ///
    /// # Errors
    /// If an entry that matters takes too much memory, or the time is over.
    pub fn read(file: impl BufRead, deadline: &Deadline) -> Result<Self> {
        let content = Self::read_entries(file, deadline)?;
        // Reading fails when the time is over, and a file that cannot be read ends early.
        deadline.check(Duration::ZERO)?;
        Ok(content)
    }

    /// Reads the entries up to the last one that matters.
    fn read_entries(file: impl BufRead, deadline: &Deadline) -> Result<Self> {
        let mut content = Self::default();
        let mut bytes = file.bytes().map_while(std::result::Result::ok);
        if bytes.find(|byte| !byte.is_ascii_whitespace()) != Some(b'{') {
            return Ok(content);
        }
        let (mut has_padding, mut has_added) = (false, false);
        while !(has_padding && has_added) {
            let entry = match take_entry(&mut bytes)? {
                Taken::Entry(entry) => entry,
                Taken::Skipped => continue,
                Taken::End => break,
            };
            let entry = match json::Data::read_within(&entry, deadline).map_err(Error::from) {
                Ok(Data::Object(entry)) => entry,
                Err(error) if error.reached().is_some_and(|reached| reached.limit == Limit::JsonValues) => return Err(error),
                _ => break,
            };
            match entry.entries() {
                [(key, padding)] if key == "padding" => {
                    content.pad_token = padding.get_text("pad_token").map(str::to_owned);
                    has_padding = true;
                }
                [(key, tokens)] if key == "added_tokens" => {
                    let special = tokens.items().filter(|token| token.get("special") == Some(&Data::Bool(true)));
                    for token in special {
                        let Some(text) = token.get_text("content") else { continue };
                        if let Some(Data::Int(id)) = token.get("id") {
                            content.ids.push((*id, text.to_owned()));
                        }
                        content.special_tokens.push(text.to_owned());
                    }
                    has_added = true;
                }
                _ => {}
            }
        }
        Ok(content)
    }
}

/// The largest size of an entry in bytes. Ten thousand added tokens take two million bytes.
const MAX_BYTES: usize = 32 << 20;

/// The largest size of the text of a key that matters, with white space around it and with an escape for each character.
const MAX_KEY: usize = 256;

/// The next entry of an object.
enum Taken {
    /// An entry that matters, as the text of an object of one entry.
    Entry(Vec<u8>),
    /// An entry that does not matter.
    Skipped,
    /// No further entry.
    End,
}

/// Takes the next entry of an object from its JSON text. An entry with a key that does not matter is not stored, because it can be long
/// and an object can have millions.
fn take_entry(bytes: &mut dyn Iterator<Item = u8>) -> Result<Taken> {
    let mut entry = vec![b'{'];
    let (mut depth, mut is_string, mut is_escaped) = (0_u64, false, false);
    let (mut is_kept, mut has_key) = (true, false);
    for byte in bytes {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'"' => is_string = !is_string,
            b'\\' => is_escaped = is_string,
            _ if is_string => {}
            _ if entry.len() == 1 && byte.is_ascii_whitespace() => continue,
            b',' | b'}' | b']' if depth == 0 => break,
            b'{' | b'[' => depth = depth.saturating_add(1),
            b'}' | b']' => depth = depth.saturating_sub(1),
            b':' if !has_key => {
                has_key = true;
                is_kept = is_kept && is_key_that_matters(entry.get(1..).unwrap_or_default());
            }
            _ => {}
        }
        if !is_kept {
            continue;
        }
        if !has_key && entry.len() > MAX_KEY {
            is_kept = false;
            continue;
        }
        if entry.len() == MAX_BYTES {
            return Err(Error::limit(LimitExceeded::from_sizes(
                Limit::JsonValues,
                MAX_BYTES + 1,
                MAX_BYTES,
            )));
        }
        entry.push(byte);
    }
    Ok(match (has_key, is_kept) {
        (true, true) => {
            entry.push(b'}');
            Taken::Entry(entry)
        }
        (true, false) => Taken::Skipped,
        (false, _) => Taken::End,
    })
}

/// Returns whether a key is one of those that are read. `text` is its JSON text.
fn is_key_that_matters(text: &[u8]) -> bool {
    match text.trim_ascii() {
        br#""padding""# | br#""added_tokens""# => true,
        text if text.contains(&b'\\') => {
            matches!(json::read_bytes(text), Ok(Data::Str(key)) if key == "padding" || key == "added_tokens")
        }
        _ => false,
    }
}
