//! What can go wrong: one error type with a kind, a class, the reference's text, and a place.
//!
//! The text of an error is that of the Python exception the reference raises, without the exception's name. Errors are made without
//! a place; the evaluator adds it once, where it knows it ([`Error::at`], [`Error::on_line`]), and the template adds the excerpt.

mod excerpt;
mod kind;
mod serialize;

use std::fmt;

pub(crate) use excerpt::Excerpt;
pub use kind::{ErrorClass, ErrorKind};

use crate::limits::Reached;
use crate::source::{Position, Source};
use crate::span::Span;

/// A result whose error is this crate's.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// One step of the way to the place of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Inside a call of the named macro.
    Macro(String),
    /// In a round of the loop on this line, both counted from 1.
    Loop {
        /// The line of the `for`.
        line: u32,
        /// Which round.
        round: u64,
    },
    /// In a loop's round for a message of the conversation, counted from 1.
    Message {
        /// Which message.
        number: usize,
        /// Of how many.
        total: usize,
    },
}

/// Why a template did not compile or render. `Debug` prints what `Display` does, so that `unwrap` and `main` show it well.
#[derive(Clone, thiserror::Error)]
pub struct Error(Box<Report>);

#[derive(Clone, Debug)]
struct Report {
    kind: ErrorKind,
    class: ErrorClass,
    message: String,
    line: Line,
    span: Option<Span>,
    excerpt: Option<Excerpt>,
    trail: Vec<Step>,
    note: Option<String>,
    /// The values of the input that the error may be about, the likeliest first.
    input_paths: Vec<String>,
    template: Option<String>,
    reached: Option<Reached>,
}

/// The line that the reference names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// Nobody has said yet.
    Open,
    /// The reference names none.
    Nowhere,
    At(u32),
}

/// Constructors by kind, each with the reference's text.
impl Error {
    /// An error of a kind, without a place yet.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let class = match kind {
            ErrorKind::Raised => ErrorClass::Refused,
            ErrorKind::Limit => ErrorClass::Limit,
            _ => ErrorClass::Template,
        };
        Self(Box::new(Report {
            kind,
            class,
            message: message.into(),
            line: Line::Open,
            span: None,
            excerpt: None,
            trail: Vec::new(),
            note: None,
            input_paths: Vec::new(),
            template: None,
            reached: None,
        }))
    }

    /// A TypeError.
    #[cold]
    pub fn type_error(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Type, message)
    }

    /// A ValueError.
    #[cold]
    pub fn value(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Value, message)
    }

    /// A TemplateRuntimeError, or a Python exception without a kind of its own.
    #[cold]
    pub fn runtime(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Runtime, message)
    }

    /// A TemplateSyntaxError at a span.
    #[cold]
    pub fn syntax(message: impl Into<String>, span: Span) -> Self {
        Self::new(ErrorKind::Syntax, message).at(span)
    }

    /// A limit of this crate was reached.
    #[cold]
    pub fn limit(reached: Reached) -> Self {
        Self::limit_with_message(reached, reached.to_string())
    }

    /// The reference's RecursionError, for a limit of ours in the same situation; which one it is says the note.
    #[cold]
    pub fn recursion(reached: Reached) -> Self {
        Self::limit_with_message(reached, "maximum recursion depth exceeded").with_note(reached.to_string())
    }

    /// The reference's MemoryError, for a size that no machine has.
    #[cold]
    pub fn memory(reached: Reached) -> Self {
        Self::limit_with_message(reached, "").with_note(reached.to_string())
    }

    /// A limit of this crate was reached, in other words.
    #[cold]
    pub fn limit_with_message(reached: Reached, message: impl Into<String>) -> Self {
        let mut error = Self::new(ErrorKind::Limit, message);
        error.0.reached = Some(reached);
        error
    }

    /// A fault of this crate: something that was held to be impossible.
    #[cold]
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Runtime, message).with_class(ErrorClass::Internal)
    }

    /// The same error in another class.
    pub fn with_class(mut self, class: ErrorClass) -> Self {
        self.0.class = class;
        self
    }
}

/// Places, added from the inside out; the first one stays.
impl Error {
    /// Says which piece of the source failed, unless that is known.
    #[cold]
    pub fn at(mut self, span: Span) -> Self {
        self.0.span.get_or_insert(span);
        self
    }

    /// Whether a piece of the source is known.
    pub(crate) fn has_place(&self) -> bool {
        self.0.span.is_some()
    }

    /// Says which line the reference names, unless that is known.
    #[cold]
    pub fn on_line(mut self, line: u32) -> Self {
        if self.0.line == Line::Open {
            self.0.line = Line::At(line);
        }
        self
    }

    /// Says that the reference names no line.
    #[cold]
    pub fn without_line(mut self) -> Self {
        self.0.line = Line::Nowhere;
        self
    }

    /// Adds the next outer step of the way to the place.
    #[cold]
    pub fn within(mut self, step: Step) -> Self {
        self.0.trail.push(step);
        self
    }

