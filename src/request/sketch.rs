//! The sketch of a request: its form without its words. The plan of a request is searched with a body that is made from the sketch alone,
//! so that requests with the same sketch have the same plan, whichever comes first.
//!
//! ```text
//! system, user, assistant, user, assistant, user   ->   system, user, assistant, user     no pair of turns is lost
//! "How warm is it?"                                ->   "Words."
//! ```

use super::format::Format;
use super::node::Node;
use super::normal::{Arguments, Call, Form, Medium, Normal, Part, PartKind, Role, ToolForm, Turn};
use super::options::{Policy, Settings};
use super::plan::Plan;
use crate::error::Result;
use crate::json::{self, DEPTH, Data, Entry, Object};
use crate::limits::Limits;
use crate::meter::Meter;

/// The most different turns, the most turns, and the most bytes of values of a sketch. A larger request has none.
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
    tools: Vec<u16>,
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

/// A turn without its words.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Outline {
    role: Role,
    form: Form,
    is_kept: bool,
    /// The codes of parts, thoughts, calls and the result, a few bits each.
    parts: u64,
    thoughts: u8,
    calls: u64,
    result: u8,
    /// The keys and the JSON of the fields and the media, with other words.
    values: Vec<(String, String)>,
}

/// The codes of parts.
const EMPTY: u64 = 1;
const BLANK: u64 = 2;
const WORDS: u64 = 3;
const BLOCK: u64 = 4;
const MEDIUM: u64 = 5;

/// The bits of the code of a part and of a call. A code is never 0.
const PART_BITS: u32 = 4;
const CALL_BITS: u32 = 6;

/// The fields of thoughts by their codes.
const THOUGHT_KEYS: [&str; 5] = ["", "reasoning_content", "reasoning", "thinking", "reasoning_details"];

/// The bits of a result.
const HAS_ID: u8 = 1;
const HAS_NAME: u8 = 2;
const IS_MATCHED: u8 = 4;
/// The result is that of the first call without one.
const IS_NEXT: u8 = 8;

