//! Filters that escape text for HTML: `escape`, `forceescape`, `safe`.
//!
//! A Markup is a string that is escaped already. The rules are those of jinja2 3.1.6 `filters.py` (`do_forceescape`, `do_mark_safe`) and
//! markupsafe 3.0.4.

use crate::builtins::arguments::to_plain_str;
use crate::builtins::table::built_ins;
use crate::value::{Value, markup, print};

built_ins! { FILTERS:
    /// Escapes a string, unless it is a Markup already.
    ///
    /// `{{ "<b>"|escape }} -> &lt;b&gt;`
    /// `{{ "<b>"|e|e }} -> &lt;b&gt;`
    Python "escape".with_unnamed(1) fn escape["escape", "e"](runtime, s) -> Markup { markup::escape(runtime, &s).map(Value::Str) }

    /// Escapes a string, even if it is a Markup.
    ///
    /// `{{ "<"|e|forceescape }} -> &amp;lt;`
    Python "do_forceescape" fn forceescape(runtime, value) -> Markup {
        let text = to_plain_str(runtime, &value)?;
        markup::escape_text(runtime, &text).map(Value::Str)
    }

    /// Makes a Markup of a string without escaping it.
    ///
    /// `{{ "<b>"|safe|escape }} -> <b>`
    Python "do_mark_safe" fn safe(runtime, value) -> Markup {
        let text = print::to_str(runtime, &value)?;
        Ok(Value::Str(text.with_markup(true)))
    }
}
