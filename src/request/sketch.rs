//! The sketch of a request: its form without its words. The plan of a request is searched with a body that is made from the sketch alone,
//! so that requests with the same sketch have the same plan, whichever comes first.
//!
//! ```text
//! system, user, assistant, user, assistant, user   ->   system, user, assistant, user     no pair of turns is lost
//! "How warm is it?"                                ->   "Words #."                        each # becomes a number
//! ```

use std::borrow::Cow;

use super::format::Format;
use super::normal::{BodyArguments, BodyTurn, Call, ContentForm, ContentPart, Normal, PartKind, Role, Tool, ToolForm};
use super::options::{Policy, Settings};
use super::plan::Plan;
use super::prepared::Request;
use crate::error::Result;
use crate::json::{self, Data, Object};
use crate::limits::Limits;
use crate::meter::Meter;

/// The most different items of a row, the most items, and the most bytes of a sketch. A larger request has none.
const MOST_DIFFERENT: usize = 64;
const MOST_ITEMS: usize = 256;
const MOST_BYTES: usize = 16 << 10;

/// The size in bytes of most tools.
const TOOL_BYTES: usize = 256;

/// Everything that decides how a request is written, but for its words.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Sketch {
    turns: Row<Outline>,
    /// The JSON of the different tools, without order.
    tools: Vec<String>,
    /// The JSON of the documents.
    documents: String,
    flags: [bool; 3],
    format: Format,
    policy: Policy,
    settings: Settings,
    /// The variables and the settings for reasoning as text.
    variables: String,
    continued: Option<String>,
    has_prompt: bool,
    /// The plan of the request before this one.
    after: Option<Plan>,
    /// The limits of the search, but for the time.
    limits: Limits,
}

/// A turn without its words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Outline {
    /// The message of Chat Completions, without its last brace.
    json: String,
    is_kept: bool,
    /// Whether the call of a result is the first one without a result, if it has a call.
    is_next: Option<bool>,
}

/// The end of thoughts in an answer. Many templates cut the thoughts from an answer that has it.
pub const TAG: &str = "</think>";

/// The fields of a message with a string of reasoning.
const THOUGHT_KEYS: [&str; 3] = ["reasoning_content", "reasoning", "thinking"];

impl Sketch {
    /// Returns the sketch of a request, or `None` if that would be large. `has_tag` tells whether the template has [`TAG`].
    pub fn new(request: &Request<'_>, after: Option<Plan>, has_tag: bool, meter: &mut Meter<'_>) -> Result<Option<Self>> {
        let normal = &request.normal;
        // A value of a tool and a call are looked at too.
        meter.charge_items(normal.values)?;
        let (mut turns, mut open, mut outline) = (Row::default(), Vec::new(), Outline::default());
        for turn in &normal.turns {
            let is_small = outline.fill(normal, turn, &mut open, has_tag, meter)? && outline.json.len() <= MOST_BYTES;
            meter.charge_bytes(outline.json.len().saturating_mul(turns.different.len()))?;
            if !is_small || !turns.push(&outline) {
                return Ok(None);
            }
        }
        let mut tools: Vec<String> = Vec::new();
        for tool in normal.tools.iter().map(outline_tool) {
            if !tools.contains(&tool) {
                tools.push(tool);
            }
        }
        tools.sort();
        let documents = request
            .documents
            .map(|documents| write_outline(documents, meter))
            .transpose()?;
        let sketch = Self {
            flags: [normal.refuses_tools, normal.is_prefilled, normal.has_settings],
            format: request.format,
            policy: request.policy,
            settings: request.settings.clone(),
            variables: request.variables.describe(),
            continued: request.continue_final_message.field().map(str::to_owned),
            has_prompt: request.has_prompt,
            after,
            limits: Limits {
                milliseconds: None,
                ..meter.limits().clone()
            },
            documents: documents.unwrap_or_default(),
            turns,
            tools,
        };
        let texts = sketch
            .turns
            .different
            .iter()
            .map(|outline| &outline.json)
            .chain(&sketch.tools);
        let texts = texts.chain([&sketch.documents, &sketch.variables]).chain(&sketch.continued);
        let bytes = texts.fold(0, |bytes: usize, text| bytes.saturating_add(text.len()));
        Ok((bytes <= MOST_BYTES).then_some(sketch))
    }

