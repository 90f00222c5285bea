//! The command `port` with a model.

use std::io::Write;
use std::process::{Command, Stdio};

const USER: &str = r#""messages": [{"role": "user", "content": "Hi"}]"#;

/// Returns the answers of the command to requests.
fn answer(arguments: &[&str], requests: &[String]) -> Vec<serde_json::Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chat-template"));
    command
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .arg("port")
        .args(arguments);
    let mut port = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let mut input = port.stdin.take().expect("the input is a pipe");
    input.write_all(requests.join("\n").as_bytes()).expect("the port reads");
    drop(input);
    let output = port.wait_with_output().expect("the port ends");
    let answers = String::from_utf8(output.stdout).expect("answers are UTF-8");
    answers
        .lines()
        .map(|answer| serde_json::from_str(answer).expect("an answer is JSON"))
        .collect()
}

#[test]
fn a_request_without_a_template_uses_that_of_the_model() {
    let requests = [
        format!(r#"{{"apply": {{{USER}}}}}"#),
        format!(r#"{{"apply": {{"template": "{{{{ bos_token }}}}", {USER}}}}}"#),
        format!(r#"{{"apply": {{{USER}, "add_generation_prompt": true}}}}"#),
        format!(r#"{{"chat": {{"body": {{{USER}}}}}}}"#),
        r#"{"inspect": {}}"#.to_owned(),
    ];
    let answers = answer(&["--model", "tests/models/jinja"], &requests);
    let turn = "<|im_start|>user\nHi<|im_end|>\n";
    let with_generation_prompt = format!("{turn}<|im_start|>assistant\n");
    let texts: Vec<&str> = answers.iter().filter_map(|answer| answer["output"].as_str()).collect();
    assert_eq!(texts, [turn, "", &with_generation_prompt, &with_generation_prompt]);
    assert_eq!(answers[4]["report"]["roles"]["user"]["string"], "printed");
}

#[test]
fn a_request_has_the_grammar_of_its_answer() {
    let chat = |rest: &str| {
        format!(r#"{{"chat": {{"template": "{{{{ messages[0].content }}}}", "body": {{{USER}{rest}}}, "grammar": "gbnf"}}}}"#)
    };
    let format = r#", "response_format": {"type": "json_schema", "json_schema": {"schema": {"enum": [1]}}}"#;
    let answers = answer(
        &["--model", "tests/models/jinja"],
        &[chat(format), chat(""), chat(r#", "tool_choice": "required""#)],
    );
    assert_eq!(
        answers[0]["grammar"],
        serde_json::json!({"text": "root ::= \"1\"\n", "triggers": [], "lost": []})
    );
    assert_eq!(
        (&answers[1]["grammar"], &answers[1]["output"]),
        (&serde_json::Value::Null, &"Hi".into())
    );
    assert_eq!(answers[2]["error"]["message"], "/tool_choice: there are no tools");
}

#[test]
fn the_special_tokens_are_those_of_the_model_unless_a_request_has_its_own() {
    let folder = std::env::temp_dir().join(format!("chat-template-port-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let config =
        r#"{"bos_token": "<s>", "chat_template": [{"name": "a", "template": "a{{ bos_token }}"}, {"name": "b", "template": "b"}]}"#;
    std::fs::write(folder.join("tokenizer_config.json"), config).expect("a file can be written");
    let requests = [
        format!(r#"{{"apply": {{{USER}}}}}"#),
        format!(r#"{{"apply": {{{USER}, "special_tokens": {{"bos_token": "<b>"}}}}}}"#),
        format!(r#"{{"chat": {{"body": {{{USER}}}, "special_tokens": {{"bos_token": "<c>"}}}}}}"#),
    ];
    let model = folder.display().to_string();
    let answers = answer(&["--model", &model, "--name", "a"], &requests);
    let texts: Vec<&str> = answers.iter().filter_map(|answer| answer["output"].as_str()).collect();
    assert_eq!(texts, ["a<s>", "a<b>", "a<c>"]);
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
}

#[test]
fn without_a_model_a_request_must_have_a_template() {
    let answers = answer(&[], &[format!(r#"{{"apply": {{{USER}}}}}"#)]);
    let message = answers[0]["error"]["message"].as_str().expect("an error has a message");
    assert!(message.starts_with("the request must have `template`"), "{message}");
}

#[test]
fn a_request_with_after_has_the_piece_to_append() {
    // The template ends the last message with a point.
    let apply = r#""apply": {"template": "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% if loop.last %}.{% endif %}</s>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}",
        "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "A"}, {"role": "user", "content": "B"}]}"#
        .replace('\n', " ");
    let requests = [
        format!(r#"{{{apply}, "after": "<user>Hi</s>"}}"#),
        format!(r#"{{{apply}, "after": "<user>Hi</s><assistant>", "sampled": "Other"}}"#),
        format!(r#"{{{apply}, "after": "<user>Hi.</s>"}}"#),
        format!(r#"{{{apply}, "sampled": "Other"}}"#),
    ];
    let answers = answer(&[], &requests);
    assert_eq!(answers[0]["piece"], "<assistant>A</s><user>B.</s>");
    assert_eq!(answers[1]["piece"], "</s><user>B.</s>");
    assert!(answers[2]["output"].is_string() && answers[2]["piece"].is_null());
    assert_eq!(
        answers[2]["broken"],
        serde_json::json!({"at": 8, "line": 1, "looks_at": [[1, "loop.last"]]})
    );
    assert_eq!(answers[3]["error"]["message"], "`sampled` needs `after`");
}

#[test]
fn a_request_chooses_what_the_model_writes() {
    let messages = r#""messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]"#;
    let template =
        "{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}";
    let request = |options: &str| format!(r#"{{"apply": {{"template": "{template}", {messages}}}, "assistant": {options}}}"#);
    let options = [
        "true",
        r#"{"end_of_turn": false}"#,
        r#"{"roles": ["user", "assistant"], "content_only": true}"#,
        r#"{"roles": "user"}"#,
        r#"{"content": true}"#,
    ];
    let answers = answer(&[], &options.map(request));
    let spans = [
        serde_json::json!([[24, 31]]),
        serde_json::json!([[24, 26]]),
        serde_json::json!([[6, 8], [24, 26]]),
    ];
    for (answer, spans) in answers.iter().zip(spans) {
        assert_eq!(answer["assistant"], spans, "{answer}");
    }
    assert!(
        answers[3].to_string().contains("`roles` must be an array of strings"),
        "{}",
        answers[3]
    );
    assert!(answers[4].to_string().contains("not one of its options"), "{}", answers[4]);
}
