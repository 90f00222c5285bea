//! Writes calls: identifiers, names and arguments.

use std::borrow::Cow;

use super::super::normal::{BodyArguments, Call};
use super::super::places::BodyPlace;
use super::super::plan::{CallArguments, kind};
use super::super::reasons as why;
use super::{AtomForm, Writer, object, own, own_key, start_of};
use crate::error::Result;
use crate::json::{Data, Entry};

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
        self.add_atom(call.name_place, kind::CALL, AtomForm::Name, call.name);
        let arguments = self.write_arguments(call)?;
        let function = vec![own_key("name", Data::Str(call.name.into())), own_key("arguments", arguments)];
        entries.push(own_key("type", own("function")));
        entries.push(own_key("function", object(function)));
        Ok(object(entries))
    }

    /// Adds the strings of a call that is kept.
    pub fn add_call(&mut self, index: usize) {
        let Some(call) = self.find_call(index) else { return };
        self.add_atom(call.name_place, kind::CALL, AtomForm::Name, call.name);
        match &call.arguments {
            BodyArguments::Json(json) => self.add_json(json.text.into(), start_of(json.text), call.arguments_place),
            BodyArguments::Value(value) => self.add_strings(value, call.arguments_place, kind::CALL, AtomForm::Argument),
            BodyArguments::Absent | BodyArguments::Input(_) | BodyArguments::Fields(_) => {}
        }
    }

    /// Adds arguments in JSON text, unless they are without a letter or digit, such as `{}`.
    fn add_json(&mut self, text: Cow<'b, str>, start: usize, place: BodyPlace) {
        if text.contains(char::is_alphanumeric) {
            self.push_atom(place, kind::CALL, AtomForm::Json, text, start);
        }
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
            self.note(place, why::CALL_IDENTIFIER);
        }
        Some(own.into())
    }

    fn write_arguments(&mut self, call: &'n Call<'b>) -> Result<Data<'b>> {
        let (place, wanted) = (call.arguments_place, self.plan.arguments);
        let value = match &call.arguments {
            BodyArguments::Json(json) if json.is_nothing() => {
                self.note(place, why::ARGUMENTS_NOTHING);
                object(Vec::new())
            }
            BodyArguments::Json(json) if wanted == CallArguments::Object => {
                let Some(value) = json.object(self.meter)? else {
                    self.note(place, why::ARGUMENTS_WRAPPED);
                    self.add_atom(place, kind::CALL, AtomForm::Value, json.text);
                    return Ok(object(vec![own_key("input", Data::Str(json.text.into()))]));
                };
                self.note(place, why::ARGUMENTS_PARSED);
                value.clone()
            }
            BodyArguments::Json(json) => {
                self.add_json(json.text.into(), start_of(json.text), place);
                return Ok(Data::Str(json.text.into()));
            }
            arguments => to_data(arguments),
        };
        if wanted != CallArguments::Text {
            self.add_data(&value, place, AtomForm::Argument);
            return Ok(value);
        }
        if !matches!(call.arguments, BodyArguments::Absent) {
            self.note(place, why::ARGUMENTS_ENCODED);
        }
        let text: Cow<'b, str> = value.to_string().into();
        self.add_json(text.clone(), start_of(&text), place);
        Ok(Data::Str(text))
    }

    /// Adds the keys and strings of arguments.
    fn add_data(&mut self, value: &Data<'b>, place: BodyPlace, keys: AtomForm) {
        match value {
            Data::Str(text) => self.push_atom(place, kind::CALL, AtomForm::Value, text.clone(), start_of(text)),
            Data::List(items) => items.iter().for_each(|item| self.add_data(item, place, AtomForm::Key)),
            Data::Object(object) => {
                for (key, item) in object.entries() {
                    self.push_atom(place, kind::CALL, keys, key.clone(), start_of(key));
                    self.add_data(item, place, AtomForm::Key);
                }
            }
            _ => {}
        }
    }
}

/// Returns arguments that are no JSON text.
fn to_data<'b>(arguments: &BodyArguments<'b>) -> Data<'b> {
    match arguments {
        BodyArguments::Absent | BodyArguments::Json(_) => object(Vec::new()),
        BodyArguments::Value(value) => value.borrowed(),
        BodyArguments::Input(text) => object(vec![own_key("input", Data::Str((*text).into()))]),
        BodyArguments::Fields(fields) => {
            let entries = fields.iter().map(|(key, value)| ((*key).into(), value.borrowed()));
            object(entries.collect())
        }
    }
}

/// Returns the JSON text of a call.
pub fn describe(call: &Call<'_>) -> String {
    let quote = |text: &str| Data::Str(text.into()).to_string();
    let arguments = match &call.arguments {
        BodyArguments::Json(json) if !json.is_nothing() => json.text.to_owned(),
        BodyArguments::Input(input) => quote(input),
        arguments => to_data(arguments).to_string(),
    };
    format!("{{\"name\": {}, \"arguments\": {arguments}}}", quote(call.name))
}
