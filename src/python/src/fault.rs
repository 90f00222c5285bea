//! The exceptions for arguments that cannot be converted, which name the place of the value.
//!
//! ```text
//! messages[3]["content"][0] is of type Image; a template takes dict, list, tuple, …
//! ```

use chat_template::json::Data;
use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::prelude::*;

use crate::error::{TemplateError, refuse};
use crate::reader::MAX_BYTES;

/// The number of steps that a place shows.
const MAX_STEPS: usize = 64;

/// A key or an index on the way to a value.
pub enum Step {
    Key(String),
    Index(usize),
}

/// A value that cannot be converted. The steps lead to it, the first one first.
pub struct Fault {
    pub steps: Vec<Step>,
    pub reason: Reason,
}

/// Why a value cannot be converted.
pub enum Reason {
    /// The type of the value.
    Type(String),
    /// The type of a key.
    Key(String),
    /// The index of a lone surrogate.
    Surrogate(usize),
    Deep,
    Circular,
    Large,
    /// An exception of the value's own code.
    Raised(PyErr),
}

impl From<PyErr> for Reason {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

impl From<Reason> for Fault {
    fn from(reason: Reason) -> Self {
        Self {
            steps: Vec::new(),
            reason,
        }
    }
}

impl Fault {
    /// Returns the fault of a value in an item of a list.
    pub fn at(mut self, index: usize) -> Self {
        self.steps.insert(0, Step::Index(index));
        self
    }

    /// Returns the exception, which names the place of the value in an argument.
    pub fn raise(self, py: Python<'_>, argument: &str) -> PyErr {
        let mut place = argument.to_owned();
        let mut pointer = format!("/{argument}");
        for step in self.steps.iter().take(MAX_STEPS) {
            match step {
                Step::Index(index) => {
                    place.push_str(&format!("[{index}]"));
                    pointer.push_str(&format!("/{index}"));
                }
                Step::Key(key) => {
                    place.push_str(&format!("[{key:?}]"));
                    pointer.push('/');
                    pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
                }
            }
        }
        let takes = "a template takes dict, list, tuple, str, int, float, bool, None, dataclasses and pydantic models";
        let refuse = |kind, message: String| refuse(py, kind, &message, Some(&pointer));
        match self.reason {
            Reason::Type(name) => PyTypeError::new_err(format!("{place} is of type {name}; {takes}")),
            Reason::Key(name) => PyTypeError::new_err(format!(
                "{place} has a key of type {name}, and the keys of a dict must be strings"
            )),
            Reason::Surrogate(index) => refuse(
                "value",
                format!("{place} has a lone surrogate at index {index}, which is not a character and cannot be encoded as UTF-8"),
            ),
            Reason::Deep => refuse(
                "limit",
                format!("{argument} has more than {} nested values, at {place}", Data::MAX_DEPTH),
            ),
            Reason::Circular => refuse("limit", format!("{place} contains itself")),
            Reason::Large => refuse("limit", format!("{argument} has values of more than {MAX_BYTES} bytes")),
            Reason::Raised(error) => wrap(py, &place, error),
        }
    }
}

/// Returns the exception for one that the code of a value has raised: a `TypeError` that names the place. `KeyboardInterrupt` and the like
/// stay as they are.
fn wrap(py: Python<'_>, place: &str, error: PyErr) -> PyErr {
    if !error.is_instance_of::<PyException>(py)
        || error.is_instance_of::<PyTypeError>(py)
        || error.is_instance_of::<TemplateError>(py)
    {
        return error;
    }
    let wrapped = PyTypeError::new_err(format!("{place} cannot be read: {error}"));
    wrapped.set_cause(py, Some(error));
    wrapped
}

/// Runs code that can call that of an argument.
pub fn within<T>(py: Python<'_>, argument: &str, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    work().map_err(|error| wrap(py, argument, error))
}
