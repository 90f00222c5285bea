//! The numbers of a run: what counts as right, what is left out, and when a run passes.
//!
//! The ports are scripts of `sh` around the port of this crate, and the tests run only on Unix.
#![cfg(unix)]

use std::path::PathBuf;
use std::process::Command;

use chat_template_cli::conformance::{Answer, Report, SUITE_VERSION, Suite, Verdict};

use super::{BINARY, OWN};

#[test]
fn a_release_of_the_suite_has_one_hash() {
    let changelog = include_str!("../../cases/CHANGELOG.md");
    let hash = Suite::embedded().unwrap().hash;
    let is_released = !SUITE_VERSION.ends_with("-dev");
    assert!(
        !is_released || changelog.contains(&format!("SHA-256 of the export: `{hash}`")),
        "the suite changed: raise its version, and write its hash into tests/cases/CHANGELOG.md: {hash}"
    );
}

#[test]
fn a_release_has_its_hashes() {
    let release = path("release");
    let output = Command::new(BINARY)
        .args(["conformance", "export", "--release"])
        .arg(&release)
        .output();
    assert!(output.unwrap().status.success());
    let sums = Command::new("sh")
        .args(["-c", "gunzip -k *.gz && sha256sum -c *.sha256 && rm *.jsonl"])
        .current_dir(&release)
        .output()
        .unwrap();
    assert!(sums.status.success(), "{}", String::from_utf8_lossy(&sums.stderr));
}

