//! Constants: an operation whose operands are literals becomes a literal, through the operators and built-ins that a render uses.
//!
//! What fails here is left as it stands and fails when it is reached, as in the reference (`nodes.py`, `as_const` raises Impossible).

use super::operate;
use crate::ast::{Args, CompareOp, Expr, ExprKind, Literal, LogicOp, Slice};
use crate::builtins::{access, filters, predicates};
use crate::clock::SystemClock;
use crate::data::{Data, Object};
use crate::error::{ErrorKind, Result};
use crate::limits::Limits;
use crate::value::{Arguments, Entries, Key, Runtime, Str, Value};

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

/// The literal that an operation on literals gives, if it is one.
pub(super) fn fold(kind: &ExprKind) -> Option<Literal> {
    if !has_literal_operands(kind) {
        return None;
    }
    let mut runtime = runtime();
    let value = evaluate(&mut runtime, kind)?.ok()?;
    to_literal(&value, &mut 0)
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
    let link = operate::compare(&mut runtime, op, &literal(left)?, &literal(right)?);
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

fn has_literal_operands(kind: &ExprKind) -> bool {
    let is_literal = |expr: &Expr| matches!(expr.kind, ExprKind::Literal(_));
    let have_literals = |args: &Args| {
        let mut all = true;
        args.children(&mut |child| all &= is_literal(child));
        all
    };
    match kind {
        ExprKind::Literal(_) | ExprKind::Name(_) | ExprKind::Call(..) => false,
        ExprKind::Tuple(items) | ExprKind::List(items) | ExprKind::Concat(items) => items.iter().all(is_literal),
        ExprKind::Dict(pairs) => pairs.iter().all(|(key, value)| is_literal(key) && is_literal(value)),
        ExprKind::Unary(_, operand) => is_literal(operand),
        ExprKind::Binary(_, operands) | ExprKind::Logic(_, operands) | ExprKind::Item(operands) => operands.iter().all(is_literal),
        ExprKind::Compare(compare) => is_literal(&compare.first) && compare.rest.iter().all(|(_, operand)| is_literal(operand)),
        // The branch that is not taken need not be constant.
        ExprKind::Conditional(conditional) => is_literal(&conditional.test),
        ExprKind::Attribute(attribute) => is_literal(&attribute.object),
        ExprKind::Slice(slice) => {
            let bounds = [&slice.start, &slice.stop, &slice.step];
            is_literal(&slice.object) && bounds.into_iter().flatten().all(is_literal)
        }
        ExprKind::Filter(filter) => filter.input.as_ref().is_some_and(is_literal) && have_literals(&filter.args),
        ExprKind::Test(test) => is_literal(&test.input) && have_literals(&test.args),
    }
}

fn literal<'t>(expr: &'t Expr) -> Option<Value<'t>> {
    match &expr.kind {
        ExprKind::Literal(literal) => Some(Value::from(literal)),
        _ => None,
    }
}

fn literals<'t>(exprs: &'t [Expr]) -> Option<Vec<Value<'t>>> {
    exprs.iter().map(literal).collect()
}

/// None where an operand is no literal after all, or the built-in is unknown.
fn evaluate<'t>(runtime: &mut Runtime<'t>, kind: &'t ExprKind) -> Option<Result<Value<'t>>> {
    Some(match kind {
        ExprKind::Literal(_) | ExprKind::Name(_) | ExprKind::Call(..) => return None,
        ExprKind::Tuple(items) => runtime.tuple(literals(items)?),
        ExprKind::List(items) => runtime.list(literals(items)?),
        ExprKind::Dict(pairs) => {
            let mut entries = Entries::default();
            for (key, value) in pairs {
                let key = Key::new(runtime, literal(key)?).ok()?;
                entries.insert(key, literal(value)?);
            }
            runtime.dict(entries).map(Value::Dict)
        }
        ExprKind::Concat(items) => {
            let mut text = String::new();
            for item in literals(items)? {
                runtime.write_str(&item, &mut text).ok()?;
            }
            runtime.str(text)
        }
        ExprKind::Unary(op, operand) => operate::unary(runtime, *op, &literal(operand)?),
        ExprKind::Binary(op, operands) => {
            let [left, right] = &**operands;
            operate::binary(runtime, *op, &literal(left)?, &literal(right)?)
        }
        ExprKind::Logic(op, operands) => {
            let [left, right] = &**operands;
            let left = literal(left)?;
            match runtime.truth(&left) {
                Ok(truth) if truth == (*op == LogicOp::Or) => Ok(left),
                Ok(_) => Ok(literal(right)?),
                Err(error) => Err(error),
            }
        }
        ExprKind::Compare(compare) => {
            let mut left = literal(&compare.first)?;
            let mut holds = true;
            for (op, right) in &compare.rest {
                let right = literal(right)?;
                holds = operate::compare(runtime, *op, &left, &right).ok()?;
                left = right;
            }
            Ok(Value::Bool(holds))
        }
        ExprKind::Conditional(conditional) => {
            let test = literal(&conditional.test)?;
            match runtime.truth(&test).ok()? {
                true => Ok(literal(&conditional.then)?),
                false => Ok(literal(conditional.otherwise.as_ref()?)?),
            }
        }
        ExprKind::Attribute(attribute) => access::attribute(runtime, &literal(&attribute.object)?, &Str::from(&*attribute.name)),
        ExprKind::Item(operands) => {
            let [object, index] = &**operands;
            access::item(runtime, &literal(object)?, &literal(index)?)
        }
        ExprKind::Slice(slice) => return sliced(runtime, slice),
        ExprKind::Filter(filter) => {
            let function = filters::get(filter.builtin?)?;
            function.call(runtime, arguments(filter.input.as_ref()?, &filter.args)?)
        }
        ExprKind::Test(test) => {
            let function = predicates::get(test.builtin?)?;
            function.call(runtime, arguments(&test.input, &test.args)?)
        }
    })
}

fn sliced<'t>(runtime: &mut Runtime<'t>, slice: &'t Slice) -> Option<Result<Value<'t>>> {
    let object = literal(&slice.object)?;
    let bounds = [&slice.start, &slice.stop, &slice.step];
    let [start, stop, step] = bounds.map(|bound| bound.as_ref().map(literal));
    let flat = |bound: Option<Option<Value<'t>>>| match bound {
        Some(None) => None,
        Some(Some(value)) => Some(Some(value)),
        None => Some(None),
    };
    let (start, stop, step) = (flat(start)?, flat(stop)?, flat(step)?);
    Some(runtime.slice(&object, start.as_ref(), stop.as_ref(), step.as_ref()))
}

fn arguments<'t>(input: &'t Expr, args: &'t Args) -> Option<Arguments<'t>> {
    // `*` and `**` of constants are rare enough to be left to the render.
    if args.star.is_some() || args.double_star.is_some() {
        return None;
    }
    let mut arguments = Arguments::one(literal(input)?);
    for argument in literals(&args.positional)? {
        arguments.push(argument);
    }
    for keyword in &args.keywords {
        arguments.push_keyword(Str::from(&*keyword.name), literal(&keyword.value)?);
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
        Value::Tuple(items) => Data::Tuple(all(items)?),
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
