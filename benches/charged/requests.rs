//! Requests that do more than render: compiling, traces and control tokens, answers, reports, the three formats of chat, floats, folders.
//!
//! Such a request does not return its steps. It runs under limits of 1 Ki steps, 2 Ki and so on until one is enough. Each run must end in
//! proportion to its limit, so the figure is the most time for an allowed step. JSON text is read without steps; there, 8 bytes stand for
//! one, as many as a step scans.

use chat_template::{
    ApplyOptions, AssistantOptions, ChatTemplate, ControlPolicy, ControlTokens, Error, Limit, Limits, PromptOptions, RenderOptions,
    Template, json, request::PrepareOptions,
};
use cpu_time::ThreadTime;
use serde_json::{Value, json};

/// A request that is ready to run within limits.
pub type Run = Box<dyn Fn(&Limits) -> Result<(), Error>>;

/// A request by its size.
type Make = Box<dyn Fn(usize) -> Run>;

/// A template that writes what a message has.
const LOOP: &str = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% for c in m.tool_calls or [] %}{{ c.function.name }}\
    {{ c.function.arguments }}{% endfor %}</{{ m.role }}>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}";

/// Sources by their name: the text before, what is repeated with a number in place of `#`, and the text after.
const SOURCES: &[(&str, &str, &str, &str)] = &[
    ("floats", "{{ [", "1.7000000000000000386e308,", "] }}"),
    ("integers", "{{ [", "99999999999999999999999999999999999999999999#,", "] }}"),
    ("texts", "{{ [", "'a\\n\\x41\\N{DIGIT ONE}#',", "] }}"),
    ("equal texts", "{{ [", "'aaaa' ~ 'aaaa',", "] }}"),
    ("sums", "{{ 1", " + #", " }}"),
    ("joined", "{{ 'a'", " ~ 'a#'", " }}"),
    ("compared", "{{ 1", " < #", " }}"),
    ("filters", "{{ x", "|upper", " }}"),
    ("unknown filters", "", "{{ x|nope#(a=1) }}", ""),
    ("attributes", "{{ x", ".a#[0]", " }}"),
    ("keys", "{{ {", "'k#': #,", "} }}"),
    ("equal keys", "{{ {", "'k': #,", "} }}"),
    ("keywords", "{{ dict(", "k#=#,", ") }}"),
    ("calls", "", "{{ f#(1, a=2) }}", ""),
    ("names", "", "{% set n# = n# %}", ""),
    ("equal names", "", "{% set n = n %}", ""),
    ("loops", "", "{% for n# in n# %}{{ n# }}{% endfor %}", ""),
    ("targets", "{% for ", "n#,", " in x %}{% endfor %}"),
    ("names in a loop", "{% for x in y %}", "{% set n# = 1 %}", "{% endfor %}"),
    ("macros", "", "{% macro m#(a, b=1) %}{{ m# }}{% endmacro %}", ""),
    ("parameters", "{% macro m(", "a#=1,", "b=1) %}{% endmacro %}"),
    ("calling blocks", "", "{% call(a#) m() %}{{ a# }}{% endcall %}", ""),
    ("conditions", "{% if x %}", "{% elif y# %}a", "{% endif %}"),
    ("conditionals", "{{ 1", " if x# else 2", " }}"),
    ("comments", "", "{# \n #}", ""),
    ("raw", "", "{% raw %}{{\n{% endraw %}", ""),
    ("lines", "", "\r\n {%- if x -%} \n {%- endif -%} ", ""),
    ("blanks", "a", " \n", "{{- x }}"),
    ("text", "a", "é{", ""),
    ("marks", "{{ a", "\u{301}", " }}"),
    ("signs", "{{ ", "- ", "1 }}"),
    ("an error at the end", "", "{{ x }}\n", "{{ x y"),
    ("with", "{% with ", "a#=#,", "b=1 %}{% endwith %}"),
    ("folded", "", "{{ 'a' * 999 }}", ""),
    ("folded filters", "", "{{ 'ab'|upper|replace('a', 'b')|list|join }}", ""),
    ("folded lists", "{{ (", "[1, 2] + ", "[3])|sum }}"),
    ("slices", "", "{{ x[1:2:3][#] }}", ""),
];

