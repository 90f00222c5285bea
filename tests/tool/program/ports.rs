//! The commands `conformance diff` and `conformance fuzz`, which compare two ports.
//!
//! A port that differs is a script of `sh` around the port of this crate, and its tests run only on Unix.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use chat_template_cli::conformance::Suite;
use serde_json::Value;

use super::{BINARY, OWN, stderr, stdout};

#[test]
fn fuzz_finds_no_difference_between_a_port_and_itself() {
    let reports = ["first.json", "second.json"].map(|name| folder().join(name).display().to_string());
    for (report, jobs) in reports.iter().zip(["1", "3"]) {
        let output = fuzz(&[
            "--port",
            OWN,
            "--reference",
            OWN,
            "--seed",
            "5",
            "--count",
            "400",
            "--jobs",
            jobs,
            "--report",
            report,
        ]);
        assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    }
    let [first, second] = reports.map(|path| std::fs::read_to_string(path).unwrap());
    assert_eq!(first, second, "the rounds of a seed do not depend on the number of jobs");
    let report: Value = serde_json::from_str(&first).unwrap();
    let count = |key: &str| report[key].as_u64().unwrap();
    assert_eq!((count("rounds"), count("different")), (400, 0));
    assert!(
        count("printed") > 200 && count("failed") > 20 && count("refused") > 5,
        "{report:#}"
    );
    for kind in ["production", "operator", "filter", "test", "global"] {
        let features = report["hits"][kind].as_object().unwrap();
        let (hit, all) = (
            features.values().filter(|feature| feature["used"] != 0).count(),
            features.len(),
        );
        assert!(hit * 100 >= all * 75, "{kind}: {hit} of {all}");
    }
}

