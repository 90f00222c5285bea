//! The methods of `str` that remove characters from its ends.
//!
//! ```text
//! {{ "xy</answer>".strip("</answer>") }}          xy    a set of characters
//! {{ "<|user|>".removeprefix("<|") }}             user|>
//! ```
//!
//! The result shares the memory of the text, and is a Markup if the text is one. The rules are in [`crate::text::strip`]; the errors are
//! those of CPython 3.13 (`unicodeobject.c` `do_argstrip`).

use crate::builtins::arguments::require_clinic_str;
use crate::builtins::table::built_ins;
use crate::error::{Error, Result};
use crate::text::strip;
use crate::value::{Part, Runtime, Shortcut, Str, Value};

/// Strips whitespace, or the characters of the argument, with the function `strip`.
fn strip_by<'a>(runtime: &mut Runtime<'a>, text: &Str<'a>, chars: &Value<'a>, name: &str, strip: Part) -> Result<Value<'a>> {
    let chars = match chars {
        Value::None => None,
        Value::Str(chars) => Some(chars.as_str()),
        _ => return Err(Error::type_error(format!("{name} arg must be None or str"))),
    };
    let work = text.as_str().len() + chars.map_or(0, str::len);
    runtime.meter.charge_scan(work)?;
    Ok(Value::Str(text.piece(strip(text.as_str(), chars))))
}

built_ins! { METHODS:
    /// Removes whitespace, or the characters of a set, from both ends.
    Positional "str.strip" | "Markup.strip"[2].with_shortcut(Shortcut::Part(strip::strip))
    fn strip(runtime, &text: Str, chars: Text = None) -> Text { strip_by(runtime, &text, &chars, "strip", strip::strip) }

    /// Removes whitespace, or the characters of a set, from the start.
    Positional "str.lstrip" | "Markup.lstrip"[2].with_shortcut(Shortcut::Part(strip::strip_start))
    fn lstrip(runtime, &text: Str, chars: Text = None) -> Text { strip_by(runtime, &text, &chars, "lstrip", strip::strip_start) }

    /// Removes whitespace, or the characters of a set, from the end.
    Positional "str.rstrip" | "Markup.rstrip"[2].with_shortcut(Shortcut::Part(strip::strip_end))
    fn rstrip(runtime, &text: Str, chars: Text = None) -> Text { strip_by(runtime, &text, &chars, "rstrip", strip::strip_end) }

    /// Removes a string from the start.
    OneArgument "str.removeprefix" | "Markup.removeprefix"[2] fn removeprefix(runtime, &text: Str, prefix: Text) -> Text {
        let prefix = read_affix(runtime, prefix, "removeprefix")?;
        let rest = text.as_str().strip_prefix(prefix.as_str());
        Ok(Value::Str(rest.map_or_else(|| text, |rest| text.piece(rest))))
    }

    /// Removes a string from the end.
    OneArgument "str.removesuffix" | "Markup.removesuffix"[0] fn removesuffix(runtime, &text: Str, suffix: Text) -> Text {
        let suffix = read_affix(runtime, suffix, "removesuffix")?;
        let rest = text.as_str().strip_suffix(suffix.as_str());
        Ok(Value::Str(rest.map_or_else(|| text, |rest| text.piece(rest))))
    }
}

/// Reads the argument of `removeprefix` and `removesuffix`.
fn read_affix<'a>(runtime: &mut Runtime<'a>, affix: Value<'a>, name: &str) -> Result<Str<'a>> {
    let affix = require_clinic_str(affix, &format!("{name}() argument"))?;
    runtime.meter.charge_scan(affix.as_str().len())?;
    Ok(affix)
}
