//! Loads the templates and the special tokens of a model's folder.
//!
//! ```text
//! Qwen3-8B/chat_template.jinja                      the template, named default if there are additional ones
//! Qwen3-8B/additional_chat_templates/rag.jinja      the template named rag
//! Qwen3-8B/tokenizer_config.json                    special tokens, and the templates if there is no file above
//! Qwen3-8B/special_tokens_map.json                  more special tokens, in folders of older versions
//! Qwen3-8B/config.json                              the model type, which determines the tokenizer's class and its default tokens
//! Qwen3-8B/generation_config.json                   the tokens at which a server stops the model
//! Qwen3-8B/tokenizer.json                           the pad token if no other file names one, and the added tokens
//! ```
//!
//! The rule is transformers 5.24.0 `tokenization_utils_base.py` `from_pretrained` and `_from_pretrained`; for a processor
//! `processing_utils.py` `get_processor_dict`. Unlike the reference, this crate reports a file that is not readable, such as a folder with
//! the name of a file. [`super::config`] and [`super::tokens`] read the content of the files.

use std::path::{Path, PathBuf};

use super::files::{Files, LoadOptions, at, in_file, of_model};
use super::model_config::ModelConfig;
use super::tokenizer_class;
use super::tokenizer_json::TokenizerJson;
use super::tokenizer_tables::TokenizerClass;
use super::{added_tokens, cache, config, tokens};
use crate::chat::ChatTemplate;
use crate::chat::stops::{self, GENERATION_CONFIG};
use crate::chat::templates::{Compiler, NamedTemplate, Templates};
use crate::deadline::Bounds;
use crate::error::{Error, Result};
use crate::json;
use crate::json::{Data, Object};
use crate::meter::Meter;

const TEMPLATE: &str = "chat_template.jinja";
const ADDITIONAL: &str = "additional_chat_templates";
const CONFIG: &str = "tokenizer_config.json";
const MODEL: &str = "config.json";
const GENERATION: &str = "generation_config.json";
const TOKENS_MAP: &str = "special_tokens_map.json";
const TEKKEN: &str = "tekken.json";
const TOKENIZER: &str = "tokenizer.json";
const PROCESSOR: &str = "processor_config.json";
const LEGACY: &str = "chat_template.json";

impl ChatTemplate {
    /// Loads a model's folder. A model's folder of the Hugging Face cache, such as `models--Qwen--Qwen3-8B`, is accepted too: the revision
    /// of its branch `main`, or the only one, is loaded. A folder with a `tokenizer_config.json` and without a template can be loaded; to
    /// apply it, set [`ApplyOptions::chat_template`](crate::ApplyOptions::chat_template).
    ///
    /// # Errors
    /// If the folder or a file in it cannot be read or has wrong content. The message names the file, and the class is
    /// [`ErrorClass::Template`](crate::ErrorClass::Template).
    pub fn from_dir(path: impl AsRef<Path>, options: &LoadOptions<'_>) -> Result<Self> {
        Self::load_dir(path.as_ref(), options)?.checked()
    }

    /// Loads a model's folder. If a template does not compile, [`ChatTemplate::apply`] returns the error.
    #[doc(hidden)]
    pub fn load_dir(given: &Path, options: &LoadOptions<'_>) -> Result<Self> {
        let path = cache::find_model_folder(given).map_err(|message| at(given, &message))?;
        let bounds = options.bounds;
        let deadline = bounds.start();
        let folder = Folder {
            files: Files::new(&path, given, options, &deadline)?,
            compiler: Compiler::new(Meter::within(bounds, &deadline)),
            ignores_code: options.ignore_remote_code,
        };
        folder.load(options.processor)
    }

    /// Loads the templates and the special tokens of a parsed `tokenizer_config.json`. Its `tokenizer_class` determines the default special
    /// tokens.
    ///
    /// # Errors
    /// If the configuration is not an object, or a template or a token in it is wrong. The class is
    /// [`ErrorClass::Template`](crate::ErrorClass::Template).
    pub fn from_config(config: &serde_json::Value) -> Result<Self> {
        Self::from_config_with(config, Bounds::default())
    }

