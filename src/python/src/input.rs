//! Converts Python objects to the values of the library, as transformers does.
//!
//! ```text
//! [{"role": "user", "content": ("a", 1 << 70)}]   ->   List[Object{role: "user", content: Tuple["a", BigInt]}]
//! ```
//!
//! The rule is transformers 5.24.0 `utils/chat_template_utils.py`, `_message_objects_to_dicts` and `_plain_template_data`. Unlike there,
//! an object of another type is an error and not the text `<type>`.

use std::borrow::Cow;

use chat_template::json::{self, Data, Object};
use pyo3::exceptions::{PyException, PyTypeError, PyUnicodeEncodeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple, PyType};

use crate::error::{TemplateError, refuse};

/// The number of bytes that the values of one argument may take. A list can contain another one many times, so small objects can have a
/// large conversion.
const MAX_BYTES: usize = 256 << 20;

/// The number of bytes that a value takes besides its text.
const VALUE_BYTES: usize = 64;

/// A key or an index on the way to a value.
enum Step {
    Key(String),
    Index(usize),
}

/// A value that cannot be converted. The steps lead to it, the last one first.
struct Fault {
    steps: Vec<Step>,
    reason: Reason,
}

enum Reason {
    /// The type of the value.
    Type(String),
    /// The type of a key.
    Key(String),
    /// The index of a lone surrogate, and the string with escapes.
    Surrogate(usize),
    Deep,
    Circular,
    Large,
    /// An exception of the value's own code.
    Raised(PyErr),
}

