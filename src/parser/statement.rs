//! The template and its statements: text and outputs, choices, loops, assignments.
//!
//! The rules are jinja2 3.1.6 `parser.py`, `subparse`, `parse_statement`, `parse_statements` and those of the tags; `ext.py`,
//! `LoopControlExtension`; transformers `chat_template_utils.py`, `AssistantTracker.parse`. Tags that make scopes of their own are in
//! `scope_tag.rs`, those that a chat template cannot have in `unsupported_tag.rs`.

use super::Parser;
use super::depth;
use super::primary::TupleKind;
use super::tag::OpenTag;
use crate::ast::{Body, Expr, For, If, IfArm, LoopTest, Piece, Scope, Set, SetBlock, SetStrategy, Slot, Stmt, StmtKind};
use crate::error::Result;
use crate::lexer::TokenKind;
use crate::limits::{Limit, Reached};
use crate::span::Span;

/// An output that grows until a tag ends it.
#[derive(Debug, Default)]
pub struct Pieces {
    pieces: Vec<Piece>,
    start: u32,
    at: u32,
}

impl<'s> Parser<'s> {
    /// The whole source.
    pub fn parse_template(&mut self) -> Result<Body> {
        self.parse_body(&[])
    }

    /// Text, outputs and statements up to a tag among `ends`, whose name is then the current token, or to the end of the template.
    fn parse_body(&mut self, ends: &'static [&'static str]) -> Result<Body> {
        let outer = self.stmts.len();
        loop {
            let token = self.stream.current();
            match token.kind {
                TokenKind::Data => {
                    let piece = Piece::Text(self.stream.text(token).into());
                    self.pieces.push(piece, token.span.start, token.at);
                    self.stream.bump()?;
                }
                TokenKind::VariableBegin => {
                    let start = self.stream.take()?.span.start;
                    let expr = self.new_tuple(TupleKind::Expressions)?;
                    let at = expr.at;
                    self.pieces.push(Piece::Expr(expr, 0), start, at);
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

    /// The statements since there were so many.
    fn close_body(&mut self, outer: usize) -> Body {
        Body {
            stmts: split_off(&mut self.stmts, outer),
            steps: 0,
        }
    }

    /// A statement whose tag begins at `start`, up to its last delimiter.
    fn parse_statement(&mut self, start: u32) -> Result<Stmt> {
        let token = self.stream.current();
        let at = token.at;
        if token.kind != TokenKind::Name {
            return Err(self.stream.error("tag name expected"));
        }
        let name = self.stream.text(token);
        let statements = self.open_tags.len().saturating_add(1);
        if statements > depth::STATEMENTS {
            let reached = Reached::sizes(Limit::Statements, statements, depth::STATEMENTS);
            return Err(depth::too_deep(reached, token.span));
        }
        self.open_tags.push(OpenTag {
            name,
            end: None,
            awaited: None,
        });
        let kind = self.nested(depth::TAG, |parser| parser.parse_tag(name))?;
        let end = self.open_tags.pop().and_then(|tag| tag.end);
        let end = end.unwrap_or(self.stream.current().span.end);
        Ok(Stmt {
            kind,
            span: Span::new(start, end),
            at,
            line: 0,
        })
    }

    fn parse_tag(&mut self, name: &str) -> Result<StmtKind> {
        match name {
            "for" => self.parse_for(),
            "if" => self.parse_if(),
            "set" => self.parse_set(),
            "print" => self.parse_print(),
            "break" => self.parse_break(),
            "continue" => self.parse_continue(),
            "macro" => self.parse_macro(),
            "call" => self.parse_call_block(),
            "generation" => self.parse_generation(),
            "filter" => self.parse_filter_block(),
            "with" => self.parse_with(),
            "block" => self.parse_block(),
            "autoescape" => self.parse_autoescape(),
            "include" => self.parse_include(),
            "import" => self.parse_import(),
            "from" => self.parse_from(),
            "extends" => self.parse_extends(),
            _ => {
                self.open_tags.pop();
                Err(self.unknown_tag(self.stream.current()))
            }
        }
    }

    /// The rest of a tag and the body behind it, up to one of the words, which becomes the current token.
    fn parse_statements(&mut self, ends: &'static [&'static str]) -> Result<Body> {
        self.stream.eat(TokenKind::Colon)?;
        let end = self.stream.expect(TokenKind::BlockEnd)?.span.end;
        if let Some(tag) = self.open_tags.last_mut() {
            tag.end.get_or_insert(end);
            tag.awaited = Some(ends);
        }
        let body = self.nested(depth::BODY, |parser| parser.parse_body(ends))?;
        if self.stream.is_at(TokenKind::End) {
            return Err(self.missing_end());
        }
        if let Some(tag) = self.open_tags.last_mut() {
            tag.awaited = None;
        }
        Ok(body)
    }

    /// A body that ends with one of the words, which is taken.
    pub fn close_statements(&mut self, ends: &'static [&'static str]) -> Result<Body> {
        let body = self.parse_statements(ends)?;
        self.stream.bump()?;
        Ok(body)
    }

    fn parse_for(&mut self) -> Result<StmtKind> {
        self.stream.bump()?;
        let target = self.parse_target(false)?;
        self.stream.expect_word("in")?;
        let iter = self.new_tuple(TupleKind::Conditions)?;
        let mut test = None;
        if self.stream.eat_word("if")? {
            let is_kept = self.begin_function();
            test = Some(LoopTest {
                condition: self.new_expression()?,
                target: target.clone(),
                line: 0,
                steps: 0,
                scope: Scope::default(),
                frame: Default::default(),
            });
            self.is_kept = is_kept;
        }
        let recursive = self.stream.eat_word("recursive")?;
        let is_kept = self.is_kept;
        if recursive {
            self.begin_function();
        }
        let mentions = self.loop_mentions;
        let body = self.parse_statements(&["endfor", "else"])?;
        let mentions_loop = self.loop_mentions > mentions;
        let otherwise = match self.take_word()? {
            "else" => self.close_statements(&["endfor"])?,
            _ => Body::default(),
        };
        self.is_kept = is_kept;
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
        let mut arms = Vec::with_capacity(1);
        loop {
            let test = self.new_tuple(TupleKind::Conditions)?;
            let body = self.parse_statements(&["elif", "else", "endif"])?;
            arms.push(IfArm { test, body, at, line: 0 });
            let otherwise = match self.take_word()? {
                "elif" => {
                    at = self.stream.current().at;
                    continue;
                }
                "else" => self.close_statements(&["endif"])?,
                _ => Body::default(),
            };
            return Ok(StmtKind::If(Box::new(If { arms, otherwise })));
        }
    }

    /// An assignment of a value, or of a block's text.
    fn parse_set(&mut self) -> Result<StmtKind> {
        self.stream.bump()?;
        let target = self.parse_target(true)?;
        if self.stream.eat(TokenKind::Assign)? {
            let value = self.new_tuple(TupleKind::Expressions)?;
            return Ok(StmtKind::Set(Box::new(Set {
                target,
                value,
                check_line: 0,
                strategy: SetStrategy::default(),
            })));
        }
        let filter = if self.stream.eat(TokenKind::Pipe)? {
            Some(self.block_filter()?)
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

    /// Filters that a block's text goes through.
    pub fn block_filter(&mut self) -> Result<Expr> {
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
            pieces.push(Piece::Expr(self.new_expression()?, 0));
        }
        Ok(StmtKind::Output(pieces))
    }

    fn parse_break(&mut self) -> Result<StmtKind> {
        self.stream.bump()?;
        Ok(StmtKind::Break)
    }

    fn parse_continue(&mut self) -> Result<StmtKind> {
        self.stream.bump()?;
        Ok(StmtKind::Continue)
    }
}

impl Pieces {
    fn push(&mut self, piece: Piece, start: u32, at: u32) {
        if self.pieces.is_empty() {
            self.start = start;
            self.at = at;
        }
        self.pieces.push(piece);
    }

    /// The output so far, if there is any.
    fn finish(&mut self, end: u32) -> Option<Stmt> {
        if self.pieces.is_empty() {
            return None;
        }
        Some(Stmt {
            kind: StmtKind::Output(split_off(&mut self.pieces, 0)),
            span: Span::new(self.start, end),
            at: self.at,
            line: 0,
        })
    }
}

/// What a vector has from an index on, as a vector of the right size; it keeps its room for what comes next.
fn split_off<T>(items: &mut Vec<T>, from: usize) -> Vec<T> {
    if from > 0 {
        return items.split_off(from);
    }
    let mut all = Vec::with_capacity(items.len());
    all.append(items);
    all
}

#[cfg(test)]
mod tests {
    use crate::ast::StmtKind;
    use crate::parser::{parse, refusal};
    use crate::source::Source;

    #[test]
    fn text_and_outputs_are_one_statement_until_a_tag() {
        let source = Source::new("a{{ b }}{# c #}d{% print e, f %}");
        let template = parse(&source).unwrap();
        let pieces: Vec<_> = template
            .body
            .stmts
            .iter()
            .map(|stmt| (piece_count(&stmt.kind), source.slice(stmt.span)))
            .collect();
        assert_eq!(pieces, [(3, "a{{ b }}{# c #}d"), (2, "{% print e, f %}")]);
    }

    fn piece_count(kind: &StmtKind) -> usize {
        match kind {
            StmtKind::Output(pieces) => pieces.len(),
            _ => 0,
        }
    }

    #[test]
    fn statements_span_their_tag_and_have_the_line_of_its_name() {
        let source = Source::new("{%-\nif a +%}b{% elif\nc %}{% endif %}");
        let template = parse(&source).unwrap();
        let stmt = &template.body.stmts[0];
        assert_eq!((source.slice(stmt.span), source.line(stmt.at)), ("{%-\nif a +%}", 2));
        let StmtKind::If(choice) = &stmt.kind else { panic!("an if") };
        let lines: Vec<u32> = choice.arms.iter().map(|arm| source.line(arm.at)).collect();
        assert_eq!(lines, [2, 3]);
    }

    #[test]
    fn errors_are_the_references() {
        assert_eq!(refusal("{%\n 1 %}"), ("tag name expected".into(), 2));
        assert_eq!(
            refusal("{% if 1 if t else 0 %}{% endif %}").0,
            "expected token 'end of statement block', got 'if'"
        );
        assert_eq!(
            refusal("{% if a").0,
            "unexpected end of template, expected 'end of statement block'."
        );
        assert_eq!(refusal("{{ }}").0, "Expected an expression, got 'end of print statement'");
        assert_eq!(refusal("{% raw +%}x{% endraw %}").0, "Encountered unknown tag 'raw'.");
    }
}
