//! Converts a Python object to a value of the library, as transformers does.
//!
//! ```text
//! {"role": "user", "content": ("a", 1 << 70)}   ->   Object{role: "user", content: Tuple["a", BigInt]}
//! ```
//!
//! The rule is transformers 5.24.0 `utils/chat_template_utils.py`, `_message_objects_to_dicts` and `_plain_template_data`. Unlike there,
//! an object of another type is an error and not the text `<type>`.
//!
//! Each string of the value is copied. The address of a string says where it came from, so no two strings may share one, though Python
//! has one object for all that are equal. Nested values are read by a loop, because a thread of Python can have a small stack. What an
//! object says of its length is never trusted.

use std::borrow::Cow;
use std::vec::IntoIter;

use chat_template::json::{self, Data, Object};
use pyo3::exceptions::{PyTypeError, PyUnicodeEncodeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple, PyType};

use crate::fault::{Fault, Reason, Step};

/// The number of bytes that the values of one argument may take. A list can contain another one many times, so small objects can have a
/// large conversion.
pub const MAX_BYTES: usize = 256 << 20;

/// The number of bytes that a value takes besides its text.
const VALUE_BYTES: usize = 64;

/// Reads the values of one argument.
#[derive(Default)]
pub struct Reader {
    bytes: usize,
}

type Pair<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

type Entry = (Cow<'static, str>, Data<'static>);

/// An object that was read: a value, or a container whose parts are still to be read.
enum Found<'py> {
    Value(Data<'static>),
    Container(Parts<'py>),
}

/// The parts of a container that are still to be read, and those that have been.
enum Parts<'py> {
    List(IntoIter<Bound<'py, PyAny>>, Vec<Data<'static>>),
    Tuple(IntoIter<Bound<'py, PyAny>>, Vec<Data<'static>>),
    /// The key is that of the value that is read now.
    Dict(IntoIter<Pair<'py>>, Vec<Entry>, Option<Cow<'static, str>>),
    /// The value that is read in place of the object, such as the dict of a pydantic model.
    Other(Option<Bound<'py, PyAny>>, Data<'static>),
}

/// A container whose parts are being read.
struct Open<'py> {
    container: Bound<'py, PyAny>,
    parts: Parts<'py>,
}

impl<'py> Open<'py> {
    /// Takes the next part. The key of an entry is read with it.
    fn next(&mut self, reader: &mut Reader) -> Result<Option<Bound<'py, PyAny>>, Reason> {
        Ok(match &mut self.parts {
            Parts::List(items, _) | Parts::Tuple(items, _) => items.next(),
            Parts::Other(other, _) => other.take(),
            Parts::Dict(pairs, _, key) => match pairs.next() {
                Some((name, value)) => {
                    let name = name.cast::<PyString>().map_err(|_| Reason::Key(type_name(&name)))?;
                    *key = Some(Cow::Owned(reader.text(name)?));
                    Some(value)
                }
                None => None,
            },
        })
    }

    /// Adds the value of the part that was taken last.
    fn add(&mut self, value: Data<'static>) {
        match &mut self.parts {
            Parts::List(_, read) | Parts::Tuple(_, read) => read.push(value),
            Parts::Dict(_, read, key) => {
                if let Some(key) = key.take() {
                    read.push((key, value));
                }
            }
            Parts::Other(_, read) => *read = value,
        }
    }

    fn finish(self) -> Data<'static> {
        match self.parts {
            Parts::List(_, read) => Data::List(read),
            Parts::Tuple(_, read) => Data::Tuple(read),
            Parts::Dict(_, read, _) => Data::Object(Object::new(read)),
            Parts::Other(_, read) => read,
        }
    }

    /// Returns the step to the part that is being read.
    fn step(self) -> Option<Step> {
        match self.parts {
            Parts::List(_, read) | Parts::Tuple(_, read) => Some(Step::Index(read.len())),
            Parts::Dict(_, _, key) => key.map(|key| Step::Key(key.into_owned())),
            Parts::Other(..) => None,
        }
    }
}

