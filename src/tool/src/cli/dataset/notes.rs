//! What a run notices about its rows, for the warnings at its end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use chat_template::Prompt;
use chat_template::json::{Data, Object};
use chat_template_rows::{Cause, Known};

use crate::cli::variable::warn_of_unread;

/// The largest number of unread variables of which a run warns.
const MAX_UNREAD: usize = 20;

/// The notes of a run. Its threads share them.
#[derive(Default)]
pub struct Notes {
    /// The number of rows with a turn of the model that no token ends.
    unended: AtomicU64,
    /// The number of warnings with each cause, and of failures of each kind.
    causes: Mutex<BTreeMap<(bool, String), u64>>,
    /// The number of rows that had one of the keys which the output adds.
    replaced: AtomicU64,
    /// The names of variables in rows that no template reads.
    unread: Mutex<BTreeSet<String>>,
}

impl Notes {
    /// Counts a row if no token ends a turn of the model.
    pub fn note_mask(&self, prompt: &Prompt) {
        let mut turns = prompt.assistant_spans().turns.iter();
        let is_unended = turns.any(|turn| !turn.has_end && turn.spans.as_ref().is_ok_and(|spans| !spans.bytes.is_empty()));
        self.unended.fetch_add(u64::from(is_unended), Ordering::Relaxed);
    }

    /// Counts a warning.
    pub fn note_loss(&self, cause: Cause) {
        self.count((false, cause.name().to_owned()));
    }

    /// Counts a row that failed.
    pub fn note_failure(&self, kind: &str) {
        self.count((true, kind.to_owned()));
    }

    fn count(&self, cause: (bool, String)) {
        let mut causes = self.causes.lock().unwrap_or_else(PoisonError::into_inner);
        let count = causes.entry(cause).or_default();
        *count = count.saturating_add(1);
    }

    /// Counts a row that has a key which the output adds.
    pub fn note_replaced(&self) {
        self.replaced.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes the variables of a row that no template reads.
    pub fn note_unread(&self, variables: &Object<'_>, known: &Known) {
        let names = variables.entries().iter().map(|(name, _)| &**name);
        for name in names.filter(|name| !known.variables().contains(*name)) {
            let mut unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner);
            if unread.len() < MAX_UNREAD {
                unread.insert(name.to_owned());
            }
        }
    }

    /// Returns the warnings of the run.
    pub fn warnings(self, known: &Known) -> Vec<String> {
        let unread = self.unread.into_inner().unwrap_or_else(PoisonError::into_inner);
        let unread: Vec<_> = unread.into_iter().map(|name| (name, Data::None)).collect();
        let read: Vec<&str> = known.variables().iter().map(String::as_str).collect();
        let mut warnings = warn_of_unread(&unread, &read);
        let causes = self.causes.into_inner().unwrap_or_else(PoisonError::into_inner);
        for ((is_failure, cause), count) in causes {
            let what = if is_failure { "rows that failed" } else { "warnings" };
            warnings.push(format!("{what} with the cause {cause}: {count}"));
        }
        let mut count = |what: &str, rows: &AtomicU64| {
            let rows = rows.load(Ordering::Relaxed);
            if rows > 0 {
                warnings.push(format!("warning: rows {what}: {rows}"));
            }
        };
        count("whose own text, spans or turns the output replaces", &self.replaced);
        count(
            "in which no token ends a turn of the model (see --next-marker)",
            &self.unended,
        );
        warnings
    }
}
