//! Generates conversations, which are equal on every machine and in every run.
//!
//! ```text
//! conversation(&family, Size::Messages(10))  ->  {"messages": [system, user, assistant, …, user], "bos_token": "<s>", …}
//! ```
//!
//! The first message is a system message and the last one a question. Between them are rounds of a question and an answer. Of each six
//! rounds, the first has two turns of function calls before the answer, two have an answer with a thought, and three have a plain answer.
//! A [`Family`] says which kinds of messages its template accepts.

use serde_json::{Value, json};

use super::Family;

/// The size of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// This number of messages, and no list of functions.
    Messages(usize),
    /// Ten messages, and a list of this number of functions.
    Tools(usize),
    /// Ten messages of 100 KB each.
    Large,
    /// Ten messages, in which each question has a hundred parts. Only for templates that accept parts.
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

    /// Returns the sizes with which the template of a family is measured.
    pub fn of(family: &Family) -> impl Iterator<Item = Self> + use<> {
        let takes_parts = family.parts;
        Self::ALL.into_iter().filter(move |size| takes_parts || *size != Self::Parts)
    }

    /// Returns the number of messages.
    pub fn messages(self) -> usize {
        match self {
            Self::Messages(count) => count,
            Self::Tools(_) | Self::Large | Self::Parts => 10,
        }
    }

    /// Returns the name of the size in reports.
    pub fn label(self) -> String {
        match self {
            Self::Messages(count) => count.to_string(),
            Self::Tools(count) => format!("10 + {count} tools"),
            Self::Large => "10 of 100 KB".to_owned(),
            Self::Parts => "10 of 100 parts".to_owned(),
        }
    }
}

/// Returns the context of a conversation for the template of a family.
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

/// Writes a context to JSON and reads it again. Its layout in memory is then that of the context of a server: objects have spare capacity,
/// and no memory of the generator lies between them.
pub fn reparse(context: Value) -> Value {
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

/// A generator of texts from pseudorandom numbers (Marsaglia's xorshift64).
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

    /// Returns a text of about 50 to 400 bytes without whitespace at its ends.
    fn text(&mut self) -> String {
        let length = 50 + self.below(330);
        self.words(length)
    }

    /// Returns the content of a message.
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

    /// Returns a turn that calls functions, and the answers of the functions.
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

    /// Returns the description of a function in JSON Schema.
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
