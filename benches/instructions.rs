//! Counts instructions, which do not depend on the load of the machine, and compares them with the record in `instructions.txt`.
//!
//! ```text
//! cargo bench --bench instructions              # exit status 1 if an action needs 5 % more instructions than on record
//! cargo bench --bench instructions -- --record  # writes the record
//! ```
//!
//! The program runs itself under valgrind's callgrind, once with few rounds and once with more. The difference is the number of
//! instructions of the rounds without those of starting. This takes a minute. Two versions of the compiler can differ by more than 5 %, so
//! the head of the file names the version of the record.
#![allow(clippy::restriction, clippy::pedantic, reason = "a bench that cannot run should panic")]

mod comparison;

use std::hint::black_box;
use std::process::{Command, ExitCode};

use chat_template::{ApplyOptions, AssistantOptions, ChatTemplate, Limits, LocalTime, RenderOptions, Template, json};

use serde_json::Value;

use comparison::callgrind::count_instructions;
use comparison::conversation::{Size, conversation};
use comparison::{FAMILIES, Family, NOW};

const RECORD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/instructions.txt");

/// The maximum number of instructions of an action, as a multiple of the recorded number.
const TOLERANCE: f64 = 1.05;

const ACTIONS: [&str; 8] = [
    "compile",
    "apply",
    "apply_one",
    "render",
    "render_json",
    "render_traced",
    "find_assistant",
    "to_data",
];

/// The number of rounds that are counted.
const ROUNDS: u64 = 4;

/// The size of the conversation. It is so long that the first and the last message have little weight.
const SIZE: Size = Size::Messages(100);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let ["--rounds", family, action, rounds] = arguments[..] {
        run_action(family, action, rounds.parse().expect("a number of rounds"));
        return ExitCode::SUCCESS;
    }
    if !arguments.contains(&"--bench") {
        for_each_action(|family, action| run_action(family, action, 1));
        return ExitCode::SUCCESS;
    }
    let mut counted = Vec::new();
    for_each_action(|family, action| {
        counted.push((format!("{family} {action}"), count_instructions(&[family, action], ROUNDS)));
    });
    if arguments.contains(&"--record") {
        std::fs::write(RECORD, format_record(&counted)).expect("the record can be written");
        println!("{} counts are on record", counted.len());
        return ExitCode::SUCCESS;
    }
    compare(&counted)
}

fn for_each_action(mut action: impl FnMut(&str, &str)) {
    for family in FAMILIES {
        for name in ACTIONS {
            action(family.name, name);
        }
    }
}

/// Runs an action for a number of rounds.
fn run_action(name: &str, action: &str, rounds: usize) {
    let family = FAMILIES.iter().find(|family| family.name == name).expect("one of the five");
    match action {
        "compile" => (0..rounds).for_each(|_| drop(black_box(Template::compile(family.source)))),
        "apply" | "find_assistant" => apply(family, rounds, SIZE, action),
        "to_data" => to_data(family, rounds),
        "apply_one" => apply(family, rounds, Size::Messages(1), action),
        _ => render(family, rounds, action),
    }
}

/// Applies the template to generated messages, and also finds the spans of what the assistant wrote.
fn apply(family: &Family, rounds: usize, size: Size, action: &str) {
    let template = ChatTemplate::from_source(family.source, &[("bos_token", "<s>"), ("eos_token", "</s>")]).expect("it compiles");
    let context = conversation(family, size);
    // Valgrind does not have the memory from which the clock of a deadline is read.
    let limits = Limits::default().with_milliseconds(None);
    let now = NOW.parse::<LocalTime>().expect("NOW is a time");
    let options = ApplyOptions::default()
        .with_bounds(&limits)
        .with_clock(&now)
        .with_add_generation_prompt(action != "find_assistant")
        .with_assistant((action == "find_assistant").then(AssistantOptions::default));
    for _ in 0..rounds {
        black_box(template.apply(&context["messages"], &options)).expect("it renders");
    }
}

/// Renders from a generated context or from JSON text, or with a trace.
fn render(family: &Family, rounds: usize, action: &str) {
    let template = Template::compile(family.source).expect("it compiles");
    let context = conversation(family, SIZE);
    let text = context.to_string();
    // Valgrind does not have the memory from which the clock of a deadline is read.
    let limits = Limits::default().with_milliseconds(None);
    let now = NOW.parse::<LocalTime>().expect("NOW is a time");
    let options = RenderOptions::default()
        .with_bounds(&limits)
        .with_clock(&now)
        .with_trace(action == "render_traced");
    for _ in 0..rounds {
        let rendered = if action == "render_json" {
            let context = json::read(&text).expect("it is JSON");
            template.render(&context, &options)
        } else {
            template.render(&context, &options)
        };
        black_box(rendered).expect("it renders");
    }
}

/// A message of a caller's own type.
#[derive(serde::Serialize)]
struct Message<'m> {
    role: &'m str,
    content: &'m Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<&'m Value>,
}

/// Makes trees of typed messages.
fn to_data(family: &Family, rounds: usize) {
    let context = conversation(family, SIZE);
    let messages = context["messages"].as_array().expect("a list");
    let typed = messages.iter().map(|message| Message {
        role: message["role"].as_str().expect("a role"),
        content: &message["content"],
        tool_calls: message.get("tool_calls"),
    });
    let typed: Vec<Message<'_>> = typed.collect();
    for _ in 0..rounds {
        black_box(json::to_data(&typed)).expect("it is small");
    }
}

fn format_record(counted: &[(String, u64)]) -> String {
    let now = RenderOptions::default().clock.now();
    let date = format!("{:04}-{:02}-{:02}", now.year(), now.month(), now.day());
    let (rustc, valgrind) = (version("rustc"), version("valgrind"));
    let machine = format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS);
    let mut record = format!(
        "# Instructions of one action on {} messages, of apply_one on one: cargo bench --bench instructions -- --record\n# {date}, {rustc}, {valgrind}, {machine}\n",
        SIZE.label()
    );
    for (name, count) in counted {
        record += &format!("{name} {count}\n");
    }
    record
}

fn version(program: &str) -> String {
    let run = Command::new(program).arg("--version").output();
    let run = run.unwrap_or_else(|error| panic!("{program}: {error}"));
    String::from_utf8_lossy(&run.stdout).trim().to_owned()
}

/// Prints the recorded and the new count of each action, and fails if one has grown by more than the tolerance.
fn compare(counted: &[(String, u64)]) -> ExitCode {
    let record = std::fs::read_to_string(RECORD).unwrap_or_else(|error| panic!("{RECORD}: {error}"));
    record
        .lines()
        .filter(|line| line.starts_with('#'))
        .for_each(|line| println!("{line}"));
    println!("# now {}, {}\n", version("rustc"), version("valgrind"));
    let mut grown = 0;
    for (name, count) in counted {
        let recorded = record
            .lines()
            .find_map(|line| line.strip_prefix(name.as_str())?.trim().parse::<u64>().ok());
        let Some(recorded) = recorded else {
            println!("{name}: {count}, not on record");
            grown += 1;
            continue;
        };
        let ratio = *count as f64 / recorded as f64;
        let verdict = if ratio > TOLERANCE {
            grown += 1;
            ", MORE THAN 5 % MORE"
        } else {
            ""
        };
        println!(
            "{name}: {recorded} on record, {count} now, {:+.1} %{verdict}",
            (ratio - 1.0) * 100.0
        );
    }
    match grown {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
