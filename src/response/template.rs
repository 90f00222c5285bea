//! Reads, checks and compiles the description of how a model writes a message.
//!
//! The rules are transformers 5.24.0 `response_templates.py`.

use super::arguments::Shape;
use super::content::{ContentParser, list, list_sorted};
use super::pattern::Pattern;
use super::transform::Transform;
use super::weight::weigh;
use crate::deadline::Bounds;
use crate::error::{Error, ErrorKind, Result};
use crate::json::{Data, Object};
use crate::meter::Meter;
use crate::text::quote::repr;
use crate::value::Value;

/// The keys of a description.
const KEYS: [&str; 5] = ["version", "defaults", "fields", "start_anchor", "start_anchor_pattern"];

/// The keys of a field.
const FIELD_KEYS: [&str; 11] = [
    "open",
    "open_pattern",
    "close",
    "close_pattern",
    "content",
    "content_args",
    "repeats",
    "join",
    "optional",
    "transform",
    "transform_each",
];

/// The maximum number of fields and of literal strings of an anchor.
const MAX_ITEMS: usize = 32;

/// The maximum size of the automatons of all expressions in bytes.
const MAX_MEMORY: usize = 16 << 20;

/// The number of bytes of an automaton that are made in one step, and the number of steps to compile the shortest expression.
const COMPILED_BYTES: usize = 16;
const COMPILED: u64 = 1000;

/// How a model writes a message, compiled from the description `response_template` of a `tokenizer_config.json`.
///
/// A description names the fields of the message, each with the strings or regular expressions that open and close its region in the text,
/// and how its text becomes a value.
///
/// ```
/// use chat_template::response::{ParseOptions, ResponseTemplate};
///
/// let template = ResponseTemplate::new(&serde_json::json!({
///     "start_anchor": "<|assistant|>",
///     "defaults": {"role": "assistant"},
///     "fields": {
///         "reasoning": {"open": "<think>", "close": "</think>"},
///         "tool_calls": {
///             "open": "<call>", "close": "</call>", "repeats": true, "content": "json",
///             "transform": {"type": "function", "function": "{content}"},
///         },
///         "content": {"close": "<|end|>"},
///     },
/// }))?;
/// let options = ParseOptions::default().with_prefix("<|user|>Hi<|end|><|assistant|><think>");
/// let message = template.parse("A greeting.</think>Hello!<|end|>", &options)?;
/// assert_eq!(
///     serde_json::to_value(message).unwrap(),
///     serde_json::json!({"role": "assistant", "reasoning": "A greeting.", "content": "Hello!"})
/// );
/// # Ok::<(), chat_template::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ResponseTemplate {
    pub(super) defaults: Vec<(String, Data<'static>)>,
    pub(super) fields: Vec<Field>,
    pub(super) start: Pattern,
    /// The index of the field without an opening. It gets the text outside of the other regions.
    pub(super) implicit: Option<usize>,
}

/// A field of the message.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub name: String,
    pub open: Option<Pattern>,
    pub close: Option<Pattern>,
    pub content: ContentParser,
    pub repeats: bool,
    pub join: Option<String>,
    pub is_optional: bool,
    pub transform: Option<Transform>,
    pub transforms_each: bool,
    /// Where the text has the parts of a call, if the value is a call.
    pub call: Option<Shape>,
}

impl ResponseTemplate {
    /// Compiles a description.
    ///
    /// # Errors
    /// If the description is invalid, with the message of transformers, and if it uses regular expressions that this crate does not support
    /// ([`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported)).
    pub fn new(description: &serde_json::Value) -> Result<Self> {
        Self::new_with(description, Bounds::default())
    }

