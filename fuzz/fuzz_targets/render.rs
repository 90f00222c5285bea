//! Renders any template with a conversation. It must not panic or exceed the limits, and a step must not take much longer than usual. No
//! span may end before it begins, and true spans must be in the prompt, on character boundaries.
#![no_main]

use std::cell::RefCell;
use std::time::Duration;

use chat_template::internal::fuzzing::assert_usable;
use chat_template::{ApplyOptions, ChatTemplate, Limits, RenderOptions, Template};
use cpu_time::ThreadTime;

/// The longest mean time that the steps of a render may take, as a multiple of the median of all renders so far.
const MAX_FACTOR: u64 = 50;

/// The time above which a render is checked. The time of a shorter one depends too much on other programs.
const MIN_TIME: Duration = Duration::from_millis(20);

/// The number of renders after which the median is used.
const MIN_RENDERS: u64 = 1000;

thread_local! {
    /// A histogram of the time of a step: element `i` counts the renders whose mean is at least 2^i and below 2^(i + 1) nanoseconds.
    static RENDERS: RefCell<[u64; 64]> = const { RefCell::new([0; 64]) };
}

libfuzzer_sys::fuzz_target!(init: assert_usable(), |source: &str| {
    let Ok(template) = Template::compile(source) else { return };
    let context = serde_json::json!({
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Hé <b>!"}]},
            {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "f", "arguments": {"a": [1, 2.5, true]}}}]},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
        "add_generation_prompt": true,
        "x": 7, "s": "a b\nc", "d": {"k": "v"}, "n": null, "f": -0.5,
    });
    let mut limits = Limits::default();
    limits.steps = 200_000;
    limits.output = 1 << 20;
    limits.value = 1 << 20;
    limits.live = 4 << 20;
    let options = RenderOptions::default().with_bounds(&limits).with_reference_spans(true);
    let start = ThreadTime::now();
    let rendered = template.render(&context, &options);
    let time = start.elapsed();
    match rendered {
        Ok(rendered) => {
            // The shortest time of three renders counts, because a busy machine can only make a time longer.
            if is_slow(time, rendered.steps) {
                let render = || {
                    let start = ThreadTime::now();
                    drop(template.render(&context, &options));
                    start.elapsed()
                };
                let shortest = render().min(render());
                assert!(!is_slow(shortest, rendered.steps), "{} steps take {shortest:?}", rendered.steps);
            }
            assert!(rendered.text.len() <= 1 << 20, "the output is within its limit");
            // As in the reference, a span can lie beyond the end of the output, but it cannot end before it begins.
            assert!(
                rendered.reference_spans.code_points.iter().all(|span| span.start <= span.end),
                "a span ends after it begins"
            );
        }
        Err(error) => drop(error.to_string()),
    }
    if source.contains("generation") {
        check_true_spans(source, &context, &limits);
    }
});

/// Adds a render to the histogram. Returns whether its steps took much longer than the median.
fn is_slow(time: Duration, steps: u64) -> bool {
    // Starting a render takes as long as some hundred steps.
    let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX) / (steps + 500);
    let median = RENDERS.with_borrow_mut(|renders| {
        renders[nanoseconds.checked_ilog2().unwrap_or(0) as usize] += 1;
        let all: u64 = renders.iter().sum();
        let mut before = 0;
        let index = renders.iter().position(|count| {
            before += count;
            before > all / 2
        });
        (all > MIN_RENDERS).then(|| 2_u64 << index.unwrap_or(0))
    });
    time > MIN_TIME && median.is_some_and(|median| nanoseconds > median * MAX_FACTOR)
}

/// Checks that the true spans of the generation blocks are ranges of the prompt.
fn check_true_spans(source: &str, context: &serde_json::Value, limits: &Limits) {
    let options = ApplyOptions::default()
        .with_reference_spans(true)
        .with_generation_spans(true)
        .with_bounds(limits);
    let template = ChatTemplate::from_source(source, &[]);
    let Ok(prompt) = template.and_then(|template| template.apply(&context["messages"], &options)) else {
        return;
    };
    for span in &prompt.generation_spans.bytes {
        assert!(
            prompt.text.get(span.clone()).is_some(),
            "{span:?} is not a range of {:?}",
            prompt.text
        );
    }
}
