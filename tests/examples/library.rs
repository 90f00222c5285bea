//! The library in ten lines, as the README shows it: `cargo run --example library`.

use chat_template::{ApplyOptions, ChatTemplate};
use serde_json::json;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let source = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{{ eos_token }}{% endfor %}<|assistant|>";
    let template = ChatTemplate::from_source(source, &[("eos_token", "</s>")])?; // or from_dir("Qwen3-8B", …)?
    let messages = json!([{"role": "user", "content": "Hi"}]);
    let prompt = template.apply(&messages, &ApplyOptions::default())?;
    assert_eq!(prompt.text, "<|user|>Hi</s><|assistant|>");
    Ok(())
}
