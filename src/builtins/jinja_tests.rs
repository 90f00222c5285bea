//! Jinja's tests, which templates name after `is`.
//!
//! ```text
//! {{ 3 is odd }}                       True
//! {{ [1, 2]|select("gt", 1)|list }}    [2]
//! {{ "tojson" is filter }}             True
//! ```
//!
//! The rules are those of jinja2 3.1.6 `tests.py`, and of Python's `callable` and `operator`.

use super::arguments::to_plain_str;
use super::table::{BuiltIn, Rows, Table, built_ins, kind};
use crate::error::Result;
use crate::unicode;
use crate::unsupported::{self, Place};
use crate::value::{Code, Function, Iter, Key, Parameter, Runtime, Shortcut, Style, Value, ops};

static TESTS: Table = Table::new(|| Rows::new(&[FUNCTIONS, INSPECTIONS, COMPARISONS]));

/// Declares tests that only read their value, as [`built_ins`] does.
macro_rules! inspections {
    ($list:ident: $($(#[$doc:meta])* $python:literal fn $test:ident[$name:literal]($value:ident) $body:block)*) => {
        $($(#[$doc])* fn $test($value: &Value<'_>) -> bool $body)*

        const $list: &[BuiltIn] = &[$(BuiltIn {
            names: &[$name],
            function: Function::new(
                "",
                $python,
                Style::Python,
                &[Parameter::required(stringify!($value), kind!([]))],
                Code::Inspect($test),
            ),
            markup: &[],
        }),*];
    };
}

/// Declares tests that compare their value with an argument, as [`built_ins`] does. All names are in brackets.
macro_rules! comparisons {
    ($list:ident: $(
        $(#[$doc:meta])*
        $code:ident $style:ident $python:literal $(.$with:ident($($setting:expr),*))*
        fn $test:ident[$($name:literal),+]($runtime:ident, $value:ident, $other:ident $(: $kind:ident)?) $body:block
    )*) => {
        $($(#[$doc])* fn $test<'a>($runtime: &mut Runtime<'a>, $value: &Value<'a>, $other: &Value<'a>) -> Result<bool> $body)*

        const $list: &[BuiltIn] = &[$(BuiltIn {
            names: &[$($name),+],
            function: Function::new(
                "",
                $python,
                Style::$style,
                &[
                    Parameter::required(stringify!($value), kind!([])),
                    Parameter::required(stringify!($other), kind!([$($kind)?])),
                ],
                Code::$code($test),
            )$(.$with($($setting),*))*,
            markup: &[],
        }),*];
    };
}

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
            find_filter(name).is_some() || unsupported::find(Place::Filter, name).is_some()
        })
    }

    /// Returns whether Jinja has a test of the given name.
    ///
    /// `{{ "odd" is test }} -> True`
    Python "test_test" fn test(runtime, @env, value) { is_name_in_table(runtime, value, |name| find(name).is_some()) }

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

comparisons! { COMPARISONS:
    /// Returns whether a number is a multiple of another.
    ///
    /// `{{ 6 is divisibleby 3 }} -> True`
    Compare Python "test_divisibleby" fn is_divisible["divisibleby"](runtime, value, num: Count) {
        has_remainder(runtime, value, num, 0)
    }

    /// Returns whether a value is in a container.
    ///
    /// `{{ 1 is in [1, 2] }} -> True`
    Compare Python "test_in" fn is_in["in"](runtime, value, seq: Items) { ops::contains(runtime, seq, value) }

    /// Returns whether two values are the same object.
    ///
    /// `{{ 1 is sameas true }} -> False`
    Identify Python "test_sameas" fn is_same["sameas"](runtime, value, other) { ops::is_same(runtime, value, other) }

    /// Returns whether `left == right`.
    ///
    /// `{{ 1 is eq 1.0 }} -> True`
    /// `{{ [1, 2]|select("equalto", 1)|list }} -> [1]`
    /// `{{ [1, 2]|select("==", 1)|list }} -> [1]`
    Compare Positional "_operator.eq".with_unnamed(2).with_shortcut(Shortcut::Equality)
    fn equals["==", "eq", "equalto"](runtime, a, b) { ops::equal(runtime, a, b) }

    /// Returns whether `left != right`.
    ///
    /// `{{ 1 is ne 2 }} -> True`
    /// `{{ [1, 2]|select("!=", 1)|list }} -> [2]`
    Compare Positional "_operator.ne".with_unnamed(2) fn differs["!=", "ne"](runtime, a, b) { Ok(!ops::equal(runtime, a, b)?) }

    /// Returns whether `left > right`.
    ///
    /// `{{ 2 is gt 1 }} -> True`
    /// `{{ [1, 2]|select("greaterthan", 1)|list }} -> [2]`
    /// `{{ [1, 2]|select(">", 1)|list }} -> [2]`
    Compare Positional "_operator.gt".with_unnamed(2) fn is_greater[">", "greaterthan", "gt"](runtime, a, b) {
        ops::greater(runtime, a, b)
    }

    /// Returns whether `left >= right`.
    ///
    /// `{{ 1 is ge 1 }} -> True`
    /// `{{ [1, 2]|select(">=", 2)|list }} -> [2]`
    Compare Positional "_operator.ge".with_unnamed(2) fn is_greater_or_equal[">=", "ge"](runtime, a, b) {
        ops::greater_equal(runtime, a, b)
    }

    /// Returns whether `left < right`.
    ///
    /// `{{ 1 is lt 2 }} -> True`
    /// `{{ [1, 2]|select("lessthan", 2)|list }} -> [1]`
    /// `{{ [1, 2]|select("<", 2)|list }} -> [1]`
    Compare Positional "_operator.lt".with_unnamed(2) fn is_less["<", "lessthan", "lt"](runtime, a, b) { ops::less(runtime, a, b) }

    /// Returns whether `left <= right`.
    ///
    /// `{{ 1 is le 1 }} -> True`
    /// `{{ [1, 2]|select("<=", 1)|list }} -> [1]`
    Compare Positional "_operator.le".with_unnamed(2) fn is_less_or_equal["<=", "le"](runtime, a, b) {
        ops::less_equal(runtime, a, b)
    }
}

/// Returns whether a value is a name in a table. The tables of the reference are dicts, so an unhashable value is an error.
fn is_name_in_table<'a>(runtime: &mut Runtime<'a>, value: Value<'a>, has: impl Fn(&str) -> bool) -> Result<Value<'a>> {
    let key = Key::new(runtime, value)?;
    Ok(Value::Bool(key.value.as_str().is_some_and(has)))
}

inspections! { INSPECTIONS:
    /// Returns whether a value is `true` or `false`.
    ///
    /// `{{ 1 is boolean }} -> False`
    "test_boolean" fn is_boolean["boolean"](value) { matches!(value, Value::Bool(_)) }

    /// Returns whether a value is not undefined.
    ///
    /// `{{ nope is defined }} -> False`
    "test_defined" fn is_defined["defined"](value) { !value.is_undefined() }

    /// Returns whether a value is a Markup.
    ///
    /// `{{ "a"|e is escaped }} -> True`
    "test_escaped" fn is_escaped["escaped"](value) { value.is_markup() }

    /// Returns whether a value is `false`. Other false values are not.
    ///
    /// `{{ 0 is false }} -> False`
    "test_false" fn is_false["false"](value) { matches!(value, Value::Bool(false)) }

    /// Returns whether a value is a float.
    ///
    /// `{{ 1.0 is float }} -> True`
    "test_float" fn is_float["float"](value) { matches!(value, Value::Float(_)) }

    /// Returns whether a value is an integer. Booleans are not.
    ///
    /// `{{ true is integer }} -> False`
    "test_integer" fn is_integer["integer"](value) { matches!(value, Value::Int(_) | Value::Big(_)) }

    /// Returns whether a value can be iterated.
    ///
    /// `{{ 1 is iterable }} -> False`
    "test_iterable" fn is_iterable["iterable"](value) { Iter::try_new(value).is_some() }

    /// Returns whether a value is a dict.
    ///
    /// `{{ {} is mapping }} -> True`
    "test_mapping" fn is_mapping["mapping"](value) { value.as_mapping().is_some() }

    /// Returns whether a value is `none`.
    ///
    /// `{{ none is none }} -> True`
    "test_none" fn is_none["none"](value) { matches!(value, Value::None) }

    /// Returns whether a value is a number. Booleans are.
    ///
    /// `{{ true is number }} -> True`
    "test_number" fn is_number["number"](value) { value.as_number().is_some() }

    /// Returns whether a value has a length and items.
    ///
    /// `{{ {} is sequence }} -> True`
    "test_sequence" fn is_sequence["sequence"](value) {
        matches!(
            value,
            Value::Str(_) | Value::List(_) | Value::Tuple(_) | Value::Dict(_) | Value::Range(_) | Value::Undefined(_)
        )
    }

    /// Returns whether a value is a string or a Markup.
    ///
    /// `{{ "a" is string }} -> True`
    "test_string" fn is_string["string"](value) { matches!(value, Value::Str(_)) }

    /// Returns whether a value is `true`. Other true values are not.
    ///
    /// `{{ 1 is true }} -> False`
    "test_true" fn is_true["true"](value) { matches!(value, Value::Bool(true)) }

    /// Returns whether a value is undefined.
    ///
    /// `{{ nope is undefined }} -> True`
    "test_undefined" fn is_undefined["undefined"](value) { value.is_undefined() }
}

fn has_case<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>, has_case: fn(&str) -> bool) -> Result<Value<'a>> {
    let text = to_plain_str(runtime, value)?;
    runtime.meter.charge_unicode(text.as_str())?;
    Ok(Value::Bool(has_case(text.as_str())))
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
}
