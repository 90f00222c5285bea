//! Finds the parts of a prompt that the model would write, for templates without `{% generation %}`.
//!
//! ```text
//! <|im_start|>assistant⏎ Hello <|im_end|>⏎   ->   the model begins after the generation prompt, and ends with the token
//! ```
//!
//! A turn of the assistant is the text that its message owns. The generation prompt at its beginning is found by rendering the messages
//! before it, once for all turns that begin alike.

mod blanks;
pub(super) mod control;
mod openings;
mod prompts;
mod stretches;

use std::borrow::Cow;
use std::ops::Range;

use serde::ser::{Serialize, Serializer};

use super::turns::{Groups, Owned, Part, Stretch, group_by_message};
use crate::error::{Error, Result};
use crate::meter::{Claim, Meter};
use crate::text::truncate::elide;
use crate::trace::{Place, Segment, Spans};
use blanks::{Blanks, count_blanks};
use control::{common_prefix, control_tokens, is_eos};
use openings::{Opening, Openings};
use prompts::Prompt;
pub use stretches::REASONING_FIELDS;

/// Chooses which parts of a prompt count as written by the model. Set the fields that matter, and take the others from [`Default`].
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

/// The spans of the text that the model writes, or the reason why they are not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssistantSpans {
    /// The spans in the text, sorted.
    Known(Spans),
    /// The spans of this template cannot be found. The text is the reason.
    Unknown(String),
}

impl Default for AssistantSpans {
    fn default() -> Self {
        Self::Known(Spans::default())
    }
}

/// Serializes to the form of the conformance protocol, with places in code points: `[[2, 5]]`, or `{"unknown": "why"}`.
impl Serialize for AssistantSpans {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Known(spans) => spans.pairs().serialize(serializer),
            Self::Unknown(reason) => serializer.collect_map([("unknown", reason)]),
        }
    }
}

/// The maximum number of attempts to find a generation prompt of one conversation. An attempt is one render or two.
const MAX_OPENINGS: usize = 6;

/// The maximum number of characters of a generation prompt that a reason quotes.
const MAX_QUOTED: usize = 1000;

/// A prompt in which the text of the assistant is looked for.
struct Conversation<'p> {
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

/// Returns the spans of the text that the model writes.
///
/// # Errors
/// If the steps or the time of the renders are used up, or if a render is cancelled.
fn find_spans(conversation: &Conversation<'_>, mut renders: Openings<'_, '_>) -> Result<AssistantSpans> {
    let Conversation { text, segments, .. } = *conversation;
    renders.meter().charge_items(segments.len().saturating_mul(4))?;
    let groups = group_by_message(segments);
    let finder = Finder {
        first_tokens: find_first_tokens(text, &groups, renders.meter())?,
        scene: Scene {
            conversation,
            blanks: Blanks::new(text, renders.meter())?,
        },
        renders,
        prompts: Vec::new(),
        openings: 0,
        claims: Vec::new(),
    };
    match finder.find(&groups) {
        Ok(spans) => Ok(AssistantSpans::Known(Spans::from_bytes(spans, text))),
        Err(Failure::Unknown(reason)) => Ok(AssistantSpans::Unknown(reason)),
        Err(Failure::Stopped(error)) => Err(error),
    }
}

/// Why there are no spans.
enum Failure {
    /// The spans cannot be found, for this reason.
    Unknown(String),
    /// A limit is reached.
    Stopped(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Stopped(error)
    }
}

/// A prompt, and the long runs of white space in its text.
struct Scene<'p> {
    conversation: &'p Conversation<'p>,
    blanks: Blanks<'p>,
}

struct Finder<'f, 'p, 'm> {
    scene: Scene<'p>,
    renders: Openings<'f, 'm>,
    /// The generation prompts that are known.
    prompts: Vec<Prompt<'p>>,
    /// The number of attempts to find a generation prompt so far.
    openings: usize,
    /// The memory of the parts that are reasoning, and of the spans between them.
    claims: Vec<Claim>,
    /// The first two control tokens before the first field of a message, as [`find_first_tokens`] returns them.
    first_tokens: Vec<&'p str>,
}

