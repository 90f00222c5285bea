//! The tools of a body, each with `{"type": "function", "function": …}` around it. No template is known that reads only flat tools.

use super::change::What;
use super::facts::Facts;
use super::format::Format;
use super::message::Fitted;
use super::node::Node;
use super::record::Recorder;
use super::wrong;
use crate::error::Result;
use crate::json::{DEPTH, Data, Object};

/// The number of values around a tool: the object with its type.
const WRAPPING_VALUES: usize = 2;

/// Returns the tools as the template takes them.
pub fn fit<'b>(facts: &Facts<'_>, body: Node<'b>, format: Format, changes: &mut Recorder<'_>) -> Result<Fitted<'b>> {
    let Some(tools) = body.get("tools") else {
        return Ok(Fitted::Absent);
    };
    if !tools.is_list() {
        return Err(wrong(
            "/tools".to_owned(),
            format!("the tools must be an array, and this is {}", tools.describe()),
        ));
    }
    let choice = body.get("tool_choice");
    let choice = choice.and_then(|choice| choice.text().or_else(|| choice.get_text("type")));
    if choice == Some("none") {
        if tools.items().next().is_some() {
            changes.drop_value(tools, "/tools".to_owned(), "`tool_choice` is `none`")?;
        }
        return Ok(Fitted::Absent);
    }
    if !facts.takes.tools {
        changes.drop_value(
            tools,
            "/tools".to_owned(),
            "the template fails with tools (takes.tools is false)",
        )?;
        return Ok(Fitted::Absent);
    }
    if !facts.reads_tools && tools.items().next().is_some() {
        // The template gets them nonetheless: it can count them.
        changes.drop_value(
            tools,
            "/tools".to_owned(),
            "the template does not read tools (tools.read is false)",
        )?;
    }
    let mut own: Vec<Data<'b>> = Vec::new();
    let mut is_kept = true;
    for (index, tool) in tools.items().enumerate() {
        changes.visit(0)?;
        let path = || format!("/tools/{index}");
        if !tool.is_object() {
            return Err(wrong(
                path(),
                format!("a tool must be an object, and this is {}", tool.describe()),
            ));
        }
        let is_wrapped = tool.get("function").is_some_and(Node::is_object);
        if is_wrapped && is_kept {
            continue;
        }
        if is_kept {
            for tool in tools.items().take(index) {
                own.push(changes.copy(tool)?);
            }
            is_kept = false;
        }
        if is_wrapped {
            own.push(changes.copy(tool)?);
            continue;
        }
        if !is_flat_function(tool) {
            changes.drop_value(tool, path(), "the tool is not a function, and templates read only functions")?;
            continue;
        }
        let what = match format {
            Format::ChatCompletions => What::Wrapped,
            _ => What::Translated,
        };
        changes.add(path(), what, "templates read `function` of a tool")?;
        changes.reserve(tool)?;
        changes.claim_values(WRAPPING_VALUES)?;
        own.push(wrap_function(tool));
    }
    Ok(match (is_kept, own.is_empty()) {
        (true, _) => Fitted::Kept(tools),
        (false, true) => Fitted::Absent,
        (false, false) => Fitted::Own(Data::List(own)),
    })
}

/// Returns whether a tool is a function without `{"type": "function", "function": …}` around it. Other tools are run by the servers of
/// OpenAI and Anthropic.
fn is_flat_function(tool: Node<'_>) -> bool {
    let is_function = match tool.get_text("type") {
        None | Some("function") => true,
        Some("custom") => tool.has("input_schema"),
        Some(_) => false,
    };
    is_function && tool.get_text("name").is_some()
}

/// Returns `{"type": "function", "function": …}` with a flat tool, by the keys that templates read.
fn wrap_function(tool: Node<'_>) -> Data<'_> {
    let entries = tool.entries().filter_map(|(key, value)| match key {
        "type" | "cache_control" => None,
        "input_schema" => Some(("parameters".into(), value.to_data(DEPTH))),
        _ => Some((key.into(), value.to_data(DEPTH))),
    });
    let function = Data::Object(Object::new(entries.collect()));
    let entries = vec![("type".into(), Data::Str("function".into())), ("function".into(), function)];
    Data::Object(Object::new(entries))
}
