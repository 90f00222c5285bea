//! What the reference calls the functions that it writes in the place of unknown filters and tests, for their complaints about
//! arguments.
//!
//! ```text
//! {% if x|nope(a=1) %}   root.<locals>.t_1() got an unexpected keyword argument 'a'
//! ```
//!
//! jinja2 3.1.6 `compiler.py`, `pull_dependencies`: at the beginning of the root, and of each block behind it, all filters and tests
//! that are written there get a number, known or not, reached or not. Other things of the generated code have numbers of the same row. The
//! tree has been folded when somebody asks for a name, which no template does that is any good, and so the source is parsed once more.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::ast::{Body, Child, Expr, ExprKind, StmtKind};
use crate::error::Result;
use crate::parser;
use crate::source::Source;

/// An unknown filter or test with arguments that it may complain about.
#[derive(Debug)]
pub(super) struct Stub {
    pub kind: StubKind,
    pub name: Arc<str>,
}

/// What is unknown.
#[derive(Clone, Copy, Debug)]
pub(super) enum StubKind {
    Filter,
    Test,
}

/// The names of functions; most templates have none, and are not read again.
pub(super) fn names(stubs: &[Stub], source: &Source) -> Result<Vec<Box<str>>> {
    if stubs.is_empty() {
        return Ok(Vec::new());
    }
    let template = parser::parse(source)?;
    let mut numbers = Numbers::default();
    numbers.function(&template.body);
    let named = stubs.iter().map(|stub| {
        let number = numbers.of(stub);
        format!("root.<locals>.t_{number}").into()
    });
    Ok(named.collect())
}

/// The numbers of temporary names (`CodeGenerator.temporary_identifier`).
#[derive(Debug, Default)]
struct Numbers {
    filters: BTreeMap<Arc<str>, u32>,
    tests: BTreeMap<Arc<str>, u32>,
    last: u32,
}

impl Numbers {
    fn of(&self, stub: &Stub) -> u32 {
        let numbers = match stub.kind {
            StubKind::Filter => &self.filters,
            StubKind::Test => &self.tests,
        };
        numbers.get(&stub.name).copied().unwrap_or_default()
    }

    /// Those of the root, or of a block.
    fn function(&mut self, body: &Body) {
        let mut written = Written::default();
        written.body(body);
        let Self {
            filters, tests, last, ..
        } = self;
        for (numbers, names) in [(filters, written.filters), (tests, written.tests)] {
            for name in names {
                numbers.entry(name).or_insert_with(|| {
                    *last = last.saturating_add(1);
                    *last
                });
            }
        }
        self.statements(body);
    }

    /// What the statements of a body take, in any order, for nobody asks which they have.
    fn statements(&mut self, body: &Body) {
        for stmt in &body.stmts {
            let taken = match &stmt.kind {
                StmtKind::For(node) => [node.test.is_some(), node.recursive, !node.otherwise.stmts.is_empty()]
                    .map(u32::from)
                    .iter()
                    .sum(),
                StmtKind::SetBlock(_)
                | StmtKind::Macro(_)
                | StmtKind::CallBlock(_)
                | StmtKind::Generation(_)
                | StmtKind::FilterBlock(_) => 1,
                _ => 0,
            };
            self.last = self.last.saturating_add(taken);
            stmt.children(&mut |child| {
                if let Child::Body(body) = child {
                    self.statements(body);
                }
            });
        }
    }
}

/// The filters and tests of a function (`DependencyFinderVisitor`), in Python's order of strings, which is that of their bytes.
#[derive(Debug, Default)]
struct Written {
    filters: BTreeSet<Arc<str>>,
    tests: BTreeSet<Arc<str>>,
}

impl Written {
    fn body(&mut self, body: &Body) {
        for stmt in &body.stmts {
            stmt.children(&mut |child| match child {
                Child::Expr(expr) => self.expr(expr),
                Child::Body(body) => self.body(body),
                Child::Target(_) | Child::Parameter(_) => {}
            });
        }
    }

    /// The parser has bounded how deep this goes.
    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Filter(filter) => {
                self.filters.insert(Arc::clone(&filter.name));
            }
            ExprKind::Test(test) => {
                self.tests.insert(Arc::clone(&test.name));
            }
            _ => {}
        }
        expr.children(&mut |child| self.expr(child));
    }
}