    /// Returns a body of Chat Completions with the sketch.
    pub fn body(&self) -> Data<'static> {
        let (mut count, mut open) = (0, Vec::new());
        let messages = self
            .turns
            .list()
            .map(|outline| outline.message(&mut count, &mut open))
            .collect();
        let tools: Vec<_> = self.tools.iter().map(|tool| make(tool, &mut count)).collect();
        let mut entries = vec![("messages".into(), Data::List(messages))];
        entries.extend((!tools.is_empty()).then(|| ("tools".into(), Data::List(tools))));
        entries.extend((!self.documents.is_empty()).then(|| ("documents".into(), make(&self.documents, &mut count))));
        Data::Object(Object::new(entries))
    }

    /// Gives what was read from the body of the sketch the properties that the body cannot have.
    pub fn adjust(&self, normal: &mut Normal<'_>) {
        for (turn, outline) in normal.turns.iter_mut().zip(self.turns.list()) {
            turn.node = turn.node.filter(|_| outline.is_kept);
        }
        [normal.refuses_tools, normal.is_prefilled, normal.has_settings] = self.flags;
    }
}

/// Items in a row, without the rounds that add no pair of items.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
struct Row<T> {
    different: Vec<T>,
    /// Indices of the different items.
    items: Vec<u8>,
    /// For each different item, a bit for each one that was after it.
    pairs: Vec<u64>,
    /// The index of the last item with whose predecessor it is a new pair.
    last_new: usize,
}

impl<T: PartialEq + Clone> Row<T> {
    /// Adds an item. Returns whether there is room for it.
    fn push(&mut self, item: &T) -> bool {
        let known = self.different.iter().position(|other| other == item);
        let index = known.unwrap_or(self.different.len());
        if known.is_none() {
            self.different.push(item.clone());
            self.pairs.push(0);
        }
        let Some(index) = u8::try_from(index).ok().filter(|index| usize::from(*index) < MOST_DIFFERENT) else {
            return false;
        };
        if self.items.len() >= MOST_ITEMS {
            return false;
        }
        let bit = 1_u64 << index;
        let before = self.items.last().and_then(|last| self.pairs.get_mut(usize::from(*last)));
        if before.is_none_or(|before| std::mem::replace(before, *before | bit) & bit == 0) {
            self.last_new = self.items.len();
            self.items.push(index);
            return true;
        }
        let since = self.items.get(self.last_new..).unwrap_or_default();
        match since.iter().rposition(|other| *other == index) {
            Some(same) => self.items.truncate(self.last_new + same + 1),
            None => self.items.push(index),
        }
        true
    }

    fn list(&self) -> impl Iterator<Item = &T> {
        self.items.iter().filter_map(|index| self.different.get(usize::from(*index)))
    }
}

impl Outline {
    /// Makes the outline of a turn, and returns whether there is room for it. `open` has the calls without a result.
    fn fill(
        &mut self,
        normal: &Normal<'_>,
        turn: &BodyTurn<'_>,
        open: &mut Vec<usize>,
        has_tag: bool,
        meter: &mut Meter<'_>,
    ) -> Result<bool> {
        let json = &mut self.json;
        json.clear();
        json.extend(["{\"role\": \"", turn.role.name(), "\""]);
        if !outline_content(turn, has_tag && turn.role == Role::Assistant, json, meter)? {
            return Ok(false);
        }
        let key = turn.thought_key.filter(|key| THOUGHT_KEYS.contains(key));
        json.extend(key.into_iter().flat_map(|key| [", \"", key, "\": \"Thoughts #.\""]));
        let details = turn.thoughts.len().min(2).saturating_sub(usize::from(key.is_some()));
        if details > 0 {
            let detail = "{\"type\": \"reasoning.text\", \"text\": \"Thoughts #.\"}";
            json.extend([", \"reasoning_details\": [", &vec![detail; details].join(", "), "]"]);
        }
        for field in &turn.fields {
            json.push_str(", ");
            json::write_string(field.key, false, json);
            json.extend([": ", &write_outline(field.value, meter)?]);
        }
        let own = normal.calls_of(&turn.calls).map(outline_call);
        if let [_] = turn.calls.as_slice() {
            own.for_each(|call| json.extend([", \"tool_calls\": ["].into_iter().chain(call).chain(["]"])));
        } else if !turn.calls.is_empty() {
            let mut calls = Row::default();
            for call in own {
                if !calls.push(&call) {
                    return Ok(false);
                }
            }
            let calls: Vec<String> = calls.list().map(|call| call.concat()).collect();
            json.extend([", \"tool_calls\": [", &calls.join(", "), "]"]);
        }
        open.extend(&turn.calls);
        self.is_kept = turn.node.is_some();
        self.is_next = None;
        if let Some(result) = turn.result {
            json.push_str(result.id.map_or("", |_| ", \"tool_call_id\": \"unknown\""));
            json.push_str(result.name.map_or("", |_| ", \"name\": \"find\""));
            meter.charge_items(open.len())?;
            let at = result.call.and_then(|call| open.iter().position(|open| *open == call));
            at.map(|at| open.remove(at));
            self.is_next = at.map(|at| at == 0);
        }
        Ok(true)
    }

