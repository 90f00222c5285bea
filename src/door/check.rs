//! Finds the texts of a body that the prompt does not have.
//!
//! ```text
//! {"content": "<think>Hm.</think>Yes."}, prompt "…Yes.<|im_end|>"   ->   /messages/1/content: dropped
//! ```
//!
//! The render lists which strings it wrote, by their addresses. A text of the body is in the prompt if it is in that list, or if its parts
//! are, without outer white space. The others are looked for in what the render made from texts of the body ([`Search`]).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::calls::parse;
use super::change::{Change, Changes, What};
use super::format::Format;
use super::message::Fitted;
use super::node::{Node, memory_of};
use super::path::{Key, Path, Pointers};
use super::record::Claims;
use super::search::{GAP, Search};
use super::sought::{Sought, Text, covers, find_parts};
use crate::chat::REASONING_FIELDS;
use crate::error::Result;
use crate::json::DEPTH;
use crate::meter::Meter;
use crate::trace::Write;

/// The number of next writes that are compared with a text. Most texts are written in the order of the body.
const AHEAD: usize = 16;

/// The bytes that a sought value takes besides its path and its texts, and those that a text takes besides its characters.
const SOUGHT: usize = size_of::<Sought>() + 32;
const TEXT: usize = size_of::<Text>() + 32;

/// The text between two parts of the prompt that are not close to each other.
const BETWEEN: &str = "\n\n";

/// The keys whose strings identify a value and are not texts.
const IDENTIFIERS: [&str; 6] = ["role", "type", "id", "call_id", "tool_call_id", "status"];

