//! Random conversations.
//!
//! Most of them have only what the template takes according to the report, because few others can be rendered. The rest have anything.

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The forms of content that a template prints.
#[derive(Clone, Copy)]
pub struct Forms {
    string: bool,
    parts: bool,
}

impl Forms {
    fn new(role: &Value) -> Self {
        Self {
            string: role["string"] == "printed",
            parts: role["parts"] == "printed",
        }
    }

    fn is_any(self) -> bool {
        self.string || self.parts
    }
}

/// The forms of the arguments of calls.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Arguments {
    Object,
    String,
    Both,
    Neither,
}

/// What a template takes, by its report.
#[derive(Clone, Copy)]
pub struct Takes {
    system: Forms,
    developer: Forms,
    user: Forms,
    assistant: Forms,
    tool: Forms,
    calls: bool,
    arguments: Arguments,
}

impl Takes {
    pub fn new(roles: &Value, calls: &Value) -> Self {
        Self {
            system: Forms::new(&roles["system"]),
            developer: Forms::new(&roles["developer"]),
            user: Forms::new(&roles["user"]),
            assistant: Forms::new(&roles["assistant"]),
            tool: Forms::new(&roles["tool"]),
            calls: calls["written"] == true,
            arguments: serde_json::from_value(calls["arguments"].clone()).unwrap(),
        }
    }
}

/// A sequence of numbers that a seed determines.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Returns a number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 11) % end as u64).unwrap()
    }

    /// Returns whether an event with a probability in percent happens.
    pub fn happens(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'i, T>(&mut self, items: &'i [T]) -> &'i T {
        &items[self.below(items.len())]
    }
}

const TEXTS: [&str; 26] = [
    "Hi.",
    "Yes.",
    "",
    " ",
    "\n",
    " Hi.\n",
    "\n\nYes. ",
    "<think>\nHm.\n</think>\n\nYes.",
    "<think>Hm.</think>",
    "<think>Hm.",
    "Hm.</think>Yes.",
    "</think>",
    "<tool_response>\nSun.\n</tool_response>",
    "<|im_end|>",
    "<think></think>",
    "[INST] x [/INST]",
    "<think>\n\n</think>\n\n",
    "/no_think",
    "/think x",
    "{\"a\": 1}",
    "\u{3042}\u{1F600}",
    "\u{a0}x\u{a0}",
    "<tool_call>{}</tool_call>",
    "<<SYS>>a<</SYS>>b",
    "<|start|>assistant<|message|>",
    "\t\tx\t",
];

const ROLES: [&str; 6] = ["system", "user", "assistant", "tool", "developer", "user"];

fn text(random: &mut Random) -> Value {
    json!(random.pick(&TEXTS))
}

fn part(random: &mut Random) -> Value {
    json!({"type": "text", "text": text(random)})
}

/// Returns content of any form.
fn any_content(random: &mut Random) -> Value {
    match random.below(20) {
        0 | 1 => json!([part(random)]),
        2 => json!([part(random), part(random)]),
        3 => json!([{"type": "image"}, part(random)]),
        4 => json!([]),
        5 => Value::Null,
        _ => text(random),
    }
}

/// Returns content of one of the forms.
fn content(random: &mut Random, forms: Forms) -> Value {
    match random.below(4) {
        0 if forms.parts => json!([part(random)]),
        1 if forms.parts => json!([part(random), part(random)]),
        _ if forms.string || !forms.is_any() => text(random),
        _ => json!([part(random), part(random)]),
    }
}

fn calls(random: &mut Random, takes: Option<&Takes>) -> Value {
    let count = 1 + random.below(3);
    let call = |random: &mut Random| {
        let object = json!({"city": text(random), "n": random.below(3)});
        let arguments = takes.map_or(Arguments::Both, |takes| takes.arguments);
        let arguments = match (random.below(4), arguments) {
            (_, Arguments::String) | (0, Arguments::Both | Arguments::Neither) => json!(object.to_string()),
            (1, _) => json!({}),
            _ => object,
        };
        let function = json!({"name": "look", "arguments": arguments});
        match random.below(8) {
            0 if takes.is_none() => function,
            1 if takes.is_none() => json!({"function": function}),
            _ => json!({"id": format!("call{:05}", random.below(3)), "type": "function", "function": function}),
        }
    };
    (0..count).map(|_| call(random)).collect()
}

