//! Jinja's tests, which templates name after `is`.
//!
//! ```text
//! {{ 3 is odd }}                       True
//! {{ [1, 2]|select("gt", 1)|list }}    [2]
//! {{ "tojson" is filter }}             True
//! ```
//!
//! Each test is a row of a table. The rules are those of jinja2 3.1.6 `tests.py`, and of Python's `callable` and `operator`.

use super::arguments::{take_or_none, to_plain_str};
use super::table::{Table, builtin, python, required, row, unnamed};
use crate::error::Result;
use crate::unicode;
use crate::unsupported::{self, Place};
use crate::value::{Arguments, Code, Comparison, Function, Iter, Key, Parameter, Runtime, Shortcut, Style, Type, Value, ops};

const VALUE: Parameter = required("value");
const LEFT: Parameter = unnamed("a");
const RIGHT: Parameter = unnamed("b");
const ENV: Parameter = Parameter::hidden("env");

/// Creates a test that only reads its value.
const fn inspect(name: &'static str, python: &'static str, holds: fn(&Value<'_>) -> bool) -> Function {
    row(name, python, Type::Method, Style::Python, &[VALUE], Code::Inspect(holds))
}

/// Creates a test that compares its value with its argument.
const fn compare(name: &'static str, python: &'static str, parameters: &'static [Parameter], holds: Comparison) -> Function {
    row(name, python, Type::Method, Style::Python, parameters, Code::Compare(holds))
}

/// Creates a test that is a function of Python's module `operator`.
const fn operator(name: &'static str, python: &'static str, holds: Comparison) -> Function {
    let (ty, code) = (Type::BuiltinFunction, Code::Compare(holds));
    row(name, python, ty, Style::Positional, &[LEFT, RIGHT], code)
}

#[rustfmt::skip]
static TESTS: Table = Table::new(&[
    operator("!=", "_operator.ne", differs),
    operator("<", "_operator.lt", is_less),
    operator("<=", "_operator.le", is_less_or_equal),
    operator("==", "_operator.eq", equals).with_shortcut(Shortcut::Equality),
    operator(">", "_operator.gt", is_greater),
    operator(">=", "_operator.ge", is_greater_or_equal),
    inspect("boolean", "test_boolean", is_boolean),
    builtin("callable", "callable", is_callable),
    inspect("defined", "test_defined", is_defined),
    compare("divisibleby", "test_divisibleby", &[VALUE, required("num")], is_divisible),
    operator("eq", "_operator.eq", equals).with_shortcut(Shortcut::Equality),
    operator("equalto", "_operator.eq", equals).with_shortcut(Shortcut::Equality),
    inspect("escaped", "test_escaped", is_escaped),
    python("even", "test_even", &[VALUE], is_even),
    inspect("false", "test_false", is_false),
    python("filter", "test_filter", &[ENV, VALUE], is_filter),
    inspect("float", "test_float", is_float),
    operator("ge", "_operator.ge", is_greater_or_equal),
    operator("greaterthan", "_operator.gt", is_greater),
    operator("gt", "_operator.gt", is_greater),
    compare("in", "test_in", &[VALUE, required("seq")], is_in),
    inspect("integer", "test_integer", is_integer),
    inspect("iterable", "test_iterable", is_iterable),
    operator("le", "_operator.le", is_less_or_equal),
    operator("lessthan", "_operator.lt", is_less),
    python("lower", "test_lower", &[VALUE], is_lower),
    operator("lt", "_operator.lt", is_less),
    inspect("mapping", "test_mapping", is_mapping),
    operator("ne", "_operator.ne", differs),
    inspect("none", "test_none", is_none),
    inspect("number", "test_number", is_number),
    python("odd", "test_odd", &[VALUE], is_odd),
    row("sameas", "test_sameas", Type::Method, Style::Python, &[VALUE, required("other")], Code::Identify(is_same)),
    inspect("sequence", "test_sequence", is_sequence),
    inspect("string", "test_string", is_string),
    python("test", "test_test", &[ENV, VALUE], is_test),
    inspect("true", "test_true", is_true),
    inspect("undefined", "test_undefined", is_undefined),
    python("upper", "test_upper", &[VALUE], is_upper),
]);

/// Returns all tests, sorted by name.
#[cfg(feature = "cli")]
pub fn all() -> &'static [Function] {
    &TESTS
}

/// Returns the index of the test with the given name.
pub fn find_index(name: &str) -> Option<usize> {
    TESTS.find_index(name)
}

/// Returns the test at an index.
pub fn get(index: usize) -> Option<&'static Function> {
    TESTS.get(index)
}

