//! Filters that escape text for HTML: `escape`, `forceescape`, `safe`.
//!
//! ```text
//! {{ "<"|escape }}                  &lt;
//! {{ "<"|escape|escape }}           &lt;
//! {{ "<"|escape|forceescape }}      &amp;lt;
//! {{ "<"|safe|escape }}             <
//! ```
//!
//! A Markup is a string that is escaped already. The rules are those of jinja2 3.1.6 `filters.py` (`do_forceescape`, `do_mark_safe`) and
//! markupsafe 3.0.4.

use crate::builtins::arguments::{take_or_none, to_plain_str};
use crate::error::Result;
use crate::value::{Arguments, Runtime, Value, markup, print};

/// Escapes a text, unless it is a Markup already.
///
/// `{{ "<b>"|escape }} -> &lt;b&gt;`
/// `{{ "<b>"|e|e }} -> &lt;b&gt;`
pub(super) fn escape<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    markup::escape(runtime, &take_or_none(&mut arguments, 0)).map(Value::Str)
}

/// Escapes a text, even if it is a Markup.
///
/// `{{ "<"|e|forceescape }} -> &amp;lt;`
pub(super) fn forceescape<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let text = to_plain_str(runtime, &take_or_none(&mut arguments, 0))?;
    markup::escape_text(runtime, &text).map(Value::Str)
}

/// Makes a Markup of a text without escaping it.
///
/// `{{ "<b>"|safe|escape }} -> <b>`
pub(super) fn safe<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let text = print::to_str(runtime, &take_or_none(&mut arguments, 0))?;
    Ok(Value::Str(text.with_markup(true)))
}
