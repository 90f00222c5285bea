//! The tags around the current place, and what is said where one is unknown or missing.
//!
//! `{% for x in l %}{% foo %}` knows that `endfor` or `else` was awaited. The rules are jinja2 3.1.6 `parser.py`, `_fail_ut_eof` and its
//! two callers.

use super::Parser;
use crate::error::Error;
use crate::lexer::Token;
use crate::text::quote;

/// The tag of a statement that is being parsed.
#[derive(Debug)]
pub struct OpenTag<'s> {
    /// Its name.
    pub name: &'s str,
    /// Where its delimiter ends, once that was seen.
    pub end: Option<u32>,
    /// The words that end the body that is being parsed.
    pub awaited: Option<&'static [&'static str]>,
}

impl OpenTag<'_> {
    /// Whether its body is a scope whose variables become missing where it ends.
    pub fn is_scope(&self) -> bool {
        matches!(self.name, "for" | "set" | "filter" | "with")
    }
}

impl<'s> Parser<'s> {
    /// The error of a tag that nobody knows.
    #[cold]
    pub fn unknown_tag(&self, tag: Token) -> Error {
        let name = self.stream.text(tag);
        let mut message = format!("Encountered unknown tag {}.", quote::repr(name));
        if self.awaited().any(|words| words.contains(&name)) {
            message.push_str(" You probably made a nesting mistake. Jinja is expecting this tag, but currently looking for ");
            message.push_str(&self.awaited_words());
            message.push('.');
        } else {
            self.push_awaited(&mut message);
        }
        self.push_innermost(&mut message);
        self.stream.error_at(message, tag.span, tag.at)
    }

    /// The error of a template that ends inside a body.
    #[cold]
    pub fn missing_end(&self) -> Error {
        let mut message = String::from("Unexpected end of template.");
        self.push_awaited(&mut message);
        self.push_innermost(&mut message);
        self.stream.error(message)
    }

    fn push_awaited(&self, message: &mut String) {
        if self.awaited().next().is_some() {
            message.push_str(" Jinja was looking for the following tags: ");
            message.push_str(&self.awaited_words());
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

    /// The words that end each of the bodies around here, from the inside out.
    fn awaited(&self) -> impl Iterator<Item = &'static [&'static str]> {
        self.open_tags.iter().rev().filter_map(|tag| tag.awaited)
    }

    /// What would end the innermost body.
    fn awaited_words(&self) -> String {
        let words = self.awaited().next().unwrap_or_default();
        let quoted: Vec<String> = words.iter().map(|word| quote::repr(word)).collect();
        quoted.join(" or ")
    }
}

#[cfg(test)]
mod tests {
    use crate::parser::refusal;

    #[test]
    fn unknown_tags_name_what_was_awaited() {
        let message = "Encountered unknown tag 'foo'. Jinja was looking for the following tags: 'endfor' or 'else'. \
                       The innermost block that needs to be closed is 'for'.";
        assert_eq!(refusal("{% for x in l %}\n{% foo %}{% endfor %}"), (message.into(), 2));
        let message = "Encountered unknown tag 'endfor'. You probably made a nesting mistake. Jinja is expecting this tag, but \
                       currently looking for 'elif' or 'else' or 'endif'. The innermost block that needs to be closed is 'if'.";
        assert_eq!(refusal("{% for x in l %}{% if t %}{% endfor %}"), (message.into(), 1));
        assert_eq!(refusal("{% endif %}"), ("Encountered unknown tag 'endif'.".into(), 1));
    }

    #[test]
    fn an_early_end_has_the_line_of_the_last_token() {
        let message = "Unexpected end of template. Jinja was looking for the following tags: 'elif' or 'else' or 'endif'. \
                       The innermost block that needs to be closed is 'if'.";
        assert_eq!(refusal("{% if t %}\n\n{# c #}\n"), (message.into(), 2));
    }
}
