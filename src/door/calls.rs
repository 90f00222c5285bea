//! The calls of tools: their arguments, their ids, and the results that belong to them.

use std::borrow::Cow;
use std::collections::HashMap;

use super::change::What;
use super::content::MAX_SHOWN;
use super::facts::Facts;
use super::node::Node;
use super::record::Recorder;
use super::wrong;
use crate::deadline::Deadline;
use crate::error::Result;
use crate::json::{self, DEPTH, Data, JsonErrorKind, Object};
use crate::meter::UNCLAIMED;
use crate::report::Arguments;
use crate::text::truncate::elide;

/// Returns the arguments of a call as the template takes them, or `None` if the template gets those of the body.
pub fn fit_arguments<'b>(
    facts: &Facts<'_>,
    arguments: Node<'b>,
    path: &dyn Fn() -> String,
    changes: &mut Recorder<'_>,
) -> Result<Option<Data<'b>>> {
    if let Some(text) = arguments.text() {
        changes.charge_scan(text)?;
    }
    let fitted = match (facts.takes.arguments, arguments.text()) {
        (Arguments::Object, Some(text)) => match read_json(text, changes)? {
            Some(object @ Data::Object(_)) => {
                changes.add(
                    path(),
                    What::Parsed,
                    "the template takes arguments as an object (takes.arguments)",
                )?;
                changes.reserve(Node::Data(&object))?;
                Some(object)
            }
            _ if text.trim().is_empty() => {
                changes.add(
                    path(),
                    What::Parsed,
                    "the template takes arguments as an object, and the text is empty (takes.arguments)",
                )?;
                Some(Data::Object(Object::default()))
            }
            _ => {
                changes.add(
                    path(),
                    What::Unparsed,
                    "the template takes arguments as an object, and the text is not a JSON object (takes.arguments)",
                )?;
                None
            }
        },
        (taken, None) if facts.encodes_arguments => {
            let reason = match taken {
                Arguments::Both => "the template prints an object in the notation of Python",
                _ => "the template takes arguments as JSON text (takes.arguments)",
            };
            changes.add(path(), What::Encoded, reason)?;
            let mut text = String::new();
            // Writing to a string cannot fail.
            let _ = json::write_data(&changes.copy(arguments)?, &mut text);
            changes.claim(text.len())?;
            Some(Data::Str(text.into()))
        }
        (_, Some(text)) if facts.checks_arguments => {
            if text.trim().is_empty() {
                changes.add(path(), What::Encoded, "the text is empty, and arguments are JSON")?;
                return Ok(Some(Data::Str("{}".into())));
            }
            if !is_json(text, changes)? {
                changes.add(path(), What::Unparsed, "the text is not JSON, as arguments are")?;
            }
            None
        }
        _ => None,
    };
    Ok(fitted)
}

/// Returns whether a text is JSON. Most texts are, and are read without making values.
fn is_json(text: &str, changes: &mut Recorder<'_>) -> Result<bool> {
    Ok(serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() || read_json(text, changes)?.is_some())
}

/// Returns the value of a JSON text, or `None` if the text is not JSON. While the text is read, the memory of the most values that it can
/// have is claimed.
fn read_json<'b>(text: &'b str, changes: &mut Recorder<'_>) -> Result<Option<Data<'b>>> {
    let mut beginnings = text.bytes().filter(is_beginning).count();
    if beginnings > UNCLAIMED {
        // The exact count takes longer.
        beginnings = outside_strings(text).filter(is_beginning).count();
    }
    let _claims = changes.hold_values(beginnings.saturating_add(1))?;
    parse(text, changes.deadline())
}

/// Returns the value of a JSON text, or `None` if the text is not JSON. It is an error if the time is over.
pub fn parse<'b>(text: &'b str, deadline: Option<&Deadline>) -> Result<Option<Data<'b>>> {
    let value = match deadline {
        Some(deadline) => json::read_until(text, DEPTH, deadline),
        None => json::read(text, DEPTH),
    };
    match value {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == JsonErrorKind::TimedOut => Err(error.into()),
        Err(_) => Ok(None),
    }
}

/// Returns whether a byte is before a value: each value of a JSON text but the first is after a comma or the beginning of a container.
fn is_beginning(byte: &u8) -> bool {
    matches!(byte, b',' | b'[' | b'{')
}

/// Returns the bytes of a JSON text that are not in its strings. If the text is not JSON, they are right up to the first fault.
fn outside_strings(text: &str) -> impl Iterator<Item = u8> {
    let (mut is_in_string, mut is_escaped) = (false, false);
    text.bytes().filter(move |byte| {
        let was_in_string = is_in_string;
        is_in_string ^= *byte == b'"' && !is_escaped;
        is_escaped = was_in_string && *byte == b'\\' && !is_escaped;
        !was_in_string
    })
}

