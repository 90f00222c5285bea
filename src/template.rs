//! The engine: a template is compiled once and rendered many times, from any thread.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde::Serialize;

use crate::ast;
use crate::clock::{Clock, SystemClock};
use crate::error::{Error, ErrorClass, ErrorKind, Result};
use crate::json::{self, Data};
use crate::limits::{Limit, Limits, Meter, Reached};
use crate::source::Source;
use crate::value::{Dict, Runtime, Value};
use crate::{eval, parser, resolve};

/// A compiled template: the engine without the contract of `apply_chat_template`.
///
/// ```
/// let template = chat_template::Template::compile("{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}")?;
/// let context = serde_json::json!({"messages": [{"role": "user", "content": "Hi"}]});
/// assert_eq!(template.render(&context)?, "user: Hi\n");
/// # Ok::<(), chat_template::Error>(())
/// ```
///
/// Its `Debug` is its source:
///
/// ```
/// let template = chat_template::Template::compile("{{ x }}")?;
/// assert_eq!(format!("{template:?}"), r#"Template { source: "{{ x }}", .. }"#);
/// # Ok::<(), chat_template::Error>(())
/// ```
pub struct Template {
    source: Source<'static>,
    tree: ast::Template,
    /// How long the last output was: room to begin the next one with.
    last_length: AtomicUsize,
}

/// What a render may be told. Fill in what matters, and take the rest from [`Default`].
#[derive(Clone, Copy)]
pub struct RenderOptions<'o> {
    /// What `strftime_now` sees: local time unless given.
    pub clock: &'o dyn Clock,
    /// What the render may use.
    pub limits: &'o Limits,
    /// A flag that ends the render soon after someone sets it, from any thread.
    pub cancel: Option<&'o AtomicBool>,
    /// Whether the spans of `{% generation %}` blocks are wanted.
    pub generation: bool,
    /// Whether the render does without the shortcuts of the evaluator. It gives the same result, slower; tests compare the two.
    #[doc(hidden)]
    pub plain: bool,
}

/// What a render gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rendered {
    /// The output.
    pub text: String,
    /// The `{% generation %}` blocks in code points, as the reference counts them: by what the template's root has written. Empty
    /// unless asked for.
    pub generation: Vec<Range<usize>>,
    /// How many of [`Limits::steps`] it took.
    pub steps: u64,
}

/// The variables that a template is rendered with: an object, borrowed.
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

static DEFAULT_LIMITS: std::sync::LazyLock<Limits> = std::sync::LazyLock::new(Limits::default);

impl Default for RenderOptions<'_> {
    fn default() -> Self {
        Self {
            clock: &SYSTEM_CLOCK,
            limits: &DEFAULT_LIMITS,
            cancel: None,
            generation: false,
            plain: false,
        }
    }
}

/// The clock is left out.
impl fmt::Debug for RenderOptions<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("RenderOptions");
        shown.field("limits", self.limits).field("cancel", &self.cancel);
        shown.field("generation", &self.generation).finish_non_exhaustive()
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Template");
        shown.field("source", &self.source.text()).finish_non_exhaustive()
    }
}

impl Template {
    /// Compiles a source.
    ///
    /// # Errors
    /// Of kind syntax what Jinja, or Python behind it, refuses to compile; of kind limit what is larger than the default limits.
    pub fn compile(source: &str) -> Result<Self> {
        Self::compile_with(source, &DEFAULT_LIMITS)
    }

    /// Compiles a source that may be as long as the limits say. Its nesting is bounded by the default limits in any case.
    ///
    /// # Errors
    /// As [`Template::compile`].
    pub fn compile_with(source: &str, limits: &Limits) -> Result<Self> {
        if source.len() > limits.source {
            return Err(Error::limit(Reached::sizes(Limit::Source, source.len(), limits.source)).without_line());
        }
        let source = Source::new(source);
        let located = |error: Error| error.located(&source);
        let mut tree = parser::parse(&source).map_err(located)?;
        resolve::resolve(&mut tree, &source).map_err(located)?;
        Ok(Self {
            tree,
            // Copied only now: glibc's allocator tidies up before it gives a large block, and would have put together the small ones that
            // a tree before this one left, which the tree has just been made of.
            source: source.into_owned(),
            last_length: AtomicUsize::new(0),
        })
    }

