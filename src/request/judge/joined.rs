//! The text that a template made from strings, in which a string is looked for by its letters and digits.

use std::ops::Range;

use crate::error::Result;
use crate::meter::Meter;

/// Stretches of the prompt, joined.
#[derive(Default)]
pub(super) struct Joined {
    pub made: Vec<Range<usize>>,
    pub text: String,
    plain: String,
    /// The letters and digits of the text, without its escapes and with them.
    letters: [String; 2],
    /// The byte after the last string that was found in each of the letters.
    next: [usize; 2],
}

/// Returns the letters and digits of a string, in lower case.
fn letters_of(text: &str) -> String {
    let letters = text.chars().filter(|character| character.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

impl Joined {
    pub fn new(prompt: &str, made: Vec<Range<usize>>, meter: &mut Meter<'_>) -> Result<Self> {
        let text: String = made.iter().filter_map(|bytes| prompt.get(bytes.clone())).collect();
        meter.charge_bytes(text.len().saturating_mul(4))?;
        let plain = unescape(&text);
        Ok(Self {
            letters: [letters_of(&plain), letters_of(&text)],
            made,
            text,
            plain,
            next: [0; 2],
        })
    }

    /// Returns whether the stretches have the letters and digits of a string. The search begins after the last string that was found.
    pub fn find(&mut self, text: &str, meter: &mut Meter<'_>) -> Result<bool> {
        let wanted = letters_of(text);
        meter.charge_bytes(text.len())?;
        if wanted.is_empty() {
            meter.charge_scan(self.text.len())?;
            return Ok([&self.text, &self.plain]
                .into_iter()
                .any(|joined| joined.contains(text.trim())));
        }
        for (letters, next) in self.letters.iter().zip(&mut self.next) {
            let after = letters
                .get(*next..)
                .and_then(|rest| rest.find(&wanted))
                .map(|at| next.saturating_add(at));
            let found = match after {
                Some(found) => Some(found),
                None => {
                    meter.charge_scan(letters.len())?;
                    letters.find(&wanted)
                }
            };
            if let Some(found) = found {
                meter.charge_scan(found.saturating_sub(*next))?;
                *next = found.saturating_add(wanted.len());
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Replaces the escapes of JSON text.
fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        plain.push_str(rest.get(..at).unwrap_or_default());
        let after = rest.get(at.saturating_add(1)..).unwrap_or_default();
        let mut characters = after.chars();
        match characters.next() {
            Some('u') => {
                let digits = after.get(1..5).unwrap_or_default();
                let character = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
                plain.extend(character);
                rest = after.get(5..).unwrap_or_default();
                continue;
            }
            Some('n') => plain.push('\n'),
            Some('t') => plain.push('\t'),
            Some('r') => plain.push('\r'),
            Some(other) => plain.push(other),
            None => break,
        }
        rest = characters.as_str();
    }
    plain.push_str(rest);
    plain
}
