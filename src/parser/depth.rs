//! How deep a template may nest, and how tall a tree may grow.
//!
//! `((((…))))` with 70 parentheses is an error here as it is in the reference. Two bounds, both the reference's:
//!
//! - CPython calls at most 1000 functions inside each other. jinja2's `parser.py` takes a function for each level of the grammar, 14
//!   for a parenthesis and 4 for a statement, so we count those. Ours are fewer but larger, so our own stack is measured too; that
//!   matters in builds without optimisation, and there for templates that the reference refuses later on.
//! - `a + a + …` nests no calls while it is parsed, but makes a tall tree, which jinja2's optimizer visits with two calls a level. That
//!   is after parsing, so the error waits until nothing else is wrong, and what grew too tall is cut off at once.

use super::Parser;
use crate::ast::{Expr, ExprKind, Literal};
use crate::error::{Error, Result};
use crate::limits::{Limit, Reached};
use crate::span::Span;

/// Functions of `parser.py` inside each other, counted from the root's `subparse`. The rest of the 1000 is around and below them.
/// Probed: 69 nested parentheses and 75 nested lists compile, 70 and 76 do not.
const FRAMES: u32 = 989;

/// Levels of an expression's tree. Probed: `1 + 1 + …` with 491 operators compiles, with 492 it does not.
const HEIGHT: Height = 492;

/// The deepest nesting of statements. With 200 of them around a tall expression, the visitors of the tree overflow a stack of 512 KiB.
/// Of most statements the reference compiles fewer: CPython refuses the 101st level of indentation.
pub const STATEMENTS: usize = 128;

/// From `parse_expression` to `parse_unary`.
pub const EXPRESSION: u32 = 11;
/// The same without `parse_condexpr`.
pub const CONDITION: u32 = 10;
/// One function.
pub const CALL: u32 = 1;
/// `parse_tuple` and its inner `parse`.
pub const TUPLE: u32 = 2;
/// `parse_postfix`, `parse_subscript`, `parse_subscribed`; or `parse_filter_expr`, `parse_filter`, `parse_call_args`.
pub const POSTFIX: u32 = 3;
/// `parse_filter_expr`, `parse_test`.
pub const TEST_ARGUMENT: u32 = 2;
/// `parse_statement`, that of its tag, `parse_statements`, `subparse`: two before a tag's expressions, two around its body.
pub const TAG: u32 = 2;
/// See [`TAG`].
pub const BODY: u32 = 2;

/// The levels of an expression's tree, at least 1.
pub type Height = usize;

impl<'s> Parser<'s> {
    /// Parses something that is so many of the reference's calls further in.
    pub fn nested<T>(&mut self, frames: u32, parse: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.deepen(frames)?;
        let parsed = parse(self);
        self.frames = self.frames.saturating_sub(frames);
        parsed
    }

    /// Counts calls that are not left before the whole expression is.
    pub fn deepen(&mut self, frames: u32) -> Result<()> {
        self.frames = self.frames.saturating_add(frames);
        let span = self.stream.current().span;
        if self.frames > FRAMES {
            let reached = Reached::new(Limit::Nesting, u64::from(self.frames), u64::from(FRAMES));
            return Err(too_deep(reached, span));
        }
        self.stack.check().map_err(|error| error.at(span).without_line())
    }

    /// Leaves so many of the reference's calls, each of which was counted as a [`CALL`].
    pub fn leave_calls(&mut self, count: usize) {
        self.frames = self.frames.saturating_sub(u32::try_from(count).unwrap_or(u32::MAX));
    }

    /// Puts an expression above others, which were taken from its place and the tallest of which has so many levels; gives its own levels.
    pub fn put(&mut self, place: &mut Expr, kind: ExprKind, span: Span, at: u32, below: Height) -> Height {
        let height = below.saturating_add(1);
        if height > HEIGHT {
            self.fail_later(too_deep(Reached::sizes(Limit::Tree, height, HEIGHT), span));
            return fill(place, ExprKind::Literal(Literal::None), span, at);
        }
        fill(place, kind, span, at);
        height
    }

    /// Keeps an error that the reference finds only after the whole template has been parsed.
    pub fn fail_later(&mut self, error: Error) {
        self.late_error.get_or_insert(error);
    }
}

/// Puts an expression above no other into its place, where none is yet or the last was taken: there is nothing to drop. Gives its levels.
///
/// Expressions are parsed into their place in the tree, as far as that is there before them, because moving them takes long.
pub fn fill(place: &mut Expr, kind: ExprKind, span: Span, at: u32) -> Height {
    std::mem::forget(std::mem::replace(place, Expr { kind, span, at }));
    1
}

/// An error at the place where a template nests too deep.
#[cold]
pub fn too_deep(reached: Reached, span: Span) -> Error {
    Error::recursion(reached).at(span).without_line()
}

#[cfg(test)]
mod tests {
    use crate::parser::{parse, refusal};
    use crate::source::Source;

    fn is_accepted(text: &str) -> bool {
        parse(&Source::new(text)).is_ok()
    }

    fn nested(open: &str, close: &str, count: usize) -> String {
        format!("{{{{ {}1{} }}}}", open.repeat(count), close.repeat(count))
    }

    #[test]
    fn brackets_nest_as_deep_as_in_the_reference() {
        for (open, close, most) in [
            ("(", ")", 69),
            ("[", "]", 75),
            ("{1:", "}", 75),
            ("f(", ")", 69),
            ("a[", "]", 69),
            ("a|f(", ")", 69),
        ] {
            assert!(is_accepted(&nested(open, close, most)), "{open}");
            let message = "maximum recursion depth exceeded";
            assert_eq!(refusal(&nested(open, close, most + 1)), (message.into(), 0), "{open}");
        }
    }

    #[test]
    fn statements_nest_deeper_than_the_reference_compiles() {
        assert!(is_accepted(&("{% if a %}".repeat(100) + &"{% endif %}".repeat(100))));
        assert_eq!(refusal(&"{% if a %}".repeat(100_000)).0, "maximum recursion depth exceeded");
    }

    #[test]
    fn chains_grow_trees_of_a_bounded_height() {
        for link in [" + 1", " or 1", ".a", "[0]", "()", "|f", " is t(1)", " if 1", " ** 1"] {
            let chain = |count| format!("{{{{ 1{} }}}}", link.repeat(count));
            assert!(is_accepted(&chain(491)), "{link}");
            assert_eq!(refusal(&chain(20_000)).0, "maximum recursion depth exceeded", "{link}");
        }
        for link in ["not ", "- ", "1 if 1 else "] {
            let chain = |count| format!("{{{{ {}1 }}}}", link.repeat(count));
            assert!(is_accepted(&chain(491)), "{link}");
            assert_eq!(refusal(&chain(20_000)).0, "maximum recursion depth exceeded", "{link}");
        }
        for link in [" ~ 1", " < 1", ", 1"] {
            assert!(is_accepted(&format!("{{{{ 1{} }}}}", link.repeat(20_000))), "{link}");
        }
        assert!(is_accepted(&format!(
            "{{% if a %}}{}{{% endif %}}",
            "{% elif a %}".repeat(20_000)
        )));
    }

    #[test]
    fn what_is_wrong_behind_a_tall_tree_comes_first() {
        let source = format!("{{{{ 1{} }}}}{{{{ }}}}", " + 1".repeat(1000));
        assert_eq!(refusal(&source).0, "Expected an expression, got 'end of print statement'");
    }
}