impl From<PyErr> for Fault {
    fn from(error: PyErr) -> Self {
        Reason::Raised(error).into()
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
    fn at(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Returns the exception, which names the place of the value in an argument.
    fn raise(self, py: Python<'_>, argument: &str) -> PyErr {
        let mut place = argument.to_owned();
        let mut pointer = format!("/{argument}");
        for step in self.steps.iter().rev().take(64) {
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

/// An argument that is a string.
pub struct Text(pub String);

impl<'py> FromPyObject<'_, 'py> for Text {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let text = value.cast::<PyString>()?;
        let mut reader = Reader::default();
        let read = reader.text(&text).map_err(|fault| fault.raise(value.py(), "text"))?;
        Ok(Self(read.into_owned()))
    }
}

/// Converts an argument. `name` is its name in errors.
pub fn read(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Data<'static>> {
    Reader::default().read(value).map_err(|fault| fault.raise(value.py(), name))
}

/// Converts a conversation: a list of messages, an object with such a list under `messages`, or another iterable. Its items stay as they
/// are if they are not messages, because the library refuses them with the words of transformers.
pub fn read_conversation(value: &Bound<'_, PyAny>) -> PyResult<Data<'static>> {
    if value.is_exact_instance_of::<PyList>() {
        return read(value, "messages");
    }
    within(value.py(), "messages", || read_iterable(value))
}

fn read_iterable(value: &Bound<'_, PyAny>) -> PyResult<Data<'static>> {
    let messages = messages_of(value)?;
    let is_plain = messages.is_instance_of::<PyString>()
        || messages.is_instance_of::<PyList>()
        || messages.is_instance_of::<PyTuple>()
        || messages.cast::<PyMapping>().is_ok();
    match messages.try_iter() {
        Ok(items) if !is_plain => read(
            PyList::new(value.py(), items.collect::<PyResult<Vec<_>>>()?)?.as_any(),
            "messages",
        ),
        _ => read(&messages, "messages"),
    }
}

/// Returns the messages of a conversation, which can be an object that has them under `messages`.
fn messages_of<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() || value.is_instance_of::<PyDict>() {
        return Ok(value.clone());
    }
    Ok(value
        .getattr_opt(intern!(value.py(), "messages"))?
        .unwrap_or_else(|| value.clone()))
}

/// Returns the conversations if the argument is a list of them, as `apply_chat_template` of transformers decides it.
pub fn split_batch<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
    within(value.py(), "messages", || split(value))
}

fn split<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
    let is_list = value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>();
    if !is_list || value.len()? == 0 {
        return Ok(None);
    }
    let first = value.get_item(0)?;
    if first.is_exact_instance_of::<PyDict>() {
        return Ok(None);
    }
    let is_conversation = first.is_instance_of::<PyList>() || first.is_instance_of::<PyTuple>() || first.hasattr("messages")?;
    if is_conversation {
        value.try_iter()?.collect::<PyResult<_>>().map(Some)
    } else {
        Ok(None)
    }
}

/// Converts the tools. A function becomes its schema, by `get_json_schema` of transformers. An item of another type becomes null, which
/// the library refuses.
pub fn read_tools(value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Data<'static>>> {
    read_objects(value, "tools", true)
}

/// Converts the documents. An item that is not a dict becomes null, which the library refuses.
pub fn read_documents(value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Data<'static>>> {
    read_objects(value, "documents", false)
}

fn read_objects(value: Option<&Bound<'_, PyAny>>, name: &str, takes_functions: bool) -> PyResult<Option<Data<'static>>> {
    let Some(value) = value.filter(|value| !value.is_none()) else {
        return Ok(None);
    };
    within(value.py(), name, || read_items(value, name, takes_functions))
}

fn read_items(value: &Bound<'_, PyAny>, name: &str, takes_functions: bool) -> PyResult<Option<Data<'static>>> {
    let py = value.py();
    let mut reader = Reader::default();
    if value.is_instance_of::<PyString>() || value.cast::<PyMapping>().is_ok() || value.try_iter().is_err() {
        return read(value, name).map(Some);
    }
    let mut items = Vec::new();
    for (index, item) in value.try_iter()?.enumerate() {
        let item = item?;
        let item = if item.is_instance_of::<PyDict>() {
            item
        } else if takes_functions && is_function(&item)? {
            py.import("transformers.utils")?.getattr("get_json_schema")?.call1((item,))?
        } else {
            items.push(Data::None);
            continue;
        };
        let read = reader
            .read(&item)
            .map_err(|fault| fault.at(Step::Index(index)).raise(py, name))?;
        items.push(read);
    }
    Ok(Some(Data::List(items)))
}

fn is_function(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let inspect = value.py().import("inspect")?;
    Ok(inspect.call_method1("isfunction", (value,))?.is_truthy()? || inspect.call_method1("ismethod", (value,))?.is_truthy()?)
}

#[derive(Default)]
struct Reader {
    /// The addresses of the containers around the value.
    containers: Vec<usize>,
    bytes: usize,
}

type Read = Result<Data<'static>, Fault>;

impl Reader {
    fn read(&mut self, value: &Bound<'_, PyAny>) -> Read {
        if let Ok(text) = value.cast_exact::<PyString>() {
            self.text(text).map(Data::Str)
        } else if let Ok(dict) = value.cast_exact::<PyDict>() {
            self.enter(value)?;
            self.charge(0)?;
            // The iterator panics if the code of a value changes the dict.
            let pairs: Vec<_> = dict.iter().collect();
            let mut entries = Vec::with_capacity(pairs.len());
            for (key, value) in pairs {
                self.entry(&mut entries, &key, &value)?;
            }
            self.containers.pop();
            Ok(Data::Object(Object::new(entries)))
        } else if let Ok(list) = value.cast_exact::<PyList>() {
            self.items(value, list.iter()).map(Data::List)
        } else if value.is_none() {
            self.charge(0)?;
            Ok(Data::None)
        } else if let Ok(bool) = value.cast_exact::<PyBool>() {
            self.charge(0)?;
            Ok(Data::Bool(bool.is_true()))
        } else if let Ok(int) = value.cast::<PyInt>() {
            self.charge(0)?;
            read_int(int)
        } else if let Ok(float) = value.cast::<PyFloat>() {
            self.charge(0)?;
            Ok(Data::Float(float.value()))
        } else if let Ok(tuple) = value.cast_exact::<PyTuple>() {
            self.items(value, tuple.iter()).map(Data::Tuple)
        } else {
            self.other(value)
        }
    }

    /// Reads a value of a subclass or of another type, in the order of transformers' `_plain_template_data`.
    #[cold]
    fn other(&mut self, value: &Bound<'_, PyAny>) -> Read {
        let py = value.py();
        if let Ok(text) = value.cast::<PyString>() {
            return self.text(text).map(Data::Str);
        }
        if let Ok(mapping) = value.cast::<PyMapping>() {
            let items = mapping.items()?;
            return self.object(value, items.iter().map(|pair| pair.extract()));
        }
        if let Ok(list) = value.cast::<PyList>() {
            return self.collect(value, list.as_any()).map(Data::List);
        }
        if let Ok(tuple) = value.cast::<PyTuple>() {
            return self.collect(value, tuple.as_any()).map(Data::Tuple);
        }
        if is_numpy_scalar(value)? {
            let item = value.call_method0(intern!(py, "item"))?;
            return if item.get_type().is(value.get_type()) {
                Err(Reason::Type(type_name(value)).into())
            } else {
                self.nested(value, &item)
            };
        }
        let is_type = value.is_instance_of::<PyType>();
        if !is_type && value.get_type().hasattr(intern!(py, "__dataclass_fields__"))? {
            let fields = py.import("dataclasses")?.call_method1("fields", (value,))?;
            let names = fields.try_iter()?.map(|field| field?.getattr(intern!(py, "name")));
            let pairs = names.map(|name| {
                let name = name?;
                let value = value.getattr(name.cast::<PyString>()?)?;
                Ok((name, value))
            });
            return self.object(value, pairs);
        }
        match value.getattr_opt(intern!(py, "model_dump"))? {
            Some(dump) if dump.is_callable() && !is_type => self.nested(value, &dump.call0()?),
            _ => Err(Reason::Type(type_name(value)).into()),
        }
    }

    /// Reads what stands for a value.
    fn nested(&mut self, value: &Bound<'_, PyAny>, other: &Bound<'_, PyAny>) -> Read {
        self.enter(value)?;
        let read = self.read(other)?;
        self.containers.pop();
        Ok(read)
    }

    fn object<'py>(
        &mut self,
        value: &Bound<'py, PyAny>,
        pairs: impl Iterator<Item = PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)>>,
    ) -> Read {
        self.enter(value)?;
        let mut entries = Vec::new();
        for pair in pairs {
            let (key, value) = pair?;
            self.entry(&mut entries, &key, &value)?;
        }
        self.containers.pop();
        Ok(Data::Object(Object::new(entries)))
    }

    fn entry(
        &mut self,
        entries: &mut Vec<(Cow<'static, str>, Data<'static>)>,
        key: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
    ) -> Result<(), Fault> {
        let Ok(name) = key.cast::<PyString>() else {
            return Err(Reason::Key(type_name(key)).into());
        };
        let name = self.text(name)?;
        match self.read(value) {
            Ok(value) => entries.push((name, value)),
            Err(fault) => return Err(fault.at(Step::Key(name.into_owned()))),
        }
        Ok(())
    }

    fn collect<'py>(&mut self, value: &Bound<'py, PyAny>, items: &Bound<'py, PyAny>) -> Result<Vec<Data<'static>>, Fault> {
        let items: Vec<_> = items.try_iter()?.collect::<PyResult<_>>()?;
        self.items(value, items.into_iter())
    }

    fn items<'py>(
        &mut self,
        value: &Bound<'py, PyAny>,
        items: impl Iterator<Item = Bound<'py, PyAny>>,
    ) -> Result<Vec<Data<'static>>, Fault> {
        self.enter(value)?;
        self.charge(0)?;
        let mut read = Vec::with_capacity(items.size_hint().0.min(1024));
        for (index, item) in items.enumerate() {
            read.push(self.read(&item).map_err(|fault| fault.at(Step::Index(index)))?);
        }
        self.containers.pop();
        Ok(read)
    }

