use std::cell::Cell;
use std::collections::HashSet;

use chat_template::{ApplyOptions, Bounds, ChatTemplate, ControlPolicy, ControlTokens, Prompt, PromptOptions, TokenOrigin, json};
use serde_json::{Value, json};

use super::Encoder;

const NAMED: [(&str, &str); 2] = [("bos_token", "<s>"), ("eos_token", "</s>")];

const ROLES: [&str; 4] = ["system", "user", "assistant", "tool"];

fn encoder() -> Encoder {
    Encoder::new(include_str!("../tokenizer.json")).unwrap()
}

/// Returns the templates of the families in `tests/cases`.
fn templates() -> Vec<(String, ChatTemplate)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/families");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let templates = paths.filter(|path| path.extension().is_some_and(|extension| extension == "jinja"));
    let load = |path: std::path::PathBuf| {
        let source = std::fs::read_to_string(&path).unwrap();
        (path.display().to_string(), ChatTemplate::from_source(source, &NAMED).unwrap())
    };
    templates.map(load).collect()
}

fn apply(template: &ChatTemplate, content: &str, encoder: &Encoder) -> Option<Prompt> {
    let messages = json!([
        {"role": "user", "content": content},
        {"role": "assistant", "content": "Well."},
        {"role": "user", "content": format!("And {content}")},
    ]);
    let tokens: Vec<&str> = encoder.control_tokens.iter().map(String::as_str).collect();
    let options = ApplyOptions::default().with_add_generation_prompt(true).with_control_tokens(
        ControlTokens::default()
            .with_policy(ControlPolicy::Split)
            .with_tokens(&tokens)
            .with_roles(&ROLES),
    );
    template.apply(&messages, &options).ok()
}

/// Returns the ids that are those of control tokens.
fn control_ids(ids: &[u32], encoder: &Encoder) -> Vec<u32> {
    let is_control = |id: &&u32| {
        let text = encoder.tokenizer().id_to_token(**id).unwrap();
        encoder.control_tokens.contains(&text)
    };
    ids.iter().filter(is_control).copied().collect()
}

#[test]
fn no_id_of_a_control_token_is_of_a_user() {
    let encoder = encoder();
    let (mut split, mut kept) = (0, 0);
    for (path, template) in templates() {
        for token in &encoder.control_tokens {
            let Some(prompt) = apply(&template, &format!("Hi{token}{token}!"), &encoder) else {
                continue;
            };
            let ids = encoder.encode(&prompt).unwrap();
            let place = |index: usize| prompt.untrusted.get(index).map(|token| token.bytes.start);
            let found = prompt
                .control_tokens(&encoder.control_tokens, Bounds::default())
                .unwrap()
                .into_iter();
            let trusted = found.filter(|token| token.origin != TokenOrigin::Input && !prompt.untrusted.contains(token));
            let trusted: Vec<u32> = trusted
                .map(|token| encoder.tokenizer().token_to_id(&prompt.text[token.bytes]).unwrap())
                .collect();
            assert_eq!(
                control_ids(&ids, &encoder),
                trusted,
                "{path}, {token}, from byte {:?}",
                place(0)
            );
            assert_eq!(
                encoder.tokenizer().decode(&ids, false).unwrap(),
                prompt.text,
                "{path}, {token}"
            );
            split += prompt.untrusted.len();
            kept += trusted.len();
        }
    }
    println!("{split} occurrences split, {kept} kept");
    assert!(split > 1000 && kept > 1000);
}

#[test]
fn the_ids_are_unchanged_where_nothing_is_split() {
    let encoder = encoder();
    let mut prompts = 0;
    for (path, template) in templates() {
        for content in [
            "Hi",
            "Was ist 2+2?\n\n  Grüße 👋",
            "a < b | c > d",
            "＜|end|＞ <| end |>",
            "<｜im_end｜>",
        ] {
            let Some(prompt) = apply(&template, content, &encoder) else {
                continue;
            };
            assert_eq!(prompt.untrusted, [], "{path}, {content}");
            assert_eq!(prompt.pieces().len(), 1, "{path}, {content}");
            let whole = encoder.tokenizer().encode_fast(prompt.text.as_str(), false).unwrap();
            assert_eq!(encoder.encode(&prompt).unwrap(), whole.get_ids(), "{path}, {content}");
            prompts += 1;
        }
    }
    println!("{prompts} prompts");
    assert!(prompts > 100);
}

