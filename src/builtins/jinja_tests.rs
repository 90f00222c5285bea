//! Jinja's tests, which templates name after `is`.
//!
//! The rules are those of jinja2 3.1.6 `tests.py`, and of Python's `callable` and `operator`.

use super::arguments::to_plain_str;
use super::table::{BuiltIn, Rows, Table, built_ins};
use crate::error::Result;
use crate::unicode;
use crate::unsupported::{self, Site};
use crate::value::{Code, Comparison, Function, Iter, Key, Kind, Parameter, Runtime, Style, Value, ops};

/// All tests.
pub static TABLE: Table = Table::new(|| Rows::new(&[FUNCTIONS, INSPECTIONS, COMPARISONS]));

const VALUE: Parameter = Parameter::required("value", Kind::Any);

/// The parameters of the functions of Python's `operator`.
const OPERANDS: &[Parameter] = &[Parameter::required("a", Kind::Any), Parameter::required("b", Kind::Any)];

/// Returns a test that only reads its value.
const fn inspection(names: &'static [&'static str], python: &'static str, holds: fn(&Value<'_>) -> bool) -> BuiltIn {
    declare(
        names,
        Function::new("", python, Style::Python, &[VALUE], Code::Inspect(holds)),
    )
}

/// Returns a test that compares its value with an argument.
const fn comparison(names: &'static [&'static str], python: &'static str, parameters: &'static [Parameter], code: Code) -> BuiltIn {
    declare(names, Function::new("", python, Style::Python, parameters, code))
}

/// Returns a test that is an operator of Python.
const fn operator(names: &'static [&'static str], python: &'static str, holds: Comparison) -> BuiltIn {
    let function = Function::new("", python, Style::Positional, OPERANDS, Code::Compare(holds));
    declare(names, function.with_unnamed(2))
}

const fn declare(names: &'static [&'static str], function: Function) -> BuiltIn {
    BuiltIn {
        names,
        function,
        markup: &[],
    }
}

/// Returns all tests, sorted by name.
#[cfg(feature = "internal")]
pub fn all() -> &'static [Function] {
    &TABLE
}

/// Returns whether `value % divisor == remainder`. The operator formats a value that is a string.
fn has_remainder<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, divisor: &Value<'a>, remainder: i64) -> Result<bool> {
    let result = ops::modulo(runtime, value, divisor)?;
    ops::equal(runtime, &result, &Value::Int(remainder))
}

built_ins! { FUNCTIONS:
    /// Returns whether an integer is odd.
    ///
    /// `{{ 3 is odd }} -> True`
    Python "test_odd" fn odd(runtime, value) { has_remainder(runtime, &value, &Value::Int(2), 1).map(Value::Bool) }

    /// Returns whether an integer is even.
    ///
    /// `{{ 3 is even }} -> False`
    Python "test_even" fn even(runtime, value) { has_remainder(runtime, &value, &Value::Int(2), 0).map(Value::Bool) }

    /// Returns whether Jinja has a filter of the given name. This includes filters that this crate does not support.
    ///
    /// `{{ "tojson" is filter }} -> True`
    Python "test_filter" fn filter(runtime, @env, value) {
        let find_filter = runtime.lookups.filter;
        is_name_in_table(runtime, value, |name| {
            find_filter(name).is_some() || unsupported::find(Site::Filter, name).is_some()
        })
    }

    /// Returns whether Jinja has a test of the given name.
    ///
    /// `{{ "odd" is test }} -> True`
    Python "test_test" fn test(runtime, @env, value) { is_name_in_table(runtime, value, |name| TABLE.find_row(name).is_some()) }

    /// Returns whether a string has letters, all of them in lower case.
    ///
    /// `{{ "a1" is lower }} -> True`
    Python "test_lower" fn lower(runtime, value) { has_case(runtime, &value, unicode::is_lower_str) }

    /// Returns whether a string has letters, all of them in upper case.
    ///
    /// `{{ none is upper }} -> False`
    Python "test_upper" fn upper(runtime, value) { has_case(runtime, &value, unicode::is_upper_str) }

    /// Returns whether a value can be called.
    ///
    /// `{{ range is callable }} -> True`
    OneArgument "callable" fn callable(_runtime, value) {
        Ok(Value::Bool(match &value {
            Value::Function(_) => !value.is_missing(),
            Value::Method(_) | Value::Macro(_) | Value::Loop(_) | Value::Joiner(_) | Value::Undefined(_) => true,
            _ => false,
        }))
    }
}

