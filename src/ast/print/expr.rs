//! Prints expressions as source: `a|f() ~ 1`.

use super::printer::{Parentheses, Printer};
use crate::ast::{Args, BinaryOp, CompareOp, Expr, ExprKind, Filter, Literal, LogicOp, Slice, Test, UnaryOp};
use crate::json::Data;

/// The levels of precedence, from the loosest to the tightest; see `grammar/precedence.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Conditional,
    Or,
    And,
    Not,
    Comparison,
    Sum,
    Concat,
    Product,
    Power,
    /// An operand with filters or tests.
    Filtered,
    /// An operand with signs.
    Signed,
    /// An operand that can have attributes, subscripts and calls.
    Primary,
}

impl Printer<'_> {
    /// Writes the filters of a `filter` or `set` block, the first one first.
    pub(super) fn write_block_filter(&mut self, filter: &Expr) {
        if let ExprKind::Filter(node) = &filter.kind {
            if let Some(input) = &node.input {
                self.write_block_filter(input);
                self.push("|");
            }
            self.write_filter_call(node);
        }
    }

    fn write_filter_call(&mut self, node: &Filter) {
        self.push(&node.name);
        self.write_args(&node.args);
    }

    pub(super) fn write_args(&mut self, args: &Args) {
        let mut separator = "";
        let mut argument = |printer: &mut Self, mark: [&str; 2], value: &Expr| {
            printer.push(separator);
            printer.out.extend(mark);
            printer.write_expr(value, Level::Conditional);
            separator = ", ";
        };
        self.push("(");
        args.positional.iter().for_each(|value| argument(self, ["", ""], value));
        if let Some(others) = &args.others {
            others
                .keywords
                .iter()
                .for_each(|keyword| argument(self, [&keyword.name, "="], &keyword.value));
            others.star.iter().for_each(|value| argument(self, ["*", ""], value));
            others.double_star.iter().for_each(|value| argument(self, ["**", ""], value));
        }
        self.push(")");
    }

    fn write_exprs(&mut self, exprs: &[Expr]) {
        self.write_list(exprs, |printer, expr| printer.write_expr(expr, Level::Conditional));
    }

    /// Writes an expression, in parentheses if it binds less tightly than `least`.
    pub(super) fn write_expr(&mut self, expr: &Expr, least: Level) {
        let is_enclosed = self.parentheses == Parentheses::All || level_of(&expr.kind) < least;
        self.push(if is_enclosed { "(" } else { "" });
        self.write_bare_expr(&expr.kind);
        self.push(if is_enclosed { ")" } else { "" });
    }

    /// Writes an expression without parentheses around it.
    fn write_bare_expr(&mut self, kind: &ExprKind) {
        let level = level_of(kind);
        match kind {
            ExprKind::Literal(literal) => self.write_literal(literal),
            // All unsupported literals are equal, so this one can replace any of them.
            ExprKind::UnsupportedText(_) => self.push("'\\ud800'"),
            ExprKind::Markup(text) => self.write_string(text),
            ExprKind::Name(name) => self.write_name(name.symbol),
            ExprKind::Tuple(items) => {
                self.push("(");
                self.write_exprs(items);
                self.push(if items.len() == 1 { ",)" } else { ")" });
            }
            ExprKind::List(items) => {
                self.push("[");
                self.write_exprs(items);
                self.push("]");
            }
            ExprKind::Dict(pairs) => {
                self.push("{");
                self.write_list(pairs, |printer, (key, value)| {
                    printer.write_expr(key, Level::Conditional);
                    printer.push(": ");
                    printer.write_expr(value, Level::Conditional);
                });
                self.push("}");
            }
            ExprKind::Unary(op, operand) => match (op, &operand.kind) {
                (UnaryOp::Not, ExprKind::Test(test)) => self.write_test(test, " is not "),
                (UnaryOp::Not, _) => self.write_operand("not ", operand, level),
                (UnaryOp::Neg, _) => self.write_operand("-", operand, level),
                (UnaryOp::Pos, _) => self.write_operand("+", operand, level),
            },
            ExprKind::Binary(op, operands) => self.write_operands(operands, binary_sign(*op), level),
            ExprKind::Logic(LogicOp::And, operands) => self.write_operands(operands, " and ", level),
            ExprKind::Logic(LogicOp::Or, operands) => self.write_operands(operands, " or ", level),
            ExprKind::Concat(pieces) => {
                for (index, piece) in pieces.iter().enumerate() {
                    self.write_operand(if index == 0 { "" } else { " ~ " }, piece, Level::Product);
                }
            }
            ExprKind::Compare(node) => {
                self.write_expr(&node.first, Level::Sum);
                node.links()
                    .for_each(|(op, operand)| self.write_operand(compare_sign(*op), operand, Level::Sum));
            }
            ExprKind::Conditional(node) => {
                self.write_expr(&node.then, Level::Or);
                self.write_operand(" if ", &node.test, Level::Or);
                node.otherwise
                    .iter()
                    .for_each(|otherwise| self.write_operand(" else ", otherwise, Level::Conditional));
            }
            ExprKind::Attribute(node) => {
                self.write_expr(&node.object, Level::Primary);
                self.push(".");
                self.push(&node.name);
            }
            ExprKind::Item(parts) => {
                let [object, index] = &**parts;
                self.write_expr(object, Level::Primary);
                self.push("[");
                self.write_expr(index, Level::Conditional);
                self.push("]");
            }
            ExprKind::Slice(node) => {
                self.write_expr(&node.object, Level::Primary);
                self.push("[");
                self.write_bounds(node);
                self.push("]");
            }
            ExprKind::Filter(node) => {
                node.input.iter().for_each(|input| self.write_expr(input, Level::Filtered));
                self.push("|");
                self.write_filter_call(node);
            }
            ExprKind::Test(test) => self.write_test(test, " is "),
            ExprKind::Call(call) => {
                self.write_expr(&call.callee, Level::Primary);
                self.write_args(&call.args);
            }
        }
    }

    fn write_bounds(&mut self, slice: &Slice) {
        for (mark, bound) in [("", &slice.start), (":", &slice.stop), (":", &slice.step)] {
            self.push(mark);
            bound.iter().for_each(|bound| self.write_expr(bound, Level::Conditional));
        }
    }

    fn write_operand(&mut self, operator: &str, operand: &Expr, least: Level) {
        self.push(operator);
        self.write_expr(operand, least);
    }

    /// Writes an operation whose operator is left associative.
    fn write_operands(&mut self, [left, right]: &[Expr; 2], operator: &str, level: Level) {
        self.write_expr(left, level);
        self.write_operand(operator, right, tighter(level));
    }

    fn write_test(&mut self, test: &Test, is: &str) {
        self.write_expr(&test.input, Level::Filtered);
        self.push(is);
        self.push(&test.name);
        self.write_args(&test.args);
    }

    fn write_literal(&mut self, literal: &Literal) {
        match literal {
            Literal::Bool(bool) => self.push(if *bool { "true" } else { "false" }),
            Literal::Int(int) => self.push(&int.to_string()),
            // The number of digits is limited in decimal literals but not in hexadecimal ones.
            Literal::Data(data) => match &**data {
                Data::BigInt(int) => self.push(&format!("{:#x}", &**int)),
                _ => self.push("none"),
            },
            Literal::Float(float) if float.is_infinite() => self.push("1e999"),
            Literal::Float(float) => self.push(&format!("{float:?}")),
            Literal::Str(text) => self.write_string(text),
            _ => self.push("none"),
        }
    }

    fn write_string(&mut self, text: &str) {
        self.push("'");
        for char in text.chars() {
            match char {
                ' '..='~' if !matches!(char, '\'' | '\\') => self.out.push(char),
                _ => self.push(&format!("\\U{:08x}", u32::from(char))),
            }
        }
        self.push("'");
    }
}

