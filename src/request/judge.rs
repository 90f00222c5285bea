//! Finds out from the trace of a prompt whether it has each string of a request. The path of a string decides, never its words.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

use super::normal::Role;
use super::places::Place;
use super::plan::{Kinds, kind};
use super::prepared::Request;
use super::write::{Atom, Spoken, Written};
use crate::chat::Prompt;
use crate::error::Result;
use crate::meter::Meter;
use crate::trace::Origin;

/// What a prompt lacks or garbles, each with its place in the body.
pub type Faults = Vec<(Kinds, Place)>;

/// A stretch of the prompt that was copied from a string.
struct Stretch {
    at: Range<usize>,
    start: usize,
}

/// The segments of a prompt by their origins.
#[derive(Default)]
struct Tape<'p> {
    text: &'p str,
    /// The stretches that were copied from the string at a pointer.
    copied: HashMap<&'p str, Vec<Stretch>>,
    /// The first byte of the key of a value.
    keys: HashMap<&'p str, usize>,
    /// The pointers of the values whose keys are in the notation of Python.
    quoted: HashSet<&'p str>,
    /// The stretches that were made from strings, in the order of the prompt.
    made: Vec<Range<usize>>,
    /// The indices in `made` of those that were made from a string, or from strings in a container.
    made_from: HashMap<&'p str, Vec<usize>>,
    /// The pointers of the parts of contents from which something other than the type was printed.
    parts: HashSet<&'p str>,
    /// The text in which the last changed string was looked for.
    last: Joined,
    /// The names of results that were printed, if they were asked for.
    result_names: Option<HashSet<&'p str>>,
}

/// Stretches of the prompt, joined.
#[derive(Default)]
struct Joined {
    made: Vec<usize>,
    text: String,
    plain: String,
    /// The letters and digits of the text, without its escapes and with them.
    letters: [String; 2],
    /// The byte after the last string that was found in each of the letters.
    next: [usize; 2],
}

/// Returns the faults of a prompt.
///
/// # Errors
/// If a limit of the meter is reached.
pub fn judge(request: &Request<'_>, prompt: &Prompt, written: &Written<'_>, meter: &mut Meter<'_>) -> Result<Faults> {
    meter.charge_items(prompt.segments.len())?;
    let mut tape = Tape::new(prompt, !written.media.is_empty());
    let mut faults = Faults::new();
    let made_types = tape.made_from.keys().filter(|path| path.ends_with("/type"));
    for path in tape.keys.keys().chain(made_types) {
        if let Some(index) = key_of_part(path) {
            faults.push((kind::REPR, place_of(written, index)));
        }
    }
    for (index, _) in written.spoken.iter().enumerate().filter(|(_, spoken)| spoken.has_parts) {
        if tape.made_from.contains_key(format!("/messages/{index}/content").as_str()) {
            faults.push((kind::REPR, place_of(written, index)));
        }
    }
    // The map of keys has no order.
    faults.sort_unstable();
    let unknown = list_unknown_roles(request, written, meter)?;
    for (index, Spoken { role, .. }) in written.spoken.iter().enumerate() {
        if unknown.contains(role) && tape.copied.contains_key(format!("/messages/{index}/role").as_str()) {
            faults.push((kind::ECHO, place_of(written, index)));
        }
    }
    let mut firsts: BTreeMap<usize, usize> = BTreeMap::new();
    let mut said = Vec::new();
    for atom in &written.atoms {
        meter.charge(4)?;
        let places = if atom.kind == kind::DOCUMENT {
            &request.normal.places
        } else {
            &written.paths
        };
        let path = places.pointer(atom.path);
        if atom.kind == kind::MEDIUM {
            faults.extend(tape.parts.contains(path.as_str()).then_some((kind::LEAK, atom.place)));
            continue;
        }
        let Some((start, fault)) = tape.find(atom, &path, meter)? else {
            let is_name = atom.kind == kind::CALL && path.ends_with("/name");
            if !is_name || !tape.list_result_names(written, meter)?.contains(&*atom.text) {
                faults.push((atom.kind, atom.place));
            }
            continue;
        };
        faults.extend(fault.map(|fault| (fault, atom.place)));
        said.push((atom.kind, start, atom.place));
        if atom.kind & (kind::CONTENT & !kind::RESULT) != 0 {
            firsts.entry(atom.message).or_insert(start);
        }
    }
    let mut last = 0;
    for (message, start) in firsts {
        if start < last {
            faults.push((kind::ORDER, place_of(written, message)));
        }
        last = last.max(start);
    }
    find_late(&said, &mut faults);
    find_disorder(&tape, written, &mut faults);
    find_speakers(prompt, written, request.has_prompt, &mut faults);
    let mut seen = HashSet::new();
    faults.retain(|fault| seen.insert(*fault));
    Ok(faults)
}

