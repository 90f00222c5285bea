//! The current time: what the reference's `datetime.now()` returns.
//!
//! ```text
//! let clock: LocalTime = "2026-01-02T03:04:05".parse()?;    // the clock of `strftime_now` in a test
//! ```
//!
//! A time has no zone, because `datetime.now()` is naive. Formatting is in `strftime`, the calendar in [`date`], the platform's zone in
//! [`zone`]. The rule is CPython 3.13 `datetime`.

mod date;
#[cfg_attr(not(feature = "local-time"), path = "clock/utc.rs")]
mod zone;

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use date::Date;
use zone::Zone;

/// Whether the platform has a clock. On `wasm32-unknown-unknown`, the standard library panics when it is read.
pub(crate) const HAS_CLOCK: bool = !cfg!(all(target_family = "wasm", target_os = "unknown"));

/// Returns the processor time of this thread since a fixed moment. Where the platform has no such clock, it is wall time, and zero on
/// `wasm32-unknown-unknown`.
pub(crate) fn thread_time() -> Duration {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
        Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
    }
    #[cfg(not(unix))]
    {
        static START: std::sync::LazyLock<Option<std::time::Instant>> =
            std::sync::LazyLock::new(|| HAS_CLOCK.then(std::time::Instant::now));
        START.map_or(Duration::ZERO, |start| start.elapsed())
    }
}

const SECONDS_OF_DAY: i64 = 86_400;

/// The last second of the year 9999, counted from 1970.
const LAST_SECOND: i64 = 253_402_300_799;

/// A local time without a zone, like Python's naive `datetime`: a valid date and time of the years 1 to 9999.
///
/// The seconds since 1970 depend on the platform's zone. They are computed when the time is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LocalTime {
    date: Date,
    hour: u32,
    minute: u32,
    second: u32,
    microsecond: u32,
    unix: i64,
}

impl LocalTime {
    /// Creates a time from year, month, day, then hour, minute, second, then microseconds. If a clock change makes the time ambiguous in
    /// the platform's zone, [`LocalTime::unix`] is the earlier moment.
    ///
    /// # Errors
    /// Returns a message if a part is out of range, or the month does not have the day.
    pub fn new([year, month, day]: [u32; 3], [hour, minute, second]: [u32; 3], microsecond: u32) -> Result<Self, String> {
        let date = Date::new(year, month, day);
        match date.filter(|_| hour < 24 && minute < 60 && second < 60 && microsecond < 1_000_000) {
            Some(date) => Ok(Self::of_day(date, [hour, minute, second], microsecond, &Zone::system())),
            None => Err(format!(
                "no such time: {year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{microsecond:06}"
            )),
        }
    }

    /// Returns the time of a date. The parts of the clock must be in range.
    fn of_day(date: Date, [hour, minute, second]: [u32; 3], microsecond: u32, zone: &Zone) -> Self {
        let second_of_day = hour
            .saturating_mul(3600)
            .saturating_add(minute.saturating_mul(60))
            .saturating_add(second);
        let local = date
            .days()
            .saturating_mul(SECONDS_OF_DAY)
            .saturating_add(i64::from(second_of_day));
        Self {
            date,
            hour,
            minute,
            second,
            microsecond,
            unix: local.saturating_sub(zone.offset_of_local(local)),
        }
    }

    /// Returns the time in a zone at a duration after 1970-01-01 UTC. A time after the year 9999 becomes the last second of that year.
    fn since_1970(since: Duration, zone: &Zone) -> Self {
        let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
        let local = seconds.saturating_add(zone.offset_at(seconds)).min(LAST_SECOND);
        let date = Date::from_days(local.div_euclid(SECONDS_OF_DAY));
        let second_of_day = u32::try_from(local.rem_euclid(SECONDS_OF_DAY)).unwrap_or(0);
        let clock = [second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60];
        Self::of_day(date, clock, since.subsec_micros(), zone)
    }

    /// Returns the year, 1 to 9999.
    pub fn year(&self) -> i32 {
        self.date.year
    }

    /// Returns the month, 1 to 12.
    pub fn month(&self) -> u32 {
        self.date.month
    }

    /// Returns the day of the month, 1 to 31.
    pub fn day(&self) -> u32 {
        self.date.day
    }

    /// Returns the hour, 0 to 23.
    pub fn hour(&self) -> u32 {
        self.hour
    }

    /// Returns the minute, 0 to 59.
    pub fn minute(&self) -> u32 {
        self.minute
    }

    /// Returns the second, 0 to 59.
    pub fn second(&self) -> u32 {
        self.second
    }

