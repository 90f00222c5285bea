//! Texts of a body that were not found in the next writes of the render. All writes together, or what the render made from texts, can still
//! have them.
//!
//! ```text
//! "One.\nTwo."   is covered by the writes   "One.", "Two."
//! ```

use std::ops::Range;

use super::node::memory_of;
use super::search::Search;
use crate::error::Result;
use crate::meter::Meter;
use crate::trace::Write;

/// A text or JSON that is not known to be in the prompt.
pub struct Sought {
    pub path: String,
    /// The JSON, of which the texts are keys and strings. The prompt can have it instead of the texts.
    pub json: Option<Text>,
    pub texts: Vec<Text>,
    /// The reason for the change, if the prompt does not have the texts.
    pub why: &'static str,
}

impl Sought {
    /// Removes the texts that were written. The parts are in the order of their addresses.
    pub fn remove_covered(&mut self, parts: &[Range<usize>]) {
        if self.json.as_ref().is_some_and(|json| json.is_covered(parts)) {
            self.texts.clear();
        }
        self.texts.retain(|text| !text.is_covered(parts));
    }

    /// Returns whether the texts are in `made`, which was made from texts of the body. A name can also be anywhere in `whole`, the prompt,
    /// because another place of the body can have it.
    pub fn is_in(&self, made: &mut Search<'_>, whole: &mut Search<'_>, meter: &mut Meter<'_>) -> Result<bool> {
        if let Some(Text { text: json, .. }) = &self.json {
            if made.has_words(json, meter)? || made.has(json, meter)? {
                return Ok(true);
            }
        }
        for Text { text, .. } in &self.texts {
            let is_name = self.json.is_none() && !text.contains(char::is_whitespace);
            let is_found = !text.is_empty() && (made.has(text, meter)? || is_name && whole.has(text, meter)?);
            if !is_found {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// A text of the body that is not known to be in the prompt.
pub struct Text {
    text: String,
    /// The addresses of the bytes of the text.
    memory: Range<usize>,
    /// The address of the string of which the text is a part.
    start: usize,
}

impl Text {
    pub fn new(text: &str, string: &str) -> Self {
        let text = text.trim();
        Self {
            text: text.to_owned(),
            memory: memory_of(text),
            start: memory_of(string).start,
        }
    }

    /// Returns whether parts of the text were written that together have all its words. The parts are in the order of their addresses.
    fn is_covered(&self, parts: &[Range<usize>]) -> bool {
        let first = parts.partition_point(|part| part.start < self.start);
        let parts = parts.get(first..).unwrap_or_default().iter();
        covers(
            &self.text,
            &self.memory,
            parts.take_while(|part| part.start < self.memory.end),
        )
    }
}

/// Returns whether parts of the memory of a text, in the order of their addresses, together have all its words.
pub fn covers<'p>(text: &str, memory: &Range<usize>, parts: impl Iterator<Item = &'p Range<usize>>) -> bool {
    let has_words = |gap: Range<usize>| {
        let gap = gap.start.saturating_sub(memory.start)..gap.end.saturating_sub(memory.start);
        text.get(gap).unwrap_or_default().contains(char::is_alphanumeric)
    };
    let mut reached = memory.start;
    for part in parts {
        if part.start > reached && has_words(reached..part.start) {
            return false;
        }
        reached = reached.max(part.end);
    }
    reached > memory.start && (reached >= memory.end || !has_words(reached..memory.end))
}

/// Returns the memory of the writes that can be parts of the texts that are sought, in the order of their addresses.
pub fn find_parts(sought: &[Sought], writes: &[Write]) -> Vec<Range<usize>> {
    let texts = sought.iter().flat_map(|sought| sought.texts.iter().chain(&sought.json));
    let mut sought: Vec<Range<usize>> = texts.map(|text| text.start..text.memory.end).collect();
    sought.sort_unstable_by_key(|memory| memory.start);
    let mut reached = 0;
    for memory in &mut sought {
        reached = memory.end.max(reached);
        memory.end = reached;
    }
    // The addresses between two texts. Writes that follow each other are mostly close to each other in memory.
    let mut gap = 0..sought.first().map_or(0, |memory| memory.start);
    let mut is_sought = |start: usize| {
        if gap.contains(&start) {
            return false;
        }
        let after = sought.partition_point(|memory| memory.start <= start);
        let before = after.checked_sub(1).and_then(|before| sought.get(before));
        let end = before.map_or(0, |memory| memory.end);
        if start >= end {
            gap = end..sought.get(after).map_or(usize::MAX, |memory| memory.start);
        }
        start < end
    };
    let parts = writes.iter().map(|write| &write.memory);
    let mut parts: Vec<Range<usize>> = parts.filter(|memory| is_sought(memory.start)).cloned().collect();
    parts.sort_unstable_by_key(|memory| memory.start);
    parts
}