#[test]
fn a_port_that_always_fails_or_supports_nothing_does_not_pass() {
    let fails = answering("fails.sh", r#""error": {"kind": "type", "message": "", "line": null}"#);
    let (status, report, shown) = run("fails", &fails, &["--only", "access"]);
    let score = report.total();
    assert_eq!((status, score.outputs[1]), (1, 0), "{shown}");
    assert!(score.right > 0 && score.parts()[0] == "0.0 %", "{shown}");

    let none = answering("none.sh", r#""unsupported": "no""#);
    for strict in [&["--only", "access"][..], &["--only", "access", "--strict"]] {
        let (status, report, shown) = run("none", &none, strict);
        assert!(status == 1 && shown.contains("no case is right"), "{shown}");
        assert_eq!(
            (report.total().percent().as_str(), report.total().asked),
            ("0.0 %", report.cases.len())
        );
    }
}

/// The expected share of a port that chooses by lot among the outputs that most cases have.
#[test]
fn twenty_answers_by_lot_are_right_for_less_than_one_percent_of_outputs() {
    let mut counts = std::collections::HashMap::new();
    for case in Suite::embedded().unwrap().cases {
        if let Answer::Output { text, .. } = case.expect {
            *counts.entry(text).or_insert(0_usize) += 1;
        }
    }
    let outputs: usize = counts.values().sum();
    let mut counts: Vec<usize> = counts.into_values().collect();
    counts.sort_unstable_by(|left, right| right.cmp(left));
    let right: usize = counts.iter().take(20).sum();
    assert!(right * 100 < outputs * 20, "{right} / 20 of {outputs}");
}

#[test]
fn strict_has_two_classes() {
    let suite = file(
        "strict.jsonl",
        "{\"id\": \"a/b\", \"template\": \"{{ 1 / 0 }}\", \"context\": {}, \"expect\": {\"error\": {\"kind\": \"zero_division\", \"message\": \"other\", \"line\": 1}}}\n",
    );
    let status = |more: &[&str]| run("strict", OWN, &[&["--suite", &suite], more].concat()).0;
    assert_eq!(
        [
            status(&[]),
            status(&["--strict=kind"]),
            status(&["--strict=text"]),
            status(&["--strict"])
        ],
        [0, 0, 1, 1]
    );
}

#[test]
fn cases_are_selected_and_excluded_by_patterns() {
    let count = |arguments: &[&str]| run("select", OWN, arguments).1.cases.len();
    let all = count(&["--only", "loops", "--only", "time"]);
    let times = count(&["--only", "ti*e/*"]);
    assert_eq!(
        count(&["--only", "loops", "--only", "time", "--exclude", "time/*"]),
        all - times
    );
    let output = Command::new(BINARY)
        .args(["conformance", "run", "--port", OWN, "--exclude", "nothing*"])
        .output();
    assert_eq!(output.unwrap().status.code(), Some(2));
}

#[test]
fn what_a_port_declares_to_lack_is_not_sent_and_still_counts() {
    let script = format!(r#"{OWN} | sed -u 's/"port":{{/"port":{{"capabilities":{{"now":false,"generation":true}},/'"#);
    let port = format!("sh '{}'", file("lacks.sh", &script));
    let (status, report, shown) = run("lacks", &port, &["--only", "time", "--only", "loops"]);
    let score = report.total();
    assert_eq!(status, 0, "{shown}");
    assert!(
        score.unsupported > 20 && score.right + score.unsupported == score.asked,
        "{shown}"
    );
    let declared = ["--only", "generation"];
    let script = script.replace("\"generation\":true", "\"generation\":false");
    let port = format!("sh '{}'", file("lacks.sh", &script));
    let (_, report, shown) = run("lacks-extension", &port, &declared);
    let skipped = report.cases.iter().filter(|case| case.verdict == Verdict::Skipped);
    assert!(
        skipped.count() == report.total().skipped && report.total().skipped > 20,
        "{shown}"
    );
}

#[test]
fn a_case_whose_answer_does_not_hold_for_what_a_port_mirrors_is_skipped() {
    let asked = |name: &str, port: &str, arguments: &[&str]| {
        let (_, report, shown) = run(name, port, &[&["--only", "apply/messages"], arguments].concat());
        let is_asked = |id: &str| {
            report
                .cases
                .iter()
                .any(|case| case.id == id && case.verdict != Verdict::Skipped)
        };
        let score = report.total();
        assert_eq!(score.asked + score.skipped, report.cases.len(), "{shown}");
        [
            is_asked("apply/messages/string"),
            is_asked("apply/messages/string-until-5.24"),
        ]
    };
    assert_eq!(asked("mirrors-none", OWN, &[]), [true, false]);
    assert_eq!(
        asked("mirrors-option", OWN, &["--mirrors", "transformers=5.23.0"]),
        [false, true]
    );
    let script = format!(r#"{OWN} | sed -u 's/"port":{{/"port":{{"mirrors":{{"transformers":"5.23.0"}},/'"#);
    let port = format!("sh '{}'", file("mirrors.sh", &script));
    assert_eq!(asked("mirrors", &port, &[]), [false, true]);
    assert_eq!(
        asked("mirrors-both", &port, &["--mirrors", "transformers=5.24"]),
        [true, false]
    );
}

#[test]
fn a_baseline_skips_its_failures_in_junit_and_shows_regressions_first() {
    let case = |id: &str, output: &str| {
        format!("{{\"id\": \"{id}\", \"template\": \"1\", \"context\": {{}}, \"expect\": {{\"output\": \"{output}\"}}}}\n")
    };
    let suite = file(
        "junit.jsonl",
        &(case("old/a", "2") + &case("old/b", "2") + &case("new/c", "2") + &case("new/d", "1")),
    );
    let baseline = ["old/a", "old/b"].map(|id| format!("{{\"id\": \"{id}\", \"aspect\": \"output\", \"reason\": \"r\"}}\n"));
    let baseline = file("junit-baseline.jsonl", &baseline.concat());
    let xml = path("junit.xml").display().to_string();
    let (status, _, shown) = run("junit", OWN, &["--suite", &suite, "--baseline", &baseline, "--report", &xml]);
    assert!(status == 1 && shown.starts_with("new/c: wrong"), "{shown}");
    let xml_text = std::fs::read_to_string(&xml).unwrap();
    assert!(
        xml_text.contains("skipped=\"2\"") || xml_text.matches("<skipped").count() == 2,
        "{xml_text}"
    );
    assert_eq!(xml_text.matches("<failure").count(), 1, "{xml_text}");
    let (status, _, shown) = run(
        "junit",
        OWN,
        &["--suite", &suite, "--baseline", &baseline, "--only", "old", "--only", "new/d"],
    );
    assert_eq!(status, 0, "{shown}");
}

#[test]
fn a_report_in_markdown_is_small_and_names_the_whole() {
    let long = "x".repeat(9000);
    let cases: String = (0..400)
        .map(|number| format!("{{\"id\": \"a/{number}\", \"template\": \"{long}{number}\", \"context\": {{}}, \"expect\": {{\"output\": \"\"}}}}\n"))
        .collect();
    let suite = file("long.jsonl", &cases);
    let markdown = path("long.md").display().to_string();
    run(
        "long",
        OWN,
        &[
            "--suite",
            &suite,
            "--report",
            &markdown,
            "--link",
            "https://example.org/whole",
        ],
    );
    let text = std::fs::read_to_string(&markdown).unwrap();
    assert!(text.len() < 1 << 20 && text.contains("more cases are in the whole report: <https://example.org/whole>."));
}

#[test]
fn a_fault_at_every_fifth_request_fails_the_run_and_names_a_request() {
    for (name, fault) in [
        ("dies", "exit 3"),
        (
            "twice",
            r#"printf '{"id": "%s", "output": ""}\n{"id": "%s", "output": ""}\n' "$id" "$id""#,
        ),
        ("other", r#"printf '{"id": "other", "output": ""}\n'"#),
    ] {
        let script = format!(
            r#"n=0; while IFS= read -r line; do n=$((n + 1)); id=${{line#*'"id":"'}}; id=${{id%%'"'*}}
              if [ $((n % 5)) = 0 ]; then {fault}; else printf '%s\n' "$line" | {OWN}; fi; done"#
        );
        let port = format!("sh '{}'", file(&format!("{name}.sh"), &script));
        let (status, report, shown) = run(name, &port, &["--only", "loops/c*", "--jobs", "1"]);
        assert!(
            status == 1 && shown.contains(" after the request \"loops/"),
            "{name}: {shown}"
        );
        assert!(report.faults.flaky > 0, "{name}");
    }
}

#[test]
fn smoke_does_not_blame_an_adapter_for_numbers_and_escapes() {
    let script = format!(
        r#"while IFS= read -r line; do case "$line" in
          *'U0001F600'*|*'2.0'*|*'1 / 0'*) printf '{{"id": null, "error": {{"kind": "request"}}}}\n';;
          *) printf '%s\n' "$line" | {OWN};; esac; done"#
    );
    let port = format!("sh '{}'", file("gaps.sh", &script));
    let output = Command::new(BINARY)
        .args(["conformance", "smoke", "--port", &port])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
}

/// Runs the suite, and returns the exit status, the report and what is shown.
fn run(name: &str, port: &str, arguments: &[&str]) -> (i32, Report, String) {
    let report = path(&format!("{name}.json"));
    let output = Command::new(BINARY)
        .args(["conformance", "run", "--port", port, "--report"])
        .arg(&report)
        .args(arguments)
        .output()
        .unwrap();
    let shown = String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr);
    let report = Report::open(&report).unwrap_or_else(|fault| panic!("{fault}: {shown}"));
    (output.status.code().unwrap(), report, shown)
}

/// Returns the command of a port that gives each request the same answer.
fn answering(name: &str, answer: &str) -> String {
    let script = format!(
        "while IFS= read -r line; do id=${{line#*'\"id\":\"'}}; printf '{{\"id\": \"%s\", {answer}}}\\n' \"${{id%%'\"'*}}\"; done"
    );
    format!("sh '{}'", file(name, &script))
}

fn path(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("numbers");
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

fn file(name: &str, text: &str) -> String {
    let path = path(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}
