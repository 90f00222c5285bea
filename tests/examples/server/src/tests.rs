//! Requests to the server over a connection.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use chat_template::ChatTemplate;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::lane::Lane;
use super::room::Room;
use tokenizers::Tokenizer;

use super::{BODY_BYTES, connections, router};

/// The maximum number of connections of a test.
const CONNECTIONS: usize = 8;

/// Starts a server on a free port.
async fn start() -> SocketAddr {
    start_with(&[("bos_token", "<s>")]).await
}

/// Starts a server of a model with special tokens.
async fn start_with(tokens: &[(&str, &str)]) -> SocketAddr {
    let model = ChatTemplate::from_source(
        "{{ bos_token }}{% for m in messages %}{{ m.content + '' }}{% endfor %}{{ mode }}",
        tokens,
    )
    .unwrap();
    let tokenizer = concat!(env!("CARGO_MANIFEST_DIR"), "/../../outside/tokenizers/tokenizer.json");
    let tokenizer = Tokenizer::from_file(tokenizer).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(connections::serve(
        listener,
        router(model, Some(tokenizer)).unwrap(),
        CONNECTIONS,
        Duration::from_millis(500),
    ));
    address
}

/// Sends a body to Chat Completions and returns the status and the answer.
fn send(address: SocketAddr, body: &str) -> (u16, Value) {
    send_to(address, "/v1/chat/completions", body)
}

/// Sends a body and returns the status and the answer.
fn send_to(address: SocketAddr, path: &str, body: &str) -> (u16, Value) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(head(path, body.len()).as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    read_answer(stream)
}

/// Returns the head of a request whose body has a length.
fn head(path: &str, length: usize) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n"
    )
}

/// Reads the status and the answer.
fn read_answer(mut stream: TcpStream) -> (u16, Value) {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    assert_eq!(status == 503, head.contains("retry-after: 1"), "{head}");
    (status, serde_json::from_str(body).unwrap())
}