    /// Loads a configuration like [`ChatTemplate::from_config`], within bounds, such as limits or a deadline.
    ///
    /// # Errors
    /// Those of [`ChatTemplate::from_config`].
    pub fn from_config_with<'o>(config: &serde_json::Value, bounds: impl Into<Bounds<'o>>) -> Result<Self> {
        let bounds = bounds.into();
        let deadline = bounds.start();
        let config = json::to_data(config).map_err(Error::from).map_err(of_model)?;
        Self::load_config_within(&config, Meter::within(bounds, &deadline))?.checked()
    }

    /// Loads a parsed `tokenizer_config.json`. If a template does not compile, [`ChatTemplate::apply`] returns the error.
    #[cfg(feature = "internal")]
    #[doc(hidden)]
    pub fn load_config(config: &Data<'_>) -> Result<Self> {
        Self::load_config_within(config, Meter::within(Bounds::default(), &Bounds::default().start()))
    }

    fn load_config_within(config: &Data<'_>, meter: Meter<'_>) -> Result<Self> {
        let Data::Object(config) = config else {
            return Err(of_model(Error::type_error("the configuration is not an object")));
        };
        let compiler = Compiler::new(meter);
        let templates = config::read_templates(config, None, &compiler).map_err(of_model)?;
        let tokens = tokenizer_class::choose_class(&ModelConfig::default(), config, true, || false)
            .and_then(|class| tokens::collect_special_tokens(config, None, &class.tokens()?, None))
            .map_err(of_model)?;
        let added = added_tokens::collect_added_tokens(config, &[]).map_err(of_model)?;
        Ok(assemble(templates, tokens, added, config, &compiler))
    }
}

struct Folder<'p> {
    files: Files<'p>,
    /// Whether a class that is code in the folder is taken for one without default special tokens, and is not an error.
    ignores_code: bool,
    compiler: Compiler<'p>,
}

