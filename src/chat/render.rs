//! Renders a template with a context of the caller, without the contract of transformers.
//!
//! ```text
//! "{{ messages[0].content }}", {"messages": [{"role": "user", "content": "Hi"}]}   ->   "Hi"
//! ```

use std::fmt;
use std::ops::Range;
use std::sync::atomic::AtomicBool;

use serde::Serialize;

use super::assistant::{AssistantOptions, AssistantSpans};
use super::turns::{Turn, find_turns};
use crate::builtins::LOOKUPS;
use crate::clock::{Clock, SystemClock};
use crate::deadline::{Bounds, Deadline};
use crate::error::{Error, ErrorClass, ErrorKind, Result};
use crate::json::{self, Data};
use crate::limits::Limits;
use crate::meter::Meter;
use crate::template::Template;
use crate::trace::Segment;
use crate::value::{Runtime, Traced, Value};

/// The options of a render. Set the fields that matter, and take the others from [`Default`].
#[derive(Clone, Copy)]
pub struct RenderOptions<'o> {
    /// The clock that `strftime_now` reads. The default is the local time of the system.
    pub clock: &'o dyn Clock,
    /// The limits on time and memory.
    pub limits: &'o Limits,
    /// A time limit that this render shares with other calls, in place of [`Limits::milliseconds`].
    pub deadline: Option<&'o Deadline>,
    /// A flag that cancels the render. If any thread sets it, the render soon ends with an error of kind limit.
    pub cancel: Option<&'o AtomicBool>,
    /// Whether to return the spans of `{% generation %}` blocks.
    pub generation: bool,
    /// Whether to return [`Rendered::segments`]: where each character of the output came from. The output is the same.
    pub trace: bool,
    /// Whether to return [`Rendered::assistant`]: the places of the text that the model would write, if the context has `messages`. The
    /// output is the same.
    pub assistant: Option<AssistantOptions<'o>>,
    /// Whether to render without the shortcuts of the evaluator. The result is the same; tests compare the two.
    #[doc(hidden)]
    pub plain: bool,
}

/// The result of a render.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rendered {
    /// The output.
    pub text: String,
    /// The spans of the `{% generation %}` blocks in code points. Empty unless [`RenderOptions::generation`] is set.
    ///
    /// As in the reference, a block begins at the length of the text that the top level of the template has written so far. The span of a
    /// block in a macro can therefore differ from its place in the output.
    pub generation: Vec<Range<usize>>,
    /// Where the characters of the output came from. Empty unless [`RenderOptions::trace`] is set.
    pub segments: Vec<Segment>,
    /// The places of the text that the model would write. Empty unless [`RenderOptions::assistant`] is set.
    pub assistant: AssistantSpans,
    /// The number of steps of the render, which [`Limits::steps`] bounds.
    pub steps: u64,
}

impl Rendered {
    /// Returns the turns of the messages that own a part of the output, if the context has `messages`. Empty unless
    /// [`RenderOptions::trace`] is set. See [`Prompt::turns`](crate::Prompt::turns).
    pub fn turns(&self) -> Vec<Turn> {
        find_turns(&self.text, &self.segments, &self.assistant)
    }
}

/// The variables of a render: a borrowed JSON object.
#[derive(Clone, Copy, Debug)]
pub struct Context<'c>(Input<'c>);

#[derive(Clone, Copy, Debug)]
enum Input<'c> {
    Json(&'c serde_json::Value),
    Data(&'c Data<'c>),
}

impl<'c> From<&'c serde_json::Value> for Context<'c> {
    fn from(json: &'c serde_json::Value) -> Self {
        Self(Input::Json(json))
    }
}

impl<'c> From<&'c Data<'c>> for Context<'c> {
    fn from(data: &'c Data<'c>) -> Self {
        Self(Input::Data(data))
    }
}

static SYSTEM_CLOCK: SystemClock = SystemClock;

impl Default for RenderOptions<'_> {
    fn default() -> Self {
        let Bounds {
            limits,
            deadline,
            cancel,
        } = Bounds::default();
        Self {
            clock: &SYSTEM_CLOCK,
            limits,
            deadline,
            cancel,
            generation: false,
            trace: false,
            assistant: None,
            plain: false,
        }
    }
}

/// The `Debug` form leaves out the clock, whose type may not implement `Debug`.
impl fmt::Debug for RenderOptions<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("RenderOptions");
        shown.field("limits", self.limits).field("deadline", &self.deadline);
        shown.field("cancel", &self.cancel);
        shown.field("generation", &self.generation).field("trace", &self.trace);
        shown.field("assistant", &self.assistant);
        shown.finish_non_exhaustive()
    }
}

