//! Recognizes how a call is written, and describes it.
//!
//! ```text
//! <tool_call>⏎{"name": "zarnokel", "arguments": {…}}⏎</tool_call>   ->   a JSON value between <tool_call> and </tool_call>
//! <function=zarnokel>⏎<parameter=plimbusk>⏎…⏎</parameter>…          ->   a tag for each argument
//! ```

use indexmap::IndexSet;
use serde_json::{Value, json};

use super::patterns::{cut_end, escape, escape_around, escape_exact, is_tags, split};
use crate::chat::{common_prefix, common_suffix, control_tokens};
use crate::inspect::plant::{ANSWER, ARGUMENT, FUNCTION, ID, PARAMETER, SECOND, SPARE, SYSTEM, VALUE, with_field};

/// The name of a function in a regular expression.
const NAME: &str = r"\s*(?P<name>[A-Za-z0-9_.\-]*[A-Za-z0-9_\-])";

/// The same without a group.
const NEXT_NAME: &str = r"\s*[A-Za-z0-9_.\-]*[A-Za-z0-9_\-]";

/// The header of a call as templates print it, a regular expression for what models write, and what else they write around content.
type Header = (&'static str, &'static str, &'static [&'static str]);

/// The headers that models write in another way than templates print them.
const HEADERS: [Header; 1] = [(
    "to=functions.{name}<|channel|>commentary json<|message|>",
    r"(?:<\|channel\|>\s*(?:commentary|analysis))?\s*to=functions\.\s*(?P<name>[A-Za-z0-9_.\-]+)\s*(?:<\|channel\|>\s*(?:commentary|analysis))?\s*(?:<\|constrain\|>)?\s*(?:json)?\s*<\|message\|>\s*",
    &[
        "<|channel|>commentary<|message|>",
        "<|channel|>final<|message|>",
        "<|end|>",
        "<|start|>assistant",
    ],
)];

/// Returns what a model writes around content if it writes calls in this way.
pub fn list_around(field: &Value) -> &'static [&'static str] {
    let pattern = field.get("open_pattern").and_then(Value::as_str);
    let header = HEADERS.iter().find(|(_, header, _)| pattern == Some(header));
    header.map_or(&[], |(.., around)| around)
}

/// What an id begins with that has the name of its function.
pub const NAMED_ID: &str = "functions.";

/// What takes the place of the string before each tag.
const MARKER: &str = "\u{e000}";

/// The maximum number of brackets at which a JSON value is tried.
const MAX_TRIES: usize = 24;

/// The words of a call: the name and the values of its two arguments.
type Words = [&'static str; 3];

const FIRST: Words = [FUNCTION, VALUE, SECOND];
const OTHER: Words = [SPARE, SYSTEM, ANSWER];

/// What is known of how the model writes besides what the template prints for two calls.
pub struct Writing<'w> {
    /// The strings at which the model can stop.
    pub stops: &'w [String],
    /// The source of the template, whose words can say how the model writes.
    pub source: &'w str,
}

impl Writing<'_> {
    /// Returns the word before a list of calls that the template tells the model to write: `functools` in `functools[{"name": …`.
    fn find_word(&self, call: &str) -> Option<&str> {
        let key = call.get(..call.find(':')?)?;
        let before = self.source.get(..self.source.find(&format!("[{key}"))?)?;
        let word = before.rsplit(|char: char| !char.is_alphanumeric()).next();
        word.filter(|word| !word.is_empty())
    }
}

/// The place of a call in a string, and how it is written.
struct Core<'t> {
    start: usize,
    end: usize,
    form: Form<'t>,
}

enum Form<'t> {
    /// A JSON value with the name and the arguments.
    Json(Value),
    /// The name, other text, and the arguments as JSON. With a delimiter, the keys are bare and strings are between delimiters.
    Named { between: &'t str, delimiter: Option<&'t str> },
    /// A list of calls in the notation of Python.
    Python,
    /// The name and a tag for each argument: the text after the name, before the key, before the value and after it, and between two tags.
    Tags {
        after: &'t str,
        tag: [&'t str; 3],
        between: &'t str,
    },
}

