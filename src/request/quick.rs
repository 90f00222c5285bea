//! Judges a prompt without a trace, unless there is doubt.
//!
//! A string that a template prints unchanged was copied from its place in memory, so its address shows whether the prompt has it. Where
//! strings were printed in part, changed or in another order, [`judge`](super::judge) decides by a trace.

use std::cell::Cell;

use super::judge::{Faults, find_late, letters_of, list_unknown_roles};
use super::normal::Role;
use super::operators::are_unsorted;
use super::plan::kind;
use super::prepared::Request;
use super::write::{Atom, Spoken, Written};
use crate::chat::Prompt;
use crate::error::Result;
use crate::json::Data;
use crate::meter::Meter;
use crate::trace::Copied;

/// The maximum number of copies of one string, and of strings that are looked for in what was made.
const MANY: usize = 64;

/// The largest number of copies that are looked at for a string. Many short copies can be parts of one long copy.
const MOST_VISITED: usize = 1024;

/// The number of copies in which a string is looked for before all are searched.
const NEAR: usize = 6;

/// Returns the strings that a prompt does not have, or `None` if that is doubtful.
///
/// # Errors
/// If a limit of the meter is reached.
pub fn judge(request: &Request<'_>, prompt: &Prompt, written: &Written<'_>, meter: &mut Meter<'_>) -> Result<Option<Faults>> {
    meter.charge_items(prompt.copies.list.len())?;
    meter.charge_items(written.atoms.len())?;
    let copies = Sorted::new(&prompt.copies.list);
    let has_disorder = are_unsorted(written.spoken.iter().map(|spoken| spoken.call));
    let prints_medium = || written.media.iter().any(|medium| copies.touches(medium.node));
    if has_disorder || prints_medium() || prints_unknown_role(request, written, &copies, meter)? {
        return Ok(None);
    }
    let text = prompt.text.as_str();
    let header = if request.has_prompt {
        find_header(text, &prompt.copies.list)
    } else {
        ""
    };
    let mut made: Option<String> = None;
    let mut searches = 0;
    let mut faults = Faults::new();
    let (mut last, mut end, mut answer) = (0, 0, "");
    let mut message = usize::MAX;
    let mut said = Vec::new();
    for atom in written.atoms.iter().filter(|atom| atom.kind != kind::MEDIUM) {
        let start = match copies.find(atom) {
            Found::At(start) if is_plain(atom, text, start) => start,
            Found::Without(lost) => {
                if !prompt.copies.made.is_empty() {
                    let made = match &made {
                        Some(made) => made,
                        None => made.insert(letters_of_made(prompt, meter)?),
                    };
                    searches += 1;
                    meter.charge_scan(made.len())?;
                    let lost = letters_of(lost);
                    if lost.is_empty() || searches > MANY || made.contains(&lost) {
                        return Ok(None);
                    }
                }
                faults.push((atom.kind, atom.place));
                continue;
            }
            Found::At(_) | Found::Doubtful => return Ok(None),
        };
        if atom.kind & (kind::CALLER | kind::RESULT) != 0 {
            said.push((atom.kind, start, atom.place));
        }
        if atom.kind & (kind::CONTENT & !kind::RESULT) != 0 && atom.message != message {
            if start < last {
                return Ok(None);
            }
            (last, message) = (start, atom.message);
        }
        if atom.kind & kind::CONTENT != 0 {
            let before = text.get(end..start).unwrap_or_default().trim();
            let spoken = written.spoken.get(atom.message);
            let is_answer = spoken.is_some_and(|spoken| spoken.role == Role::Assistant);
            if is_answer {
                answer = before;
            } else if !is_answer && !before.is_empty() && (before == answer || !header.is_empty() && before.ends_with(header)) {
                return Ok(None);
            }
        }
        end = end.max(start + atom.range.len());
    }
    find_late(&said, &mut faults);
    faults.extend(&written.given_up);
    faults.dedup();
    Ok(Some(faults))
}

/// Returns the letters and digits of what was made and not copied.
fn letters_of_made(prompt: &Prompt, meter: &mut Meter<'_>) -> Result<String> {
    let made = prompt.copies.made.iter().filter_map(|bytes| prompt.text.get(bytes.clone()));
    let made: String = made.map(letters_of).collect();
    meter.charge_bytes(made.len())?;
    Ok(made)
}

/// Returns whether a role was copied that is no word of the template.
fn prints_unknown_role(request: &Request<'_>, written: &Written<'_>, copies: &Sorted<'_>, meter: &mut Meter<'_>) -> Result<bool> {
    let unknown = list_unknown_roles(request, written, meter)?;
    let is_printed = |spoken: &Spoken| unknown.contains(&spoken.role) && copies.has_start(spoken.role_address);
    Ok(!unknown.is_empty() && written.spoken.iter().any(is_printed))
}

/// Returns the last line after all copies: the header of the next answer.
fn find_header<'p>(text: &'p str, copies: &[Copied]) -> &'p str {
    let ends = copies.iter().map(|copied| copied.at + copied.memory.len());
    let tail = text.get(ends.max().unwrap_or_default()..).unwrap_or_default();
    tail.trim().lines().next_back().unwrap_or_default()
}

