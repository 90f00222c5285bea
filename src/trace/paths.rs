//! The paths of the values of the input. Each is stored as the last step from its container.
//!
//! ```text
//! /messages/0/content   ->   the step `content` from /messages/0, the step `0` from /messages, the step `messages` from the root
//! ```
//!
//! A render makes no JSON pointers. Each is made when it is first read.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::{Arc, OnceLock};

use super::input_part::InputPart;
use super::known::Role;
use super::source::{FEW, Owner, free_spare, free_spare_text, to_offset};
use crate::json::escape_key;

/// The paths of the values of an input, and the names of special tokens.
#[derive(Debug)]
pub struct Paths {
    /// The paths. A container comes before what is in it, and the root is the first.
    list: Vec<Path>,
    /// The last steps of all paths that are keys.
    keys: String,
    /// The sets of paths that segments are made from.
    pub sets: Vec<Arc<[u32]>>,
    /// The JSON pointer of each path, or the name of the token.
    pointers: OnceLock<Box<[OnceLock<String>]>>,
}

/// The path of a value: its container, and the last step.
#[derive(Clone, Copy, Debug)]
struct Path {
    parent: u32,
    /// The index after the last byte of a key in [`Paths::keys`]. An item has no bytes there.
    end: u32,
    /// The index among the values of the container.
    position: u32,
    /// The number of steps from the root.
    depth: u16,
    part: InputPart,
    role: Role,
}

/// The index of the root: all values are within it.
pub const ROOT: u32 = 0;

/// The initial capacity of [`Paths::keys`] in bytes, which is enough for a short conversation.
const KEYS_CAPACITY: usize = 256;

impl Paths {
    /// Makes paths without a root, which need no memory.
    pub const fn empty() -> Self {
        Self {
            list: Vec::new(),
            keys: String::new(),
            sets: Vec::new(),
            pointers: OnceLock::new(),
        }
    }

    /// Makes the root, with memory for the paths of a short conversation.
    pub fn new() -> Self {
        let mut list = Vec::with_capacity(FEW);
        list.push(Path {
            parent: ROOT,
            end: 0,
            position: 0,
            depth: 0,
            part: InputPart::Root,
            role: Role::Entry,
        });
        Self {
            list,
            keys: String::with_capacity(KEYS_CAPACITY),
            ..Self::empty()
        }
    }

    /// Adds the value at a position of a container, perhaps under a key, and returns its index.
    #[inline]
    pub(super) fn add(&mut self, parent: u32, (position, role, key): (u32, Role, &str)) -> u32 {
        let index = to_offset(self.list.len());
        let Some(outer) = self.list.get(parent as usize) else {
            return ROOT;
        };
        let depth = outer.depth.saturating_add(1);
        let part = outer.part.enter(outer.role == Role::Item, role, key);
        self.keys.push_str(key);
        self.list.push(Path {
            parent,
            end: to_offset(self.keys.len()),
            position,
            depth,
            part,
            role,
        });
        index
    }

    /// Returns the number of bytes of all keys.
    pub(super) fn keys_len(&self) -> usize {
        self.keys.len()
    }

    /// Returns the order of two values of the input: a container comes before what is in it, and the values of a container other than the
    /// root before what is in these.
    pub(super) fn compare(&self, one: u32, other: u32) -> Ordering {
        let climb = |mut path: u32, depth: usize| {
            while self.depth(path) > depth {
                path = self.parent(path);
            }
            path
        };
        let mut depth = self.depth(one).min(self.depth(other));
        let mut pair = [one, other].map(|path| climb(path, depth));
        while pair[0] != pair[1] && self.parent(pair[0]) != self.parent(pair[1]) {
            depth = depth.saturating_sub(1);
            pair = pair.map(|path| climb(path, depth));
        }
        let position = |path: u32| self.list.get(path as usize).map_or(0, |path| path.position);
        let [left, right] = pair;
        let is_deep = [(one, left), (other, right)].map(|(path, top)| path != top && self.parent(top) != ROOT);
        let [is_left_deep, is_right_deep] = is_deep;
        is_left_deep
            .cmp(&is_right_deep)
            .then(position(left).cmp(&position(right)))
            .then(self.depth(one).cmp(&self.depth(other)))
    }