impl Sketch {
    /// Returns the sketch of a request, or `None` if that would be large.
    pub fn new(normal: &Normal<'_>, documents: Option<Node<'_>>, rest: Rest, meter: &mut Meter<'_>) -> Result<Option<Self>> {
        meter.charge_items(normal.turns.len().saturating_add(normal.calls.len()))?;
        let mut walk = Walk {
            outlines: Vec::new(),
            turns: Vec::new(),
            pairs: [0; MOST_OUTLINES],
            last_new: 0,
        };
        let mut open = Vec::new();
        for turn in &normal.turns {
            open.extend(&turn.calls);
            let Some(outline) = Outline::new(normal, turn, &mut open, meter)? else {
                return Ok(None);
            };
            let bytes: usize = outline.values.iter().map(|(key, value)| key.len() + value.len()).sum();
            meter.charge_bytes(bytes.saturating_mul(walk.outlines.len()))?;
            if bytes > MOST_BYTES || !walk.push(outline) {
                return Ok(None);
            }
        }
        let mut tools: Vec<u16> = Vec::new();
        for tool in normal.tools.iter().map(form_of_tool) {
            if !tools.contains(&tool) {
                tools.push(tool);
            }
        }
        tools.sort_unstable();
        let documents = documents.map_or_else(|| Ok(Some(String::new())), |documents| write_outline(documents, meter))?;
        let Some(documents) = documents.filter(|_| rest.variables.len() <= MOST_BYTES) else {
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

    /// Returns a body of Chat Completions with the sketch.
    pub fn body(&self) -> Data<'static> {
        let mut ids = Ids::default();
        let messages = self.list_outlines().enumerate();
        let messages = messages.map(|(index, outline)| outline.message(index, &mut ids)).collect();
        let mut entries = vec![entry("messages", Data::List(messages))];
        if !self.tools.is_empty() {
            let tools = self.tools.iter().enumerate();
            let tools = tools.map(|(index, form)| make_tool(index, *form)).collect();
            entries.push(entry("tools", Data::List(tools)));
        }
        if let Ok(documents) = json::read(&self.documents) {
            entries.push(entry("documents", documents.into_owned()));
        }
        object(entries)
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
        let bit = 1_u64.checked_shl(index as u32).unwrap_or_default();
        let Ok(turn) = u8::try_from(index) else { return false };
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

/// Codes of a few bits each. A code that was after the same one before is left out.
struct Codes {
    bits: u32,
    codes: u64,
    count: u32,
    last: u64,
    pairs: [u64; 64],
}

impl Codes {
    fn new(bits: u32) -> Self {
        Self {
            bits,
            codes: 0,
            count: 0,
            last: 0,
            pairs: [0; 64],
        }
    }

    /// Adds a code. Returns whether it was added, or `None` if there is no room.
    fn push(&mut self, code: u64) -> Option<bool> {
        let pairs = self.pairs.get_mut(self.last as usize)?;
        self.last = code;
        let is_new = *pairs & 1 << code == 0;
        *pairs |= 1 << code;
        if is_new {
            let shift = self.count * self.bits;
            if shift + self.bits > u64::BITS {
                return None;
            }
            self.codes |= code << shift;
            self.count += 1;
        }
        Some(is_new)
    }
}

/// Returns the codes of a number of bits each.
fn list_codes(codes: u64, bits: u32) -> impl Iterator<Item = u64> {
    let shifts = (0..u64::BITS / bits).map(move |index| index * bits);
    shifts
        .map(move |shift| codes >> shift & ((1 << bits) - 1))
        .take_while(|code| *code != 0)
}

impl Outline {
    /// Returns the outline of a turn, or `None` if that would be large. `open` has the calls without a result.
    fn new(normal: &Normal<'_>, turn: &Turn<'_>, open: &mut Vec<usize>, meter: &mut Meter<'_>) -> Result<Option<Self>> {
        let mut values = Vec::new();
        let parts = match turn.parts.as_slice() {
            [] => Some(0),
            [part] if part.medium().is_none() => Some(code_of_part(part)),
            parts => {
                meter.charge_items(parts.len())?;
                let mut codes = Codes::new(PART_BITS);
                let mut has_room = true;
                for part in parts {
                    match codes.push(code_of_part(part)) {
                        Some(true) if part.medium().is_some() => match write_outline(part.node, meter)? {
                            Some(outline) => values.push((String::new(), outline)),
                            None => has_room = false,
                        },
                        Some(_) => {}
                        None => has_room = false,
                    }
                }
                has_room.then_some(codes.codes)
            }
        };
        let calls = if turn.calls.is_empty() {
            Some(0)
        } else {
            let mut codes = Codes::new(CALL_BITS);
            let pushed = normal.calls_of(&turn.calls).map(|call| codes.push(code_of_call(call)));
            let has_room = pushed.fold(true, |has_room, pushed| has_room && pushed.is_some());
            has_room.then_some(codes.codes)
        };
        for field in &turn.fields {
            match write_outline(field.value, meter)? {
                Some(outline) => values.push((field.key.to_owned(), outline)),
                None => return Ok(None),
            }
        }
        let (Some(parts), Some(calls)) = (parts, calls) else {
            return Ok(None);
        };
        if turn.result.is_some() {
            meter.charge_items(open.len())?;
        }
        let key = THOUGHT_KEYS
            .iter()
            .position(|key| Some(*key) == turn.thought_key)
            .unwrap_or(0);
        Ok(Some(Self {
            role: turn.role,
            form: turn.form,
            is_kept: turn.node.is_some(),
            parts,
            thoughts: (key as u8) << 2 | turn.thoughts.len().min(2) as u8,
            calls,
            result: code_of_result(turn, open),
            values,
        }))
    }

    /// Returns a message of Chat Completions with the outline.
    fn message(&self, index: usize, ids: &mut Ids) -> Data<'static> {
        let mut entries = vec![entry("role", text(self.role.name()))];
        let words = |number: usize| Data::Str(format!("Words {index}-{number}.").into());
        let mut media = self.values.iter().filter(|(key, _)| key.is_empty());
        let mut parts = list_codes(self.parts, PART_BITS)
            .enumerate()
            .map(|(number, code)| match code {
                EMPTY => text(""),
                BLANK => text(" "),
                WORDS => words(number),
                BLOCK => object(vec![entry("type", text("block")), entry("words", words(number))]),
                _ => media.next().map_or(Data::None, |(_, json)| read(json)),
            });
        match self.form {
            Form::Absent => {}
            Form::Null => entries.push(entry("content", Data::None)),
            Form::Text => entries.extend(parts.next().map(|part| entry("content", part))),
            Form::Parts => {
                let wrap = |part| match part {
                    Data::Str(_) => object(vec![entry("type", text("text")), entry("text", part)]),
                    part => part,
                };
                entries.push(entry("content", Data::List(parts.by_ref().map(wrap).collect())));
            }
        }
        entries.extend(parts.next().map(|part| entry("refusal", part)));
        let thought = |number: usize| Data::Str(format!("Thoughts {index}-{number}.").into());
        let key = THOUGHT_KEYS.get(usize::from(self.thoughts >> 2)).copied().unwrap_or_default();
        let count = usize::from(self.thoughts & 3);
        let own = usize::from(!key.is_empty());
        if own > 0 {
            entries.push(entry(key, thought(0)));
        }
        if count > own {
            let details =
                (own..count).map(|number| object(vec![entry("type", text("reasoning.text")), entry("text", thought(number))]));
            entries.push(entry("reasoning_details", Data::List(details.collect())));
        }
        let fields = self.values.iter().filter(|(key, _)| !key.is_empty());
        entries.extend(fields.map(|(key, json)| (key.clone().into(), read(json))));
        let calls = list_codes(self.calls, CALL_BITS).enumerate();
        let calls: Vec<Data<'static>> = calls.map(|(number, code)| make_call(code, (index, number), ids)).collect();
        if !calls.is_empty() {
            entries.push(entry("tool_calls", Data::List(calls)));
        }
        if self.role == Role::Tool {
            let id = if self.result & IS_MATCHED == 0 {
                None
            } else if self.result & IS_NEXT != 0 {
                (!ids.open.is_empty()).then(|| ids.open.remove(0)).flatten()
            } else {
                ids.open.pop().flatten()
            };
            if self.result & HAS_ID != 0 {
                entries.push(entry(
                    "tool_call_id",
                    Data::Str(id.unwrap_or_else(|| "unknown".to_owned()).into()),
                ));
            }
            if self.result & HAS_NAME != 0 {
                entries.push(entry("name", text("find")));
            }
        }
        object(entries)
    }
}

/// The identifiers of the calls without a result.
#[derive(Default)]
struct Ids {
    open: Vec<Option<String>>,
}

fn code_of_part(part: &Part<'_>) -> u64 {
    match part.kind {
        PartKind::Medium(Medium::Image) => MEDIUM,
        PartKind::Medium(Medium::Audio) => MEDIUM + 1,
        PartKind::Medium(Medium::Video) => MEDIUM + 2,
        PartKind::Medium(Medium::File) => MEDIUM + 3,
        PartKind::Block => BLOCK,
        _ if part.text.is_empty() => EMPTY,
        _ if part.text.starts_with(|first: char| first.is_whitespace()) && part.text.trim().is_empty() => BLANK,
        _ => WORDS,
    }
}

/// Returns the form of a call's arguments, from 1, and in the upper bits that of its identifier.
fn code_of_call(call: &Call<'_>) -> u64 {
    let form = match &call.arguments {
        Arguments::Absent => 1,
        Arguments::Json(json) if json.is_nothing() => 2,
        Arguments::Json(json) if json.text.trim_start().starts_with('{') => 3,
        Arguments::Json(_) => 4,
        Arguments::Value(value) if !value.is_object() => 5,
        Arguments::Value(value) if value.entries().next().is_none() => 7,
        Arguments::Value(_) | Arguments::Fields(_) => 6,
        Arguments::Input(_) => 0,
    };
    let id = match call.id {
        None => 1,
        Some(id) if id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) => 2,
        Some(_) => 3,
    };
    id << 3 | form
}

fn make_call(code: u64, (index, number): (usize, usize), ids: &mut Ids) -> Data<'static> {
    let id = match code >> 3 {
        1 => None,
        2 => Some(format!("call{:05}", index * 100 + number)),
        _ => Some(format!("call_{index}_{number}")),
    };
    let words = |kind: &str| format!("{kind} {index}-{number}.");
    let value = || object(vec![entry("key", Data::Str(words("Value").into()))]);
    let mut function = vec![entry("name", text("find"))];
    match code & 7 {
        0 => function.push(entry("input", Data::Str(words("Input").into()))),
        1 => {}
        2 => function.push(entry("arguments", text(""))),
        3 => function.push(entry(
            "arguments",
            Data::Str(format!("{{\"key\": \"{}\"}}", words("Value")).into()),
        )),
        4 => function.push(entry("arguments", Data::Str(words("Words").into()))),
        5 => function.push(entry("arguments", Data::List(vec![Data::Str(words("Value").into())]))),
        6 => function.push(entry("arguments", value())),
        _ => function.push(entry("arguments", object(Vec::new()))),
    }
    let kind = if code & 7 == 0 { "custom" } else { "function" };
    ids.open.push(id.clone());
    let mut entries: Vec<Entry<'static>> = id.map(|id| entry("id", Data::Str(id.into()))).into_iter().collect();
    entries.extend([entry("type", text(kind)), entry(kind, object(function))]);
    object(entries)
}

