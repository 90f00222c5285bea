//! Reads the body of a request into its normal form.
//!
//! `messages.rs` reads the messages of Chat Completions and of Messages, `items.rs` the items of Responses. Both read the parts of a content by
//! the table of `parts.rs`, so that a block of one format is also read in the others.

mod items;
mod messages;
mod parts;
mod tools;

pub use parts::is_opaque;

use super::format::Format;
use super::normal::{BodyArguments, BodyTurn, Call, JsonText, Normal};
use super::places::{BodyPlace, STEP};
use super::reasons::Reason;
use super::wrong;
use crate::error::{Error, Result};
use crate::json::Data;
use crate::meter::Meter;

/// Keys of a body that refer to a conversation outside of it, each with what to do instead.
#[rustfmt::skip]
const STORED: [(&str, &str); 4] = [
    ("previous_response_id", "the earlier conversation is stored elsewhere; pass its items in `input`"),
    ("conversation", "the conversation is stored elsewhere; pass its items in `input`"),
    ("prompt", "the prompt is stored elsewhere; pass its text as a message"),
    ("thread", "the conversation is stored elsewhere; pass its messages in `messages`"),
];

/// The length of a name in a message of an error, in characters.
const MAX_SHOWN: usize = 100;

/// Reads a body. The work and the memory are charged to the meter.
///
/// # Errors
/// If the body does not have its format, or names content that is stored elsewhere. The error has the pointer of the value in the body.
pub fn read<'b>(body: &'b Data<'b>, format: Format, meter: &mut Meter<'_>) -> Result<Normal<'b>> {
    let mut reader = Reader {
        normal: Normal::default(),
        meter,
    };
    for (key, fault) in STORED {
        let is_new = |thread: &'b Data<'b>| key == "thread" && thread.get_text("type") == Some("create");
        if body.get(key).is_some_and(|value| !is_new(value)) {
            return Err(wrong(format!("/{key}"), fault));
        }
    }
    let others: &[&str] = match format {
        Format::ChatCompletions | Format::Messages => &["input", "instructions"],
        Format::Responses => &["messages", "system"],
    };
    let list = super::format::list(format);
    if let Some(key) = others.iter().find(|key| body.get(key).is_some()) {
        let fault = format!("a body with `{list}` cannot have this key; pass the texts in `{list}`");
        return Err(wrong(format!("/{key}"), fault));
    }
    let Some(conversation) = body.get(list) else {
        return Err(wrong(
            format!("/{list}"),
            "the body must have this key, with the conversation",
        ));
    };
    match format {
        Format::Responses => reader.read_items(body, conversation)?,
        Format::ChatCompletions | Format::Messages => reader.read_messages(body, conversation, format)?,
    }
    for key in ["tools", "functions"] {
        if let Some(tools) = body.get(key) {
            reader.read_tools(tools, BodyPlace::BODY, key)?;
        }
    }
    for (index, document) in body.get("documents").into_iter().flat_map(Data::items).enumerate() {
        let place = reader.item(BodyPlace::BODY, "documents", index);
        reader.read_strings(document, place)?;
    }
    reader.match_results()?;
    Ok(reader.normal)
}

/// The normal form so far, and the meter.
struct Reader<'b, 'r, 'm> {
    normal: Normal<'b>,
    meter: &'r mut Meter<'m>,
}

impl<'b> Reader<'b, '_, '_> {
    /// Counts the work of looking at a value, and claims memory for what is noted of it.
    #[inline]
    fn visit(&mut self, bytes: usize) -> Result<()> {
        self.meter.charge(1)?;
        self.normal.values = self.normal.values.saturating_add(1);
        self.meter.claim_for_render(bytes.saturating_add(STEP))
    }

    /// Counts the values of a value that a plan can write.
    fn count(&mut self, value: &'b Data<'b>) -> Result<()> {
        let count = value.count_values();
        self.normal.values = self.normal.values.saturating_add(count);
        self.meter.charge_items(count)
    }

    /// Counts the bytes of a string that a plan can write.
    fn count_bytes(&mut self, text: &str) {
        self.normal.bytes = self.normal.bytes.saturating_add(text.len());
    }

