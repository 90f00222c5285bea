//! The class `Prepared`.

use chat_template::grammar::GrammarFormat;
use chat_template::json::Data;
use chat_template::request::{After, Change, Format, LaterSystem, Policy, PrepareOptions, Prepared};
use chat_template::{Append, PromptOptions, Result};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use serde::Serialize;

use crate::call::{Arguments, Wanted, with_options};
use crate::error::{refuse, run};
use crate::input::Text;
use crate::options::{Options, choose, reduce};
use crate::output::write_serialized;
use crate::prompt::PyPrompt;
use crate::template::PyChatTemplate;

/// The body of a request as it is written for a template.
#[pyclass(frozen, name = "Prepared", module = "chat_template")]
pub struct PyPrepared {
    template: Py<PyChatTemplate>,
    body: Data<'static>,
    settings: Settings,
    meaning: Meaning,
    /// An earlier body of the conversation that is written in the same way as the last one.
    after: Option<Py<PyPrepared>>,
    options: Options,
    /// How the body is written.
    plan: Option<After>,
}

/// The options of preparing by their names in Python, without the clock and the bounds.
#[derive(Serialize)]
pub struct Settings {
    pub format: Option<String>,
    pub policy: String,
    pub later_system: String,
    pub chat_template: Option<String>,
    pub media_placeholder: Option<String>,
    pub keeps_tools: bool,
    pub tools_as_text: bool,
}

/// What the names of the format, the policy and the place of later system messages mean.
type Meaning = (Option<Format>, Policy, LaterSystem);

const FORMATS: [(&str, Format); 3] = [
    ("chat_completions", Format::ChatCompletions),
    ("responses", Format::Responses),
    ("messages", Format::Messages),
];

const POLICIES: [(&str, Policy); 3] = [("exact", Policy::Exact), ("fit", Policy::Fit), ("strict", Policy::Strict)];

const PLACES: [(&str, LaterSystem); 3] = [
    ("in_place", LaterSystem::InPlace),
    ("as_user", LaterSystem::AsUser),
    ("merged", LaterSystem::Merged),
];

/// Prepares a body.
pub fn prepare(
    template: &Bound<'_, PyChatTemplate>,
    body: Data<'static>,
    settings: Settings,
    after: Option<&Bound<'_, PyPrepared>>,
    options: Options,
) -> PyResult<PyPrepared> {
    let format = settings.format.as_ref().map(|name| choose("format", name, &FORMATS));
    let after = after.map(|earlier| match &earlier.get().after {
        Some(first) if first.get().plan == earlier.get().plan => first.clone_ref(earlier.py()),
        _ => earlier.clone().unbind(),
    });
    let mut prepared = PyPrepared {
        template: template.clone().unbind(),
        body,
        meaning: (
            format.transpose()?,
            choose("policy", &settings.policy, &POLICIES)?,
            choose("later_system", &settings.later_system, &PLACES)?,
        ),
        settings,
        after,
        options,
        plan: None,
    };
    prepared.plan = run(template.py(), || prepared.with(|prepared| Ok(Some(After::from(&prepared)))))?;
    Ok(prepared)
}

