//! Reads keys of requests of the conformance protocol.
//!
//! ```text
//! {"id": 1, "now": "2026-01-02T03:04:05", "after": "<|user|>Hi", "sampled": null, "control_tokens": ["<|user|>"], …}
//! ```

use super::apply_request::Seen;
use crate::json::{Data, Object};
use crate::{FixedClock, LocalTime};

/// The largest size of an id in bytes: each answer repeats it.
const MAX_ID: usize = 1024;

/// Returns the id of a request, which is null if it has none.
pub fn read_id(request: &Object<'_>) -> Result<Data<'static>, String> {
    match request.get("id") {
        None => Ok(Data::None),
        Some(id @ (Data::None | Data::Bool(_) | Data::Int(_) | Data::Float(_))) => Ok(id.clone().into_owned()),
        Some(Data::Str(id)) if id.len() > MAX_ID => Err(format!("the id has {} bytes, and may have at most {MAX_ID}", id.len())),
        Some(id @ Data::Str(_)) => Ok(id.clone().into_owned()),
        Some(Data::BigInt(_)) => Err("the id must be an integer of 64 bits or a string".to_owned()),
        Some(other) => Err(format!(
            "the id must be a string, a number, a bool or null, and this is {}",
            other.describe()
        )),
    }
}

/// Returns the time of the request's clock.
pub fn read_clock(request: &Object<'_>) -> Result<Option<FixedClock>, String> {
    match request.get("now") {
        None | Some(Data::None) => Ok(None),
        Some(Data::Str(now)) => match now.parse::<LocalTime>() {
            Ok(time) => Ok(Some(FixedClock(time))),
            Err(error) => Err(format!("`now`: {error}")),
        },
        Some(other) => Err(format!("`now` must be a string, and this is {}", other.describe())),
    }
}

/// Returns the control tokens that a request names.
pub fn read_control_tokens<'r>(request: &'r Object<'_>) -> Result<Option<Vec<&'r str>>, String> {
    let tokens = match request.get("control_tokens") {
        None | Some(Data::None) => return Ok(None),
        Some(Data::List(items)) => items.iter().map(|item| match item {
            Data::Str(token) => Some(&**token),
            _ => None,
        }),
        Some(other) => {
            let found = other.describe();
            return Err(format!("`control_tokens` must be an array of strings, and this is {found}"));
        }
    };
    let tokens: Option<Vec<&str>> = tokens.collect();
    match tokens {
        Some(tokens) => Ok(Some(tokens)),
        None => Err("`control_tokens` must be an array of strings, and has another value".to_owned()),
    }
}

/// Returns what the model has seen and written, if the request has `after`.
pub fn read_seen<'r>(request: &'r Object<'_>) -> Result<Option<Seen<'r>>, String> {
    let text = |key: &str| match request.get(key) {
        None | Some(Data::None) => Ok(None),
        Some(Data::Str(text)) => Ok(Some(&**text)),
        Some(other) => Err(format!("`{key}` must be a string, and this is {}", other.describe())),
    };
    let sampled = text("sampled")?;
    match text("after")? {
        Some(text) => Ok(Some(Seen { text, sampled })),
        None if sampled.is_some() => Err("`sampled` needs `after`".to_owned()),
        None => Ok(None),
    }
}
