//! Which texts of a body the prompt does not have.
//!
//! ```text
//! {"content": "<think>Hm.</think>Yes."}, prompt "…Yes.<|im_end|>"   ->   /messages/1/content: dropped
//! ```
//!
//! A text counts as in the prompt if it is there verbatim without outer white space, or if its words are there, in their order and close to
//! each other: a template can encode, indent or parse a text. Texts are mostly in the order of the body, so a search begins where the last
//! one ended.

use std::borrow::Cow;
use std::ops::Range;

use super::change::{Change, Changes, What};
use super::content::MAX_SHOWN;
use super::format::Format;
use super::node::Node;
use super::path::{Key, Path, read_index};
use crate::json::{self, DEPTH};
use crate::text::truncate::elide;

/// The most bytes between two words of one text.
const GAP: usize = 128;

/// The most bytes between two texts of a message.
const NEAR: usize = 1024;

/// The number of places at which a text with the right beginning is looked for.
const TRIES: usize = 8;

/// The number of bytes that are compared first. A comparison of more bytes counts as a try.
const HEAD: usize = 32;

/// The number of bytes that are compared by a hash.
const SAMPLE: usize = 16;

/// Returns a change for each text of a body that the prompt does not have, and that is not in the changes yet.
pub fn find_dropped(body: Node<'_>, format: Format, prompt: &str, changes: &Changes) -> Vec<Change> {
    let is_dropped = |change: &&Change| change.what == What::Dropped;
    let paths = changes.into_iter().filter(is_dropped).map(|change| change.path.as_str());
    let mut known: Vec<(Option<usize>, &str)> = paths.map(|path| (read_index(path), path)).collect();
    known.sort_unstable();
    let mut search = Search {
        prompt,
        known,
        at: 0,
        gaps: [0; 4],
        is_responses: format == Format::Responses,
        budget: prompt.len().saturating_mul(8).saturating_add(NEAR),
        dropped: Vec::new(),
    };
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
                    search.look_at_message(item, path.index(index));
                }
            }
            Some(text) => search.look_at(text, root, path, DEPTH),
            None => {}
        }
    }
    if let Some(tools) = body.get("tools") {
        search.at = 0;
        let path = Path {
            parent: None,
            key: Key::Name("tools"),
        };
        if search.is_known(path) {
            return search.dropped;
        }
        for (index, tool) in tools.items().enumerate() {
            let function = tool.get("function").unwrap_or(tool);
            let name = function.get_text("name").filter(|name| !search.has(name));
            match name {
                Some(name) => search.drop(
                    path.index(index),
                    format!("the prompt does not have the tool `{}`", elide(name, MAX_SHOWN)),
                ),
                None => {
                    // The name is found again as the first text of the tool.
                    search.at = search
                        .at
                        .saturating_sub(function.get_text("name").unwrap_or_default().trim().len());
                    search.look_at_tool(tool, "", path.index(index), DEPTH);
                }
            }
        }
    }
    search.dropped
}

/// Returns the name of the called function, if a value is a call.
fn call_name(node: Node<'_>) -> Option<&str> {
    let is_call = node.has("arguments") || node.has("input");
    node.get_text("name").filter(|_| is_call)
}

/// A search for the texts of a body in the prompt.
struct Search<'c> {
    prompt: &'c str,
    /// The paths of values that are dropped, in the order of the messages or tools in which they are.
    known: Vec<(Option<usize>, &'c str)>,
    /// The end of the last text that was found.
    at: usize,
    /// The numbers of bytes between the last texts that were found. The next text is often after one of them.
    gaps: [usize; 4],
    /// Whether the items of the body are those of Responses.
    is_responses: bool,
    /// The number of bytes that searches for texts which are not near may still read.
    budget: usize,
    dropped: Vec<Change>,
}

