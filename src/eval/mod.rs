//! Walks the tree: the only floor that attaches places to run-time errors.
//!
//! An [`Evaluator`] runs one frame. Whatever outlives the frame, or calls back from below (a macro, the test of a loop, a recursive
//! loop), keeps the [`Render`] and the number of its environment, and makes an evaluator of its own.

mod arguments;
mod assign;
mod call;
mod condition;
mod error_note;
mod expr;
mod fast;
mod frame;
mod loops;
mod macros;
mod output;
mod stmt;
mod truth;

use std::ops::Range;

use frame::Activation;

use crate::ast::Template;
use crate::error::{Error, Result};
use crate::source::Source;
use crate::span::Span;
use crate::value::{Dict, Runtime, Value};

/// What a render writes. The spans are those of `generation` blocks, where they are asked for.
#[derive(Debug)]
pub struct Output {
    /// The output.
    pub text: String,
    /// In code points, as the reference counts them, in the order in which the blocks ended.
    pub spans: Vec<Range<usize>>,
    /// In bytes, where the blocks really stand in the output, from left to right and the outer before the inner.
    pub true_spans: Vec<Range<usize>>,
}

/// The parts of a render that all its frames share and do not change.
#[derive(Clone, Copy)]
struct Render<'a> {
    template: &'a Template,
    source: &'a Source<'a>,
    /// Whether shortcuts are taken.
    is_fast: bool,
}

/// Runs one frame.
struct Evaluator<'a, 'r> {
    runtime: &'r mut Runtime<'a>,
    render: Render<'a>,
    frame: Activation,
    out: String,
    /// Whether `out` is the output of the root itself, and not a text that is captured, and the code points of it are asked for.
    is_counted: bool,
    /// Bytes of the root's output that are counted already.
    counted: usize,
}

/// An error with the line of its statement and the place of its expression, where it does not have them yet.
#[cold]
fn placed(error: Error, line: u32, span: Span) -> Error {
    error.on_line(line).at(span)
}

/// How a body ended; as wide as a [`Truth`](truth::Truth), for the same reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
enum Flow {
    /// At its end.
    Next,
    /// By `break`.
    Break,
    /// By `continue`.
    Continue,
}

/// Room for the variables of the macros that the root calls, so that those of the root seldom move.
const CALLEES: usize = 8;

/// Renders a resolved template. `input` is the context; `capacity` is room for the output to begin with.
pub fn render<'a>(
    runtime: &mut Runtime<'a>,
    template: &'a Template,
    source: &'a Source<'a>,
    input: Dict<'a>,
    tracks_spans: bool,
    is_fast: bool,
    capacity: usize,
) -> Result<Output> {
    runtime.heap.frames.input = Some(input);
    runtime.heap.frames.locals = Vec::with_capacity((template.frame.locals as usize).saturating_add(CALLEES));
    runtime.heap.frames.tracked = tracks_spans.then(Box::default);
    let render = Render {
        template,
        source,
        is_fast,
    };
    let mut evaluator = Evaluator::new(runtime, render, String::with_capacity(capacity));
    evaluator.is_counted = tracks_spans;
    evaluator.enter_frame(template.frame, None)?;
    evaluator.enter_root(&template.scope)?;
    evaluator.body(&template.body)?;
    evaluator.leave_frame();
    let text = evaluator.out;
    let mut true_spans = std::mem::take(&mut runtime.heap.generated);
    true_spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let spans = runtime.heap.frames.tracked.take().map(|tracked| tracked.spans);
    Ok(Output {
        text,
        spans: spans.unwrap_or_default(),
        true_spans,
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
        }
    }

    /// Runs something whose text is captured.
    fn capture<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<(T, Value<'a>)> {
        let room = self.runtime.heap.recycler.take_buffer();
        let outer = std::mem::replace(&mut self.out, room);
        let outer_generated = std::mem::take(&mut self.runtime.heap.generated);
        let was_counted = std::mem::replace(&mut self.is_counted, false);
        let result = run(self);
        let text = std::mem::replace(&mut self.out, outer);
        self.is_counted = was_counted;
        let result = result?;
        let generated = std::mem::replace(&mut self.runtime.heap.generated, outer_generated);
        Ok((result, self.runtime.finish_str(text, generated)?))
    }

    /// Brings the count of the root's code points up to date, where someone will ask for it. Called where an output is finished.
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
            tracked.root_length = tracked.root_length.saturating_add(new);
        }
        self.counted = self.out.len();
    }
}
