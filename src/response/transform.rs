//! The transforms, which put the value of a region into a larger one.
//!
//! The rules are transformers 5.24.0 `content_parsers.py`, `_apply_transform` and `process_field`.

use super::content::{Entries, list, list_sorted, text};
use super::template::Field;
use super::weight::{self, claim_at, claim_container};
use crate::error::{Error, ErrorKind, Result};
use crate::json::{Data, Object};
use crate::meter::Meter;
use crate::text::quote::repr;

/// Puts the value of a region into a larger one: `{"type": "function", "function": "{content}"}`.
#[derive(Clone, Debug)]
pub enum Transform {
    /// A placeholder such as `{content.name}`: the name of a value, and the keys that lead from it to the value that is taken.
    Placeholder(Vec<String>),
    Object(Vec<(String, Transform)>),
    List(Vec<Transform>),
    Plain(Data<'static>),
}

impl Transform {
    /// Returns the part of an object at a key.
    pub fn entry(&self, key: &str) -> Option<&Self> {
        let Self::Object(entries) = self else { return None };
        entries.iter().find(|(name, _)| name == key).map(|(_, entry)| entry)
    }

    /// Reads a transform of a description.
    pub fn load(scope: &str, transform: &Data<'_>, meter: &mut Meter<'_>) -> Result<Self> {
        Ok(match transform {
            Data::Object(object) => {
                meter.charge_items(object.len())?;
                let entries = object.entries().iter();
                let entries: Result<_> = entries
                    .map(|(key, value)| Ok((key.to_string(), Self::load(scope, value, meter)?)))
                    .collect();
                Self::Object(entries?)
            }
            Data::List(items) => {
                meter.charge_items(items.len())?;
                Self::List(
                    items
                        .iter()
                        .map(|item| Self::load(scope, item, meter))
                        .collect::<Result<_>>()?,
                )
            }
            Data::Str(string) => {
                meter.charge_scan(string.len())?;
                match find_placeholder(string) {
                    Some(placeholder) if placeholder.len().saturating_add(2) == string.len() => {
                        Self::Placeholder(placeholder.split('.').map(str::to_owned).collect())
                    }
                    Some(_) => {
                        return Err(Error::value(format!(
                            "{scope}: transform string {} mixes a {{placeholder}} with literal text. Use either a whole-string placeholder \
                             (e.g. \"{{content}}\") or a plain literal; string interpolation is not supported.",
                            repr(string)
                        )));
                    }
                    None => Self::Plain(text(string.clone())),
                }
            }
            plain => Self::Plain(plain.clone().into_owned()),
        })
    }

    /// Returns the larger value, with the values of a scope in place of the placeholders. A number of lists and objects enclose it.
    pub fn apply(&self, scope: &Scope<'_>, depth: usize, meter: &mut Meter<'_>) -> Result<Data<'static>> {
        let inner = depth.saturating_add(1);
        Ok(match self {
            Self::Plain(value) => {
                claim_at(value, depth, meter)?;
                value.clone()
            }
            Self::List(items) => {
                claim_container(items.len(), depth, meter)?;
                let items = items.iter().map(|item| item.apply(scope, inner, meter));
                Data::List(items.collect::<Result<_>>()?)
            }
            Self::Object(entries) => {
                claim_container(entries.len(), depth, meter)?;
                let entries = entries.iter().map(|(key, item)| {
                    meter.claim_for_render(key.len())?;
                    Ok((key.clone().into(), item.apply(scope, inner, meter)?))
                });
                Data::Object(Object::new(entries.collect::<Result<_>>()?))
            }
            Self::Placeholder(path) => {
                meter.charge_items(path.len())?;
                let value = scope.find(path)?;
                claim_at(value, depth, meter)?;
                value.clone()
            }
        })
    }
}

/// The values that a transform can take: those of the field's own text, and the groups of its anchors.
pub struct Scope<'s> {
    pub own: Entries,
    pub captures: &'s Entries,
}

impl Scope<'_> {
    fn find(&self, path: &[String]) -> Result<&Data<'static>> {
        let shown = || path.join(".");
        let Some((root, keys)) = path.split_first() else {
            return Err(Error::internal("a placeholder has no name"));
        };
        let mut value = self.own.get(root).or_else(|| self.captures.get(root)).ok_or_else(|| {
            let names: std::collections::BTreeSet<_> = self.own.keys().chain(self.captures.keys()).map(String::as_str).collect();
            let message = format!(
                "transform placeholder '{{{}}}' is not defined. Available: {}",
                shown(),
                list(names)
            );
            // Python shows the repr of the message of a KeyError.
            Error::new(ErrorKind::Key, repr(&message))
        })?;
        for key in keys {
            let Data::Object(object) = value else {
                let ty = crate::value::Value::from(value).ty().name();
                let message = format!("transform placeholder '{{{}}}' cannot index into {ty} at '{key}'", shown());
                return Err(Error::value(message));
            };
            value = object.get(key).ok_or_else(|| {
                let names = list_sorted(object.entries().iter().map(|(name, _)| &**name));
                Error::value(format!(
                    "transform placeholder '{{{}}}' is missing key '{key}'. Available: {names}",
                    shown()
                ))
            })?;
        }
        Ok(value)
    }
}

/// Returns the names of the first placeholder of a string: `content.name` for `{content.name}`.
fn find_placeholder(string: &str) -> Option<&str> {
    let is_word = |char| regex_syntax::try_is_word_character(char).unwrap_or_default();
    let is_name = |name: &str| !name.is_empty() && name.chars().all(is_word);
    string.split('{').skip(1).find_map(|part| {
        let (path, _) = part.split_once('}')?;
        path.split('.').all(is_name).then_some(path)
    })
}

/// Returns the value of a field in the form that its transform says.
pub fn transform(field: &Field, value: Data<'static>, captures: &Entries, meter: &mut Meter<'_>) -> Result<Data<'static>> {
    let Some(transform) = &field.transform else {
        weight::claim(&value, meter)?;
        return Ok(value);
    };
    let wrong = |part: &str, wanted: &str, value: &Data<'_>| {
        let ty = crate::value::Value::from(value).ty().name();
        Error::value(format!(
            "Field '{}': transform_each requires {part} to be a {wanted}, got {ty}.",
            field.name
        ))
    };
    let apply = |own: Entries, depth: usize, meter: &mut Meter<'_>| transform.apply(&Scope { own, captures }, depth, meter);
    if !field.transforms_each {
        return apply(Entries::from([("content".to_owned(), value)]), 0, meter);
    }
    let Data::List(items) = value else {
        return Err(wrong("the parsed content", "list", &value));
    };
    weight::claim_container(items.len(), 0, meter)?;
    let items = items.into_iter().map(|item| {
        let Data::Object(item) = item else {
            return Err(wrong("each list element", "dict", &item));
        };
        meter.charge_items(item.len())?;
        let own = item.into_entries().into_iter().map(|(key, value)| (key.into_owned(), value));
        apply(own.collect(), 1, meter)
    });
    Ok(Data::List(items.collect::<Result<_>>()?))
}