impl Folder<'_> {
    /// Loads the templates and the special tokens of the folder.
    fn load(&self, is_processor: bool) -> Result<ChatTemplate> {
        let config = self.object(CONFIG)?;
        let templates = if is_processor {
            self.processor_templates()?
        } else {
            self.tokenizer_templates(config.as_ref())?
        };
        if config.is_none() && templates.is_none() {
            let message = format!("is not the folder of a model: it has neither {TEMPLATE} nor {ADDITIONAL} nor {CONFIG}");
            let hint = if self.files.path.join(TEKKEN).exists() {
                format!("; its {TEKKEN} is for mistral-common, which makes prompts without a template")
            } else {
                String::new()
            };
            return Err(at(self.files.path, &(message + &hint)));
        }
        let config = config.unwrap_or_default();
        let tokenizer = self.tokenizer_json()?;
        let tokens = self.special_tokens(&config, tokenizer.pad_token)?;
        let added = added_tokens::collect_added_tokens(&config, &tokenizer.special_tokens);
        let added = added.map_err(|error| in_file(&self.files.path.join(CONFIG), error))?;
        // transformers' tokenizers do not read this file, so that a fault in it is no error.
        let generation = self.object(GENERATION).ok().flatten().unwrap_or_default();
        let stops = stops::read_generation_stops(&generation, &config, &tokenizer.ids);
        Ok(assemble(templates, tokens, added, &config, &self.compiler).with_own_stops(stops, GENERATION_CONFIG))
    }

    /// Returns the templates of the tokenizer.
    fn tokenizer_templates(&self, config: Option<&Object<'_>>) -> Result<Templates> {
        let mut named = Vec::new();
        if let Some(template) = self.template(PathBuf::from(TEMPLATE), "default")? {
            named.push(template);
        }
        for template in self.additional()? {
            // The reference stores the templates under `chat_template_…`, where `chat_template_file` is chat_template.jinja.
            if template.name == "file" {
                let path = self.files.path.join(ADDITIONAL).join("file.jinja");
                let message =
                    format!("a template cannot have this name, because transformers confuses it with {TEMPLATE}; rename the file");
                return Err(at(&path, &message));
            }
            named.push(template);
        }
        match (Templates::from_files(named), config) {
            (templates, Some(config)) if templates.is_none() => self.templates_in(CONFIG, config),
            (templates, _) => Ok(templates),
        }
    }

    /// Returns the templates of the processor.
    fn processor_templates(&self) -> Result<Templates> {
        let additional = self.additional()?;
        let legacy = self.json_templates(LEGACY)?;
        if legacy.is_some() && !additional.is_empty() {
            return Err(in_file(&self.files.path.join(LEGACY), Error::value(CONFLICT)));
        }
        let files = match legacy {
            Some(legacy) if legacy.is_none() => return Err(at(&self.files.path.join(LEGACY), "has no chat_template")),
            Some(legacy) => legacy,
            None => {
                let template = self.template(PathBuf::from(TEMPLATE), "default")?;
                Templates::from_files(additional.into_iter().chain(template).collect())
            }
        };
        // The reference treats an empty template as missing, because an empty string is false in Python.
        let is_empty = files.named().is_empty() && files.main().is_some_and(|template| template.source.is_empty());
        let of_processor = self.json_templates(PROCESSOR)?.filter(|templates| !templates.is_none());
        Ok(of_processor.unwrap_or(if is_empty { Templates::default() } else { files }))
    }

    /// Returns the templates in a JSON file, or `None` if the file does not exist.
    fn json_templates(&self, file: &str) -> Result<Option<Templates>> {
        self.object(file)?
            .map(|content| self.templates_in(file, &content))
            .transpose()
    }

    fn templates_in(&self, file: &str, content: &Object<'_>) -> Result<Templates> {
        let path = self.files.path.join(file);
        let origin = path.display().to_string();
        config::read_templates(content, Some(&origin), &self.compiler).map_err(|error| in_file(&path, error))
    }

    /// Returns the templates in `additional_chat_templates`, sorted by name.
    fn additional(&self) -> Result<Vec<NamedTemplate>> {
        let names = self.files.names(ADDITIONAL, ".jinja")?;
        let mut templates = Vec::new();
        for name in names {
            let file = Path::new(ADDITIONAL).join(format!("{name}.jinja"));
            templates.extend(self.template(file, &name)?);
        }
        Ok(templates)
    }

    fn special_tokens(&self, config: &Object<'_>, pad_token: Option<String>) -> Result<Vec<(String, String)>> {
        // The class is found first. It reads another file, whose tree is no longer in memory when the map of tokens is read.
        let defaults = self.class(config).and_then(|class| class.tokens());
        let map = if tokens::reads_map(config) {
            self.object(TOKENS_MAP)?
        } else {
            None
        };
        let file = if map.is_some() { TOKENS_MAP } else { CONFIG };
        tokens::collect_special_tokens(config, map.as_ref(), &defaults?, pad_token)
            .map_err(|error| in_file(&self.files.path.join(file), error))
    }

    /// Returns the tokenizer class that `config.json` and `tokenizer_config.json` determine.
    fn class(&self, config: &Object<'_>) -> Result<TokenizerClass> {
        let model = self.object(MODEL)?;
        let folder = self.files.path.to_string_lossy();
        let model = match &model {
            Some(model) => ModelConfig::read(model, &folder).map_err(|error| in_file(&self.files.path.join(MODEL), error))?,
            None => ModelConfig::default(),
        };
        let mut unreadable = None;
        let is_byte_level = || {
            let found = self.files.contains(TOKENIZER, b"\"ByteLevel\"");
            found.unwrap_or_else(|error| {
                unreadable = Some(error);
                false
            })
        };
        let class = tokenizer_class::choose_class(&model, config, self.ignores_code, is_byte_level);
        match unreadable {
            Some(error) => Err(error),
            None => class.map_err(|error| in_file(&self.files.path.join(CONFIG), error)),
        }
    }

    /// Reads `tokenizer.json`. A file that does not exist or has another form names no token.
    fn tokenizer_json(&self) -> Result<TokenizerJson> {
        match self.files.stream(TOKENIZER)? {
            Some(file) => {
                TokenizerJson::read(file, self.files.deadline).map_err(|error| in_file(&self.files.path.join(TOKENIZER), error))
            }
            None => Ok(TokenizerJson::default()),
        }
    }

    /// Returns the template in a file, or `None` if the file does not exist.
    fn template(&self, file: PathBuf, name: &str) -> Result<Option<NamedTemplate>> {
        let origin = self.files.path.join(&file).display().to_string();
        let text = self.files.text(file)?;
        Ok(text.map(|text| self.compiler.compile(name, text).in_file(origin)))
    }

    /// Returns the JSON object in a file, or `None` if the file does not exist.
    fn object(&self, file: &str) -> Result<Option<Object<'static>>> {
        let Some(text) = self.files.text(file)? else { return Ok(None) };
        let path = self.files.path.join(file);
        match json::read_until(&text, self.files.deadline).map(Data::into_owned) {
            Ok(Data::Object(object)) => Ok(Some(object)),
            Ok(_) => Err(in_file(&path, Error::type_error("the content is not a JSON object"))),
            Err(error) => Err(match error.excerpt(&text) {
                Some(excerpt) => in_file(&path, Error::value(format!("not JSON: {error}")).with_note(excerpt)),
                None => in_file(&path, Error::from(error)),
            }),
        }
    }
}

/// Puts together what the files of a model say. The tokenizer's configuration may describe what the model writes.
#[cfg_attr(
    not(feature = "response"),
    expect(unused_variables, reason = "there is no such description")
)]
fn assemble(
    templates: Templates,
    tokens: Vec<(String, String)>,
    added: Vec<String>,
    config: &Object<'_>,
    compiler: &Compiler<'_>,
) -> ChatTemplate {
    let template = ChatTemplate::assemble(templates, tokens).with_added_special_tokens(added);
    #[cfg(feature = "response")]
    let template = template.with_response(crate::chat::response::read_response_template(config, &compiler.meter));
    template
}

const CONFLICT: &str = "Cannot load chat template due to conflicting files - this checkpoint combines a legacy chat_template.json file \
                        with separate template files, which is not supported. To resolve this error, replace the legacy \
                        chat_template.json file with a modern chat_template.jinja file.";
