//! Checks the segments of a port's answer by the rules that hold for any port, and plants words in the input that show unsound ones.
//!
//! ```text
//! {"content": "Hi"}   ->   {"content": "HiZq0xq"}   ->   the segments with Zq0xq must be from the input
//! ```

use std::borrow::Cow;
use std::ops::Range;

use chat_template::internal::escape_key;
use chat_template::json::{Data, Object};

/// The place of a planted word in the input: the JSON pointer of the string, and whether the word is in the key.
pub type WordPlace = (String, bool);

/// Plants words in an input, each after a string or a key.
pub struct Planter<'p> {
    /// Returns whether the keys of the object at a JSON pointer are free: templates read them in a loop, not by name.
    pub is_free: &'p dyn Fn(&str) -> bool,
    /// The places of the planted words. The place of the word `Zq3xq` is at index 3.
    pub words: Vec<WordPlace>,
}

impl Planter<'_> {
    /// Returns a value with a word after each string but roles and types, and after each free key. `path` is the JSON pointer of the value.
    pub fn plant(&mut self, data: &Data<'static>, path: &str) -> Data<'static> {
        match data {
            Data::Str(text) => Data::Str(self.add_word(text, path.to_owned(), false).into()),
            Data::List(items) => {
                let items = items.iter().enumerate();
                Data::List(
                    items
                        .map(|(index, item)| self.plant(item, &format!("{path}/{index}")))
                        .collect(),
                )
            }
            Data::Object(object) => {
                let has_free_keys = (self.is_free)(path);
                let entries = object.entries().iter().map(|(key, value)| {
                    let is_kept = !has_free_keys && ["role", "type"].contains(&&**key) && matches!(value, Data::Str(_));
                    let key: Cow<'static, str> = if has_free_keys {
                        self.add_key(key, path).into()
                    } else {
                        key.clone()
                    };
                    let value = if is_kept {
                        value.clone()
                    } else {
                        self.plant(value, &join(path, &key))
                    };
                    (key, value)
                });
                Data::Object(Object::new(entries.collect()))
            }
            other => other.clone(),
        }
    }

    fn add_key(&mut self, key: &str, path: &str) -> String {
        let key = self.add_word(key, String::new(), true);
        if let Some((place, _)) = self.words.last_mut() {
            *place = join(path, &key);
        }
        key
    }

    fn add_word(&mut self, text: &str, path: String, is_key: bool) -> String {
        let planted = format!("{text}Zq{}xq", self.words.len());
        self.words.push((path, is_key));
        planted
    }
}

/// Returns the JSON pointer of the value under a key.
fn join(path: &str, key: &str) -> String {
    format!("{path}/{}", escape_key(key))
}

/// Returns the byte ranges of planted words in a string, in upper or lower case, each with the index that the word contains.
pub fn find_words(text: &str) -> Vec<(Range<usize>, usize)> {
    let lower = text.to_ascii_lowercase();
    let read = |(start, _)| {
        let (word, index) = read_word(lower.get(start..)?)?;
        Some((start..start + word, index))
    };
    lower.match_indices("zq").filter_map(read).collect()
}

/// Returns the length in bytes of the planted word at the start of a string, and the index that it contains.
fn read_word(text: &str) -> Option<(usize, usize)> {
    let rest = text.strip_prefix("zq")?;
    let after = rest.trim_start_matches(|char: char| char.is_ascii_digit());
    let digits = rest.strip_suffix(after)?;
    let end = text.len().saturating_sub(after.strip_prefix("xq")?.len());
    Some((end, digits.parse().ok()?))
}

/// A segment of an answer.
struct Segment<'a> {
    range: Range<usize>,
    /// All of the segment but its range.
    origin: Vec<(&'a str, &'a Data<'a>)>,
}

impl<'a> Segment<'a> {
    fn read(data: &'a Data<'a>) -> Result<Self, String> {
        let Data::Object(object) = data else {
            return Err("a segment is not an object".to_owned());
        };
        let edge = |key| match object.get(key) {
            Some(Data::Int(edge)) => usize::try_from(*edge).map_err(|_| format!("{key:?} is negative")),
            _ => Err(format!("a segment has no number {key:?}")),
        };
        let entries = object.entries().iter().map(|(key, value)| (&**key, value));
        Ok(Self {
            range: edge("start")?..edge("end")?,
            origin: entries.filter(|(key, _)| !["start", "end"].contains(key)).collect(),
        })
    }

