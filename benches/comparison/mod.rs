//! Compares this crate with minijinja and with renderers written by hand, on five templates and generated conversations.
//!
//! ```text
//! let context = reparse(conversation(&family, Size::Messages(100)));
//! let comparison = Comparison::new(&Engines::new(&environment, &family), context)?;
//! comparison.apply_ours();  comparison.render_ours();  comparison.render_minijinja_ready();  comparison.render_by_hand();  comparison.copy_output();
//! ```
//!
//! A comparison can be made only if all outputs are equal. `stopwatch` measures the time.
#![allow(dead_code, reason = "each bench is a crate of its own and takes what it needs")]

pub mod by_hand;
pub mod callgrind;
pub mod conversation;
pub mod corpus;
pub mod minijinja_setup;
pub mod stopwatch;

use chat_template::{ApplyOptions, ChatTemplate, Clock, LocalTime, RenderOptions, Template, json};
use minijinja::Environment;
use minijinja::value::Serde;

/// The local time of every render. [`minijinja_setup`] has this date as a constant.
pub const NOW: &str = "2026-01-02T03:04:05";

/// A template, with the properties of its conversations.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The name of the file in `templates/`.
    pub name: &'static str,
    /// The source of the template.
    pub source: &'static str,
    /// The number of functions that the assistant calls in one turn. Some templates allow only one.
    pub calls: usize,
    /// Whether every other question is a list of parts instead of a string.
    pub parts: bool,
    /// The template as a Rust function.
    pub by_hand: by_hand::Renderer,
}

/// The five templates. Each is written in a manner that is common among real templates.
pub const FAMILIES: [Family; 5] = [
    // ChatML, with one line of code for each message.
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

/// A template that this crate and minijinja have compiled, and the renderer written by hand if there is one.
pub struct Engines<'e> {
    ours: Template,
    applied: ChatTemplate,
    minijinja: minijinja::Template<'e, 'e>,
    by_hand: Option<by_hand::Renderer>,
}

impl<'e> Engines<'e> {
    /// Compiles one of the five templates.
    pub fn new(environment: &'e Environment<'e>, family: &'e Family) -> Self {
        let mut engines = Self::compile(environment, family.source).unwrap_or_else(|error| panic!("{error}"));
        engines.by_hand = Some(family.by_hand);
        engines
    }

    /// Compiles any template with this crate and with minijinja.
    ///
    /// # Errors
    /// Returns a message if one of the two does not compile it.
    pub fn compile(environment: &'e Environment<'e>, source: &'e str) -> Result<Self, String> {
        Ok(Self {
            ours: Template::compile(source).map_err(|error| error.to_string())?,
            applied: ChatTemplate::from_source(source, &[("bos_token", "<s>"), ("eos_token", "</s>")])
                .map_err(|error| error.to_string())?,
            minijinja: environment.template_from_str(source).map_err(|error| format!("{error:#}"))?,
            by_hand: None,
        })
    }
}

/// A template and a conversation, in all the forms that the engines accept.
pub struct Comparison<'e> {
    engines: &'e Engines<'e>,
    json: serde_json::Value,
    text: String,
    ready: minijinja::Value,
    clock: LocalTime,
    output: String,
}