impl<'p> Scene<'p> {
    fn text(&self, range: Range<usize>) -> &'p str {
        self.conversation.text.get(range).unwrap_or_default()
    }

    /// Returns the end of a part of the text without the white space at its end.
    fn trim_end(&self, part: &Range<usize>) -> usize {
        self.blanks.trim_end(part)
    }

    /// Returns the start of a part of the text without the white space at its start.
    fn trim_start(&self, part: &Range<usize>) -> usize {
        self.blanks.trim_start(part)
    }

    /// Returns whether the model writes the messages of the role of this message.
    fn counts(&self, message: usize) -> bool {
        let Conversation { roles, options, .. } = self.conversation;
        roles.get(message).is_some_and(|role| options.roles.contains(role))
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

    /// Returns whether the template prints whole messages: the key `role`, or text from the list of messages as a whole while a message
    /// that counts owns no text.
    fn has_whole_messages(&self, groups: &Groups<'_>) -> bool {
        let Conversation { segments, roles, .. } = *self.conversation;
        let counted = (0..roles.len()).filter(|message| self.counts(*message)).count();
        let loses = groups.iter().filter(|owned| self.counts(owned.message)).count() < counted;
        let is_whole = |segment: &Segment| {
            let Some(paths) = segment.input() else { return false };
            match segment.place {
                Place::Input { path, is_key: true, .. } => paths.depth(path) == ROLE_DEPTH && paths.step(path) == "role",
                _ => {
                    loses
                        && segment
                            .path_indices()
                            .any(|path| matches!(Part::find(paths, path).0, Part::Root | Part::Messages))
                }
            }
        };
        segments.iter().any(is_whole)
    }
}

impl<'p> Finder<'_, 'p, '_> {
    fn find(mut self, groups: &Groups<'_>) -> std::result::Result<Vec<Range<usize>>, Failure> {
        if self.scene.has_whole_messages(groups) {
            return Err(Failure::Unknown("the template prints messages as values".to_owned()));
        }
        self.read_prompt()?;
        let mut spans: Vec<Range<usize>> = Vec::new();
        let mut last_end = None;
        for owned in groups.iter() {
            let message = owned.message;
            let (Some(first), Some(last)) = (owned.stretches.first(), owned.stretches.last()) else {
                continue;
            };
            if !self.scene.counts(message) {
                last_end = None;
                continue;
            }
            self.renders.meter().charge_items(owned.stretches.len().saturating_mul(8))?;
            let start = self.find_start(&owned, &first.range(), last_end)?;
            last_end = Some(last.end);
            if self.scene.conversation.options.last_turn_only {
                spans.clear();
            }
            let limit = self.find_limit(&owned);
            for stretch in owned.stretches {
                let start = if stretch == first { start } else { stretch.start };
                if stretch != first && self.scene.is_quoted(stretch) {
                    continue;
                }
                let part = start..stretch.end.min(limit);
                self.add_stretch(&owned, part, limit, &mut spans)?;
            }
        }
        spans.sort_by_key(|span| span.start);
        // The token that ends a turn can be text of the next message, and then begins the span of that message too.
        let mut limit = usize::MAX;
        for span in spans.iter_mut().rev() {
            span.end = span.end.min(limit);
            limit = span.start;
        }
        spans.retain(|span| span.start < span.end);
        Ok(spans)
    }

    /// Takes the generation prompt from the end of the text, if it is there. A text can also end with the end-of-sequence token.
    fn read_prompt(&mut self) -> Result<()> {
        let Conversation {
            text,
            segments,
            roles,
            is_prompted,
            ..
        } = *self.scene.conversation;
        let after = segments.iter().rposition(|segment| segment.message().is_some());
        let Some(first) = after.and_then(|last| segments.get(last.saturating_add(1))) else {
            return Ok(());
        };
        let start = self.scene.trim_start(&(first.bytes().start..text.len()));
        let prompt = self.scene.text(start..text.len());
        if is_prompted && !prompt.is_empty() && !is_eos(first) {
            let prompt = Cow::Borrowed(prompt);
            let before = roles.last().copied();
            self.prompts
                .push(Prompt::new(&self.scene, self.renders.meter(), before, prompt)?);
        }
        Ok(())
    }

