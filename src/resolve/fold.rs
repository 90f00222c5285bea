//! Constants: an operation whose operands are literals becomes a literal, through the operators and built-ins that a render uses.
//!
//! What fails here is left as it stands and fails when it is reached, as in the reference (`nodes.py`, `as_const` raises Impossible).

use num_bigint::Sign;

use super::operators;
use crate::ast::{Args, Compare, CompareOp, Expr, ExprKind, Filter, Literal, LogicOp, Slice, Test, UnaryOp};
use crate::builtins::{LOOKUPS, access, filters, globals, jinja_tests};
use crate::clock::SystemClock;
use crate::error::{Error, ErrorKind, Result};
use crate::json::{Data, Object};
use crate::limits::Limits;
use crate::meter::Meter;
use crate::value::ops;
use crate::value::print;
use crate::value::{Arguments, Entries, Function, Iter, Key, Runtime, Str, Undefined, Value};

/// A literal may have this many parts; a larger one is made anew each time.
const MAX_PARTS: usize = 256;

/// A folded text may have this many bytes.
const MAX_TEXT: usize = 4096;

/// How a slice fails that its object does not allow.
const REFUSED_SLICE: [ErrorKind; 3] = [ErrorKind::Type, ErrorKind::Key, ErrorKind::Index];

static CLOCK: SystemClock = SystemClock;

/// Constants under evaluation.
struct Folding<'t> {
    runtime: Runtime<'t>,
}

/// Whether [`fold`] would evaluate anything.
pub(super) fn may_fold(kind: &ExprKind) -> bool {
    has_constant_operands(kind)
}

/// What an operation on constants gives, as a literal or Markup, if it is one of these.
pub(super) fn fold(kind: &ExprKind) -> Option<ExprKind> {
    if !may_fold(kind) {
        return None;
    }
    match Folding::new().evaluate(kind)?.ok()? {
        Value::Str(text) if text.is_markup() => (text.as_str().len() <= MAX_TEXT).then(|| ExprKind::Markup(text.as_str().into())),
        value => to_data(&value, &mut 0).map(|data| ExprKind::Literal(data.into())),
    }
}

/// The error of a constant key that has no hash: the one error that the reference lets out while it folds (`Dict.as_const` does not
/// turn it into Impossible). It makes the dict pair by pair, and stops without an error at the first that is not constant.
pub(super) fn unhashable_key(kind: &ExprKind) -> Option<Error> {
    let ExprKind::Dict(pairs) = kind else { return None };
    for (key, value) in pairs {
        let is_pair = is_constant(key) && is_constant(value);
        let mut folding = Folding::new();
        // A branch that is taken may turn out to be no constant after all.
        let key = folding.constant(key).filter(|_| is_pair)?;
        folding.constant(value)?;
        if let Err(error) = Key::new(&mut folding.runtime, key) {
            return (error.kind() == ErrorKind::Type).then_some(error);
        }
    }
    None
}

/// The base of a power without its sign, where the reference writes a constant one below zero before an exponent that is none:
/// `(-2) ** x` becomes Python's `-2 ** x`, which is `-(2 ** x)`.
pub(super) fn base_without_sign(operands: &[Expr; 2]) -> Option<ExprKind> {
    let [base, exponent] = operands;
    let is_negative = match &base.kind {
        ExprKind::Literal(Literal::Int(base)) => base.is_negative(),
        ExprKind::Literal(Literal::Data(base)) => matches!(&**base, Data::BigInt(base) if base.sign() == Sign::Minus),
        ExprKind::Literal(Literal::Float(base)) => base.is_sign_negative() && !base.is_nan(),
        _ => false,
    };
    if !is_negative || is_constant(exponent) {
        return None;
    }
    fold(&ExprKind::Unary(UnaryOp::Neg, Box::new(base.clone())))
}

/// One link of a chain of comparisons between literals.
pub(super) fn compare(op: CompareOp, left: &Expr, right: &Expr) -> Option<bool> {
    let mut folding = Folding::new();
    let left = folding.constant(left)?;
    let right = folding.constant(right)?;
    let link = operators::compare(&mut folding.runtime, op, &left, &right);
    link.ok()
}

/// Whether a constant is true.
pub(super) fn truth(expr: &Expr) -> Option<bool> {
    if !is_constant(expr) {
        return None;
    }
    let mut folding = Folding::new();
    let value = folding.constant(expr)?;
    ops::is_true(&mut folding.runtime, &value).ok()
}