    fn text(&mut self, text: &Bound<'_, PyString>) -> Result<Cow<'static, str>, Fault> {
        match text.to_str() {
            Ok(text) => {
                self.charge(text.len())?;
                Ok(word(text).map_or_else(|| Cow::Owned(text.to_owned()), Cow::Borrowed))
            }
            Err(error) if error.is_instance_of::<PyUnicodeEncodeError>(text.py()) => {
                let index = error.value(text.py()).getattr("start")?.extract()?;
                Err(Reason::Surrogate(index).into())
            }
            Err(error) => Err(error.into()),
        }
    }

    fn enter(&mut self, container: &Bound<'_, PyAny>) -> Result<(), Fault> {
        let address = container.as_ptr() as usize;
        if self.containers.contains(&address) {
            return Err(Reason::Circular.into());
        }
        if self.containers.len() >= Data::MAX_DEPTH {
            return Err(Reason::Deep.into());
        }
        self.containers.push(address);
        Ok(())
    }

    fn charge(&mut self, bytes: usize) -> Result<(), Fault> {
        self.bytes = self.bytes.saturating_add(bytes).saturating_add(VALUE_BYTES);
        if self.bytes > MAX_BYTES {
            Err(Reason::Large.into())
        } else {
            Ok(())
        }
    }
}

/// Reads an integer of any size.
fn read_int(int: &Bound<'_, PyInt>) -> Read {
    if let Ok(int) = int.extract() {
        return Ok(Data::Int(int));
    }
    // A subclass can print itself in another way.
    let digits = int.py().get_type::<PyInt>().getattr("__repr__")?.call1((int,))?;
    let digits: String = digits.extract()?;
    json::read(&digits)
        .map(Data::into_owned)
        .map_err(|error| PyTypeError::new_err(error.to_string()).into())
}

fn is_numpy_scalar(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = value.py();
    let modules = py.import("sys")?.getattr("modules")?;
    match modules.cast_into::<PyDict>()?.get_item("numpy")? {
        Some(numpy) => match numpy.getattr_opt("generic")? {
            Some(generic) => value.is_instance(&generic),
            None => Ok(false),
        },
        None => Ok(false),
    }
}

fn type_name(value: &Bound<'_, PyAny>) -> String {
    value
        .get_type()
        .name()
        .map_or_else(|_| "object".to_owned(), |name| name.to_string())
}

/// Returns a string that most conversations have, so that it is not copied.
fn word(text: &str) -> Option<&'static str> {
    macro_rules! find {
        ($($word:literal)*) => { match text { $($word => Some($word),)* _ => None } };
    }
    find!("role" "content" "type" "text" "user" "assistant" "system" "tool" "function" "name" "arguments" "parameters" "properties"
        "description" "required" "object" "string" "tool_calls" "tool_call_id" "id" "reasoning_content")
}
