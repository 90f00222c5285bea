//! The prompt of a conversation, with its spans in code points.

use std::ops::Range;

use chat_template::{Prompt, assistant_mask};
use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};

use crate::input::extract_items;
use crate::output::{pairs, write_serialized};

/// The label of a token that is not trained, which PyTorch ignores.
const NO_LABEL: i64 = -100;

/// The number of segments that a notebook shows.
const MAX_SHOWN: usize = 2000;

/// The properties of a prompt besides its text.
const PROPERTIES: [&str; 9] = [
    "segments",
    "turns",
    "assistant_turns",
    "unknown_turns",
    "reference_spans",
    "control_tokens",
    "pieces",
    "generation_prompt",
    "steps",
];

/// Spans in code points.
type Pairs = Vec<(usize, usize)>;

/// The prompt of a conversation. All spans are `(start, end)` in code points of `text`.
#[pyclass(frozen, name = "Prompt", module = "chat_template")]
pub struct PyPrompt {
    origin: Origin,
}

/// Where a prompt comes from.
enum Origin {
    Render(Box<Prompt>),
    /// A pickled prompt: its text, and its properties by their names.
    Pickle(String, Py<PyDict>),
}

impl From<Prompt> for PyPrompt {
    fn from(prompt: Prompt) -> Self {
        let origin = Origin::Render(Box::new(prompt));
        Self { origin }
    }
}

#[pymethods]
impl PyPrompt {
    /// The text, which is to be tokenized without adding special tokens.
    #[getter]
    fn text(&self) -> &str {
        match &self.origin {
            Origin::Render(prompt) => &prompt.text,
            Origin::Pickle(text, _) => text,
        }
    }

    fn __str__(&self) -> &str {
        self.text()
    }

    fn __repr__(&self) -> String {
        format!("<Prompt of {} characters>", self.text().chars().count())
    }

    #[staticmethod]
    fn _restore(text: String, properties: Py<PyDict>) -> Self {
        let origin = Origin::Pickle(text, properties);
        Self { origin }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let properties = PyDict::new(py);
        for name in PROPERTIES {
            properties.set_item(name, self.property(py, name)?)?;
        }
        let arguments = (self.text(), properties).into_pyobject(py)?;
        Ok((PyType::new::<Self>(py).getattr("_restore")?, arguments))
    }

