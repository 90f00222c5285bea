//! The parsers of regions, which turn the text of a region into a value, and the transforms of such values.
//!
//! The rules are transformers 5.24.0 `content_parsers.py`. What the reference finds out about arguments when it parses is an error when the
//! description is loaded.

use std::collections::HashSet;
use std::ops::Range;

use indexmap::IndexMap;

use super::arguments::{Reader, Shape};
use super::calls::parse_calls;
use super::dialect::Dialect;
use super::pattern::{Found, Pattern, Search};
use super::template::Loader;
use super::weight::{claim_at, claim_container};
use crate::error::{Error, ErrorKind, Result};
use crate::json::{Data, Object};
use crate::meter::Meter;
use crate::number::int::Int;
use crate::number::parse::{parse_float, parse_int};
use crate::text::quote::repr;
use crate::text::strip::strip;

/// The entries of an object under construction.
pub type Entries = IndexMap<String, Data<'static>>;

/// Makes an object.
pub fn object(entries: Entries) -> Data<'static> {
    Data::Object(Object::new(
        entries.into_iter().map(|(key, value)| (key.into(), value)).collect(),
    ))
}

/// Makes a string.
pub fn text(text: impl Into<String>) -> Data<'static> {
    Data::Str(text.into().into())
}

/// Makes an integer.
pub fn integer(int: Int) -> Data<'static> {
    match int {
        Int::Small(small) => Data::Int(small),
        Int::Big(big) => Data::BigInt(Box::new(big)),
    }
}

/// Returns whether a value is left out of the message if no default has its name.
pub fn is_empty(value: &Data<'_>) -> bool {
    !value.is_true() && !matches!(value, Data::Bool(_) | Data::Int(_) | Data::Float(_))
}

/// The names of the parsers, sorted.
const NAMES: [&str; 8] = [
    "bool",
    "float",
    "int",
    "json",
    "kv-lines",
    "python-call-list",
    "text",
    "xml-inline",
];

/// The largest number of bytes of memory that one byte of the text can become, as in `f(),`. JSON has a limit of its own.
const MAX_GROWTH: usize = 48;

/// A parser with its arguments.
#[derive(Clone, Debug)]
pub struct ContentParser {
    kind: Kind,
    /// Whether whitespace around the text is removed.
    strips: bool,
}

#[derive(Clone, Debug)]
enum Kind {
    Text,
    Int,
    Float,
    Bool,
    Json(Dialect),
    Tags {
        tag: Box<Pattern>,
        merges: bool,
        value: Option<Box<ContentParser>>,
    },
    Lines {
        line_separator: String,
        key_separator: String,
        value: Option<Box<ContentParser>>,
    },
    Calls,
}

impl ContentParser {
    /// Reads a parser of a description. `scope` says where the description has it.
    pub fn load(scope: &str, name: &Data<'_>, arguments: Option<&Data<'_>>, loader: &mut Loader<'_, '_>) -> Result<Self> {
        let empty = Object::default();
        let arguments = match arguments {
            None => &empty,
            Some(Data::Object(arguments)) => arguments,
            Some(_) => return Err(Error::type_error(format!("{scope}: content_args must be a dict"))),
        };
        let is_set = |key| arguments.get(key).is_some_and(Data::is_true);
        let string = |key, default: &str| match arguments.get(key) {
            None => Ok(default.to_owned()),
            Some(Data::Str(text)) if !text.is_empty() => Ok(text.clone().into_owned()),
            Some(_) => Err(Error::type_error(format!(
                "{scope}: {key} must be a string that is not empty"
            ))),
        };
        let value_parser = |loader: &mut Loader<'_, '_>| match arguments.get("value_parser") {
            None | Some(Data::None) => Ok(None),
            Some(Data::Object(parser)) => {
                let name = parser.get("name").cloned().unwrap_or_else(|| text("text"));
                Self::load(scope, &name, parser.get("args"), loader).map(|parser| Some(Box::new(parser)))
            }
            Some(_) => Err(Error::type_error(format!("{scope}: value_parser must be a dict"))),
        };
        let kind = match name {
            Data::Str(name) => match &**name {
                "text" => Kind::Text,
                "int" => Kind::Int,
                "float" => Kind::Float,
                "bool" => Kind::Bool,
                "json" => Kind::Json(Dialect::load(scope, arguments)?),
                "xml-inline" => {
                    let Some(Data::Str(pattern)) = arguments.get("tag_pattern") else {
                        return Err(Error::value("xml-inline: 'tag_pattern' content_arg is required"));
                    };
                    let tag = loader.load_regex(pattern, scope, "tag_pattern")?;
                    if !tag.group_names().any(|name| name == "key") {
                        let message = format!("xml-inline: tag_pattern must have a named group 'key'. Pattern: {pattern}");
                        return Err(Error::value(message));
                    }
                    Kind::Tags {
                        tag: Box::new(tag),
                        merges: is_set("merge_duplicates"),
                        value: value_parser(loader)?,
                    }
                }
                "kv-lines" => Kind::Lines {
                    line_separator: string("line_sep", "\n")?,
                    key_separator: string("kv_sep", ":")?,
                    value: value_parser(loader)?,
                },
                "python-call-list" => Kind::Calls,
                _ => return Err(unknown_parser(scope, name)),
            },
            other => return Err(unknown_parser(scope, &serde_json::to_string(other).unwrap_or_default())),
        };
        Ok(Self {
            kind,
            strips: arguments.get("strip").is_none_or(Data::is_true),
        })
    }

