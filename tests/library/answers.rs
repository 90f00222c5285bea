//! Parses the answers of `answers.jsonl`, and random ones that are made of their pieces: whole and in parts, with the same result, and in lenient
//! mode without losing any of the text. `strict` is the answer of transformers (`tests/reference/strict_answers.py`); `message` and `unread` are
//! those of the lenient mode, which transformers does not have.

use std::collections::BTreeMap;

use chat_template::response::{Event, ParseOptions, ResponseParser, ResponseTemplate};
use chat_template::{ErrorClass, Result};
use serde_json::{Value, json};

/// The descriptions by their names, and the cases.
fn read_cases() -> (BTreeMap<String, ResponseTemplate>, Vec<Value>) {
    let lines = include_str!("answers.jsonl").lines();
    let lines: Vec<Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    let (descriptions, cases) = lines
        .into_iter()
        .partition::<Vec<_>, _>(|line| line.get("template").is_some());
    let templates = descriptions.iter().map(|line| {
        let template = ResponseTemplate::new(&line["template"]).unwrap();
        (line["name"].as_str().unwrap().to_owned(), template)
    });
    (templates.collect(), cases)
}

/// Parses a text in parts of these numbers of characters, again and again. Returns the message and the events.
fn stream(template: &ResponseTemplate, options: &ParseOptions<'_>, text: &str, parts: &[usize]) -> Result<(Value, Vec<Event>)> {
    let mut parser = ResponseParser::new(template, options)?;
    let mut events = parser.take_first_events();
    let (mut rest, mut lengths) = (text, parts.iter().cycle());
    while !rest.is_empty() {
        let end = rest
            .char_indices()
            .nth(*lengths.next().unwrap())
            .map_or(rest.len(), |(at, _)| at);
        let (part, after) = rest.split_at(end);
        events.extend(parser.feed(part)?);
        rest = after;
    }
    let (message, last) = parser.finish()?;
    events.extend(last);
    Ok((serde_json::to_value(message).unwrap(), events))
}

/// Checks that the events have the text of the model and the values of the message.
fn check_events(events: &[Event], text: &str, message: &Value, options: &ParseOptions<'_>) {
    let mut open: Option<&str> = None;
    let (mut chunks, mut arguments) = (BTreeMap::<&str, String>::new(), BTreeMap::<usize, String>::new());
    let (mut begun, mut whole, mut at) = (Vec::new(), Vec::new(), 0);
    for event in events {
        match event {
            Event::Open { field, bytes } => {
                assert_eq!(open.replace(field), None, "{events:#?}");
                assert!(bytes.start <= text.len());
            }
            Event::Chunk {
                field,
                text: part,
                dirty,
                bytes,
            } => {
                assert_eq!(open, Some(field.as_str()), "{events:#?}");
                if options.prefix.is_empty() {
                    assert_eq!(&text[bytes.clone()], part);
                }
                if !dirty {
                    chunks.entry(field).or_default().push_str(part);
                }
            }
            Event::Call { index, name, .. } => {
                assert_eq!(*index, begun.len() + whole.len() + at);
                begun.push((*index, name.clone()));
            }
            Event::Arguments { index, text, .. } => arguments.entry(*index).or_default().push_str(text),
            Event::Close { field, .. } => {
                assert_eq!(open.take(), Some(field.as_str()), "{events:#?}");
                whole.append(&mut begun);
            }
            Event::Unread { field, bytes, .. } => {
                open.take();
                assert!(!field.is_empty() && bytes.end <= text.len());
                at += begun.drain(..).count();
            }
            _ => unreachable!(),
        }
    }
    assert_eq!(open, None);
    for (field, chunks) in chunks {
        if let Some(Value::String(value)) = message.get(field) {
            assert!(
                chunks == *value || !options.lenient && chunks.ends_with(value.as_str()),
                "{field}: {chunks:?} is not {value:?}\n{events:#?}"
            );
        }
    }
    let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
    if options.lenient {
        assert_eq!(calls.len(), whole.len(), "{events:#?}");
    }
    for (call, (index, name)) in calls.iter().zip(&whole).filter(|_| options.lenient) {
        let function = &call["function"];
        assert_eq!(function["name"], name.as_str());
        let passed: Value = serde_json::from_str(&arguments[index]).unwrap_or_else(|error| panic!("{error}: {events:#?}"));
        let wanted = match &function["arguments"] {
            Value::String(text) => serde_json::from_str(text).unwrap(),
            other => other.clone(),
        };
        if options.tools.is_none() {
            assert_eq!(passed, wanted, "{events:#?}");
        }
    }
}

