//! Generation prompts, and the place in a turn where the model begins to write after one.
//!
//! ```text
//! prompt <|im_start|>assistant⏎<think>⏎   turn <|im_start|>assistant⏎Hi   ->   the model begins before `Hi`
//! ```

use std::borrow::Cow;
use std::ops::Range;

use super::Scene;
use super::blanks::count_blanks;
use super::control::{MAX_BYTES, common_prefix, control_token, is_thought, prompt_edges};
use crate::chat::turns::groups::Owned;
use crate::error::Result;
use crate::meter::Meter;

/// How a turn begins with a generation prompt.
pub(super) enum Match {
    /// The prompt is at the beginning of the turn, perhaps without the tag of reasoning that it opens, or directly before the turn. The value
    /// is the byte of the text at which the model begins to write.
    Whole(usize),
    /// The turn begins with a part of the prompt.
    Part,
    Nothing,
}

/// A generation prompt, without white space at its start.
pub(super) struct KnownPrompt<'p> {
    /// The role of the message before it.
    pub before: Option<&'p str>,
    pub text: Cow<'p, str>,
    /// The length without the white space at its end.
    trimmed: usize,
    /// The control token that it begins with, if another one follows.
    close: Option<Range<usize>>,
    /// Where it begins in the text of the conversation, if the text ends with it.
    limit: Option<usize>,
}

impl<'p> KnownPrompt<'p> {
    pub fn new(scene: &Scene<'p>, meter: &mut Meter<'_>, before: Option<&'p str>, text: Cow<'p, str>) -> Result<Self> {
        meter.charge_scan(text.len())?;
        let whole = scene.slice(0..scene.blanks.trim_end(&(0..scene.text.len())));
        let trimmed = text.trim_end();
        let is_followed = |length: &usize| {
            let rest = text.get(*length..).unwrap_or_default().trim_start();
            control_token(rest).is_some()
        };
        Ok(Self {
            before,
            trimmed: trimmed.len(),
            close: control_token(&text).filter(is_followed).map(|length| 0..length),
            limit: whole.strip_suffix(trimmed).map(str::len).filter(|_| !text.is_empty()),
            text,
        })
    }

    fn trimmed(&self) -> &str {
        self.text.get(..self.trimmed).unwrap_or_default()
    }

    /// Returns whether the prompt begins with a token, which then ends the turn before the prompt.
    pub fn closes_with(&self, token: &str) -> bool {
        self.close.clone().and_then(|close| self.text.get(close)) == Some(token)
    }

    /// Returns where the prompt begins at the end of the conversation's text, if it is there and does not begin before `end`.
    pub fn limit(&self, end: usize) -> Option<usize> {
        self.limit.filter(|limit| *limit >= end)
    }

    /// Returns where the prompt ends, if a turn begins with it or if it is directly before the turn. A turn can begin without the thought
    /// that the prompt opens.
    pub fn find(&self, scene: &Scene<'_>, meter: &mut Meter<'_>, turn: &Range<usize>) -> Result<Match> {
        let prompt = self.text.as_ref();
        let start = scene.blanks.trim_start(turn);
        let text = scene.slice(start..turn.end);
        meter.charge_bytes(prompt.len().min(text.len()))?;
        if text.starts_with(prompt) {
            return Ok(Match::Whole(start + prompt.len()));
        }
        let common = common_prefix(prompt, text);
        meter.charge_scan(common)?;
        let edge = self.edge_before(common);
        let rest = prompt.get(edge..).unwrap_or_default();
        if edge > 0 && (rest.trim().is_empty() || is_thought(rest)) {
            return Ok(Match::Whole(start + edge));
        }
        meter.charge_bytes(self.trimmed)?;
        let before = scene.slice(0..scene.blanks.trim_end(&(0..turn.start)));
        Ok(match before.ends_with(self.trimmed()) {
            true => Match::Whole(turn.start),
            false if edge > 0 => Match::Part,
            false => Match::Nothing,
        })
    }

    /// Returns the last edge within the first `length` bytes, or 0.
    fn edge_before(&self, length: usize) -> usize {
        // Room for a token that begins there, and for the character after it.
        let enough = length + MAX_BYTES + 4;
        let part = (enough..self.text.len()).find_map(|end| self.text.get(..end));
        let edges = prompt_edges(part.unwrap_or(&self.text)).filter(|edge| *edge <= length);
        let ends = [self.trimmed, self.text.len()];
        edges
            .chain(ends.into_iter().filter(|end| *end <= length))
            .max()
            .unwrap_or_default()
    }

    /// Returns the index in the text of the turn at which the generation prompt ends, or `None` if the header of the turn does not have it.
    /// A generation prompt can begin with the end of the turn before, which the header lacks.
    pub fn find_end(
        &self,
        scene: &Scene<'_>,
        meter: &mut Meter<'_>,
        owned: &Owned<'_>,
        turn: &Range<usize>,
    ) -> Result<Option<usize>> {
        let Some(body) = owned.printed(turn).first() else {
            return Ok(None);
        };
        let header = scene.slice(turn.start..body.start);
        let first = self.first_end_in(header, meter)?;
        // White space at the start of a suffix does not count.
        let first = self.text.get(..first).unwrap_or_default().trim_end().len();
        meter.charge_scan(self.text.len())?;
        let edge = std::iter::once(0)
            .chain(prompt_edges(&self.text))
            .find(|edge| (first..self.trimmed).contains(edge));
        let Some(end) = edge.and_then(|edge| self.text.get(edge..)) else {
            return Ok(None);
        };
        meter.charge_scan(header.len())?;
        let end = end.get(count_blanks(end)..).unwrap_or_default();
        let at = header.rfind(end.trim_end());
        let Some(rest) = at.and_then(|at| header.get(at..)) else {
            return Ok(None);
        };
        let length = common_prefix(end, rest);
        // A part of the prompt is all of the header that follows.
        let after = rest.get(length..).unwrap_or_default();
        let is_whole = end.len() == self.text.len() || after.trim().is_empty() || is_thought(after);
        let is_header = is_whole && end.contains(char::is_alphanumeric);
        let start = body.start.saturating_sub(after.len());
        Ok(is_header.then_some(start))
    }

    /// Returns the start of the longest suffix of the prompt that a header contains.
    fn first_end_in(&self, header: &str, meter: &mut Meter<'_>) -> Result<usize> {
        let prompt = self.trimmed();
        let end_at = |at: usize| (at..=prompt.len()).find_map(|at| prompt.get(at..)).unwrap_or_default();
        // A longer suffix contains all shorter ones.
        let (mut low, mut high) = (prompt.len().saturating_sub(header.len()), prompt.len());
        while low < high {
            let middle = low.midpoint(high);
            let end = end_at(middle);
            meter.charge_scan(header.len() + end.len())?;
            if header.contains(end) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Ok(prompt.len().saturating_sub(end_at(low).len()))
    }
}
