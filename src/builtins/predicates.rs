//! Jinja's tests, which templates name behind `is`.
//!
//! ```text
//! {{ 3 is odd }}                   True
//! {{ [1, 2]|select("gt", 1)|list }}    [2]
//! {{ "tojson" is filter }}         True
//! ```
//!
//! A row of the table for each name. After jinja2 3.1.6 `tests.py`, and Python's `callable` and `operator`.

use super::filters::{self, builtin, given, plain};
use super::methods::{python, required, row, unnamed};
use crate::error::Result;
use crate::unicode;
use crate::value::ops;
use crate::value::{Arguments, Code, Comparison, Function, Iter, Key, Parameter, Runtime, Style, Type, Value};

const VALUE: Parameter = required("value");
const LEFT: Parameter = unnamed("a");
const RIGHT: Parameter = unnamed("b");
const ENV: Parameter = Parameter::hidden("env");

/// A test that only looks at its value.
const fn look(name: &'static str, python: &'static str, asks: fn(&Value<'_>) -> bool) -> Function {
    row(name, python, Type::Method, Style::Python, &[VALUE], Code::Look(asks))
}

/// A test that compares its value with its argument.
const fn compare(name: &'static str, python: &'static str, parameters: &'static [Parameter], holds: Comparison) -> Function {
    row(name, python, Type::Method, Style::Python, parameters, Code::Compare(holds))
}

/// A function of Python's `operator`, which takes two values.
const fn operator(name: &'static str, python: &'static str, holds: Comparison) -> Function {
    let (ty, code) = (Type::BuiltinFunction, Code::Compare(holds));
    row(name, python, ty, Style::Positional, &[LEFT, RIGHT], code)
}

static TESTS: [Function; 39] = [
    python("odd", "test_odd", &[VALUE], is_odd),
    python("even", "test_even", &[VALUE], is_even),
    compare("divisibleby", "test_divisibleby", &[VALUE, required("num")], is_divisible),
    look("defined", "test_defined", is_defined),
    look("undefined", "test_undefined", is_undefined),
    python("filter", "test_filter", &[ENV, VALUE], is_filter),
    python("test", "test_test", &[ENV, VALUE], is_test),
    look("none", "test_none", is_none),
    look("boolean", "test_boolean", is_boolean),
    look("false", "test_false", is_false),
    look("true", "test_true", is_true),
    look("integer", "test_integer", is_integer),
    look("float", "test_float", is_float),
    python("lower", "test_lower", &[VALUE], is_lower),
    python("upper", "test_upper", &[VALUE], is_upper),
    look("string", "test_string", is_string),
    look("mapping", "test_mapping", is_mapping),
    look("number", "test_number", is_number),
    look("sequence", "test_sequence", is_sequence),
    look("iterable", "test_iterable", is_iterable),
    builtin("callable", "callable", is_callable),
    row(
        "sameas",
        "test_sameas",
        Type::Method,
        Style::Python,
        &[VALUE, required("other")],
        Code::Identify(is_same),
    ),
    look("escaped", "test_escaped", is_escaped),
    compare("in", "test_in", &[VALUE, required("seq")], is_in),
    operator("==", "_operator.eq", equals),
    operator("eq", "_operator.eq", equals),
    operator("equalto", "_operator.eq", equals),
    operator("!=", "_operator.ne", differs),
    operator("ne", "_operator.ne", differs),
    operator(">", "_operator.gt", is_greater),
    operator("gt", "_operator.gt", is_greater),
    operator("greaterthan", "_operator.gt", is_greater),
    operator("ge", "_operator.ge", is_greater_or_equal),
    operator(">=", "_operator.ge", is_greater_or_equal),
    operator("<", "_operator.lt", is_less),
    operator("lt", "_operator.lt", is_less),
    operator("lessthan", "_operator.lt", is_less),
    operator("<=", "_operator.le", is_less_or_equal),
    operator("le", "_operator.le", is_less_or_equal),
];

/// All of them.
#[cfg(feature = "cli")]
pub fn all() -> &'static [Function] {
    &TESTS
}

