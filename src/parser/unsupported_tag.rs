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

/// The message for a block whose name has a hyphen, as in Django.
const HYPHEN: &str =
    "Block names in Jinja have to be valid Python identifiers and may not contain hyphens, use an underscore instead.";

impl<'s> Parser<'s> {
    /// Parses `include a ignore missing with context`.
    pub fn parse_include(&mut self) -> Result<StmtKind> {
        self.stream.bump()?;
        self.read_expression()?;
        if self.stream.is_at_word("ignore") && self.stream.is_next_word("missing")? {
            self.stream.bump()?;
            self.stream.bump()?;
        }
        self.eat_import_context()?;
        Ok(StmtKind::Unsupported("include"))
    }

    /// Parses `import a as b with context`.
    pub fn parse_import(&mut self) -> Result<StmtKind> {
        self.stream.bump()?;
        self.read_expression()?;
        self.stream.expect_word("as")?;
        self.parse_name_target()?;
        self.eat_import_context()?;
        Ok(StmtKind::Unsupported("import"))
    }

    /// Parses `from a import b, c as d with context`.
    pub fn parse_from(&mut self) -> Result<StmtKind> {
        self.stream.bump()?;
        self.read_expression()?;
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
        Ok(StmtKind::Unsupported("from"))
    }

    /// Takes `with context` or `without context`, if these are the next tokens. Returns whether they were.
    fn eat_import_context(&mut self) -> Result<bool> {
        let is_word = self.stream.is_any_word(self.stream.current(), &["with", "without"]);
        let is_context = is_word && self.stream.is_next_word("context")?;
        if is_context {
            self.stream.bump()?;
            self.stream.bump()?;
        }
        Ok(is_context)
    }

    /// Parses `extends a`.
    pub fn parse_extends(&mut self) -> Result<StmtKind> {
        self.stream.bump()?;
        self.read_expression()?;
        Ok(StmtKind::Unsupported("extends"))
    }

    /// Parses `block b scoped required`.
    pub fn parse_block(&mut self) -> Result<StmtKind> {
        self.stream.bump()?;
        let name = self.expect_name()?;
        self.stream.eat_word("scoped")?;
        self.stream.eat_word("required")?;
        if self.stream.is_at(TokenKind::Sub) {
            return Err(self.stream.error(HYPHEN));
        }
        self.close_statements(&["endblock"])?;
        self.stream.eat_word(name)?;
        self.template.has_blocks = true;
        Ok(StmtKind::Unsupported("block"))
    }

    /// Parses `autoescape a`.
    pub fn parse_autoescape(&mut self) -> Result<StmtKind> {
        self.stream.bump()?;
        self.read_expression()?;
        self.close_statements(&["endautoescape"])?;
        Ok(StmtKind::Unsupported("autoescape"))
    }
}