    /// Renders with a context that is ready; nothing of it is copied but into the output.
    ///
    /// # Errors
    /// What the reference raises, or a limit.
    pub fn render(&self, context: &serde_json::Value) -> Result<String> {
        Ok(self.render_with(context, &RenderOptions::default())?.text)
    }

    /// Renders with anything that serializes to an object.
    ///
    /// # Errors
    /// As [`Template::render`], and where the context does not serialize.
    pub fn render_serialize<T: Serialize + ?Sized>(&self, context: &T) -> Result<String> {
        let data = json::to_data(context, json::DEPTH)?;
        Ok(self.render_with(&data, &RenderOptions::default())?.text)
    }

    /// Renders straight from JSON text, which is read as Python's `json.loads` reads it: integers of any size, `-0` and `-0.0`, `NaN`.
    ///
    /// # Errors
    /// As [`Template::render`], and where the text is no JSON.
    pub fn render_json(&self, context: &str) -> Result<String> {
        let data = json::read(context, json::DEPTH)?;
        Ok(self.render_with(&data, &RenderOptions::default())?.text)
    }

    /// Renders with options.
    ///
    /// # Errors
    /// As [`Template::render`].
    pub fn render_with<'c>(&self, context: impl Into<Context<'c>>, options: &RenderOptions<'_>) -> Result<Rendered> {
        let Context(input) = context.into();
        self.render_input(input, options)
    }

    /// Renders into `out`; nothing is written when the render fails.
    ///
    /// # Errors
    /// As [`Template::render`], and where `out` does not take the text.
    pub fn render_to<'c>(
        &self,
        context: impl Into<Context<'c>>,
        options: &RenderOptions<'_>,
        out: &mut impl fmt::Write,
    ) -> Result<()> {
        let rendered = self.render_with(context, options)?;
        out.write_str(&rendered.text)
            .map_err(|_| Error::runtime("the output could not be written").with_class(ErrorClass::Internal))
    }

    /// Returns the names that a caller can pass: those that the template reads from its context, in the order in which they first occur.
    ///
    /// A name that the template sets itself is listed only if the template reads it somewhere before it sets it, as it does with a switch
    /// that has a default:
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
        resolve::context_names(&self.tree)
    }

    /// Returns whether the template has a `{% generation %}` block. Without one, no render has spans.
    ///
    /// ```
    /// use chat_template::Template;
    ///
    /// assert!(Template::compile("{% if x %}{% generation %}{{ x }}{% endgeneration %}{% endif %}")?.has_generation());
    /// assert!(!Template::compile("{{ generation }}")?.has_generation());
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    pub fn has_generation(&self) -> bool {
        self.tree.body.contains(&|kind| matches!(kind, ast::StmtKind::Generation(_)))
    }

    fn render_input<'a>(&'a self, input: Input<'a>, options: &'a RenderOptions<'a>) -> Result<Rendered> {
        let input = match input {
            Input::Json(json) => Value::from(json),
            Input::Data(data) => Value::from(data),
        };
        let Value::Dict(input) = input else {
            let message = format!("the context is of type {}, and must be an object", input.ty().name());
            return Err(Error::new(ErrorKind::Type, message).with_class(ErrorClass::Request));
        };
        let meter = Meter::cancelled_by(options.limits.clone(), options.cancel);
        let mut runtime = Runtime::with_meter(meter, options.clock);
        let output = self.render_value(&mut runtime, input, options.generation, options.plain)?;
        Ok(Rendered {
            text: output.text,
            generation: output.spans,
            steps: runtime.meter.steps(),
        })
    }

    /// Renders with a context that is already a dict, and its runtime.
    pub(crate) fn render_value<'a>(
        &'a self,
        runtime: &mut Runtime<'a>,
        context: Dict<'a>,
        tracks_spans: bool,
        is_plain: bool,
    ) -> Result<eval::Output> {
        let last_length = self.last_length.load(Ordering::Relaxed);
        // A conversation comes back with one turn more. Without room for that, the whole output would be moved at its end.
        let capacity = last_length.saturating_add(last_length / 8);
        let result = eval::render(runtime, &self.tree, &self.source, context, tracks_spans, !is_plain, capacity);
        let mut output = result.map_err(|error| error.located(&self.source))?;
        let length = output.text.len();
        if output.text.capacity() / 2 > length {
            // The last one was much longer, and a caller may keep many prompts.
            output.text.shrink_to_fit();
        }
        if length != last_length {
            self.last_length.store(length, Ordering::Relaxed);
        }
        Ok(output)
    }
}
