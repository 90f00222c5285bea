//! The table of ratios: what minijinja takes over what this crate takes, for each template and size.
//!
//! ```text
//! CHAT_TEMPLATE_CORPUS=../shared/corpus cargo bench --bench ratios [-- TEMPLATE]
//! ```
//!
//! Times are those of the thread on its processor, the least of several batches, and the engines take turns, so that a busy machine
//! hits all alike. Where the corpus is there, its Qwen3 template is in the table too. Without `--bench`, which cargo gives, each row
//! is checked and none is timed.
#![allow(clippy::restriction, clippy::pedantic, reason = "a bench that cannot run shall stop")]

mod arena;

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use chat_template::Template;
use cpu_time::ThreadTime;

use arena::conversation::{Size, conversation};
use arena::{Contest, Engines, FAMILIES, Family, rival};

/// How long one batch should take: long against the clock, short against what else the machine does.
const BATCH: Duration = Duration::from_millis(4);

/// How many batches each engine has, of which the fastest counts.
const BATCHES: usize = 9;

const SIZES: [Size; 5] = [
    Size::Messages(10),
    Size::Messages(100),
    Size::Messages(1000),
    Size::Messages(10_000),
    Size::Tools(5),
];

/// The published template of Qwen3, as TRL keeps it; the digits are the start of its sha256.
const CORPUS_TEMPLATE: &str = "templates/qwen3--a55ee1.jinja";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let timed = arguments.iter().any(|argument| argument == "--bench");
    let wanted = arguments.iter().find(|argument| !argument.starts_with("--"));
    let environment = rival::environment();

    println!("render; ns a message, and minijinja's time over ours\n");
    println!("| template | messages | copy | ours | minijinja | from JSON | ratio | ratio from JSON |");
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");
    let chosen = |family: &&Family| wanted.is_none_or(|wanted| family.name.contains(wanted.as_str()));
    let mut ratios = Vec::new();
    for family in FAMILIES.iter().filter(chosen) {
        let engines = Engines::new(&environment, family.source);
        for size in SIZES {
            ratios.extend(render_row(family, &engines, size, timed));
        }
    }
    if let Some(source) = corpus_template() {
        let engines = Engines::new(&environment, &source);
        for (name, calls) in [("Qwen3 (corpus)", 2), ("Qwen3 (corpus), no calls", 0)] {
            let source = "";
            let parts = false;
            let qwen3 = Family {
                name,
                source,
                calls,
                parts,
            };
            if chosen(&&qwen3) {
                render_row(&qwen3, &engines, Size::Messages(100), timed);
            }
        }
    }
    let mean = |pick: fn(&(f64, f64)) -> f64| (ratios.iter().map(|pair| pick(pair).ln()).sum::<f64>() / ratios.len() as f64).exp();
    if timed && !ratios.is_empty() {
        println!(
            "\ngeometric mean of the written templates: {:.2}, from JSON {:.2}",
            mean(|pair| pair.0),
            mean(|pair| pair.1)
        );
    }

    println!("\ncompile; µs, and minijinja's time over ours\n");
    println!("| template | bytes | ours | minijinja | ratio |");
    println!("|---|--:|--:|--:|--:|");
    for family in FAMILIES.iter().filter(chosen).filter(|_| timed) {
        let source = family.source;
        let [ours, minijinja] = fastest([&|| drop(black_box(Template::compile(source))), &|| {
            drop(black_box(environment.template_from_str(source)))
        }]);
        let (name, bytes, ratio) = (family.name, source.len(), minijinja / ours);
        println!(
            "| {name} | {bytes} | {:.1} | {:.1} | {ratio:.2} |",
            ours / 1e3,
            minijinja / 1e3
        );
    }
}

/// Prints one row; the two ratios that it shows.
fn render_row(family: &Family, engines: &Engines<'_>, size: Size, timed: bool) -> Option<(f64, f64)> {
    let context = conversation(family, size);
    let contest = Contest::new(engines, &context);
    let (name, label) = (family.name, size.label());
    if !timed {
        println!("| {name} | {label} | {} bytes, equal |", contest.output_length());
        return None;
    }
    let times = fastest([
        &|| drop(black_box(contest.copy())),
        &|| drop(black_box(contest.ours())),
        &|| drop(black_box(contest.rival())),
        &|| drop(black_box(contest.rival_from_json())),
    ]);
    let [copy, ours, rival, from_json] = times.map(|nanoseconds| nanoseconds / size.messages() as f64);
    let ratios = (rival / ours, from_json / ours);
    println!(
        "| {name} | {label} | {copy:.0} | {ours:.0} | {rival:.0} | {from_json:.0} | {:.2} | {:.2} |",
        ratios.0, ratios.1
    );
    Some(ratios)
}

fn corpus_template() -> Option<String> {
    let corpus = std::env::var_os("CHAT_TEMPLATE_CORPUS")?;
    let path = Path::new(&corpus).join(CORPUS_TEMPLATE);
    match std::fs::read_to_string(&path) {
        Ok(source) => Some(source),
        Err(error) => panic!("{}: {error}", path.display()),
    }
}

/// The nanoseconds that each of these takes at best; they take turns, batch by batch.
fn fastest<const N: usize>(actions: [&dyn Fn(); N]) -> [f64; N] {
    let rounds = actions.map(rounds_in_a_batch);
    let mut best = [f64::INFINITY; N];
    for _ in 0..BATCHES {
        for ((action, rounds), best) in actions.iter().zip(rounds).zip(&mut best) {
            let nanoseconds = batch(action, rounds).as_nanos() as f64 / f64::from(rounds);
            *best = best.min(nanoseconds);
        }
    }
    best
}

fn rounds_in_a_batch(action: &dyn Fn()) -> u32 {
    let mut rounds = 1;
    while batch(action, rounds) < BATCH && rounds < 1 << 20 {
        rounds *= 2;
    }
    rounds
}

fn batch(action: &dyn Fn(), rounds: u32) -> Duration {
    let start = ThreadTime::now();
    for _ in 0..rounds {
        action();
    }
    start.elapsed()
}