/// The number of the test of that name.
pub fn find(name: &str) -> Option<usize> {
    TESTS.iter().position(|test| test.name == name)
}

/// The test of that number.
pub fn get(number: usize) -> Option<&'static Function> {
    TESTS.get(number)
}

/// `value % divisor == remainder`, which formats a string.
fn has_remainder<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, divisor: &Value<'a>, remainder: i64) -> Result<bool> {
    let found = ops::modulo(runtime, value, divisor)?;
    ops::equal(runtime, &found, &Value::Int(remainder))
}

/// Whether the integer is odd.
///
/// `{{ 3 is odd }} -> True`
fn is_odd<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    has_remainder(runtime, &given(&mut arguments, 0), &Value::Int(2), 1).map(Value::Bool)
}

/// Whether the integer is even.
///
/// `{{ 3 is even }} -> False`
fn is_even<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    has_remainder(runtime, &given(&mut arguments, 0), &Value::Int(2), 0).map(Value::Bool)
}

/// Whether the number is a multiple of another.
///
/// `{{ 6 is divisibleby 3 }} -> True`
fn is_divisible<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, divisor: &Value<'a>) -> Result<bool> {
    has_remainder(runtime, value, divisor, 0)
}

/// Whether the value is not undefined.
///
/// `{{ nope is defined }} -> False`
fn is_defined(value: &Value<'_>) -> bool {
    !value.is_undefined()
}

/// Whether the value is undefined.
///
/// `{{ nope is undefined }} -> True`
fn is_undefined(value: &Value<'_>) -> bool {
    value.is_undefined()
}

/// Whether Jinja has a filter of that name, be it one that this crate does not support.
///
/// `{{ "tojson" is filter }} -> True`
fn is_filter<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    is_name(runtime, given(&mut arguments, 0), |name| {
        filters::find(name).is_some() || filters::is_unsupported(name)
    })
}

/// Whether there is a test of that name.
///
/// `{{ "odd" is test }} -> True`
fn is_test<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    is_name(runtime, given(&mut arguments, 0), |name| find(name).is_some())
}

/// Whether the value is a key of a table; what cannot be a key is an error.
fn is_name<'a>(runtime: &mut Runtime<'a>, value: Value<'a>, has: fn(&str) -> bool) -> Result<Value<'a>> {
    let key = Key::new(runtime, value)?;
    Ok(Value::Bool(key.value.as_str().is_some_and(has)))
}

/// Whether the value is `none`.
///
/// `{{ none is none }} -> True`
fn is_none(value: &Value<'_>) -> bool {
    matches!(value, Value::None)
}

/// Whether the value is `true` or `false`.
///
/// `{{ 1 is boolean }} -> False`
fn is_boolean(value: &Value<'_>) -> bool {
    matches!(value, Value::Bool(_))
}

/// Whether the value is `false`, and not merely counts as false.
///
/// `{{ 0 is false }} -> False`
fn is_false(value: &Value<'_>) -> bool {
    matches!(value, Value::Bool(false))
}

/// Whether the value is `true`, and not merely counts as true.
///
/// `{{ 1 is true }} -> False`
fn is_true(value: &Value<'_>) -> bool {
    matches!(value, Value::Bool(true))
}

/// Whether the value is an integer; booleans are not.
///
/// `{{ true is integer }} -> False`
fn is_integer(value: &Value<'_>) -> bool {
    matches!(value, Value::Int(_) | Value::Big(_))
}

/// Whether the value is a float.
///
/// `{{ 1.0 is float }} -> True`
fn is_float(value: &Value<'_>) -> bool {
    matches!(value, Value::Float(_))
}

/// Whether the text has letters and all are in lower case.
///
/// `{{ "a1" is lower }} -> True`
fn is_lower<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    has_case(runtime, &given(&mut arguments, 0), unicode::is_lower_str)
}