/// Bodies by their name: the text before, what is repeated with a number in place of `#`, and the text after.
const BODIES: &[(&str, &str, &str, &str)] = &[
    (
        "messages",
        r#"{"messages":["#,
        r#"{"role":"user","content":"c#"},"#,
        r#"{"role":"user","content":"x"}]}"#,
    ),
    (
        "parts",
        r#"{"messages":[{"role":"user","content":["#,
        r#"{"type":"text","text":"t#"},"#,
        r#"{"type":"text","text":"x"}]}]}"#,
    ),
    (
        "calls",
        r#"{"messages":["#,
        r##"{"role":"assistant","content":"","tool_calls":[{"id":"c#","type":"function","function":{"name":"f","arguments":"{\"a\":\"v#\"}"}}]},{"role":"tool","tool_call_id":"c#","content":"r"},"##,
        r#"{"role":"user","content":"x"}]}"#,
    ),
    (
        "floats in arguments",
        r#"{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":["#,
        "1.7000000000000000386e308,",
        r#"1]}"}}]},{"role":"tool","tool_call_id":"c","content":"r"}]}"#,
    ),
    (
        "tools",
        r#"{"messages":[{"role":"user","content":"x"}],"tools":["#,
        r##"{"type":"function","function":{"name":"f#","description":"d","parameters":{"type":"object","properties":{"a#":{"type":"string"}}}}},"##,
        r#"{"type":"function","function":{"name":"g"}}]}"#,
    ),
    (
        "variables",
        r#"{"messages":[{"role":"user","content":"x"}],"chat_template_kwargs":{"#,
        r#""k#":"v#","#,
        r#""z":1}}"#,
    ),
    (
        "fields",
        r#"{"messages":[{"role":"user","#,
        r#""k#":"v#","#,
        r#""content":"x"}]}"#,
    ),
    (
        "reasoning",
        r#"{"input":[{"role":"user","content":"x"},{"type":"reasoning","summary":["#,
        r##"{"type":"summary_text","text":"r#"},"##,
        r#"{"type":"summary_text","text":"r"}]},{"role":"assistant","content":"x"}]}"#,
    ),
    (
        "outputs",
        r#"{"input":[{"role":"user","content":"x"},"#,
        r##"{"type":"function_call","call_id":"c#","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c#","output":"o"},"##,
        r#"{"role":"user","content":"x"}]}"#,
    ),
    (
        "thinking",
        r#"{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":["#,
        r##"{"type":"thinking","thinking":"t#","signature":"s"},{"type":"redacted_thinking","data":"z"},"##,
        r#"{"type":"text","text":"y"}]}]}"#,
    ),
    (
        "results",
        r#"{"messages":[{"role":"user","content":"x"},"#,
        r##"{"role":"assistant","content":[{"type":"tool_use","id":"c#","name":"f","input":{"a":"v#"}}]},{"role":"user","content":[{"type":"text","text":"t#"},{"type":"tool_result","tool_use_id":"c#","content":"r#","is_error":true}]},"##,
        r#"{"role":"user","content":"x"}]}"#,
    ),
    (
        "system",
        r#"{"system":["#,
        r#"{"type":"text","text":"s#"},"#,
        r#"{"type":"text","text":"s"}],"messages":[{"role":"user","content":"x"}]}"#,
    ),
    (
        "one text",
        r#"{"messages":[{"role":"user","content":""#,
        "ab ",
        r#""},{"role":"assistant","content":"x"}]}"#,
    ),
];

/// JSON texts by their name: the text before, what is repeated, and the text after.
const TEXTS: &[(&str, &str, &str, &str)] = &[
    ("floats", "[", "1.7000000000000000386e308,", "0]"),
    ("small floats", "[", "0.1,2e9,", "0]"),
    ("integers", "[", "99999999999999999999#,", "0]"),
    ("digits", "[", "9999999999999999999999999999999999999999", "]"),
    ("keys", "{", "\"k#\":0,", "\"z\":0}"),
    ("equal keys", "{", "\"k\":0,", "\"z\":0}"),
    ("lists", "[", "[[]],{},", "0]"),
    ("escapes", "\"", "\\u00e9\\n", "\""),
    ("surrogates", "\"", "\\ud83d", "\""),
    ("accents", "\"", "é", "\""),
    ("blanks", "[", " \n", "0]"),
];

