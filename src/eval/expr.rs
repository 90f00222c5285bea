//! Evaluates expressions.

use super::Evaluator;
use super::arguments::unknown;
use crate::ast::{Attribute, BinaryOp, Conditional, Expr, ExprKind, Filter, Form, Literal, LogicOp, Name, Slice, UnaryOp};
use crate::builtins::{access, filters};
use crate::error::{Error, Result};
use crate::resolve::operators;
use crate::value::ops;
use crate::value::{Arguments, Entries, Key, OtherUndefined, Seq, Str, Undefined, Value};

impl<'a> Evaluator<'a, '_> {
    /// Evaluates an expression. Its statement has been charged for all of its expressions.
    #[inline(never)]
    pub(super) fn expr(&mut self, expr: &'a Expr) -> Result<Value<'a>> {
        match &expr.kind {
            ExprKind::Name(name) => self.name(name).map_err(|error| error.at(expr.span)),
            ExprKind::Literal(Literal::Str(text)) => Ok(Value::Str(Str::from(&**text))),
            ExprKind::Literal(Literal::Int(int)) => Ok(Value::Int(*int)),
            ExprKind::Literal(Literal::Bool(bool)) => Ok(Value::Bool(*bool)),
            ExprKind::Literal(Literal::None) => Ok(Value::None),
            _ => self.operation(expr),
        }
    }

    /// Evaluates an expression that has parts, by its form.
    #[inline(always)]
    fn operation(&mut self, expr: &'a Expr) -> Result<Value<'a>> {
        match expr.form {
            _ if expr.form == Form::Path => self.path_value(expr),
            Form::Applied | Form::Part | Form::Written | Form::Selection | Form::Entries => self.applied(expr),
            Form::TextSum | Form::Count => self.arithmetic(expr),
            _ => self.general_value(expr),
        }
    }

    /// Evaluates an expression that has parts, by the rules of its kind.
    #[inline(never)]
    pub(super) fn general_value(&mut self, expr: &'a Expr) -> Result<Value<'a>> {
        match &expr.kind {
            ExprKind::Compare(_) | ExprKind::Test(_) => self.truth_value(expr),
            ExprKind::Logic(_, operands) if operands.iter().all(Expr::is_condition) => self.truth_value(expr),
            ExprKind::Logic(op, operands) => self.logic(*op, operands, expr),
            ExprKind::Conditional(conditional) => self.conditional(conditional, expr),
            _ => self.compound(expr),
        }
    }

    #[inline(never)]
    fn path_value(&mut self, expr: &'a Expr) -> Result<Value<'a>> {
        let value = self.peek_with(expr, |value| Ok(*value));
        value.unwrap_or_else(|| self.general_value(expr))
    }

    #[inline(never)]
    fn arithmetic(&mut self, expr: &'a Expr) -> Result<Value<'a>> {
        if expr.form == Form::TextSum && !self.runtime.is_setting() {
            self.check_stack(expr)?;
            return self.text_sum(expr).map_err(|error| self.explain_error(error, expr));
        }
        let int = (expr.form == Form::Count).then(|| self.peek_int(expr)).flatten();
        match int {
            Some(int) => Ok(Value::Int(int)),
            None => self.general_value(expr),
        }
    }

    #[inline(never)]
    fn truth_value(&mut self, expr: &'a Expr) -> Result<Value<'a>> {
        self.truth(expr).map(Value::Bool)
    }

    /// Evaluates an expression that holds values while it evaluates others. It is a function of its own because a macro that calls itself
    /// has many of these frames on the stack. It costs a step of its own, because the steps of the statement cover only a part of the time
    /// of its frame.
    #[inline(never)]
    fn compound(&mut self, expr: &'a Expr) -> Result<Value<'a>> {
        self.runtime.meter.charge(1)?;
        self.runtime.meter.check_stack()?;
        let value = match &expr.kind {
            ExprKind::Literal(literal) => self.literal(literal),
            ExprKind::UnsupportedText(row) => Err(row.error()),
            ExprKind::Markup(text) => Ok(Value::Str(Str::from(&**text).with_markup(true))),
            ExprKind::Attribute(attribute) => self.attribute(attribute),
            ExprKind::Item(operands) => self.item(operands),
            ExprKind::Unary(op, operand) => self.unary(*op, operand),
            ExprKind::Binary(op, operands) => self.binary(*op, operands),
            ExprKind::Concat(operands) => self.concat(operands),
            ExprKind::Tuple(items) => self.items(items).map(Value::Tuple),
            ExprKind::List(items) => self.items(items).map(Value::List),
            ExprKind::Dict(pairs) => self.dict(pairs),
            ExprKind::Slice(slice) => self.slice(slice),
            ExprKind::Filter(filter) => self.filter(filter),
            ExprKind::Call(call) => self.call(&call.callee, &call.args, None),
            // `general_value` evaluates these.
            ExprKind::Name(_) | ExprKind::Compare(_) | ExprKind::Test(_) | ExprKind::Logic(..) | ExprKind::Conditional(_) => {
                self.expr(expr)
            }
        };
        value.map_err(|error| self.explain_error(error, expr))
    }

    /// Returns whether a name is the variable `self` of a template without blocks. It has no attributes then, and `self.x` is undefined.
    fn is_self_without_blocks(&self, name: &Name) -> bool {
        let template = self.render.template;
        self.is_unsupported(name.symbol)
            && !template.has_blocks
            && self.get(&name.slot).is_none()
            && template.symbols.name(name.symbol) == "self"
    }

    #[inline(never)]
    fn attribute(&mut self, attribute: &'a Attribute) -> Result<Value<'a>> {
        if let ExprKind::Name(name) = &attribute.object.kind {
            if self.is_self_without_blocks(name) && !attribute.name.starts_with('_') {
                let attribute = crate::text::quote::repr(&attribute.name);
                let message = format!("'jinja2.runtime.TemplateReference object' has no attribute {attribute}");
                return self.runtime.undefined_message(&message, OtherUndefined::Message);
            }
        }
        let object = self.expr(&attribute.object)?;
        access::get_attribute(self.runtime, &object, &Str::from(&*attribute.name))
    }

    #[inline(never)]
    fn unary(&mut self, op: UnaryOp, operand: &'a Expr) -> Result<Value<'a>> {
        let operand = self.expr(operand)?;
        operators::unary(self.runtime, op, &operand)
    }

    #[inline(never)]
    pub(super) fn item(&mut self, operands: &'a [Expr; 2]) -> Result<Value<'a>> {
        let [object, index] = operands;
        let object = self.expr(object)?;
        let key = self.expr(index)?;
        let item = access::get_item(self.runtime, &object, &key)?;
        if self.runtime.tape.is_some() {
            self.record_item(index, &item)?;
        }
        Ok(item)
    }

    /// Records that an expression reads a message by the index of a loop: in `{% for i in range(messages|length) %}{{ messages[i].role
    /// }}…`, the message that a round reads owns the text of the round.
    #[cold]
    fn record_item(&mut self, index: &'a Expr, item: &Value<'a>) -> Result<()> {
        let is_index = matches!(index.kind, ExprKind::Name(_));
        let mut read = Ok(());
        index.for_each_name(&mut |name| {
            if read.is_ok() {
                read = self.runtime.read_by_index(name.symbol.0, is_index, item);
            }
        });
        read
    }

    #[inline(never)]
    fn logic(&mut self, op: LogicOp, operands: &'a [Expr; 2], expr: &'a Expr) -> Result<Value<'a>> {
        self.check_stack(expr)?;
        let [left, right] = operands;
        let left = self.expr(left)?;
        let truth = ops::is_true(self.runtime, &left).map_err(|error| self.explain_error(error, expr))?;
        if truth == (op == LogicOp::Or) {
            Ok(left)
        } else {
            self.expr(right)
        }
    }

    #[inline(never)]
    fn conditional(&mut self, conditional: &'a Conditional, expr: &'a Expr) -> Result<Value<'a>> {
        self.check_stack(expr)?;
        match self.branch(conditional)? {
            Some(branch) => self.expr(branch),
            None => Ok(Value::Undefined(Undefined::NoElse(self.render.source.line(expr.at)))),
        }
    }

    #[inline(always)]
    pub(super) fn check_stack(&mut self, expr: &'a Expr) -> Result<()> {
        let checked = self.runtime.meter.check_stack();
        checked.map_err(|error| self.explain_error(error, expr))
    }

    #[inline(never)]
    fn binary(&mut self, op: BinaryOp, operands: &'a [Expr; 2]) -> Result<Value<'a>> {
        let [left, right] = operands;
        let left = self.expr(left)?;
        let right = self.expr(right)?;
        match op {
            // The other operators keep the pieces of their operands, or make no string.
            BinaryOp::Mod => {
                let sources = &[&left, &right];
                self.runtime
                    .with_sources(sources, |runtime| operators::binary(runtime, op, &left, &right))
            }
            _ => operators::binary(self.runtime, op, &left, &right),
        }
    }

    #[inline(never)]
    fn concat(&mut self, operands: &'a [Expr]) -> Result<Value<'a>> {
        let ((), text) = self.capture(|evaluator| operands.iter().try_for_each(|operand| evaluator.write_expr(operand)))?;
        Ok(text)
    }

    #[inline(never)]
    fn items(&mut self, items: &'a [Expr]) -> Result<Seq<'a>> {
        let items = self.all(items)?;
        self.runtime.items(&items)
    }

    /// Adds the span of an expression to an error, and a note about its operands, unless an inner expression has done so.
    #[cold]
    pub(super) fn explain_error(&mut self, error: Error, expr: &'a Expr) -> Error {
        if error.has_place() {
            error
        } else {
            self.explain(error.at(expr.span), expr)
        }
    }

    /// Evaluates a literal of a rare kind. The reference writes `inf` and `nan` to its Python code as names, which Python does not know.
    #[inline(never)]
    fn literal(&mut self, literal: &'a Literal) -> Result<Value<'a>> {
        match literal {
            Literal::Float(float) if !float.is_finite() => {
                let name = if float.is_nan() { "nan" } else { "inf" };
                Err(Error::runtime(format!("name '{name}' is not defined")))
            }
            _ => Ok(operators::literal(literal)),
        }
    }

    #[inline(never)]
    pub(super) fn all(&mut self, items: &'a [Expr]) -> Result<Vec<Value<'a>>> {
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            values.push(self.expr(item)?);
        }
        Ok(values)
    }

    /// Evaluates a dict. Python evaluates all keys and values before it makes the dict.
    #[inline(never)]
    fn dict(&mut self, pairs: &'a [(Expr, Expr)]) -> Result<Value<'a>> {
        let mut values = Vec::with_capacity(pairs.len());
        for (key, value) in pairs {
            values.push((self.expr(key)?, self.expr(value)?));
        }
        self.make_dict(values)
    }

    #[inline(never)]
    fn make_dict(&mut self, pairs: Vec<(Value<'a>, Value<'a>)>) -> Result<Value<'a>> {
        let mut entries = Entries::default();
        for (key, value) in pairs {
            let key = Key::new(self.runtime, key)?;
            entries.insert(key, value);
        }
        Ok(Value::Dict(self.runtime.dict(entries)?))
    }

    #[inline(never)]
    fn slice(&mut self, slice: &'a Slice) -> Result<Value<'a>> {
        let object = self.expr(&slice.object)?;
        let mut bound = |bound: &'a Option<Expr>| bound.as_ref().map(|bound| self.expr(bound)).transpose();
        let start = bound(&slice.start)?;
        let stop = bound(&slice.stop)?;
        let step = bound(&slice.step)?;
        self.runtime.with_sources(&[&object], |runtime| {
            ops::slice(runtime, &object, start.as_ref(), stop.as_ref(), step.as_ref())
        })
    }

    #[inline(never)]
    fn filter(&mut self, filter: &'a Filter) -> Result<Value<'a>> {
        let input = match &filter.input {
            Some(input) => self.expr(input)?,
            None => Value::None,
        };
        self.apply_filter(filter, input)
    }

    /// Applies the filters of a block to its text, which is the input of the innermost filter.
    pub(super) fn filter_text(&mut self, filter: &'a Filter, text: Value<'a>) -> Result<Value<'a>> {
        let input = match &filter.input {
            Some(Expr {
                kind: ExprKind::Filter(inner),
                span,
                ..
            }) => self.filter_text(inner, text).map_err(|error| error.at(*span))?,
            Some(input) => self.expr(input)?,
            None => text,
        };
        self.apply_filter(filter, input)
    }

    /// Applies a filter to its input. It is a function of its own, so that a chain of filters does not hold all arguments on the stack.
    #[inline(never)]
    pub(super) fn apply_filter(&mut self, filter: &'a Filter, input: Value<'a>) -> Result<Value<'a>> {
        let mut arguments = Arguments::one(input);
        let found = filter.builtin.and_then(|index| filters::TABLE.get(index));
        self.arguments(&filter.args, &mut arguments, found, None)?;
        let function = found.ok_or_else(|| unknown("filter", &filter.name))?;
        function.call(self.runtime, &mut arguments)
    }
}