/// Returns the test with the given name.
pub fn find(name: &str) -> Option<&'static Function> {
    TESTS.find_row(name)
}

/// Returns whether `value % divisor == remainder`. The operator formats a value that is a string.
fn has_remainder<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, divisor: &Value<'a>, remainder: i64) -> Result<bool> {
    let result = ops::modulo(runtime, value, divisor)?;
    ops::equal(runtime, &result, &Value::Int(remainder))
}

/// Returns whether an integer is odd.
///
/// `{{ 3 is odd }} -> True`
fn is_odd<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    has_remainder(runtime, &take_or_none(&mut arguments, 0), &Value::Int(2), 1).map(Value::Bool)
}

/// Returns whether an integer is even.
///
/// `{{ 3 is even }} -> False`
fn is_even<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    has_remainder(runtime, &take_or_none(&mut arguments, 0), &Value::Int(2), 0).map(Value::Bool)
}

/// Returns whether a number is a multiple of another.
///
/// `{{ 6 is divisibleby 3 }} -> True`
fn is_divisible<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, divisor: &Value<'a>) -> Result<bool> {
    has_remainder(runtime, value, divisor, 0)
}

/// Returns whether a value is not undefined.
///
/// `{{ nope is defined }} -> False`
fn is_defined(value: &Value<'_>) -> bool {
    !value.is_undefined()
}

/// Returns whether a value is undefined.
///
/// `{{ nope is undefined }} -> True`
fn is_undefined(value: &Value<'_>) -> bool {
    value.is_undefined()
}

/// Returns whether Jinja has a filter of the given name. This includes filters that this crate does not support.
///
/// `{{ "tojson" is filter }} -> True`
fn is_filter<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let find_filter = runtime.lookups.filter;
    is_name_in_table(runtime, take_or_none(&mut arguments, 0), |name| {
        find_filter(name).is_some() || unsupported::find(Place::Filter, name).is_some()
    })
}

/// Returns whether Jinja has a test of the given name.
///
/// `{{ "odd" is test }} -> True`
fn is_test<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    is_name_in_table(runtime, take_or_none(&mut arguments, 0), |name| find(name).is_some())
}

/// Returns whether a value is a name in a table. The tables of the reference are dicts, so an unhashable value is an error.
fn is_name_in_table<'a>(runtime: &mut Runtime<'a>, value: Value<'a>, has: impl Fn(&str) -> bool) -> Result<Value<'a>> {
    let key = Key::new(runtime, value)?;
    Ok(Value::Bool(key.value.as_str().is_some_and(has)))
}

/// Returns whether a value is `none`.
///
/// `{{ none is none }} -> True`
fn is_none(value: &Value<'_>) -> bool {
    matches!(value, Value::None)
}

/// Returns whether a value is `true` or `false`.
///
/// `{{ 1 is boolean }} -> False`
fn is_boolean(value: &Value<'_>) -> bool {
    matches!(value, Value::Bool(_))
}

/// Returns whether a value is `false`. Other false values are not.
///
/// `{{ 0 is false }} -> False`
fn is_false(value: &Value<'_>) -> bool {
    matches!(value, Value::Bool(false))
}

/// Returns whether a value is `true`. Other true values are not.
///
/// `{{ 1 is true }} -> False`
fn is_true(value: &Value<'_>) -> bool {
    matches!(value, Value::Bool(true))
}

/// Returns whether a value is an integer. Booleans are not.
///
/// `{{ true is integer }} -> False`
fn is_integer(value: &Value<'_>) -> bool {
    matches!(value, Value::Int(_) | Value::Big(_))
}

/// Returns whether a value is a float.
///
/// `{{ 1.0 is float }} -> True`
fn is_float(value: &Value<'_>) -> bool {
    matches!(value, Value::Float(_))
}

/// Returns whether a text has letters, all of them in lower case.
///
/// `{{ "a1" is lower }} -> True`
fn is_lower<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    has_case(runtime, &take_or_none(&mut arguments, 0), unicode::is_lower_str)
}

/// Returns whether a text has letters, all of them in upper case.
///
/// `{{ none is upper }} -> False`
fn is_upper<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    has_case(runtime, &take_or_none(&mut arguments, 0), unicode::is_upper_str)
}

fn has_case<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, has_case: fn(&str) -> bool) -> Result<Value<'a>> {
    let text = to_plain_str(runtime, value)?;
    runtime.meter.charge_unicode(text.as_str())?;
    Ok(Value::Bool(has_case(text.as_str())))
}

/// Returns whether a value is a string or a Markup.
///
/// `{{ "a" is string }} -> True`
fn is_string(value: &Value<'_>) -> bool {
    matches!(value, Value::Str(_))
}

