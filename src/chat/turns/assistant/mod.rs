//! Finds the parts of a prompt that the model would write, for templates without `{% generation %}`.
//!
//! ```text
//! <|im_start|>assistant⏎ Hello <|im_end|>⏎   ->   the model begins after the generation prompt, and ends with the token
//! ```
//!
//! A turn of the assistant is the text that its message owns. The generation prompt at its beginning is found by rendering the messages
//! before it, once for all turns that begin alike.

mod answer;
mod blanks;
pub(in crate::chat) mod control;
mod edges;
mod openings;
mod prompts;
mod stretches;

use std::borrow::Cow;
use std::ops::Range;

use super::groups::{Groups, Owned, Stretch, group_by_message};
use crate::error::Result;
use crate::meter::Claim;
use crate::text::message::elide;
use crate::trace::{InputPart, Part as Piece, Place, Trace};
use answer::Found;
pub use answer::{AssistantOptions, AssistantSpans};
use blanks::{Blanks, count_blanks};
use control::{common_prefix, common_suffix, control_tokens, is_eos, prompt_edges};
use edges::{find_first_tokens, find_user_close};
use openings::{Opening, Openings};
use prompts::{KnownPrompt, Match};
pub use stretches::REASONING_FIELDS;

/// The maximum number of attempts to find a generation prompt of one conversation. An attempt is one render or two.
const MAX_OPENINGS: usize = 6;

/// The maximum number of characters of a generation prompt that a reason quotes.
const MAX_QUOTED: usize = 1000;

/// A prompt in which the text of the assistant is looked for.
struct Scene<'p> {
    /// The text of the prompt.
    pub text: &'p str,
    /// The parts of the prompt with their origins.
    pub trace: &'p Trace,
    /// The role of each message.
    pub roles: &'p [&'p str],
    /// Whether each message counts by its keys `weight` and `train`.
    pub are_trained: &'p [bool],
    /// The end-of-sequence token, or an empty string.
    pub eos: &'p str,
    /// Whether the text ends with a generation prompt.
    pub is_prompted: bool,
    /// The options that say which characters the spans include.
    pub options: &'p AssistantOptions<'p>,
    /// The long runs of white space in the text.
    pub blanks: Blanks<'p>,
}

/// Returns the spans of the text that the model writes.
///
/// # Errors
/// If the steps or the time of the renders are used up, or if a render is cancelled.
fn find_spans(scene: Scene<'_>, mut renders: Openings<'_, '_>) -> Result<AssistantSpans> {
    let text = scene.text;
    let groups = group_by_message(scene.trace);
    let (user_close, first_tokens) = (
        find_user_close(&scene, &groups),
        find_first_tokens(text, &groups, renders.meter())?,
    );
    if scene.has_whole_messages(&groups) {
        return Ok(AssistantSpans::unknown("the template prints messages as values"));
    }
    let finder = Finder {
        scene,
        user_close,
        first_tokens,
        renders,
        prompts: Vec::new(),
        before_answer: None,
        openings: 0,
        claims: Vec::new(),
    };
    Ok(AssistantSpans::from_bytes(finder.find(&groups)?, text))
}

/// The start of a turn of the model, or the reason why it cannot be found.
type Start = std::result::Result<usize, String>;

struct Finder<'f, 'p, 'm> {
    scene: Scene<'p>,
    renders: Openings<'f, 'm>,
    /// The generation prompts that are known.
    prompts: Vec<KnownPrompt<'p>>,
    /// The text before a user message, and the text between it and the content of the answer to it, or `None` before the first search for
    /// them.
    before_answer: Option<Option<(String, String)>>,
    /// The number of attempts to find a generation prompt so far.
    openings: usize,
    /// The memory of the parts that are reasoning, and of the spans between them.
    claims: Vec<Claim>,
    /// The control tokens that begin the text and its first turn, as [`find_first_tokens`] returns them.
    first_tokens: Vec<&'p str>,
    /// The text after the last field of the first user message, without white space around it.
    user_close: Option<&'p str>,
}

