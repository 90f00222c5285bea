//! The list of the answers that differ from the reference's: the case, the aspect that differs, and the reason.
//!
//! ```text
//! {"id": "python_artefacts/two-parameters", "aspect": "message", "reason": "…"}
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use crate::case::{read_lines, text};
use crate::run::{Aspect, Outcome};
use crate::show;

/// The rows of a file.
pub struct Deviations {
    rows: BTreeMap<(String, Aspect), String>,
}

impl Deviations {
    /// Reads a file. No row may stand there twice, and none without a reason.
    pub fn read(path: &Path) -> Self {
        let mut rows = BTreeMap::new();
        for object in read_lines(path) {
            let [id, aspect, reason] = ["id", "aspect", "reason"].map(|key| text(&object, key));
            assert!(
                object.len() == 3 && !reason.is_empty(),
                "a deviation has an id, an aspect, a reason: {id}"
            );
            let aspect = Aspect::from_name(&aspect).unwrap_or_else(|| panic!("{id}: no such aspect: {aspect}"));
            assert!(rows.insert((id.clone(), aspect), reason).is_none(), "{id}: listed twice");
        }
        Self { rows }
    }

    /// Describes each case that differs in an aspect that is not listed, and each row whose case does not differ. Cases that this crate
    /// does not support are left out.
    pub fn faults(&self, outcomes: &[Outcome<'_>]) -> Vec<String> {
        let mut unused: BTreeMap<(&str, Aspect), &str> = BTreeMap::new();
        unused.extend(
            self.rows
                .iter()
                .map(|((id, aspect), reason)| ((id.as_str(), *aspect), reason.as_str())),
        );
        let mut faults = Vec::new();
        for outcome in outcomes.iter().filter(|outcome| !outcome.is_unsupported()) {
            // Each row that is needed is struck off, so that none may be left out by a short cut.
            let wrong = outcome.wrong.iter();
            let unlisted = wrong
                .filter(|aspect| unused.remove(&(outcome.case.id.as_str(), **aspect)).is_none())
                .count();
            if unlisted > 0 {
                faults.push(show::difference(outcome));
            }
        }
        faults.extend(unused.iter().map(|((id, aspect), reason)| {
            format!(
                "{id}: the deviation of its {} is listed, but it is right or there is no such case ({reason})\n",
                aspect.name()
            )
        }));
        faults
    }
}
