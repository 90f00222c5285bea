//! What a trainer does with a conversation: `cargo run --example mask`.

use chat_template::{ApplyOptions, AssistantOptions, ChatTemplate, Error};
use serde_json::{Value, json};

/// Returns the ids of the tokens of a conversation, and their labels: -100 for what the model does not write.
fn label(template: &ChatTemplate, messages: &Value) -> Result<(Vec<u32>, Vec<i64>), Error> {
    let assistant = AssistantOptions::default().with_reasoning(true).with_end_of_turn(true);
    let prompt = template.apply(messages, &ApplyOptions::default().with_assistant(assistant))?;
    for (message, spans) in prompt.assistant_turns() {
        if let Err(reason) = spans {
            eprintln!("message {message:?} is not trained: {reason}");
        }
    }
    let (ids, offsets) = encode(&prompt.text);
    let labels = prompt.labels(&offsets, &ids);
    Ok((ids, labels))
}

/// Returns a token for each byte, in place of a tokenizer's ids and offsets.
fn encode(text: &str) -> (Vec<u32>, Vec<(usize, usize)>) {
    let tokens = text.bytes().zip(0..);
    tokens.map(|(byte, at)| (u32::from(byte), (at, at + 1))).unzip()
}

fn main() -> Result<(), Error> {
    let source = "{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>{% endfor %}\
                  {% if add_generation_prompt %}<assistant>{% endif %}";
    let template = ChatTemplate::from_source(source, &[])?;
    let messages = json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]);
    let (ids, labels) = label(&template, &messages)?;
    let trained = ids.iter().zip(&labels).filter(|(_, label)| **label != -100);
    let trained: Vec<char> = trained.filter_map(|(id, _)| char::from_u32(*id)).collect();
    assert_eq!(trained.iter().collect::<String>(), "Ho<end>");
    Ok(())
}
