//! The rules of strings: their characters in a notation, regular expressions, formats and ranges of numbers.

use regex_syntax::hir::{Class, Hir, HirKind};

use super::rules::Rule;

/// How the characters of a string are written.
#[derive(Clone, Debug, PartialEq)]
pub enum Style {
    /// Between quotes, with escapes.
    Quoted(char),
    /// As they are, but for these.
    Raw(Vec<char>),
}

/// The characters of a quoted string that are escaped, each with its escape.
const ESCAPED: [(char, &str); 5] = [('"', "\\\""), ('\\', "\\\\"), ('\n', "\\n"), ('\r', "\\r"), ('\t', "\\t")];

/// The maximum number of repetitions in a rule.
pub const MAX_COUNT: u32 = 1 << 10;

/// The maximum number of digits of an integer. Every parser reads these without loss.
const MAX_DIGITS: u32 = 15;

/// The formats of strings whose form is that of a regular expression.
const FORMATS: [(&str, &str); 6] = [
    ("date", DATE),
    ("time", TIME),
    (
        "uuid",
        "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}",
    ),
    (
        "email",
        r"[A-Za-z0-9_+-]+(?:\.[A-Za-z0-9_+-]+)*@[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*(?:\.[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*)+",
    ),
    (
        "hostname",
        "[A-Za-z0-9]{1,20}(?:-[A-Za-z0-9]{1,20}){0,2}(?:\\.[A-Za-z0-9]{1,20}(?:-[A-Za-z0-9]{1,20}){0,2}){0,3}",
    ),
    (
        "ipv4",
        r"(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\.){3}(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])",
    ),
];

/// Dates that exist in every year, so without 29 February.
const DATE: &str = "[0-9]{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)";
const TIME: &str = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,6})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])";

/// Returns the regular expression of a format, if it is known.
pub fn find_format(name: &str) -> Option<String> {
    if name == "date-time" {
        return Some(format!("^(?:{DATE})T(?:{TIME})$"));
    }
    let (_, format) = FORMATS.iter().find(|(known, _)| *known == name)?;
    Some(format!("^(?:{format})$"))
}

impl Style {
    /// Returns the rule of one character.
    pub fn any_char(&self) -> Rule {
        match self {
            Self::Quoted(quote) => {
                let hex = Rule::class(&[('0', '9'), ('a', 'f'), ('A', 'F')]);
                // A surrogate would be half of a pair.
                let code = Rule::choice([
                    Rule::sequence([
                        Rule::class(&[('0', '9'), ('a', 'c'), ('A', 'C'), ('e', 'f'), ('E', 'F')]),
                        hex.clone(),
                    ]),
                    Rule::sequence([Rule::class(&[('d', 'd'), ('D', 'D')]), Rule::class(&[('0', '7')])]),
                ]);
                let code = Rule::sequence([Rule::text("u"), code, hex.repeat(2, Some(2))]);
                let short = Rule::class(&[
                    (*quote, *quote),
                    ('/', '/'),
                    ('\\', '\\'),
                    ('b', 'b'),
                    ('f', 'f'),
                    ('n', 'n'),
                    ('r', 'r'),
                    ('t', 't'),
                ]);
                Rule::choice([
                    Rule::except(&[('\0', '\u{1f}'), (*quote, *quote), ('\\', '\\')]),
                    Rule::sequence([Rule::text("\\"), Rule::choice([short, code])]),
                ])
            }
            Self::Raw(except) => Rule::except(&except.iter().map(|char| (*char, *char)).collect::<Vec<_>>()),
        }
    }

    /// Returns the rule of a string with these characters.
    pub fn write(&self, text: &str) -> Rule {
        match self {
            Self::Quoted(quote) => {
                let written = serde_json::Value::from(text).to_string();
                let written = written.get(1..written.len().saturating_sub(1)).unwrap_or_default();
                match quote {
                    '"' => Rule::text(written),
                    quote => Rule::text(written.replace("\\\"", "\"").replace(*quote, &format!("\\{quote}"))),
                }
            }
            Self::Raw(except) if text.contains(except.as_slice()) => Rule::NEVER,
            Self::Raw(_) => Rule::text(text),
        }
    }

