//! Finds the places of media in a prompt.

use std::collections::HashSet;

use super::{Media, Prepared, without_refusal};
use crate::chat::{Prompt, PromptOptions};
use crate::error::Result;
use crate::json::{Data, Object};
use crate::meter::Meter;
use crate::request::judge::{find_end, list_strings};
use crate::request::places::BodyPlace;
use crate::request::write::Written;
use crate::trace::Keeps;

impl Prepared<'_> {
    /// Returns the media with the bytes that stand for them in a prompt of this request. They are found by one more render, in which a
    /// mark is in the place of each medium. A medium for which nothing stands has no bytes, and so has each one after a mark around which
    /// the two prompts are different.
    ///
    /// ```
    /// use chat_template::{ChatTemplate, PromptOptions, json};
    ///
    /// let source = "{% for p in messages[0].content %}{{ p.text if p.type == 'text' else '<image>' }}{% endfor %}";
    /// let template = ChatTemplate::from_source(source, &[])?;
    /// let image = serde_json::json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}});
    /// let text = serde_json::json!({"type": "text", "text": "See: "});
    /// let body = json::to_data(&serde_json::json!({"messages": [{"role": "user", "content": [text, image]}]}))?;
    /// let prepared = template.prepare(&body)?;
    /// let (prompt, _) = prepared.render()?;
    /// let media = prepared.place_media(&prompt, &PromptOptions::default())?;
    /// assert_eq!(media[0].range, Some(5..12));
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Prepared::render`].
    pub fn place_media(&self, prompt: &Prompt, options: &PromptOptions<'_>) -> Result<Vec<Media>> {
        let mut media = self.media();
        if media.is_empty() {
            return Ok(media);
        }
        let deadline = options.render.bounds.start();
        let mut meter = Meter::within(options.render.bounds, &deadline).share_steps();
        meter.claim_for_render(self.written.memory)?;
        let parts = self.written.media.iter().enumerate().map(|(index, medium)| {
            let text = Data::Str(mark(index).into());
            let part = vec![("type".into(), Data::Str("text".into())), ("text".into(), text)];
            ((medium.message, medium.part), Some(Data::Object(Object::new(part))))
        });
        let marked = self.written.replace_parts(&parts.collect());
        let options = without_refusal(options);
        let marked = self.request.render(&marked, &options, Keeps::Nothing, &meter)?.text;
        meter.charge_scan(marked.len().saturating_mul(2).saturating_add(prompt.text.len()))?;
        let Some((first, mut rest)) = marked.split_once(&mark(0)) else {
            return Ok(media);
        };
        if !prompt.text.starts_with(first) {
            return Ok(media);
        }
        let mut at = first.len();
        // The media directly after one another that begin at `at`.
        let mut row = Vec::new();
        for index in 0..media.len() {
            row.push(index);
            let next = mark(index.saturating_add(1));
            let (piece, after) = rest.split_once(&next).unwrap_or((rest, ""));
            rest = after;
            let is_last = index.saturating_add(1) == media.len();
            if piece.is_empty() && !is_last {
                continue;
            }
            let text = prompt.text.get(at..).unwrap_or_default();
            let found = if is_last {
                text.strip_suffix(piece).map(str::len)
            } else {
                text.find(piece)
            };
            let Some(length) = found else { break };
            let each = length / row.len();
            let one = text
                .get(..each)
                .filter(|one| one.repeat(row.len()) == text.get(..length).unwrap_or_default());
            for (number, medium) in row.drain(..).enumerate() {
                let start = at + number * each;
                if let (Some(medium), Some(one)) = (media.get_mut(medium), one.filter(|one| !one.is_empty())) {
                    medium.range = Some(start..start + one.len());
                }
            }
            at += length + piece.len();
        }
        Ok(media)
    }

    /// Returns the JSON pointer of each part and tool with `cache_control`, and the offset in bytes at which it ends in the prompt, in the
    /// order of the prompt: after its last string, or after the placeholder of a medium. A part is left out if the prompt does not contain
    /// it, or does not separate it from what follows. This takes one more render, or two if there are media.
    ///
    /// ```
    /// use chat_template::{ChatTemplate, PromptOptions, json};
    ///
    /// let template = ChatTemplate::from_source("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}", &[])?;
    /// let rules = serde_json::json!({"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}});
    /// let hi = serde_json::json!({"role": "user", "content": "Hi"});
    /// let body = json::to_data(&serde_json::json!({"system": [rules], "messages": [hi]}))?;
    /// let prepared = template.prepare(&body)?;
    /// let (prompt, _) = prepared.render()?;
    /// let ends = prepared.find_cache_ends(&prompt, &PromptOptions::default())?;
    /// assert_eq!(ends, [("/system/0".to_owned(), "<system>Be brief.".len())]);
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Prepared::render`].
    pub fn find_cache_ends(&self, prompt: &Prompt, options: &PromptOptions<'_>) -> Result<Vec<(String, usize)>> {
        let deadline = options.render.bounds.start();
        let mut meter = Meter::within(options.render.bounds, &deadline).share_steps();
        let again = self
            .request
            .render(&self.written, &without_refusal(options), Keeps::Sources, &meter)?;
        let Written { atoms, tools, media, .. } = &self.written;
        let normal = &self.request.normal;
        let mut ends = Vec::new();
        if again.text != prompt.text {
            return Ok(ends);
        }
        let point = |place| {
            let pointer = normal.places.pointer(place);
            pointer.strip_suffix("/text").unwrap_or(&pointer).to_owned()
        };
        let is_cached = |value: &Data<'_>| value.has("cache_control");
        let parts = normal.turns.iter().flat_map(|turn| &turn.parts);
        let parts: HashSet<BodyPlace> = parts.filter(|part| is_cached(part.node)).map(|part| part.place).collect();
        for atom in atoms.iter().filter(|atom| parts.contains(&atom.place)) {
            let own = atom.memory.start..atom.inner().end;
            ends.extend(find_end(&again, &[own], &[], &mut meter)?.map(|end| (point(atom.place), end)));
        }
        if media.iter().any(|medium| parts.contains(&medium.place)) {
            let media = media.iter().zip(self.place_media(prompt, options)?);
            let media = media.filter(|(medium, _)| parts.contains(&medium.place));
            ends.extend(media.filter_map(|(medium, placed)| Some((point(medium.place), placed.range?.end))));
        }
        let mut given = tools.iter().flatten();
        for tool in &normal.tools {
            let own = given.next();
            if own.is_some() && (is_cached(tool.node) || is_cached(tool.function)) {
                let (mut strings, mut later) = (Vec::new(), Vec::new());
                own.into_iter().for_each(|own| list_strings(own, &mut strings));
                given.clone().for_each(|tool| list_strings(tool, &mut later));
                ends.extend(find_end(&again, &strings, &later, &mut meter)?.map(|end| (point(tool.place), end)));
            }
        }
        ends.sort_by_key(|(_, end)| *end);
        Ok(ends)
    }
}

/// Returns the text that stands for a medium.
fn mark(index: usize) -> String {
    format!("\u{e000}{index}\u{e001}")
}
