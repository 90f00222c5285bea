//! Renders the rows of a data set, each with what a trainer needs besides its prompts: which text is trained, where turns end, and what is
//! wrong with the row.
//!
//! ```text
//! {"prompt": "Hi", "completion": "Ho"}   ->   ("<user>Hi<end><assistant>Ho<end>", [(24, 31)], [13, 31], None, [], [])
//! ```

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use chat_template::internal::Keeps;
use chat_template::json::Data;
use chat_template::{ApplyOptions, ChatTemplate, Error, ErrorClass, Prompt};
use chat_template_rows::{Cause, Conversation, Failure, Format, Known, Loss, Reader, Row, Source, find_losses};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::batch;
use crate::call::{Arguments, Wanted, with_options};
use crate::error::{Parts, guard, make, to_exception};
use crate::input::{list_items, read};
use crate::options::Options;
use crate::output::pairs;

/// Renders rows with a template.
struct Renderer<'a> {
    template: &'a ChatTemplate,
    options: &'a Options,
    reader: Reader,
    known: Known,
}

/// A prompt of a row.
struct Answer {
    text: String,
    /// The text that is trained, in code points.
    trained: Vec<(usize, usize)>,
    /// The places in code points at which a turn ends and no other is unfinished.
    ends: Vec<usize>,
    /// The place in code points at which the answer of a pair begins: the end of the prompt with the beginning of an answer, as far as the
    /// text has it.
    start: Option<usize>,
    /// The parts of the text, each with whether a tokenizer may read control tokens in it, if there are several.
    pieces: Vec<(String, bool)>,
    /// What is wrong, and whether the row cannot be trained because of it.
    verdicts: Vec<(bool, String)>,
}

/// Why a row has no prompts.
enum Fault {
    Row(Failure),
    Render(Error),
}

impl<T: Into<Failure>> From<T> for Fault {
    fn from(failure: T) -> Self {
        Self::Row(failure.into())
    }
}

impl Fault {
    /// Returns the exception.
    fn raise(&self, py: Python<'_>) -> PyErr {
        match self {
            Self::Row(failure) => make(
                py,
                Parts {
                    class: ErrorClass::Request,
                    text: failure.to_string(),
                    kind: &failure.kind,
                    message: &failure.message,
                    line: None,
                    path: Some(&failure.pointer),
                },
            ),
            Self::Render(error) => to_exception(py, error),
        }
    }
}

/// Returns how rows are read: in the format of a name, or in that of the first row.
fn make_reader(name: Option<&str>, first: Option<&Data<'_>>, (removes_null, reads_arguments): (bool, bool)) -> PyResult<Reader> {
    let found = match first {
        Some(Data::Object(row)) => Format::find(row, None),
        _ => None,
    };
    let (format, key) = match name {
        Some(name) => (name.parse().map_err(PyValueError::new_err)?, None),
        None => found.unwrap_or_default(),
    };
    Ok(Reader {
        format,
        messages_key: key.map(str::to_owned),
        removes_null,
        reads_arguments,
    })
}

/// Renders rows, which are dicts. Returns for each a list of tuples, one for each prompt, or an exception.
pub fn render_rows<'py>(
    template: &ChatTemplate,
    rows: &Bound<'py, PyAny>,
    options: &Options,
    format: Option<&str>,
    how: (bool, bool),
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let py = rows.py();
    let rows = list_items(rows, "rows")?;
    let rows: Vec<PyResult<Data<'_>>> = rows.iter().map(|row| read(row, "row")).collect();
    let first = rows.iter().find_map(|row| row.as_ref().ok());
    let reader = make_reader(format, first, how)?;
    let (mut read, mut results) = (Vec::new(), Vec::new());
    for (index, row) in rows.into_iter().enumerate() {
        match row {
            Ok(row) => read.push((index, row)),
            Err(error) => results.push((index, Err(error))),
        }
    }
    let renderer = Renderer::new(template, options, reader);
    let rendered = batch::map(py, &read, options.flag(), |(_, row), cancel| {
        guard(|| Ok(renderer.render(row, cancel))).unwrap_or_else(|error| Err(Fault::Render(error)))
    })?;
    for ((index, _), result) in read.iter().zip(rendered) {
        let result = result.unwrap_or_else(|| Err(Fault::Render(batch::cancelled())));
        results.push((*index, result.map_err(|fault| fault.raise(py))));
    }
    results.sort_by_key(|(index, _)| *index);
    let write = |(_, result): (usize, PyResult<Vec<Answer>>)| match result {
        Ok(answers) => {
            let answers: Vec<_> = answers.into_iter().map(|answer| answer.write(py)).collect::<PyResult<_>>()?;
            Ok(PyList::new(py, answers)?.into_any())
        }
        Err(error) => Ok(error.into_value(py).into_bound(py).into_any()),
    };
    results.into_iter().map(write).collect()
}

