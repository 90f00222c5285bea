//! The door to time: what the reference's `datetime.now()` gives, and nothing of how the platform keeps time.
//!
//! ```text
//! let time: LocalTime = "2026-01-02T03:04:05".parse()?;
//! let clock = FixedClock(time);                          // what `strftime_now` sees in a test
//! ```
//!
//! This is the only file that knows the crate `jiff`: calendar and zone come from there. It deliberately does not know how a time is
//! written as text (that is `strftime`), and it carries no zone: `datetime.now()` is naive. Its rule is CPython 3.11 `datetime`.

use std::str::FromStr;

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};

/// A naive local time, as Python's `datetime` holds it: a valid date and time of the years 1 to 9999, with nothing said of a zone.
///
/// Only `%s` asks for seconds since 1970, so they are worked out once, when the time is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LocalTime {
    year: i32,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
    microsecond: u32,
    weekday: u32,
    day_of_year: u32,
    unix: i64,
}

/// A date or time that does not exist, or a text that is none: `2026-02-30T00:00:00`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidTime(String);

impl LocalTime {
    /// The time with these parts; `unix` is read off the platform's zone, the earlier one where a clock change makes two of it.
    ///
    /// # Errors
    /// When a part is out of range, or the month has no such day.
    pub fn new([year, month, day]: [u32; 3], [hour, minute, second]: [u32; 3], microsecond: u32) -> Result<Self, InvalidTime> {
        Self::in_zone([year, month, day], [hour, minute, second], microsecond, &TimeZone::system())
    }

    fn in_zone(
        [year, month, day]: [u32; 3],
        [hour, minute, second]: [u32; 3],
        microsecond: u32,
        zone: &TimeZone,
    ) -> Result<Self, InvalidTime> {
        let small = |part: u32| i8::try_from(part).ok();
        let civil = || {
            DateTime::new(
                i16::try_from(year).ok().filter(|year| (1..=9999).contains(year))?,
                small(month)?,
                small(day)?,
                small(hour)?,
                small(minute)?,
                small(second)?,
                i32::try_from(microsecond).ok()?.checked_mul(1000)?,
            )
            .ok()
        };
        civil().map(|civil| Self::from_civil(civil, zone)).ok_or_else(|| {
            InvalidTime(format!(
                "no such time: {year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{microsecond:06}"
            ))
        })
    }

    fn from_civil(civil: DateTime, zone: &TimeZone) -> Self {
        // glibc's mktime is not told whether summer time holds. Where a change makes that matter its answer depends on what it
        // was asked before, and is mostly the one by the offset from before the change.
        let offset = match zone.to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset,
            AmbiguousOffset::Gap { before, .. } | AmbiguousOffset::Fold { before, .. } => before,
        };
        // From the epoch and not by a timestamp: the last hours of the year 9999 have none in some zones. Rounded down, for
        // microseconds count forwards before 1970 too.
        let since_epoch = civil.duration_since(DateTime::constant(1970, 1, 1, 0, 0, 0, 0));
        let later = i64::from(since_epoch.subsec_nanos() < 0).saturating_add(i64::from(offset.seconds()));
        let unix = since_epoch.as_secs().saturating_sub(later);
        // Each part is in its range already, so that none of these conversions changes anything.
        Self {
            year: i32::from(civil.year()),
            month: u32::from(civil.month().unsigned_abs()),
            day: u32::from(civil.day().unsigned_abs()),
            hour: u32::from(civil.hour().unsigned_abs()),
            minute: u32::from(civil.minute().unsigned_abs()),
            second: u32::from(civil.second().unsigned_abs()),
            microsecond: civil.subsec_nanosecond().unsigned_abs() / 1000,
            weekday: u32::from(civil.weekday().to_sunday_zero_offset().unsigned_abs()),
            day_of_year: u32::from(civil.day_of_year().unsigned_abs()),
            unix,
        }
    }

    /// The year, 1 to 9999.
    pub fn year(&self) -> i32 {
        self.year
    }

    /// The month, 1 to 12.
    pub fn month(&self) -> u32 {
        self.month
    }

    /// The day of the month, 1 to 31.
    pub fn day(&self) -> u32 {
        self.day
    }

    /// The hour, 0 to 23.
    pub fn hour(&self) -> u32 {
        self.hour
    }

    /// The minute, 0 to 59.
    pub fn minute(&self) -> u32 {
        self.minute
    }

    /// The second, 0 to 59.
    pub fn second(&self) -> u32 {
        self.second
    }

    /// The microsecond, 0 to 999999.
    pub fn microsecond(&self) -> u32 {
        self.microsecond
    }

    /// The day of the week, 0 to 6 from Sunday.
    pub fn weekday(&self) -> u32 {
        self.weekday
    }

    /// The day of the year, 1 to 366.
    pub fn day_of_year(&self) -> u32 {
        self.day_of_year
    }

    /// Seconds since 1970 began in Greenwich, as the platform's zone reads this time.
    pub fn unix(&self) -> i64 {
        self.unix
    }
}

