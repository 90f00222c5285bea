//! The strings of the input and of the template, found by their addresses.
//!
//! A string that a template reads is borrowed, and so is each part of it: its address tells which string it is a part of. No value stores
//! where it came from.

use std::cell::Cell;

use super::pieces::{FEW, Owner, Source, free_spare};
use super::sets::Sets;

/// A container of the input, by its index in [`Places`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Container(pub(super) u32);

/// The step from a container to a value in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// The item at an index of a list.
    Index(u32),
    /// The value under a key of an object.
    Key(&'a str),
}

/// A value of the input on the way to strings: its container, and the step to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'a> {
    pub parent: u32,
    pub owner: Owner,
    /// Whether the value is the content of a message, or in it.
    pub is_content: bool,
    pub step: Step<'a>,
}

/// The root of the input: all nodes are within it.
pub(super) const ROOT: u32 = 0;

/// The kind of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The value of a node.
    Value,
    /// The key of a node.
    Key,
    /// The text of a special token, whose name is the step of the node.
    Token,
}

/// A string of the input.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'a> {
    pub text: &'a str,
    pub node: u32,
    pub role: Role,
}

impl Known<'_> {
    fn address(&self) -> usize {
        self.text.as_ptr().addr()
    }
}

/// The strings of the input and of the template.
#[derive(Debug)]
pub struct Places<'a> {
    pub(super) nodes: Vec<Node<'a>>,
    /// Sorted by address after [`Places::sort`].
    pub(super) strings: Vec<Known<'a>>,
    /// The string that was found last, which is often the next one too.
    last: Cell<usize>,
    literals: &'a Literals,
    pub(super) sets: Sets,
}

/// The string literals of a template, by address.
#[derive(Debug, Default)]
pub struct Literals(Vec<(usize, usize, u32)>);

impl Literals {
    /// Adds a literal that begins on a line.
    pub fn push(&mut self, text: &str, line: u32) {
        let start = text.as_ptr().addr();
        if !text.is_empty() {
            self.0.push((start, start.saturating_add(text.len()), line));
        }
    }

    /// Sorts the literals, after all are added.
    pub fn sort(&mut self) {
        self.0.sort_unstable();
    }

    fn find(&self, address: usize) -> Option<u32> {
        let after = self.0.partition_point(|(start, ..)| *start <= address);
        let (_, end, line) = self.0.get(after.checked_sub(1)?)?;
        (address < *end).then_some(*line)
    }
}

static NO_LITERALS: Literals = Literals(Vec::new());

impl Default for Places<'_> {
    fn default() -> Self {
        let mut nodes = Vec::with_capacity(FEW);
        nodes.push(Node {
            parent: ROOT,
            owner: Owner::NOBODY,
            is_content: false,
            step: Step::Key(""),
        });
        Self {
            nodes,
            strings: Vec::with_capacity(FEW),
            last: Cell::new(0),
            literals: &NO_LITERALS,
            sets: Sets::default(),
        }
    }
}

impl<'a> Places<'a> {
    /// Returns the root of the input.
    pub fn root(&self) -> Container {
        Container(ROOT)
    }

    /// Adds a value of a container. A key of an object is a string of the input too, unless the container is the root.
    pub fn add(&mut self, Container(parent): Container, step: Step<'a>, owner: Owner) -> Container {
        let node = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let (outer, is_inner) = match self.nodes.get(parent as usize) {
            Some(outer) => (outer.owner, outer.is_content),
            None => (Owner::NOBODY, false),
        };
        let is_field = outer != Owner::NOBODY
            && self
                .nodes
                .get(parent as usize)
                .is_some_and(|node| matches!(node.step, Step::Index(_)));
        self.nodes.push(Node {
            parent,
            owner: outer.or(owner),
            is_content: is_inner || (is_field && step == Step::Key("content")),
            step,
        });
        if let (Step::Key(text), true) = (step, parent != ROOT) {
            self.add_known(text, node, Role::Key);
        }
        Container(node)
    }

    /// Adds the string that a value is.
    pub fn add_string(&mut self, Container(node): Container, text: &'a str) {
        self.add_known(text, node, Role::Value);
    }

    /// Adds the text of a special token.
    pub fn add_token(&mut self, name: &'a str, text: &'a str) {
        let Container(node) = self.add(self.root(), Step::Key(name), Owner::NOBODY);
        self.add_known(text, node, Role::Token);
    }

    fn add_known(&mut self, text: &'a str, node: u32, role: Role) {
        if !text.is_empty() {
            self.strings.push(Known { text, node, role });
        }
    }

    /// Sorts the strings, after all are added. They are known by their indices from now on.
    pub fn sort_strings(&mut self) {
        // The sort is stable: of two paths to one string, the first is kept.
        self.strings.sort_by_key(Known::address);
    }

    /// Sorts the strings, after all are added, and takes the literals of the template.
    pub fn sort(&mut self, literals: &'a Literals) {
        self.sort_strings();
        free_spare(&mut self.strings);
        free_spare(&mut self.nodes);
        self.literals = literals;
    }

    /// Returns the number of values and strings that were added.
    pub fn len(&self) -> usize {
        self.nodes.len().saturating_add(self.strings.len())
    }

    /// Returns the origin of a borrowed text.
    pub fn find_text(&mut self, text: &str) -> Source {
        self.find(text.as_ptr().addr(), text.len())
    }

