//! Expressions: the `visit_…` methods of `compiler.py` for them, constant folding (`optimizer.py`) on the way.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::fold;
use super::refusals::Stage;
use super::stubs::{Stub, StubKind};
use super::{Place, Resolver};
use crate::ast::{
    Args, Attribute, Autoescape, BinaryOp, Call, Compare, Conditional, Expr, ExprKind, Filter, Keyword, Literal, LogicOp, Slice,
    Test, UnaryOp,
};
use crate::builtins::{access, filters, methods, predicates};
use crate::error::{Error, ErrorKind, Result};
use crate::json::Data;
use crate::span::Span;
use crate::unicode::{is_python_keyword, nfkc};
use crate::unsupported;

/// CPython's tokenizer refuses the 201st open bracket (`MAXLEVEL`).
const MAX_NESTING: u32 = 200;

/// Bytes of a name that is found without a charge for its length; longer ones take the longer way.
const LOOKED_AT: usize = 256;

impl Resolver<'_> {
    /// An expression that a statement holds, inside so many brackets of the generated code.
    pub(super) fn root(&mut self, expr: &mut Expr, place: &Place, brackets: u32) -> Result<()> {
        self.is_folding = false;
        let nesting = self.expr(expr, place)?;
        self.check_nesting(nesting.saturating_add(brackets), expr.span);
        self.check_digits(expr)
    }

    /// The reference writes constants with `repr`, which refuses an integer of more than 4300 digits, and then names no line.
    pub(super) fn check_digits(&self, expr: &Expr) -> Result<()> {
        if !self.has_long_number {
            return Ok(());
        }
        if let ExprKind::Literal(literal) = &expr.kind {
            fold::check_digits(literal).map_err(|error| error.without_line().at(expr.span))?;
        }
        let mut checked = Ok(());
        expr.children(&mut |child| {
            if checked.is_ok() {
                checked = self.check_digits(child);
            }
        });
        checked
    }

    /// Resolves an expression; gives how deep the brackets of the Python code nest that the reference writes for it.
    pub(super) fn expr(&mut self, expr: &mut Expr, place: &Place) -> Result<u32> {
        match &mut expr.kind {
            ExprKind::Name(name) => {
                self.count(0);
                name.slot = self.name_slot(name.symbol, expr.span)?;
                Ok(2)
            }
            ExprKind::Literal(_) | ExprKind::UnsupportedText(_) | ExprKind::Markup(_) => {
                self.count(text_length(&expr.kind));
                Ok(constant_nesting(&expr.kind))
            }
            _ => {
                self.count(0);
                let outer = self.is_folding;
                self.operation(expr, place).map_err(|error| {
                    let is_folded = std::mem::replace(&mut self.is_folding, outer) && !outer;
                    // The reference folds all of the expression before it looks for what is unknown in it.
                    let earlier = is_folded.then(|| self.check_dropped(expr).err());
                    earlier.flatten().unwrap_or(error)
                })
            }
        }
    }

    /// The same for an expression that has parts. It stays a function of its own, because most expressions have none.
    #[inline(never)]
    fn operation(&mut self, expr: &mut Expr, place: &Place) -> Result<u32> {
        let span = expr.span;
        self.check_stack(span)?;
        let found = self.refusals.found();
        let outer = self.enter_folded(&expr.kind);
        let nesting = match &mut expr.kind {
            ExprKind::Tuple(items) | ExprKind::List(items) => self.deepest(items, place)?.saturating_add(1),
            ExprKind::Name(_) | ExprKind::Literal(_) | ExprKind::UnsupportedText(_) | ExprKind::Markup(_) => 1,
            ExprKind::Concat(items) | ExprKind::MarkupConcat(items) => self.deepest(items, place)?.saturating_add(2),
            ExprKind::Dict(pairs) => {
                let mut nesting = 0;
                for (key, value) in pairs {
                    nesting = nesting.max(self.expr(key, place)?).max(self.expr(value, place)?);
                }
                nesting.saturating_add(1)
            }
            ExprKind::Unary(_, operand) => self.expr(operand, place)?.saturating_add(1),
            ExprKind::Binary(_, operands) | ExprKind::Item(operands) => self.deepest(&mut **operands, place)?.saturating_add(1),
            ExprKind::Logic(op, operands) => {
                let [left, right] = &mut **operands;
                let nesting = self.expr(left, place)?;
                let is_written = matches!(left.kind, ExprKind::Literal(_) | ExprKind::Markup(_)) && !self.eval_context.volatile;
                if is_written && fold::truth(left, self.eval_context) == Some(*op == LogicOp::Or) {
                    self.check_dropped(right)?;
                    self.is_folding = outer;
                    expr.kind = left.kind.clone();
                    return Ok(nesting);
                }
                nesting.max(self.expr(right, place)?).saturating_add(1)
            }
            ExprKind::Compare(compare) => match self.compare(compare, place)? {
                Some(nesting) => nesting.saturating_add(1),
                None => {
                    self.is_folding = outer;
                    expr.kind = ExprKind::Literal(Literal::Bool(false));
                    return Ok(0);
                }
            },
            ExprKind::Conditional(conditional) => {
                conditional.line = self.lines.line(expr.at);
                self.conditional(conditional, &place.soft())?.saturating_add(1)
            }
            ExprKind::Attribute(attribute) => {
                look_at(attribute);
                self.expr(&mut attribute.object, place)?.saturating_add(1)
            }
            ExprKind::Slice(slice) => self.slice(slice, place, span)?.saturating_add(1),
            ExprKind::Filter(filter) => self.filter(filter, place, expr.at, span)?.saturating_add(1),
            ExprKind::Test(test) => self.test(test, place, expr.at, span)?.saturating_add(1),
            ExprKind::Call(call) => {
                let Call { callee, args } = &mut **call;
                self.check_names(args, place.passed, span);
                let nesting = self.expr(callee, place)?;
                nesting.max(self.args(args, place)?).saturating_add(1)
            }
        };
        self.is_folding = outer;
        if let (true, ExprKind::Dict(_)) = (outer, &expr.kind) {
            self.check_keys(expr)?;
        }
        if let Some(kind) = self.folded(&expr.kind) {
            expr.kind = kind;
            self.count(text_length(&expr.kind));
            self.refusals.forget(found);
            return Ok(constant_nesting(&expr.kind));
        }
        self.rewrite(expr);
        Ok(nesting)
    }

    /// Writes an operation as what it means, or as what a render does sooner.
    #[inline]
    fn rewrite(&self, expr: &mut Expr) {
        match &mut expr.kind {
            ExprKind::Concat(items) if self.eval_context.known() == Autoescape::On => {
                expr.kind = ExprKind::MarkupConcat(std::mem::take(items));
            }
            ExprKind::Binary(BinaryOp::Add, operands) => {
                if let Some(sum) = joined_sum(operands) {
                    expr.kind = sum;
                }
            }
            ExprKind::Binary(BinaryOp::Pow, operands) => {
                if let Some(positive) = fold::base_without_sign(operands) {
                    let [base, _] = &mut **operands;
                    base.kind = positive;
                    let (span, at) = (expr.span, expr.at);
                    let kind = std::mem::replace(&mut expr.kind, ExprKind::Literal(Literal::None));
                    expr.kind = ExprKind::Unary(UnaryOp::Neg, Box::new(Expr { kind, span, at }));
                }
            }
            ExprKind::Item(operands) if is_key(operands) => {
                let operands = std::mem::replace(&mut expr.kind, ExprKind::Literal(Literal::None));
                expr.kind = by_key(operands);
            }
            _ => {}
        }
    }

    /// Notes that what follows stands inside an expression that the reference tries to fold (`optimizeconst`): all but names and
    /// literals of containers. Gives what was noted before.
    fn enter_folded(&mut self, kind: &ExprKind) -> bool {
        let outer = self.is_folding;
        let is_container = matches!(kind, ExprKind::Tuple(_) | ExprKind::List(_) | ExprKind::Dict(_));
        self.is_folding |= !is_container && !self.eval_context.volatile;
        outer
    }

    /// Refuses a constant dict whose keys have no hash.
    fn check_keys(&self, expr: &Expr) -> Result<()> {
        match fold::unhashable_key(&expr.kind, self.eval_context) {
            Some(error) => Err(error.without_line().at(expr.span)),
            None => Ok(()),
        }
    }

    /// The same for all of what is never compiled: the reference folds operands before it knows that.
    fn check_dropped(&self, expr: &Expr) -> Result<()> {
        self.check_stack(expr.span)?;
        let mut checked = Ok(());
        expr.children(&mut |child| {
            if checked.is_ok() {
                checked = self.check_dropped(child);
            }
        });
        checked.and_then(|()| self.check_keys(expr))
    }

    fn deepest(&mut self, exprs: &mut [Expr], place: &Place) -> Result<u32> {
        exprs
            .iter_mut()
            .try_fold(0, |deepest, expr| Ok(self.expr(expr, place)?.max(deepest)))
    }

    /// A chain; None where constants decide it: what stands behind a false link is never compiled.
    fn compare(&mut self, compare: &mut Compare, place: &Place) -> Result<Option<u32>> {
        let mut nesting = self.expr(&mut compare.first, place)?;
        let mut is_constant = matches!(compare.first.kind, ExprKind::Literal(_)) && !self.eval_context.volatile;
        let Compare { first, link, more } = compare;
        let mut left = &*first;
        let mut links = std::iter::once(link).chain(more);
        while let Some((op, right)) = links.next() {
            nesting = nesting.max(self.expr(right, place)?);
            is_constant &= matches!(right.kind, ExprKind::Literal(_));
            if is_constant {
                match fold::compare(*op, left, right) {
                    Some(false) => {
                        links.try_for_each(|(_, right)| self.check_dropped(right))?;
                        return Ok(None);
                    }
                    Some(true) => {}
                    // A link that fails leaves the whole chain to the render.
                    None => is_constant = false,
                }
            }
            left = right;
        }
        Ok(Some(nesting))
    }

    fn conditional(&mut self, conditional: &mut Conditional, place: &Place) -> Result<u32> {
        let Conditional {
            test, then, otherwise, ..
        } = conditional;
        // The reference writes the condition behind the first branch, and CPython looks at it before.
        let before = self.refusals.take(Stage::Bytecode);
        let nesting = self.expr(then, place)?;
        let behind = self.refusals.take(Stage::Bytecode);
        self.refusals.restore(Stage::Bytecode, before);
        let parsed = self.refusals.take(Stage::Grammar);
        let nesting = self.expr(test, place)?.max(nesting);
        self.refusals.restore(Stage::Bytecode, behind);
        let fault = self.refusals.take(Stage::Grammar);
        self.refusals.restore(Stage::Grammar, parsed);
        if fault.is_some() && begins_with_name(test) {
            // CPython takes the name alone for the condition then.
            let message = "expected 'else' after 'if' expression";
            self.refusals.add(Stage::Grammar, message, test.span);
        }
        self.refusals.restore(Stage::Grammar, fault);
        Ok(match otherwise {
            Some(otherwise) => nesting.max(self.expr(otherwise, place)?),
            None => nesting.max(1),
        })
    }

    fn slice(&mut self, slice: &mut Slice, place: &Place, span: Span) -> Result<u32> {
        if slice.object.is_none() {
            self.refusals.add(Stage::Grammar, "invalid syntax", span);
        }
        let parts = [&mut slice.object, &mut slice.start, &mut slice.stop, &mut slice.step];
        let mut parts = parts.into_iter().flatten();
        parts.try_fold(0, |deepest, part| Ok(self.expr(part, place)?.max(deepest)))
    }

    fn filter(&mut self, filter: &mut Filter, place: &Place, at: u32, span: Span) -> Result<u32> {
        filter.builtin = filters::find(&filter.name);
        if filter.builtin.is_none() && !filters::is_unsupported(&filter.name) {
            if !place.soft {
                return Err(self.unknown("filter", &filter.name, at, span));
            }
            self.stub(StubKind::Filter, &filter.name, &mut filter.args);
        }
        self.check_names(&mut filter.args, None, span);
        let nesting = match &mut filter.input {
            Some(input) => self.expr(input, place)?,
            None => 1,
        };
        Ok(nesting.max(self.args(&mut filter.args, place)?))
    }

    fn test(&mut self, test: &mut Test, place: &Place, at: u32, span: Span) -> Result<u32> {
        test.builtin = predicates::find(&test.name);
        if test.builtin.is_none() && !place.soft {
            return Err(self.unknown("test", &test.name, at, span));
        }
        if test.builtin.is_none() {
            self.stub(StubKind::Test, &test.name, &mut test.args);
        }
        self.check_names(&mut test.args, None, span);
        let nesting = self.expr(&mut test.input, place)?;
        Ok(nesting.max(self.args(&mut test.args, place)?))
    }

    /// A constant operation as a literal, as long as the template has not had its fill of them.
    fn folded(&mut self, kind: &ExprKind) -> Option<ExprKind> {
        if self.folds_left == 0 || !fold::may_fold(kind, self.eval_context) {
            return None;
        }
        self.folds_left = self.folds_left.saturating_sub(1);
        let folded = fold::fold(kind, self.eval_context);
        self.has_long_number |= matches!(&folded, Some(ExprKind::Literal(literal)) if fold::check_digits(literal).is_err());
        folded
    }

    /// Notes that what is unknown may have to complain about its arguments.
    fn stub(&mut self, kind: StubKind, name: &Arc<str>, args: &mut Args) {
        if let Some(others) = &mut args.others {
            others.stub = Some(self.stubs.len());
            self.stubs.push(Stub {
                kind,
                name: Arc::clone(name),
                block: self.block,
            });
        }
    }

    fn unknown(&self, what: &str, name: &str, at: u32, span: Span) -> Error {
        let name = crate::text::quote::repr(name);
        let error = Error::new(ErrorKind::Syntax, format!("No {what} named {name}."));
        error.on_line(self.source.line(at)).at(span)
    }

    pub(super) fn args(&mut self, args: &mut Args, place: &Place) -> Result<u32> {
        let mut nesting = self.deepest(&mut args.positional, place)?;
        if let Some(others) = &mut args.others {
            for keyword in &mut others.keywords {
                nesting = nesting.max(self.expr(&mut keyword.value, place)?);
            }
            for dynamic in [&mut others.star, &mut others.double_star].into_iter().flatten() {
                nesting = nesting.max(self.expr(dynamic, place)?);
            }
        }
        Ok(nesting)
    }

    /// CPython looks at all names of a call before it looks into the call, what is called included, and tells the first that is its own
    /// or there again. `passed` are the names under which Jinja adds arguments of its own.
    pub(super) fn check_names(&mut self, args: &mut Args, passed: impl IntoIterator<Item = &'static str>, span: Span) {
        let Some(others) = &mut args.others else { return };
        let keywords = &mut others.keywords;
        others.are_packed = keywords.iter().any(|keyword| is_python_keyword(&keyword.name));
        if others.are_packed {
            // Then they are no names to CPython, but strings.
            return;
        }
        for keyword in &mut *keywords {
            // CPython reads names in their normal form.
            if let Cow::Owned(name) = nfkc(&keyword.name) {
                keyword.name = name.into();
            }
        }
        let passed: Vec<&str> = passed.into_iter().collect();
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        for name in keywords.iter().map(|keyword| &*keyword.name).chain(passed.iter().copied()) {
            let count = names.entry(name).or_default();
            *count = count.saturating_add(1);
        }
        let is_refused = |name: &str| name == "__debug__" || names.get(name) > Some(&1);
        match keywords.iter().map(|keyword| &*keyword.name).find(|name| is_refused(name)) {
            Some("__debug__") => self.refusals.add(Stage::Bytecode, "cannot assign to __debug__", span),
            Some(name) => self
                .refusals
                .add(Stage::Bytecode, format!("keyword argument repeated: {name}"), span),
            None => {}
        }
        if let Some(Expr { span, at, .. }) = others.double_star {
            // What it holds may be named like them; the render adds the caller itself.
            keywords.extend(passed.into_iter().filter(|name| *name != "caller").map(|name| {
                let kind = ExprKind::Literal(Literal::None);
                let value = Expr { kind, span, at };
                Keyword {
                    name: name.into(),
                    value,
                }
            }));
        }
    }

    /// CPython's own limit on nested brackets, on the code that the reference writes.
    pub(super) fn check_nesting(&mut self, nesting: u32, span: Span) {
        if nesting > MAX_NESTING {
            self.refusals.add(Stage::Tokens, "too many nested parentheses", span);
        }
    }
}