    /// Returns the microsecond, 0 to 999999.
    pub fn microsecond(&self) -> u32 {
        self.microsecond
    }

    /// Returns the day of the week, 0 for Sunday to 6 for Saturday.
    pub fn weekday(&self) -> u32 {
        self.date.weekday()
    }

    /// Returns the day of the year, 1 to 366.
    pub fn day_of_year(&self) -> u32 {
        self.date.day_of_year()
    }

    /// Returns the seconds since 1970-01-01 UTC at which the platform's zone shows this time.
    pub fn unix(&self) -> i64 {
        self.unix
    }
}

/// Parses `2026-01-02T03:04:05` or `2026-01-02T03:04:05.678901`, with one to six digits after the point. A blank may replace the `T`.
impl FromStr for LocalTime {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = || {
            let (date, time) = text.split_once(['T', ' '])?;
            let (clock, fraction) = match time.split_once('.') {
                Some((clock, fraction)) => (clock, fraction),
                None => (time, "0"),
            };
            let missing_digits = 6_usize.checked_sub(fraction.len())?;
            let scale = 10_u32.pow(u32::try_from(missing_digits).ok()?);
            let microsecond = parse_digits(fraction)?.checked_mul(scale)?;
            Some((
                parse_fields(date, '-', [4, 2, 2])?,
                parse_fields(clock, ':', [2, 2, 2])?,
                microsecond,
            ))
        };
        let (date, clock, microsecond) = parts().ok_or_else(|| {
            let shown: String = text.chars().take(MAX_SHOWN).collect();
            let rest = if shown.len() < text.len() { "…" } else { "" };
            format!("not a local time such as 2026-01-02T03:04:05 or 2026-01-02T03:04:05.678901: {shown:?}{rest}")
        })?;
        Self::new(date, clock, microsecond)
    }
}

/// The largest number of characters of a wrong time that its error repeats.
const MAX_SHOWN: usize = 100;

/// Parses three numbers of fixed widths with a separator between them.
fn parse_fields(text: &str, separator: char, widths: [usize; 3]) -> Option<[u32; 3]> {
    let mut pieces = text.split(separator);
    let mut numbers = [0; 3];
    for (number, width) in numbers.iter_mut().zip(widths) {
        *number = pieces.next().filter(|piece| piece.len() == width).and_then(parse_digits)?;
    }
    pieces.next().is_none().then_some(numbers)
}

/// Parses a number of ASCII digits. Unlike `str::parse`, it does not accept a sign.
fn parse_digits(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// The clock that `strftime_now` reads.
///
/// The default is the platform's clock, which shows local time, as in Python. For tests, for another time zone, or for prompts that can be
/// cached, pass another one: a [`LocalTime`] is a clock that always returns this time. Without the default feature `local-time`
/// (`default-features = false`) the system's clock shows UTC, and the crate has fewer dependencies.
///
/// ```
/// use chat_template::{ApplyOptions, ChatTemplate, LocalTime};
///
/// let template = ChatTemplate::from_source("Today is {{ strftime_now('%d %b %Y') }}.", &[])?;
/// let clock: LocalTime = "2026-01-02T03:04:05".parse()?;
/// let options = ApplyOptions::default().with_clock(&clock);
/// let messages = serde_json::json!([{"role": "user", "content": "Hi"}]);
/// assert_eq!(template.apply(&messages, &options)?.text, "Today is 02 Jan 2026.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Rendering is deterministic: equal templates, inputs and times make equal prompts.
pub trait Clock: Send + Sync {
    /// Returns the current local time.
    fn now(&self) -> LocalTime;
}

/// Shows no time, because a clock need not implement `Debug`.
impl fmt::Debug for dyn Clock + '_ {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("_")
    }
}

/// The platform's clock in the platform's zone (the variable `TZ`, else the system's setting), as `datetime.now()` reads it. Without the
/// feature `local-time`, the zone is UTC.
///
/// `wasm32-unknown-unknown` has no clock. There it is always the first moment of 1970, and [`Limits::milliseconds`](crate::Limits) has no
/// effect.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> LocalTime {
        let now = if HAS_CLOCK {
            SystemTime::now()
        } else {
            SystemTime::UNIX_EPOCH
        };
        // A clock before 1970 is taken for 1970.
        let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        LocalTime::since_1970(since, &Zone::system())
    }
}

/// A clock that always returns this time, so that each render makes the same prompt.
impl Clock for LocalTime {
    fn now(&self) -> LocalTime {
        *self
    }
}
