//! A case: a request of the protocol, and the reference's answer.
//!
//! ```text
//! {"id": "loops/first", "rule": "…", "template": "{{ x }}", "context": {"x": 1}, "expect": {"output": "1"}}
//! ```
//!
//! The schema is strict, because a misspelt key (`"now "`) would silently change the case.

use std::borrow::Cow;

use super::answer::Answer;
use super::schema::{check_keys, object, text};
use super::trace::check_segments;
use super::versions::{REFERENCE, SUITE_VERSION, Versions, check_bounds, outside};
use super::write_line::{self, string};
use chat_template::LocalTime;
use chat_template::json::{self, Data, Object};

/// The keys of a case that are sent to a port.
const REQUEST: [&str; 8] = ["id", "template", "context", "apply", "response", "now", "generation", "trace"];

/// The keys of a case that are not sent.
const BESIDE: [&str; 10] = [
    "rule",
    "tier",
    "uses",
    "since",
    "until",
    "expect",
    "area",
    "features",
    "suite",
    "reference",
];

/// The tiers of cases, from those that most prompts depend on to those that few do.
pub const TIERS: [&str; 7] = [
    "everyday",
    "core",
    "conversation",
    "edge",
    "errors",
    "artefacts",
    "extensions",
];

/// The keys of an `apply`. The template is the first.
pub(super) const APPLY: [&str; 9] = [
    "template",
    "template_name",
    "messages",
    "tools",
    "documents",
    "add_generation_prompt",
    "continue_final_message",
    "special_tokens",
    "variables",
];

/// The keys of a `response`. All but the last must be there.
const RESPONSE: [&str; 4] = ["template", "prefix", "text", "tools"];

/// The largest size of an id in bytes. Messages and answers repeat it, and a port may refuse longer ones.
const MAX_ID: usize = 1024;

/// A request, and the answer that the reference gave to it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The id: an area, a slash, and a name. An id never changes.
    pub id: String,
    /// The rule that the case shows.
    pub rule: String,
    /// The reference's answer.
    pub expect: Answer,
    /// The version of the suite that the line names.
    pub(super) suite: Option<String>,
    line: Object<'static>,
}

/// Returns the id of a case.
fn read_id(line: &Object<'_>) -> Result<String, String> {
    let id = text(line, "id")?;
    match id.len() {
        0..=MAX_ID => Ok(id.to_owned()),
        length => Err(format!("the id has {length} bytes, and may have at most {MAX_ID}")),
    }
}

impl Case {
    /// Reads a case from a line of JSON. Unknown keys are errors.
    ///
    /// # Errors
    /// Returns a message that names the wrong key if the line is not a case.
    pub fn read(line: &str) -> Result<Self, String> {
        Self::read_with(line, Ok)
    }

    /// Reads a case from a line that uses names for shared values. `spell_out` replaces the names with the values.
    pub(super) fn read_with(
        line: &str,
        spell_out: impl FnOnce(Object<'static>) -> Result<Object<'static>, String>,
    ) -> Result<Self, String> {
        let json = json::read(line).map_err(|error| format!("this line is not JSON: {error}"))?;
        let Data::Object(line) = json.into_owned() else {
            return Err("a case is a JSON object".to_owned());
        };
        let id = read_id(&line)?;
        let line = spell_out(line).map_err(|fault| format!("{id}: {fault}"))?;
        Self::from_object(line)
    }

    /// Reads a case from the object of a line. Unknown keys are errors.
    ///
    /// # Errors
    /// Returns a message that names the case and the wrong key if the object is not a case.
    pub fn from_object(line: Object<'static>) -> Result<Self, String> {
        let id = read_id(&line)?;
        Self::from_entries(id.clone(), line).map_err(|fault| format!("{id}: {fault}"))
    }

    fn from_entries(id: String, line: Object<'static>) -> Result<Self, String> {
        check_keys(&line, &[REQUEST.as_slice(), BESIDE.as_slice()].concat())?;
        if !id.contains('/') {
            return Err("an id is an area, a slash, and a name".to_owned());
        }
        match (line.get("template"), line.get("apply"), line.get("response")) {
            (Some(_), None, None) => {
                text(&line, "template")?;
                object(&line, "context")?;
            }
            (None, Some(_), None) => {
                let apply = object(&line, "apply")?;
                check_keys(apply, &APPLY)?;
                for key in ["template", "messages"] {
                    super::schema::field(apply, key)?;
                }
            }
            (None, None, Some(_)) => {
                let response = object(&line, "response")?;
                check_keys(response, &RESPONSE)?;
                super::schema::field(response, "template")?;
                for key in ["prefix", "text"] {
                    text(response, key)?;
                }
            }
            (None, None, None) => return Err("missing key \"template\", \"apply\" or \"response\"".to_owned()),
            _ => return Err("a case has one of a template, an apply and a response".to_owned()),
        }
        if line.get("now").is_some() {
            let now = text(&line, "now")?.parse::<LocalTime>();
            now.map_err(|error| format!("\"now\": {error}"))?;
        }
        for key in ["generation", "trace"] {
            if !matches!(line.get(key), None | Some(Data::Bool(_))) {
                return Err(format!("{key:?} is not a bool"));
            }
        }
        check_bounds(&line)?;
        if line.get("tier").is_some() {
            let tier = text(&line, "tier")?;
            if !TIERS.contains(&tier) {
                return Err(format!("no tier is called {tier:?}; they are {}", TIERS.join(", ")));
            }
        }
        let answer = |answer| Answer::read_strictly(answer).map_err(|fault| format!("\"expect\": {fault}"));
        Ok(Self {
            rule: text(&line, "rule").unwrap_or_default().to_owned(),
            expect: answer(object(&line, "expect")?)?,
            suite: text(&line, "suite").ok().map(str::to_owned),
            id,
            line,
        })
    }

    /// Returns the area of the case: the part of the id before the first slash.
    pub fn area(&self) -> &str {
        self.id.split('/').next().unwrap_or_default()
    }

    /// Returns the value of a key of the line, such as `template` or `context`.
    pub fn get(&self, key: &str) -> Option<&Data<'static>> {
        self.line.get(key)
    }

