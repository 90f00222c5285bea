//! Renders a template with a context of the caller, without the contract of transformers.
//!
//! ```text
//! "{{ messages[0].content }}", {"messages": [{"role": "user", "content": "Hi"}]}   ->   "Hi"
//! ```

use super::assistant::{AssistantOptions, AssistantSpans};
use super::prompt::Prompt;
use super::{Input, copied};
use crate::builtins::LOOKUPS;
use crate::clock::{Clock, SystemClock};
use crate::deadline::Bounds;
use crate::error::{Error, ErrorClass, ErrorKind, Result};
use crate::eval;
use crate::json;
use crate::meter::Meter;
use crate::template::Template;
use crate::trace::Spans;
use crate::value::{Given, Runtime, Traced, Value};

/// The options of a render. Set the fields that matter, and take the others from [`Default`].
#[derive(Clone, Copy, Debug)]
pub struct RenderOptions<'o> {
    /// What the render may use: limits, a deadline, a flag that cancels it.
    pub bounds: Bounds<'o>,
    /// Whether to return [`Prompt::reference_spans`].
    pub reference_spans: bool,
    /// Whether to return [`Prompt::generation_spans`].
    pub generation_spans: bool,
    /// Whether to return [`Prompt::segments`], and [`Prompt::turns`] if the context has `messages`. The output is the same.
    pub trace: bool,
    /// Whether to return [`Prompt::assistant`], if the context has `messages`. The output is the same.
    pub assistant: Option<AssistantOptions<'o>>,
    /// The clock that `strftime_now` reads. The default is the local time of the system.
    pub clock: &'o dyn Clock,
}

static SYSTEM_CLOCK: SystemClock = SystemClock;

impl Default for RenderOptions<'_> {
    fn default() -> Self {
        Self {
            clock: &SYSTEM_CLOCK,
            bounds: Bounds::default(),
            reference_spans: false,
            generation_spans: false,
            trace: false,
            assistant: None,
        }
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
    pub fn render<C: Input + ?Sized>(&self, context: &C, options: &RenderOptions<'_>) -> Result<Prompt> {
        let deadline = options.bounds.start();
        self.render_within(&context, options, &Meter::within(options.bounds, &deadline))
    }

    /// Renders the template with a context from JSON text.
    ///
    /// The text is read as by Python's `json.loads`, which keeps integers of any size, distinguishes `-0` from `-0.0`, and accepts `NaN`.
    ///
    /// # Errors
    /// See [`Template::render`]. It is also an error if the text is not valid JSON, or has a lone surrogate such as `"\ud83d"`, which
    /// Python reads and Rust's strings cannot hold.
    pub fn render_json(&self, context: &str, options: &RenderOptions<'_>) -> Result<Prompt> {
        let deadline = options.bounds.start();
        let context = json::read_until(context, json::DEPTH, &deadline)?;
        self.render_within(&context, options, &Meter::within(options.bounds, &deadline))
    }

    fn render_within(&self, context: &dyn Input, options: &RenderOptions<'_>, meter: &Meter<'_>) -> Result<Prompt> {
        let prompt = self.render_once(context, options, meter)?;
        if !prompt.is_ambiguous {
            return Ok(prompt);
        }
        let (context, _claims) = copied::copy(context, options.clock, meter)?;
        self.render_once(&context, options, meter)
    }

    fn render_once(&self, context: &dyn Input, options: &RenderOptions<'_>, meter: &Meter<'_>) -> Result<Prompt> {
        let mut runtime = Runtime::with_meter(meter.renew(), options.clock, &LOOKUPS);
        let context = match context.borrow_value(&mut runtime)? {
            Value::Dict(context) => context,
            other => {
                let message = format!("the context is of type {}, and must be an object", other.ty().name());
                return Err(Error::new(ErrorKind::Type, message).with_class(ErrorClass::Request));
            }
        };
        if options.trace || options.assistant.is_some() {
            let variables = context.iter().filter_map(|(name, value)| Traced::variable(&name, value));
            self.start_tape(&mut runtime, variables.collect());
        }
        let given = Given {
            variables: Some(context),
            ..Given::default()
        };
        let output = self.render_value(&mut runtime, given, self.tracks_spans(options))?;
        self.finish(&mut runtime, output, options)
    }

    /// Returns whether a render counts the spans of `{% generation %}` blocks.
    pub(super) fn tracks_spans(&self, options: &RenderOptions<'_>) -> bool {
        options.reference_spans || options.generation_spans || (options.assistant.is_some() && self.has_generation())
    }

    /// Makes the prompt of an output.
    pub(super) fn finish<'a>(
        &'a self,
        runtime: &mut Runtime<'a>,
        mut output: eval::Output,
        options: &RenderOptions<'_>,
    ) -> Result<Prompt> {
        let mut prompt = Prompt::default();
        if options.reference_spans {
            runtime.meter.charge_bytes(output.text.len())?;
            runtime.meter.charge_items(output.spans.len())?;
            prompt.reference_spans = Spans::from_code_points(std::mem::take(&mut output.spans), &output.text);
        }
        if options.generation_spans {
            prompt.generation_spans = Spans::from_bytes(output.pieces.blocks(), &output.text);
        }
        prompt.segments = runtime.take_segments(&output.pieces, &output.text)?;
        prompt.is_ambiguous = runtime.is_ambiguous();
        prompt.assistant = match &options.assistant {
            Some(options) => self.find_assistant(runtime, &mut output, &prompt.segments, options)?,
            None => AssistantSpans::default(),
        };
        if !options.trace {
            prompt.segments.clear();
        }
        prompt.text = output.text;
        prompt.steps = runtime.meter.steps();
        Ok(prompt)
    }
}
