//! Everything that an engine needs for one request: `cargo run --example engine --features inspect,response`.

use std::error::Error;

use chat_template::grammar::GrammarFormat;
use chat_template::json::Data;
use chat_template::response::{Event, ParseOptions, ResponseParser, ResponseTemplate};
use chat_template::{Bounds, ChatTemplate, Deadline, PromptOptions};

/// The number of tokens for a prompt and its answer.
const CONTEXT: usize = 100;
const ANSWER: usize = 60;

/// Answers the body of a request. `engine` samples, and its tokenizer is `count`.
fn answer(
    template: &ChatTemplate,
    body: &[u8],
    count: fn(&str) -> Result<usize, std::fmt::Error>,
    engine: fn(&str, Option<&str>, &[String]) -> Vec<&'static str>,
) -> Result<(Vec<Event>, String), Box<dyn Error>> {
    let deadline = Deadline::new(500);
    let bounds = Bounds::from(&deadline);
    let body = Data::read_within(body, bounds)?;
    let options = PromptOptions::default().with_bounds(bounds);
    let prepared = template.prepare(&body)?.fit(CONTEXT - ANSWER, &count, &options)?;
    let (prompt, changes) = prepared.render_with(&options)?;
    changes.iter().for_each(|change| eprintln!("changed: {change}"));
    let grammar = prepared.grammar(GrammarFormat::Lark, bounds)?;
    let stops: Vec<String> = template.stop_tokens()?.into_iter().map(|(stop, _)| stop).collect();
    let tokens = engine(&prompt.text, grammar.as_ref().map(|grammar| grammar.text.as_str()), &stops);

    // The description that the model declares, or else what the template shows. A server derives it once.
    let derived: Option<serde_json::Value> = template.inspect(bounds)?.get("response.template")?;
    let derived = derived.map(|found| ResponseTemplate::new(&found)).transpose()?;
    let description = template.response_template()?.or(derived.as_ref());
    let description = description.ok_or("the template shows no answer")?;
    let parsing = ParseOptions::default()
        .with_prefix(&prompt.text)
        .with_lenient(true)
        .with_bounds(bounds);
    let mut parser = ResponseParser::new(description, &parsing)?;
    let mut events = parser.take_first_events();
    for token in tokens {
        events.extend(parser.feed(token)?);
    }
    let (message, last) = parser.finish()?;
    events.extend(last);
    Ok((events, Data::Object(message).to_string()))
}

fn main() -> Result<(), Box<dyn Error>> {
    let source = "{% for t in tools or [] %}{{ t|tojson }}{% endfor %}{% for m in messages %}<|{{ m.role }}|>{{ m.content or '' }}\
                  {% for c in m.tool_calls or [] %}<call>{{ c.function|tojson }}</call>{% endfor %}<|end|>{% endfor %}\
                  {% if add_generation_prompt %}<|assistant|>{% endif %}";
    let template = ChatTemplate::from_source(source, &[])?;
    let body = br#"{"messages": [{"role": "user", "content": "Hello!"}, {"role": "assistant", "content": "Hello! How can I help?"},
        {"role": "user", "content": "How warm is it in Oslo?"}], "tool_choice": "required", "tools": [{"type": "function", "function":
        {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"enum": ["Oslo", "Rome"]}}, "required": ["city"]}}}]}"#;
    let engine = |prompt: &str, grammar: Option<&str>, stops: &[String]| {
        assert!(!prompt.contains("Hello!") && prompt.ends_with("<|user|>How warm is it in Oslo?<|end|><|assistant|>"));
        assert!(grammar.is_some_and(|grammar| grammar.contains("Rome")));
        assert!(stops.contains(&"<|end|>".to_owned()));
        vec![
            "<call>",
            "{\"name\": \"weather\"",
            ", \"arguments\"",
            ": {\"city\":",
            " \"Oslo\"}}",
            "</call>",
        ]
    };
    let (events, message) = answer(&template, body, |text| Ok(text.len() / 6), engine)?;
    assert!(events.len() > 1);
    let call = r#"{"type":"function","function":{"name":"weather","arguments":{"city":"Oslo"}}}"#;
    assert!(message.contains(call), "{message}");
    Ok(())
}
