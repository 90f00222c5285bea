//! Runs statements.

use super::{Evaluator, Flow};
use crate::ast::{Body, Expr, ExprKind, FilterBlock, If, Set, SetBlock, SetStrategy, Stmt, StmtKind, TargetKind, With};
use crate::builtins::arguments::not_a_string;
use crate::error::{Error, Result};
use crate::unsupported::{self, Site};
use crate::value::Value;

impl<'a> Evaluator<'a, '_> {
    /// Runs the statements of a body until its end, or until a `break` or `continue`. All of them are charged before the first one runs.
    pub(super) fn body(&mut self, body: &'a Body) -> Result<Flow> {
        let mut stmts = self.begin_body(body)?;
        while let Some(stmt) = stmts.next() {
            self.count_root();
            let flow = match &stmt.kind {
                StmtKind::Output(node) => self.output(node).map(|()| Flow::Next),
                StmtKind::Set(node) => self.assignment(node).map(|()| Flow::Next),
                StmtKind::If(node) => {
                    let branch = self.branch_of_if(node).map_err(|error| self.place(error, stmt))?;
                    if branch.stmts.is_empty() {
                        continue;
                    }
                    if node.asks_prompt {
                        self.prompted_body(branch)
                    } else if self.runtime.tape.is_some() {
                        self.traced_body(branch)
                    } else if stmts.as_slice().is_empty() {
                        // The branch is the rest of the body.
                        stmts = self.begin_body(branch)?;
                        continue;
                    } else {
                        self.body(branch)
                    }
                }
                _ => self.rare_stmt(stmt),
            };
            match flow.map_err(|error| self.place(error, stmt))? {
                Flow::Next => {}
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next)
    }

    /// Charges for a body, and returns its statements.
    #[inline]
    fn begin_body(&mut self, body: &'a Body) -> Result<std::slice::Iter<'a, Stmt>> {
        if let Some(first) = body.stmts.first() {
            let charged = self.runtime.meter.charge(u64::from(body.steps));
            charged.map_err(|error| self.place(error, first))?;
        }
        Ok(body.stmts.iter())
    }

    /// Adds the place of a statement to an error that has none.
    #[cold]
    fn place(&self, error: Error, stmt: &Stmt) -> Error {
        self.render.add_place(error, stmt.line_at, stmt.span)
    }

    /// Runs a statement of a kind that `body` does not run itself, so that `body` is small.
    #[inline(never)]
    fn rare_stmt(&mut self, stmt: &'a Stmt) -> Result<Flow> {
        match &stmt.kind {
            StmtKind::Output(_) | StmtKind::If(_) | StmtKind::Set(_) => {
                return Err(Error::internal("a statement has the wrong kind"));
            }
            StmtKind::For(node) => return self.for_loop(node, stmt.at),
            StmtKind::SetBlock(node) => return self.set_block(node),
            StmtKind::Macro(node) => self.define_macro(node)?,
            StmtKind::CallBlock(node) => self.call_block(node)?,
            StmtKind::Generation(node) => self.generation(node)?,
            StmtKind::FilterBlock(node) => return self.filter_block(node),
            StmtKind::With(node) => return self.with(node),
            StmtKind::Unsupported(name) => unsupported::find(Site::Statement, name).map_or(Ok(()), Err)?,
            StmtKind::Break => return Ok(Flow::Break),
            StmtKind::Continue => return Ok(Flow::Continue),
        }
        Ok(Flow::Next)
    }

    #[inline(never)]
    fn assignment(&mut self, node: &'a Set) -> Result<()> {
        match &node.target.kind {
            TargetKind::Name { .. } => {}
            TargetKind::Attribute { slot, .. } if matches!(self.get(slot), Some(Value::Namespace(_))) => {}
            _ => {
                let checked = self.check_namespaces(&node.target);
                checked.map_err(|error| self.render.add_line(error, node.check_at))?;
            }
        }
        match node.strategy {
            SetStrategy::Append if self.render.template.accumulates || self.runtime.tape.is_some() => return self.accumulate(node),
            SetStrategy::Plain | SetStrategy::Append => {}
            SetStrategy::Alias => return self.assign_copy(node),
        }
        let value = match self.runtime.tape {
            None => self.expr(&node.value)?,
            Some(_) => self.traced_value(&node.value)?,
        };
        self.assign(&node.target, value)
    }

    /// Evaluates the value of a `set` in a render that is traced.
    #[cold]
    fn traced_value(&mut self, value: &'a Expr) -> Result<Value<'a>> {
        self.runtime.set_setting(true);
        let value = self.expr(value);
        self.runtime.set_setting(false);
        value
    }

    #[inline(never)]
    fn assign_copy(&mut self, node: &'a Set) -> Result<()> {
        let value = self.expr(&node.value)?;
        match &node.target.kind {
            TargetKind::Name { slot, .. } if value.is_missing() => {
                self.clear(slot);
                Ok(())
            }
            _ => self.assign(&node.target, value),
        }
    }

    /// Returns the branch that an `if` takes.
    #[inline]
    fn branch_of_if(&mut self, node: &'a If) -> Result<&'a Body> {
        for arm in &node.arms {
            let truth = self.truth(&arm.test);
            if truth.map_err(|error| self.render.add_place(error, arm.at, arm.test.span))? {
                return Ok(&arm.body);
            }
        }
        Ok(&node.otherwise)
    }

    /// Runs the statements of a branch in a render that is traced. Their output is recorded as one passage of the text, so that it can
    /// belong to one message.
    #[cold]
    fn traced_body(&mut self, body: &'a Body) -> Result<Flow> {
        let passage = self.runtime.begin_passage(self.out.len());
        let flow = self.body(body)?;
        if let Some(passage) = passage {
            self.runtime.end_passage(&passage, self.out.len())?;
        }
        Ok(flow)
    }

    /// Runs the statements of a branch whose condition reads `add_generation_prompt`, and notes what they write.
    #[inline(never)]
    fn prompted_body(&mut self, body: &'a Body) -> Result<Flow> {
        let start = self.out.len();
        let flow = match self.runtime.tape {
            None => self.body(body)?,
            Some(_) => self.traced_body(body)?,
        };
        let between = self.out.get(self.prompt.end..start).unwrap_or_default();
        if self.prompt.is_empty() || !between.chars().all(char::is_whitespace) {
            self.prompt.start = start;
        }
        self.prompt.end = self.out.len();
        Ok(flow)
    }

    #[inline(never)]
    fn set_block(&mut self, node: &'a SetBlock) -> Result<Flow> {
        self.enter_scope(&node.scope)?;
        let (flow, mut value) = self.capture_body(&node.body)?;
        if flow != Flow::Next {
            return Ok(flow);
        }
        if let Some(filter) = &node.filter {
            value = self.block_filter(filter, value)?;
        }
        // The reference does not check for a namespace here: it assigns an item instead.
        self.assign(&node.target, value)?;
        self.leave_scope(&node.scope)?;
        Ok(Flow::Next)
    }

    #[inline(never)]
    fn filter_block(&mut self, node: &'a FilterBlock) -> Result<Flow> {
        self.enter_scope(&node.scope)?;
        let (flow, text) = self.capture_body(&node.body)?;
        if flow != Flow::Next {
            return Ok(flow);
        }
        let filtered = self.block_filter(&node.filter, text)?;
        self.write_piece(&filtered)?;
        self.leave_scope(&node.scope)?;
        Ok(Flow::Next)
    }

    /// Applies the filters of a block to its text.
    #[inline(never)]
    fn block_filter(&mut self, filter: &'a Expr, text: Value<'a>) -> Result<Value<'a>> {
        match &filter.kind {
            ExprKind::Filter(node) => self.filter_text(node, text).map_err(|error| error.at(filter.span)),
            _ => Err(Error::internal("the filter of a block is not a filter")),
        }
    }

    #[inline(never)]
    fn with(&mut self, node: &'a With) -> Result<Flow> {
        self.enter_scope(&node.scope)?;
        for (target, value) in &node.bindings {
            let value = self.expr(value)?;
            self.assign(target, value)?;
        }
        let flow = self.body(&node.body)?;
        if flow == Flow::Next {
            self.leave_scope(&node.scope)?;
        }
        Ok(flow)
    }

    /// Runs a body whose output becomes a string.
    fn capture_body(&mut self, body: &'a Body) -> Result<(Flow, Value<'a>)> {
        self.capture(|evaluator| match evaluator.body(body)? {
            Flow::Next => evaluator.join_pieces().map(|()| Flow::Next),
            flow => Ok(flow),
        })
    }

    /// Writes the result of a `filter` or `call` block. The reference refuses another value than a string when it joins the pieces.
    pub(super) fn write_piece(&mut self, value: &Value<'a>) -> Result<()> {
        self.pieces += 1;
        if let Value::Str(_) = value {
            return self.write_value(value);
        }
        if self.refused.is_none() {
            self.refused = Some(not_a_string(self.pieces.saturating_sub(1), value));
            if let Some(tracked) = self.runtime.heap.frames.tracked.as_mut().filter(|_| self.is_counted) {
                tracked.refused.clone_from(&self.refused);
            }
        }
        Ok(())
    }

    /// Returns the error of joining the pieces of the output, if one of them is not a string.
    pub(super) fn join_pieces(&mut self) -> Result<()> {
        self.refused.take().map_or(Ok(()), Err)
    }
}