    /// Returns where the model begins to write a message. `last_end` is the end of the message before, if it counts too.
    fn find_start(
        &mut self,
        owned: &Owned<'_>,
        first: &Range<usize>,
        last_end: Option<usize>,
    ) -> std::result::Result<usize, Failure> {
        let message = owned.message;
        let roles = self.scene.conversation.roles;
        let before = message.checked_sub(1).and_then(|index| roles.get(index)).copied();
        for is_alike in [true, false] {
            let is_tried = |prompt: &&Prompt<'_>| (prompt.before == before) == is_alike && !prompt.text.is_empty();
            for prompt in self.prompts.iter().filter(is_tried) {
                if let Some(start) = prompt.find(&self.scene, self.renders.meter(), first)? {
                    return Ok(start);
                }
            }
        }
        if self
            .prompts
            .iter()
            .any(|prompt| prompt.before == before && prompt.text.is_empty())
        {
            return Ok(first.start);
        }
        if roles.get(message).is_some_and(|role| *role != "assistant") {
            if let Some(body) = owned.printed(first).first() {
                return Ok(body.start);
            }
        }
        let mut tried: Option<Cow<'_, str>> = None;
        for is_short in [false, true] {
            let Some(prompt) = self.find_prompt(message, first, is_short, tried.as_deref())? else {
                continue;
            };
            let (scene, meter) = (&self.scene, self.renders.meter());
            let prompt = Prompt::new(scene, meter, before, Cow::Owned(prompt))?;
            let start = if prompt.text.is_empty() {
                Some(first.start)
            } else {
                match prompt.find(scene, meter, first)? {
                    Some(start) => Some(start),
                    None => prompt.find_end(scene, meter, owned, first)?,
                }
            };
            if let Some(start) = start {
                self.prompts.push(prompt);
                return Ok(start);
            }
            tried = Some(prompt.text);
        }
        if last_end.is_some_and(|end| self.scene.trim_start(&(end..first.start)) >= first.start) {
            return Ok(first.start);
        }
        Err(Failure::Unknown(match tried {
            Some(prompt) => {
                let prompt = elide(&prompt, MAX_QUOTED);
                format!("message {message} does not begin with the generation prompt {prompt:?}")
            }
            None => format!("the template does not render the generation prompt before message {message}"),
        }))
    }

    /// Renders the generation prompt before a message, or with `is_short` the one after a single message of a user, and returns it without
    /// white space at its start. `tried` is another prompt in memory.
    fn find_prompt(&mut self, message: usize, first: &Range<usize>, is_short: bool, tried: Option<&str>) -> Result<Option<String>> {
        if self.openings >= MAX_OPENINGS {
            return Ok(None);
        }
        self.openings = self.openings.saturating_add(1);
        let prompts = self.prompts.iter().map(|prompt| prompt.text.as_ref());
        let texts = prompts.chain(tried).chain([self.scene.conversation.text]);
        let held = texts.fold(0_usize, |held, text| held.saturating_add(text.len()));
        let opening = if is_short {
            Opening::Greeting(true)
        } else {
            Opening::Before(message)
        };
        let Some(mut opened) = self.renders.render(opening, held)? else {
            return Ok(None);
        };
        let mut start = if is_short {
            let held = held.saturating_add(opened.len());
            let Some(closed) = self.renders.render(Opening::Greeting(false), held)? else {
                return Ok(None);
            };
            self.renders.meter().charge_scan(opened.len())?;
            let start = common_prefix(&opened, &closed);
            let token = control_tokens(&opened).find(|token| token.start < start && start < token.end);
            token.map_or(start, |token| token.start)
        } else {
            self.renders.meter().charge_scan(opened.len())?;
            let before = self.scene.text(0..self.scene.trim_end(&(0..first.start)));
            if !opened.starts_with(before) {
                return Ok(None);
            }
            before.len()
        };
        start = start.saturating_add(count_blanks(opened.get(start..).unwrap_or_default()));
        opened.drain(..start);
        opened.shrink_to_fit();
        Ok(Some(opened))
    }

    /// Returns where the text of the messages ends. A template can write the generation prompt in the turn of the last message.
    fn find_limit(&self, owned: &Owned<'_>) -> usize {
        let length = self.scene.conversation.text.len();
        let end = owned.printed(&(0..length)).last().map_or(0, |printed| printed.end);
        let limits = self.prompts.iter().filter_map(|prompt| prompt.limit(end));
        limits.min().unwrap_or(length)
    }
}

/// Returns the first two control tokens before the first field of a message, which begin the text or a turn.
fn find_first_tokens<'t>(text: &'t str, groups: &Groups<'_>, meter: &mut Meter<'_>) -> Result<Vec<&'t str>> {
    let bodies = groups
        .iter()
        .filter_map(|owned| owned.printed(&owned.stretches.first()?.range()).first());
    let end = bodies.map(|body| body.start).min().unwrap_or(text.len());
    meter.charge_scan(end)?;
    let header = text.get(..end).unwrap_or_default();
    Ok(control_tokens(header).take(2).filter_map(|token| header.get(token)).collect())
}

/// The depth of the path of a role, `/messages/0/role`.
const ROLE_DEPTH: usize = 3;
