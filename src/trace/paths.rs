//! The paths of the values of the input. Each is stored as the last step from its container.
//!
//! ```text
//! /messages/0/content   ->   the step `content` from /messages/0, the step `0` from /messages, the step `messages` from the root
//! ```
//!
//! A render makes no JSON pointers. Each is made when it is first read.

use std::sync::{Arc, OnceLock};

use super::pieces::{FEW, Owner, free_spare, free_spare_text, to_offset};
use crate::json::escape_key;
use crate::number::text::write_digits;

/// The step from a container to a value in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// The item at an index of a list.
    Index(u32),
    /// The value under a key of an object.
    Key(&'a str),
}

/// The paths of the values of an input, and the names of special tokens.
#[derive(Debug)]
pub struct Paths {
    /// The paths. A container comes before what is in it, and the root is the first.
    list: Vec<Path>,
    /// The last steps of all paths.
    steps: String,
    /// The sets of paths that segments are made from.
    pub sets: Vec<Arc<[u32]>>,
    /// The JSON pointer of each path, or the name of the token.
    pointers: OnceLock<Box<[OnceLock<String>]>>,
}

/// The path of a value: its container, and the last step.
#[derive(Clone, Copy, Debug)]
struct Path {
    parent: u32,
    /// The index after the last byte of the step in [`Paths::steps`].
    end: u32,
    /// The number of steps from the root.
    depth: u32,
    /// The container of the value that is [`TOP`] steps from the root, or the value itself if it is nearer to the root.
    top: u32,
    kind: Kind,
    /// Whether the value is the content of a message or of an item in it, or within such a content.
    is_content: bool,
    /// The message that the value is in.
    message: Owner,
}

/// What a step leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The value under a key, or the root.
    Entry,
    /// The list of messages.
    Messages,
    /// The item of a list.
    Item,
    /// A special token, whose step is its name.
    Token,
}

/// The number of steps from the root of the parts of the input that a union keeps apart, such as the arguments of a call of a tool. What is
/// deeper counts as its container.
const TOP: u32 = 6;

/// The number of steps from the root to a message.
pub(super) const MESSAGE_DEPTH: u32 = 2;

/// The index of the root: all values are within it.
pub const ROOT: u32 = 0;

/// The initial capacity of [`Paths::steps`] in bytes, which is enough for a short conversation.
const STEPS_CAPACITY: usize = 256;

impl Default for Paths {
    /// Makes paths without a root, which need no memory.
    fn default() -> Self {
        Self {
            list: Vec::new(),
            steps: String::new(),
            sets: Vec::new(),
            pointers: OnceLock::new(),
        }
    }
}

impl Paths {
    /// Makes the root, with memory for the paths of a short conversation.
    pub fn new() -> Self {
        let mut list = Vec::with_capacity(FEW);
        list.push(Path {
            parent: ROOT,
            end: 0,
            depth: 0,
            top: ROOT,
            kind: Kind::Entry,
            is_content: false,
            message: Owner::NONE,
        });
        Self {
            list,
            steps: String::with_capacity(STEPS_CAPACITY),
            ..Self::default()
        }
    }

    /// Adds a value of a container and returns its index.
    pub fn add(&mut self, parent: u32, step: Step<'_>) -> u32 {
        let index = to_offset(self.list.len());
        let Some(outer) = self.list.get(parent as usize).copied() else {
            return ROOT;
        };
        let depth = outer.depth.saturating_add(1);
        let mut added = Path {
            parent,
            end: 0,
            depth,
            top: if depth > TOP { outer.top } else { index },
            kind: Kind::Entry,
            is_content: outer.is_content,
            message: outer.message,
        };
        match step {
            Step::Index(index) => {
                write_digits(u64::from(index), &mut self.steps);
                added.kind = Kind::Item;
                if outer.kind == Kind::Messages {
                    added.message = Owner::message(index as usize);
                }
            }
            Step::Key(key) => {
                self.steps.push_str(key);
                added.is_content |= outer.kind == Kind::Item && outer.message != Owner::NONE && key == "content";
                if parent == ROOT && key == "messages" {
                    added.kind = Kind::Messages;
                }
            }
        }
        added.end = to_offset(self.steps.len());
        self.list.push(added);
        index
    }

    /// Adds a special token and returns its index.
    pub fn add_token(&mut self, name: &str) -> u32 {
        let index = self.add(ROOT, Step::Key(name));
        if let Some(path) = self.list.last_mut() {
            path.kind = Kind::Token;
        }
        index
    }

    /// Returns the container of a value. The container of the root is the root.
    pub fn parent(&self, index: u32) -> u32 {
        self.list.get(index as usize).map_or(ROOT, |path| path.parent)
    }

