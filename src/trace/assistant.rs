//! Finds the parts of a prompt that the model would write, for templates without `{% generation %}`.
//!
//! ```text
//! <|im_start|>assistant⏎ Hello <|im_end|>⏎   ->   the model begins after the generation prompt, and ends with the token
//! ```
//!
//! A turn of the assistant is the text that its message owns. The generation prompt at its beginning is found by rendering the messages
//! before it, once for all turns that begin alike.

use std::ops::Range;

use serde::ser::{Serialize, Serializer};

use super::control::{common_prefix, control_token, control_tokens, is_eos, last_control_token, prompt_edges};
use super::paths::Part;
use super::turns::{Groups, Owned, Stretch, find_fields, group_by_message};
use super::{Place, Segment, Spans};
use crate::error::{Error, ErrorKind, Result};

/// The choice of the parts of a prompt that count as written by the model. Set the fields that matter, and take the others from [`Default`].
///
/// The options are for templates without `{% generation %}`. A template that has such blocks decides by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AssistantOptions<'o> {
    /// The roles of the messages that the model writes. The default is `assistant`. The spans of any other role begin after the header of
    /// its message.
    pub roles: &'o [&'o str],
    /// Whether the spans include the token that ends the turn. The default is true.
    pub end_of_turn: bool,
    /// Whether the spans include the reasoning and the tags around it. The default is true.
    pub reasoning: bool,
    /// Whether only the last message of these roles has spans. The default is false.
    pub last_turn_only: bool,
    /// Whether the spans include the white space after the end of the turn, such as a line break. The default is false.
    pub trailing_space: bool,
}

impl Default for AssistantOptions<'_> {
    fn default() -> Self {
        Self {
            roles: &["assistant"],
            end_of_turn: true,
            reasoning: true,
            last_turn_only: false,
            trailing_space: false,
        }
    }
}

/// The places of what the model would write, or why they are not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssistantSpans {
    /// The places in the text, sorted.
    Known(Spans),
    /// The spans of this template cannot be found. The text is the reason.
    Unknown(String),
}

impl Default for AssistantSpans {
    fn default() -> Self {
        Self::Known(Spans::default())
    }
}

impl AssistantSpans {
    /// Returns the spans.
    ///
    /// # Errors
    /// If the spans are not known. The message says why.
    pub fn known(&self) -> Result<&Spans> {
        match self {
            Self::Known(spans) => Ok(spans),
            Self::Unknown(reason) => {
                let message = format!("it is unknown which text the model writes: {reason}");
                Err(Error::new(ErrorKind::Runtime, message).without_line())
            }
        }
    }
}

/// The form of the conformance protocol, whose places are in code points: `[[2, 5]]`, or `{"unknown": "why"}`.
impl Serialize for AssistantSpans {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Known(spans) => spans.pairs().serialize(serializer),
            Self::Unknown(reason) => serializer.collect_map([("unknown", reason)]),
        }
    }
}

/// A conversation whose prompt shows the generation prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// The messages before an index, with the generation prompt.
    Before(usize),
    /// One message of a user, with or without the generation prompt.
    Greeting(bool),
}

/// The maximum number of renders that find generation prompts of one conversation.
const MOST_OPENINGS: usize = 6;

/// A prompt whose assistant's text is to be found.
pub struct Conversation<'p> {
    /// The text of the prompt.
    pub text: &'p str,
    /// The parts of the prompt with their origins.
    pub segments: &'p [Segment],
    /// The role of each message.
    pub roles: &'p [&'p str],
    /// Whether the text ends with a generation prompt.
    pub is_prompted: bool,
    /// The options that say which characters the spans include.
    pub options: &'p AssistantOptions<'p>,
}

