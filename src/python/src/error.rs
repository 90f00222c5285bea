//! The exceptions.
//!
//! ```text
//! Error of class Mismatch   ->   MismatchError(kind="type", message="…", line=2, path="/messages/0/content")
//! ```

use chat_template::{Error, ErrorClass, Result};
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

create_exception!(
    chat_template,
    TemplateError,
    PyValueError,
    "A chat template has no prompt for the arguments."
);
create_exception!(
    chat_template,
    RefusedError,
    TemplateError,
    "The template called `raise_exception`."
);
create_exception!(
    chat_template,
    RequestError,
    TemplateError,
    "An argument breaks the contract of `apply_chat_template`."
);
create_exception!(
    chat_template,
    MismatchError,
    TemplateError,
    "A value does not fit this template."
);
create_exception!(
    chat_template,
    AnswerError,
    TemplateError,
    "The text of a model does not have the form that its description says."
);
create_exception!(
    chat_template,
    LimitError,
    TemplateError,
    "A limit was reached, or the call was cancelled."
);
create_exception!(
    chat_template,
    TemplateFaultError,
    TemplateError,
    "The template does not compile or fails on a value of its own, or the folder cannot be read."
);

/// What an exception says.
pub struct Parts<'e> {
    pub class: ErrorClass,
    /// The text of `str(error)`.
    pub text: String,
    pub kind: &'e str,
    pub message: &'e str,
    pub line: Option<u32>,
    /// The JSON pointer of the value at fault.
    pub path: Option<&'e str>,
}

/// Returns the exception for an error of the library.
pub fn to_exception(py: Python<'_>, error: &Error) -> PyErr {
    make(
        py,
        Parts {
            class: error.class(),
            text: error.to_string(),
            kind: error.kind().name(),
            message: error.message(),
            line: error.line(),
            path: error.input_path(),
        },
    )
}

/// Makes an exception of the class, with its fields.
pub fn make(py: Python<'_>, parts: Parts<'_>) -> PyErr {
    let Parts {
        class,
        text,
        kind,
        message,
        line,
        path,
    } = parts;
    let error = match class {
        ErrorClass::Refused => RefusedError::new_err(text),
        ErrorClass::Request => RequestError::new_err(text),
        ErrorClass::Mismatch => MismatchError::new_err(text),
        ErrorClass::Answer => AnswerError::new_err(text),
        ErrorClass::Limit => LimitError::new_err(text),
        ErrorClass::Template => TemplateFaultError::new_err(text),
        _ => TemplateError::new_err(text),
    };
    let value = error.value(py);
    let fields = [
        value.setattr("kind", kind),
        value.setattr("message", message),
        value.setattr("line", line),
        value.setattr("path", path),
    ];
    match fields.into_iter().find_map(PyResult::err) {
        Some(failure) => failure,
        None => error,
    }
}

/// Returns the exception for arguments that the library refuses.
pub fn refuse(py: Python<'_>, kind: &str, message: &str, path: Option<&str>) -> PyErr {
    let class = if kind == "limit" {
        ErrorClass::Limit
    } else {
        ErrorClass::Request
    };
    make(
        py,
        Parts {
            class,
            text: format!("{kind} error: {message}"),
            kind,
            message,
            line: None,
            path,
        },
    )
}

/// Runs work of the library. A panic, which would be a bug of the library, becomes an error of the class `Internal`.
pub fn guard<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(Error::internal("the library has panicked")))
}

/// Runs work of the library without the GIL.
pub fn run<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    py.detach(|| guard(work)).map_err(|error| to_exception(py, &error))
}