/// Reads `2026-01-02T03:04:05` or `2026-01-02T03:04:05.678901`, with one to six digits of a second, and a blank as good as the `T`.
impl FromStr for LocalTime {
    type Err = InvalidTime;

    fn from_str(text: &str) -> Result<Self, InvalidTime> {
        let parts = || {
            let (date, time) = text.split_once(['T', ' '])?;
            let (clock, fraction) = match time.split_once('.') {
                Some((clock, fraction)) => (clock, fraction),
                None => (time, "0"),
            };
            let missing_digits = 6_usize.checked_sub(fraction.len())?;
            let scale = 10_u32.pow(u32::try_from(missing_digits).ok()?);
            let microsecond = digits(fraction)?.checked_mul(scale)?;
            Some((fields(date, '-', [4, 2, 2])?, fields(clock, ':', [2, 2, 2])?, microsecond))
        };
        let (date, clock, microsecond) = parts().ok_or_else(|| {
            InvalidTime(format!(
                "not a local time such as 2026-01-02T03:04:05 or 2026-01-02T03:04:05.678901: {text:?}"
            ))
        })?;
        Self::new(date, clock, microsecond)
    }
}

/// Three numbers of fixed widths with a separator between them.
fn fields(text: &str, separator: char, widths: [usize; 3]) -> Option<[u32; 3]> {
    let mut pieces = text.split(separator);
    let mut numbers = [0; 3];
    for (number, width) in numbers.iter_mut().zip(widths) {
        *number = pieces.next().filter(|piece| piece.len() == width).and_then(digits)?;
    }
    pieces.next().is_none().then_some(numbers)
}

/// A number of ASCII digits alone; `str::parse` would take a sign.
fn digits(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Who says what time it is; `strftime_now` asks.
pub trait Clock: Send + Sync {
    /// The local time of this moment.
    fn now(&self) -> LocalTime;
}

/// The platform's clock in the platform's zone (`TZ`, else the system's setting), as `datetime.now()` reads it.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> LocalTime {
        let now = jiff::Zoned::now();
        LocalTime::from_civil(now.datetime(), now.time_zone())
    }
}

/// A clock that stands still: each render then gives the same text.
#[derive(Clone, Copy, Debug)]
pub struct FixedClock(
    /// The time that it shows.
    pub LocalTime,
);

impl Clock for FixedClock {
    fn now(&self) -> LocalTime {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read() {
        let time: LocalTime = "2024-12-30T23:59:58.000123".parse().unwrap();
        assert_eq!((time.year(), time.month(), time.day()), (2024, 12, 30));
        assert_eq!(
            (time.hour(), time.minute(), time.second(), time.microsecond()),
            (23, 59, 58, 123)
        );
        assert_eq!((time.weekday(), time.day_of_year()), (1, 365));
        let tenths: LocalTime = "0999-05-06 07:08:09.5".parse().unwrap();
        assert_eq!((tenths.year(), tenths.microsecond()), (999, 500_000));
    }

    #[test]
    fn times_that_do_not_exist_are_refused() {
        for text in [
            "2026-02-30T00:00:00",
            "0000-01-01T00:00:00",
            "2026-01-01T24:00:00",
            "2026-01-01T00:00:60",
            "2026-01-01",
            "2026-1-01T00:00:00",
            "2026-01-01T00:00:00.",
            "2026-01-01T00:00:00.1234567",
            "2026-01-01T00:00:+1",
            "2026-01-01T00:00:00Z",
        ] {
            assert!(text.parse::<LocalTime>().is_err(), "{text}");
        }
    }

    #[test]
    fn seconds_since_1970_follow_the_zone_and_the_offset_before_a_change() {
        let new_york = TimeZone::posix("EST5EDT,M3.2.0,M11.1.0").unwrap();
        let unix = |date, clock| LocalTime::in_zone(date, clock, 0, &new_york).unwrap().unix();
        assert_eq!(unix([2026, 7, 1], [0, 0, 0]), 1_782_878_400);
        assert_eq!(unix([2026, 11, 1], [1, 30, 0]), 1_793_511_000);
        assert_eq!(unix([2026, 3, 8], [2, 30, 0]), 1_772_955_000);
        assert_eq!(unix([1, 1, 1], [0, 0, 0]), -62_135_578_800);
        let half_past = LocalTime::in_zone([1969, 12, 31], [23, 59, 59], 500_000, &TimeZone::UTC);
        assert_eq!(half_past.unwrap().unix(), -1);
        assert_eq!(unix([9999, 12, 31], [23, 59, 59]), 253_402_318_799);
    }
}