/// Returns the requests of a kind that have steps, each with its name.
pub fn list() -> Vec<(String, Make)> {
    let mut requests: Vec<(String, Make)> = Vec::new();
    let mut add = |name: String, make: Make| requests.push((name, make));
    for (name, before, repeated, after) in SOURCES {
        add(
            format!("compile {name}"),
            Box::new(|size| {
                let source = repeat(before, repeated, after, size);
                Box::new(move |limits| Template::compile_with(&source, limits).map(drop))
            }),
        );
        add(
            format!("compile and report {name}"),
            Box::new(|size| {
                let source = format!("{LOOP}{}", repeat(before, repeated, after, size / 4));
                Box::new(move |limits| {
                    ChatTemplate::from_source_with(source.as_str(), &[], limits)
                        .unwrap()
                        .inspect(limits)?
                        .complete()
                })
            }),
        );
    }
    for (name, before, repeated, after) in BODIES {
        for (plain, source) in [
            ("", LOOP.to_owned()),
            ("fitted ", LOOP.replace("{{ m.content }}", "{{ m.content + '' }}")),
        ] {
            add(
                format!("chat {plain}{name}"),
                Box::new(move |size| {
                    let template = ChatTemplate::from_source(source.as_str(), &[]).unwrap();
                    let body: Value = serde_json::from_str(&repeat(before, repeated, after, size)).expect("JSON");
                    let body = json::to_data(&body).expect("it is small");
                    Box::new(move |limits| {
                        let options = PrepareOptions::default().with_bounds(limits);
                        let prepared = template.prepare_with(&body, &options)?;
                        prepared.render_with(&PromptOptions::default().with_bounds(limits)).map(drop)
                    })
                }),
            );
        }
    }
    add_reports(&mut add);
    add_traces(&mut add);
    add_answers(&mut add);
    requests
}

/// Returns the source of a template of a size, and its special tokens.
type MakeSource = fn(usize) -> (String, Vec<(String, String)>);

/// Adds reports whose experiments fail, or have long tokens and many names.
fn add_reports(add: &mut impl FnMut(String, Make)) {
    let mut report = |name: &str, make: MakeSource| {
        add(
            format!("report {name}"),
            Box::new(move |size| {
                let (source, tokens) = make(size);
                Box::new(move |limits| {
                    // A report is kept, so each run has a template of its own.
                    let template = ChatTemplate::from_source_with(source.as_str(), &[], limits)
                        .unwrap()
                        .with_special_tokens(tokens.iter().cloned());
                    template.inspect(limits)?.complete()
                })
            }),
        );
    };
    report("refusals", |size| {
        let refusal = format!("{{{{ raise_exception('a' * {}) }}}}", size * 16);
        (
            format!("{{% if messages|length > 1 or tools %}}{refusal}{{% endif %}}{LOOP}"),
            Vec::new(),
        )
    });
    report("errors", |size| {
        let refusal = format!("{{{{ ('a' * {}) + 1 }}}}", size * 16);
        (
            format!("{{% if messages|length > 1 or tools %}}{refusal}{{% endif %}}{LOOP}"),
            Vec::new(),
        )
    });
    report("switches", |size| {
        (repeat(LOOP, "{% if v# %}x{% endif %}", "", size / 32), Vec::new())
    });
    report("long output", |size| (format!("{LOOP}{{{{ 'a' * {size} }}}}"), Vec::new()));
    report("literals", |size| {
        (repeat(LOOP, "{% if m.a == 'v#' %}x{% endif %}", "", size / 32), Vec::new())
    });
    report("a long token", |size| {
        (
            format!("{{{{ bos_token }}}}{LOOP}"),
            vec![("bos_token".to_owned(), "t".repeat(size))],
        )
    });
    report("tokens", |size| {
        let tokens = (0..size / 16).map(|number| (format!("k{number}"), format!("<t{number}>")));
        (LOOP.to_owned(), tokens.collect())
    });
}

