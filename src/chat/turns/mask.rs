//! The assistant mask: which tokens of a prompt the model wrote.
//!
//! ```text
//! text  <|a|>Hi there<|e|>     spans [5..13]
//! tokens 0..5 5..7 7..13 13..18   ->   mask 0 1 1 0
//! ```
//!
//! The rule is that of transformers 5.24.0 `tokenization_utils_base.py`, `apply_chat_template`.

use std::ops::Range;

/// Returns the assistant mask: 1 for each token that overlaps a span, and 0 for the others. `tokens` are the offsets of the tokens in the
/// text, each a start and an end as tokenizers return them, in the unit of the spans: [`Spans::code_points`](crate::Spans::code_points) if
/// the tokenizer counts characters, as in Python, or [`Spans::bytes`](crate::Spans::bytes) if it counts bytes.
///
/// For the spans of [`Prompt::reference_spans`](crate::Prompt::reference_spans), this is the mask of transformers. The reference goes
/// through tokens and spans once, so each token is compared with one span only: the first, in the order given, that ends after the start of
/// the token and that no earlier token has passed. The order matters because a nested `{% generation %}` block ends before the block around
/// it, and so comes first.
///
/// # Training masks
///
/// A trainer needs to know which tokens the model would have written. With [`PromptOptions::assistant`](crate::PromptOptions::assistant), a
/// prompt of any template has the spans of the text that the model would write, and [`assistant_mask`](crate::assistant_mask) makes the
/// mask over tokens from the offsets of the tokenizer:
///
/// ```
/// use chat_template::{ApplyOptions, AssistantOptions, ChatTemplate, assistant_mask};
///
/// let template = ChatTemplate::from_source(
///     "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}\
///      {% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
///     &[],
/// )?;
/// let messages = serde_json::json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"}]);
/// let options = ApplyOptions::default().with_assistant(AssistantOptions::default());
/// let prompt = template.apply(&messages, &options)?;
/// let spans = prompt.assistant()?;
/// assert_eq!(&prompt.text[spans.bytes[0].clone()], "Hello!<|im_end|>");
/// let tokens = [(0, 12), (12, 30), (30, 52), (52, 57), (57, 58), (58, 68), (68, 69)];
/// assert_eq!(assistant_mask(&spans.bytes, &tokens), [0, 0, 0, 1, 1, 1, 0]);
/// # Ok::<(), chat_template::Error>(())
/// ```
///
/// A template with `{% generation %}` blocks decides by itself: the spans are the places of its blocks. For any other template, the spans
/// of a message are the text that the message owns, as [`Prompt::turns`](crate::Prompt::turns) shows it, from the end of the generation
/// prompt to the end of the turn. If the generation prompt ends with an opened `<think>`, that tag belongs to the prompt. Results of tools,
/// documents and other messages within the turn are not the model's.
///
/// | option | default | what changes |
/// |---|---|---|
/// | [`roles`](crate::AssistantOptions::roles) | `assistant` | which messages count |
/// | [`end_of_turn`](crate::AssistantOptions::end_of_turn) | yes | whether the last control token counts, such as `<\|im_end\|>` |
/// | [`reasoning`](crate::AssistantOptions::reasoning) | yes | whether the reasoning counts, with the tags around it |
/// | [`last_turn_only`](crate::AssistantOptions::last_turn_only) | no | whether only the last message counts |
/// | [`content_only`](crate::AssistantOptions::content_only) | no | whether only the text of the field `content` counts |
/// | [`trailing_space`](crate::AssistantOptions::trailing_space) | no | whether the line break after the end of the turn counts |
/// | [`next_marker`](crate::AssistantOptions::next_marker) | no | whether the token that begins the next turn counts if no other token ends the turn |
///
/// A message with `"weight": 0` or `"train": false` never counts.
///
/// Other tools count differently. In the example above:
///
/// | tool | its rule | what it marks |
/// |---|---|---|
/// | transformers, `return_assistant_tokens_mask` | the `{% generation %}` blocks | nothing, because the template has no block |
/// | TRL, `assistant_only_loss` | the blocks of a training template that TRL has for some families | `Hello!<\|im_end\|>` and the line break |
/// | axolotl, `roles_to_train` and `train_on_eos: turn` | the content of the message, and the end-of-sequence token after it | `Hello!<\|im_end\|>` |
/// | unsloth, `train_on_responses_only` | from `<\|im_start\|>assistant` and a line break to the next `<\|im_start\|>user` | `Hello!<\|im_end\|>` and the line break; in longer conversations also results of tools |
/// | this crate | the turn after the generation prompt | `Hello!<\|im_end\|>` |
///
/// If a turn does not begin with a generation prompt, the spans begin after its header, which is the text that another answer has before
/// its content too, and which is not that of a user. Where the rule does not hold,
/// [`Prompt::assistant_turns`](crate::Prompt::assistant_turns) has the reason in place of the spans of a turn:
///
/// - The turn begins with neither: the template writes `Bot:` to open an answer, and `Message 7:` before one in the history.
/// - The template prints whole messages as JSON.
///
/// With [`RenderOptions::reference_spans`](crate::RenderOptions::reference_spans) the prompt has the spans of the blocks as transformers
/// counts them, which is wrong inside macros, set blocks and call blocks; with
/// [`RenderOptions::generation_spans`](crate::RenderOptions::generation_spans) it has their places in the text. Both are empty if the
/// template has no block: see [`ChatTemplate::has_generation`](crate::ChatTemplate::has_generation).
///
/// ```
/// use chat_template::{ApplyOptions, ChatTemplate};
///
/// let template = ChatTemplate::from_source(
///     "{% macro turn(m) %}<{{ m.role }}>{% generation %}{{ m.content }}{% endgeneration %}{% endmacro %}{{ turn(messages[0]) }}",
///     &[],
/// )?;
/// let messages = serde_json::json!([{"role": "bot", "content": "Hé!"}]);
/// let options = ApplyOptions::default().with_reference_spans(true).with_generation_spans(true);
/// let prompt = template.apply(&messages, &options)?;
/// assert_eq!(prompt.text, "<bot>Hé!");
/// assert_eq!(prompt.reference_spans.code_points, [0..3]);
/// assert_eq!(prompt.generation_spans.code_points, [5..8]);
/// assert_eq!(prompt.generation_spans.bytes, [5..9]);
/// # Ok::<(), chat_template::Error>(())
/// ```
pub fn assistant_mask(spans: &[Range<usize>], tokens: &[(usize, usize)]) -> Vec<u8> {
    // The same pass as in transformers: a span is left when a token begins at or after its end, and never returned to. Spans of nested
    // blocks are not in the order of their starts.
    let mut spans = spans.iter().peekable();
    let mut mask = vec![0; tokens.len()];
    for ((start, end), is_marked) in tokens.iter().zip(&mut mask) {
        while spans.next_if(|span| *start >= span.end).is_some() {}
        let Some(span) = spans.peek() else { break };
        *is_marked = u8::from(*end > span.start);
    }
    mask
}
