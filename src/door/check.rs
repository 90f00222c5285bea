//! Which texts of a body the prompt does not have.
//!
//! ```text
//! {"content": "<think>Hm.</think>Yes."}, prompt "…Yes.<|im_end|>"   ->   /messages/1/content: dropped
//! ```
//!
//! The render lists which strings it wrote, by their addresses. A text of the body is in the prompt if it is in that list, or if its parts
//! are, without outer white space. The others are looked for in what the render made of texts of the body ([`Search`]).

use std::ops::Range;

use super::change::{Change, Changes, What};
use super::format::Format;
use super::message::{Fitted, OwnValues};
use super::node::Node;
use super::path::{Key, Path};
use super::search::{GAP, Search};
use crate::json::{self, DEPTH};
use crate::trace::{Write, memory_of};

/// The number of writes that are compared with a text before it is looked up by its address. Most texts are written in the order of the body.
const AHEAD: usize = 16;

/// The number of searches in the writes that cost less than to sort the writes.
const SEARCHES: usize = 16;

/// The keys of strings that say which value this is, and are no texts.
const IDENTIFIERS: [&str; 6] = ["role", "type", "id", "call_id", "tool_call_id", "status"];

/// Returns a change for each text of a body that the prompt does not have, and that is not in the changes yet. `fitted` is what the template
/// got of the body.
pub fn find_dropped(
    body: Node<'_>,
    format: Format,
    prompt: &str,
    mut writes: Vec<Write>,
    fitted: [&Fitted<'_>; 2],
    changes: &Changes,
) -> Vec<Change> {
    let objects = writes.iter().filter(|write| write.is_object());
    let mut objects: Vec<usize> = objects.map(|write| write.memory.start).collect();
    objects.sort_unstable();
    let mut own = OwnValues::new(&objects);
    fitted.into_iter().for_each(|fitted| fitted.find_own(&mut own));
    own.add_leaves(&mut writes);
    let mut check = Check {
        prompt,
        writes,
        objects: &objects,
        next: 0,
        searches: SEARCHES,
        by_address: None,
        changes,
        is_responses: format == Format::Responses,
        sought: Vec::new(),
    };
    // Most templates write the tools first.
    if let Some(tools) = body.get("tools") {
        check.look_at_tools(tools);
    }
    if let Some(documents) = body.get("documents") {
        let path = Path {
            parent: None,
            key: Key::Name("documents"),
        };
        check.look_at_all(documents, "documents", path, DEPTH);
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
                    check.look_at_message(item, path.index(index));
                }
            }
            Some(text) => check.look_at(text, root, path, DEPTH),
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

/// A text that is not known to be in the prompt.
struct Sought {
    path: String,
    text: String,
    /// If the text is JSON, its keys and strings that were not written as they are.
    missing: Vec<String>,
    /// The reason for the change, if the prompt does not have the text.
    why: &'static str,
}

/// A check of a body against the list of what was written to the prompt.
struct Check<'c> {
    prompt: &'c str,
    /// The writes in the order of the prompt.
    writes: Vec<Write>,
    /// The addresses of the objects whose JSON was written, sorted.
    objects: &'c [usize],
    /// The index of the write after the last one that was found.
    next: usize,
    /// The number of searches in the writes until it pays to sort them.
    searches: usize,
    /// The addresses of the values that were written, sorted, with the indices of the writes.
    by_address: Option<Vec<(usize, usize)>>,
    /// The changes before the render.
    changes: &'c Changes,
    /// Whether the items of the body are those of Responses.
    is_responses: bool,
    sought: Vec<Sought>,
}

