//! The content of a message: a string or a list of parts, as the template takes it.
//!
//! ```text
//! [{"type": "text", "text": "a"}, {"type": "image_url", …}]   ->   "a"                                          strings only
//!                                                              ->   [{"type": "text", …}, {"type": "image", …}]   parts
//! ```

use std::borrow::Cow;

use super::change::What;
use super::facts::{Facts, Medium};
use super::node::Node;
use super::record::Recorder;
use super::wrong;
use crate::error::Result;
use crate::json::{Data, Object};
use crate::text::truncate::elide;

/// The text between two parts that are joined.
const BETWEEN_PARTS: &str = "\n";

/// The text between the contents of two messages that are merged.
const BETWEEN_MESSAGES: &str = "\n\n";

/// The largest number of characters of a type or an id that an error message shows.
pub const MAX_SHOWN: usize = 100;

/// The number of values of a part with a text: the part, its type and its text.
const PART_VALUES: usize = 3;

/// The bytes that are noted of a part while the content is read.
pub const PART: usize = size_of::<(usize, Node<'static>)>();

/// A part of a message's content.
enum Part<'b> {
    Text(&'b str),
    Media(Medium),
}

impl<'b> Part<'b> {
    /// Reads a part. A string counts as a part with a text.
    fn read(node: Node<'b>, path: &dyn Fn() -> String) -> Result<Self> {
        if let Some(text) = node.text() {
            return Ok(Self::Text(text));
        }
        let text = |key: &str| {
            let text = node.get_text(key);
            text.map(Self::Text)
                .ok_or_else(|| wrong(path(), format!("the part has no string `{key}`")))
        };
        match node.get_text("type") {
            Some("text" | "input_text" | "output_text" | "summary_text" | "reasoning_text") => text("text"),
            Some("refusal") => text("refusal"),
            Some("image" | "image_url" | "input_image") => Ok(Self::Media(Medium::Image)),
            Some("audio" | "audio_url" | "input_audio") => Ok(Self::Media(Medium::Audio)),
            Some("video" | "video_url") => Ok(Self::Media(Medium::Video)),
            Some("file" | "input_file" | "document") => {
                let source = node.get("source");
                let text = source.filter(|source| source.get_text("type") == Some("text"));
                let text = text.and_then(|source| source.get_text("data"));
                Ok(text.map_or(Self::Media(Medium::File), Self::Text))
            }
            None if node.get_text("text").is_some() => text("text"),
            None if node.is_object() => Err(wrong(path(), "the part has no string `type`")),
            None => Err(wrong(
                path(),
                format!("a part must be an object or a string, and this is {}", node.describe()),
            )),
            Some(other) => Err(wrong(
                path(),
                format!("the part has the unknown type `{}`", elide(other, MAX_SHOWN)),
            )),
        }
    }
}

/// Returns the content of a message as the template takes it, or `None` if that is the content of the body.
pub fn fit<'b>(
    facts: &Facts<'_>,
    role: &str,
    content: Node<'b>,
    path: &dyn Fn() -> String,
    changes: &mut Recorder<'_>,
) -> Result<Option<Data<'b>>> {
    if let Some(text) = content.text() {
        let forms = facts.forms(role);
        if forms.string || !forms.part {
            return Ok(None);
        }
        changes.add(
            path(),
            What::Wrapped,
            format!("the template does not take a string here (takes.{role}.string is false)"),
        )?;
        changes.claim_values(PART_VALUES)?;
        return Ok(Some(Data::List(vec![text_part(text.into())])));
    }
    if !content.is_list() {
        let found = content.describe();
        return Err(wrong(
            path(),
            format!("the content must be a string or an array, and this is {found}"),
        ));
    }
    changes.claim(content.items().count().saturating_mul(PART))?;
    fit_parts(
        facts,
        role,
        &content.items().enumerate().collect::<Vec<_>>(),
        &|index| format!("{}/{index}", path()),
        changes,
    )
}