/// Adds renders with a trace, control tokens and the spans of the assistant.
fn add_traces(add: &mut impl FnMut(String, Make)) {
    let mut trace = |name: &str, source: &'static str, make: fn(usize) -> (Value, Vec<String>)| {
        add(
            format!("trace {name}"),
            Box::new(move |size| {
                let template = ChatTemplate::from_source(source, &[("bos_token", "<s>")]).unwrap();
                let (messages, tokens) = make(size);
                Box::new(move |limits| {
                    let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
                    let control_tokens = ControlTokens::default()
                        .with_policy(ControlPolicy::Split)
                        .with_tokens(&tokens);
                    let options = ApplyOptions::default()
                        .with_bounds(limits)
                        .with_trace(true)
                        .with_generation_spans(true)
                        .with_assistant(AssistantOptions::default())
                        .with_control_tokens(control_tokens);
                    let prompt = template.apply(&messages, &options)?;
                    drop(prompt.turns());
                    Ok(())
                })
            }),
        );
    };
    trace("prefixes", LOOP, |size| {
        (
            say("a".repeat(size)),
            (1..size / 64).map(|length| "a".repeat(length)).collect(),
        )
    });
    trace("a long token", LOOP, |size| {
        (say("a".repeat(size)), vec!["a".repeat(size / 2) + "b"])
    });
    trace("tokens", LOOP, |size| {
        let tokens: Vec<String> = (0..size / 8).map(|number| format!("<|t{number}|>")).collect();
        (say(tokens.concat()), tokens)
    });
    trace("turns", LOOP, |size| {
        let message =
            |number: usize| json!({"role": if number % 2 == 1 { "assistant" } else { "user" }, "content": format!("c{number}")});
        ((0..size / 8).map(message).collect(), Vec::new())
    });
    trace("equal turns", LOOP, |size| {
        let message = |number: usize| json!({"role": if number % 2 == 1 { "assistant" } else { "user" }, "content": "a"});
        ((0..size / 8).map(message).collect(), Vec::new())
    });
    trace(
        "fields",
        "{% for r in range(9) %}{% for m in messages %}{% for v in m.values() %}{{ v }}{% endfor %}{% endfor %}{% endfor %}",
        |size| {
            let fields: serde_json::Map<String, Value> = (0..size / 8).map(|number| (format!("k{number}"), json!("v"))).collect();
            (json!([fields]), Vec::new())
        },
    );
    trace(
        "blanks",
        "{% for m in messages %}{{ m.content }}{{ ' \n' * 99 }}{% endfor %}",
        |size| {
            (
                (0..size / 64)
                    .map(|_| json!({"role": "assistant", "content": " \n a"}))
                    .collect(),
                Vec::new(),
            )
        },
    );
    trace(
        "parts of one text",
        "{% for c in messages[0].content %}{{ c|upper }}{{ c }}{% endfor %}{{ messages[0].content|replace('a', 'b')|trim }}",
        |size| (say("ab ".repeat(size / 3)), Vec::new()),
    );
    trace(
        "texts of no input",
        "{% for m in messages %}{{ true }}{{ m.content is string }}{{ none }}{% endfor %}",
        |size| {
            (
                (0..size / 8).map(|number| json!({"content": number.to_string()})).collect(),
                Vec::new(),
            )
        },
    );
    trace("fields that are not printed", LOOP, |size| {
        let fields: serde_json::Map<String, Value> = (0..size).map(|number| (format!("k{number}"), json!(1))).collect();
        (json!([fields]), Vec::new())
    });
    trace("numbers", LOOP, |size| {
        (json!([{"content": "x", "l": vec![0; size * 4]}]), Vec::new())
    });
    trace("long keys", LOOP, |size| {
        let fields: serde_json::Map<String, Value> = (0..99)
            .map(|number| (format!("{number}{}", "k".repeat(size)), json!(1)))
            .collect();
        (json!([{"content": "x", "l": fields}]), Vec::new())
    });
    trace("fields with long keys", "{{ messages[0].values()|first|join }}", |size| {
        let fields: Vec<String> = (0..size / 64).map(|number| number.to_string()).collect();
        (json!([{"k".repeat(size / 64): fields}]), Vec::new())
    });
    trace(
        "generation",
        "{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}",
        |size| {
            (
                (0..size / 8).map(|_| json!({"role": "assistant", "content": "a"})).collect(),
                Vec::new(),
            )
        },
    );
    for (name, name_length) in [("tokens of the model", 1), ("long names of tokens", 2000)] {
        add(
            format!("folder {name}"),
            Box::new(move |size| {
                let token = |number: usize| (format!("{}{number}", "k".repeat(name_length)), format!("<t{number}>"));
                let template = ChatTemplate::from_source(LOOP, &[])
                    .unwrap()
                    .with_special_tokens((0..size / 64).map(token));
                let messages = json!([{"role": "user", "content": "x"}]);
                Box::new(move |limits| {
                    template
                        .apply(
                            &messages,
                            &ApplyOptions::default().with_bounds(limits).with_trace(name_length > 1),
                        )
                        .map(drop)
                })
            }),
        );
    }
}

