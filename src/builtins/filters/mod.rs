//! Jinja's filters.
//!
//! ```text
//! {{ "ab"|upper }}                  AB
//! {{ ["a", "b"]|map("upper")|list }}    ['A', 'B']
//! ```
//!
//! A row of the table for each name: the name that Python gives the function in its complaints, the parameters, and what it does,
//! which stands in the file of its topic. A filter that Jinja gives its environment, context or evaluation context counts that as its
//! first parameter. After jinja2 3.1.6 `filters.py`; `tojson` is that of transformers 5.23.0.

mod group;
mod html;
mod json;
mod layout;
mod lazy;
mod number;
mod path;
mod pythonic;
mod rows;
mod sequence;
mod sort;
mod source;
mod text;

use super::methods::{Body, optional, python, required, row, unnamed};
use crate::error::{Error, Result};
use crate::text::{strip, written_len};
use crate::unsupported::{self, Place};
use crate::value::ops;
use crate::value::print;
use crate::value::{Arguments, Code, Function, Key, Parameter, Runtime, Shortcut, Str, Style, Type, Value};
use std::fmt;

const CONTEXT: Parameter = Parameter::hidden("context");
const ENV: Parameter = Parameter::hidden("env");
const ENVIRONMENT: Parameter = Parameter::hidden("environment");
const EVAL_CTX: Parameter = Parameter::hidden("eval_ctx");

const ATTRIBUTE: Parameter = optional("attribute");
const CASE_SENSITIVE: Parameter = optional("case_sensitive");
const OBJECT: Parameter = required("obj");
const FILL_WITH: Parameter = optional("fill_with");
const S: Parameter = required("s");
const VALUE: Parameter = required("value");

/// A filter that takes whatever it is given, as `map` does.
const fn open(name: &'static str, python: &'static str, body: Body) -> Function {
    self::python(name, python, &[CONTEXT, VALUE], body)
        .with_star()
        .with_double_star()
}

/// A function in C of one argument.
pub(super) const fn builtin(name: &'static str, python: &'static str, body: Body) -> Function {
    row(
        name,
        python,
        Type::BuiltinFunction,
        Style::OneArgument,
        &[OBJECT],
        Code::Run(body),
    )
}

/// What the reference calls the function that transformers defines inside another one.
const TOJSON: &str = "_cached_compile_jinja_template.<locals>.tojson";

