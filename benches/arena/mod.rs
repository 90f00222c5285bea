//! What every bench runs: five templates written for it, conversations made by rule, and this crate and minijinja side by side on them.
//!
//! ```text
//! let contest = Contest::new(&family.engines(), &conversation(&family, Size::Messages(100)));
//! contest.ours();  contest.rival();  contest.rival_from_json();  contest.copy();
//! ```
//!
//! A contest is made only where both engines give the same bytes. It knows nothing of how time is taken.
#![allow(dead_code, reason = "each bench is a crate of its own and takes what it needs")]

pub mod conversation;
pub mod rival;

use chat_template::{Clock, FixedClock, LocalTime, RenderOptions, Template};
use minijinja::Environment;
use minijinja::value::Serde;

/// The local time that every render sees; [`rival`] writes the same date.
pub const NOW: &str = "2026-01-02T03:04:05";

/// A template, and what its conversations look like.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The name of its file in `templates/`.
    pub name: &'static str,
    /// Its text.
    pub source: &'static str,
    /// How many functions the assistant calls in one turn: some templates take only one.
    pub calls: usize,
    /// Whether every other question is a list of parts and not a text.
    pub parts: bool,
}

/// The five templates: each stands for a kind that is common among real ones.
pub const FAMILIES: [Family; 5] = [
    // One line a message, as ChatML is written.
    Family {
        name: "chatml",
        source: include_str!("../templates/chatml.jinja"),
        calls: 2,
        parts: false,
    },
    // Functions as indented JSON, a date, `trim` on each message: in the manner of Llama-3.1.
    Family {
        name: "tools",
        source: include_str!("../templates/tools.jinja"),
        calls: 1,
        parts: false,
    },
    // A scan from the end with a namespace, thoughts cut off by `split`, grouped answers of functions: in the manner of Qwen3.
    Family {
        name: "backward_scan",
        source: include_str!("../templates/backward_scan.jinja"),
        calls: 2,
        parts: false,
    },
    // `selectattr`, a check that turns alternate, comparison of whole messages: in the manner of Mistral-Nemo.
    Family {
        name: "selectattr",
        source: include_str!("../templates/selectattr.jinja"),
        calls: 2,
        parts: false,
    },
    // A macro for each message, over text or parts: in the manner of Qwen3.5.
    Family {
        name: "macro_parts",
        source: include_str!("../templates/macro_parts.jinja"),
        calls: 2,
        parts: true,
    },
];

/// A template compiled by both engines; minijinja's side borrows the environment.
pub struct Engines<'e> {
    ours: Template,
    rival: minijinja::Template<'e, 'e>,
}

impl<'e> Engines<'e> {
    /// Compiles a template with both.
    pub fn new(environment: &'e Environment<'e>, source: &'e str) -> Self {
        Self {
            ours: Template::compile(source).unwrap_or_else(|error| panic!("{error}")),
            rival: environment
                .template_from_str(source)
                .unwrap_or_else(|error| panic!("{error:#}")),
        }
    }
}

/// One template and one conversation, in the forms that the engines take.
pub struct Contest<'e> {
    engines: &'e Engines<'e>,
    json: &'e serde_json::Value,
    ready: minijinja::Value,
    clock: FixedClock,
    output: String,
}

impl<'e> Contest<'e> {
    /// Renders once with both, and panics where the bytes differ.
    pub fn new(engines: &'e Engines<'e>, json: &'e serde_json::Value) -> Self {
        let now: LocalTime = NOW.parse().expect("NOW is a time");
        let mut contest = Self {
            engines,
            json,
            ready: minijinja::Value::from(Serde(json)),
            clock: FixedClock(now),
            output: String::new(),
        };
        contest.output = contest.ours();
        for rival in [contest.rival(), contest.rival_from_json()] {
            if let Some(place) = first_difference(&contest.output, &rival) {
                panic!("the engines' outputs differ from byte {place} on");
            }
        }
        contest
    }

    /// This crate, on the caller's JSON, which it borrows.
    pub fn ours(&self) -> String {
        let clock: &dyn Clock = &self.clock;
        let options = RenderOptions {
            clock,
            ..RenderOptions::default()
        };
        let rendered = self.engines.ours.render_with(self.json, &options);
        rendered.unwrap_or_else(|error| panic!("{error}")).text
    }

    /// Minijinja, on a context that is ready in its own form.
    pub fn rival(&self) -> String {
        let rendered = self.engines.rival.render(self.ready.clone());
        rendered.unwrap_or_else(|error| panic!("{error:#}"))
    }

    /// Minijinja, on the caller's JSON, which it converts.
    pub fn rival_from_json(&self) -> String {
        let rendered = self.engines.rival.render(Serde(self.json));
        rendered.unwrap_or_else(|error| panic!("{error:#}"))
    }

    /// The floor: the output allocated and copied once.
    pub fn copy(&self) -> String {
        self.output.clone()
    }

    /// How many bytes a render writes.
    pub fn output_length(&self) -> usize {
        self.output.len()
    }
}

fn first_difference(left: &str, right: &str) -> Option<usize> {
    if left == right {
        return None;
    }
    let same = left.bytes().zip(right.bytes()).take_while(|(left, right)| left == right);
    Some(same.count())
}
