//! Which texts of a body the prompt does not have.
//!
//! ```text
//! {"content": "<think>Hm.</think>Yes."}, prompt "…Yes.<|im_end|>"   ->   /messages/1/content: dropped
//! ```
//!
//! The render lists which strings it wrote, by their addresses. A text of the body is in the prompt if it is in that list, or if its parts
//! are, without outer white space. The others are looked for in what the render made of texts of the body ([`Search`]).

use std::borrow::Cow;
use std::ops::Range;

use super::change::{Change, Changes, What};
use super::format::Format;
use super::message::{Fitted, OwnValues};
use super::node::Node;
use super::path::{Key, Path};
use super::search::{GAP, Search};
use crate::json::{self, DEPTH, Data};
use crate::trace::{Write, memory_of};

/// The number of writes that are compared with a text before it is looked up by its address. Most texts are written in the order of the body.
const AHEAD: usize = 8;

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

/// A text that is not known to be in the prompt.
struct Sought {
    path: String,
    text: String,
    /// Whether the text is JSON, of which the prompt can have the strings.
    is_json: bool,
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
    /// The addresses of the strings that were written, sorted, with the indices of the writes.
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
            if self.is_written(text, text) {
                return;
            }
            let begins_with_thought = text.trim_start().strip_prefix("<think>");
            let parts = begins_with_thought.and_then(|text| text.rsplit_once("</think>"));
            let (thought, answer) = parts.unwrap_or(("", text));
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
        let text = match arguments.text() {
            Some(text) if self.is_written(text, text) => return,
            Some(text) => Cow::Borrowed(text),
            None if self.are_leaves_written(arguments, DEPTH) => return,
            None => Cow::Owned(arguments.to_json()),
        };
        let parsed = arguments.text().and_then(|text| json::read(text, DEPTH).ok());
        if parsed.is_some_and(|parsed| self.are_leaves_written(Node::Data(&parsed), DEPTH)) {
            return;
        }
        self.seek_text(&text, true, path.name(key), "the prompt does not have the arguments");
    }

    /// Returns whether the keys and the strings of a value were written.
    fn are_leaves_written(&mut self, node: Node<'_>, levels: usize) -> bool {
        let Some(levels) = levels.checked_sub(1) else {
            return false;
        };
        if self.is_done(node) {
            return true;
        }
        if let Some(text) = node.text() {
            return self.is_written(text, text);
        }
        let mut entries = node.entries();
        node.items().all(|item| self.are_leaves_written(item, levels))
            && entries.all(|(key, value)| self.is_written(key, key) && self.are_leaves_written(value, levels))
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
        self.seek_text(text, false, path, why);
    }

    /// Remembers a text or JSON that is not known to be in the prompt.
    fn seek_text(&mut self, text: &str, is_json: bool, path: Path<'_>, why: &'static str) {
        self.sought.push(Sought {
            path: path.to_pointer(),
            text: text.to_owned(),
            is_json,
            why,
        });
    }

    /// Returns whether nothing in a value has to be looked for: it is known to be dropped, or its JSON was written.
    fn is_done(&self, node: Node<'_>) -> bool {
        let is_written = |address: usize| self.objects.binary_search(&address).is_ok();
        let is_object_written = || node.object_address().is_some_and(is_written);
        self.changes.is_dropped(node) || !self.objects.is_empty() && is_object_written()
    }

    /// Returns whether the render wrote a text, or parts of it that together have all its words. The text is a part of `string`.
    fn is_written(&mut self, text: &str, string: &str) -> bool {
        let memory = memory_of(text);
        let mut ahead = self.writes.get(self.next..).unwrap_or_default().iter().take(AHEAD);
        let is_whole = |write: &Write| write.memory.start <= memory.start && memory.end <= write.memory.end;
        if let Some(offset) = ahead.position(is_whole) {
            self.next = self.next.saturating_add(offset).saturating_add(1);
            return true;
        }
        let text = text.trim();
        text.is_empty() || self.are_parts_written(text, memory_of(string).start)
    }

    /// Returns whether parts of a text were written that together have all its words. `first` is the address of the string whose part the
    /// text is.
    fn are_parts_written(&mut self, text: &str, first: usize) -> bool {
        let by_address = self.by_address.get_or_insert_with(|| {
            let inputs = self.writes.iter().zip(0..).filter(|(write, _)| !write.memory.is_empty());
            let mut by_address: Vec<(usize, usize)> = inputs.map(|(write, index)| (write.memory.start, index)).collect();
            by_address.sort_unstable_by_key(|(address, _)| *address);
            by_address
        });
        let memory = memory_of(text);
        let has_words = |part: Range<usize>| {
            let part = part.start.saturating_sub(memory.start)..part.end.saturating_sub(memory.start);
            text.get(part).unwrap_or_default().contains(char::is_alphanumeric)
        };
        let start = by_address.partition_point(|(address, _)| *address < first);
        let parts = by_address.get(start..).unwrap_or_default().iter();
        let parts = parts
            .take_while(|(address, _)| *address < memory.end)
            .map(|(_, index)| *index);
        let mut reached = memory.start;
        for write in parts.clone().filter_map(|index| self.writes.get(index)) {
            if write.memory.start > reached && has_words(reached..write.memory.start) {
                return false;
            }
            reached = reached.max(write.memory.end);
        }
        let is_complete = reached > memory.start && (reached >= memory.end || !has_words(reached..memory.end));
        if let Some(last) = parts.last().filter(|_| is_complete) {
            self.next = last.saturating_add(1);
        }
        is_complete
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
                && match sought.is_json {
                    true => has_json(&mut made, &sought.text),
                    false => made.has(&sought.text),
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

    /// Returns what the door or the render made of texts, with the text of the template between two writes that are close to each other.
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

/// Returns whether a search finds JSON, with any white space, or its keys and strings.
fn has_json(search: &mut Search<'_>, text: &str) -> bool {
    search.has_words(text) || search.has(text) || json::read(text, DEPTH).is_ok_and(|parsed| has_leaves(search, &parsed))
}

/// Returns whether a search finds the keys and the strings of a value. The JSON reader has limited its depth.
fn has_leaves(search: &mut Search<'_>, data: &Data<'_>) -> bool {
    match data {
        Data::Str(text) => search.has(text),
        Data::List(items) => items.iter().all(|item| has_leaves(search, item)),
        Data::Object(object) => object
            .entries()
            .iter()
            .all(|(key, value)| search.has(key) && has_leaves(search, value)),
        _ => true,
    }
}
