//! Asks the port for the prompts of bodies that templates do not take as they are: `tests/request/faults.jsonl`.
//!
//! A line has a template, a body, and what the answer must be: texts that the prompt has (`has`) and does not have (`lacks`), its end
//! (`ends`), all changes as `path kind` (`changes`), kinds of which some are there (`some`) and none (`no`), the paths that are dropped and no
//! others (`dropped`), severities as `path severity` (`severities`), or the pointer of the error (`error`). Of `any`, one text is in the prompt
//! or one path is dropped.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// Returns the answers of the port.
fn ask(requests: &[Value]) -> Vec<Value> {
    let mut port = Command::new(env!("CARGO_BIN_EXE_chat-template"))
        .arg("port")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines: String = requests.iter().map(|request| format!("{request}\n")).collect();
    port.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = port.wait_with_output().unwrap().stdout;
    let answers = String::from_utf8(output).unwrap();
    answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Returns what is wrong with an answer.
fn find_fault(case: &Value, answer: &Value) -> Option<String> {
    if let Some(path) = case["error"].as_str() {
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        return (!message.starts_with(&format!("{path}:"))).then(|| format!("no error about {path}"));
    }
    let Some(prompt) = answer["output"].as_str() else {
        return Some("no prompt".to_owned());
    };
    let changes = answer["changes"].as_array().cloned().unwrap_or_default();
    let list = |field: &str| -> Vec<String> {
        let of = |change: &Value| format!("{} {}", change["path"].as_str().unwrap(), change[field].as_str().unwrap());
        changes.iter().map(of).collect()
    };
    let kinds: Vec<_> = changes.iter().map(|change| change["kind"].as_str().unwrap()).collect();
    let is_dropped = |change: &&Value| change["kind"] == "dropped";
    let dropped: Vec<_> = changes
        .iter()
        .filter(is_dropped)
        .map(|change| change["path"].as_str().unwrap())
        .collect();
    let fault = |wrong: bool, fault: String| wrong.then_some(fault);
    let faults = [
        texts(&case["has"])
            .into_iter()
            .find(|text| !prompt.contains(text))
            .map(|text| format!("no {text:?}")),
        texts(&case["lacks"])
            .into_iter()
            .find(|text| prompt.contains(text))
            .map(|text| format!("{text:?}")),
        case["ends"]
            .as_str()
            .filter(|end| !prompt.ends_with(end))
            .map(|end| format!("no {end:?} at the end")),
        fault(
            !case["changes"].is_null() && texts(&case["changes"]) != list("kind"),
            "other changes".to_owned(),
        ),
        fault(
            !case["some"].is_null() && !texts(&case["some"]).iter().any(|kind| kinds.contains(kind)),
            format!("none of {}", case["some"]),
        ),
        texts(&case["no"])
            .into_iter()
            .find(|kind| kinds.contains(kind))
            .map(str::to_owned),
        fault(
            !case["dropped"].is_null() && texts(&case["dropped"]) != dropped,
            "other paths are dropped".to_owned(),
        ),
        fault(
            !case["any"].is_null()
                && !texts(&case["any"])
                    .iter()
                    .any(|text| prompt.contains(text) || dropped.contains(text)),
            format!("none of {}", case["any"]),
        ),
        texts(&case["severities"])
            .into_iter()
            .find(|severity| !list("severity").iter().any(|found| found == severity))
            .map(|severity| format!("no {severity:?}")),
    ];
    faults.into_iter().flatten().next()
}

#[test]
fn no_fault_is_there() {
    let cases: Vec<Value> = include_str!("../../request/faults.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let request =
        |case: &Value| json!({"id": 1, "chat": {"template": case["template"], "body": case["body"]}, "now": "2026-01-02T03:04:05"});
    let answers = ask(&cases.iter().map(request).collect::<Vec<_>>());
    assert_eq!(answers.len(), cases.len());
    let faults = cases.iter().zip(&answers).filter_map(|(case, answer)| {
        let fault = find_fault(case, answer)?;
        Some(format!("fault {} {}: {fault}\n  {answer}\n", case["fault"], case["name"]))
    });
    let faults: String = faults.collect();
    assert!(faults.is_empty(), "{faults}");
}
