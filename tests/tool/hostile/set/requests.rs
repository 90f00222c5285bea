//! Hostile data: deep, wide, colliding and invalid JSON; messages, tools and continued messages of the contract; lines that are not
//! requests.

use serde_json::{Value, json};

use super::Case;

/// Templates that use the variables `x` and `y`, which have equal values.
const USES: &[&str] = &[
    "{{ x }}",
    "{{ x|tojson|length }}",
    "{{ x == y }}",
    "{{ [x]|unique|list|length }}",
    "{{ x < y }}",
    "{{ x in [y] }}",
    "{{ x|string|length }}",
    "{{ [x, y]|sort|length }}",
    "{{ {x: 1} }}",
    "{{ [x, y]|map('list')|list|length }}",
    "{{ x|length }}",
    "{{ x|tojson(sort_keys=true, indent=2)|length }}",
    "{{ [x] * 1000 == [y] * 1000 }}",
    "{% for a in x recursive %}{{ loop(a) }}{% endfor %}",
    "{{ x|dictsort|length }}",
    "{{ x|unique|list|length }}",
    "{{ x|sort|length }}",
    "{{ x|groupby(0)|length }}",
    "{{ dict(x)|length }}",
    "{{ namespace(**x).a }}",
    "{{ dict(**x)|length }}",
    "{{ x|join|length }}",
    "{{ x|sum }}",
    "{{ x|max }}",
    "{% macro m() %}{{ kwargs|length }}{% endmacro %}{{ m(**x) }}",
    "{% macro m() %}{{ varargs|length }}{% endmacro %}{{ m(*x) }}",
    "{{ '%s' % (x,) }}",
    "{{ '{0}'.format(x)|length }}",
    "{% for a, b in x|items %}{% if loop.changed(b) %}{% endif %}{% endfor %}",
    "{{ x.keys() == y.keys() }}{{ x.items() == y.items() }}",
    "{{ x|batch(2)|list == y|batch(2)|list }}",
];

/// A function that makes a text.
type Text = fn() -> String;

/// A function that makes control tokens.
type Tokens = fn() -> Vec<String>;