enum Found<'a> {
    /// The string was copied: its first byte in the prompt.
    At(usize),
    /// The string, or this part of it, was not copied.
    Without(&'a str),
    Doubtful,
}

/// The copies by their addresses.
struct Sorted<'p> {
    /// The copies in the order of the prompt.
    copies: &'p [Copied],
    /// The index of the last copy that was found.
    next: Cell<usize>,
    list: Vec<&'p Copied>,
    /// For each copy of the list, the highest end of it and those before it.
    ends: Vec<usize>,
}

impl<'p> Sorted<'p> {
    fn new(copies: &'p [Copied]) -> Self {
        let mut list: Vec<&Copied> = copies.iter().collect();
        list.sort_unstable_by_key(|copied| copied.memory.start);
        let ends = list.iter().scan(0, |end, copied| {
            *end = copied.memory.end.max(*end);
            Some(*end)
        });
        let ends = ends.collect();
        Self {
            copies,
            next: Cell::new(0),
            list,
            ends,
        }
    }

    /// Returns whether a copy begins at an address.
    fn has_start(&self, address: usize) -> bool {
        let first = self.list.partition_point(|copied| copied.memory.start < address);
        self.list.get(first).is_some_and(|copied| copied.memory.start == address)
    }

    /// Returns whether a string of a part was copied, but for its type.
    fn touches(&self, part: &Data<'_>) -> bool {
        let is_copied = |text: &str| {
            let memory = text.as_bytes().as_ptr_range();
            let after = self.list.partition_point(|copied| copied.memory.start < memory.end.addr());
            let highest = after.checked_sub(1).and_then(|last| self.ends.get(last));
            highest.is_some_and(|end| *end > memory.start.addr())
        };
        part.text().is_some_and(is_copied)
            || part.items().any(|item| self.touches(item))
            || part.entries().any(|(key, value)| key != "type" && self.touches(value))
    }

    /// Finds a string, but for white space around it.
    fn find<'a>(&self, atom: &'a Atom<'_>) -> Found<'a> {
        let (start, end) = (atom.memory.start, atom.memory.end);
        if start == end {
            return Found::Doubtful;
        }
        let text: &str = &atom.text;
        let from = start + (text.len() - text.trim_start().len());
        let to = end - (text.len() - text.trim_end().len());
        let covers = |copied: &Copied| copied.memory.start <= from && copied.memory.end >= to;
        // Most strings are printed in the order of the request.
        let next = self.next.get();
        let near = self.copies.get(next..).unwrap_or_default().iter().take(NEAR);
        if let Some((index, copied)) = near.enumerate().find(|(_, copied)| covers(copied)) {
            self.next.set(next + index);
            return Found::At(copied.at + (from - copied.memory.start));
        }
        let after = self.list.partition_point(|copied| copied.memory.start < end);
        let before = self
            .list
            .get(..after)
            .unwrap_or_default()
            .iter()
            .zip(self.ends.get(..after).unwrap_or_default())
            .rev();
        let mut hits: Vec<&Copied> = Vec::new();
        // A copy can begin before the string, if the string is a part of a longer one.
        for (visited, (copied, _)) in before.take_while(|(_, highest)| **highest > start).enumerate() {
            if visited > MOST_VISITED {
                return Found::Doubtful;
            }
            if covers(copied) {
                return Found::At(copied.at + (from - copied.memory.start));
            }
            if copied.memory.end > start {
                hits.push(copied);
            }
            if hits.len() > MANY {
                return Found::Doubtful;
            }
        }
        if hits.is_empty() {
            return Found::Without(text);
        }
        let is_json = atom.kind == kind::CALL && !atom.is_key && text.starts_with('{');
        let most = (text.len() / 6 + text.matches('\n').count()).max(3);
        if is_json || hits.len() > most {
            return Found::Doubtful;
        }
        match find_gap(&hits, text, start) {
            Some(gap) => Found::Without(gap),
            None => hits.last().map_or(Found::Doubtful, |first| Found::At(first.at)),
        }
    }
}

/// Returns the first part of a string that has a letter or digit and was not copied. `hits` are the copies, from the last to the first.
fn find_gap<'a>(hits: &[&Copied], text: &'a str, start: usize) -> Option<&'a str> {
    let mut end = start;
    let copied = hits.iter().rev().map(|copied| (copied.memory.start, copied.memory.end));
    for (from, to) in copied.chain([(start + text.len(), start + text.len())]) {
        let between = text
            .get(end.saturating_sub(start)..from.saturating_sub(start))
            .unwrap_or_default();
        if between.contains(char::is_alphanumeric) {
            return Some(between);
        }
        end = end.max(to);
    }
    None
}

/// Returns whether the characters before a string are not those of a printed dict or JSON value.
fn is_plain(atom: &Atom<'_>, text: &str, start: usize) -> bool {
    let before = text.get(..start).unwrap_or_default();
    match atom.kind {
        kind::CALL if atom.is_key => !before.ends_with('\''),
        kind::CALL => !(before.ends_with('{') && atom.text.starts_with('{') || before.ends_with('\\')),
        kind if kind & kind::CONTENT != 0 => {
            let before = before.trim_end_matches(['\'', '"']).trim_end();
            !(before.ends_with("text':") || before.ends_with("text\":"))
        }
        _ => true,
    }
}