/// Returns the pointers of a value and of the containers around it.
fn pointers_around(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    ends.filter_map(|end| path.get(..end))
}

impl<'p> Tape<'p> {
    fn new(prompt: &'p Prompt, has_media: bool) -> Self {
        let mut tape = Self {
            text: &prompt.text,
            ..Self::default()
        };
        let mut made_end = None;
        for segment in &prompt.segments {
            let bytes = segment.bytes();
            let before = made_end.filter(|end| *end == bytes.start);
            match segment.origin() {
                Origin::Input { path, is_key: true, .. } => {
                    if before.is_some_and(|end| tape.text.get(..end).is_some_and(|text| text.ends_with('\''))) {
                        tape.quoted.insert(path);
                    }
                    tape.keys.entry(path).or_insert(bytes.start);
                    tape.add_part(path, has_media);
                }
                Origin::Input { path, at_bytes, .. } => {
                    let start = bytes.start;
                    tape.copied.entry(path).or_default().push(Stretch { at: at_bytes, start });
                    tape.add_part(path, has_media && !path.ends_with("/type"));
                }
                Origin::Changed { paths } => {
                    for path in paths {
                        tape.made_from.entry(path).or_default().push(tape.made.len());
                        tape.add_part(path, has_media && !path.ends_with("/type"));
                    }
                    tape.made.push(bytes);
                }
                Origin::Made => made_end = Some(bytes.end),
                _ => {}
            }
        }
        tape
    }

    /// Adds the part of a content that a value is in: `/messages/0/content/1`.
    fn add_part(&mut self, path: &'p str, has_media: bool) {
        if has_media {
            let end = path.match_indices('/').nth(4).map(|(at, _)| at);
            self.parts.extend(end.and_then(|end| path.get(..end)));
        }
    }

