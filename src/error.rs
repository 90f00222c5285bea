//! The error type: a kind, a class, the message of the reference, and a place in the template.
//!
//! The message is that of the Python exception that the reference raises, without the name of the exception. An error is made without a
//! place; the evaluator adds the place ([`Error::at`], [`Error::on_line`]), and the template adds the excerpt.

mod excerpt;
mod kind;
mod serialize;

use std::fmt;
use std::sync::Arc;

pub(crate) use excerpt::Excerpt;
pub use kind::{ErrorClass, ErrorKind};

use crate::limits::{Limit, LimitExceeded};
use crate::source::{Position, Source};
use crate::span::Span;
use crate::text::message::{MAX_MESSAGE, elide};

/// A result with the error type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A macro call or a loop round that encloses the place of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceFrame {
    /// A call of the macro with this name.
    Macro(String),
    /// A round of a loop.
    Loop {
        /// The line of the `for`, from 1.
        line: u32,
        /// The number of the round, from 1.
        round: u64,
    },
    /// A round of a loop over the messages.
    Message {
        /// The number of the message, from 1.
        number: usize,
        /// The number of messages in the conversation.
        total: usize,
    },
}

/// An error of compiling or rendering a template, or of loading a model. `Debug` prints the same string as `Display`, so that `unwrap` and
/// `main` show it in full.
#[derive(Clone)]
pub struct Error(Box<Report>);

#[derive(Clone, Debug)]
struct Report {
    kind: ErrorKind,
    class: ErrorClass,
    message: String,
    line: Line,
    span: Option<Span>,
    excerpt: Option<Excerpt>,
    trail: Vec<TraceFrame>,
    note: Option<String>,
    /// The JSON pointers of the input values that can be the cause, the most likely first.
    input_paths: Vec<String>,
    template: Option<String>,
    reached: Option<LimitExceeded>,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

/// The largest number of macro calls and loop rounds that an error lists. The reference cannot nest that many.
const MAX_TRAIL: usize = 1000;

/// The number of characters of a macro's name that an error shows.
const MAX_NAME: usize = 100;

/// The line that the error of the reference names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// The line is not known yet.
    Open,
    /// The reference names no line.
    Nowhere,
    At(u32),
}

/// Constructors. The caller passes the message of the reference.
impl Error {
    /// Makes an error of any kind without a place. A message of more than 64 KiB is cut.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let mut message = message.into();
        if message.len() > MAX_MESSAGE {
            let end = (0..=MAX_MESSAGE).rev().find(|end| message.is_char_boundary(*end));
            message.truncate(end.unwrap_or_default());
            message.push('…');
            message.shrink_to_fit();
        }
        let class = match kind {
            ErrorKind::Raised => ErrorClass::Refused,
            ErrorKind::Limit => ErrorClass::Limit,
            _ => ErrorClass::Template,
        };
        Self(Box::new(Report {
            kind,
            class,
            message,
            line: Line::Open,
            span: None,
            excerpt: None,
            trail: Vec::new(),
            note: None,
            input_paths: Vec::new(),
            template: None,
            reached: None,
            source: None,
        }))
    }

    /// Makes a TypeError.
    #[cold]
    pub(crate) fn type_error(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Type, message)
    }

    /// Makes a ValueError.
    #[cold]
    pub(crate) fn value(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Value, message)
    }

    /// Makes an OverflowError.
    #[cold]
    pub(crate) fn overflow(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Overflow, message)
    }

    /// Makes a TemplateRuntimeError, or an error for a Python exception that has no kind of its own.
    #[cold]
    pub(crate) fn runtime(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Runtime, message)
    }

    /// Makes a TemplateSyntaxError at a span.
    #[cold]
    pub(crate) fn syntax(message: impl Into<String>, span: Span) -> Self {
        Self::new(ErrorKind::Syntax, message).at(span)
    }

    /// Makes the error for a limit.
    #[cold]
    pub(crate) fn limit(reached: LimitExceeded) -> Self {
        Self::limit_with_message(reached, reached.to_string())
    }

    /// Makes the error for a limit of depth, with the message of Python's RecursionError. The note names the limit.
    #[cold]
    pub(crate) fn recursion(reached: LimitExceeded) -> Self {
        Self::limit_with_message(reached, "maximum recursion depth exceeded").with_note(reached.to_string())
    }

    /// Makes the error for a size that no memory can hold, with the empty message of Python's MemoryError. The note names the limit.
    #[cold]
    pub(crate) fn memory(reached: LimitExceeded) -> Self {
        Self::limit_with_message(reached, "").with_note(reached.to_string())
    }

    /// Makes the error for a limit with another message.
    #[cold]
    pub(crate) fn limit_with_message(reached: LimitExceeded, message: impl Into<String>) -> Self {
        let mut error = Self::new(ErrorKind::Limit, message);
        error.0.reached = Some(reached);
        error
    }

    /// Makes the error for a bug in this crate.
    #[cold]
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Runtime, message).with_class(ErrorClass::Internal)
    }

    /// Sets the error of input, output or JSON text that this one is about.
    #[cold]
    pub(crate) fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.0.source = Some(Arc::new(source));
        self
    }

    /// Sets the class.
    pub(crate) fn with_class(mut self, class: ErrorClass) -> Self {
        self.0.class = class;
        self
    }
}