/// Parses a text whole and in parts, strictly and leniently. Returns the message or the error of the strict parser, and the message of the
/// lenient one.
fn parse(template: &ResponseTemplate, prefix: &str, tools: Option<&Value>, text: &str, cuts: &[&[usize]]) -> [Value; 2] {
    let mut answers = Vec::new();
    for lenient in [false, true] {
        let options = ParseOptions::default()
            .with_prefix(prefix)
            .with_tools(tools)
            .with_lenient(lenient);
        let whole = template
            .parse(text, &options)
            .map(|message| serde_json::to_value(message).unwrap());
        for parts in cuts {
            match (&whole, stream(template, &options, text, parts)) {
                (Ok(whole), Ok((message, events))) => {
                    assert_eq!(*whole, message, "{text:?} in {parts:?}");
                    check_events(&events, text, whole, &options);
                }
                (Err(whole), Err(error)) => assert_eq!(whole.message(), error.message(), "{text:?} in {parts:?}"),
                (whole, other) => panic!("{text:?} in {parts:?}: {whole:?}, {other:?}"),
            }
        }
        answers.push(whole.unwrap_or_else(|error| {
            assert_eq!(
                (error.class(), error.http_status(), lenient),
                (ErrorClass::Answer, 502, false),
                "{text:?}: {error}"
            );
            json!({"error": error.message()})
        }));
    }
    answers.try_into().unwrap()
}

#[test]
fn cases_are_read() {
    let (templates, cases) = read_cases();
    for case in cases {
        let (text, prefix) = (case["text"].as_str().unwrap(), case["prefix"].as_str().unwrap_or_default());
        let template = &templates[case["by"].as_str().unwrap()];
        let cuts: [&[usize]; 5] = [&[1], &[2], &[7], &[5, 1], &[usize::MAX]];
        let [strict, mut message] = parse(template, prefix, case.get("tools"), text, &cuts);
        assert_eq!(strict, case["strict"], "{}", case["case"]);
        let unread = message.as_object_mut().unwrap().remove("unread").unwrap_or_else(|| json!([]));
        let places = unread.as_array().unwrap().iter().map(|place| {
            let at = |key: &str, index: usize| place[key][index].as_u64().unwrap() as usize;
            let bytes = &text[at("bytes", 0)..at("bytes", 1)];
            let points = text
                .chars()
                .skip(at("code_points", 0))
                .take(at("code_points", 1) - at("code_points", 0));
            assert_eq!(bytes, points.collect::<String>());
            json!([place["reason"], bytes])
        });
        let unread: Vec<_> = places.collect();
        assert_eq!(
            (message, json!(unread)),
            (case["message"].clone(), case["unread"].clone()),
            "{}",
            case["case"]
        );
    }
}

/// Returns a sequence of numbers, each below the one that is passed.
fn random_numbers() -> impl FnMut(usize) -> usize {
    let mut state: u64 = 0x2545_F491_4F6C_DD1D;
    move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % below
    }
}

/// A group around the whole pattern keeps the value from being found by what is before and after it.
#[test]
fn a_value_between_random_patterns_is_that_of_the_whole_pattern() {
    const PARTS: [&str; 13] = [
        "a",
        "b",
        " ",
        "a?",
        "b*",
        r"\s*",
        "[ab]*?",
        ".",
        "(?:a|ab)",
        "(?:a|b\n)",
        "\n?",
        ".*",
        "(?:b+)?",
    ];
    const KEYS: [&str; 4] = ["(?P<key>a|ab)", "(?P<key>[^b]*?)", "(?P<key>b+)", "(?P<key>a*)"];
    let mut random = random_numbers();
    let mut choose = |parts: &[&str]| (0..random(5)).map(|_| parts[random(parts.len())]).collect::<String>();
    let template = |pattern: &str| {
        let tags = json!({"content": "xml-inline", "content_args": {"tag_pattern": pattern}});
        ResponseTemplate::new(&json!({"start_anchor": "<>", "fields": {"tags": tags}})).unwrap()
    };
    let mut count = 0;
    for round in 0..if cfg!(debug_assertions) { 100 } else { 5000 } {
        let pattern = [
            &choose(&PARTS),
            KEYS[round % 4],
            &choose(&PARTS),
            "(?P<value>.*?)",
            &choose(&PARTS),
        ]
        .concat();
        let [split, whole] = [pattern.clone(), format!("(?P<all>{pattern})")].map(|pattern| template(&pattern));
        for _ in 0..10 {
            let filler = ["x", "xb ", "é"].map(|filler| filler.repeat(130));
            let pieces = ["a", "b", "\n", " ", "ab", &filler[0], &filler[1], &filler[2]];
            let text = [choose(&pieces), choose(&pieces), choose(&pieces)].concat();
            let [split, whole] = [&split, &whole].map(|template| {
                let message = template.parse(&text, &ParseOptions::default());
                message.map_or_else(
                    |error| json!(error.to_string()),
                    |message| serde_json::to_value(message).unwrap(),
                )
            });
            assert_eq!(split, whole, "{pattern} {text:?}");
            count += usize::from(split.get("tags").is_some());
        }
    }
    assert!(count > 200, "{count}");
}

