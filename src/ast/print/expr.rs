//! Expressions as source: `a|f() ~ 1`.

use super::{Parentheses, Printer};
use crate::ast::{Args, BinaryOp, CompareOp, Expr, ExprKind, Filter, Literal, LogicOp, Slice, Test, UnaryOp};
use crate::data::Data;

/// How tightly an expression holds together, the loosest first; see `grammar/precedence.md`.
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
    /// With filters and tests behind it.
    Filtered,
    /// With signs before it.
    Signed,
    /// Anything that takes subscripts and calls.
    Primary,
}

impl Printer<'_> {
    /// Filters without an input, the innermost first.
    pub(super) fn block_filter(&mut self, filter: &Expr) {
        if let ExprKind::Filter(node) = &filter.kind {
            if let Some(input) = &node.input {
                self.block_filter(input);
                self.put("|");
            }
            self.filter_call(node);
        }
    }

    fn filter_call(&mut self, node: &Filter) {
        self.put(&node.name);
        self.args(&node.args);
    }

    pub(super) fn args(&mut self, args: &Args) {
        let mut separator = "";
        let mut argument = |printer: &mut Self, mark: [&str; 2], value: &Expr| {
            printer.put(separator);
            printer.out.extend(mark);
            printer.expr(value, Level::Conditional);
            separator = ", ";
        };
        self.put("(");
        args.positional.iter().for_each(|value| argument(self, ["", ""], value));
        if let Some(others) = &args.others {
            others
                .keywords
                .iter()
                .for_each(|keyword| argument(self, [&keyword.name, "="], &keyword.value));
            others.star.iter().for_each(|value| argument(self, ["*", ""], value));
            others.double_star.iter().for_each(|value| argument(self, ["**", ""], value));
        }
        self.put(")");
    }

    fn exprs(&mut self, exprs: &[Expr]) {
        self.list(exprs, |printer, expr| printer.expr(expr, Level::Conditional));
    }

    /// An expression where one that is looser than `least` needs parentheses.
    pub(super) fn expr(&mut self, expr: &Expr, least: Level) {
        let is_enclosed = self.parentheses == Parentheses::All || level(&expr.kind) < least;
        self.put(if is_enclosed { "(" } else { "" });
        self.bare_expr(&expr.kind);
        self.put(if is_enclosed { ")" } else { "" });
    }

    fn bare_expr(&mut self, kind: &ExprKind) {
        let level = level(kind);
        match kind {
            ExprKind::Literal(literal) => self.literal(literal),
            // Any literal that is not supported is as good.
            ExprKind::UnsupportedText(_) => self.put("'\\ud800'"),
            ExprKind::Markup(text) => self.string(text),
            ExprKind::Name(name) => self.name(name.symbol),
            ExprKind::Tuple(items) => {
                self.put("(");
                self.exprs(items);
                self.put(if items.len() == 1 { ",)" } else { ")" });
            }
            ExprKind::List(items) => {
                self.put("[");
                self.exprs(items);
                self.put("]");
            }
            ExprKind::Dict(pairs) => {
                self.put("{");
                self.list(pairs, |printer, (key, value)| {
                    printer.expr(key, Level::Conditional);
                    printer.put(": ");
                    printer.expr(value, Level::Conditional);
                });
                self.put("}");
            }
            ExprKind::Unary(op, operand) => match (op, &operand.kind) {
                (UnaryOp::Not, ExprKind::Test(test)) => self.test(test, " is not "),
                (UnaryOp::Not, _) => self.operation("not ", operand, level),
                (UnaryOp::Neg, _) => self.operation("-", operand, level),
                (UnaryOp::Pos, _) => self.operation("+", operand, level),
            },
            ExprKind::Binary(op, operands) => self.operands(operands, spelling(*op), level),
            ExprKind::Logic(LogicOp::And, operands) => self.operands(operands, " and ", level),
            ExprKind::Logic(LogicOp::Or, operands) => self.operands(operands, " or ", level),
            ExprKind::Concat(pieces) => {
                for (index, piece) in pieces.iter().enumerate() {
                    self.operation(if index == 0 { "" } else { " ~ " }, piece, Level::Product);
                }
            }
            ExprKind::Compare(node) => {
                self.expr(&node.first, Level::Sum);
                node.links()
                    .for_each(|(op, operand)| self.operation(comparison(*op), operand, Level::Sum));
            }
            ExprKind::Conditional(node) => {
                self.expr(&node.then, Level::Or);
                self.operation(" if ", &node.test, Level::Or);
                node.otherwise
                    .iter()
                    .for_each(|otherwise| self.operation(" else ", otherwise, Level::Conditional));
            }
            ExprKind::Attribute(node) => {
                self.expr(&node.object, Level::Primary);
                self.put(".");
                self.put(&node.name);
            }
            ExprKind::Item(parts) => {
                let [object, index] = &**parts;
                self.expr(object, Level::Primary);
                self.put("[");
                self.expr(index, Level::Conditional);
                self.put("]");
            }
            ExprKind::Slice(node) => {
                self.expr(&node.object, Level::Primary);
                self.put("[");
                self.bounds(node);
                self.put("]");
            }
            ExprKind::Filter(node) => {
                node.input.iter().for_each(|input| self.expr(input, Level::Filtered));
                self.put("|");
                self.filter_call(node);
            }
            ExprKind::Test(test) => self.test(test, " is "),
            ExprKind::Call(call) => {
                self.expr(&call.callee, Level::Primary);
                self.args(&call.args);
            }
        }
    }

    fn bounds(&mut self, slice: &Slice) {
        for (mark, bound) in [("", &slice.start), (":", &slice.stop), (":", &slice.step)] {
            self.put(mark);
            bound.iter().for_each(|bound| self.expr(bound, Level::Conditional));
        }
    }

    fn operation(&mut self, operator: &str, operand: &Expr, least: Level) {
        self.put(operator);
        self.expr(operand, least);
    }

    /// Two operands of an operator that takes its like on the left.
    fn operands(&mut self, [left, right]: &[Expr; 2], operator: &str, level: Level) {
        self.expr(left, level);
        self.operation(operator, right, tighter(level));
    }

    fn test(&mut self, test: &Test, is: &str) {
        self.expr(&test.input, Level::Filtered);
        self.put(is);
        self.put(&test.name);
        self.args(&test.args);
    }

    fn literal(&mut self, literal: &Literal) {
        match literal {
            Literal::Bool(bool) => self.put(if *bool { "true" } else { "false" }),
            Literal::Int(int) => self.put(&int.to_string()),
            // Hexadecimal digits have no limit.
            Literal::Data(data) => match &**data {
                Data::BigInt(int) => self.put(&format!("{:#x}", &**int)),
                _ => self.put("none"),
            },
            Literal::Float(float) if float.is_infinite() => self.put("1e999"),
            Literal::Float(float) => self.put(&format!("{float:?}")),
            Literal::Str(text) => self.string(text),
            _ => self.put("none"),
        }
    }

    fn string(&mut self, text: &str) {
        self.put("'");
        for char in text.chars() {
            match char {
                ' '..='~' if !matches!(char, '\'' | '\\') => self.out.push(char),
                _ => self.put(&format!("\\U{:08x}", u32::from(char))),
            }
        }
        self.put("'");
    }
}

fn level(kind: &ExprKind) -> Level {
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

/// The level of what stands right of an operator.
fn tighter(level: Level) -> Level {
    match level {
        Level::Or => Level::And,
        Level::And => Level::Not,
        Level::Sum => Level::Concat,
        Level::Product => Level::Power,
        _ => Level::Filtered,
    }
}

fn spelling(op: BinaryOp) -> &'static str {
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

fn comparison(op: CompareOp) -> &'static str {
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
