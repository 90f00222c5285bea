//! Finds where strings end in a prompt.

use std::collections::HashSet;
use std::ops::Range;

use super::{Tape, addresses};
use crate::chat::Prompt;
use crate::error::Result;
use crate::json::Data;
use crate::meter::Meter;

/// Returns the byte after the last of some strings in a prompt, or `None` if nothing was copied or made of them alone, without later ones.
/// The strings are addresses.
pub fn find_end(prompt: &Prompt, own: &[Range<usize>], later: &[Range<usize>], meter: &mut Meter<'_>) -> Result<Option<usize>> {
    meter.charge_items(prompt.copies.list.len().saturating_add(later.len()))?;
    let tape = Tape::new(prompt);
    let made_of = |strings: &[Range<usize>]| -> HashSet<usize> {
        let made = strings.iter().flat_map(|memory| tape.made_of(memory.start));
        made.collect()
    };
    let made = made_of(own);
    let shared = if made.is_empty() { HashSet::new() } else { made_of(later) };
    let made = made.difference(&shared).filter_map(|made| Some(tape.made.get(*made)?.end));
    let mut end = made.max();
    for string in own {
        let hits = tape.hits(string, meter)?;
        let hits = hits.iter().filter(|(memory, _)| memory.end >= string.end);
        let ends = hits.map(|(memory, copied)| copied.at + (string.end - memory.start));
        end = end.max(ends.min());
    }
    Ok(end)
}

/// Adds the addresses of the keys and strings of a value.
pub fn list_strings(value: &Data<'_>, strings: &mut Vec<Range<usize>>) {
    strings.extend(value.text().map(addresses));
    value.items().for_each(|item| list_strings(item, strings));
    for (key, item) in value.entries() {
        strings.push(addresses(key));
        list_strings(item, strings);
    }
}