/// Returns whether a value is a dict.
///
/// `{{ {} is mapping }} -> True`
fn is_mapping(value: &Value<'_>) -> bool {
    value.as_mapping().is_some()
}

/// Returns whether a value is a number. Booleans are.
///
/// `{{ true is number }} -> True`
fn is_number(value: &Value<'_>) -> bool {
    value.as_number().is_some()
}

/// Returns whether a value has a length and items.
///
/// `{{ {} is sequence }} -> True`
fn is_sequence(value: &Value<'_>) -> bool {
    matches!(
        value,
        Value::Str(_) | Value::List(_) | Value::Tuple(_) | Value::Dict(_) | Value::Range(_) | Value::Undefined(_)
    )
}

/// Returns whether a value can be iterated.
///
/// `{{ 1 is iterable }} -> False`
fn is_iterable(value: &Value<'_>) -> bool {
    Iter::try_new(value).is_some()
}

/// Returns whether a value can be called.
///
/// `{{ range is callable }} -> True`
fn is_callable<'a>(_runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let value = take_or_none(&mut arguments, 0);
    Ok(Value::Bool(match &value {
        Value::Function(_) => !value.is_missing(),
        Value::Method(_) | Value::Macro(_) | Value::Loop(_) | Value::Joiner(_) | Value::Undefined(_) => true,
        _ => false,
    }))
}

/// Returns whether two values are the same object.
///
/// `{{ 1 is sameas true }} -> False`
fn is_same<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, other: &Value<'a>) -> Result<bool> {
    ops::is_same(runtime, value, other)
}

/// Returns whether a value is a Markup.
///
/// `{{ "a"|e is escaped }} -> True`
fn is_escaped(value: &Value<'_>) -> bool {
    value.is_markup()
}

/// Returns whether a value is in a container.
///
/// `{{ 1 is in [1, 2] }} -> True`
fn is_in<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, container: &Value<'a>) -> Result<bool> {
    ops::contains(runtime, container, value)
}

/// Returns whether `left == right`.
///
/// `{{ 1 is eq 1.0 }} -> True`
/// `{{ [1, 2]|select("equalto", 1)|list }} -> [1]`
/// `{{ [1, 2]|select("==", 1)|list }} -> [1]`
fn equals<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<bool> {
    ops::equal(runtime, left, right)
}

/// Returns whether `left != right`.
///
/// `{{ 1 is ne 2 }} -> True`
/// `{{ [1, 2]|select("!=", 1)|list }} -> [2]`
fn differs<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<bool> {
    Ok(!ops::equal(runtime, left, right)?)
}

/// Returns whether `left > right`.
///
/// `{{ 2 is gt 1 }} -> True`
/// `{{ [1, 2]|select("greaterthan", 1)|list }} -> [2]`
/// `{{ [1, 2]|select(">", 1)|list }} -> [2]`
fn is_greater<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<bool> {
    ops::greater(runtime, left, right)
}

/// Returns whether `left >= right`.
///
/// `{{ 1 is ge 1 }} -> True`
/// `{{ [1, 2]|select(">=", 2)|list }} -> [2]`
fn is_greater_or_equal<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<bool> {
    ops::greater_equal(runtime, left, right)
}

/// Returns whether `left < right`.
///
/// `{{ 1 is lt 2 }} -> True`
/// `{{ [1, 2]|select("lessthan", 2)|list }} -> [1]`
/// `{{ [1, 2]|select("<", 2)|list }} -> [1]`
fn is_less<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<bool> {
    ops::less(runtime, left, right)
}

/// Returns whether `left <= right`.
///
/// `{{ 1 is le 1 }} -> True`
/// `{{ [1, 2]|select("<=", 1)|list }} -> [1]`
fn is_less_or_equal<'a>(runtime: &mut Runtime<'a>, left: &Value<'a>, right: &Value<'a>) -> Result<bool> {
    ops::less_equal(runtime, left, right)
}

#[cfg(test)]
mod tests {
    use super::TESTS;
    use crate::builtins::tests::assert_examples;

    #[test]
    fn each_test_has_an_example() {
        let examples = assert_examples("jinja_tests.rs");
        let has_example = |name: &str| {
            let forms = [format!(" is {name} "), format!("(\"{name}\"")];
            examples.iter().any(|example| forms.iter().any(|form| example.contains(form)))
        };
        let missing: Vec<_> = TESTS.iter().map(|row| row.name).filter(|name| !has_example(name)).collect();
        assert!(missing.is_empty(), "no example of {missing:?}");
    }

    #[test]
    fn rows_are_sorted_by_name() {
        assert!(TESTS.is_sorted_by(|left, right| left.name < right.name));
    }
}