/// Returns what the model would write. `render` returns the text of another conversation with the same template and variables.
pub fn find_assistant(conversation: &Conversation<'_>, render: &mut dyn FnMut(Opening) -> Option<String>) -> AssistantSpans {
    let groups = group_by_message(conversation.segments);
    let finder = Finder {
        conversation,
        render,
        prompts: Vec::new(),
        openings: 0,
        first_tokens: find_first_tokens(conversation.text, &groups),
    };
    match finder.find(&groups) {
        Ok(spans) => AssistantSpans::Known(Spans::from_segments(spans, conversation.text, conversation.segments)),
        Err(reason) => AssistantSpans::Unknown(reason),
    }
}

struct Finder<'f, 'p> {
    conversation: &'f Conversation<'p>,
    render: &'f mut dyn FnMut(Opening) -> Option<String>,
    /// The generation prompts that are known, each with the role of the message before it.
    prompts: Vec<(Option<&'p str>, String)>,
    openings: usize,
    /// The first two control tokens of the text, which begin the text or the first turn.
    first_tokens: Vec<&'p str>,
}

impl<'p> Finder<'_, 'p> {
    fn find(mut self, groups: &Groups<'_>) -> std::result::Result<Vec<Range<usize>>, String> {
        let Conversation { segments, roles, .. } = *self.conversation;
        let counted = (0..roles.len()).filter(|message| self.counts(*message)).count();
        let loses = groups.iter().filter(|owned| self.counts(owned.message)).count() < counted;
        let is_whole = |segment: &Segment| {
            let Some(paths) = segment.paths.get() else { return false };
            match segment.place {
                Place::Input { path, is_key: true, .. } => paths.depth(path) == ROLE_DEPTH && paths.step(path) == "role",
                _ => {
                    loses
                        && segment
                            .path_indices()
                            .any(|path| matches!(paths.part(path).0, Part::Root | Part::Messages))
                }
            }
        };
        if segments.iter().any(is_whole) {
            return Err("the template prints messages as values".to_owned());
        }
        self.read_prompt();
        let mut spans: Vec<Range<usize>> = Vec::new();
        let mut last_end = None;
        for owned in groups.iter() {
            let message = owned.message;
            let (Some(first), Some(last)) = (owned.stretches.first(), owned.stretches.last()) else {
                continue;
            };
            if !self.counts(message) {
                last_end = None;
                continue;
            }
            let start = self.find_start(&owned, &first.range(), last_end)?;
            last_end = Some(last.end);
            if self.conversation.options.last_turn_only {
                spans.clear();
            }
            let limit = self.find_limit(&owned);
            for stretch in owned.stretches {
                let start = if stretch == first { start } else { stretch.start };
                if stretch != first && self.is_quoted(stretch) {
                    continue;
                }
                let part = start..stretch.end.min(limit);
                self.add_stretch(&owned, part, limit, &mut spans);
            }
        }
        spans.sort_by_key(|span| span.start);
        Ok(spans)
    }

    /// Takes the generation prompt from the end of the text, if it is there. A text can also end with the end-of-sequence token.
    fn read_prompt(&mut self) {
        let Conversation {
            segments,
            roles,
            is_prompted,
            ..
        } = *self.conversation;
        let after = segments.iter().rposition(|segment| segment.message().is_some());
        let Some(first) = after.and_then(|last| segments.get(last.saturating_add(1))) else {
            return;
        };
        let prompt = self.text(first.bytes().start..self.conversation.text.len()).trim_start();
        if is_prompted && !prompt.is_empty() && !is_eos(first) {
            self.prompts.push((roles.last().copied(), prompt.to_owned()));
        }
    }

    /// Returns whether a stretch is within the text of one other message, such as the name of a call in the result of its tool.
    fn is_quoted(&self, stretch: &Stretch) -> bool {
        let segments = self.conversation.segments;
        let owner = |index: Option<usize>| segments.get(index?)?.message();
        let first = segments.partition_point(|segment| segment.bytes().start < stretch.start);
        let after = segments.partition_point(|segment| segment.bytes().end <= stretch.end);
        let before = owner(first.checked_sub(1));
        before.is_some() && before == owner(Some(after))
    }

