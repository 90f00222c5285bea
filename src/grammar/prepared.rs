//! The grammar of a request.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::calls::{Tool, read_tools, refuse};
use super::{Grammar, GrammarFormat, GrammarOptions};
use crate::deadline::Bounds;
use crate::error::Result;
use crate::json::Data;
use crate::meter::Meter;
use crate::request::Prepared;

impl Prepared<'_> {
    /// Returns a grammar of what the model may write: calls of the tools of the body by its `tool_choice` and `parallel_tool_calls`, or an
    /// answer of its `response_format`. Responses and Messages have other names for these. `None` if the model may write anything.
    ///
    /// ```
    /// use chat_template::grammar::GrammarFormat;
    /// use chat_template::{Bounds, ChatTemplate, json::to_data};
    ///
    /// let template = ChatTemplate::from_source("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<assistant>", &[])?;
    /// let body = to_data(&serde_json::json!({
    ///     "messages": [{"role": "user", "content": "Yes or no?"}],
    ///     "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": {"enum": ["yes", "no"]}}},
    /// }))?;
    /// let grammar = template.prepare(&body)?.grammar(GrammarFormat::Gbnf, Bounds::default())?.unwrap();
    /// assert_eq!(grammar.text, "root ::= \"\\\"yes\\\"\" | \"\\\"no\\\"\"\n");
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`ChatTemplate::grammar`](crate::ChatTemplate::grammar), and if the body demands what no grammar enforces, such as a call of
    /// a tool that the server runs.
    pub fn grammar<'o>(&self, format: GrammarFormat, bounds: impl Into<Bounds<'o>>) -> Result<Option<Grammar>> {
        let constraints = &self.request.constraints;
        if let Some((path, kind)) = constraints.unknown {
            return Err(refuse(format!("{path}: no grammar enforces the type {kind}")));
        }
        let bounds = bounds.into();
        let deadline = bounds.start();
        let mut meter = Meter::within(bounds, &deadline).share_steps();
        let variables = to_value(&self.written.variables, &mut meter)?;
        let schema = match constraints.schema {
            Some(Data::None) => Some(json!({"type": "object"})),
            schema => schema.map(|schema| to_value(schema, &mut meter)).transpose()?,
        };
        let body: Vec<_> = self.list_tools().collect();
        let schemas = body
            .iter()
            .map(|(_, schema, _)| schema.map(|schema| to_value(schema, &mut meter)).transpose());
        let schemas = schemas.collect::<Result<Vec<Option<Value>>>>()?;
        // With the policy `Exact`, the tools are in the form that templates read.
        let written = self.written.tools.iter().flatten().filter(|_| body.is_empty());
        let written = written.map(|tool| to_value(tool, &mut meter));
        let written = Value::Array(written.collect::<Result<_>>()?);
        let mut tools = read_tools(&written)?;
        for ((name, _, path), schema) in body.into_iter().zip(&schemas) {
            tools.push(Tool::new(name, schema.as_ref(), path)?);
        }
        if let Some(allowed) = &constraints.allowed {
            let names: HashSet<&str> = tools.iter().map(|tool| tool.name).collect();
            if let Some(name) = allowed.iter().find(|name| !names.contains(*name)) {
                return Err(refuse(format!("/tool_choice: there is no tool {name}")));
            }
            let allowed: HashSet<&str> = allowed.iter().copied().collect();
            tools.retain(|tool| allowed.contains(tool.name));
        }
        let options = GrammarOptions::default()
            .with_format(format)
            .with_tool_choice(constraints.tool_choice)
            .with_parallel_calls(!constraints.is_single)
            .with_json_schema(schema.as_ref())
            .with_variables(variables.is_object().then_some(&variables))
            .with_bounds(bounds.with_deadline(&*deadline));
        let path = constraints.schema_path.as_str();
        self.request.template.write_grammar(tools, path, &options, &mut meter)
    }
}

/// Converts a value of the body.
fn to_value(value: &Data<'_>, meter: &mut Meter<'_>) -> Result<Value> {
    let count = value.count_values();
    meter.charge_items(count)?;
    meter.claim_for_render(count.saturating_mul(size_of::<Value>()))?;
    serde_json::to_value(value).map_err(|error| refuse(error.to_string()).with_source(error))
}
