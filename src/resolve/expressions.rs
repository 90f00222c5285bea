//! Resolves expressions, and folds constants on the way.
//!
//! This follows the methods of jinja2 3.1.6 `compiler.py` and `optimizer.py` for expressions.

use std::borrow::Cow;

use super::{Place, Resolver, find_repeated, forms};
use crate::ast::{
    Args, Attribute, BinaryOp, Call, Compare, Expr, ExprKind, Filter, Form, Literal, LogicOp, LoopNumber, Test, UnaryOp,
};
use crate::builtins::{access, filters, jinja_tests, methods};
use crate::error::{Error, ErrorKind, Result};
use crate::span::Span;
use crate::unicode::{is_python_keyword, nfkc};
use crate::unsupported;

/// The maximum length in bytes of a name that is looked up as a key. A longer one is looked up by the code that charges for its length.
const MAX_KEY: usize = 256;

impl Resolver<'_> {
    /// Resolves an expression of a statement.
    pub(super) fn whole_expr(&mut self, expr: &mut Expr, place: &Place) -> Result<()> {
        self.is_folding = false;
        self.expr(expr, place)
    }

    pub(super) fn expr(&mut self, expr: &mut Expr, place: &Place) -> Result<()> {
        match &mut expr.kind {
            ExprKind::Name(name) => {
                self.count(0);
                name.slot = self.name_slot(name.symbol, expr.span)?;
                expr.form = Form::Path;
                Ok(())
            }
            ExprKind::Literal(_) | ExprKind::UnsupportedText(_) | ExprKind::Markup(_) => {
                self.count(text_length(&expr.kind));
                Ok(())
            }
            _ => {
                self.count(0);
                let outer = self.is_folding;
                self.operation(expr, place).map_err(|error| {
                    let is_folded = std::mem::replace(&mut self.is_folding, outer) && !outer;
                    // The reference folds the whole expression before it looks for unknown filters and tests in it.
                    let earlier = is_folded.then(|| self.check_dropped(expr).err());
                    earlier.flatten().unwrap_or(error)
                })
            }
        }
    }

    /// Resolves an expression that has parts. It is a function of its own because most expressions have none.
    #[inline(never)]
    fn operation(&mut self, expr: &mut Expr, place: &Place) -> Result<()> {
        let span = expr.span;
        self.check_stack(span)?;
        self.charge_folding(span)?;
        let was_refused = self.refused.is_some();
        let outer = self.enter_folded(&expr.kind);
        match &mut expr.kind {
            ExprKind::Name(_) | ExprKind::Literal(_) | ExprKind::UnsupportedText(_) | ExprKind::Markup(_) => {}
            ExprKind::Tuple(items) | ExprKind::List(items) | ExprKind::Concat(items) => self.exprs(items, place)?,
            ExprKind::Dict(pairs) => {
                self.meter.charge_items(pairs.len()).map_err(|error| error.at(span))?;
                for (key, value) in pairs {
                    self.expr(key, place)?;
                    self.expr(value, place)?;
                }
            }
            ExprKind::Unary(_, operand) => self.expr(operand, place)?,
            ExprKind::Binary(_, operands) | ExprKind::Item(operands) => self.exprs(&mut **operands, place)?,
            ExprKind::Logic(op, operands) => {
                let [left, right] = &mut **operands;
                self.expr(left, place)?;
                let is_constant = matches!(left.kind, ExprKind::Literal(_) | ExprKind::Markup(_));
                if is_constant && self.folder.truth(left) == Some(*op == LogicOp::Or) {
                    self.check_dropped(right)?;
                    self.is_folding = outer;
                    expr.kind = std::mem::replace(&mut left.kind, ExprKind::Literal(Literal::None));
                    return Ok(());
                }
                self.expr(right, place)?;
            }
            ExprKind::Compare(compare) => {
                if self.resolve_compare(compare, place)? {
                    self.is_folding = outer;
                    expr.kind = ExprKind::Literal(Literal::Bool(false));
                    return Ok(());
                }
            }
            ExprKind::Conditional(conditional) => {
                let place = place.soft();
                // The reference writes the condition after the first branch.
                self.expr(&mut conditional.then, &place)?;
                self.expr(&mut conditional.test, &place)?;
                conditional
                    .otherwise
                    .iter_mut()
                    .try_for_each(|otherwise| self.expr(otherwise, &place))?;
            }
            ExprKind::Attribute(attribute) => {
                classify(attribute);
                self.expr(&mut attribute.object, place)?;
                if let ExprKind::Name(object) = &attribute.object.kind {
                    attribute.index = self.attribute_index(object.symbol, &attribute.name);
                }
            }
            ExprKind::Slice(slice) => {
                self.expr(&mut slice.object, place)?;
                let bounds = [&mut slice.start, &mut slice.stop, &mut slice.step];
                bounds.into_iter().flatten().try_for_each(|bound| self.expr(bound, place))?;
            }
            ExprKind::Filter(filter) => self.filter(filter, place, expr.at, span)?,
            ExprKind::Test(test) => self.test(test, place, expr.at, span)?,
            ExprKind::Call(call) => {
                let Call { callee, args } = &mut **call;
                self.check_keywords(args, None, span);
                self.expr(callee, place)?;
                self.args(args, place)?;
            }
        }
        self.is_folding = outer;
        if let (true, ExprKind::Dict(_)) = (outer, &expr.kind) {
            self.check_keys(expr)?;
        }
        match self.folder.fold(expr) {
            Some(kind) => {
                expr.kind = kind;
                self.count(text_length(&expr.kind));
                self.forget_refused(was_refused);
            }
            None => {
                self.rewrite(expr);
                expr.form = forms::choose(&expr.kind);
            }
        }
        Ok(())
    }

    /// Counts one step, and the steps that folding took since the last call.
    pub(super) fn charge_folding(&mut self, span: Span) -> Result<()> {
        let steps = self.folder.take_steps().saturating_add(1);
        self.meter.charge(steps).map_err(|error| error.at(span))
    }

    fn exprs(&mut self, exprs: &mut [Expr], place: &Place) -> Result<()> {
        self.meter.charge(exprs.len() as u64)?;
        exprs.iter_mut().try_for_each(|expr| self.expr(expr, place))
    }

    /// Sets `is_folding` for the parts of an operation that the reference tries to fold (`optimizeconst`). That is any operation but the
    /// literal of a container. Returns the previous value.
    fn enter_folded(&mut self, kind: &ExprKind) -> bool {
        let outer = self.is_folding;
        let is_container = matches!(kind, ExprKind::Tuple(_) | ExprKind::List(_) | ExprKind::Dict(_));
        self.is_folding |= !is_container;
        outer
    }

    /// Refuses constant dicts with unhashable keys in an expression that is never compiled. The reference folds operands before it notices
    /// that it does not need them.
    fn check_dropped(&mut self, expr: &Expr) -> Result<()> {
        self.check_stack(expr.span)?;
        let mut checked = Ok(());
        expr.for_each_child(&mut |child| {
            if checked.is_ok() {
                checked = self.check_dropped(child);
            }
        });
        checked.and_then(|()| self.check_keys(expr))
    }

    /// Refuses a constant dict with a key that has no hash.
    fn check_keys(&mut self, expr: &Expr) -> Result<()> {
        match self.folder.find_unhashable_key(&expr.kind) {
            Some(error) => Err(error.without_line().at(expr.span)),
            None => Ok(()),
        }
    }

    /// Replaces an operation by an equal one that a render evaluates faster, and a power by the operation that the reference compiles.
    #[inline]
    fn rewrite(&mut self, expr: &mut Expr) {
        match &mut expr.kind {
            ExprKind::Binary(BinaryOp::Add, operands) => {
                if let Some(sum) = join_sum(operands) {
                    expr.kind = sum;
                }
            }
            ExprKind::Binary(BinaryOp::Pow, operands) => {
                if let Some(positive) = self.folder.fold_base_without_sign(operands) {
                    let [base, _] = &mut **operands;
                    base.kind = positive;
                    let power = Expr {
                        kind: std::mem::replace(&mut expr.kind, ExprKind::Literal(Literal::None)),
                        ..*expr
                    };
                    expr.kind = ExprKind::Unary(UnaryOp::Neg, Box::new(power));
                }
            }
            ExprKind::Item(operands) if is_key(operands) => {
                let operands = std::mem::replace(&mut expr.kind, ExprKind::Literal(Literal::None));
                expr.kind = by_key(operands);
            }
            _ => {}
        }
    }

    /// Resolves a chain of comparisons. Returns whether constants make it false. The links after a false one are not compiled.
    fn resolve_compare(&mut self, compare: &mut Compare, place: &Place) -> Result<bool> {
        self.expr(&mut compare.first, place)?;
        let mut is_constant = matches!(compare.first.kind, ExprKind::Literal(_));
        let Compare { first, link, more, .. } = compare;
        let mut left = &*first;
        let mut links = std::iter::once(link).chain(more);
        while let Some((op, right)) = links.next() {
            self.expr(right, place)?;
            is_constant &= matches!(right.kind, ExprKind::Literal(_));
            if is_constant {
                match self.folder.compare(*op, left, right) {
                    Some(false) => {
                        links.try_for_each(|(_, right)| self.check_dropped(right))?;
                        return Ok(true);
                    }
                    Some(true) => {}
                    // A link that fails leaves the whole chain to the render.
                    None => is_constant = false,
                }
            }
            left = right;
        }
        Ok(false)
    }

    fn filter(&mut self, filter: &mut Filter, place: &Place, at: u32, span: Span) -> Result<()> {
        filter.builtin = filters::TABLE.find_index(&filter.name);
        if filter.builtin.is_none() && unsupported::find(unsupported::Site::Filter, &filter.name).is_none() && !place.soft {
            return Err(self.unknown("filter", &filter.name, at, span));
        }
        self.check_keywords(&mut filter.args, None, span);
        if let Some(input) = &mut filter.input {
            self.expr(input, place)?;
        }
        self.args(&mut filter.args, place)
    }

    fn test(&mut self, test: &mut Test, place: &Place, at: u32, span: Span) -> Result<()> {
        test.builtin = jinja_tests::TABLE.find_index(&test.name);
        if test.builtin.is_none() && !place.soft {
            return Err(self.unknown("test", &test.name, at, span));
        }
        self.check_keywords(&mut test.args, None, span);
        self.expr(&mut test.input, place)?;
        self.args(&mut test.args, place)
    }

    fn unknown(&self, what: &str, name: &str, at: u32, span: Span) -> Error {
        let name = crate::text::quote::repr(name);
        let error = Error::new(ErrorKind::Syntax, format!("No {what} named {name}."));
        error.on_line(self.source.line(at)).at(span)
    }

    /// Resolves the arguments of a call, a filter or a test.
    pub(super) fn args(&mut self, args: &mut Args, place: &Place) -> Result<()> {
        self.exprs(&mut args.positional, place)?;
        let Some(others) = &mut args.others else { return Ok(()) };
        self.meter.charge_items(others.keywords.len())?;
        for keyword in &mut others.keywords {
            self.expr(&mut keyword.value, place)?;
        }
        let mut stars = [&mut others.star, &mut others.double_star].into_iter().flatten();
        stars.try_for_each(|star| self.expr(star, place))
    }

    /// Refuses a call that names a keyword twice, as Python does. `added` is the keyword that a call block adds.
    pub(super) fn check_keywords(&mut self, args: &mut Args, added: Option<&str>, span: Span) {
        let Some(others) = &mut args.others else { return };
        others.are_packed = others.keywords.iter().any(|keyword| is_python_keyword(&keyword.name));
        if others.are_packed {
            // To Python the keywords are then strings, not names.
            return;
        }
        for keyword in &mut others.keywords {
            // Python reads names in their normal form.
            if let Cow::Owned(name) = nfkc(&keyword.name) {
                keyword.name = name.into();
            }
        }
        let names = others.keywords.iter().map(|keyword| &*keyword.name);
        if let Some(repeated) = find_repeated(&mut added.into_iter().chain(names).map(Cow::Borrowed)) {
            self.refuse(format!("keyword argument repeated: {repeated}"), span);
        }
    }
}

