//! Filters for HTML and addresses: `escape`, `forceescape`, `safe`, `striptags`, `xmlattr`, `urlize`, `urlencode`.
//!
//! ```text
//! {{ "<"|e }}                              &lt;
//! {{ {"id": "a", "x": none}|xmlattr }}     id="a"
//! {{ {"a b": "c d"}|urlencode }}           a+b=c+d
//! ```
//!
//! A Markup is escaped already; the algorithms are in [`crate::text`]. After jinja2 3.1.6 `filters.py` (`do_forceescape`,
//! `do_urlencode`, `do_xmlattr`, `do_urlize`, `do_mark_safe`, `do_striptags`), `utils.py` (`url_quote`) and markupsafe 3.0.4.

use super::pythonic::{items, python_attribute, unpack};
use super::{flag, given, plain, written};
use crate::builtins::methods::without_tags;
use crate::error::{Error, Result};
use crate::text::link::{Links, write_linked};
use crate::text::split::split_whitespace;
use crate::text::url;
use crate::unicode;
use crate::value::{Arguments, Iter, Runtime, Str, Value};
use std::collections::BTreeSet;

/// The text as Markup, escaped unless it is one already.
///
/// `{{ "<b>"|escape }} -> &lt;b&gt;`
pub(super) fn escape<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    runtime.escape(&given(&mut arguments, 0)).map(Value::Str)
}

/// The text as Markup, escaped whatever it is.
///
/// `{{ "<"|e|forceescape }} -> &amp;lt;`
pub(super) fn forceescape<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let text = plain(runtime, &given(&mut arguments, 0))?;
    runtime.escape_text(&text).map(Value::Str)
}

/// The text as Markup, as it is.
///
/// `{{ "<b>"|safe|escape }} -> <b>`
pub(super) fn safe<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let text = runtime.str_of(&given(&mut arguments, 0))?;
    Ok(Value::Str(text.with_markup(true)))
}

/// The text without tags and comments, with single blanks and with entities resolved.
///
/// `{{ "<p>a  <b>b</b></p> &lt;"|striptags }} -> a b <`
pub(super) fn striptags<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let text = runtime.str_of(&given(&mut arguments, 0))?;
    without_tags(runtime, &text)
}

/// The attributes of an element, from a dict; none and undefined values are left out.
///
/// `<a{{ {"id": "x", "b": none}|xmlattr }}> -> <a id="x">`
pub(super) fn xmlattr<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let pairs = items(runtime, &given(&mut arguments, 0))?;
    let mut iter = Iter::new(&pairs)?;
    let mut output = String::new();
    while let Some(pair) = iter.next(runtime)? {
        let (key, value) = unpack(runtime, &pair)?;
        if matches!(value, Value::None | Value::Undefined(_)) {
            continue;
        }
        let Value::Str(name) = &key else {
            return Err(not_a_string(&key));
        };
        if name
            .as_str()
            .contains(|char| matches!(char, '\t'..='\r' | ' ' | '/' | '>' | '='))
        {
            let name = runtime.repr(&key)?;
            return Err(Error::value(format!("Invalid character in attribute name: {name}")));
        }
        let (name, value) = (runtime.escape(&key)?, runtime.escape(&value)?);
        if !output.is_empty() {
            output.push(' ');
        }
        output.extend([name.as_str(), "=\"", value.as_str(), "\""]);
        runtime.meter.check_size(output.len())?;
    }
    let has_space = arguments.get(1).is_none() || flag(runtime, &arguments, 1)?;
    if has_space && !output.is_empty() {
        output.insert(0, ' ');
    }
    Ok(Value::Str(runtime.text(output)?.with_markup(runtime.autoescape)))
}

/// What `re` says of what it cannot search.
fn not_a_string(value: &Value<'_>) -> Error {
    Error::type_error(format!("expected string or bytes-like object, got '{}'", value.ty().name()))
}

/// The text with addresses made links.
///
/// `{{ "see www.a.com"|urlize }} -> see <a href="https://www.a.com" rel="noopener">www.a.com</a>`
pub(super) fn urlize<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let rel = rel(runtime, &mut arguments)?;
    let target = match given(&mut arguments, 3) {
        target if runtime.truth(&target)? => runtime.escape(&target)?,
        _ => Str::from(""),
    };
    let extra_schemes = extra_schemes(runtime, &given(&mut arguments, 5))?;
    let extra_schemes: Vec<_> = extra_schemes.iter().map(Str::as_str).collect();
    let text = runtime.escape(&given(&mut arguments, 0))?;
    runtime
        .meter
        .charge_scan(text.as_str().len().saturating_mul(extra_schemes.len().saturating_add(16)))?;
    let limit = given(&mut arguments, 1);
    let mut links = Links {
        trim_url_limit: limit.clamped_index(),
        rel: rel.as_str(),
        target: target.as_str(),
        extra_schemes: &extra_schemes,
    };
    let linked = written(runtime, |mut output| write_linked(&mut output, text.as_str(), links))?;
    if links.trim_url_limit.is_none() && !matches!(limit, Value::None) {
        // What is no integer fails only where an address is compared with it, or is cut.
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a limit beyond all integers is as good as the largest of them"
        )]
        let whole = |float: f64| float.floor() as i64;
        links.trim_url_limit = Some(if let Value::Float(float) = limit {
            whole(float)
        } else {
            i64::MIN
        });
        let trimmed = written(runtime, |mut output| write_linked(&mut output, text.as_str(), links))?;
        if linked.as_str() != trimmed.as_str() {
            return Err(not_a_limit(&limit));
        }
    }
    Ok(Value::Str(linked.with_markup(runtime.autoescape)))
}

