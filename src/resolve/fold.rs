//! Constants: an operation whose operands are literals becomes a literal, through the operators and built-ins that a render uses.
//!
//! What fails here is left as it stands and fails when it is reached, as in the reference (`nodes.py`, `as_const` raises Impossible).

use super::operate;
use crate::ast::{Args, CompareOp, Expr, ExprKind, Literal, LogicOp, Slice};
use crate::builtins::{access, filters, predicates};
use crate::clock::SystemClock;
use crate::data::{Data, Object};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::Limits;
use crate::value::{Arguments, Entries, Key, Runtime, Str, Undefined, Value};

/// A literal may have this many parts; a larger one is made anew each time.
const MAX_PARTS: usize = 256;

/// A folded text may have this many bytes.
const MAX_TEXT: usize = 4096;

static CLOCK: SystemClock = SystemClock;

/// Folding is bounded far below what a render may use: what is too large stays unfolded.
fn runtime<'a>() -> Runtime<'a> {
    let limits = Limits {
        steps: 20_000,
        value: 1 << 20,
        live: 4 << 20,
        ..Limits::default()
    };
    Runtime::new(limits, &CLOCK)
}

/// The literal that an operation on constants gives, if it is one.
pub(super) fn fold(kind: &ExprKind) -> Option<Literal> {
    if !has_constant_operands(kind) {
        return None;
    }
    let mut runtime = runtime();
    let value = evaluate(&mut runtime, kind)?.ok()?;
    to_literal(&value, &mut 0)
}

/// The error of a constant dict with a key that has no hash: the one error that the reference lets out while it folds
/// (`Dict.as_const` does not turn it into Impossible).
pub(super) fn unhashable_key(kind: &ExprKind) -> Option<Error> {
    match kind {
        ExprKind::Dict(_) if has_constant_operands(kind) => {
            let error = evaluate(&mut runtime(), kind)?.err()?;
            (error.kind() == ErrorKind::Type).then_some(error)
        }
        _ => None,
    }
}

/// Whether an expression stands for a constant that no literal can hold: a dict with other keys than strings, a slice that its object
/// does not allow (which is undefined while folding: `Getitem.as_const` goes through the lenient `getitem`).
fn is_unwritten_constant(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Dict(_) => has_constant_operands(&expr.kind),
        ExprKind::Slice(slice) => has_constant_operands(&expr.kind) && is_refused_slice(slice),
        _ => false,
    }
}

/// Whether a literal is true.
pub(super) fn is_true(literal: &Literal) -> bool {
    match literal {
        Data::None => false,
        Data::Bool(bool) => *bool,
        Data::Int(int) => *int != 0,
        Data::BigInt(_) => true,
        Data::Float(float) => *float != 0.0,
        Data::Str(text) => !text.is_empty(),
        Data::List(items) | Data::Tuple(items) => !items.is_empty(),
        Data::Object(object) => !object.is_empty(),
    }
}

/// One link of a chain of comparisons between literals.
pub(super) fn compare(op: CompareOp, left: &Expr, right: &Expr) -> Option<bool> {
    let mut runtime = runtime();
    let left = constant(&mut runtime, left)?;
    let right = constant(&mut runtime, right)?;
    let link = operate::compare(&mut runtime, op, &left, &right);
    link.ok()
}

/// What a literal prints, unless that is long or fails.
pub(super) fn text(literal: &Literal) -> Option<String> {
    let mut runtime = runtime();
    let mut text = String::new();
    runtime.write_str(&Value::from(literal), &mut text).ok()?;
    (text.len() <= MAX_TEXT || matches!(literal, Data::Str(_))).then_some(text)
}

/// Whether a slice of literals is one that its object does not allow.
pub(super) fn is_refused_slice(slice: &Slice) -> bool {
    let mut runtime = runtime();
    let refused = [ErrorKind::Type, ErrorKind::Key, ErrorKind::Index];
    match sliced(&mut runtime, slice) {
        Some(Err(error)) => refused.contains(&error.kind()),
        _ => false,
    }
}

