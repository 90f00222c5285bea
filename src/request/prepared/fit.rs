//! The number of tokens of a prompt, and the conversation cut to a number of tokens.

use std::error::Error as StdError;

use super::{Prepared, Request};
use crate::chat::PromptOptions;
use crate::error::{Error, ErrorClass, ErrorKind, Result};
use crate::meter::Meter;
use crate::request::normal::{BodyTurn, Role};
use crate::request::options::Policy;
use crate::request::reasons::CUT;

/// Counts the tokens of a string. A closure that returns a count or an error is one:
///
/// ```
/// # use chat_template::{ChatTemplate, PromptOptions, json::to_data};
/// let template = ChatTemplate::from_source("{% for m in messages %}{{ m.content }} {% endfor %}", &[])?;
/// let body = to_data(&serde_json::json!({"messages": [{"role": "user", "content": "Two words"}]}))?;
/// let words = |text: &str| Ok::<_, std::fmt::Error>(text.split_whitespace().count());
/// assert_eq!(template.prepare(&body)?.count(&words, &PromptOptions::default())?, 2);
/// # Ok::<(), chat_template::Error>(())
/// ```
pub trait CountTokens {
    /// Returns the number of tokens of a prompt. Its special tokens are in the text, so none is added.
    ///
    /// # Errors
    /// If the tokenizer fails.
    fn count_tokens(&self, text: &str) -> std::result::Result<usize, Box<dyn StdError + Send + Sync>>;
}

impl<F, E> CountTokens for F
where
    F: Fn(&str) -> std::result::Result<usize, E>,
    E: Into<Box<dyn StdError + Send + Sync>>,
{
    fn count_tokens(&self, text: &str) -> std::result::Result<usize, Box<dyn StdError + Send + Sync>> {
        self(text).map_err(Into::into)
    }
}

impl Prepared<'_> {
    /// Returns the number of tokens of the prompt. A medium has those of its placeholder.
    ///
    /// # Errors
    /// Those of [`Prepared::render`], and if the tokenizer fails.
    pub fn count(&self, tokenizer: &impl CountTokens, options: &PromptOptions<'_>) -> Result<usize> {
        let (prompt, _) = self.render_with(options)?;
        count(&prompt.text, tokenizer)
    }

    /// Cuts the conversation so that its prompt has at most `limit` tokens.
    ///
    /// The oldest rounds are left out first: a message of the user with all that follows up to the next one. If the last round alone is too
    /// long, its oldest messages of the assistant are left out, each with the results of its calls. System messages, the last message of the
    /// user, and what follows the last message of the assistant stay. Each message that is left out has a [change](super::Change).
    ///
    /// The whole conversation is rendered once. If it is too long, a binary search over the n places where it can be cut takes O(log n) further
    /// renders.
    ///
    /// ```
    /// use chat_template::{ChatTemplate, PromptOptions, json::to_data};
    ///
    /// let template = ChatTemplate::from_source("{% for m in messages %}<{{ m.role }}> {{ m.content }} {% endfor %}", &[])?;
    /// let body = to_data(&serde_json::json!({"messages": [
    ///     {"role": "system", "content": "Be brief."},
    ///     {"role": "user", "content": "Hello!"},
    ///     {"role": "assistant", "content": "Hello."},
    ///     {"role": "user", "content": "How are you?"},
    /// ]}))?;
    /// let words = |text: &str| Ok::<_, std::fmt::Error>(text.split_whitespace().count());
    /// let (prompt, changes) = template.prepare(&body)?.fit(8, &words, &PromptOptions::default())?.render()?;
    /// assert_eq!(prompt.text, "<system> Be brief. <user> How are you? ");
    /// assert_eq!(changes[0].path, "/messages/1");
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    ///
    /// # Errors
    /// If even the shortest conversation has more tokens, or the whole one if the policy allows no changes: the class is
    /// [`ErrorClass::Request`]. Also those of [`Prepared::count`].
    pub fn fit(mut self, limit: usize, tokenizer: &impl CountTokens, options: &PromptOptions<'_>) -> Result<Self> {
        let deadline = options.render.bounds.start();
        let mut meter = Meter::within(options.render.bounds, &deadline).share_steps();
        let mut least = self.count_within(tokenizer, options, &meter)?;
        if least <= limit {
            return Ok(self);
        }
        let turns = std::mem::take(&mut self.request.normal.turns);
        let notes = self.request.normal.notes.len();
        meter.charge_items(turns.len())?;
        let cuts = match self.request.policy {
            Policy::Fit => list_cuts(&turns, self.request.normal.calls.len()),
            Policy::Exact | Policy::Strict => Vec::new(),
        };
        let (mut first, mut end, mut current) = (0, cuts.len(), None);
        while first < end {
            let middle = usize::midpoint(first, end);
            self.cut(&turns, cuts.get(middle).copied(), notes, &mut meter)?;
            current = Some(middle);
            let count = self.count_within(tokenizer, options, &meter)?;
            least = least.min(count);
            if count <= limit {
                end = middle;
            } else {
                first = middle.saturating_add(1);
            }
        }
        if end == cuts.len() {
            let reason = match self.request.policy {
                Policy::Fit => "",
                _ => ", and the policy allows no changes",
            };
            let message = format!("the prompt has at least {least} tokens, and the limit is {limit}{reason}");
            return Err(Error::new(ErrorKind::Value, message)
                .without_line()
                .with_class(ErrorClass::Request));
        }
        if current != Some(end) {
            self.cut(&turns, cuts.get(end).copied(), notes, &mut meter)?;
        }
        Ok(self)
    }

    /// Renders the prompt and counts its tokens.
    fn count_within(&self, tokenizer: &impl CountTokens, options: &PromptOptions<'_>, meter: &Meter<'_>) -> Result<usize> {
        let (_, prompt, _) = self.render_by_plan(options, &mut meter.renew())?;
        count(&prompt.text, tokenizer)
    }
}

