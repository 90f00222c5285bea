//! Evaluates expressions.

use super::Evaluator;
use super::leaf::absent;
use crate::ast::{Args, Attribute, BinaryOp, Call, Compare, Conditional, Expr, ExprKind, Filter, LogicOp, Slice, Test, UnaryOp};
use crate::builtins::{access, call, filters, methods, predicates};
use crate::data::Data;
use crate::error::{Error, Result};
use crate::resolve::operate;
use crate::span::Span;
use crate::value::{Arguments, Code, Dict, Entries, Key, Lookup, Seq, Shortcuts, Str, Undefined, Value};

impl<'a> Evaluator<'a, '_> {
    /// The value of an expression. What a look gives is decided by small functions; the rest is one call deeper, and only there. The
    /// statement has been charged for all of them.
    #[inline(never)]
    pub(super) fn expr(&mut self, expr: &'a Expr) -> Result<Value<'a>> {
        match &expr.kind {
            ExprKind::Name(name) => Ok(self.name(name)),
            ExprKind::Literal(Data::Str(text)) => Ok(Value::Str(Str::literal(text))),
            ExprKind::Literal(Data::Int(int)) => Ok(Value::Int(*int)),
            ExprKind::Attribute(attribute) => self.key(attribute, expr),
            ExprKind::Compare(_) | ExprKind::Test(_) => self.truth_value(expr),
            _ => self.compound(expr),
        }
    }

    /// The value of an attribute, mostly what stands under a key.
    #[inline(never)]
    fn key(&mut self, attribute: &'a Attribute, expr: &'a Expr) -> Result<Value<'a>> {
        match self.frame.look_up_key(&self.runtime.heap, attribute) {
            Lookup::Found(found) => Ok(found.to_value()),
            Lookup::Absent => Ok(absent(attribute)),
            Lookup::Elsewhere => self.compound(expr),
        }
    }

    #[inline(never)]
    fn truth_value(&mut self, expr: &'a Expr) -> Result<Value<'a>> {
        self.truth(expr).map(Value::Bool)
    }

    /// Whatever holds values while it evaluates others is apart: a macro that calls itself has many of these frames on the stack.
    #[inline(never)]
    fn compound(&mut self, expr: &'a Expr) -> Result<Value<'a>> {
        self.runtime.meter.check_stack()?;
        let value = match &expr.kind {
            ExprKind::Name(name) => Ok(self.name(name)),
            ExprKind::Literal(literal) => self.literal(literal),
            ExprKind::Markup(text) => Ok(Value::Str(Str::literal(text).with_markup(true))),
            ExprKind::MarkupConcat(items) => self.markup_concat(items),
            ExprKind::Attribute(attribute) => self.attribute(attribute),
            ExprKind::Item(operands) => self.item(operands),
            ExprKind::Compare(_) | ExprKind::Test(_) => self.truth(expr).map(Value::Bool),
            ExprKind::Logic(op, operands) => self.logic(*op, operands),
            ExprKind::Unary(op, operand) => self.unary(*op, operand),
            ExprKind::Binary(op, operands) => self.binary(*op, operands),
            ExprKind::Concat(_) => self.concat(expr),
            ExprKind::Conditional(conditional) => match self.branch(conditional)? {
                Some(branch) => self.expr(branch),
                None => Ok(Value::Undefined(Undefined::NoElse(conditional.line))),
            },
            ExprKind::Tuple(items) => self.items(items).map(Value::Tuple),
            ExprKind::List(items) => self.items(items).map(Value::List),
            ExprKind::Dict(pairs) => self.dict(pairs),
            ExprKind::Slice(slice) => self.slice(slice),
            ExprKind::Filter(filter) => self.filter(filter),
            ExprKind::Call(call) => self.call(&call.callee, &call.args, None),
        };
        value.map_err(|error| self.explained(error, expr))
    }

    #[inline(never)]
    fn attribute(&mut self, attribute: &'a Attribute) -> Result<Value<'a>> {
        let object = self.expr(&attribute.object)?;
        access::attribute(self.runtime, &object, &Str::from(&*attribute.name))
    }

    #[inline(never)]
    fn unary(&mut self, op: UnaryOp, operand: &'a Expr) -> Result<Value<'a>> {
        let operand = self.expr(operand)?;
        operate::unary(self.runtime, op, &operand)
    }

    #[inline(never)]
    fn item(&mut self, operands: &'a [Expr; 2]) -> Result<Value<'a>> {
        let [object, index] = operands;
        if let Some(item) = self.piece(object, index)? {
            return Ok(item);
        }
        let object = self.expr(object)?;
        let index = self.expr(index)?;
        access::item(self.runtime, &object, &index)
    }

    #[inline(never)]
    fn logic(&mut self, op: LogicOp, operands: &'a [Expr; 2]) -> Result<Value<'a>> {
        let [left, right] = operands;
        let left = self.expr(left)?;
        match self.runtime.truth(&left)? == (op == LogicOp::Or) {
            true => Ok(left),
            false => self.expr(right),
        }
    }

    #[inline(never)]
    fn binary(&mut self, op: BinaryOp, operands: &'a [Expr; 2]) -> Result<Value<'a>> {
        let [left, right] = operands;
        let left = self.expr(left)?;
        let right = self.expr(right)?;
        operate::binary(self.runtime, op, &left, &right)
    }

    #[inline(never)]
    fn concat(&mut self, expr: &'a Expr) -> Result<Value<'a>> {
        let ((), text) = self.capture(|evaluator| evaluator.write_expr(expr))?;
        Ok(text)
    }

    #[inline(never)]
    fn items(&mut self, items: &'a [Expr]) -> Result<Seq<'a>> {
        let items = self.all(items)?;
        self.runtime.items(items)
    }

    /// Places an error, and says what is known of the operands; an error that has a place came from deeper.
    #[cold]
    pub(super) fn explained(&mut self, error: Error, expr: &'a Expr) -> Error {
        match error.has_place() {
            true => error,
            false => self.explain(error.at(expr.span), expr),
        }
    }

    /// A literal of the rarer kinds. The reference writes `inf` and `nan` back into Python by name, and Python knows no such name.
    #[inline(never)]
    fn literal(&mut self, literal: &'a Data<'static>) -> Result<Value<'a>> {
        match literal {
            Data::Float(float) if !float.is_finite() => {
                let name = if float.is_nan() { "nan" } else { "inf" };
                Err(Error::runtime(format!("name '{name}' is not defined")))
            }
            // Each time another object.
            Data::List(items) => Ok(Value::List(Seq::Data(items, self.runtime.heap.new_identity()))),
            Data::Object(object) => Ok(Value::Dict(Dict::Data(object, self.runtime.heap.new_identity()))),
            _ => Ok(Value::from(literal)),
        }
    }

    /// Whether an expression is true; comparisons and tests make no value on the way. Each kind is a function of its own, which is
    /// entered without a frame of this one.
    pub(super) fn truth(&mut self, expr: &'a Expr) -> Result<bool> {
        match &expr.kind {
            ExprKind::Compare(compare) => self.compare(compare, expr),
            ExprKind::Logic(op, operands) => self.logic_truth(*op, operands),
            ExprKind::Unary(UnaryOp::Not, operand) => self.falsity(operand),
            ExprKind::Test(test) => self.answer(test, expr),
            _ => self.value_truth(expr),
        }
    }

    #[inline(never)]
    fn logic_truth(&mut self, op: LogicOp, operands: &'a [Expr; 2]) -> Result<bool> {
        let [left, right] = operands;
        match (op, self.truth(left)?) {
            (LogicOp::Or, true) => Ok(true),
            (LogicOp::And, false) => Ok(false),
            _ => self.truth(right),
        }
    }

    #[inline(never)]
    fn falsity(&mut self, operand: &'a Expr) -> Result<bool> {
        self.truth(operand).map(|truth| !truth)
    }

    #[inline(never)]
    fn value_truth(&mut self, expr: &'a Expr) -> Result<bool> {
        match self.truth_of_leaf(expr) {
            Some(truth) => Ok(truth),
            None => self.made_truth(expr),
        }
    }

    #[inline(never)]
    fn made_truth(&mut self, expr: &'a Expr) -> Result<bool> {
        let value = self.expr(expr)?;
        self.runtime.truth(&value).map_err(|error| error.at(expr.span))
    }

    /// What a test answers; most only look.
    #[inline(never)]
    fn answer(&mut self, test: &'a Test, expr: &'a Expr) -> Result<bool> {
        match look(test) {
            Some(asks) => match self.ask_leaf(&test.input, asks) {
                Some(answer) => Ok(answer),
                None => self.ask(test, asks, expr),
            },
            None => self.test(test).map_err(|error| self.explained(error, expr)),
        }
    }

    #[inline(never)]
    fn ask(&mut self, test: &'a Test, asks: fn(&Value<'_>) -> bool, expr: &'a Expr) -> Result<bool> {
        match self.expr(&test.input) {
            Ok(value) => Ok(asks(&value)),
            Err(error) => Err(self.explained(error, expr)),
        }
    }

    #[inline(never)]
    fn compare(&mut self, compare: &'a Compare, expr: &'a Expr) -> Result<bool> {
        match self.compare_leaf(compare) {
            Some(truth) => Ok(truth),
            None => self.compare_values(compare).map_err(|error| self.explained(error, expr)),
        }
    }

    #[inline(never)]
    fn compare_values(&mut self, compare: &'a Compare) -> Result<bool> {
        if let Some(truth) = self.contains_leaf(compare)? {
            return Ok(truth);
        }
        self.runtime.meter.check_stack()?;
        let mut left = self.expr(&compare.first)?;
        for (op, right) in compare.links() {
            let right = self.expr(right)?;
            if !operate::compare(self.runtime, *op, &left, &right)? {
                return Ok(false);
            }
            left = right;
        }
        Ok(true)
    }

    /// The branch that a conditional takes, if there is one.
    pub(super) fn branch(&mut self, conditional: &'a Conditional) -> Result<Option<&'a Expr>> {
        Ok(match self.truth(&conditional.test)? {
            true => Some(&conditional.then),
            false => conditional.otherwise.as_ref(),
        })
    }

    #[inline(never)]
    pub(super) fn all(&mut self, items: &'a [Expr]) -> Result<Vec<Value<'a>>> {
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            values.push(self.expr(item)?);
        }
        Ok(values)
    }

    /// Python evaluates all keys and values before it makes the dict.
    #[inline(never)]
    fn dict(&mut self, pairs: &'a [(Expr, Expr)]) -> Result<Value<'a>> {
        let mut values = Vec::with_capacity(pairs.len());
        for (key, value) in pairs {
            values.push((self.expr(key)?, self.expr(value)?));
        }
        self.made_dict(values)
    }

    #[inline(never)]
    fn made_dict(&mut self, pairs: Vec<(Value<'a>, Value<'a>)>) -> Result<Value<'a>> {
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
        let piece = self.runtime.slice(&object, start.as_ref(), stop.as_ref(), step.as_ref())?;
        self.runtime.claimed(piece)
    }

    #[inline(never)]
    fn filter(&mut self, filter: &'a Filter) -> Result<Value<'a>> {
        let input = match &filter.input {
            Some(input) => self.expr(input)?,
            None => Value::None,
        };
        self.filtered(filter, input)
    }

    /// A filter of a block; the innermost has the block's text as its input.
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
        self.filtered(filter, input)
    }

    /// Apart from [`Evaluator::filter`], so that a chain of filters does not hold the arguments of all of them on the stack.
    #[inline(never)]
    pub(super) fn filtered(&mut self, filter: &'a Filter, input: Value<'a>) -> Result<Value<'a>> {
        let function = filter.builtin.and_then(filters::get);
        if let Some(alone) = function
            .and_then(|function| function.shortcuts.alone)
            .filter(|_| filter.args.is_empty())
        {
            return alone(self.runtime, &input);
        }
        self.bound(filter, input)
    }

    #[inline(never)]
    fn bound(&mut self, filter: &'a Filter, input: Value<'a>) -> Result<Value<'a>> {
        let mut arguments = Arguments::one(input);
        let found = filter.builtin.and_then(filters::get);
        self.arguments(&filter.args, &mut arguments, found)?;
        let function = found.ok_or_else(|| self.unknown("filter", &filter.name, &filter.args, &arguments))?;
        function.call(self.runtime, &mut arguments)
    }

    #[inline(never)]
    fn test(&mut self, test: &'a Test) -> Result<bool> {
        self.runtime.meter.check_stack()?;
        let input = self.expr(&test.input)?;
        let found = test.builtin.and_then(predicates::get);
        let mut arguments = Arguments::new();
        match (found, test.args.positional.as_slice(), test.args.are_positional()) {
            (Some(row), [other], true) => {
                let other = self.expr(other)?;
                if let Some(told) = row.test(self.runtime, &input, std::slice::from_ref(&other)) {
                    return told;
                }
                arguments.push(input);
                arguments.push(other);
            }
            _ => {
                arguments.push(input);
                self.arguments(&test.args, &mut arguments, found)?;
            }
        }
        let function = found.ok_or_else(|| self.unknown("test", &test.name, &test.args, &arguments))?;
        let told = function.call(self.runtime, &mut arguments)?;
        self.runtime.truth(&told)
    }

    /// A call; `caller` is the body of a call block.
    #[inline(never)]
    pub(super) fn call(&mut self, callee: &'a Expr, args: &'a Args, caller: Option<Value<'a>>) -> Result<Value<'a>> {
        if let ExprKind::Attribute(attribute) = &callee.kind {
            let object = self.expr(&attribute.object)?;
            return match self.call_on_text(&object, attribute, args, None)? {
                Some(value) => Ok(value),
                None => self.call_on(object, attribute, callee.span, args, caller),
            };
        }
        let function = self.expr(callee)?;
        self.called(&function, args, caller)
    }

    #[inline(never)]
    fn call_on(
        &mut self,
        object: Value<'a>,
        attribute: &'a Attribute,
        span: Span,
        args: &'a Args,
        caller: Option<Value<'a>>,
    ) -> Result<Value<'a>> {
        let name = Str::from(&*attribute.name);
        if object.is_undefined() {
            // Python looks the attribute up, and mostly fails, before it evaluates the arguments.
            let method = access::attribute(self.runtime, &object, &name).map_err(|error| error.at(span))?;
            return self.called(&method, args, caller);
        }
        self.called_method(object, &name, args, caller)
    }

    /// `text.method()` and `text.method("…")` by a shortcut, where the method has one; with an index, the item there of what it gives.
    #[inline]
    fn call_on_text(
        &mut self,
        object: &Value<'a>,
        attribute: &'a Attribute,
        args: &'a Args,
        index: Option<i64>,
    ) -> Result<Option<Value<'a>>> {
        let (Value::Str(text), Some(method)) = (object, attribute.text_method.and_then(methods::text)) else {
            return Ok(None);
        };
        if text.is_markup() || !args.are_positional() {
            return Ok(None);
        }
        let argument = match args.positional.as_slice() {
            [] => None,
            [
                Expr {
                    kind: ExprKind::Literal(Data::Str(argument)),
                    ..
                },
            ] => Some(argument),
            _ => return Ok(None),
        };
        let Shortcuts {
            alone, with_text, item, ..
        } = method.shortcuts;
        match (argument, index) {
            (None, None) => alone.map(|alone| alone(self.runtime, object)).transpose(),
            (Some(argument), None) => with_text.map(|with_text| with_text(self.runtime, text, argument)).transpose(),
            (Some(argument), Some(index)) => item.map_or(Ok(None), |item| item(self.runtime, text, argument, index)),
            (None, Some(_)) => Ok(None),
        }
    }

    /// `text.split("…")[0]`, without the other pieces.
    #[inline]
    fn piece(&mut self, object: &'a Expr, index: &'a Expr) -> Result<Option<Value<'a>>> {
        let (ExprKind::Call(call), ExprKind::Literal(Data::Int(index))) = (&object.kind, &index.kind) else {
            return Ok(None);
        };
        let Call { callee, args } = &**call;
        match &callee.kind {
            ExprKind::Attribute(attribute) => self.piece_of(object, callee, attribute, args, *index).map(Some),
            _ => Ok(None),
        }
    }

    #[inline(never)]
    fn piece_of(
        &mut self,
        object: &'a Expr,
        callee: &'a Expr,
        attribute: &'a Attribute,
        args: &'a Args,
        index: i64,
    ) -> Result<Value<'a>> {
        let receiver = self.expr(&attribute.object)?;
        let item = self.call_on_text(&receiver, attribute, args, Some(index));
        if let Some(item) = item.map_err(|error| self.explained(error, object))? {
            return Ok(item);
        }
        let called = self.call_on(receiver, attribute, callee.span, args, None);
        let items = called.map_err(|error| self.explained(error, object))?;
        access::item(self.runtime, &items, &Value::Int(index))
    }

    /// The frames of calls are small and apart: a chain of calls, or of macros that call each other, holds many of them.
    #[inline(never)]
    fn called(&mut self, function: &Value<'a>, args: &'a Args, caller: Option<Value<'a>>) -> Result<Value<'a>> {
        let mut arguments = Arguments::new();
        self.call_arguments(args, &mut arguments, caller)?;
        call::call(self.runtime, function, &mut arguments)
    }

    #[inline(never)]
    fn called_method(&mut self, object: Value<'a>, name: &Str<'a>, args: &'a Args, caller: Option<Value<'a>>) -> Result<Value<'a>> {
        let mut arguments = Arguments::one(object);
        self.call_arguments(args, &mut arguments, caller)?;
        call::call_method(self.runtime, name, &mut arguments)
    }

    /// The arguments of a call behind those that are there, with the body of a call block.
    pub(super) fn call_arguments(
        &mut self,
        args: &'a Args,
        arguments: &mut Arguments<'a>,
        caller: Option<Value<'a>>,
    ) -> Result<()> {
        match caller {
            Some(caller) => self.arguments_with_caller(args, arguments, caller),
            None => self.arguments(args, arguments, None),
        }
    }
}

/// The question of a test without arguments that only looks at its value.
#[inline]
fn look(test: &Test) -> Option<fn(&Value<'_>) -> bool> {
    let row = predicates::get(test.builtin?)?;
    match row.code {
        Code::Look(asks) if test.args.is_empty() => {
            #[cfg(test)]
            crate::value::called::note(row);
            Some(asks)
        }
        _ => None,
    }
}
