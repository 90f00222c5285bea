//! Finds what a part of a template reads and assigns, as far as the source shows.

use std::rc::Rc;

use indexmap::IndexSet;

use super::Prover;
use crate::ast::{Body, Child, Expr, For, StmtKind, Symbol, Target, TargetKind};

/// The maximum number of names that a part of a template reads, and of attributes that it assigns. A part with more is not executed.
const MAX_NAMES: usize = 1000;

/// The variables that a part of a template reads and assigns.
#[derive(Debug, Default)]
pub struct Reads {
    /// The names that are read.
    pub names: IndexSet<Symbol>,
    /// The attributes of namespaces that are assigned.
    pub assigned: IndexSet<(Symbol, Rc<str>)>,
    /// The names that are assigned.
    pub makes: IndexSet<Symbol>,
    /// Whether something is printed.
    pub prints: bool,
    /// Whether a `break` ends the loop itself.
    pub breaks: bool,
    /// The number of statements and names that were visited.
    visited: usize,
}

impl Reads {
    /// Returns what a loop reads. In its body, `own` is the name of its own variable `loop`.
    pub fn of_loop(node: &For, own: Option<Symbol>) -> Self {
        let mut reads = Self::default();
        reads.target(&node.target);
        node.test.iter().for_each(|test| reads.expr(&test.condition));
        reads.body(&node.body);
        reads.body(&node.otherwise);
        reads.names.retain(|name| Some(*name) != own);
        reads.expr(&node.iter);
        reads.breaks = has_break(&node.body);
        reads
    }

    pub fn of_body(body: &Body) -> Self {
        let mut reads = Self::default();
        reads.body(body);
        reads
    }

    /// Returns whether there are more names than in any real template.
    pub fn is_large(&self) -> bool {
        self.names.len().max(self.assigned.len()) > MAX_NAMES
    }

    /// Returns whether an attribute is assigned in a namespace that this part of the template does not make.
    pub fn assigns_foreign(&self) -> bool {
        self.assigned.iter().any(|(object, _)| !self.makes.contains(object))
    }

    fn body(&mut self, body: &Body) {
        body.for_each_stmt(&mut |stmt| {
            self.visited += 1;
            self.prints |= matches!(
                stmt.kind,
                StmtKind::Output(_) | StmtKind::FilterBlock(_) | StmtKind::CallBlock(_)
            );
            stmt.for_each_child(&mut |child| match child {
                Child::Expr(expr) => self.expr(expr),
                Child::Target(target) => self.target(target),
                Child::Parameter(name, _) => drop(self.makes.insert(name)),
                _ => {}
            });
        });
    }

    pub fn expr(&mut self, expr: &Expr) {
        expr.for_each_name(&mut |name| {
            self.visited += 1;
            self.names.insert(name.symbol);
        });
    }

    fn target(&mut self, target: &Target) {
        match &target.kind {
            TargetKind::Name { symbol, .. } => drop(self.makes.insert(*symbol)),
            TargetKind::Attribute { object, name, .. } => {
                self.names.insert(*object);
                self.assigned.insert((*object, Rc::from(&**name)));
            }
            TargetKind::Tuple(targets) => targets.iter().for_each(|target| self.target(target)),
        }
    }
}

/// Returns whether a body has a `break` that is not in a loop of its own.
fn has_break(body: &Body) -> bool {
    body.stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Break => true,
        StmtKind::For(_) | StmtKind::Macro(_) => false,
        _ => {
            let mut found = false;
            stmt.for_each_child(&mut |child| {
                if let Child::Body(body) = child {
                    found |= has_break(body);
                }
            });
            found
        }
    })
}

impl<'t> Prover<'t> {
    /// Returns what a loop reads and assigns, without the macros that it calls.
    pub fn reads_of(&mut self, node: &'t For) -> Rc<Reads> {
        let own = self.tree.symbols.find("loop");
        self.find_reads(std::ptr::from_ref(node) as usize, || Reads::of_loop(node, own))
    }

    pub fn macro_reads(&mut self, index: usize) -> Option<Rc<Reads>> {
        let (node, depth) = self.macros.get(index).copied()?;
        let own = self.tree.symbols.find("loop");
        Some(self.find_reads(std::ptr::from_ref(node) as usize, || {
            let mut found = Reads::of_body(&node.body);
            // A macro that is not in a loop has no other variable `loop` than those of its own loops.
            found.names.retain(|name| depth > 0 || Some(*name) != own);
            for parameter in &node.parameters {
                parameter.default.iter().for_each(|default| found.expr(default));
            }
            found
        }))
    }

    /// Returns what the node at an address reads, which is found once.
    fn find_reads(&mut self, address: usize, find: impl FnOnce() -> Reads) -> Rc<Reads> {
        let terms = &self.terms;
        let reads = self.reads.entry(address).or_insert_with(|| {
            let reads = find();
            terms.spend(reads.visited);
            Rc::new(reads)
        });
        Rc::clone(reads)
    }
}
