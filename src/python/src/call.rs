//! The arguments of a call, and its render.

use std::sync::atomic::AtomicBool;

use chat_template::json::{Data, Object};
use chat_template::{ApplyOptions, ChatTemplate, ContinueFinalMessage, ControlTokens};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

use crate::fault::within;
use crate::input::{Text, read, read_documents, read_tools};
use crate::options::Options;

/// The arguments of `apply_chat_template` in transformers 5.24.0 that are passed to the tokenizer. They have no effect if only the text is
/// requested.
const TOKENIZER: [&str; 7] = [
    "padding",
    "truncation",
    "max_length",
    "return_tensors",
    "return_dict",
    "return_assistant_tokens_mask",
    "tokenizer_kwargs",
];

/// The arguments of `apply_chat_template` besides the conversation.
#[derive(Default)]
pub struct Arguments {
    tools: Option<Data<'static>>,
    documents: Option<Data<'static>>,
    chat_template: Option<String>,
    add_generation_prompt: bool,
    continue_field: Option<String>,
    variables: Option<Data<'static>>,
    /// Those that are for the tokenizer, by their names.
    pub tokenizer: Vec<(String, Py<PyAny>)>,
}

impl Arguments {
    /// Returns whether the last message is to be continued.
    pub fn continues(&self) -> bool {
        self.continue_field.is_some()
    }
}

/// The arguments as Python passes them.
#[derive(Default)]
pub struct Given<'a, 'py> {
    pub tools: Option<&'a Bound<'py, PyAny>>,
    pub documents: Option<&'a Bound<'py, PyAny>>,
    pub chat_template: Option<Text>,
    pub add_generation_prompt: Option<&'a Bound<'py, PyAny>>,
    pub continue_final_message: Option<&'a Bound<'py, PyAny>>,
    pub variables: Option<&'a Bound<'py, PyDict>>,
}

impl<'a, 'py> Given<'a, 'py> {
    /// Takes the arguments. `ends` are `add_generation_prompt` and `continue_final_message`.
    pub fn new(
        tools: Option<&'a Bound<'py, PyAny>>,
        documents: Option<&'a Bound<'py, PyAny>>,
        chat_template: Option<Text>,
        ends: [Option<&'a Bound<'py, PyAny>>; 2],
        variables: Option<&'a Bound<'py, PyDict>>,
    ) -> Self {
        let [add_generation_prompt, continue_final_message] = ends;
        Self {
            tools,
            documents,
            chat_template,
            add_generation_prompt,
            continue_final_message,
            variables,
        }
    }

    /// Converts the arguments.
    pub fn read(self) -> PyResult<Arguments> {
        let (mut variables, mut tokenizer) = (Vec::new(), Vec::new());
        for (name, value) in self
            .variables
            .into_iter()
            .flat_map(|variables| variables.iter().collect::<Vec<_>>())
        {
            let name = name.extract::<Text>()?.0;
            let is_off = value.is(PyBool::new(value.py(), false));
            if TOKENIZER.contains(&name.as_str()) {
                tokenizer.push((name, value.unbind()));
                continue;
            }
            if name == "sanitize_control_tokens" && is_off {
                continue;
            }
            let value = read(&value, &name)?;
            variables.push((name.into(), value));
        }
        let mut add_generation_prompt = false;
        if let Some(flag) = self.add_generation_prompt {
            match flag.cast::<PyBool>() {
                Ok(flag) => add_generation_prompt = flag.is_true(),
                Err(_) => variables.push(("add_generation_prompt".into(), read(flag, "add_generation_prompt")?)),
            }
        }
        let continue_field = match self.continue_final_message {
            Some(field) => match field.cast::<PyString>() {
                Ok(field) => Some(field.extract::<Text>()?.0),
                Err(_) => within(field.py(), "continue_final_message", || field.is_truthy())?.then(|| "content".to_owned()),
            },
            None => None,
        };
        Ok(Arguments {
            tools: read_tools(self.tools)?,
            documents: read_documents(self.documents)?,
            chat_template: self.chat_template.map(|text| text.0),
            add_generation_prompt,
            continue_field,
            variables: (!variables.is_empty()).then(|| Data::Object(Object::new(variables))),
            tokenizer,
        })
    }
}

/// What a render makes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// The text alone.
    Text,
    /// The text with all its spans.
    Spans,
}

/// Passes the arguments with which the library renders, and returns what the function makes of them.
pub fn with_options<T>(
    template: &ChatTemplate,
    arguments: &Arguments,
    options: &Options,
    (wanted, cancel): (Wanted, Option<&AtomicBool>),
    call: impl FnOnce(&ApplyOptions<'_>) -> T,
) -> T {
    let roles = options.roles();
    let control_roles: Vec<&str> = options.control_roles.iter().map(String::as_str).collect();
    let bounds = options.allowed.bounds();
    let mut apply = ApplyOptions::default()
        .with_tools(&arguments.tools)
        .with_documents(&arguments.documents)
        .with_chat_template(arguments.chat_template.as_deref())
        .with_add_generation_prompt(arguments.add_generation_prompt)
        .with_continue_final_message(
            arguments
                .continue_field
                .as_deref()
                .map_or(ContinueFinalMessage::No, ContinueFinalMessage::Field),
        )
        .with_variables(&arguments.variables)
        .with_bounds(bounds.with_cancel(cancel.or(bounds.cancel)))
        .with_control_tokens(
            ControlTokens::default()
                .with_policy(options.control_policy)
                .with_roles(&control_roles),
        );
    if let Some(clock) = &options.clock {
        apply = apply.with_clock(clock);
    }
    if wanted == Wanted::Spans {
        apply = apply
            .with_trace(true)
            .with_assistant(options.assistant(&roles))
            .with_generation_prompt(true)
            .with_reference_spans(apply.continue_final_message.field().is_none() && template.has_generation());
    }
    call(&apply)
}