    /// Compiles a description within bounds.
    ///
    /// # Errors
    /// Those of [`ResponseTemplate::new`], and if a limit is reached.
    pub fn new_with<'o>(description: &serde_json::Value, bounds: impl Into<Bounds<'o>>) -> Result<Self> {
        let bounds = bounds.into();
        let deadline = bounds.start();
        let description = crate::json::to_data(description)?;
        Self::load(&description, &mut Meter::within(bounds, &deadline))
    }

    /// Compiles a description that was read by [`json::read`](crate::json::read()).
    pub(crate) fn load(description: &Data<'_>, meter: &mut Meter<'_>) -> Result<Self> {
        // A compiled description takes as much memory again.
        let bytes = weigh(description, 0, meter)?.saturating_mul(2);
        meter.check_size(bytes)?;
        let loader = &mut Loader {
            meter,
            memory_left: MAX_MEMORY,
        };
        let Data::Object(description) = description else {
            let ty = type_name(description);
            return Err(Error::value(format!("response_template must be a dict, got {ty}")));
        };
        match description.get("version") {
            None | Some(Data::Int(1) | Data::Bool(true)) => {}
            Some(Data::Float(1.0)) => {}
            Some(version) => {
                let version = serde_json::to_string(version).unwrap_or_default();
                return Err(Error::value(format!("Unsupported response_template version: {version}")));
            }
        }
        if let Some(unknown) = find_unknown(description, &KEYS) {
            return Err(Error::value(format!("Unknown keys in response_template: {unknown}")));
        }
        let defaults = match description.get("defaults") {
            None => Vec::new(),
            Some(Data::Object(defaults)) => {
                let entries = defaults.entries().iter();
                entries
                    .map(|(key, value)| (key.to_string(), value.clone().into_owned()))
                    .collect()
            }
            Some(_) => return Err(Error::value("response_template.defaults must be a dict")),
        };
        let fields = match description.get("fields") {
            Some(Data::Object(fields)) if !fields.is_empty() => fields.entries(),
            _ => return Err(Error::value("response_template.fields must be a non-empty dict")),
        };
        if fields.len() > MAX_ITEMS {
            return Err(Error::value(format!(
                "response_template.fields has more than {MAX_ITEMS} fields"
            )));
        }
        let fields: Vec<_> = fields
            .iter()
            .map(|(name, field)| load_field(name, field, loader))
            .collect::<Result<_>>()?;
        let implicit = (0..).zip(&fields).filter(|(_, field)| field.open.is_none());
        let (indices, names): (Vec<usize>, Vec<&str>) = implicit.map(|(index, field)| (index, field.name.as_str())).unzip();
        if names.len() > 1 {
            return Err(Error::value(format!(
                "At most one field may omit 'open'/'open_pattern' (that field becomes the implicit-open / leftover sink). Found: {}",
                names.join(", ")
            )));
        }
        let start = load_anchor(
            "response_template",
            description,
            "start_anchor",
            "start_anchor_pattern",
            loader,
        )?;
        Ok(Self {
            implicit: indices.first().copied(),
            start: start.ok_or_else(|| Error::value("response_template must define 'start_anchor' or 'start_anchor_pattern'."))?,
            defaults,
            fields,
        })
    }
}