    /// Returns the message that a value is in, and whether the value belongs to its content.
    pub fn owner(&self, index: u32) -> (Owner, bool) {
        let path = self.list.get(index as usize);
        path.map_or((Owner::NONE, false), |path| (path.message, path.is_content))
    }

    /// Returns whether a value is `outer` or anywhere in it: `/messages/0/content` is in `/messages`.
    pub fn is_within(&self, mut index: u32, outer: u32) -> bool {
        while index > outer {
            index = self.parent(index);
        }
        index == outer
    }

    /// Returns the number of steps from the root.
    pub fn depth(&self, index: u32) -> usize {
        self.list.get(index as usize).map_or(0, |path| path.depth as usize)
    }

    /// Frees the memory that is not needed when no more paths are added.
    pub fn finish(&mut self) {
        free_spare(&mut self.list);
        free_spare_text(&mut self.steps);
    }

    /// Returns the indices of the paths of a set.
    pub fn set(&self, index: u32) -> &[u32] {
        self.sets.get(index as usize).map_or(&[], |set| set)
    }

    /// Returns the JSON pointer of a value, or the name of a token.
    pub fn pointer(&self, index: u32) -> &str {
        let pointers = self
            .pointers
            .get_or_init(|| self.list.iter().map(|_| OnceLock::new()).collect());
        let make = || {
            if self.is_token(index) {
                self.step(index).to_owned()
            } else {
                self.find_pointer(index)
            }
        };
        pointers.get(index as usize).map_or("", |pointer| pointer.get_or_init(make))
    }

    /// Returns an upper bound of the length of all JSON pointers.
    pub fn longest_pointer(&self) -> usize {
        // An escape has two bytes.
        self.steps.len().saturating_mul(2).saturating_add(self.list.len())
    }

    /// Returns the length of the JSON pointer of each path in bytes. A special token counts like a key of the root.
    pub fn pointer_lengths(&self) -> Vec<u32> {
        let mut lengths: Vec<u32> = Vec::with_capacity(self.list.len());
        for (index, path) in (0..).zip(&self.list) {
            let step = to_offset(escape_key(self.step(index)).len());
            let outer = lengths.get(path.parent as usize).copied().unwrap_or_default();
            lengths.push(match index {
                ROOT => 0,
                _ => outer.saturating_add(step).saturating_add(1),
            });
        }
        lengths
    }

    /// Returns whether a path is that of a special token.
    pub fn is_token(&self, index: u32) -> bool {
        self.list.get(index as usize).is_some_and(|path| path.kind == Kind::Token)
    }

    /// Returns whether a value is the item of a list.
    pub fn is_item(&self, index: u32) -> bool {
        self.list.get(index as usize).is_some_and(|path| path.kind == Kind::Item)
    }

    /// Returns the values from the root to a value, at most [`TOP`] steps from the root, without the root and in reverse order.
    pub fn ancestors(&self, index: u32) -> impl Iterator<Item = u32> {
        let top = self.list.get(index as usize).map_or(ROOT, |path| path.top);
        let paths = std::iter::successors(Some(top), |path| Some(self.parent(*path)));
        paths.take_while(|path| *path != ROOT)
    }

    /// Returns the last step of a path.
    pub fn step(&self, index: u32) -> &str {
        let end = |index: usize| self.list.get(index).map_or(0, |path| path.end as usize);
        let start = (index as usize).checked_sub(1).map_or(0, end);
        self.steps.get(start..end(index as usize)).unwrap_or_default()
    }

    /// Makes the JSON pointer of a value.
    pub fn find_pointer(&self, index: u32) -> String {
        match index {
            ROOT => String::new(),
            _ => format!("/{}", self.join_steps(index, ROOT)),
        }
    }

    /// Returns the part of a JSON pointer that leads from a container to a value in it: `content/0/text`.
    pub fn join_steps(&self, mut index: u32, container: u32) -> String {
        let mut steps = Vec::new();
        while index > container {
            steps.push(escape_key(self.step(index)));
            index = self.parent(index);
        }
        steps.reverse();
        steps.join("/")
    }

    /// Returns the index of each message and its path, in the order of the messages.
    pub fn messages(&self) -> impl Iterator<Item = (usize, u32)> {
        (0..self.list.len()).filter_map(|index| {
            let path = to_offset(index);
            Some((self.message(path)?.index()?, path))
        })
    }

    /// Returns the message that a value is, or `None` if it is another value or within a message.
    pub fn message(&self, index: u32) -> Option<Owner> {
        let path = self.list.get(index as usize)?;
        (path.depth == MESSAGE_DEPTH && path.message != Owner::NONE).then_some(path.message)
    }
}