fn say(text: String) -> Value {
    json!([{"role": "user", "content": text}])
}

/// Adds renders whose answer is written, and renders that end with an error.
fn add_answers(add: &mut impl FnMut(String, Make)) {
    let render = |source: String| -> Run {
        Box::new(move |limits| {
            let options = RenderOptions::default().with_bounds(limits);
            let rendered = Template::compile(&source)?.render(&json!({}), &options)?;
            drop(serde_json::to_string(&rendered.text));
            Ok(())
        })
    };
    for (name, text) in [("controls", "\\x01"), ("quotes", "\""), ("accents", "é")] {
        add(
            format!("answer {name}"),
            Box::new(move |size| render(format!("{{{{ '{text}' * {} }}}}", size * 16))),
        );
        for (kind, error) in [
            ("refusal", "raise_exception(t)"),
            ("key", "('%(' ~ t ~ ')s') % {}"),
            ("operand", "t + 1"),
            ("attribute", "t.nope.nope"),
            ("name", "dict(**{t: 1}) + 1"),
        ] {
            add(
                format!("error of {kind} with {name}"),
                Box::new(move |size| render(format!("{{% set t = '{text}' * {} %}}{{{{ {error} }}}}", size * 16))),
            );
        }
    }
}

/// Returns a text in which a part is repeated up to a size in bytes, each time with another number.
fn repeat(before: &str, repeated: &str, after: &str, size: usize) -> String {
    let mut text = before.to_owned();
    let count = size / repeated.len();
    // The tag of a comment is no place of a number.
    let is_numbered = repeated.contains('#') && !repeated.contains("{#");
    for number in 0..count {
        match is_numbered {
            true => text.push_str(&repeated.replace('#', &number.to_string())),
            false => text.push_str(repeated),
        }
    }
    text + after
}

/// Returns the most nanoseconds for an allowed step of a request that grows, and the size with which it took so many.
pub fn measure(make: &Make, [start, shortest, longest]: [f64; 3], limits: &Limits) -> (f64, usize) {
    let (mut most, mut at) = (0.0, 0);
    for size in (0..10).map(|doublings| 1000 << doublings) {
        let run = make(size);
        let mut seconds = 0.0;
        for exponent in 10..26 {
            let steps = 1_u64 << exponent;
            let limits = limits.clone().with_steps(steps);
            let time = || {
                let began = ThreadTime::now();
                let result = run(&limits);
                (began.elapsed().as_secs_f64(), result)
            };
            let (first, result) = time();
            seconds = first;
            let figure = |seconds: f64| seconds * 1e9 / (steps as f64 + start);
            if seconds >= shortest && figure(seconds) > most {
                // A single run can be slow by chance.
                let least = (0..3).map(|_| time().0).fold(seconds, f64::min);
                if least >= shortest && figure(least) > most {
                    (most, at) = (figure(least), size);
                }
            }
            let is_short = result.is_err_and(|error| error.reached().is_some_and(|reached| reached.limit == Limit::Steps));
            if !is_short || seconds > longest {
                break;
            }
        }
        if seconds > longest {
            break;
        }
    }
    (most, at)
}

/// Returns the most nanoseconds for 8 bytes of each JSON text, by its name.
pub fn measure_texts() -> Vec<(String, f64)> {
    let measure = |(name, before, repeated, after): &(&str, &str, &str, &str)| {
        let text = repeat(before, repeated, after, 1 << 20);
        let time = |_| {
            let start = ThreadTime::now();
            drop(json::read(&text));
            start.elapsed().as_secs_f64()
        };
        let least = (0..5).map(time).fold(f64::MAX, f64::min);
        (format!("JSON {name}"), least * 8e9 / text.len() as f64)
    };
    TEXTS.iter().map(measure).collect()
}
