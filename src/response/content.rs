//! The parsers of regions, which turn the text of a region into a value.
//!
//! The rules are transformers 5.24.0 `content_parsers.py`. What the reference finds out about arguments when it parses is an error when the
//! description is loaded.

use std::collections::HashSet;
use std::ops::Range;

use indexmap::IndexMap;

use super::arguments::{Reader, Shape};
use super::calls::parse_calls;
use super::dialect::Dialect;
use super::pattern::{Found, Match, Pattern, Search};
use super::template::Loader;
use crate::error::{Error, Result};
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

    /// Returns whether the notation marks its own end, as a closing brace does. A string in it that has a value is complete.
    pub fn is_self_delimiting(&self) -> bool {
        matches!(self.kind, Kind::Json(_) | Kind::Calls)
    }

    /// Returns whether a string with this first character can have a value.
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
                while let Some((_, place)) = tags.next(source, true, meter)? {
                    tags.has_rest |= is_strict && tags.has_tag_within(source.get(..place.end).unwrap_or_default(), meter)?;
                }
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

/// A reader of tags, each with a key and a value, in a string that can grow.
#[derive(Debug)]
pub struct Tags<'t> {
    tag: &'t Pattern,
    merges: bool,
    parser: Option<&'t ContentParser>,
    search: Search<'t>,
    /// Where the next search begins, and where the last value begins and the last tag ends.
    from: usize,
    value: usize,
    end: usize,
    pub entries: Entries,
    merged: HashSet<String>,
    /// Whether there is text outside of the tags, or a tag that does not end.
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
            value: 0,
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
        let value = found.groups.iter().find(|(group, _)| *group == "value");
        self.value = value.map_or(self.end, |(_, range)| range.start);
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

impl Tags<'_> {
    /// Returns whether the last value, at whose tag the text ends, has another tag. A tag begins with other text than its key.
    fn has_tag_within(&self, source: &str, meter: &mut Meter<'_>) -> Result<bool> {
        let inner = self.tag.find(source, self.value, meter)?;
        let is_tag = |inner: Match<'_>| {
            inner
                .groups
                .iter()
                .any(|(group, key)| *group == "key" && key.start > inner.bytes.start)
        };
        Ok(inner.is_some_and(is_tag))
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
