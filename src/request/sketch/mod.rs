//! The sketch of a request: its form without its words. The plan of a request is searched with a body that is made from the sketch alone,
//! so that requests with the same sketch have the same plan, whichever comes first.
//!
//! ```text
//! system, user, assistant, user, assistant, user   ->   system, user, assistant, user     no pair of turns is lost
//! "How warm is it?"                                ->   "Words."
//! ```

mod body;

use super::format::Format;
use super::normal::{BodyArguments, BodyTurn, Call, ContentForm, ContentPart, Medium, Normal, PartKind, Role, Tool, ToolForm};
use super::options::{Policy, Settings};
use super::plan::Plan;
use crate::error::Result;
use crate::json::{self, Data, Object};
use crate::limits::Limits;
use crate::meter::Meter;

/// The most different turns, the most turns, and the most bytes of values and of documents of a sketch. A larger request has none.
const MOST_OUTLINES: usize = 64;
const MOST_TURNS: usize = 256;
const MOST_BYTES: usize = 8 << 10;

/// Everything that decides how a request is written, but for its words.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Sketch {
    outlines: Vec<Outline>,
    /// The turns: indices of outlines.
    turns: Vec<u8>,
    /// The forms of tools, without order.
    tools: Vec<ToolOutline>,
    /// The JSON of the documents, with other words.
    documents: String,
    flags: [bool; 3],
    rest: Rest,
}

/// What decides how a request is written, apart from its turns, tools and documents.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Rest {
    pub format: Format,
    pub policy: Policy,
    pub settings: Settings,
    /// The variables and the settings for reasoning as JSON.
    pub variables: String,
    pub continued: Option<String>,
    pub has_prompt: bool,
    /// The plan of the request before this one.
    pub after: Option<Plan>,
    pub limits: [u64; 9],
}

impl Rest {
    /// Returns the bytes of the values of the request.
    fn bytes(&self) -> usize {
        self.variables
            .len()
            .saturating_add(self.continued.as_ref().map_or(0, String::len))
    }
}

/// A turn without its words.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Outline {
    role: Role,
    form: ContentForm,
    is_kept: bool,
    parts: Codes,
    /// The index of the field of the thoughts, and how many there are, at most two.
    thought_key: Option<usize>,
    thoughts: usize,
    calls: Codes,
    result: Option<ResultOutline>,
    /// The keys and the JSON of the fields and the media, with other words.
    values: Vec<(String, String)>,
}

/// A result without its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ResultOutline {
    has_id: bool,
    has_name: bool,
    /// Whether its call is the first one without a result, if it has a call.
    is_next: Option<bool>,
}

/// A tool without its words.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct ToolOutline {
    is_flat: bool,
    /// Whether a custom tool has a grammar.
    grammar: Option<bool>,
    /// Whether the description has words.
    description: Option<bool>,
    /// The key of the parameters, and whether there are properties with and without a type, each with and without a description.
    parameters: Option<(&'static str, Option<[bool; 4]>)>,
}

/// The end of thoughts in an answer.
pub const TAG: &str = "</think>";

/// The codes of parts. No code is 0.
const EMPTY: u8 = 1;
const BLANK: u8 = 2;
const WORDS: u8 = 3;
const BLOCK: u8 = 4;
const THINKS: u8 = 5;
const MEDIUM: u8 = 6;

/// The fields of a message with a string of reasoning.
const THOUGHT_KEYS: [&str; 3] = ["reasoning_content", "reasoning", "thinking"];

