//! Writes what a request says as messages and tools, by a plan.
//!
//! `turns.rs` decides on the messages: their roles, their order and their number. `message.rs` writes a message, `calls.rs` its calls, and
//! `tools.rs` the tools.

mod calls;
mod message;
mod tools;
mod turns;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::change::Change;
use super::claim_parts;
use super::normal::{Medium, Normal, Role};
use super::options::Settings;
use super::places::BodyPlace;
use super::plan::{Kinds, Plan, ToolList, kind};
use super::reasons::{self as why, Reason};
use crate::error::Result;
use crate::json::{Data, Entry, Object};
use crate::meter::{Claim, Meter};

/// A message or a tool that a template gets: one of the body, or one that is made from the body.
pub type Given<'b> = Cow<'b, Data<'b>>;

/// A string that the prompt has to have, and its place in what the template gets.
#[derive(Debug)]
pub struct Atom<'b> {
    pub place: BodyPlace,
    pub kind: Kinds,
    pub form: AtomForm,
    pub text: Cow<'b, str>,
    /// The addresses of the string that the template gets.
    pub memory: Range<usize>,
    /// The index of the message, or the number of messages for a string that is in none.
    pub message: usize,
}

impl Atom<'_> {
    /// Returns the addresses of the string without white space around it.
    pub fn inner(&self) -> Range<usize> {
        let before = self.text.len() - self.text.trim_start().len();
        let after = self.text.len() - self.text.trim_end().len();
        self.memory.start + before..self.memory.end - after
    }
}

/// What a string is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomForm {
    Value,
    /// The arguments of a call in JSON text.
    Json,
    /// The name of a call.
    Name,
    /// The key of an argument of a call.
    Argument,
    /// Another key.
    Key,
}

/// What the judge has to know of a message, apart from its values.
#[derive(Clone, Debug)]
pub struct Spoken {
    pub role: Role,
    /// The index of the call to which the message is the result.
    pub call: Option<usize>,
    /// The place in the body.
    pub place: BodyPlace,
}

/// A medium of a message.
#[derive(Debug)]
pub struct WrittenMedium {
    pub place: BodyPlace,
    pub kind: Medium,
    /// The indices of the message and of the part.
    pub message: usize,
    pub part: usize,
}

/// Groups of media, one bit for each role and kind.
pub type MediaSet = u32;

/// A request as a template gets it.
#[derive(Debug, Default)]
pub struct Written<'b> {
    pub messages: Vec<Given<'b>>,
    /// The tools, or `None` for null.
    pub tools: Option<Vec<Given<'b>>>,
    /// The variables, or null, and their changes.
    pub variables: Data<'b>,
    pub settings: Vec<Change>,
    pub atoms: Vec<Atom<'b>>,
    pub spoken: Vec<Spoken>,
    pub changes: Vec<(BodyPlace, Reason)>,
    /// The names of calls that are also in labels of results.
    pub labelled: Vec<BodyPlace>,
    /// What the plan gives up.
    pub given_up: Vec<(Kinds, BodyPlace)>,
    pub media: Vec<WrittenMedium>,
    /// The memory of the values in bytes, and its claims.
    pub memory: usize,
    pub claims: Vec<Claim>,
}

impl<'b> Written<'b> {
    /// Returns the group of a medium.
    pub fn group_of(&self, medium: &WrittenMedium) -> MediaSet {
        let role = self.spoken.get(medium.message).map_or(Role::User, |spoken| spoken.role);
        1_u32.checked_shl((role as u32) << 2 | medium.kind as u32).unwrap_or_default()
    }

    /// Returns the faults of the media of some groups.
    pub fn list_lost(&self, groups: MediaSet) -> impl Iterator<Item = (Kinds, BodyPlace)> {
        let media = self.media.iter().filter(move |medium| self.group_of(medium) & groups != 0);
        media.map(|medium| (kind::MEDIUM, medium.place))
    }

    /// Returns the parts of the content of a message, unless the content is no list.
    pub fn parts_of(&self, message: usize) -> Option<&[Data<'b>]> {
        match self.messages.get(message)?.get("content")? {
            Data::List(parts) => Some(parts),
            _ => None,
        }
    }

    /// Returns a string of a message, or an empty one.
    pub fn text_of(&self, message: usize, key: &str) -> &str {
        let text = self.messages.get(message).and_then(|message| message.get_text(key));
        text.unwrap_or_default()
    }

    /// Returns what a template gets with others in the place of some parts, or nothing. A part has the indices of its message and of itself.
    pub fn replace_parts(&self, parts: &BTreeMap<(usize, usize), Option<Data<'b>>>) -> Self {
        let mut messages = self.messages.clone();
        for ((message, part), other) in parts.iter().rev() {
            let message = messages.get_mut(*message).map(Cow::to_mut);
            let Some(Data::Object(message)) = message else { continue };
            let content = message.values_mut().find(|(key, _)| *key == "content");
            if let Some((_, Data::List(items))) = content.filter(|(_, content)| content.items().len() > *part) {
                drop(items.splice(*part..=*part, other.clone()));
            }
        }
        Self {
            messages,
            tools: self.tools.clone(),
            variables: self.variables.clone(),
            ..Self::default()
        }
    }
}

/// The memory of a value of the body in what is written: with its key and its atom.
const VALUE: usize = 256;

