//! The picture of a prompt: each character in the colour of its origin or of its message.
//!
//! ```text
//! <|im_start|>user⏎        line 3 of the template, /messages/0/role, line 3
//! Hi<|im_end|>⏎            /messages/0/content, line 3
//! ```
//!
//! [`Picture::terminal`] draws it for a terminal, and [`Picture::page`] as an HTML page.

mod options;
mod page;
mod terminal;

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use crate::conformance::{sign, visible};
use chat_template::json::Data;
use chat_template::{Bounds, ControlToken, Origin, Prompt, Segment, TokenOrigin};

use super::show::warn_of_mask;

pub use options::Explained;
pub use page::{frame, legend};
pub use terminal::{By, GREEN, GREY, ORANGE, RED, paint};

/// A traced prompt with what is shown beside it.
pub struct Picture<'p> {
    prompt: &'p Prompt,
    tokens: Vec<ControlToken>,
    roles: Vec<&'p str>,
    warnings: Vec<String>,
}

/// A part of a prompt whose characters have one origin and are in one part of a turn. Either all of them are written by the model or none
/// is, and either all are in a control token or none is.
struct Part<'p> {
    text: &'p str,
    segment: &'p Segment,
    /// The index of the segment.
    index: usize,
    /// Whether the model writes the characters.
    is_assistant: bool,
    /// The part of the turn: header, body or close.
    turn: Option<&'static str>,
    token: Option<&'p ControlToken>,
    /// Whether the part belongs to a control token that the input wrote.
    is_untrusted: bool,
}

impl<'p> Picture<'p> {
    /// Makes the picture of a traced prompt, in which [`Prompt::untrusted`] are the control tokens that the input wrote. `tokens` are all
    /// control tokens, `messages` the conversation, `bos` the token that begins a prompt, and `unread` the first warnings.
    pub fn new(
        prompt: &'p Prompt,
        tokens: &[&str],
        messages: Option<&'p Data<'_>>,
        bos: Option<&str>,
        unread: Vec<String>,
    ) -> Result<Self, String> {
        let role = |message: &'p Data<'_>| match message {
            Data::Object(message) => match message.get("role") {
                Some(Data::Str(role)) => &**role,
                _ => "",
            },
            _ => "",
        };
        let mut picture = Self {
            prompt,
            tokens: prompt
                .control_tokens(tokens, Bounds::default())
                .map_err(|error| error.to_string())?,
            roles: match messages {
                Some(Data::List(messages)) => messages.iter().map(role).collect(),
                _ => Vec::new(),
            },
            warnings: unread,
        };
        if let Some(warning) = bos.and_then(|bos| warn_of_repeated_bos(&prompt.text, bos)) {
            picture.warnings.push(warning);
        }
        let mut seen = HashSet::new();
        let untrusted = prompt.untrusted.iter().map(|token| picture.warn_of_token(token));
        let untrusted = untrusted.filter(|warning| seen.insert(warning.clone()));
        let mut untrusted: Vec<String> = untrusted.take(MAX_WARNINGS + 1).collect();
        if untrusted.len() > MAX_WARNINGS {
            untrusted.truncate(MAX_WARNINGS);
            untrusted.push("warning: further control tokens of the input are not listed".to_owned());
        }
        picture.warnings.extend(untrusted);
        picture.warnings.extend(warn_of_mask(prompt.assistant_spans(), messages));
        Ok(picture)
    }

    /// Returns the parts of the prompt from left to right.
    fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let spans = self.assistant();
        let turns = self.turns();
        let mut edges: Vec<usize> = self
            .tokens
            .iter()
            .flat_map(|token| [token.bytes.start, token.bytes.end])
            .collect();
        let turn_ranges = turns.iter().map(|(range, _)| range);
        edges.extend(spans.iter().chain(turn_ranges).flat_map(|range| [range.start, range.end]));
        edges.sort_unstable();
        edges.dedup();
        let mut edges = edges.into_iter().peekable();
        let mut segments = self.prompt.segments().iter().enumerate();
        // The segment of the last part and the end of the part, if the segment goes on after it.
        let mut open = None;
        std::iter::from_fn(move || {
            let (index, segment, start) = match open.take() {
                Some(rest) => rest,
                None => segments
                    .next()
                    .map(|(index, segment)| (index, segment, segment.bytes().start))?,
            };
            while edges.next_if(|edge| *edge <= start).is_some() {}
            let end = edges
                .peek()
                .map_or(segment.bytes().end, |edge| segment.bytes().end.min(*edge));
            open = (end < segment.bytes().end).then_some((index, segment, end));
            let holds = |range: &Range<usize>| range.start <= start && start < range.end;
            let token = self.tokens.partition_point(|token| token.bytes.end <= start);
            let token = self.tokens.get(token).filter(|token| holds(&token.bytes));
            let span = spans.get(spans.partition_point(|span| span.end <= start));
            let turn = turns.get(turns.partition_point(|(range, _)| range.end <= start));
            Some(Part {
                text: self.prompt.text.get(start..end).unwrap_or_default(),
                segment,
                index,
                is_assistant: span.is_some_and(holds),
                turn: turn.filter(|(range, _)| holds(range)).map(|(_, name)| *name),
                token,
                is_untrusted: token.is_some_and(|token| self.is_untrusted(token)),
            })
        })
    }

    /// Returns the byte ranges of what the model writes, sorted.
    fn assistant(&self) -> Vec<Range<usize>> {
        self.prompt.assistant_spans().spans().bytes
    }

    /// Returns the parts of the turns with their names, sorted.
    fn turns(&self) -> Vec<(Range<usize>, &'static str)> {
        let mut parts = Vec::new();
        for turn in self.prompt.turns() {
            for (name, spans) in [("header", turn.header), ("body", turn.body), ("close", turn.close)] {
                parts.extend(spans.bytes.into_iter().map(|range| (range, name)));
            }
        }
        parts.sort_by_key(|(range, _)| range.start);
        parts
    }

    /// Returns whether a token is one of [`Prompt::untrusted`], which are sorted.
    fn is_untrusted(&self, token: &ControlToken) -> bool {
        let untrusted = &self.prompt.untrusted;
        let index = untrusted.partition_point(|other| other.bytes.start < token.bytes.start);
        untrusted.get(index) == Some(token)
    }

    /// Returns whether a part of the prompt has an origin of this kind.
    fn has(&self, kind: &str) -> bool {
        self.prompt.segments().iter().any(|segment| kind_of(segment) == kind)
    }

    /// Returns the indices of the messages that own a part of the prompt.
    fn owners(&self) -> Vec<usize> {
        let mut owners: Vec<usize> = self
            .prompt
            .segments()
            .iter()
            .filter_map(|segment| segment.message())
            .collect();
        owners.sort_unstable();
        owners.dedup();
        owners
    }

    fn warn_of_token(&self, token: &ControlToken) -> String {
        let text = self.prompt.text.get(token.bytes.clone()).unwrap_or_default();
        let path = shorten(token.path.as_deref().unwrap_or_default(), MAX_HALF);
        let owner = token
            .message
            .map_or_else(|| "the input".to_owned(), |index| self.name_message(index));
        let with = match token.origin {
            TokenOrigin::Mixed => "forms, with text of the template,",
            TokenOrigin::Input | TokenOrigin::Template => "has",
        };
        format!("warning: {owner} {with} the control token {text} at {path}")
    }

    /// Returns the name of a message: its number from 1, and its role.
    fn name_message(&self, index: usize) -> String {
        let number = index + 1;
        match self.roles.get(index) {
            Some(role) if !role.is_empty() => format!("message {number} ({})", visible(&shorten(role, MAX_HALF_ROLE))),
            _ => format!("message {number}"),
        }
    }
}

