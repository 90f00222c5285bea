//! Finds faults in the source of a template.
//!
//! ```text
//! {{ message.content.strip() }}   ->   python-method: `.strip()` is a method of Python; use `|trim`
//! ```
//!
//! The rules are a table in `rules.rs`. `tree.rs` looks for what the tree shows, `text.rs` for what the source shows, and `renders.rs` for
//! what a few renders show.

mod renders;
mod rules;
mod text;
mod tree;

pub use rules::RULES;

use crate::chat::ChatTemplate;
use crate::report::Finding;
use crate::source::Source;
use crate::template::Template;
use rules::Rule;

/// The most findings of one rule.
const MOST: usize = 20;

/// Returns the faults of all templates of a model, in the order of the source.
pub fn inspect(template: &ChatTemplate) -> Vec<Finding> {
    let mut all = Vec::new();
    for compiled in template.compiled() {
        let mut findings = Findings {
            source: compiled.source(),
            list: Vec::new(),
        };
        tree::inspect(compiled, template.special_tokens(), &mut findings);
        text::inspect(compiled, &mut findings);
        let mut list = findings.list;
        list.sort_by_key(|finding| (finding.line, finding.column));
        all.append(&mut list);
    }
    renders::inspect(template, &mut all);
    all
}

/// The faults of one template.
struct Findings<'s> {
    source: &'s Source<'static>,
    list: Vec<Finding>,
}

impl Findings<'_> {
    /// Adds a fault at an offset of the source.
    fn add(&mut self, rule: &Rule, at: u32, subject: &str) {
        self.add_with(rule, at, subject, rule.instead);
    }

    /// Adds a fault with its own words on how to write it instead.
    fn add_with(&mut self, rule: &Rule, at: u32, subject: &str, instead: &str) {
        let count = self.list.iter().filter(|finding| finding.rule == rule.name).count();
        if count < MOST {
            let position = self.source.position(at);
            let mut finding = make_finding(rule, self.source, position.line, subject);
            finding.column = position.column as usize;
            finding.instead = instead.to_owned();
            self.list.push(finding);
        }
    }
}

/// Returns a fault at the beginning of a line.
fn make_finding(rule: &Rule, source: &Source<'_>, line: u32, subject: &str) -> Finding {
    Finding {
        rule: rule.name.to_owned(),
        group: rule.group.to_owned(),
        line: line as usize,
        column: 1,
        excerpt: source.line_text(line).to_owned(),
        message: rule.what.replacen("{}", subject, 1),
        why: rule.why.to_owned(),
        instead: rule.instead.to_owned(),
    }
}

/// Returns the line of the first loop over the messages, or the first line.
fn find_message_loop(template: &Template) -> u32 {
    tree::find_message_loop(template).map_or(1, |at| template.source().line(at))
}
