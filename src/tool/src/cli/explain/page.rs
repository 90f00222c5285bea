//! The picture as an HTML page.
//!
//! ```text
//! <span class="part input" data-place="/messages/0/content" …>Hi</span><b class="control"><span class="part template" …>
//! ```
//!
//! The switches are CSS; a script shows where the part under the pointer came from.

use crate::conformance::visible;
use crate::page::page;
use chat_template::{Origin, TokenOrigin};
use maud::{Markup, PreEscaped, Render, html};

use super::{By, KINDS, MAX_BYTES, Part, Picture, REST, cut, kind_of, place_of, sign_of};

const STYLE: &str = include_str!("picture.css");
const SCRIPT: &str = include_str!("page.js");

/// The number of bytes of a string that are looked through for an invisible character at once.
const WINDOW: usize = 4096;

/// The angle between the hues of two messages that follow each other: the golden angle keeps neighbours apart.
const HUE_STEP: usize = 137;

/// Returns a page with a title and a summary over its body.
pub fn frame(name: &str, title: &str, summary: &str, body: &Markup) -> String {
    let body = html! {
        header {
            h1 { (title) }
            p { (summary) }
        }
        (body)
    };
    page(name, STYLE, &body)
}

/// Returns the legend of the colours of origins, for the kinds that are used.
pub fn legend(is_used: impl Fn(&str) -> bool) -> Markup {
    html! {
        ul class="legend of-origin" {
            @for (kind, text) in KINDS.iter().filter(|(kind, _)| is_used(kind)) {
                li { span class={ "part " (kind) } { (text) } }
            }
        }
    }
}

