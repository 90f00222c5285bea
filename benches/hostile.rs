//! Sends the whole hostile set to the port. Each request has a child of its own, with 2 seconds of processor time and 512 MiB of memory.
//!
//! ```text
//! cargo bench -p chat-template-cli --bench hostile [-- NAME [EVERY [FIRST [LIMITS]]]]
//! ```
//!
//! Sends only requests whose name contains NAME, and of these each EVERY-th one from index FIRST. LIMITS is a file for the port's option
//! `--limits`. Prints the requests whose child died, the slowest and the largest, and fails if a child died. Runs only on Linux, because it
//! uses `ulimit` and `/proc`.
#![allow(clippy::restriction, clippy::pedantic, reason = "a bench that cannot run should panic")]

#[path = "../tests/tool/hostile/child.rs"]
mod child;
#[path = "../tests/tool/hostile/set/mod.rs"]
mod set;

use child::{Allowance, Outcome};

/// The seconds and MiB above which a request is printed even if its child survives.
const AIM: (f64, f64) = (1.0, 256.0);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let mut wanted = arguments.iter().filter(|argument| !argument.starts_with("--"));
    let name = wanted.next().map_or("", String::as_str);
    let mut number = |default: usize| {
        wanted
            .next()
            .map_or(default, |text| text.parse().expect("EVERY and FIRST are numbers"))
    };
    let (every, first) = (number(1), number(0));
    let limits: Vec<&str> = wanted.next().map_or(Vec::new(), |file| vec!["--limits", file.as_str()]);
    let allowed = Allowance {
        seconds: Some(2),
        kib: 512 << 10,
    };
    let cases = set::cases();
    let chosen = cases
        .iter()
        .filter(|case| case.name.contains(name))
        .skip(first)
        .step_by(every);
    let mut outcomes: Vec<(&str, Outcome)> = Vec::new();
    for case in chosen {
        let outcome = child::send(env!("CARGO_BIN_EXE_chat-template"), &limits, &case.bytes(), allowed);
        if outcome.answer.is_none() || outcome.seconds > AIM.0 || outcome.mib > AIM.1 {
            println!("{}", row(&case.name, &outcome));
        }
        outcomes.push((&case.name, outcome));
    }
    let died = outcomes.iter().filter(|(_, outcome)| outcome.answer.is_none()).count();
    println!("\n{died} of {} children died; the slowest requests:", outcomes.len());
    outcomes.sort_by(|(_, one), (_, other)| other.seconds.total_cmp(&one.seconds));
    outcomes
        .iter()
        .take(15)
        .for_each(|(name, outcome)| println!("{}", row(name, outcome)));
    println!("the largest requests:");
    outcomes.sort_by(|(_, one), (_, other)| other.mib.total_cmp(&one.mib));
    outcomes
        .iter()
        .take(15)
        .for_each(|(name, outcome)| println!("{}", row(name, outcome)));
    std::process::exit(i32::from(died > 0));
}

fn row(name: &str, outcome: &Outcome) -> String {
    let short = |text: &str| text.chars().take(150).collect::<String>();
    let answer = outcome.answer.as_deref().map_or("died".to_owned(), short);
    format!(
        "{:5.2} s {:4.0} MiB  {}  ->  {}",
        outcome.seconds,
        outcome.mib,
        short(name),
        answer.trim_end()
    )
}
