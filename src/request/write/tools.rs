//! Writes tools.

use super::super::normal::{Tool, ToolForm};
use super::super::plan::{Descriptions, ToolList, kind};
use super::super::reasons as why;
use super::{AtomForm, Given, Writer, object, own, own_key, typed};
use crate::json::{Data, Entry, Object};

/// The keys of a tool that have a place of their own, or are none of the function's.
const KNOWN: [&str; 7] = [
    "type",
    "cache_control",
    "input_schema",
    "parameters",
    "name",
    "description",
    "format",
];

impl<'n, 'b> Writer<'n, 'b, '_, '_> {
    pub fn write_tool(&mut self, tool: &'n Tool<'b>) {
        let is_filled = self.plan.descriptions != Descriptions::AsIs;
        let is_wrapped = self.plan.tools != ToolList::Flat;
        self.add_tool(tool);
        let tools = self.written.tools.get_or_insert_default();
        if is_wrapped && !is_filled && matches!(tool.form, ToolForm::Wrapped) {
            tools.push(Given::Borrowed(tool.node));
            return;
        }
        let mut entries: Vec<Entry<'b>> = vec![own_key("name", Data::Str(tool.name.into()))];
        if is_filled && tool.description.is_none() {
            self.note(tool.place, why::TOOL_DESCRIPTION);
        }
        let description = tool.description.or(is_filled.then_some(""));
        entries.extend(description.map(|description| own_key("description", Data::Str(description.into()))));
        let parameters = self.write_parameters(tool);
        entries.extend(parameters.map(|parameters| own_key("parameters", parameters)));
        if !matches!(tool.form, ToolForm::Custom(_)) {
            let others = tool.function.entries().filter(|(key, _)| !KNOWN.contains(key));
            entries.extend(others.map(|(key, value)| (key.into(), value.borrowed())));
        }
        match (is_wrapped, tool.form) {
            (true, ToolForm::Flat) if self.is_chat => self.note(tool.place, why::TOOL_WRAPPED),
            (false, ToolForm::Wrapped) => self.note(tool.place, why::TOOL_FLAT),
            _ => {}
        }
        let mut made = object(entries);
        if is_wrapped {
            made = typed("function", "function", made);
        }
        self.written.tools.get_or_insert_default().push(Given::Owned(made));
    }

    /// Adds the strings of a tool.
    fn add_tool(&mut self, tool: &'n Tool<'b>) {
        for text in std::iter::once(tool.name).chain(tool.description) {
            self.add_atom(tool.place, kind::TOOL, AtomForm::Value, text);
        }
        let properties = tool.parameters.and_then(|parameters| parameters.get("properties"));
        for (key, property) in properties.into_iter().flat_map(Data::entries) {
            self.add_atom(tool.place, kind::TOOL, AtomForm::Key, key);
            if let Some(description) = property.get_text("description") {
                self.add_atom(tool.place, kind::TOOL, AtomForm::Value, description);
            }
        }
    }

    fn write_parameters(&mut self, tool: &'n Tool<'b>) -> Option<Data<'b>> {
        let fills = self.plan.descriptions;
        let mut parameters = match tool.form {
            ToolForm::Custom(grammar) => Some(custom_parameters(grammar)),
            _ => tool.parameters.map(|parameters| parameters.borrowed()),
        };
        let has_properties = |data: &Data<'_>| matches!(data, Data::Object(object) if object.get("properties").is_some());
        if fills != Descriptions::AsIs && !parameters.as_ref().is_some_and(has_properties) {
            self.note(tool.place, why::TOOL_PARAMETERS);
            parameters = Some(typed("object", "properties", object(Vec::new())));
        }
        if fills == Descriptions::FilledDeep {
            self.note(tool.place, why::TOOL_DESCRIPTIONS);
            parameters = parameters.map(fill_properties);
        }
        parameters
    }
}

/// Returns the schema of a custom tool: an object with one string, which the grammar describes.
fn custom_parameters(grammar: Option<&str>) -> Data<'_> {
    let mut input = vec![own_key("type", own("string"))];
    input.extend(grammar.map(|grammar| own_key("description", Data::Str(grammar.into()))));
    object(vec![
        own_key("type", own("object")),
        own_key("properties", object(vec![own_key("input", object(input))])),
        own_key("required", Data::List(vec![own("input")])),
    ])
}

/// Adds a type and a description to each parameter that has none.
fn fill_properties(mut parameters: Data<'_>) -> Data<'_> {
    if let Data::Object(parameters) = &mut parameters {
        for (_, properties) in parameters.values_mut().filter(|(key, _)| *key == "properties") {
            if let Data::Object(properties) = properties {
                properties.values_mut().for_each(|(_, property)| fill_property(property));
            }
        }
    }
    parameters
}

fn fill_property(property: &mut Data<'_>) {
    let Data::Object(object) = property else { return };
    let missing = [("type", "string"), ("description", "")]
        .into_iter()
        .filter(|(key, _)| object.get(key).is_none());
    let missing: Vec<Entry<'_>> = missing.map(|(key, value)| (key.into(), Data::Str(value.into()))).collect();
    let own = std::mem::take(object).into_entries();
    *object = Object::new(own.into_iter().chain(missing).collect());
}
