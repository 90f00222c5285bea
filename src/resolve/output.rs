//! Outputs: `visit_Output` of `compiler.py`. `a{{ 1 + 1 }}b` becomes the one text `a2b`.

use super::{Place, Resolver, fold};
use crate::ast::{Autoescape, Expr, ExprKind, Literal, Piece};
use crate::error::Result;

impl Resolver<'_> {
    /// Constants become text, and join the text beside them.
    pub(super) fn output(&mut self, pieces: &mut Vec<Piece>, place: &Place) -> Result<()> {
        if self.has_extended && place.is_silenced {
            pieces.clear();
            return Ok(());
        }
        // The reference asks first whether there is a parent, and CPython wants something to do where there is none.
        self.has_empty_output |= pieces.is_empty() && place.is_silenced;
        for piece in pieces.iter_mut() {
            match piece {
                // The reference leaves it to the render whether the text is a Markup, so this is no constant to it.
                Piece::Text(_, at) if self.eval_context.volatile => drop(self.newline(*at)),
                Piece::Text(..) => {}
                Piece::Expr(expr, line) | Piece::Escaped(expr, line, _) => {
                    if let Some(printed) = self.printed(expr, line, place)? {
                        *piece = printed;
                    }
                }
            }
        }
        join(pieces, self.eval_context.volatile);
        for piece in pieces.iter() {
            if let Piece::Text(text, _) = piece {
                self.count(text.len());
            }
        }
        Ok(())
    }

    /// What a constant prints, as long as the template has not had its fill of constants.
    fn folded_text(&mut self, expr: &Expr) -> Option<String> {
        if !fold::is_constant(expr) {
            return None;
        }
        if fold::may_fold(&expr.kind, self.eval_context) {
            self.folds_left = self.folds_left.checked_sub(1)?;
        }
        fold::text(expr, self.eval_context)
    }

    /// An expression that is put out; gives what stands in its place, if something does. Where the render decides what is escaped, a
    /// constant keeps apart from the text beside it.
    fn printed(&mut self, expr: &mut Expr, line: &mut u32, place: &Place) -> Result<Option<Piece>> {
        let context = self.eval_context;
        // The reference looks whether it is a constant before it folds anything in it.
        let text = match expr.kind {
            ExprKind::Literal(_) if !context.volatile => None,
            _ => self.folded_text(expr),
        };
        match text {
            Some(text) if context.volatile => {
                expr.kind = ExprKind::Markup(text.into_boxed_str());
                return Ok(None);
            }
            Some(text) => return Ok(Some(Piece::Text(text.into_boxed_str(), expr.at))),
            None => {}
        }
        let (recorded, found) = (self.line, self.refusals.found());
        *line = self.newline(expr.at);
        self.root(expr, place, 1)?;
        let text = match &mut expr.kind {
            ExprKind::Literal(Literal::Str(text)) if context.known() == Autoescape::Off => Some(std::mem::take(text)),
            _ if context.volatile => None,
            _ => self.folded_text(expr).map(String::into_boxed_str),
        };
        if let Some(text) = text {
            self.line = recorded;
            self.refusals.forget(found);
            return Ok(Some(Piece::Text(text, expr.at)));
        }
        Ok(match context.known() {
            Autoescape::Off => None,
            known => {
                let kind = ExprKind::Literal(Literal::None);
                let expr = std::mem::replace(expr, Expr { kind, ..*expr });
                Some(Piece::Escaped(expr, *line, known))
            }
        })
    }
}

/// Joins the constants that stand beside each other; each is copied once, however many there are.
fn join(pieces: &mut Vec<Piece>, volatile: bool) {
    let mut pairs = pieces.windows(2);
    if !pairs.any(|pair| matches!(pair, [before, piece] if are_joined(before, piece, volatile))) {
        return;
    }
    let mut rest = std::mem::take(pieces).into_iter().peekable();
    while let Some(mut piece) = rest.next() {
        let mut joined = String::new();
        while let Some(next) = rest.next_if(|next| are_joined(&piece, next, volatile)) {
            if joined.is_empty() {
                joined.push_str(constant(&piece));
            }
            joined.push_str(constant(&next));
        }
        match &mut piece {
            Piece::Text(text, _)
            | Piece::Expr(
                Expr {
                    kind: ExprKind::Markup(text),
                    ..
                },
                _,
            ) if !joined.is_empty() => {
                *text = joined.into_boxed_str();
            }
            _ => {}
        }
        pieces.push(piece);
    }
}

/// Whether two pieces are constants that become one: two Markups do always, two texts where it is known that nothing escapes them.
fn are_joined(before: &Piece, piece: &Piece, volatile: bool) -> bool {
    match (before, piece) {
        (Piece::Text(..), Piece::Text(..)) => !volatile,
        (Piece::Expr(before, _), Piece::Expr(expr, _)) => {
            matches!((&before.kind, &expr.kind), (ExprKind::Markup(_), ExprKind::Markup(_)))
        }
        _ => false,
    }
}

/// The text of a constant.
fn constant(piece: &Piece) -> &str {
    match piece {
        Piece::Text(text, _)
        | Piece::Expr(
            Expr {
                kind: ExprKind::Markup(text),
                ..
            },
            _,
        ) => text,
        _ => "",
    }
}
