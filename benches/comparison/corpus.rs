//! Selects templates of the corpus: the first long ones by sha256 that both engines render with equal output.
//!
//! ```text
//! CHAT_TEMPLATE_CORPUS=../shared/corpus   ->   manifest.jsonl, templates/NAME.jinja
//! ```
//!
//! A template that does not print the last message is skipped, because it does not render the conversation. So is a short one, because
//! those that models have today are long.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use minijinja::Environment;
use serde_json::Value;

use super::{Comparison, Engines};

/// A template of the corpus.
pub struct CorpusTemplate {
    /// The name of the file, which ends with the first digits of the sha256.
    pub name: String,
    /// The source of the template.
    pub source: String,
}

/// The least number of bytes of a template.
const LONG: usize = 2500;

/// Returns the first `count` templates by sha256 that render the conversations, or none if there is no corpus.
pub fn first_by_hash(environment: &Environment<'_>, contexts: &[Value], count: usize) -> Vec<CorpusTemplate> {
    let Some(folder) = folder() else { return Vec::new() };
    let mut templates = listed(&folder);
    templates.sort();
    let read = |(_, name): (String, String)| CorpusTemplate {
        source: read(&folder, &name),
        name,
    };
    let renders = |template: &CorpusTemplate| match Engines::compile(environment, &template.source) {
        Ok(engines) => contexts.iter().all(|context| {
            let comparison = Comparison::new(&engines, context.clone());
            comparison.is_ok_and(|comparison| shows_last_message(&comparison, context))
        }),
        Err(_) => false,
    };
    let long = templates
        .into_iter()
        .map(read)
        .filter(|template| template.source.len() >= LONG);
    long.filter(renders).take(count).collect()
}

/// Returns the sources of the templates of each family, or nothing if there is no corpus.
pub fn families() -> BTreeMap<String, Vec<String>> {
    let mut families = BTreeMap::<_, Vec<_>>::new();
    if let Some(folder) = folder() {
        for line in manifest(&folder) {
            families
                .entry(text(&line, "family"))
                .or_default()
                .push(read(&folder, &text(&line, "slug")));
        }
    }
    families
}

fn shows_last_message(comparison: &Comparison<'_>, context: &Value) -> bool {
    let last = context["messages"].as_array().and_then(|messages| messages.last());
    let content = last.and_then(|message| message["content"].as_str());
    content.is_some_and(|content| comparison.output().contains(content))
}

/// Returns the folder of the corpus, if there is one: the one that the variable `CHAT_TEMPLATE_CORPUS` names, or the one beside this crate.
fn folder() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    let folder = std::env::var_os("CHAT_TEMPLATE_CORPUS").map_or_else(beside, PathBuf::from);
    folder.join("manifest.jsonl").is_file().then_some(folder)
}

/// Returns the source of a template.
fn read(folder: &Path, name: &str) -> String {
    let path = folder.join("templates").join(format!("{name}.jinja"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the sha256 and the name of each template.
fn listed(folder: &Path) -> Vec<(String, String)> {
    let lines = manifest(folder).into_iter();
    lines.map(|line| (text(&line, "sha256"), text(&line, "slug"))).collect()
}

/// Returns the lines of the manifest.
fn manifest(folder: &Path) -> Vec<Value> {
    let manifest = std::fs::read_to_string(folder.join("manifest.jsonl")).expect("the manifest can be read");
    let lines = manifest.lines().map(|line| serde_json::from_str(line).expect("it is JSON"));
    lines.collect()
}

fn text(line: &Value, key: &str) -> String {
    line[key].as_str().expect("it is a text").to_owned()
}
