//! Folds constants: an operation whose operands are literals becomes a literal, by the operators and built-ins that a render uses.
//!
//! An expression that fails here is left unchanged and fails when a render reaches it, as in the reference (`nodes.py`, `as_const`
//! raises Impossible).

use num_bigint::Sign;

use super::operators;
use crate::ast::{Args, Compare, CompareOp, Expr, ExprKind, Literal, LogicOp, Slice, UnaryOp};
use crate::builtins::{LOOKUPS, access, filters, globals, jinja_tests};
use crate::clock::SystemClock;
use crate::error::{Error, ErrorKind, Result};
use crate::json::Data;
use crate::limits::Limits;
use crate::meter::Meter;
use crate::value::{Arena, Arguments, Entries, Function, Iter, Key, Runtime, Str, Undefined, Value, ops, print};

/// The maximum number of parts of a folded literal. A larger value is made by each render.
const MAX_PARTS: usize = 256;

/// The maximum number of bytes of a folded string.
const MAX_TEXT: usize = 4096;

/// The number of levels of nested operands in which a variable is looked for before an operation is evaluated.
const MAX_LEVELS: usize = 8;

/// The kinds of errors by which an object refuses a slice.
const REFUSED_SLICE: [ErrorKind; 3] = [ErrorKind::Type, ErrorKind::Key, ErrorKind::Index];

static CLOCK: SystemClock = SystemClock;

/// The maximum number of steps that folding takes in one compilation. The constants that are left are computed by each render, within its
/// own limits. Real templates take a few thousand steps.
const MAX_STEPS: u64 = 1 << 20;

/// The number of steps that it costs to make the runtime in which one operation is folded.
const RUNTIME_STEPS: u64 = 50;

/// The maximum number of steps that folding one operation takes, without those of its runtime.
const MAX_OPERATION_STEPS: u64 = 4_000;

/// The maximum number of bytes of all folded constants of a template.
const MAX_BYTES: usize = 1 << 20;

/// Folds the constants of one template, as long as its budget lasts. After that, nothing counts as constant.
#[derive(Debug)]
pub(super) struct Folder {
    /// The number of steps that folding may still take.
    steps: u64,
    /// The number of bytes that further constants may have.
    bytes: usize,
    /// The steps that were left at the last call of [`Folder::take_steps`].
    steps_before: u64,
}

/// An evaluation of constants.
struct Folding<'t> {
    runtime: Runtime<'t>,
}

impl Folder {
    pub fn new() -> Self {
        Self {
            steps: MAX_STEPS,
            bytes: MAX_BYTES,
            steps_before: MAX_STEPS,
        }
    }

    /// Returns the number of steps that folding took since the last call.
    pub fn take_steps(&mut self) -> u64 {
        let before = std::mem::replace(&mut self.steps_before, self.steps);
        before.saturating_sub(self.steps)
    }

    /// Returns the result of an operation on constants, if it is a literal or Markup.
    #[inline]
    pub fn fold(&mut self, expr: &Expr) -> Option<ExprKind> {
        let (value, bytes) = self.evaluate([expr], |folding, [expr]| {
            let value = folding.evaluate(&expr.kind)?;
            let mut size = Size::default();
            let kind = match value {
                Value::Str(text) if text.is_markup() => {
                    size.bytes = text.as_str().len();
                    (size.bytes <= MAX_TEXT).then(|| ExprKind::Markup(text.as_str().into()))?
                }
                value => {
                    let data = value.copy_data(&mut |part, is_key| size.add(part, is_key));
                    ExprKind::Literal(data.ok()?.into())
                }
            };
            Some((kind, size.bytes))
        })?;
        self.bytes = self.bytes.checked_sub(bytes)?;
        Some(value)
    }

    /// Returns the error of a constant key that has no hash: the one error that the reference raises while it folds (`Dict.as_const` does
    /// not turn it into Impossible). It makes the dict pair by pair, and stops without an error at the first pair that is not constant.
    pub fn find_unhashable_key(&mut self, kind: &ExprKind) -> Option<Error> {
        let ExprKind::Dict(pairs) = kind else { return None };
        for (key, value) in pairs {
            let hashed = self.evaluate([key, value], |folding, [key, value]| {
                let key = folding.constant(key)?;
                folding.constant(value)?;
                Some(Key::new(&mut folding.runtime, key).map(drop))
            })?;
            if let Err(error) = hashed {
                return (error.kind() == ErrorKind::Type).then_some(error);
            }
        }
        None
    }

