//! Which strings of a row are in its prompt. The address of a string says so: it was copied from there, or something was made of it.

use std::ops::Range;

use chat_template::Prompt;
use chat_template::internal::{CopiedFrom, Copies, Sources};
use chat_template::json::Data;

/// What the prompt of a row was copied and made from.
pub struct Shown<'p> {
    /// The addresses of what was copied, sorted. Each end is the highest so far.
    copied: Vec<(usize, usize)>,
    /// The strings of the row, and which values something was made of, if the render kept them.
    sources: Option<(&'p Sources, Vec<bool>)>,
    /// Whether a part of the prompt was made of something that only the sources tell.
    has_made: bool,
    /// Whether each message owns a part of the prompt, if the render kept the sources.
    owners: Vec<bool>,
}

impl<'p> Shown<'p> {
    pub fn new(prompt: &'p Prompt) -> Self {
        let Copies { list, sources } = prompt.copies();
        let copied = list.iter().filter_map(|part| part.memory());
        let mut copied: Vec<_> = copied.map(|Range { start, end }| (start, end)).collect();
        copied.sort_unstable();
        let mut highest = 0;
        for (_, end) in &mut copied {
            highest = highest.max(*end);
            *end = highest;
        }
        let mut shown = Self {
            copied,
            sources: sources.as_deref().map(|sources| (sources, Vec::new())),
            has_made: list.iter().any(|part| part.from == CopiedFrom::Made),
            owners: Vec::new(),
        };
        if let Some((sources, made)) = &mut shown.sources {
            for part in list {
                if let CopiedFrom::Set(set) = part.from {
                    sources.set(set).iter().for_each(|value| mark(made, *value as usize));
                }
                if let Some(message) = part.message() {
                    mark(&mut shown.owners, message);
                }
            }
        }
        shown
    }

    /// Returns whether a message owns a part of the prompt. Returns `None` if only the sources can tell.
    pub fn has_message(&self, index: usize) -> Option<bool> {
        self.sources.as_ref()?;
        Some(self.owners.get(index).is_some_and(|owns| *owns))
    }

    /// Returns whether a part of a string is in the prompt. Returns `None` if only the sources can tell.
    pub fn has_text(&self, text: &str) -> Option<bool> {
        let start = text.as_ptr().addr();
        let after = self
            .copied
            .partition_point(|(other, _)| *other < start.wrapping_add(text.len()));
        let before = after.checked_sub(1).and_then(|before| self.copied.get(before));
        if before.is_some_and(|(_, end)| *end > start) {
            return Some(true);
        }
        let Some((sources, made)) = &self.sources else {
            return (!self.has_made).then_some(false);
        };
        let value = sources.find(start);
        let mut around = value.into_iter().flat_map(|value| sources.around(value));
        Some(around.any(|value| made.get(value as usize).is_some_and(|made| *made)))
    }

    /// Returns whether a string or a key of a value is in the prompt. Returns `None` if only the sources can tell.
    pub fn has_value(&self, value: &Data<'_>) -> Option<bool> {
        match value {
            Data::Str(text) if !text.is_empty() => self.has_text(text),
            Data::List(items) | Data::Tuple(items) => any(items.iter().map(|item| self.has_value(item))),
            Data::Object(object) => any(object
                .entries()
                .iter()
                .flat_map(|(key, value)| [self.has_value(value), self.has_text(key)])),
            _ => Some(false),
        }
    }
}

/// Returns whether one of the answers is true, or `None` if none is true and one is unknown.
fn any(answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut known = Some(false);
    for answer in answers {
        match answer {
            Some(true) => return answer,
            Some(false) => {}
            None => known = None,
        }
    }
    known
}

fn mark(marks: &mut Vec<bool>, index: usize) {
    if marks.len() <= index {
        marks.resize(index.saturating_add(1), false);
    }
    if let Some(place) = marks.get_mut(index) {
        *place = true;
    }
}