/// Setters of the place. Each function that an error passes on its way up may set it; the first value, which is that of the innermost
/// function, is kept.
impl Error {
    /// Sets the part of the source that failed, unless it is set.
    #[cold]
    pub(crate) fn at(mut self, span: Span) -> Self {
        self.0.span.get_or_insert(span);
        self
    }

    /// Returns whether the part of the source that failed is known.
    pub(crate) fn has_place(&self) -> bool {
        self.0.span.is_some()
    }

    /// Sets the line that the reference names, unless it is set.
    #[cold]
    pub(crate) fn on_line(mut self, line: u32) -> Self {
        if self.0.line == Line::Open {
            self.0.line = Line::At(line);
        }
        self
    }

    /// Records that the reference names no line.
    #[cold]
    pub(crate) fn without_line(mut self) -> Self {
        self.0.line = Line::Nowhere;
        self
    }

    /// Adds the next enclosing macro call or loop round, unless the error already lists 1000.
    #[cold]
    pub(crate) fn within(mut self, step: TraceFrame) -> Self {
        if self.0.trail.len() < MAX_TRAIL {
            self.0.trail.push(step);
        }
        self
    }

    /// Adds the call of a macro as the next enclosing one.
    #[cold]
    pub(crate) fn within_macro(self, name: &str) -> Self {
        self.within(TraceFrame::Macro(elide(name, MAX_NAME).into_owned()))
    }

    /// Sets the note, unless it is set.
    #[cold]
    pub(crate) fn with_note(mut self, note: impl Into<String>) -> Self {
        self.0.note.get_or_insert_with(|| note.into());
        self
    }

    /// Adds the JSON pointer of an input value that can be the cause, after more likely ones. If a value can cause this kind of error, the
    /// class becomes [`ErrorClass::Mismatch`].
    #[cold]
    pub(crate) fn about_input(mut self, pointer: String) -> Self {
        if self.0.kind.is_about_a_value() {
            self.0.input_paths.push(pointer);
            if self.0.class == ErrorClass::Template {
                self.0.class = ErrorClass::Mismatch;
            }
        }
        self
    }

    /// Excludes input values that do not belong to the request. If no other value can be the cause, the class becomes
    /// [`ErrorClass::Template`].
    #[cold]
    pub(crate) fn excuse_input(mut self, is_excused: impl Fn(&str) -> bool) -> Self {
        if self.0.class == ErrorClass::Mismatch {
            match self.0.input_paths.iter().position(|path| !is_excused(path)) {
                Some(own) => self.0.input_paths.swap(0, own),
                None => self.0.class = ErrorClass::Template,
            }
        }
        self
    }