fn level_of(kind: &ExprKind) -> Level {
    match kind {
        ExprKind::Conditional(_) => Level::Conditional,
        ExprKind::Logic(LogicOp::Or, _) => Level::Or,
        ExprKind::Logic(LogicOp::And, _) => Level::And,
        ExprKind::Unary(UnaryOp::Not, operand) if matches!(operand.kind, ExprKind::Test(_)) => Level::Filtered,
        ExprKind::Unary(UnaryOp::Not, _) => Level::Not,
        ExprKind::Compare(_) => Level::Comparison,
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, _) => Level::Sum,
        ExprKind::Concat(_) => Level::Concat,
        ExprKind::Binary(BinaryOp::Pow, _) => Level::Power,
        ExprKind::Binary(..) => Level::Product,
        ExprKind::Filter(_) | ExprKind::Test(_) => Level::Filtered,
        ExprKind::Unary(..) => Level::Signed,
        _ => Level::Primary,
    }
}

/// Returns the level of the right operand of an operator.
fn tighter(level: Level) -> Level {
    match level {
        Level::Or => Level::And,
        Level::And => Level::Not,
        Level::Sum => Level::Concat,
        Level::Product => Level::Power,
        _ => Level::Filtered,
    }
}

fn binary_sign(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => " + ",
        BinaryOp::Sub => " - ",
        BinaryOp::Mul => " * ",
        BinaryOp::Div => " / ",
        BinaryOp::FloorDiv => " // ",
        BinaryOp::Mod => " % ",
        BinaryOp::Pow => " ** ",
    }
}

fn compare_sign(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Eq => " == ",
        CompareOp::Ne => " != ",
        CompareOp::Lt => " < ",
        CompareOp::Le => " <= ",
        CompareOp::Gt => " > ",
        CompareOp::Ge => " >= ",
        CompareOp::In => " in ",
        CompareOp::NotIn => " not in ",
    }
}