    /// Returns whether each part of the text is a part of the value, so that the value can be passed on while the model writes.
    pub fn is_streamed(&self) -> bool {
        matches!(self.kind, Kind::Text | Kind::Int | Kind::Float | Kind::Bool)
    }

    fn strip<'t>(&self, text: &'t str) -> &'t str {
        if self.strips { strip(text, None) } else { text }
    }

    /// Returns whether white space around the text is no part of the value.
    pub fn strips(&self) -> bool {
        self.strips && self.is_streamed()
    }

    /// Returns whether the value is a string.
    pub fn is_text(&self) -> bool {
        matches!(self.kind, Kind::Text)
    }

    /// Returns whether a part of a text has no value, so that a value shows that the text is complete.
    pub fn is_self_delimiting(&self) -> bool {
        matches!(self.kind, Kind::Json(_) | Kind::Calls)
    }

    /// Returns whether a text can be the beginning of one with a value, by its first character.
    pub fn can_begin(&self, source: &str) -> bool {
        let first = strip(source, None).chars().next();
        match &self.kind {
            Kind::Json(dialect) if dialect.is_plain() => first.is_none_or(|first| matches!(first, '{' | '[')),
            Kind::Calls => first.is_none_or(|first| first == '['),
            _ => true,
        }
    }

    /// Returns a reader of calls that the model has not completed, if there is one for the notation.
    pub fn read_call<'t>(&'t self, shape: &'t Shape, captures: &Entries) -> Option<Reader<'t>> {
        match &self.kind {
            Kind::Json(dialect) if dialect.is_plain() => Reader::new(shape, None, captures),
            Kind::Tags { tag, merges, value } => Reader::new(shape, Some(Tags::new(tag, *merges, value.as_deref())), captures),
            _ => None,
        }
    }

    /// Returns the value that the parser makes of the text. If it is strict, text that is no part of the value is an error where the
    /// reference drops it.
    pub fn parse(&self, source: &str, is_strict: bool, meter: &mut Meter<'_>) -> Result<Data<'static>> {
        meter.charge_scan(source.len())?;
        if !self.is_streamed() && !matches!(self.kind, Kind::Json(_)) {
            meter.check_size(source.len().saturating_mul(MAX_GROWTH))?;
        }
        Ok(match &self.kind {
            Kind::Text => text(self.strip(source)),
            Kind::Int => integer(parse_int(self.strip(source), 10, repr)?),
            Kind::Float => Data::Float(parse_float(self.strip(source), repr)?),
            Kind::Bool => Data::Bool(["true", "1"].contains(&self.strip(source).to_ascii_lowercase().as_str())),
            Kind::Json(dialect) => match dialect.parse(source, meter)? {
                Some(value) => value,
                None => text(self.strip(source)),
            },
            Kind::Tags { tag, merges, value } => {
                let mut tags = Tags::new(tag, *merges, value.as_deref());
                while tags.next(source, true, meter)?.is_some() {}
                if is_strict && tags.has_rest {
                    return Err(rest());
                }
                object(tags.entries)
            }
            Kind::Lines {
                line_separator,
                key_separator,
                value,
            } => {
                let mut entries = Entries::new();
                for line in source.split(line_separator.as_str()) {
                    meter.charge_scan(line.len())?;
                    if let Some((key, text)) = self.strip(line).split_once(key_separator.as_str()) {
                        let parsed = parse_value(value.as_deref(), self.strip(text), meter)?;
                        entries.insert(self.strip(key).to_owned(), parsed);
                    } else if is_strict && !strip(line, None).is_empty() {
                        return Err(rest());
                    }
                }
                object(entries)
            }
            Kind::Calls => parse_calls(source, meter)?,
        })
    }
}

#[cold]
fn unknown_parser(scope: &str, name: &str) -> Error {
    let names = NAMES.map(repr).join(", ");
    Error::value(format!("{scope}: unknown content parser '{name}'. Available: [{names}]"))
}