/// Whether the text has letters and all are in upper case.
///
/// `{{ none is upper }} -> False`
fn is_upper<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    has_case(runtime, &given(&mut arguments, 0), unicode::is_upper_str)
}

fn has_case<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, has_case: fn(&str) -> bool) -> Result<Value<'a>> {
    let text = plain(runtime, value)?;
    runtime.meter.charge_unicode(text.as_str())?;
    Ok(Value::Bool(has_case(text.as_str())))
}

/// Whether the value is a string or a Markup.
///
/// `{{ "a" is string }} -> True`
fn is_string(value: &Value<'_>) -> bool {
    matches!(value, Value::Str(_))
}

/// Whether the value is a dict.
///
/// `{{ {} is mapping }} -> True`
fn is_mapping(value: &Value<'_>) -> bool {
    value.as_mapping().is_some()
}

/// Whether the value is a number; booleans are.
///
/// `{{ true is number }} -> True`
fn is_number(value: &Value<'_>) -> bool {
    value.as_number().is_some()
}

/// Whether the value has a length and items.
///
/// `{{ {} is sequence }} -> True`
fn is_sequence(value: &Value<'_>) -> bool {
    matches!(
        value,
        Value::Str(_) | Value::List(_) | Value::Tuple(_) | Value::Dict(_) | Value::Range(_) | Value::Undefined(_)
    )
}

/// Whether one can go over the value.
///
/// `{{ 1 is iterable }} -> False`
fn is_iterable(value: &Value<'_>) -> bool {
    Iter::try_new(value).is_some()
}

/// Whether the value can be called.
///
/// `{{ range is callable }} -> True`
fn is_callable<'a>(_runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let value = given(&mut arguments, 0);
    Ok(Value::Bool(match &value {
        Value::Function(_) => !value.is_missing(),
        Value::Method(_) | Value::Macro(_) | Value::Loop(_) | Value::Joiner(_) | Value::Undefined(_) => true,
        _ => false,
    }))
}

/// Whether both are one object.
///
/// `{{ 1 is sameas true }} -> False`
fn is_same<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, other: &Value<'a>) -> Result<bool> {
    ops::is_same(runtime, value, other)
}

/// Whether the value is a Markup.
///
/// `{{ "a"|e is escaped }} -> True`
fn is_escaped(value: &Value<'_>) -> bool {
    value.is_markup()
}

/// Whether the value is in another.
///
/// `{{ 1 is in [1, 2] }} -> True`
fn is_in<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, container: &Value<'a>) -> Result<bool> {
    ops::contains(runtime, container, value)
}

/// `left == right`
///
/// `{{ 1 is eq 1.0 }} -> True`
fn equals<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<bool> {
    ops::equal(runtime, left, right)
}

/// `left != right`
///
/// `{{ 1 is ne 2 }} -> True`
fn differs<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<bool> {
    Ok(!ops::equal(runtime, left, right)?)
}

/// `left > right`
///
/// `{{ 2 is gt 1 }} -> True`
fn is_greater<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<bool> {
    ops::greater(runtime, left, right)
}

/// `left >= right`
///
/// `{{ 1 is ge 1 }} -> True`
fn is_greater_or_equal<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<bool> {
    ops::greater_equal(runtime, left, right)
}

/// `left < right`
///
/// `{{ 1 is lt 2 }} -> True`
fn is_less<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<bool> {
    ops::less(runtime, left, right)
}

/// `left <= right`
///
/// `{{ 1 is le 1 }} -> True`
fn is_less_or_equal<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<bool> {
    ops::less_equal(runtime, left, right)
}

#[cfg(test)]
mod tests {
    #[test]
    fn examples_hold() {
        let count = super::filters::tests::assert_examples(include_str!("predicates.rs"));
        assert!(count >= 30, "{count}");
    }

    #[test]
    fn names_are_unique() {
        for (number, test) in super::TESTS.iter().enumerate() {
            assert_eq!(super::find(test.name), Some(number));
        }
    }
}
