//! Clocks, deadlines, and the times that templates write.

use std::process::Command;
use std::time::{Duration, Instant};

use chat_template::internal::SystemClock;
use chat_template::{Clock, Deadline, Limit, Limits, LocalTime, RenderOptions, Template};
use cpu_time::ThreadTime;

/// A zone whose clocks change.
const NEW_YORK: &str = "EST5EDT,M3.2.0,M11.1.0";

fn parse(text: &str) -> LocalTime {
    text.parse().unwrap()
}

#[test]
fn times_are_parsed() {
    let time = parse("2024-12-30T23:59:58.000123");
    assert_eq!((time.year(), time.month(), time.day()), (2024, 12, 30));
    assert_eq!(
        (time.hour(), time.minute(), time.second(), time.microsecond()),
        (23, 59, 58, 123)
    );
    assert_eq!((time.weekday(), time.day_of_year()), (1, 365));
    let tenths = parse("0999-05-06 07:08:09.5");
    assert_eq!((tenths.year(), tenths.microsecond()), (999, 500_000));
    for (text, weekday) in [("0001-01-01", 1), ("1970-01-01", 4), ("9999-12-31", 5)] {
        assert_eq!(parse(&format!("{text}T00:00:00")).weekday(), weekday);
    }
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

/// Runs itself in the zone.
#[test]
fn seconds_since_1970_follow_the_zone_and_the_offset_before_a_change() {
    if std::env::var("TZ").is_ok_and(|zone| zone == NEW_YORK) {
        for (text, unix) in [
            ("2026-07-01T00:00:00", 1_782_878_400),
            ("2026-11-01T01:30:00", 1_793_511_000),
            ("2026-03-08T02:30:00", 1_772_955_000),
            ("0001-01-01T00:00:00", -62_135_578_800),
            ("9999-12-31T23:59:59", 253_402_318_799),
        ] {
            assert_eq!(parse(text).unix(), unix, "{text}");
        }
        let now = SystemClock.now();
        let again = LocalTime::new(
            [now.year() as u32, now.month(), now.day()],
            [now.hour(), now.minute(), now.second()],
            now.microsecond(),
        );
        assert_eq!(again, Ok(now));
        let unix = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs() as i64;
        assert!((unix - 10..=unix).contains(&now.unix()));
        return;
    }
    let name = "time::seconds_since_1970_follow_the_zone_and_the_offset_before_a_change";
    let mut test = Command::new(std::env::current_exe().unwrap());
    assert!(test.args(["--exact", name]).env("TZ", NEW_YORK).status().unwrap().success());
}

#[test]
fn a_written_time_beyond_the_limit_is_refused() {
    let template = Template::compile("{{ strftime_now('%1000d') }}").unwrap();
    for (bytes, reached) in [(999, Some(Limit::Value)), (1000, None)] {
        let limits = Limits::default().with_value(bytes);
        let rendered = template.render(&serde_json::json!({}), &RenderOptions::default().with_bounds(&limits));
        assert_eq!(
            rendered.err().and_then(|error| error.reached()).map(|reached| reached.limit),
            reached
        );
    }
}

fn work(milliseconds: u64) {
    let start = ThreadTime::now();
    while start.elapsed() < Duration::from_millis(milliseconds) {}
}

#[test]
fn work_counts_on_each_thread_and_only_in_calls() {
    let deadline = Deadline::new(30);
    work(40);
    let calls = || {
        let _outer = deadline.start();
        deadline.check(Duration::ZERO).unwrap();
        work(5);
        let _inner = deadline.start();
        work(5);
    };
    calls();
    std::thread::scope(|scope| scope.spawn(calls).join()).unwrap();
    assert!((20..30).contains(&deadline.spent().as_millis()), "{:?}", deadline.spent());
    let _running = deadline.start();
    deadline.check(Duration::ZERO).unwrap();
    work(15);
    let error = deadline.check(Duration::ZERO).unwrap_err();
    assert_eq!((error.limit, error.allowed), (Limit::Milliseconds, 30));
}

#[cfg(unix)]
#[test]
fn waiting_does_not_count() {
    let deadline = Deadline::new(1000);
    let _running = deadline.start();
    deadline.check(Duration::ZERO).unwrap();
    let start = Instant::now();
    std::thread::sleep(Duration::from_millis(20));
    assert!(start.elapsed().as_millis() >= 20);
    deadline.check(Duration::ZERO).unwrap();
    assert!(deadline.spent().as_millis() < 20);
}
