//! The options of a render besides the arguments of `apply_chat_template`.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chat_template::{AssistantOptions, Bounds, ControlPolicy, Deadline, Limits, LocalTime};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};
use serde::Serialize;
use serde_json::Value;

use crate::input::{Text, extract_items, read};
use crate::output::write_serialized;

/// The names of the policies for control tokens.
const POLICIES: [(&str, ControlPolicy); 3] = [
    ("leave", ControlPolicy::Leave),
    ("refuse", ControlPolicy::Refuse),
    ("split", ControlPolicy::Split),
];

/// A flag that ends calls. It can be set from any thread.
#[pyclass(frozen, module = "chat_template")]
#[derive(Default)]
pub struct CancelFlag {
    pub flag: Arc<AtomicBool>,
}

#[pymethods]
impl CancelFlag {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Ends the calls that have this flag, each with a `LimitError`.
    fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Whether the flag is set.
    #[getter]
    fn is_cancelled(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }
}

/// What a call may use.
#[derive(Clone, Default)]
pub struct Allowed {
    limits: Limits,
    pub cancel: Option<Arc<AtomicBool>>,
}

impl Allowed {
    /// Reads a dict of limits, and takes a flag. `None` is no limit.
    pub fn read(limits: Option<&Bound<'_, PyAny>>, cancel: Option<&Bound<'_, CancelFlag>>) -> PyResult<Self> {
        let limits = match limits.filter(|limits| !limits.is_none()) {
            Some(limits) => {
                let value = serde_json::to_value(read(limits, "limits")?);
                let limits = value.map(without_none).and_then(serde_json::from_value);
                limits.map_err(|error| PyValueError::new_err(format!("limits: {error}")))?
            }
            None => Limits::default(),
        };
        let cancel = cancel.map(|cancel| Arc::clone(&cancel.get().flag));
        Ok(Self { limits, cancel })
    }

    /// Returns the time limit of a call.
    pub fn deadline(&self) -> Deadline {
        Deadline::from(&self.limits)
    }

    /// Returns the bounds of a call.
    pub fn bounds(&self) -> Bounds<'_> {
        Bounds::from(&self.limits).with_cancel(self.cancel.as_deref())
    }
}

/// Replaces each limit that is null by the largest one, or by the default if it protects the stack of the thread.
fn without_none(mut limits: Value) -> Value {
    let Some(limits) = limits.as_object_mut().map(std::mem::take) else {
        return limits;
    };
    let limits = limits.into_iter().filter_map(|(name, limit)| match (&*name, limit) {
        ("calls" | "height" | "stack", Value::Null) => None,
        ("milliseconds", limit) => Some((name, limit)),
        (_, Value::Null) => Some((name, usize::MAX.into())),
        (_, limit) => Some((name, limit)),
    });
    Value::Object(limits.collect())
}

/// What a render returns besides the text, and what it may use.
///
/// `roles`, `reasoning`, `last_turn_only`, `end_token`, `content_only`, `trailing_space` and `next_marker` say which text counts as written
/// by the model. `control_tokens` says what happens if the input writes a control token: "leave", "refuse" or "split". `limits` is a dict
/// such as `{"steps": 1000}`, `cancel` a flag that ends the call, which is not pickled, and `now` the `datetime` that `strftime_now` reads.
#[pyclass(frozen, module = "chat_template")]
#[derive(Clone, Serialize)]
pub struct Options {
    roles: Vec<String>,
    reasoning: bool,
    last_turn_only: bool,
    end_token: bool,
    content_only: bool,
    trailing_space: bool,
    next_marker: bool,
    #[serde(skip)]
    pub control_policy: ControlPolicy,
    pub control_roles: Vec<String>,
    #[serde(skip)]
    pub allowed: Allowed,
    #[serde(skip)]
    pub clock: Option<LocalTime>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            roles: vec!["assistant".to_owned()],
            reasoning: true,
            last_turn_only: false,
            end_token: true,
            content_only: false,
            trailing_space: false,
            next_marker: false,
            control_policy: ControlPolicy::Leave,
            control_roles: Vec::new(),
            allowed: Allowed::default(),
            clock: None,
        }
    }
}