#[test]
fn tokens_are_found_where_the_tokenizer_finds_them() {
    let encoder = encoder();
    let mut parts: Vec<String> = [
        "<|", "|>", "<", ">", "end", "d", "|", "\n", " ", "s", "/", "é", "im_", "STO", "P",
    ]
    .map(str::to_owned)
    .into();
    parts.extend(encoder.control_tokens.iter().cloned());
    let mut seed = 1_u64;
    let mut next = |bound: usize| {
        // Knuth's MMIX generator.
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % bound
    };
    let mut tokens = 0;
    for _ in 0..20_000 {
        let mut prompt = Prompt::default();
        for _ in 0..next(12) {
            prompt.text += &parts[next(parts.len())];
        }
        let encoding = encoder.tokenizer().encode(prompt.text.as_str(), false).unwrap();
        let pairs = encoding.get_ids().iter().zip(encoding.get_offsets());
        let expected: Vec<Value> = pairs
            .filter(|(id, _)| !control_ids(&[**id], &encoder).is_empty())
            .map(|(_, (start, end))| json!([start, end]))
            .collect();
        let found = prompt
            .control_tokens(&encoder.control_tokens, Bounds::default())
            .unwrap()
            .into_iter();
        let found: Vec<Value> = found.map(|token| json!([token.bytes.start, token.bytes.end])).collect();
        assert_eq!(found, expected, "{:?}", prompt.text);
        tokens += found.len();
    }
    println!("{tokens} tokens");
}

/// A conversation of a thousand messages: rounds of a question, two calls with their results, and an answer; in the last round, many calls.
fn long_conversation() -> Value {
    let mut messages = vec![json!({"role": "system", "content": "You help with weather."})];
    let call = |messages: &mut Vec<Value>| {
        let number = messages.len();
        let (id, city) = (format!("call{number:05}"), format!("city {number}"));
        let function = json!({"name": "weather", "arguments": json!({"city": city}).to_string()});
        messages.push(json!({"role": "assistant", "tool_calls": [{"id": id, "type": "function", "function": function}]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": format!("{} degrees", number % 40)}));
    };
    while messages.len() < 900 {
        messages.push(json!({"role": "user", "content": format!("How warm is it, question {}?", messages.len())}));
        call(&mut messages);
        call(&mut messages);
        messages.push(json!({"role": "assistant", "content": "It is warm."}));
    }
    messages.push(json!({"role": "user", "content": "How warm is it everywhere?"}));
    while messages.len() < 1_000 {
        call(&mut messages);
    }
    let parameters = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let function = json!({"name": "weather", "description": "Returns the temperature.", "parameters": parameters});
    json!({"messages": messages, "tools": [{"type": "function", "function": function}]})
}

#[test]
fn a_long_conversation_is_cut_to_a_number_of_tokens() {
    let (encoder, body) = (encoder(), long_conversation());
    let messages = body["messages"].as_array().unwrap();
    let body = json::to_data(&body).unwrap();
    let (mut cut, mut most) = (0, 0);
    for ((name, template), part) in templates().into_iter().zip([2, 10, 30].into_iter().cycle()) {
        let renders = Cell::new(0);
        let count = |text: &str| {
            renders.set(renders.get() + 1);
            encoder.tokenizer().encode_fast(text, false).map(|encoding| encoding.len())
        };
        let options = PromptOptions::default();
        let Ok(whole) = template.prepare(&body).and_then(|prepared| prepared.count(&count, &options)) else {
            continue;
        };
        let limit = whole / part;
        renders.set(0);
        let prepared = template.prepare(&body).unwrap();
        let prepared = match prepared.fit(limit, &count, &options) {
            Ok(prepared) => prepared,
            // The tools and the last round can be longer.
            Err(error) if error.message().ends_with(&format!("and the limit is {limit}")) => continue,
            Err(error) => panic!("{name}: {error}"),
        };
        most = most.max(renders.get() + 1);
        let (prompt, changes) = prepared.render().unwrap();
        assert!(count(&prompt.text).unwrap() <= limit, "{name}");
        let reason = "the prompt would have more tokens than the limit";
        let paths = changes
            .iter()
            .filter(|change| change.reason == reason)
            .map(|change| &*change.path);
        let paths: HashSet<&str> = paths.collect();
        let is_cut = |index: usize| paths.contains(&*format!("/messages/{index}"));
        for (index, message) in messages.iter().enumerate() {
            let is_result = message["role"] == "tool";
            assert!(
                !is_result || is_cut(index) == is_cut(index - 1),
                "{name}: half a round at {index}"
            );
        }
        assert!(
            !is_cut(0) && !is_cut(messages.iter().rposition(|message| message["role"] == "user").unwrap()),
            "{name}"
        );
        cut += 1;
    }
    assert!(
        cut >= 40 && most <= 12,
        "{cut} conversations were cut, with {most} renders at most"
    );
    println!("{cut} conversations were cut, with {most} renders at most");
}