/// Returns the description of the field with the calls. `one` is an answer with one call, which begins after `skipped` bytes, and `two` an
/// answer with two calls.
pub fn describe(one: &str, skipped: usize, two: Option<&str>, writing: &Writing<'_>) -> Option<Value> {
    let marker = find_marker(one);
    let hide = |text: &str| marker.map_or(text.to_owned(), |marker| text.replace(marker, MARKER));
    let skipped = hide(one.get(..skipped)?).len();
    let two = two.map(hide);
    let one = hide(one);
    // What a call begins with can begin content too.
    let mut starts = [skipped, 0].into_iter();
    let field = starts.find_map(|skipped| describe_after(&one, skipped, two.as_deref(), writing))?;
    match marker {
        Some(marker) => {
            let shown = serde_json::to_string(marker).ok()?;
            let escaped = serde_json::to_string(&escape_exact(marker)).ok()?;
            let show = |(key, value): (&String, &Value)| {
                let is_pattern = key.ends_with("_pattern") || key == "content_args";
                let marker = if is_pattern { &escaped } else { &shown };
                let marker = marker.get(1..marker.len().saturating_sub(1))?;
                let value = value.to_string().replace(MARKER, marker);
                Some((key.clone(), serde_json::from_str(&value).ok()?))
            };
            field.as_object()?.iter().map(show).collect::<Option<_>>().map(Value::Object)
        }
        None => Some(field),
    }
}

/// Returns the string before each tag, if tags have one that looks like a tag itself: `]<]x[>[` in `]<]x[>[<city>Rome]<]x[>[</city>`.
fn find_marker(text: &str) -> Option<&str> {
    let (before, after) = text.split_once(VALUE)?;
    let marker = after.get(..after.find(&format!("</{ARGUMENT}"))?)?;
    let is_marker = marker.contains(['<', '[']) && before.ends_with(&format!("{marker}<{ARGUMENT}>"));
    is_marker.then_some(marker)
}

fn describe_after(one: &str, skipped: usize, two: Option<&str>, writing: &Writing<'_>) -> Option<Value> {
    [find_json, find_named, find_bare, find_python, find_tags]
        .iter()
        .find_map(|find| {
            let core = find(one, &FIRST)?;
            let pair = two.and_then(|two| Some((two, find(two, &FIRST)?, find(two, &OTHER)?)));
            let front = one.get(skipped.min(core.start)..core.start)?;
            describe_core((front, one.get(core.end..)?), &core, pair.as_ref(), writing)
        })
}

/// Returns the opening and the closing string of a call, trimmed.
fn find_anchors<'t>(front: &'t str, back: &'t str, between: Option<&'t str>) -> Option<(&'t str, &'t str)> {
    if let Some(between) = between {
        let close = cut_end(between.get(..common_prefix(between, back))?);
        let open = common_suffix(front, between.get(close.len()..)?);
        return Some((open.trim(), close.trim()));
    }
    let front = front.trim();
    // The tags before the last one are anchors of the content.
    let open = control_tokens(front)
        .last()
        .and_then(|last| match front.get(last.end..)?.trim() {
            "" => front.get(last).filter(|_| is_tags(front)),
            rest => Some(rest),
        });
    let end = control_tokens(back).next().map_or(back.len(), |token| token.end);
    Some((open.unwrap_or(front), back.get(..end)?.trim()))
}

