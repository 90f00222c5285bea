//! Tags that need a loader: `include`, `import`, `from`, `extends`. Chat templates have none, so these parse and fail when reached.
//!
//! The rules are jinja2 3.1.6 `parser.py`, `parse_include`, `parse_import`, `parse_from`, `parse_import_context`, `parse_extends`. With
//! which context is parsed and forgotten.

use super::Parser;
use crate::ast::{Expr, Include, LoaderTag, StmtKind, Target};
use crate::error::Result;
use crate::lexer::TokenKind;

impl<'s> Parser<'s> {
    /// `include a ignore missing with context`
    pub fn parse_include(&mut self) -> Result<StmtKind> {
        self.stream.bump()?;
        let template = self.new_expression()?;
        let ignores_missing = self.stream.is_at_word("ignore") && self.stream.is_ahead("missing")?;
        if ignores_missing {
            self.stream.bump()?;
            self.stream.bump()?;
        }
        self.parse_import_context()?;
        Ok(include(LoaderTag::Include { ignores_missing }, template, Vec::new()))
    }

    /// `import a as b with context`
    pub fn parse_import(&mut self) -> Result<StmtKind> {
        self.stream.bump()?;
        let template = self.new_expression()?;
        self.stream.expect_word("as")?;
        let (_, target) = self.parse_name_target()?;
        self.parse_import_context()?;
        Ok(include(LoaderTag::Import, template, vec![target]))
    }

    /// `from a import b, c as d with context`
    pub fn parse_from(&mut self) -> Result<StmtKind> {
        self.stream.bump()?;
        let template = self.new_expression()?;
        self.stream.expect_word("import")?;
        let mut names: Vec<Target> = Vec::new();
        loop {
            if !names.is_empty() {
                self.stream.expect(TokenKind::Comma)?;
            }
            if self.stream.is_at(TokenKind::Name) && self.parse_import_context()? {
                break;
            }
            let (name, mut target) = self.parse_name_target()?;
            if name.starts_with('_') {
                let message = "names starting with an underline can not be imported";
                return Err(self.stream.error_at(message, target.span, target.at));
            }
            if self.stream.eat_word("as")? {
                (_, target) = self.parse_name_target()?;
            }
            names.push(target);
            if self.parse_import_context()? || !self.stream.is_at(TokenKind::Comma) {
                break;
            }
        }
        Ok(include(LoaderTag::From, template, names))
    }

    /// `with context` or `without context`, if it stands here.
    fn parse_import_context(&mut self) -> Result<bool> {
        let is_word = self.stream.is_any_word(self.stream.current(), &["with", "without"]);
        let is_context = is_word && self.stream.is_ahead("context")?;
        if is_context {
            self.stream.bump()?;
            self.stream.bump()?;
        }
        Ok(is_context)
    }

    /// `extends a`
    pub fn parse_extends(&mut self) -> Result<StmtKind> {
        self.stream.bump()?;
        let template = self.new_expression()?;
        Ok(include(LoaderTag::Extends, template, Vec::new()))
    }
}

fn include(tag: LoaderTag, template: Expr, names: Vec<Target>) -> StmtKind {
    StmtKind::Include(Box::new(Include { tag, template, names }))
}
