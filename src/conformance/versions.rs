//! For which versions of the reference the answer of a case holds.
//!
//! ```text
//! {"since": {"transformers": "5.24.0"}, …}   and a port that mirrors transformers 5.23.0   ->   the case is skipped
//! ```

use std::collections::BTreeMap;

use super::schema::{check_keys, object, text};
use super::suite::REFERENCE;
use crate::json::Object;

/// The names and versions of the software that a port mirrors.
pub type Versions = BTreeMap<String, String>;

/// Returns the numbers of a version without zeros at its end, or `None` if it is not numbers with dots between them.
fn numbers(version: &str) -> Option<Vec<u64>> {
    let mut numbers = version
        .split('.')
        .map(|part| part.parse().ok())
        .collect::<Option<Vec<u64>>>()?;
    let end = numbers
        .iter()
        .rposition(|number| *number != 0)
        .map_or(0, |last| last.saturating_add(1));
    numbers.truncate(end);
    Some(numbers)
}

/// Returns an error if the name is not that of the software of the reference, or the version is none.
pub fn check_version(name: &str, version: &str) -> Result<(), String> {
    let known = REFERENCE.map(|(name, _)| name);
    if !known.contains(&name) {
        return Err(format!(
            "no part of the reference is called {name:?}; they are {}",
            known.join(", ")
        ));
    }
    match numbers(version) {
        Some(_) => Ok(()),
        None => Err(format!("{version:?} is not a version, such as \"5.24.0\"")),
    }
}

/// Returns an error if `since` or `until` of a case is not an object of versions.
pub(super) fn check_bounds(case: &Object<'_>) -> Result<(), String> {
    for key in ["since", "until"].into_iter().filter(|key| case.get(key).is_some()) {
        let bounds = object(case, key)?;
        check_keys(bounds, &REFERENCE.map(|(name, _)| name))?;
        for (name, _) in bounds.entries() {
            check_version(name, text(bounds, name)?).map_err(|fault| format!("{key:?}: {fault}"))?;
        }
    }
    Ok(())
}

/// Returns why the answer of a case does not hold for a port, or `None` if it holds. What `mirrored` does not name is as the reference
/// of the suite.
pub(super) fn outside(case: &Object<'_>, mirrored: &Versions) -> Option<String> {
    REFERENCE.into_iter().find_map(|(name, reference)| {
        let bound = |key| object(case, key).and_then(|bounds| text(bounds, name)).ok();
        let version = mirrored.get(name).map_or(reference, String::as_str);
        let is_before = |bound: &&str| numbers(version) < numbers(bound);
        let since = bound("since").filter(is_before).map(|since| format!("since {name} {since}"));
        let until = bound("until")
            .filter(|until| !is_before(until))
            .map(|until| format!("until {name} {until}"));
        let holds = since.or(until)?;
        Some(format!("the answer holds {holds}, and the port mirrors {version}"))
    })
}

#[cfg(test)]
mod tests {
    use super::super::case::Case;

    fn outside_of(bounds: &str, mirrored: &[(&str, &str)]) -> Option<String> {
        let line = format!(r#"{{"id": "a/b", "template": "", "context": {{}}, "expect": {{"output": ""}}, {bounds}}}"#);
        let mirrored = mirrored
            .iter()
            .map(|(name, version)| ((*name).to_owned(), (*version).to_owned()));
        Case::read(&line).unwrap().outside(&mirrored.collect())
    }

    #[test]
    fn an_answer_holds_from_its_first_version_to_before_its_last() {
        let since = r#""since": {"transformers": "5.24.0"}"#;
        let until = r#""until": {"transformers": "5.24"}"#;
        assert_eq!(outside_of(since, &[]), None);
        assert_eq!(outside_of(since, &[("transformers", "5.100")]), None);
        assert_eq!(outside_of(until, &[("transformers", "5.23.1"), ("python", "3.11")]), None);
        assert_eq!(
            outside_of(since, &[("transformers", "5.23.0")]).unwrap(),
            "the answer holds since transformers 5.24.0, and the port mirrors 5.23.0"
        );
        assert_eq!(
            outside_of(until, &[]).unwrap(),
            "the answer holds until transformers 5.24, and the port mirrors 5.24.0"
        );
    }

    #[test]
    fn a_bound_is_a_version_of_a_part_of_the_reference() {
        let fault = |bounds: &str| {
            let line = format!(r#"{{"id": "a/b", "template": "", "context": {{}}, "expect": {{"output": ""}}, {bounds}}}"#);
            Case::read(&line).map(|case| case.id).unwrap_err()
        };
        assert_eq!(
            fault(r#""since": {"transformer": "5.24.0"}"#),
            "a/b: unknown key \"transformer\"; did you mean \"transformers\"?"
        );
        assert_eq!(
            fault(r#""until": {"python": "new"}"#),
            "a/b: \"until\": \"new\" is not a version, such as \"5.24.0\""
        );
    }
}