/// Returns the description of calls. `front` and `back` are the strings before and after one call, and `pair` is an answer with two calls.
fn describe_core(
    (front, back): (&str, &str),
    core: &Core<'_>,
    pair: Option<&(&str, Core<'_>, Core<'_>)>,
    writing: &Writing<'_>,
) -> Option<Value> {
    // Two calls in one list are one region. What is between tags needs no tag around it.
    let is_apart = |first: &Core<'_>, other: &Core<'_>| other.start >= first.end && !matches!(core.form, Form::Tags { .. });
    let apart = pair.filter(|(_, first, other)| is_apart(first, other));
    let apart = apart.and_then(|(two, first, other)| two.get(first.end..other.start));
    let (open, close) = find_anchors(front, back, apart)?;
    if open.is_empty() && !matches!(core.form, Form::Python) {
        return None;
    }
    let stops = writing.stops;
    // An engine strips the token at which the model stops.
    let stop = stops.iter().map(String::as_str).find(|stop| close.ends_with(stop));
    let close = stop.and_then(|stop| close.strip_suffix(stop)).unwrap_or(close).trim_end();
    let is_stopped = close.is_empty();
    let call = |name: &str, arguments: &str| json!({"type": "function", "function": {"name": name, "arguments": arguments}});
    // The name can also be in what is before the call: to=zarnokel<|message|><call name="zarnokel">
    let header = front.trim_end().strip_suffix(open).filter(|header| header.contains(FUNCTION));
    let header = header.map_or(String::new(), |header| format!(r"(?:{}\s*)?", escape(header)));
    let (mut open_pattern, mut close_pattern) = (None, None);
    let field = match &core.form {
        Form::Json(value) => {
            let (item, prefix, repeats) = match value {
                Value::Array(items) => (items.first()?, "", "transform_each"),
                _ => (value, "content.", "repeats"),
            };
            let (name, arguments) = find_paths(item)?;
            let transform = call(&format!("{{{prefix}{name}}}"), &format!("{{{prefix}{arguments}}}"));
            json!({"content": "json", repeats: true, "transform": transform})
        }
        Form::Named { between, delimiter } => {
            let mut begin = escape(open);
            let mut id = between.contains(ID).then(|| json!("{id}"));
            let after = match find_count(between, pair) {
                Some([mut before, after]) => {
                    if let Some(open) = open.strip_suffix(NAMED_ID) {
                        // The name and the count are the id.
                        begin = format!(r"{}\s*(?P<id>(?:{})?", escape(open), escape(NAMED_ID));
                        before.push(')');
                        id = Some(json!("{id}"));
                    }
                    before + &after
                }
                // A name alone is any word, unless the arguments follow.
                None if between.trim().is_empty() => r"\s*(?=\{)".to_owned(),
                None => match between.split_once(ID) {
                    Some((before, after)) => format!(r"{}(?P<id>\S*?){}", escape_around(before), escape_around(after)),
                    None => escape_around(between),
                },
            };
            if close.starts_with(['}', ']', ',']) && control_tokens(close).next().is_none() {
                // The arguments can have the same text, so what follows decides.
                let leads = [Some(front), apart].map(|text| Some(find_lead(text?.trim_end().strip_suffix(open)?)));
                let next = leads[1].map(|lead| if lead.is_empty() { ",?".to_owned() } else { escape(lead) });
                // An argument can be a list of objects, so the next call is recognized by its name and its arguments.
                let next = next.map(|lead| format!(r"|(?=\s*{lead}\s*{begin}{NEXT_NAME}{after}\s*\{{)"));
                let rest = back.get(back.find(close)?.saturating_add(close.len())..)?;
                let brackets = rest
                    .len()
                    .saturating_sub(rest.trim_start_matches([']', '}', ')', ' ', '\n']).len());
                let (brackets, rest) = rest.split_at_checked(brackets)?;
                let token = control_tokens(rest).next().and_then(|token| rest.get(token));
                let ends = token
                    .into_iter()
                    .chain(stops.iter().map(String::as_str))
                    .map(escape)
                    // Text on the next line is not JSON, in whose strings there are no line breaks.
                    .chain([r"\n\s*[^\s,\]\}]", "$"].map(str::to_owned));
                let ends = ends.collect::<IndexSet<_>>().into_iter().collect::<Vec<_>>().join("|");
                // A model can write a list where the template prints its items.
                let brackets = match brackets.trim() {
                    "" => r"\]?".to_owned(),
                    brackets => escape(brackets),
                };
                let end = format!(r"\s*{brackets}(?=\s*(?:{ends})){}", next.unwrap_or_default());
                close_pattern = Some(format!("{}(?:{end})", escape(close)));
                let leads: Vec<String> = leads
                    .iter()
                    .flatten()
                    .filter(|lead| !lead.is_empty())
                    .map(|lead| escape(lead))
                    .collect();
                let word = writing.find_word(open).map(|word| format!(r"{}\s*\[", escape(word)));
                let leads: IndexSet<String> = leads.into_iter().chain(word).chain([",", r"\["].map(str::to_owned)).collect();
                begin = format!(r"(?:{})?\s*{begin}", leads.into_iter().collect::<Vec<_>>().join("|"));
            } else if pair.is_some() && close.is_empty() {
                // The next call ends this one.
                let ends = stops.iter().map(|stop| escape(stop));
                let next = format!(r"(?=\s*{}{NEXT_NAME}{after})", escape(open));
                let next = next.replace(r"(?=\{))", r"\{)").replace("(?P<id>", "(?:");
                close_pattern = Some(ends.chain([next]).collect::<Vec<_>>().join("|"));
            }
            let printed = format!("{open}{{name}}{between}");
            let header = HEADERS
                .iter()
                .find(|(header, ..)| printed.ends_with(header))
                .map(|(_, pattern, _)| (*pattern).to_owned());
            open_pattern = Some(header.unwrap_or_else(|| format!("{begin}{NAME}{after}")));
            let arguments = delimiter.map(|delimiter| json!({"unquoted_keys": true, "string_delims": [[delimiter, delimiter]]}));
            let transform = with_field(&call("{name}", "{content}"), "id", id);
            let field = json!({"content": "json", "repeats": true, "transform": transform});
            with_field(&field, "content_args", arguments)
        }
        Form::Python => json!({"content": "python-call-list", "transform_each": true, "transform": call("{name}", "{arguments}")}),
        Form::Tags {
            after,
            tag: [before, middle, end],
            between,
        } => {
            let after = find_count(after, pair).map_or_else(|| escape_around(after), |parts| parts.concat());
            open_pattern = Some(format!("{header}{}{NAME}{after}", escape(open)));
            // If the template prints a line break beside a value, a model can write one on either side, or none.
            let blank = middle.get(middle.trim_end().len()..)?.contains('\n') || end.trim_end().starts_with('\n');
            let blank = if blank { r"\n?" } else { "" };
            let (data, data_end) = match writing.source.contains("<![CDATA[") {
                true => (r"(?:<!\[CDATA\[)?", r"(?:\]\]>)?"),
                false => ("", ""),
            };
            // Strings between quotes are JSON, and then other values are too. They end where the next key follows.
            let is_json = end.trim_matches('"').is_empty();
            let middle = if is_json { middle.trim_end_matches('"') } else { middle };
            let [before, middle, end, between] = [before, middle, end, between].map(escape);
            let separator = if between.is_empty() {
                String::new()
            } else {
                format!(r"(?:{between})?\s*")
            };
            let comma = if is_json { "," } else { "" };
            let key = format!(r#"{before}\s*(?P<key>[^<>\s"=:{comma}][^<>\n"=:{comma}]*?)\s*{middle}"#);
            let tag = match is_json {
                true => {
                    let next = key.replace("?P<key>", "?:");
                    format!(r#"{separator}{key}\s*(?P<value>"(?:[^"\\]|\\.)*"|[^\s"].*?)(?=\s*(?:{between}\s*{next}|\Z))"#)
                }
                false => format!(r"{separator}{key}{blank}{data}(?P<value>.*?){data_end}{blank}{end}"),
            };
            let parser = is_json.then(|| json!({"name": "json", "args": {"allow_non_json": true}}));
            let arguments = with_field(&json!({"tag_pattern": tag}), "value_parser", parser);
            json!({"content": "xml-inline", "content_args": arguments, "repeats": true, "transform": call("{name}", "{content}")})
        }
    };
    let has_parts = |text: &str| split(text).len() > 1;
    let open_pattern = open_pattern.or_else(|| has_parts(open).then(|| escape(open)));
    let open_pattern = open_pattern.or_else(|| open.is_empty().then(|| r"(?=\[\s*[A-Za-z_][\w.\-]*\()".to_owned()));
    let open = Some(open).filter(|_| open_pattern.is_none());
    let close_pattern = close_pattern.or_else(|| has_parts(close).then(|| escape(close)));
    let close = match is_stopped {
        _ if close_pattern.is_some() => None,
        true if stops.is_empty() => None,
        true => Some(json!(stops)),
        false => Some(close.into()),
    };
    let anchors = [
        ("open_pattern", open_pattern.map(Value::from)),
        ("open", open.map(Value::from)),
        ("close_pattern", close_pattern.map(Value::from)),
        ("close", close),
    ];
    Some(
        anchors
            .into_iter()
            .fold(field, |field, (key, anchor)| with_field(&field, key, anchor)),
    )
}

/// Returns the regular expressions of the string after the name of a call up to a number that counts the calls, and after it.
fn find_count(text: &str, pair: Option<&(&str, Core<'_>, Core<'_>)>) -> Option<[String; 2]> {
    let (Form::Named { between: other, .. } | Form::Tags { after: other, .. }) = &pair?.2.form else {
        return None;
    };
    let start = Some(common_prefix(text, other)).filter(|_| other != &text)?;
    let end = common_suffix(text.get(start..)?, other.get(start..)?);
    Some([format!(r"\s*{}\S*?", escape(text.get(..start)?)), escape_around(end)])
}

/// Returns the brackets and commas at the end of a string, trimmed.
fn find_lead(text: &str) -> &str {
    let start = text.trim_end_matches([',', '[', '(', '{', ' ']).len();
    text.get(start..).unwrap_or_default().trim()
}

/// Returns the paths of the name and the arguments in an object with a call.
fn find_paths(call: &Value) -> Option<(String, String)> {
    let paths = |object: &Value, prefix: &str| {
        let find = |is_wanted: &dyn Fn(&Value) -> bool| {
            object
                .as_object()?
                .iter()
                .find(|(_, value)| is_wanted(value))
                .map(|(key, _)| format!("{prefix}{key}"))
        };
        let has_argument =
            |value: &Value| value.get(ARGUMENT).is_some() || value.as_str().is_some_and(|text| text.contains(ARGUMENT));
        Some((find(&|value| value == FUNCTION)?, find(&has_argument)?))
    };
    let inner = || {
        call.as_object()?
            .iter()
            .find_map(|(key, value)| paths(value, &format!("{key}.")))
    };
    paths(call, "").or_else(inner)
}

/// Returns the first JSON value that is wanted and begins with a bracket between two places, with its place.
fn decode(text: &str, start: usize, end: usize, is_wanted: impl Fn(&Value, usize) -> bool) -> Option<(Value, usize, usize)> {
    let brackets = text.get(start..end)?.match_indices(['{', '[']).take(MAX_TRIES);
    brackets.map(|(at, _)| start.saturating_add(at)).find_map(|at| {
        let mut values = serde_json::Deserializer::from_str(text.get(at..)?).into_iter::<Value>();
        let value = values.next()?.ok()?;
        let end = at.saturating_add(values.byte_offset());
        is_wanted(&value, end).then_some((value, at, end))
    })
}

/// Finds a call that is one JSON value, such as `{"name": "get", "arguments": {…}}`.
fn find_json<'t>(text: &'t str, words: &Words) -> Option<Core<'t>> {
    let places: Option<Vec<usize>> = words.iter().map(|word| text.find(word)).collect();
    let (first, last) = places.and_then(|places| Some((*places.iter().min()?, *places.iter().max()?)))?;
    let (value, start, end) = decode(text, 0, first, |_, end| end > last)?;
    Some(Core {
        start,
        end,
        form: Form::Json(value),
    })
}

