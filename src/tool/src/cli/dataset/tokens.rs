//! The tokens of a prompt and their labels.
//!
//! ```text
//! "<user>Hi<end><assistant>Ho<end>"   ->   {"input_ids": [7, 1, 9, 8, 2, 9], "labels": [-100, -100, -100, -100, 2, 9]}
//! ```

use std::path::Path;

use chat_template::{Prompt, Turn};
use flate2::Crc;

use super::losses::{Cause, Loss};
use super::row::Failure;

#[cfg(feature = "tokenizer")]
use tokenizers::Tokenizer as Encoder;

/// No encoder: the command was built without the feature `tokenizer`.
#[cfg(not(feature = "tokenizer"))]
enum Encoder {}

/// Makes the tokens of prompts by the file `tokenizer.json` of a model.
pub struct Tokenizer {
    encoder: Encoder,
    /// The CRC-32 of the file.
    checksum: u32,
    /// The largest number of tokens of a prompt.
    max_length: Option<usize>,
}

/// The tokens of a prompt.
pub struct Tokens {
    pub ids: Vec<u32>,
    pub labels: Vec<i64>,
    /// The warning that the prompt has more tokens than these.
    pub loss: Option<Loss>,
}

impl Tokenizer {
    /// Reads a file `tokenizer.json`.
    pub fn read(path: &Path, max_length: Option<usize>) -> Result<Self, String> {
        let explain = |error: String| format!("{}: {error}", path.display());
        let bytes = std::fs::read(path).map_err(|error| explain(error.to_string()))?;
        let mut crc = Crc::new();
        crc.update(&bytes);
        Ok(Self {
            encoder: read_encoder(&bytes).map_err(explain)?,
            checksum: crc.sum(),
            max_length,
        })
    }

    /// Returns what the tokens depend on.
    pub fn describe(&self) -> serde_json::Value {
        serde_json::json!([self.checksum, self.max_length])
    }

    /// Makes the tokens of a prompt, up to the end of a turn if there are more than the largest number. The prompt has the spans of what the
    /// model writes.
    pub fn encode(&self, prompt: &Prompt, turns: &[Turn]) -> Result<Tokens, Failure> {
        let (mut ids, offsets) = encode(&self.encoder, &prompt.text)?;
        let mut labels = prompt.labels(&offsets, &ids);
        let (count, mut loss) = (ids.len(), None);
        if let Some(most) = self.max_length.filter(|most| count > *most) {
            let count_to = |end| offsets.partition_point(|(_, token_end)| *token_end <= end);
            let counts = find_ends(turns).into_iter().map(count_to);
            let Some(kept) = counts.filter(|kept| (1..=most).contains(kept)).max() else {
                let message = format!("the prompt has {count} tokens, at most {most} are allowed, and its first turn has more");
                return Err(Failure::new(Cause::Cut.name(), message));
            };
            ids.truncate(kept);
            labels.truncate(kept);
            let message = format!("the prompt has {count} tokens, of which the first {kept} are kept");
            loss = Some(Loss::new(Cause::Cut, String::new(), message));
        }
        Ok(Tokens { ids, labels, loss })
    }
}

/// Returns the byte offsets at which a turn ends and no other is unfinished.
fn find_ends(turns: &[Turn]) -> Vec<usize> {
    let extent = |turn: &Turn| {
        let parts = [&turn.header, &turn.body, &turn.close];
        let spans = || parts.iter().flat_map(|part| &part.bytes);
        Some((spans().map(|span| span.start).min()?, spans().map(|span| span.end).max()?))
    };
    let mut extents: Vec<(usize, usize)> = turns.iter().filter_map(extent).collect();
    extents.sort_unstable();
    let mut ends = Vec::new();
    let mut reached = 0;
    for (start, end) in extents {
        if start >= reached {
            ends.push(reached);
        }
        reached = reached.max(end);
    }
    ends.push(reached);
    ends
}

#[cfg(feature = "tokenizer")]
fn read_encoder(bytes: &[u8]) -> Result<Encoder, String> {
    let mut encoder = Encoder::from_bytes(bytes).map_err(|error| format!("not a tokenizer.json: {error}"))?;
    // A tokenizer file can ask for truncation and padding. transformers ignores both by default.
    encoder.with_truncation(None).map_err(|error| error.to_string())?;
    encoder.with_padding(None);
    Ok(encoder)
}

#[cfg(not(feature = "tokenizer"))]
fn read_encoder(_bytes: &[u8]) -> Result<Encoder, String> {
    Err("this command was built without the feature `tokenizer`; build it with `--features tokenizer`".to_owned())
}

/// Returns the ids of the tokens, and their places in bytes. As in `apply_chat_template`, no token is added to those of the template.
#[cfg(feature = "tokenizer")]
fn encode(encoder: &Encoder, text: &str) -> Result<(Vec<u32>, Vec<(usize, usize)>), Failure> {
    let encoding = encoder
        .encode(text, false)
        .map_err(|error| Failure::new("tokenizer", error.to_string()))?;
    Ok((encoding.get_ids().to_vec(), encoding.get_offsets().to_vec()))
}

#[cfg(not(feature = "tokenizer"))]
fn encode(encoder: &Encoder, _text: &str) -> Result<(Vec<u32>, Vec<(usize, usize)>), Failure> {
    match *encoder {}
}