    /// Adds what is known of the offending value, unless something is.
    #[cold]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.0.note.get_or_insert_with(|| note.into());
        self
    }

    /// Says which value of the input the error is about, by its JSON pointer; a further one is less likely. An error that a value can cause
    /// is then of the class [`ErrorClass::Mismatch`].
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

    /// Says which values of the input belong to the template's side: the error is about another one, or else about none of the request.
    #[cold]
    pub(crate) fn excuse_input(mut self, is_excused: impl Fn(&str) -> bool) -> Self {
        if self.0.class == ErrorClass::Mismatch {
            self.0.input_paths.sort_by_key(|path| is_excused(path));
            if self.0.input_paths.first().is_none_or(|path| is_excused(path)) {
                self.0.class = ErrorClass::Template;
            }
        }
        self
    }

    /// Says which template it was, by its name or file, unless that is known.
    #[cold]
    pub fn in_template(mut self, name: &str) -> Self {
        self.0.template.get_or_insert_with(|| name.to_owned());
        self
    }

    /// Looks the span up in its source: position, excerpt, and the line where no other was said.
    #[cold]
    pub fn located(mut self, source: &Source) -> Self {
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

/// What a caller asks.
impl Error {
    /// What the reference raised.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Who has to act.
    pub fn class(&self) -> ErrorClass {
        self.0.class
    }

    /// The reference's text, without the exception's name.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The line, from 1, that the reference names; it names the line of a statement, which may lie before the piece that failed.
    pub fn line(&self) -> Option<u32> {
        match self.0.line {
            Line::At(line) => Some(line),
            Line::Open | Line::Nowhere => None,
        }
    }

    /// Where the piece that failed begins: line and column from 1, the column in code points.
    pub fn position(&self) -> Option<Position> {
        self.0.excerpt.as_ref().map(|excerpt| excerpt.position)
    }

    /// Which limit was reached and by what, where the kind is [`ErrorKind::Limit`].
    pub fn reached(&self) -> Option<Reached> {
        self.0.reached
    }

    /// The macros and loop rounds around the place, the innermost first.
    pub fn trail(&self) -> &[Step] {
        &self.0.trail
    }

    /// The name or the file of the template, where it has one.
    pub fn template(&self) -> Option<&str> {
        self.0.template.as_deref()
    }

    /// Returns the JSON pointer (RFC 6901) of the value in the input that the error is about, such as `/messages/3/content`. Where a
    /// key or an element is missing, it is the pointer of the object or list that lacks it.
    ///
    /// ```
    /// use chat_template::{ErrorClass, Template};
    ///
    /// let template = Template::compile("{{ messages[0].content.text.strip() }}")?;
    /// let context = serde_json::json!({"messages": [{"role": "user", "content": {"type": "text"}}]});
    /// let error = template.render(&context).unwrap_err();
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

    /// What is known of the offending value: its type and its path in the input.
    pub fn note(&self) -> Option<&str> {
        self.0.note.as_deref()
    }
}

impl fmt::Display for Step {
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
        self.0.trail.iter().try_for_each(|step| write!(out, "\n{step}"))
    }
}

#[cfg(test)]
mod tests {
    use super::Error;
    use crate::source::Source;
    use crate::span::Span;

    fn shown(source: &str, piece: &str) -> String {
        let start = source.find(piece).unwrap();
        let [start, end] = [start, start.saturating_add(piece.len())].map(|offset| u32::try_from(offset).unwrap());
        let error = Error::runtime("no").at(Span::new(start, end));
        error.located(&Source::new(source)).to_string()
    }

    #[test]
    fn a_short_line_is_shown_whole() {
        assert_eq!(
            shown("a\n\tbé {{ c }}", "c"),
            "runtime error: no\n --> line 2, column 8\n2 |  bé {{ c }}\n  |        ^"
        );
    }

    #[test]
    fn a_long_line_is_shown_around_the_place() {
        let [before, after] = ["-".repeat(50), "-".repeat(65)];
        let places = [
            (
                format!("é{before}-place{after}-"),
                format!("…{before}place{after}…\n  | {:51}^^^^^", ""),
            ),
            (format!("é{before}-place"), format!("é{before}-place\n  | {:52}^^^^^", "")),
        ];
        for (source, lines) in places {
            let text = shown(&source, "place");
            assert_eq!(text, format!("runtime error: no\n --> line 1, column 53\n1 | {lines}"));
        }
        let end = format!("{0}{0}place", after);
        assert_eq!(
            shown(&end, "place"),
            format!(
                "runtime error: no\n --> line 1, column 131\n1 | …{}place\n  | {:116}^^^^^",
                "-".repeat(115),
                ""
            )
        );
        let wide = format!("{{{{ {after}{after} }}}}");
        assert_eq!(
            shown(&wide, &wide),
            format!(
                "runtime error: no\n --> line 1, column 1\n1 | {{{{ {}…\n  | {}",
                "-".repeat(117),
                "^".repeat(120)
            )
        );
    }
}
