//! The directives of glibc's `strftime` in the C locale: flags, width, modifier and letter.
//!
//! ```text
//! %-d -> 2      %_5d -> "    2"      %^a -> FRI      %#p -> am      %Ey -> 26      %Q -> %Q
//! ```
//!
//! The rule is `__strftime_internal` of glibc 2.36 `strftime_l.c` in its wide-character form, which CPython calls. CPython passes a time
//! whose zone and summer time are unknown, so `%5Z` writes five blanks and `%5z` nothing.

use std::borrow::Cow;

use super::{Output, Overrun};
use crate::clock::LocalTime;
use crate::unicode::{to_title, to_upper};

const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// The length of the abbreviation of a weekday or month.
const SHORT: usize = 3;

/// Writes a time in a format, in which Python's own directives have been replaced.
pub(super) fn write(time: &LocalTime, format: &str, output: &mut Output) -> Result<(), Overrun> {
    let mut rest = format;
    // The next directive is usually near, so a simple loop is faster than a search with a set-up cost.
    while let Some(at) = rest.bytes().position(|byte| byte == b'%') {
        let (plain, directive) = rest.split_at_checked(at).unwrap_or_default();
        if !plain.is_empty() {
            output.write(plain, 0, ' ')?;
        }
        let directive = Directive::read(directive.get(1..).unwrap_or_default());
        directive.write(time, output)?;
        rest = directive.rest;
    }
    if rest.is_empty() {
        return Ok(());
    }
    output.write(rest, 0, ' ')
}

/// A directive of a format without its percent sign: `^10a`.
struct Directive<'f> {
    /// The format after the percent sign.
    source: &'f str,
    /// The format after the letter.
    rest: &'f str,
    /// The last flag of `_`, `-` and `0`.
    pad: Option<char>,
    /// The flag `^`.
    upper: bool,
    /// The flag `#`.
    change_case: bool,
    width: usize,
    /// `E` or `O`, which request another calendar or other digits. The C locale has neither.
    modifier: Option<char>,
    /// The letter, or `None` if the format ends before it.
    letter: Option<char>,
}

