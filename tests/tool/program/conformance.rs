//! The conformance commands with the port of this crate, and with ports that crash, hang and print rubbish.
//!
//! The faulty ports are scripts of `sh`, and their tests run only on Unix.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use chat_template_cli::conformance::Suite;
use serde_json::Value;

use super::{BINARY, OWN, stderr, stdout};

#[test]
fn export_contains_every_case_of_the_protocol() {
    let cases = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/cases");
    let folders = [&cases, &cases.join("families")].map(|folder| std::fs::read_dir(folder).unwrap());
    let files = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
    let files = files.chain([cases.join("contract/apply.jsonl")]);
    let mut ids = BTreeSet::new();
    for path in files.filter(|path| path.extension().is_some_and(|end| end == "jsonl")) {
        let suite = Suite::open(&path).unwrap();
        ids.extend(suite.cases.into_iter().map(|case| case.id));
    }
    let output = conformance(&["export"]);
    assert!(output.status.success());
    let exported = stdout(&output);
    let embedded = Suite::embedded().unwrap();
    let exported_ids = embedded.cases.iter().map(|case| case.id.clone()).collect();
    let unknown: Vec<_> = ids.symmetric_difference(&exported_ids).collect();
    assert!(unknown.is_empty(), "src/tool/src/conformance should embed these: {unknown:?}");
    assert_eq!(exported.lines().count(), ids.len());
    for line in exported.lines() {
        for key in ["area", "features", "rule", "suite", "reference", "expect"] {
            assert!(line.contains(&format!("\"{key}\":")), "{key}: {line}");
        }
    }
    // An export can be read as a suite.
    let path = file("export.jsonl", &exported);
    assert_eq!(Suite::open(&path).unwrap().to_lines(), exported);
}

#[test]
fn the_changelog_has_an_entry_for_the_version() {
    let changelog = include_str!("../../cases/CHANGELOG.md");
    let version = chat_template_cli::conformance::SUITE_VERSION;
    assert!(changelog.contains(&format!("## {version}")));
}

#[test]
fn only_the_deviations_of_the_own_port_are_wrong() {
    let deviations = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/deviations.jsonl");
    let baseline = deviations.to_str().unwrap();
    let reports = ["json", "md", "html", "xml"].map(|end| folder().join(format!("own.{end}")).display().to_string());
    let mut arguments = vec!["run", "--port", OWN, "--baseline", baseline, "--strict"];
    arguments.extend(reports.iter().flat_map(|path| ["--report", path]));
    let output = conformance(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    assert!(!stdout(&output).contains("in the baseline"), "{}", stdout(&output));

    let [json, markdown, html, junit] = reports.clone().map(|path| std::fs::read_to_string(path).unwrap());
    let report: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["port"]["name"], "chat-template");
    assert_eq!(report["suite"], chat_template_cli::conformance::SUITE_VERSION);
    assert!(markdown.contains("| **all** |") && markdown.contains("python_artefacts/break-outside: an error, but not its message"));
    assert!(html.starts_with("<!DOCTYPE html>") && html.contains("<summary><code>python_artefacts/break-outside</code>"));
    for link in [
        "<a href=\"#python_artefacts\">",
        "<h2 id=\"python_artefacts\">",
        "<details id=\"python_artefacts/break-outside\">",
    ] {
        assert!(html.contains(link), "{link}");
    }
    assert!(!html.contains("<script") && !html.contains("src="), "the page loads nothing");
    assert!(junit.contains("<testcase name=\"python_artefacts/break-outside\" classname=\"python_artefacts\">"));

    let summary = stdout(&conformance(&["summary", &reports[0], &reports[0]]));
    for part in [
        "chat-template",
        "unsupported",
        "no answer",
        &format!("({} cases)", Suite::embedded().unwrap().cases.len()),
    ] {
        assert!(summary.contains(part), "{part}: {summary}");
    }
    for (format, end) in [("text", ".\n"), ("markdown", ".\n"), ("json", "}\n"), ("html", "</html>")] {
        let output = conformance(&["summary", &reports[0], "--format", format]);
        assert!(
            output.status.success() && stdout(&output).ends_with(end),
            "{}",
            stdout(&output)
        );
    }
    let badge: Value = serde_json::from_slice(&conformance(&["badge", &reports[0]]).stdout).unwrap();
    assert_eq!(badge["schemaVersion"], 1);
    // The report is a baseline, too.
    let output = conformance(&["run", "--port", OWN, "--baseline", &reports[0], "--only", "operators"]);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
}