/// Returns a warning if two tokens that begin a prompt follow each other with nothing or blanks between them.
fn warn_of_repeated_bos(text: &str, bos: &str) -> Option<String> {
    let mut end = None;
    let mut follows_another = |at: usize| {
        let is_blank = |end: usize| text.get(end..at).is_some_and(|between| between.trim().is_empty());
        end.replace(at + bos.len()).is_some_and(is_blank)
    };
    let is_repeated = !bos.is_empty() && text.match_indices(bos).any(|(at, _)| follows_another(at));
    is_repeated.then(|| format!("warning: the prompt has the token {bos} twice in a row"))
}

/// Returns the name of the kind of a segment's origin, which is also its CSS class.
fn kind_of(segment: &Segment) -> &'static str {
    match segment.origin() {
        Origin::Template { .. } => "template",
        Origin::Token { .. } => "token",
        Origin::Input { .. } => "input",
        Origin::Changed { .. } => "changed",
        Origin::Clock => "clock",
        _ => "made",
    }
}

/// The largest number of bytes that are shown of each end of a JSON pointer.
const MAX_HALF: usize = 500;

/// The largest number of bytes that are shown of each end of a role.
const MAX_HALF_ROLE: usize = 50;

/// The largest number of warnings about control tokens of the input.
const MAX_WARNINGS: usize = 1000;

/// The number of bytes at which a picture ends.
const MAX_BYTES: usize = 16 << 20;

/// What is shown instead of the rest of a prompt.
const REST: &str = "… the rest of the prompt is left out";

/// The kinds of origins, and what the legend says about each.
const KINDS: [(&str, &str); 6] = [
    ("template", "written in the template"),
    ("token", "special token"),
    ("input", "input, unchanged"),
    ("changed", "made from input"),
    ("made", "number, punctuation"),
    ("clock", "time of the clock"),
];

/// Returns the place that a segment came from.
fn place_of(segment: &Segment) -> String {
    match segment.origin() {
        Origin::Template { line } => format!("line {line}"),
        Origin::Token { name } => visible(name),
        Origin::Input { path, is_key, .. } if is_key => format!("key of {}", visible(&shorten(path, MAX_HALF))),
        Origin::Input { path, .. } => visible(&shorten(path, MAX_HALF)),
        Origin::Changed { paths } => {
            let paths: Vec<Cow<'_, str>> = paths
                .iter()
                .map(|path| {
                    if path.is_empty() {
                        "the input".into()
                    } else {
                        visible(&shorten(path, MAX_HALF)).into()
                    }
                })
                .collect();
            paths.join(", ")
        }
        Origin::Clock => "the clock".to_owned(),
        _ => "made".to_owned(),
    }
}

/// Returns a string, or at most `half` bytes of each of its ends.
fn shorten(text: &str, half: usize) -> Cow<'_, str> {
    let mut end = text.len().saturating_sub(half);
    if half >= end {
        return text.into();
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    format!("{}…{}", cut(text, half), text.get(end..).unwrap_or_default()).into()
}

/// Returns at most `length` bytes of the start of a string.
fn cut(text: &str, length: usize) -> &str {
    let mut end = length.min(text.len());
    while !text.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    text.get(..end).unwrap_or_default()
}

/// Returns the sign that shows a character, or `None` if the character is visible.
fn sign_of(char: char) -> Option<String> {
    match char {
        ' ' => Some("·".to_owned()),
        char => sign(char),
    }
}

#[cfg(test)]
mod tests;
