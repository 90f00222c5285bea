//! Texts of models and descriptions that need too much time or memory: searches that go to the end of the text for each match, values that a
//! transform repeats, expressions with many states.

use serde_json::{Map, Value, json};

use super::Case;

/// A number that Python's and Rust's readers of floats take long to read.
const SLOW_NUMBER: &str = "1.7000000000000000386e308,";

fn respond(name: &str, make: fn() -> (Value, String)) -> Case {
    Case::request(format!("response {name}"), move || {
        let (field, text) = make();
        request(&Map::from_iter([("a".to_owned(), field)]), &text, None)
    })
}

fn request(fields: &Map<String, Value>, text: &str, tools: Option<Value>) -> Value {
    let template = json!({"start_anchor": "<|a|>", "fields": fields});
    json!({"response": {"template": template, "prefix": "", "text": text, "tools": tools}})
}

/// Returns a call of a tool whose parameter has a schema, with an argument.
fn call(name: &str, make: fn() -> (Value, Value)) -> Case {
    Case::request(format!("response call {name}"), move || {
        let (schema, argument) = make();
        let transform = json!({"type": "function", "function": "{content}"});
        let field = json!({"open": "<c>", "close": "</c>", "content": "json", "transform": transform});
        let text = format!("<c>{}</c>", json!({"name": "f", "arguments": {"x": argument}}));
        let tools = json!([{"name": "f", "parameters": {"properties": {"x": schema}}}]);
        request(&Map::from_iter([("calls".to_owned(), field)]), &text, Some(tools))
    })
}

/// Returns the arguments of parsers that enclose one another.
fn nested(name: &str, pattern: &str, depth: usize) -> Value {
    let arguments = json!({"tag_pattern": pattern});
    match depth {
        0 => arguments,
        _ => json!({"tag_pattern": pattern, "value_parser": {"name": name, "args": nested(name, pattern, depth - 1)}}),
    }
}

pub fn cases() -> Vec<Case> {
    vec![
        respond("a list of one value many times", || {
            (json!({"transform": vec!["{content}"; 3000]}), "z".repeat(900_000))
        }),
        respond("control characters many times", || {
            (json!({"transform": vec!["{content}"; 500]}), "\u{1}".repeat(150_000))
        }),
        respond("a plain string in each region", || {
            let transform = json!({"plain": "p".repeat(90_000)});
            (
                json!({"open": "<", "close": ">", "repeats": true, "transform": transform}),
                "<>".repeat(50_000),
            )
        }),
        respond("a long group in each item", || {
            let field = json!({"open_pattern": "(?P<g>a+)<", "content": "json", "transform_each": true, "transform": "{g}"});
            (field, format!("{}<[{}{{}}]", "a".repeat(500_000), "{},".repeat(100_000)))
        }),
        respond("nested lists in a nested transform", || {
            let transform = (0..400).fold(json!("{content}"), |inner, _| json!([inner]));
            (
                json!({"content": "json", "transform": transform}),
                "[".repeat(500) + &"]".repeat(500),
            )
        }),
        respond("a search to the end at each match", || {
            (
                json!({"open_pattern": "a(?:.*c)?", "close": "b", "repeats": true}),
                "ab".repeat(1_000_000),
            )
        }),
        respond("groups in a large expression", || {
            let pattern = format!("(?P<g>a)|{}b{{6000}}", "(x)".repeat(1000));
            (json!({"open_pattern": pattern, "transform": "{g}"}), "a".repeat(1000))
        }),
        respond("named groups in a large expression", || {
            let names: String = (0..120).map(|index| format!("(?P<g{index}>x?)")).collect();
            (
                json!({"open_pattern": format!("{names}a{{4000}}"), "transform": "{g1}"}),
                "a".repeat(4000),
            )
        }),
        respond("nested parsers with large expressions", || {
            (
                json!({"content": "xml-inline", "content_args": nested("xml-inline", r"(?P<key>\w{20})(?P<value>c{800})", 150)}),
                String::new(),
            )
        }),
        respond("escaped quotes after a bare key", || {
            let arguments = json!({"unquoted_keys": true});
            (
                json!({"content": "json", "content_args": arguments}),
                "{a:\"".to_owned() + &"\\\"".repeat(400_000),
            )
        }),
        respond("commas between blanks with bare keys", || {
            let arguments = json!({"unquoted_keys": true});
            (
                json!({"content": "json", "content_args": arguments}),
                "{".to_owned() + &format!(",{}", " ".repeat(900)).repeat(1000),
            )
        }),
        respond("delimiters in the marks of strings", || {
            let delimiters: Vec<_> = (0..300)
                .map(|index| json!([(index % 10).to_string(), ((index + 1) % 10).to_string()]))
                .collect();
            let arguments = json!({"string_delims": delimiters});
            (
                json!({"content": "json", "content_args": arguments}),
                "0123456789".repeat(90_000),
            )
        }),
        respond("slow numbers in many regions", || {
            let text = format!("<[{}0]>", SLOW_NUMBER.repeat(2000)).repeat(400);
            (json!({"open": "<", "close": ">", "repeats": true, "content": "json"}), text)
        }),
        respond("values of many regions", || {
            let text = format!("<[{}0]>", "0,".repeat(1_000_000)).repeat(8);
            (json!({"open": "<", "close": ">", "repeats": true, "content": "json"}), text)
        }),
        respond("empty regions", || {
            (json!({"open": "<", "close": ">", "repeats": true}), "<>".repeat(2_000_000))
        }),
        respond("nested lines", || {
            let arguments = (0..200).fold(
                json!({}),
                |inner, _| json!({"value_parser": {"name": "kv-lines", "args": inner}}),
            );
            (
                json!({"content": "kv-lines", "content_args": arguments}),
                "k:".repeat(100_000),
            )
        }),
        call("of many equal types", || {
            (
                json!({"type": vec!["object"; 50_000]}),
                format!("[{}0]", "0,".repeat(50_000)).into(),
            )
        }),
        call("of many types with many items", || {
            (json!({"type": vec!["t"; 50_000]}), vec!["i"; 50_000].into())
        }),
        call("of a large nullable", || (json!({"nullable": vec![0; 500_000]}), "n".into())),
        Case::request("response many defaults".to_owned(), || {
            let defaults: Map<String, Value> = (0..60_000).map(|index| (index.to_string(), Value::Null)).collect();
            let template = json!({"start_anchor": "<", "defaults": defaults, "fields": {"a": {}}});
            json!({"response": {"template": template, "prefix": "", "text": "x"}})
        }),
        Case::request("response expressions with many states".to_owned(), || {
            let field = |index: usize| {
                let anchor = |end: &str| format!(r"{index}[ab]*a[ab]{{14}}{end}|\w{{9}}\W{index}");
                json!({"open_pattern": anchor("c"), "close_pattern": anchor("d")})
            };
            let fields: Map<String, Value> = (0..32).map(|index| (format!("f{index}"), field(index))).collect();
            let text: String = (0..900_000_u32)
                .map(|index| {
                    if index.wrapping_mul(2_654_435_761) >> 20 & 1 == 0 {
                        'a'
                    } else {
                        'b'
                    }
                })
                .collect();
            request(&fields, &text, None)
        }),
    ]
}
