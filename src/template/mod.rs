//! The template engine. A [`Template`] is compiled once and rendered any number of times, by any number of threads.

mod copied;
mod input;
mod render;

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::ast;
use crate::deadline::Bounds;
use crate::error::{Error, Result};
use crate::limits::{Limit, LimitExceeded};
use crate::meter::Meter;
use crate::source::Source;
use crate::trace::Literals;
use crate::value::{Given, Runtime, Tape, Traced, Value};
use crate::{eval, parser, resolve};

pub(crate) use copied::copy;
pub use input::Input;
pub(crate) use input::sealed::Borrow;
pub use render::{Output, RenderOptions};

/// A compiled template.
///
/// This is the engine by itself. [`ChatTemplate`](crate::ChatTemplate) adds what transformers' `apply_chat_template` does around it.
///
/// ```
/// use chat_template::{RenderOptions, Template};
///
/// let template = Template::compile("{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}")?;
/// let context = serde_json::json!({"messages": [{"role": "user", "content": "Hi"}]});
/// assert_eq!(template.render(&context, &RenderOptions::default())?.text, "user: Hi\n");
/// # Ok::<(), chat_template::Error>(())
/// ```
pub struct Template {
    source: Source<'static>,
    tree: ast::Template,
    /// The string literals of the tree, from the first render that is traced.
    literals: OnceLock<Literals>,
    /// The length of the last output, from which the capacity of the next one is computed.
    last_length: AtomicUsize,
}

/// The number of bytes of code whose tree a render does not count as live. The largest known template has fewer.
const FREE_CODE: usize = 64 << 10;

/// The maximum number of bytes that the tree takes for each byte of code.
const TREE_BYTES: usize = 128;

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
    /// use chat_template::{Limits, RenderOptions, Template};
    ///
    /// let limits = Limits::default().with_milliseconds(50);
    /// let template = Template::compile_with("{{ 1 + 1 }}", &limits)?;
    /// assert_eq!(template.render(&serde_json::json!({}), &RenderOptions::default())?.text, "2");
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
            return Err(Error::limit(LimitExceeded::from_sizes(Limit::Source, source.len(), allowed)).without_line());
        }
        let source = Source::new(source);
        let located = |error: Error| error.located(&source);
        let (mut tree, meter) = parser::build_tree(&source, meter).map_err(located)?;
        resolve::resolve(&mut tree, &source, meter).map_err(located)?;
        Ok(Self {
            tree,
            // The source is copied last. Before glibc's allocator returns a large block, it merges free small blocks; the tree is faster
            // to build while it can reuse the small blocks of a tree that was dropped before.
            source: source.into_owned(),
            literals: OnceLock::new(),
            last_length: AtomicUsize::new(0),
        })
    }

    /// Returns the names that the template reads from its context, in the order in which they first occur.
    ///
    /// A name that the template also sets is listed only if the template reads it somewhere before it sets it. This is how a template sets
    /// a default for a variable:
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

    /// Returns whether the template has a `{% generation %}` block. If it has none, its renders have no spans.
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

    /// Returns whether the source mentions `add_generation_prompt`.
    pub(crate) fn asks_prompt(&self) -> bool {
        self.tree.asks_prompt
    }

    /// Sets each expression to the general form. The result of a render is the same; tests compare the two.
    #[doc(hidden)]
    pub fn generalize(&mut self) {
        self.tree.generalize();
    }

    /// Returns the resolved tree.
    pub(crate) fn tree(&self) -> &ast::Template {
        &self.tree
    }

    /// Returns the source as the lexer sees it.
    pub(crate) fn source(&self) -> &Source<'static> {
        &self.source
    }

    /// Starts the tape of a render of the template, for which the caller passed these inputs, perhaps in one value.
    pub(crate) fn start_tape<'a>(
        &'a self,
        runtime: &mut Runtime<'a>,
        inputs: Vec<Traced<'a>>,
        whole: Option<Value<'a>>,
        messages: usize,
    ) {
        let literals = self.literals.get_or_init(|| self.tree.literals(&self.source));
        runtime.start_tape(Tape::new(inputs, whole, &self.tree.symbols, literals), messages);
    }

    /// Renders the template with its variables, and a runtime that has the limits and the clock.
    pub(crate) fn render_value<'a>(
        &'a self,
        runtime: &mut Runtime<'a>,
        given: Given<'a>,
        tracks_spans: bool,
    ) -> Result<eval::Rendered> {
        let code = self.source.text().len().saturating_sub(self.tree.text_bytes);
        if let Some(counted) = code.checked_sub(FREE_CODE) {
            runtime.meter.claim_for_render(counted.saturating_mul(TREE_BYTES))?;
        }
        let last_length = self.last_length.load(Ordering::Relaxed);
        // The next render is often the same conversation with one more turn. The extra capacity avoids moving the output as it grows.
        let capacity = last_length + last_length / 8;
        let result = eval::render(runtime, &self.tree, &self.source, given, tracks_spans, capacity);
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

    /// Renders the template again for a part of a conversation, after the render of the whole. Errors have no excerpt, because they are not
    /// returned.
    pub(crate) fn render_opening<'a>(&'a self, runtime: &mut Runtime<'a>, given: Given<'a>) -> Result<String> {
        eval::render(runtime, &self.tree, &self.source, given, false, 0).map(|output| output.text)
    }
}
