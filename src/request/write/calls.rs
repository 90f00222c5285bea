//! Writes calls: identifiers, names and arguments.

use std::borrow::Cow;
use std::ops::Range;

use super::super::change::ChangeKind;
use super::super::normal::{BodyArguments, Call};
use super::super::places::BodyPlace;
use super::super::plan::{CallArguments, kind};
use super::{AtomForm, Writer, addresses, object, own, own_key};
use crate::error::Result;
use crate::json::{self, Data, Entry};

impl<'n, 'b> Writer<'n, 'b, '_, '_> {
    /// Writes a call.
    pub fn write_call(&mut self, index: usize) -> Result<Data<'b>> {
        let Some(call) = self.find_call(index) else {
            return Ok(Data::None);
        };
        let mut entries: Vec<Entry<'b>> = Vec::new();
        if let Some(id) = self.identify(call.id.map(Cow::Borrowed), Some(index), call.place) {
            entries.push(own_key("id", Data::Str(id)));
        }
        self.add_name(call);
        let arguments = self.write_arguments(call)?;
        let function = vec![own_key("name", Data::Str(call.name.into())), own_key("arguments", arguments)];
        entries.push(own_key("type", own("function")));
        entries.push(own_key("function", object(function)));
        Ok(object(entries))
    }

    /// Adds the strings of a call that is kept.
    pub fn add_call(&mut self, index: usize) {
        let Some(call) = self.find_call(index) else { return };
        self.add_name(call);
        match &call.arguments {
            BodyArguments::Json(json) => self.add_json(json.text.into(), addresses(json.text), call.arguments_place),
            BodyArguments::Value(value) => self.add_strings(value, call.arguments_place, kind::CALL, AtomForm::Argument),
            BodyArguments::Absent | BodyArguments::Input(_) | BodyArguments::Fields(_) => {}
        }
    }

    /// Adds arguments in JSON text, unless they are without a letter or digit, such as `{}`.
    fn add_json(&mut self, text: Cow<'b, str>, memory: Range<usize>, place: BodyPlace) {
        if text.contains(char::is_alphanumeric) {
            self.push_atom(place, kind::CALL, AtomForm::Json, text, memory);
        }
    }

    fn add_name(&mut self, call: &'n Call<'b>) {
        self.push_atom(
            call.name_place,
            kind::CALL,
            AtomForm::Name,
            call.name.into(),
            addresses(call.name),
        );
    }

    /// Returns the identifier of a call or a result.
    pub fn identify(&mut self, id: Option<Cow<'b, str>>, call: Option<usize>, place: BodyPlace) -> Option<Cow<'b, str>> {
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

    fn write_arguments(&mut self, call: &'n Call<'b>) -> Result<Data<'b>> {
        let place = call.arguments_place;
        let (value, text) = match &call.arguments {
            BodyArguments::Absent => (Some(object(Vec::new())), None),
            BodyArguments::Json(json) if json.is_nothing() => {
                self.note(place, ChangeKind::Parsed, "the arguments are an empty object");
                (Some(object(Vec::new())), None)
            }
            BodyArguments::Json(json) if self.plan.arguments == CallArguments::Object => {
                (json.object(self.meter)?.cloned(), Some(Cow::Borrowed(json.text)))
            }
            BodyArguments::Json(json) => (None, Some(Cow::Borrowed(json.text))),
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
                self.add_data(&value, place, AtomForm::Argument);
                value
            }
            (None, Some(text)) if !is_text => {
                let reason = "the template takes arguments as an object, and the string is not the JSON of one";
                self.note(place, ChangeKind::Wrapped, reason);
                self.push_atom(place, kind::CALL, AtomForm::Value, text.clone(), addresses(&text));
                object(vec![own_key("input", Data::Str(text))])
            }
            (_, Some(text)) => {
                self.add_json(text.clone(), addresses(&text), place);
                Data::Str(text)
            }
            (value, None) => {
                if !matches!(call.arguments, BodyArguments::Absent) {
                    self.note(place, ChangeKind::Encoded, "the template takes arguments as JSON text");
                }
                let text: Cow<'b, str> = to_json(&value.unwrap_or_default()).into();
                self.add_json(text.clone(), addresses(&text), place);
                Data::Str(text)
            }
        })
    }

    /// Adds the keys and strings of arguments.
    fn add_data(&mut self, value: &Data<'b>, place: BodyPlace, keys: AtomForm) {
        if let Data::Str(text) = value {
            self.push_atom(place, kind::CALL, AtomForm::Value, text.clone(), addresses(text));
        }
        value.items().for_each(|item| self.add_data(item, place, AtomForm::Key));
        if let Data::Object(object) = value {
            for (key, item) in object.entries() {
                self.push_atom(place, kind::CALL, keys, key.clone(), addresses(key));
                self.add_data(item, place, AtomForm::Key);
            }
        }
    }
}

/// Returns arguments that are no JSON text.
fn to_data<'b>(arguments: &BodyArguments<'b>) -> Data<'b> {
    match arguments {
        BodyArguments::Absent | BodyArguments::Json(_) => Data::None,
        BodyArguments::Value(value) => value.borrowed(),
        BodyArguments::Input(text) => object(vec![own_key("input", Data::Str((*text).into()))]),
        BodyArguments::Fields(fields) => {
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
        BodyArguments::Absent => text.push_str("{}"),
        BodyArguments::Json(json) if json.is_nothing() => text.push_str("{}"),
        BodyArguments::Json(json) => text.push_str(json.text),
        BodyArguments::Input(input) => json::write_string(input, false, &mut text),
        arguments => text.push_str(&to_json(&to_data(arguments))),
    }
    text.push('}');
    text
}