/// Returns the error for text that the reference drops.
#[cold]
fn rest() -> Error {
    Error::value("the text has a part that is not read")
}

fn parse_value(parser: Option<&ContentParser>, source: &str, meter: &mut Meter<'_>) -> Result<Data<'static>> {
    match parser {
        Some(parser) => parser.parse(source, false, meter),
        None => Ok(text(source)),
    }
}

/// The tags of a text that can be growing, each with a key and a value.
#[derive(Debug)]
pub struct Tags<'t> {
    tag: &'t Pattern,
    merges: bool,
    parser: Option<&'t ContentParser>,
    search: Search<'t>,
    /// Where the next search begins, and where the last tag ends.
    from: usize,
    end: usize,
    pub entries: Entries,
    merged: HashSet<String>,
    /// Whether there is text outside of the tags.
    has_rest: bool,
}

impl<'t> Tags<'t> {
    fn new(tag: &'t Pattern, merges: bool, parser: Option<&'t ContentParser>) -> Self {
        Self {
            tag,
            merges,
            parser,
            search: Search::default(),
            from: 0,
            end: 0,
            entries: Entries::new(),
            merged: HashSet::new(),
            has_rest: false,
        }
    }

    /// Adds the value of the next tag, and returns its key and its place. More text can follow unless the text is whole.
    pub fn next(&mut self, source: &str, is_whole: bool, meter: &mut Meter<'_>) -> Result<Option<(String, Range<usize>)>> {
        let found = match self.from <= source.len() {
            true => self.search.advance(self.tag, source, self.from, is_whole, meter)?,
            false => Found::After(source.len()),
        };
        let found = match found {
            Found::Match(_) => self.search.take(),
            Found::After(_) => None,
        };
        let start = found.as_ref().map_or(source.len(), |found| found.bytes.start);
        if found.is_some() || is_whole {
            let rest = source.get(self.end..start).unwrap_or_default();
            meter.charge_scan(rest.len())?;
            // The tag that ends the call can be in the text too.
            let is_end = |word: &str| word.starts_with("</") && word.find('>') == word.len().checked_sub(1);
            self.has_rest |= !rest.split_whitespace().all(is_end);
        }
        let Some(found) = found else { return Ok(None) };
        self.end = found.bytes.end;
        // An empty match can follow another match, but not the same place twice.
        self.from = match source.get(self.end..).and_then(|rest| rest.chars().next()) {
            Some(next) if found.bytes.is_empty() => self.end.saturating_add(next.len_utf8()),
            None if found.bytes.is_empty() => source.len().saturating_add(1),
            _ => self.end,
        };
        meter.charge_items(found.groups.len())?;
        let group = |name: &str| found.texts(source).find(|(group, _)| *group == name).map(|(_, text)| text);
        let Some(key) = group("key") else {
            return Err(Error::value(
                "xml-inline: the group 'key' of tag_pattern took no part in a match",
            ));
        };
        let parsed = match group("value") {
            Some(text) => parse_value(self.parser, text, meter)?,
            // The reference has no text for a group that took no part.
            None if self.tag.group_names().any(|name| name == "value") => Data::None,
            None => parse_value(self.parser, "", meter)?,
        };
        match self.entries.get_mut(key) {
            Some(Data::List(items)) if self.merges && self.merged.contains(key) => items.push(parsed),
            Some(first) if self.merges => {
                *first = Data::List(vec![std::mem::replace(first, Data::None), parsed]);
                self.merged.insert(key.to_owned());
            }
            _ => drop(self.entries.insert(key.to_owned(), parsed)),
        }
        Ok(Some((key.to_owned(), found.bytes.clone())))
    }
}

/// Puts the value of a region into a larger one: `{"type": "function", "function": "{content}"}`.
#[derive(Clone, Debug)]
pub enum Transform {
    /// A placeholder such as `{content.name}`: the name of a value, and the keys that lead from it to the value that is taken.
    Placeholder(Vec<String>),
    Object(Vec<(String, Transform)>),
    List(Vec<Transform>),
    Plain(Data<'static>),
}

impl Transform {
    /// Returns the part of an object at a key.
    pub fn entry(&self, key: &str) -> Option<&Self> {
        let Self::Object(entries) = self else { return None };
        entries.iter().find(|(name, _)| name == key).map(|(_, entry)| entry)
    }

