//! The platform's time zone, by the crate `jiff`, which no other file knows.

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, Timestamp};

/// A time zone: how far its clocks are ahead of UTC, and when.
pub(super) struct Zone(TimeZone);

impl Zone {
    /// The platform's zone: the variable `TZ`, else the system's setting.
    pub(super) fn system() -> Self {
        Self(TimeZone::system())
    }

    /// The seconds by which this zone is ahead of UTC at a time, which is counted from 1970 in UTC.
    pub(super) fn offset_at(&self, unix: i64) -> i64 {
        let timestamp = Timestamp::from_second(unix).unwrap_or(Timestamp::MAX);
        self.0.to_offset(timestamp).seconds().into()
    }

    /// The seconds by which this zone is ahead of UTC when its clocks show a time, which is counted from 1970 on those clocks.
    pub(super) fn offset_of_local(&self, local: i64) -> i64 {
        let civil = DateTime::constant(1970, 1, 1, 0, 0, 0, 0).saturating_add(SignedDuration::from_secs(local));
        // glibc's mktime is not told whether summer time holds. Where a change makes that matter its answer depends on what it
        // was asked before, and is mostly the one by the offset from before the change.
        let offset = match self.0.to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset,
            AmbiguousOffset::Gap { before, .. } | AmbiguousOffset::Fold { before, .. } => before,
        };
        offset.seconds().into()
    }
}

#[cfg(test)]
impl Zone {
    pub(super) fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    pub(super) fn posix(rule: &str) -> Self {
        Self(TimeZone::posix(rule).unwrap())
    }
}
