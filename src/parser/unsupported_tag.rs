//! Parses tags that this crate does not support: `include`, `import`, `from`, `extends`, `block`, `autoescape`.
//!
//! A template with such a tag compiles, and it is an error to reach the tag. The tree does not keep its parts.
//!
//! The rules are those of jinja2 3.1.6 `parser.py`, `parse_include`, `parse_import`, `parse_from`, `parse_import_context`,
//! `parse_extends`, `parse_block` and `parse_autoescape`.

use super::Parser;
use crate::ast::StmtKind;
use crate::error::Result;
use crate::lexer::TokenKind;

/// The names of the tags.
pub const UNSUPPORTED: [&str; 6] = ["include", "import", "from", "extends", "block", "autoescape"];

/// The message for a block whose name has a hyphen, as in Django.
const HYPHEN: &str =
    "Block names in Jinja have to be valid Python identifiers and may not contain hyphens, use an underscore instead.";

impl<'s> Parser<'s> {
    /// Parses a tag with one of the names [`UNSUPPORTED`].
    pub fn parse_unsupported(&mut self, tag: &'static str) -> Result<StmtKind> {
        self.stream.bump()?;
        if tag != "block" {
            self.read_expression()?;
        }
        match tag {
            // `include a ignore missing with context`
            "include" => {
                self.eat_words(&["ignore"], "missing")?;
                self.eat_import_context()?;
            }
            // `import a as b with context`
            "import" => {
                self.stream.expect_word("as")?;
                self.parse_name_target()?;
                self.eat_import_context()?;
            }
            // `from a import b, c as d with context`
            "from" => {
                self.stream.expect_word("import")?;
                while !self.eat_import_context()? {
                    self.parse_name_target()?;
                    if self.stream.eat_word("as")? {
                        self.parse_name_target()?;
                    }
                    if self.eat_import_context()? || !self.stream.eat(TokenKind::Comma)? {
                        break;
                    }
                }
            }
            // `block b scoped required`
            "block" => {
                let name = self.expect_name()?;
                self.stream.eat_word("scoped")?;
                self.stream.eat_word("required")?;
                if self.stream.is_at(TokenKind::Sub) {
                    return Err(self.stream.error(HYPHEN));
                }
                self.close_statements(&["endblock"])?;
                self.stream.eat_word(name)?;
                self.template.has_blocks = true;
            }
            "autoescape" => drop(self.close_statements(&["endautoescape"])?),
            _ => {}
        }
        Ok(StmtKind::Unsupported(tag))
    }

    /// Takes `with context` or `without context`, if these are the next tokens. Returns whether they were.
    fn eat_import_context(&mut self) -> Result<bool> {
        self.eat_words(&["with", "without"], "context")
    }

    /// Takes one of some words and another one after it, if these are the next tokens. Returns whether they were.
    fn eat_words(&mut self, first: &[&str], second: &str) -> Result<bool> {
        let is_first = self.stream.is_any_word(self.stream.current(), first);
        let are_there = is_first && self.stream.is_next_word(second)?;
        if are_there {
            self.stream.bump()?;
            self.stream.bump()?;
        }
        Ok(are_there)
    }
}
