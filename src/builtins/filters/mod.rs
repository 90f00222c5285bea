//! Jinja's filters.
//!
//! ```text
//! {{ "ab"|upper }}                      AB
//! {{ ["a", "b"]|map("upper")|list }}    ['A', 'B']
//! ```
//!
//! Each filter is a row of a table: its name, the name that CPython's messages have, its parameters, and its function in the file of its
//! topic. A filter that Jinja passes its environment or context has that as its first parameter, which is hidden. The filters are those of
//! jinja2 3.1.6 `filters.py`; `tojson` is that of transformers 5.24.0.

mod attribute_path;
mod batch_slice;
mod group;
mod json;
mod layout;
mod lazy_input;
mod map_select;
mod markup;
mod number;
mod python_calls;
mod sequence;
mod sort;
mod text;

use super::table::{Body, Table, builtin, optional, python, required, unnamed};
use crate::text::strip;
use crate::value::{Function, Parameter, Shortcut};

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

/// Creates a filter that takes any arguments after its input, as `map` does.
const fn variadic(name: &'static str, python: &'static str, body: Body) -> Function {
    self::python(name, python, &[CONTEXT, VALUE], body)
        .with_star()
        .with_double_star()
}

/// The name of `tojson` in messages: transformers defines it in a function.
const TOJSON: &str = "_cached_compile_jinja_template.<locals>.tojson";

#[rustfmt::skip]
static FILTERS: Table = Table::new(&[
    builtin("abs", "abs", number::abs),
    python("attr", "do_attr", &[ENVIRONMENT, OBJECT, required("name")], sequence::attr),
    python("batch", "do_batch", &[VALUE, required("linecount"), FILL_WITH], batch_slice::batch),
    python("capitalize", "do_capitalize", &[S], text::capitalize),
    python("center", "do_center", &[VALUE, optional("width")], text::center),
    builtin("count", "len", sequence::length).with_shortcut(Shortcut::Length),
    python("d", "do_default", &[VALUE, optional("default_value"), optional("boolean")], sequence::default),
    python("default", "do_default", &[VALUE, optional("default_value"), optional("boolean")], sequence::default),
    python("dictsort", "do_dictsort", &[VALUE, CASE_SENSITIVE, optional("by"), optional("reverse")], sort::dictsort),
    python("e", "escape", &[unnamed("s")], markup::escape),
    python("escape", "escape", &[unnamed("s")], markup::escape),
    python("filesizeformat", "do_filesizeformat", &[VALUE, optional("binary")], number::filesizeformat),
    python("first", "sync_do_first", &[ENVIRONMENT, required("seq")], sequence::first),
    python("float", "do_float", &[VALUE, optional("default")], number::float),
    python("forceescape", "do_forceescape", &[VALUE], markup::forceescape),
    python("format", "do_format", &[VALUE], text::format).with_star().with_double_star(),
    python("groupby", "sync_do_groupby", &[ENVIRONMENT, VALUE, required("attribute"), optional("default"), CASE_SENSITIVE], group::groupby),
    python("indent", "do_indent", &[S, optional("width"), optional("first"), optional("blank")], layout::indent),
    python("int", "do_int", &[VALUE, optional("default"), optional("base")], number::int),
    python("items", "do_items", &[VALUE], map_select::items).with_shortcut(Shortcut::Items),
    python("join", "sync_do_join", &[EVAL_CTX, VALUE, optional("d"), ATTRIBUTE], sequence::join),
    python("last", "do_last", &[ENVIRONMENT, required("seq")], sequence::last),
    builtin("length", "len", sequence::length).with_shortcut(Shortcut::Length),
    python("list", "sync_do_list", &[VALUE], sequence::list).with_shortcut(Shortcut::List),
    python("lower", "do_lower", &[S], text::lower),
    variadic("map", "sync_do_map", map_select::map),
    python("max", "do_max", &[ENVIRONMENT, VALUE, CASE_SENSITIVE, ATTRIBUTE], sort::max),
    python("min", "do_min", &[ENVIRONMENT, VALUE, CASE_SENSITIVE, ATTRIBUTE], sort::min),
    variadic("reject", "sync_do_reject", map_select::reject),
    variadic("rejectattr", "sync_do_rejectattr", map_select::rejectattr).with_shortcut(Shortcut::SelectAttribute(false)),
    python("replace", "do_replace", &[EVAL_CTX, S, required("old"), required("new"), optional("count")], text::replace),
    python("reverse", "do_reverse", &[VALUE], sequence::reverse),
    python("round", "do_round", &[VALUE, optional("precision"), optional("method")], number::round),
    python("safe", "do_mark_safe", &[VALUE], markup::safe),
    variadic("select", "sync_do_select", map_select::select),
    variadic("selectattr", "sync_do_selectattr", map_select::selectattr).with_shortcut(Shortcut::SelectAttribute(true)),
    python("slice", "sync_do_slice", &[VALUE, required("slices"), FILL_WITH], batch_slice::slice),
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
]);

/// Returns all filters, sorted by name.
#[cfg(feature = "cli")]
pub fn all() -> &'static [Function] {
    &FILTERS
}

/// Returns the index of the filter with the given name.
pub fn find_index(name: &str) -> Option<usize> {
    FILTERS.find_index(name)
}

/// Returns the filter at an index.
pub fn get(index: usize) -> Option<&'static Function> {
    FILTERS.get(index)
}

/// Returns the filter with the given name.
pub fn find(name: &str) -> Option<&'static Function> {
    FILTERS.find_row(name)
}

#[cfg(test)]
mod tests {
    use super::FILTERS;
    use crate::builtins::tests::assert_examples;

    #[test]
    fn each_filter_has_an_example() {
        let examples = assert_examples("filters");
        let has_example = |name: &str| {
            let mut rests = examples
                .iter()
                .flat_map(|example| example.split(&format!("|{name}")).skip(1).collect::<Vec<_>>());
            rests.any(|rest| !rest.starts_with(|character: char| character.is_alphanumeric()))
        };
        let missing: Vec<_> = FILTERS.iter().map(|row| row.name).filter(|name| !has_example(name)).collect();
        assert!(missing.is_empty(), "no example of {missing:?}");
    }

    #[test]
    fn rows_are_sorted_by_name() {
        assert!(FILTERS.is_sorted_by(|left, right| left.name < right.name));
    }
}