impl Picture<'_> {
    /// Returns the picture as an HTML page, which first shows the colours of `by`.
    pub fn page(&self, title: &str, by: By) -> String {
        let characters = self.prompt.text.chars().count();
        let lines = self.prompt.text.lines().count();
        let summary = format!(
            "{}, {}, {}",
            count(characters, "character"),
            count(lines, "line"),
            count(self.roles.len(), "message")
        );
        let body = html! {
            nav aria-label="What is shown" {
                (self.switches(by))
                (self.legends())
            }
            main {
                pre id="prompt" tabindex="0" aria-label="The prompt" { (self.marked_prompt()) }
                (self.notes())
            }
            footer id="place" aria-live="polite" { p { "Point at a part of the prompt, or tap it, to see where it came from." } }
            script { (PreEscaped(SCRIPT)) }
        };
        frame(&format!("{title}: prompt"), title, &summary, &body)
    }

    fn switches(&self, by: By) -> Markup {
        let has_tokens = !self.tokens.is_empty();
        html! {
            div class="switches" {
                div class="choice" role="radiogroup" aria-label="Colours" {
                    label { input type="radio" name="by" id="by-origin" checked[by == By::Origin]; span { "Origin" } }
                    label { input type="radio" name="by" id="by-message" checked[by == By::Message]; span { "Message" } }
                }
                @for (id, name, class, is_shown) in [
                    ("show-tokens", "Control tokens", "control", has_tokens),
                    ("show-assistant", "Assistant", "assistant", !self.assistant().is_empty()),
                    ("show-turns", "Turns", "header", !self.owners().is_empty()),
                    ("show-signs", "Invisible characters", "", true),
                ] {
                    @if is_shown { label class="switch" { input type="checkbox" id=(id) checked[id != "show-turns"]; span { em class=(class) { (name) } } } }
                }
            }
        }
    }

    fn legends(&self) -> Markup {
        html! {
            (legend(|kind| self.has(kind)))
            ul class="legend of-message" {
                @for index in self.owners() {
                    li { span class="part owned" style=(hue(index)) { (self.name_message(index)) } }
                }
                li { span class="part" { "no message" } }
            }
        }
    }

    /// Returns the prompt, whose control tokens are elements around their parts.
    pub fn marked_prompt(&self) -> Markup {
        let mut marked = String::new();
        let mut parts = self.parts().peekable();
        let mut is_whole = true;
        while let (Some(part), true) = (parts.next(), is_whole) {
            let left = MAX_BYTES.saturating_sub(marked.len());
            let mut inside = String::new();
            is_whole = self.mark_part(&part, left, &mut inside);
            let Some(token) = part.token else {
                marked.push_str(&inside);
                continue;
            };
            while let Some(next) = parts.next_if(|next| next.token.is_some_and(|other| other.bytes == token.bytes)) {
                is_whole = is_whole && self.mark_part(&next, left, &mut inside);
            }
            let token = html! { b class={ "control" @if part.is_untrusted { " untrusted" } } { (PreEscaped(inside)) } };
            token.render_to(&mut marked);
        }
        if !is_whole {
            marked.push_str(REST);
        }
        PreEscaped(marked)
    }

    /// Writes a part to the page, with about as much of its text as lets the page have `most` bytes. Returns whether the text is whole.
    fn mark_part(&self, part: &Part<'_>, most: usize, page: &mut String) -> bool {
        let kind = kind_of(part.segment);
        let at = match part.segment.origin() {
            Origin::Input { at, .. } => Some(format!("characters {} to {}", at.start, at.end)),
            _ => None,
        };
        let place = (!["made", "clock"].contains(&kind)).then(|| place_of(part.segment));
        let owner = part.segment.message();
        let token = part.token.map(|token| match token.origin {
            TokenOrigin::Template => "control token",
            TokenOrigin::Input => "control token that the input wrote",
            TokenOrigin::Mixed => "control token that the template and the input wrote",
        });
        let (text, is_whole) = with_signs(part.text, most.saturating_sub(page.len()));
        let part = html! {
            span class={ "part " (kind) @if owner.is_some() { " owned" } @if part.is_assistant { " assistant" } @if let Some(turn) = part.turn { " " (turn) } }
                style=[owner.map(hue)] data-segment=(part.index) data-place=[place]
                data-at=[at] data-owner=[owner.map(|index| self.name_message(index))] data-token=[token]
                data-turn=[part.turn] data-writer=[part.is_assistant.then_some("the model")] {
                (text)
            }
        };
        part.render_to(page);
        is_whole
    }

    fn notes(&self) -> Markup {
        html! {
            @if !self.warnings.is_empty() {
                section class="warnings" {
                    h2 { (count(self.warnings.len(), "note")) }
                    ul { @for warning in &self.warnings { li { (visible(warning.trim_start_matches("warning: "))) } } }
                }
            }
        }
    }
}

/// Returns a string whose invisible characters have signs. A blank, a tab and a line feed are also there themselves, so that a copy of the
/// text has them. The text is cut after about `most` bytes of the page. Also returns whether it is whole.
fn with_signs(text: &str, most: usize) -> (Markup, bool) {
    let (mut marked, mut rest) = (String::new(), text);
    while !rest.is_empty() && marked.len() < most {
        let window = cut(rest, WINDOW);
        let found = window.char_indices().find_map(|(at, char)| Some((at, char, sign_of(char)?)));
        let end = found.as_ref().map_or(window.len(), |(at, ..)| *at);
        let (visible, after) = rest.split_at_checked(end).unwrap_or_default();
        visible.render_to(&mut marked);
        rest = after;
        if let Some((_, char, sign)) = found {
            let (invisible, after) = rest.split_at_checked(char.len_utf8()).unwrap_or_default();
            let shown = html! {
                @if matches!(char, ' ' | '\t' | '\n') {
                    i data-sign=(sign) { (invisible) }
                } @else {
                    i class="alone" data-sign=(sign) {}
                }
            };
            shown.render_to(&mut marked);
            rest = after;
        }
    }
    (PreEscaped(marked), rest.is_empty())
}

/// Returns a number with a noun in the singular or the plural.
fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// Returns the style that sets the hue of a message.
fn hue(index: usize) -> String {
    let hue = (index.saturating_mul(HUE_STEP) + 230).checked_rem(360).unwrap_or(0);
    format!("--hue:{hue}")
}
