//! Takes the blocks out of the bodies where they stand: each is a frame of its own, which more than one place may render.

use std::collections::BTreeSet;

use super::statements::first_target;
use crate::ast::{Block, Body, Stmt, StmtKind, Symbol, Template};
use crate::error::{Error, ErrorKind, Result};

/// Moves the contents of all blocks into `template.blocks`, in the order of the source.
pub(super) fn take_out(template: &mut Template) -> Result<()> {
    let mut blocks = Vec::new();
    let loop_name = template.symbols.find("loop");
    take_from(&mut template.body, loop_name, &mut blocks);
    let mut names = BTreeSet::new();
    for (block, span) in &blocks {
        if !names.insert(block.name) {
            let name = crate::text::quote::repr(template.symbols.name(block.name));
            return Err(Error::new(ErrorKind::Syntax, format!("block {name} defined twice")).at(*span));
        }
    }
    template.blocks = blocks.into_iter().map(|(block, _)| block).collect();
    Ok(())
}

fn take_from(body: &mut Body, loop_name: Option<Symbol>, blocks: &mut Vec<(Block, crate::span::Span)>) {
    for stmt in &mut body.stmts {
        let at = stmt.at;
        let span = crate::span::Span::new(at, stmt.span.end.max(at));
        if let StmtKind::Block(block) = &mut stmt.kind {
            let number = blocks.len();
            let outline = Block {
                body: Body::default(),
                number,
                at,
                visible: Vec::new(),
                loop_target: loop_name.and_then(|name| first_target(block.body.stmts.iter(), name)),
                scope: crate::ast::Scope::default(),
                ..**block
            };
            let mut taken = std::mem::replace(&mut **block, outline.clone());
            let mut inner = std::mem::take(&mut taken.body);
            blocks.push((Block { at, ..taken }, span));
            take_from(&mut inner, loop_name, blocks);
            if let Some((block, _)) = blocks.get_mut(number) {
                block.body = inner;
            }
        } else {
            bodies(stmt).into_iter().for_each(|body| take_from(body, loop_name, blocks));
        }
    }
}

/// The bodies inside a statement, in the order of the source.
fn bodies(stmt: &mut Stmt) -> Vec<&mut Body> {
    match &mut stmt.kind {
        StmtKind::For(node) => vec![&mut node.body, &mut node.otherwise],
        StmtKind::If(node) => {
            let arms = node.arms.iter_mut().map(|arm| &mut arm.body);
            arms.chain(std::iter::once(&mut node.otherwise)).collect()
        }
        StmtKind::SetBlock(node) => vec![&mut node.body],
        StmtKind::Macro(node) | StmtKind::Generation(node) => vec![&mut node.body],
        StmtKind::CallBlock(node) => vec![&mut node.body.body],
        StmtKind::FilterBlock(node) => vec![&mut node.body],
        StmtKind::With(node) => vec![&mut node.body],
        StmtKind::Autoescape(node) => vec![&mut node.body],
        StmtKind::Block(node) => vec![&mut node.body],
        StmtKind::Output(_) | StmtKind::Set(_) | StmtKind::Include(_) | StmtKind::Break | StmtKind::Continue => Vec::new(),
    }
}