/// Finds a call that is a name before JSON arguments, such as `get[ARGS]{"key": "value"}`.
fn find_named<'t>(text: &'t str, [name, value, _]: &Words) -> Option<Core<'t>> {
    let start = text.find(name)?;
    let after = start.saturating_add(name.len());
    let value = after.saturating_add(text.get(after..)?.find(value)?);
    let (_, open, end) = decode(text, after, value, |value, _| value.get(ARGUMENT).is_some())?;
    let form = Form::Named {
        between: text.get(after..open)?,
        delimiter: None,
    };
    Some(Core { start, end, form })
}

/// Finds a call whose arguments are written one after the other. Returns its start, its end, and the strings after the name, before the
/// first value and before the second key.
fn find_arguments<'t>(text: &'t str, [name, first, second]: &Words) -> Option<(usize, usize, [&'t str; 3])> {
    let named = text.find(name)?;
    let argument = named.saturating_add(text.get(named..)?.find(ARGUMENT)?);
    let start = text.get(..argument)?.rfind(name)?;
    let mut at = start.saturating_add(name.len());
    let mut parts = [""; 4];
    for (part, word) in parts.iter_mut().zip([ARGUMENT, first, PARAMETER, second]) {
        let rest = text.get(at..)?;
        *part = rest.get(..rest.find(word)?)?;
        at = at.saturating_add(part.len()).saturating_add(word.len());
    }
    let [after, middle, separator, _] = parts;
    Some((start, at, [after, middle, separator]))
}

/// Finds a call with bare keys, whose strings are between delimiters, such as `get{key:<|"|>value<|"|>}`.
fn find_bare<'t>(text: &'t str, words: &Words) -> Option<Core<'t>> {
    let (start, end, [after, middle, separator]) = find_arguments(text, words)?;
    let delimiter = middle.trim_start().strip_prefix(':')?.trim_start();
    let rest = text.get(end..)?.strip_prefix(delimiter)?.trim_start().strip_prefix('}')?;
    let form = Form::Named {
        between: after.trim_end().strip_suffix('{')?,
        delimiter: Some(delimiter),
    };
    let end = text.len().saturating_sub(rest.len());
    (!delimiter.is_empty() && separator.starts_with(delimiter)).then_some(Core { start, end, form })
}