impl<'p> Scene<'p> {
    fn slice(&self, range: Range<usize>) -> &'p str {
        self.text.get(range).unwrap_or_default()
    }

    /// Returns whether the model writes the messages of the role of this message.
    fn counts(&self, message: usize) -> bool {
        let role = self.roles.get(message);
        role.is_some_and(|role| self.options.roles.contains(role)) && self.are_trained.get(message) != Some(&false)
    }

    /// Returns whether a stretch is within the text of one other message, such as the name of a call in the result of its tool.
    fn is_quoted(&self, stretch: &Stretch) -> bool {
        let segments = self.trace.parts();
        let owner = |index: Option<usize>| segments.get(index?)?.message();
        let first = segments.partition_point(|segment| segment.bytes().start < stretch.start);
        let after = segments.partition_point(|segment| segment.bytes().end <= stretch.end);
        let before = owner(first.checked_sub(1));
        before.is_some() && before == owner(Some(after))
    }

    /// Returns whether the template prints messages as values, as `{{ message }}` does: the key `role` is in the text, or text comes from the
    /// list of messages as a whole while a message of the model has no turn.
    fn has_whole_messages(&self, groups: &Groups<'_>) -> bool {
        let counted = (0..self.roles.len()).filter(|message| self.counts(*message)).count();
        let has_message_without_turn = groups.iter().filter(|owned| self.counts(owned.message)).count() < counted;
        let paths = self.trace.paths();
        let is_whole = |segment: &Piece| match segment.place {
            Place::Input { path, is_key: true, .. } => paths.depth(path) == ROLE_DEPTH && paths.key(path) == "role",
            _ => {
                has_message_without_turn
                    && segment
                        .path_indices(paths)
                        .any(|path| matches!(paths.part(path), InputPart::Root | InputPart::Messages))
            }
        };
        self.trace.parts().iter().any(is_whole)
    }
}

