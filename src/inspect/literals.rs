//! Finds the constants that a template compares its variables with.
//!
//! ```text
//! {% set effort = reasoning_effort|default('low') %}{% if effort == 'high' %}   ->   reasoning_effort: "low", "high"
//! ```

use std::collections::{BTreeSet, HashMap, HashSet};

use indexmap::{IndexMap, IndexSet};
use serde_json::Value;

use super::experiments::Budget;
use crate::ast::{Child, Expr, ExprKind, Literal, Stmt, StmtKind, Symbols, Target, TargetKind};
use crate::json::Data;
use crate::template::Template;

/// The maximum number of constants of a variable.
const MAX_CONSTANTS: usize = 24;

/// The maximum length of a constant in bytes. A longer one is text that the template writes.
const MAX_LENGTH: usize = 40;

/// The maximum number of assignments between a variable and the comparison of its value.
const MAX_STEPS: usize = 4;

/// The maximum work of a search in all templates: names that are collected, and constants that are compared. That of real templates is some
/// ten thousand.
pub const MAX_WORK: u64 = 400_000;

/// The constants of a template's variables. A name is that of a variable or of an attribute: an attribute of a namespace is set like a
/// variable.
pub struct Literals<'t> {
    symbols: &'t Symbols,
    /// For each name, the names that are set to an expression with it.
    targets: HashMap<&'t str, HashSet<&'t str>>,
    /// For each name, the constants that it is compared with.
    constants: HashMap<&'t str, Vec<Value>>,
}

/// A search for the constants of one template.
struct Search<'t, 'b> {
    found: Literals<'t>,
    /// Counts the work. Without work left, the search ends.
    budget: &'b mut Budget<'t>,
}

