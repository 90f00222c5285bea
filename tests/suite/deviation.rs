//! The deviations that are allowed: which aspect of which case is answered otherwise than by the reference, and why.
//!
//! ```text
//! {"id": "statements/set-block-dict", "aspect": "output", "reason": "…"}
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

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// One text for each case that is wrong in an aspect that counts and is not listed, and for each row that is not needed.
    pub fn faults(&self, outcomes: &[Outcome<'_>], counts: impl Fn(Aspect) -> bool) -> Vec<String> {
        let mut unused: BTreeMap<(&str, Aspect), &str> = BTreeMap::new();
        unused.extend(
            self.rows
                .iter()
                .map(|((id, aspect), reason)| ((id.as_str(), *aspect), reason.as_str())),
        );
        let mut faults = Vec::new();
        for outcome in outcomes {
            let wrong = outcome.wrong.iter().filter(|aspect| counts(**aspect));
            // Each row that is needed is struck off, so that none may be left out by a short cut.
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