/// Asserts that a request fails with a status, a class and the pointer to a value.
fn assert_fails(address: SocketAddr, body: Value, status: u16, class: &str, param: Option<&str>) {
    let (got, answer) = send(address, &body.to_string());
    let error = &answer["error"];
    assert_eq!(
        (got, error["type"].as_str(), error["param"].as_str()),
        (status, Some(class), param),
        "{body}: {answer}"
    );
    assert!(error["message"].is_string(), "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_is_answered_with_its_prompt() {
    let address = start().await;
    let messages = json!([{"role": "user", "content": "Hi"}]);
    let prompt = |body: Value| {
        let (status, answer) = send(address, &body.to_string());
        assert_eq!(status, 200, "{body}: {answer}");
        answer["choices"][0]["message"]["content"].clone()
    };
    assert_eq!(prompt(json!({"model": "m", "messages": messages, "temperature": 0})), "<s>Hi");
    let variables = json!({"mode": "!"});
    assert_eq!(
        prompt(json!({"messages": messages, "chat_template_kwargs": variables})),
        "<s>Hi!"
    );
    for _ in 0..2 {
        let own = "{{ eos_token is defined }} {{ bos_token }} {{ add_generation_prompt }}";
        assert_eq!(prompt(json!({"messages": messages, "chat_template": own})), "False <s> True");
    }
    let source = "{{ messages[0].content }}<end>";
    assert_eq!(
        prompt(json!({"messages": messages, "chat_template": source, "continue_final_message": true})),
        "Hi"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_format_is_answered_in_its_form_with_what_was_changed() {
    let address = start().await;
    let (_, chat) = send(
        address,
        &json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi<s>"}]}]}).to_string(),
    );
    assert_eq!(chat["choices"][0]["message"]["content"], "<s>Hi<s>");
    assert_eq!(chat["changes"][0]["path"], "/messages/0/content");
    assert_eq!(chat["changes"][0]["kind"], "joined");
    let texts: Vec<&Value> = chat["pieces"]
        .as_array()
        .unwrap()
        .iter()
        .map(|piece| &piece["text"])
        .collect();
    assert_eq!(texts, ["<s>Hi", "<s>"]);
    assert_eq!(chat["pieces"][1]["has_control_tokens"], false);

    let (_, responses) = send_to(
        address,
        "/v1/responses",
        &json!({"instructions": "A", "input": "B"}).to_string(),
    );
    assert_eq!(responses["output"][0]["content"][0]["text"], "<s>AB");
    let body = json!({"system": [{"type": "text", "text": "A"}], "messages": [{"role": "user", "content": "B"}]});
    let (_, messages) = send_to(address, "/v1/messages", &body.to_string());
    assert_eq!(messages["content"][0]["text"], "<s>AB");
    assert_eq!(messages["changes"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_are_counted_and_grammars_are_written() {
    let address = start().await;
    let messages = json!([{"role": "user", "content": "Hello, hello!"}]);
    let body = json!({"system": "Be brief.", "messages": messages}).to_string();
    let tokenizer = concat!(env!("CARGO_MANIFEST_DIR"), "/../../outside/tokenizers/tokenizer.json");
    let tokens = Tokenizer::from_file(tokenizer)
        .unwrap()
        .encode("<s>Be brief.Hello, hello!", false)
        .unwrap();
    let (status, counted) = send_to(address, "/v1/messages/count_tokens", &body);
    assert_eq!((status, counted), (200, json!({"input_tokens": tokens.len()})));

    let format = json!({"type": "json_schema", "json_schema": {"name": "a", "schema": {"enum": [1, 2]}}});
    let body = json!({"messages": messages, "response_format": format, "grammar": "gbnf"});
    let (_, chat) = send(address, &body.to_string());
    assert_eq!(chat["grammar"]["text"], "root ::= \"1\" | \"2\"\n");
    let body = json!({"messages": messages, "tool_choice": "required", "grammar": "gbnf"});
    let (status, failure) = send(address, &body.to_string());
    assert_eq!(
        (status, &failure["error"]["message"]),
        (400, &json!("/tool_choice: there are no tools"))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_model_writes_has_its_place_in_each_format() {
    let address = start().await;
    let template = "{% for m in messages %}<|{{ m.role }}|>{% if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>{% endif %}\
                    {{ m.content }}{% for c in m.tool_calls %}<call>{{ c.function|tojson }}</call>{% endfor %}<|end|>{% endfor %}\
                    {% if add_generation_prompt %}<|assistant|>{% endif %}";
    let sampled = r#"<think>So?</think>Wait.<call>{"name": "look", "arguments": {"city": "Oslo"}}</call><|end|>"#;
    let messages = json!([{"role": "user", "content": "Hi"}]);
    let body = |key: &str| json!({key: messages, "chat_template": template, "sampled": sampled}).to_string();

    let (_, chat) = send(address, &body("messages"));
    let choice = &chat["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls", "{chat}");
    assert_eq!(choice["message"]["reasoning_content"], "So?");
    assert_eq!(choice["message"]["content"], "Wait.");
    let function = &choice["message"]["tool_calls"][0]["function"];
    assert_eq!(
        (&function["name"], &function["arguments"]),
        (&json!("look"), &json!(r#"{"city":"Oslo"}"#))
    );

    let (_, responses) = send_to(address, "/v1/responses", &body("input"));
    let types: Vec<&Value> = responses["output"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| &item["type"])
        .collect();
    assert_eq!(types, ["reasoning", "message", "function_call"]);
    assert_eq!(responses["output"][2]["arguments"], r#"{"city":"Oslo"}"#);

    let (_, messages) = send_to(address, "/v1/messages", &body("messages"));
    assert_eq!(
        messages["content"],
        json!([
            {"type": "thinking", "thinking": "So?", "signature": ""},
            {"type": "text", "text": "Wait."},
            {"type": "tool_use", "id": "call_0", "name": "look", "input": {"city": "Oslo"}},
        ])
    );
    assert_eq!(messages["stop_reason"], "tool_use");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_is_streamed_and_nothing_of_it_is_lost() {
    let address = start_with(&[("eos_token", "</s>")]).await;
    let template = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% for c in m.tool_calls %}<call>{{ c.function|tojson }}</call>\
                    {% endfor %}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";
    let ask = |sampled: &str| {
        let messages = json!([{"role": "user", "content": "Hi"}]);
        let body = json!({"messages": messages, "chat_template": template, "sampled": sampled, "stream": true}).to_string();
        let mut stream = TcpStream::connect(address).unwrap();
        let path = "/v1/chat/completions";
        stream.write_all(head(path, body.len()).as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.contains("content-type: text/event-stream"), "{answer}");
        let chunks = answer
            .lines()
            .filter_map(|line| serde_json::from_str(line.strip_prefix("data:")?).ok());
        let chunks: Vec<Value> = chunks.collect();
        let all = |pointer: &str| -> Vec<String> {
            let parts = chunks.iter().filter_map(|chunk| chunk.pointer(pointer)?.as_str());
            parts.map(str::to_owned).collect()
        };
        (
            all("/choices/0/delta/content").concat(),
            all("/choices/0/delta/tool_calls/0/function/name"),
            all("/choices/0/delta/tool_calls/0/function/arguments"),
            all("/choices/0/finish_reason"),
        )
    };
    let (content, names, arguments, reasons) = ask(r#"Wait. <call>{"name": "look", "arguments": {"city": "Oslo"}}</call><|end|>"#);
    assert_eq!(
        (content.as_str(), names, reasons),
        ("Wait.", vec!["look".to_owned()], vec!["tool_calls".to_owned()])
    );
    assert_eq!(arguments.concat(), r#"{"city": "Oslo"}"#);
    assert!(arguments.len() > 3, "{arguments:?}");
    let (content, names, _, reasons) = ask(r#"Wait. <call>{"name": "look", "arguments": {"city": "Os"#);
    assert_eq!(content, r#"Wait. <call>{"name": "look", "arguments": {"city": "Os"#);
    assert_eq!((names, reasons), (vec!["look".to_owned()], vec!["length".to_owned()]));
    // A stop token of the model ends the text.
    let (content, names, _, reasons) = ask("Wait.</s>No.");
    assert_eq!((content.as_str(), names, reasons), ("Wait.", vec![], vec!["stop".to_owned()]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_has_the_status_of_its_class() {
    let address = start().await;
    let messages = json!([{"role": "user", "content": "Hi"}]);
    let own = |source: &str| json!({"messages": messages, "chat_template": source});
    assert_fails(
        address,
        json!({"messages": [{"role": "robot", "content": "Hi"}]}),
        400,
        "request",
        Some("/messages/0/role"),
    );
    assert_fails(address, json!({"model": "m"}), 400, "request", Some("/messages"));
    assert_fails(address, own("{{ raise_exception('no') }}"), 400, "refused", None);
    assert_fails(address, own("{% if %}"), 400, "template", None);
    assert_fails(
        address,
        own(&format!("{{{{ {}1{} }}}}", "(".repeat(999), ")".repeat(999))),
        400,
        "limit",
        None,
    );
    // Without optimisation, the time is over before the steps are.
    let endless = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}";
    assert_fails(address, own(endless), 503, "limit", None);
    assert_eq!(send(address, "{").0, 400);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_are_late_lose_their_connections_and_keep_nobody_out() {
    let address = start().await;
    let path = "/v1/chat/completions";
    let mut late = Vec::new();
    for begin in ["", "POST / HTTP/1.1\r\n", &head(path, 9), &head(path, 1 << 20)] {
        for _ in 0..CONNECTIONS {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(begin.as_bytes()).unwrap();
            late.push(stream);
        }
    }
    let body = json!({"messages": [{"role": "user", "content": "Hi"}]});
    assert_eq!(send(address, &body.to_string()).0, 200);
    for mut stream in late {
        // The end of the stream, or an error because the server has closed the connection with unread bytes.
        assert_eq!(stream.read(&mut [0]).unwrap_or(0), 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_is_too_large_is_refused() {
    let address = start().await;
    assert_eq!(send(address, &" ".repeat(BODY_BYTES + 1)).0, 413);
}

#[tokio::test]
async fn a_full_lane_refuses_at_once_and_survives_a_panic() {
    let lane = Arc::new(Lane::new(1, 1, 1000));
    let run = |job: Box<dyn FnOnce() + Send>| {
        let lane = Arc::clone(&lane);
        tokio::spawn(async move { lane.run(|_| job()).await })
    };
    let (begin, begun) = oneshot::channel();
    let (end, ended) = std::sync::mpsc::channel();
    let first = run(Box::new(move || {
        begin.send(()).unwrap();
        ended.recv().unwrap();
    }));
    begun.await.unwrap();
    let second = run(Box::new(|| panic!("a job fails")));
    tokio::task::yield_now().await;
    assert!(lane.run(|_| ()).await.is_err_and(|failure| failure.is_retryable()));
    end.send(()).unwrap();
    assert!(first.await.unwrap().is_ok());
    assert!(second.await.unwrap().is_err_and(|failure| !failure.is_retryable()));
    assert!(lane.run(|_| ()).await.is_ok());
}

#[tokio::test]
async fn room_is_free_again_when_a_buffer_is_dropped() {
    let room = Room::new(1 << 20, 1);
    let all = room.reserve(2 << 20).await;
    assert!(room.reserve(1).await.is_ok_and(|permit| permit.is_none()));
    let free = async { drop(all) };
    let (next, refused, ()) = tokio::join!(room.reserve(1 << 20), room.reserve(1 << 20), free);
    assert!(next.is_ok() && refused.is_err_and(|failure| failure.is_retryable()));
}
