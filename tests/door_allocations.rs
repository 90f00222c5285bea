//! Tests that a body which needs no change is not copied: a request of any length takes as many allocations as `apply`.
#![cfg(feature = "inspect")]
#![allow(clippy::restriction, clippy::pedantic, reason = "a test that fails shall panic")]

use chat_template::{ApplyOptions, Bounds, ChatTemplate};
use serde_json::{Value, json};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// Returns what a function returns, and the number of allocations that it makes.
fn count<T>(function: impl FnOnce() -> T) -> (T, u64) {
    let profiler = dhat::Profiler::builder().testing().build();
    let result = function();
    let allocations = dhat::HeapStats::get().total_blocks;
    drop(profiler);
    (result, allocations)
}

/// The number of allocations for the list of what was written to the prompt.
const LIST: u64 = 2;

fn body(turns: usize) -> Value {
    let turn = |index: usize| {
        [
            json!({"role": "user", "content": format!("Question {index} of many.")}),
            json!({"role": "assistant", "content": format!("Answer {index}.")}),
        ]
    };
    let messages: Vec<Value> = (0..turns).flat_map(turn).collect();
    let tool = json!({"type": "function", "function": {"name": "weather", "description": "Tells the weather.", "parameters": {}}});
    json!({"messages": messages, "tools": [tool]})
}

/// There is only one test in this file, because all threads share the counter.
#[test]
fn a_body_that_needs_no_change_is_not_copied() {
    let source = "{{ tools|tojson }}{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}";
    let template = ChatTemplate::from_source(source, &[]).unwrap();
    template.inspect(Bounds::default()).unwrap().complete().unwrap();
    for turns in [10, 5000] {
        let body = body(turns);
        let (prepared, allocations) = count(|| template.prepare(&body).unwrap());
        // The clock is checked in a long body, which notes the thread.
        assert!(allocations <= usize::from(turns > 10) as u64, "{turns} turns are prepared");
        let options = ApplyOptions {
            tools: Some(&body["tools"]),
            add_generation_prompt: true,
            ..Default::default()
        };
        let (plain, of_apply) = count(|| template.apply(&body["messages"], &options).unwrap());
        let (prompt, allocations) = count(|| prepared.apply().unwrap());
        assert!(
            allocations <= of_apply + LIST,
            "{turns} turns are rendered with {allocations} allocations, not {of_apply}"
        );
        assert_eq!(prompt.text, plain.text);
        assert!(prepared.changes.is_empty());
    }
}
