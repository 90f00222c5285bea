//! Recognizes how a call is written, and describes it.
//!
//! ```text
//! <tool_call>⏎{"name": "zarnokel", "arguments": {…}}⏎</tool_call>   ->   a JSON value between <tool_call> and </tool_call>
//! <function=zarnokel>⏎<parameter=plimbusk>⏎…⏎</parameter>…          ->   a tag for each argument
//! ```

use serde_json::{Value, json};

use super::is_tags;
use crate::chat::{common_prefix, control_tokens};
use crate::inspect::plant::{ANSWER, ARGUMENT, FUNCTION, ID, PARAMETER, SECOND, SECOND_ID, SPARE, SYSTEM, VALUE};

/// The name of a function in a regular expression.
const NAME: &str = r"(?P<name>[A-Za-z0-9_.\-]+)";

/// The maximum number of brackets at which a JSON value is tried.
const MAX_TRIES: usize = 24;

/// The words of a call: the name, and the name and the value of each argument.
struct Words {
    name: &'static str,
    values: [&'static str; 2],
}

const FIRST: Words = Words {
    name: FUNCTION,
    values: [VALUE, SECOND],
};
const OTHER: Words = Words {
    name: SPARE,
    values: [SYSTEM, ANSWER],
};

/// Where a call is in a text, and its parts.
#[derive(Clone, Debug)]
struct Core<'t> {
    start: usize,
    end: usize,
    form: Written<'t>,
}

/// How a call is written.
#[derive(Clone, Debug)]
enum Written<'t> {
    /// A JSON value with the name and the arguments.
    Json(Value),
    /// The name, other text, and the arguments as JSON.
    NameAndJson { between: &'t str },
    /// The name and the arguments in braces, with bare keys and strings between other delimiters.
    Dialect { between: &'t str, delimiter: &'t str },
    /// A list of calls in the notation of Python.
    Python,
    /// The name and a tag for each argument: the text after the name, before the key, before the value and after it.
    Tags {
        name_end: &'t str,
        open: &'t str,
        middle: &'t str,
        close: &'t str,
    },
}

/// Returns descriptions of the field with the calls, the most exact first. `one` is a text with one call, whose first
/// `skipped` bytes are not of the call, and `two` one with two.
pub fn describe(one: &str, skipped: usize, two: Option<&str>) -> Vec<Value> {
    let mut described = Vec::new();
    for find in [find_json, find_name_and_json, find_dialect, find_python, find_tags] {
        let Some(core) = find(one, &FIRST) else { continue };
        let pair = two.and_then(|two| Some((two, find(two, &FIRST)?, find(two, &OTHER)?)));
        let described_before = described.len();
        let front = one.get(skipped.min(core.start)..core.start).unwrap_or_default();
        let back = one.get(core.end..).unwrap_or_default();
        describe_core((front, back), &core, pair.as_ref(), &mut described);
        if described.len() > described_before {
            break;
        }
    }
    described
}

/// The text of the template around calls.
struct Around<'t> {
    /// What begins each call.
    open: &'t str,
    /// What ends each call.
    close: &'t str,
    /// What is before the first call, between two calls and after the last one, without tags.
    extra: [&'t str; 3],
}