    fn text(&self, range: Range<usize>) -> &'p str {
        self.conversation.text.get(range).unwrap_or_default()
    }

    fn counts(&self, message: usize) -> bool {
        let Conversation { roles, options, .. } = self.conversation;
        roles.get(message).is_some_and(|role| options.roles.contains(role))
    }

    /// Returns where the model begins to write a message. `last_end` is the end of the message before, if it counts too.
    fn find_start(
        &mut self,
        owned: &Owned<'_>,
        first: &Range<usize>,
        last_end: Option<usize>,
    ) -> std::result::Result<usize, String> {
        let message = owned.message;
        let roles = self.conversation.roles;
        let before = message.checked_sub(1).and_then(|index| roles.get(index)).copied();
        let is_alike = |(role, prompt): &&(Option<&str>, String)| *role == before && !prompt.is_empty();
        let is_other = |(role, prompt): &&(Option<&str>, String)| *role != before && !prompt.is_empty();
        let is_empty = self.prompts.iter().any(|(role, prompt)| *role == before && prompt.is_empty());
        let mut known = self
            .prompts
            .iter()
            .filter(is_alike)
            .chain(self.prompts.iter().filter(is_other));
        if let Some(start) = known.find_map(|(_, prompt)| self.match_prompt(prompt, first)) {
            return Ok(start);
        }
        if is_empty {
            return Ok(first.start);
        }
        if roles.get(message).is_some_and(|role| *role != "assistant") {
            if let Some(body) = owned.printed(first).first() {
                return Ok(body.start);
            }
        }
        let mut tried = None;
        for is_short in [false, true] {
            let Some(prompt) = self.find_prompt(message, first, is_short) else {
                continue;
            };
            let start = if prompt.is_empty() {
                Some(first.start)
            } else {
                self.match_prompt(&prompt, first)
                    .or_else(|| self.match_prompt_end(&prompt, owned, first))
            };
            if let Some(start) = start {
                self.prompts.push((before, prompt));
                return Ok(start);
            }
            tried = Some(prompt);
        }
        if last_end.is_some_and(|end| self.text(end..first.start).trim().is_empty()) {
            return Ok(first.start);
        }
        Err(match tried {
            Some(prompt) => format!("message {message} does not begin with the generation prompt {prompt:?}"),
            None => format!("the template does not render the generation prompt before message {message}"),
        })
    }

    /// Returns the generation prompt before a message, without white space around it, or that after a single message of a user.
    fn find_prompt(&mut self, message: usize, first: &Range<usize>, is_short: bool) -> Option<String> {
        if self.openings >= MOST_OPENINGS {
            return None;
        }
        self.openings = self.openings.saturating_add(1);
        if !is_short {
            let opened = (self.render)(Opening::Before(message))?;
            let prompt = opened.strip_prefix(self.text(0..first.start).trim_end())?;
            return Some(prompt.trim_start().to_owned());
        }
        let opened = (self.render)(Opening::Greeting(true))?;
        let closed = (self.render)(Opening::Greeting(false))?;
        let mut start = common_prefix(&opened, &closed);
        if let Some(token) = control_tokens(&opened).find(|token| token.start < start && start < token.end) {
            start = token.start;
        }
        Some(opened.get(start..).unwrap_or_default().trim_start().to_owned())
    }

    /// Returns where the generation prompt ends that a turn begins with, or that is directly before it.
    fn match_prompt(&self, prompt: &str, turn: &Range<usize>) -> Option<usize> {
        let text = self.text(turn.clone());
        let space = text.len().saturating_sub(text.trim_start().len());
        let text = text.trim_start();
        let edge = if text.starts_with(prompt) {
            prompt.len()
        } else {
            let common = common_prefix(prompt, text);
            prompt_edges(prompt).filter(|edge| *edge <= common).max().unwrap_or_default()
        };
        if edge > 0 {
            return Some(turn.start.saturating_add(space).saturating_add(edge));
        }
        let before = self.text(0..turn.start).trim_end();
        before.ends_with(prompt.trim_end()).then_some(turn.start)
    }

    /// Returns the end of the generation prompt within the header of a turn, or `None` if the header does not have it. The header can lack the
    /// start of the generation prompt, which may end the previous turn, and can have a token for the start of the text.
    fn match_prompt_end(&self, prompt: &str, owned: &Owned<'_>, turn: &Range<usize>) -> Option<usize> {
        let body = owned.printed(turn).first()?;
        let header = self.text(turn.start..body.start);
        let find = |edge: usize| {
            let end = prompt.get(edge..)?.trim_start();
            let at = header.rfind(end.trim_end()).filter(|_| !end.is_empty())?;
            let length = common_prefix(end, header.get(at..)?);
            Some(turn.start.saturating_add(at).saturating_add(length))
        };
        std::iter::once(0).chain(prompt_edges(prompt)).find_map(find)
    }

    /// Returns where the text of the messages ends. A template can write the generation prompt in the turn of the last message.
    fn find_limit(&self, owned: &Owned<'_>) -> usize {
        let text = self.conversation.text.trim_end();
        let whole = 0..self.conversation.text.len();
        let end = owned.printed(&whole).last().map_or(0, |printed| printed.end);
        let prompts = self.prompts.iter().filter(|(_, prompt)| !prompt.is_empty());
        let limits = prompts.filter_map(|(_, prompt)| Some(text.strip_suffix(prompt.trim_end())?.len()));
        limits.filter(|limit| *limit >= end).min().unwrap_or(whole.end)
    }

    /// Adds what the model writes of a stretch of a message.
    fn add_stretch(&self, owned: &Owned<'_>, part: Range<usize>, limit: usize, spans: &mut Vec<Range<usize>>) {
        let options = self.conversation.options;
        let (start, mut end) = (
            part.start,
            part.start.saturating_add(self.text(part.clone()).trim_end().len()),
        );
        let printed = owned.printed(&part);
        let body_end = printed.last().map_or(start, |printed| printed.end).max(start);
        let own_close = last_control_token(self.text(body_end..end)).filter(|token| body_end.saturating_add(token.end) == end);
        match (own_close, options.end_of_turn) {
            (Some(token), false) => {
                end = start.saturating_add(self.text(start..body_end.saturating_add(token.start)).trim_end().len())
            }
            (None, true) if part.end < limit => match self.close_after(part.end, owned.message) {
                0 => {}
                length => end = part.end.saturating_add(length),
            },
            _ => {}
        }
        if start >= end {
            return;
        }
        if options.trailing_space && options.end_of_turn {
            let rest = self.text(end..limit.max(end));
            end = end.saturating_add(rest.len().saturating_sub(rest.trim_start().len()));
        }
        let mut cuts = find_foreign(owned, &(start..end), printed);
        if !options.reasoning {
            cuts.extend(self.find_reasoning(owned, &(start..end), printed));
        }
        cuts.sort_by_key(|cut| cut.start);
        let mut at = start;
        for cut in cuts {
            if at < cut.start {
                spans.push(at..cut.start);
            }
            at = at.max(cut.end);
        }
        if at < end {
            spans.push(at..end);
        }
    }

    /// Returns the length of the token that ends a turn if the template writes it after the turn: the end-of-sequence token, or a token
    /// that the generation prompt begins with, and that is not the header of a turn.
    fn close_after(&self, end: usize, message: usize) -> usize {
        let Conversation {
            text, segments, roles, ..
        } = self.conversation;
        let role = roles.get(message).copied().unwrap_or_default();
        let next = segments.get(segments.partition_point(|segment| segment.bytes().start < end));
        if let Some(segment) = next {
            if is_eos(segment) && segment.bytes().start == end {
                return segment.bytes().len();
            }
        }
        let rest = text.get(end..).unwrap_or_default();
        let Some(token) = control_token(rest).and_then(|length| rest.get(..length)) else {
            return 0;
        };
        let begins = |prompt: &str| {
            let rest = prompt.strip_prefix(token).map(str::trim_start);
            rest.is_some_and(|rest| control_token(rest).is_some())
        };
        let is_header = self.first_tokens.contains(&token) || token.to_ascii_lowercase().contains(role);
        let is_close = !is_header && self.prompts.iter().any(|(_, prompt)| begins(prompt));
        if is_close { token.len() } else { 0 }
    }

    /// Returns the parts of a span that are reasoning, with the tags around them.
    fn find_reasoning(&self, owned: &Owned<'_>, span: &Range<usize>, printed: &[Stretch]) -> Vec<Range<usize>> {
        let mut cuts = Vec::new();
        let mut add = |mut cut: Range<usize>| {
            let rest = self.text(cut.end..span.end);
            cut.end = cut.end.saturating_add(rest.len().saturating_sub(rest.trim_start().len()));
            cuts.push(cut);
        };
        let is_reasoning = |segment: &&Segment| {
            let paths = segment.paths.get();
            paths.is_some_and(|paths| find_fields(segment, paths).any(|field| paths.is_field(field, &REASONING_FIELDS)))
        };
        for segment in owned.within(span).filter(is_reasoning) {
            let bytes = segment.bytes();
            if bytes.start < span.start || bytes.end > span.end {
                continue;
            }
            let before = printed
                .iter()
                .rfind(|own| own.end <= bytes.start)
                .map_or(span.start, |own| own.end.max(span.start));
            let opening = last_control_token(self.text(before..bytes.start)).map_or(0, |token| token.start);
            let opening = if before == span.start { 0 } else { opening };
            let after = printed
                .iter()
                .find(|own| own.start >= bytes.end)
                .map_or(span.end, |own| own.start.min(span.end));
            let closing = control_tokens(self.text(bytes.end..after))
                .next()
                .map_or(0, |token| token.end);
            add(before.saturating_add(opening)..bytes.end.saturating_add(closing));
        }
        let text = self.text(span.clone());
        let mut start = 0_usize;
        for token in control_tokens(text) {
            let name = text.get(token.clone()).unwrap_or_default().to_ascii_lowercase();
            match (name.contains("think"), name.contains('/')) {
                (true, true) => {
                    add(span.start.saturating_add(start)..span.start.saturating_add(token.end));
                    start = token.end;
                }
                (true, false) => start = token.start,
                _ => {}
            }
        }
        cuts
    }
}