#[test]
fn the_own_port_passes_the_smoke_test() {
    let output = conformance(&["smoke", "--port", OWN]);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    assert_eq!(stdout(&output).lines().count(), 14);
}

#[cfg(unix)]
#[test]
fn a_faulty_port_loses_only_the_current_case() {
    let ids = [
        "fine/1",
        "crash/1",
        "fine/2",
        "hang/1",
        "fine/3",
        "rubbish/1",
        "fine/4",
        "order/1",
        "twice/1",
        "fine/5",
    ];
    let suite: String = ids.iter().map(|id| case(id, "1", "1")).collect();
    let suite = file("faulty.jsonl", &suite);
    let script = format!(
        r#"while IFS= read -r line; do case "$line" in
          *crash/*) echo 'out of luck' >&2; exit 3;;
          *hang/*) exec sleep 60;;
          *rubbish/*) echo nonsense;;
          *order/*) echo '{{"id": "other", "output": "1"}}';;
          *twice/*) echo '{{"id": "twice/1", "output": "1"}}'; echo '{{"id": "twice/1", "output": "1"}}';;
          *) printf '%s\n' "$line" | '{BINARY}' port;;
        esac; done"#
    );
    let script = file("faulty.sh", &script);
    let port = format!("sh '{}'", script.display());
    let report = folder().join("faulty.json").display().to_string();
    let suite = suite.display().to_string();
    let arguments = [
        "run",
        "--port",
        &port,
        "--suite",
        &suite,
        "--timeout",
        "4",
        "--jobs",
        "1",
        "--report",
        &report,
    ];
    let output = conformance(&arguments);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert!(stdout(&output).contains("out of luck"), "{}", stdout(&output));
    let report: Value = serde_json::from_str(&std::fs::read_to_string(&report).unwrap()).unwrap();
    let verdicts: Vec<String> = report["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| field(case, "verdict"))
        .collect();
    let [right, crashed, hung] = ["right", "crashed", "timed_out"];
    let want = [
        right,
        crashed,
        right,
        hung,
        right,
        "rubbish",
        right,
        "out_of_order",
        right,
        "flaky",
    ];
    assert_eq!(verdicts, want);
    assert!(stdout(&output).contains("after the request \"twice/1\", and not in a fresh process"));
    for fault in ["crashed", "timed_out", "rubbish", "out_of_order", "flaky"] {
        assert_eq!(report["faults"][fault], 1, "{fault}");
    }
    assert_eq!(report["port"]["name"], "chat-template");

    let output = conformance(&[&arguments[..], &["--fail-fast"]].concat());
    assert!(stdout(&output).contains("cases were not run"), "{}", stdout(&output));
    let output = conformance(&["run", "--port", "cat /dev/null"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("answered none of the first 20 cases"),
        "{}",
        stderr(&output)
    );
    // `cat` repeats the request, which is not an answer.
    assert_eq!(
        conformance(&["smoke", "--port", "cat", "--timeout", "5"]).status.code(),
        Some(1)
    );
}

#[cfg(unix)]
#[test]
fn a_port_without_apply_is_tested_by_renders() {
    let script = format!(
        r#"while IFS= read -r line; do case "$line" in
          *'"apply":{{'*) id=${{line#*'"id":"'}}; printf '{{"id": "%s", "unsupported": "no"}}\n' "${{id%%'"'*}}";;
          *) printf '%s\n' "$line" | {OWN};;
        esac; done"#
    );
    let port = format!("sh '{}'", file("renders.sh", &script).display());
    let output = conformance(&["run", "--port", &port, "--only", "apply/choose", "--strict"]);
    let shown = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(shown.contains("14 `apply` cases were sent as `render` requests"), "{shown}");
    // Cases about a missing template cannot be renders.
    assert!(shown.contains("all              14      0            4"), "{shown}");
}

#[cfg(unix)]
#[test]
fn wrong_cases_are_grouped_by_cause_with_a_command_that_repeats_one() {
    let cases: String = (0..30)
        .map(|number| case(&format!("a/{number}"), "{{ 1 / 0 }}", ""))
        .collect();
    let suite = file("causes.jsonl", &(cases + &case("a/text", "1", "2")))
        .display()
        .to_string();
    let output = conformance(&["run", "--port", OWN, "--suite", &suite]);
    let shown = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{shown}");
    for part in [
        "fails where the reference renders: `zero_division: division by zero`: 30 cases: a/0, a/1, a/2, a/3, a/4, …\n",
        "other output in the area `a`: 1 case: a/text\n",
        "  again: chat-template conformance run --only a/0 --port ",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(shown.matches("  again: ").count(), 2, "{shown}");
}

#[cfg(unix)]
#[test]
fn segments_are_checked_if_the_port_says_that_it_knows_them() {
    let traced =
        r#"{"id": "trace/a", "template": "<{{ x }}>", "context": {"x": "Zq0xq"}, "trace": true, "expect": {"output": "<Zq0xq>"}}"#;
    let suite = file("traced.jsonl", traced).display().to_string();
    let run = |name: &str, edit: &str| {
        let script = format!("{OWN} | sed -u '{edit}'");
        let port = format!("sh '{}'", file(name, &script).display());
        let output = conformance(&["run", "--port", &port, "--suite", &suite]);
        (output.status.code(), stdout(&output))
    };
    let (status, shown) = run("same.sh", "");
    assert_eq!(status, Some(0), "{shown}");
    let (status, shown) = run("wrong.sh", "s/\"at\":.0,5./\"at\":[1,6]/");
    assert!(
        status == Some(1) && shown.contains("the segment 1 to 6 is not the part of the input that it names"),
        "{shown}"
    );
    let (status, shown) = run("unknown.sh", "s/,\"trace\"//");
    assert!(status == Some(1) && shown.contains("no case is right"), "{shown}");
}

#[cfg(unix)]
#[test]
fn smoke_does_not_end_with_success_after_a_failed_check() {
    let script = format!(r#"{OWN} | while IFS= read -r line; do printf '%s\n' "${{line%a*}}b${{line##*a}}"; done"#);
    let port = format!("sh '{}'", file("smoke.sh", &script).display());
    let output = conformance(&["smoke", "--port", &port, "--timeout", "5"]);
    assert_eq!(output.status.code(), Some(1));
    let shown = stdout(&output);
    assert!(
        !shown.contains("The checks above are right") && shown.contains("no "),
        "{shown}"
    );
}

#[cfg(unix)]
#[test]
fn a_baseline_shows_what_is_worse_and_what_is_better() {
    let suite = file(
        "baseline-suite.jsonl",
        &(case("a/now-wrong", "2", "1") + &case("a/now-right", "1", "1")),
    );
    let row = r#"{"id": "a/now-right", "aspect": "output", "reason": "so it was"}"#;
    let [suite, baseline] = [suite, file("baseline.jsonl", row)].map(|path| path.display().to_string());
    let output = conformance(&["run", "--port", OWN, "--suite", &suite, "--baseline", &baseline]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("worse than the baseline:\n  a/now-wrong: output\n"));
    assert!(stdout(&output).contains("listed in the baseline, and right:\n  a/now-right: output (so it was)\n"));
}

#[test]
fn mistakes_in_arguments_and_files_are_shown_with_their_places() {
    let run = |name: &str, text: &[u8]| {
        let path = folder().join(name);
        std::fs::write(&path, text).unwrap();
        let output = conformance(&["run", "--port", OWN, "--suite", path.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        stderr(&output)
    };
    // The second line of each file is wrong.
    let fine = case("a/b", "1", "1");
    let long = case(&format!("a/{}", "c".repeat(5000)), "1", "1");
    let faults: [(&[u8], &str); 11] = [
        (
            br#"{"id": "a/c", "template": "", "context": {}, "since": {"transformer": "5.24.0"}, "expect": {"output": ""}}"#,
            "a/c: unknown key \"transformer\"; did you mean \"transformers\"?",
        ),
        (
            br#"{"id": "a/c", "template": "", "context": {}, "until": {"python": "new"}, "expect": {"output": ""}}"#,
            "a/c: \"until\": \"new\" is not a version, such as \"5.24.0\"",
        ),
        (long.as_bytes(), "the id has 5002 bytes, and may have at most 1024"),
        (
            br#"{"id": "a/c", "tempalte": "", "context": {}, "expect": {"output": ""}}"#,
            "a/c: unknown key \"tempalte\"; did you mean \"template\"?",
        ),
        (
            br#"{"id": "a/c", "apply": {"template": "", "mesages": []}, "expect": {"output": ""}}"#,
            "a/c: unknown key \"mesages\"; did you mean \"messages\"?",
        ),
        (
            br#"{"id": "a/c", "template": "", "context": {}, "expect": {"ouput": ""}}"#,
            "a/c: \"expect\": unknown key \"ouput\"; did you mean \"output\"?",
        ),
        (
            br#"{"id": "a/c", "template": "", "context": {}}"#,
            "a/c: missing key \"expect\"",
        ),
        (fine.as_bytes(), "a/b: another case has this id, at "),
        (b"template", "this line is not JSON: Expecting value: "),
        (b"[]", "a case is a JSON object"),
        (b"\xff", "invalid UTF-8 at byte "),
    ];
    for (line, fault) in faults {
        let shown = run("fault.jsonl", &[fine.as_bytes(), line].concat());
        assert!(shown.contains(&format!("fault.jsonl:2: {fault}")), "{shown}");
    }
    assert!(run("empty.jsonl", b"").contains("no cases"));

    for (arguments, text) in [
        (["--port", "/no/such/port", "--jobs", "2"], "/no/such/port cannot be started"),
        (["--port", "/", "--jobs", "2"], "/ cannot be started"),
        (["--port", "'", "--jobs", "2"], "--port: a quote is not closed"),
        (["--port", "", "--jobs", "2"], "the command is empty"),
        (["--port", OWN, "--jobs", "257"], "this must be a whole number from 1 to 256"),
        (
            ["--port", OWN, "--only", "nothing"],
            "no case and no area is called \"nothing\"",
        ),
        (["--port", OWN, "--baseline", "/no/such/file"], "/no/such/file"),
        (["--port", OWN, "--report", "report.pdf"], ".json, .md, .html or .xml"),
        (
            ["--port", OWN, "--report", "/no/such/folder/report.json"],
            "/no/such/folder/report.json: ",
        ),
        (["--port", OWN, "--timeout", "0"], "--timeout"),
    ] {
        let output = conformance(&[&["run"], &arguments[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(text), "{}", stderr(&output));
    }
}

fn conformance(arguments: &[&str]) -> Output {
    Command::new(BINARY).arg("conformance").args(arguments).output().unwrap()
}

fn case(id: &str, template: &str, output: &str) -> String {
    format!("{{\"id\": \"{id}\", \"template\": \"{template}\", \"context\": {{}}, \"expect\": {{\"output\": \"{output}\"}}}}\n")
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}

fn file(name: &str, text: &str) -> PathBuf {
    let path = folder().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn field(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap().to_owned()
}
