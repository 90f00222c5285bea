//! The tools of a body, each with `{"type": "function", "function": …}` around it or flat, as the template takes them.

use super::change::{Changes, What};
use super::facts::Facts;
use super::format::Format;
use super::message::Fitted;
use super::node::Node;
use super::wrong;
use crate::error::Result;
use crate::json::{DEPTH, Data, Object};

/// Returns the tools as the template takes them.
pub fn fit<'b>(facts: &Facts<'_>, body: Node<'b>, format: Format, changes: &mut Changes) -> Result<Fitted<'b>> {
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
            changes.drop_value(tools, "/tools".to_owned(), "tool_choice is none");
        }
        return Ok(Fitted::Absent);
    }
    if !facts.reads_tools && tools.items().next().is_some() {
        // The template gets them nonetheless: it can count them.
        changes.drop_value(tools, "/tools".to_owned(), "tools.read is false");
    }
    if !facts.takes.tools {
        changes.drop_value(tools, "/tools".to_owned(), "takes.tools is false: the template fails");
        return Ok(Fitted::Absent);
    }
    let mut own: Vec<Data<'b>> = Vec::new();
    let mut is_kept = true;
    for (index, tool) in tools.items().enumerate() {
        let path = || format!("/tools/{index}");
        if !tool.is_object() {
            return Err(wrong(
                path(),
                format!("a tool must be an object, and this is {}", tool.describe()),
            ));
        }
        let function = tool.get("function").filter(|function| function.is_object());
        let is_flat = function.is_none() && is_flat_function(tool);
        let fits = if facts.takes_flat_tools {
            is_flat && !tool.has("input_schema")
        } else {
            function.is_some()
        };
        if fits && is_kept {
            continue;
        }
        if is_kept {
            own.extend(tools.items().take(index).map(|tool| tool.to_data(DEPTH)));
            is_kept = false;
        }
        if fits {
            own.push(tool.to_data(DEPTH));
            continue;
        }
        match function {
            Some(_) => changes.add(path(), What::Unwrapped, "tools.flat is printed, and others are not"),
            None if !is_flat => changes.drop_value(tool, path(), "the tool is no function"),
            None if format == Format::ChatCompletions => changes.add(path(), What::Wrapped, "templates read `function` of a tool"),
            None => changes.add(path(), What::Translated, "templates read `function` of a tool"),
        }
        let function = function.or(is_flat.then_some(tool)).map(make_function);
        own.extend(function.map(|function| match facts.takes_flat_tools {
            true => function,
            false => Data::Object(Object::new(vec![
                ("type".into(), Data::Str("function".into())),
                ("function".into(), function),
            ])),
        }));
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

/// Returns a function by the keys that templates read.
fn make_function(tool: Node<'_>) -> Data<'_> {
    let entries = tool.entries().filter_map(|(key, value)| match key {
        "type" | "cache_control" => None,
        "input_schema" => Some(("parameters".into(), value.to_data(DEPTH))),
        _ => Some((key.into(), value.to_data(DEPTH))),
    });
    Data::Object(Object::new(entries.collect()))
}
