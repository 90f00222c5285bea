//! Converts values of the library to Python objects.

use std::ops::Range;

use chat_template::json::{self, Data};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde::Serialize;

/// Converts a value.
pub fn write<'py>(py: Python<'py>, data: &Data<'_>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match data {
        Data::None => py.None().into_bound(py),
        Data::Bool(bool) => bool.into_pyobject(py)?.to_owned().into_any(),
        Data::Int(int) => int.into_pyobject(py)?.into_any(),
        Data::BigInt(int) => py.get_type::<PyInt>().call1((int.to_string(),))?,
        Data::Float(float) => PyFloat::new(py, *float).into_any(),
        Data::Str(text) => PyString::new(py, text).into_any(),
        Data::List(items) => PyList::new(py, write_all(py, items)?)?.into_any(),
        Data::Tuple(items) => PyTuple::new(py, write_all(py, items)?)?.into_any(),
        Data::Object(object) => {
            let dict = PyDict::new(py);
            for (key, value) in object.entries() {
                dict.set_item(&**key, write(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

fn write_all<'py>(py: Python<'py>, items: &[Data<'_>]) -> PyResult<Vec<Bound<'py, PyAny>>> {
    items.iter().map(|item| write(py, item)).collect()
}

/// Converts a value that has a form in JSON.
pub fn write_serialized<'py, T: Serialize + ?Sized>(py: Python<'py>, value: &T) -> PyResult<Bound<'py, PyAny>> {
    let data = json::to_data(value).map_err(|error| PyValueError::new_err(error.to_string()))?;
    write(py, &data)
}

/// Converts ranges to pairs.
pub fn pairs(ranges: &[Range<usize>]) -> Vec<(usize, usize)> {
    ranges.iter().map(|range| (range.start, range.end)).collect()
}