impl Sketch {
    /// Returns the sketch of a request, or `None` if that would be large. `has_tag` tells whether the template has [`TAG`].
    pub fn new(
        normal: &Normal<'_>,
        documents: Option<&Data<'_>>,
        rest: Rest,
        has_tag: bool,
        meter: &mut Meter<'_>,
    ) -> Result<Option<Self>> {
        // A value of a tool and a call are looked at too.
        meter.charge_items(normal.values)?;
        let mut walk = Walk {
            outlines: Vec::new(),
            turns: Vec::new(),
            pairs: [0; MOST_OUTLINES],
            last_new: 0,
        };
        let mut open = Vec::new();
        for turn in &normal.turns {
            open.extend(&turn.calls);
            let Some(outline) = Outline::new(normal, turn, (&mut open, has_tag), meter)? else {
                return Ok(None);
            };
            let bytes: usize = outline.values.iter().map(|(key, value)| key.len() + value.len()).sum();
            meter.charge_bytes(bytes.saturating_mul(walk.outlines.len()))?;
            if bytes > MOST_BYTES || !walk.push(outline) {
                return Ok(None);
            }
        }
        let values = walk.outlines.iter().flat_map(|outline| &outline.values);
        let bytes = values.fold(rest.bytes(), |bytes, (key, value)| {
            bytes.saturating_add(key.len() + value.len())
        });
        let mut tools: Vec<ToolOutline> = Vec::new();
        for tool in normal.tools.iter().map(outline_tool) {
            if !tools.contains(&tool) {
                tools.push(tool);
            }
        }
        tools.sort();
        let documents = documents.map_or_else(|| Ok(Some(String::new())), |documents| write_outline(documents, meter))?;
        let Some(documents) = documents.filter(|_| bytes <= MOST_BYTES) else {
            return Ok(None);
        };
        Ok(Some(Self {
            outlines: walk.outlines,
            turns: walk.turns,
            tools,
            documents,
            flags: flags_of(normal),
            rest,
        }))
    }

    /// Gives what was read from the body of the sketch the forms that the body cannot have.
    pub fn adjust(&self, normal: &mut Normal<'_>) {
        for (turn, outline) in normal.turns.iter_mut().zip(self.list_outlines()) {
            turn.form = outline.form;
            turn.node = turn.node.filter(|_| outline.is_kept);
        }
        [normal.refuses_tools, normal.is_prefilled, normal.has_settings] = self.flags;
    }

    fn list_outlines(&self) -> impl Iterator<Item = &Outline> {
        self.turns.iter().filter_map(|turn| self.outlines.get(usize::from(*turn)))
    }
}

fn flags_of(normal: &Normal<'_>) -> [bool; 3] {
    [normal.refuses_tools, normal.is_prefilled, normal.has_settings]
}

/// Returns the limits that can stop a search, other than the time.
pub fn list_limits(limits: &Limits) -> [u64; 9] {
    [
        limits.steps,
        limits.output,
        limits.value,
        limits.live,
        u64::from(limits.calls),
        u64::from(limits.height),
        limits.stack as u64,
        limits.width as u64,
        limits.bits,
    ]
}

/// Turns in a row, without the rounds that add no pair of turns.
struct Walk {
    outlines: Vec<Outline>,
    turns: Vec<u8>,
    /// For each outline, a bit for each one that was after it.
    pairs: [u64; MOST_OUTLINES],
    /// The index of the last turn with whose predecessor it is a new pair.
    last_new: usize,
}

impl Walk {
    /// Adds a turn. Returns whether there is room for it.
    fn push(&mut self, outline: Outline) -> bool {
        let known = self.outlines.iter().position(|other| *other == outline);
        let index = known.unwrap_or(self.outlines.len());
        if known.is_none() {
            self.outlines.push(outline);
        }
        let Ok(turn) = u8::try_from(index) else { return false };
        let bit = 1_u64.checked_shl(u32::from(turn)).unwrap_or_default();
        let mut none = 0;
        let before = match self.turns.last() {
            Some(last) => self.pairs.get_mut(usize::from(*last)),
            None => Some(&mut none),
        };
        let Some(before) = before.filter(|_| bit != 0 && self.turns.len() < MOST_TURNS) else {
            return false;
        };
        let is_new = *before & bit == 0;
        *before |= bit;
        if is_new {
            self.last_new = self.turns.len();
            self.turns.push(turn);
            return true;
        }
        let since = self.turns.get(self.last_new..).unwrap_or_default();
        match since.iter().rposition(|other| *other == turn) {
            Some(same) => self.turns.truncate(self.last_new + same + 1),
            None => self.turns.push(turn),
        }
        true
    }
}

