//! A model's folder, read into its templates and special tokens.
//!
//! ```text
//! Qwen3-8B/chat_template.jinja                      the template; with more of them below, the one named default
//! Qwen3-8B/additional_chat_templates/rag.jinja      the one named rag
//! Qwen3-8B/tokenizer_config.json                    special tokens, and templates where there is no file above
//! Qwen3-8B/special_tokens_map.json                  more special tokens, where an older version wrote the folder
//! Qwen3-8B/config.json                              the model type, which chooses the tokenizer's class and its default tokens
//! Qwen3-8B/tokenizer.json                           the token that the tokenizer pads with, where nothing else names one
//! ```
//!
//! The rule is transformers 5.23.0 `tokenization_utils_base.py` `from_pretrained` and `_from_pretrained`; for [`LoadAs::Processor`]
//! `processing_utils.py` `get_processor_dict`. It is stricter in one thing: what the reference passes over in silence, such as a
//! folder where a file should be, is an error here. What stands in the files is read by [`super::config`] and [`super::tokens`].

use std::fs::File;
use std::io::{ErrorKind as IoErrorKind, Read};
use std::path::{Path, PathBuf};

use super::model_config::ModelConfig;
use super::templates::{NamedTemplate, Templates};
use super::tokenizer_class::{self, RemoteCode};
use super::tokenizer_tables::TokenizerClass;
use super::{ChatTemplate, added_tokens, cache, config, padding, tokens};
use crate::error::{Error, ErrorClass, Result};
use crate::json;
use crate::json::{Data, Object};
use crate::limits::{Limit, Reached};

/// Whose rules decide where a folder's templates are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadAs {
    /// A tokenizer's: `chat_template.jinja` and `additional_chat_templates`, else `tokenizer_config.json`.
    #[default]
    Tokenizer,
    /// A processor's: `processor_config.json`, else the older `chat_template.json`, else `chat_template.jinja` and
    /// `additional_chat_templates`. The special tokens are the tokenizer's all the same, and so is what applying does.
    Processor,
}

/// How a folder is read.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// A file of more bytes is an error. 64 MiB unless told: the largest `tokenizer.json` in use has some 35.
    pub max_file_size: u64,
    /// Whose rules decide where the templates are.
    pub load_as: LoadAs,
    /// Reads a folder whose tokenizer is code in that folder. Without this option such a folder is an error, as in transformers without
    /// `trust_remote_code`; with it, the special tokens are those that the files name. The code itself may have more.
    pub ignore_remote_code: bool,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            max_file_size: 64 << 20,
            load_as: LoadAs::Tokenizer,
            ignore_remote_code: false,
        }
    }
}

const TEMPLATE: &str = "chat_template.jinja";
const ADDITIONAL: &str = "additional_chat_templates";
const CONFIG: &str = "tokenizer_config.json";
const MODEL: &str = "config.json";
const TOKENS_MAP: &str = "special_tokens_map.json";
const TOKENIZER: &str = "tokenizer.json";
const PROCESSOR: &str = "processor_config.json";
const LEGACY: &str = "chat_template.json";

impl ChatTemplate {
    /// Reads a model's folder, as [`ChatTemplate::from_dir_with`] with the default options.
    ///
    /// A model's folder of the Hugging Face cache, such as `models--Qwen--Qwen3-8B`, stands for the revision in it that the branch `main`
    /// names, or for the only one.
    ///
    /// # Errors
    /// Of class template, where the folder or a file in it cannot be read or is not what it should be; the message names the file.
    pub fn from_dir(path: impl AsRef<Path>) -> Result<Self> {
        Self::from_dir_with(path, &LoadOptions::default())
    }