/// Notes what the name of an attribute says about it, whatever its object is.
fn look_at(attribute: &mut Attribute) {
    let name = &*attribute.name;
    attribute.is_key = name.len() <= LOOKED_AT
        && !name.starts_with('_')
        && !access::is_dict_attribute(name)
        && unsupported::find(unsupported::Place::Attribute("str"), name).is_none();
    attribute.text_method = methods::find_text(name);
}

/// Whether the Python that the reference writes for an expression begins with something whole, and not with a bracket around all of it.
fn begins_with_name(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Item(_)
        | ExprKind::Attribute(_)
        | ExprKind::Filter(_)
        | ExprKind::Test(_)
        | ExprKind::Call(_)
        | ExprKind::Concat(_)
        | ExprKind::MarkupConcat(_)
        | ExprKind::Name(_) => true,
        ExprKind::Slice(slice) => slice.object.as_ref().is_some_and(begins_with_name),
        _ => false,
    }
}

/// Whether `x["key"]` is the same as `x.key`: only a dict has items and attributes of one name, and these are its methods.
fn is_key([_, index]: &[Expr; 2]) -> bool {
    matches!(&index.kind, ExprKind::Literal(Literal::Str(name)) if !access::is_dict_attribute(name))
}

/// `x["key"]` as `x.key`; another expression is left as it is.
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
                let mut attribute = Attribute {
                    object,
                    name: name.into(),
                    is_key: false,
                    text_method: None,
                };
                look_at(&mut attribute);
                ExprKind::Attribute(Box::new(attribute))
            }
            operands => ExprKind::Item(Box::new(operands)),
        },
        kind => kind,
    }
}

/// `x + "a" + "b"` as `x + "ab"`: whatever `x` is, it takes both texts or refuses the first.
fn joined_sum([left, right]: &mut [Expr; 2]) -> Option<ExprKind> {
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

/// Bytes of a constant text.
fn text_length(kind: &ExprKind) -> usize {
    match kind {
        ExprKind::Literal(Literal::Str(text)) => text.len(),
        ExprKind::Markup(text) => text.len(),
        _ => 0,
    }
}

fn constant_nesting(kind: &ExprKind) -> u32 {
    match kind {
        ExprKind::Literal(Literal::Data(data)) => nesting(data),
        ExprKind::Literal(_) => 0,
        _ => 1,
    }
}

fn nesting(data: &Data<'_>) -> u32 {
    match data {
        Data::List(items) | Data::Tuple(items) => items.iter().map(nesting).max().unwrap_or(0).saturating_add(1),
        Data::Object(object) => {
            let values = object.entries().iter().map(|(_, value)| nesting(value));
            values.max().unwrap_or(0).saturating_add(1)
        }
        _ => 0,
    }
}
