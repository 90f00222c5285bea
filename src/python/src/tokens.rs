//! The tokens of prompts, as `apply_chat_template` of transformers makes them: by the tokenizer itself.
//!
//! ```text
//! "<|user|>Hi"   ->   {"input_ids": [7, 1], "attention_mask": [1, 1]}
//! ```

use chat_template::Prompt;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::error::refuse;
use crate::fault::within;
use crate::input::extract_items;
use crate::prompt::mark_tokens;

/// The arguments of a call that are for the tokenizer.
pub struct Encoding<'py> {
    given: Bound<'py, PyDict>,
}

impl<'py> Encoding<'py> {
    /// Takes the arguments by their names.
    pub fn new(py: Python<'py>, arguments: Vec<(String, Py<PyAny>)>) -> PyResult<Self> {
        let given = PyDict::new(py);
        for (name, value) in arguments {
            given.set_item(name, value)?;
        }
        Ok(Self { given })
    }

    /// Returns whether a mask is wanted.
    ///
    /// # Errors
    /// If the call cannot return one.
    pub fn wants_mask(&self, tokenize: bool) -> PyResult<bool> {
        let wanted = self.flag("return_assistant_tokens_mask", false)?;
        if wanted && !(tokenize && self.flag("return_dict", true)?) {
            let message = "`return_assistant_tokens_mask=True` requires `return_dict=True` and `tokenize=True`";
            return Err(refuse(self.given.py(), "value", message, None));
        }
        Ok(wanted)
    }

    /// Returns what the tokenizer makes of the prompts of a call, of which there is one unless it is a batch. The mask is that of the
    /// `{% generation %}` blocks, or of what the model writes.
    pub fn encode(
        &self,
        tokenizer: &Bound<'py, PyAny>,
        prompts: &[Prompt],
        (is_batch, by_blocks): (bool, bool),
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = tokenizer.py();
        let keywords = PyDict::new(py);
        keywords.set_item("padding", false)?;
        keywords.set_item("truncation", false)?;
        keywords.set_item("add_special_tokens", false)?;
        for name in ["padding", "truncation", "max_length", "return_tensors"] {
            if let Some(value) = self.given.get_item(name)? {
                keywords.set_item(name, value)?;
            }
        }
        if let Some(more) = self.find("tokenizer_kwargs")? {
            keywords.update(more.cast()?)?;
        }
        let mut texts = prompts.iter().map(|prompt| PyString::new(py, &prompt.text));
        let texts = match texts.next().filter(|_| !is_batch) {
            Some(text) => text.into_any(),
            None => PyList::new(py, prompts.iter().map(|prompt| &*prompt.text))?.into_any(),
        };
        let encoded = tokenizer.call((texts,), Some(&keywords))?;
        if !self.flag("return_dict", true)? {
            return encoded.get_item("input_ids");
        }
        if self.wants_mask(true)? {
            let tensors = self.find("return_tensors")?;
            let encodings = encoded.getattr("encodings")?;
            let mask = |(index, prompt): (usize, &Prompt)| {
                let offsets = encodings.get_item(index)?.getattr(intern!(py, "offsets"))?;
                Ok(mark_tokens(prompt, &extract_items(&offsets, "offsets")?, by_blocks))
            };
            let masks: Vec<Vec<u32>> = prompts.iter().enumerate().map(mask).collect::<PyResult<_>>()?;
            match masks.first().filter(|_| !is_batch && tensors.is_none()) {
                Some(mask) => encoded.set_item("assistant_masks", mask)?,
                None => encoded.set_item("assistant_masks", masks)?,
            }
            if let Some(tensors) = tensors {
                encoded.call_method1("convert_to_tensors", (tensors,))?;
            }
        }
        Ok(encoded)
    }

    fn find(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.given.get_item(name)?.filter(|value| !value.is_none()))
    }

    fn flag(&self, name: &str, default: bool) -> PyResult<bool> {
        let flag = self.given.get_item(name)?;
        flag.map_or(Ok(default), |flag| within(flag.py(), name, || flag.is_truthy()))
    }
}