/// Sets the fields of an attribute that depend only on its name.
fn classify(attribute: &mut Attribute) {
    let name = &*attribute.name;
    attribute.is_key = name.len() <= MAX_KEY
        && !name.starts_with('_')
        && !access::is_dict_attribute(name)
        && !unsupported::TEXT_ATTRIBUTES.names.contains(&name);
    attribute.text_method = methods::find_str_index(name);
    attribute.is_get = name == "get";
    attribute.loop_number = LoopNumber::find(name);
}

/// Returns whether `x["key"]` has the value of `x.key` for all objects. It does unless a dict, or an undefined value, has an attribute of
/// that name.
fn is_key([_, index]: &[Expr; 2]) -> bool {
    matches!(&index.kind, ExprKind::Literal(Literal::Str(name)) if !name.starts_with('_') && !access::is_dict_attribute(name))
}

/// Converts `x["key"]` to `x.key`. Any other expression is returned unchanged.
fn by_key(kind: ExprKind) -> ExprKind {
    match kind {
        ExprKind::Item(operands) => match *operands {
            [
                object,
                Expr {
                    kind: ExprKind::Literal(Literal::Str(name)),
                    ..
                },
            ] => {
                let mut attribute = Attribute::new(object, name.into());
                classify(&mut attribute);
                ExprKind::Attribute(Box::new(attribute))
            }
            operands => ExprKind::Item(Box::new(operands)),
        },
        kind => kind,
    }
}

/// Returns `x + "ab"` for `x + "a" + "b"`. Whatever `x` is, it takes both strings or refuses the first.
fn join_sum([left, right]: &mut [Expr; 2]) -> Option<ExprKind> {
    let (ExprKind::Binary(BinaryOp::Add, operands), ExprKind::Literal(Literal::Str(text))) = (&mut left.kind, &right.kind) else {
        return None;
    };
    let [_, last] = &mut **operands;
    let ExprKind::Literal(Literal::Str(before)) = &mut last.kind else {
        return None;
    };
    *before = (String::from(std::mem::take(before)) + text).into_boxed_str();
    Some(std::mem::replace(&mut left.kind, ExprKind::Literal(Literal::None)))
}

/// Returns the length in bytes of a constant string, or 0 for another expression.
fn text_length(kind: &ExprKind) -> usize {
    match kind {
        ExprKind::Literal(Literal::Str(text)) => text.len(),
        ExprKind::Markup(text) => text.len(),
        _ => 0,
    }
}