fn has_constant_operands(kind: &ExprKind) -> bool {
    let is_constant = |expr: &Expr| matches!(expr.kind, ExprKind::Literal(_)) || is_unwritten_constant(expr);
    let have_constants = |args: &Args| {
        let mut all = true;
        args.children(&mut |child| all &= is_constant(child));
        all
    };
    match kind {
        ExprKind::Literal(_) | ExprKind::Name(_) | ExprKind::Call(..) => false,
        ExprKind::Tuple(items) | ExprKind::List(items) | ExprKind::Concat(items) => items.iter().all(is_constant),
        ExprKind::Dict(pairs) => pairs.iter().all(|(key, value)| is_constant(key) && is_constant(value)),
        ExprKind::Unary(_, operand) => is_constant(operand),
        ExprKind::Binary(_, operands) | ExprKind::Logic(_, operands) | ExprKind::Item(operands) => operands.iter().all(is_constant),
        ExprKind::Compare(compare) => is_constant(&compare.first) && compare.rest.iter().all(|(_, operand)| is_constant(operand)),
        // The branch that is not taken need not be constant.
        ExprKind::Conditional(conditional) => is_constant(&conditional.test),
        ExprKind::Attribute(attribute) => is_constant(&attribute.object),
        ExprKind::Slice(slice) => {
            let bounds = [&slice.start, &slice.stop, &slice.step];
            is_constant(&slice.object) && bounds.into_iter().flatten().all(is_constant)
        }
        ExprKind::Filter(filter) => filter.input.as_ref().is_some_and(is_constant) && have_constants(&filter.args),
        ExprKind::Test(test) => is_constant(&test.input) && have_constants(&test.args),
    }
}

fn constant<'t>(runtime: &mut Runtime<'t>, expr: &'t Expr) -> Option<Value<'t>> {
    match &expr.kind {
        ExprKind::Literal(Data::Str(text)) => Some(Value::Str(Str::literal(text))),
        ExprKind::Literal(literal) => Some(Value::from(literal)),
        ExprKind::Slice(_) => Some(Value::Undefined(Undefined::Hint("a slice that was refused"))),
        kind => evaluate(runtime, kind)?.ok(),
    }
}

fn constants<'t>(runtime: &mut Runtime<'t>, exprs: &'t [Expr]) -> Option<Vec<Value<'t>>> {
    exprs.iter().map(|expr| constant(runtime, expr)).collect()
}