    /// Where the characters came from, in their order: dicts with `start`, `end`, `from`, and, where it applies, `path`, `at`, `line`,
    /// `name` and `message`.
    #[getter]
    fn segments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.property(py, "segments")
    }

    /// The parts of the text that each message owns: dicts with `message`, `header`, `body`, `close` and `fields`.
    #[getter]
    fn turns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.property(py, "turns")
    }

    /// The spans of the text that the model writes. A turn whose spans are not known has none here; see `unknown_turns`.
    #[getter]
    fn assistant_spans(&self, py: Python<'_>) -> PyResult<Pairs> {
        Ok(pairs(&self.spans(py)?))
    }

    /// The turns of the model: the index of the message, and its spans, or `None` if they are not known.
    #[getter]
    fn assistant_turns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.property(py, "assistant_turns")
    }

    /// The turns whose spans are not known: the index of the message, or `None` for the whole text, and the reason.
    #[getter]
    fn unknown_turns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.property(py, "unknown_turns")
    }

    /// The spans of the `{% generation %}` blocks as transformers counts them, for the mask of `return_assistant_tokens_mask`.
    #[getter]
    fn reference_spans<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.property(py, "reference_spans")
    }

    /// The control tokens that the input wrote, if the policy is "split": dicts with `start`, `end`, `origin`, `path` and `message`.
    #[getter]
    fn control_tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.property(py, "control_tokens")
    }

    /// The parts of the text, each with whether a tokenizer may read control tokens in it.
    #[getter]
    fn pieces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.property(py, "pieces")
    }

    /// The code points of the text that `add_generation_prompt` appended: start and end. `None` if they are not known.
    #[getter]
    fn generation_prompt<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.property(py, "generation_prompt")
    }

    /// The number of steps that the render took.
    #[getter]
    fn steps<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.property(py, "steps")
    }

    /// Returns 1 for each token that the model writes and 0 for the others. `offsets` are the spans of the tokens in code points. With
    /// `reference`, the mask is that of `return_assistant_tokens_mask`, which needs `{% generation %}` blocks.
    #[pyo3(signature = (offsets, *, reference=false))]
    fn assistant_mask(&self, py: Python<'_>, offsets: &Bound<'_, PyAny>, reference: bool) -> PyResult<Vec<u32>> {
        let spans = if reference {
            ranges(self.property(py, "reference_spans")?.extract()?)
        } else {
            self.spans(py)?
        };
        Ok(mark(&spans, &extract_items(offsets, "offsets")?))
    }

    /// Returns the id of each token that the model writes, and -100 for the others. `encoding` is what a tokenizer returns: an object with
    /// `ids` and `offsets`, or a mapping with `input_ids` and `offset_mapping`.
    fn labels(&self, encoding: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
        let (ids, offsets) = match (encoding.getattr_opt("ids")?, encoding.getattr_opt("offsets")?) {
            (Some(ids), Some(offsets)) => (ids, offsets),
            _ => match (encoding.get_item("input_ids"), encoding.get_item("offset_mapping")) {
                (Ok(ids), Ok(offsets)) => (ids, offsets),
                _ => {
                    let message = "the encoding has neither `ids` and `offsets` nor `input_ids` and `offset_mapping`";
                    return Err(PyTypeError::new_err(message));
                }
            },
        };
        let mask = mark(&self.spans(encoding.py())?, &extract_items(&offsets, "offsets")?);
        let ids: Vec<i64> = extract_items(&ids, "ids")?;
        Ok(ids
            .into_iter()
            .zip(mask)
            .map(|(id, is_marked)| if is_marked == 1 { id } else { NO_LABEL })
            .collect())
    }

    /// Shows the text in a notebook: what the model writes on green, what the template writes in grey, and the place of each part as its
    /// tooltip.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let chars: Vec<char> = self.text().chars().collect();
        let spans = self.spans(py)?;
        let mut html = "<pre style=\"white-space: pre-wrap\">".to_owned();
        let segments: Vec<Bound<'_, PyDict>> = self.segments(py)?.extract()?;
        for segment in segments.iter().take(MAX_SHOWN) {
            let get = |key| segment.get_item(key).map(|value| value.map(|value| value.to_string()));
            let origin = get("from")?.unwrap_or_default();
            let place = get("path")?.or(get("line")?.map(|line| format!("line {line} of the template")));
            let number = |key| segment.as_any().get_item(key).and_then(|value| value.extract::<usize>());
            let (mut at, end) = (number("start")?, number("end")?);
            while at < end {
                let inside = spans.iter().find(|span| span.contains(&at));
                let next = || spans.iter().map(|span| span.start).filter(|start| *start > at).min();
                let until = inside.map(|span| span.end).or_else(next).map_or(end, |until| until.min(end));
                let back = if inside.is_some() {
                    "background: rgba(0, 160, 0, .2); "
                } else {
                    ""
                };
                let front = if origin == "input" { "" } else { "color: #888" };
                let title = escape(place.as_deref().unwrap_or(&origin).chars());
                let text = escape(chars.get(at..until).unwrap_or_default().iter().copied());
                html.push_str(&format!("<span title=\"{title}\" style=\"{back}{front}\">{text}</span>"));
                at = until;
            }
        }
        html.push_str(if segments.len() > MAX_SHOWN { "…</pre>" } else { "</pre>" });
        Ok(html)
    }
}

impl PyPrompt {
    /// Returns one of the properties.
    fn property<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        match &self.origin {
            Origin::Render(prompt) => make_property(py, prompt, name),
            Origin::Pickle(_, properties) => properties.bind(py).as_any().get_item(name),
        }
    }

    /// Returns the sorted spans of the text that the model writes.
    fn spans(&self, py: Python<'_>) -> PyResult<Vec<Range<usize>>> {
        match &self.origin {
            Origin::Render(prompt) => Ok(spans_of(prompt)),
            Origin::Pickle(..) => {
                let turns: Vec<(Option<usize>, Option<Pairs>)> = self.assistant_turns(py)?.extract()?;
                let mut spans = ranges(turns.into_iter().filter_map(|(_, spans)| spans).flatten().collect());
                spans.sort_by_key(|span| span.start);
                Ok(spans)
            }
        }
    }
}

