//! Messages that are merged into an earlier one.
//!
//! ```text
//! {"role": "user", "content": "a"}, {"role": "user", "content": "b", "x": 1}   ->   {"role": "user", "content": "a\n\nb", "x": 1}
//! ```

use std::borrow::Cow;
use std::collections::HashMap;

use super::content;
use super::message::Message;
use super::record::Recorder;
use crate::chat::REASONING_FIELDS;
use crate::error::Result;
use crate::json::{Data, Entry};

/// Merges messages into an earlier one: appends their contents, their reasoning and their calls, and adds their other keys. Each entry is
/// visited once, however many messages there are.
pub fn merge_all<'b>(earlier: &mut Message<'b>, later: Vec<Message<'b>>, changes: &mut Recorder<'_>) -> Result<()> {
    if later.is_empty() {
        return Ok(());
    }
    let mut merged = Merged::default();
    for (key, value) in earlier.take_entries(changes)? {
        merged.set(key, value);
    }
    for mut message in later {
        let content = message.take("content", changes)?;
        changes.claim(match &content {
            Data::Str(text) => text.len(),
            _ => 0,
        })?;
        let joined = content::join(merged.take("content"), content);
        merged.set("content".into(), joined);
        for (key, value) in message.take_entries(changes)? {
            match (key.as_ref(), value) {
                ("tool_calls", Data::List(more)) => {
                    let mut calls = match merged.take("tool_calls") {
                        Data::List(calls) => calls,
                        _ => Vec::new(),
                    };
                    calls.extend(more);
                    merged.set(key, Data::List(calls));
                }
                (name, value) if REASONING_FIELDS.contains(&name) => {
                    let joined = content::join(merged.take(&key), value);
                    merged.set(key, joined);
                }
                (_, value) if !merged.has(&key) => merged.set(key, value),
                _ => {}
            }
        }
    }
    earlier.set_entries(merged.entries.into_iter().flatten().collect());
    Ok(())
}

/// The entries of messages that are being merged.
#[derive(Default)]
struct Merged<'b> {
    /// The entries in their order, without those that were taken.
    entries: Vec<Option<Entry<'b>>>,
    places: HashMap<Cow<'b, str>, usize>,
}

impl<'b> Merged<'b> {
    /// Returns whether a key has a value other than null.
    fn has(&self, key: &str) -> bool {
        let entry = self.places.get(key).and_then(|place| self.entries.get(*place)?.as_ref());
        entry.is_some_and(|(_, value)| *value != Data::None)
    }

    /// Sets the value of a key. A key that is there keeps its place.
    fn set(&mut self, key: Cow<'b, str>, value: Data<'b>) {
        let last = self.entries.len();
        let place = *self.places.entry(key.clone()).or_insert(last);
        match self.entries.get_mut(place) {
            Some(entry) => *entry = Some((key, value)),
            None => self.entries.push(Some((key, value))),
        }
    }

    /// Removes a key and returns its value. A key that is absent is null.
    fn take(&mut self, key: &str) -> Data<'b> {
        let place = self.places.remove(key);
        let entry = place.and_then(|place| self.entries.get_mut(place)?.take());
        entry.map_or(Data::None, |(_, value)| value)
    }
}
