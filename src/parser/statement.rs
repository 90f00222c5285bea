//! Parses the template and its statements: text and outputs, choices, loops, assignments.
//!
//! The rules are those of jinja2 3.1.6 `parser.py`, `subparse`, `parse_statement`, `parse_statements` and the functions of the tags, and of
//! `ext.py`, `LoopControlExtension`. `scope_tag.rs` parses tags whose body is a scope of its own, and `unsupported_tag.rs` those that this
//! crate does not support.

use super::depth;
use super::primary::TupleKind;
use super::tag::OpenTag;
use super::unsupported_tag::UNSUPPORTED;
use super::{Parser, split_off};
use crate::ast::{
    Body, Expr, For, If, IfArm, LoopTest, Output, Piece, Scope, Set, SetBlock, SetStrategy, Slot, Stmt, StmtKind, TextLines,
};
use crate::error::Result;
use crate::lexer::TokenKind;
use crate::limits::{Limit, LimitExceeded};
use crate::span::Span;

/// The pieces of an output that is not complete.
#[derive(Debug, Default)]
pub struct Pieces {
    pieces: Vec<Piece>,
    start: u32,
    at: u32,
}

impl<'s> Parser<'s> {
    pub fn parse_template(&mut self) -> Result<Body> {
        self.parse_body(&[])
    }