/// The most codes of parts or of calls.
const MOST_CODES: usize = 12;

/// The codes of parts or of calls in their order, and zeros after them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Codes([u8; MOST_CODES]);

impl Codes {
    fn of(code: u8) -> Self {
        let mut codes = [0; MOST_CODES];
        codes[0] = code;
        Self(codes)
    }

    fn list(&self) -> impl Iterator<Item = u8> {
        self.0.iter().copied().take_while(|code| *code != 0)
    }
}

/// Codes in a row, without those that were after the same one before.
struct CodeWalk {
    codes: Codes,
    count: usize,
    last: u8,
    /// For each code, a bit for each one that was after it.
    pairs: [u64; 64],
}

impl CodeWalk {
    fn new() -> Self {
        Self {
            codes: Codes::default(),
            count: 0,
            last: 0,
            pairs: [0; 64],
        }
    }

    /// Adds a code. Returns whether it was added, or `None` if there is no room.
    fn push(&mut self, code: u8) -> Option<bool> {
        let after = self.pairs.get_mut(usize::from(self.last))?;
        let bit = 1_u64.checked_shl(u32::from(code))?;
        let is_new = *after & bit == 0;
        *after |= bit;
        self.last = code;
        if is_new {
            *self.codes.0.get_mut(self.count)? = code;
            self.count = self.count.saturating_add(1);
        }
        Some(is_new)
    }
}

impl Outline {
    /// Returns the outline of a turn, or `None` if that would be large. `open` has the calls without a result.
    fn new(
        normal: &Normal<'_>,
        turn: &BodyTurn<'_>,
        (open, has_tag): (&mut Vec<usize>, bool),
        meter: &mut Meter<'_>,
    ) -> Result<Option<Self>> {
        let looks_for_tag = has_tag && turn.role == Role::Assistant;
        let mut values = Vec::new();
        let parts = match turn.parts.as_slice() {
            [] => Codes::default(),
            [part] if part.medium().is_none() => Codes::of(code_of_part(part, looks_for_tag, meter)?),
            parts => {
                meter.charge_items(parts.len())?;
                let mut walk = CodeWalk::new();
                for part in parts {
                    let Some(is_new) = walk.push(code_of_part(part, looks_for_tag, meter)?) else {
                        return Ok(None);
                    };
                    if is_new && part.medium().is_some() {
                        let Some(outline) = write_outline(part.node, meter)? else {
                            return Ok(None);
                        };
                        values.push((String::new(), outline));
                    }
                }
                walk.codes
            }
        };
        let mut calls = Codes::default();
        if !turn.calls.is_empty() {
            let mut walk = CodeWalk::new();
            if !normal
                .calls_of(&turn.calls)
                .all(|call| walk.push(code_of_call(call)).is_some())
            {
                return Ok(None);
            }
            calls = walk.codes;
        }
        for field in &turn.fields {
            match write_outline(field.value, meter)? {
                Some(outline) => values.push((field.key.to_owned(), outline)),
                None => return Ok(None),
            }
        }
        if turn.result.is_some() {
            meter.charge_items(open.len())?;
        }
        Ok(Some(Self {
            role: turn.role,
            form: turn.form,
            is_kept: turn.node.is_some(),
            parts,
            thought_key: THOUGHT_KEYS.iter().position(|key| Some(*key) == turn.thought_key),
            thoughts: turn.thoughts.len().min(2),
            calls,
            result: outline_result(turn, open),
            values,
        }))
    }
}

