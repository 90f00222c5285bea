//! The class `ChatTemplate`.

use std::path::PathBuf;

use chat_template::json::Data;
use chat_template::response::{ParseOptions, ResponseTemplate};
use chat_template::{ChatTemplate, LoadOptions};
use pyo3::exceptions::PyTypeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple, PyType};

use crate::call::{Given, Wanted, with_options};
use crate::error::{guard, refuse, run, to_exception};
use crate::input::{Text, list_items, read, read_conversation, split_batch};
use crate::load::{describe_template, describe_tokenizer, read_json, read_tokens};
use crate::options::{Allowed, CancelFlag, Options, own_options};
use crate::output::{write, write_serialized};
use crate::prepared::{PyPrepared, Settings, prepare, take_piece};
use crate::prompt::PyPrompt;
use crate::rows::render_rows;
use crate::tokens::Encoding;

/// The compiled chat templates of a model with its special tokens. It can be used from any thread, pickled and copied.
#[pyclass(frozen, name = "ChatTemplate", module = "chat_template")]
pub struct PyChatTemplate {
    template: ChatTemplate,
    /// The folder and its options, if the template has a description of answers, which only the folder has.
    folder: Option<(PathBuf, bool, bool, bool)>,
    /// The tokenizer that the template was made from.
    tokenizer: Option<Py<PyAny>>,
}

#[pymethods]
impl PyChatTemplate {
    /// Loads a model's folder, or its folder in the cache of the hub. It never uses the network.
    #[staticmethod]
    #[pyo3(signature = (folder, *, processor=false, ignore_remote_code=false, follow_links=false, limits=None, cancel=None))]
    fn from_pretrained(
        py: Python<'_>,
        folder: PathBuf,
        processor: bool,
        ignore_remote_code: bool,
        follow_links: bool,
        limits: Option<&Bound<'_, PyAny>>,
        cancel: Option<&Bound<'_, CancelFlag>>,
    ) -> PyResult<Self> {
        let allowed = Allowed::read(limits, cancel)?;
        let template = run(py, || {
            let options = LoadOptions::default()
                .with_processor(processor)
                .with_ignore_remote_code(ignore_remote_code)
                .with_follow_links(follow_links)
                .with_bounds(allowed.bounds());
            ChatTemplate::from_dir(&folder, &options)
        })?;
        let has_response = !matches!(template.response_template(), Ok(None));
        let folder = has_response.then(|| {
            (
                std::path::absolute(&folder).unwrap_or(folder),
                processor,
                ignore_remote_code,
                follow_links,
            )
        });
        Ok(Self {
            template,
            folder,
            tokenizer: None,
        })
    }

    /// Makes a template from its source and its special tokens, such as `bos_token="<s>"`.
    #[staticmethod]
    #[pyo3(signature = (source, *, limits=None, cancel=None, **special_tokens))]
    fn from_source(
        py: Python<'_>,
        source: Text,
        limits: Option<&Bound<'_, PyAny>>,
        cancel: Option<&Bound<'_, CancelFlag>>,
        special_tokens: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let (allowed, tokens) = (Allowed::read(limits, cancel)?, read_tokens(special_tokens)?);
        let template = run(py, || ChatTemplate::from_source_with(source.0, &[], allowed.bounds()))?;
        Ok(template.with_special_tokens(tokens).into())
    }

    /// Makes a template from several named templates, such as `default` and `tool_use`, and special tokens.
    #[staticmethod]
    #[pyo3(signature = (templates, *, limits=None, cancel=None, **special_tokens))]
    fn from_named(
        py: Python<'_>,
        templates: &Bound<'_, PyDict>,
        limits: Option<&Bound<'_, PyAny>>,
        cancel: Option<&Bound<'_, CancelFlag>>,
        special_tokens: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let allowed = Allowed::read(limits, cancel)?;
        let (templates, tokens) = (read_tokens(Some(templates))?, read_tokens(special_tokens)?);
        let template = run(py, || {
            let templates: Vec<_> = templates
                .iter()
                .map(|(name, source)| (name.as_str(), source.as_str()))
                .collect();
            ChatTemplate::from_named_with(&templates, &[], allowed.bounds())
        })?;
        Ok(template.with_special_tokens(tokens).into())
    }

    /// Loads the templates and special tokens in the metadata of a GGUF file.
    #[staticmethod]
    #[pyo3(signature = (file, *, limits=None, cancel=None))]
    fn from_gguf(
        py: Python<'_>,
        file: PathBuf,
        limits: Option<&Bound<'_, PyAny>>,
        cancel: Option<&Bound<'_, CancelFlag>>,
    ) -> PyResult<Self> {
        let allowed = Allowed::read(limits, cancel)?;
        let options = LoadOptions::default().with_bounds(allowed.bounds());
        run(py, || ChatTemplate::from_gguf(&file, &options)).map(Self::from)
    }