impl<'b> Prepared<'b> {
    /// Writes the turns that a cut keeps. The first `notes` notes are those of the whole conversation; the others are of an earlier cut.
    fn cut(&mut self, turns: &[BodyTurn<'b>], cut: Option<Cut>, notes: usize, meter: &mut Meter<'_>) -> Result<()> {
        let Request { normal, .. } = &mut self.request;
        normal.notes.truncate(notes);
        normal.turns.clear();
        meter.charge_items(normal.values.saturating_add(turns.len()))?;
        meter.charge_bytes(normal.bytes)?;
        for (index, turn) in turns.iter().enumerate() {
            if cut.is_none_or(|cut| cut.keeps(index, turn)) {
                normal.turns.push(turn.clone());
            } else {
                normal.notes.push((turn.place, CUT));
            }
        }
        self.written = self.request.write(&self.found.plan, &mut meter.renew())?;
        Ok(())
    }
}

fn count(text: &str, tokenizer: &impl CountTokens) -> Result<usize> {
    let failed = |error| Error::new(ErrorKind::Value, format!("the tokenizer fails: {error}")).without_line();
    tokenizer.count_tokens(text).map_err(failed)
}

/// A cut of a conversation: the turns before an index go, but for system messages and the last message of the user.
#[derive(Clone, Copy)]
struct Cut {
    start: usize,
    last_user: Option<usize>,
}

impl Cut {
    fn keeps(self, index: usize, turn: &BodyTurn<'_>) -> bool {
        index >= self.start || Some(index) == self.last_user || turn.is_system()
    }
}

/// Returns the cuts of a conversation that separate no result from its call, the smallest first.
fn list_cuts(turns: &[BodyTurn<'_>], calls: usize) -> Vec<Cut> {
    let last_user = turns.iter().rposition(|turn| turn.role == Role::User);
    // A cut at the first message would remove nothing.
    let first = turns.iter().position(|turn| !turn.is_system()).unwrap_or_default();
    // The index of the turn of each call.
    let mut callers = vec![usize::MAX; calls];
    for (index, turn) in turns.iter().enumerate() {
        for call in &turn.calls {
            callers.get_mut(*call).into_iter().for_each(|caller| *caller = index);
        }
    }
    // The lowest index of a turn whose calls have results at or after `start`.
    let mut caller = usize::MAX;
    let mut cuts = Vec::new();
    for (start, turn) in turns.iter().enumerate().rev() {
        let call = turn.result.and_then(|result| result.call);
        caller = call
            .and_then(|call| callers.get(call))
            .map_or(caller, |found| caller.min(*found));
        let begins = match last_user {
            Some(last) if start <= last => turn.role == Role::User,
            _ => turn.role == Role::Assistant,
        };
        if begins && start <= caller && start > first {
            cuts.push(Cut { start, last_user });
        }
    }
    cuts.reverse();
    cuts
}