    /// Replaces each JSON pointer for which `new` returns another one.
    #[cold]
    pub(crate) fn map_input_paths(mut self, new: impl Fn(&str) -> Option<String>) -> Self {
        for path in &mut self.0.input_paths {
            if let Some(new) = new(path) {
                *path = new;
            }
        }
        self
    }

    /// Sets the name or the file of the template, unless it is set.
    #[cold]
    pub(crate) fn in_template(mut self, name: &str) -> Self {
        self.0.template.get_or_insert_with(|| name.to_owned());
        self
    }

    /// Adds the excerpt of the source at the span, and its line unless it is set.
    #[cold]
    pub(crate) fn located(mut self, source: &Source) -> Self {
        if let Some(span) = self.0.span.filter(|_| self.0.excerpt.is_none()) {
            let excerpt = Excerpt::new(source, span);
            let line = excerpt.position.line;
            self.0.excerpt = Some(excerpt);
            if self.0.line == Line::Open {
                self.0.line = Line::At(line);
            }
        }
        self
    }
}

/// What the error says.
impl Error {
    /// Returns the kind, which is the exception that the reference raises.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the class, which says who has to act.
    pub fn class(&self) -> ErrorClass {
        self.0.class
    }

    /// Returns the message, which is that of the reference, without the name of the exception.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the line that the reference names, from 1. It is the line of the statement, which can begin before the part that failed.
    pub fn line(&self) -> Option<u32> {
        match self.0.line {
            Line::At(line) => Some(line),
            Line::Open | Line::Nowhere => None,
        }
    }

    /// Returns the start of the part that failed: its line and its column in code points, both from 1.
    pub fn position(&self) -> Option<(u32, u32)> {
        let position = self.0.excerpt.as_ref()?.position;
        Some((position.line, position.column))
    }

    /// Returns the limit that was reached, if the kind is [`ErrorKind::Limit`].
    ///
    /// ```
    /// use chat_template::{Limit, LimitExceeded, Limits, RenderOptions, Template};
    ///
    /// let template = Template::compile("{% for i in range(100000) %}{% endfor %}")?;
    /// let limits = Limits::default().with_steps(1000);
    /// let options = RenderOptions::default().with_bounds(&limits);
    /// let reached: LimitExceeded = template.render(&serde_json::json!({}), &options).unwrap_err().reached().unwrap();
    /// assert_eq!((reached.limit, reached.allowed), (Limit::Steps, 1000));
    /// assert!(reached.actual > 1000);
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    pub fn reached(&self) -> Option<LimitExceeded> {
        self.0.reached
    }

    /// Returns the macro calls and loop rounds that enclose the place of the error, the innermost first.
    ///
    /// ```
    /// use chat_template::{RenderOptions, Template, TraceFrame};
    ///
    /// let template = Template::compile("{% for m in messages %}{{ m.content + 1 }}{% endfor %}")?;
    /// let context = serde_json::json!({"messages": [{"content": 1}, {"content": "Hi"}]});
    /// let error = template.render(&context, &RenderOptions::default()).unwrap_err();
    /// assert_eq!(error.trail(), [TraceFrame::Message { number: 2, total: 2 }, TraceFrame::Loop { line: 1, round: 2 }]);
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    pub fn trail(&self) -> &[TraceFrame] {
        &self.0.trail
    }

    /// Returns the name or the file of the template, if it has one.
    pub fn template(&self) -> Option<&str> {
        self.0.template.as_deref()
    }

    /// Returns whether the same call can succeed at another time: it reached the time limit, or was cancelled.
    pub fn is_retryable(&self) -> bool {
        matches!(self.reached(), Some(reached) if matches!(reached.limit, Limit::Milliseconds | Limit::Cancel))
    }

