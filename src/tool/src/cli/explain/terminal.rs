//! The picture for a terminal.
//!
//! ```text
//! with colours      the prompt, each character in its colour; to the right of each line, the origins of its parts
//! without colours   a row for each part: its message, its origin and its text
//! ```

use std::borrow::Cow;

use crate::conformance::visible;

use super::{KINDS, MAX_BYTES, Part, Picture, REST, kind_of, place_of, sign_of};

/// The meaning of the colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum By {
    /// The origin of the characters.
    #[default]
    Origin,
    /// The message that owns the characters.
    Message,
}

/// The widest column of origins.
const MAX_COLUMN: usize = 40;

/// The widest line of a prompt beside which the origins are aligned.
const MAX_TEXT: usize = 60;

/// The widest line of a legend, and the blanks between its entries.
const MAX_LEGEND: usize = 100;
const GAP: &str = "   ";

/// The largest number of origins beside a line, which can be a JSON text with many.
const MAX_PLACES: usize = 6;

const RESET: &str = "\x1b[0m";

// Colours of the palette of 256 that are legible on black and on white. A test computes their contrasts.
pub const BLUE: &str = "38;5;63";
pub const PURPLE: &str = "38;5;98";
pub const GREEN: &str = "38;5;28";
pub const ORANGE: &str = "38;5;130";
pub const TEAL: &str = "38;5;30";
pub const PINK: &str = "38;5;162";
pub const RED: &str = "38;5;161";
pub const GREY: &str = "38;5;243";

/// The colours of messages, which repeat.
const OWNERS: [&str; 5] = [TEAL, GREEN, ORANGE, PURPLE, BLUE];

/// The colour of text that no message owns.
const NOBODY: &str = GREY;

/// The forms of origins in the picture without colours.
const FORMS: [(&str, &str); 4] = [
    ("template", "line N: written in the template on this line"),
    ("token", "token NAME: special token"),
    ("input", "/PATH: the string of the input"),
    ("changed", "changed /PATH: made from the input"),
];

/// The style of a control token that the input wrote.
const UNTRUSTED: &str = "1;97;41";

impl Picture<'_> {
    /// Returns the picture with its legend and its warnings.
    pub fn terminal(&self, by: By, is_colored: bool) -> String {
        let mut shown = if is_colored { self.colored(by) } else { self.listed() };
        if !shown.is_empty() && !shown.ends_with('\n') {
            shown.push('\n');
        }
        shown.push('\n');
        shown.push_str(&self.legend(by, is_colored));
        shown.push('\n');
        for warning in &self.warnings {
            shown.push_str(&visible(warning));
            shown.push('\n');
        }
        shown
    }

    /// Returns the prompt in colours, with the places of each line's parts to the right of the line.
    fn colored(&self, by: By) -> String {
        let (mut rows, mut size, mut is_cut) = (vec![Row::default()], 0_usize, false);
        'parts: for part in self.parts() {
            let (style, place) = (style_of(&part, by), label(&part));
            let place = paint(color_by(&part, by), &place);
            for line in part.text.split_inclusive('\n') {
                let Some(row) = rows.last_mut() else { break };
                if !row.places.contains(&place) && row.places.len() <= MAX_PLACES {
                    let place = if row.places.len() < MAX_PLACES {
                        place.clone()
                    } else {
                        "…".to_owned()
                    };
                    size = size.saturating_add(place.len());
                    row.places.push(place);
                }
                let start = row.text.len();
                row.text.push_str(&style);
                for char in line.chars() {
                    if size.saturating_add(row.text.len()) >= MAX_BYTES {
                        row.text.push_str(RESET);
                        is_cut = true;
                        break 'parts;
                    }
                    row.width = row.width.saturating_add(1);
                    match sign_of(char) {
                        None => row.text.push(char),
                        // The code that ends faint also ends bold, so the style is written again.
                        Some(sign) => row.text.push_str(&format!("\x1b[2m{sign}\x1b[22m{style}")),
                    }
                }
                // A background must not reach the end of the line.
                row.text.push_str(RESET);
                size = size.saturating_add(row.text.len().saturating_sub(start));
                if line.ends_with('\n') {
                    rows.push(Row::default());
                }
            }
        }
        let widths = rows.iter().map(|row| row.width).filter(|width| *width <= MAX_TEXT);
        let column = widths.max().unwrap_or_default();
        let mut shown = String::new();
        for row in rows.iter().filter(|row| !row.text.is_empty()) {
            if shown.len() >= MAX_BYTES {
                is_cut = true;
                break;
            }
            let pad = " ".repeat(column.saturating_sub(row.width));
            let places = row.places.join(", ");
            shown.push_str(&format!("{}{pad} {} {places}\n", row.text, paint(NOBODY, "│")));
        }
        shown + if is_cut { REST } else { "" }
    }

    /// Returns a row for each part of the prompt.
    fn listed(&self) -> String {
        let names = self
            .owners()
            .into_iter()
            .map(|index| self.name_message(index).chars().count());
        let owner_width = names.max().unwrap_or_default();
        let mut place_width = 0;
        for part in self.parts() {
            place_width = place_width.max(label(&part).chars().count());
            if place_width >= MAX_COLUMN {
                place_width = MAX_COLUMN;
                break;
            }
        }
        let mut shown = String::new();
        for part in self.parts() {
            let owner = part.segment.message().map(|index| self.name_message(index));
            let (mut owner, mut place) = (owner.unwrap_or_default(), label(&part));
            let bar = if part.is_assistant { "┃" } else { "│" };
            for line in part.text.split_inclusive('\n') {
                shown.push_str(&format!("{owner:owner_width$}  {place:place_width$}  {bar} "));
                for char in line.chars() {
                    match sign_of(char) {
                        _ if shown.len() >= MAX_BYTES => return shown + "\n" + REST,
                        None => shown.push(char),
                        Some(sign) => shown.push_str(&sign),
                    }
                }
                shown.push('\n');
                owner.clear();
                place.clear();
            }
        }
        shown
    }

    fn legend(&self, by: By, is_colored: bool) -> String {
        let mut entries: Vec<(&str, Cow<'_, str>)> = Vec::new();
        let used = KINDS.iter().filter(|(kind, _)| self.has(kind));
        match (is_colored, by) {
            (true, By::Origin) => entries.extend(used.map(|(kind, text)| (color_of(kind), (*text).into()))),
            (true, By::Message) => {
                let owners = self.owners().into_iter();
                entries.extend(owners.map(|index| (owner_color(Some(index)), self.name_message(index).into())));
                entries.push((NOBODY, "no message".into()));
            }
            (false, _) => {
                let forms = FORMS.iter().filter(|(kind, _)| self.has(kind));
                entries.extend(forms.map(|(_, text)| ("", (*text).into())));
            }
        }
        if is_colored && self.tokens.len() > self.prompt.untrusted.len() {
            entries.push(("1", "control token".into()));
        }
        if !self.prompt.untrusted.is_empty() {
            entries.push((UNTRUSTED, "! control token that the input wrote".into()));
        }
        if !self.assistant().is_empty() {
            let text = if is_colored {
                "what the model writes"
            } else {
                "┃ what the model writes"
            };
            entries.push(("4", text.into()));
        }
        let (mut shown, mut width) = (String::new(), 0_usize);
        for (style, text) in entries {
            let length = text.chars().count();
            let end = width.saturating_add(length).saturating_add(GAP.len());
            let gap = match width {
                0 => "",
                _ if end > MAX_LEGEND => "\n",
                _ => GAP,
            };
            width = if gap == GAP { end } else { length };
            shown.push_str(gap);
            shown.push_str(&if is_colored { paint(style, &text) } else { text.into_owned() });
        }
        shown + "\n"
    }
}