/// Returns the constants that a variable is compared with in several templates, each with whether it is compared with the variable itself.
pub fn list_all(all: &[Literals<'_>], name: &str, budget: &mut Budget<'_>) -> Vec<(Value, bool)> {
    let mut values: IndexMap<Value, bool> = IndexMap::new();
    for literals in all {
        for value in literals.list(name, budget) {
            if values.len() < MAX_CONSTANTS {
                values.entry(value).or_default();
            }
        }
    }
    for constants in all.iter().filter_map(|literals| literals.constants.get(name)) {
        if !budget.spend(constants.len() + 1) {
            break;
        }
        for constant in constants {
            if let Some(is_direct) = values.get_mut(constant) {
                *is_direct = true;
            }
        }
    }
    values.into_iter().collect()
}

impl<'t> Literals<'t> {
    /// Finds the constants of a template, as far as the budget allows.
    pub fn find(template: &'t Template, budget: &mut Budget<'t>) -> Self {
        let tree = template.tree();
        let found = Self {
            symbols: &tree.symbols,
            targets: HashMap::new(),
            constants: HashMap::new(),
        };
        let mut search = Search { found, budget };
        tree.body.for_each_stmt(&mut |stmt| search.add_stmt(stmt));
        search.found
    }

    /// Returns the constants that a variable is compared with, itself or through names that are set to it. A variable of the same name in
    /// another scope counts as the same variable, so the list can have a constant that only the other is compared with.
    pub fn list(&self, name: &str, budget: &mut Budget<'_>) -> IndexSet<Value> {
        let mut names = BTreeSet::from([name]);
        let mut last = names.clone();
        for _ in 0..MAX_STEPS {
            let all = last.iter().filter_map(|name| self.targets.get(*name));
            let targets = all.filter(|targets| budget.spend(targets.len() + 1)).flatten();
            last = targets.copied().filter(|name| names.insert(name)).collect();
        }
        let mut values = IndexSet::new();
        for constants in names.iter().filter_map(|name| self.constants.get(*name)) {
            if !budget.spend(constants.len() + 1) {
                break;
            }
            for value in constants {
                if values.len() < MAX_CONSTANTS && !values.contains(value) {
                    values.insert(value.clone());
                }
            }
        }
        values
    }
}

impl<'t> Search<'t, '_> {
    /// Collects the assignments and the comparisons of a statement.
    fn add_stmt(&mut self, stmt: &'t Stmt) {
        if self.budget.is_spent() {
            return;
        }
        match &stmt.kind {
            StmtKind::Set(node) => self.add_source(&node.target, &node.value),
            StmtKind::For(node) => self.add_source(&node.target, &node.iter),
            StmtKind::With(node) => {
                for (target, value) in &node.bindings {
                    self.add_source(target, value);
                }
            }
            _ => {}
        }
        stmt.for_each_child(&mut |child| {
            if let Child::Expr(expr) = child {
                self.add_expr(expr);
            }
        });
    }

    fn add_source(&mut self, target: &'t Target, value: &'t Expr) {
        let mut names = HashSet::new();
        self.collect_names(value, &mut names);
        self.add_names_to(target, &names);
    }

    fn add_names_to(&mut self, target: &'t Target, names: &HashSet<&'t str>) {
        let target = match &target.kind {
            TargetKind::Name { symbol, .. } => self.found.symbols.name(*symbol),
            TargetKind::Attribute { name, .. } => name,
            TargetKind::Tuple(targets) => return targets.iter().for_each(|target| self.add_names_to(target, names)),
        };
        if !self.budget.spend(names.len() + 1) {
            return;
        }
        for name in names {
            self.found.targets.entry(name).or_default().insert(target);
        }
    }

    fn collect_names(&mut self, expr: &'t Expr, names: &mut HashSet<&'t str>) {
        if !self.budget.spend(1) {
            return;
        }
        match &expr.kind {
            ExprKind::Name(name) => drop(names.insert(self.found.symbols.name(name.symbol))),
            ExprKind::Attribute(attribute) => drop(names.insert(&attribute.name)),
            _ => {}
        }
        expr.for_each_child(&mut |child| self.collect_names(child, names));
    }

    /// Collects the constants that the names in an expression are compared with.
    fn add_expr(&mut self, expr: &'t Expr) {
        if self.budget.is_spent() {
            return;
        }
        let is_comparison = match &expr.kind {
            ExprKind::Compare(_) | ExprKind::Item(_) => true,
            ExprKind::Filter(filter) => matches!(&*filter.name, "default" | "d"),
            // `effort.startswith('low')`, `levels.get(effort)`
            ExprKind::Call(call) => matches!(&call.callee.kind, ExprKind::Attribute(_)),
            _ => false,
        };
        if is_comparison {
            let mut names = HashSet::new();
            self.collect_names(expr, &mut names);
            let mut values = IndexSet::new();
            expr.for_each_child(&mut |child| collect_constants(child, &mut values));
            for name in names {
                if !self.budget.spend(values.len() + 1) {
                    break;
                }
                let constants = self.found.constants.entry(name).or_default();
                let new: Vec<Value> = values
                    .iter()
                    .filter(|value| !constants.contains(value))
                    .take(MAX_CONSTANTS)
                    .cloned()
                    .collect();
                constants.extend(new);
                constants.truncate(MAX_CONSTANTS);
            }
        }
        expr.for_each_child(&mut |child| self.add_expr(child));
    }
}

/// Collects the constants of an operand: itself, the items of a list, and the keys of a dict.
fn collect_constants(expr: &Expr, values: &mut IndexSet<Value>) {
    match &expr.kind {
        ExprKind::Literal(Literal::Str(text)) | ExprKind::Markup(text) => add_text(text, values),
        ExprKind::Literal(Literal::Int(int)) => drop(values.insert(Value::from(*int))),
        ExprKind::Literal(Literal::Bool(bool)) => drop(values.insert(Value::from(*bool))),
        ExprKind::Literal(Literal::Data(data)) => match &**data {
            Data::List(items) | Data::Tuple(items) => {
                for item in items {
                    if let Data::Str(text) = item {
                        add_text(text, values);
                    }
                }
            }
            Data::Object(object) => object.entries().iter().for_each(|(key, _)| add_text(key, values)),
            _ => {}
        },
        ExprKind::List(items) | ExprKind::Tuple(items) => items.iter().for_each(|item| collect_constants(item, values)),
        ExprKind::Dict(pairs) => pairs.iter().for_each(|(key, _)| collect_constants(key, values)),
        _ => {}
    }
}

fn add_text(text: &str, values: &mut IndexSet<Value>) {
    if (1..=MAX_LENGTH).contains(&text.len()) {
        values.insert(Value::from(text));
    }
}
