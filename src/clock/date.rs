//! The calendar: dates of the years 1 to 9999, and their distance in days from 1970-01-01.
//!
//! ```text
//! 2024-12-30   ->   20087 days, weekday 1 (Monday), day 365 of the year
//! ```
//!
//! The rule is CPython 3.13 `_pydatetime.py`: the Gregorian calendar for all years.

/// The number of days from 0001-01-01 to 1970-01-01.
const DAYS_BEFORE_1970: i64 = 719_162;

/// The number of days in 400 years, after which the calendar repeats.
const DAYS_OF_CYCLE: i64 = 146_097;

/// A valid date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Date {
    pub(super) year: i32,
    pub(super) month: u32,
    pub(super) day: u32,
}

impl Date {
    /// Returns the date with these parts, if it exists.
    pub(super) fn new(year: u32, month: u32, day: u32) -> Option<Self> {
        let year = i32::try_from(year).ok().filter(|year| (1..=9999).contains(year))?;
        (1..=days_of_month(year, month))
            .contains(&day)
            .then_some(Self { year, month, day })
    }

    /// Returns the date a number of days after 1970-01-01, which must be in the years 1 to 9999.
    pub(super) fn from_days(days: i64) -> Self {
        let days = days.saturating_add(DAYS_BEFORE_1970);
        // Years have 365.2425 days on average, so this is the year or one of its neighbours.
        let guess = i32::try_from(days.saturating_mul(400) / DAYS_OF_CYCLE).unwrap_or(9999);
        let mut year = guess.saturating_add(2);
        while year > 1 && days_before_year(year) > days {
            year = year.saturating_sub(1);
        }
        let mut day = u32::try_from(days.saturating_sub(days_before_year(year))).unwrap_or(0);
        let mut month = 1;
        while month < 12 && day >= days_of_month(year, month) {
            day = day.saturating_sub(days_of_month(year, month));
            month = month.saturating_add(1);
        }
        Self {
            year,
            month,
            day: day.saturating_add(1),
        }
    }

    /// Returns the number of days since 1970-01-01.
    pub(super) fn days(self) -> i64 {
        let day_of_year = i64::from(self.day_of_year()).saturating_sub(1);
        days_before_year(self.year)
            .saturating_add(day_of_year)
            .saturating_sub(DAYS_BEFORE_1970)
    }

    /// Returns the day of the week, 0 for Sunday to 6 for Saturday. 1970-01-01 was a Thursday.
    pub(super) fn weekday(self) -> u32 {
        u32::try_from(self.days().saturating_add(4).rem_euclid(7)).unwrap_or(0)
    }

    /// Returns the day of the year, 1 to 366.
    pub(super) fn day_of_year(self) -> u32 {
        let before: u32 = (1..self.month).map(|month| days_of_month(self.year, month)).sum();
        before.saturating_add(self.day)
    }
}

/// Returns the number of days from 0001-01-01 to the first day of a year.
fn days_before_year(year: i32) -> i64 {
    let years = i64::from(year).saturating_sub(1);
    let leap_days = (years / 4).saturating_sub(years / 100).saturating_add(years / 400);
    years.saturating_mul(365).saturating_add(leap_days)
}

/// Returns the number of days of a month, or 0 if there is no such month.
fn days_of_month(year: i32, month: u32) -> u32 {
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_dates_have_consecutive_days() {
        let mut days = Date::new(1, 1, 1).unwrap().days();
        assert_eq!(days, -DAYS_BEFORE_1970);
        for year in 1..=9999 {
            let mut day_of_year = 0;
            for month in 1..=12 {
                for day in 1..=31 {
                    let Some(date) = Date::new(year, month, day) else { continue };
                    day_of_year += 1;
                    assert_eq!((date.days(), date.day_of_year()), (days, day_of_year));
                    assert_eq!(Date::from_days(days), date);
                    days += 1;
                }
            }
        }
        assert_eq!(days, DAYS_OF_CYCLE * 25 - 366 - DAYS_BEFORE_1970);
    }
}