    /// Loads the templates and special tokens of a parsed `tokenizer_config.json`.
    #[staticmethod]
    #[pyo3(signature = (config, *, limits=None, cancel=None))]
    fn from_config(
        config: &Bound<'_, PyDict>,
        limits: Option<&Bound<'_, PyAny>>,
        cancel: Option<&Bound<'_, CancelFlag>>,
    ) -> PyResult<Self> {
        Self::load(config, &Allowed::read(limits, cancel)?, Vec::new())
    }

    /// Makes a template from a tokenizer of transformers: its `chat_template` and its special tokens. The tokenizer makes the tokens of
    /// `apply_chat_template`.
    #[staticmethod]
    #[pyo3(signature = (tokenizer, *, limits=None, cancel=None))]
    fn from_tokenizer(
        tokenizer: &Bound<'_, PyAny>,
        limits: Option<&Bound<'_, PyAny>>,
        cancel: Option<&Bound<'_, CancelFlag>>,
    ) -> PyResult<Self> {
        let (config, tokens) = describe_tokenizer(tokenizer)?;
        Self::load(&config, &Allowed::read(limits, cancel)?, read_tokens(Some(&tokens))?).map(|template| Self {
            tokenizer: Some(tokenizer.clone().unbind()),
            ..template
        })
    }

    #[staticmethod]
    fn _rebuild(config: &Bound<'_, PyDict>, tokens: &Bound<'_, PyDict>, tokenizer: Option<Py<PyAny>>) -> PyResult<Self> {
        let template = Self::load(config, &Allowed::default(), read_tokens(Some(tokens))?)?;
        Ok(Self { tokenizer, ..template })
    }