/// Returns a change for each text of a body that the prompt does not have, and that is not in the changes yet. `fitted` are the messages
/// and the tools that the template got.
///
/// # Errors
/// If a limit of the meter is reached.
pub fn find_dropped(
    body: Node<'_>,
    format: Format,
    prompt: &str,
    writes: Vec<Write>,
    fitted: [&Fitted<'_>; 2],
    changes: &Changes,
    meter: &mut Meter<'_>,
) -> Result<Vec<Change>> {
    meter.charge_items(writes.len())?;
    let mut own = BTreeMap::new();
    fitted.into_iter().for_each(|fitted| fitted.find_own(&mut own));
    let mut check = Check {
        prompt,
        writes,
        next: 0,
        changes,
        is_responses: format == Format::Responses,
        sought: Vec::new(),
        pointers: Pointers::default(),
        meter,
        claims: Claims::default(),
    };
    // Most templates write the tools first.
    if let Some(tools) = body.get("tools") {
        check.look_at_tools(tools)?;
    }
    if let Some(documents) = body.get("documents") {
        let path = Path {
            parent: None,
            key: Key::Name("documents"),
        };
        check.look_at_all(documents, "documents", path, DEPTH)?;
    }
    let roots: &[&str] = match format {
        Format::ChatCompletions => &["messages"],
        Format::Responses => &["instructions", "input"],
        Format::Messages => &["system", "messages"],
    };
    for root in roots {
        let path = Path {
            parent: None,
            key: Key::Name(root),
        };
        match body.get(root) {
            Some(items) if items.is_list() => {
                for (index, item) in items.items().enumerate() {
                    check.look_at_message(item, path.index(index))?;
                }
            }
            Some(text) => check.look_at(text, root, path, DEPTH)?,
            None => {}
        }
    }
    check.find_sought(&own)
}

/// Returns the name of the called function, if a value is a call.
fn call_name(node: Node<'_>) -> Option<&str> {
    let is_call = node.has("arguments") || node.has("input");
    node.get_text("name").filter(|_| is_call)
}

/// Returns the reasoning at the beginning of a text, which is mostly absent, and the rest.
fn split_thought(text: &str) -> (&str, &str) {
    let split = || {
        let text = text.trim_start().strip_prefix("<think>")?;
        // A search for one character is faster than one for the tag.
        let mut tags = text.rmatch_indices('<').filter_map(|(at, _)| text.split_at_checked(at));
        tags.find_map(|(thought, rest)| Some((thought, rest.strip_prefix("</think>")?)))
    };
    split().unwrap_or(("", text))
}

/// A check of a body against the list of what was written to the prompt.
struct Check<'c, 'm> {
    prompt: &'c str,
    /// The writes in the order of the prompt.
    writes: Vec<Write>,
    /// The index of the write after the last one that was found.
    next: usize,
    /// The changes before the render.
    changes: &'c Changes,
    /// Whether the items of the body are those of Responses.
    is_responses: bool,
    sought: Vec<Sought>,
    pointers: Pointers,
    meter: &'c mut Meter<'m>,
    /// The memory of what is sought.
    claims: Claims,
}

impl Check<'_, '_> {
    /// Checks the texts of a message.
    fn look_at_message(&mut self, message: Node<'_>, path: Path<'_>) -> Result<()> {
        self.meter.charge(1)?;
        if self.is_responses && self.changes.is_dropped(message) {
            return Ok(());
        }
        if self.is_responses && message.get_text("type") == Some("reasoning") {
            let key = ["content", "summary"].into_iter().find(|key| message.get(key).is_some());
            let texts = key.and_then(|key| message.get(key)).into_iter().flat_map(Node::items);
            for text in texts.filter_map(|text| text.get_text("text")) {
                self.look_at_reasoning(text, path)?;
            }
            return Ok(());
        }
        if self.is_responses && call_name(message).is_some() {
            return self.look_at(message, "", path, DEPTH);
        }
        let mut is_done = None;
        message.try_for_each_entry(|key, value| match key {
            "role" | "tool_call_id" => Ok(()),
            _ if value.text().is_some_and(|text| self.is_next(text)) => Ok(()),
            _ if *is_done.get_or_insert_with(|| self.changes.is_dropped(message)) => Ok(()),
            "content" => self.look_at(value, key, path.name(key), DEPTH),
            _ if REASONING_FIELDS.contains(&key) => match value.text().filter(|_| !self.changes.is_dropped(value)) {
                Some(text) => self.look_at_reasoning(text, path.name(key)),
                None => Ok(()),
            },
            "tool_calls" | "name" | "refusal" | "output" | "function_call" => self.look_at(value, key, path.name(key), DEPTH),
            _ => self.look_at_all(value, key, path.name(key), DEPTH),
        })
    }

    /// Checks all texts of a value, except identifiers.
    fn look_at_all(&mut self, node: Node<'_>, key: &str, path: Path<'_>, levels: usize) -> Result<()> {
        let Some(levels) = levels.checked_sub(1) else {
            return self.report_depth(path);
        };
        self.meter.charge(1)?;
        if IDENTIFIERS.contains(&key) || self.changes.is_dropped(node) {
            return Ok(());
        }
        if let Some(text) = node.text() {
            self.look_at_text(text, text, path, "the prompt does not have the text")?;
        }
        for (index, item) in node.items().enumerate() {
            self.look_at_all(item, key, path.index(index), levels)?;
        }
        for (key, value) in node.entries() {
            self.look_at_all(value, key, path.name(key), levels)?;
        }
        Ok(())
    }

    /// Checks the texts of the value of a key.
    fn look_at(&mut self, node: Node<'_>, key: &str, path: Path<'_>, levels: usize) -> Result<()> {
        let Some(levels) = levels.checked_sub(1) else {
            return self.report_depth(path);
        };
        self.meter.charge(1)?;
        if node.text().is_some_and(|text| self.is_next(text)) || self.changes.is_dropped(node) {
            return Ok(());
        }
        if let Some(text) = node.text() {
            self.meter.charge_scan(text.len())?;
            let (thought, answer) = split_thought(text);
            // The reasoning is mostly written first.
            let has_thought = self.is_written(thought, text);
            self.look_at_text(answer, text, path, "the prompt does not have the text")?;
            if !has_thought {
                let texts = vec![self.note(thought, text)?];
                self.seek(None, texts, path, "the prompt does not have the reasoning")?;
            }
        } else if node.is_list() {
            for (index, item) in node.items().enumerate() {
                self.look_at(item, key, path.index(index), levels)?;
            }
        } else if let Some(name) = call_name(node) {
            self.look_at_call(node, name, path)?;
        } else if key != "source" || node.get_text("type") == Some("text") {
            node.try_for_each_entry(|key, value| match (key, value.text()) {
                ("content" | "text" | "refusal" | "output" | "function" | "custom" | "source" | "data", _) => {
                    self.look_at(value, key, path.name(key), levels)
                }
                ("thinking", Some(text)) => self.look_at_reasoning(text, path),
                _ => Ok(()),
            })?;
        }
        Ok(())
    }

    /// Checks the name and the arguments of a call.
    fn look_at_call(&mut self, call: Node<'_>, name: &str, path: Path<'_>) -> Result<()> {
        self.look_at_text(name, name, path, "the prompt does not have the name of the called function")?;
        let arguments = call.entries().find(|(key, _)| matches!(*key, "arguments" | "input"));
        let Some((key, arguments)) = arguments else { return Ok(()) };
        let text = arguments.text();
        if text.is_some_and(|text| self.is_written(text, text)) {
            return Ok(());
        }
        let mut missing = Vec::new();
        self.meter.charge_scan(text.map_or(0, str::len))?;
        match text {
            Some(text) => match parse(text, self.meter.deadline())? {
                Some(parsed) => self.find_missing(Node::Data(&parsed), DEPTH, &mut missing)?,
                None => missing.push(self.note(text, text)?),
            },
            None => self.find_missing(arguments, DEPTH, &mut missing)?,
        }
        if missing.is_empty() {
            return Ok(());
        }
        let json = text.map_or_else(|| arguments.to_json().into(), Cow::Borrowed);
        let json = self.note(&json, &json)?;
        self.seek(Some(json), missing, path.name(key), "the prompt does not have the arguments")
    }

    /// Adds the keys and the strings of a value that are not known to be in the prompt.
    fn find_missing(&mut self, node: Node<'_>, levels: usize, missing: &mut Vec<Text>) -> Result<()> {
        let Some(levels) = levels.checked_sub(1) else {
            missing.push(self.note("", "")?);
            return Ok(());
        };
        self.meter.charge(1)?;
        if let Some(text) = node.text() {
            if !self.is_written(text, text) {
                missing.push(self.note(text, text)?);
            }
            return Ok(());
        }
        if node.is_list() {
            return node.items().try_for_each(|item| self.find_missing(item, levels, missing));
        }
        if self.changes.is_dropped(node) {
            return Ok(());
        }
        node.try_for_each_entry(|key, value| {
            if !self.is_written(key, key) {
                missing.push(self.note(key, key)?);
            }
            self.find_missing(value, levels, missing)
        })
    }

    fn look_at_reasoning(&mut self, text: &str, path: Path<'_>) -> Result<()> {
        self.look_at_text(text, text, path, "the prompt does not have the reasoning")
    }

    /// Checks a text that is a part of a string of the body.
    fn look_at_text(&mut self, text: &str, string: &str, path: Path<'_>, why: &'static str) -> Result<()> {
        match self.is_written(text, string) {
            true => Ok(()),
            false => {
                let texts = vec![self.note(text, string)?];
                self.seek(None, texts, path, why)
            }
        }
    }

    /// Reports a value that is nested too deeply to be looked for as dropped: the empty text is never found.
    fn report_depth(&mut self, path: Path<'_>) -> Result<()> {
        let why = "the value is nested too deeply to be looked for";
        let texts = vec![self.note("", "")?];
        self.seek(None, texts, path, why)
    }

    fn look_at_tools(&mut self, tools: Node<'_>) -> Result<()> {
        let path = Path {
            parent: None,
            key: Key::Name("tools"),
        };
        if self.changes.is_dropped(tools) {
            return Ok(());
        }
        for (index, tool) in tools.items().enumerate() {
            if self.changes.is_dropped(tool) {
                continue;
            }
            let name = tool.get("function").unwrap_or(tool).get_text("name");
            let next = self.next;
            if let Some(name) = name {
                self.look_at_text(name, name, path.index(index), "the prompt does not have the name of the tool")?;
            }
            // The name is found again as the first text of the tool.
            self.next = next;
            self.look_at_tool(tool, "", path.index(index), DEPTH)?;
        }
        Ok(())
    }

    /// Checks the names and descriptions of a tool and its parameters.
    fn look_at_tool(&mut self, node: Node<'_>, key: &str, path: Path<'_>, levels: usize) -> Result<()> {
        let Some(levels) = levels.checked_sub(1) else {
            return self.report_depth(path);
        };
        self.meter.charge(1)?;
        if self.changes.is_dropped(node) {
            return Ok(());
        }
        if let Some(text) = node.text() {
            if matches!(key, "name" | "description" | "enum") {
                self.look_at_text(text, text, path, "the prompt does not have the text")?;
            }
        }
        for (index, item) in node.items().enumerate() {
            self.look_at_tool(item, key, path.index(index), levels)?;
        }
        for (name, value) in node.entries() {
            let path = path.name(name);
            let is_parameter = key == "properties";
            if is_parameter {
                self.look_at_text(name, name, path, "the prompt does not have the parameter")?;
            }
            self.look_at_tool(value, if is_parameter { "" } else { name }, path, levels)?;
        }
        Ok(())
    }

    /// Copies a text, which is a part of a string of the body, to look for it later.
    fn note(&mut self, text: &str, string: &str) -> Result<Text> {
        self.claims.add(TEXT.saturating_add(text.len()), self.meter)?;
        Ok(Text::new(text, string))
    }

    /// Remembers a text or JSON that is not known to be in the prompt.
    fn seek(&mut self, json: Option<Text>, texts: Vec<Text>, path: Path<'_>, why: &'static str) -> Result<()> {
        let path = self.pointers.write(path);
        self.meter.charge_bytes(path.len())?;
        self.claims.add(SOUGHT.saturating_add(path.len()), self.meter)?;
        self.sought.push(Sought { path, json, texts, why });
        Ok(())
    }

    /// Returns whether the next writes have all words of a text, which is a part of a string of the body.
    fn is_written(&mut self, text: &str, string: &str) -> bool {
        let text = text.trim();
        text.is_empty() || self.is_next(text) || self.are_parts_next(text, string)
    }

    /// Returns whether one of the next writes has a text.
    fn is_next(&mut self, text: &str) -> bool {
        let memory = memory_of(text);
        self.find_next(|write| write.start <= memory.start && memory.end <= write.end)
            .is_some()
    }

    /// Returns whether one of the next writes, and those after it, are parts of a string and together have all words of a text in it.
    fn are_parts_next(&mut self, text: &str, string: &str) -> bool {
        let (memory, string) = (memory_of(text), memory_of(string));
        let is_part = |write: &Range<usize>| string.start <= write.start && write.start < memory.end && !write.is_empty();
        let Some(first) = self.find_next(is_part) else {
            return false;
        };
        let parts = self
            .writes
            .iter()
            .skip(first)
            .map(|write| &write.memory)
            .take_while(|memory| is_part(memory));
        let count = parts.clone().count();
        let is_written = covers(text, &memory, parts);
        self.next = first.saturating_add(count);
        is_written
    }

    /// Returns the index of the first of the next writes that a function accepts, and moves after it.
    fn find_next(&mut self, accepts: impl Fn(&Range<usize>) -> bool) -> Option<usize> {
        let mut ahead = self.writes.get(self.next..).unwrap_or_default().iter().take(AHEAD);
        let found = self.next.saturating_add(ahead.position(|write| accepts(&write.memory))?);
        self.next = found.saturating_add(1);
        Some(found)
    }

    /// Looks for the remaining texts, and returns a change for each that is not found.
    fn find_sought(mut self, own: &BTreeMap<usize, usize>) -> Result<Vec<Change>> {
        let mut dropped: Vec<Change> = Vec::new();
        if self.sought.is_empty() {
            return Ok(dropped);
        }
        self.meter.charge_items(self.writes.len().saturating_add(self.sought.len()))?;
        let parts = find_parts(&self.sought, &self.writes);
        for sought in &mut self.sought {
            sought.remove_covered(&parts);
        }
        self.sought.retain(|sought| !sought.texts.is_empty());
        let mut made = Search::new(self.copy_made(own)?.into());
        let mut whole = Search::new(self.prompt.into());
        for sought in std::mem::take(&mut self.sought) {
            let is_in = |change: &Change| {
                let rest = sought.path.strip_prefix(&change.path);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            if !dropped.last().is_some_and(is_in) && !sought.is_in(&mut made, &mut whole, self.meter)? {
                dropped.push(Change {
                    path: sought.path,
                    what: What::Dropped,
                    why: sought.why.into(),
                });
            }
        }
        Ok(dropped)
    }

    /// Returns the parts of the prompt that the door or the render made from texts of the body. Two parts that are close to each other
    /// include the text between them.
    fn copy_made(&mut self, own: &BTreeMap<usize, usize>) -> Result<String> {
        let is_own = |start: usize| own.range(..=start).next_back().is_some_and(|(_, end)| start < *end);
        let is_made = |write: &&Write| !write.output.is_empty() && (write.memory.end == 0 || is_own(write.memory.start));
        let writes = self.writes.iter().filter(is_made);
        let (size, _) = writes.fold((0_usize, 0_usize), |(size, end), write| {
            let between = write.output.start.saturating_sub(end).clamp(BETWEEN.len(), GAP);
            let size = size.saturating_add(between).saturating_add(write.output.len());
            (size, write.output.end)
        });
        self.meter.charge_bytes(size)?;
        self.claims.add(size, self.meter)?;
        let mut made = String::with_capacity(size);
        let mut end = 0_usize;
        for write in self.writes.iter().filter(is_made) {
            let is_near = write.output.start.saturating_sub(end) <= GAP;
            let start = if is_near { end } else { write.output.start };
            if !is_near {
                made.push_str(BETWEEN);
            }
            end = write.output.end;
            made.push_str(self.prompt.get(start..end).unwrap_or_default());
        }
        Ok(made)
    }
}