/// Returns the code of a part. Many templates cut the thoughts from an answer that has their tag.
fn code_of_part(part: &ContentPart<'_>, looks_for_tag: bool, meter: &mut Meter<'_>) -> Result<u8> {
    let is_blank = |text: &str| text.starts_with(char::is_whitespace) && text.trim().is_empty();
    Ok(match part.kind {
        PartKind::Medium(Medium::Image) => MEDIUM,
        PartKind::Medium(Medium::Audio) => MEDIUM + 1,
        PartKind::Medium(Medium::Video) => MEDIUM + 2,
        PartKind::Medium(Medium::File) => MEDIUM + 3,
        PartKind::Block => BLOCK,
        _ if part.text.is_empty() => EMPTY,
        _ if is_blank(&part.text) => BLANK,
        _ if looks_for_tag => {
            meter.charge_scan(part.text.len())?;
            if part.text.contains(TAG) { THINKS } else { WORDS }
        }
        _ => WORDS,
    })
}

/// Returns the form of a call's arguments, from 1, and in the upper bits that of its identifier.
fn code_of_call(call: &Call<'_>) -> u8 {
    let form = match &call.arguments {
        BodyArguments::Absent => 1,
        BodyArguments::Json(json) if json.is_nothing() => 2,
        BodyArguments::Json(json) if json.text.trim_start().starts_with('{') => 3,
        BodyArguments::Json(_) => 4,
        BodyArguments::Value(value) if !value.is_object() => 5,
        BodyArguments::Value(value) if value.entries().next().is_none() => 7,
        BodyArguments::Value(_) | BodyArguments::Fields(_) => 6,
        BodyArguments::Input(_) => 0,
    };
    let id = match call.id {
        None => 1,
        Some(id) if id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) => 2,
        Some(_) => 3,
    };
    id << 3 | form
}

fn outline_result(turn: &BodyTurn<'_>, open: &mut Vec<usize>) -> Option<ResultOutline> {
    let result = turn.result?;
    let at = result.call.and_then(|call| open.iter().position(|open| *open == call));
    if let Some(at) = at {
        open.remove(at);
    }
    Some(ResultOutline {
        has_id: result.id.is_some(),
        has_name: result.name.is_some(),
        is_next: at.map(|at| at == 0),
    })
}

fn outline_tool(tool: &Tool<'_>) -> ToolOutline {
    let outline_properties = |properties: &Data<'_>| {
        let mut some = [false; 4];
        for (_, property) in properties.entries() {
            let index =
                usize::from(property.get_text("type").is_none()) * 2 + usize::from(property.get_text("description").is_none());
            some.iter_mut().skip(index).take(1).for_each(|some| *some = true);
        }
        some
    };
    let is_flat = matches!(tool.form, ToolForm::Flat);
    let key = if is_flat && tool.node.has("input_schema") {
        "input_schema"
    } else {
        "parameters"
    };
    ToolOutline {
        is_flat,
        grammar: match tool.form {
            ToolForm::Custom(grammar) => Some(grammar.is_some()),
            _ => None,
        },
        description: tool.description.map(|description| !description.is_empty()),
        parameters: tool
            .parameters
            .map(|parameters| (key, parameters.get("properties").map(outline_properties))),
    }
}

/// Returns the JSON of a value with other words, or `None` if it is large.
fn write_outline(node: &Data<'_>, meter: &mut Meter<'_>) -> Result<Option<String>> {
    meter.charge_items(node.count_values())?;
    let mut json = String::new();
    // Writing to a string cannot fail.
    let _ = json::write_data(&outline(node, ""), &mut json);
    Ok(Some(json).filter(|json| json.len() <= MOST_BYTES))
}

/// Returns a copy of a value with other words. Equal items in a row are one.
fn outline<'b>(node: &'b Data<'b>, key: &str) -> Data<'b> {
    if node.is_list() {
        let mut items: Vec<Data<'b>> = node.items().map(|item| outline(item, "")).collect();
        items.dedup();
        return Data::List(items);
    }
    if node.is_object() {
        let entries = node.entries().map(|(key, value)| (key.into(), outline(value, key)));
        return Data::Object(Object::new(entries.collect()));
    }
    match node.text() {
        Some(kind) if key == "type" => Data::Str(kind.into()),
        Some(text) if text.trim().is_empty() => Data::Str(text.into()),
        Some(_) => Data::Str("Words.".into()),
        None => node.borrowed(),
    }
}