/// Finds the text around a call. `between` is the text between two calls.
fn find_around<'t>(front: &'t str, back: &'t str, between: Option<&'t str>) -> Around<'t> {
    let Some(between) = between else {
        let end = control_tokens(back).next().map_or(back.len(), |token| token.end);
        let (front, close) = (front.trim(), back.get(..end).unwrap_or_default().trim());
        // The tags before the last one are anchors of the content.
        let open = control_tokens(front)
            .last()
            .and_then(|last| match front.get(last.end..)?.trim() {
                "" if is_tags(front) => front.get(last),
                "" => None,
                rest => Some(rest),
            });
        let open = open.unwrap_or(front);
        return Around {
            open,
            close,
            extra: [""; 3],
        };
    };
    let close = cut_end(between.get(..common_prefix(between, back)).unwrap_or_default());
    let rest = between.get(close.len()..).unwrap_or_default();
    let open = cut_start(common_suffix(front, rest));
    let extra = [
        front.get(..front.len().saturating_sub(open.len())),
        rest.get(..rest.len().saturating_sub(open.len())),
        back.get(close.len()..),
    ];
    // Tags of the template become anchors of the content.
    let extra = extra.map(|text| text.unwrap_or_default().trim());
    let is_kept = |text: &&str| control_tokens(text).next().is_none();
    let extra = extra.map(|text| Some(text).filter(is_kept).unwrap_or_default());
    Around {
        open: open.trim(),
        close: close.trim(),
        extra,
    }
}

/// Adds the descriptions of calls that are written in a known way, with the text before and after one call.
fn describe_core(
    (front, back): (&str, &str),
    core: &Core<'_>,
    pair: Option<&(&str, Core<'_>, Core<'_>)>,
    described: &mut Vec<Value>,
) {
    // Two calls in one list are one region.
    let between = pair.filter(|(_, first, other)| other.start >= first.end);
    let between = between.and_then(|(two, first, other)| two.get(first.end..other.start));
    let Around { open, close, extra } = find_around(front, back, between);
    let call = |name: String, arguments: String| json!({"type": "function", "function": {"name": name, "arguments": arguments}});
    let named = || call("{name}".to_owned(), "{content}".to_owned());
    // The text of the template between the name and the arguments, which can differ between calls: it may count them.
    let after_name = |between: &str, other: Option<&str>| match other.filter(|other| *other != between) {
        Some(other) => {
            let start = common_prefix(between, other);
            let end = common_suffix(between, other.get(start..).unwrap_or_default());
            format!(
                r"\s*{}\S*?{}\s*",
                escape(between.get(..start).unwrap_or_default()),
                escape(end)
            )
        }
        None => escape_around(between),
    };
    let other_form = pair.map(|(_, _, other)| &other.form);
    let mut close = close.to_owned();
    let (mut field, pattern) = match &core.form {
        Written::Json(value) => {
            let (item, prefix) = match value {
                Value::Array(items) => (items.first(), ""),
                _ => (Some(value), "content."),
            };
            let Some((name, arguments)) = item.and_then(find_paths) else {
                return;
            };
            let path = |path: String| format!("{{{prefix}{path}}}");
            let repeats = if value.is_array() { "transform_each" } else { "repeats" };
            (
                json!({"content": "json", repeats: true, "transform": call(path(name), path(arguments))}),
                None,
            )
        }
        Written::NameAndJson { between } => {
            let other = match other_form {
                Some(Written::NameAndJson { between }) => Some(*between),
                _ => None,
            };
            let after = after_name(between, other);
            let is_open = pair.is_some() && close.is_empty() && !open.is_empty() && !between.trim().is_empty();
            let pattern = match is_open {
                // The text that begins the next call ends this one, so that the next call can be without it.
                true => format!(r"(?:{})?\s*{NAME}{after}", escape(open)),
                false => format!(r"{}\s*{NAME}{after}", escape(open)),
            };
            let end = control_tokens(back).next().and_then(|token| back.get(token));
            if let (true, Some(end)) = (is_open, end) {
                close = format!("{}|{}", escape(open), escape(end));
            }
            let mut field = json!({"content": "json", "repeats": true, "transform": named()});
            if is_open {
                insert(&mut field, "close_pattern", close.as_str().into());
            }
            (field, Some(pattern))
        }
        Written::Dialect { between, delimiter } => {
            let arguments = json!({"unquoted_keys": true, "string_delims": [[delimiter, delimiter]]});
            let pattern = format!(r"{}\s*{NAME}{}", escape(open), escape_around(between));
            (
                json!({"content": "json", "content_args": arguments, "repeats": true, "transform": named()}),
                Some(pattern),
            )
        }
        Written::Python => {
            let transform = call("{name}".to_owned(), "{arguments}".to_owned());
            (
                json!({"content": "python-call-list", "transform_each": true, "transform": transform}),
                None,
            )
        }
        Written::Tags {
            name_end,
            open: tag,
            middle,
            close: end,
        } => {
            let pattern = format!(r"{}\s*{NAME}{}", escape(open), escape_around(name_end));
            let (tag, middle, end) = (escape(tag.trim_start()), escape_exact(middle), escape_exact(end));
            let tag = format!("{tag}(?P<key>[^<>\\n\"=:]+?){middle}(?P<value>.*?){end}");
            let field =
                json!({"content": "xml-inline", "content_args": {"tag_pattern": tag}, "repeats": true, "transform": named()});
            (field, Some(pattern))
        }
    };
    let [before, separator, after] = extra;
    let pattern = match (pattern, before) {
        (Some(pattern), "") => Some(pattern),
        (Some(pattern), before) => Some(format!(r"(?:{})?\s*{pattern}", escape(before))),
        (None, "") if !has_words(open) => None,
        (None, "") => Some(escape(open)),
        (None, before) => Some(format!(r"(?:{})?\s*{}", escape(before), escape(open))),
    };
    match pattern {
        _ if open.is_empty() => return,
        Some(pattern) => insert(&mut field, "open_pattern", pattern.into()),
        None => insert(&mut field, "open", open.into()),
    }
    let mut rest: Vec<String> = [separator, after]
        .into_iter()
        .filter(|text| !text.is_empty())
        .map(escape)
        .collect();
    rest.dedup();
    if field.get("close_pattern").is_none() && !close.is_empty() {
        match rest.as_slice() {
            [] if !has_words(&close) && !close.contains(char::is_whitespace) => insert(&mut field, "close", close.into()),
            [] => insert(&mut field, "close_pattern", escape(&close).into()),
            rest => insert(
                &mut field,
                "close_pattern",
                format!(r"{}(?:\s*(?:{}))?", escape(&close), rest.join("|")).into(),
            ),
        }
    }
    described.push(field.clone());
    if let (Written::Tags { .. }, Some(arguments)) = (&core.form, field.get_mut("content_args")) {
        insert(
            arguments,
            "value_parser",
            json!({"name": "json", "args": {"allow_non_json": true}}),
        );
        described.push(field);
    }
}