impl<'p> Finder<'_, 'p, '_> {
    /// Finds the spans of each turn of the model, in the order of the text.
    fn find(mut self, groups: &Groups<'_>) -> Result<Vec<Found>> {
        self.read_prompt()?;
        let counted = groups.iter().filter(|owned| self.scene.counts(owned.message)).count();
        self.claims
            .push(self.renders.meter().claim(counted.saturating_mul(TURN_BYTES))?);
        let mut turns: Vec<Found> = Vec::new();
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
            let whole = first.start..last.end;
            let start = if self.scene.blanks.trim_start(&whole) >= whole.end {
                // The template prints nothing of the message but white space.
                Ok(whole.end)
            } else {
                self.find_start(&owned, &first.range(), last_end)?
            };
            if self.scene.options.last_turn_only {
                turns.clear();
            }
            let (spans, has_end) = match start {
                Ok(start) => {
                    last_end = Some(last.end);
                    let (spans, has_end) = self.find_turn(&owned, start)?;
                    (Ok(spans), has_end)
                }
                Err(reason) => {
                    last_end = None;
                    (Err(reason), false)
                }
            };
            let message = Some(message);
            turns.push(Found { message, spans, has_end });
        }
        cut_overlaps(&mut turns);
        Ok(turns)
    }

    /// Returns the spans of a turn in which the model begins to write at `start`, and whether a token ends the turn.
    fn find_turn(&mut self, owned: &Owned<'_>, start: usize) -> Result<(Vec<Range<usize>>, bool)> {
        let (mut spans, mut has_end) = (Vec::new(), false);
        let limit = self.find_limit(owned);
        for (index, stretch) in owned.stretches.iter().enumerate() {
            let start = if index == 0 { start } else { stretch.start };
            if index > 0 && self.scene.is_quoted(stretch) {
                continue;
            }
            let part = start..stretch.end.min(limit);
            has_end |= self.add_stretch(owned, part, limit, &mut spans)?;
        }
        Ok((spans, has_end))
    }

    /// Takes the generation prompt from the end of the text, if it is there. A text can also end with the end-of-sequence token.
    fn read_prompt(&mut self) -> Result<()> {
        let Scene { text, trace, .. } = self.scene;
        let segments = trace.parts();
        let after = segments.iter().rposition(|segment| segment.message().is_some());
        let Some(first) = after.and_then(|last| segments.get(last + 1)) else {
            return Ok(());
        };
        let start = self.scene.blanks.trim_start(&(first.bytes().start..text.len()));
        let prompt = self.scene.slice(start..text.len());
        if self.scene.is_prompted && !prompt.is_empty() && !is_eos(first, trace.paths()) {
            let prompt = Cow::Borrowed(prompt);
            let before = self.scene.roles.last().copied();
            self.prompts
                .push(KnownPrompt::new(&self.scene, self.renders.meter(), before, prompt)?);
        }
        Ok(())
    }

    /// Returns where the model begins to write a message. `last_end` is the end of the message before, if it counts too.
    ///
    /// This is after the generation prompt, or if that does not begin the turn, after the header that other answers have too.
    fn find_start(&mut self, owned: &Owned<'_>, first: &Range<usize>, last_end: Option<usize>) -> Result<Start> {
        let message = owned.message;
        let roles = self.scene.roles;
        let before = message.checked_sub(1).and_then(|index| roles.get(index)).copied();
        let mut has_part = false;
        for is_alike in [true, false] {
            let is_tried = |prompt: &&KnownPrompt<'_>| (prompt.before == before) == is_alike && !prompt.text.is_empty();
            for prompt in self.prompts.iter().filter(is_tried) {
                match prompt.find(&self.scene, self.renders.meter(), first)? {
                    Match::Whole(start) => return Ok(Ok(start)),
                    Match::Part => has_part = true,
                    Match::Nothing => {}
                }
            }
        }
        if roles.get(message).is_some_and(|role| *role != "assistant") {
            if let Some(body) = owned.printed(first).first() {
                return Ok(Ok(body.start));
            }
        }
        let is_empty = |prompt: &KnownPrompt<'_>| prompt.before == before && prompt.text.is_empty();
        let is_unprompted = self.prompts.iter().any(is_empty);
        let mut tried: Option<Cow<'_, str>> = None;
        for is_short in [false, true] {
            if is_unprompted {
                has_part = true;
                break;
            }
            let Some(prompt) = self.find_prompt(message, first, is_short, tried.as_deref())? else {
                continue;
            };
            let (scene, meter) = (&self.scene, self.renders.meter());
            let prompt = KnownPrompt::new(scene, meter, before, Cow::Owned(prompt))?;
            if prompt.text.is_empty() {
                // Without messages, a template that writes the generation prompt in its loop writes nothing.
                if message > 0 || is_short {
                    has_part = true;
                    self.prompts.push(prompt);
                    break;
                }
                continue;
            }
            let mut found = prompt.find(scene, meter, first)?;
            if matches!(found, Match::Part | Match::Nothing) {
                if let Some(start) = prompt.find_end(scene, meter, owned, first)? {
                    found = Match::Whole(start);
                }
            }
            match found {
                Match::Whole(start) => {
                    self.prompts.push(prompt);
                    return Ok(Ok(start));
                }
                Match::Part => has_part = true,
                Match::Nothing => {}
            }
            tried = Some(prompt.text);
        }
        // Without a header, the model can only begin with the first field.
        let body = owned.printed(first).first();
        if body.is_some_and(|body| self.scene.blanks.trim_start(&(first.start..body.start)) == body.start) {
            return Ok(Ok(first.start));
        }
        if let Some(start) = self.find_header_end(owned, first, has_part)? {
            return Ok(Ok(start));
        }
        let is_next = last_end.is_some_and(|end| self.scene.blanks.trim_start(&(end..first.start)) >= first.start);
        if is_next && !self.names_role(owned, first) {
            return Ok(Ok(first.start));
        }
        Ok(Err(match tried {
            Some(prompt) => {
                let prompt = elide(&prompt, MAX_QUOTED);
                format!("message {message} does not begin with the generation prompt {prompt:?}")
            }
            None if has_part => {
                format!("the template has no generation prompt, and message {message} has another header than other answers")
            }
            None => format!("the template does not render the generation prompt before message {message}"),
        }))
    }

    /// Returns whether the header of a turn has the name of a role of the conversation.
    fn names_role(&self, owned: &Owned<'_>, first: &Range<usize>) -> bool {
        let end = owned.printed(first).first().map_or(first.end, |body| body.start);
        let header = self.scene.slice(first.start..end.min(first.start + MAX_QUOTED));
        let header = header.to_ascii_lowercase();
        ROLE_NAMES.iter().any(|role| header.contains(role))
    }

    /// Returns the end of the header of a turn, if the answer in another conversation has the same header. Unless the header has a part of
    /// a generation prompt, it must not be that of a user message: a template can print the last message under the header of another role.
    fn find_header_end(&mut self, owned: &Owned<'_>, first: &Range<usize>, has_part: bool) -> Result<Option<usize>> {
        if self.before_answer.is_none() {
            self.before_answer = Some(self.find_before_answer()?);
        }
        let Some(Some((opener, before))) = &self.before_answer else {
            return Ok(None);
        };
        if self.user_close == Some(before.trim()) {
            return Ok(Some(first.start));
        }
        let body = owned.printed(first).first().map(|body| body.start);
        let mut header = self.scene.slice(first.start..body.unwrap_or(first.end));
        self.renders
            .meter()
            .charge_scan((header.len() + before.len()).saturating_mul(2))?;
        if body.is_none() {
            // Without content, the header ends where that of the other answer does.
            let blanks = count_blanks(header);
            let text = header.get(blanks..).unwrap_or_default();
            let edges = std::iter::once(0).chain(prompt_edges(before));
            let suffixes = edges.filter_map(|edge| before.get(edge..).map(str::trim_start));
            let longest = suffixes.filter(|suffix| text.starts_with(suffix)).map(str::len).max();
            header = header
                .get(..blanks.saturating_add(longest.unwrap_or_default()))
                .unwrap_or_default();
        }
        // The header can go on with the tag of a thought, which the model writes.
        let thought = control::find_thought(header);
        let kept = header.get(..thought.unwrap_or(header.len())).unwrap_or_default();
        let trimmed = kept.trim_end();
        let shared = common_suffix(trimmed, before);
        // Before the first turn, a template can write other text, such as instructions.
        let at = trimmed.len().saturating_sub(shared.len());
        let is_shared =
            shared.trim().len() == trimmed.trim().len() || owned.message == 0 && prompt_edges(trimmed).any(|edge| edge == at);
        let lower = shared.to_ascii_lowercase();
        let names_other = ROLE_NAMES.iter().any(|role| lower.contains(role)) && !lower.contains("assistant");
        let is_of_user = !has_part && opener.ends_with(shared.trim());
        let is_header = is_shared && !names_other && !is_of_user && shared.contains(char::is_alphanumeric);
        Ok(is_header.then(|| first.start + kept.len()))
    }

    /// Renders a user message and the answer to it, and returns the text before the first content, and the text between the contents up to
    /// the tag of a thought, both without white space at their ends.
    fn find_before_answer(&mut self) -> Result<Option<(String, String)>> {
        let texts = self.prompts.iter().map(|prompt| prompt.text.as_ref());
        let texts = texts.chain([self.scene.text]);
        let held = texts.fold(0_usize, |held, text| held + text.len());
        let Some(answered) = self.renders.render(Opening::Answer, held)? else {
            return Ok(None);
        };
        self.renders.meter().charge_scan(answered.len().saturating_mul(3))?;
        let before = answered.split_once(openings::ANSWER).map(|(before, _)| before);
        let Some((opener, between)) = before.and_then(|before| before.rsplit_once(openings::GREETING)) else {
            return Ok(None);
        };
        let end = control::find_thought(between).unwrap_or(between.len());
        let between = between.get(..end).unwrap_or_default();
        Ok(Some((opener.trim_end().to_owned(), between.trim_end().to_owned())))
    }

    /// Renders the generation prompt before a message, or with `is_short` the one after a single user message, and returns it without white
    /// space at its start. `tried` is another prompt in memory.
    fn find_prompt(&mut self, message: usize, first: &Range<usize>, is_short: bool, tried: Option<&str>) -> Result<Option<String>> {
        if self.openings >= MAX_OPENINGS {
            return Ok(None);
        }
        self.openings += 1;
        let prompts = self.prompts.iter().map(|prompt| prompt.text.as_ref());
        let texts = prompts.chain(tried).chain([self.scene.text]);
        let held = texts.fold(0_usize, |held, text| held + text.len());
        let opening = if is_short {
            Opening::Greeting(true)
        } else {
            Opening::Before(message)
        };
        let Some(mut opened) = self.renders.render(opening, held)? else {
            return Ok(None);
        };
        let mut start = if is_short {
            let held = held + opened.len();
            let Some(closed) = self.renders.render(Opening::Greeting(false), held)? else {
                return Ok(None);
            };
            self.renders.meter().charge_scan(opened.len())?;
            let start = common_prefix(&opened, &closed);
            let token = control_tokens(&opened).find(|token| token.start < start && start < token.end);
            token.map_or(start, |token| token.start)
        } else {
            self.renders.meter().charge_scan(opened.len())?;
            let before = self.scene.slice(0..self.scene.blanks.trim_end(&(0..first.start)));
            if !opened.starts_with(before) {
                return Ok(None);
            }
            before.len()
        };
        start += count_blanks(opened.get(start..).unwrap_or_default());
        opened.drain(..start);
        opened.shrink_to_fit();
        Ok(Some(opened))
    }

    /// Returns where the text of the messages ends. A template can write the generation prompt in the turn of the last message.
    fn find_limit(&self, owned: &Owned<'_>) -> usize {
        let length = self.scene.text.len();
        let end = owned.printed(&(0..length)).last().map_or(0, |printed| printed.end);
        let limits = self.prompts.iter().filter_map(|prompt| prompt.limit(end));
        limits.min().unwrap_or(length)
    }
}

/// Shortens each span to the start of the next one: the token that ends a turn can be text of the next message, and then begins the span of
/// that message too.
fn cut_overlaps(turns: &mut [Found]) {
    let spans = turns.iter_mut().filter_map(|turn| turn.spans.as_mut().ok());
    let mut spans: Vec<&mut Range<usize>> = spans.flatten().collect();
    spans.sort_by_key(|span| span.start);
    let mut limit = usize::MAX;
    for span in spans.into_iter().rev() {
        span.end = span.end.min(limit);
        limit = span.start;
    }
    for turn in turns {
        if let Ok(spans) = &mut turn.spans {
            spans.retain(|span| span.start < span.end);
        }
    }
}

/// The depth of the path of a role, `/messages/0/role`.
const ROLE_DEPTH: usize = 3;

/// The names of roles in the headers of templates.
const ROLE_NAMES: [&str; 5] = ["assistant", "user", "human", "system", "tool"];

/// The bytes that a turn takes, without its spans.
const TURN_BYTES: usize = 192;