/// Returns JSON texts, valid and invalid, with their names.
fn texts() -> Vec<(String, Text)> {
    let mut texts: Vec<(String, Text)> = Vec::new();
    let mut add = |name: &str, text: Text| texts.push((name.to_owned(), text));
    add("lists 100 deep", || nested("[", 100, "1", "]"));
    add("lists 400 deep", || nested("[", 400, "1", "]"));
    add("lists 510 deep", || nested("[", 509, "1", "]"));
    add("objects 510 deep", || nested("{\"a\":", 509, "1", "}"));
    add("lists 100000 deep", || nested("[", 100_000, "1", "]"));
    add("objects 100000 deep", || nested("{\"a\":", 100_000, "1", "}"));
    add("lists 10000000 open", || "[".repeat(10_000_000));
    add("a million numbers", || list(1_000_000, |number| number.to_string()));
    add("a million texts", || list(1_000_000, |number| format!("\"{number}\"")));
    add("a million empty lists", || list(1_000_000, |_| "[]".to_owned()));
    add("a million empty objects", || list(1_000_000, |_| "{}".to_owned()));
    add("half a million objects", || {
        list(500_000, |number| format!("{{\"a\":{number}}}"))
    });
    add("ten million numbers", || list(10_000_000, |_| "1".to_owned()));
    add("pairs", || list(100_000, |number| format!("[{number},1]")));
    add("a wide object", || object(300_000, |number| format!("k{number}")));
    add("a repeated key", || object(300_000, |_| "k".to_owned()));
    add("keys that begin alike", || {
        object(30_000, |number| format!("{}{number}", "k".repeat(100)))
    });
    add("numbers with one hash", || {
        list(30_000, |number| (number as u128 * ((1 << 61) - 1)).to_string())
    });
    add("pairs with one hash", || {
        list(30_000, |number| format!("[{},1]", number as u128 * ((1 << 61) - 1)))
    });
    add("floats that end alike", || {
        list(100_000, |number| format!("{}.0", (number as u128) << 40))
    });
    add("tiny floats", || list(100_000, |number| format!("{number}e-310")));
    add("not a number", || list(100_000, |_| "NaN".to_owned()));
    add("mixed", || {
        list(
            100_000,
            |number| if number % 2 == 0 { "1".to_owned() } else { "\"a\"".to_owned() },
        )
    });
    add("texts of an escape", || list(1_700_000, |_| "\"\\n\"".to_owned()));
    add("integers that do not fit", || {
        list(800_000, |number| format!("{}", u128::MAX - number as u128))
    });
    add("an object as wide as may be", || {
        object(1_700_000, |number| format!("{number:x}"))
    });
    add("each key twice", || object(1_700_000, |number| format!("{:x}", number / 2)));
    add("a million lists of one", || list(1_000_000, |_| "[1]".to_owned()));
    add("lists 200 deep side by side", || {
        let deep = nested("[", 200, "1", "]");
        list(6000, |_| deep.clone())
    });
    add("200000 texts 250 deep", || {
        nested("{\"b\":1,\"a\":", 250, &list(200_000, |number| format!("\"{number}\"")), "}")
    });
    add("a long text", || format!("\"{}\"", "x".repeat(20_000_000)));
    add("escapes", || format!("\"{}\"", "\\u00e9".repeat(3_000_000)));
    add("a long number", || "9".repeat(1_000_000));
    add("4300 digits", || "9".repeat(4300));
    add("many long numbers", || list(2000, |_| "9".repeat(4300)));
    add("a long fraction", || format!("1.{}", "9".repeat(1_000_000)));
    add("a long exponent", || format!("1e{}", "9".repeat(1_000_000)));
    add("many fractions", || {
        list(100_000, |number| format!("{number}.123456789012345678901234567890e-300"))
    });
    add("a lone surrogate", || "\"\\ud800\"".to_owned());
    add("zero", || "\"\\u0000\"".to_owned());
    add("commas", || ",".repeat(1_000_000));
    add("an open text", || format!("\"{}", "a".repeat(1_000_000)));
    add("blanks", || format!("[{}]", " ".repeat(10_000_000)));
    texts
}

fn nested(open: &str, depth: usize, inside: &str, close: &str) -> String {
    format!("{}{inside}{}", open.repeat(depth), close.repeat(depth))
}

fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    let items: Vec<String> = (0..count).map(item).collect();
    format!("[{}]", items.join(","))
}

fn object(count: usize, key: impl Fn(usize) -> String) -> String {
    let entries: Vec<String> = (0..count).map(|number| format!("\"{}\":{number}", key(number))).collect();
    format!("{{{}}}", entries.join(","))
}

