//! Hostile requests, each to a process of the port with little memory.
#![allow(clippy::restriction, clippy::pedantic, reason = "a test says what it expects by failing")]
#![cfg(target_os = "linux")]

mod child;
mod set;

/// Sends a few requests of the set, with few steps, because this can be a build without optimisation. The bench `hostile` sends all.
#[test]
fn the_port_survives_some_requests_of_the_set() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let limits = folder.join("hostile-limits.json");
    std::fs::write(&limits, "{\"steps\": 200000}").expect("the folder of tests can be written");
    let arguments = ["--limits", limits.to_str().expect("the path is text")];
    let allowed = child::Allowance {
        seconds: None,
        kib: 512 << 10,
    };
    let cases = set::cases();
    // The families whose requests are short. Long requests take much time to make and to read.
    let is_short = |case: &&set::Case| {
        ["growth", "inspect-growth", "large", "loop", "objects", "rounds"]
            .iter()
            .any(|family| case.name.starts_with(family))
    };
    let short: Vec<_> = cases.iter().filter(is_short).collect();
    for case in short.iter().step_by(short.len() / 24) {
        let line = case.bytes();
        let outcome = child::send(env!("CARGO_BIN_EXE_chat-template"), &arguments, &line, allowed);
        let (seconds, mib) = (outcome.seconds, outcome.mib);
        assert!(
            outcome.answer.is_some(),
            "{} died after {seconds} s with {mib} MiB",
            case.name
        );
    }
}