/// Finds calls in the syntax of Python, such as `[get(key="value")]`.
fn find_python<'t>(text: &'t str, words: &Words) -> Option<Core<'t>> {
    let (_, _, [after, middle, _]) = find_arguments(text, words)?;
    let start = text.get(..text.find(FUNCTION)?)?.rfind('[')?;
    let last = [SECOND, ANSWER].iter().filter_map(|word| text.find(word)).max()?;
    let end = last.saturating_add(text.get(last..)?.find(']')?).saturating_add(1);
    (after == "(" && middle.starts_with('=')).then_some(Core {
        start,
        end,
        form: Form::Python,
    })
}

/// Finds a call whose arguments are between tags, such as `get<key>value</key>`.
fn find_tags<'t>(text: &'t str, words: &Words) -> Option<Core<'t>> {
    let (start, end, [after, middle, separator]) = find_arguments(text, words)?;
    // The closing tag can have the key, and both keys have the same length.
    let same = |text: &str| text.replace(PARAMETER, ARGUMENT);
    let close = cut_end(separator.get(..common_prefix(&same(separator), &same(text.get(end..)?)))?);
    let close = close.strip_suffix(MARKER).unwrap_or(close);
    let before = common_suffix(after, separator.get(close.len()..)?);
    let between = separator.strip_suffix(before)?.get(close.len()..)?;
    let form = Form::Tags {
        after: after.get(..after.len().saturating_sub(before.len()))?,
        tag: [before, middle, close],
        between: between.trim().trim_end_matches(MARKER),
    };
    let end = end.saturating_add(close.len());
    (!middle.trim().is_empty() && !close.trim().is_empty()).then_some(Core { start, end, form })
}
