//! The tools of a body, and those that items and blocks add.
use super::super::normal::{Tool, ToolForm};
use super::super::places::BodyPlace;
use super::Reader;
use crate::error::Result;
use crate::json::Data;

/// Adds the tools of a list.
pub fn read<'b>(reader: &mut Reader<'b, '_, '_>, tools: &'b Data<'b>, parent: BodyPlace, key: &'b str) -> Result<()> {
    let place = reader.key(parent, key);
    for (index, tool) in reader.items_of(tools, place)? {
        reader.visit(size_of::<Tool<'b>>())?;
        let place = reader.item(parent, key, index);
        if !tool.is_object() {
            return Err(reader.wrong(place, format!("a tool must be an object, and this is {}", tool.describe())));
        }
        read_tool(reader, tool, place)?;
    }
    Ok(())
}

/// Adds a tool. A namespace has a list of tools, as a set of tools of an MCP server can have.
pub fn read_tool<'b>(reader: &mut Reader<'b, '_, '_>, tool: &'b Data<'b>, place: BodyPlace) -> Result<()> {
    let kind = tool.get_text("type");
    if let (Some("namespace" | "mcp_toolset"), Some(tools)) = (kind, tool.get("tools").filter(|tools| tools.is_list())) {
        for key in ["name", "description"].into_iter().filter(|key| tool.has(key)) {
            let place = reader.key(place, key);
            reader.drop(place, "templates have no place for what several tools have in common")?;
        }
        for (index, tool) in tools.items().enumerate() {
            reader.visit(size_of::<Tool<'b>>())?;
            let place = reader.item(place, "tools", index);
            push(reader, tool, place)?;
        }
        return Ok(());
    }
    push(reader, tool, place)
}

fn push<'b>(reader: &mut Reader<'b, '_, '_>, tool: &'b Data<'b>, place: BodyPlace) -> Result<()> {
    let own = |key: &str| tool.get(key).filter(|value| value.is_object());
    let kind = tool.get_text("type");
    let (function, form) = match (own("function"), own("custom")) {
        (Some(function), _) => (function, ToolForm::Wrapped),
        (None, Some(custom)) if kind == Some("custom") => (custom, ToolForm::Custom(find_grammar(custom))),
        _ if kind == Some("custom") && !tool.has("input_schema") => (tool, ToolForm::Custom(find_grammar(tool))),
        _ => (tool, ToolForm::Flat),
    };
    let has_schema = matches!(kind, None | Some("function" | "custom")) || function.has("input_schema");
    let Some(name) = function.get_text("name").filter(|_| has_schema) else {
        if has_schema {
            return Err(reader.wrong(place, "a function must have a string `name`"));
        }
        return reader.drop(place, "the server runs this tool, and the body has no schema of it");
    };
    reader.count(tool)?;
    reader.normal.tools.push(Tool {
        name,
        description: function.get_text("description"),
        parameters: function.get("parameters").or_else(|| function.get("input_schema")),
        form,
        node: tool,
        place,
    });
    Ok(())
}

/// Returns the grammar of a custom tool's input: in `format`, or in an object in it.
fn find_grammar<'b>(tool: &'b Data<'b>) -> Option<&'b str> {
    let format = tool.get("format")?;
    format.get("grammar").unwrap_or(format).get_text("definition")
}
