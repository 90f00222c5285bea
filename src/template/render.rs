//! Renders a template with a context of the caller, without the contract of transformers.
//!
//! ```text
//! "{{ messages[0].content }}", {"messages": [{"role": "user", "content": "Hi"}]}   ->   "Hi"
//! ```

use super::copied::copy;
use super::{Input, Template};
use crate::builtins::LOOKUPS;
use crate::clock::{Clock, SystemClock};
use crate::deadline::Bounds;
use crate::error::{Error, ErrorClass, ErrorKind, Result};
use crate::eval;
use crate::json;
use crate::meter::Meter;
use crate::setters::setters;
use crate::trace::{Segment, Spans, Trace};
use crate::value::{Arena, Given, Runtime, Traced, Value};

/// The options of a render. Begin with [`Default`], and set what matters.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RenderOptions<'o> {
    /// The bounds on the render: limits, a deadline, a flag that cancels it.
    pub bounds: Bounds<'o>,
    /// Whether to return [`Output::reference_spans`]: the spans of `{% generation %}` blocks as transformers counts them, for
    /// [`assistant_mask`](crate::assistant_mask).
    pub reference_spans: bool,
    /// Whether to return [`Output::generation_spans`]: the places of `{% generation %}` blocks in the text, also for blocks in a macro, a
    /// set block or a call block. A block that is written twice has two spans, and one that a filter rewrites (`upper`, `replace`) has
    /// none.
    pub generation_spans: bool,
    /// Whether to return [`Output::segments`]: where each character of the text came from. The text is the same.
    pub trace: bool,
    /// The clock that `strftime_now` reads. The default is the local time of the system.
    pub clock: &'o dyn Clock,
}

static SYSTEM_CLOCK: SystemClock = SystemClock;

setters! { RenderOptions<'o>:
    with_bounds(impl Into<Bounds<'o>>) = @bounds;
    with_reference_spans(bool) = @reference_spans;
    with_generation_spans(bool) = @generation_spans;
    with_trace(bool) = @trace;
    with_clock(&'o dyn Clock) = @clock;
}

impl Default for RenderOptions<'_> {
    fn default() -> Self {
        Self {
            clock: &SYSTEM_CLOCK,
            bounds: Bounds::default(),
            reference_spans: false,
            generation_spans: false,
            trace: false,
        }
    }
}

/// The output of a template: its text, and where the parts of the text came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Output {
    /// The text.
    pub text: String,
    /// The spans of `{% generation %}` blocks as transformers counts them. Empty unless [`RenderOptions::reference_spans`] is set.
    pub reference_spans: Spans,
    /// The places of `{% generation %}` blocks in the text. Empty unless [`RenderOptions::generation_spans`] is set.
    pub generation_spans: Spans,
    /// The number of steps that the render took; [`Limits::steps`](crate::Limits::steps) is their limit.
    pub steps: u64,
    pub(crate) trace: Trace,
    /// Whether strings of the input share memory, so that the segments can name one of them in place of another.
    pub(crate) is_ambiguous: bool,
}

impl Output {
    /// Returns where the characters of the text came from: stretches of the text, each with its [`Origin`](crate::Origin). Empty unless
    /// [`RenderOptions::trace`] is set.
    pub fn segments(&self) -> &[Segment] {
        self.trace.segments(&self.text)
    }
}

impl Template {
    /// Renders the template with an object as its context. The object is borrowed: only the output holds copies of its strings.
    ///
    /// ```
    /// use chat_template::{RenderOptions, Template};
    ///
    /// let template = Template::compile("{{ greeting }}, {{ name|title }}!")?;
    /// let context = serde_json::json!({"greeting": "Hello", "name": "ada"});
    /// assert_eq!(template.render(&context, &RenderOptions::default())?.text, "Hello, Ada!");
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors that the reference raises, and errors of kind limit and unsupported.
    pub fn render<C: Input + ?Sized>(&self, context: &C, options: &RenderOptions<'_>) -> Result<Output> {
        let deadline = options.bounds.start();
        self.render_within(&context, options, &|| Meter::within(options.bounds, &deadline))
    }