/// What a constant prints, unless that is long or fails.
pub(super) fn text(expr: &Expr) -> Option<String> {
    let mut folding = Folding::new();
    let value = folding.constant(expr)?;
    let text = print::to_str(&mut folding.runtime, &value).ok()?;
    let is_written = matches!(expr.kind, ExprKind::Literal(Literal::Str(_)) | ExprKind::Markup(_));
    (is_written || text.as_str().len() <= MAX_TEXT).then(|| text.as_str().to_owned())
}

/// Whether the reference could know what an expression is before the render (`as_const`), if nothing fails. Not all that is constant
/// has a literal: a Markup inside a list has none, nor an iterator, nor an undefined value.
#[inline]
pub(super) fn is_constant(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Literal(_) | ExprKind::Markup(_) => true,
        ExprKind::Name(_) | ExprKind::UnsupportedText(_) => false,
        kind => has_constant_operands(kind),
    }
}

fn has_constant_operands(kind: &ExprKind) -> bool {
    match kind {
        ExprKind::Literal(_) | ExprKind::UnsupportedText(_) | ExprKind::Markup(_) | ExprKind::Name(_) | ExprKind::Call(..) => false,
        ExprKind::Tuple(items) | ExprKind::List(items) | ExprKind::Concat(items) => items.iter().all(is_constant),
        ExprKind::Dict(pairs) => pairs.iter().all(|(key, value)| is_constant(key) && is_constant(value)),
        ExprKind::Unary(_, operand) => is_constant(operand),
        ExprKind::Binary(_, operands) | ExprKind::Item(operands) => operands.iter().all(is_constant),
        // What is decided before need not be constant.
        ExprKind::Logic(_, operands) => operands.first().is_some_and(is_constant),
        ExprKind::Compare(compare) => {
            let (_, second) = &compare.link;
            is_constant(&compare.first) && is_constant(second)
        }
        ExprKind::Conditional(conditional) => is_constant(&conditional.test),
        ExprKind::Attribute(attribute) => is_constant(&attribute.object),
        ExprKind::Slice(slice) => {
            let bounds = [&slice.start, &slice.stop, &slice.step];
            is_constant(&slice.object) && bounds.into_iter().flatten().all(is_constant)
        }
        ExprKind::Filter(filter) => filter.input.as_ref().is_some_and(is_constant) && is_constant_filter(filter),
        ExprKind::Test(test) => is_constant(&test.input) && have_constants(&test.args),
    }
}

/// Whether a filter of a constant is one.
fn is_constant_filter(filter: &Filter) -> bool {
    let function = filter
        .builtin
        .or_else(|| filters::find_index(&filter.name))
        .and_then(filters::get);
    function.is_some_and(|function| !takes_context(function)) && have_constants(&filter.args)
}

fn have_constants(args: &Args) -> bool {
    let mut all = true;
    args.for_each_child(&mut |child| all &= is_constant(child));
    all
}

/// Whether Jinja gives a filter its context, of which nothing is known before the render.
fn takes_context(function: &Function) -> bool {
    function
        .signature
        .parameters
        .first()
        .is_some_and(|first| first.hidden && first.name == "context")
}

impl<'t> Folding<'t> {
    /// Folding is bounded far below what a render may use: what is too large stays unfolded.
    fn new() -> Self {
        let limits = Limits {
            steps: 4_000,
            value: 1 << 20,
            live: 4 << 20,
            stack: Limits::default().stack / 4,
            ..Limits::default()
        };
        let runtime = Runtime::with_meter(Meter::new(limits), &CLOCK, &LOOKUPS);
        Self { runtime }
    }

