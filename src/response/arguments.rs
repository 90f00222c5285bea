//! Finds the name and the arguments of calls while the model writes them.
//!
//! ```text
//! {"name": "look", "arguments": {"city": "Pa     ->   look, {"city": "Pa
//! <f=look><p=city>Paris</p><p=days>3</p>         ->   look, {"city": "Paris", "days": 3
//! ```

use std::ops::Range;

use super::coerce::ToolSchemas;
use super::content::{Entries, Tags};
use super::transform::Transform;
use crate::error::Result;
use crate::json::{self, Data};
use crate::meter::Meter;

/// The maximum number of keys that lead to a name or to arguments. Deeper values need no keys.
const MAX_KEYS: usize = 4;

/// Where the text of a field has the parts of a call.
#[derive(Clone, Debug)]
pub struct Shape {
    id: Option<Source>,
    name: Source,
    /// The keys that lead to the arguments.
    arguments: Vec<String>,
    /// Whether the text is a list of calls.
    is_list: bool,
}

#[derive(Clone, Debug)]
enum Source {
    Keys(Vec<String>),
    Group(String),
}

impl Source {
    /// Returns the text of the group.
    fn text(&self, captures: &Entries) -> Option<String> {
        match self {
            Self::Group(name) => match captures.get(name) {
                Some(Data::Str(text)) => Some(text.to_string()),
                _ => None,
            },
            Self::Keys(_) => None,
        }
    }
}

impl Shape {
    /// Returns the places from which a transform takes the parts of a call.
    pub fn find(transform: &Transform, is_list: bool) -> Option<Self> {
        let source = |part: &Transform| match part {
            Transform::Placeholder(path) if is_list => Some(Source::Keys(path.clone())),
            Transform::Placeholder(path) => match path.split_first()? {
                (root, keys) if root == "content" => Some(Source::Keys(keys.to_vec())),
                (root, []) => Some(Source::Group(root.clone())),
                _ => None,
            },
            _ => None,
        };
        let function = transform.entry("function")?;
        let (name, arguments) = match source(function) {
            Some(Source::Keys(keys)) => {
                let with = |key: &str| Source::Keys([keys.as_slice(), &[key.to_owned()]].concat());
                (with("name"), with("arguments"))
            }
            _ => (source(function.entry("name")?)?, source(function.entry("arguments")?)?),
        };
        let is_short = |source: &Source| matches!(source, Source::Keys(keys) if keys.len() < MAX_KEYS);
        let Source::Keys(arguments) = Some(arguments).filter(is_short)? else {
            return None;
        };
        Some(Self {
            id: transform.entry("id").and_then(source),
            name,
            arguments,
            is_list,
        })
    }
}

/// A part of a call, and the place of the text that it was made from.
#[derive(Debug)]
pub enum Part {
    Name(String, Option<String>),
    Arguments(String),
}

/// Reads the text of a region.
#[derive(Debug)]
pub struct Reader<'t> {
    shape: &'t Shape,
    /// The name and the id that the anchors have.
    name: Option<String>,
    id: Option<String>,
    text: Text<'t>,
    parts: Vec<(Part, Range<usize>)>,
}

#[derive(Debug)]
enum Text<'t> {
    Json(Json),
    /// With the number of arguments so far.
    Tags(Box<Tags<'t>>, usize),
}

/// The state of reading JSON.
#[derive(Debug, Default)]
struct Json {
    /// The offset of the byte that is read next.
    at: usize,
    depth: usize,
    /// The key of the value that is being read, in each of the outermost containers.
    keys: Vec<Option<Range<usize>>>,
    /// Where the string that is being read begins.
    string: Option<usize>,
    is_escaped: bool,
    /// The place of the last string.
    last: Range<usize>,
    has_name: bool,
    /// What is to be passed on of the arguments: its start, and its end if it is known.
    arguments: Option<(usize, Option<usize>)>,
    is_complete: bool,
}

impl<'t> Reader<'t> {
    /// Returns a reader of JSON, or of tags if these are passed.
    pub fn new(shape: &'t Shape, tags: Option<Tags<'t>>, captures: &Entries) -> Option<Self> {
        let name = shape.name.text(captures);
        let is_named = name.is_some();
        let text = match tags {
            None => Text::Json(Json {
                has_name: is_named,
                ..Json::default()
            }),
            Some(tags) if is_named && shape.arguments.is_empty() && !shape.is_list => Text::Tags(Box::new(tags), 0),
            Some(_) => return None,
        };
        let id = shape.id.as_ref().and_then(|id| id.text(captures));
        let first = name.iter().map(|name| (Part::Name(name.clone(), id.clone()), 0..0));
        Some(Self {
            shape,
            parts: first.collect(),
            name,
            id,
            text,
        })
    }

