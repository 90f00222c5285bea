//! Converts the arguments of calls.
//!
//! ```text
//! [{"role": "user", "content": "Hi"}]   ->   List[Object{role: "user", content: "Hi"}]
//! [a_function]                          ->   List[Object{type: "function", …}], its schema
//! ```

use chat_template::json::Data;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMapping, PyString, PyTuple};

use crate::fault::{Fault, within};
use crate::reader::Reader;

/// An argument that is a string.
pub struct Text(pub String);

impl<'py> FromPyObject<'_, 'py> for Text {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let text = value.cast::<PyString>()?;
        let read = Reader::default().text(&text).map_err(Fault::from);
        read.map(Self).map_err(|fault| fault.raise(value.py(), "text"))
    }
}

/// Converts an argument. `name` is its name in errors.
pub fn read(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Data<'static>> {
    Reader::default().read(value).map_err(|fault| fault.raise(value.py(), name))
}

/// Returns the items of an argument that is iterable.
pub fn list_items<'py>(value: &Bound<'py, PyAny>, name: &str) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let items = Reader::default().items(value).map_err(Fault::from);
    items.map_err(|fault| fault.raise(value.py(), name))
}

/// Converts the items of an argument that is iterable.
pub fn extract_items<'py, T: FromPyObjectOwned<'py>>(value: &Bound<'py, PyAny>, name: &str) -> PyResult<Vec<T>> {
    let items = list_items(value, name)?;
    items.iter().map(|item| item.extract().map_err(Into::into)).collect()
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
    if is_plain || messages.try_iter().is_err() {
        return read(&messages, "messages");
    }
    let items = list_items(&messages, "messages")?;
    read(PyList::new(value.py(), items)?.as_any(), "messages")
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
        list_items(value, "messages").map(Some)
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
    within(value.py(), name, || read_objects_of(value, name, takes_functions))
}

fn read_objects_of(value: &Bound<'_, PyAny>, name: &str, takes_functions: bool) -> PyResult<Option<Data<'static>>> {
    let py = value.py();
    if value.is_instance_of::<PyString>() || value.cast::<PyMapping>().is_ok() || value.try_iter().is_err() {
        return read(value, name).map(Some);
    }
    let mut reader = Reader::default();
    let items = reader.items(value).map_err(|reason| Fault::from(reason).raise(py, name))?;
    let mut objects = Vec::with_capacity(items.len());
    for (index, item) in items.into_iter().enumerate() {
        let object = if item.is_instance_of::<PyDict>() {
            item
        } else if takes_functions && is_function(&item)? {
            py.import("transformers.utils")?.getattr("get_json_schema")?.call1((item,))?
        } else {
            objects.push(Data::None);
            continue;
        };
        let read = reader.read(&object).map_err(|fault| fault.at(index).raise(py, name))?;
        objects.push(read);
    }
    Ok(Some(Data::List(objects)))
}

fn is_function(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let inspect = value.py().import("inspect")?;
    Ok(inspect.call_method1("isfunction", (value,))?.is_truthy()? || inspect.call_method1("ismethod", (value,))?.is_truthy()?)
}
