//! The tokens of a prompt and their labels.
//!
//! ```text
//! "<user>Hi<end><assistant>Ho<end>"   ->   {"input_ids": [7, 1, 9, 8, 2, 9], "labels": [-100, -100, -100, -100, 2, 9]}
//! ```

use std::path::Path;

use chat_template::{Prompt, Turn};
use chat_template_rows::{Cause, Failure, Loss};

use crate::cli::encoder::Encoder;
use crate::conformance::read_file;

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
        let file = read_file(path)?;
        Ok(Self {
            checksum: crc32fast::hash(&file),
            encoder: Encoder::new(file).map_err(explain)?,
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
        let encoded = self.encoder.encode(&prompt.text);
        let (mut ids, offsets) = encoded.map_err(|message| Failure::new("tokenizer", message))?;
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