impl Search<'_> {
    /// Searches the prompt for the texts of a message, and records those that it does not have.
    fn look_at_message(&mut self, message: Node<'_>, path: Path<'_>) {
        let start = self.at;
        if self.is_responses && message.get_text("type") == Some("reasoning") {
            let key = ["content", "summary"].into_iter().find(|key| message.get(key).is_some());
            let texts = key.and_then(|key| message.get(key)).into_iter().flat_map(Node::items);
            for text in texts.filter_map(|text| text.get_text("text")) {
                self.look_for_reasoning(text, start, start.saturating_add(text.len()).saturating_add(NEAR), path);
            }
            return;
        }
        if self.is_responses && call_name(message).is_some() {
            return self.look_at(message, "", path, DEPTH);
        }
        for (key, value) in message.entries() {
            match key {
                "content" => self.look_at(value, key, path.name(key), DEPTH),
                "reasoning_content" | "thinking" | "reasoning" => {
                    if let Some(text) = value.text() {
                        self.look_for_reasoning(
                            text,
                            start,
                            start.saturating_add(text.len()).saturating_add(NEAR),
                            path.name(key),
                        );
                    }
                }
                "tool_calls" if self.is_known(path.name(key)) => {}
                "tool_calls" | "name" | "refusal" | "output" => self.look_at(value, key, path.name(key), DEPTH),
                _ => {}
            }
        }
    }

    /// Searches the prompt for the texts of the value of a key, and records those that it does not have.
    fn look_at(&mut self, node: Node<'_>, key: &str, path: Path<'_>, levels: usize) {
        let Some(levels) = levels.checked_sub(1) else {
            return self.drop(path, "it is nested too deeply");
        };
        if let Some(text) = node.text() {
            let start = self.at;
            let begins_with_thought = text.trim_start().strip_prefix("<think>");
            let parts = begins_with_thought.and_then(|text| text.rsplit_once("</think>"));
            let answer = parts.map_or(text, |(_, answer)| answer);
            if !self.has(answer) {
                self.drop(path, "the prompt does not have the text");
            }
            if let Some((thought, _)) = parts {
                // Between the last text and the answer, if it is anywhere.
                self.look_for_reasoning(thought, start, self.at, path);
            }
        } else if node.is_list() {
            for (index, item) in node.items().enumerate() {
                self.look_at(item, key, path.index(index), levels);
            }
        } else if let Some(name) = call_name(node) {
            if self.is_known(path) {
            } else if !self.has(name) {
                self.drop(
                    path,
                    format!("the prompt does not have a call of `{}`", elide(name, MAX_SHOWN)),
                );
            } else if let Some((key, arguments)) = node.entries().find(|(key, _)| matches!(*key, "arguments" | "input")) {
                if !self.has_arguments(arguments) {
                    self.drop(path.name(key), "the prompt does not have the arguments");
                }
            }
        } else if key != "source" || node.get_text("type") == Some("text") {
            let start = self.at;
            for (key, value) in node.entries() {
                match key {
                    "content" | "text" | "refusal" | "output" | "function" | "source" | "data" => {
                        self.look_at(value, key, path.name(key), levels);
                    }
                    "thinking" => {
                        if let Some(text) = value.text() {
                            self.look_for_reasoning(text, start, start.saturating_add(text.len()).saturating_add(NEAR), path);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// Searches a range of the prompt for reasoning, and records it if the range does not have it.
    fn look_for_reasoning(&mut self, text: &str, start: usize, end: usize, path: Path<'_>) {
        let text = text.trim();
        if text.is_empty() || self.is_known(path) {
            return;
        }
        let found = self.find(text, start..end).or_else(|| self.find_words(text, start..end).ok());
        match found {
            Some(end) => self.at = self.at.max(end),
            None => self.drop(path, "the prompt does not have the reasoning"),
        }
    }

    /// Searches the prompt for the names and descriptions of a tool and its parameters, and records those that it does not have.
    fn look_at_tool(&mut self, node: Node<'_>, key: &str, path: Path<'_>, levels: usize) {
        let Some(levels) = levels.checked_sub(1) else {
            return self.drop(path, "it is nested too deeply");
        };
        if let Some(text) = node.text() {
            if matches!(key, "name" | "description" | "enum") && !self.has(text) {
                self.drop(path, "the prompt does not have the text");
            }
        }
        for (index, item) in node.items().enumerate() {
            self.look_at_tool(item, key, path.index(index), levels);
        }
        for (name, value) in node.entries() {
            let path = path.name(name);
            if key == "properties" {
                if !self.has(name) {
                    self.drop(path, "the prompt does not have the parameter");
                }
                self.look_at_tool(value, "", path, levels);
            } else {
                self.look_at_tool(value, name, path, levels);
            }
        }
    }

    /// Adds a change, unless the value or one around it is dropped already.
    fn drop(&mut self, path: Path<'_>, why: impl Into<Cow<'static, str>>) {
        if !self.is_known(path) {
            let (path, what) = (path.to_string(), What::Dropped);
            self.dropped.push(Change {
                path,
                what,
                why: why.into(),
            });
        }
    }

    /// Returns whether the value at a path or one around it is dropped already.
    fn is_known(&self, path: Path<'_>) -> bool {
        if self.known.is_empty() {
            return false;
        }
        let item = path.item();
        let start = self.known.partition_point(|(index, _)| *index < item);
        let known = self.known.get(start..).unwrap_or_default();
        let roots = self.known.iter().take_while(|(index, _)| index.is_none());
        let mut known = known.iter().take_while(|(index, _)| *index == item).chain(roots);
        known.any(|(_, known)| path.strip_from(known) == Some(""))
    }

    /// Returns the end of a text close to the last one. Most texts are some characters away, so a search by the first byte is fast.
    fn find_near(&mut self, text: &str) -> Option<usize> {
        let Some(first) = text.as_bytes().first() else {
            return Some(self.at);
        };
        let bytes = self.prompt.as_bytes();
        for gap in self.gaps {
            let start = self.at.saturating_add(gap);
            let after = start.saturating_add(text.len());
            if bytes.get(start) == Some(first) && bytes.get(start..after) == Some(text.as_bytes()) {
                return Some(after);
            }
        }
        let end = self.at.saturating_add(NEAR).min(bytes.len());
        let head = text.as_bytes().get(..HEAD).unwrap_or(text.as_bytes());
        let (mut start, mut tries) = (self.at, 0_usize);
        while tries < TRIES {
            let at = bytes.get(start..end)?.iter().position(|byte| byte == first)?;
            start = start.saturating_add(at);
            if bytes.get(start..start.saturating_add(head.len())) == Some(head) {
                tries = tries.saturating_add(1);
                let after = start.saturating_add(text.len());
                if bytes.get(start..after) == Some(text.as_bytes()) {
                    let [first, second, third, _] = self.gaps;
                    self.gaps = [start.saturating_sub(self.at), first, second, third];
                    return Some(after);
                }
            }
            start = start.saturating_add(1);
        }
        None
    }

    /// Returns whether the prompt has a text, and moves to its end.
    fn has(&mut self, text: &str) -> bool {
        let text = text.trim();
        let near = self.at..self.at.saturating_add(text.len()).saturating_add(NEAR);
        let found = self.find_near(text);
        let found = found.or_else(|| self.find_words(text, near).ok());
        let found = found.or_else(|| self.find_far(text, self.at..self.prompt.len()));
        let found = found.or_else(|| self.find_far(text, 0..self.at.saturating_add(text.len()).min(self.prompt.len())));
        let found = found.or_else(|| self.find_far_words(text));
        if let Some(end) = found {
            self.at = end;
        }
        found.is_some()
    }

    /// Returns whether the prompt has the arguments of a call: as a text, or the strings and the integers in it.
    fn has_arguments(&mut self, arguments: Node<'_>) -> bool {
        let Some(text) = arguments.text() else {
            return self.has_leaves(arguments, DEPTH);
        };
        let near = self.at..self.at.saturating_add(text.len().saturating_mul(2)).saturating_add(NEAR);
        if let Some(end) = self.find_near(text).or_else(|| self.find_words(text, near).ok()) {
            self.at = end;
            return true;
        }
        match json::read(text, DEPTH) {
            Ok(parsed) => self.has_leaves(Node::Data(&parsed), DEPTH),
            Err(_) => self.has(text),
        }
    }

    fn has_leaves(&mut self, node: Node<'_>, levels: usize) -> bool {
        let Some(levels) = levels.checked_sub(1) else {
            return false;
        };
        if let Some(text) = node.text() {
            return self.has(text);
        }
        let mut entries = node.entries();
        node.items().all(|item| self.has_leaves(item, levels))
            && entries.all(|(key, value)| self.has(key) && self.has_leaves(value, levels))
    }

    /// Returns the end of a text in a range that can be long, if the budget allows the search.
    fn find_far(&mut self, text: &str, range: Range<usize>) -> Option<usize> {
        let read = range
            .len()
            .checked_div(text.len().saturating_sub(SAMPLE))
            .unwrap_or(range.len());
        let cost = read.saturating_mul(SAMPLE).min(range.len()).saturating_add(text.len());
        self.budget = self.budget.checked_sub(cost)?;
        self.find(text, range)
    }

    /// Returns the end of the words of a text anywhere in the prompt, if the budget allows the search.
    fn find_far_words(&mut self, text: &str) -> Option<usize> {
        (self.budget > 0).then_some(())?;
        let found = self.find_words(text, 0..self.prompt.len());
        let (Ok(read) | Err(read)) = found;
        self.budget = self.budget.saturating_sub(read);
        found.ok()
    }

    /// Returns the end of a text in a range of the prompt, whose start is the end of a character.
    ///
    /// If the text is long, most bytes are skipped: of samples at intervals shorter than the text, one is in the text.
    fn find(&self, text: &str, range: Range<usize>) -> Option<usize> {
        let start = range.start;
        let slice = self.slice(range);
        let (bytes, sought) = (slice.as_bytes(), text.as_bytes());
        let at = if text.len() < SAMPLE.saturating_mul(3) {
            let first = text.chars().next()?;
            let mut firsts = slice.match_indices(first);
            firsts
                .find(|(at, _)| bytes.get(*at..).is_some_and(|rest| rest.starts_with(sought)))?
                .0
        } else {
            let samples = Samples::new(sought);
            let interval = text.len().saturating_sub(SAMPLE).max(1);
            (0..)
                .map(|index: usize| index.saturating_mul(interval))
                .take_while(|at| *at < bytes.len())
                .find_map(|at| {
                    let window = at.saturating_sub(interval)..at.saturating_add(text.len()).min(bytes.len());
                    let has = |at: Option<usize>| at.and_then(|at| bytes.get(at..)).is_some_and(|bytes| samples.has(bytes));
                    // The sample before or after this one is in the text too.
                    (has(Some(at)) && (has(at.checked_add(SAMPLE)) || has(at.checked_sub(SAMPLE)))).then_some(())?;
                    let window = extend(slice, window);
                    Some(window.start.saturating_add(slice.get(window)?.find(text)?))
                })?
        };
        Some(start.saturating_add(at).saturating_add(text.len()))
    }

    /// Returns the end of the words of a text, if they are close to each other and the first is in a range of the prompt. The error is the
    /// end of what was read.
    fn find_words(&self, text: &str, range: Range<usize>) -> Result<usize, usize> {
        let mut words = text
            .split(|char: char| !char.is_alphanumeric())
            .filter(|word| !word.is_empty());
        let first = words.next().ok_or(range.start)?;
        let mut start = range.start;
        for _ in 0..TRIES {
            let end = self.find(first, start..range.end).ok_or(range.end)?;
            let last = words.clone().try_fold(end, |end, word| {
                self.find(word, end..end.saturating_add(word.len()).saturating_add(GAP))
            });
            if let Some(last) = last {
                return Ok(last);
            }
            start = end;
        }
        Err(start)
    }

    /// Returns a range of the prompt, extended to whole characters.
    fn slice(&self, range: Range<usize>) -> &str {
        self.prompt.get(extend(self.prompt, range)).unwrap_or_default()
    }
}

/// Returns a range of a text, extended to whole characters.
fn extend(text: &str, range: Range<usize>) -> Range<usize> {
    let is_boundary = |at: &usize| text.is_char_boundary(*at);
    let start = (0..=range.start).rev().find(is_boundary);
    let end = (range.end..text.len()).find(is_boundary);
    start.unwrap_or_default()..end.unwrap_or(text.len())
}

/// The sequences of [`SAMPLE`] bytes that a text has, as a set of hashes. A sequence that is not in the text can share a hash.
struct Samples([u64; 256]);

impl Samples {
    fn new(text: &[u8]) -> Self {
        let mut samples = [0; 256];
        for (word, bit) in text.windows(SAMPLE).filter_map(Self::find_bit) {
            if let Some(word) = samples.get_mut(word) {
                *word |= bit;
            }
        }
        Self(samples)
    }

    /// Returns whether the text may have the first [`SAMPLE`] bytes of a slice.
    fn has(&self, bytes: &[u8]) -> bool {
        let found = Self::find_bit(bytes).and_then(|(word, bit)| Some(self.0.get(word)? & bit));
        found.is_some_and(|bit| bit != 0)
    }

    /// Returns the bit for the first [`SAMPLE`] bytes of a slice, after the index of the word that has the bit.
    fn find_bit(bytes: &[u8]) -> Option<(usize, u64)> {
        let sample = u128::from_le_bytes(*bytes.first_chunk::<SAMPLE>()?);
        let [.., bit, word] = sample.wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835).to_le_bytes();
        Some((usize::from(word), 1 << (bit & 63)))
    }
}