    fn get(&self, key: &str) -> Option<&'a Data<'a>> {
        self.origin.iter().find(|(name, _)| *name == key).map(|(_, value)| *value)
    }

    /// Returns the characters of the input that a verbatim segment names, or `None` if the segment is not verbatim.
    fn verbatim(&self, input: &'a Object<'a>) -> Result<Option<Vec<char>>, String> {
        let Some(Data::Str(path)) = self.get("path") else {
            return Ok(None);
        };
        let steps: Vec<String> = path.split('/').skip(1).map(unescape).collect();
        let (Some(last), Some(first)) = (steps.last(), steps.first()) else {
            return Err(format!("the path {path:?} names no string"));
        };
        let string = match self.get("key") {
            Some(Data::Bool(true)) => last,
            _ => {
                let step = |value: &'a Data<'a>, step: &String| match value {
                    Data::Object(object) => object.get(step),
                    Data::List(items) => items.get(step.parse::<usize>().ok()?),
                    _ => None,
                };
                let found = input.get(first).and_then(|root| steps.iter().skip(1).try_fold(root, step));
                match found {
                    Some(Data::Str(text)) => &**text,
                    _ => return Err(format!("the path {path:?} is not that of a string")),
                }
            }
        };
        let Range { start, end } = self.at().ok_or_else(|| format!("{path:?} has no pair \"at\""))?;
        let length = end.saturating_sub(start);
        Ok(Some(string.chars().skip(start).take(length).collect()))
    }