#[cfg(unix)]
#[test]
fn a_reference_that_is_not_a_port_is_an_error() {
    let output = fuzz(&["--port", OWN, "--reference", "cat", "--seed", "5", "--count", "3"]);
    assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
    let shown = stderr(&output);
    assert!(shown.contains("the reference answered none of 3 rounds"), "{shown}");
    let template = file("hi.jinja", "hi").display().to_string();
    let conversation = file("hi.json", r#"[{"role": "user", "content": "Hi"}]"#)
        .display()
        .to_string();
    let output = conformance(&[
        "diff",
        "--port",
        OWN,
        "--reference",
        "cat",
        "--templates",
        &template,
        "--conversations",
        &conversation,
    ]);
    assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
    let shown = stderr(&output);
    assert!(shown.contains("nothing could be compared"), "{shown}");
}

#[cfg(unix)]
#[test]
fn fuzz_reduces_a_difference_to_a_small_case() {
    let port = other_port("fuzz.sh", "is undefined", "is not defined");
    let saved = folder().join("found.jsonl").display().to_string();
    let output = fuzz(&[
        "--port",
        &port,
        "--reference",
        OWN,
        "--seed",
        "5",
        "--count",
        "600",
        "--jobs",
        "2",
        "--strict",
        "--save",
        &saved,
    ]);
    assert_eq!(output.status.code(), Some(1), "{}{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).contains("is not defined"), "{}", stdout(&output));
    assert!(stdout(&output).contains("\nproductions "), "{}", stdout(&output));
    let suite = Suite::open(Path::new(&saved)).unwrap();
    assert!(!suite.cases.is_empty());
    for case in &suite.cases {
        assert!(case.template_text().len() < 100, "{}", case.template_text());
    }
    // The saved cases are a suite with the answers of the reference.
    let output = conformance(&["run", "--port", OWN, "--suite", &saved, "--strict"]);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    let output = conformance(&["run", "--port", &port, "--suite", &saved, "--strict"]);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
}

#[cfg(unix)]
#[test]
fn fuzz_compares_only_outputs_without_strict() {
    let port = other_port("texts.sh", "is undefined", "is not defined");
    let arguments = ["--port", &port, "--reference", OWN, "--seed", "5", "--count", "600"];
    let output = fuzz(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    assert_eq!(fuzz(&[&arguments[..], &["--strict"]].concat()).status.code(), Some(1));
    let output = fuzz(&[&arguments[..], &["--report", "/no/such/folder/report.json"]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("/no/such/folder/report.json: "),
        "{}",
        stderr(&output)
    );
}

#[test]
fn fuzz_reads_a_baseline() {
    let list = |name: &str, id: &str| {
        let row = format!("{{\"id\": \"{id}\", \"aspect\": \"output\", \"reason\": \"so it is\"}}\n");
        file(name, &row).display().to_string()
    };
    let listed = list("listed.jsonl", "python_artefacts/break-outside");
    let arguments = ["--port", OWN, "--reference", OWN, "--count", "20", "--baseline"];
    assert_eq!(fuzz(&[&arguments[..], &[&listed]].concat()).status.code(), Some(0));
    let output = fuzz(&[&arguments[..], &["/no/such/file"]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("/no/such/file"), "{}", stderr(&output));
}

#[cfg(unix)]
#[test]
fn diff_shows_where_two_ports_differ() {
    let cache = folder().join("hub");
    let snapshot = cache.join("models--some--model").join("snapshots").join("0123456789abcdef");
    std::fs::create_dir_all(&snapshot).unwrap();
    std::fs::write(
        snapshot.join("chat_template.jinja"),
        "{{ bos_token }}{% for m in messages %}{{ m.role }}\n{% endfor %}",
    )
    .unwrap();
    std::fs::write(snapshot.join("tokenizer_config.json"), r#"{"bos_token": "<s>"}"#).unwrap();
    let template = file(
        "diff.jinja",
        "{{ messages[0].content|length }}{% if add_generation_prompt %}!{% endif %}",
    );
    let conversations = file(
        "chats.jsonl",
        "[{\"role\": \"user\", \"content\": \"Hi\"}]\n{\"messages\": [{\"role\": \"odd\", \"content\": \"\"}], \"add_generation_prompt\": true}\n",
    );
    let [cache, template, conversations] = [cache, template, conversations].map(|path| path.display().to_string());
    let port = other_port("diff.sh", "odd", "even");
    let arguments = [
        "--templates",
        &cache,
        &template,
        "--conversations",
        &conversations,
        "--reference",
        OWN,
        "--port",
    ];
    let output = conformance(&[&["diff"], &arguments[..], &[OWN]].concat());
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    let counted = "2 templates with 2 conversations, applied: 4 same, 0 differ, 0 not compared";
    assert!(stdout(&output).contains(counted), "{}", stdout(&output));

    let output = conformance(&[&["diff"], &arguments[..], &[&port]].concat());
    assert_eq!(output.status.code(), Some(1), "{}{}", stdout(&output), stderr(&output));
    let shown = stdout(&output);
    assert!(
        shown.contains("some/model@01234567 with ") && shown.contains("chats.jsonl:2: wrong"),
        "{shown}"
    );
    assert!(shown.contains("  - <s>odd⏎") && shown.contains("  + <s>even⏎"), "{shown}");
    assert!(shown.contains("3 same, 1 differ"), "{shown}");

    // If one port has no `apply`, both render.
    let render = format!(
        r#"while IFS= read -r line; do case "$line" in *'"id":"apply"'*) echo '{{"id":"apply","unsupported":"no"}}';;
          *) printf '%s\n' "$line" | {OWN};; esac; done"#
    );
    let render = format!("sh '{}'", file("render.sh", &render).display());
    let output = conformance(&[&["diff"], &arguments[..], &[&render]].concat());
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).contains("rendered: 4 same"), "{}", stdout(&output));
}

#[test]
fn mistakes_in_arguments_and_files_are_shown_with_their_places() {
    let fine = file("fine.json", r#"[{"role": "user", "content": "Hi"}]"#)
        .display()
        .to_string();
    let broken = file("broken.json", "[\n  {\"role\": }\n]").display().to_string();
    let line = file("line.jsonl", "[]\n{\"messages\": [}\n").display().to_string();
    let key = file("key.json", "{\"message\": []}").display().to_string();
    let template = file("fine.jinja", "x").display().to_string();
    let empty = folder().join("empty");
    std::fs::create_dir_all(&empty).unwrap();
    let empty = empty.display().to_string();
    for (port, templates, conversations, text) in [
        (
            OWN,
            &template,
            &broken,
            "broken.json: not JSON: Expecting value: line 2 column 12",
        ),
        (OWN, &template, &line, "line.jsonl:2: not JSON: "),
        (OWN, &template, &key, "did you mean \"messages\"?"),
        (OWN, &empty, &fine, "empty: there is no template in it"),
        (OWN, &"/no/such/template".to_owned(), &fine, "/no/such/template: "),
        ("/no/such/port", &template, &fine, "/no/such/port cannot be started"),
    ] {
        let output = conformance(&[
            "diff",
            "--port",
            port,
            "--reference",
            OWN,
            "--templates",
            templates,
            "--conversations",
            conversations,
        ]);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(stderr(&output).contains(text), "{}", stderr(&output));
    }
    for (reference, text) in [
        ("/no/such/port", "error: /no/such/port cannot be started"),
        (
            "adapter --port '1",
            "--reference: a quote is not closed, or a backslash is the last character, in \"adapter --port '1\"",
        ),
        ("cat /dev/null", "answered none of the first 20 rounds"),
    ] {
        let output = fuzz(&["--port", OWN, "--reference", reference, "--count", "30"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(text), "{}", stderr(&output));
    }
}

fn fuzz(arguments: &[&str]) -> Output {
    conformance(&[&["fuzz"], arguments].concat())
}

fn conformance(arguments: &[&str]) -> Output {
    Command::new(BINARY).arg("conformance").args(arguments).output().unwrap()
}

/// Returns the command of a port that replaces a text in the answers of this crate's port.
#[cfg(unix)]
fn other_port(name: &str, text: &str, other: &str) -> String {
    let script = format!(
        r#"{OWN} | while IFS= read -r line; do case "$line" in
          *'{text}'*) printf '%s\n' "${{line%%'{text}'*}}{other}${{line#*'{text}'}}";;
          *) printf '%s\n' "$line";;
        esac; done"#
    );
    format!("sh '{}'", file(name, &script).display())
}

fn folder() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("ports");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn file(name: &str, text: &str) -> PathBuf {
    let path = folder().join(name);
    std::fs::write(&path, text).unwrap();
    path
}
