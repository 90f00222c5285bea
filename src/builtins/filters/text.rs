//! Filters on text: `upper`, `lower`, `capitalize`, `title`, `center`, `trim`, `replace`, `string`, `wordcount`, `format`,
//! `escape`, `forceescape`, `safe`.
//!
//! The algorithms are in [`crate::text`] and in the methods of `str`. The rules are those of jinja2 3.1.6 `filters.py`: `do_upper` and the
//! others, and markupsafe 3.0.4.

use crate::builtins::arguments::to_plain_str;
use crate::builtins::call;
use crate::builtins::methods::str_case::{claim_mapping, map_text};
use crate::builtins::table::built_ins;
use crate::error::{Error, Result};
use crate::text::{strip, words};
use crate::unicode;
use crate::value::{Arguments, Entries, Runtime, Shortcut, Str, Value, markup, ops, print};

/// Calls a method of `str` on the text of a value.
fn call_str_method<'a>(
    runtime: &mut Runtime<'a>,
    value: &Value<'a>,
    name: &'static str,
    mut arguments: Arguments<'a>,
) -> Result<Value<'a>> {
    let text = print::to_str(runtime, value)?;
    arguments.push_front(Value::Str(text));
    call::call_method(runtime, &Str::from(name), &mut arguments)
}

built_ins! { FILTERS:
    /// Returns the text in upper case.
    ///
    /// `{{ "ß"|upper }} -> SS`
    Python "do_upper" fn upper(runtime, s: Text) -> Text {
        let text = print::to_str(runtime, &s)?;
        map_text(runtime, text, unicode::to_upper)
    }

    /// Returns the text in lower case.
    ///
    /// `{{ "ΑΣ"|lower }} -> ας`
    Python "do_lower" fn lower(runtime, s: Text) -> Text {
        let text = print::to_str(runtime, &s)?;
        map_text(runtime, text, unicode::to_lower)
    }

    /// Returns the text with its first character in title case, and the rest in lower case.
    ///
    /// `{{ "hELLO"|capitalize }} -> Hello`
    Python "do_capitalize" fn capitalize(runtime, s: Text) -> Text {
        let text = print::to_str(runtime, &s)?;
        map_text(runtime, text, unicode::capitalize)
    }

    /// Returns the text with a capital at the start of each word. The result is never a Markup.
    ///
    /// `{{ "they're foo-bar"|title }} -> They're Foo-Bar`
    Python "do_title" fn title(runtime, s: Text) -> Text {
        let text = print::to_str(runtime, &s)?;
        runtime.meter.charge_unicode(text.as_str())?;
        // The reference makes a string of each word.
        runtime.meter.charge_scan(text.as_str().len().saturating_mul(2))?;
        let claims = claim_mapping(runtime, text.as_str())?;
        let titled = words::title(text.as_str());
        drop(claims);
        runtime.str(titled)
    }

    /// Centers the text in a width.
    ///
    /// `[{{ "ab"|center(5) }}] -> [  ab ]`
    Python "do_center" fn center(runtime, value: Text, width: Count = 80) -> Str {
        call_str_method(runtime, &value, "center", Arguments::one(width))
    }

    /// Removes whitespace, or the characters of a set, from the ends of the text.
    ///
    /// `{{ " a "|trim }} -> a`
    Python "do_trim".with_shortcut(Shortcut::Part(strip::strip)) fn trim(runtime, value: Text, chars: Text = None) -> Str {
        if !matches!(chars, Value::None) {
            return call_str_method(runtime, &value, "strip", Arguments::one(chars));
        }
        let text = print::to_str(runtime, &value)?;
        runtime.meter.charge_scan(text.as_str().len())?;
        Ok(Value::Str(text.piece(strip::strip(text.as_str(), None))))
    }

    /// Replaces a string by another one. The result is never a Markup.
    ///
    /// `{{ "aaa"|replace("a", "b", 2) }} -> bba`
    Python "do_replace" fn replace(runtime, @eval_ctx, s: Text, old: Text, new: Text, count: Count = None) -> Text {
        let mut replacement = Arguments::one(Value::Str(to_plain_str(runtime, &s)?));
        replacement.push(Value::Str(to_plain_str(runtime, &old)?));
        replacement.push(Value::Str(to_plain_str(runtime, &new)?));
        if !matches!(count, Value::None) {
            replacement.push(count);
        }
        call::call_method(runtime, &Str::from("replace"), &mut replacement)
    }

    /// Returns the text of a value. A Markup stays one.
    ///
    /// `{{ [1, "a"]|string|length }} -> 8`
    Python "soft_str".with_unnamed(1) fn string(runtime, s) -> Str { print::to_str(runtime, &s).map(Value::Str) }

    /// Returns the number of words.
    ///
    /// `{{ "one two-three"|wordcount }} -> 3`
    Python "do_wordcount" fn wordcount(runtime, s: Text) -> Int {
        let text = print::to_str(runtime, &s)?;
        runtime.meter.charge_scan(text.as_str().len())?;
        Ok(Value::from(words::count_words(text.as_str())))
    }

    /// Returns `text % arguments`. Positional arguments are a tuple, keywords a dict.
    ///
    /// `{{ "%(a)s"|format(a=1) }} -> 1`
    Python "do_format" fn format(runtime, value: Text, *args[Any, Any], **kwargs) -> Text {
        if !args.is_empty() && !kwargs.is_empty() {
            return Err(Error::runtime(
                "can't handle positional and keyword arguments at the same time",
            ));
        }
        let text = Value::Str(print::to_str(runtime, &value)?);
        let fields = if kwargs.is_empty() {
            runtime.tuple(&args)?
        } else {
            let (mut named, mut claim) = (Entries::default(), None);
            for (name, value) in kwargs {
                runtime.insert(&mut named, &mut claim, Value::Str(name), value)?;
            }
            drop(claim);
            Value::Dict(runtime.dict(named)?)
        };
        ops::modulo(runtime, &text, &fields)
    }

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
