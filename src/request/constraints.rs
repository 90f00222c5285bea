//! What a request demands of the answer: which tools it may call, and the form of its text.
//!
//! | | Chat Completions | Responses | Messages |
//! |---|---|---|---|
//! | tools | `tool_choice`, `function_call` | `tool_choice` | `tool_choice` |
//! | one call | `parallel_tool_calls` | `parallel_tool_calls` | `tool_choice.disable_parallel_tool_use` |
//! | form | `response_format` | `text.format` | `output_format`, `output_config.format` |

use super::wrong;
use crate::error::Result;
use crate::json::Data;

/// Which tools a model may call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice<'o> {
    /// Any, or none.
    #[default]
    Auto,
    /// None.
    None,
    /// Any, and at least one.
    Required,
    /// The one with this name, at least once.
    Function(&'o str),
}

/// What a request demands of the answer.
#[derive(Clone, Debug, Default)]
pub struct Constraints<'b> {
    pub tool_choice: ToolChoice<'b>,
    /// The names of the tools that the model may call. Without them, it may call all.
    pub allowed: Option<Vec<&'b str>>,
    /// Whether the model may write one call at most.
    pub is_single: bool,
    /// The schema of the answer. A request for any JSON object has the schema null.
    pub schema: Option<&'b Data<'b>>,
    /// The JSON pointer of the schema.
    pub schema_path: String,
    /// The JSON pointer and the type of a value that only some servers know, such as a tool that OpenAI runs.
    pub unknown: Option<(&'static str, &'b str)>,
}

impl<'b> Constraints<'b> {
    /// Reads the constraints of a body.
    ///
    /// # Errors
    /// If a value has a type that no format allows.
    pub fn read(body: &'b Data<'b>) -> Result<Self> {
        let mut constraints = Self::default();
        for (key, path) in [("function_call", "/function_call"), ("tool_choice", "/tool_choice")] {
            if let Some(choice) = body.get(key).filter(|_| constraints.tool_choice != ToolChoice::None) {
                constraints.read_choice(choice, path)?;
            }
        }
        let flag = |key: &str| body.get(key).and_then(Data::bool);
        constraints.is_single |= flag("parallel_tool_calls") == Some(false);
        let inner = |outer: &str, key: &str| body.get(outer)?.get(key);
        for (path, format) in [
            ("/response_format", body.get("response_format")),
            ("/text/format", inner("text", "format")),
            ("/output_format", body.get("output_format")),
            ("/output_config/format", inner("output_config", "format")),
        ] {
            if let Some(format) = format {
                constraints.read_format(format, path)?;
            }
        }
        Ok(constraints)
    }

    fn read_choice(&mut self, choice: &'b Data<'b>, path: &'static str) -> Result<()> {
        self.is_single = choice.get("disable_parallel_tool_use").and_then(Data::bool) == Some(true);
        let name_of = |choice: &'b Data<'b>| {
            let inner = ["function", "custom"].iter().find_map(|key| choice.get(key));
            inner.unwrap_or(choice).get_text("name")
        };
        let kind = choice.text().or_else(|| choice.get_text("type"));
        self.tool_choice = match (kind, name_of(choice)) {
            (Some("auto"), _) => ToolChoice::Auto,
            (Some("none"), _) => ToolChoice::None,
            (Some("required" | "any"), _) => ToolChoice::Required,
            (Some("allowed_tools"), _) => {
                let allowed = choice.get("allowed_tools").unwrap_or(choice);
                let tools = allowed.get("tools").into_iter().flat_map(Data::items);
                self.allowed = Some(tools.filter_map(name_of).collect());
                match allowed.get_text("mode") {
                    Some("required") => ToolChoice::Required,
                    _ => ToolChoice::Auto,
                }
            }
            (Some("function" | "tool" | "custom") | None, Some(name)) => ToolChoice::Function(name),
            (Some(kind), _) if choice.is_object() && !matches!(kind, "function" | "tool" | "custom") => {
                self.unknown = Some((path, kind));
                ToolChoice::Auto
            }
            _ => {
                let fault = "it must be \"auto\", \"none\", \"required\" or an object with the name of a function";
                return Err(wrong(path.to_owned(), fault));
            }
        };
        Ok(())
    }

    fn read_format(&mut self, format: &'b Data<'b>, path: &'static str) -> Result<()> {
        match format.get_text("type") {
            Some("text") => {}
            Some("json_object" | "json_schema") => {
                let wrapped = format.get("json_schema").and_then(|wrapper| wrapper.get("schema"));
                (self.schema, self.schema_path) = match (wrapped, format.get("schema")) {
                    (Some(schema), _) => (Some(schema), format!("{path}/json_schema/schema")),
                    (None, Some(schema)) => (Some(schema), format!("{path}/schema")),
                    (None, None) => (Some(&Data::None), path.to_owned()),
                };
            }
            Some(kind) => self.unknown = Some((path, kind)),
            None => return Err(wrong(path.to_owned(), "it must be an object with a `type`")),
        }
        Ok(())
    }
}
