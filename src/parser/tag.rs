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
        let mut message = format!("Encountered unknown tag {}.", quote::repr(name));
        if self.expected_ends().any(|words| words.contains(&name)) {
            message.push_str(" You probably made a nesting mistake. Jinja is expecting this tag, but currently looking for ");
            message.push_str(&self.list_expected_ends());
            message.push('.');
        } else {
            self.push_expected_ends(&mut message);
        }
        self.push_innermost(&mut message);
        self.stream.error_at(message, tag.span, tag.at)
    }

    /// Returns the error for a template that ends inside a body.
    #[cold]
    pub fn missing_end_error(&self) -> Error {
        let mut message = String::from("Unexpected end of template.");
        self.push_expected_ends(&mut message);
        self.push_innermost(&mut message);
        self.stream.error(message)
    }

    fn push_expected_ends(&self, message: &mut String) {
        if self.expected_ends().next().is_some() {
            message.push_str(" Jinja was looking for the following tags: ");
            message.push_str(&self.list_expected_ends());
            message.push('.');
        }
    }

    fn push_innermost(&self, message: &mut String) {
        if let Some(tag) = self.open_tags.last() {
            message.push_str(" The innermost block that needs to be closed is ");
            message.push_str(&quote::repr(tag.name));
            message.push('.');
        }
    }

    /// Returns, for each body around the current token, the names of the tags that end it. The innermost body comes first.
    fn expected_ends(&self) -> impl Iterator<Item = &'static [&'static str]> {
        self.open_tags.iter().rev().filter_map(|tag| tag.ends)
    }

    /// Returns the names of the tags that end the innermost body, in quotes and with `or` between them.
    fn list_expected_ends(&self) -> String {
        let words = self.expected_ends().next().unwrap_or_default();
        let quoted: Vec<String> = words.iter().map(|word| quote::repr(word)).collect();
        quoted.join(" or ")
    }
}
