//! The assistant mask: which tokens of a text the model wrote.
//!
//! ```text
//! text  <|a|>Hi there<|e|>     spans [5..13]
//! tokens 0..5 5..7 7..13 13..18   ->   mask 0 1 1 0
//! ```
//!
//! The rule is that of transformers 5.24.0 `tokenization_utils_base.py`, `apply_chat_template`, with `char_to_token` of the crate
//! `tokenizers`: the first token whose offsets contain the position.

use std::ops::Range;

use crate::error::{Error, ErrorKind, Result};

/// Returns the assistant mask: 1 for each token within a span, and 0 for the others. `tokens` are the offsets of the tokens in the text, in
/// the unit of the spans: [`Spans::code_points`](crate::Spans::code_points) if the tokenizer counts characters, as in Python, or
/// [`Spans::bytes`](crate::Spans::bytes) if it counts bytes.
///
/// For the spans of [`Prompt::generation`](crate::Prompt::generation), this is the mask of transformers. If no token contains the start of
/// a span (because the text was truncated, or the tokenizer drops a space), that span and all later ones are ignored. If no token or the
/// first one contains its end, the mask is 1 up to the last token.
///
/// ```
/// use chat_template::{ApplyOptions, ChatTemplate, assistant_mask};
///
/// let template = ChatTemplate::from_source(
///     "{% for m in messages %}<{{ m.role }}>{% if m.role == 'assistant' %}\
///      {% generation %}{{ m.content }}<end>{% endgeneration %}{% else %}{{ m.content }}<end>{% endif %}{% endfor %}",
///     &[],
/// );
/// let messages = serde_json::json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]);
/// let prompt = template.apply(&messages, &ApplyOptions { generation: true, ..Default::default() })?;
/// assert_eq!(prompt.text, "<user>Hi<end><assistant>Hello<end>");
/// assert_eq!(prompt.generation.bytes, [24..34]);
///
/// // The offsets are those of a tokenizer that adds no special tokens: the template has written them.
/// let tokens = [0..6, 6..8, 8..13, 13..24, 24..27, 27..29, 29..34];
/// assert_eq!(assistant_mask(&prompt.generation.bytes, &tokens)?, [0, 0, 0, 0, 1, 1, 1]);
/// # Ok::<(), chat_template::Error>(())
/// ```
///
/// # Errors
/// An `OverflowError`, as in transformers, if a span is empty and at the start of the text: the template begins with an empty block.
pub fn assistant_mask(spans: &[Range<usize>], tokens: &[Range<usize>]) -> Result<Vec<u8>> {
    let offsets = Offsets::new(tokens);
    let mut parts = Vec::new();
    for span in spans {
        let start = offsets.token_at(span.start);
        let Some(last) = span.end.checked_sub(1) else {
            return Err(Error::new(ErrorKind::Overflow, "can't convert negative int to unsigned").without_line());
        };
        // transformers tests the index for truth, and 0 is false in Python.
        let end = offsets.token_at(last).filter(|token| *token > 0);
        let Some(start) = start else { break };
        let end = end.map_or(tokens.len(), |token| token.saturating_add(1));
        parts.push(start..end);
    }
    // Spans can overlap.
    parts.sort_unstable_by_key(|part| part.start);
    let mut mask = vec![0; tokens.len()];
    let mut filled = 0;
    for part in parts {
        let new = part.start.max(filled)..part.end;
        mask.get_mut(new).unwrap_or_default().fill(1);
        filled = filled.max(part.end);
    }
    Ok(mask)
}

/// The offsets of tokens, prepared for searching.
struct Offsets<'t> {
    tokens: &'t [Range<usize>],
    /// The indices of the tokens that are not empty, if neither their starts nor their ends decrease. Then a search can be binary.
    ordered: Option<Vec<usize>>,
}

impl<'t> Offsets<'t> {
    fn new(tokens: &'t [Range<usize>]) -> Self {
        let filled = || tokens.iter().filter(|token| !token.is_empty());
        let is_ordered = filled().is_sorted_by(|left, right| left.start <= right.start && left.end <= right.end);
        let indices = tokens.iter().enumerate().filter(|(_, token)| !token.is_empty());
        let ordered = is_ordered.then(|| indices.map(|(index, _)| index).collect());
        Self { tokens, ordered }
    }

    /// Returns the index of the first token that contains the position.
    fn token_at(&self, position: usize) -> Option<usize> {
        let contains = |token: &Range<usize>| token.contains(&position);
        let Some(ordered) = &self.ordered else {
            return self.tokens.iter().position(contains);
        };
        let ends_before = |index: &usize| self.tokens.get(*index).is_some_and(|token| token.end <= position);
        let index = *ordered.get(ordered.partition_point(ends_before))?;
        self.tokens.get(index).filter(|token| contains(token)).map(|_| index)
    }
}