    /// Returns the names of results that were printed. A result gets the name of its call, which a template may print only there.
    fn list_result_names(&mut self, written: &Written<'_>, meter: &mut Meter<'_>) -> Result<&HashSet<&'p str>> {
        if self.result_names.is_none() {
            meter.charge_items(written.spoken.len())?;
            let mut names = HashSet::new();
            let is_result = |(_, spoken): &(usize, &Spoken)| spoken.call.is_some();
            for (index, _) in written.spoken.iter().enumerate().filter(is_result) {
                let Some(copied) = self.copied.get(format!("/messages/{index}/name").as_str()) else {
                    continue;
                };
                meter.charge_items(copied.len())?;
                let printed = |stretch: &Stretch| self.text.get(stretch.start..stretch.start.saturating_add(stretch.at.len()));
                names.extend(copied.iter().filter_map(printed));
            }
            self.result_names = Some(names);
        }
        Ok(self.result_names.get_or_insert_default())
    }

    /// Returns the first byte of a string in the prompt, and how it is garbled.
    fn find(&mut self, atom: &Atom<'_>, path: &str, meter: &mut Meter<'_>) -> Result<Option<(usize, Option<Kinds>)>> {
        if atom.is_key {
            if let Some(start) = self.keys.get(path) {
                let is_argument = path
                    .rsplit_once('/')
                    .is_some_and(|(outer, _)| outer.ends_with("/function/arguments"));
                let is_python = atom.kind == kind::CALL && is_argument && self.quoted.contains(path);
                return Ok(Some((*start, is_python.then_some(kind::REPR))));
            }
        }
        let is_call = atom.kind == kind::CALL;
        let mut own: Vec<usize> = Vec::new();
        for pointer in pointers_around(path) {
            own.extend(self.made_from.get(pointer).into_iter().flatten());
        }
        own.sort_unstable();
        own.dedup();
        meter.charge_items(own.len())?;
        let copied = self.copied.get(path).map_or(&[] as &[Stretch], Vec::as_slice);
        meter.charge_items(copied.len())?;
        let overlaps = |stretch: &&Stretch| stretch.at.start < atom.range.end && stretch.at.end > atom.range.start;
        let hits: Vec<&Stretch> = copied.iter().filter(overlaps).filter(|_| !atom.is_key).collect();
        if let Some(first) = hits.first().filter(|_| is_covered(atom, &hits)) {
            let length = atom.range.len();
            let most = || {
                (length / 6)
                    .saturating_add(atom.text.matches('\n').count())
                    .saturating_add(1)
                    .max(3)
            };
            let is_text = is_call && path.ends_with("/arguments");
            let text_of = |made: &usize| {
                self.made
                    .get(*made)
                    .and_then(|bytes| self.text.get(bytes.clone()))
                    .unwrap_or_default()
            };
            let fault = if is_text && (own.iter().any(|made| text_of(made).contains("\\\"")) || is_in_braces(self.text, copied)) {
                Some(kind::DOUBLE)
            } else if hits.len() > 3 && hits.len() > most() {
                Some(if is_call { kind::DOUBLE } else { kind::REPR })
            } else {
                None
            };
            return Ok(Some((first.start, fault)));
        }
        let first_made = own.first().and_then(|made| self.made.get(*made)).map(|bytes| bytes.start);
        let first_hit = hits.iter().map(|hit| hit.start).min();
        let Some(start) = first_made.into_iter().chain(first_hit).min() else {
            return Ok(None);
        };
        let ranges = hits.iter().map(|hit| hit.start..hit.start.saturating_add(hit.at.len()));
        let mut ranges: Vec<Range<usize>> = ranges.collect();
        if !ranges.is_empty() || own != self.last.made {
            ranges.extend(own.iter().filter_map(|made| self.made.get(*made).cloned()));
            ranges.sort_unstable_by_key(|bytes| bytes.start);
            let text: String = ranges
                .into_iter()
                .map(|bytes| self.text.get(bytes).unwrap_or_default())
                .collect();
            meter.charge_bytes(text.len().saturating_mul(4))?;
            self.last = Joined::new(text, if hits.is_empty() { own } else { vec![usize::MAX] });
        }
        let is_there = self.last.find(&atom.text, meter)?;
        let is_double = is_call && self.last.text.contains("\\\"");
        Ok(is_there.then_some((start, is_double.then_some(kind::DOUBLE))))
    }
}

/// Returns whether stretches that were copied from a string have all letters and digits of an atom in it.
fn is_covered(atom: &Atom<'_>, hits: &[&Stretch]) -> bool {
    let Range { start, end } = atom.range;
    if hits.iter().any(|hit| hit.at.start <= start && hit.at.end >= end) {
        return true;
    }
    let mut is_there = vec![false; atom.range.len()];
    for hit in hits {
        let from = hit.at.start.saturating_sub(start).min(is_there.len());
        let to = hit.at.end.saturating_sub(start).min(is_there.len());
        if let Some(part) = is_there.get_mut(from..to) {
            part.fill(true);
        }
    }
    let mut characters = atom.text.char_indices();
    characters.all(|(at, character)| !character.is_alphanumeric() || is_there.get(at) == Some(&true))
}

