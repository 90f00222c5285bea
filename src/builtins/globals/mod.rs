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
use super::table::{Rows, Table, built_ins};
use crate::error::{Error, ErrorKind, Result};
use crate::strftime::strftime;
use crate::value::{Arguments, Code, Cycler, Function, Joiner, Runtime, Style, Type, Value, not_callable, print};
use std::cell::Cell;

static GLOBALS: Table = Table::new(|| Rows::new(&[FUNCTIONS, containers::CONTAINERS, range::RANGE]));

/// The object `missing` of jinja2 `utils.py`: the value of a variable that is not set. A macro sees it if it reads the target of a loop
/// or `with` that has ended.
pub static MISSING: Function = Function::new("missing", "_MissingType", Style::Python, &[], Code::Run(refuse_call))
    .with_type(Type::Missing)
    .with_star("", &[])
    .with_double_star(&[""]);

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

built_ins! { FUNCTIONS:
    /// Ends the render with an error, whose message the template passes.
    Python "_cached_compile_jinja_template.<locals>.raise_exception".with_type(Type::Function)
    fn raise_exception(runtime, message: Text) {
        let message = print::to_str(runtime, &message)?;
        Err(Error::new(ErrorKind::Raised, message.as_str()))
    }

    /// Returns the time of the render in a format of `strftime`.
    Python "_cached_compile_jinja_template.<locals>.strftime_now".with_type(Type::Function)
    fn strftime_now(
        runtime, format: OneOf["%Y-%m-%d", "%d %b %Y", "%H:%M:%S", "%A %j", "%%", "%-d", "", "%y %B %p %I"]
    ) -> Str {
        let format = require_clinic_str(format, "strftime() argument 1")?;
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

    /// Returns an object whose method `next` returns the items in turn, and begins again after the last.
    Python "Cycler.__init__".with_type(Type::Class) fn cycler(runtime, @self, *items[Any, Any]) -> Cycler {
        if items.is_empty() {
            return Err(Error::runtime("at least one item has to be provided"));
        }
        let items = runtime.items(&items)?;
        Ok(Value::Cycler(runtime.store(Cycler {
            items,
            position: Cell::new(0),
        })?))
    }

    /// Returns an object that is called for a separator, and returns an empty string the first time.
    Python "Joiner.__init__".with_type(Type::Class) fn joiner(runtime, @self, sep: Text = ", ") -> Joiner {
        runtime.meter.check_height(sep.height().saturating_add(1))?;
        Ok(Value::Joiner(runtime.store(Joiner {
            separator: sep,
            used: Cell::new(false),
        })?))
    }
}
