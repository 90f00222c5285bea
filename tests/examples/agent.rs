//! What an agent's loop does between two answers of its model: `cargo run --example agent`.

use chat_template::{Append, ApplyOptions, ChatTemplate, Error};
use serde_json::{Value, json};

/// Runs a conversation until the model calls no tool, and returns all that it has read and written. The model reads each text once.
fn run(template: &ChatTemplate, mut messages: Vec<Value>, tools: &Value) -> Result<String, Error> {
    let options = ApplyOptions::default().with_tools(tools).with_add_generation_prompt(true);
    let mut seen = template.apply(&messages, &options)?.text;
    loop {
        let sampled = sample(&seen);
        let answer = sampled.trim_end_matches("<|end|>");
        messages.push(json!({"role": "assistant", "content": answer}));
        let Some(call) = answer.strip_prefix("call ") else {
            return Ok(seen + sampled);
        };
        messages.push(json!({"role": "tool", "content": format!("{call} is 7")}));
        seen = match template.append(&messages, &seen, Some(sampled), &options)? {
            Append::Piece(piece) => seen + sampled + piece.text(),
            Append::Broken(broken) => broken.prompt.text, // the model reads all again
        };
    }
}

/// What the model writes after a text.
fn sample(seen: &str) -> &'static str {
    let has_result = seen.contains("is 7");
    if has_result { "Seven.<|end|>" } else { "call x<|end|>" }
}

fn main() -> Result<(), Error> {
    let source = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}\
                  {% if add_generation_prompt %}<|assistant|>{% endif %}";
    let template = ChatTemplate::from_source(source, &[])?;
    let text = run(&template, vec![json!({"role": "user", "content": "x?"})], &json!([]))?;
    assert!(text.ends_with("<|assistant|>call x<|end|><|tool|>x is 7<|end|><|assistant|>Seven.<|end|>"));
    Ok(())
}