/// Adds an entry to an object.
fn insert(object: &mut Value, key: &str, value: Value) {
    if let Some(object) = object.as_object_mut() {
        object.insert(key.to_owned(), value);
    }
}

/// Returns the paths of the name and the arguments in an object with a call.
fn find_paths(call: &Value) -> Option<(String, String)> {
    let paths = |object: &Value, prefix: &str| {
        let (mut name, mut arguments) = (None, None);
        for (key, value) in object.as_object()? {
            let is_arguments = value.get(ARGUMENT).is_some() || value.as_str().is_some_and(|text| text.contains(ARGUMENT));
            match value.as_str() == Some(FUNCTION) {
                true => name = Some(format!("{prefix}{key}")),
                false if is_arguments => arguments = Some(format!("{prefix}{key}")),
                false => {}
            }
        }
        name.zip(arguments)
    };
    let inner = || {
        call.as_object()?
            .iter()
            .find_map(|(key, value)| paths(value, &format!("{key}.")))
    };
    paths(call, "").or_else(inner)
}

/// Returns the first JSON value in a text, and its length.
fn decode(text: &str) -> Option<(Value, usize)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, values.byte_offset()))
}

/// Returns the places of brackets in a part of a text.
fn list_brackets<'t>(text: &'t str, brackets: &'static [char], start: usize, end: usize) -> impl Iterator<Item = usize> + 't {
    let part = text.get(start..end).unwrap_or_default();
    part.match_indices(brackets)
        .map(move |(at, _)| start.saturating_add(at))
        .take(MAX_TRIES)
}