    /// Returns a message of Chat Completions with the outline. `open` has the identifiers of the calls without a result.
    fn message(&self, count: &mut usize, open: &mut Vec<Option<String>>) -> Data<'static> {
        let mut message = make(&format!("{}}}", self.json), count);
        let calls = message.get("tool_calls").into_iter().flat_map(Data::items);
        open.extend(calls.map(|call| call.get_text("id").map(str::to_owned)));
        let id = match self.is_next {
            Some(true) if !open.is_empty() => open.remove(0),
            Some(false) => open.pop().flatten(),
            _ => None,
        };
        if let (Some(id), Data::Object(object)) = (id, &mut message) {
            if let Some((_, own)) = object.values_mut().find(|(key, _)| *key == "tool_call_id") {
                *own = Data::Str(id.into());
            }
        }
        message
    }
}

/// Adds the content of a turn, and its refusal. Returns whether there is room for it.
fn outline_content(turn: &BodyTurn<'_>, looks_for_tag: bool, json: &mut String, meter: &mut Meter<'_>) -> Result<bool> {
    if let ([part], ContentForm::Text) = (turn.parts.as_slice(), turn.form) {
        json.extend([", \"content\": ", &outline_part(part, looks_for_tag, meter)?]);
        return Ok(true);
    }
    meter.charge_items(turn.parts.len())?;
    let mut row = Row::default();
    for part in &turn.parts {
        if !row.push(&outline_part(part, looks_for_tag, meter)?) {
            return Ok(false);
        }
    }
    let mut parts = row.list();
    match turn.form {
        ContentForm::Absent => {}
        ContentForm::Null => json.push_str(", \"content\": null"),
        ContentForm::Text => json.extend(parts.next().into_iter().flat_map(|part| [", \"content\": ", part])),
        ContentForm::Parts => {
            let wrap = |part: &Cow<'_, str>| match part.starts_with('"') {
                true => format!("{{\"type\": \"text\", \"text\": {part}}}"),
                false => part.to_string(),
            };
            let parts: Vec<String> = parts.by_ref().map(wrap).collect();
            json.extend([", \"content\": [", &parts.join(", "), "]"]);
        }
    }
    json.extend(parts.next().into_iter().flat_map(|part| [", \"refusal\": ", part]));
    Ok(true)
}

/// Returns the JSON of a part: a string for its text, an object for a block or a medium.
fn outline_part(part: &ContentPart<'_>, looks_for_tag: bool, meter: &mut Meter<'_>) -> Result<Cow<'static, str>> {
    let is_blank = |text: &str| text.starts_with(char::is_whitespace) && text.trim().is_empty();
    if looks_for_tag {
        meter.charge_scan(part.text.len())?;
    }
    Ok(Cow::Borrowed(match part.kind {
        PartKind::Medium(_) => return write_outline(part.node, meter).map(Cow::Owned),
        PartKind::Block => "{\"type\": \"block\", \"words\": \"Words #.\"}",
        _ if part.text.is_empty() => "\"\"",
        _ if is_blank(&part.text) => "\" \"",
        _ if looks_for_tag && part.text.contains(TAG) => "\"<think>\\nThoughts #.\\n</think>\\n\\nWords #.\"",
        _ => "\"Words #.\"",
    }))
}