    /// Returns the arguments of a call: a string, which is JSON text unless it is the input of a custom tool, or a value.
    fn read_arguments(&mut self, value: &'b Data<'b>, is_input: bool) -> Result<BodyArguments<'b>> {
        let Some(text) = value.text() else {
            self.count(value)?;
            return Ok(BodyArguments::Value(value));
        };
        self.count_bytes(text);
        Ok(if is_input {
            BodyArguments::Input(text)
        } else {
            BodyArguments::Json(JsonText::new(text))
        })
    }

    /// Adds a call to a turn.
    fn push_call(
        &mut self,
        turn: &mut BodyTurn<'b>,
        (id, place): (Option<&'b str>, BodyPlace),
        (name, name_place): (&'b str, BodyPlace),
        (arguments, arguments_place): (BodyArguments<'b>, BodyPlace),
    ) -> Result<()> {
        self.visit(size_of::<Call<'b>>())?;
        turn.calls.push(self.normal.calls.len());
        #[rustfmt::skip]
        self.normal.calls.push(Call { id, name, arguments, place, name_place, arguments_place });
        Ok(())
    }

    /// Adds a turn.
    fn push(&mut self, turn: BodyTurn<'b>) -> Result<()> {
        self.meter.claim_for_render(size_of::<BodyTurn<'b>>())?;
        self.normal.turns.push(turn);
        Ok(())
    }

    /// Adds a turn with the result of a call.
    fn push_result(&mut self, place: BodyPlace, id: Option<&'b str>, content: Option<(&'b str, &'b Data<'b>)>) -> Result<()> {
        let mut turn = BodyTurn::result(place, id);
        if let Some((key, content)) = content {
            self.read_content(&mut turn, content, key)?;
        }
        self.push(turn)
    }

    /// Notes a change of a value for every template.
    fn note(&mut self, place: BodyPlace, reason: Reason) -> Result<()> {
        self.visit(size_of::<(BodyPlace, Reason)>())?;
        self.normal.notes.push((place, reason));
        Ok(())
    }

    /// Adds the strings of a document.
    fn read_strings(&mut self, value: &'b Data<'b>, place: BodyPlace) -> Result<()> {
        self.visit(size_of::<(BodyPlace, &str)>())?;
        self.normal.documents.extend(value.text().map(|text| (place, text)));
        for (index, item) in value.items().enumerate() {
            let place = self.item(place, "", index);
            self.read_strings(item, place)?;
        }
        for (key, item) in value.entries() {
            let place = self.key(place, key);
            self.read_strings(item, place)?;
        }
        Ok(())
    }

    fn key(&mut self, parent: BodyPlace, key: &'b str) -> BodyPlace {
        self.normal.places.add(parent, key, None)
    }

    fn item(&mut self, parent: BodyPlace, key: &'b str, index: usize) -> BodyPlace {
        self.normal.places.add(parent, key, Some(index))
    }

    /// Returns an error about a value of the body.
    fn wrong(&self, place: BodyPlace, fault: impl std::fmt::Display) -> Error {
        wrong(self.normal.places.pointer(place), fault)
    }

    /// Returns an error about a value with the wrong type.
    fn unfit(&self, place: BodyPlace, fault: &str, value: &Data<'_>) -> Error {
        self.wrong(place, format!("{fault} {}", value.describe()))
    }

    /// Reads each item of the list at a key.
    fn read_each(
        &mut self,
        list: &'b Data<'b>,
        parent: BodyPlace,
        key: &'b str,
        mut read: impl FnMut(&mut Self, &'b Data<'b>, BodyPlace) -> Result<()>,
    ) -> Result<()> {
        if !list.is_list() {
            let place = self.key(parent, key);
            return Err(self.unfit(place, "must be an array, and is", list));
        }
        for (index, item) in list.items().enumerate() {
            let place = self.item(parent, key, index);
            read(self, item, place)?;
        }
        Ok(())
    }

    /// Finds the call of each result: the first one without a result that has the identifier, or for a result without one the first with the
    /// name, or the first.
    fn match_results(&mut self) -> Result<()> {
        let mut open = Vec::new();
        for turn in &mut self.normal.turns {
            self.meter.charge_items(turn.calls.len())?;
            self.meter.claim_for_render(turn.calls.len().saturating_mul(OPEN_CALL))?;
            let calls = turn
                .calls
                .iter()
                .filter_map(|index| Some((*index, self.normal.calls.get(*index)?)));
            open.extend(calls.map(|(index, call)| (index, call.id, call.name)));
            if let Some(result) = &mut turn.result {
                self.meter.charge_items(open.len())?;
                let found = match result.id {
                    Some(_) => open.iter().position(|(_, id, _)| *id == result.id),
                    None => open.iter().position(|(.., name)| Some(*name) == result.name).or(Some(0)),
                };
                let found = found.filter(|found| *found < open.len());
                result.call = found.map(|found| open.remove(found).0);
            }
        }
        Ok(())
    }
}

/// The memory of a call that has no result yet.
const OPEN_CALL: usize = 128;