    /// Renders the template with a context from JSON text.
    ///
    /// The text is read as by Python's `json.loads`, which keeps integers of any size, distinguishes `-0` from `-0.0`, and accepts `NaN`.
    ///
    /// # Errors
    /// See [`Template::render`]. It is also an error if the text is not valid JSON, or has a lone surrogate such as `"\ud83d"`, which
    /// Python reads and Rust's strings cannot hold.
    pub fn render_json(&self, context: &str, options: &RenderOptions<'_>) -> Result<Output> {
        let deadline = options.bounds.start();
        let context = json::read_until(context, options.bounds.watch(&deadline))?;
        self.render_within(&context, options, &|| Meter::within(options.bounds, &deadline))
    }

    /// Renders the template. `meter` makes the meter of a render.
    fn render_within<'m>(&self, context: &dyn Input, options: &RenderOptions<'_>, meter: &dyn Fn() -> Meter<'m>) -> Result<Output> {
        let output = self.render_once(context, options, meter())?;
        if !output.is_ambiguous {
            return Ok(output);
        }
        let (context, _claims) = copy(context, options.clock, &meter())?;
        self.render_once(&context, options, meter())
    }

    fn render_once(&self, context: &dyn Input, options: &RenderOptions<'_>, meter: Meter<'_>) -> Result<Output> {
        let arena = Arena::default();
        let mut runtime = Runtime::with_meter(&arena, meter, options.clock, &LOOKUPS);
        let mut written = self.render_context(&mut runtime, context, options.trace, options.tracks_spans())?;
        self.finish(&mut runtime, &mut written, options)
    }

    /// Renders the template with a context.
    pub(crate) fn render_context<'a>(
        &'a self,
        runtime: &mut Runtime<'a>,
        context: &'a dyn Input,
        is_traced: bool,
        tracks_spans: bool,
    ) -> Result<eval::Rendered> {
        let context = match context.borrow_value(runtime)? {
            Value::Dict(context) => context,
            other => {
                let message = format!("the context is of type {}, and must be an object", other.ty().name());
                return Err(Error::new(ErrorKind::Type, message).with_class(ErrorClass::Request));
            }
        };
        if is_traced {
            let variables = context.iter().filter_map(|(name, value)| Traced::variable(&name, value));
            let messages = match context.get_str("messages") {
                Some(Value::List(items)) => items.len(),
                _ => 0,
            };
            self.start_tape(runtime, variables.collect(), Some(Value::Dict(context)), messages);
        }
        let given = Given {
            variables: Some(context),
            ..Given::default()
        };
        self.render_value(runtime, given, tracks_spans)
    }

    /// Makes the output of what was written, and takes its text. It has the segments of a render that was traced.
    pub(crate) fn finish<'a>(
        &'a self,
        runtime: &mut Runtime<'a>,
        written: &mut eval::Rendered,
        options: &RenderOptions<'_>,
    ) -> Result<Output> {
        let text = std::mem::take(&mut written.text);
        let mut reference_spans = Spans::default();
        if options.reference_spans {
            runtime.meter.charge_bytes(text.len())?;
            runtime.meter.charge_items(written.spans.len())?;
            reference_spans = Spans::from_code_points(std::mem::take(&mut written.spans), &text);
        }
        let generation_spans = match options.generation_spans {
            true => Spans::from_bytes(written.pieces.blocks(), &text),
            false => Spans::default(),
        };
        Ok(Output {
            reference_spans,
            generation_spans,
            trace: runtime.take_trace(&written.pieces, text.len())?,
            is_ambiguous: runtime.is_ambiguous(),
            text,
            steps: runtime.meter.steps(),
        })
    }
}

impl RenderOptions<'_> {
    /// Returns whether a render counts the spans of `{% generation %}` blocks.
    pub(crate) fn tracks_spans(&self) -> bool {
        self.reference_spans || self.generation_spans
    }
}
