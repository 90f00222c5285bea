//! Tokens to a tree: `a {{ b }}` is one output of a text and a name.
//!
//! Recursive descent after jinja2 3.1.6 `parser.py`, with a Pratt loop for binary operators; functions have the names of the productions
//! in `grammar/template.ebnf`. Every error has the text and the line of the reference's, and the first error is the same, because tokens
//! are pulled in the same order. What names mean, whether filters exist and where `break` may stand is unknown here.

mod depth;
mod expression;
#[cfg(test)]
mod grammar_test;
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

use crate::ast::{Conditional, Stmt, Symbol, Symbols, Template, UnaryOp};
use crate::error::{Error, Result};
use crate::lexer::TokenKind;
use crate::limits::Stack;
use crate::source::Source;
use depth::Height;
use expression::Start;
use statement::Pieces;
use stream::TokenStream;
use tag::OpenTag;

/// Parses a template.
pub fn parse(source: &Source) -> Result<Template> {
    let mut parser = Parser {
        stream: TokenStream::new(source)?,
        symbols: Symbols::default(),
        loop_mentions: 0,
        sets_loop: false,
        has_blocks: false,
        is_kept: false,
        open_tags: Vec::new(),
        stmts: Vec::with_capacity(16),
        pieces: Pieces::default(),
        waiting: Vec::new(),
        prefixes: Vec::new(),
        frames: 0,
        stack: Stack::for_trees(),
        late_error: None,
    };
    let body = parser.parse_template()?;
    match parser.late_error {
        Some(error) => Err(error),
        None => Ok(Template {
            body,
            symbols: parser.symbols,
            sets_loop: parser.sets_loop,
            has_blocks: parser.has_blocks,
            ..Template::default()
        }),
    }
}

/// The state of parsing.
#[derive(Debug)]
struct Parser<'s> {
    stream: TokenStream<'s>,
    symbols: Symbols,
    /// How often the name `loop` was met.
    loop_mentions: usize,
    /// Whether it was met in a target.
    sets_loop: bool,
    /// Whether a `block` statement was met.
    has_blocks: bool,
    /// Whether this is the body of a function that may be called when a scope around it has ended.
    is_kept: bool,
    /// The tags of the statements around here, for messages.
    open_tags: Vec<OpenTag<'s>>,
    /// The statements of the bodies around here, which become vectors of their own, of the right size, when they end.
    stmts: Vec<Stmt>,
    /// The output that grows until a tag ends it.
    pieces: Pieces,
    /// The conditionals around here that wait for their last branch, with the levels of what they have.
    waiting: Vec<(Start, Box<Conditional>, Height)>,
    /// The prefixes around here that wait for their operand, with where they begin.
    prefixes: Vec<(UnaryOp, u32)>,
    /// How many of the reference's calls are inside each other.
    frames: u32,
    /// How much of our own stack is used.
    stack: Stack,
    /// What the reference finds after parsing.
    late_error: Option<Error>,
}

impl<'s> Parser<'s> {
    /// The text of the current token, which is taken.
    fn take_word(&mut self) -> Result<&'s str> {
        let token = self.stream.take()?;
        Ok(self.stream.text(token))
    }

    /// The text of the current token, which has to be a name and is taken.
    fn expect_name(&mut self) -> Result<&'s str> {
        let token = self.stream.expect(TokenKind::Name)?;
        Ok(self.stream.text(token))
    }

    /// The symbol of a variable's name.
    fn intern(&mut self, name: &str) -> Symbol {
        if name == "loop" {
            self.loop_mentions = self.loop_mentions.saturating_add(1);
        }
        let symbol = self.symbols.intern(name);
        if self.is_kept {
            self.symbols.note_scoped(symbol);
        }
        symbol
    }

    /// Begins a function of the code that the reference writes; gives what `is_kept` is to be when it has ended.
    fn begin_function(&mut self) -> bool {
        let around = self.open_tags.split_last().map_or(&[][..], |(_, around)| around);
        let is_kept = self.is_kept || around.iter().any(OpenTag::is_scope);
        std::mem::replace(&mut self.is_kept, is_kept)
    }

    /// The text of a name that is no variable's, to keep.
    fn spelling(&mut self, name: &str) -> Arc<str> {
        let symbol = self.symbols.intern(name);
        self.symbols.spelling(symbol)
    }
}

/// The text and the line of the error that a source has; line 0 where the reference names none.
#[cfg(test)]
fn refusal(text: &str) -> (String, u32) {
    let source = Source::new(text);
    let error = parse(&source).expect_err("the source has an error").located(&source);
    (error.message().to_owned(), error.line().unwrap_or(0))
}
