//! The picture for a terminal.
//!
//! ```text
//! with colours      the prompt, each character in its colour
//! without colours   a row for each part: its message, its origin and its text
//! ```

use chat_template::conformance::visible;

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

const RESET: &str = "\x1b[0m";

/// The colours of messages, which repeat.
const OWNERS: [&str; 5] = ["36", "32", "33", "35", "34"];

/// The colour of text that no message owns.
const NOBODY: &str = "90";

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

    /// Returns the prompt in colours.
    fn colored(&self, by: By) -> String {
        let mut shown = String::new();
        for part in self.parts() {
            let style = style_of(&part, by);
            for line in part.text.split_inclusive('\n') {
                shown.push_str(&style);
                for char in line.chars() {
                    match sign_of(char) {
                        _ if shown.len() >= MAX_BYTES => return shown + RESET + "\n" + REST,
                        None => shown.push(char),
                        // The code that ends faint also ends bold, so the style is written again.
                        Some(sign) => shown.push_str(&format!("\x1b[2m{sign}\x1b[22m{style}")),
                    }
                }
                // A background must not reach the end of the line.
                shown.push_str(RESET);
                if line.ends_with('\n') {
                    shown.push('\n');
                }
            }
        }
        shown
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
        if !is_colored {
            let model = match self.assistant().as_slice() {
                [] => "",
                _ => "   ┃ what the model writes",
            };
            let mark = "! a control token that the input wrote";
            return format!("line N: written in the template on this line   /PATH: the string of the input   {mark}{model}\n");
        }
        let paint = |style: &str, text: &str| format!("\x1b[{style}m{text}{RESET}");
        let mut entries: Vec<String> = match by {
            By::Origin => {
                let is_used = |kind: &str| self.prompt.segments.iter().any(|segment| kind_of(segment) == kind);
                let kinds = KINDS.iter().filter(|(kind, _)| is_used(kind));
                kinds.map(|(kind, text)| paint(color_of(kind), text)).collect()
            }
            By::Message => {
                let owners = self.owners().into_iter();
                let owners = owners.map(|index| paint(owner_color(Some(index)), &self.name_message(index)));
                owners.chain([paint(NOBODY, "no message")]).collect()
            }
        };
        if self.tokens.len() > self.prompt.untrusted.len() {
            entries.push(paint("1", "control token"));
        }
        if !self.prompt.untrusted.is_empty() {
            entries.push(paint(UNTRUSTED, "control token that the input wrote"));
        }
        if !self.assistant().is_empty() {
            entries.push(paint("4", "what the model writes"));
        }
        format!("{}\n", entries.join("   "))
    }
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
    let mut style = match by {
        By::Origin => color_of(kind_of(part.segment)),
        By::Message => owner_color(part.segment.message()),
    }
    .to_owned();
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

fn color_of(kind: &str) -> &'static str {
    match kind {
        "template" => "34",
        "token" => "35",
        "input" => "32",
        "changed" => "33",
        _ => "36",
    }
}

fn owner_color(owner: Option<usize>) -> &'static str {
    let color = owner.and_then(|index| OWNERS.get(index.checked_rem(OWNERS.len())?));
    color.copied().unwrap_or(NOBODY)
}
