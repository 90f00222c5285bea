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

use std::collections::HashMap;

use super::experiments::Experiments;
use crate::error::Result;
use crate::report::Finding;
use crate::source::Source;
use rules::Rule;

/// The maximum number of findings of a rule in one template.
const MAX_FINDINGS: usize = 20;

/// The maximum number of bytes of the text in all findings of a report. The findings of one template never have more.
const MAX_BYTES: usize = 8 << 20;

/// The maximum number of bytes of a line or of a subject that a finding shows. The longest line of a real template has some thousand.
const MAX_LINE: usize = 1 << 14;

/// Returns the faults that the sources of a model's templates show, in the order of the source, and then those that renders show.
pub fn inspect(experiments: &mut Experiments<'_>) -> Result<Vec<Finding>> {
    let template = experiments.template;
    let mut all = Vec::new();
    let mut bytes_left = MAX_BYTES;
    for compiled in template.compiled() {
        experiments.check_time()?;
        let mut findings = Findings {
            source: compiled.source(),
            list: Vec::new(),
            counts: HashMap::new(),
            bytes_left,
        };
        tree::inspect(compiled, template.special_tokens(), &mut findings);
        text::inspect(compiled, &mut findings);
        bytes_left = findings.bytes_left;
        let mut list = findings.list;
        list.sort_by_key(|finding| (finding.line, finding.column));
        all.append(&mut list);
    }
    renders::inspect(experiments, &mut all)?;
    Ok(all)
}

/// The faults of one template.
struct Findings<'s> {
    source: &'s Source<'static>,
    list: Vec<Finding>,
    /// The number of findings of each rule.
    counts: HashMap<&'static str, usize>,
    /// The number of bytes of text that further findings of the report may have.
    bytes_left: usize,
}

impl Findings<'_> {
    /// Adds a fault at an offset of the source.
    fn add(&mut self, rule: &Rule, at: u32, subject: &str) {
        self.add_with(rule, at, subject, rule.instead);
    }

    /// Adds a fault with advice other than that of its rule.
    fn add_with(&mut self, rule: &Rule, at: u32, subject: &str, instead: &str) {
        let count = self.counts.entry(rule.name).or_default();
        if *count < MAX_FINDINGS && self.bytes_left > 0 {
            *count += 1;
            let position = self.source.position(at);
            let mut finding = make_finding(rule, self.source, position.line, subject);
            finding.column = position.column as usize;
            finding.instead = instead.to_owned();
            match self.bytes_left.checked_sub(size_of_texts(&finding)) {
                Some(left) => {
                    self.bytes_left = left;
                    self.list.push(finding);
                }
                None => self.bytes_left = 0,
            }
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
        excerpt: cut(source.line_text(line)).to_owned(),
        message: rule.what.replacen("{}", cut(subject), 1),
        why: rule.why.to_owned(),
        instead: rule.instead.to_owned(),
    }
}

/// Returns the number of bytes of the text in a finding.
fn size_of_texts(finding: &Finding) -> usize {
    let own = [&finding.excerpt, &finding.message];
    let of_rule = [&finding.rule, &finding.group, &finding.why, &finding.instead];
    own.into_iter().chain(of_rule).map(String::len).sum()
}

/// Returns the beginning of a string, or the whole string unless it is very long.
fn cut(text: &str) -> &str {
    let ends = (0..=MAX_LINE).rev().find(|end| text.is_char_boundary(*end));
    if text.len() > MAX_LINE {
        text.get(..ends.unwrap_or_default()).unwrap_or_default()
    } else {
        text
    }
}