/// Requests to apply a chat template, as JSON in which `X` is replaced by a JSON text.
const APPLIES: &[&str] = &[
    r#"{"template": "{{ messages }}", "messages": X}"#,
    r#"{"template": "{% for m in messages %}{{ m.role }}{{ m.content }}{% endfor %}", "messages": [{"role": "user", "content": X}]}"#,
    r#"{"template": "{% for m in messages %}{{ m.content|tojson }}{% endfor %}", "messages": [{"role": "user", "content": X}]}"#,
    r#"{"template": "{{ tools|tojson }}", "messages": [], "tools": X}"#,
    r#"{"template": "{{ tools|tojson(indent=4) }}", "messages": [], "tools": [{"a": X}]}"#,
    r#"{"template": "{{ documents }}", "messages": [], "documents": X}"#,
    r#"{"template": "{{ x }}", "messages": [], "variables": {"x": X}}"#,
    r#"{"template": "{{ x }}", "messages": [], "variables": X}"#,
    r#"{"template": "{% for m in messages %}{{ m.content }}{% endfor %}", "messages": [{"role": "assistant", "content": X}], "continue_final_message": true}"#,
    r#"{"template": "{% for m in messages %}{{ m.a }}{% endfor %}", "messages": [{"role": "assistant", "a": X}], "continue_final_message": "a"}"#,
    r#"{"template": "{% for m in messages %}{{ m.content }}{% endfor %}", "messages": [{"role": "assistant", "content": [{"type": "text", "text": X}]}], "continue_final_message": true}"#,
    r#"{"template": X, "messages": []}"#,
    r#"{"template": {"default": X}, "messages": []}"#,
    r#"{"template": X, "template_name": X, "messages": []}"#,
    r#"{"template": "{{ bos_token }}", "messages": [], "special_tokens": X}"#,
    r#"{"template": "{{ bos_token }}", "messages": [], "special_tokens": {"bos_token": X}}"#,
    r#"{"template": "{{ add_generation_prompt }}", "messages": [], "add_generation_prompt": X}"#,
];

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, text) in texts() {
        for usage in USES {
            cases.push(Case::line(format!("json {name}: {usage}"), move || {
                let text = text();
                format!(
                    "{{\"template\": {}, \"context\": {{\"x\": {text}, \"y\": {text}}}}}",
                    json!(usage)
                )
                .into_bytes()
            }));
        }
        for apply in APPLIES {
            cases.push(Case::line(format!("apply {name}: {apply}"), move || {
                format!("{{\"apply\": {}}}", apply.replace('X', &text())).into_bytes()
            }));
        }
        cases.push(Case::line(format!("line {name}"), move || text().into_bytes()));
    }
    cases.extend(continuations());
    cases.extend(control_tokens());
    cases.extend(names());
    cases.extend(lines());
    cases
}

/// Returns requests to continue a final message whose content is hard to find in the prompt.
fn continuations() -> Vec<Case> {
    let texts: [(&str, Text); 6] = [
        ("one letter", || "a".to_owned()),
        ("letters", || "a".repeat(1_000_000)),
        ("almost letters", || "a".repeat(500_000) + "b"),
        ("blanks", || " ".repeat(1_000_000)),
        ("line feeds", || "\n".repeat(1_000_000)),
        ("nothing", String::new),
    ];
    let templates = [
        "{% for m in messages %}{{ m.content }}{% endfor %}",
        "{% for m in messages %}{{ m.content }}{{ 'a' * 10000000 }}{% endfor %}",
        "{% for i in range(1000) %}{% for m in messages %}{{ m.content }}{% endfor %}{% endfor %}",
        "{% for m in messages %}{{ m.content|trim }}{% endfor %}",
        "{% for m in messages %}{{ m.content|upper }}{% endfor %}",
        "{{ messages }}",
        "",
    ];
    let mut cases = Vec::new();
    for (name, text) in texts {
        for template in templates {
            for generation in [false, true] {
                cases.push(Case::request(
                    format!("continue {name} {generation}: {template}"),
                    move || {
                        json!({"apply": {
                        "template": template,
                        "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": text()}],
                        "continue_final_message": true,
                    }, "generation": generation})
                    },
                ));
            }
        }
    }
    let conversation = |count: usize| -> Value { json!(vec![json!({"role": "user", "content": "x".repeat(100)}); count]) };
    cases.push(Case::request("apply half a million messages".to_owned(), move || {
        json!({"apply": {"template": "{% for m in messages %}{{ m.role }}{% endfor %}", "messages": conversation(500_000)}})
    }));
    cases.push(Case::request("apply half a million variables".to_owned(), || {
        let variables: serde_json::Map<String, Value> = (0..500_000).map(|number| (format!("v{number}"), json!(number))).collect();
        json!({"apply": {"template": "{{ v1 }}", "messages": [{"role": "user", "content": "x"}], "variables": variables}})
    }));
    cases.push(Case::request("apply 200 000 templates".to_owned(), || {
        let templates: serde_json::Map<String, Value> =
            (0..200_000).map(|number| (format!("t{number}"), json!("{{ x }}"))).collect();
        json!({"apply": {"template": templates, "messages": [], "template_name": "t1"}})
    }));
    cases
}