fn code_of_result(turn: &Turn<'_>, open: &mut Vec<usize>) -> u8 {
    let Some(result) = &turn.result else { return 0 };
    let at = result.call.and_then(|call| open.iter().position(|open| *open == call));
    if let Some(at) = at {
        open.remove(at);
    }
    let bits = [
        (result.id.is_some(), HAS_ID),
        (result.name.is_some(), HAS_NAME),
        (at.is_some(), IS_MATCHED),
        (at == Some(0), IS_NEXT),
    ];
    bits.iter()
        .fold(0, |all, (is_set, bit)| if *is_set { all | bit } else { all })
}

/// The bits of the form of a tool.
const FLAT: u16 = 1;
const CUSTOM: u16 = 2;
const HAS_GRAMMAR: u16 = 4;
const HAS_DESCRIPTION: u16 = 8;
const IS_DESCRIBED: u16 = 16;
const HAS_PARAMETERS: u16 = 32;
const HAS_PROPERTIES: u16 = 64;
const SOME_TYPED: u16 = 128;
const SOME_UNTYPED: u16 = 256;
const SOME_DESCRIBED: u16 = 512;
const SOME_UNDESCRIBED: u16 = 1024;
const HAS_SCHEMA: u16 = 2048;

fn form_of_tool(tool: &super::normal::Tool<'_>) -> u16 {
    let mut form = match tool.form {
        ToolForm::Wrapped => 0,
        ToolForm::Flat => FLAT,
        ToolForm::Custom(None) => CUSTOM,
        ToolForm::Custom(Some(_)) => CUSTOM | HAS_GRAMMAR,
    };
    let mut add = |is_set: bool, bit: u16| form |= if is_set { bit } else { 0 };
    add(tool.description.is_some(), HAS_DESCRIPTION);
    add(
        tool.description.is_some_and(|description| !description.is_empty()),
        IS_DESCRIBED,
    );
    add(tool.parameters.is_some(), HAS_PARAMETERS);
    add(tool.node.has("input_schema"), HAS_SCHEMA);
    let properties = tool.parameters.and_then(|parameters| parameters.get("properties"));
    add(properties.is_some(), HAS_PROPERTIES);
    for (_, property) in properties.into_iter().flat_map(Node::entries) {
        let has_type = property.get_text("type").is_some();
        let is_described = property.get_text("description").is_some();
        add(has_type, SOME_TYPED);
        add(!has_type, SOME_UNTYPED);
        add(is_described, SOME_DESCRIBED);
        add(!is_described, SOME_UNDESCRIBED);
    }
    form
}