/// The complaint about a limit that no length can be compared with, or up to which no text can be cut.
fn not_a_limit(limit: &Value<'_>) -> Error {
    match limit {
        Value::Undefined(undefined) => undefined.error(),
        Value::Float(_) => Error::type_error("slice indices must be integers or None or have an __index__ method"),
        other => {
            let ty = other.ty().name();
            Error::type_error(format!("'>' not supported between instances of 'int' and '{ty}'"))
        }
    }
}

/// The attribute `rel`: what was given, with Jinja's own word and, if asked for, another.
fn rel<'a>(runtime: &mut Runtime<'a>, arguments: &mut Arguments<'a>) -> Result<Str<'a>> {
    let given_rel = given(arguments, 4);
    let given_rel = match &given_rel {
        rel if !runtime.truth(rel)? => Str::from(""),
        Value::Str(rel) => rel.clone(),
        other => {
            python_attribute(runtime, other, "split")?;
            return Err(Error::type_error(format!("a str is required, not {}", other.ty().name())));
        }
    };
    let mut words: BTreeSet<&str> = split_whitespace(given_rel.as_str(), -1).collect();
    words.insert("noopener");
    if flag(runtime, arguments, 2)? {
        words.insert("nofollow");
    }
    let words: Vec<_> = words.into_iter().collect();
    let words = runtime.str(words.join(" "))?;
    runtime.escape(&words)
}

fn extra_schemes<'a>(runtime: &mut Runtime<'a>, schemes: &Value<'a>) -> Result<Vec<Str<'a>>> {
    if matches!(schemes, Value::None) {
        return Ok(Vec::new());
    }
    let mut texts = Vec::new();
    for scheme in runtime.collect(schemes)? {
        let Value::Str(text) = &scheme else {
            return Err(not_a_string(&scheme));
        };
        if !is_scheme(text.as_str()) {
            let scheme = runtime.repr(&scheme)?;
            return Err(Error::runtime(format!("{scheme} is not a valid URI scheme prefix.")));
        }
        texts.push(text.clone());
    }
    // The reference goes over the schemes a second time, when an iterator is used up.
    if matches!(schemes, Value::Iterator(_)) {
        texts.clear();
    }
    Ok(texts)
}

/// Whether the text is `[\w.+-]{2,}:(/){0,2}`.
fn is_scheme(text: &str) -> bool {
    let Some((name, slashes)) = text.rsplit_once(':') else {
        return false;
    };
    let is_name = name
        .chars()
        .all(|char| unicode::is_word(char) || matches!(char, '.' | '+' | '-'));
    matches!(slashes, "" | "/" | "//") && is_name && name.chars().nth(1).is_some()
}

/// The text with what cannot stand in an address percent-encoded; of a dict, or of pairs, a query string.
///
/// `{{ "a b/ü"|urlencode }} -> a%20b/%C3%BC`
pub(super) fn urlencode<'a>(runtime: &mut Runtime<'a>, mut arguments: Arguments<'a>) -> Result<Value<'a>> {
    let value = given(&mut arguments, 0);
    let pairs = match &value {
        Value::Str(_) => None,
        Value::Dict(dict) => Iter::try_new(&Value::Items(dict.clone().into())),
        // It has items, but no method that gives them.
        Value::Reference(_) => None,
        other => Iter::try_new(other),
    };
    let Some(mut pairs) = pairs else {
        let text = runtime.str_of(&value)?;
        return written(runtime, |mut output| {
            url::write_quoted(&mut output, text.as_str().as_bytes(), false)
        })
        .map(Value::Str);
    };
    let mut query = String::new();
    let mut separator = "";
    while let Some(pair) = pairs.next(runtime)? {
        let (name, value) = unpack(runtime, &pair)?;
        query.push_str(separator);
        write_query_part(runtime, &name, &mut query)?;
        query.push('=');
        write_query_part(runtime, &value, &mut query)?;
        runtime.meter.check_size(query.len())?;
        separator = "&";
    }
    runtime.str(query)
}

/// Writes the text of a value, encoded.
fn write_query_part<'a>(runtime: &mut Runtime<'a>, part: &Value<'a>, query: &mut String) -> Result<()> {
    let text = runtime.str_of(part)?;
    let quoted = written(runtime, |mut output| {
        url::write_quoted(&mut output, text.as_str().as_bytes(), true)
    })?;
    query.push_str(quoted.as_str());
    Ok(())
}