/// Returns the letters and digits of a string, in lower case.
pub fn letters_of(text: &str) -> String {
    let letters = text.chars().filter(|character| character.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

impl Joined {
    fn new(text: String, made: Vec<usize>) -> Self {
        let plain = unescape(&text);
        Self {
            letters: [letters_of(&plain), letters_of(&text)],
            made,
            text,
            plain,
            next: [0; 2],
        }
    }

    /// Returns whether the stretches have the letters and digits of a string. The search begins after the last string that was found.
    fn find(&mut self, text: &str, meter: &mut Meter<'_>) -> Result<bool> {
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

/// Returns whether JSON text of an object was printed directly after a brace, as if it were a part of an object.
fn is_in_braces(text: &str, copied: &[Stretch]) -> bool {
    let first = copied.iter().find(|stretch| stretch.at.start == 0);
    first.is_some_and(|first| {
        let before = text.get(..first.start).unwrap_or_default();
        before.ends_with('{') && text.get(first.start..).is_some_and(|rest| rest.starts_with('{'))
    })
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

/// Adds the texts beside calls that are after a later result. The list has the kinds, the first bytes and the places of strings.
pub fn find_late(said: &[(Kinds, usize, Place)], faults: &mut Faults) {
    let mut first = usize::MAX;
    for (kind, start, place) in said.iter().rev() {
        match *kind {
            kind::RESULT => first = first.min(*start),
            kind::CALLER if *start > first => faults.push((kind::LATE, *place)),
            _ => {}
        }
    }
}

/// Adds the results that are in another order than their calls, unless their identifiers are printed.
fn find_disorder(tape: &Tape<'_>, written: &Written<'_>, faults: &mut Faults) {
    let next = written.spoken.iter().enumerate().skip(1);
    for (spoken, (index, next)) in written.spoken.iter().zip(next) {
        let has_id = || tape.copied.contains_key(format!("/messages/{index}/tool_call_id").as_str());
        if next.call.is_some() && next.call < spoken.call && !has_id() {
            faults.push((kind::ORDER, next.place));
        }
    }
}

/// Adds the messages whose header is that of the assistant.
fn find_speakers(prompt: &Prompt, written: &Written<'_>, has_prompt: bool, faults: &mut Faults) {
    let mut headers: BTreeMap<usize, String> = BTreeMap::new();
    let mut done: BTreeSet<usize> = BTreeSet::new();
    let mut end = 0;
    for segment in &prompt.segments {
        let Some(message) = segment.message() else { continue };
        let bytes = segment.bytes();
        end = end.max(bytes.end);
        if done.contains(&message) {
            continue;
        }
        let role = format!("/messages/{message}/role");
        let is_content = match segment.origin() {
            Origin::Input { path, .. } => path != role,
            Origin::Changed { paths } => paths.iter().any(|path| **path != role),
            _ => false,
        };
        if is_content {
            done.insert(message);
        } else {
            headers
                .entry(message)
                .or_default()
                .push_str(prompt.text.get(bytes).unwrap_or_default());
        }
    }
    let header = |message: &usize| headers.get(message).map_or("", |header| header.trim());
    let role_of = |message: &usize| written.spoken.get(*message).map(|spoken| spoken.role);
    let is_answer = |message: &usize| role_of(message) == Some(Role::Assistant);
    let mut spoken: HashSet<&str> = done.iter().filter(|message| is_answer(message)).map(header).collect();
    let tail = prompt.text.get(end..).unwrap_or_default().trim();
    if has_prompt && !tail.is_empty() {
        spoken.insert(tail);
    }
    for message in &done {
        let own = header(message);
        if role_of(message).is_some() && !is_answer(message) && !own.is_empty() && spoken.contains(own) {
            faults.push((kind::SPEAKER, place_of(written, *message)));
        }
    }
}

fn place_of(written: &Written<'_>, message: usize) -> Place {
    written.spoken.get(message).map_or(Place::BODY, |spoken| spoken.place)
}

/// Returns the index of the message if a path is that of `type` or `text` in a part of a content.
fn key_of_part(path: &str) -> Option<usize> {
    let mut keys = path.strip_prefix("/messages/")?.split('/');
    let index = keys.next()?.parse().ok()?;
    let is_part = keys.next()? == "content" && keys.next()?.parse::<usize>().is_ok();
    (is_part && matches!(keys.next()?, "type" | "text") && keys.next().is_none()).then_some(index)
}

/// Returns the roles of a request that are no words of the template.
pub fn list_unknown_roles(request: &Request<'_>, written: &Written<'_>, meter: &mut Meter<'_>) -> Result<Vec<Role>> {
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
    source.match_indices(word).any(|(at, _)| {
        let before = source.get(..at).and_then(|text| text.chars().next_back());
        let after = source
            .get(at.saturating_add(word.len())..)
            .and_then(|text| text.chars().next());
        let is_quoted = before.is_some_and(|character| matches!(character, '\'' | '"'));
        is_quoted || !before.is_some_and(is_letter) && !after.is_some_and(is_letter)
    })
}
