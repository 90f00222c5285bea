//! The tools of a body, and those that items and blocks add.
use super::super::normal::{Tool, ToolForm};
use super::super::places::BodyPlace;
use super::super::reasons as why;
use super::Reader;
use crate::error::Result;
use crate::json::Data;

impl<'b> Reader<'b, '_, '_> {
    /// Adds the tools of a list.
    pub fn read_tools(&mut self, tools: &'b Data<'b>, parent: BodyPlace, key: &'b str) -> Result<()> {
        self.read_each(tools, parent, key, |reader, tool, place| {
            if !tool.is_object() {
                return Err(reader.unfit(place, "a tool must be an object, and this is", tool));
            }
            reader.read_tool(tool, place)
        })
    }

    /// Adds a tool. A namespace has a list of tools, as a set of tools of an MCP server can have.
    pub fn read_tool(&mut self, tool: &'b Data<'b>, place: BodyPlace) -> Result<()> {
        let is_group = matches!(tool.get_text("type"), Some("namespace" | "mcp_toolset"));
        let Some(tools) = tool.get("tools").filter(|tools| is_group && tools.is_list()) else {
            return self.push_tool(tool, place);
        };
        for key in ["name", "description"].into_iter().filter(|key| tool.has(key)) {
            let place = self.key(place, key);
            self.note(place, why::NAMESPACE)?;
        }
        self.read_each(tools, place, "tools", Self::push_tool)
    }

    fn push_tool(&mut self, tool: &'b Data<'b>, place: BodyPlace) -> Result<()> {
        self.visit(size_of::<Tool<'b>>())?;
        let own = |key: &str| tool.get(key).filter(|value| value.is_object());
        let kind = tool.get_text("type");
        let (function, form) = match (own("function"), own("custom")) {
            (Some(function), _) => (function, ToolForm::Wrapped),
            (None, Some(custom)) if kind == Some("custom") => (custom, ToolForm::Custom(find_grammar(custom))),
            _ if kind == Some("custom") && !tool.has("input_schema") => (tool, ToolForm::Custom(find_grammar(tool))),
            _ => (tool, ToolForm::Flat),
        };
        let has_schema = matches!(kind, None | Some("function" | "custom")) || function.has("input_schema");
        if !has_schema {
            return self.note(place, why::SERVER_TOOL);
        }
        let Some(name) = function.get_text("name") else {
            return Err(self.wrong(place, "a function must have a string `name`"));
        };
        self.count(tool)?;
        self.normal.tools.push(Tool {
            name,
            description: function.get_text("description"),
            parameters: function.get("parameters").or_else(|| function.get("input_schema")),
            form,
            node: tool,
            function,
            place,
        });
        Ok(())
    }
}

/// Returns the grammar of a custom tool's input: in `format`, or in an object in it.
fn find_grammar<'b>(tool: &'b Data<'b>) -> Option<&'b str> {
    let format = tool.get("format")?;
    format.get("grammar").unwrap_or(format).get_text("definition")
}