/// Returns the pieces of the JSON of a call.
fn outline_call(call: &Call<'_>) -> [&'static str; 4] {
    let id = match call.id {
        None => "{",
        Some(id) if id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) => "{\"id\": \"call#\", ",
        Some(_) => "{\"id\": \"ca_#\", ",
    };
    let arguments = match &call.arguments {
        BodyArguments::Absent => "",
        BodyArguments::Json(json) if json.is_nothing() => ", \"arguments\": \"\"",
        BodyArguments::Json(json) if json.text.trim_start().starts_with('{') => r#", "arguments": "{\"key\": \"Value #.\"}""#,
        BodyArguments::Json(_) => ", \"arguments\": \"Words #.\"",
        BodyArguments::Value(value) if !value.is_object() => ", \"arguments\": [\"Value #.\"]",
        BodyArguments::Value(value) if value.entries().next().is_none() => ", \"arguments\": {}",
        BodyArguments::Value(_) | BodyArguments::Fields(_) => ", \"arguments\": {\"key\": \"Value #.\"}",
        BodyArguments::Input(_) => ", \"input\": \"Input #.\"",
    };
    let start = match call.arguments {
        BodyArguments::Input(_) => "\"type\": \"custom\", \"custom\": {\"name\": \"find\"",
        _ => "\"type\": \"function\", \"function\": {\"name\": \"find\"",
    };
    [id, start, arguments, "}}"]
}

/// Returns the JSON of a tool.
fn outline_tool(tool: &Tool<'_>) -> String {
    let (start, end) = match tool.form {
        ToolForm::Wrapped => ("{\"type\": \"function\", \"function\": {", "}}"),
        ToolForm::Flat => ("{", "}"),
        ToolForm::Custom(_) => ("{\"type\": \"custom\", \"custom\": {", "}}"),
    };
    let mut json = String::with_capacity(TOOL_BYTES);
    json.extend([start, "\"name\": \"find#\""]);
    json.push_str(match tool.description {
        None => "",
        Some("") => ", \"description\": \"\"",
        Some(_) => ", \"description\": \"It finds #.\"",
    });
    if let Some(parameters) = tool.parameters {
        let is_schema = matches!(tool.form, ToolForm::Flat) && tool.node.has("input_schema");
        let key = if is_schema { "input_schema" } else { "parameters" };
        json.extend([", \"", key, "\": {\"type\": \"object\""]);
        if let Some(properties) = parameters.get("properties") {
            const KINDS: [&str; 4] = [
                "\"key#\": {\"type\": \"string\", \"description\": \"The key #.\"}",
                "\"key#\": {\"type\": \"string\"}",
                "\"key#\": {\"description\": \"The key #.\"}",
                "\"key#\": {}",
            ];
            let lacks = |property: &Data<'_>, key| u8::from(property.get_text(key).is_none());
            let own = properties
                .entries()
                .map(|(_, property)| lacks(property, "type") << 1 | lacks(property, "description"));
            let some = own.fold(0_u8, |some, kind| some | 1 << kind);
            let kinds = KINDS.into_iter().enumerate().filter(|(kind, _)| some >> kind & 1 == 1);
            let kinds: Vec<&str> = kinds.map(|(_, json)| json).collect();
            json.extend([", \"properties\": {", &kinds.join(", "), "}"]);
        }
        json.push('}');
    }
    if matches!(tool.form, ToolForm::Custom(Some(_))) {
        json.push_str(", \"format\": {\"type\": \"grammar\", \"definition\": \"start: word\"}");
    }
    json + end
}

/// Returns the JSON of a value with other words.
fn write_outline(node: &Data<'_>, meter: &mut Meter<'_>) -> Result<String> {
    meter.charge_items(node.count_values())?;
    Ok(outline(node, "").to_string())
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

/// Returns the value of JSON text, with a number in the place of each `#`.
fn make(json: &str, count: &mut usize) -> Data<'static> {
    let mut pieces = json.split('#');
    let mut numbered = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        *count = count.saturating_add(1);
        numbered.extend([&*format!("{count:05}"), piece]);
    }
    json::read(&numbered).map_or(Data::None, Data::into_owned)
}
