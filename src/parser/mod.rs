//! Parses tokens to a tree: `a {{ b }}` becomes one output, of text and a name.
//!
//! This is a recursive descent parser that follows jinja2 3.1.6 `parser.py`, with a Pratt loop for binary operators. Functions named
//! `parse_…` have the names of the productions in `grammar/template.ebnf`. Errors have the text and the line of the reference. Tokens are
//! requested in the order of the reference, so the first error is the same one. The resolver, not the parser, checks where `break` is
//! allowed.

mod depth;
mod expression;
mod postfix;
mod precedence;
mod primary;
mod scope_tag;
mod statement;
mod stream;
mod tag;
mod target;
mod unsupported_tag;

use std::sync::Arc;

use crate::ast::{Conditional, Expr, Keyword, Stmt, Symbol, Symbols, Template, UnaryOp};
use crate::error::{Error, Result};
use crate::lexer::TokenKind;
#[cfg(feature = "internal")]
use crate::limits::Limits;
use crate::meter::{Meter, Stack};
use crate::source::Source;
use depth::Height;
use expression::Start;
use statement::Pieces;
use stream::TokenStream;
use tag::OpenTag;

/// Parses a template under the default limits.
#[cfg(feature = "internal")]
pub fn parse(source: &Source) -> Result<Template> {
    build_tree(source, Meter::new(Limits::default())).map(|(template, _)| template)
}

/// Parses a template. Returns its tree, and the meter with the work that parsing took.
pub fn build_tree<'s>(source: &'s Source<'s>, meter: Meter<'s>) -> Result<(Template, Meter<'s>)> {
    let mut parser = Parser {
        stack: Stack::for_trees(meter.limits()),
        stream: TokenStream::new(source, meter)?,
        template: Template {
            symbols: Symbols::with_room(),
            ..Template::default()
        },
        loop_mentions: 0,
        prompt_mentions: 0,
        outlives_scope: false,
        open_tags: Vec::new(),
        stmts: Vec::with_capacity(16),
        items: Vec::new(),
        keywords: Vec::new(),
        pieces: Pieces::default(),
        open_conditionals: Vec::new(),
        prefixes: Vec::new(),
        frames: 0,
        late_error: None,
    };
    parser.template.body = parser.parse_template()?;
    parser.template.asks_prompt = parser.prompt_mentions > 0;
    match parser.late_error {
        Some(error) => Err(error),
        None => Ok((parser.template, parser.stream.into_meter())),
    }
}

/// The state of parsing.
#[derive(Debug)]
struct Parser<'s> {
    stream: TokenStream<'s>,
    /// The template so far, without its statements.
    template: Template,
    /// The number of times that the name `loop` has occurred.
    loop_mentions: usize,
    /// The number of times that the name `add_generation_prompt` has occurred.
    prompt_mentions: usize,
    /// Whether the current code is in a function that can be called after the end of a scope around it.
    outlives_scope: bool,
    /// The tags of the statements around the current token, for messages.
    open_tags: Vec<OpenTag<'s>>,
    /// The statements of all bodies that are not complete. When a body is complete, its statements move to a vector of the right size.
    stmts: Vec<Stmt>,
    /// The positional arguments and the items of all lists, tuples and concatenations that are not complete, which move likewise.
    items: Vec<Expr>,
    /// The keyword arguments of all calls that are not complete, which move likewise.
    keywords: Vec<Keyword>,
    /// The current output, to which pieces are added until a tag ends it.
    pieces: Pieces,
    /// The conditionals whose last branch is not parsed yet, each with its start and the height of its parts so far.
    open_conditionals: Vec<(Start, Box<Conditional>, Height)>,
    /// The prefix operators whose operand is not parsed yet, each with its offset.
    prefixes: Vec<(UnaryOp, u32)>,
    /// The number of nested calls that the reference would have made.
    frames: u32,
    /// The measure of the stack of this parser.
    stack: Stack,
    /// The first error that the reference finds only after parsing.
    late_error: Option<Error>,
}

impl<'s> Parser<'s> {
    fn take_word(&mut self) -> Result<&'s str> {
        let token = self.stream.take()?;
        Ok(self.stream.text(token))
    }

    /// Takes the current token, which has to be a name, and returns its text.
    fn expect_name(&mut self) -> Result<&'s str> {
        let token = self.stream.expect(TokenKind::Name)?;
        Ok(self.stream.text(token))
    }

    fn intern(&mut self, name: &str) -> Symbol {
        match name {
            "loop" => self.loop_mentions += 1,
            "add_generation_prompt" => self.prompt_mentions += 1,
            _ => {}
        }
        let symbol = self.template.symbols.intern(name);
        if self.outlives_scope {
            self.template.symbols.mark_scoped(symbol);
        }
        symbol
    }

    /// Records that code begins which the reference compiles to a function of its own, such as a macro. Returns the previous value of
    /// `outlives_scope`, which the caller has to restore at the end of the code.
    fn enter_function(&mut self) -> bool {
        let around = self.open_tags.split_last().map_or(&[][..], |(_, around)| around);
        let outlives_scope = self.outlives_scope || around.iter().any(OpenTag::is_scope);
        std::mem::replace(&mut self.outlives_scope, outlives_scope)
    }

    /// Returns a shared string of the name of an attribute, a filter, a test or a keyword.
    fn share_name(&mut self, name: &str) -> Arc<str> {
        let symbol = self.template.symbols.intern(name);
        self.template.symbols.spelling(symbol)
    }
}

/// Removes the items from an index to the end, and returns them in a vector without spare capacity. `items` keeps its capacity.
fn split_off<T>(items: &mut Vec<T>, from: usize) -> Vec<T> {
    if from > 0 {
        return items.split_off(from);
    }
    let mut all = Vec::with_capacity(items.len());
    all.append(items);
    all
}