/// The value of a directive.
enum Field {
    /// A number, its minimum number of digits, and its usual fill character.
    Number(u32, usize, char),
    /// A number without a minimum number of digits. It is filled with blanks, as a string is.
    Seconds(i64),
    Text(&'static str),
    /// A name, which the flag `#` converts to upper case.
    Name(&'static str),
    /// The half of the day, which the flag `#` converts to lower case.
    HalfDay(&'static str),
    HalfDayInLowerCase(&'static str),
    /// The format that a directive such as `%D` expands to.
    Format(&'static str),
    /// Nothing is written; even the width is ignored.
    Nothing,
}

impl<'f> Directive<'f> {
    fn read(after: &'f str) -> Self {
        let mut directive = Self {
            source: after,
            rest: "",
            pad: None,
            upper: false,
            change_case: false,
            width: 0,
            modifier: None,
            letter: None,
        };
        let mut characters = after.chars();
        let mut next = characters.next();
        while let Some(flag @ ('_' | '-' | '0' | '^' | '#')) = next {
            match flag {
                '^' => directive.upper = true,
                '#' => directive.change_case = true,
                _ => directive.pad = Some(flag),
            }
            next = characters.next();
        }
        while let Some(digit) = next.and_then(|character| character.to_digit(10)) {
            directive.width = directive.width.saturating_mul(10).saturating_add(digit as usize);
            next = characters.next();
        }
        if let Some('E' | 'O') = next {
            directive.modifier = next;
            next = characters.next();
        }
        directive.letter = next;
        directive.rest = characters.as_str();
        directive
    }

    fn write(&self, time: &LocalTime, output: &mut Output) -> Result<(), Overrun> {
        let fill = if self.pad == Some('0') { '0' } else { ' ' };
        let Some(field) = self.find_field(time) else {
            // strftime_l.c: only the code of the short month looks at `#` before it refuses the modifier.
            let upper = self.upper || (self.change_case && matches!(self.letter, Some('b' | 'h')));
            return output.write(&uppercase_if(upper, &self.copy_unknown()), self.width, fill);
        };
        match field {
            Field::Nothing => Ok(()),
            Field::Text(text) => output.write(text, self.width, fill),
            Field::Seconds(seconds) => output.write(&seconds.to_string(), self.width, fill),
            Field::Name(name) if self.change_case => output.write(&name.to_ascii_uppercase(), self.width, fill),
            Field::HalfDay(half) if self.change_case => output.write(&half.to_ascii_lowercase(), self.width, fill),
            Field::HalfDayInLowerCase(half) => output.write(&half.to_ascii_lowercase(), self.width, fill),
            Field::Name(text) | Field::HalfDay(text) => output.write(&uppercase_if(self.upper, text), self.width, fill),
            Field::Number(number, digits, usual_fill) => {
                let (width, fill) = match self.pad {
                    Some('-') => (self.width, ' '),
                    Some('_') => (self.width.max(digits), ' '),
                    Some(_) => (self.width.max(digits), '0'),
                    None => (self.width.max(digits), usual_fill),
                };
                output.write_number(number, width, fill)
            }
            Field::Format(format) => {
                // These formats are short, and contain no other directives of this kind.
                let mut inner = Output {
                    text: String::new(),
                    room: usize::MAX,
                    max_len: usize::MAX,
                };
                write(time, format, &mut inner)?;
                output.write(&uppercase_if(self.upper, &inner.text), self.width, fill)
            }
        }
    }

    /// Returns what glibc writes for an unknown directive: the whole directive. glibc searches backwards for its percent sign, and finds
    /// the wrong one in `%E%`.
    fn copy_unknown(&self) -> String {
        let read = self.source.len() - self.rest.len();
        let source = self.source.get(..read).unwrap_or(self.source);
        let source = if self.letter == Some('%') { "" } else { source };
        format!("%{source}")
    }

    /// Returns the value of the directive, or `None` if glibc does not know its letter or does not allow its modifier.
    fn find_field(&self, time: &LocalTime) -> Option<Field> {
        let letter = self.letter?;
        let is_known = match self.modifier {
            Some('E') => "CPRTXYZcnprstuxyz".contains(letter),
            Some(_) => !"%ADFXYacx".contains(letter),
            None => true,
        };
        if !is_known {
            return None;
        }
        let two = |number| Field::Number(number, 2, '0');
        let one = |number| Field::Number(number, 1, '0');
        let two_or_blank = |number| Field::Number(number, 2, ' ');
        let year = time.year().unsigned_abs();
        let half = if time.hour() < 12 { "AM" } else { "PM" };
        let hour_of_twelve = match time.hour() % 12 {
            0 => 12,
            hour => hour,
        };
        Some(match letter {
            '%' => Field::Text("%"),
            'A' => Field::Name(weekday_name(time)),
            'B' => Field::Name(month_name(time)),
            'C' => one(year / 100),
            'D' | 'x' => Field::Format("%m/%d/%y"),
            'F' => Field::Format("%Y-%m-%d"),
            'G' => one(iso_week(time).0),
            'H' => two(time.hour()),
            'I' => two(hour_of_twelve),
            'M' => two(time.minute()),
            'P' => Field::HalfDayInLowerCase(half),
            'R' => Field::Format("%H:%M"),
            'S' => two(time.second()),
            'T' | 'X' => Field::Format("%H:%M:%S"),
            'U' => two(count_weeks_begun(time, time.weekday())),
            'V' => two(iso_week(time).1),
            'W' => two(count_weeks_begun(time, weekday_from_monday(time).saturating_sub(1))),
            'Y' => one(year),
            'Z' => Field::Text(""),
            'a' => Field::Name(abbreviate(weekday_name(time))),
            'b' | 'h' => Field::Name(abbreviate(month_name(time))),
            'c' => Field::Format("%a %b %e %H:%M:%S %Y"),
            'd' => two(time.day()),
            'e' => two_or_blank(time.day()),
            'g' => two(iso_week(time).0 % 100),
            'j' => Field::Number(time.day_of_year(), 3, '0'),
            'k' => two_or_blank(time.hour()),
            'l' => two_or_blank(hour_of_twelve),
            'm' => two(time.month()),
            'n' => Field::Text("\n"),
            'p' => Field::HalfDay(half),
            'r' => Field::Format("%I:%M:%S %p"),
            's' => Field::Seconds(time.unix()),
            't' => Field::Text("\t"),
            'u' => one(weekday_from_monday(time)),
            'w' => one(time.weekday()),
            'y' => two(year % 100),
            'z' => Field::Nothing,
            _ => return None,
        })
    }
}

fn weekday_name(time: &LocalTime) -> &'static str {
    WEEKDAYS.get(time.weekday() as usize).copied().unwrap_or("?")
}

fn month_name(time: &LocalTime) -> &'static str {
    MONTHS.get((time.month() as usize).wrapping_sub(1)).copied().unwrap_or("?")
}

fn abbreviate(name: &'static str) -> &'static str {
    name.get(..SHORT).unwrap_or(name)
}

/// Returns the day of the week, 1 for Monday to 7 for Sunday.
fn weekday_from_monday(time: &LocalTime) -> u32 {
    match time.weekday() {
        0 => 7,
        weekday => weekday,
    }
}

/// Returns the number of weeks that have begun in the year, if `days_into_week` days have passed since the current week began. Days
/// before the first week are in week 0.
fn count_weeks_begun(time: &LocalTime, days_into_week: u32) -> u32 {
    time.day_of_year().saturating_add(6).saturating_sub(days_into_week) / 7
}

/// Returns the year and the week of ISO 8601. A week belongs to the year of its Thursday.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "a day of the year is 1 to 366, a weekday 1 to 7, a year 1 to 9999, so no operation overflows"
)]
fn iso_week(time: &LocalTime) -> (u32, u32) {
    let year = time.year().unsigned_abs();
    // Days are counted from four days before the year, so the number is never negative.
    let thursday = time.day_of_year() + 8 - weekday_from_monday(time);
    let (year, thursday) = if thursday < 5 {
        (year - 1, thursday + count_days_of_year(year - 1))
    } else if thursday > count_days_of_year(year) + 4 {
        (year + 1, thursday - count_days_of_year(year))
    } else {
        (year, thursday)
    };
    (year, (thursday - 5) / 7 + 1)
}

fn count_days_of_year(year: u32) -> u32 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if is_leap { 366 } else { 365 }
}

fn uppercase_if(upper: bool, text: &str) -> Cow<'_, str> {
    if upper {
        text.chars().map(simple_uppercase).collect()
    } else {
        Cow::Borrowed(text)
    }
}

/// C's `towupper` in UTF-8, which maps one character to one. It matters only for the flag `^` of an unknown directive, as in `%^é`. Greek
/// letters with an iota subscript have a single capital, their title case, although full upper case makes two letters of them.
fn simple_uppercase(character: char) -> char {
    let mut buffer = [0; 4];
    let text = &*character.encode_utf8(&mut buffer);
    let only = |text: String| {
        let mut characters = text.chars();
        characters.next().filter(|_| characters.next().is_none())
    };
    only(to_upper(text)).or_else(|| only(to_title(text))).unwrap_or(character)
}