    /// Reads the text from where it stopped, and returns the parts that it found. More text can follow unless the text is whole.
    pub fn read(
        &mut self,
        body: &str,
        is_whole: bool,
        tools: &ToolSchemas<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<Vec<(Part, Range<usize>)>> {
        match &mut self.text {
            Text::Json(json) => {
                meter.charge_part(body.len().saturating_sub(json.at).saturating_mul(8))?;
                json.read(body, self.shape, self.id.as_ref(), &mut self.parts);
            }
            Text::Tags(tags, count) => {
                let name = self.name.as_deref().unwrap_or_default();
                while let Some((key, place)) = tags.next(body, is_whole, meter)? {
                    let mut value = tags.entries.get(&key).cloned().unwrap_or(Data::None);
                    tools.coerce_argument(name, &key, &mut value, meter)?;
                    let mut text = if *count == 0 { "{" } else { ", " }.to_owned();
                    json::write_string(&key, false, &mut text);
                    text.push_str(": ");
                    text.push_str(&value.to_string());
                    meter.charge_bytes(text.len())?;
                    *count = count.saturating_add(1);
                    self.parts.push((Part::Arguments(text), place));
                }
                if is_whole {
                    let end = if *count == 0 { "{}" } else { "}" };
                    self.parts.push((Part::Arguments(end.to_owned()), body.len()..body.len()));
                }
            }
        }
        Ok(std::mem::take(&mut self.parts))
    }
}

impl Json {
    fn read(&mut self, body: &str, shape: &Shape, id: Option<&String>, parts: &mut Vec<(Part, Range<usize>)>) {
        let outer = usize::from(shape.is_list);
        for (index, byte) in body.bytes().enumerate().skip(self.at) {
            if self.is_complete {
                break;
            }
            if let Some(start) = self.string {
                match byte {
                    _ if std::mem::take(&mut self.is_escaped) => {}
                    b'\\' => self.is_escaped = true,
                    b'"' => {
                        (self.string, self.last) = (None, start..index);
                        let is_name = matches!(&shape.name, Source::Keys(keys) if !self.has_name && self.is_at(body, outer, keys));
                        let quoted = body.get(start.saturating_sub(1)..index.saturating_add(1)).filter(|_| is_name);
                        if let Some(Ok(Data::Str(name))) = quoted.map(json::read) {
                            self.has_name = true;
                            parts.push((Part::Name(name.into_owned(), id.cloned()), self.last.clone()));
                        }
                    }
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.string = Some(index.saturating_add(1)),
                b':' | b',' => {
                    if let Some(key) = self.depth.checked_sub(1).and_then(|depth| self.keys.get_mut(depth)) {
                        *key = (byte == b':').then(|| self.last.clone());
                    }
                }
                b'{' | b'[' => {
                    if byte == b'{' && self.arguments.is_none() && self.is_at(body, outer, &shape.arguments) {
                        self.arguments = Some((index, None));
                    }
                    if self.depth == self.keys.len() && self.depth <= MAX_KEYS {
                        self.keys.push(None);
                    }
                    self.depth = self.depth.saturating_add(1);
                }
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.keys.truncate(self.depth);
                    let inner = outer.saturating_add(shape.arguments.len());
                    if let Some((_, end @ None)) = &mut self.arguments {
                        if self.depth == inner {
                            *end = Some(index.saturating_add(1));
                        }
                    }
                    if self.depth == outer {
                        self.pass_on(body, index, parts);
                        (self.has_name, self.arguments) = (false, None);
                    }
                    self.is_complete = self.depth == 0;
                }
                _ => {}
            }
        }
        self.at = body.len();
        self.pass_on(body, body.len(), parts);
    }

    /// Returns whether these keys lead to the value that is being read.
    fn is_at(&self, body: &str, outer: usize, keys: &[String]) -> bool {
        let path = self.keys.get(outer..).unwrap_or_default().iter();
        self.depth == outer.saturating_add(keys.len())
            && path
                .map(|key| key.clone().and_then(|key| body.get(key)))
                .eq(keys.iter().map(|key| Some(key.as_str())))
    }

    /// Passes on the arguments up to a byte, once the name is known.
    fn pass_on(&mut self, body: &str, upto: usize, parts: &mut Vec<(Part, Range<usize>)>) {
        let Some((next, end)) = self.arguments.as_mut().filter(|_| self.has_name) else {
            return;
        };
        let place = *next..end.unwrap_or(upto);
        if let Some(text) = body.get(place.clone()).filter(|text| !text.is_empty()) {
            *next = place.end;
            parts.push((Part::Arguments(text.to_owned()), place));
        }
    }
}
