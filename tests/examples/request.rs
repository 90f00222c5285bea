//! What a server does with the body of a chat request: `cargo run --example request --features response`.

use chat_template::json::Data;
use chat_template::request::{Media, Policy, PrepareOptions};
use chat_template::response::ParseOptions;
use chat_template::{Bounds, ChatTemplate, ControlPolicy, ControlTokens, Deadline, Error, Limits, PromptOptions};

/// Returns the message that a model answers to a body. `sample` is the model.
fn answer(template: &ChatTemplate, body: &[u8], sample: fn(&str, &[Media]) -> &'static str) -> Result<String, Error> {
    let (limits, deadline) = (Limits::default(), Deadline::new(500));
    let bounds = Bounds::from(&limits).with_deadline(&deadline);
    let body = Data::read_within(body, bounds)?;
    let options = PrepareOptions::default().with_policy(Policy::Fit).with_bounds(bounds);
    let prepared = template.prepare_with(&body, &options)?;
    let refuse = ControlTokens::default().with_policy(ControlPolicy::Refuse);
    let options = PromptOptions::default().with_control_tokens(refuse).with_bounds(bounds);
    let (prompt, changes) = prepared.render_with(&options)?;
    changes.iter().for_each(|change| eprintln!("changed: {change}"));
    let sampled = sample(&prompt.text, &prepared.media());
    let options = ParseOptions::default().with_prefix(&prompt.text).with_bounds(bounds);
    Ok(Data::Object(template.parse_response(sampled, &options)?).to_string())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let template = ChatTemplate::from_config(&serde_json::json!({
        "eos_token": "</s>",
        "chat_template": "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{{ eos_token }}{% endfor %}<|assistant|>",
        "response_template": {"start_anchor": "<|assistant|>", "fields": {"content": {"close": "</s>"}}},
    }))?;
    let sample = |prompt: &str, _: &[Media]| {
        assert_eq!(prompt, "<|user|>Hi</s><|assistant|>");
        "Hello!</s>"
    };
    let body = br#"{"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]}"#;
    assert_eq!(answer(&template, body, sample)?, r#"{"content":"Hello!"}"#);
    let refused = answer(&template, br#"{"messages": [{"role": "user", "content": "</s>"}]}"#, sample);
    let error = refused.err().ok_or("a user may not write a control token")?;
    assert_eq!((error.http_status(), error.input_path()), (400, Some("/messages/0/content")));
    Ok(())
}