    fn write_class(&self, ranges: &[(char, char)]) -> Rule {
        let mut plain = Vec::new();
        let (removed, escaped): (Vec<char>, &[(char, &str)]) = match self {
            Self::Quoted(quote) => ((0..0x20_u8).map(char::from).chain([*quote, '\\']).collect(), &ESCAPED),
            Self::Raw(except) => (except.clone(), &[]),
        };
        for (first, last) in ranges {
            let mut start = *first;
            let inside = |char: &&char| (*first..=*last).contains(*char);
            let mut cuts: Vec<char> = removed.iter().filter(inside).copied().collect();
            cuts.sort_unstable();
            for cut in cuts {
                if let Some(before) = (start..cut).next_back() {
                    plain.push((start, before));
                }
                start = (cut..=char::MAX).nth(1).unwrap_or(char::MAX);
            }
            if start <= *last {
                plain.push((start, *last));
            }
        }
        let class = if plain.is_empty() { Rule::NEVER } else { Rule::class(&plain) };
        let escapes = escaped
            .iter()
            .filter(|(char, _)| ranges.iter().any(|(first, last)| (first..=last).contains(&char)))
            .map(|(_, escape)| Rule::text(*escape));
        Rule::choice(std::iter::once(class).chain(escapes))
    }

    /// Returns the rule of the strings in which a regular expression matches. Returns `None` if the expression has look-around, backreferences
    /// or other syntax that this crate does not support.
    pub fn write_pattern(&self, source: &str) -> Option<Rule> {
        let source = source.trim();
        let (from_start, source) = source.strip_prefix('^').map_or((false, source), |rest| (true, rest));
        let to_end = source.strip_suffix('$').filter(|rest| !rest.ends_with('\\'));
        let (to_end, source) = to_end.map_or((false, source), |rest| (true, rest));
        // What `^` and `$` belong to is the whole expression only outside of alternatives.
        let hir = regex_syntax::ParserBuilder::new().nest_limit(64).build().parse(source).ok()?;
        if matches!(hir.kind(), HirKind::Alternation(_)) && (from_start || to_end) {
            return None;
        }
        let any = || self.any_char().repeat(0, None);
        let before = if from_start { Rule::EMPTY } else { any() };
        let after = if to_end { Rule::EMPTY } else { any() };
        Some(Rule::sequence([before, self.write_hir(&hir)?, after]))
    }

    fn write_hir(&self, hir: &Hir) -> Option<Rule> {
        Some(match hir.kind() {
            HirKind::Empty => Rule::EMPTY,
            HirKind::Literal(literal) => self.write(std::str::from_utf8(&literal.0).ok()?),
            HirKind::Class(Class::Unicode(class)) => {
                let ranges: Vec<_> = class.iter().map(|range| (range.start(), range.end())).collect();
                self.write_class(&ranges)
            }
            HirKind::Class(Class::Bytes(_)) | HirKind::Look(_) => return None,
            HirKind::Repetition(repetition) => {
                if repetition.max.unwrap_or(repetition.min) > MAX_COUNT {
                    return None;
                }
                self.write_hir(&repetition.sub)?.repeat(repetition.min, repetition.max)
            }
            HirKind::Capture(capture) => self.write_hir(&capture.sub)?,
            HirKind::Concat(items) => Rule::sequence(items.iter().map(|item| self.write_hir(item)).collect::<Option<Vec<_>>>()?),
            HirKind::Alternation(items) => Rule::choice(items.iter().map(|item| self.write_hir(item)).collect::<Option<Vec<_>>>()?),
        })
    }
}

fn digits() -> Rule {
    Rule::class(&[('0', '9')])
}

/// Returns the rule of the non-negative integers from `min` to `max`.
fn write_digits(min: u64, max: Option<u64>) -> Rule {
    if (min, max) == (0, None) {
        let rest = digits().repeat(0, Some(MAX_DIGITS.saturating_sub(1)));
        return Rule::choice([Rule::text("0"), Rule::sequence([Rule::class(&[('1', '9')]), rest])]);
    }
    let largest = 10_u64.pow(MAX_DIGITS).saturating_sub(1);
    let max = max.unwrap_or(largest).min(largest);
    let mut choices = Vec::new();
    let mut first = min;
    while first <= max {
        let length = first.checked_ilog10().unwrap_or(0).saturating_add(1);
        let last = 10_u64.pow(length).saturating_sub(1).min(max);
        choices.push(write_equally_long(first.to_string().as_bytes(), last.to_string().as_bytes()));
        first = last.saturating_add(1);
    }
    Rule::choice(choices)
}

