//! Tags whose body is a scope of its own: macros, call blocks, filters, `with`, blocks, `autoescape`.
//!
//! The rules are jinja2 3.1.6 `parser.py`, `parse_macro`, `parse_call_block`, `parse_filter_block`, `parse_with`, `parse_block`,
//! `parse_autoescape`, and transformers `chat_template_utils.py`, `AssistantTracker.parse`.

use super::Parser;
use super::depth;
use crate::ast::{
    Autoescape, AutoescapeBlock, Block, Body, Call, CallBlock, ExprKind, FilterBlock, Macro, Parameter, Piece, Scope, StmtKind,
    Symbol, With,
};
use crate::error::Result;
use crate::lexer::TokenKind;
use crate::unicode;

impl<'s> Parser<'s> {
    /// `macro m(a, b=1)`
    pub fn parse_macro(&mut self) -> Result<StmtKind> {
        self.stream.bump()?;
        let (name, _) = self.parse_name_target()?;
        let name = self.intern(name);
        let is_kept = self.begin_function();
        let parameters = self.parse_signature()?;
        let body = self.close_statements(&["endmacro"])?;
        self.is_kept = is_kept;
        Ok(StmtKind::Macro(Box::new(new_macro(Some(name), parameters, body))))
    }

    /// `(a, b=1)`, without a trailing comma.
    fn parse_signature(&mut self) -> Result<Vec<Parameter>> {
        self.stream.expect(TokenKind::LeftParen)?;
        let mut parameters: Vec<Parameter> = Vec::new();
        let mut has_default = false;
        while !self.stream.is_at(TokenKind::RightParen) {
            if !parameters.is_empty() {
                self.stream.expect(TokenKind::Comma)?;
            }
            let (name, _) = self.parse_name_target()?;
            let mut default = None;
            if self.stream.eat(TokenKind::Assign)? {
                default = Some(self.nested(depth::CALL, Self::new_expression)?);
                has_default = true;
            } else if has_default {
                return Err(self.stream.error("non-default argument follows default argument"));
            }
            parameters.push(Parameter {
                symbol: self.intern(name),
                slot: Default::default(),
                default,
                line: 0,
            });
        }
        self.stream.expect(TokenKind::RightParen)?;
        Ok(parameters)
    }

    /// `call(a) m()`
    pub fn parse_call_block(&mut self) -> Result<StmtKind> {
        let tag = self.stream.take()?;
        let is_kept = self.begin_function();
        let parameters = match self.stream.current().kind {
            TokenKind::LeftParen => self.parse_signature()?,
            _ => Vec::new(),
        };
        let call = self.new_expression()?;
        let ExprKind::Call(called) = call.kind else {
            return Err(self.stream.error_at("expected call", call.span, tag.at));
        };
        let Call { callee, args } = *called;
        let body = self.close_statements(&["endcall"])?;
        self.is_kept = is_kept;
        Ok(StmtKind::CallBlock(Box::new(CallBlock {
            callee,
            args,
            body: new_macro(None, parameters, body),
            span: call.span,
        })))
    }

    /// `generation`
    pub fn parse_generation(&mut self) -> Result<StmtKind> {
        self.stream.bump()?;
        let body = self.close_statements(&["endgeneration"])?;
        Ok(StmtKind::Generation(Box::new(new_macro(None, Vec::new(), body))))
    }

    /// `filter f|g(1)`
    pub fn parse_filter_block(&mut self) -> Result<StmtKind> {
        self.stream.bump()?;
        let filter = self.block_filter()?;
        let body = self.close_statements(&["endfilter"])?;
        let scope = Scope::default();
        Ok(StmtKind::FilterBlock(Box::new(FilterBlock {
            filter,
            body,
            scope,
            autoescape: Autoescape::Off,
        })))
    }

    /// `with a = 1, b = 2`
    pub fn parse_with(&mut self) -> Result<StmtKind> {
        self.stream.bump()?;
        let mut bindings = Vec::new();
        while !self.stream.is_at(TokenKind::BlockEnd) {
            if !bindings.is_empty() {
                self.stream.expect(TokenKind::Comma)?;
            }
            let target = self.parse_target(false)?;
            self.stream.expect(TokenKind::Assign)?;
            let value = self.new_expression()?;
            bindings.push((target, value, 0));
        }
        let body = self.close_statements(&["endwith"])?;
        let scope = Scope::default();
        Ok(StmtKind::With(Box::new(With { bindings, body, scope })))
    }

    /// `block b scoped required`
    pub fn parse_block(&mut self) -> Result<StmtKind> {
        let at = self.stream.take()?.at;
        let name = self.expect_name()?;
        let scoped = self.stream.eat_word("scoped")?;
        let required = self.stream.eat_word("required")?;
        if self.stream.is_at(TokenKind::Sub) {
            let message = "Block names in Jinja have to be valid Python identifiers and may not contain hyphens, \
                           use an underscore instead.";
            return Err(self.stream.error(message));
        }
        let body = self.close_statements(&["endblock"])?;
        if required && !is_blank(&body) {
            return Err(self.stream.error("Required blocks can only contain comments or whitespace"));
        }
        self.stream.eat_word(name)?;
        self.has_blocks = true;
        Ok(StmtKind::Block(Box::new(Block {
            name: self.intern(name),
            at,
            scoped,
            required,
            body,
            ..Block::default()
        })))
    }

    /// `autoescape a`
    pub fn parse_autoescape(&mut self) -> Result<StmtKind> {
        self.stream.bump()?;
        let condition = self.new_expression()?;
        let body = self.close_statements(&["endautoescape"])?;
        let scope = Scope::default();
        Ok(StmtKind::Autoescape(Box::new(AutoescapeBlock { condition, body, scope })))
    }
}

fn new_macro(name: Option<Symbol>, parameters: Vec<Parameter>, body: Body) -> Macro {
    Macro {
        name,
        parameters,
        body,
        ..Macro::default()
    }
}

/// Whether a body is nothing but blanks.
fn is_blank(body: &Body) -> bool {
    body.stmts.iter().all(|stmt| match &stmt.kind {
        StmtKind::Output(pieces) => pieces.iter().all(|piece| match piece {
            Piece::Text(text, _) => unicode::is_space_str(text),
            Piece::Expr(..) | Piece::Escaped(..) => false,
        }),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use crate::parser::refusal;

    #[test]
    fn errors_are_the_references() {
        assert_eq!(
            refusal("{% macro m(a=1, b) %}{% endmacro %}").0,
            "non-default argument follows default argument"
        );
        assert_eq!(refusal("{% call\nm %}{% endcall %}"), ("expected call".into(), 1));
        let message = "Required blocks can only contain comments or whitespace";
        assert_eq!(refusal("{% block a required %}x{% endblock %}").0, message);
        let message =
            "Block names in Jinja have to be valid Python identifiers and may not contain hyphens, use an underscore instead.";
        assert_eq!(refusal("{% block a-b %}{% endblock %}").0, message);
    }
}