    /// Returns the tier of the case, or an empty string.
    pub fn tier(&self) -> &str {
        text(&self.line, "tier").unwrap_or_default()
    }

    /// Returns the number of real templates that use the rarest construct of the case.
    pub fn uses(&self) -> u64 {
        match self.line.get("uses") {
            Some(Data::Int(uses)) => u64::try_from(*uses).unwrap_or_default(),
            _ => 0,
        }
    }

    /// Returns why the answer does not hold for a port that mirrors these versions, or `None` if it holds.
    pub fn outside(&self, mirrored: &Versions) -> Option<String> {
        outside(&self.line, mirrored)
    }

    /// Returns whether `name` is the area of the case, its id, a beginning of its id that ends at a slash, `tier:` and its tier, or a
    /// pattern for its id in which `*` is any text.
    pub fn matches_name(&self, name: &str) -> bool {
        if let Some(tier) = name.strip_prefix("tier:") {
            return self.tier() == tier;
        }
        if name.contains('*') {
            return matches_pattern(&self.id, name);
        }
        self.id
            .strip_prefix(name)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || name.ends_with('/'))
    }

    /// Returns the features that a port needs for the case: `render`, `apply` or `response`, and `generation`, `trace` and `now` if the
    /// request has them.
    pub fn features(&self) -> Vec<&'static str> {
        let is_asked = |key: &str| !matches!(self.line.get(key), None | Some(Data::Bool(false)));
        let request = ["apply", "response"]
            .into_iter()
            .find(|key| is_asked(key))
            .unwrap_or("render");
        let beside = ["generation", "trace", "now"].into_iter().filter(|key| is_asked(key));
        [request].into_iter().chain(beside).collect()
    }

    /// Returns the request that is sent to a port: the line without the answer.
    pub fn request(&self) -> String {
        let entries = self.line.entries().iter().filter(|(key, _)| REQUEST.contains(&&**key));
        write_line::of(entries.cloned().collect())
    }

    /// Returns the request for a port that only renders. An `apply` is lowered to a `render`.
    ///
    /// # Errors
    /// Returns a message with the reason if no `render` has the same answer.
    pub fn lower_request(&self) -> Result<String, String> {
        let Some(Data::Object(apply)) = self.line.get("apply") else {
            return Ok(self.request());
        };
        let mut entries = vec![(Cow::Borrowed("id"), string(&self.id))];
        entries.extend(super::lower::lower(apply)?);
        let beside = self
            .line
            .entries()
            .iter()
            .filter(|(key, _)| ["now", "generation", "trace"].contains(&&**key));
        entries.extend(beside.cloned());
        Ok(write_line::of(entries))
    }

    /// Returns whether the request asks for segments.
    pub fn is_traced(&self) -> bool {
        self.line.get("trace") == Some(&Data::Bool(true))
    }

    /// Checks the segments of an answer to a request that asks for them.
    pub(super) fn check_segments(&self, answer: &Answer) -> Result<(), String> {
        let Answer::Output { text, segments, .. } = answer else {
            return Ok(());
        };
        let Some(segments) = segments else {
            return Err("the answer has no segments".to_owned());
        };
        match (self.line.get("context"), self.line.get("apply")) {
            (Some(Data::Object(context)), _) => check_segments(segments, text, context),
            (_, Some(Data::Object(apply))) => {
                let mut input: Vec<_> = apply.entries().to_vec();
                input.retain(|(key, _)| ["messages", "tools", "documents"].contains(&&**key));
                if let Some(Data::Object(variables)) = apply.get("variables") {
                    input.extend(variables.entries().iter().cloned());
                }
                check_segments(segments, text, &Object::new(input))
            }
            _ => Ok(()),
        }
    }

    /// Returns whether the request is an `apply`.
    pub fn is_apply(&self) -> bool {
        self.line.get("apply").is_some()
    }

    /// Returns the line of the case in an exported suite.
    pub fn to_line(&self) -> String {
        let features = self.features().into_iter().map(string).collect();
        let reference = REFERENCE.map(|(name, version)| (Cow::Borrowed(name), string(version)));
        let mut entries = vec![
            (Cow::Borrowed("id"), string(&self.id)),
            (Cow::Borrowed("area"), string(self.area())),
            (Cow::Borrowed("features"), Data::List(features)),
            (Cow::Borrowed("rule"), string(&self.rule)),
            (Cow::Borrowed("suite"), string(SUITE_VERSION)),
            (Cow::Borrowed("reference"), Data::Object(Object::new(reference.to_vec()))),
        ];
        let is_new = |key: &str| entries.iter().all(|(other, _)| other != key);
        let rest: Vec<_> = self.line.entries().iter().filter(|(key, _)| is_new(key)).cloned().collect();
        entries.extend(rest);
        write_line::of(entries)
    }

    /// Returns the template as readable text. If there are several, each follows its name.
    pub fn template_text(&self) -> String {
        match self.arguments().get("template") {
            Some(Data::Str(template)) => template.clone().into_owned(),
            Some(Data::Object(templates)) => {
                let templates = templates.entries().iter();
                let named = templates.map(|(name, template)| match template {
                    Data::Str(template) => format!("{name}:\n{template}\n"),
                    other => format!("{name}:\n{}\n", write_line::of_value(other)),
                });
                named.collect()
            }
            Some(other) => write_line::of_value(other),
            None => String::new(),
        }
    }

    /// Returns the context or the arguments as JSON, or an empty string if there are none.
    pub fn context_text(&self) -> String {
        let entries: Vec<_> = match self.arguments().get("context") {
            Some(Data::Object(context)) => context.entries().to_vec(),
            _ => {
                let arguments = self.arguments().entries().iter().filter(|(key, _)| key != "template");
                arguments.cloned().collect()
            }
        };
        if entries.is_empty() {
            String::new()
        } else {
            write_line::of(entries)
        }
    }

    /// Returns the object with the key `template`: the `apply`, the `response`, or the case itself.
    fn arguments(&self) -> &Object<'static> {
        match self.line.get("apply").or_else(|| self.line.get("response")) {
            Some(Data::Object(arguments)) => arguments,
            _ => &self.line,
        }
    }
}