/// Returns a message of a role.
pub fn message(random: &mut Random, takes: Option<&Takes>, role: &str) -> Value {
    let mut message = Map::new();
    message.insert("role".to_owned(), json!(role));
    match takes {
        Some(takes) => {
            let forms = match role {
                "system" => takes.system,
                "developer" => takes.developer,
                "assistant" => takes.assistant,
                "tool" => takes.tool,
                _ => takes.user,
            };
            message.insert("content".to_owned(), content(random, forms));
        }
        None if random.happens(4) => {}
        None => {
            message.insert("content".to_owned(), any_content(random));
        }
    }
    if role == "assistant" {
        if takes.is_none_or(|takes| takes.calls) && random.happens(40) {
            message.insert("tool_calls".to_owned(), calls(random, takes));
        }
        if random.happens(35) {
            let field = ["reasoning_content", "reasoning", "thinking"][random.below(3)];
            message.insert(field.to_owned(), text(random));
        }
    }
    if role == "tool" {
        if takes.is_some() || !random.happens(20) {
            message.insert("tool_call_id".to_owned(), json!(format!("call{:05}", random.below(3))));
        }
        if takes.is_some() || !random.happens(20) {
            message.insert("name".to_owned(), json!("look"));
        }
    }
    Value::Object(message)
}

/// Returns an assistant message with calls.
fn caller(random: &mut Random, takes: Option<&Takes>) -> Value {
    let mut caller = message(random, takes, "assistant");
    caller["tool_calls"] = calls(random, takes);
    caller
}

/// Returns a conversation that ends with a message of one of the roles.
pub fn conversation(random: &mut Random, takes: Option<&Takes>, last: &[&str]) -> Vec<Value> {
    let mut messages = Vec::new();
    if random.happens(40) {
        let role = *random.pick(&["system", "system", "developer"]);
        let is_taken = takes.is_none_or(|takes| match role {
            "system" => takes.system.is_any(),
            _ => takes.developer.is_any(),
        });
        if is_taken {
            messages.push(message(random, takes, role));
        }
    }
    if takes.is_none() && random.happens(15) {
        for _ in 0..random.below(5) {
            let role = *random.pick(&ROLES);
            messages.push(message(random, takes, role));
        }
        let role = *random.pick(last);
        messages.push(message(random, takes, role));
        return messages;
    }
    let calls_percent = if takes.is_none_or(|takes| takes.calls) { 40 } else { 0 };
    // A conversation of the boundary `tool` ends with a call or a result.
    let ends_with_answer = last.contains(&"assistant") && !last.contains(&"tool");
    loop {
        messages.push(message(random, takes, "user"));
        if last.contains(&"user") && random.happens(40) {
            return messages;
        }
        while random.happens(calls_percent) {
            let call = caller(random, takes);
            let count = call["tool_calls"].as_array().unwrap().len();
            messages.push(call);
            if last.contains(&"assistant") && random.happens(25) {
                return messages;
            }
            for _ in 0..count {
                messages.push(message(random, takes, "tool"));
                if last.contains(&"tool") && random.happens(25) {
                    return messages;
                }
            }
        }
        let mut answer = message(random, takes, "assistant");
        answer.as_object_mut().unwrap().remove("tool_calls");
        messages.push(answer);
        if ends_with_answer && random.happens(50) {
            return messages;
        }
        if messages.len() > 12 {
            match last {
                ["assistant", "tool"] => messages.extend([message(random, takes, "user"), caller(random, takes)]),
                ["assistant"] => {}
                _ => messages.push(message(random, takes, "user")),
            }
            return messages;
        }
    }
}

/// Returns tools, or nothing.
pub fn tools(random: &mut Random) -> Option<Value> {
    let tool = |name: &str| {
        json!({"type": "function", "function": {"name": name, "description": "Looks.", "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "n": {"type": "integer", "enum": [1, 2]}},
            "required": ["city"],
        }}})
    };
    match random.below(5) {
        0 | 1 => None,
        2 => Some(json!([])),
        3 => Some(json!([tool("look")])),
        _ => Some(json!([tool("look"), tool("hear")])),
    }
}

/// Returns values for some of the variables that a template reads.
pub fn variables(random: &mut Random, names: &[&str]) -> Value {
    let values = [
        json!(true),
        json!(false),
        json!(null),
        json!("low"),
        json!("high"),
        json!("none"),
        json!("x"),
        json!(0),
        json!(1),
        json!([]),
    ];
    let standard = ["messages", "tools", "documents", "add_generation_prompt"];
    let mut variables = Map::new();
    for name in names {
        if !standard.contains(name) && !name.ends_with("_token") && random.happens(35) {
            variables.insert((*name).to_owned(), random.pick(&values).clone());
        }
    }
    Value::Object(variables)
}
