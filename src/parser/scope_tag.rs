//! Parses tags whose body is a scope of its own: macros, call blocks, `generation`, filters, `with`.
//!
//! The rules are those of jinja2 3.1.6 `parser.py`, `parse_macro`, `parse_call_block`, `parse_filter_block` and `parse_with`, and of
//! transformers `chat_template_utils.py`, `AssistantTracker.parse`.

use super::Parser;
use super::depth;
use crate::ast::{Body, Call, CallBlock, ExprKind, FilterBlock, Macro, Parameter, Scope, StmtKind, Symbol, With};
use crate::error::Result;
use crate::lexer::TokenKind;

impl<'s> Parser<'s> {
    pub fn parse_macro(&mut self) -> Result<StmtKind> {
        self.stream.bump()?;
        let (name, _) = self.parse_name_target()?;
        let name = self.intern(name);
        let outlives_scope = self.enter_function();
        let parameters = self.parse_signature()?;
        let body = self.close_statements(&["endmacro"])?;
        self.outlives_scope = outlives_scope;
        Ok(StmtKind::Macro(Box::new(new_macro(Some(name), parameters, body))))
    }

    /// Parses parameters in parentheses, without a trailing comma: `(a, b=1)`.
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
                default = Some(self.descend(depth::CALL, Self::read_expression)?);
                has_default = true;
            } else if has_default {
                return Err(self.stream.error("non-default argument follows default argument"));
            }
            parameters.push(Parameter {
                symbol: self.intern(name),
                slot: Default::default(),
                default,
            });
        }
        self.stream.expect(TokenKind::RightParen)?;
        Ok(parameters)
    }

    /// Parses a call block: `call(a) m()`.
    pub fn parse_call_block(&mut self) -> Result<StmtKind> {
        let tag = self.stream.take()?;
        let outlives_scope = self.enter_function();
        let parameters = match self.stream.current().kind {
            TokenKind::LeftParen => self.parse_signature()?,
            _ => Vec::new(),
        };
        let call = self.read_expression()?;
        let ExprKind::Call(called) = call.kind else {
            return Err(self.stream.error_at("expected call", call.span, tag.at));
        };
        let Call { callee, args } = *called;
        let body = self.close_statements(&["endcall"])?;
        self.outlives_scope = outlives_scope;
        Ok(StmtKind::CallBlock(Box::new(CallBlock {
            callee,
            args,
            body: new_macro(None, parameters, body),
            span: call.span,
        })))
    }

    pub fn parse_generation(&mut self) -> Result<StmtKind> {
        self.stream.bump()?;
        self.template.has_generation = true;
        let body = self.close_statements(&["endgeneration"])?;
        Ok(StmtKind::Generation(Box::new(new_macro(None, Vec::new(), body))))
    }

    /// Parses a filter block: `filter f|g(1)`.
    pub fn parse_filter_block(&mut self) -> Result<StmtKind> {
        self.stream.bump()?;
        let filter = self.read_block_filter()?;
        let body = self.close_statements(&["endfilter"])?;
        let scope = Scope::default();
        Ok(StmtKind::FilterBlock(Box::new(FilterBlock { filter, body, scope })))
    }

    /// Parses a `with` block: `with a = 1, b = 2`.
    pub fn parse_with(&mut self) -> Result<StmtKind> {
        self.stream.bump()?;
        let mut bindings = Vec::new();
        while !self.stream.is_at(TokenKind::BlockEnd) {
            if !bindings.is_empty() {
                self.stream.expect(TokenKind::Comma)?;
            }
            let target = self.parse_target(false)?;
            self.stream.expect(TokenKind::Assign)?;
            let value = self.read_expression()?;
            bindings.push((target, value));
        }
        let body = self.close_statements(&["endwith"])?;
        let scope = Scope::default();
        Ok(StmtKind::With(Box::new(With { bindings, body, scope })))
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
