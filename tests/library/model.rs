//! What the files of a model say of its special tokens, beyond the cases of folders.

use std::path::Path;

use chat_template::{ChatTemplate, LoadOptions};
use serde_json::json;

/// Loads a folder with these files.
fn load(name: &str, files: &[(&str, &str)]) -> ChatTemplate {
    let folder = std::env::temp_dir().join(format!("chat-template-model-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (file, text) in files.iter().chain(&[("chat_template.jinja", "x")]) {
        std::fs::write(folder.join(file), text).unwrap();
    }
    let template = ChatTemplate::from_dir(&folder, &LoadOptions::default());
    std::fs::remove_dir_all(&folder).unwrap();
    template.unwrap()
}

fn read(table: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/chat/model/tokenizer_tables");
    std::fs::read_to_string(folder.join(table)).unwrap()
}

#[test]
fn tokens_of_tokenizer_json() {
    let long = "a".repeat(1000);
    let escaped = format!(
        r#"{{"{long}": 1, "model": {{"vocab": {{"a": 1, "padding": 2}}}}, "p\u0061dding" : {{"pad_token": "<p>"}}, "added_tokens": [{{"content": "<a>", "special": true}}]}}"#
    );
    let rows: [(&str, Option<&str>, &[&str]); 7] = [
        // Nothing is read after both keys.
        (
            r#"{"padding": {"pad_token": "<p>"}, "added_tokens": [{"content": "<a>", "special": true}, {"content": "b"}], and so on"#,
            Some("<p>"),
            &["<a>"],
        ),
        (&escaped, Some("<p>"), &["<a>"]),
        ("rubbish", None, &[]),
        (r#"{"padding": {"pad_token": 0}, "added_tokens": null}"#, None, &[]),
        (r#"{"model": {"padding": {"pad_token": "a"}}}"#, None, &[]),
        (r#"{"\"padding\": {": "}", "padding": "pad_token", "model": ["#, None, &[]),
        (r#"["padding", {"pad_token": "a"}]"#, None, &[]),
    ];
    for (text, pad_token, added) in rows {
        let template = load("json", &[("tokenizer.json", text)]);
        let found = template.special_tokens().iter().find(|(name, _)| name == "pad_token");
        assert_eq!(found.map(|(_, token)| token.as_str()), pad_token, "{text}");
        assert_eq!(template.added_special_tokens(), added, "{text}");
    }
}

#[test]
fn every_class_has_tokens_with_and_without_its_suffix() {
    let tokens = |class: &str| {
        let template = ChatTemplate::from_config(&json!({"tokenizer_class": class})).unwrap();
        template.special_tokens().to_vec()
    };
    for line in read("classes.tsv").lines().skip(1) {
        let (name, _) = line.split_once('\t').unwrap();
        assert_eq!(tokens(name), tokens(&format!("{name}Fast")), "{name}");
    }
    assert_eq!(tokens("ElectraTokenizer"), tokens("BertTokenizer"));
    assert_eq!((tokens("NoSuchTokenizer"), tokens("TokenizersBackend")), (vec![], vec![]));
    for line in read("model_types.tsv").lines().skip(1) {
        assert_eq!(line.matches('\t').count(), 3, "{line}");
    }
}

#[test]
fn a_pattern_of_repositories_may_end_with_a_star() {
    for (repository, has_tokens) in [
        ("deepseek-ai/DeepSeek-Coder-6.7b", false),
        ("google/umt5-small", false),
        ("google/umt5-small-x", true),
    ] {
        let config = json!({"model_type": "other", "_name_or_path": repository}).to_string();
        let template = load(
            "repository",
            &[
                ("config.json", &config),
                ("tokenizer_config.json", r#"{"tokenizer_class": "LlamaTokenizer"}"#),
            ],
        );
        assert_eq!(!template.special_tokens().is_empty(), has_tokens, "{repository}");
    }
}