impl Check<'_> {
    /// Checks the texts of a message.
    fn look_at_message(&mut self, message: Node<'_>, path: Path<'_>) {
        if self.is_done(message) {
            return;
        }
        if self.is_responses && message.get_text("type") == Some("reasoning") {
            let key = ["content", "summary"].into_iter().find(|key| message.get(key).is_some());
            let texts = key.and_then(|key| message.get(key)).into_iter().flat_map(Node::items);
            for text in texts.filter_map(|text| text.get_text("text")) {
                self.look_at_reasoning(text, path);
            }
            return;
        }
        if self.is_responses && call_name(message).is_some() {
            return self.look_at(message, "", path, DEPTH);
        }
        message.for_each_entry(|key, value| match key {
            "content" => self.look_at(value, key, path.name(key), DEPTH),
            "reasoning_content" | "thinking" | "reasoning" => {
                if let Some(text) = value.text().filter(|_| !self.is_done(value)) {
                    self.look_at_reasoning(text, path.name(key));
                }
            }
            "tool_calls" | "name" | "refusal" | "output" | "function_call" => self.look_at(value, key, path.name(key), DEPTH),
            _ => self.look_at_all(value, key, path.name(key), DEPTH),
        });
    }

    /// Checks all texts of a value, except identifiers.
    fn look_at_all(&mut self, node: Node<'_>, key: &str, path: Path<'_>, levels: usize) {
        let Some(levels) = levels.checked_sub(1) else {
            return self.seek("", path, "it is nested too deeply");
        };
        if IDENTIFIERS.contains(&key) || self.is_done(node) {
            return;
        }
        if let Some(text) = node.text().filter(|text| !self.is_written(text, text)) {
            self.seek(text, path, "the prompt does not have the text");
        }
        for (index, item) in node.items().enumerate() {
            self.look_at_all(item, key, path.index(index), levels);
        }
        for (key, value) in node.entries() {
            self.look_at_all(value, key, path.name(key), levels);
        }
    }

    /// Checks the texts of the value of a key.
    fn look_at(&mut self, node: Node<'_>, key: &str, path: Path<'_>, levels: usize) {
        let Some(levels) = levels.checked_sub(1) else {
            return self.seek("", path, "it is nested too deeply");
        };
        if self.is_done(node) {
            return;
        }
        if let Some(text) = node.text() {
            if self.is_next(text) {
                return;
            }
            let (thought, answer) = split_thought(text);
            if !self.is_written(answer, text) {
                self.seek(answer, path, "the prompt does not have the text");
            }
            if !self.is_written(thought, text) {
                self.seek(thought, path, "the prompt does not have the reasoning");
            }
        } else if node.is_list() {
            for (index, item) in node.items().enumerate() {
                self.look_at(item, key, path.index(index), levels);
            }
        } else if let Some(name) = call_name(node) {
            self.look_at_call(node, name, path);
        } else if key != "source" || node.get_text("type") == Some("text") {
            for (key, value) in node.entries() {
                match key {
                    "content" | "text" | "refusal" | "output" | "function" | "source" | "data" => {
                        self.look_at(value, key, path.name(key), levels);
                    }
                    "thinking" => {
                        if let Some(text) = value.text() {
                            self.look_at_reasoning(text, path);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// Checks the name and the arguments of a call.
    fn look_at_call(&mut self, call: Node<'_>, name: &str, path: Path<'_>) {
        if !self.is_written(name, name) {
            self.seek(name, path, "the prompt does not have the name of the called function");
        }
        let arguments = call.entries().find(|(key, _)| matches!(*key, "arguments" | "input"));
        let Some((key, arguments)) = arguments else { return };
        let text = arguments.text();
        if text.is_some_and(|text| self.is_written(text, text)) {
            return;
        }
        let missing = match text.map(|text| json::read(text, DEPTH)) {
            Some(Ok(parsed)) => self.find_missing(Node::Data(&parsed), DEPTH),
            Some(Err(_)) => vec![String::new()],
            None => self.find_missing(arguments, DEPTH),
        };
        if !missing.is_empty() {
            let text = text.map_or_else(|| arguments.to_json(), str::to_owned);
            self.seek_text(text, missing, path.name(key), "the prompt does not have the arguments");
        }
    }

    /// Returns the keys and the strings of a value that were not written as they are.
    fn find_missing(&mut self, node: Node<'_>, levels: usize) -> Vec<String> {
        let Some(levels) = levels.checked_sub(1) else {
            return vec![node.to_json()];
        };
        if self.is_done(node) {
            return Vec::new();
        }
        let mut missing = Vec::new();
        let text = node.text().filter(|text| !self.is_written(text, text));
        missing.extend(text.map(str::to_owned));
        for item in node.items() {
            missing.extend(self.find_missing(item, levels));
        }
        for (key, value) in node.entries() {
            if !self.is_written(key, key) {
                missing.push(key.to_owned());
            }
            missing.extend(self.find_missing(value, levels));
        }
        missing
    }

    fn look_at_reasoning(&mut self, text: &str, path: Path<'_>) {
        if !self.is_written(text, text) {
            self.seek(text, path, "the prompt does not have the reasoning");
        }
    }

    fn look_at_tools(&mut self, tools: Node<'_>) {
        let path = Path {
            parent: None,
            key: Key::Name("tools"),
        };
        if self.is_done(tools) {
            return;
        }
        for (index, tool) in tools.items().enumerate() {
            if self.is_done(tool) {
                continue;
            }
            let name = tool.get("function").unwrap_or(tool).get_text("name");
            let next = self.next;
            if let Some(name) = name.filter(|name| !self.is_written(name, name)) {
                self.seek(name, path.index(index), "the prompt does not have the name of the tool");
            }
            // The name is found again as the first text of the tool.
            self.next = next;
            self.look_at_tool(tool, "", path.index(index), DEPTH);
        }
    }

    /// Checks the names and descriptions of a tool and its parameters.
    fn look_at_tool(&mut self, node: Node<'_>, key: &str, path: Path<'_>, levels: usize) {
        let Some(levels) = levels.checked_sub(1) else {
            return self.seek("", path, "it is nested too deeply");
        };
        if self.is_done(node) {
            return;
        }
        if let Some(text) = node.text() {
            if matches!(key, "name" | "description" | "enum") && !self.is_written(text, text) {
                self.seek(text, path, "the prompt does not have the text");
            }
        }
        for (index, item) in node.items().enumerate() {
            self.look_at_tool(item, key, path.index(index), levels);
        }
        for (name, value) in node.entries() {
            let path = path.name(name);
            let is_parameter = key == "properties";
            if is_parameter && !self.is_written(name, name) {
                self.seek(name, path, "the prompt does not have the parameter");
            }
            self.look_at_tool(value, if is_parameter { "" } else { name }, path, levels);
        }
    }

    /// Remembers a text that is not known to be in the prompt.
    fn seek(&mut self, text: &str, path: Path<'_>, why: &'static str) {
        self.seek_text(text.to_owned(), Vec::new(), path, why);
    }

    /// Remembers a text or JSON that is not known to be in the prompt.
    fn seek_text(&mut self, text: String, missing: Vec<String>, path: Path<'_>, why: &'static str) {
        self.sought.push(Sought {
            path: path.to_pointer(),
            text,
            missing,
            why,
        });
    }

    /// Returns whether nothing in a value has to be searched for, because the value is known to be dropped or its JSON was written.
    fn is_done(&self, node: Node<'_>) -> bool {
        let is_written = |address: usize| self.objects.binary_search(&address).is_ok();
        let is_object_written = || node.object_address().is_some_and(is_written);
        self.changes.is_dropped(node) || !self.objects.is_empty() && is_object_written()
    }

    /// Returns whether the render wrote a text, or parts of it that have all its words. The text is a part of `string`, which is a string
    /// of the body.
    fn is_written(&mut self, text: &str, string: &str) -> bool {
        let trimmed = text.trim();
        self.is_next(trimmed) || self.are_parts_written(trimmed, string)
    }

    /// Returns whether one of the next writes has a text.
    fn is_next(&mut self, text: &str) -> bool {
        let memory = memory_of(text);
        let mut ahead = self.writes.get(self.next..).unwrap_or_default().iter().take(AHEAD);
        let offset = ahead.position(|write| write.memory.start <= memory.start && memory.end <= write.memory.end);
        if let Some(offset) = offset {
            self.next = self.next.saturating_add(offset).saturating_add(1);
        }
        offset.is_some()
    }

    /// Returns whether the render wrote parts of a text that have all its words. The text is a part of `string`, which is a string of the
    /// body.
    fn are_parts_written(&mut self, text: &str, string: &str) -> bool {
        if text.is_empty() {
            return true;
        }
        let memory = memory_of(text);
        let has_words = |part: Range<usize>| {
            let part = part.start.saturating_sub(memory.start)..part.end.saturating_sub(memory.start);
            text.get(part).unwrap_or_default().contains(char::is_alphanumeric)
        };
        let mut reached = memory.start;
        let mut last = None;
        for index in self.find_writes(memory_of(string).start..memory.end) {
            let Some(write) = self.writes.get(index) else { continue };
            if write.memory.start > reached && has_words(reached..write.memory.start) {
                return false;
            }
            reached = reached.max(write.memory.end);
            last = Some(index);
        }
        let is_complete = reached > memory.start && (reached >= memory.end || !has_words(reached..memory.end));
        if let Some(last) = last.filter(|_| is_complete) {
            self.next = last.saturating_add(1);
        }
        is_complete
    }

    /// Returns the indices of the writes whose memory begins in a range, by their addresses.
    fn find_writes(&mut self, memory: Range<usize>) -> Vec<usize> {
        let addresses = self.writes.iter().map(|write| write.memory.start).zip(0..);
        if let Some(searches) = self.searches.checked_sub(1) {
            self.searches = searches;
            let mut found: Vec<(usize, usize)> = Vec::new();
            for (address, index) in addresses {
                if memory.contains(&address) {
                    found.push((address, index));
                }
            }
            found.sort_unstable();
            return found.into_iter().map(|(_, index)| index).collect();
        }
        let by_address = self.by_address.get_or_insert_with(|| {
            let mut by_address: Vec<(usize, usize)> = addresses.collect();
            by_address.sort_unstable();
            by_address
        });
        let start = by_address.partition_point(|(address, _)| *address < memory.start);
        let found = by_address.get(start..).unwrap_or_default().iter();
        let found = found.take_while(|(address, _)| *address < memory.end);
        found.map(|(_, index)| *index).collect()
    }

    /// Looks for the remaining texts, and returns a change for each that is not found.
    fn find_sought(mut self, own: &OwnValues<'_>) -> Vec<Change> {
        let mut dropped: Vec<Change> = Vec::new();
        if self.sought.is_empty() {
            return dropped;
        }
        let mut made = Search::new(self.copy_made(own).into());
        let mut whole = Search::new(self.prompt.into());
        for sought in std::mem::take(&mut self.sought) {
            let is_in = |change: &Change| {
                let rest = sought.path.strip_prefix(&change.path);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            if dropped.last().is_some_and(is_in) {
                continue;
            }
            let is_found = !sought.text.is_empty()
                && match sought.missing.as_slice() {
                    [] => made.has(&sought.text),
                    missing => {
                        let has_missing = |made: &mut Search<'_>| missing.iter().all(|text| !text.is_empty() && made.has(text));
                        made.has_words(&sought.text) || made.has(&sought.text) || has_missing(&mut made)
                    }
                };
            // A name can be written from another place of the body.
            let is_name = !sought.text.is_empty() && !sought.text.contains(char::is_whitespace);
            if !(is_found || is_name && whole.has(&sought.text)) {
                let Sought { path, why, .. } = sought;
                dropped.push(Change {
                    path,
                    what: What::Dropped,
                    why: why.into(),
                });
            }
        }
        dropped
    }

    /// Returns the parts of the prompt that the door or the render made from texts of the body. Two parts that are close to each other
    /// include the text between them.
    fn copy_made(&self, own: &OwnValues<'_>) -> String {
        let is_made = |write: &&Write| !write.output.is_empty() && (write.is_made() || own.is_made(write.memory.start));
        let mut made = String::new();
        let mut end = 0_usize;
        for write in self.writes.iter().filter(is_made) {
            let is_near = write.output.start.saturating_sub(end) <= GAP;
            let start = if is_near { end } else { write.output.start };
            if !is_near {
                made.push_str("\n\n");
            }
            end = write.output.end;
            made.push_str(self.prompt.get(start..end).unwrap_or_default());
        }
        made
    }
}