    /// Reads a model's folder. One that has a `tokenizer_config.json` and no template at all is read too; applying it is an error
    /// then, unless a template is given as an argument.
    ///
    /// # Errors
    /// As [`ChatTemplate::from_dir`].
    pub fn from_dir_with(path: impl AsRef<Path>, options: &LoadOptions) -> Result<Self> {
        let path = path.as_ref();
        let path = cache::model_folder(path).map_err(|message| at(path, &message))?;
        let folder = Folder {
            path: &path,
            max_file_size: options.max_file_size,
            remote_code: match options.ignore_remote_code {
                true => RemoteCode::Ignore,
                false => RemoteCode::Refuse,
            },
        };
        folder.load(options.load_as)
    }

    /// Takes templates and special tokens from the parsed `tokenizer_config.json`. The special tokens that it does not name are those of
    /// its `tokenizer_class`: without a folder there is no `config.json` that may choose another class.
    ///
    /// # Errors
    /// Of class template, where it is no object, or a template or a token in it is not what it should be.
    pub fn from_config(config: &serde_json::Value) -> Result<Self> {
        let config = json::to_data(config, json::DEPTH).map_err(Error::from).map_err(faulty)?;
        Self::from_config_data(&config)
    }

    /// As [`ChatTemplate::from_config`], for what [`json::read`] gives.
    ///
    /// # Errors
    /// As [`ChatTemplate::from_config`].
    pub fn from_config_data(config: &Data<'_>) -> Result<Self> {
        let Data::Object(config) = config else {
            return Err(faulty(Error::type_error("the configuration is no object")));
        };
        let templates = config::templates(config, None).map_err(faulty)?;
        let tokens = tokenizer_class::choose(&ModelConfig::default(), config, RemoteCode::Ignore, || false)
            .and_then(|class| tokens::special_tokens(config, None, &class.tokens()?, || None))
            .map_err(faulty)?;
        let added = added_tokens::of_files(config, None::<File>);
        Ok(Self::assemble(templates, tokens).with_added_special_tokens(added))
    }
}

/// A folder that is being read.
struct Folder<'p> {
    path: &'p Path,
    max_file_size: u64,
    remote_code: RemoteCode,
}