/// Returns whether a string matches a pattern. A `*` in the pattern matches any number of characters.
fn matches_pattern(text: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|start| text.strip_prefix(start)) else {
        return false;
    };
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(line: &str) -> String {
        Case::read(line).map(|case| case.id).unwrap_err()
    }

    #[test]
    fn a_misspelt_key_is_an_error() {
        assert_eq!(
            fault(r#"{"id": "a/b", "tempalte": "", "context": {}, "expect": {"output": ""}}"#),
            "a/b: unknown key \"tempalte\"; did you mean \"template\"?"
        );
        assert_eq!(
            fault(r#"{"id": "a/b", "template": "", "context": {}}"#),
            "a/b: missing key \"expect\""
        );
        assert_eq!(
            fault(r#"{"id": "a/b", "template": "", "context": {}, "expect": {"generation": []}}"#),
            "a/b: \"expect\": missing key \"output\""
        );
        assert!(
            fault(r#"{"id": "a/b", "template": "", "context": {}, "now": "noon", "expect": {"output": ""}}"#).contains("\"now\"")
        );
    }

    #[test]
    fn a_port_is_not_sent_the_answer() {
        let case = Case::read(r#"{"id": "a/b", "rule": "r", "template": "1", "context": {"x": 1.0}, "expect": {"output": "1"}}"#);
        let case = case.unwrap();
        assert_eq!(case.request(), r#"{"id":"a/b","template":"1","context":{"x":1.0}}"#);
        assert_eq!([case.template_text(), case.context_text()], ["1", r#"{"x":1.0}"#]);
        let apply = r#"{"id": "a/b", "apply": {"template": {"default": "D"}, "messages": []}, "expect": {"output": "D"}}"#;
        let apply = Case::read(apply).unwrap();
        assert_eq!(
            [apply.template_text(), apply.context_text()],
            ["default:\nD\n", r#"{"messages":[]}"#]
        );
        assert_eq!(Case::read(&case.to_line()).unwrap().to_line(), case.to_line());
        assert!(case.matches_name("a") && case.matches_name("a/b") && case.matches_name("a/") && !case.matches_name("a/bc"));
        assert!(["a/*", "*b", "*", "a*/*b"].iter().all(|name| case.matches_name(name)));
        assert!(!["b*", "*a", "a*b*c", "a/b*b"].iter().any(|name| case.matches_name(name)));
    }
}