impl<'e> Comparison<'e> {
    /// Renders the conversation once in each way.
    ///
    /// # Errors
    /// Returns a message if a render fails, or if two outputs differ.
    pub fn new(engines: &'e Engines<'e>, context: serde_json::Value) -> Result<Self, String> {
        let mut comparison = Self {
            engines,
            ready: minijinja::Value::from(Serde(&context)),
            text: context.to_string(),
            json: context,
            clock: NOW.parse().expect("NOW is a time"),
            output: String::new(),
        };
        comparison.output = comparison.render(&comparison.json).map_err(|error| error.to_string())?;
        let output = engines.minijinja.render(comparison.ready.clone());
        comparison.compare("minijinja", &output.map_err(|error| format!("{error:#}"))?)?;
        comparison.compare("minijinja from JSON", &comparison.render_minijinja_from_json())?;
        comparison.compare("minijinja from text", &comparison.render_minijinja_from_text())?;
        comparison.compare(
            "minijinja from text over JSON",
            &comparison.render_minijinja_from_text_over_json(),
        )?;
        comparison.compare("from text", &comparison.render_ours_from_text())?;
        let applied = comparison.apply().map_err(|error| error.to_string())?;
        comparison.compare("apply", &applied)?;
        if engines.by_hand.is_some() {
            comparison.compare("by hand", &comparison.render_by_hand())?;
        }
        Ok(comparison)
    }

    /// Renders the conversation once in each way, and panics if a render fails or if two outputs differ.
    pub fn checked(engines: &'e Engines<'e>, context: serde_json::Value) -> Self {
        Self::new(engines, context).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Renders with this crate. The context is borrowed JSON.
    pub fn render_ours(&self) -> String {
        self.render(&self.json).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Renders with this crate's [`ChatTemplate::apply`], as its users do. The messages and the tools are borrowed JSON.
    pub fn apply_ours(&self) -> String {
        self.apply().unwrap_or_else(|error| panic!("{error}"))
    }

    fn apply(&self) -> chat_template::Result<String> {
        let tools = self.json.get("tools");
        let options = ApplyOptions::default()
            .with_tools(&tools)
            .with_add_generation_prompt(true)
            .with_clock(&self.clock);
        Ok(self.engines.applied.apply(&self.json["messages"], &options)?.text)
    }

    /// Renders with this crate. The context is JSON text, read as `Template::render_json` does.
    pub fn render_ours_from_text(&self) -> String {
        let context = json::read(&self.text).unwrap_or_else(|error| panic!("{error}"));
        self.render(&context).unwrap_or_else(|error| panic!("{error}"))
    }

    fn render(&self, context: &(impl chat_template::Input + ?Sized)) -> chat_template::Result<String> {
        let clock: &dyn Clock = &self.clock;
        let options = RenderOptions::default().with_clock(clock);
        Ok(self.engines.ours.render(context, &options)?.text)
    }

    /// Renders with the function written by hand, which borrows the JSON and writes to a string of sufficient capacity.
    pub fn render_by_hand(&self) -> String {
        let mut out = String::with_capacity(self.output.len());
        let render = self.engines.by_hand.expect("the five have one");
        render(&self.json, &mut out).expect("the conversation is not refused");
        out
    }

    /// Renders with minijinja. The context is a value of minijinja.
    pub fn render_minijinja_ready(&self) -> String {
        self.render_minijinja(self.ready.clone())
    }

    /// Renders with minijinja. The context is JSON, which minijinja converts.
    pub fn render_minijinja_from_json(&self) -> String {
        self.render_minijinja(Serde(&self.json))
    }

    /// Renders with minijinja. The context is JSON text, read as a value of minijinja.
    pub fn render_minijinja_from_text(&self) -> String {
        let context: minijinja::Value = serde_json::from_str(&self.text).expect("it is JSON");
        self.render_minijinja(context)
    }

    /// Renders with minijinja. The context is JSON text, read as JSON, which minijinja converts.
    pub fn render_minijinja_from_text_over_json(&self) -> String {
        let context: serde_json::Value = serde_json::from_str(&self.text).expect("it is JSON");
        self.render_minijinja(Serde(&context))
    }

    fn render_minijinja(&self, context: impl Into<minijinja::Value>) -> String {
        let rendered = self.engines.minijinja.render(context);
        rendered.unwrap_or_else(|error| panic!("{error:#}"))
    }

    /// Allocates and copies the output. A render does at least this.
    pub fn copy_output(&self) -> String {
        self.output.clone()
    }

    /// Returns the output of a render.
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
