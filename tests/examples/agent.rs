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
        let sampled = sample(turn, stops.first().map_or("", |(stop, _)| stop));
        // What is cut or malformed stays in the content, and is no call.
        let parsing = ParseOptions::default()
            .with_prefix(&seen)
            .with_tools(tools)
            .with_lenient(true);
        let mut message = serde_json::to_value(template.parse_response(&sampled, &parsing)?).unwrap_or_default();
        let unread = message.as_object_mut().and_then(|message| message.remove("unread"));
        messages.push(message.clone());
        let calls = message.get("tool_calls").and_then(Value::as_array);
        if calls.is_none() && unread.is_none() {
            break;
        }
        for n in calls
            .into_iter()
            .flatten()
            .filter_map(|call| call.pointer("/function/arguments/n"))
        {
            messages.push(json!({"role": "tool", "content": format!("{n} is odd")}));
        }
        for reason in unread.iter().filter_map(|places| places.pointer("/0/reason")) {
            messages.push(json!({"role": "user", "content": format!("No call: {reason}")}));
        }
        seen = match template.append(&messages, &seen, Some(&sampled), &options)? {
            Append::Piece(piece) => seen + &sampled + piece.text(),
            Append::Broken(broken) => broken.prompt.text, // the model reads all again
        };
    }
    Ok(messages)
}

/// What the model writes in a turn, up to a stop token. Some engines return the token, and others do not.
fn sample(turn: usize, stop: &str) -> String {
    match turn {
        5 => "Hm. <call>{\"name\": \"check\", \"arguments\": {\"n\"".to_owned(), // no more tokens
        20 => "All are odd.".to_owned(),
        odd if odd % 2 == 1 => format!("<call>{{\"name\": \"check\", \"arguments\": {{\"n\": {turn}}}}}</call>"),
        _ => format!("<call> {{\"arguments\":{{\"n\":{turn}}},\"name\":\"check\"}} </call>{stop}"),
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
    let called = messages
        .iter()
        .filter(|message| message.get("role").is_some_and(|role| role == "tool"));
    assert_eq!((messages.len(), called.count()), (40, 18));
    let contents = [9, 10, 39].map(|index| messages.get(index)?.get("content")?.as_str());
    let cut = "Hm. <call>{\"name\": \"check\", \"arguments\": {\"n\"";
    assert_eq!(contents, [Some(cut), Some("No call: \"cut\""), Some("All are odd.")]);
    Ok(())
}