/// Writes a request by a plan. The work and the memory are charged to the meter.
///
/// # Errors
/// If a limit of the meter is reached.
pub fn write<'b>(
    normal: &Normal<'b>,
    plan: &Plan,
    is_chat: bool,
    settings: &Settings,
    meter: &mut Meter<'_>,
) -> Result<Written<'b>> {
    meter.charge_items(normal.values)?;
    meter.charge_bytes(normal.bytes)?;
    let mut writer = Writer {
        normal,
        plan: *plan,
        is_chat,
        settings,
        written: Written {
            messages: Vec::with_capacity(normal.turns.len()),
            atoms: Vec::with_capacity(normal.values),
            spoken: Vec::with_capacity(normal.turns.len()),
            ..Written::default()
        },
        ids: HashMap::new(),
        meter,
    };
    let memory = normal.values.saturating_mul(VALUE).saturating_add(normal.bytes);
    writer.written.memory = memory;
    writer.written.claims = claim_parts(writer.meter, memory)?;
    if plan.moves(&Plan::default()) {
        for turn in writer.arrange() {
            writer.write_message(turn)?;
        }
    } else {
        for turn in &normal.turns {
            writer.write_message(Cow::Borrowed(turn))?;
        }
    }
    let drops_tools = plan.drops_tools() && !normal.refuses_tools;
    for tool in &normal.tools {
        match (drops_tools, settings.tools_as_text) {
            _ if normal.refuses_tools => writer.note(tool.place, why::TOOL_CHOICE),
            (true, true) => writer.note(tool.place, why::TOOL_AS_TEXT),
            (true, false) => writer.give_up(kind::TOOL, tool.place, why::TOOL_FAILS),
            (false, _) => writer.write_tool(tool),
        }
    }
    for (place, text) in &normal.documents {
        writer.add_atom(*place, kind::DOCUMENT, AtomForm::Value, text);
    }
    for (place, reason) in &normal.notes {
        writer.note(*place, *reason);
    }
    let mut written = writer.written;
    if written.tools.is_none() && plan.tools == ToolList::Empty {
        written.tools = Some(Vec::new());
    }
    Ok(written)
}

struct Writer<'n, 'b, 's, 'm> {
    normal: &'n Normal<'b>,
    plan: Plan,
    is_chat: bool,
    settings: &'s Settings,
    written: Written<'b>,
    /// The new identifiers by the indices of calls, and by the old identifiers of calls that the body does not have.
    ids: HashMap<(Option<usize>, String), String>,
    meter: &'s mut Meter<'m>,
}

impl<'n, 'b> Writer<'n, 'b, '_, '_> {
    fn note(&mut self, place: BodyPlace, reason: Reason) {
        let is_known = |(other, (kind, _)): &(BodyPlace, Reason)| (*other, *kind) == (place, reason.0);
        if place != BodyPlace::BODY && !self.written.changes.iter().rev().take(8).any(is_known) {
            self.written.changes.push((place, reason));
        }
    }

    fn give_up(&mut self, kind: Kinds, place: BodyPlace, reason: Reason) {
        self.written.given_up.push((kind, place));
        self.note(place, reason);
    }

    /// Adds a string of the body that the template gets.
    fn add_atom(&mut self, place: BodyPlace, kind: Kinds, form: AtomForm, text: &'b str) {
        self.push_atom(place, kind, form, Cow::Borrowed(text), start_of(text));
    }

    /// Adds a string that the template gets at an address.
    fn push_atom(&mut self, place: BodyPlace, kind: Kinds, form: AtomForm, text: Cow<'b, str>, start: usize) {
        if !text.chars().all(char::is_whitespace) {
            let (memory, message) = (start..start.wrapping_add(text.len()), self.written.messages.len());
            self.written.atoms.push(Atom {
                place,
                kind,
                form,
                text,
                memory,
                message,
            });
        }
    }

    /// Adds the strings of a value of the body, and its keys unless it is a field that templates need not print.
    fn add_strings(&mut self, value: &'b Data<'b>, place: BodyPlace, kind: Kinds, keys: AtomForm) {
        match value {
            Data::Str(text) => self.add_atom(place, kind, AtomForm::Value, text),
            Data::List(items) => items
                .iter()
                .for_each(|item| self.add_strings(item, place, kind, AtomForm::Key)),
            Data::Object(object) => {
                for (key, item) in object.entries() {
                    if kind != kind::FIELD {
                        self.add_atom(place, kind, keys, key);
                    }
                    self.add_strings(item, place, kind, AtomForm::Key);
                }
            }
            _ => {}
        }
    }
}

/// Returns the address of a string.
fn start_of(text: &str) -> usize {
    text.as_ptr().addr()
}

/// Returns a string with a place in memory of its own. The trace tells strings apart by their places, and equal literals share theirs.
fn own<'b>(text: &str) -> Data<'b> {
    Data::Str(Cow::Owned(text.to_owned()))
}

/// Returns an entry whose key has a place in memory of its own.
fn own_key<'b>(key: &str, value: Data<'b>) -> Entry<'b> {
    (Cow::Owned(key.to_owned()), value)
}

fn object(entries: Vec<Entry<'_>>) -> Data<'_> {
    Data::Object(Object::new(entries))
}

/// Returns an object with a type and another entry.
fn typed<'b>(kind: &str, key: &str, value: Data<'b>) -> Data<'b> {
    object(vec![own_key("type", own(kind)), own_key(key, value)])
}
