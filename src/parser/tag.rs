//! The tags around the current token, and the errors for tags that are unknown or missing.
//!
//! In `{% for x in l %}{% foo %}` the error about `foo` says that `endfor` or `else` was expected. The rules are those of jinja2 3.1.6
//! `parser.py`, `_fail_ut_eof` and its two callers.

use super::Parser;
use crate::error::Error;
use crate::lexer::Token;
use crate::text::quote;

/// The tag of a statement that is being parsed.
#[derive(Debug)]
pub struct OpenTag<'s> {
    pub name: &'s str,
    /// The offset after the closing delimiter of the tag, once it has been parsed.
    pub end: Option<u32>,
    /// The names of the tags that end the body that is being parsed.
    pub ends: Option<&'static [&'static str]>,
}

impl OpenTag<'_> {
    /// Returns whether the body of the tag is a scope whose variables become missing at its end.
    pub fn is_scope(&self) -> bool {
        matches!(self.name, "for" | "set" | "filter" | "with")
    }
}

impl<'s> Parser<'s> {
    /// Returns the error for a tag with an unknown name.
    #[cold]
    pub fn unknown_tag_error(&self, tag: Token) -> Error {
        let name = self.stream.text(tag);
        let message = format!("Encountered unknown tag {}.", quote::repr(name));
        self.stream
            .error_at(message + &self.describe_open_tags(Some(name)), tag.span, tag.at)
    }

    /// Returns the error for a template that ends inside a body.
    #[cold]
    pub fn missing_end_error(&self) -> Error {
        let message = String::from("Unexpected end of template.");
        self.stream.error(message + &self.describe_open_tags(None))
    }

    /// Returns the end of a message, which says what is expected after an unknown tag or at the end of the template.
    fn describe_open_tags(&self, unknown: Option<&str>) -> String {
        // For each body around the current token, the names of the tags that end it. The innermost body comes first.
        let mut ends = self.open_tags.iter().rev().filter_map(|tag| tag.ends);
        let is_misplaced = unknown.is_some_and(|name| ends.clone().any(|words| words.contains(&name)));
        let mut message = String::new();
        if let Some(words) = ends.next() {
            message.push_str(if is_misplaced {
                " You probably made a nesting mistake. Jinja is expecting this tag, but currently looking for "
            } else {
                " Jinja was looking for the following tags: "
            });
            let quoted: Vec<String> = words.iter().map(|word| quote::repr(word)).collect();
            message.push_str(&quoted.join(" or "));
            message.push('.');
        }
        if let Some(tag) = self.open_tags.last() {
            message.push_str(" The innermost block that needs to be closed is ");
            message.push_str(&quote::repr(tag.name));
            message.push('.');
        }
        message
    }
}