const COMPARISONS: &[BuiltIn] = &[
    // `{{ 6 is divisibleby 3 }} -> True`
    comparison(
        &["divisibleby"],
        "test_divisibleby",
        &[VALUE, Parameter::required("num", Kind::Count)],
        Code::Compare(|runtime, value, divisor| has_remainder(runtime, value, divisor, 0)),
    ),
    // `{{ 1 is in [1, 2] }} -> True`
    comparison(
        &["in"],
        "test_in",
        &[VALUE, Parameter::required("seq", Kind::Items)],
        Code::Compare(|runtime, value, container| ops::contains(runtime, container, value)),
    ),
    // Whether two values are the same object.
    // `{{ 1 is sameas true }} -> False`
    comparison(
        &["sameas"],
        "test_sameas",
        &[VALUE, Parameter::required("other", Kind::Any)],
        Code::Identify(ops::is_same),
    ),
    // `{{ 1 is eq 1.0 }} -> True`
    // `{{ [1, 2]|select("equalto", 1)|list }} -> [1]`
    // `{{ [1, 2]|select("==", 1)|list }} -> [1]`
    operator(&["==", "eq", "equalto"], "_operator.eq", ops::equal),
    // `{{ 1 is ne 2 }} -> True`
    // `{{ [1, 2]|select("!=", 1)|list }} -> [2]`
    operator(&["!=", "ne"], "_operator.ne", |runtime, a, b| Ok(!ops::equal(runtime, a, b)?)),
    // `{{ 2 is gt 1 }} -> True`
    // `{{ [1, 2]|select("greaterthan", 1)|list }} -> [2]`
    // `{{ [1, 2]|select(">", 1)|list }} -> [2]`
    operator(&[">", "greaterthan", "gt"], "_operator.gt", ops::greater),
    // `{{ 1 is ge 1 }} -> True`
    // `{{ [1, 2]|select(">=", 2)|list }} -> [2]`
    operator(&[">=", "ge"], "_operator.ge", ops::greater_equal),
    // `{{ 1 is lt 2 }} -> True`
    // `{{ [1, 2]|select("lessthan", 2)|list }} -> [1]`
    // `{{ [1, 2]|select("<", 2)|list }} -> [1]`
    operator(&["<", "lessthan", "lt"], "_operator.lt", ops::less),
    // `{{ 1 is le 1 }} -> True`
    // `{{ [1, 2]|select("<=", 1)|list }} -> [1]`
    operator(&["<=", "le"], "_operator.le", ops::less_equal),
];

/// Returns whether a value is a name in a table. The tables of the reference are dicts, so an unhashable value is an error.
fn is_name_in_table<'a>(runtime: &mut Runtime<'a>, value: Value<'a>, has: impl Fn(&str) -> bool) -> Result<Value<'a>> {
    let key = Key::new(runtime, value)?;
    Ok(Value::Bool(key.value.as_str().is_some_and(has)))
}

const INSPECTIONS: &[BuiltIn] = &[
    // `{{ 1 is boolean }} -> False`
    inspection(&["boolean"], "test_boolean", |value| matches!(value, Value::Bool(_))),
    // `{{ nope is defined }} -> False`
    inspection(&["defined"], "test_defined", |value| !value.is_undefined()),
    // Whether a value is a Markup.
    // `{{ "a"|e is escaped }} -> True`
    inspection(&["escaped"], "test_escaped", |value| value.is_markup()),
    // Other false values are not `false`.
    // `{{ 0 is false }} -> False`
    inspection(&["false"], "test_false", |value| matches!(value, Value::Bool(false))),
    // `{{ 1.0 is float }} -> True`
    inspection(&["float"], "test_float", |value| matches!(value, Value::Float(_))),
    // Booleans are no integers, but numbers.
    // `{{ true is integer }} -> False`
    inspection(&["integer"], "test_integer", |value| {
        matches!(value, Value::Int(_) | Value::Big(_))
    }),
    // `{{ true is number }} -> True`
    inspection(&["number"], "test_number", |value| value.as_number().is_some()),
    // `{{ 1 is iterable }} -> False`
    inspection(&["iterable"], "test_iterable", |value| Iter::try_new(value).is_some()),
    // `{{ {} is mapping }} -> True`
    inspection(&["mapping"], "test_mapping", |value| value.as_mapping().is_some()),
    // `{{ none is none }} -> True`
    inspection(&["none"], "test_none", |value| matches!(value, Value::None)),
    // Whether a value has a length and items.
    // `{{ {} is sequence }} -> True`
    inspection(&["sequence"], "test_sequence", |value| {
        matches!(
            value,
            Value::Str(_) | Value::List(_) | Value::Tuple(_) | Value::Dict(_) | Value::Range(_) | Value::Undefined(_)
        )
    }),
    // A Markup is a string too.
    // `{{ "a" is string }} -> True`
    inspection(&["string"], "test_string", |value| matches!(value, Value::Str(_))),
    // Other true values are not `true`.
    // `{{ 1 is true }} -> False`
    inspection(&["true"], "test_true", |value| matches!(value, Value::Bool(true))),
    // `{{ nope is undefined }} -> True`
    inspection(&["undefined"], "test_undefined", |value| value.is_undefined()),
];

fn has_case<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, has_case: fn(&str) -> bool) -> Result<Value<'a>> {
    let text = to_plain_str(runtime, value)?;
    runtime.meter.charge_unicode(text.as_str())?;
    Ok(Value::Bool(has_case(text.as_str())))
}
