//! Checks that `public.txt` lists the public interface: each item with its fields, variants and functions.
//!
//! ```text
//! WRITE=1 cargo test --test rules public       writes the list again, to be read before it is kept
//! ```
//!
//! The test reads the text of the files. The root and its public modules export items by `pub use`. Hidden modules, which are for the command
//! line and the conformance suite, are not part of the interface.

use std::collections::BTreeSet;

use crate::sources::{list_sources, read, read_identifier, root};

/// The largest number of public items.
const MAX_ITEMS: usize = 64;

/// An item with the module of the crate's root whose files declare it.
struct Item {
    path: String,
    name: String,
    module: String,
}

/// The declaration of a type, or an implementation without a trait.
struct Block {
    module: String,
    /// The text before the name, such as `pub struct`.
    kind: String,
    name: String,
    /// The lines in the block that are not in an inner one, and whether each is hidden.
    lines: Vec<(String, bool)>,
}

#[test]
fn the_list_has_the_public_items() {
    let (items, blocks) = (list_items(), list_blocks());
    assert!(items.len() <= MAX_ITEMS, "{} items, at most {MAX_ITEMS}", items.len());
    let lines: BTreeSet<String> = items.iter().flat_map(|item| describe(item, &blocks)).collect();
    let path = root().join("tests/rules/public.txt");
    if std::env::var_os("WRITE").is_some() {
        let list: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(&path, list).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    let kept: BTreeSet<String> = kept.lines().map(str::to_owned).collect();
    let new: Vec<&String> = lines.difference(&kept).collect();
    let gone: Vec<&String> = kept.difference(&lines).collect();
    assert!(new.is_empty() && gone.is_empty(), "new: {new:#?}\ngone: {gone:#?}");
}

#[test]
fn no_public_field_is_hidden_or_changes_behind_a_shared_reference() {
    let items = list_items();
    for block in list_blocks() {
        let is_public = items
            .iter()
            .any(|item| item.name == block.name && item.module == block.module);
        for (line, is_hidden) in block.lines.iter().filter(|(line, _)| is_public && line.starts_with("pub ")) {
            let is_mutable = ["Cell<", "Lock<", "Mutex<", "Atomic"].iter().any(|kind| line.contains(kind));
            let is_field = block.kind.starts_with("pub ");
            assert!(
                !is_field || !is_hidden && (!is_mutable || line.contains('&')),
                "{}: {line}",
                block.name
            );
        }
    }
}

/// Returns the items that the root and its public modules export.
fn list_items() -> Vec<Item> {
    let text = read("src/lib.rs");
    let mut items = exports(&text, "", None);
    let mut is_hidden = false;
    for line in text.lines() {
        if let Some(module) = line.strip_prefix("pub mod ").map(read_identifier) {
            if !is_hidden {
                let text = read(&format!("src/{module}/mod.rs"));
                items.extend(exports(&text, &format!("{module}::"), Some(&module)));
            }
        }
        is_hidden = line == "#[doc(hidden)]" || line == "#[cfg(any(test, fuzzing))]" || (is_hidden && line.starts_with("#["));
    }
    items
}

/// Returns the items of each `pub use`. Without a module, the path begins with that of the items.
fn exports(text: &str, prefix: &str, module: Option<&str>) -> Vec<Item> {
    let mut items = Vec::new();
    for export in text.split("\npub use ").skip(1) {
        let (path, names) = export.split(';').next().unwrap().split_once("::").unwrap();
        for name in names.trim_matches(['{', '}']).split(',').map(str::trim) {
            if !name.is_empty() {
                items.push(Item {
                    path: format!("{prefix}{name}"),
                    name: name.to_owned(),
                    module: module.unwrap_or(path).to_owned(),
                });
            }
        }
    }
    items
}

/// Returns the types and implementations of all files.
fn list_blocks() -> Vec<Block> {
    let mut blocks = Vec::new();
    for path in list_sources() {
        let module = path.trim_start_matches("src/").split(['/', '.']).next().unwrap().to_owned();
        let text = read(&path);
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let Some((kind, name)) = read_header(line) else { continue };
            let indent = line.len() - line.trim_start().len();
            let (end, inner) = (" ".repeat(indent) + "}", " ".repeat(indent + 4));
            let (mut members, mut is_hidden) = (Vec::new(), false);
            for line in lines.by_ref().take_while(|line| *line != end) {
                let Some(member) = line.strip_prefix(&inner).filter(|line| !line.starts_with(' ')) else {
                    continue;
                };
                if !member.starts_with(['#', '/', '}', ')']) {
                    members.push((member.to_owned(), is_hidden));
                }
                is_hidden = member == "#[doc(hidden)]" || (is_hidden && member.starts_with('#'));
            }
            blocks.push(Block {
                module: module.clone(),
                kind,
                name,
                lines: members,
            });
        }
    }
    blocks
}

/// Returns the words before the name of a type, and the name, if a line begins a declaration or an implementation.
fn read_header(line: &str) -> Option<(String, String)> {
    let line = line.trim_start().strip_suffix(" {")?;
    for kind in ["pub struct ", "pub enum ", "pub trait ", "struct ", "enum ", "impl"] {
        if let Some(rest) = line.strip_prefix(kind) {
            let rest = match rest.strip_prefix('<') {
                Some(generics) if kind == "impl" => generics.split_once("> ")?.1,
                _ => rest.trim_start(),
            };
            return (!rest.contains(" for ")).then(|| (kind.to_owned(), read_identifier(rest)));
        }
    }
    None
}

/// Returns the lines of the list for an item. What a module implements for its own private type of the same name does not count.
fn describe(item: &Item, blocks: &[Block]) -> Vec<String> {
    let mut lines = vec![item.path.clone()];
    let named: Vec<&Block> = blocks.iter().filter(|block| block.name == item.name).collect();
    let has_own = |module: &str| named.iter().any(|block| block.module == module && block.kind != "impl");
    for block in &named {
        let is_own = block.module == item.module;
        if !is_own && has_own(&block.module) {
            continue;
        }
        for (line, _) in block.lines.iter().filter(|(_, is_hidden)| !is_hidden) {
            let public = line.strip_prefix("pub ");
            let member = match (block.kind.as_str(), public) {
                ("impl", Some(function)) => function.strip_prefix("fn ").map(|name| read_identifier(name) + "()"),
                ("pub struct ", Some(field)) if is_own => Some(read_identifier(field)),
                ("pub enum ", None) if is_own => Some(read_identifier(line)),
                _ => None,
            };
            lines.extend(
                member
                    .filter(|name| !name.is_empty())
                    .map(|member| format!("{}.{member}", item.path)),
            );
        }
    }
    lines
}