    /// Returns the origin of the borrowed text of a length at an address.
    pub fn find(&mut self, address: usize, length: usize) -> Source {
        if let Some((index, known, at)) = self.find_known(address, length) {
            return match (known.role, u32::try_from(at)) {
                (Role::Token, _) => Source::Token(known.node),
                (_, Ok(at)) => Source::Input(index, at),
                // The place in a string of more than 4 GiB.
                (_, Err(_)) => Source::Changed(self.sets.intern(&[known.node])),
            };
        }
        self.find_literal(address)
    }

    /// Returns the origin of the string literal at an address.
    pub fn find_literal(&self, address: usize) -> Source {
        self.literals.find(address).map_or(Source::Made, Source::Template)
    }

    /// Returns the index of the string that has a text of a length at an address, the string, and the place of the text in it.
    fn find_known(&self, address: usize, length: usize) -> Option<(u32, Known<'a>, usize)> {
        let contains = |known: &Known<'a>| {
            let at = address.checked_sub(known.address())?;
            (at.saturating_add(length) <= known.text.len()).then_some(at)
        };
        let last = self.last.get();
        let found = match self.strings.get(last).and_then(contains) {
            Some(at) => (last, at),
            None => {
                let after = self.strings.partition_point(|known| known.address() <= address);
                let before = self.strings.get(..after)?;
                let (found, rest) = before.split_last()?;
                contains(found)?;
                // Of two paths to one string, the first is taken.
                let same = rest.iter().rev().take_while(|known| known.address() == found.address());
                let index = rest.len().saturating_sub(same.count());
                (index, contains(self.strings.get(index)?)?)
            }
        };
        let (index, at) = found;
        self.last.set(index);
        Some((u32::try_from(index).ok()?, *self.strings.get(index)?, at))
    }

    /// Returns the owner of a text with an origin that is written in the turn of a message. The content of a message is always its own.
    pub fn owner(&self, source: Source, turn: Owner) -> Owner {
        let node = |node: u32| match self.nodes.get(node as usize) {
            Some(node) => (node.owner, node.is_content),
            None => (Owner::NOBODY, false),
        };
        let (message, is_content) = match source {
            Source::Input(string, _) => match self.strings.get(string as usize) {
                Some(known) => node(known.node),
                None => (Owner::NOBODY, false),
            },
            Source::Changed(set) => {
                let mut all = self.sets.get(set).iter().map(|index| node(*index));
                let first = all.next().unwrap_or_default();
                if all.all(|other| other == first) {
                    first
                } else {
                    (Owner::NOBODY, false)
                }
            }
            _ => (Owner::NOBODY, false),
        };
        if is_content { message } else { turn.or(message) }
    }

    /// Adds an origin to a union.
    pub fn extend(&self, union: &mut Union, source: Source) {
        match source {
            Source::Input(string, _) => {
                if let Some(known) = self.strings.get(string as usize) {
                    union.insert(&self.nodes, known.node);
                }
            }
            Source::Changed(set) => self.sets.get(set).iter().for_each(|node| union.insert(&self.nodes, *node)),
            Source::Template(_) if !matches!(union.rest, Some(Source::Template(_))) => union.rest = Some(source),
            Source::Token(_) if union.rest.is_none() => union.rest = Some(source),
            _ => {}
        }
    }

    /// Adds the whole input to a union, for a value whose strings are not known.
    pub fn extend_with_all(&self, union: &mut Union) {
        union.insert(&self.nodes, ROOT);
    }

    /// Returns the origin that a union is.
    pub fn finish(&mut self, union: Union) -> Source {
        match union.rest {
            _ if !union.nodes.is_empty() => Source::Changed(self.sets.intern(&union.nodes)),
            Some(rest) => rest,
            None => Source::Made,
        }
    }
}

/// The maximum number of paths of a union.
const MOST_PATHS: usize = 8;

/// The origins that a text was made from.
#[derive(Debug, Default)]
pub struct Union {
    /// Nodes of the input, at most eight. None is within another.
    nodes: Vec<u32>,
    /// The template or a token.
    rest: Option<Source>,
}

impl Union {
    fn insert(&mut self, nodes: &[Node<'_>], node: u32) {
        if self.nodes.iter().any(|other| is_within(nodes, node, *other)) {
            return;
        }
        self.nodes.retain(|other| !is_within(nodes, *other, node));
        self.nodes.push(node);
        if self.nodes.len() > MOST_PATHS {
            let deepest = self.nodes.iter().copied().max_by_key(|node| depth(nodes, *node));
            let parent = deepest
                .and_then(|node| nodes.get(node as usize))
                .map_or(ROOT, |node| node.parent);
            self.insert(nodes, parent);
        }
    }
}

/// Returns whether a node is another one or within it.
fn is_within(nodes: &[Node<'_>], mut node: u32, outer: u32) -> bool {
    // A container is added before what is in it.
    while node > outer {
        node = nodes.get(node as usize).map_or(ROOT, |node| node.parent);
    }
    node == outer
}

fn depth(nodes: &[Node<'_>], mut node: u32) -> usize {
    let mut depth = 0_usize;
    while node != ROOT {
        node = nodes.get(node as usize).map_or(ROOT, |node| node.parent);
        depth = depth.saturating_add(1);
    }
    depth
}
