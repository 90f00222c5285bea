//! Resolves outputs (jinja2 3.1.6 `compiler.py`, `visit_Output`): `a{{ 1 + 1 }}b` becomes the one string `a2b`.

use super::{Place, Resolver};
use crate::ast::{Expr, ExprKind, Literal, Piece, TextPlaces};
use crate::error::Result;

impl Resolver<'_> {
    /// Resolves the expressions of an output. Constants become text, and join the text beside them.
    pub(super) fn output(&mut self, pieces: &mut Vec<Piece>, place: &Place) -> Result<()> {
        for piece in pieces.iter_mut() {
            if let Piece::Expr(expr, line) = piece {
                let first = expr.at;
                if let Some(text) = self.print_constant(expr, line, place)? {
                    *piece = Piece::Text(
                        text,
                        TextPlaces {
                            first,
                            ..TextPlaces::default()
                        },
                    );
                }
            }
        }
        join(pieces);
        for piece in pieces.iter() {
            if let Piece::Text(text, _) = piece {
                self.count(text.len());
            }
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

/// Joins adjacent pieces of text. Each is copied once, however many there are.
fn join(pieces: &mut Vec<Piece>) {
    let mut pairs = pieces.windows(2);
    if !pairs.any(|pair| matches!(pair, [Piece::Text(..), Piece::Text(..)])) {
        return;
    }
    let mut rest = std::mem::take(pieces).into_iter().peekable();
    while let Some(mut piece) = rest.next() {
        if let Piece::Text(text, places) = &mut piece {
            let mut joined = String::new();
            let mut parts = Vec::new();
            while let Some(Piece::Text(next, at)) = rest.next_if(|next| matches!(next, Piece::Text(..))) {
                if joined.is_empty() {
                    joined.push_str(text);
                }
                parts.push((u32::try_from(joined.len()).unwrap_or(u32::MAX), at.first));
                joined.push_str(&next);
            }
            if !parts.is_empty() {
                *text = joined.into_boxed_str();
                places.joined = parts.into_boxed_slice();
            }
        }
        pieces.push(piece);
    }
}
