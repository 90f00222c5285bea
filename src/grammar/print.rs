//! Prints rules in the notations of engines.
//!
//! | | GBNF | Lark |
//! |---|---|---|
//! | the first rule | `root ::= "a" r1` | `start: "a" r1` |
//! | text up to a string | a rule for each state of an automaton | `/(?s:.*)b/ & ~/(?s:.*)b(?s:.+)/` |
//! | a special token | its text | `<\|tool_call\|>` |

use std::fmt::Write as _;

use indexmap::IndexSet;

use super::rules::{Rule, Rules};
use crate::error::Result;
use crate::meter::Meter;

/// The number of bytes that a part of a rule takes at least.
const PART: usize = 64;

/// Writes rules in one of two notations.
struct Printer<'t, 'm, 'a> {
    /// The special tokens that text of the notation cannot have, if this is Lark.
    tokens: Option<&'t [&'t str]>,
    out: String,
    /// The rules of [`Rule::Until`] that were already expanded.
    known: Vec<((String, Vec<String>), Rule)>,
    /// The terminals of Lark, and the rules that are written, in the order of their first use.
    terminals: IndexSet<String>,
    used: IndexSet<usize>,
    meter: &'m mut Meter<'a>,
}

/// Returns a grammar in GBNF, or, with the special tokens of the model, in the Lark of llguidance, in which a special token is no text.
pub fn print(root: &Rule, rules: &mut Rules, tokens: Option<&[&str]>, meter: &mut Meter<'_>) -> Result<String> {
    let mut printer = Printer {
        tokens,
        out: String::new(),
        known: Vec::new(),
        terminals: IndexSet::new(),
        used: IndexSet::new(),
        meter,
    };
    let define = if tokens.is_some() { ": " } else { " ::= " };
    printer.out.push_str(if tokens.is_some() { "start" } else { "root" });
    printer.out.push_str(define);
    printer.write(root, rules, false)?;
    printer.out.push('\n');
    let mut written = 0;
    while let Some(index) = printer.used.get_index(written).copied() {
        let rule = rules.0.get(index).cloned().unwrap_or(Rule::NEVER);
        let _ = write!(printer.out, "r{index}{define}");
        printer.write(&rule, rules, false)?;
        printer.out.push('\n');
        written = written.saturating_add(1);
    }
    for (index, terminal) in printer.terminals.iter().enumerate() {
        let _ = writeln!(printer.out, "T{index}: {terminal}");
    }
    Ok(printer.out)
}

