//! The template engine. A [`Template`] is compiled once and rendered any number of times, by any number of threads.

mod assistant;

use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde::Serialize;

use crate::ast;
use crate::builtins::LOOKUPS;
use crate::clock::{Clock, SystemClock};
use crate::deadline::{Bounds, Deadline};
use crate::error::{Error, ErrorClass, ErrorKind, Result};
use crate::json::{self, Data};
use crate::limits::{Limit, Limits, Reached};
use crate::meter::Meter;
use crate::source::Source;
use crate::trace::{AssistantOptions, AssistantSpans, Literals, Segment, Turn, find_turns};
use crate::value::{Dict, Runtime, Tape, Traced, Value};
use crate::{eval, parser, resolve};

/// A compiled template.
///
/// This is the engine by itself. [`ChatTemplate`](crate::ChatTemplate) adds what transformers' `apply_chat_template` does around it.
///
/// ```
/// let template = chat_template::Template::compile("{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}")?;
/// let context = serde_json::json!({"messages": [{"role": "user", "content": "Hi"}]});
/// assert_eq!(template.render(&context)?, "user: Hi\n");
/// # Ok::<(), chat_template::Error>(())
/// ```
///
/// The `Debug` form shows the source:
///
/// ```
/// let template = chat_template::Template::compile("{{ x }}")?;
/// assert_eq!(format!("{template:?}"), r#"Template { source: "{{ x }}", .. }"#);
/// # Ok::<(), chat_template::Error>(())
/// ```
pub struct Template {
    source: Source<'static>,
    tree: ast::Template,
    /// The number of bytes that the tree takes, or zero if the source is short.
    memory: usize,
    /// The string literals of the tree, from the first render that is traced.
    literals: OnceLock<Literals>,
    /// The length of the last output, from which the capacity of the next one is computed.
    last_length: AtomicUsize,
}

/// The length of a source in bytes up to which its tree is not measured. Such a tree takes less than [`FREE_TREE`].
const MAX_UNMEASURED: usize = 64 << 10;

/// The number of bytes of a tree that a render does not count as live. The largest known template takes a part of it.
const FREE_TREE: usize = 8 << 20;

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

impl fmt::Debug for Template {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Template");
        shown.field("source", &self.source.text()).finish_non_exhaustive()
    }
}

impl Template {
    /// Compiles the source of a template.
    ///
    /// # Errors
    /// An error of kind syntax if Jinja does not compile the template, and of kind limit if the template exceeds the default limits.
    pub fn compile(source: &str) -> Result<Self> {
        Self::compile_with(source, Bounds::default())
    }