    /// Parses text, outputs and statements up to a tag whose name is in `ends`, or to the end of the template. The name of the tag is then
    /// the current token.
    fn parse_body(&mut self, ends: &'static [&'static str]) -> Result<Body> {
        let outer = self.stmts.len();
        loop {
            let token = self.stream.current();
            match token.kind {
                TokenKind::Data => {
                    let text = self.stream.text(token);
                    self.template.text_bytes += text.len();
                    let piece = Piece::Text {
                        text: text.into(),
                        at: token.span.start,
                        lines: TextLines::default(),
                    };
                    self.pieces.push(piece, token.span.start, token.at);
                    self.stream.bump()?;
                }
                TokenKind::VariableBegin => {
                    let start = self.stream.take()?.span.start;
                    let expr = self.read_tuple(TupleKind::Expressions)?;
                    let at = expr.at;
                    self.pieces.push(Piece::Expr(expr), start, at);
                    self.stream.expect(TokenKind::VariableEnd)?;
                }
                TokenKind::BlockBegin => {
                    let start = token.span.start;
                    self.stmts.extend(self.pieces.finish(start));
                    self.stream.bump()?;
                    if self.stream.is_any_word(self.stream.current(), ends) {
                        return Ok(self.close_body(outer));
                    }
                    let stmt = self.parse_statement(start)?;
                    self.stmts.push(stmt);
                    self.stream.expect(TokenKind::BlockEnd)?;
                }
                _ => {
                    self.stmts.extend(self.pieces.finish(token.span.start));
                    return Ok(self.close_body(outer));
                }
            }
        }
    }

    /// Returns a body of the collected statements after the first `outer` ones.
    fn close_body(&mut self, outer: usize) -> Body {
        Body {
            stmts: split_off(&mut self.stmts, outer),
            steps: 0,
        }
    }

    /// Parses a statement whose tag begins at `start`, up to its last delimiter.
    fn parse_statement(&mut self, start: u32) -> Result<Stmt> {
        let token = self.stream.current();
        let at = token.at;
        if token.kind != TokenKind::Name {
            return Err(self.stream.error("tag name expected"));
        }
        let name = self.stream.text(token);
        let statements = self.open_tags.len() + 1;
        if statements > depth::STATEMENTS {
            let reached = LimitExceeded::from_sizes(Limit::Statements, statements, depth::STATEMENTS);
            return Err(depth::recursion_error(reached, token.span));
        }
        self.open_tags.push(OpenTag {
            name,
            end: None,
            ends: None,
        });
        let kind = self.descend(depth::TAG, |parser| parser.parse_tag(name))?;
        let end = self.open_tags.pop().and_then(|tag| tag.end);
        let end = end.unwrap_or(self.stream.current().span.end);
        Ok(Stmt {
            kind,
            span: Span::new(start, end),
            at,
            line_at: 0,
        })
    }

    /// Parses a statement by the name of its tag.
    fn parse_tag(&mut self, name: &str) -> Result<StmtKind> {
        match name {
            "for" => self.parse_for(),
            "if" => self.parse_if(),
            "set" => self.parse_set(),
            "print" => self.parse_print(),
            "break" => self.stream.bump().map(|()| StmtKind::Break),
            "continue" => self.stream.bump().map(|()| StmtKind::Continue),
            "macro" => self.parse_macro(),
            "call" => self.parse_call_block(),
            "generation" => self.parse_generation(),
            "filter" => self.parse_filter_block(),
            "with" => self.parse_with(),
            _ => match UNSUPPORTED.into_iter().find(|tag| *tag == name) {
                Some(tag) => self.parse_unsupported(tag),
                None => {
                    self.open_tags.pop();
                    Err(self.unknown_tag_error(self.stream.current()))
                }
            },
        }
    }

    /// Parses the end of a tag and the body after it, up to a tag whose name is in `ends`. That name is then the current token.
    fn parse_statements(&mut self, ends: &'static [&'static str]) -> Result<Body> {
        self.stream.eat(TokenKind::Colon)?;
        let end = self.stream.expect(TokenKind::BlockEnd)?.span.end;
        if let Some(tag) = self.open_tags.last_mut() {
            tag.end.get_or_insert(end);
            tag.ends = Some(ends);
        }
        let body = self.descend(depth::BODY, |parser| parser.parse_body(ends))?;
        if self.stream.is_at(TokenKind::End) {
            return Err(self.missing_end_error());
        }
        if let Some(tag) = self.open_tags.last_mut() {
            tag.ends = None;
        }
        Ok(body)
    }

    /// Parses the end of a tag and the body after it, and takes the name of the tag that ends the body.
    pub fn close_statements(&mut self, ends: &'static [&'static str]) -> Result<Body> {
        let body = self.parse_statements(ends)?;
        self.stream.bump()?;
        Ok(body)
    }

    fn parse_for(&mut self) -> Result<StmtKind> {
        self.stream.bump()?;
        let target = self.parse_target(false)?;
        self.stream.expect_word("in")?;
        let iter = self.read_tuple(TupleKind::Conditions)?;
        let mut test = None;
        if self.stream.eat_word("if")? {
            let outlives_scope = self.enter_function();
            test = Some(LoopTest {
                condition: self.read_expression()?,
                target: target.clone(),
                steps: 0,
                scope: Scope::default(),
                frame: Default::default(),
            });
            self.outlives_scope = outlives_scope;
        }
        let recursive = self.stream.eat_word("recursive")?;
        let outlives_scope = self.outlives_scope;
        if recursive {
            self.enter_function();
        }
        let mentions = self.loop_mentions;
        let body = self.parse_statements(&["endfor", "else"])?;
        let mentions_loop = self.loop_mentions > mentions;
        let otherwise = match self.take_word()? {
            "else" => self.close_statements(&["endfor"])?,
            _ => Body::default(),
        };
        self.outlives_scope = outlives_scope;
        Ok(StmtKind::For(Box::new(For {
            target,
            iter,
            test,
            recursive,
            body,
            otherwise,
            loop_slot: mentions_loop.then(Slot::default),
            scope: Scope::default(),
            otherwise_scope: Scope::default(),
            frame: Default::default(),
        })))
    }

    fn parse_if(&mut self) -> Result<StmtKind> {
        let mut at = self.stream.take()?.at;
        let (mut arms, mut asks_prompt) = (Vec::with_capacity(1), false);
        loop {
            let mentions = self.prompt_mentions;
            let test = self.read_tuple(TupleKind::Conditions)?;
            asks_prompt |= self.prompt_mentions > mentions;
            let body = self.parse_statements(&["elif", "else", "endif"])?;
            arms.push(IfArm { test, body, at });
            let otherwise = match self.take_word()? {
                "elif" => {
                    at = self.stream.current().at;
                    continue;
                }
                "else" => self.close_statements(&["endif"])?,
                _ => Body::default(),
            };
            return Ok(StmtKind::If(Box::new(If {
                arms,
                otherwise,
                asks_prompt,
            })));
        }
    }

    /// Parses an assignment of a value, or of the text of a block.
    fn parse_set(&mut self) -> Result<StmtKind> {
        self.stream.bump()?;
        let target = self.parse_target(true)?;
        if self.stream.eat(TokenKind::Assign)? {
            let value = self.read_tuple(TupleKind::Expressions)?;
            return Ok(StmtKind::Set(Box::new(Set {
                target,
                value,
                check_at: 0,
                strategy: SetStrategy::default(),
            })));
        }
        let filter = if self.stream.eat(TokenKind::Pipe)? {
            Some(self.read_block_filter()?)
        } else {
            None
        };
        let body = self.close_statements(&["endset"])?;
        let scope = Scope::default();
        Ok(StmtKind::SetBlock(Box::new(SetBlock {
            target,
            filter,
            body,
            scope,
        })))
    }

    /// Parses the filters of a `filter` or `set` block.
    pub fn read_block_filter(&mut self) -> Result<Expr> {
        let start = self.stream.current().span.start;
        let mut filter = Expr::default();
        self.parse_filter(&mut filter, None, start)?;
        Ok(filter)
    }

    fn parse_print(&mut self) -> Result<StmtKind> {
        self.stream.bump()?;
        let mut pieces = Vec::new();
        while !self.stream.is_at(TokenKind::BlockEnd) {
            if !pieces.is_empty() {
                self.stream.expect(TokenKind::Comma)?;
            }
            pieces.push(Piece::Expr(self.read_expression()?));
        }
        Ok(new_output(pieces))
    }
}

fn new_output(pieces: Vec<Piece>) -> StmtKind {
    let output = Output {
        pieces,
        ..Output::default()
    };
    StmtKind::Output(Box::new(output))
}

impl Pieces {
    fn push(&mut self, piece: Piece, start: u32, at: u32) {
        if self.pieces.is_empty() {
            self.start = start;
            self.at = at;
        }
        self.pieces.push(piece);
    }

    /// Removes the collected pieces and returns them as an output, if there are any. `end` is the offset after them.
    fn finish(&mut self, end: u32) -> Option<Stmt> {
        if self.pieces.is_empty() {
            return None;
        }
        Some(Stmt {
            kind: new_output(split_off(&mut self.pieces, 0)),
            span: Span::new(self.start, end),
            at: self.at,
            line_at: 0,
        })
    }
}
