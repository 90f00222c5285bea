//! The versions of the suite and of the reference, and for which of the latter the answer of a case holds.
//!
//! ```text
//! {"since": {"transformers": "5.24.0"}, …}   and a port that mirrors transformers 5.23.0   ->   the case is skipped
//! ```

use std::collections::BTreeMap;

use super::schema::{check_keys, object, text};
use chat_template::json::Object;

/// The version of the embedded suite. `tests/cases/CHANGELOG.md` lists the changes.
pub const SUITE_VERSION: &str = "6.1.0";

/// The software that made the answers.
pub const REFERENCE: [(&str, &str); 3] = [("transformers", "5.24.0"), ("jinja2", "3.1.6"), ("python", "3.13")];

/// The names and versions of the software that a port mirrors.
pub type Versions = BTreeMap<String, String>;

/// Returns the numbers of a version without zeros at its end, or `None` if it is not numbers with dots between them.
fn numbers(version: &str) -> Option<Vec<u64>> {
    version
        .trim_end_matches(".0")
        .split('.')
        .map(|part| part.parse().ok())
        .collect()
}

/// Returns an error if the name is not that of the software of the reference, or the version is none.
pub fn check_version(name: &str, version: &str) -> Result<(), String> {
    let known = REFERENCE.map(|(name, _)| name);
    match numbers(version) {
        _ if !known.contains(&name) => Err(format!("the reference has no {name:?}; known are {}", known.join(", "))),
        None => Err(format!("{version:?} is not a version, such as \"5.24.0\"")),
        Some(_) => Ok(()),
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