fn find_json<'t>(text: &'t str, words: &Words) -> Option<Core<'t>> {
    let name = text.find(words.name)?;
    let last = words.values.iter().map(|value| text.find(value)).max()??;
    let found = list_brackets(text, &['{', '['], 0, name.min(last)).find_map(|start| {
        let (value, length) = decode(text.get(start..)?)?;
        let end = start.saturating_add(length);
        (end > name && end > last).then_some((start, end, value))
    });
    let (start, end, value) = found?;
    Some(Core {
        start,
        end,
        form: Written::Json(value),
    })
}

fn find_name_and_json<'t>(text: &'t str, words: &Words) -> Option<Core<'t>> {
    let start = text.find(words.name)?;
    let after = start.saturating_add(words.name.len());
    let value = after.saturating_add(text.get(after..)?.find(words.values[0])?);
    let (open, end) = list_brackets(text, &['{'], after, value).find_map(|open| {
        let (value, length) = decode(text.get(open..)?)?;
        value.get(ARGUMENT)?;
        Some((open, open.saturating_add(length)))
    })?;
    Some(Core {
        start,
        end,
        form: Written::NameAndJson {
            between: text.get(after..open)?,
        },
    })
}

/// The places in a call whose arguments are written one after the other: after the name, around the keys and around the values.
struct Places<'t> {
    start: usize,
    /// Between the name and the first key.
    name_end: &'t str,
    /// Between the first key and its value.
    middle: &'t str,
    /// Between the first value and the second key.
    separator: &'t str,
    end: usize,
}

fn find_places<'t>(text: &'t str, words: &Words) -> Option<Places<'t>> {
    let start = text.find(words.name)?;
    let mut at = start.saturating_add(words.name.len());
    let mut parts = [""; 4];
    for (part, word) in parts.iter_mut().zip([ARGUMENT, words.values[0], PARAMETER, words.values[1]]) {
        let rest = text.get(at..)?;
        let found = rest.find(word)?;
        *part = rest.get(..found)?;
        at = at.saturating_add(found).saturating_add(word.len());
    }
    let [name_end, middle, separator, _] = parts;
    Some(Places {
        start,
        name_end,
        middle,
        separator,
        end: at,
    })
}

fn find_dialect<'t>(text: &'t str, words: &Words) -> Option<Core<'t>> {
    let places = find_places(text, words)?;
    let delimiter = places.middle.trim_start().strip_prefix(':')?.trim_start();
    let between = places.name_end.trim_end().strip_suffix('{')?;
    let rest = text.get(places.end..)?;
    let length = rest
        .strip_prefix(delimiter)?
        .trim_start()
        .strip_prefix('}')
        .map(|rest| rest.len());
    if delimiter.is_empty() || !places.separator.starts_with(delimiter) {
        return None;
    }
    let end = text.len().saturating_sub(length?);
    Some(Core {
        start: places.start,
        end,
        form: Written::Dialect { between, delimiter },
    })
}

fn find_python<'t>(text: &'t str, words: &Words) -> Option<Core<'t>> {
    let places = find_places(text, words)?;
    let start = text.get(..text.find(FUNCTION)?)?.rfind('[')?;
    if places.name_end != "(" || !places.middle.starts_with('=') {
        return None;
    }
    let last = [SECOND, ANSWER].iter().filter_map(|word| text.find(word)).max()?;
    let end = last.saturating_add(text.get(last..)?.find(']')?).saturating_add(1);
    Some(Core {
        start,
        end,
        form: Written::Python,
    })
}

