//! The assistant mask: which tokens of a text the model wrote.
//!
//! ```text
//! text  <|a|>Hi there<|e|>     spans [5..13]
//! tokens 0..5 5..7 7..13 13..18   ->   mask 0 1 1 0
//! ```
//!
//! The rule is that of transformers 5.24.0 `tokenization_utils_base.py`, `apply_chat_template`.

use std::ops::Range;

/// Returns the assistant mask: 1 for each token that overlaps a span, and 0 for the others. `tokens` are the offsets of the tokens in the
/// text, in the unit of the spans: [`Spans::code_points`](crate::Spans::code_points) if the tokenizer counts characters, as in Python, or
/// [`Spans::bytes`](crate::Spans::bytes) if it counts bytes.
///
/// For the spans of [`Prompt::reference_spans`](crate::Prompt::reference_spans), this is the mask of transformers. The reference goes through tokens
/// and spans once, so each token is compared with one span only: the first, in the order given, that ends after the start of the token and
/// that no earlier token has passed. The order matters because a nested `{% generation %}` block ends before the block around it, and so
/// comes first.
///
/// ```
/// use chat_template::{ApplyOptions, ChatTemplate, assistant_mask};
///
/// let template = ChatTemplate::from_source(
///     "{% for m in messages %}<{{ m.role }}>{% if m.role == 'assistant' %}\
///      {% generation %}{{ m.content }}<end>{% endgeneration %}{% else %}{{ m.content }}<end>{% endif %}{% endfor %}",
///     &[],
/// )?;
/// let messages = serde_json::json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]);
/// let prompt = template.apply(&messages, &ApplyOptions { reference_spans: true, ..Default::default() })?;
/// assert_eq!(prompt.text, "<user>Hi<end><assistant>Hello<end>");
/// assert_eq!(prompt.reference_spans.bytes, [24..34]);
///
/// // The offsets are those of a tokenizer that adds no special tokens: the template has written them.
/// let tokens = [0..6, 6..8, 8..13, 13..24, 24..27, 27..29, 29..34];
/// assert_eq!(assistant_mask(&prompt.reference_spans.bytes, &tokens), [0, 0, 0, 0, 1, 1, 1]);
/// # Ok::<(), chat_template::Error>(())
/// ```
pub fn assistant_mask(spans: &[Range<usize>], tokens: &[Range<usize>]) -> Vec<u8> {
    // The same pass as in transformers: a span is left when a token begins at or after its end, and never returned to. Spans of nested
    // blocks are not in the order of their starts.
    let mut spans = spans.iter().peekable();
    let mut mask = vec![0; tokens.len()];
    for (token, is_marked) in tokens.iter().zip(&mut mask) {
        while spans.next_if(|span| token.start >= span.end).is_some() {}
        let Some(span) = spans.peek() else { break };
        *is_marked = u8::from(token.end > span.start);
    }
    mask
}