    /// Compiles the source of a template within bounds, such as limits or a deadline.
    ///
    /// ```
    /// use chat_template::{Limits, Template};
    ///
    /// let limits = Limits::default().with_milliseconds(50);
    /// assert_eq!(Template::compile_with("{{ 1 + 1 }}", &limits)?.render(&serde_json::json!({}))?, "2");
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`Template::compile`].
    pub fn compile_with<'o>(source: &str, bounds: impl Into<Bounds<'o>>) -> Result<Self> {
        let bounds = bounds.into();
        Self::compile_metered(source, Meter::within(bounds, &bounds.start()))
    }

    /// Compiles the source of a template within the limits and the deadline of a meter.
    pub(crate) fn compile_metered(source: &str, meter: Meter<'_>) -> Result<Self> {
        let allowed = meter.limits().source;
        if source.len() > allowed {
            return Err(Error::limit(Reached::from_sizes(Limit::Source, source.len(), allowed)).without_line());
        }
        let source = Source::new(source);
        let located = |error: Error| error.located(&source);
        let (mut tree, mut meter) = parser::build_tree(&source, meter).map_err(located)?;
        let is_measured = source.text().len() > MAX_UNMEASURED;
        if is_measured {
            // For measuring the tree, which visits each node once.
            meter.charge_scan(source.text().len()).map_err(located)?;
        }
        resolve::resolve(&mut tree, &source, meter).map_err(located)?;
        Ok(Self {
            memory: if is_measured { tree.memory() } else { 0 },
            tree,
            // The source is copied last. Before glibc's allocator returns a large block, it merges free small blocks; the tree is faster
            // to build while it can reuse the small blocks of a tree that was dropped before.
            source: source.into_owned(),
            literals: OnceLock::new(),
            last_length: AtomicUsize::new(0),
        })
    }

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

    /// Returns the names that the template reads from its context, in the order in which they first occur.
    ///
    /// A name that the template also sets is listed only if the template reads it somewhere before it sets it. This is how a template gives
    /// a variable a default:
    ///
    /// ```
    /// let template = chat_template::Template::compile(
    ///     "{% if enable_thinking is not defined %}{% set enable_thinking = true %}{% endif %}\
    ///      {% if tools %}{% set preamble = 'Use tools.' %}{% endif %}{{ preamble }} {{ enable_thinking }}",
    /// )?;
    /// assert_eq!(template.variables(), ["enable_thinking", "tools"]);
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    pub fn variables(&self) -> Vec<&str> {
        let names = resolve::context_names(&self.tree);
        names.map(|name| self.tree.symbols.name(name)).collect()
    }

    /// Returns the symbols of the names that [`Template::variables`] returns.
    #[cfg(feature = "inspect")]
    pub(crate) fn variable_symbols(&self) -> impl Iterator<Item = ast::Symbol> + use<> {
        resolve::context_names(&self.tree)
    }

    /// Returns whether the template has a `{% generation %}` block. If it has none, [`Rendered::generation`] is always empty.
    ///
    /// ```
    /// use chat_template::Template;
    ///
    /// assert!(Template::compile("{% if x %}{% generation %}{{ x }}{% endgeneration %}{% endif %}")?.has_generation());
    /// assert!(!Template::compile("{{ generation }}")?.has_generation());
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    pub fn has_generation(&self) -> bool {
        self.tree.has_generation
    }

    /// Returns the resolved tree.
    #[cfg(feature = "inspect")]
    pub(crate) fn tree(&self) -> &ast::Template {
        &self.tree
    }

    /// Returns the source as the lexer sees it.
    #[cfg(feature = "inspect")]
    pub(crate) fn source(&self) -> &Source<'static> {
        &self.source
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
        if options.trace || self.needs_trace(options.assistant) {
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

    /// Starts the tape of a render of the template, for which the caller passed these inputs.
    pub(crate) fn start_tape<'a>(&'a self, runtime: &mut Runtime<'a>, inputs: Vec<Traced<'a>>) {
        let literals = self.literals.get_or_init(|| self.tree.literals(&self.source));
        runtime.start_tape(Tape::new(inputs, &self.tree.symbols, literals), 0);
    }

    /// Renders the template with a context that is already a dict, and a runtime that has the limits and the clock.
    pub(crate) fn render_value<'a>(
        &'a self,
        runtime: &mut Runtime<'a>,
        context: Dict<'a>,
        tracks_spans: bool,
        is_plain: bool,
    ) -> Result<eval::Output> {
        let claimed = self.memory.saturating_sub(FREE_TREE);
        if claimed > 0 {
            runtime.meter.claim_for_render(claimed)?;
        }
        let last_length = self.last_length.load(Ordering::Relaxed);
        // The next render is often the same conversation with one more turn. The extra capacity avoids moving the output as it grows.
        let capacity = last_length.saturating_add(last_length / 8);
        let result = eval::render(runtime, &self.tree, &self.source, context, tracks_spans, !is_plain, capacity);
        let mut output = result.map_err(|error| error.located(&self.source))?;
        let length = output.text.len();
        if output.text.capacity() / 2 > length {
            // The last output was much longer. The unused memory is released because a caller may keep many prompts.
            output.text.shrink_to_fit();
        }
        if length != last_length {
            self.last_length.store(length, Ordering::Relaxed);
        }
        Ok(output)
    }
}
