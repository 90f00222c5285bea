//! Counts the instructions of preparing and rendering a request whose shape is known, and divides them by those of a traced `apply` on its
//! messages. The request has 100 messages and five tools.
//!
//! ```text
//! cargo bench --bench request     # exit status 1 if a ratio is above 1.5
//! ```
//!
//! The program runs itself under valgrind's callgrind, because counts do not depend on the load of the machine.
#![allow(clippy::restriction, clippy::pedantic, reason = "a bench that cannot run should panic")]

mod comparison;

use std::hint::black_box;

use chat_template::json::{Data, to_data};
use chat_template::request::{PrepareOptions, Severity};
use chat_template::{ApplyOptions, ChatTemplate, Limits};
use serde_json::json;

use comparison::callgrind::count_instructions;
use comparison::conversation::{Size, conversation};
use comparison::{FAMILIES, Family};

/// The maximum of each ratio. The highest is that of a template of one line, which prints no tools; the others are below 1.4.
const MAX_RATIO: f64 = 1.5;

/// The number of rounds that are counted. It is large because the number of instructions of the search before them varies.
const ROUNDS: u64 = 100;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let ["--rounds", name, action, rounds] = arguments[..] {
        let family = FAMILIES.iter().find(|family| family.name == name).expect("one of the five");
        return run_action(family, action, rounds.parse().expect("a number of rounds"));
    }
    if !arguments.contains(&"--bench") {
        return FAMILIES.iter().for_each(check);
    }
    let ratios = FAMILIES.map(|family| compare(&family));
    assert!(ratios.iter().all(|ratio| *ratio <= MAX_RATIO), "{ratios:?}");
}

/// Returns the template of a family, and the body of a request whose shape it knows.
fn make_request(family: &Family) -> (ChatTemplate, Data<'static>) {
    let messages = conversation(family, Size::Messages(100))["messages"].take();
    let tools = conversation(family, Size::Tools(5))["tools"].take();
    let tokens = [("bos_token", "<s>"), ("eos_token", "</s>")];
    let template = ChatTemplate::from_source(family.source, &tokens).unwrap();
    let body = to_data(&json!({"messages": messages, "tools": tools})).unwrap();
    let mut limits = Limits::default();
    limits.milliseconds = None;
    let options = PrepareOptions::default().with_bounds(&limits);
    template.prepare_with(&body, &options).expect("it is taken");
    (template, body)
}

fn apply(template: &ChatTemplate, body: &Data<'_>) -> String {
    let Data::Object(body) = body else { panic!("it is an object") };
    let [messages, tools] = ["messages", "tools"].map(|key| body.get(key).unwrap());
    let options = ApplyOptions::default()
        .with_tools(tools)
        .with_add_generation_prompt(true)
        .with_trace(true);
    template.apply(messages, &options).expect("it renders").text
}

/// Runs `apply` or `prepare` for a number of rounds.
fn run_action(family: &Family, action: &str, rounds: u64) {
    let (template, body) = make_request(family);
    for _ in 0..rounds {
        if action == "apply" {
            black_box(apply(&template, &body));
        } else {
            let prepared = template.prepare(&body).expect("it is taken");
            black_box(prepared.render().expect("it renders"));
        }
    }
}

/// Checks that the prompts are equal if preparing the request changes nothing but unused values.
fn check(family: &Family) {
    let (template, body) = make_request(family);
    let prepared = template.prepare(&body).expect("it is taken");
    let (prompt, changes) = prepared.render().expect("it renders");
    let is_changed = changes.iter().any(|change| change.severity != Severity::Lost);
    assert!(is_changed || prompt.text == apply(&template, &body), "{}", family.name);
}

/// Prints and returns the ratio of a family of templates.
fn compare(family: &Family) -> f64 {
    let [apply, prepare] = ["apply", "prepare"].map(|action| count_instructions(&[family.name, action], ROUNDS));
    let ratio = prepare as f64 / apply as f64;
    println!("{:14} apply {apply:8}, prepare {prepare:8}, ratio {ratio:.2}", family.name);
    ratio
}