impl Folder<'_> {
    fn load(&self, load_as: LoadAs) -> Result<ChatTemplate> {
        match std::fs::metadata(self.path) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return Err(at(self.path, "is no folder")),
            Err(error) => return Err(at(self.path, &error.to_string())),
        }
        let config_text = self.text(CONFIG)?;
        let config = match &config_text {
            Some(text) => Some(self.json(CONFIG, text)?),
            None => None,
        };
        let templates = match load_as {
            LoadAs::Tokenizer => self.tokenizer_templates(config.as_ref())?,
            LoadAs::Processor => self.processor_templates()?,
        };
        if config.is_none() && matches!(templates, Templates::None) {
            let message = format!("has neither {TEMPLATE} nor {ADDITIONAL} nor {CONFIG}");
            return Err(at(self.path, &message));
        }
        let config = config.unwrap_or_default();
        let tokens = self.special_tokens(&config)?;
        let tokenizer = open(&self.path.join(TOKENIZER)).ok().flatten();
        let added = added_tokens::of_files(&config, tokenizer.map(|file| file.take(self.max_file_size)));
        Ok(ChatTemplate::assemble(templates, tokens).with_added_special_tokens(added))
    }

    fn tokenizer_templates(&self, config: Option<&Object<'_>>) -> Result<Templates> {
        let mut named = Vec::new();
        if let Some(template) = self.template(PathBuf::from(TEMPLATE), "default")? {
            named.push(template);
        }
        for template in self.additional()? {
            // The reference files the templates under `chat_template_…`, where `chat_template_file` is chat_template.jinja.
            if template.name == "file" {
                let path = self.path.join(ADDITIONAL).join("file.jinja");
                let message = format!("this name is not usable: transformers takes the file for {TEMPLATE}");
                return Err(at(&path, &message));
            }
            named.push(template);
        }
        match (single_or_named(named), config) {
            (Templates::None, Some(config)) => self.templates_in(CONFIG, config),
            (templates, _) => Ok(templates),
        }
    }

    fn processor_templates(&self) -> Result<Templates> {
        let additional = self.additional()?;
        let legacy = self.json_templates(LEGACY)?;
        if legacy.is_some() && !additional.is_empty() {
            return Err(within(&self.path.join(LEGACY), Error::value(CONFLICT)));
        }
        if matches!(legacy, Some(Templates::None)) {
            return Err(at(&self.path.join(LEGACY), "has no chat_template"));
        }
        let files = match legacy {
            Some(legacy) => legacy,
            None => {
                let template = self.template(PathBuf::from(TEMPLATE), "default")?;
                single_or_named(additional.into_iter().chain(template).collect())
            }
        };
        // An empty template counts as none here, by the truth of Python's strings.
        let files = match files {
            Templates::One(template) if template.source.is_empty() => Templates::None,
            files => files,
        };
        Ok(match self.json_templates(PROCESSOR)? {
            None | Some(Templates::None) => files,
            Some(templates) => templates,
        })
    }

    /// The templates that a JSON file holds, where it exists.
    fn json_templates(&self, file: &str) -> Result<Option<Templates>> {
        match self.text(file)? {
            Some(text) => self.templates_in(file, &self.json(file, &text)?).map(Some),
            None => Ok(None),
        }
    }

    fn templates_in(&self, file: &str, content: &Object<'_>) -> Result<Templates> {
        let path = self.path.join(file);
        let origin = path.display().to_string();
        config::templates(content, Some(&origin)).map_err(|error| within(&path, error))
    }

    /// The templates in `additional_chat_templates`, by name.
    fn additional(&self) -> Result<Vec<NamedTemplate>> {
        let path = self.path.join(ADDITIONAL);
        let entries = match std::fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == IoErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(at(&path, &error.to_string())),
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| at(&path, &error.to_string()))?;
            let Ok(file) = entry.file_name().into_string() else {
                return Err(at(&entry.path(), "the name is not UTF-8"));
            };
            if let Some(name) = file.strip_suffix(".jinja") {
                names.push(name.to_owned());
            }
        }
        names.sort_unstable();
        let mut templates = Vec::new();
        for name in names {
            let file = Path::new(ADDITIONAL).join(format!("{name}.jinja"));
            templates.extend(self.template(file, &name)?);
        }
        Ok(templates)
    }

    fn special_tokens(&self, config: &Object<'_>) -> Result<Vec<(String, String)>> {
        let map_text = match tokens::reads_map(config) {
            true => self.text(TOKENS_MAP)?,
            false => None,
        };
        let map = match &map_text {
            Some(text) => Some(self.json(TOKENS_MAP, text)?),
            None => None,
        };
        let defaults = self.class(config)?.tokens()?;
        let file = if map.is_some() { TOKENS_MAP } else { CONFIG };
        let padding = || self.padding();
        tokens::special_tokens(config, map.as_ref(), &defaults, padding).map_err(|error| within(&self.path.join(file), error))
    }

    /// The class of the tokenizer, by `config.json` and `tokenizer_config.json`.
    fn class(&self, config: &Object<'_>) -> Result<TokenizerClass> {
        let model_text = self.text(MODEL)?;
        let model = match &model_text {
            Some(text) => Some(self.json(MODEL, text)?),
            None => None,
        };
        let folder = self.path.to_string_lossy();
        let model = match &model {
            Some(model) => ModelConfig::read(model, &folder).map_err(|error| within(&self.path.join(MODEL), error))?,
            None => ModelConfig::default(),
        };
        let mut unreadable = None;
        let is_byte_level = || match self.text(TOKENIZER) {
            Ok(text) => text.is_some_and(|text| text.contains("\"ByteLevel\"")),
            Err(error) => {
                unreadable = Some(error);
                false
            }
        };
        let class = tokenizer_class::choose(&model, config, self.remote_code, is_byte_level);
        match unreadable {
            Some(error) => Err(error),
            None => class.map_err(|error| within(&self.path.join(CONFIG), error)),
        }
    }

    /// The token that `tokenizer.json` pads with. Nothing else of that is of interest, nor whether it can be read.
    fn padding(&self) -> Option<String> {
        let file = open(&self.path.join(TOKENIZER)).ok().flatten()?;
        padding::pad_token(file.take(self.max_file_size))
    }

    /// The template in a file, where that exists.
    fn template(&self, file: PathBuf, name: &str) -> Result<Option<NamedTemplate>> {
        let origin = self.path.join(&file).display().to_string();
        let text = self.text(file)?;
        Ok(text.map(|text| NamedTemplate::new(name, text).in_file(origin)))
    }

    /// The JSON object that a file holds.
    fn json<'t>(&self, file: &str, text: &'t str) -> Result<Object<'t>> {
        let path = self.path.join(file);
        match json::read(text, json::DEPTH) {
            Ok(Data::Object(object)) => Ok(object),
            Ok(_) => Err(within(&path, Error::type_error("the content is no JSON object"))),
            Err(error) => Err(within(&path, Error::from(error))),
        }
    }

    /// The text of a file, where that exists.
    fn text(&self, file: impl AsRef<Path>) -> Result<Option<String>> {
        let path = self.path.join(file);
        let Some(file) = open(&path)? else {
            return Ok(None);
        };
        let limit = self.max_file_size;
        let mut bytes = Vec::new();
        // One byte more than allowed tells that there are more, whatever the file system said of the size.
        let read = file.take(limit.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|error| at(&path, &error.to_string()))?;
        if bytes.len() as u64 > limit {
            let size = path.metadata().map_or(0, |metadata| metadata.len());
            let reached = Reached::new(Limit::File, size.max(limit.saturating_add(1)), limit);
            return Err(within(&path, Error::limit(reached)));
        }
        String::from_utf8(bytes).map(Some).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            within(&path, Error::value(format!("invalid UTF-8 at byte {at}")))
        })
    }
}

