//! The global functions of templates.
//!
//! ```text
//! {{ range(3)|list }}                          [0, 1, 2]
//! {{ dict([("a", 1)], b=2) }}                  {'a': 1, 'b': 2}
//! {{ strftime_now("%Y") }}                     2026
//! {{ raise_exception("no") }}                  an error with the text of the template
//! ```
//!
//! The rules are those of jinja2 3.1.6 `defaults.py`, `sandbox.py` (`safe_range`) and `utils.py`, and of transformers 5.24.0
//! `chat_template_utils.py`, which replaces `dict` and `namespace` and adds `raise_exception` and `strftime_now`.

mod containers;
mod range;

pub use containers::check_attribute_name;

use super::arguments::require_clinic_str;
use super::table::{Body, Table, required, row};
use crate::error::{Error, ErrorKind, Result};
use crate::strftime::strftime;
use crate::value::{
    Arguments, Code, Cycler, Function, Joiner, MeteredRc, Parameter, Runtime, Shortcut, Str, Style, Type, Value, not_callable,
    print,
};
use std::cell::Cell;

const SELF: Parameter = Parameter::hidden("self");

const fn global(name: &'static str, python: &'static str, ty: Type, parameters: &'static [Parameter], body: Body) -> Function {
    row(name, python, ty, Style::Python, parameters, Code::Run(body))
}

#[rustfmt::skip]
static GLOBALS: Table = Table::new(&[
    global("cycler", "Cycler.__init__", Type::Class, &[SELF], cycler).with_star(),
    global("dict", DICT, Type::TemplateDict, &[SELF], containers::dict).with_star().with_double_star(),
    global("joiner", "Joiner.__init__", Type::Class, &[SELF, Parameter::optional("sep")], joiner),
    global("namespace", NAMESPACE, Type::Class, &[], containers::namespace).with_star().with_double_star().with_shortcut(Shortcut::Namespace),
    global("raise_exception", RAISE_EXCEPTION, Type::Function, &[required("message")], raise_exception),
    global("range", "safe_range", Type::Function, &[], range::range).with_star(),
    global("strftime_now", STRFTIME_NOW, Type::Function, &[required("format")], strftime_now),
]);

const DICT: &str = "_cached_compile_jinja_template.<locals>.TemplateDict.__call__";
const NAMESPACE: &str = "_cached_compile_jinja_template.<locals>.TemplateNamespace.__init__";
const RAISE_EXCEPTION: &str = "_cached_compile_jinja_template.<locals>.raise_exception";
const STRFTIME_NOW: &str = "_cached_compile_jinja_template.<locals>.strftime_now";

/// The object `missing` of jinja2 `utils.py`: the value of a variable that is not set. A macro sees it if it reads the target of a loop
/// or `with` that has ended.
pub static MISSING: Function = global("missing", "_MissingType", Type::Missing, &[], refuse_call)
    .with_star()
    .with_double_star();

/// Returns all global functions, sorted by name.
pub fn all() -> &'static [Function] {
    &GLOBALS
}

/// Returns the global function with the given name.
pub fn find(name: &str) -> Option<&'static Function> {
    GLOBALS.find_row(name)
}

fn refuse_call<'a>(_runtime: &mut Runtime<'a>, _arguments: Arguments<'a>) -> Result<Value<'a>> {
    Err(not_callable(&Value::Function(&MISSING)))
}

/// `raise_exception(message)`
fn raise_exception<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let message = print::to_str(runtime, &arguments.take(0).unwrap_or(Value::None))?;
    Err(Error::new(ErrorKind::Raised, message.as_str()))
}

/// `strftime_now(format)`
fn strftime_now<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let format = require_clinic_str(arguments.take(0), "strftime() argument 1")?;
    // One directive can write a whole date.
    let directives = format.as_str().bytes().filter(|byte| *byte == b'%').count();
    let work = directives.saturating_mul(16).saturating_add(format.as_str().len());
    runtime.meter.charge_items(work)?;
    let now = runtime.clock.now();
    let max_len = usize::try_from(runtime.meter.limits().value).unwrap_or(usize::MAX);
    let formatted = strftime(&now, format.as_str(), max_len)?;
    // Fill characters are written one by one, which takes as long as a scan.
    runtime.meter.charge_scan(formatted.written)?;
    Ok(Value::Str(runtime.text_of_clock(formatted.text)?))
}

/// `cycler(*items)`
fn cycler<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let items = arguments.take_from(0);
    if items.is_empty() {
        return Err(Error::runtime("at least one item has to be provided"));
    }
    let items = runtime.items(items)?;
    Ok(Value::Cycler(MeteredRc::new(Cycler {
        items,
        position: Cell::new(0),
    })))
}

/// `joiner(sep=", ")`
fn joiner<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let separator = arguments.take(0).unwrap_or(Value::Str(Str::from(", ")));
    runtime.meter.check_height(separator.height().saturating_add(1))?;
    Ok(Value::Joiner(MeteredRc::new(Joiner {
        separator,
        used: Cell::new(false),
    })))
}

#[cfg(test)]
mod tests {
    #[test]
    fn rows_are_sorted_by_name() {
        assert!(super::GLOBALS.is_sorted_by(|left, right| left.name < right.name));
    }
}