#[rustfmt::skip]
static FILTERS: [Function; 48] = [
    builtin("abs", "abs", number::abs),
    python("attr", "do_attr", &[ENVIRONMENT, OBJECT, required("name")], sequence::attr),
    python("batch", "do_batch", &[VALUE, required("linecount"), FILL_WITH], rows::batch),
    python("capitalize", "do_capitalize", &[S], text::capitalize),
    python("center", "do_center", &[VALUE, optional("width")], text::center),
    builtin("count", "len", sequence::length).with_shortcut(Shortcut::Length),
    python("d", "do_default", &[VALUE, optional("default_value"), optional("boolean")], sequence::default),
    python("default", "do_default", &[VALUE, optional("default_value"), optional("boolean")], sequence::default),
    python("dictsort", "do_dictsort", &[VALUE, CASE_SENSITIVE, optional("by"), optional("reverse")], sort::dictsort),
    python("e", "escape", &[unnamed("s")], html::escape),
    python("escape", "escape", &[unnamed("s")], html::escape),
    python("filesizeformat", "do_filesizeformat", &[VALUE, optional("binary")], number::filesizeformat),
    python("first", "sync_do_first", &[ENVIRONMENT, required("seq")], sequence::first),
    python("float", "do_float", &[VALUE, optional("default")], number::float),
    python("forceescape", "do_forceescape", &[VALUE], html::forceescape),
    python("format", "do_format", &[VALUE], text::format).with_star().with_double_star(),
    python("groupby", "sync_do_groupby", &[ENVIRONMENT, VALUE, required("attribute"), optional("default"), CASE_SENSITIVE], group::groupby),
    python("indent", "do_indent", &[S, optional("width"), optional("first"), optional("blank")], layout::indent),
    python("int", "do_int", &[VALUE, optional("default"), optional("base")], number::int),
    python("items", "do_items", &[VALUE], lazy::items),
    python("join", "sync_do_join", &[EVAL_CTX, VALUE, optional("d"), ATTRIBUTE], sequence::join),
    python("last", "do_last", &[ENVIRONMENT, required("seq")], sequence::last),
    builtin("length", "len", sequence::length).with_shortcut(Shortcut::Length),
    python("list", "sync_do_list", &[VALUE], sequence::list).with_shortcut(Shortcut::List),
    python("lower", "do_lower", &[S], text::lower),
    open("map", "sync_do_map", lazy::map),
    python("max", "do_max", &[ENVIRONMENT, VALUE, CASE_SENSITIVE, ATTRIBUTE], sort::max),
    python("min", "do_min", &[ENVIRONMENT, VALUE, CASE_SENSITIVE, ATTRIBUTE], sort::min),
    open("reject", "sync_do_reject", lazy::reject),
    open("rejectattr", "sync_do_rejectattr", lazy::rejectattr).with_shortcut(Shortcut::SelectAttribute(false)),
    python("replace", "do_replace", &[EVAL_CTX, S, required("old"), required("new"), optional("count")], text::replace),
    python("reverse", "do_reverse", &[VALUE], sequence::reverse),
    python("round", "do_round", &[VALUE, optional("precision"), optional("method")], number::round),
    python("safe", "do_mark_safe", &[VALUE], html::safe),
    open("select", "sync_do_select", lazy::select),
    open("selectattr", "sync_do_selectattr", lazy::selectattr).with_shortcut(Shortcut::SelectAttribute(true)),
    python("slice", "sync_do_slice", &[VALUE, required("slices"), FILL_WITH], rows::slice),
    python("sort", "do_sort", &[ENVIRONMENT, VALUE, optional("reverse"), CASE_SENSITIVE, ATTRIBUTE], sort::sort),
    python("string", "soft_str", &[unnamed("s")], text::string),
    python("sum", "sync_do_sum", &[ENVIRONMENT, required("iterable"), ATTRIBUTE, optional("start")], sequence::sum),
    python("title", "do_title", &[S], text::title),
    python("tojson", TOJSON, &[required("x"), optional("ensure_ascii"), optional("indent"), optional("separators"), optional("sort_keys")], json::tojson).with_shortcut(Shortcut::Write(json::write_json)),
    python("trim", "do_trim", &[VALUE, optional("chars")], text::trim).with_shortcut(Shortcut::Part(strip::strip)),
    python("truncate", "do_truncate", &[ENV, S, optional("length"), optional("killwords"), optional("end"), optional("leeway")], layout::truncate),
    python("unique", "sync_do_unique", &[ENVIRONMENT, VALUE, CASE_SENSITIVE, ATTRIBUTE], group::unique),
    python("upper", "do_upper", &[S], text::upper),
    python("wordcount", "do_wordcount", &[S], text::wordcount),
    python("wordwrap", "do_wordwrap", &[ENVIRONMENT, S, optional("width"), optional("break_long_words"), optional("wrapstring"), optional("break_on_hyphens")], layout::wordwrap),
];

/// All of them.
#[cfg(feature = "cli")]
pub fn all() -> &'static [Function] {
    &FILTERS
}

/// The number of the filter of that name.
pub fn find(name: &str) -> Option<usize> {
    FILTERS.iter().position(|filter| filter.name == name)
}

/// Returns whether Jinja has a filter of that name and this crate does not.
pub fn is_unsupported(name: &str) -> bool {
    unsupported::names(Place::Filter).any(|other| other == name)
}

/// The filter of that number.
pub fn get(number: usize) -> Option<&'static Function> {
    FILTERS.get(number)
}

/// The function that a value names, as `map` and `select` look it up (jinja2 3.1.6 `environment.py`, `_filter_test_common`).
fn named<'a>(
    runtime: &mut Runtime<'a>,
    kind: &str,
    name: &Value<'a>,
    find: fn(&str) -> Option<&'static Function>,
) -> Result<&'static Function> {
    if let Some(function) = name.as_str().and_then(find) {
        return Ok(function);
    }
    if let Some(error) = name
        .as_str()
        .filter(|_| kind == "filter")
        .and_then(|name| unsupported::find(Place::Filter, name))
    {
        return Err(error);
    }
    // Names are the keys of a dict, so what cannot be a key fails as one.
    Key::new(runtime, name.clone())?;
    let repr = print::repr(runtime, name)?;
    let mut message = format!("No {kind} named {repr}.");
    if let Value::Undefined(undefined) = name {
        let error = undefined.error();
        message = format!("{message} ({}; did you forget to quote the callable name?)", error.message());
    }
    Err(Error::runtime(message))
}

/// A parameter that has no default, or none but `None`.
pub(super) fn given<'a>(arguments: &mut Arguments<'a>, index: usize) -> Value<'a> {
    arguments.take(index).unwrap_or(Value::None)
}