impl Reader {
    /// Converts an object.
    pub fn read(&mut self, value: &Bound<'_, PyAny>) -> Result<Data<'static>, Fault> {
        let mut outer = Vec::new();
        self.read_within(value.clone(), &mut outer).map_err(|reason| Fault {
            steps: outer.into_iter().filter_map(Open::step).collect(),
            reason,
        })
    }

    /// Converts an object. `outer` is empty, and has the containers around the value at fault after an error.
    fn read_within<'py>(&mut self, mut value: Bound<'py, PyAny>, outer: &mut Vec<Open<'py>>) -> Result<Data<'static>, Reason> {
        loop {
            let mut done = match self.find(&value)? {
                Found::Value(data) => Some(data),
                Found::Container(parts) => {
                    self.charge(0)?;
                    if outer.iter().any(|open| open.container.is(&value)) {
                        return Err(Reason::Circular);
                    }
                    if outer.len() >= Data::MAX_DEPTH {
                        return Err(Reason::Deep);
                    }
                    outer.push(Open { container: value, parts });
                    None
                }
            };
            value = loop {
                let Some(open) = outer.last_mut() else {
                    return Ok(done.unwrap_or_default());
                };
                if let Some(data) = done.take() {
                    open.add(data);
                }
                match open.next(self)? {
                    Some(part) => break part,
                    None => done = outer.pop().map(Open::finish),
                }
            };
        }
    }

    /// Returns the items of an iterable, each charged before it is taken. An iterable can be endless.
    pub fn items<'py>(&mut self, value: &Bound<'py, PyAny>) -> Result<Vec<Bound<'py, PyAny>>, Reason> {
        let mut items = Vec::new();
        for item in value.try_iter()? {
            self.charge(0)?;
            items.push(item?);
        }
        Ok(items)
    }

    /// Returns what an object is, without reading its parts.
    fn find<'py>(&mut self, value: &Bound<'py, PyAny>) -> Result<Found<'py>, Reason> {
        if let Ok(text) = value.cast_exact::<PyString>() {
            return Ok(Found::Value(Data::Str(Cow::Owned(self.text(text)?))));
        }
        if let Ok(dict) = value.cast_exact::<PyDict>() {
            self.charge_items(dict.len())?;
            return Ok(Found::dict(dict.iter().collect()));
        }
        if let Ok(list) = value.cast_exact::<PyList>() {
            self.charge_items(list.len())?;
            return Ok(Found::list(list.iter().collect()));
        }
        if let Ok(tuple) = value.cast_exact::<PyTuple>() {
            self.charge_items(tuple.len())?;
            return Ok(Found::tuple(tuple.iter().collect()));
        }
        self.charge(0)?;
        if value.is_none() {
            Ok(Found::Value(Data::None))
        } else if let Ok(bool) = value.cast_exact::<PyBool>() {
            Ok(Found::Value(Data::Bool(bool.is_true())))
        } else if let Ok(int) = value.cast::<PyInt>() {
            Ok(Found::Value(read_int(int)?))
        } else if let Ok(float) = value.cast::<PyFloat>() {
            Ok(Found::Value(Data::Float(float.value())))
        } else {
            self.find_other(value)
        }
    }

    /// Returns what a value of a subclass or of another type is, in the order of transformers' `_plain_template_data`.
    #[cold]
    fn find_other<'py>(&mut self, value: &Bound<'py, PyAny>) -> Result<Found<'py>, Reason> {
        let py = value.py();
        if let Ok(text) = value.cast::<PyString>() {
            return Ok(Found::Value(Data::Str(Cow::Owned(self.text(text)?))));
        }
        if value.cast::<PyMapping>().is_ok() {
            let pairs = self.items(&value.call_method0(intern!(py, "items"))?)?;
            let pairs = pairs.iter().map(|pair| pair.extract());
            return Ok(Found::dict(pairs.collect::<PyResult<_>>()?));
        }
        if value.is_instance_of::<PyList>() {
            return Ok(Found::list(self.items(value)?));
        }
        if value.is_instance_of::<PyTuple>() {
            return Ok(Found::tuple(self.items(value)?));
        }
        if is_numpy_scalar(value)? {
            let item = value.call_method0(intern!(py, "item"))?;
            return if item.get_type().is(value.get_type()) {
                Err(Reason::Type(type_name(value)))
            } else {
                Ok(Found::other(item))
            };
        }
        let is_type = value.is_instance_of::<PyType>();
        if !is_type && value.get_type().hasattr(intern!(py, "__dataclass_fields__"))? {
            let fields = py.import("dataclasses")?.call_method1("fields", (value,))?;
            let fields = self.items(&fields)?;
            let pairs = fields.iter().map(|field| {
                let name = field.getattr(intern!(py, "name"))?;
                let value = value.getattr(name.cast::<PyString>()?)?;
                Ok((name, value))
            });
            return Ok(Found::dict(pairs.collect::<PyResult<_>>()?));
        }
        match value.getattr_opt(intern!(py, "model_dump"))? {
            Some(dump) if dump.is_callable() && !is_type => Ok(Found::other(dump.call0()?)),
            _ => Err(Reason::Type(type_name(value))),
        }
    }

    /// Returns a copy of a string.
    pub fn text(&mut self, text: &Bound<'_, PyString>) -> Result<String, Reason> {
        match text.to_str() {
            Ok(text) => {
                self.charge(text.len())?;
                Ok(text.to_owned())
            }
            Err(error) if error.is_instance_of::<PyUnicodeEncodeError>(text.py()) => {
                let index = error.value(text.py()).getattr("start")?.extract()?;
                Err(Reason::Surrogate(index))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Charges the references to the items of a container.
    fn charge_items(&mut self, items: usize) -> Result<(), Reason> {
        self.charge(items.saturating_mul(size_of::<Pair<'_>>()))
    }

    fn charge(&mut self, bytes: usize) -> Result<(), Reason> {
        self.bytes = self.bytes.saturating_add(bytes).saturating_add(VALUE_BYTES);
        if self.bytes > MAX_BYTES { Err(Reason::Large) } else { Ok(()) }
    }
}

impl<'py> Found<'py> {
    fn list(items: Vec<Bound<'py, PyAny>>) -> Self {
        let read = Vec::with_capacity(items.len());
        Self::Container(Parts::List(items.into_iter(), read))
    }

    fn tuple(items: Vec<Bound<'py, PyAny>>) -> Self {
        let read = Vec::with_capacity(items.len());
        Self::Container(Parts::Tuple(items.into_iter(), read))
    }

    fn dict(pairs: Vec<Pair<'py>>) -> Self {
        let read = Vec::with_capacity(pairs.len());
        Self::Container(Parts::Dict(pairs.into_iter(), read, None))
    }

    fn other(value: Bound<'py, PyAny>) -> Self {
        Self::Container(Parts::Other(Some(value), Data::None))
    }
}

/// Reads an integer of any size.
fn read_int(int: &Bound<'_, PyInt>) -> PyResult<Data<'static>> {
    if let Ok(int) = int.extract() {
        return Ok(Data::Int(int));
    }
    // A subclass can print itself in another way.
    let digits = int.py().get_type::<PyInt>().getattr("__repr__")?.call1((int,))?;
    let digits: String = digits.extract()?;
    json::read(&digits)
        .map(Data::into_owned)
        .map_err(|error| PyTypeError::new_err(error.to_string()))
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