#[pymethods]
impl Options {
    #[new]
    #[pyo3(signature = (*, roles=None, reasoning=true, last_turn_only=false, end_token=true, content_only=false, trailing_space=false,
        next_marker=false, control_tokens="leave", control_roles=None, limits=None, cancel=None, now=None))]
    #[expect(
        clippy::too_many_arguments,
        clippy::fn_params_excessive_bools,
        reason = "they are keywords in Python"
    )]
    fn new(
        roles: Option<&Bound<'_, PyAny>>,
        reasoning: bool,
        last_turn_only: bool,
        end_token: bool,
        content_only: bool,
        trailing_space: bool,
        next_marker: bool,
        control_tokens: &str,
        control_roles: Option<&Bound<'_, PyAny>>,
        limits: Option<&Bound<'_, PyAny>>,
        cancel: Option<&Bound<'_, CancelFlag>>,
        now: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let default = Self::default();
        Ok(Self {
            roles: roles.map_or(Ok(default.roles), read_roles)?,
            reasoning,
            last_turn_only,
            end_token,
            content_only,
            trailing_space,
            next_marker,
            control_policy: choose("control_tokens", control_tokens, &POLICIES)?,
            control_roles: control_roles.map_or(Ok(default.control_roles), read_roles)?,
            allowed: Allowed::read(limits, cancel)?,
            clock: now.map(read_clock).transpose()?,
        })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let keywords = write_serialized(py, self)?.cast_into::<PyDict>()?;
        let policy = POLICIES.iter().find(|(_, policy)| *policy == self.control_policy);
        keywords.set_item("control_tokens", policy.map(|(name, _)| name))?;
        keywords.set_item("limits", write_serialized(py, &self.allowed.limits)?)?;
        if let Some(time) = &self.clock {
            let (day, clock) = (
                (time.year(), time.month(), time.day()),
                (time.hour(), time.minute(), time.second(), time.microsecond()),
            );
            let parts = (day.0, day.1, day.2, clock.0, clock.1, clock.2, clock.3);
            keywords.set_item("now", py.import("datetime")?.getattr("datetime")?.call1(parts)?)?;
        }
        reduce(PyType::new::<Self>(py).into_any(), &keywords, PyTuple::empty(py))
    }
}

/// Returns the value that an option names.
pub fn choose<T: Copy>(option: &str, name: &str, choices: &[(&str, T)]) -> PyResult<T> {
    let found = choices.iter().find(|(other, _)| *other == name);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<String> = choices.iter().map(|(name, _)| format!("{name:?}")).collect();
        PyValueError::new_err(format!("{option} is {name:?}, and must be {}", names.join(" or ")))
    })
}

/// Returns what pickles an object: the call that makes it.
pub fn reduce<'py>(
    function: Bound<'py, PyAny>,
    keywords: &Bound<'py, PyDict>,
    arguments: Bound<'py, PyTuple>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
    let partial = function.py().import("functools")?.getattr("partial")?;
    Ok((partial.call((function,), Some(keywords))?, arguments))
}

impl Options {
    /// Returns the flag that ends the call.
    pub fn flag(&self) -> Option<&AtomicBool> {
        self.allowed.cancel.as_deref()
    }

    /// Returns the roles whose text the model writes.
    pub fn roles(&self) -> Vec<&str> {
        self.roles.iter().map(String::as_str).collect()
    }

    /// Returns which text counts as written by the model.
    pub fn assistant<'o>(&self, roles: &'o [&'o str]) -> AssistantOptions<'o> {
        AssistantOptions::default()
            .with_roles(roles)
            .with_end_of_turn(self.end_token)
            .with_reasoning(self.reasoning)
            .with_last_turn_only(self.last_turn_only)
            .with_content_only(self.content_only)
            .with_trailing_space(self.trailing_space)
            .with_next_marker(self.next_marker)
    }
}

fn read_roles(roles: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    match roles.cast::<PyString>() {
        Ok(role) => Ok(vec![role.extract::<Text>()?.0]),
        Err(_) => Ok(extract_items(roles, "roles")?.into_iter().map(|Text(role)| role).collect()),
    }
}

fn read_clock(now: &Bound<'_, PyAny>) -> PyResult<LocalTime> {
    let fail = |error: String| PyTypeError::new_err(format!("now must be a naive datetime: {error}"));
    let text = now.call_method0("isoformat").and_then(|text| text.extract::<String>());
    text.map_err(|error| fail(error.to_string()))?.parse().map_err(fail)
}

/// Returns the options of a call, or the default.
pub fn own_options<'o>(options: Option<&'o Bound<'_, Options>>) -> Cow<'o, Options> {
    match options {
        Some(options) => Cow::Borrowed(options.get()),
        None => Cow::Owned(Options::default()),
    }
}
