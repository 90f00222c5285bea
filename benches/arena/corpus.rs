//! Ten templates of the corpus, chosen by nobody: the first by sha256 that both engines render alike.
//!
//! ```text
//! CHAT_TEMPLATE_CORPUS=../shared/corpus   ->   manifest.jsonl, templates/NAME.jinja
//! ```
//!
//! A template that leaves the last message out is passed over, since it does not render the conversation.

use std::path::{Path, PathBuf};

use minijinja::Environment;
use serde_json::Value;

use super::{Contest, Engines};

/// A template of the corpus.
pub struct CorpusTemplate {
    /// The name of its file, whose end are the first digits of its sha256.
    pub name: String,
    /// Its text.
    pub source: String,
}

/// The first `count` by sha256 that render the conversation; none where there is no corpus.
pub fn first_by_hash(environment: &Environment<'_>, context: &Value, count: usize) -> Vec<CorpusTemplate> {
    let Some(folder) = folder() else { return Vec::new() };
    let mut templates = listed(&folder);
    templates.sort();
    let read = |(_, name): (String, String)| {
        let path = folder.join("templates").join(format!("{name}.jinja"));
        let source = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        CorpusTemplate { name, source }
    };
    let renders = |template: &CorpusTemplate| match Engines::compile(environment, &template.source) {
        Ok(engines) => Contest::new(&engines, context.clone()).is_ok_and(|contest| shows_last_message(&contest, context)),
        Err(_) => false,
    };
    templates.into_iter().map(read).filter(renders).take(count).collect()
}

fn shows_last_message(contest: &Contest<'_>, context: &Value) -> bool {
    let last = context["messages"].as_array().and_then(|messages| messages.last());
    let content = last.and_then(|message| message["content"].as_str());
    content.is_some_and(|content| contest.output().contains(content))
}

/// Where the corpus is: as the variable says, or where it lies beside this crate.
fn folder() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    let folder = std::env::var_os("CHAT_TEMPLATE_CORPUS").map_or_else(beside, PathBuf::from);
    folder.join("manifest.jsonl").is_file().then_some(folder)
}

/// The sha256 and the name of each template.
fn listed(folder: &Path) -> Vec<(String, String)> {
    let manifest = std::fs::read_to_string(folder.join("manifest.jsonl")).expect("the manifest can be read");
    let lines = manifest.lines().map(|line| serde_json::from_str(line).expect("it is JSON"));
    let text = |line: &Value, key: &str| line[key].as_str().expect("it is a text").to_owned();
    lines
        .map(|line: Value| (text(&line, "sha256"), text(&line, "slug")))
        .collect()
}
