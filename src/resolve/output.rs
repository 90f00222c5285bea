//! Resolves outputs (jinja2 3.1.6 `compiler.py`, `visit_Output`): `a{{ 1 + 1 }}b` becomes the one string `a2b`.

use std::sync::Arc;

use super::{Place, Resolver};
use crate::ast::{BinaryOp, Expr, ExprKind, Form, Leaf, LeafKind, Literal, Name, Output, Piece, TextLines};
use crate::error::Result;
use crate::meter::STEP_BYTES;
use crate::source::LineCounter;

impl Resolver<'_> {
    /// Resolves the expressions of an output. Constants become text, and join the text beside them.
    pub(super) fn output(&mut self, node: &mut Output, place: &Place) -> Result<()> {
        let Output { pieces, leaves, steps } = node;
        for piece in pieces.iter_mut() {
            if let Piece::Expr(expr, line) = piece {
                let at = expr.at;
                if let Some(text) = self.print_constant(expr, line, place)? {
                    let lines = TextLines::default();
                    *piece = Piece::Text { text, at, lines };
                }
            }
            if let Piece::Text { at, lines, .. } = piece {
                lines.first = self.lines.line(*at);
            }
        }
        join(pieces);
        for piece in pieces.iter() {
            if let Piece::Text { text, .. } = piece {
                self.count(text.len());
            }
        }
        if let Some(found) = Leaves::of(pieces, &mut self.lines) {
            *leaves = found.leaves;
            *steps = found.steps;
        }
        Ok(())
    }

    /// Resolves an expression of an output, and returns its text if it is a constant.
    fn print_constant(&mut self, expr: &mut Expr, line: &mut u32, place: &Place) -> Result<Option<Box<str>>> {
        // The reference checks whether an expression is a constant before it folds the parts.
        if !matches!(expr.kind, ExprKind::Literal(_)) {
            let text = self.folder.print(expr).map(String::into_boxed_str);
            self.charge_folding(expr.span)?;
            if text.is_some() {
                return Ok(text);
            }
        }
        let (recorded, was_refused) = (self.line, self.refused.is_some());
        *line = self.newline(expr.at);
        self.whole_expr(expr, place)?;
        let text = match &mut expr.kind {
            ExprKind::Literal(Literal::Str(text)) => Some(std::mem::take(text)),
            _ => {
                let text = self.folder.print(expr).map(String::into_boxed_str);
                self.charge_folding(expr.span)?;
                text
            }
        };
        if text.is_some() {
            self.line = recorded;
            self.forget_refused(was_refused);
        }
        Ok(text)
    }
}

/// The maximum nesting of sums in an output that has leaves, without those that are left operands.
const MAX_DEPTH: u32 = 4;

/// The leaves of an output.
struct Leaves<'c, 's> {
    leaves: Vec<Leaf>,
    /// The steps that the string literals in expressions cost.
    steps: u32,
    /// The text since the last leaf.
    text: String,
    lines: TextLines,
    counter: &'c mut LineCounter<'s>,
}

impl<'c, 's> Leaves<'c, 's> {
    /// Returns the leaves of an output that has expressions, if each of them is a leaf, or a sum or concatenation of leaves.
    fn of(pieces: &[Piece], counter: &'c mut LineCounter<'s>) -> Option<Self> {
        let mut leaves = Self {
            leaves: Vec::new(),
            steps: 0,
            text: String::new(),
            lines: TextLines::default(),
            counter,
        };
        for piece in pieces {
            match piece {
                Piece::Text { text, lines, .. } => leaves.lines.join(&mut leaves.text, text, lines),
                Piece::Expr(expr, _) => leaves.add(expr, false, MAX_DEPTH)?,
            }
        }
        if leaves.leaves.is_empty() {
            return None;
        }
        leaves.end_text();
        Some(leaves)
    }

    /// Adds the leaves of an expression. An item of a concatenation costs a step also if it is a short literal.
    fn add(&mut self, expr: &Expr, is_item: bool, depth: u32) -> Option<()> {
        match (&expr.kind, expr.form) {
            (ExprKind::Literal(Literal::Str(text)), _) => {
                if is_item || text.len() > STEP_BYTES {
                    let steps = u32::try_from(text.len() / STEP_BYTES).ok()?;
                    self.steps = self.steps.saturating_add(steps).saturating_add(1);
                }
                let first = self.counter.line(expr.at);
                let joined = Vec::new();
                self.lines.join(&mut self.text, text, &TextLines { first, joined });
                Some(())
            }
            (ExprKind::Binary(BinaryOp::Add, _), _) => {
                let below = depth.checked_sub(1)?;
                let mut right = Vec::new();
                let mut first = expr;
                while let ExprKind::Binary(BinaryOp::Add, operands) = &first.kind {
                    let [left, operand] = &**operands;
                    right.push(operand);
                    first = left;
                }
                self.add(first, false, below)?;
                right
                    .into_iter()
                    .rev()
                    .try_for_each(|operand| self.add(operand, false, below))
            }
            (ExprKind::Concat(items), _) => {
                let below = depth.checked_sub(1)?;
                items.iter().try_for_each(|item| self.add(item, true, below))
            }
            (_, Form::Path) => self.add_path(expr, LeafKind::Whole),
            _ => expr.as_part().and_then(|(path, kind)| self.add_path(path, kind)),
        }
    }

    fn add_path(&mut self, path: &Expr, kind: LeafKind) -> Option<()> {
        let (object, key) = match &path.kind {
            ExprKind::Attribute(attribute) => (&attribute.object.kind, Some(Arc::clone(&attribute.name))),
            kind => (kind, None),
        };
        let ExprKind::Name(Name { slot, .. }) = *object else {
            return None;
        };
        self.end_text();
        self.leaves.push(Leaf::Path { slot, key, kind });
        Some(())
    }

    fn end_text(&mut self) {
        if !self.text.is_empty() {
            let (text, lines) = (std::mem::take(&mut self.text), std::mem::take(&mut self.lines));
            self.leaves.push(Leaf::Text(text.into_boxed_str(), lines));
        }
    }
}

/// Joins adjacent pieces of text. Each is copied once, however many there are.
fn join(pieces: &mut Vec<Piece>) {
    let mut pairs = pieces.windows(2);
    if !pairs.any(|pair| matches!(pair, [Piece::Text { .. }, Piece::Text { .. }])) {
        return;
    }
    let mut rest = std::mem::take(pieces).into_iter().peekable();
    while let Some(mut piece) = rest.next() {
        if let Piece::Text { text, lines, .. } = &mut piece {
            let mut joined = String::new();
            while let Some(Piece::Text {
                text: next,
                lines: of_next,
                ..
            }) = rest.next_if(|next| matches!(next, Piece::Text { .. }))
            {
                if joined.is_empty() {
                    joined.push_str(text);
                }
                lines.join(&mut joined, &next, &of_next);
            }
            if !joined.is_empty() {
                *text = joined.into_boxed_str();
            }
        }
        pieces.push(piece);
    }
}
