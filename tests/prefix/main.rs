//! The verdicts on prefixes over a folder of templates. These tests take minutes, and are run by hand:
//!
//! ```text
//! CORPUS=../shared/corpus/templates cargo test --release --test prefix -- --ignored --nocapture
//! ```
//!
//! `ROUNDS` is the number of pairs for each proof, and `SEED` chooses other pairs.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test reports a broken expectation by failing"
)]
#![cfg(feature = "inspect")]

mod random;

use std::path::PathBuf;
use std::time::Instant;

use chat_template::{ApplyOptions, Bounds, ChatTemplate};
use random::Random;
use serde_json::Value;

/// Returns the templates of the folder that the variable `CORPUS` names, each with its name. Those that do not compile are left out.
fn read_corpus() -> Vec<(String, ChatTemplate)> {
    let folder = PathBuf::from(std::env::var("CORPUS").unwrap_or_else(|_| "../shared/corpus/templates".to_owned()));
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let tokens = [
        ("bos_token", "<s>"),
        ("eos_token", "</s>"),
        ("unk_token", "<unk>"),
        ("pad_token", "<pad>"),
    ];
    let read = |path: PathBuf| {
        let source = String::from_utf8(std::fs::read(&path).unwrap()).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        Some((name, ChatTemplate::from_source(source, &tokens).ok()?))
    };
    paths.into_iter().filter_map(read).collect()
}

/// Returns the verdict on each way in which a conversation grows.
fn read_verdicts(template: &ChatTemplate) -> Vec<(&'static str, String)> {
    let report = template.inspect(Bounds::default()).unwrap();
    let ways = ["generation_prompt", "assistant", "tool", "user"];
    let verdict = |way| report.get(&format!("prefix.{way}.verdict")).unwrap().unwrap();
    ways.map(|way| (way, verdict(way).as_str().unwrap().to_owned())).into()
}

#[test]
#[ignore = "reads a folder of templates"]
fn counts_are_shown() {
    let mut counts = std::collections::BTreeMap::new();
    let mut times = Vec::new();
    for (name, template) in read_corpus() {
        let start = Instant::now();
        let verdicts = read_verdicts(&template);
        times.push((start.elapsed(), name.clone()));
        for (way, verdict) in verdicts {
            println!("{verdict} {way} {name}");
            *counts.entry((way, verdict)).or_insert(0) += 1;
        }
    }
    println!("{counts:#?}");
    times.sort();
    for index in [50, 90, 99, 100] {
        println!("{index} %: {:?}", times[(times.len() - 1) * index / 100]);
    }
}

/// Returns the prompt of a random conversation and that of the longer one, with the conversation, or nothing if one of the renders fails.
fn render_pair(random: &mut Random, template: &ChatTemplate, names: &[&str], way: &str) -> Option<(String, String, Value)> {
    let (last, next): (&[&str], _) = match way {
        "user" => (&["assistant"], "user"),
        "tool" => (&["assistant", "tool"], "tool"),
        _ => (&["user", "tool"], "assistant"),
    };
    let report = template.inspect(Bounds::default()).unwrap();
    let [roles, calls] = ["roles", "calls"].map(|part| report.get(part).unwrap().unwrap());
    let takes = random::Takes::new(&roles, &calls);
    let takes = random.happens(75).then_some(&takes);
    let mut messages = random::conversation(random, takes, last);
    let (tools, variables) = (random::tools(random), random::variables(random, names));
    let options = ApplyOptions {
        tools: tools.as_ref().map(|tools| tools as _),
        variables: Some(&variables),
        ..Default::default()
    };
    let options_before = ApplyOptions {
        add_generation_prompt: way == "generation_prompt",
        ..options
    };
    let before = template.apply(&messages, &options_before).ok()?;
    messages.push(random::message(random, takes, next));
    let after = template.apply(&messages, &options).ok()?;
    let shown = serde_json::json!({"messages": messages, "tools": tools, "variables": variables});
    Some((before.text, after.text, shown))
}

#[test]
#[ignore = "renders a million conversations"]
fn no_proof_is_refuted() {
    let (mut pairs, mut fallen, mut compared) = (0_u64, Vec::new(), 0_u64);
    let read = |name: &str, default: u64| std::env::var(name).map_or(default, |value| value.parse().unwrap());
    let (rounds, first) = (read("ROUNDS", 400), read("SEED", 1));
    for (seed, (name, template)) in (first..).zip(read_corpus()) {
        let names = template.variables();
        for (way, verdict) in read_verdicts(&template) {
            if verdict != "proven" {
                continue;
            }
            let mut random = Random::new(seed);
            for _ in 0..rounds {
                pairs += 1;
                let Some((before, after, shown)) = render_pair(&mut random, &template, &names, way) else {
                    continue;
                };
                compared += 1;
                if !after.starts_with(&before) {
                    println!("{name}: {way}: {shown}\n{before:?}\n{after:?}");
                    fallen.push((name.clone(), way));
                    break;
                }
            }
        }
    }
    println!("{pairs} pairs, {compared} of them compared, {} proofs fell", fallen.len());
    assert!(fallen.is_empty(), "{fallen:#?}");
}

#[test]
#[ignore = "renders a million conversations"]
fn unknown_ones_are_searched() {
    for (seed, (name, template)) in (1..).zip(read_corpus()) {
        let names = template.variables();
        for (way, verdict) in read_verdicts(&template) {
            if verdict != "unknown" {
                continue;
            }
            let mut random = Random::new(seed);
            for _ in 0..1000 {
                if let Some((before, after, shown)) = render_pair(&mut random, &template, &names, way) {
                    if !after.starts_with(&before) {
                        println!("missed {name}: {way}: {shown}\n{before:?}\n{after:?}");
                        break;
                    }
                }
            }
        }
    }
}