    /// Returns the HTTP status for a server: 503 if the call [can succeed later](Self::is_retryable), 400 if the request is wrong or costs
    /// too much, 502 if the text of the model is wrong, and 500 if the server, the template or this crate is wrong.
    ///
    /// ```
    /// use chat_template::{Deadline, RenderOptions, Template};
    ///
    /// let deadline = Deadline::new(0);
    /// let options = RenderOptions::default().with_bounds(&deadline);
    /// let error = Template::compile("{{ x }}")?.render(&serde_json::json!({"x": 1}), &options).unwrap_err();
    /// assert_eq!((error.is_retryable(), error.http_status()), (true, 503));
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    pub fn http_status(&self) -> u16 {
        match self.class() {
            _ if self.is_retryable() => 503,
            ErrorClass::Refused | ErrorClass::Request | ErrorClass::Mismatch | ErrorClass::Limit => 400,
            ErrorClass::Answer => 502,
            ErrorClass::Template | ErrorClass::Internal => 500,
        }
    }

    /// Returns the JSON pointer (RFC 6901) of the input value that caused the error, such as `/messages/3/content`. If a key or an element
    /// is missing, it is the pointer of the object or the list.
    ///
    /// ```
    /// use chat_template::{ErrorClass, RenderOptions, Template};
    ///
    /// let template = Template::compile("{{ messages[0].content.text.strip() }}")?;
    /// let context = serde_json::json!({"messages": [{"role": "user", "content": {"type": "text"}}]});
    /// let error = template.render(&context, &RenderOptions::default()).unwrap_err();
    /// assert_eq!(error.input_path(), Some("/messages/0/content"));
    /// assert_eq!(
    ///     error.note(),
    ///     Some("`messages[0].content` is of type dict, at `/messages/0/content` of the input; its only key is 'type'")
    /// );
    /// assert_eq!(error.class(), ErrorClass::Mismatch);
    /// # Ok::<(), chat_template::Error>(())
    /// ```
    pub fn input_path(&self) -> Option<&str> {
        self.0.input_paths.first().map(String::as_str)
    }

    /// Returns a note on the cause, such as the type of a value and its place in the input.
    pub fn note(&self) -> Option<&str> {
        self.0.note.as_deref()
    }
}

/// The source is the error of a file ([`std::io::Error`]) or of JSON text ([`JsonError`](crate::json::JsonError)), if there is one.
///
/// ```
/// use std::error::Error;
///
/// use chat_template::{ChatTemplate, LoadOptions};
///
/// let error = ChatTemplate::from_dir("no/such/folder", &LoadOptions::default()).unwrap_err();
/// let source = error.source().and_then(|source| source.downcast_ref::<std::io::Error>());
/// assert_eq!(source.map(std::io::Error::kind), Some(std::io::ErrorKind::NotFound));
/// ```
impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

impl From<LimitExceeded> for Error {
    fn from(reached: LimitExceeded) -> Self {
        Self::limit(reached)
    }
}

impl fmt::Display for TraceFrame {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Macro(name) => write!(out, "in macro '{name}'"),
            Self::Loop { line, round } => write!(out, "in round {round} of the loop on line {line}"),
            Self::Message { number, total } => write!(out, "in message {number} of {total}"),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} error: {}", self.0.kind.name(), self.0.message)?;
        if let Some(excerpt) = &self.0.excerpt {
            let Position { line, column } = excerpt.position;
            let margin = line.to_string().len();
            write!(out, "\n{:margin$}--> ", "")?;
            if let Some(name) = &self.0.template {
                write!(out, "{name}, ")?;
            }
            write!(out, "line {line}, column {column}")?;
            write!(out, "\n{excerpt}")?;
        } else {
            match (&self.0.template, self.line()) {
                (Some(name), Some(line)) => write!(out, " ({name}, line {line})")?,
                (Some(name), None) => write!(out, " ({name})")?,
                (None, Some(line)) => write!(out, " (line {line})")?,
                (None, None) => {}
            }
        }
        if let Some(note) = &self.0.note {
            write!(out, "\n{note}")?;
        }
        if let Some(setting) = self.0.reached.and_then(|reached| reached.limit.setting()) {
            write!(out, "\nto allow more, raise `{setting}`")?;
        }
        for repeated in self.0.trail.chunk_by(|step, next| step == next) {
            let Some(step) = repeated.first() else { continue };
            write!(out, "\n{step}")?;
            if repeated.len() > 1 {
                write!(out, " ({} times)", repeated.len())?;
            }
        }
        Ok(())
    }
}
