//! Reads objects by a strict schema. An unknown key is an error, which names the key that was probably meant.
//!
//! ```text
//! unknown key "tempalte"; did you mean "template"?
//! ```

use chat_template::internal::elide;
use chat_template::json::{Data, Object};

/// The largest number of code points of a key that a message repeats.
const MAX_NAME: usize = 200;

/// The longest name in bytes that is compared with others. The time of a comparison grows with the square of the length.
const LONGEST_NAME: usize = 64;

/// Returns an error if an object has an unknown key.
pub fn check_keys(object: &Object<'_>, known: &[&str]) -> Result<(), String> {
    match object.entries().iter().find(|(key, _)| !known.contains(&&**key)) {
        Some((key, _)) => Err(format!("unknown key {:?}{}", elide(key, MAX_NAME), suggest_key(key, known))),
        None => Ok(()),
    }
}

/// Returns the known name that is most similar to a misspelt one, if one is similar. A long name is similar to none.
pub fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    if name.len() > LONGEST_NAME {
        return None;
    }
    let alike = |other: &str| similar::TextDiff::from_chars(name, other).ratio();
    let short = known.iter().filter(|other| other.len() <= LONGEST_NAME);
    let nearest = short.max_by(|left, right| alike(left).total_cmp(&alike(right)));
    nearest.copied().filter(|nearest| alike(nearest) > 0.6)
}

fn suggest_key(key: &str, known: &[&str]) -> String {
    match nearest(key, known) {
        Some(nearest) => format!("; did you mean {nearest:?}?"),
        _ => format!("; known are {}", known.join(", ")),
    }
}

/// Returns the value of a required key.
pub fn field<'o, 'd>(object: &'o Object<'d>, key: &str) -> Result<&'o Data<'d>, String> {
    object.get(key).ok_or_else(|| format!("missing key {key:?}"))
}

/// Returns the text of a required key.
pub fn text<'o>(object: &'o Object<'_>, key: &str) -> Result<&'o str, String> {
    match field(object, key)? {
        Data::Str(text) => Ok(text),
        _ => Err(format!("{key:?} is not a string")),
    }
}

/// Returns the object under a required key.
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
    fn an_unknown_key_names_the_nearest_one() {
        assert_eq!(suggest_key("tempalte", &["id", "template"]), "; did you mean \"template\"?");
        assert_eq!(suggest_key("q", &["id", "template"]), "; known are id, template");
    }
}
