//! The evaluator: runs the statements of a template and evaluates its expressions.
//!
//! An [`Evaluator`] runs one frame: the top level of the template, a macro, the body of a call block or a recursive loop. Code that runs
//! later keeps the [`Render`] and the environment that it was defined in, and makes an evaluator when it is called. Only this module adds
//! positions to run-time errors.
//!
//! Each expression has a [`Form`](crate::ast::Form), by which it is evaluated, decided as a condition, or written. What a form does not
//! cover is left to the functions whose names begin with `general`: they follow the rules of the expression's kind. An output is written
//! from its [`leaves`](crate::ast::Output::leaves), and piece by piece only if one of them is not a plain string.

mod applied;
mod arguments;
mod assign;
mod call;
mod condition;
mod count;
mod error_note;
mod expr;
mod frame;
mod loops;
mod macros;
mod output;
mod path;
mod selection;
mod stmt;

use std::ops::Range;

use frame::Activation;

use crate::ast::Template;
use crate::error::{Error, Result};
use crate::source::Source;
use crate::span::Span;
use crate::trace::{Pieces, free_spare_text};
use crate::value::{CAPTURE, Given, Runtime, Value};

/// The result of a render.
#[derive(Debug)]
pub struct Rendered {
    /// The text.
    pub text: String,
    /// The spans of `generation` blocks in code points, as the reference counts them, in the order in which the blocks ended. Empty
    /// unless the caller wants them.
    pub spans: Vec<Range<usize>>,
    /// The pieces of the text: those of `generation` blocks if the caller wants spans, and the others in a render that is traced. They are
    /// resolved.
    pub pieces: Pieces,
    /// The text that branches on `add_generation_prompt` wrote, if only white space follows it.
    pub prompt: Option<Range<usize>>,
}

/// The parts of a render that all its frames share and that do not change.
#[derive(Clone, Copy)]
struct Render<'a> {
    template: &'a Template,
    source: &'a Source<'a>,
}

/// Runs one frame.
struct Evaluator<'a, 'r> {
    runtime: &'r mut Runtime<'a>,
    render: Render<'a>,
    frame: Activation,
    out: String,
    /// Whether the code points of `out` are counted: only if `out` is the output of the top level and the caller wants spans.
    is_counted: bool,
    /// The number of bytes at the start of `out` whose code points are counted already.
    counted: usize,
    /// The number of pieces that were written to `out`. In the reference, an output is a list of pieces, which are joined at its end.
    pieces: usize,
    /// The error of joining the pieces, if one of them is not a string.
    refused: Option<Error>,
    /// The last stretch of `out` that only branches on `add_generation_prompt` wrote, with white space between them.
    prompt: Range<usize>,
}

impl Render<'_> {
    /// Adds the line of an offset and the span of an expression to an error that has none.
    #[cold]
    fn add_place(&self, error: Error, at: u32, span: Span) -> Error {
        self.add_line(error, at).at(span)
    }

    /// Adds the line of an offset to an error that has none.
    #[cold]
    fn add_line(&self, error: Error, at: u32) -> Error {
        error.on_line(self.source.line(at))
    }
}

/// How a body ended. The type is one word wide, so that a result with it is returned in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
enum Flow {
    /// The last statement was run.
    Next,
    /// A `break` was run.
    Break,
    /// A `continue` was run.
    Continue,
}

/// The number of local variables that are allocated for macros in addition to those of the top level, so that these rarely move.
const CALLEES: usize = 8;

/// Renders a resolved template with a context. `capacity` is the initial capacity of the output in bytes.
pub fn render<'a>(
    runtime: &mut Runtime<'a>,
    template: &'a Template,
    source: &'a Source<'a>,
    input: Given<'a>,
    tracks_spans: bool,
    capacity: usize,
) -> Result<Rendered> {
    runtime.heap.frames.input = input;
    runtime.heap.frames.template = Some(template);
    runtime.heap.frames.locals = Vec::with_capacity(template.frame.locals as usize + CALLEES);
    runtime.heap.frames.tracked = tracks_spans.then(Box::default);
    let render = Render { template, source };
    let mut evaluator = Evaluator::new(runtime, render, String::with_capacity(capacity));
    evaluator.is_counted = tracks_spans;
    evaluator.enter_frame(template.frame, None)?;
    evaluator.enter_root(&template.scope)?;
    evaluator.body(&template.body)?;
    evaluator.join_pieces().map_err(Error::without_line)?;
    evaluator.leave_frame();
    let (mut text, prompt) = (evaluator.out, evaluator.prompt);
    let rest = text.get(prompt.end..).unwrap_or_default();
    let prompt = (!prompt.is_empty() && rest.trim_start().is_empty()).then_some(prompt.start..text.len());
    let mut pieces = std::mem::take(&mut runtime.pieces);
    if runtime.tape.is_some() {
        // The segments are made while the text and the pieces are still in memory.
        free_spare_text(&mut text);
        runtime.resolve(&mut pieces)?;
    }
    let spans = runtime.heap.frames.tracked.take().map(|tracked| tracked.spans);
    Ok(Rendered {
        text,
        spans: spans.unwrap_or_default(),
        pieces,
        prompt,
    })
}

impl<'a, 'r> Evaluator<'a, 'r> {
    fn new(runtime: &'r mut Runtime<'a>, render: Render<'a>, out: String) -> Self {
        Self {
            runtime,
            render,
            frame: Activation::default(),
            out,
            is_counted: false,
            counted: 0,
            pieces: 0,
            refused: None,
            prompt: 0..0,
        }
    }

    /// Runs a function whose output becomes a string.
    fn capture<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<(T, Value<'a>)> {
        self.runtime.meter.charge(CAPTURE)?;
        let _claim = self.runtime.claim_pieces()?;
        let room = self.runtime.take_buffer();
        let outer = std::mem::replace(&mut self.out, room);
        let outer_pieces = std::mem::take(&mut self.runtime.pieces);
        let was_counted = std::mem::replace(&mut self.is_counted, false);
        let outer_prompt = self.prompt.clone();
        let (outer_count, outer_refused) = (std::mem::take(&mut self.pieces), self.refused.take());
        let written = self.runtime.meter.begin_text();
        let result = run(self);
        self.runtime.meter.end_text(written);
        let text = std::mem::replace(&mut self.out, outer);
        self.is_counted = was_counted;
        self.prompt = outer_prompt;
        (self.pieces, self.refused) = (outer_count, outer_refused);
        let pieces = std::mem::replace(&mut self.runtime.pieces, outer_pieces);
        Ok((result?, self.runtime.finish_str(text, pieces)?))
    }

    /// Counts the code points that the top level has written since the last count, if the caller wants spans. Called before an output.
    #[inline]
    fn count_root(&mut self) {
        if self.is_counted {
            self.count_tracked();
        }
    }

    #[inline(never)]
    fn count_tracked(&mut self) {
        let new = self.out.get(self.counted..).unwrap_or_default().chars().count();
        if let Some(tracked) = &mut self.runtime.heap.frames.tracked {
            tracked.root_length += new;
        }
        self.counted = self.out.len();
    }
}