fn make_tool(index: usize, form: u16) -> Data<'static> {
    let has = |bit: u16| form & bit != 0;
    let mut function = vec![entry("name", Data::Str(format!("find{index}").into()))];
    if has(HAS_DESCRIPTION) {
        let description = if has(IS_DESCRIBED) {
            format!("It finds {index}.")
        } else {
            String::new()
        };
        function.push(entry("description", Data::Str(description.into())));
    }
    let mut properties = Vec::new();
    for (is_typed, typed) in [(true, SOME_TYPED), (false, SOME_UNTYPED)] {
        for (is_described, described) in [(true, SOME_DESCRIBED), (false, SOME_UNDESCRIBED)] {
            if has(typed) && has(described) {
                let name = format!("key{}", properties.len());
                let mut property = Vec::new();
                if is_typed {
                    property.push(entry("type", text("string")));
                }
                if is_described {
                    property.push(entry("description", Data::Str(format!("The {name} of {index}.").into())));
                }
                properties.push((name.into(), object(property)));
            }
        }
    }
    if has(HAS_PARAMETERS) {
        let mut parameters = vec![entry("type", text("object"))];
        if has(HAS_PROPERTIES) {
            parameters.push(entry("properties", object(properties)));
        }
        let key = if has(HAS_SCHEMA) { "input_schema" } else { "parameters" };
        function.push(entry(key, object(parameters)));
    }
    if has(HAS_GRAMMAR) {
        let format = vec![entry("type", text("grammar")), entry("definition", text("start: word"))];
        function.push(entry("format", object(format)));
    }
    if has(FLAT) {
        return object(function);
    }
    let kind = if has(CUSTOM) { "custom" } else { "function" };
    object(vec![entry("type", text(kind)), entry(kind, object(function))])
}