/// A line of the prompt in colours.
#[derive(Default)]
struct Row {
    text: String,
    /// The number of characters of the text without escape sequences.
    width: usize,
    /// The places of the parts, in their colours.
    places: Vec<String>,
}

/// Returns a text in a style.
pub fn paint(style: &str, text: &str) -> String {
    format!("\x1b[{style}m{text}{RESET}")
}

/// Returns the origin of a part.
fn label(part: &Part<'_>) -> String {
    let mut place = match kind_of(part.segment) {
        kind @ ("token" | "changed") => format!("{kind} {}", place_of(part.segment)),
        _ => place_of(part.segment),
    };
    if part.is_untrusted {
        place.insert_str(0, "! ");
    }
    place
}

/// Returns the escape sequence for the style of a part.
fn style_of(part: &Part<'_>, by: By) -> String {
    let mut style = color_by(part, by).to_owned();
    match part.token {
        Some(_) if part.is_untrusted => UNTRUSTED.clone_into(&mut style),
        Some(_) => style.push_str(";1"),
        None => {}
    }
    if part.is_assistant {
        style.push_str(";4");
    }
    format!("\x1b[{style}m")
}

/// Returns the colour of a part.
fn color_by(part: &Part<'_>, by: By) -> &'static str {
    match by {
        By::Origin => color_of(kind_of(part.segment)),
        By::Message => owner_color(part.segment.message()),
    }
}

fn color_of(kind: &str) -> &'static str {
    match kind {
        "template" => BLUE,
        "token" => PURPLE,
        "input" => GREEN,
        "changed" => ORANGE,
        "clock" => PINK,
        _ => TEAL,
    }
}

fn owner_color(owner: Option<usize>) -> &'static str {
    let color = owner.and_then(|index| OWNERS.get(index.checked_rem(OWNERS.len())?));
    color.copied().unwrap_or(NOBODY)
}

#[cfg(test)]
mod tests {
    use super::{BLUE, GREEN, GREY, ORANGE, PINK, PURPLE, RED, TEAL};

    /// The colours with their red, green and blue in the palette of 256, as xterm has it.
    const COLORS: [(&str, &str, [u8; 3]); 8] = [
        (BLUE, "38;5;63", [0x5f, 0x5f, 0xff]),
        (PURPLE, "38;5;98", [0x87, 0x5f, 0xd7]),
        (GREEN, "38;5;28", [0x00, 0x87, 0x00]),
        (ORANGE, "38;5;130", [0xaf, 0x5f, 0x00]),
        (TEAL, "38;5;30", [0x00, 0x87, 0x87]),
        (PINK, "38;5;162", [0xd7, 0x00, 0x87]),
        (RED, "38;5;161", [0xd7, 0x00, 0x5f]),
        (GREY, "38;5;243", [0x76, 0x76, 0x76]),
    ];

    #[test]
    fn the_colours_are_legible_on_black_and_on_white() {
        for (style, expected, red_green_blue) in COLORS {
            assert_eq!(style, expected);
            // The relative luminance and the contrast of the Web Content Accessibility Guidelines.
            let [red, green, blue] = red_green_blue.map(|value| match f64::from(value) / 255.0 {
                value if value <= 0.04045 => value / 12.92,
                value => ((value + 0.055) / 1.055).powf(2.4),
            });
            let luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
            let contrasts = [(luminance + 0.05) / 0.05, 1.05 / (luminance + 0.05)];
            assert!(contrasts.iter().all(|contrast| *contrast >= 4.0), "{style}: {contrasts:?}");
        }
    }
}
