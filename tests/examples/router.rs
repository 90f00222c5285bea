//! What a router does that chooses a server by the prompts that each has in its cache: `cargo run --example router`.

use std::collections::HashMap;

use chat_template::{ApplyOptions, ChatTemplate, Error, LocalTime};
use serde_json::{Value, json};

/// The server that has read a beginning of a prompt, for beginnings of each multiple of 16 bytes.
struct Router {
    clock: LocalTime,
    servers: HashMap<Vec<u8>, usize>,
}

impl Router {
    /// Returns the server that has read the longest beginning of the prompt, or `spare`, and remembers that it reads the rest.
    fn route(&mut self, template: &ChatTemplate, messages: &[Value], spare: usize) -> Result<usize, Error> {
        let options = ApplyOptions::default().with_clock(&self.clock);
        let prompt = template.apply(messages, &options)?;
        let text = prompt.text.as_bytes();
        let beginnings = || (16..=text.len()).step_by(16).filter_map(|end| text.get(..end));
        let known = beginnings().filter_map(|text| self.servers.get(text)).last();
        let server = known.copied().unwrap_or(spare);
        self.servers.extend(beginnings().map(|text| (text.to_vec(), server)));
        Ok(server)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let source = "{% for m in messages %}<{{ m.role }}>{{ m.content }}\n{% endfor %}";
    let template = ChatTemplate::from_source(source, &[])?;
    let (clock, servers) = ("2026-01-01T00:00:00".parse()?, HashMap::new());
    let mut router = Router { clock, servers };
    let mut messages = vec![json!({"role": "system", "content": "You are the assistant of a shop."})];
    assert_eq!(router.route(&template, &messages, 3)?, 3);
    messages.push(json!({"role": "user", "content": "Hi"}));
    assert_eq!(router.route(&template, &messages, 5)?, 3);
    let other = [json!({"role": "user", "content": "How much are apples?"})];
    assert_eq!(router.route(&template, &other, 5)?, 5);
    Ok(())
}
