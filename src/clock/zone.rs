//! The platform's time zone. This is the only file that uses the crate `jiff`.

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, Timestamp};

/// A time zone.
pub(super) struct Zone(TimeZone);

impl Zone {
    /// Returns the platform's zone: the variable `TZ`, else the system's setting.
    pub(super) fn system() -> Self {
        Self(TimeZone::system())
    }

    /// Returns the seconds by which this zone is ahead of UTC at a moment, which is counted in seconds since 1970 UTC.
    pub(super) fn offset_at(&self, unix: i64) -> i64 {
        let timestamp = Timestamp::from_second(unix).unwrap_or(Timestamp::MAX);
        self.0.to_offset(timestamp).seconds().into()
    }

    /// Returns the seconds by which this zone is ahead of UTC when its clocks show a time, which is counted in seconds since 1970 on
    /// those clocks.
    pub(super) fn offset_of_local(&self, local: i64) -> i64 {
        let civil = DateTime::constant(1970, 1, 1, 0, 0, 0, 0).saturating_add(SignedDuration::from_secs(local));
        // CPython does not tell glibc's mktime whether summer time applies. For an ambiguous time, mktime's result depends on earlier
        // calls, and is mostly the one with the offset before the change.
        let offset = match self.0.to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset,
            AmbiguousOffset::Gap { before, .. } | AmbiguousOffset::Fold { before, .. } => before,
        };
        offset.seconds().into()
    }
}