    #[staticmethod]
    fn _from_folder(py: Python<'_>, folder: PathBuf, options: (bool, bool, bool)) -> PyResult<Self> {
        Self::from_pretrained(py, folder, options.0, options.1, options.2, None, None)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, own) = (slf.py(), slf.get());
        let class = PyType::new::<Self>(py);
        if let Some((folder, processor, remote, links)) = &own.folder {
            let arguments = (folder, (*processor, *remote, *links)).into_pyobject(py)?;
            return Ok((class.getattr("_from_folder")?, arguments));
        }
        let config = describe_template(py, &own.template)?;
        Ok((
            class.getattr("_rebuild")?,
            (config, own.special_tokens(py)?, &own.tokenizer).into_pyobject(py)?,
        ))
    }

    // A tokenizer can have a method of this object in place of its own.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.tokenizer)
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    fn __repr__(&self) -> String {
        let length = self.template.source().map_or(0, |source| source.chars().count());
        format!(
            "<ChatTemplate of {length} characters, special tokens {:?}>",
            self.template.special_tokens()
        )
    }

    /// Returns what `tokenizer.apply_chat_template` does: the prompt of a conversation, or a list of prompts for a list of conversations,
    /// and with `tokenize` their tokens. This is the default of a template that was made from a tokenizer.
    #[pyo3(signature = (conversation, tools=None, documents=None, chat_template=None, add_generation_prompt=None,
        continue_final_message=None, tokenize=None, *, options=None, **kwargs))]
    #[expect(clippy::too_many_arguments, reason = "they are those of transformers")]
    fn apply_chat_template<'py>(
        &self,
        py: Python<'py>,
        conversation: &Bound<'py, PyAny>,
        tools: Option<&Bound<'py, PyAny>>,
        documents: Option<&Bound<'py, PyAny>>,
        chat_template: Option<Text>,
        add_generation_prompt: Option<&Bound<'py, PyAny>>,
        continue_final_message: Option<&Bound<'py, PyAny>>,
        tokenize: Option<bool>,
        options: Option<&Bound<'py, Options>>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let tokenizer = self.tokenizer.as_ref().filter(|_| tokenize != Some(false));
        if tokenize == Some(true) && tokenizer.is_none() {
            let message = "only a template made by ChatTemplate.from_tokenizer has tokens: pass the text to a tokenizer, \
                with add_special_tokens=False, or use chat_template.sft";
            return Err(PyTypeError::new_err(message));
        }
        let ends = [add_generation_prompt, continue_final_message];
        let mut arguments = Given::new(tools, documents, chat_template, ends, kwargs).read()?;
        let encoding = Encoding::new(py, std::mem::take(&mut arguments.tokenizer))?;
        let wanted = if encoding.wants_mask(tokenizer.is_some())? {
            Wanted::Spans
        } else {
            Wanted::Text
        };
        if wanted == Wanted::Spans && arguments.continues() {
            let message = "continue_final_message is not compatible with return_assistant_tokens_mask.";
            return Err(refuse(py, "value", message, None));
        }
        let (prompts, is_batch) = match split_batch(conversation)? {
            Some(batch) => (self.apply_batch(py, &batch, arguments, options, wanted)?, true),
            None => (vec![self.apply_one(py, conversation, &arguments, options, wanted)?], false),
        };
        match (tokenizer, &*prompts) {
            (Some(tokenizer), _) => encoding.encode(tokenizer.bind(py), &prompts, (is_batch, self.template.has_generation())),
            (None, [prompt]) if !is_batch => Ok(PyString::new(py, &prompt.text).into_any()),
            (None, prompts) => Ok(PyList::new(py, prompts.iter().map(|prompt| &*prompt.text))?.into_any()),
        }
    }

    /// Returns the prompt of a conversation with its spans: where each character came from, and which text the model writes.
    #[pyo3(signature = (conversation, tools=None, documents=None, chat_template=None, add_generation_prompt=None,
        continue_final_message=None, *, options=None, **kwargs))]
    #[expect(clippy::too_many_arguments, reason = "they are those of transformers")]
    fn render<'py>(
        &self,
        py: Python<'py>,
        conversation: &Bound<'py, PyAny>,
        tools: Option<&Bound<'py, PyAny>>,
        documents: Option<&Bound<'py, PyAny>>,
        chat_template: Option<Text>,
        add_generation_prompt: Option<&Bound<'py, PyAny>>,
        continue_final_message: Option<&Bound<'py, PyAny>>,
        options: Option<&Bound<'py, Options>>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<PyPrompt> {
        let ends = [add_generation_prompt, continue_final_message];
        let given = Given::new(tools, documents, chat_template, ends, kwargs);
        self.apply_one(py, conversation, &given.read()?, options, Wanted::Spans)
            .map(PyPrompt::from)
    }

    /// Returns the prompts of conversations with their spans, rendered on all processors.
    #[pyo3(signature = (conversations, tools=None, documents=None, chat_template=None, add_generation_prompt=None,
        continue_final_message=None, *, options=None, **kwargs))]
    #[expect(clippy::too_many_arguments, reason = "they are those of transformers")]
    fn render_batch<'py>(
        &self,
        py: Python<'py>,
        conversations: &Bound<'py, PyAny>,
        tools: Option<&Bound<'py, PyAny>>,
        documents: Option<&Bound<'py, PyAny>>,
        chat_template: Option<Text>,
        add_generation_prompt: Option<&Bound<'py, PyAny>>,
        continue_final_message: Option<&Bound<'py, PyAny>>,
        options: Option<&Bound<'py, Options>>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Vec<PyPrompt>> {
        let ends = [add_generation_prompt, continue_final_message];
        let given = Given::new(tools, documents, chat_template, ends, kwargs);
        let batch = list_items(conversations, "conversations")?;
        let prompts = self.apply_batch(py, &batch, given.read()?, options, Wanted::Spans)?;
        Ok(prompts.into_iter().map(PyPrompt::from).collect())
    }

    /// Renders the rows of a data set, which are dicts. Returns for each a list of tuples, one for each prompt, or an exception.
    #[pyo3(signature = (rows, options, *, format=None, remove_null=true, json_arguments=false))]
    fn _render_rows<'py>(
        &self,
        rows: &Bound<'py, PyAny>,
        options: &Bound<'py, Options>,
        format: Option<&str>,
        remove_null: bool,
        json_arguments: bool,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        render_rows(&self.template, rows, options.get(), format, (remove_null, json_arguments))
    }

    /// Returns the text to append after `seen` and, with `sampled`, after what the model wrote.
    #[pyo3(signature = (messages, seen, sampled=None, tools=None, documents=None, chat_template=None, add_generation_prompt=None, *,
        options=None, **kwargs))]
    #[expect(clippy::too_many_arguments, reason = "they are those of transformers")]
    fn append<'py>(
        &self,
        py: Python<'py>,
        messages: &Bound<'py, PyAny>,
        seen: Text,
        sampled: Option<Text>,
        tools: Option<&Bound<'py, PyAny>>,
        documents: Option<&Bound<'py, PyAny>>,
        chat_template: Option<Text>,
        add_generation_prompt: Option<&Bound<'py, PyAny>>,
        options: Option<&Bound<'py, Options>>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<String> {
        let given = Given {
            tools,
            documents,
            chat_template,
            add_generation_prompt,
            variables: kwargs,
            ..Given::default()
        };
        let (arguments, messages, options) = (given.read()?, read_conversation(messages)?, own_options(options));
        let sampled = sampled.as_ref().map(|text| text.0.as_str());
        let piece = run(py, || {
            with_options(&self.template, &arguments, &options, (Wanted::Text, None), |options| {
                self.template.append(&messages, &seen.0, sampled, options)
            })
        })?;
        take_piece(py, piece)
    }

    /// Prepares the body of a request of Chat Completions, Responses or Messages, so that this template prints all of it.
    #[pyo3(signature = (body, *, format=None, policy="fit", chat_template=None, later_system="in_place", media_placeholder=None,
        keeps_tools=false, tools_as_text=false, after=None, options=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn prepare(
        slf: &Bound<'_, Self>,
        body: &Bound<'_, PyAny>,
        format: Option<String>,
        policy: &str,
        chat_template: Option<Text>,
        later_system: &str,
        media_placeholder: Option<Text>,
        keeps_tools: bool,
        tools_as_text: bool,
        after: Option<&Bound<'_, PyPrepared>>,
        options: Option<&Bound<'_, Options>>,
    ) -> PyResult<PyPrepared> {
        let settings = Settings {
            format,
            policy: policy.to_owned(),
            later_system: later_system.to_owned(),
            chat_template: chat_template.map(|text| text.0),
            media_placeholder: media_placeholder.map(|text| text.0),
            keeps_tools,
            tools_as_text,
        };
        prepare(slf, read(body, "body")?, settings, after, own_options(options).into_owned())
    }

    /// Returns the report on what the template takes, as `chat-template inspect --json` prints it.
    #[pyo3(signature = (limits=None, *, cancel=None))]
    fn inspect<'py>(
        &self,
        py: Python<'py>,
        limits: Option<&Bound<'py, PyAny>>,
        cancel: Option<&Bound<'py, CancelFlag>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let allowed = Allowed::read(limits, cancel)?;
        let report = run(py, || {
            let report = self.template.inspect(allowed.bounds())?;
            report.complete()?;
            Ok(report)
        })?;
        write_serialized(py, &report)
    }

    /// Parses what the model wrote into a message, by the description in the model's files or by `response_template`. With `lenient`, what is
    /// cut or malformed stays in the content, and the places are under the key `unread`.
    #[pyo3(signature = (text, prefix=None, tools=None, response_template=None, *, lenient=false, limits=None, cancel=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn parse_response<'py>(
        &self,
        py: Python<'py>,
        text: Text,
        prefix: Option<Text>,
        tools: Option<&Bound<'py, PyAny>>,
        response_template: Option<&Bound<'py, PyAny>>,
        lenient: bool,
        limits: Option<&Bound<'py, PyAny>>,
        cancel: Option<&Bound<'py, CancelFlag>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let allowed = Allowed::read(limits, cancel)?;
        let tools = tools.map(|tools| read_json(tools, "tools")).transpose()?;
        let description = response_template
            .map(|description| read_json(description, "response_template"))
            .transpose()?;
        let prefix = prefix.map(|prefix| prefix.0).unwrap_or_default();
        let message = run(py, || {
            let options = ParseOptions::default()
                .with_prefix(&prefix)
                .with_tools(tools.as_ref())
                .with_lenient(lenient)
                .with_bounds(allowed.bounds());
            match &description {
                Some(description) => ResponseTemplate::new(description)?.parse(&text.0, &options),
                None => self.template.parse_response(&text.0, &options),
            }
        })?;
        write(py, &Data::Object(message))
    }

    /// Raises the error of the first template that does not compile.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        guard(|| self.template.check()).map_err(|error| to_exception(py, &error))
    }

    /// The source of the template that renders a conversation without tools, if there is one.
    #[getter]
    fn source(&self) -> Option<&str> {
        self.template.source()
    }

    /// The names of the templates. A single template has no name.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.template.names()
    }

    /// The special tokens that templates read as variables, by their names.
    #[getter]
    fn special_tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let tokens = PyDict::new(py);
        for (name, token) in self.template.special_tokens() {
            tokens.set_item(name, token)?;
        }
        Ok(tokens)
    }

    /// The control tokens: the special tokens with and without names.
    #[getter]
    fn control_tokens(&self) -> Vec<&str> {
        self.template.control_tokens()
    }

    /// The names of the variables that the templates read.
    #[getter]
    fn variables(&self) -> Vec<&str> {
        self.template.variables()
    }

    /// Whether a template has a `{% generation %}` block.
    #[getter]
    fn has_generation(&self) -> bool {
        self.template.has_generation()
    }
}

impl From<ChatTemplate> for PyChatTemplate {
    fn from(template: ChatTemplate) -> Self {
        Self {
            template,
            folder: None,
            tokenizer: None,
        }
    }
}

impl PyChatTemplate {
    /// Returns the template of the library.
    pub fn library(&self) -> &ChatTemplate {
        &self.template
    }

    /// Loads a configuration, and adds special tokens.
    fn load(config: &Bound<'_, PyDict>, allowed: &Allowed, tokens: Vec<(String, String)>) -> PyResult<Self> {
        let value = read_json(config, "config")?;
        let template = run(config.py(), || ChatTemplate::from_config_with(&value, allowed.bounds()))?;
        Ok(template.with_special_tokens(tokens).into())
    }
}
