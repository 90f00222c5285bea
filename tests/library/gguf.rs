//! GGUF files: what is read of them, and what is refused.

use std::io::{Seek, SeekFrom, Write};

use chat_template::{ApplyOptions, Bounds, ChatTemplate, Deadline, Limit, Limits, LoadOptions};
use serde_json::json;

/// A value in the metadata.
enum Value<'v> {
    U32(u32),
    I64(i64),
    F32(f32),
    Bool(bool),
    Text(&'v str),
    Bytes(&'v [u8]),
    Integers(&'v [i32]),
    Texts(&'v [&'v str]),
    Nested,
}

/// Writes the parts of a file in one byte order.
struct Writer {
    bytes: Vec<u8>,
    is_big_endian: bool,
}

impl Writer {
    fn number(&mut self, number: u64, width: usize) {
        let mut bytes = number.to_le_bytes()[..width].to_vec();
        if self.is_big_endian {
            bytes.reverse();
        }
        self.bytes.extend(bytes);
    }

    fn string(&mut self, text: &[u8]) {
        self.number(text.len() as u64, 8);
        self.bytes.extend(text);
    }

    fn value(&mut self, value: &Value<'_>) {
        let mut typed = |kind: u64, number: u64, width: usize| {
            self.number(kind, 4);
            self.number(number, width);
        };
        match value {
            Value::U32(number) => typed(4, u64::from(*number), 4),
            Value::I64(number) => typed(11, *number as u64, 8),
            Value::F32(number) => typed(6, u64::from(number.to_bits()), 4),
            Value::Bool(is_true) => typed(7, u64::from(*is_true), 1),
            Value::Text(text) => self.value(&Value::Bytes(text.as_bytes())),
            Value::Bytes(text) => {
                self.number(8, 4);
                self.string(text);
            }
            Value::Integers(numbers) => {
                typed(9, 5, 4);
                self.number(numbers.len() as u64, 8);
                numbers.iter().for_each(|number| self.number(u64::from(*number as u32), 4));
            }
            Value::Texts(texts) => {
                typed(9, 8, 4);
                self.number(texts.len() as u64, 8);
                texts.iter().for_each(|text| self.string(text.as_bytes()));
            }
            Value::Nested => {
                typed(9, 9, 4);
                self.number(1, 8);
            }
        }
    }
}

fn write(version: u64, is_big_endian: bool, entries: &[(&str, Value<'_>)]) -> Vec<u8> {
    let mut file = Writer {
        bytes: b"GGUF".to_vec(),
        is_big_endian,
    };
    file.number(version, 4);
    file.number(0, 8);
    file.number(entries.len() as u64, 8);
    for (key, value) in entries {
        file.string(key.as_bytes());
        file.value(value);
    }
    file.bytes
}

/// Returns the entries of a model with two templates and all kinds of tokens.
fn model() -> Vec<(&'static str, Value<'static>)> {
    vec![
        ("general.architecture", Value::Text("llama")),
        ("llama.rope.freq_base", Value::F32(1e6)),
        ("general.tags", Value::Texts(&["chat", "é"])),
        ("tokenizer.ggml.model", Value::Text("gpt2")),
        (
            "tokenizer.ggml.tokens",
            Value::Texts(&["<unk>", "<s>", "</s>", "a", "<|im_end|>", "▁x", "<sep>", "<|user|>"]),
        ),
        ("tokenizer.ggml.token_type", Value::Integers(&[2, 3, 3, 1, 3, 3, 1, 4])),
        ("tokenizer.ggml.bos_token_id", Value::U32(1)),
        ("tokenizer.ggml.eos_token_id", Value::I64(2)),
        ("tokenizer.ggml.eot_token_id", Value::U32(4)),
        ("tokenizer.ggml.seperator_token_id", Value::U32(6)),
        ("tokenizer.ggml.padding_token_id", Value::U32(u32::MAX)),
        ("tokenizer.ggml.add_bos_token", Value::Bool(false)),
        (
            "tokenizer.chat_template",
            Value::Text("{{ bos_token }}{{ messages[0].content }}{{ eos_token }}"),
        ),
        (
            "tokenizer.chat_template.tool_use",
            Value::Text("{{ sep_token }}{{ tools|length }}"),
        ),
    ]
}

fn load(bytes: &[u8]) -> Result<ChatTemplate, String> {
    ChatTemplate::from_gguf_bytes(bytes, Bounds::default()).map_err(|error| error.to_string())
}

#[test]
fn templates_and_tokens_are_read_in_either_byte_order() {
    for (version, is_big_endian) in [(2, false), (3, false), (2, true), (3, true)] {
        let template = load(&write(version, is_big_endian, &model())).unwrap();
        let messages = json!([{"role": "user", "content": "Hi"}]);
        let render = |options| template.apply(&messages, &options).unwrap().text;
        assert_eq!(render(ApplyOptions::default()), "<s>Hi</s>");
        assert_eq!(render(ApplyOptions::default().with_tools(&json!([]))), "<sep>0");
        let named = [("bos_token", "<s>"), ("eos_token", "</s>"), ("sep_token", "<sep>")];
        let named = named.map(|(name, token)| (name.to_owned(), token.to_owned()));
        assert_eq!(template.special_tokens(), named);
        // In the alphabet of bytes there is no `▁`, so that this token is only marked by mistake.
        assert_eq!(template.added_special_tokens(), ["<|im_end|>"]);
        let stops = template.stop_tokens().unwrap();
        assert_eq!(stops[1], ("<|im_end|>".to_owned(), vec!["gguf", "added_tokens"]));
        assert_eq!(template.adds_bos_token(), Some(false));
    }
}

#[test]
fn the_last_value_of_a_repeated_key_counts() {
    let mut entries = model();
    entries.push(("tokenizer.chat_template", Value::Text("last")));
    entries.push(("tokenizer.ggml.bos_token_id", Value::U32(0)));
    let template = load(&write(3, false, &entries)).unwrap();
    assert_eq!(template.named_source("default"), Some("last"));
    assert_eq!(template.special_tokens()[0].1, "<unk>");
}

#[test]
fn the_rule_for_the_first_token_depends_on_the_tokenizer() {
    for (model, expected) in [("llama", Some(true)), ("gemma4", Some(false)), ("gpt2", None)] {
        let entries = [
            ("tokenizer.ggml.model", Value::Text(model)),
            ("tokenizer.chat_template", Value::Text("x")),
        ];
        assert_eq!(load(&write(3, false, &entries)).unwrap().adds_bos_token(), expected);
    }
}

#[test]
fn a_file_with_a_fault_is_refused_with_its_place() {
    let template = |value| write(3, false, &[("tokenizer.chat_template", value)]);
    let mut long = template(Value::Text("x"));
    long[24 + 8 + 23 + 4..24 + 8 + 23 + 12].fill(0xff);
    let cases: &[(Vec<u8>, &str)] = &[
        (b"GGML".to_vec(), "byte 0: not a GGUF file"),
        (b"GG".to_vec(), "byte 0: the file ends"),
        (write(1, false, &[]), "byte 4: version 1 of GGUF; versions 2 and 3 are read"),
        (write(3, false, &[]), "neither a chat template nor a tokenizer"),
        (template(Value::U32(1)), "byte 59: tokenizer.chat_template is not a string"),
        (template(Value::Bytes(b"\xff")), "byte 67: invalid UTF-8"),
        (template(Value::Text("{{")), "unexpected 'end of template'"),
        (write(3, false, &[("a", Value::Nested)]), "byte 49: an array of arrays"),
        (
            write(3, false, &[("tokenizer.ggml.bos_token_id", Value::F32(1.0))]),
            "byte 63: the value must be an integer",
        ),
        (long, "byte 67: a string of 18446744073709551615 bytes"),
    ];
    for (file, expected) in cases {
        let error = load(file).unwrap_err();
        assert!(error.contains(expected), "{error}\n{expected}");
    }
    let whole = write(3, false, &model());
    let ends = (0..whole.len()).filter(|end| load(&whole[..*end]).is_ok());
    assert_eq!(ends.count(), 0);
}

#[test]
fn a_file_with_wrong_bytes_is_an_answer_or_an_error() {
    let (mut random, mut read) = (1_u64, 0);
    let mut draw = |below: usize| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below
    };
    for round in 0..10_000 {
        let mut file = write(3, round % 2 == 0, &model());
        for _ in 0..=draw(3) {
            let at = draw(file.len());
            file[at] = [0, 1, 0x7f, 0xff, draw(256) as u8][draw(5)];
        }
        read += usize::from(load(&file).is_ok());
    }
    assert!((2000..9000).contains(&read), "{read}");
}

#[test]
fn only_the_metadata_of_a_file_are_read() {
    let path = std::env::temp_dir().join(format!("chat-template-{}.gguf", std::process::id()));
    let mut file = std::fs::File::create(&path).unwrap();
    file.write_all(&write(3, false, &model())).unwrap();
    file.seek(SeekFrom::Start(3 << 30)).unwrap();
    file.set_len(3 << 30).unwrap();
    let options = LoadOptions::default().with_max_file_size(4096);
    let template = ChatTemplate::from_gguf(&path, &options).unwrap();
    assert_eq!(template.names(), ["default", "tool_use"]);
    let small = ChatTemplate::from_gguf(&path, &options.with_max_file_size(100)).unwrap_err();
    assert_eq!(small.reached().unwrap().limit, Limit::File);
    assert!(small.message().starts_with(&path.display().to_string()), "{small}");
    let deadline = Deadline::new(0);
    let late = ChatTemplate::from_gguf(&path, &options.with_bounds(&deadline)).unwrap_err();
    assert_eq!(late.reached().unwrap().limit, Limit::Milliseconds);
    let limits = Limits::default().with_source(10);
    let long = ChatTemplate::from_gguf(&path, &options.with_bounds(&limits)).unwrap_err();
    assert_eq!(long.reached().unwrap().limit, Limit::Source);
    std::fs::remove_file(&path).unwrap();
    let missing = ChatTemplate::from_gguf(&path, &options).unwrap_err();
    assert!(missing.message().starts_with(&path.display().to_string()), "{missing}");
}