/// Returns the JSON of a value with other words, or `None` if it is large.
fn write_outline(node: Node<'_>, meter: &mut Meter<'_>) -> Result<Option<String>> {
    meter.charge_items(node.count_values(DEPTH))?;
    let mut json = String::new();
    // Writing to a string cannot fail.
    let _ = json::write_data(&outline(node, DEPTH, ""), &mut json);
    Ok(Some(json).filter(|json| json.len() <= MOST_BYTES))
}

/// Returns a copy of a value with other words. Equal items in a row are one.
fn outline<'b>(node: Node<'b>, levels: usize, key: &str) -> Data<'b> {
    let Some(levels) = levels.checked_sub(1) else {
        return Data::None;
    };
    if node.is_list() {
        let mut items: Vec<Data<'b>> = node.items().map(|item| outline(item, levels, "")).collect();
        items.dedup();
        return Data::List(items);
    }
    if node.is_object() {
        let entries = node.entries().map(|(key, value)| (key.into(), outline(value, levels, key)));
        return Data::Object(Object::new(entries.collect()));
    }
    match node.text() {
        Some(kind) if key == "type" => Data::Str(kind.into()),
        Some(text) if text.trim().is_empty() => Data::Str(text.into()),
        Some(_) => Data::Str("Words.".into()),
        None => node.to_data(1),
    }
}

fn read(json: &str) -> Data<'static> {
    json::read(json).map_or(Data::None, Data::into_owned)
}

fn text(text: &str) -> Data<'static> {
    Data::Str(text.to_owned().into())
}

fn entry(key: &str, value: Data<'static>) -> Entry<'static> {
    (key.to_owned().into(), value)
}

fn object(entries: Vec<Entry<'static>>) -> Data<'static> {
    Data::Object(Object::new(entries))
}
