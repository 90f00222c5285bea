//! Reads objects by a strict schema: a key that nobody knows is a slip, and is told with the key that was meant.
//!
//! ```text
//! unknown key "tempalte"; did you mean "template"?
//! ```

use crate::json::{Data, Object};

/// Refuses keys that are not known.
pub fn known_keys(object: &Object<'_>, known: &[&str]) -> Result<(), String> {
    match object.entries().iter().find(|(key, _)| !known.contains(&&**key)) {
        Some((key, _)) => Err(format!("unknown key {key:?}{}", meant(key, known))),
        None => Ok(()),
    }
}

/// Returns the known name that is most like a misspelt one, if any is like it.
pub fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let alike = |other: &str| similar::TextDiff::from_chars(name, other).ratio();
    let nearest = known.iter().max_by(|left, right| alike(left).total_cmp(&alike(right)));
    nearest.copied().filter(|nearest| alike(nearest) > 0.6)
}

fn meant(key: &str, known: &[&str]) -> String {
    match nearest(key, known) {
        Some(nearest) => format!("; did you mean {nearest:?}?"),
        _ => format!("; known are {}", known.join(", ")),
    }
}

/// The value of a key that must be there.
pub fn field<'o, 'd>(object: &'o Object<'d>, key: &str) -> Result<&'o Data<'d>, String> {
    object.get(key).ok_or_else(|| format!("missing key {key:?}"))
}

/// The text of a key that must be there.
pub fn text<'o>(object: &'o Object<'_>, key: &str) -> Result<&'o str, String> {
    match field(object, key)? {
        Data::Str(text) => Ok(text),
        _ => Err(format!("{key:?} is not a string")),
    }
}

/// An object under a key that must be there.
pub fn object<'o, 'd>(object: &'o Object<'d>, key: &str) -> Result<&'o Object<'d>, String> {
    match field(object, key)? {
        Data::Object(object) => Ok(object),
        _ => Err(format!("{key:?} is not an object")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_told_with_what_was_meant() {
        assert_eq!(meant("tempalte", &["id", "template"]), "; did you mean \"template\"?");
        assert_eq!(meant("q", &["id", "template"]), "; known are id, template");
    }
}
