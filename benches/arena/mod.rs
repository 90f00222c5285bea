//! What every bench runs: five templates written for it, conversations made by rule, and this crate, minijinja and a renderer written by
//! hand side by side on them.
//!
//! ```text
//! let context = read_anew(conversation(&family, Size::Messages(100)));
//! let contest = Contest::new(&Engines::new(&environment, &family), context)?;
//! contest.ours();  contest.rival();  contest.by_hand();  contest.copy();
//! ```
//!
//! A contest is made only where all give the same bytes. It knows nothing of how time is taken.
#![allow(dead_code, reason = "each bench is a crate of its own and takes what it needs")]

pub mod by_hand;
pub mod conversation;
pub mod corpus;
pub mod rival;
pub mod stopwatch;

use chat_template::{Clock, FixedClock, RenderOptions, Template, json};
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
    /// The same as a Rust function.
    pub by_hand: by_hand::Renderer,
}

/// The five templates: each stands for a kind that is common among real ones.
pub const FAMILIES: [Family; 5] = [
    // One line a message, as ChatML is written.
    Family {
        name: "chatml",
        source: include_str!("../templates/chatml.jinja"),
        calls: 2,
        parts: false,
        by_hand: by_hand::chatml::render,
    },
    // Functions as indented JSON, a date, `trim` on each message: in the manner of Llama-3.1.
    Family {
        name: "tools",
        source: include_str!("../templates/tools.jinja"),
        calls: 1,
        parts: false,
        by_hand: by_hand::tools::render,
    },
    // A scan from the end with a namespace, thoughts cut off by `split`, grouped answers of functions: in the manner of Qwen3.
    Family {
        name: "backward_scan",
        source: include_str!("../templates/backward_scan.jinja"),
        calls: 2,
        parts: false,
        by_hand: by_hand::backward_scan::render,
    },
    // `selectattr`, a check that turns alternate, comparison of whole messages: in the manner of Mistral-Nemo.
    Family {
        name: "selectattr",
        source: include_str!("../templates/selectattr.jinja"),
        calls: 2,
        parts: false,
        by_hand: by_hand::selectattr::render,
    },
    // A macro for each message, over text or parts: in the manner of Qwen3.5.
    Family {
        name: "macro_parts",
        source: include_str!("../templates/macro_parts.jinja"),
        calls: 2,
        parts: true,
        by_hand: by_hand::macro_parts::render,
    },
];

/// A template compiled by both engines, and by hand where somebody wrote that; minijinja's side borrows the environment.
pub struct Engines<'e> {
    ours: Template,
    rival: minijinja::Template<'e, 'e>,
    by_hand: Option<by_hand::Renderer>,
}

impl<'e> Engines<'e> {
    /// The engines of one of the five.
    pub fn new(environment: &'e Environment<'e>, family: &'e Family) -> Self {
        let mut engines = Self::compile(environment, family.source).unwrap_or_else(|error| panic!("{error}"));
        engines.by_hand = Some(family.by_hand);
        engines
    }

    /// Compiles a template with both.
    ///
    /// # Errors
    /// What either of them does not compile.
    pub fn compile(environment: &'e Environment<'e>, source: &'e str) -> Result<Self, String> {
        Ok(Self {
            ours: Template::compile(source).map_err(|error| error.to_string())?,
            rival: environment.template_from_str(source).map_err(|error| format!("{error:#}"))?,
            by_hand: None,
        })
    }
}

/// One template and one conversation, in the forms that the engines take.
pub struct Contest<'e> {
    engines: &'e Engines<'e>,
    json: serde_json::Value,
    text: String,
    ready: minijinja::Value,
    clock: FixedClock,
    output: String,
}

