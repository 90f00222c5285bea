//! The class `Prepared`.

use chat_template::ChatTemplate;
use chat_template::json::{self, Data};
use chat_template::request::LaterSystem::{AsUser, InPlace, Merged};
use chat_template::request::{After, Format, LaterSystem, Policy, PrepareOptions, Prepared};
use serde_json::json;
use wasm_bindgen::prelude::*;

use crate::options::{Options, choose, clock};
use crate::template::{JsChatTemplate, write_append, write_prompt};
use crate::text::{Result, write};

const FORMATS: [(&str, Format); 3] = [
    ("chat_completions", Format::ChatCompletions),
    ("responses", Format::Responses),
    ("messages", Format::Messages),
];
const POLICIES: [(&str, Policy); 3] = [("exact", Policy::Exact), ("fit", Policy::Fit), ("strict", Policy::Strict)];
const LATER_SYSTEMS: [(&str, LaterSystem); 3] = [("in_place", InPlace), ("as_user", AsUser), ("merged", Merged)];

/// The body of a request as it is written for a template.
#[wasm_bindgen]
pub struct JsPrepared {
    template: ChatTemplate,
    body: Data<'static>,
    options: Options,
    /// How the body is written.
    plan: Option<After>,
}

#[wasm_bindgen]
impl JsChatTemplate {
    /// Prepares the body of a request, so that this template prints all of it.
    pub fn prepare(&self, body: &str, options: &str) -> Result<JsPrepared> {
        JsPrepared::make(&self.template, body, options, None)
    }
}

#[wasm_bindgen]
impl JsPrepared {
    /// Returns what the template gets, the media, and the changes that are known before the render.
    pub fn describe(&self) -> Result<String> {
        self.with(|prepared| {
            write(&json!({
                "format": prepared.format(),
                "messages": prepared.messages(),
                "tools": prepared.tools(),
                "variables": prepared.variables(),
                "add_generation_prompt": prepared.add_generation_prompt(),
                "media": prepared.media(),
                "changes": prepared.list_changes(),
            }))
        })
    }

    /// Returns the prompt and the changes of the body.
    pub fn render(&self) -> Result<String> {
        let (prompt, changes) = self.with(|prepared| self.options.with_prompt(|options| prepared.render_with(options)))?;
        write_prompt(&prompt, &self.template, Some(&changes), &self.options)
    }

    /// Returns the text to append after `seen` and, with `sampled`, after what the model wrote, and the changes of the body.
    pub fn after(&self, seen: &str, sampled: Option<String>) -> Result<String> {
        let sampled = sampled.as_deref();
        let (append, changes) = self.with(|prepared| self.options.with_prompt(|options| prepared.after(seen, sampled, options)))?;
        write_append(&append, Some(&changes))
    }

    /// Prepares the next body of the conversation in the same way.
    pub fn next(&self, body: &str, options: &str) -> Result<Self> {
        Self::make(&self.template, body, options, self.plan)
    }

    /// Returns the grammar of what the model may write, or null if it may write anything.
    #[cfg(feature = "inspect")]
    pub fn grammar(&self, format: &str) -> Result<String> {
        let format = crate::report::find_format(Some(format))?;
        self.with(|prepared| write(&prepared.grammar(format, self.options.bounds())?))
    }
}

impl JsPrepared {
    fn make(template: &ChatTemplate, body: &str, options: &str, plan: Option<After>) -> Result<Self> {
        let (template, body, options) = (template.clone(), json::read(body)?.into_owned(), Options::read(options)?);
        let mut prepared = Self {
            template,
            body,
            options,
            plan,
        };
        prepared.plan = Some(prepared.with(|prepared| Ok(After::from(&prepared)))?);
        Ok(prepared)
    }

    /// Prepares the body again, which takes no search, because the template remembers how it wrote a body of this shape.
    fn with<T>(&self, work: impl FnOnce(Prepared<'_>) -> Result<T>) -> Result<T> {
        let (own, time) = (&self.options, self.options.time()?);
        let mut options = PrepareOptions::default()
            .with_format(choose("format", own.format.as_deref(), &FORMATS)?)
            .with_policy(choose("policy", own.policy.as_deref(), &POLICIES)?.unwrap_or(Policy::Fit))
            .with_later_system(choose("later_system", own.later_system.as_deref(), &LATER_SYSTEMS)?.unwrap_or(InPlace))
            .with_chat_template(own.chat_template.as_deref())
            .with_media_placeholder(own.media_placeholder.as_deref())
            .with_keeps_tools(own.keeps_tools)
            .with_tools_as_text(own.tools_as_text)
            .with_clock(clock(time.as_ref()))
            .with_bounds(own.bounds());
        options.after = self.plan;
        work(self.template.prepare_with(&self.body, &options)?)
    }
}