/// Whether a parameter that is false by default is true.
fn flag<'a>(runtime: &mut Runtime<'a>, arguments: &Arguments<'a>, index: usize) -> Result<bool> {
    match arguments.get(index) {
        Some(value) => ops::is_true(runtime, value),
        None => Ok(false),
    }
}

/// Python's `str(value)`, which makes a plain string of a Markup.
pub(super) fn plain<'a>(runtime: &mut Runtime<'a>, value: &Value<'a>) -> Result<Str<'a>> {
    Ok(print::to_str(runtime, value)?.with_markup(false))
}

/// What a function writes, once its length is known to be allowed.
fn written<'a>(runtime: &mut Runtime<'a>, write: impl Fn(&mut dyn fmt::Write) -> fmt::Result) -> Result<Str<'a>> {
    let len = written_len::written_len(|output| write(output));
    runtime.meter.check_size(len)?;
    runtime.meter.charge_scan(len)?;
    runtime.text(written_len::write_to_string(|output| write(output)))
}

#[cfg(test)]
pub(super) mod tests {
    use crate::{ErrorKind, Template};

    /// The sources whose documentation has examples, `template -> output`.
    const SOURCES: [&str; 10] = [
        include_str!("group.rs"),
        include_str!("html.rs"),
        include_str!("json.rs"),
        include_str!("layout.rs"),
        include_str!("lazy.rs"),
        include_str!("number.rs"),
        include_str!("rows.rs"),
        include_str!("sequence.rs"),
        include_str!("sort.rs"),
        include_str!("text.rs"),
    ];

    fn render(template: &str) -> crate::Result<String> {
        Template::compile(template)?.render(&serde_json::json!({}))
    }

    /// Asserts every example of a source, and gives their number.
    pub(in crate::builtins) fn assert_examples(source: &str) -> usize {
        let examples = source
            .lines()
            .filter_map(|line| line.strip_prefix("/// `")?.strip_suffix('`')?.rsplit_once(" -> "));
        examples
            .inspect(|(template, output)| assert_eq!(render(template).as_deref().ok(), Some(*output), "{template}"))
            .count()
    }

    #[test]
    fn examples_hold() {
        let count: usize = SOURCES.into_iter().map(assert_examples).sum();
        // Every filter has one; two have two names, and `e` and `escape` are one function.
        assert_eq!(count, super::FILTERS.len() - 3);
    }

    #[test]
    fn names_are_unique() {
        for (number, filter) in super::FILTERS.iter().enumerate() {
            assert_eq!(super::find(filter.name), Some(number));
        }
    }

    #[test]
    fn complaints_are_the_references() {
        let cases = [
            (
                "'a'|center(3, '*')",
                ErrorKind::Type,
                "do_center() takes from 1 to 2 positional arguments but 3 were given",
            ),
            (
                "[]|sort(1, 2, 3, 4)",
                ErrorKind::Type,
                "do_sort() takes from 2 to 5 positional arguments but 6 were given",
            ),
            (
                "[]|sort(environment=4)",
                ErrorKind::Type,
                "do_sort() got multiple values for argument 'environment'",
            ),
            (
                "1|e(s=1)",
                ErrorKind::Type,
                "escape() got some positional-only arguments passed as keyword arguments: 's'",
            ),
            ("1|length(2)", ErrorKind::Type, "len() takes exactly one argument (2 given)"),
            ("[[]]|map(none)|list", ErrorKind::Runtime, "No filter named None."),
            ("5|batch(2)|list", ErrorKind::Type, "'int' object is not iterable"),
            ("[1]|map|list", ErrorKind::Runtime, "map requires a filter argument"),
            (
                "['a', 1]|sort",
                ErrorKind::Type,
                "'<' not supported between instances of 'int' and 'str'",
            ),
            (
                "none|indent",
                ErrorKind::Type,
                "unsupported operand type(s) for +=: 'NoneType' and 'str'",
            ),
            ("'hello'|truncate(2)", ErrorKind::Runtime, "expected length >= 3, got 2"),
            ("nope|int", ErrorKind::Undefined, "'nope' is undefined"),
        ];
        for (expression, kind, message) in cases {
            let error = render(&format!("{{{{ {expression} }}}}")).unwrap_err();
            assert_eq!((error.kind(), error.message()), (kind, message), "{expression}");
        }
        assert_eq!(render("{{ 5|batch(2) is iterable }}{{ none|map|list }}").unwrap(), "True[]");
    }
}