fn find_tags<'t>(text: &'t str, words: &Words) -> Option<Core<'t>> {
    let Places {
        start,
        name_end,
        middle,
        separator,
        end,
    } = find_places(text, words)?;
    let open = cut_start(common_suffix(name_end, separator));
    let rest = separator.get(..separator.len().saturating_sub(open.len()))?;
    let after = text.get(end..)?;
    let close = match rest.contains(ARGUMENT) {
        // The tag that ends an argument repeats its name.
        true => rest,
        false => cut_end(rest.get(..common_prefix(rest, after))?),
    };
    if middle.trim().is_empty() || close.trim().is_empty() {
        return None;
    }
    let name_end = name_end.get(..name_end.len().saturating_sub(open.len()))?;
    let length = if rest.contains(ARGUMENT) {
        rest.len().saturating_sub(ARGUMENT.len()).saturating_add(PARAMETER.len())
    } else {
        close.len()
    };
    let form = Written::Tags {
        name_end,
        open,
        middle,
        close,
    };
    Some(Core {
        start,
        end: end.saturating_add(length).min(text.len()),
        form,
    })
}

/// Returns the end that two texts share.
fn common_suffix<'t>(one: &'t str, other: &str) -> &'t str {
    let shared = one
        .chars()
        .rev()
        .zip(other.chars().rev())
        .take_while(|(one, other)| one == other);
    let length: usize = shared.map(|(char, _)| char.len_utf8()).sum();
    one.get(one.len().saturating_sub(length)..).unwrap_or_default()
}

/// Removes the beginning of a tag from the end of a text.
fn cut_end(text: &str) -> &str {
    match text.rfind(['<', '[']) {
        Some(at) if !text.get(at..).unwrap_or_default().contains(['>', ']']) => text.get(..at).unwrap_or_default(),
        _ => text,
    }
}

/// Removes the end of a tag from the start of a text.
fn cut_start(text: &str) -> &str {
    match (text.find(['>', ']']), text.find(['<', '['])) {
        (Some(close), open) if open.is_none_or(|open| open > close) && close.saturating_add(1) < text.len() => {
            text.get(close.saturating_add(1)..).unwrap_or_default()
        }
        _ => text,
    }
}

/// The words in anchors that other calls have other texts for.
const VARIED: [&str; 5] = [ID, SECOND_ID, FUNCTION, ARGUMENT, PARAMETER];

/// Texts in anchors that depend on the type of a value, each with a regular expression.
const SPECIAL: [(&str, &str); 3] = [
    ("\"true\"", "\"(?:true|false)\""),
    ("<![CDATA[", r"(?:<!\[CDATA\[)?"),
    ("]]>", r"(?:\]\]>)?"),
];

fn has_words(text: &str) -> bool {
    VARIED.iter().any(|word| text.contains(word))
}

/// Returns a regular expression for a text with any white space between its words, and with any text in place of the planted words.
fn escape(text: &str) -> String {
    let parts: Vec<String> = text.split_whitespace().map(escape_exact).collect();
    parts.join(r"\s*")
}

/// Returns a regular expression for a text within others, where all white space is optional.
fn escape_around(text: &str) -> String {
    match text.trim() {
        "" => r"\s*".to_owned(),
        text => format!(r"\s*{}\s*", escape(text)),
    }
}

/// Returns a regular expression for a text as it is, with any text in place of the planted words.
fn escape_exact(text: &str) -> String {
    let mut pattern = String::new();
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        // A tag can say whether the value is a string, and can mark it as raw text.
        let special = SPECIAL.iter().find(|(word, _)| rest.starts_with(word));
        if let Some((word, any)) = special {
            pattern.push_str(any);
            rest = rest.get(word.len()..).unwrap_or_default();
            continue;
        }
        if let Some(word) = VARIED.iter().find(|word| rest.starts_with(**word)) {
            pattern.push_str(r"\S*?");
            rest = rest.get(word.len()..).unwrap_or_default();
            continue;
        }
        match char {
            '\n' => pattern.push_str(r"\n"),
            '\\' | '.' | '+' | '*' | '?' | '(' | ')' | '|' | '[' | ']' | '{' | '}' | '^' | '$' => pattern.extend(['\\', char]),
            char => pattern.push(char),
        }
        rest = rest.get(char.len_utf8()..).unwrap_or_default();
    }
    pattern
}
