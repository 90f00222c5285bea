//! Bodies of chat requests with many or deep values, for templates that print texts, change them or leave them out.

use serde_json::{Value, json};

use super::Case;

/// The number of messages, parts, calls or tools of a body.
const MANY: usize = 100_000;

/// The templates and their names. The second writes no text as the body has it, and the third only the last message.
const TEMPLATES: [(&str, &str); 3] = [
    (
        "printed",
        "{% for m in messages %}<{{ m.role }}>{% if m.reasoning_content %}({{ m.reasoning_content }}){% endif %}{{ m.content + '' }}\
         {% for c in m.tool_calls or [] %}{{ c.function.name }}{{ c.function.arguments|tojson }}{% endfor %}{% endfor %}",
    ),
    (
        "changed",
        "{% for m in messages %}{% set x = m.content ~ '' %}{{ x|upper }}{% endfor %}{{ tools|string|upper }}",
    ),
    (
        "left-out",
        "{% for m in messages %}{% if loop.last %}{{ m.content }}{% endif %}{% endfor %}",
    ),
];

/// Returns each body with each template.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (template_name, template) in TEMPLATES {
        for (name, make) in BODIES {
            cases.push(Case::request(
                format!("body {template_name} {name}"),
                move || json!({"chat": {"template": template, "body": make()}}),
            ));
        }
    }
    for (name, template) in [
        (
            "printed",
            "{% for m in messages %}{% for p in m.content %}{{ p.text }}{% endfor %}{% endfor %}",
        ),
        ("joined", TEMPLATES[0].1),
        // The output and the values of the render are as large as they may be, and the prompt has none of the texts.
        (
            "left-out beside large values",
            "{% for m in messages %}{% for p in m.content if m.content|length < 1000 %}{{ p.text }}{% endfor %}{% if m.content|length > 1000 %}\
             {% set a = 'a' * 32000000 %}{% set b = 'b' * 28000000 %}{{ a }}{{ b }}{% endif %}{% endfor %}",
        ),
    ] {
        for count in [255_000, 3_000_000] {
            cases.push(Case::request(format!("body {name} {count} strings as parts"), move || {
                json!({"chat": {"template": template, "body": {"messages": [{"role": "user", "content": vec!["q"; count]}]}}})
            }));
        }
    }
    cases.push(Case::request("body long arguments".to_owned(), || {
        let template = "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls or [] %}{{ c.function.name }}\
                        {% for k, v in c.function.arguments.items() %}{{ k }}{{ v }}{% endfor %}{% endfor %}{% endfor %}";
        let arguments = json!({"x": vec![1; 3_000_000]}).to_string();
        let calls: Vec<Value> = (0..5)
            .map(|id| json!({"id": id.to_string(), "function": {"name": "f", "arguments": arguments}}))
            .collect();
        json!({"chat": {"template": template, "body": answered(calls, Vec::new())}})
    }));
    cases.push(Case::request("body arguments of many values".to_owned(), || {
        let template = "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls or [] %}{{ c.function.name }}\
                        {% for k, v in c.function.arguments.items() %}{{ k }}{{ v }}{% endfor %}{% endfor %}{% endfor %}";
        let call = json!({"id": "1", "function": {"name": "f", "arguments": format!("[{}1]", "1,".repeat(7_000_000))}});
        json!({"chat": {"template": template, "body": answered(vec![call], Vec::new())}})
    }));
    // The first experiments and the render of a longer conversation each take as many steps as they may.
    cases.push(Case::request("body after a slow inspection".to_owned(), || {
        let template = "{% set n = 4000 if messages|length > 20 else 40 %}{% for a in range(n) %}{% for b in range(n) %}{% set x = a ~ b %}\
                        {% endfor %}{% endfor %}{% for m in messages %}{{ m.content }}{% endfor %}";
        let messages: Vec<Value> = (0..41)
            .map(|i| json!({"role": (["user", "assistant"][i % 2]), "content": format!("w{i}")}))
            .collect();
        json!({"chat": {"template": template, "body": {"messages": messages}}})
    }));
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let keys = "\"content\":\"y\",".repeat(MANY);
    cases.push(Case::request("body variables".to_owned(), || {
        let template: String = (0..2_000).map(|index| format!("{{{{ v{index} }}}}")).collect();
        let variables: serde_json::Map<String, Value> = (0..MANY).map(|index| (format!("w{index}"), json!(index))).collect();
        let messages = json!([{"role": "user", "content": "x"}]);
        json!({"chat": {"template": template, "body": {"messages": messages, "chat_template_kwargs": variables}}})
    }));
    cases.push(Case::request("body cut blanks".to_owned(), || {
        let template = "{% for m in messages %}{{ m.content }}{% if m.content|length == 1234 %}{% set t = m|tojson(indent=14000000) %}\
                        {% for c in t %}{{ c }}{% endfor %}{% endif %}{% endfor %}";
        json!({"chat": {"template": template, "body": {"messages": [{"role": "user", "content": "x".repeat(1234)}]}}})
    }));
    for (name, message) in [
        ("depth", format!(r#"{{"role":"user","content":"x","y":{deep}}}"#)),
        ("keys", format!(r#"{{"role":"user",{keys}"content":"x"}}"#)),
    ] {
        cases.push(Case::line(format!("body {name}"), move || {
            format!(r#"{{"chat":{{"template":"{{{{ messages }}}}","body":{{"messages":[{message}]}}}}}}"#).into_bytes()
        }));
    }
    cases
}

/// A name, and the function that makes the body.
type Body = (&'static str, fn() -> Value);

const BODIES: [Body; 18] = [
    (
        "parts",
        || json!({"messages": [{"role": "user", "content": list(|i| json!({"type": "text", "text": format!("ab {i}")}))}]}),
    ),
    (
        "messages",
        || json!({"messages": list(|i| json!({"role": (["user", "assistant"][i % 2]), "content": format!("word {i} more")}))}),
    ),
    (
        "users",
        || json!({"messages": list(|_| json!({"role": "user", "content": "aaaaaaaa"}))}),
    ),
    (
        "systems",
        || json!({"messages": list(|_| json!({"role": "system", "content": "aaaaaaaa"}))}),
    ),
    ("calls", || {
        let result = |i: usize| json!({"role": "tool", "tool_call_id": (MANY - 1 - i).to_string(), "content": format!("r{i}")});
        answered(list(|i| call(&i.to_string())), list(result))
    }),
    ("calls without ids", || {
        let call = |i| json!({"function": {"name": "f", "arguments": {"a": i}}});
        answered(list(call), list(|i| json!({"role": "tool", "content": format!("r{i}")})))
    }),
    ("one id", || answered(list(|_| call("1")), Vec::new())),
    ("long ids", || {
        let long = "x".repeat(500_000);
        answered((0..20).map(|i| call(&format!("{long}{i}"))).collect(), Vec::new())
    }),
    ("tools", || {
        let tool = |i| json!({"name": format!("f{i}"), "input_schema": {"properties": {(format!("p{i}")): {"type": "string"}}}});
        json!({"messages": [{"role": "user", "content": "u"}], "tools": list(tool)})
    }),
    ("periodic", || {
        let long = "a".repeat(1_000_000);
        json!({"messages": [{"role": "user", "content": long}, {"role": "user", "content": format!("{long}b")}]})
    }),
    (
        "thoughts",
        || json!({"messages": list(|i| json!({"role": "assistant", "content": format!("<think>t {i}</think>a {i}")}))}),
    ),
    ("further keys", || {
        let keys: serde_json::Map<String, Value> = (0..MANY).map(|i| (format!("k{i}"), json!(format!("v{i}")))).collect();
        json!({"messages": [{"role": "user", "content": "u", "more": keys}]})
    }),
    ("merged keys", || {
        let mut first: serde_json::Map<String, Value> = (0..20_000).map(|i| (format!("k{i}"), json!("v"))).collect();
        first.extend([("role".to_owned(), json!("user")), ("content".to_owned(), json!("a"))]);
        let mut messages = vec![Value::Object(first)];
        messages.extend((0..15_000).map(|_| json!({"role": "user", "content": "b"})));
        json!({"messages": messages})
    }),
    ("a long key", || {
        let values: Vec<String> = (0..50_000).map(|i| format!("v{i}")).collect();
        let more = json!({("k".repeat(500_000)): values});
        json!({"messages": [{"role": "user", "content": "x", "y": more}, {"role": "user", "content": "z"}]})
    }),
    ("deep keys", || {
        let values: Vec<String> = (0..50_000).map(|i| format!("v{i}")).collect();
        let more = (0..300).fold(json!(values), |inner, _| json!({("k".repeat(1500)): inner}));
        json!({"messages": [{"role": "user", "content": "x", "y": more}, {"role": "user", "content": "z"}]})
    }),
    ("reversed results", || {
        let result =
            |i: usize| json!({"type": "tool_result", "tool_use_id": (MANY - 1 - i).to_string(), "content": format!("r {i}")});
        let call = |i: usize| json!({"type": "tool_use", "id": i.to_string(), "name": "f", "input": ""});
        json!({"system": "s", "messages": [
            {"role": "assistant", "content": list(call)},
            {"role": "user", "content": list(result)},
        ]})
    }),
    ("items", || {
        let pair = |i: usize| match i % 2 {
            0 => json!({"type": "function_call", "call_id": i.to_string(), "name": "f", "arguments": "{}"}),
            _ => json!({"type": "function_call_output", "call_id": (i - 1).to_string(), "output": format!("o {i}")}),
        };
        json!({"input": list(pair)})
    }),
    ("blocks", || {
        let call = |i: usize| json!({"type": "tool_use", "id": i.to_string(), "name": "f", "input": {"a": i}});
        let result = |i: usize| json!({"type": "tool_result", "tool_use_id": i.to_string(), "content": format!("r {i}")});
        json!({"system": "s", "messages": [
            {"role": "assistant", "content": list(call)},
            {"role": "user", "content": list(result)},
        ]})
    }),
];

fn list(item: impl Fn(usize) -> Value) -> Vec<Value> {
    (0..MANY).map(item).collect()
}

fn call(id: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{\"a\": \"b\"}"}})
}

/// Returns a body with an assistant message that has calls, and the results.
fn answered(calls: Vec<Value>, results: Vec<Value>) -> Value {
    let mut messages = vec![
        json!({"role": "user", "content": "u"}),
        json!({"role": "assistant", "tool_calls": calls}),
    ];
    messages.extend(results);
    json!({"messages": messages})
}