/// None where an operand is no constant after all, or the built-in is unknown.
fn evaluate<'t>(runtime: &mut Runtime<'t>, kind: &'t ExprKind) -> Option<Result<Value<'t>>> {
    Some(match kind {
        ExprKind::Literal(_) | ExprKind::Name(_) | ExprKind::Call(..) => return None,
        ExprKind::Tuple(items) => {
            let items = constants(runtime, items)?;
            runtime.tuple(items)
        }
        ExprKind::List(items) => {
            let items = constants(runtime, items)?;
            runtime.list(items)
        }
        ExprKind::Dict(pairs) => {
            let mut entries = Entries::default();
            for (key, value) in pairs {
                let key = constant(runtime, key)?;
                let value = constant(runtime, value)?;
                match Key::new(runtime, key) {
                    Ok(key) => entries.insert(key, value),
                    Err(error) => return Some(Err(error)),
                };
            }
            runtime.dict(entries).map(Value::Dict)
        }
        ExprKind::Concat(items) => {
            let mut text = String::new();
            for item in constants(runtime, items)? {
                runtime.write_str(&item, &mut text).ok()?;
            }
            runtime.str(text)
        }
        ExprKind::Unary(op, operand) => {
            let operand = constant(runtime, operand)?;
            operate::unary(runtime, *op, &operand)
        }
        ExprKind::Binary(op, operands) => {
            let [left, right] = &**operands;
            let left = constant(runtime, left)?;
            let right = constant(runtime, right)?;
            operate::binary(runtime, *op, &left, &right)
        }
        ExprKind::Logic(op, operands) => {
            let [left, right] = &**operands;
            let left = constant(runtime, left)?;
            match runtime.truth(&left) {
                Ok(truth) if truth == (*op == LogicOp::Or) => Ok(left),
                Ok(_) => Ok(constant(runtime, right)?),
                Err(error) => Err(error),
            }
        }
        ExprKind::Compare(compare) => {
            let mut left = constant(runtime, &compare.first)?;
            let mut holds = true;
            for (op, right) in &compare.rest {
                let right = constant(runtime, right)?;
                holds = operate::compare(runtime, *op, &left, &right).ok()?;
                left = right;
            }
            Ok(Value::Bool(holds))
        }
        ExprKind::Conditional(conditional) => {
            let test = constant(runtime, &conditional.test)?;
            match runtime.truth(&test).ok()? {
                true => Ok(constant(runtime, &conditional.then)?),
                false => Ok(constant(runtime, conditional.otherwise.as_ref()?)?),
            }
        }
        ExprKind::Attribute(attribute) => {
            let object = constant(runtime, &attribute.object)?;
            access::attribute(runtime, &object, &Str::from(&*attribute.name))
        }
        ExprKind::Item(operands) => {
            let [object, index] = &**operands;
            let object = constant(runtime, object)?;
            let index = constant(runtime, index)?;
            access::item(runtime, &object, &index)
        }
        ExprKind::Slice(slice) => return sliced(runtime, slice),
        ExprKind::Filter(filter) => {
            let function = filters::get(filter.builtin?)?;
            let arguments = arguments(runtime, filter.input.as_ref()?, &filter.args)?;
            function.call(runtime, arguments)
        }
        ExprKind::Test(test) => {
            let function = predicates::get(test.builtin?)?;
            let arguments = arguments(runtime, &test.input, &test.args)?;
            function.call(runtime, arguments)
        }
    })
}

fn sliced<'t>(runtime: &mut Runtime<'t>, slice: &'t Slice) -> Option<Result<Value<'t>>> {
    let object = constant(runtime, &slice.object)?;
    let bounds = [&slice.start, &slice.stop, &slice.step];
    let [start, stop, step] = bounds.map(|bound| bound.as_ref().map(|bound| constant(runtime, bound)));
    let flat = |bound: Option<Option<Value<'t>>>| match bound {
        Some(None) => None,
        Some(Some(value)) => Some(Some(value)),
        None => Some(None),
    };
    let (start, stop, step) = (flat(start)?, flat(stop)?, flat(step)?);
    Some(runtime.slice(&object, start.as_ref(), stop.as_ref(), step.as_ref()))
}

fn arguments<'t>(runtime: &mut Runtime<'t>, input: &'t Expr, args: &'t Args) -> Option<Arguments<'t>> {
    // `*` and `**` of constants are rare enough to be left to the render.
    if args.star.is_some() || args.double_star.is_some() {
        return None;
    }
    let mut arguments = Arguments::one(constant(runtime, input)?);
    for argument in constants(runtime, &args.positional)? {
        arguments.push(argument);
    }
    for keyword in &args.keywords {
        let value = constant(runtime, &keyword.value)?;
        arguments.push_keyword(Str::from(&*keyword.name), value);
    }
    Some(arguments)
}

/// A value as a literal; None for what a literal cannot hold (markup, generators, …) or the reference cannot write back (`inf`
/// inside a container).
fn to_literal(value: &Value<'_>, parts: &mut usize) -> Option<Literal> {
    *parts += 1;
    if *parts > MAX_PARTS {
        return None;
    }
    let is_inner = *parts > 1;
    let mut all = |items: &crate::value::Seq<'_>| items.iter().map(|item| to_literal(&item, parts)).collect::<Option<Vec<_>>>();
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
                    Some((std::borrow::Cow::Owned(key.as_str().to_owned()), to_literal(&value, parts)?))
                }
                _ => None,
            });
            Data::Object(Object::new(entries.collect::<Option<Vec<_>>>()?))
        }
        _ => return None,
    })
}