/// Returns a call of a function.
pub fn make_call<'b>(id: Option<&'b str>, name: &'b str, arguments: Data<'b>) -> Data<'b> {
    let function = vec![("name".into(), Data::Str(name.into())), ("arguments".into(), arguments)];
    let mut call = Vec::new();
    if let Some(id) = id {
        call.push(("id".into(), Data::Str(id.into())));
    }
    call.push(("type".into(), Data::Str("function".into())));
    call.push(("function".into(), Data::Object(Object::new(function))));
    Data::Object(Object::new(call))
}

/// The bytes that [`OpenCalls`] keeps of a call, in a vector and a map that are up to twice as large as their content.
pub const OPEN_CALL: usize = 160;

/// The bytes that a new call takes, without the arguments: what `make_call` makes.
pub const NEW_CALL: usize = 480;

/// The largest number of calls in which an id is looked for without a map.
const FEW: usize = 16;

/// The calls that have no result yet.
#[derive(Debug, Default)]
pub struct OpenCalls<'b> {
    calls: Vec<Call<'b>>,
    /// The indices of the open calls by their ids. Empty if there are few calls.
    by_id: HashMap<&'b str, usize>,
    /// The index of the first call that can be open.
    first: usize,
    open: usize,
    /// The index of the call that was closed last.
    pub last_closed: usize,
}

#[derive(Debug)]
struct Call<'b> {
    id: Option<&'b str>,
    name: Option<&'b str>,
    is_open: bool,
}

impl<'b> OpenCalls<'b> {
    /// Adds a call.
    ///
    /// # Errors
    /// If another open call has the id.
    pub fn add(&mut self, id: Option<&'b str>, name: Option<&'b str>, path: &dyn Fn() -> String) -> Result<()> {
        if self.open == 0 {
            self.calls.clear();
            self.by_id.clear();
            self.first = 0;
        }
        if let Some(id) = id.filter(|id| self.find(id).is_some()) {
            let id = elide(id, MAX_SHOWN);
            return Err(wrong(
                path(),
                format!("an earlier call without a result has the id `{id}` too"),
            ));
        }
        self.open = self.open.saturating_add(1);
        let is_open = true;
        self.calls.push(Call { id, name, is_open });
        if self.calls.len() > FEW {
            let last = self.calls.len().saturating_sub(1);
            let first = if last == FEW { 0 } else { last };
            let new = self.calls.iter().enumerate().skip(first).filter(|(_, call)| call.is_open);
            self.by_id.extend(new.filter_map(|(index, call)| Some((call.id?, index))));
        }
        Ok(())
    }

    /// Returns the index of the open call with an id.
    fn find(&self, id: &str) -> Option<usize> {
        if self.calls.len() > FEW {
            return self.by_id.get(id).copied();
        }
        self.calls.iter().position(|call| call.is_open && call.id == Some(id))
    }

    /// Closes the call of a result, and returns the name of its function. A result without an id belongs to the first open call.
    ///
    /// # Errors
    /// If there is no such call.
    pub fn close(&mut self, id: Option<&'b str>, path: &dyn Fn() -> String) -> Result<Option<&'b str>> {
        let index = match id {
            Some(id) => self.find(id),
            None => {
                while self.calls.get(self.first).is_some_and(|call| !call.is_open) {
                    self.first = self.first.saturating_add(1);
                }
                (self.open > 0).then_some(self.first)
            }
        };
        self.last_closed = index.unwrap_or_default();
        let Some(call) = index.and_then(|index| self.calls.get_mut(index)) else {
            let of_id = id.map_or(Cow::Borrowed(""), |id| {
                format!(" with the id `{}`", elide(id, MAX_SHOWN)).into()
            });
            return Err(wrong(
                path(),
                format!("the result has no call: no earlier call{of_id} is without a result"),
            ));
        };
        call.is_open = false;
        if let Some(id) = call.id.filter(|_| !self.by_id.is_empty()) {
            self.by_id.remove(id);
        }
        self.open = self.open.saturating_sub(1);
        Ok(call.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn arguments_are_read_within_the_time_limit() {
        let long = format!("[0{}]", ",0".repeat(1 << 20));
        assert_eq!(parse(&long, Some(&Deadline::new(0))).unwrap_err().kind(), ErrorKind::Limit);
        assert!(parse(&long, Some(&Deadline::new(60_000))).unwrap().is_some());
        assert!(parse("[0", None).unwrap().is_none());
    }
}