impl Printer<'_, '_, '_> {
    fn write(&mut self, rule: &Rule, rules: &mut Rules, is_inner: bool) -> Result<()> {
        self.meter.charge(1)?;
        self.meter.claim_for_render(PART)?;
        match rule {
            Rule::Text(text) => self.write_text(text)?,
            Rule::Class { is_negated, ranges } => {
                let mut class = String::from(if *is_negated { "[^" } else { "[" });
                self.meter.charge_items(ranges.len())?;
                for (first, last) in ranges {
                    push_class_char(&mut class, *first);
                    if first != last {
                        class.push('-');
                        push_class_char(&mut class, *last);
                    }
                }
                class.push(']');
                match self.tokens {
                    Some(_) => self.write_terminal(format!("/{}/", class.replace('/', "\\/"))),
                    None => self.out.push_str(&class),
                }
            }
            Rule::Sequence(items) if items.is_empty() => self.out.push_str("\"\""),
            Rule::Sequence(items) => self.write_all(items, " ", rules, is_inner)?,
            Rule::Choice(items) => self.write_all(items, " | ", rules, is_inner)?,
            Rule::Repeat(item, min, max) => {
                self.write(item, rules, true)?;
                match (min, max) {
                    (0, None) => self.out.push('*'),
                    (1, None) => self.out.push('+'),
                    (min, None) => drop(write!(self.out, "{{{min},}}")),
                    (min, Some(max)) => drop(write!(self.out, "{{{min},{max}}}")),
                }
            }
            Rule::Named(index) => {
                self.used.insert(*index);
                let _ = write!(self.out, "r{index}");
            }
            Rule::Until(end, others) if self.tokens.is_some() => {
                let any = "(?s:.*)";
                let mut terminal = format!("/{any}{}/", escape(end));
                for other in others.iter().filter(|other| !other.is_empty()) {
                    // The end of the text can be one of them.
                    let rest = if end.ends_with(other.as_str()) { "(?s:.+)" } else { any };
                    let _ = write!(terminal, " & ~/{any}{}{rest}/", escape(other));
                }
                if !end.is_empty() {
                    let _ = write!(terminal, " & ~/{any}{}(?s:.+)/", escape(end));
                }
                self.write_terminal(terminal);
            }
            Rule::Until(end, others) => {
                let key = (end.clone(), others.clone());
                let bytes = others.iter().map(String::len).sum::<usize>().saturating_add(end.len());
                self.meter.charge_items(bytes.saturating_mul(bytes))?;
                let known = self
                    .known
                    .iter()
                    .find(|(known, _)| *known == key)
                    .map(|(_, rule)| rule.clone());
                let rule = known.unwrap_or_else(|| {
                    let rule = rules.expand_until(end, others);
                    self.known.push((key, rule.clone()));
                    rule
                });
                self.write(&rule, rules, is_inner)?;
            }
        }
        Ok(())
    }

    fn write_all(&mut self, items: &[Rule], separator: &str, rules: &mut Rules, is_inner: bool) -> Result<()> {
        if is_inner {
            self.out.push('(');
        }
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.out.push_str(separator);
            }
            self.write(item, rules, true)?;
        }
        if is_inner {
            self.out.push(')');
        }
        Ok(())
    }

    /// Writes a terminal of Lark by its name.
    fn write_terminal(&mut self, terminal: String) {
        let (index, _) = self.terminals.insert_full(terminal);
        let _ = write!(self.out, "T{index}");
    }

    /// Writes a string. In Lark, the special tokens in it are written by their names.
    fn write_text(&mut self, text: &str) -> Result<()> {
        self.meter.charge_scan(text.len())?;
        self.meter.claim_for_render(text.len())?;
        let is_name = |token: &&&str| token.starts_with('<') && token.ends_with('>') && !token.contains(char::is_whitespace);
        let tokens = self.tokens.unwrap_or_default().iter().filter(is_name);
        let first = tokens
            .filter_map(|token| Some((text.find(token)?, token.len())))
            .min_by_key(|(at, length)| (*at, std::cmp::Reverse(*length)));
        let Some((at, length)) = first else {
            push_string(&mut self.out, text);
            return Ok(());
        };
        let (before, rest) = text.split_at_checked(at).unwrap_or_default();
        let (token, after) = rest.split_at_checked(length).unwrap_or_default();
        self.out.push('(');
        if !before.is_empty() {
            push_string(&mut self.out, before);
            self.out.push(' ');
        }
        self.out.push_str(token);
        if !after.is_empty() {
            self.out.push(' ');
            self.write_text(after)?;
        }
        self.out.push(')');
        Ok(())
    }
}

fn push_string(out: &mut String, text: &str) {
    out.push('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => out.extend(['\\', char]),
            char => push_char(out, char),
        }
    }
    out.push('"');
}

fn push_class_char(out: &mut String, char: char) {
    match char {
        '[' | ']' | '\\' | '^' | '-' => out.extend(['\\', char]),
        char => push_char(out, char),
    }
}

fn push_char(out: &mut String, char: char) {
    match char {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        char if char.is_ascii_control() => drop(write!(out, "\\x{:02x}", u32::from(char))),
        char => out.push(char),
    }
}

/// Returns a string as a part of a regular expression between slashes.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for char in text.chars() {
        match char {
            '\n' | '\r' | '\t' => push_char(&mut out, char),
            '/' => out.push_str("\\/"),
            char if regex_syntax::is_meta_character(char) => out.extend(['\\', char]),
            char => push_char(&mut out, char),
        }
    }
    out
}