impl<'e> Contest<'e> {
    /// Renders once at each door.
    ///
    /// # Errors
    /// Where one fails, or the bytes differ.
    pub fn new(engines: &'e Engines<'e>, context: serde_json::Value) -> Result<Self, String> {
        let mut contest = Self {
            engines,
            ready: minijinja::Value::from(Serde(&context)),
            text: context.to_string(),
            json: context,
            clock: FixedClock(NOW.parse().expect("NOW is a time")),
            output: String::new(),
        };
        contest.output = contest.render(&contest.json).map_err(|error| error.to_string())?;
        let rival = engines.rival.render(contest.ready.clone());
        contest.compare("minijinja", &rival.map_err(|error| format!("{error:#}"))?)?;
        contest.compare("minijinja from JSON", &contest.rival_from_json())?;
        contest.compare("minijinja from text", &contest.rival_from_text())?;
        contest.compare("minijinja from text over JSON", &contest.rival_from_text_over_json())?;
        contest.compare("from text", &contest.ours_from_text())?;
        if engines.by_hand.is_some() {
            contest.compare("by hand", &contest.by_hand())?;
        }
        Ok(contest)
    }

    /// The same, and no bench where that fails.
    pub fn checked(engines: &'e Engines<'e>, context: serde_json::Value) -> Self {
        Self::new(engines, context).unwrap_or_else(|error| panic!("{error}"))
    }

    /// This crate, on the caller's JSON, which it borrows.
    pub fn ours(&self) -> String {
        self.render(&self.json).unwrap_or_else(|error| panic!("{error}"))
    }

    /// This crate, from JSON text: what `Template::render_json` does, at a time of our own.
    pub fn ours_from_text(&self) -> String {
        let context = json::read(&self.text, json::DEPTH).unwrap_or_else(|error| panic!("{error}"));
        self.render(&context).unwrap_or_else(|error| panic!("{error}"))
    }

    fn render<'c>(&self, context: impl Into<chat_template::Context<'c>>) -> chat_template::Result<String> {
        let clock: &dyn Clock = &self.clock;
        let options = RenderOptions {
            clock,
            ..RenderOptions::default()
        };
        Ok(self.engines.ours.render_with(context, &options)?.text)
    }

    /// The function written by hand, with room for its output, on the caller's JSON.
    pub fn by_hand(&self) -> String {
        let mut out = String::with_capacity(self.output.len());
        let render = self.engines.by_hand.expect("the five have one");
        render(&self.json, &mut out).expect("the conversation is not refused");
        out
    }

    /// Minijinja, on a context that is ready in its own form.
    pub fn rival(&self) -> String {
        self.rival_on(self.ready.clone())
    }

    /// Minijinja, on the caller's JSON, which it converts.
    pub fn rival_from_json(&self) -> String {
        self.rival_on(Serde(&self.json))
    }

    /// Minijinja, from JSON text read into its own values.
    pub fn rival_from_text(&self) -> String {
        let context: minijinja::Value = serde_json::from_str(&self.text).expect("it is JSON");
        self.rival_on(context)
    }

    /// Minijinja, from JSON text read into JSON, which it converts.
    pub fn rival_from_text_over_json(&self) -> String {
        let context: serde_json::Value = serde_json::from_str(&self.text).expect("it is JSON");
        self.rival_on(Serde(&context))
    }

    fn rival_on(&self, context: impl Into<minijinja::Value>) -> String {
        let rendered = self.engines.rival.render(context);
        rendered.unwrap_or_else(|error| panic!("{error:#}"))
    }

    /// The floor: the output allocated and copied once.
    pub fn copy(&self) -> String {
        self.output.clone()
    }

    /// What a render writes.
    pub fn output(&self) -> &str {
        &self.output
    }

    fn compare(&self, who: &str, output: &str) -> Result<(), String> {
        if output == self.output {
            return Ok(());
        }
        let same = self
            .output
            .bytes()
            .zip(output.bytes())
            .take_while(|(left, right)| left == right);
        Err(format!("{who}: the output differs from byte {} on", same.count()))
    }
}
