//! Descriptions of templates in the form of a `tokenizer_config.json`, from which a template is made.

use chat_template::ChatTemplate;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::Value;

use crate::input::{Text, extract_items, list_items, read};
use crate::output::write_serialized;

/// Returns the configuration of a tokenizer of transformers, and its special tokens by their names.
pub fn describe_tokenizer<'py>(tokenizer: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)> {
    let py = tokenizer.py();
    let config = PyDict::new(py);
    let Some(source) = tokenizer.getattr_opt("chat_template")? else {
        let found = tokenizer.get_type().name()?;
        let message =
            format!("the tokenizer is of type {found}, and must be a tokenizer of transformers, which has a `chat_template`");
        return Err(PyTypeError::new_err(message));
    };
    let source = match source.cast::<PyDict>() {
        Ok(named) => {
            let list = PyList::empty(py);
            for (name, source) in named.iter().collect::<Vec<_>>() {
                let entry = PyDict::new(py);
                entry.set_item("name", name)?;
                entry.set_item("template", source)?;
                list.append(entry)?;
            }
            list.into_any()
        }
        Err(_) => source,
    };
    config.set_item("chat_template", source)?;
    if let Some(description) = tokenizer.getattr_opt("response_template")? {
        config.set_item("response_template", description)?;
    }
    let added = PyList::empty(py);
    if let Some(tokens) = tokenizer.getattr_opt("added_tokens_decoder")? {
        for token in list_items(&tokens.call_method0("values")?, "added_tokens_decoder")? {
            if token.getattr("special")?.is_truthy()? {
                added.append(token.getattr("content")?)?;
            }
        }
    }
    config.set_item("additional_special_tokens", added)?;
    let tokens = PyDict::new(py);
    let named = tokenizer.getattr("special_tokens_map")?.call_method0("items")?;
    let named: Vec<(Bound<'_, PyAny>, Bound<'_, PyAny>)> = extract_items(&named, "special_tokens_map")?;
    for (name, token) in named {
        if !token.is_instance_of::<PyList>() {
            tokens.set_item(name, token.str()?)?;
        }
    }
    Ok((config, tokens))
}

/// Returns the configuration of a template, without the special tokens that have names.
pub fn describe_template<'py>(py: Python<'py>, template: &ChatTemplate) -> PyResult<Bound<'py, PyDict>> {
    let config = PyDict::new(py);
    let named = template.names().into_iter().filter_map(|name| {
        let source = template.named_source(name)?;
        Some(serde_json::json!({"name": name, "template": source}))
    });
    let named: Vec<Value> = named.collect();
    if named.is_empty() {
        config.set_item("chat_template", template.source())?
    } else {
        config.set_item("chat_template", write_serialized(py, &named)?)?
    }
    config.set_item("additional_special_tokens", template.added_special_tokens())?;
    Ok(config)
}

/// Converts a value to one of JSON.
pub fn read_json(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Value> {
    let value = serde_json::to_value(read(value, name)?);
    value.map_err(|error| PyTypeError::new_err(format!("{name}: {error}")))
}

/// Reads a dict of strings.
pub fn read_tokens(tokens: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<(String, String)>> {
    let pairs = tokens.map(|tokens| tokens.iter().collect::<Vec<_>>()).unwrap_or_default();
    pairs
        .into_iter()
        .map(|(name, token)| Ok((name.extract::<Text>()?.0, token.str()?.extract::<Text>()?.0)))
        .collect()
}
