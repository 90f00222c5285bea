//! Prints how long a prepared request takes, divided by the time of `apply` on its messages: 100 messages and five tools.
//!
//! ```text
//! cargo bench --bench door
//! ```
//!
//! Fails if a ratio is above 2. Without the argument `--bench`, which `cargo bench` passes, nothing is measured.
#![allow(clippy::restriction, clippy::pedantic, reason = "a bench that cannot run shall stop")]

mod comparison;

use std::hint::black_box;

use chat_template::{ApplyOptions, ChatTemplate, What};
use serde_json::json;

use comparison::conversation::{Size, conversation, reparse};
use comparison::stopwatch::measure;
use comparison::{FAMILIES, Family};

/// The maximum of each ratio.
const MOST: f64 = 2.0;

fn main() {
    let timed = std::env::args().any(|argument| argument == "--bench");
    let ratios: Vec<f64> = FAMILIES.iter().map(|family| compare(family, timed)).collect();
    assert!(ratios.iter().all(|ratio| *ratio <= MOST), "{ratios:?}");
}

/// Returns the ratio of a family of templates, or 0 if nothing is measured.
fn compare(family: &Family, timed: bool) -> f64 {
    let mut body = conversation(family, Size::Messages(100));
    body["tools"] = conversation(family, Size::Tools(5))["tools"].take();
    let body = reparse(body);
    let tokens = [("bos_token", "<s>"), ("eos_token", "</s>")];
    let template = ChatTemplate::from_source(family.source, &tokens);
    template.inspect().expect("the template is inspected");
    let options = ApplyOptions {
        tools: Some(&body["tools"]),
        add_generation_prompt: true,
        ..ApplyOptions::default()
    };
    let request = json!({"messages": body["messages"], "tools": body["tools"]});
    let request = reparse(request);
    let door = || {
        template
            .prepare(&request)
            .and_then(|prepared| prepared.apply())
            .expect("it renders")
    };
    let apply = || template.apply(&body["messages"], &options).expect("it renders");
    let prepared = template.prepare(&request).expect("it is taken");
    let text = prepared.apply().expect("it renders").text;
    let changed = prepared.changes.iter().filter(|change| change.what != What::Dropped).count();
    assert!(changed > 0 || text == apply().text, "{}", family.name);
    if !timed {
        return 0.0;
    }
    let [door, apply] = measure([&|| drop(black_box(door())), &|| drop(black_box(apply()))]);
    let dropped = prepared.changes.len() - changed;
    println!(
        "{:14} apply {:6.1} us, door {:6.1} us, ratio {:.2} ({changed} changed, {dropped} dropped)",
        family.name,
        apply / 1000.0,
        door / 1000.0,
        door / apply
    );
    door / apply
}