    /// Returns the base of a power without its sign, if it is a negative constant and the exponent is not constant. The reference writes
    /// `(-2) ** x` as Python's `-2 ** x`, which is `-(2 ** x)`.
    pub fn fold_base_without_sign(&mut self, operands: &[Expr; 2]) -> Option<ExprKind> {
        let [base, exponent] = operands;
        let ExprKind::Literal(literal) = &base.kind else { return None };
        let is_negative = match literal {
            Literal::Int(base) => base.is_negative(),
            Literal::Data(base) => matches!(&**base, Data::BigInt(base) if base.sign() == Sign::Minus),
            Literal::Float(base) => base.is_sign_negative() && !base.is_nan(),
            _ => false,
        };
        let mut is_constant = |exponent| {
            self.evaluate([exponent], |folding, [exponent]| folding.constant(exponent).map(drop))
                .is_some()
        };
        if !is_negative || is_constant(exponent) {
            return None;
        }
        let new = |kind| Expr { kind, ..Expr::default() };
        let base = new(ExprKind::Literal(literal.clone()));
        self.fold(&new(ExprKind::Unary(UnaryOp::Neg, Box::new(base))))
    }

    /// Compares two literals, as a link of a chain of comparisons. Returns `None` if that fails.
    pub fn compare(&mut self, op: CompareOp, left: &Expr, right: &Expr) -> Option<bool> {
        self.evaluate([left, right], |folding, [left, right]| {
            let left = folding.constant(left)?;
            let right = folding.constant(right)?;
            operators::compare(&mut folding.runtime, op, &left, &right).ok()
        })
    }

    /// Returns whether a constant is true, or `None` for another expression.
    pub fn truth(&mut self, expr: &Expr) -> Option<bool> {
        self.evaluate([expr], |folding, [expr]| {
            let value = folding.constant(expr)?;
            ops::is_true(&mut folding.runtime, &value).ok()
        })
    }

    /// Returns the text that a constant prints, unless it is long or fails.
    pub fn print(&mut self, expr: &Expr) -> Option<String> {
        let is_written = matches!(expr.kind, ExprKind::Literal(Literal::Str(_)) | ExprKind::Markup(_));
        let text = self.evaluate([expr], |folding, [expr]| {
            let value = folding.constant(expr)?;
            let text = print::to_str(&mut folding.runtime, &value).ok()?;
            (is_written || text.as_str().len() <= MAX_TEXT).then(|| text.as_str().to_owned())
        })?;
        if !is_written {
            self.bytes = self.bytes.checked_sub(text.len())?;
        }
        Some(text)
    }

