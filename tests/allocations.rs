//! What a render takes from the allocator: few pieces, and little more than its output.
//!
//! ```text
//! 10 000 messages  ->  fewer than 100 allocations; at most 2.1 times the output at once, which is what growing it by doubling takes
//! ```
//!
//! Counted by `dhat` in the place of the usual allocator, for the five templates of the benches. The context is made before the counting.
#![allow(clippy::restriction, clippy::pedantic, reason = "a test that fails shall panic")]

#[path = "../benches/arena/mod.rs"]
mod arena;

use chat_template::{FixedClock, RenderOptions, Template};

use arena::conversation::{Size, conversation};
use arena::{FAMILIES, Family, NOW};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// However long the conversation is, and how often the output has to grow.
const MOST_ALLOCATIONS: u64 = 99;

/// Beside 2.1 times its output, a render may hold so many bytes at once.
const MOST_BYTES_BESIDE_OUTPUT: f64 = 256.0 * 1024.0;

/// What one render did.
#[derive(Debug)]
struct Use {
    allocations: u64,
    peak: f64,
    output: f64,
}

impl Use {
    /// Of the first render of a template, which has nothing to tell it how long its output will be.
    fn of_first_render(family: &Family, messages: usize) -> Self {
        let context = conversation(family, Size::Messages(messages));
        let template = Template::compile(family.source).expect("it compiles");
        let options = RenderOptions {
            clock: &FixedClock(NOW.parse().expect("NOW is a time")),
            ..RenderOptions::default()
        };
        let profiler = dhat::Profiler::builder().testing().build();
        let rendered = template.render_with(&context, &options);
        let counted = dhat::HeapStats::get();
        drop(profiler);
        Self {
            allocations: counted.total_blocks,
            peak: counted.max_bytes as f64,
            output: rendered.expect("it renders").text.len() as f64,
        }
    }
}

/// One test, because there is one counter for all threads.
#[test]
fn a_render_takes_few_pieces_and_holds_little_more_than_its_output() {
    for family in FAMILIES {
        let render = Use::of_first_render(&family, 10_000);
        println!("{}: {render:?}", family.name);
        assert!(render.allocations <= MOST_ALLOCATIONS, "{}: {render:?}", family.name);
        let most = 2.1 * render.output + MOST_BYTES_BESIDE_OUTPUT;
        assert!(render.peak <= most, "{}: {render:?}", family.name);
    }
}