impl<'a> Renderer<'a> {
    fn new(template: &'a ChatTemplate, options: &'a Options, reader: Reader) -> Self {
        let known = Known::new(template);
        Self {
            template,
            options,
            reader,
            known,
        }
    }

    /// Renders the conversations of a row.
    fn render(&self, row: &Data<'_>, cancel: &AtomicBool) -> Result<Vec<Answer>, Fault> {
        let Data::Object(row) = row else {
            return Err(Failure::new("row", format!("the row must be a dict, and this is {}", row.describe())).into());
        };
        let deadline = self.options.allowed.deadline();
        let _running = deadline.start();
        let row = self.reader.read(row, &deadline)?;
        let nothing = Arguments::default();
        with_options(
            self.template,
            &nothing,
            self.options,
            (Wanted::Spans, Some(cancel)),
            |options| {
                row.conversations
                    .iter()
                    .map(|conversation| self.answer(&row, conversation, options))
                    .collect()
            },
        )
    }

    /// Renders a conversation of a row.
    fn answer<'r>(&self, row: &Row<'r>, conversation: &Conversation<'r>, options: &ApplyOptions<'_>) -> Result<Answer, Fault> {
        conversation.check(self.template.source().unwrap_or_default())?;
        let (tools, documents, variables) = (row.tools.as_deref(), row.documents.as_deref(), row.variables.as_deref());
        let variables_of_row = match variables {
            Some(Data::Object(variables)) => Some(variables),
            _ => None,
        };
        let is_given = variables_of_row.is_some_and(|variables| variables.get("add_generation_prompt").is_some());
        let options = options
            .with_tools(&tools)
            .with_documents(&documents)
            .with_variables(&variables)
            .with_reference_spans(false)
            .with_add_generation_prompt(conversation.is_open && !is_given);
        let render = |messages: &Data<'_>| self.template.apply_keeping(messages, &options, Keeps::Sources);
        let prompt = render(&conversation.messages).map_err(Fault::Render)?;
        let source = Source {
            known: &self.known,
            conversation,
            tools,
            documents,
            variables: variables_of_row,
            kept: &row.kept,
            is_masked: true,
            render: &|messages| render(messages).ok().map(|prompt| prompt.text),
        };
        let losses = find_losses(&source, &prompt).unwrap_or_default();
        let prompt_of_pair = || {
            let asked = conversation.list().get(..conversation.first).unwrap_or_default();
            let options = options
                .with_add_generation_prompt(true)
                .with_assistant(None)
                .with_trace(false);
            let asked = Data::List(asked.to_vec());
            self.template.apply(&asked, &options).ok().map(|prompt| prompt.text)
        };
        let asked = if conversation.name == "text" { None } else { prompt_of_pair() };
        let is_same = |(one, other): &(char, char)| one == other;
        let start = asked.map(|asked| asked.chars().zip(prompt.text.chars()).take_while(is_same).count());
        Ok(Answer::new(conversation, prompt, start, &losses))
    }
}

impl Answer {
    fn new(conversation: &Conversation<'_>, mut prompt: Prompt, start: Option<usize>, losses: &[Loss]) -> Self {
        prompt.keep_assistant_from(conversation.first);
        let turns = prompt.assistant_turns().filter_map(|(_, spans)| spans.ok());
        let mut trained: Vec<_> = turns.flat_map(|spans| pairs(&spans.code_points)).collect();
        trained.sort_unstable();
        let pieces = if prompt.untrusted.is_empty() {
            Vec::new()
        } else {
            let pieces = prompt.pieces();
            pieces
                .iter()
                .map(|piece| (piece.text.to_owned(), piece.has_control_tokens))
                .collect()
        };
        let is_error = |loss: &Loss| trained.is_empty() && matches!(loss.cause, Cause::Untrained | Cause::Mask);
        let verdicts = losses.iter().map(|loss| (is_error(loss), loss.to_string())).collect();
        Self {
            trained,
            ends: find_ends(&prompt),
            start,
            pieces,
            verdicts,
            text: prompt.text,
        }
    }

    /// Returns the answer as a tuple of Python.
    fn write(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        let Self {
            text,
            trained,
            ends,
            start,
            pieces,
            verdicts,
        } = self;
        Ok((text, trained, ends, start, pieces, verdicts).into_pyobject(py)?.into_any())
    }
}

/// Returns the places at which a turn ends and no other is unfinished.
fn find_ends(prompt: &Prompt) -> Vec<usize> {
    let mut extents: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for segment in prompt.segments() {
        if let Some(message) = segment.message() {
            let place = segment.code_points();
            let extent = extents.entry(message).or_insert((place.start, place.end));
            *extent = (extent.0.min(place.start), extent.1.max(place.end));
        }
    }
    let mut extents: Vec<_> = extents.into_values().collect();
    extents.sort_unstable();
    let (mut ends, mut reached) = (Vec::new(), 0);
    for (start, end) in extents {
        if start >= reached && reached > 0 {
            ends.push(reached);
        }
        reached = reached.max(end);
    }
    ends.push(reached);
    ends
}