fn type_name(value: &Data<'_>) -> &'static str {
    Value::from(value).ty().name()
}

/// Returns the `repr` of the list of an object's keys that are not known, or `None` if all are known.
fn find_unknown(object: &Object<'_>, known: &[&str]) -> Option<String> {
    let mut unknown = object
        .entries()
        .iter()
        .map(|(key, _)| &**key)
        .filter(|key| !known.contains(key))
        .peekable();
    unknown.peek()?;
    Some(list_sorted(unknown))
}

/// Compiles the expressions of a description, and counts what they take.
pub(super) struct Loader<'m, 'a> {
    meter: &'m mut Meter<'a>,
    /// The number of bytes that further automatons may take.
    memory_left: usize,
}

impl Loader<'_, '_> {
    pub fn load_regex(&mut self, source: &str, scope: &str, key: &str) -> Result<Pattern> {
        self.compile(|| Pattern::from_regex(source, scope, key))
    }

    fn compile(&mut self, compile: impl FnOnce() -> Result<Pattern>) -> Result<Pattern> {
        self.meter.charge(COMPILED)?;
        let pattern = compile()?;
        self.meter.charge(pattern.memory().div_ceil(COMPILED_BYTES) as u64)?;
        self.memory_left = self.memory_left.checked_sub(pattern.memory()).ok_or_else(|| {
            let message = "the regular expressions of the response_template have too many states";
            Error::new(ErrorKind::Unsupported, message)
        })?;
        Ok(pattern)
    }
}

fn load_field(name: &str, field: &Data<'_>, loader: &mut Loader<'_, '_>) -> Result<Field> {
    let scope = format!("Field '{name}'");
    let fail = |message: String| Error::value(format!("{scope}{message}"));
    let Data::Object(field) = field else {
        return Err(fail(" must be a dict".to_owned()));
    };
    if let Some(unknown) = find_unknown(field, &FIELD_KEYS) {
        return Err(fail(format!(": unknown keys {unknown}")));
    }
    let text = Data::Str("text".into());
    let content = ContentParser::load(
        &scope,
        field.get("content").unwrap_or(&text),
        field.get("content_args"),
        loader,
    )?;
    let open = load_anchor(&scope, field, "open", "open_pattern", loader)?;
    let close = load_anchor(&scope, field, "close", "close_pattern", loader)?;
    let repeats = field.get("repeats").is_some_and(Data::is_true);
    let join = match field.get("join") {
        None | Some(Data::None) => None,
        Some(Data::Str(join)) if repeats => Some(join.to_string()),
        Some(Data::Str(_)) => return Err(fail(": 'join' requires 'repeats': true".to_owned())),
        Some(other) => return Err(fail(format!(": 'join' must be a string, got {}", type_name(other)))),
    };
    let transforms_each = match field.get("transform_each") {
        None => false,
        Some(Data::Bool(each)) => *each,
        Some(other) => return Err(fail(format!(": transform_each must be a bool, got {}", type_name(other)))),
    };
    let transform = match field.get("transform") {
        None | Some(Data::None) if transforms_each => {
            return Err(fail(": transform_each is set but no transform was provided".to_owned()));
        }
        None | Some(Data::None) => {
            let names = [&open, &close].into_iter().flatten().flat_map(Pattern::group_names);
            let names: std::collections::BTreeSet<_> = names.collect();
            if !names.is_empty() {
                return Err(fail(format!(
                    ": open_pattern/close_pattern declares named group(s) {}, but the field has no 'transform'. Named captures are only \
                     surfaced through a 'transform' template (where they appear alongside 'content'). Either add a 'transform' that uses the \
                     captures, or remove the named groups from the pattern.",
                    list(names)
                )));
            }
            None
        }
        Some(transform) => Some(Transform::load(&scope, transform, loader.meter)?),
    };
    Ok(Field {
        name: name.to_owned(),
        open,
        close,
        content,
        repeats,
        join,
        is_optional: field.get("optional").is_none_or(Data::is_true),
        call: transform
            .as_ref()
            .and_then(|transform| Shape::find(transform, transforms_each)),
        transform,
        transforms_each,
    })
}

/// Reads an anchor: a string or a list of strings under one key, or a regular expression under another.
fn load_anchor(
    scope: &str,
    field: &Object<'_>,
    literal_key: &str,
    pattern_key: &str,
    loader: &mut Loader<'_, '_>,
) -> Result<Option<Pattern>> {
    let fail = |message: String| Err(Error::value(format!("{scope}: {message}")));
    match (field.get(literal_key), field.get(pattern_key)) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) => fail(format!("cannot specify both '{literal_key}' and '{pattern_key}'")),
        (Some(literal), None) => {
            let items = match literal {
                Data::Str(_) => std::slice::from_ref(literal),
                Data::List(items) if items.is_empty() => {
                    return fail(format!("'{literal_key}' list must contain at least one literal"));
                }
                Data::List(items) if items.len() <= MAX_ITEMS => items,
                Data::List(_) => return fail(format!("'{literal_key}' list has more than {MAX_ITEMS} literals")),
                other => {
                    return fail(format!(
                        "'{literal_key}' must be a string or list of strings, got {}",
                        type_name(other)
                    ));
                }
            };
            let literals = items.iter().map(|item| match item {
                Data::Str(literal) => Some(&**literal),
                _ => None,
            });
            match literals.collect::<Option<Vec<_>>>() {
                None => fail(format!("'{literal_key}' list must contain only strings")),
                Some(literals) if literals.contains(&"") => fail(format!("'{literal_key}' literals cannot be empty strings")),
                Some(literals) => loader.compile(|| Pattern::from_literals(literals)).map(Some),
            }
        }
        (None, Some(Data::Str(pattern))) => loader.load_regex(pattern, scope, pattern_key).map(Some),
        (None, Some(other)) => fail(format!("{pattern_key} must be a string, got {}", repr(type_name(other)))),
    }
}