/// Returns the parts of a span that come from other messages, tools or documents, with the template's text around them.
fn find_foreign(owned: &Owned<'_>, span: &Range<usize>, printed: &[Stretch]) -> Vec<Range<usize>> {
    let foreign = owned
        .foreign
        .iter()
        .filter(|foreign| foreign.start < span.end && foreign.end > span.start);
    let cuts = foreign.map(|foreign| {
        let before = printed.partition_point(|own| own.end <= foreign.start);
        let start = before
            .checked_sub(1)
            .and_then(|index| printed.get(index))
            .map_or(span.start, |own| own.end.max(span.start));
        let end = printed.get(before).map_or(foreign.end, |own| own.start);
        start..end.min(span.end)
    });
    cuts.collect()
}

/// Returns the first two control tokens before the first field of a message, which begin the text or a turn.
fn find_first_tokens<'t>(text: &'t str, groups: &Groups<'_>) -> Vec<&'t str> {
    let bodies = groups
        .iter()
        .filter_map(|owned| owned.printed(&owned.stretches.first()?.range()).first());
    let end = bodies.map(|body| body.start).min().unwrap_or(text.len());
    let header = text.get(..end).unwrap_or_default();
    control_tokens(header).take(2).filter_map(|token| header.get(token)).collect()
}

/// The number of steps to the role of a message.
const ROLE_DEPTH: usize = 3;

/// The names of the field with the reasoning.
const REASONING_FIELDS: [&str; 3] = ["reasoning_content", "thinking", "reasoning"];
