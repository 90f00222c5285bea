//! The time zone of a crate built without the feature `local-time`: always UTC.

/// The zone UTC.
pub(super) struct Zone;

impl Zone {
    /// Returns UTC, whatever the platform's zone is.
    pub(super) fn system() -> Self {
        Self
    }

    pub(super) fn offset_at(&self, _unix: i64) -> i64 {
        0
    }

    pub(super) fn offset_of_local(&self, _local: i64) -> i64 {
        0
    }
}
