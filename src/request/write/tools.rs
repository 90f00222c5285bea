//! Writes tools.

use super::super::change::ChangeKind;
use super::super::normal::{Tool, ToolForm};
use super::super::plan::{Descriptions, ToolList, kind};
use super::{AtomForm, Given, Writer, addresses, object, own, own_key};
use crate::json::{Data, Entry, Object};

impl<'n, 'b> Writer<'n, 'b, '_, '_> {
    pub fn write_tool(&mut self, tool: &'n Tool<'b>) {
        let fills = self.plan.descriptions;
        let is_wrapped = self.plan.tools != ToolList::Flat;
        self.add_tool(tool);
        if is_wrapped && fills == Descriptions::AsIs && matches!(tool.form, ToolForm::Wrapped) {
            self.tools.push(Given::Borrowed(tool.node));
            return;
        }
        let mut entries: Vec<Entry<'b>> = vec![own_key("name", Data::Str(tool.name.into()))];
        if fills != Descriptions::AsIs && tool.description.is_none() {
            self.note(
                tool.place,
                ChangeKind::Filled,
                "the template reads the description of a function",
            );
        }
        let description = tool.description.or_else(|| (fills != Descriptions::AsIs).then_some(""));
        entries.extend(description.map(|description| own_key("description", Data::Str(description.into()))));
        let parameters = self.write_parameters(tool, fills);
        entries.extend(parameters.map(|parameters| own_key("parameters", parameters)));
        if !matches!(tool.form, ToolForm::Custom(_)) {
            let function = tool.node.get("function").filter(|_| matches!(tool.form, ToolForm::Wrapped));
            let others = function.unwrap_or(tool.node).entries().filter(|(key, _)| !is_known(key));
            entries.extend(others.map(|(key, value)| (key.into(), value.borrowed())));
        }
        match (is_wrapped, tool.form) {
            (true, ToolForm::Flat) if self.is_chat => {
                self.note(tool.place, ChangeKind::Wrapped, "templates read `function` of a tool");
            }
            (false, ToolForm::Wrapped) => {
                let reason = "the template reads a tool without an object around it";
                self.note(tool.place, ChangeKind::Unwrapped, reason);
            }
            _ => {}
        }
        let mut made = object(entries);
        if is_wrapped {
            made = object(vec![own_key("type", own("function")), own_key("function", made)]);
        }
        self.tools.push(Given::Owned(made));
    }

    /// Adds the strings of a tool.
    fn add_tool(&mut self, tool: &'n Tool<'b>) {
        for text in std::iter::once(tool.name).chain(tool.description) {
            self.add_atom(tool.place, kind::TOOL, text);
        }
        let properties = tool.parameters.and_then(|parameters| parameters.get("properties"));
        for (key, property) in properties.into_iter().flat_map(Data::entries) {
            self.push_atom(tool.place, kind::TOOL, AtomForm::Key, key.into(), addresses(key));
            if let Some(description) = property.get_text("description") {
                self.add_atom(tool.place, kind::TOOL, description);
            }
        }
    }

    fn write_parameters(&mut self, tool: &'n Tool<'b>, fills: Descriptions) -> Option<Data<'b>> {
        let mut parameters = match tool.form {
            ToolForm::Custom(grammar) => Some(custom_parameters(grammar)),
            _ => tool.parameters.map(|parameters| parameters.borrowed()),
        };
        let has_properties = |data: &Data<'_>| matches!(data, Data::Object(object) if object.get("properties").is_some());
        if fills != Descriptions::AsIs && !parameters.as_ref().is_some_and(has_properties) {
            self.note(
                tool.place,
                ChangeKind::Filled,
                "the template reads the parameters of a function",
            );
            let entries = vec![own_key("type", own("object")), own_key("properties", object(Vec::new()))];
            parameters = Some(object(entries));
        }
        if fills == Descriptions::FilledDeep {
            let reason = "the template reads the description of each parameter";
            self.note(tool.place, ChangeKind::Filled, reason);
            parameters = parameters.map(fill_properties);
        }
        parameters
    }
}

/// Returns whether a key of a tool has a place of its own, or is none of the function's.
fn is_known(key: &str) -> bool {
    let keys = [
        "type",
        "cache_control",
        "input_schema",
        "parameters",
        "name",
        "description",
        "format",
    ];
    keys.contains(&key)
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
fn fill_properties(parameters: Data<'_>) -> Data<'_> {
    let Data::Object(whole) = parameters else { return parameters };
    let entries = whole.into_entries().into_iter().map(|(key, value)| match (&*key, value) {
        ("properties", Data::Object(properties)) => {
            let properties = properties
                .into_entries()
                .into_iter()
                .map(|(name, property)| (name, fill_property(property)));
            (key, object(properties.collect()))
        }
        (_, value) => (key, value),
    });
    Data::Object(Object::new(entries.collect()))
}

fn fill_property(property: Data<'_>) -> Data<'_> {
    let Data::Object(property) = property else { return property };
    let mut entries = property.into_entries();
    for (key, value) in [("type", "string"), ("description", "")] {
        if !entries.iter().any(|(own, _)| own == key) {
            entries.push((key.into(), Data::Str(value.into())));
        }
    }
    object(entries)
}
