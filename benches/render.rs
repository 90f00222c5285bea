//! Measures rendering the five templates with criterion, and compares it with minijinja, a renderer written by hand, and one copy of the
//! output.
//!
//! ```text
//! cargo bench --bench render [-- 'apply/chatml']
//! ```
//!
//! The groups are `render` for borrowed JSON, `render_json` for JSON text, `apply` for `ChatTemplate::apply`, and `turn` for a conversation
//! that is rendered again with two more messages.
#![allow(clippy::restriction, clippy::pedantic, reason = "a bench that cannot run should panic")]

mod comparison;

use std::time::Duration;

use chat_template::{ApplyOptions, ChatTemplate, Clock, LocalTime};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use serde_json::Value;

use comparison::conversation::{Size, conversation, reparse};
use comparison::{Comparison, Engines, FAMILIES, Family, NOW, minijinja_setup};

fn render(criterion: &mut Criterion, family: &Family) {
    let environment = minijinja_setup::environment();
    let engines = Engines::new(&environment, family);
    for size in Size::of(family) {
        let comparison = Comparison::checked(&engines, reparse(conversation(family, size)));
        let mut group = criterion.benchmark_group(format!("render/{}", family.name));
        group.throughput(Throughput::Elements(size.messages() as u64));
        let id = |engine: &str| BenchmarkId::new(engine, size.label());
        group.bench_function(id("chat-template"), |bencher| bencher.iter(|| comparison.render_ours()));
        group.bench_function(id("minijinja"), |bencher| {
            bencher.iter(|| comparison.render_minijinja_ready())
        });
        group.bench_function(id("minijinja, converting"), |bencher| {
            bencher.iter(|| comparison.render_minijinja_from_json())
        });
        group.bench_function(id("by hand"), |bencher| bencher.iter(|| comparison.render_by_hand()));
        group.bench_function(id("copy"), |bencher| bencher.iter(|| comparison.copy_output()));
        group.finish();

        let mut group = criterion.benchmark_group(format!("render_json/{}", family.name));
        group.throughput(Throughput::Elements(size.messages() as u64));
        group.bench_function(id("chat-template"), |bencher| {
            bencher.iter(|| comparison.render_ours_from_text())
        });
        group.bench_function(id("minijinja"), |bencher| {
            bencher.iter(|| comparison.render_minijinja_from_text())
        });
        group.bench_function(id("minijinja, over JSON"), |bencher| {
            bencher.iter(|| comparison.render_minijinja_from_text_over_json())
        });
        group.finish();
    }
}

fn apply(criterion: &mut Criterion, family: &Family) {
    let clock: LocalTime = NOW.parse().expect("NOW is a time");
    let clock: &dyn Clock = &clock;
    let template = ChatTemplate::from_source(family.source, &[("bos_token", "<s>"), ("eos_token", "</s>")]).unwrap();
    let mut group = criterion.benchmark_group(format!("apply/{}", family.name));
    for size in [Size::Messages(10), Size::Messages(1000), Size::Tools(5)] {
        let context = conversation(family, size);
        let tools = context.get("tools");
        let options = ApplyOptions::default()
            .with_tools(&tools)
            .with_add_generation_prompt(true)
            .with_clock(clock);
        let messages = &context["messages"];
        let text = messages.to_string();
        let prompt = |messages: &Value| template.apply(messages, &options).expect("it renders").text;
        let prompt_from_text = || template.apply_json(&text, &options).expect("it renders").text;
        assert!(prompt(messages) == prompt_from_text(), "both outputs are equal");
        group.throughput(Throughput::Elements(size.messages() as u64));
        group.bench_function(BenchmarkId::new("ready", size.label()), |bencher| {
            bencher.iter(|| prompt(messages))
        });
        group.bench_function(BenchmarkId::new("from text", size.label()), |bencher| {
            bencher.iter(prompt_from_text)
        });
    }
    group.finish();
}

fn turn(criterion: &mut Criterion, family: &Family) {
    let environment = minijinja_setup::environment();
    let engines = Engines::new(&environment, family);
    let mut group = criterion.benchmark_group(format!("turn/{}", family.name));
    for count in [10, 100, 1000] {
        let before = Comparison::checked(&engines, reparse(conversation(family, Size::Messages(count))));
        let after = Comparison::checked(&engines, reparse(conversation(family, Size::Messages(count + 2))));
        group.throughput(Throughput::Elements(count as u64 + 2));
        group.bench_function(BenchmarkId::new("chat-template", count), |bencher| {
            bencher.iter_batched(
                || drop(before.render_ours()),
                |()| after.render_ours(),
                BatchSize::PerIteration,
            )
        });
        group.bench_function(BenchmarkId::new("minijinja", count), |bencher| {
            bencher.iter_batched(
                || drop(before.render_minijinja_ready()),
                |()| after.render_minijinja_ready(),
                BatchSize::PerIteration,
            )
        });
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800))
        .configure_from_args();
    for family in FAMILIES {
        render(&mut criterion, &family);
        apply(&mut criterion, &family);
        turn(&mut criterion, &family);
    }
    criterion.final_summary();
}