/// Returns the rule of the integers between two integers with the same number of digits.
fn write_equally_long(first: &[u8], last: &[u8]) -> Rule {
    let (Some((low, low_rest)), Some((high, high_rest))) = (first.split_first(), last.split_first()) else {
        return Rule::EMPTY;
    };
    let digit = |digit: u8| Rule::text(char::from(digit));
    if low == high {
        return Rule::sequence([digit(*low), write_equally_long(low_rest, high_rest)]);
    }
    let any = |count: usize| {
        let count = u32::try_from(count).unwrap_or(MAX_DIGITS);
        digits().repeat(count, Some(count))
    };
    let is_round = |rest: &[u8], end: u8| rest.iter().all(|digit| *digit == end);
    let mut choices = Vec::new();
    let (mut start, mut stop) = (*low, *high);
    if !is_round(low_rest, b'0') {
        let nines = vec![b'9'; low_rest.len()];
        choices.push(Rule::sequence([digit(start), write_equally_long(low_rest, &nines)]));
        start = start.saturating_add(1);
    }
    let has_end = !is_round(high_rest, b'9');
    if has_end {
        stop = stop.saturating_sub(1);
    }
    if start <= stop {
        let class = Rule::class(&[(char::from(start), char::from(stop))]);
        choices.push(Rule::sequence([class, any(low_rest.len())]));
    }
    if has_end {
        let zeros = vec![b'0'; high_rest.len()];
        choices.push(Rule::sequence([digit(*high), write_equally_long(&zeros, high_rest)]));
    }
    Rule::choice(choices)
}

/// Returns the rule of the integers within bounds.
pub fn write_integer(min: Option<i64>, max: Option<i64>) -> Rule {
    let minus = || Rule::text("-");
    let positive = match max {
        Some(max) if max < 0 => Rule::NEVER,
        _ => write_digits(min.unwrap_or(0).max(0).unsigned_abs(), max.map(i64::unsigned_abs)),
    };
    let negative = match min {
        Some(min) if min >= 0 => Rule::NEVER,
        _ => write_digits(max.unwrap_or(-1).min(-1).unsigned_abs(), min.map(i64::unsigned_abs)),
    };
    Rule::choice([positive, Rule::sequence([minus(), negative])])
}

/// Converts a whole number to an integer of at most [`MAX_DIGITS`] digits.
pub fn to_integer(number: f64) -> Option<i64> {
    let is_small = |integer: &i64| integer.unsigned_abs() < 10_u64.pow(MAX_DIGITS);
    number.to_string().parse().ok().filter(is_small)
}

/// Returns the rule of the numbers within bounds. With bounds, numbers have no exponent. `None` if no integer is between the bounds.
pub fn write_number(min: Option<f64>, max: Option<f64>) -> Option<Rule> {
    let minus = || Rule::text("-");
    let fraction = Rule::sequence([Rule::text("."), digits().repeat(1, Some(MAX_DIGITS))]);
    if min.is_none() && max.is_none() {
        let sign = Rule::class(&[('+', '+'), ('-', '-')]).optional();
        let exponent = Rule::sequence([Rule::class(&[('e', 'e'), ('E', 'E')]), sign, digits().repeat(1, Some(2))]);
        return Some(Rule::sequence([
            minus().optional(),
            write_digits(0, None),
            fraction.optional(),
            exponent.optional(),
        ]));
    }
    let low = min.map(|min| to_integer(min.ceil()));
    let high = max.map(|max| to_integer(max.floor()));
    if low == Some(None) || high == Some(None) {
        return None;
    }
    let (low, high) = (low.flatten(), high.flatten());
    // A fraction makes a number larger if it is positive, and smaller if it is not.
    let positive = match high {
        Some(..=0) => Rule::NEVER,
        high => write_digits(
            low.unwrap_or(0).max(0).unsigned_abs(),
            high.map(|high| high.saturating_sub(1).unsigned_abs()),
        ),
    };
    let negative = match low {
        Some(0..) => Rule::NEVER,
        low => write_digits(
            high.unwrap_or(0).min(0).unsigned_abs(),
            low.map(|low| low.saturating_add(1).unsigned_abs()),
        ),
    };
    let with_fraction = Rule::choice([positive, Rule::sequence([minus(), negative])]);
    let numbers = Rule::choice([Rule::sequence([with_fraction, fraction]), write_integer(low, high)]);
    (numbers != Rule::NEVER).then_some(numbers)
}