impl Template {
    /// Renders the template with a JSON object as its context. The object is borrowed: only the output holds copies of its strings.
    ///
    /// # Errors
    /// The errors that the reference raises, and errors of kind limit and unsupported.
    pub fn render(&self, context: &serde_json::Value) -> Result<String> {
        Ok(self.render_with(context, &RenderOptions::default())?.text)
    }

    /// Renders the template with any context that serializes to an object. An `f32` is rendered as the `f64` of equal value: `0.1_f32` as
    /// `0.10000000149011612`.
    ///
    /// # Errors
    /// See [`Template::render`]. It is also an error if the context cannot be serialized.
    pub fn render_serialize<T: Serialize + ?Sized>(&self, context: &T) -> Result<String> {
        let data = json::to_data(context, json::DEPTH)?;
        Ok(self.render_with(&data, &RenderOptions::default())?.text)
    }

    /// Renders the template with a context from JSON text.
    ///
    /// The text is read as by Python's `json.loads`, which keeps integers of any size, distinguishes `-0` from `-0.0`, and accepts `NaN`.
    ///
    /// # Errors
    /// See [`Template::render`]. It is also an error if the text is not valid JSON, or has a lone surrogate such as `"\ud83d"`, which
    /// Python reads and Rust's strings cannot hold.
    pub fn render_json(&self, context: &str) -> Result<String> {
        let deadline = Deadline::from(RenderOptions::default().limits);
        let data = json::read_within(context, json::DEPTH, &deadline)?;
        let options = RenderOptions {
            deadline: Some(&deadline),
            ..RenderOptions::default()
        };
        Ok(self.render_with(&data, &options)?.text)
    }

    /// Renders the template with options.
    ///
    /// # Errors
    /// See [`Template::render`].
    pub fn render_with<'c>(&self, context: impl Into<Context<'c>>, options: &RenderOptions<'_>) -> Result<Rendered> {
        let Context(input) = context.into();
        self.render_input(input, options)
    }

    /// Renders the template and writes the output to `out`. Nothing is written if the render fails.
    ///
    /// # Errors
    /// See [`Template::render`]. If writing to `out` fails, the class is [`ErrorClass::Output`].
    pub fn render_to<'c>(
        &self,
        context: impl Into<Context<'c>>,
        options: &RenderOptions<'_>,
        out: &mut impl fmt::Write,
    ) -> Result<()> {
        let rendered = self.render_with(context, options)?;
        out.write_str(&rendered.text).map_err(|_| {
            Error::runtime("the output could not be written")
                .with_class(ErrorClass::Output)
                .without_line()
        })
    }

    fn render_input(&self, input: Input<'_>, options: &RenderOptions<'_>) -> Result<Rendered> {
        let bounds = Bounds {
            limits: options.limits,
            deadline: options.deadline,
            cancel: options.cancel,
        };
        let deadline = bounds.start();
        let input = match input {
            Input::Json(json) => Value::from(json),
            Input::Data(data) => Value::from(data),
        };
        let Value::Dict(input) = input else {
            let message = format!("the context is of type {}, and must be an object", input.ty().name());
            return Err(Error::new(ErrorKind::Type, message).with_class(ErrorClass::Request));
        };
        let meter = Meter::within(bounds, &deadline);
        let mut runtime = Runtime::with_meter(meter, options.clock, &LOOKUPS);
        if options.trace || options.assistant.is_some() {
            let variables = input.iter().filter_map(|(name, value)| Traced::variable(&name, value));
            self.start_tape(&mut runtime, variables.collect());
        }
        let tracks_spans = options.generation || (options.assistant.is_some() && self.has_generation());
        let mut output = self.render_value(&mut runtime, input.clone(), tracks_spans, options.plain)?;
        let mut segments = runtime.take_segments(&output.pieces, &output.text)?;
        let assistant = match &options.assistant {
            Some(options) => self.find_assistant(&mut runtime, &input, &mut output, &segments, options)?,
            None => AssistantSpans::default(),
        };
        if !options.trace {
            segments.clear();
        }
        Ok(Rendered {
            segments,
            assistant,
            text: output.text,
            generation: if options.generation { output.spans } else { Vec::new() },
            steps: runtime.meter.steps(),
        })
    }
}
