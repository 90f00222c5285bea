//! Writes calls: identifiers, names and arguments.

use std::borrow::Cow;

use super::super::change::ChangeKind;
use super::super::normal::{Arguments, Call};
use super::super::places::Place;
use super::super::plan::{CallArguments, kind};
use super::{Writer, object, own, own_key};
use crate::error::Result;
use crate::json::{self, Data, Entry};

impl<'n, 'b> Writer<'n, 'b, '_, '_> {
    /// Writes a call. `number` is its index in its message.
    pub fn write_call(&mut self, index: usize, number: usize) -> Result<Data<'b>> {
        let Some(call) = self.find_call(index) else {
            return Ok(Data::None);
        };
        let mut entries: Vec<Entry<'b>> = Vec::new();
        if let Some(id) = self.identify(call.id.map(Cow::Borrowed), Some(index), call.place) {
            entries.push(own_key("id", Data::Str(id)));
        }
        let path = self.add_name(call, number);
        let arguments = self.write_arguments(call, path)?;
        let function = vec![own_key("name", Data::Str(call.name.into())), own_key("arguments", arguments)];
        entries.push(own_key("type", own("function")));
        entries.push(own_key("function", object(function)));
        Ok(object(entries))
    }

    /// Adds the strings of a call that is kept.
    pub fn add_call(&mut self, index: usize, number: usize) {
        let Some(call) = self.find_call(index) else { return };
        let path = self.add_name(call, number);
        match &call.arguments {
            Arguments::Json(json) => self.add_json(json.text.into(), call.arguments_place, path),
            Arguments::Value(value) => self.add_strings(*value, call.arguments_place, kind::CALL, path),
            Arguments::Absent | Arguments::Input(_) | Arguments::Fields(_) => {}
        }
    }

    /// Adds arguments in JSON text, unless they are without a letter or digit, such as `{}`.
    fn add_json(&mut self, text: Cow<'b, str>, place: Place, path: Place) {
        if text.contains(char::is_alphanumeric) {
            self.add_atom(place, kind::CALL, text, path, 0);
        }
    }

    /// Adds the name of a call. Returns the path of its arguments.
    fn add_name(&mut self, call: &'n Call<'b>, number: usize) -> Place {
        let root = self.written.paths.item(self.root, "tool_calls", number);
        let root = self.written.paths.key(root, "function");
        let path = self.written.paths.key(root, "name");
        self.add_atom(call.name_place, kind::CALL, call.name.into(), path, 0);
        self.written.paths.key(root, "arguments")
    }

    /// Returns the identifier of a call or a result.
    pub fn identify(&mut self, id: Option<Cow<'b, str>>, call: Option<usize>, place: Place) -> Option<Cow<'b, str>> {
        if !self.plan.renames_ids {
            return id;
        }
        let key = match call {
            Some(_) => (call, String::new()),
            None => (None, id.as_deref()?.to_owned()),
        };
        let count = self.ids.len() + 1;
        let own = self.ids.entry(key).or_insert_with(|| format!("call{count:05}")).clone();
        if id.as_deref() != Some(&own) {
            let reason = "the template takes identifiers of nine letters and digits";
            self.note(place, ChangeKind::Renamed, reason);
        }
        Some(own.into())
    }

    fn write_arguments(&mut self, call: &'n Call<'b>, path: Place) -> Result<Data<'b>> {
        let place = call.arguments_place;
        let (value, text) = match &call.arguments {
            Arguments::Absent => (Some(object(Vec::new())), None),
            Arguments::Json(json) if json.is_nothing() => {
                self.note(place, ChangeKind::Parsed, "the arguments are an empty object");
                (Some(object(Vec::new())), None)
            }
            Arguments::Json(json) if self.plan.arguments == CallArguments::Object => {
                (json.object(self.meter)?.cloned(), Some(Cow::Borrowed(json.text)))
            }
            Arguments::Json(json) => (None, Some(Cow::Borrowed(json.text))),
            arguments => (Some(to_data(arguments)), None),
        };
        let is_text = match self.plan.arguments {
            CallArguments::Object => false,
            CallArguments::Text => true,
            CallArguments::AsIs => text.is_some(),
        };
        Ok(match (value, text) {
            (Some(value), text) if !is_text => {
                if text.is_some() {
                    self.note(place, ChangeKind::Parsed, "the template takes arguments as an object");
                }
                self.add_data(&value, place, path);
                value
            }
            (None, Some(text)) if !is_text => {
                let reason = "the template takes arguments as an object, and the string is not the JSON of one";
                self.note(place, ChangeKind::Wrapped, reason);
                let path = self.written.paths.key(path, "input");
                self.add_atom(place, kind::CALL, text.clone(), path, 0);
                object(vec![own_key("input", Data::Str(text))])
            }
            (_, Some(text)) => {
                self.add_json(text.clone(), place, path);
                Data::Str(text)
            }
            (value, None) => {
                if !matches!(call.arguments, Arguments::Absent) {
                    self.note(place, ChangeKind::Encoded, "the template takes arguments as JSON text");
                }
                let text: Cow<'b, str> = to_json(&value.unwrap_or_default()).into();
                self.add_json(text.clone(), place, path);
                Data::Str(text)
            }
        })
    }

    /// Adds the keys and strings of arguments.
    fn add_data(&mut self, value: &Data<'b>, place: Place, path: Place) {
        match value {
            Data::Str(text) => self.add_atom(place, kind::CALL, text.clone(), path, 0),
            Data::List(items) => {
                for (number, item) in items.iter().enumerate() {
                    let path = self.written.paths.item(path, "", number);
                    self.add_data(item, place, path);
                }
            }
            Data::Object(object) => {
                for (key, item) in object.entries() {
                    let path = self.written.paths.key(path, key.clone());
                    self.add_key(key.clone(), place, kind::CALL, path);
                    self.add_data(item, place, path);
                }
            }
            _ => {}
        }
    }
}

/// Returns arguments that are no JSON text.
fn to_data<'b>(arguments: &Arguments<'b>) -> Data<'b> {
    match arguments {
        Arguments::Absent | Arguments::Json(_) => Data::None,
        Arguments::Value(value) => value.borrowed(),
        Arguments::Input(text) => object(vec![own_key("input", Data::Str((*text).into()))]),
        Arguments::Fields(fields) => {
            let entries = fields.iter().map(|(key, value)| ((*key).into(), value.borrowed()));
            object(entries.collect())
        }
    }
}

fn to_json(value: &Data<'_>) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = json::write_data(value, &mut text);
    text
}

/// Returns the JSON text of a call.
pub fn describe(call: &Call<'_>) -> String {
    let mut text = String::from("{\"name\": ");
    json::write_string(call.name, false, &mut text);
    text.push_str(", \"arguments\": ");
    match &call.arguments {
        Arguments::Absent => text.push_str("{}"),
        Arguments::Json(json) if json.is_nothing() => text.push_str("{}"),
        Arguments::Json(json) => text.push_str(json.text),
        Arguments::Input(input) => json::write_string(input, false, &mut text),
        arguments => text.push_str(&to_json(&to_data(arguments))),
    }
    text.push('}');
    text
}
