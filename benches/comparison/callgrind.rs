//! Counts instructions with valgrind's callgrind.

use std::process::Command;

/// Returns the number of instructions of one round of an action. The program runs itself with `--rounds`, the arguments, and a number of
/// rounds: once few, once more. The difference does not contain the instructions of starting.
pub fn count_instructions(arguments: &[&str], rounds: u64) -> u64 {
    const FEW: u64 = 2;
    let [few, more] = [FEW, FEW + rounds].map(|rounds| count_instructions_of_run(arguments, rounds));
    more.saturating_sub(few) / rounds
}

fn count_instructions_of_run(arguments: &[&str], rounds: u64) -> u64 {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    valgrind.arg(std::env::current_exe().expect("a program knows its file"));
    valgrind.arg("--rounds").args(arguments).arg(rounds.to_string());
    let run = valgrind.output().unwrap_or_else(|error| panic!("valgrind: {error}"));
    let report = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{report}");
    // callgrind ends its report with `==1234== Collected : 5867749`.
    let collected = report.lines().find_map(|line| line.split_once("Collected : "));
    let count = collected.and_then(|(_, count)| count.trim().parse().ok());
    count.unwrap_or_else(|| panic!("valgrind counted nothing: {report}"))
}
