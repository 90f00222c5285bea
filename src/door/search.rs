//! Looks for texts in those parts of a prompt that are not known to be texts of the body: concatenations, JSON, the results of macros.
//!
//! ```text
//! "Rain & wind\nfrom the west"   is found in   {"description": "Rain &amp; wind from the west"}
//! ```
//!
//! A text is found if it is there verbatim without outer white space, or if its words are there, in their order and close to each other: a
//! template can encode, indent or parse a text. Texts are mostly in the order of the body, so a search begins where the last one ended.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::Result;
use crate::meter::Meter;
use crate::text::search::find_first;

/// The maximum number of bytes between two words of one text.
pub const GAP: usize = 128;

/// The maximum number of bytes between two texts of a message.
const NEAR: usize = 1024;

/// The largest number of places at which the words of a text are looked for.
const TRIES: usize = 8;

/// A search for texts in another text.
pub struct Search<'s> {
    text: Cow<'s, str>,
    /// The end of the last text that was found.
    at: usize,
    /// The number of bytes that searches for texts which are not near may still read.
    budget: usize,
}

impl<'s> Search<'s> {
    pub fn new(text: Cow<'s, str>) -> Self {
        let budget = text.len().saturating_mul(8).saturating_add(NEAR);
        Self { text, at: 0, budget }
    }

    /// Returns whether a text is found, and moves to its end.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn has(&mut self, text: &str, meter: &mut Meter<'_>) -> Result<bool> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(true);
        }
        meter.charge_scan(text.len())?;
        // All words of a text need as much room as they have bytes.
        let room = self.text.len();
        let words = text.chars().filter(|char| char.is_alphanumeric());
        let mut needed = words.scan(0_usize, |needed, char| {
            *needed = needed.saturating_add(char.len_utf8());
            Some(*needed)
        });
        if room < text.len() && needed.any(|needed| needed > room) {
            return Ok(false);
        }
        let near = self.near(text);
        let mut found = self.find(text, near.clone(), meter)?;
        if found.is_none() {
            found = self.find_words(text, near, meter)?.ok();
        }
        if found.is_none() {
            found = self.find_far(text, meter)?;
        }
        if found.is_none() {
            found = self.find_far_words(text, meter)?;
        }
        self.at = found.unwrap_or(self.at);
        Ok(found.is_some())
    }

    /// Returns whether the words of a string come soon after the last string that was found. If so, the search continues after them.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn has_words(&mut self, text: &str, meter: &mut Meter<'_>) -> Result<bool> {
        let found = self.find_words(text, self.near(text), meter)?.ok();
        self.at = found.unwrap_or(self.at);
        Ok(found.is_some())
    }

    /// Returns the range of the prompt in which a string most likely is: soon after the last string that was found.
    fn near(&self, text: &str) -> Range<usize> {
        self.at..self.at.saturating_add(text.len()).saturating_add(NEAR)
    }

    /// Returns the end of a text in a range.
    fn find(&self, text: &str, range: Range<usize>, meter: &mut Meter<'_>) -> Result<Option<usize>> {
        let start = range.start;
        let slice = self.slice(range);
        // In the worst case, a search reads a byte in the time of copying two.
        meter.charge_bytes(slice.len().saturating_mul(2))?;
        let at = find_first(slice, text);
        Ok(at.map(|at| start.saturating_add(at).saturating_add(text.len())))
    }

    /// Returns the end of a text anywhere, if the budget allows the search.
    fn find_far(&mut self, text: &str, meter: &mut Meter<'_>) -> Result<Option<usize>> {
        let Some(budget) = self.budget.checked_sub(self.text.len()) else {
            return Ok(None);
        };
        self.budget = budget;
        self.find(text, 0..self.text.len(), meter)
    }

    /// Returns the end of the words of a text anywhere, if the budget allows the search.
    fn find_far_words(&mut self, text: &str, meter: &mut Meter<'_>) -> Result<Option<usize>> {
        if self.budget == 0 {
            return Ok(None);
        }
        let found = self.find_words(text, 0..self.text.len(), meter)?;
        let (Ok(read) | Err(read)) = found;
        self.budget = self.budget.saturating_sub(read);
        Ok(found.ok())
    }

    /// Returns the end of the words of a text, if they are close to each other and the first is in a range. The inner error is the end of
    /// what was read.
    fn find_words(&self, text: &str, range: Range<usize>, meter: &mut Meter<'_>) -> Result<std::result::Result<usize, usize>> {
        let mut words = text
            .split(|char: char| !char.is_alphanumeric())
            .filter(|word| !word.is_empty());
        let Some(first) = words.next() else {
            return Ok(Err(range.start));
        };
        let mut start = range.start;
        for _ in 0..TRIES {
            let Some(mut end) = self.find(first, start..range.end, meter)? else {
                return Ok(Err(range.end));
            };
            start = end;
            let mut is_found = true;
            for word in words.clone() {
                meter.charge_scan(word.len())?;
                match self.find_word(word, end, meter)? {
                    Some(next) => end = next,
                    None => {
                        is_found = false;
                        break;
                    }
                }
            }
            if is_found {
                return Ok(Ok(end));
            }
        }
        Ok(Err(start))
    }

    /// Returns the end of a word that begins soon after a byte, or `None`. It usually is the next word.
    fn find_word(&self, word: &str, at: usize, meter: &mut Meter<'_>) -> Result<Option<usize>> {
        let rest = self.slice(at..at.saturating_add(word.len()).saturating_add(GAP));
        let next = rest.trim_start_matches(|char: char| !char.is_alphanumeric());
        let skipped = match next.starts_with(word) {
            true => Some(rest.len().saturating_sub(next.len())),
            false => {
                meter.charge_scan(rest.len())?;
                rest.find(word)
            }
        };
        Ok(skipped.map(|skipped| at.saturating_add(skipped).saturating_add(word.len())))
    }

    /// Returns the text of a range, whose end is moved forward to the end of a character.
    fn slice(&self, range: Range<usize>) -> &str {
        let end = (range.end..self.text.len()).find(|end| self.text.is_char_boundary(*end));
        self.text.get(range.start..end.unwrap_or(self.text.len())).unwrap_or_default()
    }
}
