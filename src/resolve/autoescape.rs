//! `autoescape`, as far as it is known before the render (jinja2 3.1.6 `compiler.py`, `visit_ScopedEvalContextModifier`).
//!
//! ```text
//! {% autoescape true %}{{ '<' }}{{ x }}{% endautoescape %}   '<' is escaped here, x by the render
//! {% autoescape t %}{{ '<' }}{{ x }}{% endautoescape %}      '<' stays as it is, x is the render's to decide
//! ```
//!
//! A constant condition says what the body is compiled to; any other makes all of it depend on the render, and there nothing is folded.
//! A macro or a block is compiled as the place says where it stands, and may be rendered elsewhere: what the render knows is in
//! `Runtime::autoescape`.

use super::{Place, Resolver, fold};
use crate::ast::{Autoescape, Body, Expr, Scope};
use crate::error::Result;

/// `nodes.EvalContext` while the reference compiles.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EvalContext {
    /// What the nearest constant condition says.
    pub autoescape: bool,
    /// Whether some condition around is no constant; constants are escaped as the nearest constant condition says even then.
    pub volatile: bool,
}

impl EvalContext {
    /// What the tree needs to know.
    pub fn known(self) -> Autoescape {
        match self {
            Self { volatile: true, .. } => Autoescape::Volatile,
            Self { autoescape: true, .. } => Autoescape::On,
            _ => Autoescape::Off,
        }
    }
}

impl Resolver<'_> {
    pub(super) fn autoescape(&mut self, value: &mut Expr, body: &mut Body, scope: &mut Scope, place: &Place) -> Result<u32> {
        let table = self.tables.add(Some(place.table));
        self.track(table).autoescape_body(value, body);
        *scope = self.frames.scope(&self.tables, table);
        let inner = place.inner(table);
        let recorded = self.line.max(1);
        self.root(value, &inner, 0)?;
        let outer = self.eval_context;
        if let Some(error) = fold::unhashable_key(&value.kind, outer) {
            return Err(error.without_line().at(value.span));
        }
        match fold::truth(value, outer) {
            Some(truth) => self.eval_context.autoescape = truth,
            None => self.eval_context.volatile = true,
        }
        self.body(body, &inner)?;
        self.eval_context = outer;
        Ok(recorded)
    }
}
