//! What an agent's loop does between two answers of its model: `cargo run --example agent --features response`.

use chat_template::response::ParseOptions;
use chat_template::{Append, ApplyOptions, ChatTemplate, Error};
use serde_json::{Value, json};

/// Runs a conversation until the model calls no tool, and returns its messages. The model reads each text once.
fn run(template: &ChatTemplate, mut messages: Vec<Value>, tools: &Value) -> Result<Vec<Value>, Error> {
    let options = ApplyOptions::default().with_tools(tools).with_add_generation_prompt(true);
    let stops = template.stop_tokens()?;
    let mut seen = template.apply(&messages, &options)?.text;
    for turn in 1.. {
        let sampled = sample(turn, &stops);
        // What is cut or malformed stays in the content, and is no call.
        let parsing = ParseOptions::default()
            .with_prefix(&seen)
            .with_tools(tools)
            .with_lenient(true);
        let mut message = serde_json::to_value(template.parse_response(&sampled, &parsing)?).unwrap_or_default();
        let unread = message.as_object_mut().and_then(|message| message.remove("unread"));
        messages.push(message.clone());
        let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
        if calls.is_empty() && unread.is_none() {
            break;
        }
        let results = calls.iter().map(|call| call["function"]["arguments"]["n"].to_string());
        messages.extend(results.map(|n| json!({"role": "tool", "content": format!("{n} is odd")})));
        messages.extend(unread.map(|places| json!({"role": "user", "content": format!("No call: {}", places[0]["reason"])})));
        seen = match template.append(&messages, &seen, Some(&sampled), &options)? {
            Append::Piece(piece) => seen + &sampled + piece.text(),
            Append::Broken(broken) => broken.prompt.text, // the model reads all again
        };
    }
    Ok(messages)
}

/// What the model writes in a turn, up to a stop token. Some engines return the token, and others do not.
fn sample(turn: usize, stops: &[(String, Vec<&str>)]) -> String {
    match turn {
        5 => "Hm. <call>{\"name\": \"check\", \"arguments\": {\"n\"".to_owned(), // no more tokens
        20 => "All are odd.".to_owned(),
        odd if odd % 2 == 1 => format!("<call>{{\"name\": \"check\", \"arguments\": {{\"n\": {turn}}}}}</call>"),
        _ => format!(
            "<call> {{\"arguments\":{{\"n\":{turn}}},\"name\":\"check\"}} </call>{}",
            stops[0].0
        ),
    }
}

fn main() -> Result<(), Error> {
    let template = ChatTemplate::from_config(&json!({
        "chat_template": "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% for c in m.tool_calls %}<call>{{ c.function|tojson }}\
                          </call>{% endfor %}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}",
        "response_template": {"start_anchor": "<|assistant|>", "defaults": {"role": "assistant", "content": ""}, "fields": {
            "tool_calls": {"open": "<call>", "close": "</call>", "repeats": true, "content": "json",
                           "transform": {"type": "function", "function": "{content}"}},
            "content": {"close": "<|end|>"},
        }},
    }))?;
    let messages = run(
        &template,
        vec![json!({"role": "user", "content": "Check 1 to 19."})],
        &json!([]),
    )?;
    let called = messages.iter().filter(|message| message["role"] == "tool").count();
    assert_eq!((messages.len(), called), (1 + 20 + 19, 18));
    assert_eq!(
        messages[9]["content"],
        "Hm. <call>{\"name\": \"check\", \"arguments\": {\"n\""
    );
    assert_eq!(messages[10]["content"], "No call: \"cut\"");
    assert_eq!(messages[39]["content"], "All are odd.");
    Ok(())
}
