//! Parses texts by random descriptions of what a model writes. It must not panic, must end soon after its deadline, and must return the same
//! message or fail however the text is cut.
#![no_main]

use std::time::Duration;

use chat_template::response::{Event, ParseOptions, ResponseParser, ResponseTemplate};
use chat_template::Limits;
use cpu_time::ThreadTime;
use serde_json::{Map, Value, json};

const MILLISECONDS: u64 = 200;
const SLACK: Duration = Duration::from_millis(if cfg!(debug_assertions) { 400 } else { 100 });

const WORDS: [&str; 40] = [
    "a", "b", "ab", "abc", "<", ">", "<a>", "</a>", "<a", "{", "}", "[", "]", ",", ":", "\"", "\\", "\n", " ", "1", "-2.5e3", "true", "null", "é", "日本",
    "{\"a\": 1}", "{a:", "[f(a=1)]", "'", "<x>1</x>", "k: v\n", "\u{1}", "1.7000000000000000386e308,", "$", "x", "y", "<|end|>", "{\"name\": \"f\", \"arguments\": {\"a\": \"1\"}}", "a.b", "0",
];
const PATTERNS: [&str; 24] = [
    "a+", "a+b", r"\s*<a>", "a(?=b)", "a|ab", "ab|a", "(?:ab)*c", "b$", "[ab]{2}", "x?", "<[^>]*>", "a.*b", "a.*?b", "é+", "a(?:.*Z)?", "$", "a*", "(?P<g>a+)b",
    r"<(?P<g>\w+)>", r"(?P<g>\w)(?P<h>.*)", "[ab]*a[ab]{12}c", r"\w{40}", "(?:a{9}){9}", "^a",
];
const KINDS: [&str; 9] = ["text", "text", "json", "int", "float", "bool", "kv-lines", "python-call-list", "xml-inline"];
const TYPES: [&str; 7] = ["integer", "number", "boolean", "null", "object", "array", "string"];

/// Makes choices from the bytes of the input. After the last byte, each choice is the first.
struct Choices<'b>(&'b [u8]);

impl Choices<'_> {
    fn next(&mut self) -> usize {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(*first)
    }

    fn often(&mut self) -> bool {
        self.next() % 2 == 1
    }

    fn pick<'i>(&mut self, items: &[&'i str]) -> &'i str {
        items[self.next() % items.len()]
    }

    fn text(&mut self, words: usize) -> String {
        let mut text = String::new();
        for _ in 0..self.next() % words {
            let times = [1, 1, 1, 2, 500, 20_000][self.next() % 6];
            let word = self.pick(&WORDS);
            text.push_str(&word.repeat(if text.len() < 1 << 17 { times } else { 1 }));
        }
        text
    }

    fn transform(&mut self, depth: usize) -> Value {
        match self.next() % if depth == 0 { 3 } else { 5 } {
            0 => json!("{content}"),
            1 => json!(self.pick(&["{g}", "{content.name}", "{content.arguments}", "plain", "{h}"])),
            2 => json!(self.next()),
            3 => Value::Array((0..[1, 2, 3, 300][self.next() % 4]).map(|_| self.transform(0)).collect()),
            _ => json!({"type": "function", "function": self.transform(depth - 1)}),
        }
    }

    fn arguments(&mut self, kind: &str, depth: usize) -> Value {
        let mut arguments = Map::new();
        if kind == "xml-inline" {
            let pattern = self.pick(&[r"<(?P<key>\w+)>(?P<value>.*?)</", r"(?P<key>a)(?P<value>.*)", r"(?P<key>\w?)", "a"]);
            arguments.insert("tag_pattern".into(), json!(pattern));
            arguments.insert("merge_duplicates".into(), json!(self.often()));
        }
        if kind == "json" {
            arguments.insert("unquoted_keys".into(), json!(self.often()));
            arguments.insert("allow_non_json".into(), json!(self.often()));
            if self.often() {
                let delimiters: Vec<_> = (0..self.next() % 4).map(|_| json!([self.pick(&WORDS), self.pick(&WORDS)])).collect();
                arguments.insert("string_delims".into(), delimiters.into());
            }
        }
        if depth > 0 && self.often() {
            let kind = self.pick(&KINDS);
            arguments.insert("value_parser".into(), json!({"name": kind, "args": self.arguments(kind, depth - 1)}));
        }
        arguments.into()
    }

    fn field(&mut self) -> Value {
        let mut field = Map::new();
        for (literal, pattern) in [("open", "open_pattern"), ("close", "close_pattern")] {
            match self.next() % 4 {
                0 => {}
                1 => drop(field.insert(literal.into(), json!([self.pick(&WORDS), self.pick(&WORDS)]))),
                2 => drop(field.insert(literal.into(), json!(self.pick(&WORDS)))),
                _ => drop(field.insert(pattern.into(), json!(self.pick(&PATTERNS)))),
            }
        }
        let kind = self.pick(&KINDS);
        field.insert("content".into(), json!(kind));
        field.insert("content_args".into(), self.arguments(kind, 3));
        field.insert("repeats".into(), json!(self.often()));
        if self.often() {
            field.insert("transform".into(), self.transform(3));
            field.insert("transform_each".into(), json!(self.next() % 4 == 1));
        } else if kind == "text" && field["repeats"] == true && self.often() {
            field.insert("join".into(), json!("|"));
        }
        field.into()
    }

    fn tools(&mut self) -> Value {
        let types: Vec<_> = (0..[1, 2, 2000][self.next() % 3]).map(|_| self.pick(&TYPES)).collect();
        json!([{"type": "function", "function": {"name": "f", "parameters": {"properties": {"a": {"type": types}}}}}])
    }
}