    fn constant(&mut self, expr: &'t Expr) -> Option<Value<'t>> {
        match &expr.kind {
            // Equal literals become one object only in the finished code, after folding; so these are told apart.
            ExprKind::Literal(literal) => Some(operators::literal(literal)),
            ExprKind::Markup(text) => Some(Value::Str(Str::from(&**text).with_markup(true))),
            kind => {
                self.runtime.meter.check_stack().ok()?;
                match self.evaluate(kind)? {
                    Ok(value) => Some(value),
                    // `Getitem.as_const` goes through the lenient `getitem`: a slice that its object does not allow is undefined.
                    Err(error) if matches!(kind, ExprKind::Slice(_)) && REFUSED_SLICE.contains(&error.kind()) => {
                        Some(Value::Undefined(Undefined::Hint("a slice that was refused")))
                    }
                    Err(_) => None,
                }
            }
        }
    }

    fn constants(&mut self, exprs: &'t [Expr]) -> Option<Vec<Value<'t>>> {
        exprs.iter().map(|expr| self.constant(expr)).collect()
    }

    /// None where an operand is no constant after all, or the built-in is unknown.
    fn evaluate(&mut self, kind: &'t ExprKind) -> Option<Result<Value<'t>>> {
        Some(match kind {
            ExprKind::Literal(_) | ExprKind::UnsupportedText(_) | ExprKind::Markup(_) | ExprKind::Name(_) | ExprKind::Call(..) => {
                return None;
            }
            ExprKind::Tuple(items) => {
                let items = self.constants(items)?;
                self.runtime.tuple(items)
            }
            ExprKind::List(items) => {
                let items = self.constants(items)?;
                self.runtime.list(items)
            }
            ExprKind::Dict(pairs) => return self.dict(pairs),
            ExprKind::Concat(items) => {
                let mut text = String::new();
                for item in self.constants(items)? {
                    print::write_str(&mut self.runtime, &item, &mut text).ok()?;
                }
                self.runtime.str(text)
            }
            ExprKind::Unary(op, operand) => {
                let operand = self.constant(operand)?;
                operators::unary(&mut self.runtime, *op, &operand)
            }
            ExprKind::Binary(op, operands) => {
                let [left, right] = &**operands;
                let left = self.constant(left)?;
                let right = self.constant(right)?;
                operators::binary(&mut self.runtime, *op, &left, &right)
            }
            ExprKind::Logic(op, operands) => {
                let [left, right] = &**operands;
                let left = self.constant(left)?;
                match ops::is_true(&mut self.runtime, &left) {
                    Ok(truth) if truth == (*op == LogicOp::Or) => Ok(left),
                    Ok(_) => Ok(self.constant(right)?),
                    Err(error) => Err(error),
                }
            }
            ExprKind::Compare(compare) => Ok(Value::Bool(self.compared(compare)?)),
            ExprKind::Conditional(conditional) => {
                let test = self.constant(&conditional.test)?;
                match ops::is_true(&mut self.runtime, &test).ok()? {
                    true => Ok(self.constant(&conditional.then)?),
                    false => Ok(self.constant(conditional.otherwise.as_ref()?)?),
                }
            }
            ExprKind::Attribute(attribute) => {
                let object = self.constant(&attribute.object)?;
                access::get_attribute(&mut self.runtime, &object, &Str::from(&*attribute.name))
            }
            ExprKind::Item(operands) => {
                let [object, index] = &**operands;
                let object = self.constant(object)?;
                let index = self.constant(index)?;
                access::get_item(&mut self.runtime, &object, &index)
            }
            ExprKind::Slice(slice) => return self.sliced(slice),
            ExprKind::Filter(filter) => return self.filtered(filter),
            ExprKind::Test(test) => return self.tested(test),
        })
    }

    fn dict(&mut self, pairs: &'t [(Expr, Expr)]) -> Option<Result<Value<'t>>> {
        let mut entries = Entries::default();
        for (key, value) in pairs {
            let key = self.constant(key)?;
            let value = self.constant(value)?;
            match Key::new(&mut self.runtime, key) {
                Ok(key) => entries.insert(key, value),
                Err(error) => return Some(Err(error)),
            };
        }
        Some(self.runtime.dict(entries).map(Value::Dict))
    }

    fn compared(&mut self, compare: &'t Compare) -> Option<bool> {
        let mut left = self.constant(&compare.first)?;
        for (op, right) in compare.links() {
            let right = self.constant(right)?;
            if !operators::compare(&mut self.runtime, *op, &left, &right).ok()? {
                return Some(false);
            }
            left = right;
        }
        Some(true)
    }

    fn filtered(&mut self, filter: &'t Filter) -> Option<Result<Value<'t>>> {
        // One that is never compiled has no number yet.
        let number = filter.builtin.or_else(|| filters::find_index(&filter.name))?;
        let function = filters::get(number).filter(|function| !takes_context(function))?;
        let mut arguments = self.arguments(filter.input.as_ref()?, &filter.args)?;
        Some(function.call(&mut self.runtime, &mut arguments))
    }

    fn tested(&mut self, test: &'t Test) -> Option<Result<Value<'t>>> {
        let number = test.builtin.or_else(|| jinja_tests::find_index(&test.name))?;
        let function = jinja_tests::get(number)?;
        let mut arguments = self.arguments(&test.input, &test.args)?;
        Some(function.call(&mut self.runtime, &mut arguments))
    }

    fn sliced(&mut self, slice: &'t Slice) -> Option<Result<Value<'t>>> {
        let object = self.constant(&slice.object)?;
        let mut bound = |bound: &'t Option<Expr>| bound.as_ref().map_or(Some(None), |bound| self.constant(bound).map(Some));
        let (start, stop, step) = (bound(&slice.start)?, bound(&slice.stop)?, bound(&slice.step)?);
        Some(ops::slice(
            &mut self.runtime,
            &object,
            start.as_ref(),
            stop.as_ref(),
            step.as_ref(),
        ))
    }

    fn arguments(&mut self, input: &'t Expr, args: &'t Args) -> Option<Arguments<'t>> {
        let mut arguments = Arguments::one(self.constant(input)?);
        for argument in self.constants(&args.positional)? {
            arguments.push(argument);
        }
        let Some(others) = &args.others else {
            return Some(arguments);
        };
        for keyword in &others.keywords {
            let value = self.constant(&keyword.value)?;
            self.put_keyword(&mut arguments, Str::from(&*keyword.name), value)?;
        }
        if let Some(star) = &others.star {
            let values = self.constant(star)?;
            let values = Iter::try_new(&values)?.drain(&mut self.runtime).ok()?;
            values.into_iter().for_each(|value| arguments.push(value));
        }
        if let Some(double_star) = &others.double_star {
            // Pairs will do, which are no mapping to the render.
            let values = self.constant(double_star)?;
            let dict = globals::find("dict")?
                .call(&mut self.runtime, &mut Arguments::one(values))
                .ok()?;
            for (name, value) in dict.as_mapping()?.iter() {
                let Value::Str(name) = name else { return None };
                self.put_keyword(&mut arguments, name, value)?;
            }
        }
        Some(arguments)
    }

    /// The reference folds with a dict of all keywords, in which the last of two equal names counts (`args_as_const`).
    fn put_keyword(&mut self, arguments: &mut Arguments<'t>, name: Str<'t>, value: Value<'t>) -> Option<()> {
        self.runtime.meter.charge_items(arguments.keywords().len()).ok()?;
        arguments.put_keyword(name, value);
        Some(())
    }
}

/// A value as a literal; None for what a literal cannot hold (markup, generators, …) or the reference cannot write back (`inf`
/// inside a container).
fn to_data(value: &Value<'_>, parts: &mut usize) -> Option<Data<'static>> {
    *parts = parts.saturating_add(1);
    if *parts > MAX_PARTS {
        return None;
    }
    let is_inner = *parts > 1;
    let mut all = |items: &crate::value::Seq<'_>| items.iter().map(|item| to_data(&item, parts)).collect::<Option<Vec<_>>>();
    Some(match value {
        Value::None => Data::None,
        Value::Bool(bool) => Data::Bool(*bool),
        Value::Int(int) => Data::Int(*int),
        Value::Big(big) => Data::BigInt(Box::new((**big).clone())),
        Value::Float(float) if float.is_finite() || !is_inner => Data::Float(*float),
        Value::Str(text) if !text.is_markup() && text.as_str().len() <= MAX_TEXT => {
            Data::Str(std::borrow::Cow::Owned(text.as_str().to_owned()))
        }
        Value::List(items) => Data::List(all(items)?),
        Value::Tuple(items) if !items.is_group() => Data::Tuple(all(items)?),
        Value::Dict(dict) => {
            let entries = dict.iter().map(|(key, value)| match key {
                Value::Str(key) if !key.is_markup() => {
                    Some((std::borrow::Cow::Owned(key.as_str().to_owned()), to_data(&value, parts)?))
                }
                _ => None,
            });
            Data::Object(Object::new(entries.collect::<Option<Vec<_>>>()?))
        }
        _ => return None,
    })
}
