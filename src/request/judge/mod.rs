//! Finds out whether a prompt has each string of a request. The address of a string decides, never its words: a string that was printed
//! was copied from its place in memory, or something was made from it.
//!
//! A render can keep the addresses of copies only. Then a string whose words are in what was made is doubtful, and there is no judgement.

mod ends;
mod joined;

pub use ends::{find_end, list_strings};

use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use foldhash::fast::RandomState;
use joined::Joined;

use super::normal::Role;
use super::places::BodyPlace;
use super::plan::{Kinds, kind};
use super::prepared::Request;
use super::read::is_opaque;
use super::write::{Atom, AtomForm, Written};
use super::{is_quote, neighbors};
use crate::chat::Prompt;
use crate::error::Result;
use crate::json::Data;
use crate::meter::Meter;
use crate::trace::{Copied, Copies, From};

/// What a prompt lacks or garbles, each with its place in the body.
pub type Faults = Vec<(Kinds, BodyPlace)>;

/// The number of copies, from the one that was found last, that are tried for a string before all are searched.
const NEAR: usize = 6;

/// Returns the faults of a prompt, or `None` if only the sources of what was made can tell.
///
/// # Errors
/// If a limit of the meter is reached.
pub fn judge(request: &Request<'_>, prompt: &Prompt, written: &Written<'_>, meter: &mut Meter<'_>) -> Result<Option<Faults>> {
    meter.charge_items(prompt.copies.list.len())?;
    let mut tape = Tape::new(prompt);
    let mut faults = Faults::new();
    tape.find_printed_parts(written, &mut faults, meter)?;
    let unknown = list_unknown_roles(request, written, meter)?;
    let is_echoed = |message| tape.is_copied(&addresses(written.text_of(message, "role")));
    let echoes = written
        .spoken
        .iter()
        .enumerate()
        .filter(|(_, spoken)| unknown.contains(&spoken.role));
    let echoes = echoes.filter(|(message, _)| is_echoed(*message));
    faults.extend(echoes.map(|(_, spoken)| (kind::ECHO, spoken.place)));
    let mut said = Vec::with_capacity(written.atoms.len());
    for atom in &written.atoms {
        meter.charge(4)?;
        // One lost string of a tool is enough for its change.
        if atom.kind == kind::TOOL && faults.last() == Some(&(atom.kind, atom.place)) {
            continue;
        }
        match tape.find(atom, meter)? {
            Found::At(start, fault) => {
                faults.extend(fault.map(|fault| (fault, atom.place)));
                said.push((atom, start));
            }
            Found::Nowhere if faults.last() == Some(&(atom.kind, atom.place)) => {}
            Found::Nowhere if tape.is_name_of_result(atom, written, meter)? => {}
            Found::Nowhere => faults.push((atom.kind, atom.place)),
            Found::Doubtful => return Ok(None),
        }
    }
    find_disordered(&said, written, &mut faults);
    find_late(&said, &mut faults);
    find_disorder(&tape, written, &mut faults);
    if tape.copies.sources.is_some() {
        tape.find_speakers(written, request.has_prompt, &mut faults);
    } else if !tape.tells_speakers_apart(&said, written, request.has_prompt) {
        return Ok(None);
    }
    let mut seen = HashSet::with_capacity_and_hasher(faults.len(), RandomState::default());
    faults.retain(|fault| seen.insert(*fault));
    Ok(Some(faults))
}

enum Found {
    /// The first byte of a string in the prompt, and how it is garbled.
    At(usize, Option<Kinds>),
    Nowhere,
    /// The string may be in what was made.
    Doubtful,
}

/// What a prompt was copied and made from.
struct Tape<'p> {
    text: &'p str,
    copies: &'p Copies,
    /// The index of the copy that was found last.
    last_found: Cell<usize>,
    sorted: OnceCell<Sorted<'p>>,
    /// The stretches that were made, in the order of the prompt.
    made: Vec<Range<usize>>,
    /// The indices of those that were made from a value of the input, by the index of the value.
    made_from: HashMap<u32, Vec<usize>, RandomState>,
    /// The stretches in which the last changed string was looked for.
    last: Joined,
}

/// The copies by their addresses.
struct Sorted<'p> {
    list: Vec<(Range<usize>, &'p Copied)>,
    /// For each copy of the list, the highest end of it and those before it.
    ends: Vec<usize>,
}