    /// Evaluates operands within the limits of one operation, which are far below those of a render. Returns `None` if one of them is not
    /// constant.
    #[inline]
    fn evaluate<T, const N: usize>(
        &mut self,
        operands: [&Expr; N],
        run: impl for<'t> FnOnce(&mut Folding<'t>, [&'t Expr; N]) -> Option<T>,
    ) -> Option<T> {
        let is_variable = operands.into_iter().any(|operand| is_variable(operand, MAX_LEVELS));
        if is_variable || !self.spend(RUNTIME_STEPS) {
            return None;
        }
        let limits = Limits {
            steps: MAX_OPERATION_STEPS.min(self.steps),
            value: 1 << 20,
            live: 4 << 20,
            stack: Limits::default().stack / 4,
            milliseconds: None,
            ..Limits::default()
        };
        let arena = Arena::default();
        let runtime = Runtime::with_meter(&arena, Meter::new(limits), &CLOCK, &LOOKUPS);
        let mut folding = Folding { runtime };
        let result = run(&mut folding, operands);
        self.spend(folding.runtime.meter.steps()).then_some(result)?
    }

    /// Takes steps out of the budget. Returns false if fewer are left.
    fn spend(&mut self, steps: u64) -> bool {
        let left = self.steps.checked_sub(steps);
        self.steps = left.unwrap_or_default();
        left.is_some()
    }
}

/// Returns whether an expression is not constant, because a variable or a call is among the operands that it always evaluates. One that is
/// nested deeper than `levels` is found when the expression is evaluated.
fn is_variable(expr: &Expr, levels: usize) -> bool {
    let Some(below) = levels.checked_sub(1) else { return false };
    match &expr.kind {
        ExprKind::Name(_) | ExprKind::Call(_) | ExprKind::UnsupportedText(_) => true,
        ExprKind::Literal(_) | ExprKind::Markup(_) => false,
        ExprKind::Attribute(attribute) => is_variable(&attribute.object, below),
        ExprKind::Binary(_, operands) | ExprKind::Item(operands) => {
            operands.iter().rev().any(|operand| is_variable(operand, below))
        }
        // If the first operand decides the result, the others need not be constant.
        ExprKind::Logic(_, operands) => operands.first().is_some_and(|first| is_variable(first, below)),
        ExprKind::Conditional(conditional) => is_variable(&conditional.test, below),
        ExprKind::Compare(compare) => is_variable(&compare.first, below) || is_variable(&compare.link.1, below),
        _ => {
            let mut found = false;
            expr.for_each_child(&mut |child| found = found || is_variable(child, below));
            found
        }
    }
}

/// Returns whether Jinja passes its context to a filter, which is unknown before the render.
fn takes_context(function: &Function) -> bool {
    function
        .signature
        .parameters
        .first()
        .is_some_and(|first| first.hidden && first.name == "context")
}

impl<'t> Folding<'t> {
    /// Evaluates a constant. Each node is one step.
    fn constant(&mut self, expr: &'t Expr) -> Option<Value<'t>> {
        match &expr.kind {
            // Equal literals become one object only in the finished code, after folding, so here they are different objects.
            ExprKind::Literal(literal) => Some(operators::literal(literal)),
            ExprKind::Markup(text) => Some(Value::Str(Str::from(&**text).with_markup(true))),
            kind => {
                self.runtime.meter.check_stack().ok()?;
                self.runtime.meter.charge(1).ok()?;
                self.evaluate(kind)
            }
        }
    }

    fn constants(&mut self, exprs: &'t [Expr]) -> Option<Vec<Value<'t>>> {
        self.runtime.meter.charge_items(exprs.len()).ok()?;
        exprs.iter().map(|expr| self.constant(expr)).collect()
    }

    /// Evaluates an operation on constants. Returns `None` if it fails, if an operand is not constant after all, or if there is no built-in
    /// of the name.
    fn evaluate(&mut self, kind: &'t ExprKind) -> Option<Value<'t>> {
        match kind {
            ExprKind::Literal(_) | ExprKind::UnsupportedText(_) | ExprKind::Markup(_) | ExprKind::Name(_) | ExprKind::Call(..) => {
                None
            }
            ExprKind::Tuple(items) => {
                let items = self.constants(items)?;
                self.runtime.tuple(&items).ok()
            }
            ExprKind::List(items) => {
                let items = self.constants(items)?;
                self.runtime.list(&items).ok()
            }
            ExprKind::Dict(pairs) => self.dict(pairs),
            ExprKind::Concat(items) => {
                let mut text = String::new();
                for item in self.constants(items)? {
                    print::write_str(&mut self.runtime, &item, &mut text).ok()?;
                }
                self.runtime.str(text).ok()
            }
            ExprKind::Unary(op, operand) => {
                let operand = self.constant(operand)?;
                operators::unary(&mut self.runtime, *op, &operand).ok()
            }
            ExprKind::Binary(op, operands) => {
                let [left, right] = self.both(operands)?;
                operators::binary(&mut self.runtime, *op, &left, &right).ok()
            }
            ExprKind::Logic(op, operands) => {
                let [left, right] = &**operands;
                let left = self.constant(left)?;
                let truth = ops::is_true(&mut self.runtime, &left).ok()?;
                if truth == (*op == LogicOp::Or) {
                    Some(left)
                } else {
                    self.constant(right)
                }
            }
            ExprKind::Compare(compare) => self.compare(compare).map(Value::Bool),
            ExprKind::Conditional(conditional) => {
                let test = self.constant(&conditional.test)?;
                if ops::is_true(&mut self.runtime, &test).ok()? {
                    self.constant(&conditional.then)
                } else {
                    self.constant(conditional.otherwise.as_ref()?)
                }
            }
            ExprKind::Attribute(attribute) => {
                let object = self.constant(&attribute.object)?;
                access::get_attribute(&mut self.runtime, &object, &Str::from(&*attribute.name)).ok()
            }
            ExprKind::Item(operands) => {
                let [object, index] = self.both(operands)?;
                access::get_item(&mut self.runtime, &object, &index).ok()
            }
            ExprKind::Slice(slice) => self.sliced(slice),
            // A filter or a test in an expression that is never compiled has no index yet.
            ExprKind::Filter(filter) => {
                let index = filter.builtin.or_else(|| filters::TABLE.find_index(&filter.name))?;
                let function = filters::TABLE.get(index).filter(|function| !takes_context(function))?;
                self.apply(function, filter.input.as_ref()?, &filter.args)
            }
            ExprKind::Test(test) => {
                let index = test.builtin.or_else(|| jinja_tests::TABLE.find_index(&test.name))?;
                self.apply(jinja_tests::TABLE.get(index)?, &test.input, &test.args)
            }
        }
    }

    fn both(&mut self, [left, right]: &'t [Expr; 2]) -> Option<[Value<'t>; 2]> {
        Some([self.constant(left)?, self.constant(right)?])
    }

    fn dict(&mut self, pairs: &'t [(Expr, Expr)]) -> Option<Value<'t>> {
        let mut entries = Entries::default();
        self.runtime.meter.charge_items(pairs.len()).ok()?;
        for (key, value) in pairs {
            let key = self.constant(key)?;
            let value = self.constant(value)?;
            entries.insert(Key::new(&mut self.runtime, key).ok()?, value);
        }
        self.runtime.dict(entries).ok().map(Value::Dict)
    }

    fn compare(&mut self, compare: &'t Compare) -> Option<bool> {
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

    fn sliced(&mut self, slice: &'t Slice) -> Option<Value<'t>> {
        let object = self.constant(&slice.object)?;
        let mut bound = |bound: &'t Option<Expr>| bound.as_ref().map_or(Some(None), |bound| self.constant(bound).map(Some));
        let [start, stop, step] = [bound(&slice.start)?, bound(&slice.stop)?, bound(&slice.step)?];
        match ops::slice(&mut self.runtime, &object, start.as_ref(), stop.as_ref(), step.as_ref()) {
            // `Getitem.as_const` goes through the lenient `getitem`: a slice that its object does not allow is undefined.
            Err(error) if REFUSED_SLICE.contains(&error.kind()) => {
                Some(Value::Undefined(Undefined::Hint("a slice that was refused")))
            }
            sliced => sliced.ok(),
        }
    }

    fn apply(&mut self, function: &'static Function, input: &'t Expr, args: &'t Args) -> Option<Value<'t>> {
        let mut arguments = self.arguments(input, args)?;
        function.call(&mut self.runtime, &mut arguments).ok()
    }

    /// Evaluates the input and the arguments of a filter or a test. Returns `None` if one of them is not constant.
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
            // A list of pairs is enough: the render does not use it as a mapping.
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

    /// Adds a keyword argument. The reference folds with a dict of all keywords, in which the last of two equal names counts
    /// (`args_as_const`).
    fn put_keyword(&mut self, arguments: &mut Arguments<'t>, name: Str<'t>, value: Value<'t>) -> Option<()> {
        self.runtime.meter.charge_items(arguments.keywords().len()).ok()?;
        arguments.put_keyword(name, value);
        Some(())
    }
}

/// The number of parts of a literal, and of bytes in its strings.
#[derive(Default)]
struct Size {
    parts: usize,
    bytes: usize,
}

impl Size {
    /// Adds a part of a value that becomes a literal. Refuses what a literal cannot hold (markup, generators), too many parts, and what the
    /// reference cannot write back (`inf` inside a container).
    fn add(&mut self, value: &Value<'_>, is_key: bool) -> Result<()> {
        self.parts += usize::from(!is_key);
        let content = match value {
            Value::Str(text) => text.as_str().len(),
            Value::Big(big) => usize::try_from(big.bit_length() / 8).unwrap_or(usize::MAX),
            _ => 0,
        };
        self.bytes = self.bytes.saturating_add(size_of::<Data<'_>>()).saturating_add(content);
        let is_allowed = match value {
            Value::Str(text) => !text.is_markup(),
            _ if is_key => false,
            Value::Float(float) => float.is_finite() || self.parts == 1,
            Value::Tuple(items) => !items.is_group(),
            _ => true,
        };
        if is_allowed && content <= MAX_TEXT && self.parts <= MAX_PARTS {
            Ok(())
        } else {
            Err(Error::internal("a value is no literal"))
        }
    }
}