/// An ordinary file, where it exists.
fn open(path: &Path) -> Result<Option<File>> {
    let failed = |error: std::io::Error| at(path, &error.to_string());
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        // A link that leads nowhere is there, and is no file.
        Err(error) if error.kind() == IoErrorKind::NotFound && path.symlink_metadata().is_err() => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    if metadata.is_dir() {
        return Err(at(path, "is a folder where a file should be"));
    }
    if !metadata.is_file() {
        return Err(at(path, "is no ordinary file"));
    }
    File::open(path).map(Some).map_err(failed)
}

/// Templates that are all called default are one, which needs no name; the last of them counts.
fn single_or_named(named: Vec<NamedTemplate>) -> Templates {
    if named.iter().any(|template| template.name != "default") {
        return Templates::named(named);
    }
    match named.into_iter().next_back() {
        Some(mut template) => {
            template.name.clear();
            Templates::One(template)
        }
        None => Templates::None,
    }
}

/// A fault of the place itself.
fn at(path: &Path, message: &str) -> Error {
    faulty(Error::runtime(format!("{}: {message}", path.display())))
}

/// A fault of what a file holds.
fn within(path: &Path, error: Error) -> Error {
    let message = format!("{}: {}", path.display(), error.message());
    faulty(match error.reached() {
        Some(reached) => Error::limit_saying(reached, message),
        None => Error::new(error.kind(), message),
    })
}

/// The caller of a server can do nothing about the files, so that every fault of theirs is the template's.
fn faulty(error: Error) -> Error {
    error.with_class(ErrorClass::Template).without_line()
}

const CONFLICT: &str = "Cannot load chat template due to conflicting files - this checkpoint combines a legacy chat_template.json file \
                        with separate template files, which is not supported. To resolve this error, replace the legacy \
                        chat_template.json file with a modern chat_template.jinja file.";
