//! The limits on the nesting of a template and on the height of its tree.
//!
//! `((((…))))` with 70 parentheses is an error, as it is in the reference. Both limits are those of the reference:
//!
//! - CPython allows 1000 nested calls. jinja2's `parser.py` calls a function for each level of the grammar, 14 for a parenthesis and 4 for
//!   a statement, so this parser counts the calls that the reference would make. Its own calls are fewer but need more stack, which is
//!   measured separately. That limit is reached only in builds without optimisation, by templates that the reference rejects later.
//! - `a + a + …` is parsed without nested calls, but makes a tall tree. jinja2's optimizer visits it with two calls for each level. It runs
//!   after the parser, so an error of the parser anywhere in the template comes first: the error about the height is stored, the tall
//!   expression is dropped, and parsing continues.

use super::Parser;
use crate::ast::{Expr, ExprKind, Form, Literal};
use crate::error::{Error, Result};
use crate::limits::{Limit, LimitExceeded};
use crate::span::Span;

/// The maximum number of nested calls of functions of `parser.py`, counted from the first `subparse`. Its callers and callees make the
/// rest of the 1000 calls. Measured: 69 nested parentheses and 75 nested lists compile, 70 and 76 do not.
const FRAMES: u32 = 989;

/// The maximum number of levels of an expression's tree. Measured: `1 + 1 + …` with 491 operators compiles, with 492 it does not.
const HEIGHT: Height = 492;

/// The maximum number of levels of nested statements. At 200 levels around a tall expression, the visitors of the tree overflow a stack
/// of 512 KiB. The reference compiles fewer levels of most statements, because CPython allows at most 100 levels of indentation.
pub const STATEMENTS: usize = 128;

/// The number of calls of `parser.py` for an expression: from `parse_expression` to `parse_unary`.
pub const EXPRESSION: u32 = 11;
/// The number of calls of `parser.py` for a condition: as for an expression, but without `parse_condexpr`.
pub const CONDITION: u32 = 10;
/// One call of `parser.py`.
pub const CALL: u32 = 1;
/// The number of calls of `parser.py` for a tuple: `parse_tuple` and the function `parse` in it.
pub const TUPLE: u32 = 2;
/// The number of calls of `parser.py` for a subscript or for arguments: `parse_postfix`, `parse_subscript` and `parse_subscribed`, or
/// `parse_filter_expr`, `parse_filter` and `parse_call_args`.
pub const POSTFIX: u32 = 3;
/// The number of calls of `parser.py` for the argument of a test: `parse_filter_expr` and `parse_test`.
pub const TEST_ARGUMENT: u32 = 2;
/// The number of calls of `parser.py` for a tag: `parse_statement` and the function of the tag.
pub const TAG: u32 = 2;
/// The number of calls of `parser.py` for the body of a tag: `parse_statements` and `subparse`.
pub const BODY: u32 = 2;

/// The number of levels of the tree of an expression, at least 1.
pub type Height = usize;

impl<'s> Parser<'s> {
    /// Calls `parse` while `frames` more nested calls of the reference are counted.
    pub fn descend<T>(&mut self, frames: u32, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.enter_calls(frames)?;
        let parsed = parse(self);
        self.frames = self.frames.saturating_sub(frames);
        parsed
    }

    /// Counts `frames` more nested calls of the reference, until the caller leaves them.
    ///
    /// # Errors
    /// If there are now more nested calls than the reference allows, or too little stack is left.
    pub fn enter_calls(&mut self, frames: u32) -> Result<()> {
        self.frames = self.frames.saturating_add(frames);
        let span = self.stream.current().span;
        if self.frames > FRAMES {
            let reached = LimitExceeded::new(Limit::Nesting, u64::from(self.frames), u64::from(FRAMES));
            return Err(recursion_error(reached, span));
        }
        self.stack.check().map_err(|error| error.at(span).without_line())
    }

    /// Leaves `count` calls of the reference, each of which was counted as a [`CALL`].
    pub fn leave_calls(&mut self, count: usize) {
        self.frames = self.frames.saturating_sub(u32::try_from(count).unwrap_or(u32::MAX));
    }

    /// Stores an expression in `out` and returns its height. `below` is the height of its tallest part.
    pub fn build_node(&mut self, out: &mut Expr, kind: ExprKind, span: Span, at: u32, below: Height) -> Height {
        let height = below + 1;
        if height > HEIGHT {
            self.fail_later(recursion_error(LimitExceeded::from_sizes(Limit::Tree, height, HEIGHT), span));
            return build_leaf(out, ExprKind::Literal(Literal::None), span, at);
        }
        build_leaf(out, kind, span, at);
        height
    }

    /// Stores an error that the reference reports only after the whole template has been parsed. The first such error is kept.
    pub fn fail_later(&mut self, error: Error) {
        self.late_error.get_or_insert(error);
    }
}

/// Stores an expression without parts in `out` and returns its height, which is 1.
///
/// The parser stores expressions directly in their place in the tree, because moving them takes long. `out` has a placeholder, which needs
/// no drop.
pub fn build_leaf(out: &mut Expr, kind: ExprKind, span: Span, at: u32) -> Height {
    let form = Form::General;
    std::mem::forget(std::mem::replace(out, Expr { kind, span, at, form }));
    1
}

/// Returns the error of a template that nests too deeply at `span`.
#[cold]
pub fn recursion_error(reached: LimitExceeded, span: Span) -> Error {
    Error::recursion(reached).at(span).without_line()
}