impl<'p> Tape<'p> {
    fn new(prompt: &'p Prompt) -> Self {
        let mut tape = Self {
            text: &prompt.text,
            copies: &prompt.copies,
            last_found: Cell::new(0),
            sorted: OnceCell::new(),
            made: Vec::new(),
            made_from: HashMap::default(),
            last: Joined::default(),
        };
        let sources = prompt.copies.sources.as_ref();
        for piece in &prompt.copies.list {
            match piece.from {
                From::Set(set) => {
                    for value in sources.map_or(&[] as &[u32], |sources| sources.set(set)) {
                        tape.made_from.entry(*value).or_default().push(tape.made.len());
                    }
                    tape.made.push(piece.at..piece.end);
                }
                From::Made if sources.is_none() => tape.made.push(piece.at..piece.end),
                From::Made | From::Memory(_) | From::Template => {}
            }
        }
        tape
    }

    fn sorted(&self) -> &Sorted<'p> {
        self.sorted.get_or_init(|| {
            let mut list = Vec::with_capacity(self.copies.list.len());
            let copied = self.copies.list.iter();
            list.extend(copied.filter_map(|copied| Some((copied.memory()?, copied))));
            list.sort_unstable_by_key(|(memory, _)| memory.start);
            let ends = list.iter().scan(0, |end, (memory, _)| {
                *end = memory.end.max(*end);
                Some(*end)
            });
            let ends = ends.collect();
            Sorted { list, ends }
        })
    }

    /// Returns the copies of bytes at these addresses, in the order of the addresses. A copy can begin before the string, if the string is a
    /// part of a longer one.
    fn hits(&self, memory: &Range<usize>, meter: &mut Meter<'_>) -> Result<Vec<&(Range<usize>, &'p Copied)>> {
        let Sorted { list, ends } = self.sorted();
        let after = list.partition_point(|(other, _)| other.start < memory.end);
        let before = list.get(..after).unwrap_or_default().iter();
        let before = before.zip(ends.get(..after).unwrap_or_default()).rev();
        let mut hits = Vec::new();
        for (hit, _) in before.take_while(|(_, highest)| **highest > memory.start) {
            meter.charge(1)?;
            hits.extend((hit.0.end > memory.start).then_some(hit));
        }
        hits.reverse();
        Ok(hits)
    }

    /// Returns whether a byte at these addresses was copied.
    fn is_copied(&self, memory: &Range<usize>) -> bool {
        let Sorted { list, ends } = self.sorted();
        let after = list.partition_point(|(other, _)| other.start < memory.end);
        let highest = after.checked_sub(1).and_then(|last| ends.get(last));
        highest.is_some_and(|end| *end > memory.start)
    }

    /// Returns the index of the value of a string or a key at an address.
    fn value_at(&self, address: usize) -> Option<u32> {
        self.copies.sources.as_ref()?.find(address)
    }

    /// Returns the indices of the stretches that were made from a string or from a container that has it.
    fn made_of(&self, address: usize) -> Vec<usize> {
        let around = self.value_at(address).into_iter();
        let around = around.flat_map(|value| self.copies.sources.iter().flat_map(move |sources| sources.around(value)));
        let mut made: Vec<usize> = around
            .filter_map(|value| self.made_from.get(&value))
            .flatten()
            .copied()
            .collect();
        made.sort_unstable();
        made.dedup();
        made
    }

    /// Returns whether something was made from a string.
    fn is_made(&self, text: &str) -> bool {
        let value = self.value_at(addresses(text).start);
        value.is_some_and(|value| self.made_from.contains_key(&value))
    }

    /// Adds the contents whose parts were printed as a dict is, and the media whose data was printed.
    fn find_printed_parts(&self, written: &Written<'_>, faults: &mut Faults, meter: &mut Meter<'_>) -> Result<()> {
        for (index, spoken) in written.spoken.iter().enumerate() {
            let Some(parts) = written.parts_of(index) else { continue };
            meter.charge_items(parts.len())?;
            let mut entries = parts.iter().flat_map(Data::entries);
            let first = entries.clone().next();
            let is_printed = entries.any(|(key, value)| match key {
                "type" => self.is_copied(&addresses(key)) || value.text().is_some_and(|text| self.is_made(text)),
                "text" => self.is_copied(&addresses(key)),
                _ => false,
            });
            let is_content_made = || {
                let sources = self.copies.sources.as_ref()?;
                let part = sources.parent(sources.find(addresses(first?.0).start)?);
                self.made_from.get(&sources.parent(part))
            };
            if is_printed || is_content_made().is_some() {
                faults.push((kind::REPR, spoken.place));
            }
        }
        for medium in &written.media {
            let part = written.parts_of(medium.message).and_then(|parts| parts.get(medium.part));
            faults.extend(part.filter(|part| self.prints(part)).map(|_| (kind::LEAK, medium.place)));
        }
        Ok(())
    }

    /// Returns whether a key or a string of a part was printed, but for what is no content.
    fn prints(&self, part: &Data<'_>) -> bool {
        let is_printed = |text: &str| !text.is_empty() && (self.is_copied(&addresses(text)) || self.is_made(text));
        part.text().is_some_and(is_printed)
            || part.items().any(|item| self.prints(item))
            || part
                .entries()
                .any(|(key, value)| self.is_copied(&addresses(key)) || !is_opaque(key) && self.prints(value))
    }

    /// Finds a string, but for white space around it.
    fn find(&mut self, atom: &Atom<'_>, meter: &mut Meter<'_>) -> Result<Found> {
        if self.made.is_empty() && self.sorted.get().is_some() && !self.is_copied(&atom.memory) {
            return Ok(Found::Nowhere);
        }
        let (text, inner): (&str, _) = (&atom.text, atom.inner());
        // Most strings are printed in the order of the request.
        let near = self.copies.list.iter().enumerate().skip(self.last_found.get()).take(NEAR);
        let mut near = near.filter_map(|(index, copied)| Some((index, copied, copied.memory()?)));
        if let Some((index, copied, memory)) = near.find(|(.., memory)| memory.start <= inner.start && memory.end >= inner.end) {
            self.last_found.set(index);
            let start = copied.at + (inner.start - memory.start);
            return Ok(Found::At(start, self.find_garbling(atom, start, Some(index))));
        }
        let hits = self.hits(&atom.memory, meter)?;
        let is_call = atom.kind == kind::CALL;
        let Some(gap) = find_gap(atom, &hits) else {
            let first = hits.iter().min_by_key(|(_, copied)| copied.at);
            let first = first.map_or(0, |(memory, copied)| copied.at + inner.start.saturating_sub(memory.start));
            let most = (text.len() / 6 + text.matches('\n').count() + 1).max(3);
            let is_encoded = |pair: &[&(Range<usize>, &Copied)]| match pair {
                [(_, before), (_, after)] => self.text.get(before.end..after.at) == Some("\\\""),
                _ => false,
            };
            let fault = if atom.form == AtomForm::Json && hits.windows(2).any(is_encoded) {
                Some(kind::DOUBLE)
            } else if hits.len() > most {
                Some(if is_call { kind::DOUBLE } else { kind::REPR })
            } else {
                self.find_garbling(atom, first, None)
            };
            return Ok(Found::At(first, fault));
        };
        if self.made.is_empty() {
            return Ok(Found::Nowhere);
        }
        if self.copies.sources.is_none() {
            if self.last.made.is_empty() {
                self.last = Joined::new(self.text, self.made.clone(), meter)?;
            }
            let may_be_there = self.last.find(gap, meter)?;
            return Ok(if may_be_there { Found::Doubtful } else { Found::Nowhere });
        }
        let own = self.made_of(atom.memory.start);
        meter.charge_items(own.len())?;
        let own = own.iter().filter_map(|made| self.made.get(*made)).cloned();
        let mut ranges: Vec<Range<usize>> = hits.iter().map(|(_, copied)| copied.at..copied.end).chain(own).collect();
        ranges.sort_unstable_by_key(|bytes| bytes.start);
        let Some(start) = ranges.first().map(|bytes| bytes.start) else {
            return Ok(Found::Nowhere);
        };
        if ranges != self.last.made {
            self.last = Joined::new(self.text, ranges, meter)?;
        }
        if !self.last.find(text, meter)? {
            return Ok(Found::Nowhere);
        }
        let is_double = is_call && self.last.text.contains("\\\"");
        Ok(Found::At(start, is_double.then_some(kind::DOUBLE)))
    }

    /// Returns how a string of a call that was copied is garbled: JSON text directly after a brace, as if it were a part of an object, or
    /// the key of a printed dict.
    fn find_garbling(&self, atom: &Atom<'_>, start: usize, index: Option<usize>) -> Option<Kinds> {
        let before = self.text.get(..start).unwrap_or_default();
        let ends_made = || {
            let copied = self.copy_before(start, index);
            before.ends_with('\'') && copied.is_some_and(|copied| matches!(copied.from, From::Made))
        };
        match atom.form {
            _ if atom.kind != kind::CALL => None,
            AtomForm::Argument if ends_made() => Some(kind::REPR),
            AtomForm::Json if before.ends_with('{') && atom.text.starts_with('{') => Some(kind::DOUBLE),
            _ => None,
        }
    }

    /// Returns the copy that ends at the byte `start`, if there is one. `index` is that of the copy that begins there; without it, it is searched
    /// for.
    fn copy_before(&self, start: usize, index: Option<usize>) -> Option<&Copied> {
        let list = &self.copies.list;
        let index = index.unwrap_or_else(|| list.partition_point(|copied| copied.at < start));
        list.get(index.checked_sub(1)?).filter(|copied| copied.end == start)
    }

    /// Returns whether a string is the name of a call that is printed in a result. A result has the name of its call, which a template may
    /// print only there.
    fn is_name_of_result(&self, atom: &Atom<'_>, written: &Written<'_>, meter: &mut Meter<'_>) -> Result<bool> {
        if atom.form != AtomForm::Name {
            return Ok(false);
        }
        meter.charge_items(written.spoken.len())?;
        let results = written.spoken.iter().enumerate().filter(|(_, spoken)| spoken.call.is_some());
        let mut names = results.map(|(message, _)| written.text_of(message, "name"));
        Ok(names.any(|name| *name == *atom.text && self.is_copied(&addresses(name))))
    }

    /// Adds the messages of other roles that are printed with the header of the assistant.
    fn find_speakers(&self, written: &Written<'_>, has_prompt: bool, faults: &mut Faults) {
        let mut turns: BTreeMap<usize, (String, bool)> = BTreeMap::new();
        let mut end = 0;
        let sources = self.copies.sources.as_ref();
        for piece in &self.copies.list {
            let Some(message) = piece.message() else { continue };
            end = end.max(piece.end);
            if written.spoken.get(message).is_none() {
                continue;
            }
            let (header, has_content) = turns.entry(message).or_default();
            let is_role = |value: &u32| self.value_at(addresses(written.text_of(message, "role")).start) == Some(*value);
            *has_content |= match piece.from {
                From::Memory(address) => self.value_at(address).is_some_and(|value| !is_role(&value)),
                From::Set(set) => sources.is_some_and(|sources| !sources.set(set).iter().all(is_role)),
                From::Made | From::Template => false,
            };
            if !*has_content {
                header.push_str(self.text.get(piece.at..piece.end).unwrap_or_default());
            }
        }
        let turns = turns.iter().filter(|(_, (_, has_content))| *has_content);
        let turns = turns.filter_map(|(message, (header, _))| Some((written.spoken.get(*message)?, header.trim())));
        let (answers, others): (Vec<_>, Vec<_>) = turns.partition(|(spoken, _)| spoken.role == Role::Assistant);
        let tail = self.text.get(end..).unwrap_or_default().trim();
        let mut known: HashSet<&str> = answers.into_iter().map(|(_, header)| header).collect();
        known.extend(has_prompt.then_some(tail));
        let others = others
            .into_iter()
            .filter(|(_, header)| !header.is_empty() && known.contains(header));
        faults.extend(others.map(|(spoken, _)| (kind::SPEAKER, spoken.place)));
    }

    /// Returns whether what is before the contents of others is not what is before an answer.
    fn tells_speakers_apart(&self, said: &[(&Atom<'_>, usize)], written: &Written<'_>, has_prompt: bool) -> bool {
        let copied = self.copies.list.iter().filter(|copied| copied.memory().is_some());
        let end = copied.map(|copied| copied.end).max().unwrap_or_default();
        let tail = self.text.get(end..).unwrap_or_default();
        let header = tail.trim().lines().next_back().filter(|_| has_prompt).unwrap_or_default();
        let (mut end, mut answer) = (0, "");
        said.iter().all(|(atom, start)| {
            let before = self.text.get(end..*start).unwrap_or_default().trim();
            end = end.max(start + atom.text.len());
            let spoken = written.spoken.get(atom.message);
            let is_answer = spoken.is_some_and(|spoken| spoken.role == Role::Assistant);
            if atom.kind & kind::CONTENT == 0 || before.is_empty() {
                return true;
            }
            if is_answer {
                answer = before;
            }
            is_answer || before != answer && (header.is_empty() || !before.ends_with(header))
        })
    }
}

/// Returns the addresses of a string.
pub fn addresses(text: &str) -> Range<usize> {
    let bytes = text.as_bytes().as_ptr_range();
    bytes.start.addr()..bytes.end.addr()
}

/// Returns the first part of a string that has a letter or digit and was not copied. `hits` are the copies in the order of their addresses.
fn find_gap<'a>(atom: &'a Atom<'_>, hits: &[&(Range<usize>, &Copied)]) -> Option<&'a str> {
    let mut end = atom.memory.start;
    let after = atom.memory.end..atom.memory.end;
    for memory in hits.iter().map(|(memory, _)| memory).chain([&after]) {
        let gap = end.saturating_sub(atom.memory.start)..memory.start.saturating_sub(atom.memory.start);
        let gap = atom.text.get(gap).unwrap_or_default();
        if gap.contains(char::is_alphanumeric) || hits.is_empty() {
            return Some(gap);
        }
        end = end.max(memory.end);
    }
    None
}

/// Adds the messages whose contents begin before those of earlier messages. The list has strings with their first bytes.
fn find_disordered(said: &[(&Atom<'_>, usize)], written: &Written<'_>, faults: &mut Faults) {
    let (mut last, mut message) = (0, None);
    let contents = said
        .iter()
        .filter(|(atom, _)| atom.kind & (kind::CONTENT & !kind::RESULT) != 0);
    for (atom, start) in contents {
        if message.replace(atom.message) != Some(atom.message) {
            let place = written.spoken.get(atom.message).map(|spoken| spoken.place);
            faults.extend(place.filter(|_| *start < last).map(|place| (kind::ORDER, place)));
            last = last.max(*start);
        }
    }
}

/// Adds the contents of calling messages that are printed after the result of a later message. `said` has each printed string with the index
/// of its first byte.
fn find_late(said: &[(&Atom<'_>, usize)], faults: &mut Faults) {
    let mut first = usize::MAX;
    for (atom, start) in said.iter().rev() {
        match atom.kind {
            kind::RESULT => first = first.min(*start),
            kind::CALLER if *start > first => faults.push((kind::LATE, atom.place)),
            _ => {}
        }
    }
}

/// Adds the results that are in another order than their calls, unless their identifiers are printed.
fn find_disorder(tape: &Tape<'_>, written: &Written<'_>, faults: &mut Faults) {
    let next = written.spoken.iter().enumerate().skip(1);
    for (spoken, (index, next)) in written.spoken.iter().zip(next) {
        let is_earlier = next.call.is_some() && next.call < spoken.call;
        if is_earlier && !tape.is_copied(&addresses(written.text_of(index, "tool_call_id"))) {
            faults.push((kind::ORDER, next.place));
        }
    }
}

/// Returns the roles of a request that are no words of the template.
fn list_unknown_roles(request: &Request<'_>, written: &Written<'_>, meter: &mut Meter<'_>) -> Result<Vec<Role>> {
    let source = request.template.source().unwrap_or_default();
    let mut unknown = Vec::new();
    for role in [Role::Developer, Role::Tool] {
        meter.charge_items(written.spoken.len())?;
        if written.spoken.iter().any(|spoken| spoken.role == role) {
            meter.charge_scan(source.len())?;
            unknown.extend((!has_word(source, role.name())).then_some(role));
        }
    }
    Ok(unknown)
}

/// Returns whether a source has a word that is no part of a longer one.
fn has_word(source: &str, word: &str) -> bool {
    let is_letter = |character: char| character.is_alphanumeric() || character == '_';
    let is_apart = |character: Option<char>| !character.is_some_and(is_letter);
    neighbors(source, word).any(|(before, after)| is_quote(before) || is_apart(before) && is_apart(after))
}
