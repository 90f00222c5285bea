//! Filters that escape text for HTML: `escape`, `forceescape`, `safe`.
//!
//! ```text
//! {{ "<"|escape }}                  &lt;
//! {{ "<"|escape|escape }}           &lt;
//! {{ "<"|escape|forceescape }}      &amp;lt;
//! {{ "<"|safe|escape }}             <
//! ```
//!
//! A Markup is text that is escaped already. After jinja2 3.1.6 `filters.py` (`do_forceescape`, `do_mark_safe`) and markupsafe 3.0.4.

use super::{given, plain};
use crate::error::Result;
use crate::value::{Arguments, Runtime, Value, markup, print};

/// The text as Markup, escaped unless it is one already.
///
/// `{{ "<b>"|escape }} -> &lt;b&gt;`
pub(super) fn escape<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    markup::escape(runtime, &given(&mut arguments, 0)).map(Value::Str)
}

/// The text as Markup, escaped whatever it is.
///
/// `{{ "<"|e|forceescape }} -> &amp;lt;`
pub(super) fn forceescape<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let text = plain(runtime, &given(&mut arguments, 0))?;
    markup::escape_text(runtime, &text).map(Value::Str)
}

/// The text as Markup, as it is.
///
/// `{{ "<b>"|safe|escape }} -> <b>`
pub(super) fn safe<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let text = print::to_str(runtime, &given(&mut arguments, 0))?;
    Ok(Value::Str(text.with_markup(true)))
}