    /// Reads a transform of a description.
    pub fn load(scope: &str, transform: &Data<'_>, meter: &mut Meter<'_>) -> Result<Self> {
        Ok(match transform {
            Data::Object(object) => {
                meter.charge_items(object.len())?;
                let entries = object.entries().iter();
                let entries: Result<_> = entries
                    .map(|(key, value)| Ok((key.to_string(), Self::load(scope, value, meter)?)))
                    .collect();
                Self::Object(entries?)
            }
            Data::List(items) => {
                meter.charge_items(items.len())?;
                Self::List(
                    items
                        .iter()
                        .map(|item| Self::load(scope, item, meter))
                        .collect::<Result<_>>()?,
                )
            }
            Data::Str(string) => {
                meter.charge_scan(string.len())?;
                match find_placeholder(string) {
                    Some(placeholder) if placeholder.len().saturating_add(2) == string.len() => {
                        Self::Placeholder(placeholder.split('.').map(str::to_owned).collect())
                    }
                    Some(_) => {
                        return Err(Error::value(format!(
                            "{scope}: transform string {} mixes a {{placeholder}} with literal text. Use either a whole-string placeholder \
                             (e.g. \"{{content}}\") or a plain literal; string interpolation is not supported.",
                            repr(string)
                        )));
                    }
                    None => Self::Plain(text(string.clone())),
                }
            }
            plain => Self::Plain(plain.clone().into_owned()),
        })
    }

    /// Returns the larger value, with the values of a scope in place of the placeholders. A number of lists and objects enclose it.
    pub fn apply(&self, scope: &Scope<'_>, depth: usize, meter: &mut Meter<'_>) -> Result<Data<'static>> {
        let inner = depth.saturating_add(1);
        Ok(match self {
            Self::Plain(value) => {
                claim_at(value, depth, meter)?;
                value.clone()
            }
            Self::List(items) => {
                claim_container(items.len(), depth, meter)?;
                let items = items.iter().map(|item| item.apply(scope, inner, meter));
                Data::List(items.collect::<Result<_>>()?)
            }
            Self::Object(entries) => {
                claim_container(entries.len(), depth, meter)?;
                let entries = entries.iter().map(|(key, item)| {
                    meter.claim_for_render(key.len())?;
                    Ok((key.clone().into(), item.apply(scope, inner, meter)?))
                });
                Data::Object(Object::new(entries.collect::<Result<_>>()?))
            }
            Self::Placeholder(path) => {
                meter.charge_items(path.len())?;
                let value = scope.find(path)?;
                claim_at(value, depth, meter)?;
                value.clone()
            }
        })
    }
}

/// The values that a transform can take: those of the field's own text, and the groups of its anchors.
pub struct Scope<'s> {
    pub own: &'s Entries,
    pub captures: &'s Entries,
}

impl Scope<'_> {
    fn find(&self, path: &[String]) -> Result<&Data<'static>> {
        let shown = || path.join(".");
        let Some((root, keys)) = path.split_first() else {
            return Err(Error::internal("a placeholder has no name"));
        };
        let mut value = self.own.get(root).or_else(|| self.captures.get(root)).ok_or_else(|| {
            let names: std::collections::BTreeSet<_> = self.own.keys().chain(self.captures.keys()).map(String::as_str).collect();
            let message = format!(
                "transform placeholder '{{{}}}' is not defined. Available: {}",
                shown(),
                list(names)
            );
            // Python shows the repr of the message of a KeyError.
            Error::new(ErrorKind::Key, repr(&message))
        })?;
        for key in keys {
            let Data::Object(object) = value else {
                let ty = crate::value::Value::from(value).ty().name();
                let message = format!("transform placeholder '{{{}}}' cannot index into {ty} at '{key}'", shown());
                return Err(Error::value(message));
            };
            value = object.get(key).ok_or_else(|| {
                let names = list_sorted(object.entries().iter().map(|(name, _)| &**name));
                Error::value(format!(
                    "transform placeholder '{{{}}}' is missing key '{key}'. Available: {names}",
                    shown()
                ))
            })?;
        }
        Ok(value)
    }
}

/// Returns the `repr` of a sorted list of names.
pub fn list_sorted<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut names: Vec<_> = names.collect();
    names.sort_unstable();
    list(names)
}

/// Returns the `repr` of a list of strings.
pub fn list<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let names: Vec<_> = names.into_iter().map(repr).collect();
    format!("[{}]", names.join(", "))
}

/// Returns the names of the first placeholder of a string: `content.name` for `{content.name}`.
fn find_placeholder(string: &str) -> Option<&str> {
    let is_word = |char| regex_syntax::try_is_word_character(char).unwrap_or_default();
    let is_name = |name: &str| !name.is_empty() && name.chars().all(is_word);
    string.split('{').skip(1).find_map(|part| {
        let (path, _) = part.split_once('}')?;
        path.split('.').all(is_name).then_some(path)
    })
}