/// Returns parts as the template takes them, or `None` if they are those of the body. Each part has its index.
pub fn fit_parts<'b>(
    facts: &Facts<'_>,
    role: &str,
    parts: &[(usize, Node<'b>)],
    path: &dyn Fn(usize) -> String,
    changes: &mut Recorder<'_>,
) -> Result<Option<Data<'b>>> {
    let forms = facts.forms(role);
    if parts.is_empty() && forms.is_any() {
        changes.add(parent(path(0)), What::Emptied, "the list of parts is empty")?;
        return Ok(Some(match forms.string {
            true => Data::Str("".into()),
            false => Data::List(vec![text_part("".into())]),
        }));
    }
    let (mut is_kept, mut texts, mut media) = (forms.part, 0_usize, 0_usize);
    for &(index, node) in parts {
        changes.visit(0)?;
        let path = &|| path(index);
        match Part::read(node, path)? {
            Part::Text(_) => {
                texts = texts.saturating_add(1);
                if node.get_text("type") == Some("document") {
                    for key in ["title", "context"] {
                        if let Some(value) = node.get(key) {
                            let path = format!("{}/{key}", path());
                            changes.drop_value(value, path, "templates read only the text of a document")?;
                        }
                    }
                }
                is_kept &= node.get_text("type") == Some("text");
            }
            Part::Media(medium) => {
                let own = node.get_text("type");
                let spelled = facts.medium(medium, own).filter(|_| forms.part);
                is_kept &= spelled.is_some() && spelled == own;
                if spelled.is_some() {
                    media = media.saturating_add(1);
                } else {
                    changes.drop_value(node, path(), "the template does not take media of this type here")?;
                }
            }
        }
    }
    if is_kept && (forms.parts || texts <= 1) {
        return Ok(None);
    }
    if !forms.parts || media == 0 && forms.string {
        let mut joined = String::new();
        let mut single = None;
        for &(index, node) in parts {
            if let Part::Text(text) = Part::read(node, &|| path(index))? {
                changes.visit(text.len())?;
                push_text(&mut joined, text, BETWEEN_PARTS);
                single = Some(text);
            }
        }
        let why = match forms.part {
            true => format!("the template does not take several parts (takes.{role}.parts is false)"),
            false => format!("the template does not take parts (takes.{role}.part is false)"),
        };
        changes.add(parent(path(0)), What::Joined, why)?;
        let text = match single {
            Some(text) if texts == 1 => Cow::Borrowed(text),
            _ => Cow::Owned(joined),
        };
        if media == 0 && (forms.string || !forms.part) {
            return Ok(Some(Data::Str(text)));
        }
        let mut fitted = vec![text_part(text)];
        for &(index, node) in parts {
            fitted.extend(fit_media(facts, node, &|| path(index), changes)?);
        }
        return Ok(Some(Data::List(fitted)));
    }
    let mut fitted = Vec::new();
    for &(index, node) in parts {
        match Part::read(node, &|| path(index))? {
            Part::Text(text) => {
                if node.get_text("type") != Some("text") {
                    changes.add(path(index), What::Renamed, "templates read the type `text`")?;
                }
                changes.claim_values(PART_VALUES)?;
                fitted.push(text_part(text.into()));
            }
            Part::Media(_) => fitted.extend(fit_media(facts, node, &|| path(index), changes)?),
        }
    }
    Ok(Some(Data::List(fitted)))
}

/// Returns the pointer of the list that contains the item at `path`.
fn parent(mut path: String) -> String {
    path.truncate(path.rfind('/').unwrap_or_default());
    path
}

/// Returns a part with a text.
pub fn text_part(text: Cow<'_, str>) -> Data<'_> {
    let entries = vec![("type".into(), Data::Str("text".into())), ("text".into(), Data::Str(text))];
    Data::Object(Object::new(entries))
}

/// Returns a part of media as the template spells it, or `None` if the part is a text or the template does not take such media.
fn fit_media<'b>(
    facts: &Facts<'_>,
    node: Node<'b>,
    path: &dyn Fn() -> String,
    changes: &mut Recorder<'_>,
) -> Result<Option<Data<'b>>> {
    let Part::Media(medium) = Part::read(node, path)? else {
        return Ok(None);
    };
    let own = node.get_text("type");
    let Some(spelled) = facts.medium(medium, own) else {
        return Ok(None);
    };
    let Data::Object(part) = changes.copy(node)? else {
        return Ok(None);
    };
    if Some(spelled) == own {
        return Ok(Some(Data::Object(part)));
    }
    changes.add(path(), What::Renamed, format!("the template reads the type `{spelled}`"))?;
    let mut entries = part.into_entries();
    entries.push(("type".into(), Data::Str(spelled.to_owned().into())));
    if ["image_url", "audio_url", "video_url"].contains(&spelled) {
        let url = find_url(node);
        changes.claim(url.len())?;
        let url = Object::new(vec![("url".into(), Data::Str(url.into()))]);
        entries.push((spelled.to_owned().into(), Data::Object(url)));
    }
    Ok(Some(Data::Object(Object::new(entries))))
}

/// Returns the URL of a part of media: a string in Responses and in `source` of Messages, or a `data:` URL for base64 data in `source`. For
/// any other part it is empty.
fn find_url(node: Node<'_>) -> String {
    let source = node.get("source");
    let url = node.get_text("image_url").or_else(|| source?.get_text("url"));
    match (url, source) {
        (Some(url), _) => url.to_owned(),
        (None, Some(source)) => {
            let of = |key| source.get_text(key).unwrap_or_default();
            format!("data:{};base64,{}", of("media_type"), of("data"))
        }
        (None, None) => String::new(),
    }
}

/// Appends a text, after a separator unless one of the two texts is empty.
fn push_text(joined: &mut String, text: &str, between: &str) {
    if !joined.is_empty() && !text.is_empty() {
        joined.push_str(between);
    }
    joined.push_str(text);
}

/// Appends the content of a message to that of an earlier one.
pub fn join<'b>(earlier: Data<'b>, later: Data<'b>) -> Data<'b> {
    let parts = |content: Data<'b>| match content {
        Data::List(parts) => parts,
        Data::Str(text) => vec![text_part(text)],
        _ => Vec::new(),
    };
    match (earlier, later) {
        (Data::None, content) | (content, Data::None) => content,
        (Data::Str(earlier), Data::Str(later)) => {
            let mut joined = earlier.into_owned();
            push_text(&mut joined, &later, BETWEEN_MESSAGES);
            Data::Str(joined.into())
        }
        (earlier, later) => {
            let mut joined = parts(earlier);
            joined.extend(parts(later));
            Data::List(joined)
        }
    }
}
