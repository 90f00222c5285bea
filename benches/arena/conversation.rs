//! Conversations made by rule: the same bytes on every machine and in every run.
//!
//! ```text
//! conversation(&family, Size::Messages(10))  ->  {"messages": [system, user, assistant, …, user], "bos_token": "<s>", …}
//! ```
//!
//! Rounds follow each other: of six, the first calls functions twice before it is answered, two are answered after a thought, three
//! are plain. The first message is the system's, the last a question, and all counts are even. It deliberately knows no template:
//! what one of them cannot take (two calls in a turn, parts) is told by its [`Family`].

use serde_json::{Value, json};

use super::Family;

/// How large a conversation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// So many messages and no functions to call.
    Messages(usize),
    /// Ten messages, and so many functions listed.
    Tools(usize),
    /// Ten messages of 100 KB each.
    Large,
    /// Ten messages, of which each question has a hundred parts; for templates that take parts.
    Parts,
}

impl Size {
    const ALL: [Self; 9] = [
        Self::Messages(1),
        Self::Messages(10),
        Self::Messages(100),
        Self::Messages(1000),
        Self::Messages(10_000),
        Self::Tools(5),
        Self::Tools(50),
        Self::Large,
        Self::Parts,
    ];

    /// The sizes that a family's template is measured with.
    pub fn of(family: &Family) -> impl Iterator<Item = Self> + use<> {
        let takes_parts = family.parts;
        Self::ALL.into_iter().filter(move |size| takes_parts || *size != Self::Parts)
    }

    /// The number of messages.
    pub fn messages(self) -> usize {
        match self {
            Self::Messages(count) => count,
            Self::Tools(_) | Self::Large | Self::Parts => 10,
        }
    }

    /// The name in reports.
    pub fn label(self) -> String {
        match self {
            Self::Messages(count) => count.to_string(),
            Self::Tools(count) => format!("10 + {count} tools"),
            Self::Large => "10 of 100 KB".to_owned(),
            Self::Parts => "10 of 100 parts".to_owned(),
        }
    }
}

/// The context of a conversation for a family's template.
pub fn conversation(family: &Family, size: Size) -> Value {
    let mut writer = Writer {
        state: 0x9E37_79B9,
        size,
    };
    let mut context = json!({
        "messages": writer.messages(family, size.messages()),
        "add_generation_prompt": true,
        "bos_token": "<s>",
        "eos_token": "</s>",
    });
    if let Size::Tools(count) = size {
        context["tools"] = (0..count).map(|index| writer.tool(index)).collect();
    }
    context
}

/// The same context read from its text, so that it lies in memory as a server's does: objects have room to spare, and what made it is
/// gone by then.
pub fn read_anew(context: Value) -> Value {
    let text = context.to_string();
    drop(context);
    serde_json::from_str(&text).expect("it is JSON")
}

const WORDS: [&str; 24] = [
    "the",
    "river",
    "counts",
    "seven",
    "boats",
    "and",
    "a",
    "lantern",
    "café",
    "because",
    "nobody",
    "asked",
    "whether",
    "\"quoted\"",
    "x < y",
    "rain",
    "über",
    "it's",
    "天気",
    "fell",
    "slowly\n",
    "on",
    "tin",
    "roofs.",
];

/// A generator of numbers (Marsaglia's xorshift64) and the texts that come of them.
struct Writer {
    state: u64,
    size: Size,
}

impl Writer {
    fn below(&mut self, bound: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 33) as usize % bound
    }

    /// A text of about 50 to 400 bytes, which neither begins nor ends with white space.
    fn text(&mut self) -> String {
        let length = 50 + self.below(330);
        self.words(length)
    }

    /// The content of a message.
    fn content(&mut self) -> String {
        match self.size {
            Size::Large => self.words(100_000),
            _ => self.text(),
        }
    }

    fn words(&mut self, length: usize) -> String {
        let mut text = String::from("So");
        while text.len() < length {
            text.push(' ');
            text.push_str(WORDS[self.below(WORDS.len())]);
        }
        text.push('!');
        text
    }

    fn messages(&mut self, family: &Family, count: usize) -> Vec<Value> {
        let mut messages = vec![json!({"role": "system", "content": self.content()})];
        let with_calls = 2 * (1 + family.calls) + 2;
        for round in 0.. {
            messages.push(self.question(family, round));
            let room = count.saturating_sub(messages.len());
            if room == 0 {
                break;
            }
            match round % 6 {
                0 if family.calls > 0 && room >= with_calls => {
                    messages.extend(self.calls(family.calls));
                    messages.extend(self.calls(family.calls));
                    messages.push(json!({"role": "assistant", "content": self.content()}));
                }
                2 | 5 => {
                    let content = format!("<think>\n{}\n</think>\n\n{}", self.text(), self.text());
                    messages.push(json!({"role": "assistant", "content": content}));
                }
                _ => messages.push(json!({"role": "assistant", "content": self.content()})),
            }
        }
        messages
    }

    fn question(&mut self, family: &Family, round: usize) -> Value {
        if self.size == Size::Parts {
            let parts: Vec<Value> = (0..100).map(|_| json!({"type": "text", "text": self.words(20)})).collect();
            json!({"role": "user", "content": parts})
        } else if family.parts && round % 2 == 1 {
            let parts = json!([{"type": "image"}, {"type": "text", "text": self.text()}]);
            json!({"role": "user", "content": parts})
        } else {
            json!({"role": "user", "content": self.content()})
        }
    }

    /// A turn that calls functions, and their answers.
    fn calls(&mut self, count: usize) -> Vec<Value> {
        let calls: Vec<Value> = (0..count).map(|index| self.call(index)).collect();
        let answers: Vec<Value> = calls
            .iter()
            .map(|call| json!({"role": "tool", "tool_call_id": call["id"], "content": self.text()}))
            .collect();
        let turn = json!({"role": "assistant", "content": self.text(), "tool_calls": calls});
        std::iter::once(turn).chain(answers).collect()
    }

    fn call(&mut self, index: usize) -> Value {
        let arguments = json!({
            "place": self.text(),
            "days": self.below(14),
            "fields": ["rain", "wind"],
            "options": {"metric": true, "detail": null, "scale": 0.5},
        });
        json!({
            "id": format!("call{:05}", self.below(100_000)),
            "type": "function",
            "function": {"name": format!("look_up_{index}"), "arguments": arguments},
        })
    }

    /// A function as JSON Schema describes it.
    fn tool(&mut self, index: usize) -> Value {
        let properties = json!({
            "place": {"type": "string", "description": self.text()},
            "days": {"type": "integer", "description": self.text(), "minimum": 0, "maximum": 14},
            "fields": {"type": "array", "items": {"type": "string", "enum": ["rain", "wind", "sun"]}, "default": []},
            "options": {"type": "object", "properties": {"metric": {"type": "boolean", "default": true}}},
        });
        json!({
            "type": "function",
            "function": {
                "name": format!("look_up_{index}"),
                "description": format!("Function {index} reads a report."),
                "parameters": {"type": "object", "properties": properties, "required": ["place"]},
            },
        })
    }
}
