//! Tests that a render makes few allocations and needs little more memory than its output.
//!
//! ```text
//! 10 000 messages  ->  fewer than 100 allocations; at most 2.1 times the output at once, because the output grows by doubling
//! 10 messages, applied again  ->  at most 8 allocations, unless the template makes lists or calls macros
//! 10 000 messages, traced  ->  at most 4.5 times the output and 2 times the input at once, because the trace has the place of each string
//! ```
//!
//! The allocator of `dhat` counts the allocations of the five templates of the benches, without those of the context. If there is a corpus,
//! a template of each of its families is traced too, except in a debug build, where this takes minutes.
#![allow(clippy::restriction, clippy::pedantic, reason = "a test that fails shall panic")]

#[path = "../../benches/comparison/mod.rs"]
mod comparison;

use chat_template::{ApplyOptions, ChatTemplate, LocalTime, RenderOptions, Template};

use serde_json::Value;

use comparison::conversation::{Size, conversation};
use comparison::{FAMILIES, Family, NOW, corpus};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// The maximum number of allocations of a render of any length.
const MAX_ALLOCATIONS: u64 = 99;

/// The maximum number of allocations of `apply`, after a call with the same messages. It holds for a template that neither makes lists nor
/// calls macros.
const MAX_ALLOCATIONS_OF_APPLY: u64 = 8;

/// The maximum number of bytes that a render can have allocated at once in addition to 2.1 times its output.
const MAX_BYTES_BESIDE_OUTPUT: f64 = 256.0 * 1024.0;

/// The maximum number of bytes that a traced render can have allocated at once: a multiple of its output, a multiple of its input as JSON
/// text, and a number.
const MAX_TIMES_OUTPUT_TRACED: f64 = 4.5;
const MAX_TIMES_INPUT_TRACED: f64 = 2.0;
const MAX_BYTES_BESIDE_TRACED: f64 = 1024.0 * 1024.0;

/// The allocations of one render. Sizes are in bytes.
#[derive(Debug)]
struct Use {
    allocations: u64,
    peak: f64,
    input: f64,
    output: f64,
}

impl Use {
    /// Measures the first render of a template, which cannot know the length of its output.
    fn measure_first_render(family: &Family, messages: usize) -> Self {
        let context = conversation(family, Size::Messages(messages));
        Self::measure(family.source, &context, false).expect("it renders")
    }

    /// Measures the first render of a template, or returns `None` if it fails.
    fn measure(source: &str, context: &Value, trace: bool) -> Option<Self> {
        let template = Template::compile(source).ok()?;
        let now = NOW.parse::<LocalTime>().expect("NOW is a time");
        let options = RenderOptions::default().with_clock(&now).with_trace(trace);
        let profiler = dhat::Profiler::builder().testing().build();
        let rendered = template.render(context, &options);
        let counted = dhat::HeapStats::get();
        drop(profiler);
        Some(Self {
            allocations: counted.total_blocks,
            peak: counted.max_bytes as f64,
            input: context.to_string().len() as f64,
            output: rendered.ok()?.text.len() as f64,
        })
    }

    fn check_traced(&self, name: &str) {
        println!("{name}, traced: {self:?}, {:.2} times the output", self.peak / self.output);
        let of_texts = MAX_TIMES_OUTPUT_TRACED * self.output + MAX_TIMES_INPUT_TRACED * self.input;
        assert!(self.peak <= of_texts + MAX_BYTES_BESIDE_TRACED, "{name}: {self:?}");
    }
}

/// Returns the number of allocations of the second of two equal calls of `apply`, which knows the length of its output.
fn count_applied(family: &Family) -> u64 {
    let template = ChatTemplate::from_source(family.source, &[("bos_token", "<s>"), ("eos_token", "</s>")]).expect("it compiles");
    let context = conversation(family, Size::Messages(10));
    let now = NOW.parse::<LocalTime>().expect("NOW is a time");
    let options = ApplyOptions::default().with_clock(&now).with_add_generation_prompt(true);
    let apply = || template.apply(&context["messages"], &options).expect("it renders");
    drop(apply());
    let profiler = dhat::Profiler::builder().testing().build();
    let prompt = apply();
    let counted = dhat::HeapStats::get();
    drop((prompt, profiler));
    counted.total_blocks
}

/// There is only one test in this file, because all threads share the counter.
#[test]
fn a_render_makes_few_allocations_and_needs_little_more_memory_than_its_output() {
    for family in FAMILIES {
        let applied = count_applied(&family);
        println!("{}: {applied} allocations of apply", family.name);
        let makes_values = ["backward_scan", "selectattr", "macro_parts"].contains(&family.name);
        assert!(applied <= MAX_ALLOCATIONS_OF_APPLY || makes_values, "{}", family.name);
        let render = Use::measure_first_render(&family, 10_000);
        println!("{}: {render:?}", family.name);
        assert!(render.allocations <= MAX_ALLOCATIONS, "{}: {render:?}", family.name);
        let most = 2.1 * render.output + MAX_BYTES_BESIDE_OUTPUT;
        assert!(render.peak <= most, "{}: {render:?}", family.name);
        let context = conversation(&family, Size::Messages(10_000));
        let traced = Use::measure(family.source, &context, true).expect("it renders");
        traced.check_traced(family.name);
    }
    if cfg!(debug_assertions) {
        return;
    }
    let [_, tools, ..] = FAMILIES;
    let context = conversation(&tools, Size::Messages(10_000));
    for (family, sources) in corpus::families() {
        let traced = sources.iter().find_map(|source| Use::measure(source, &context, true));
        traced.into_iter().for_each(|traced| traced.check_traced(&family));
    }
}
