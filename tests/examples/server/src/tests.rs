//! Requests to the server over a connection.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use chat_template::ChatTemplate;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::router;

/// Starts a server on a free port.
async fn start() -> SocketAddr {
    let model = ChatTemplate::from_source(
        "{{ bos_token }}{% for m in messages %}{{ m.content + '' }}{% endfor %}{{ mode }}",
        &[("bos_token", "<s>")],
    );
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async { axum::serve(listener, router(model)).await.unwrap() });
    address
}

/// Sends a body to Chat Completions and returns the status and the answer.
fn send(address: SocketAddr, body: &str) -> (u16, Value) {
    send_to(address, "/v1/chat/completions", body)
}

/// Sends a body and returns the status and the answer.
fn send_to(address: SocketAddr, path: &str, body: &str) -> (u16, Value) {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
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
    assert_eq!(chat["changes"][0]["what"], "joined");
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
    assert_eq!(messages["changes"][0]["path"], "/system");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_has_the_status_of_its_class() {
    let address = start().await;
    let messages = json!([{"role": "user", "content": "Hi"}]);
    let own = |source: &str| json!({"messages": messages, "chat_template": source});
    assert_fails(
        address,
        json!({"messages": [{"role": "user", "content": [{"type": "hologram"}]}]}),
        400,
        "request",
        Some("/messages/0/content/0"),
    );
    assert_fails(address, json!({"model": "m"}), 400, "request", Some("/messages"));
    assert_fails(address, own("{{ raise_exception('no') }}"), 400, "refused", None);
    assert_fails(address, own("{% if %}"), 400, "template", None);
    let endless = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}";
    assert_fails(address, own(endless), 400, "limit", None);
    assert_eq!(send(address, "{").0, 400);
}
