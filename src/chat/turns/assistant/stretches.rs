//! Finds the parts of a stretch of a turn that the model writes.
//!
//! ```text
//! <think>⏎ why ⏎</think>⏎ because <|im_end|>⏎   ->   all but the last line break, and without the reasoning if that is not asked for
//! ```

use std::ops::Range;

use super::Finder;
use super::control::{control_token, control_tokens, is_eos, last_control_token};
use crate::chat::turns::groups::{Owned, Stretch, find_fields, is_field};
use crate::error::Result;
use crate::trace::Part;

/// The names of the field with the reasoning. The first is the standard one; transformers reads them in this order.
pub const REASONING_FIELDS: [&str; 3] = ["reasoning_content", "thinking", "reasoning"];

/// The number of control tokens in a stretch after which the memory of their cuts is claimed.
const PART: usize = 1 << 10;

/// The bytes that a cut takes, with the span after it in two units and with room for their growth.
const CUT_BYTES: usize = 80;

impl Finder<'_, '_, '_> {
    /// Adds the spans that the model writes in a stretch of a message, and returns whether a token ends the turn.
    pub(super) fn add_stretch(
        &mut self,
        owned: &Owned<'_>,
        part: Range<usize>,
        limit: usize,
        spans: &mut Vec<Range<usize>>,
    ) -> Result<bool> {
        self.renders.meter().charge_scan(part.len().saturating_mul(2))?;
        let scene = &self.scene;
        let options = scene.options;
        let start = part.start;
        let printed = owned.printed(&part);
        let body_end = printed.last().map_or(start, |printed| printed.end).max(start);
        let mut end = self.find_close(body_end, scene.blanks.trim_end(&part));
        let own_close = last_control_token(scene.slice(body_end..end)).filter(|token| body_end + token.end == end);
        let is_whole = end == scene.blanks.trim_end(&part) && part.end < limit;
        let close = match own_close {
            None if is_whole => self.close_after(part.end, owned.message),
            _ => 0,
        };
        let mut has_end = own_close.is_some() || close > 0;
        match own_close {
            Some(token) if !options.end_of_turn => end = scene.blanks.trim_end(&(start..body_end + token.start)),
            None if options.end_of_turn && close > 0 => end = part.end + close,
            None if options.next_marker && is_whole && !has_end => {
                let rest = scene.slice(part.end..limit.min(scene.text.len()));
                if let Some(length) = control_token(rest) {
                    end = part.end + length;
                    has_end = true;
                }
            }
            _ => {}
        }
        if start >= end {
            return Ok(has_end);
        }
        if options.trailing_space && options.end_of_turn {
            end = scene.blanks.trim_start(&(end..limit.max(end)));
        }
        let span = start..end;
        if options.content_only {
            self.add_content(owned, &span, spans)?;
            return Ok(has_end);
        }
        let foreign = owned.foreign(&span);
        self.renders.meter().charge_items(foreign.len().saturating_mul(4))?;
        let mut cuts = find_foreign(foreign, &span, printed);
        if !options.reasoning {
            cuts.extend(self.find_reasoning(owned, &span, printed)?);
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
        if !options.reasoning {
            spans.retain(|span| !self.scene.slice(span.clone()).trim().is_empty());
        }
        Ok(has_end)
    }

    /// Adds the places in a span that come from the content of the message.
    fn add_content(&mut self, owned: &Owned<'_>, span: &Range<usize>, spans: &mut Vec<Range<usize>>) -> Result<()> {
        let meter = self.renders.meter();
        for segment in owned.within(span) {
            meter.charge(2)?;
            let paths = owned.trace.paths();
            if find_fields(segment, paths).any(|field| is_field(paths, field, &["content"])) {
                let bytes = segment.bytes();
                match spans.last_mut() {
                    Some(last) if last.end == bytes.start => last.end = bytes.end,
                    _ => spans.push(bytes),
                }
            }
        }
        Ok(())
    }

    /// Returns the end of a turn whose last field ends at `body_end`: after the end-of-sequence token, or before the text that begins the
    /// next turn.
    fn find_close(&self, body_end: usize, end: usize) -> usize {
        let eos = self.scene.eos;
        if end <= body_end {
            return end;
        }
        let tail = self.scene.slice(body_end..end);
        if let Some(at) = tail.find(eos).filter(|_| !eos.is_empty()) {
            return body_end + at + eos.len();
        }
        let mut kept = tail;
        // A template that opens and closes turns with the same token has it once after a turn.
        while let Some(token) = last_control_token(kept).filter(|token| token.end == kept.len()) {
            let (before, token) = kept.split_at_checked(token.start).unwrap_or_default();
            if !self.first_tokens.contains(&token) || last_control_token(before).is_none() {
                break;
            }
            kept = before.trim_end();
        }
        body_end + kept.len()
    }

    /// Returns the length of the token after a turn that ends it, or 0. This is the end-of-sequence token, or a token that begins a
    /// generation prompt and is not the header of a turn.
    fn close_after(&self, end: usize, message: usize) -> usize {
        let segments = self.scene.trace.parts();
        let role = self.scene.roles.get(message).copied().unwrap_or_default();
        let next = segments.get(segments.partition_point(|segment| segment.bytes().start < end));
        if let Some(segment) = next {
            if is_eos(segment, self.scene.trace.paths()) && segment.bytes().start == end {
                return segment.bytes().len();
            }
        }
        let rest = self.scene.text.get(end..).unwrap_or_default();
        let Some(token) = control_token(rest).and_then(|length| rest.get(..length)) else {
            return 0;
        };
        let is_header = self.first_tokens.contains(&token) || token.to_ascii_lowercase().contains(role);
        let is_close = !is_header && self.prompts.iter().any(|prompt| prompt.closes_with(token));
        if is_close { token.len() } else { 0 }
    }

    /// Returns the parts of a span that are reasoning, with the tags around them.
    fn find_reasoning(&mut self, owned: &Owned<'_>, span: &Range<usize>, printed: &[Stretch]) -> Result<Vec<Range<usize>>> {
        let (scene, meter) = (&self.scene, self.renders.meter());
        let mut cuts = Vec::new();
        let mut add = |cut: Range<usize>| cuts.push(cut.start..scene.blanks.trim_start(&(cut.end..span.end)));
        let is_reasoning = |segment: &Part| {
            let paths = owned.trace.paths();
            find_fields(segment, paths).any(|field| is_field(paths, field, &REASONING_FIELDS))
        };
        for segment in owned.within(span) {
            let bytes = segment.bytes();
            meter.charge(2)?;
            if bytes.start < span.start || bytes.end > span.end || !is_reasoning(segment) {
                continue;
            }
            let before = printed.partition_point(|own| own.end <= bytes.start);
            let before = before
                .checked_sub(1)
                .and_then(|index| printed.get(index))
                .map_or(span.start, |own| own.end.max(span.start));
            let after = printed
                .get(printed.partition_point(|own| own.start < bytes.end))
                .map_or(span.end, |own| own.start.min(span.end));
            meter.charge_scan(after.saturating_sub(before).saturating_sub(bytes.len()))?;
            let opening = last_control_token(scene.slice(before..bytes.start)).map_or(0, |token| token.start);
            let opening = if before == span.start { 0 } else { opening };
            let closing = control_tokens(scene.slice(bytes.end..after))
                .next()
                .map_or(0, |token| token.end);
            let mut end = scene.blanks.trim_start(&(bytes.end + closing..span.end));
            // A turn can have a header for the reasoning and one for the answer.
            let rest = scene.slice(end..span.end);
            let header = self.prompts.iter().map(|prompt| prompt.text.trim_end());
            end = end.saturating_add(
                header
                    .filter(|header| rest.starts_with(header))
                    .map(str::len)
                    .max()
                    .unwrap_or(0),
            );
            add(before + opening..end);
        }
        meter.charge_scan(span.len())?;
        let text = scene.slice(span.clone());
        let mut start = 0_usize;
        for (index, token) in control_tokens(text).enumerate() {
            if index % PART == PART - 1 {
                self.claims.push(meter.claim(PART * CUT_BYTES)?);
            }
            let name = text.get(token.clone()).unwrap_or_default().to_ascii_lowercase();
            match (name.contains("think"), name.contains('/')) {
                (true, true) => {
                    add(span.start + start..span.start + token.end);
                    start = token.end;
                }
                (true, false) => start = token.start,
                _ => {}
            }
        }
        Ok(cuts)
    }
}

/// Returns the parts of a span that come from other messages, tools or documents, with the template's text around them.
fn find_foreign(foreign: &[Stretch], span: &Range<usize>, printed: &[Stretch]) -> Vec<Range<usize>> {
    let cuts = foreign.iter().map(|foreign| {
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
