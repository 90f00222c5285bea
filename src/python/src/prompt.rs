//! The prompt of a conversation, with its spans in code points.

use std::collections::BTreeSet;
use std::ops::Range;

use chat_template::{Prompt, assistant_mask};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::input::extract_items;
use crate::output::{pairs, write_serialized};
use crate::reader::MAX_ITEMS;

/// The label of a token that is not trained, which PyTorch ignores.
const NO_LABEL: i64 = -100;

/// Spans in code points.
type Pairs = Vec<(usize, usize)>;

/// The prompt of a conversation. All spans are `(start, end)` in code points of `text`.
#[pyclass(frozen, name = "Prompt", module = "chat_template")]
pub struct PyPrompt {
    pub prompt: Prompt,
}

#[pymethods]
impl PyPrompt {
    /// The text, which is to be tokenized without adding special tokens.
    #[getter]
    fn text(&self) -> &str {
        &self.prompt.text
    }

    fn __str__(&self) -> &str {
        &self.prompt.text
    }

    fn __repr__(&self) -> String {
        format!("<Prompt of {} characters>", self.prompt.text.chars().count())
    }

    /// Where the characters came from, in their order: dicts with `start`, `end`, `from`, and, where it applies, `path`, `at`, `line`,
    /// `name` and `message`.
    #[getter]
    fn segments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        write_serialized(py, self.prompt.segments())
    }

    /// The parts of the text that each message owns: dicts with `message`, `header`, `body`, `close` and `fields`.
    #[getter]
    fn turns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let turns = PyList::empty(py);
        for turn in self.prompt.turns() {
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

    /// The spans of the text that the model writes. A turn whose spans are not known has none here; see `unknown_turns`.
    #[getter]
    fn assistant_spans(&self) -> Pairs {
        pairs(&self.spans(|_| true))
    }

    /// The turns of the model: the index of the message, and its spans, or `None` if they are not known.
    #[getter]
    fn assistant_turns(&self) -> Vec<(Option<usize>, Option<Pairs>)> {
        let turns = self.prompt.assistant_turns();
        turns
            .map(|(message, spans)| (message, spans.ok().map(|spans| pairs(&spans.code_points))))
            .collect()
    }

    /// The turns whose spans are not known: the index of the message, or `None` for the whole text, and the reason.
    #[getter]
    fn unknown_turns(&self) -> Vec<(Option<usize>, &str)> {
        self.prompt
            .assistant_turns()
            .filter_map(|(message, spans)| Some((message, spans.err()?)))
            .collect()
    }

    /// The spans of the `{% generation %}` blocks as transformers counts them, for the mask of `return_assistant_tokens_mask`.
    #[getter]
    fn reference_spans(&self) -> Pairs {
        pairs(&self.prompt.reference_spans.code_points)
    }

    /// The control tokens that the input wrote, if the policy is "split": dicts with `start`, `end`, `origin`, `path` and `message`.
    #[getter]
    fn control_tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let tokens = PyList::empty(py);
        for token in &self.prompt.untrusted {
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

    /// The parts of the text, each with whether a tokenizer may read control tokens in it.
    #[getter]
    fn pieces(&self) -> Vec<(&str, bool)> {
        self.prompt
            .pieces()
            .into_iter()
            .map(|piece| (piece.text, piece.has_control_tokens))
            .collect()
    }

    /// The code points of the text that `add_generation_prompt` appended: start and end. `None` if they are not known.
    #[getter]
    fn generation_prompt(&self) -> Option<(usize, usize)> {
        self.prompt.generation_prompt_code_points().map(|[start, end]| (start, end))
    }

    /// The number of steps that the render took.
    #[getter]
    fn steps(&self) -> u64 {
        self.prompt.steps
    }

    /// Returns 1 for each token that overlaps text of the model, and 0 for the others. `offsets` are pairs in code points.
    #[pyo3(signature = (offsets, *, reference=false))]
    fn assistant_mask(&self, offsets: &Bound<'_, PyAny>, reference: bool) -> PyResult<Vec<u32>> {
        let offsets: Pairs = extract_items(offsets, "offsets")?;
        let mask = if reference {
            assistant_mask(&self.prompt.reference_spans.code_points, &offsets)
        } else {
            assistant_mask(&self.spans(|_| true), &offsets)
        };
        Ok(mask.into_iter().map(u32::from).collect())
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
        let mask = assistant_mask(&self.spans(|_| true), &extract_items(&offsets, "offsets")?);
        let ids: Vec<i64> = extract_items(&ids, "ids")?;
        Ok(ids
            .into_iter()
            .zip(mask)
            .map(|(id, is_marked)| if is_marked == 1 { id } else { NO_LABEL })
            .collect())
    }

    /// Returns the spans of the text that the model writes in the messages from an index.
    fn _spans_from(&self, first: usize) -> Pairs {
        pairs(&self.spans(|message| message.is_none_or(|message| message >= first)))
    }

    /// Returns the places at which turns end, in their order.
    fn _turn_ends(&self) -> Vec<usize> {
        let mut ends: Vec<(usize, usize)> = Vec::new();
        for segment in self.prompt.segments() {
            if let Some(message) = segment.message() {
                let end = segment.code_points().end;
                match ends.last_mut() {
                    Some((last, place)) if *last == message => *place = end,
                    _ => ends.push((message, end)),
                }
            }
        }
        ends.into_iter().map(|(_, end)| end).collect()
    }

    /// Returns the indices of the first messages that own no text, and of which no string is in the text.
    fn _missing(&self, count: usize) -> Vec<usize> {
        let mut found = BTreeSet::new();
        for segment in self.prompt.segments() {
            found.extend(segment.message());
            for path in segment.paths() {
                let index: Option<usize> = path
                    .strip_prefix("/messages/")
                    .and_then(|rest| rest.split('/').next()?.parse().ok());
                found.extend(index);
            }
        }
        (0..count.min(MAX_ITEMS)).filter(|index| !found.contains(index)).collect()
    }
}

impl PyPrompt {
    /// Returns the sorted spans of the turns of chosen messages.
    fn spans(&self, is_chosen: impl Fn(Option<usize>) -> bool) -> Vec<Range<usize>> {
        let turns = self.prompt.assistant_turns().filter(|(message, _)| is_chosen(*message));
        let mut spans: Vec<_> = turns
            .filter_map(|(_, spans)| spans.ok())
            .flat_map(|spans| spans.code_points.iter().cloned())
            .collect();
        spans.sort_by_key(|span| span.start);
        spans
    }
}