    /// Returns the container of a value. The container of the root is the root.
    pub fn parent(&self, index: u32) -> u32 {
        self.list.get(index as usize).map_or(ROOT, |path| path.parent)
    }

    /// Returns the container of each value.
    pub(super) fn parents(&self) -> Vec<u32> {
        self.list.iter().map(|path| path.parent).collect()
    }

    /// Returns whether a value is under a key that is a string of the input. Those of the root are variables.
    pub(super) fn is_entry(&self, index: u32) -> bool {
        let path = self.list.get(index as usize);
        path.is_some_and(|path| path.role == Role::Entry && path.parent != ROOT)
    }

    /// Returns the message that a value is in, and whether the value belongs to its content.
    pub fn owner(&self, mut index: u32) -> (Owner, bool) {
        let part = self.part(index);
        if !part.is_in_message() {
            return (Owner::NONE, false);
        }
        while self.part(index) != InputPart::Message {
            index = self.parent(index);
        }
        (self.message(index).unwrap_or_default(), part == InputPart::Content)
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
        self.list.get(index as usize).map_or(0, |path| usize::from(path.depth))
    }

    /// Makes room for a number of paths with usual keys.
    pub fn reserve(&mut self, count: usize) {
        self.list.reserve(count);
        self.keys.reserve(count.saturating_mul(6));
    }

    /// Frees the memory that is not needed when no more paths are added.
    pub fn finish(&mut self) {
        free_spare(&mut self.list);
        free_spare_text(&mut self.keys);
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
                self.key(index).to_owned()
            } else {
                self.find_pointer(index)
            }
        };
        pointers.get(index as usize).map_or("", |pointer| pointer.get_or_init(make))
    }

    /// Returns an upper bound of the length of all JSON pointers.
    pub fn longest_pointer(&self) -> usize {
        // An escape has two bytes, and a step to an item at most ten digits.
        let steps = self.list.len().saturating_mul(11);
        self.keys.len().saturating_mul(2) + steps
    }

    /// Returns the length of the JSON pointer of each path in bytes. A special token counts like a key of the root.
    pub fn pointer_lengths(&self) -> Vec<u32> {
        let mut lengths: Vec<u32> = Vec::with_capacity(self.list.len());
        for (index, path) in (0..).zip(&self.list) {
            let step = to_offset(self.step(index).len());
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
        self.list.get(index as usize).is_some_and(|path| path.role == Role::Token)
    }

    /// Returns the part of the input that a value is or belongs to.
    pub fn part(&self, index: u32) -> InputPart {
        self.list.get(index as usize).map_or(InputPart::Root, |path| path.part)
    }

    /// Returns the field of a message or of a call that a value is in, or the value itself if it is in none.
    pub fn field(&self, mut index: u32) -> u32 {
        while self.part(self.parent(index)).is_field() {
            index = self.parent(index);
        }
        index
    }

    /// Returns the key under which a value is, or the name of a token. An item has none.
    pub fn key(&self, index: u32) -> &str {
        let end = |index: usize| self.list.get(index).map_or(0, |path| path.end as usize);
        let start = (index as usize).checked_sub(1).map_or(0, end);
        self.keys.get(start..end(index as usize)).unwrap_or_default()
    }

    /// Returns the last step of a JSON pointer.
    fn step(&self, index: u32) -> Cow<'_, str> {
        match self.list.get(index as usize) {
            Some(path) if path.role == Role::Item => path.position.to_string().into(),
            _ => escape_key(self.key(index)),
        }
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
            steps.push(self.step(index));
            index = self.parent(index);
        }
        steps.reverse();
        steps.join("/")
    }

    /// Returns the owner for a value that is a message, or `None` for any other value, such as one within a message.
    pub fn message(&self, index: u32) -> Option<Owner> {
        let path = self.list.get(index as usize)?;
        (path.part == InputPart::Message).then(|| Owner::message(path.position as usize))
    }
}
