//! The report on a template, and the grammar of what a model may write.

use chat_template::grammar::{GrammarFormat, GrammarOptions};
use chat_template::request::ToolChoice;
use chat_template::response::ResponseTemplate;
use serde_json::Value;
use wasm_bindgen::prelude::*;

use crate::options::{Options, choose};
use crate::template::JsChatTemplate;
use crate::text::{Result, write};

#[wasm_bindgen]
impl JsChatTemplate {
    /// Returns the report on what the template takes, or a part of it by its path, such as `roles.user`.
    pub fn inspect(&self, part: &str, options: &str) -> Result<String> {
        let options = Options::read(options)?;
        let report = self.template.inspect(options.bounds())?;
        if !part.is_empty() {
            return write(&report.get::<Value>(part)?);
        }
        report.complete()?;
        write(&report)
    }

    /// Returns the grammar of what the model may write, or null if it may write anything.
    pub fn grammar(&self, options: &str) -> Result<String> {
        let own = Options::read(options)?;
        let description = own.response_template.as_ref().map(ResponseTemplate::new).transpose()?;
        let options = GrammarOptions::default()
            .with_format(find_format(own.format.as_deref())?)
            .with_tools(own.tools.as_ref())
            .with_tool_choice(match own.tool_choice.as_deref() {
                None | Some("auto") => ToolChoice::Auto,
                Some("none") => ToolChoice::None,
                Some("required") => ToolChoice::Required,
                Some(name) => ToolChoice::Function(name),
            })
            .with_parallel_calls(own.parallel_calls.unwrap_or(true))
            .with_json_schema(own.json_schema.as_ref())
            .with_reasoning(own.reasoning.unwrap_or(true))
            .with_variables(own.variables.as_ref())
            .with_description(description.as_ref())
            .with_bounds(own.bounds());
        write(&self.template.grammar(&options)?)
    }
}

/// Returns the notation of a grammar by its name.
pub fn find_format(name: Option<&str>) -> Result<GrammarFormat> {
    Ok(choose("format", name, &GrammarFormat::NAMES)?.unwrap_or_default())
}