    /// Returns the place of a verbatim segment in its string.
    fn at(&self) -> Option<Range<usize>> {
        match self.get("at") {
            Some(Data::List(pair)) => match pair.as_slice() {
                [Data::Int(start), Data::Int(end)] => Some(usize::try_from(*start).ok()?..usize::try_from(*end).ok()?),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns whether a segment continues another one, so that both are one.
    fn continues(&self, last: &Self) -> bool {
        let without_at = |segment: &Self| -> Vec<_> {
            let entries = segment.origin.iter().copied();
            entries.filter(|(key, _)| *key != "at").collect()
        };
        let is_next = match (last.at(), self.at()) {
            (Some(last), Some(at)) => last.end == at.start,
            (last, at) => last == at,
        };
        is_next && without_at(last) == without_at(self)
    }
}

fn unescape(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// Checks the segments of an answer.
///
/// # Errors
/// Returns the rule that is broken, with the segment, if the segments do not tile the text, two neighbours are one segment, a verbatim
/// segment is not the part of the input that it names, or a planted word is in a segment that is not from the input.
pub fn check_segments<'a>(segments: &'a Data<'a>, output: &str, input: &'a Object<'a>) -> Result<(), String> {
    let Data::List(segments) = segments else {
        return Err("\"segments\" is not a list".to_owned());
    };
    let characters: Vec<char> = output.chars().collect();
    let mut is_of_input = vec![false; characters.len()];
    let (mut end, mut last) = (0, None::<Segment<'_>>);
    for segment in segments {
        let segment = Segment::read(segment)?;
        let Range { start, end: next } = segment.range.clone();
        let shown = format!("{start} to {next}");
        if start != end || next <= start {
            return Err(format!("the segment {shown} does not follow the one that ends at {end}"));
        }
        let Some(part) = characters.get(start..next) else {
            return Err(format!("the segment {shown} ends after the text"));
        };
        let from = segment.get("from");
        if !matches!(from, Some(Data::Str(from)) if ["template", "token", "input", "made"].contains(&&**from)) {
            return Err(format!("the segment {shown} has an unknown \"from\""));
        }
        let verbatim = segment.verbatim(input);
        let verbatim = verbatim.map_err(|fault| format!("the segment {shown}: {fault}"))?;
        if verbatim.is_some_and(|verbatim| verbatim != part) {
            return Err(format!("the segment {shown} is not the part of the input that it names"));
        }
        if last.is_some_and(|last| segment.continues(&last)) {
            return Err(format!("the segment {shown} and the one before it are one"));
        }
        if from == Some(&Data::Str(Cow::Borrowed("input"))) {
            is_of_input.get_mut(start..next).unwrap_or_default().fill(true);
        }
        (end, last) = (next, Some(segment));
    }
    if end != characters.len() {
        return Err(format!("the segments end at {end} of {} characters", characters.len()));
    }
    for (word, _) in find_words(output) {
        let start = output.get(..word.start).unwrap_or_default().chars().count();
        let word: Vec<_> = characters.iter().zip(&is_of_input).skip(start).take(word.len()).collect();
        // A template with `replace("x", "x")` itself writes one character of a word, or several equal ones.
        let is_lost = |pair: &[(&char, &bool)]| matches!(pair, [(first, false), (second, false)] if first != second);
        if word.windows(2).any(is_lost) {
            return Err(format!("the origin of the planted word at {start} is not the input"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use chat_template::json;

    fn fault(segments: &str) -> String {
        let input = r#"{"messages": [{"role": "user", "content": "Hi Zq0xq", "a/b": ""}]}"#;
        let read = |text: &'static str| json::read(text).unwrap();
        let Data::Object(input) = read(input) else {
            panic!("it is an object")
        };
        let segments = json::read(segments).unwrap();
        check_segments(&segments, "<é>Zq0xq", &input).err().unwrap_or_default()
    }

    #[test]
    fn each_rule_has_a_fault() {
        let template = r#"{"start": 0, "end": 3, "from": "template", "line": 1}"#;
        let input = r#"{"start": 3, "end": 8, "from": "input", "path": "/messages/0/content", "at": [3, 8], "message": 0}"#;
        let with = |segments: &[&str]| fault(&format!("[{}]", segments.join(", ")));
        assert_eq!(with(&[template, input]), "");
        assert_eq!(with(&[template]), "the segments end at 3 of 8 characters");
        assert_eq!(with(&[input]), "the segment 3 to 8 does not follow the one that ends at 0");
        let wrong = input.replace("[3, 8]", "[2, 7]");
        let wrong = with(&[template, &wrong]);
        assert_eq!(wrong, "the segment 3 to 8 is not the part of the input that it names");
        let first = template.replace('3', "1");
        let second = template.replace('0', "1");
        let split = with(&[&first, &second, input]);
        assert_eq!(split, "the segment 1 to 3 and the one before it are one");
        let halves = [
            input.replace("8", "5"),
            input.replace("3,", "5,").replace("\"end\": 5,", "\"end\": 8,"),
        ];
        let split = with(&[template, &halves[0], &halves[1]]);
        assert_eq!(split, "the segment 5 to 8 and the one before it are one");
        let made = with(&[template, r#"{"start": 3, "end": 8, "from": "made"}"#]);
        assert_eq!(made, "the origin of the planted word at 3 is not the input");
        let one = [
            input.replace("[3, 8]", "[3, 6]").replace("\"end\": 8", "\"end\": 6"),
            template.replace("0,", "6,").replace("3,", "7,"),
            input.replace("[3, 8]", "[7, 8]").replace("\"start\": 3", "\"start\": 7"),
        ];
        assert_eq!(with(&[template, &one[0], &one[1], &one[2]]), "");
        let key = input.replace("[3, 8]", "[0, 5], \"key\": true");
        assert!(with(&[template, &key]).ends_with("is not the part of the input that it names"));
        let missing = input.replace("content", "missing");
        assert!(with(&[template, &missing]).ends_with("the path \"/messages/0/missing\" is not that of a string"));
    }

    #[test]
    fn a_word_is_planted_after_strings_and_free_keys() {
        let input = r#"[{"role": "user", "content": "a", "arguments": {"type": "b", "c/d": [1, "e"]}}]"#;
        let input = json::read(input).unwrap().into_owned();
        let mut planter = Planter {
            is_free: &|path| path.ends_with("/arguments"),
            words: Vec::new(),
        };
        let mut planted = String::new();
        // Writing to a string cannot fail.
        let _ = chat_template::internal::write_data(&planter.plant(&input, "/m"), &mut planted);
        assert_eq!(
            planted,
            r#"[{"role":"user","content":"aZq0xq","arguments":{"typeZq1xq":"bZq2xq","c/dZq3xq":[1,"eZq4xq"]}}]"#
        );
        let places: Vec<&str> = planter.words.iter().map(|(path, _)| path.as_str()).collect();
        let [content, key, value] = ["/m/0/content", "/m/0/arguments/typeZq1xq", "/m/0/arguments/typeZq1xq"];
        assert_eq!(
            places,
            [content, key, value, "/m/0/arguments/c~1dZq3xq", "/m/0/arguments/c~1dZq3xq/1"]
        );
        assert_eq!(find_words("ZQ12XQ zq zqxq Zq3xq"), [(0..6, 12), (15..20, 3)]);
    }
}