#[pymethods]
impl PyPrepared {
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let keywords = write_serialized(py, &self.settings)?.cast_into::<PyDict>()?;
        keywords.set_item("after", &self.after)?;
        keywords.set_item("options", Bound::new(py, self.options.clone())?)?;
        let body = (crate::output::write(py, &self.body)?,).into_pyobject(py)?;
        reduce(self.template.bind(py).getattr("prepare")?, &keywords, body)
    }

    /// The messages that the template gets.
    #[getter]
    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let messages = run(py, || self.with(|prepared| to_data(prepared.messages())))?;
        crate::output::write(py, &messages)
    }

    /// The tools that the template gets, or `None`.
    #[getter]
    fn tools<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let tools = run(py, || self.with(|prepared| to_data(prepared.tools())))?;
        crate::output::write(py, &tools)
    }

    /// The variables that the template gets, or `None`.
    #[getter]
    fn variables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let variables = run(py, || self.with(|prepared| to_data(prepared.variables())))?;
        crate::output::write(py, &variables)
    }

    /// The images, sounds, videos and files in the order of the prompt: dicts with `path`, `kind` and `message`.
    #[getter]
    fn media<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let media = run(py, || self.with(|prepared| Ok(prepared.media())))?;
        write_serialized(py, &media)
    }

    /// The changes that are known before the render: dicts with `path`, `kind`, `reason` and `severity`.
    #[getter]
    fn changes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let changes = run(py, || self.with(|prepared| Ok(prepared.list_changes())))?;
        write_serialized(py, &changes)
    }

    /// Whether the prompt ends with the beginning of an answer.
    #[getter]
    fn add_generation_prompt(&self, py: Python<'_>) -> PyResult<bool> {
        run(py, || self.with(|prepared| Ok(prepared.add_generation_prompt())))
    }

    /// Returns the prompt and the changes of the body, among them each string that this prompt does not have.
    fn render<'py>(&self, py: Python<'py>) -> PyResult<(PyPrompt, Bound<'py, PyList>)> {
        let (prompt, changes) = run(py, || {
            self.with_options(Wanted::Spans, |prepared, options| prepared.render_with(options))
        })?;
        Ok((prompt.into(), list_changes(py, &changes)?))
    }

    /// Returns the number of tokens of the prompt. `count_tokens` returns that of a string.
    fn count(&self, py: Python<'_>, count_tokens: Py<PyAny>) -> PyResult<usize> {
        let count = |text: &str| count_by(&count_tokens, text);
        run(py, || {
            self.with_options(Wanted::Text, |prepared, options| prepared.count(&count, options))
        })
    }

    /// Cuts the conversation so that its prompt has at most `limit` tokens, and returns the prompt and the changes, among them each message
    /// that is left out. `count_tokens` returns the number of tokens of a string.
    fn fit<'py>(&self, py: Python<'py>, limit: usize, count_tokens: Py<PyAny>) -> PyResult<(PyPrompt, Bound<'py, PyList>)> {
        let count = |text: &str| count_by(&count_tokens, text);
        let (prompt, changes) = run(py, || {
            self.with_options(Wanted::Spans, |prepared, options| {
                prepared.fit(limit, &count, options)?.render_with(options)
            })
        })?;
        Ok((prompt.into(), list_changes(py, &changes)?))
    }

    /// Returns the grammar of what the model may write, by the tools, `tool_choice` and `response_format` of the body: a dict with `text`,
    /// `triggers` and `lost`, or `None` if the model may write anything.
    #[pyo3(signature = (format="gbnf"))]
    fn grammar<'py>(&self, py: Python<'py>, format: &str) -> PyResult<Bound<'py, PyAny>> {
        let format = choose(
            "format",
            format,
            &["gbnf", "lark", "structural_tag"].map(|name| (name, GrammarFormat::find(name))),
        )?;
        let format = format.ok_or_else(|| PyValueError::new_err("the format is unknown"))?;
        let grammar = run(py, || {
            self.with(|prepared| prepared.grammar(format, self.options.allowed.bounds()))
        })?;
        write_serialized(py, &grammar)
    }

    /// Returns the text to append after `seen` and, with `sampled`, after what the model wrote, and the changes of the body, which has the
    /// whole conversation.
    #[pyo3(signature = (seen, sampled=None))]
    fn after<'py>(&self, py: Python<'py>, seen: Text, sampled: Option<Text>) -> PyResult<(String, Bound<'py, PyList>)> {
        let sampled = sampled.as_ref().map(|text| text.0.as_str());
        let (append, changes) = run(py, || {
            self.with_options(Wanted::Text, |prepared, options| prepared.after(&seen.0, sampled, options))
        })?;
        Ok((take_piece(py, append)?, list_changes(py, &changes)?))
    }
}

/// Calls a function of Python that counts tokens.
fn count_by(count_tokens: &Py<PyAny>, text: &str) -> PyResult<usize> {
    Python::attach(|py| count_tokens.call1(py, (text,))?.extract(py))
}

impl PyPrepared {
    /// Calls the library with the options of a render.
    fn with_options<T>(&self, wanted: Wanted, call: impl FnOnce(Prepared<'_>, &PromptOptions<'_>) -> Result<T>) -> Result<T> {
        let arguments = Arguments::default();
        self.with(|prepared| {
            with_options(
                self.template.get().library(),
                &arguments,
                &self.options,
                (wanted, None),
                |options| call(prepared, &options.prompt.with_reference_spans(false)),
            )
        })
    }

    /// Prepares the body again, which takes no search, because the template remembers how it wrote a body of this shape.
    fn with<T>(&self, work: impl FnOnce(Prepared<'_>) -> Result<T>) -> Result<T> {
        let default = PrepareOptions::default();
        let mut options = PrepareOptions::default()
            .with_format(self.meaning.0)
            .with_policy(self.meaning.1)
            .with_chat_template(self.settings.chat_template.as_deref())
            .with_later_system(self.meaning.2)
            .with_media_placeholder(self.settings.media_placeholder.as_deref())
            .with_keeps_tools(self.settings.keeps_tools)
            .with_tools_as_text(self.settings.tools_as_text)
            .with_clock(self.options.clock.as_ref().map_or(default.clock, |clock| clock))
            .with_bounds(self.options.allowed.bounds());
        options.after = self.plan.or(self.after.as_ref().and_then(|earlier| earlier.get().plan));
        work(self.template.get().library().prepare_with(&self.body, &options)?)
    }
}

/// Returns the text of a piece, or raises the error that there is none.
pub fn take_piece(py: Python<'_>, append: Append) -> PyResult<String> {
    match append {
        Append::Piece(piece) => Ok(piece.text().to_owned()),
        Append::Broken(broken) => Err(refuse(py, "value", &broken.to_string(), None)),
    }
}

fn to_data<T: serde::Serialize + ?Sized>(value: &T) -> Result<Data<'static>> {
    Ok(chat_template::json::to_data(value)?)
}

fn list_changes<'py>(py: Python<'py>, changes: &[Change]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for change in changes {
        let dict = PyDict::new(py);
        dict.set_item("path", &change.path)?;
        dict.set_item("kind", change.kind.name())?;
        dict.set_item("reason", &*change.reason)?;
        dict.set_item("severity", write_serialized(py, &change.severity)?)?;
        list.append(dict)?;
    }
    Ok(list)
}