/// Returns requests with many special tokens, and with a long name that an error repeats.
fn names() -> Vec<Case> {
    let tokens = |count: usize| {
        object(count, |number| format!("{number:x}"))
            .replace(",", "\",")
            .replace(":", ":\"")
            .replace('}', "\"}")
    };
    let mut cases = Vec::new();
    for (name, request) in [
        (
            "apply",
            r#"{"apply":{"template":"{{ messages[0].content }}","messages":[{"role":"user","content":"x"}],"special_tokens":X}}"#,
        ),
        (
            "chat",
            r#"{"chat":{"template":"x","body":{"messages":[{"role":"user","content":"x"}]},"special_tokens":X}}"#,
        ),
        ("inspect", r#"{"inspect":{"template":"x","special_tokens":X}}"#),
    ] {
        for count in [9_999, 80_000, 1_700_000] {
            cases.push(Case::line(format!("{name} {count} special tokens"), move || {
                request.replace('X', &tokens(count)).into_bytes()
            }));
        }
    }
    cases.push(Case::line("templates with long names".to_owned(), || {
        let name = "\u{7f}".repeat(60_000);
        let templates = object(999, |number| format!("{name}{number}"))
            .replace(":", ":\"")
            .replace(",", "\",")
            .replace('}', "\"}");
        format!("{{\"chat\":{{\"template\":{templates},\"body\":{{\"messages\":[{{\"role\":\"user\",\"content\":\"x\"}}]}}}}}}")
            .into_bytes()
    }));
    let long = || "\u{7f}".repeat(60_000_000);
    for (name, before, after) in [
        (
            "a template with a long name",
            r#"{"apply":{"template":{""#,
            r#"":1},"messages":[]}}"#,
        ),
        (
            "a special token with a long name",
            r#"{"apply":{"template":"x","messages":[],"special_tokens":{""#,
            r#"":1},"messages":[]}}"#,
        ),
        ("a long key", "{\"", "\":1}"),
        ("a long time", r#"{"template":"","now":""#, "\"}"),
    ] {
        cases.push(Case::line(name.to_owned(), move || {
            format!("{before}{}{after}", long()).into_bytes()
        }));
    }
    cases
}

/// Returns requests to find control tokens that begin at most places of a prompt, or are at most places of it.
fn control_tokens() -> Vec<Case> {
    let tokens: [(&str, Tokens, &str); 4] = [
        ("a long token", || vec!["a".repeat(100_000) + "b"], "a"),
        (
            "long tokens",
            || (1..1200).map(|length| "a".repeat(length) + "b").collect(),
            "a",
        ),
        (
            "numbers",
            || (0..100_000).map(|number| number.to_string()).collect(),
            "1234567",
        ),
        ("a letter", || vec!["a".to_owned()], "a"),
    ];
    let request = |tokens: Vec<String>, text: &str| {
        let messages = json!([{"role": "user", "content": text.repeat(200_000 / text.len())}]);
        json!({
            "apply": {"template": "{{ messages[0].content * 100 }}", "messages": messages},
            "trace": true,
            "control_tokens": tokens,
        })
    };
    let case = |(name, tokens, text): (&str, Tokens, &'static str)| {
        Case::request(format!("control tokens: {name}"), move || request(tokens(), text))
    };
    let mut cases: Vec<Case> = tokens.map(case).into();
    // The render takes most steps of the request.
    cases.push(Case::request("control tokens after a slow render".to_owned(), move || {
        let slow = "{% set t = range(99999)|map('string')|list %}{% for i in range(15) %}{% set x = t|unique|list %}{% endfor %}";
        let messages = json!([{"role": "user", "content": "1234567".repeat(28_000)}]);
        let tokens: Vec<String> = (0..100_000).map(|number| format!("{number}!")).collect();
        json!({
            "apply": {"template": format!("{slow}{{{{ messages[0].content * 5 }}}}"), "messages": messages},
            "trace": true,
            "control_tokens": tokens,
        })
    }));
    cases
}

/// Returns lines that are very long or not valid requests.
fn lines() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name: &str, make: fn() -> Vec<u8>| cases.push(Case::line(format!("line {name}"), make));
    add("of 100 MB", || vec![b'a'; 100_000_000]);
    add("of 100 MB in a text", || {
        [
            b"{\"template\": \"{{ x|length }}\", \"context\": {\"x\": \"",
            vec![b'a'; 100_000_000].as_slice(),
            b"\"}}",
        ]
        .concat()
    });
    add("of 100 MB of commas", || {
        [b"[1", ",1".repeat(50_000_000).as_bytes(), b"]"].concat()
    });
    add("of 100 MB of lists", || {
        [b"[[]", ",[]".repeat(33_000_000).as_bytes(), b"]"].concat()
    });
    add("of 100 MB of objects", || {
        [b"[{}", ",{\"a\":1}".repeat(12_000_000).as_bytes(), b"]"].concat()
    });
    add("of 100 MB of escapes", || {
        [
            b"{\"template\": \"{{ x|length }}\", \"context\": {\"x\": \"",
            "\\u0041".repeat(16_000_000).as_bytes(),
            b"\"}}",
        ]
        .concat()
    });
    add("of 100 MB of blanks", || vec![b' '; 100_000_000]);
    add("of 100 MB of zeros", || vec![0; 100_000_000]);
    add("of 100 MB of brackets", || vec![b'['; 100_000_000]);
    add("of 100 MB of template", || {
        [
            b"{\"template\": \"",
            vec![b'a'; 100_000_000].as_slice(),
            b"\", \"context\": {}}",
        ]
        .concat()
    });
    add("of 300 MB", || vec![b'a'; 300_000_000]);
    add("of messages of 100 MB", || {
        let message = format!(",{{\"role\":\"user\",\"content\":\"{}\"}}", "x".repeat(10_000)).repeat(10_000);
        format!("{{\"apply\": {{\"template\": \"{{% for m in messages %}}{{{{ m.role }}}}{{% endfor %}}\", \"messages\": [{{\"role\":\"user\"}}{message}]}}}}").into_bytes()
    });
    add("that is not UTF-8", || b"{\"template\": \"\xff\", \"context\": {}}".to_vec());
    add("with half a character", || {
        b"{\"template\": \"\xe2\x82\", \"context\": {}}".to_vec()
    });
    add("with a surrogate in UTF-8", || {
        b"{\"template\": \"\xed\xa0\x80\", \"context\": {}}".to_vec()
    });
    add("with a lone surrogate", || {
        b"{\"template\": \"\\ud800\", \"context\": {}}".to_vec()
    });
    add("with a zero", || {
        b"{\"template\": \"a\\u0000b{{ '\\u0000' }}\", \"context\": {}}".to_vec()
    });
    add("with a byte order mark", || {
        b"\xef\xbb\xbf{\"template\": \"\", \"context\": {}}".to_vec()
    });
    add("with a deep id", || {
        format!(
            "{{\"id\": {}, \"template\": \"\", \"context\": {{}}}}",
            nested("[", 500, "", "]")
        )
        .into_bytes()
    });
    add("with a long id", || {
        format!(
            "{{\"id\": \"{}\", \"template\": \"\", \"context\": {{}}}}",
            "a".repeat(10_000_000)
        )
        .into_bytes()
    });
    add("with a wide id", || {
        format!(
            "{{\"id\": {}, \"template\": \"\", \"context\": {{}}}}",
            list(1_000_000, |number| number.to_string())
        )
        .into_bytes()
    });
    add("with a wrong time", || {
        format!(
            "{{\"template\": \"\", \"context\": {{}}, \"now\": \"{}\"}}",
            "9".repeat(1_000_000)
        )
        .into_bytes()
    });
    add("that is empty", Vec::new);
    cases
}