/// Makes a property of a prompt.
fn make_property<'py>(py: Python<'py>, prompt: &Prompt, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let turns = prompt.assistant_turns();
    match name {
        "segments" => write_serialized(py, prompt.segments()),
        "turns" => write_turns(py, prompt).map(Bound::into_any),
        "assistant_turns" => {
            let turns = turns.map(|(message, spans)| (message, spans.ok().map(|spans| pairs(&spans.code_points))));
            Ok(PyList::new(py, turns.collect::<Vec<_>>())?.into_any())
        }
        "unknown_turns" => {
            let unknown = turns.filter_map(|(message, spans)| Some((message, spans.err()?)));
            Ok(PyList::new(py, unknown.collect::<Vec<_>>())?.into_any())
        }
        "reference_spans" => Ok(PyList::new(py, pairs(&prompt.reference_spans.code_points))?.into_any()),
        "control_tokens" => write_control_tokens(py, prompt).map(Bound::into_any),
        "pieces" => {
            let pieces = prompt
                .pieces()
                .into_iter()
                .map(|piece| (piece.text, piece.has_control_tokens));
            Ok(PyList::new(py, pieces.collect::<Vec<_>>())?.into_any())
        }
        "generation_prompt" => {
            let place = prompt.generation_prompt_code_points().map(|[start, end]| (start, end));
            Ok(place.into_pyobject(py)?.into_any())
        }
        "steps" => Ok(prompt.steps.into_pyobject(py)?.into_any()),
        other => Err(PyAttributeError::new_err(other.to_owned())),
    }
}

fn write_turns<'py>(py: Python<'py>, prompt: &Prompt) -> PyResult<Bound<'py, PyList>> {
    let turns = PyList::empty(py);
    for turn in prompt.turns() {
        let dict = PyDict::new(py);
        dict.set_item("message", turn.message)?;
        dict.set_item("header", pairs(&turn.header.code_points))?;
        dict.set_item("body", pairs(&turn.body.code_points))?;
        dict.set_item("close", pairs(&turn.close.code_points))?;
        let fields = turn
            .fields
            .iter()
            .map(|field| (field.name.as_str(), pairs(&field.spans.code_points)));
        dict.set_item("fields", fields.collect::<Vec<_>>())?;
        turns.append(dict)?;
    }
    Ok(turns)
}

fn write_control_tokens<'py>(py: Python<'py>, prompt: &Prompt) -> PyResult<Bound<'py, PyList>> {
    let tokens = PyList::empty(py);
    for token in &prompt.untrusted {
        let dict = PyDict::new(py);
        dict.set_item("start", token.code_points.start)?;
        dict.set_item("end", token.code_points.end)?;
        dict.set_item("origin", token.origin.name())?;
        dict.set_item("path", token.path.as_deref())?;
        dict.set_item("message", token.message)?;
        tokens.append(dict)?;
    }
    Ok(tokens)
}

/// Returns the sorted spans of the text that the model writes.
fn spans_of(prompt: &Prompt) -> Vec<Range<usize>> {
    let spans = prompt.assistant_turns().filter_map(|(_, spans)| spans.ok());
    let mut spans: Vec<_> = spans.flat_map(|spans| spans.code_points.iter().cloned()).collect();
    spans.sort_by_key(|span| span.start);
    spans
}

/// Returns the mask of tokens by the `{% generation %}` blocks, or by what the model writes.
pub fn mark_tokens(prompt: &Prompt, offsets: &[(usize, usize)], by_blocks: bool) -> Vec<u32> {
    if by_blocks {
        mark(&prompt.reference_spans.code_points, offsets)
    } else {
        mark(&spans_of(prompt), offsets)
    }
}

fn mark(spans: &[Range<usize>], offsets: &[(usize, usize)]) -> Vec<u32> {
    assistant_mask(spans, offsets).into_iter().map(u32::from).collect()
}

fn ranges(pairs: Pairs) -> Vec<Range<usize>> {
    pairs.into_iter().map(|(start, end)| start..end).collect()
}

/// Writes text of HTML.
fn escape(text: impl Iterator<Item = char>) -> String {
    let mut escaped = String::new();
    for char in text {
        match char {
            '<' => escaped.push_str("&lt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            char => escaped.push(char),
        }
    }
    escaped
}