#[test]
fn random_answers_are_read_in_any_parts() {
    let (templates, cases) = read_cases();
    let mut random = random_numbers();
    for (name, template) in &templates {
        let texts: Vec<&str> = cases
            .iter()
            .filter(|case| case["by"] == **name)
            .map(|case| case["text"].as_str().unwrap())
            .collect();
        // A description of channels drops what is between them.
        let words = if name == "channels" {
            &[][..]
        } else {
            &["é", "Oslo", "Look", "first", "city"]
        };
        for _ in 0..if cfg!(debug_assertions) { 50 } else { 5000 } {
            let mut text = String::new();
            for _ in 0..1 + random(4) {
                let piece: Vec<char> = texts[random(texts.len())].chars().collect();
                let (start, end) = (random(piece.len()), 1 + random(piece.len()));
                let range = if random(3) == 0 {
                    start.min(end)..start.max(end)
                } else {
                    0..piece.len()
                };
                text.extend(&piece[range]);
                text.push_str(["", "", " ", "\n", "é", "\n\n "][random(6)]);
            }
            let cuts: [&[usize]; 3] = [&[1 + random(3)], &[1 + random(9), 1, 1 + random(30)], &[1 + random(60)]];
            let [_, message] = parse(template, "", None, &text, &cuts);
            // Each word is somewhere in the message.
            let read = message.to_string();
            for word in words {
                let count = |text: &str| text.matches(*word).count();
                assert!(
                    count(&read) >= count(&text) || count(&read) > 0,
                    "{word} of {text:?} is not in {message}"
                );
            }
        }
    }
}

#[test]
#[ignore = "measures time: cargo test --release --all-features --test library -- --ignored --nocapture linear_time"]
fn parsing_takes_linear_time() {
    let (templates, _) = read_cases();
    let words = "Some words, with a <tag> and 1 < 2.\n".repeat(1 << 14);
    let json_call = "<call>\n{\"name\": \"f\", \"arguments\": {\"city\": \"Paris\", \"days\": 3}}\n</call>".repeat(1 << 15);
    let tag_call = "<call>\n<f=look>\n<p=city>\nParis\n</p>\n<p=days>\n3\n</p>\n</f>\n</call>\n".repeat(1 << 13);
    let long = format!(
        "<call>\n{{\"name\": \"f\", \"arguments\": {{\"text\": \"{}\"}}}}\n</call>",
        "word \\n ".repeat(1 << 16)
    );
    let texts = [
        ("json", "content", words),
        ("json", "calls", json_call),
        ("json", "one long call", long),
        ("tags", "calls in tags", tag_call),
        ("json", "openings", "<call>".repeat(1 << 17)),
        (
            "json",
            "calls that end nowhere",
            "<call>{\"name\": \"f\", \"arguments\": {}}".repeat(1 << 14),
        ),
        ("json", "malformed calls", "<call>{\"name\": \"f\"</call>".repeat(1 << 14)),
        (
            "tags",
            "tags without an end",
            format!("<call><f=x>{}", "<p=a>".repeat(1 << 17)),
        ),
        ("named", "names", "[CALL]f[ID]x[ARGS]{\"a\": ".repeat(1 << 14)),
        ("channels", "white space", " ".repeat(1 << 20)),
    ];
    let limits = chat_template::Limits::default()
        .with_steps(u64::MAX)
        .with_live(4 << 30)
        .with_milliseconds(None);
    for (by, what, text) in texts {
        for (lenient, size) in [(false, 0), (true, 0), (true, 1), (true, 64)] {
            let options = ParseOptions::default().with_lenient(lenient).with_bounds(&limits);
            let start = cpu_time::ThreadTime::now();
            let parsed = match size {
                0 => templates[by].parse(&text, &options).map(|message| message.len()),
                size => stream(&templates[by], &options, &text, &[size])
                    .map(|(message, events)| message.as_object().unwrap().len() + events.len()),
            };
            let seconds = start.elapsed().as_secs_f64();
            let speed = text.len() as f64 / 1e6 / seconds;
            println!(
                "{what}, lenient {lenient}, parts of {size}: {speed:.1} MB a second, {}",
                parsed.is_ok()
            );
        }
    }
}