/// Calls a function, and checks that it ends soon after its deadline.
#[track_caller]
fn timed<T>(call: impl FnOnce() -> T) -> T {
    let start = ThreadTime::now();
    let result = call();
    let used = start.elapsed();
    assert!(used < Duration::from_millis(MILLISECONDS) + SLACK, "a call took {used:?}");
    result
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let choices = &mut Choices(bytes);
    let start = if choices.often() { json!(choices.pick(&WORDS)) } else { json!(null) };
    let fields: Map<String, Value> = (0..1 + choices.next() % 3).map(|index| (format!("f{index}"), choices.field())).collect();
    let description = match start {
        Value::Null => json!({"start_anchor_pattern": choices.pick(&PATTERNS), "fields": fields}),
        start => json!({"start_anchor": start, "defaults": {"f0": null, "role": "assistant"}, "fields": fields}),
    };
    let limits = Limits::default().with_milliseconds(MILLISECONDS);
    let Ok(template) = timed(|| ResponseTemplate::new_with(&description, &limits)) else {
        return;
    };
    let (tools, prefix, text) = (choices.tools(), choices.text(4), choices.text(12));
    let lenient = choices.often();
    let options = ParseOptions::default().with_prefix(&prefix).with_tools(&tools).with_lenient(lenient).with_bounds(&limits);
    let whole = timed(|| template.parse(&text, &options));
    let mut stream = || {
        let mut parser = timed(|| ResponseParser::new(&template, &options))?;
        let mut events = parser.take_first_events();
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let length = [1, 1, 2, 7, 4096][choices.next() % 5];
            let end = rest.char_indices().nth(length).map_or(rest.len(), |(at, _)| at);
            let (part, after) = rest.split_at(end);
            events.extend(timed(|| parser.feed(part))?);
            rest = after;
        }
        let (message, last) = timed(|| parser.finish())?;
        events.extend(last);
        let mut is_open = false;
        for event in &events {
            match event {
                Event::Open { .. } => assert!(!std::mem::replace(&mut is_open, true), "a region opens in a region"),
                Event::Close { .. } => assert!(std::mem::replace(&mut is_open, false), "a region closes that is not open"),
                Event::Unread { .. } => {
                    assert!(lenient, "a strict parser keeps a text");
                    is_open = false;
                }
                _ => assert!(is_open, "a part is in no region"),
            }
        }
        Ok::<_, chat_template::Error>(message)
    };
    let streamed = stream();
    let is_stopped = |error: &chat_template::Error| error.reached().is_some() || error.message().contains("too many states");
    for error in [&whole, &streamed].into_iter().filter_map(|result| result.as_ref().err()) {
        let is_excused = !lenient || is_stopped(error) || error.message().contains("the default of a field");
        assert!(is_excused, "a lenient parser fails: {error}\n{description}\n{text:?}");
    }
    match (&whole, &streamed) {
        (Err(error), _) | (_, Err(error)) if is_stopped(error) => {}
        (Ok(whole), Ok(streamed)) => {
            let [whole, streamed] = [whole, streamed].map(|message| serde_json::to_string(message).unwrap());
            assert_eq!(whole, streamed, "{description}\n{text:?}");
        }
        _ => assert!(whole.is_err() && streamed.is_err(), "{description}\n{text:?}\n{whole:?}\n{streamed:?}"),
    }
});
