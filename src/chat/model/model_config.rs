//! The keys of `config.json` that help to choose the class of a model's tokenizer.
//!
//! ```text
//! {"model_type": "gpt2", "tokenizer_class": null}   ->   the model type gpt2, and no class
//! ```
//!
//! The rule is transformers 5.24.0 `models/auto/configuration_auto.py`, `AutoConfig.from_pretrained`. All other keys are ignored, and their
//! values are not checked.

use super::tokenizer_tables;
use crate::error::{Error, Result};
use crate::json::{Data, Object};

/// The model type whose `config.json` contains the configuration of another model.
const ENCODER_DECODER: &str = "encoder-decoder";

/// The model type of an encoder that has no configuration.
const DEFAULT_ENCODER: &str = "bert";

/// The keys of `config.json` that are about the tokenizer. The default is that of a folder without this file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ModelConfig<'f> {
    /// The type of the model, or an empty string.
    pub model_type: &'f str,
    /// The key `model_name`, which some rules look up besides the model type.
    pub model_name: &'f str,
    /// The class of the tokenizer.
    pub tokenizer_class: Option<&'f str>,
    /// The repository of the model, or the path of its folder, as transformers chooses it.
    pub repository: &'f str,
    /// The model type of the encoder, in the configuration of an encoder and a decoder.
    encoder: Option<&'f str>,
}

impl<'f> ModelConfig<'f> {
    /// Reads the configuration in `folder`.
    ///
    /// # Errors
    /// If the model type or the class is of another type than a string.
    pub fn read(config: &'f Object<'f>, folder: &'f str) -> Result<Self> {
        let model_type = get_string(config, "model_type")?.unwrap_or_default();
        let text = |key: &str| config.get(key).and_then(Data::text);
        // transformers names the configuration of a known type after the path of its folder.
        let repository = if tokenizer_tables::is_known(model_type) {
            Some(folder)
        } else {
            text("_name_or_path").or_else(|| text("name_or_path"))
        };
        let encoder = match config.get("encoder") {
            _ if model_type != ENCODER_DECODER => None,
            Some(Data::Object(encoder)) => get_string(encoder, "model_type")?,
            _ => Some(DEFAULT_ENCODER),
        };
        Ok(Self {
            model_type,
            model_name: text("model_name").unwrap_or_default(),
            tokenizer_class: get_string(config, "tokenizer_class")?,
            repository: repository.unwrap_or_default(),
            encoder,
        })
    }

    /// Returns the model type whose tokenizer is loaded if no file names a class.
    pub fn tokenizer_type(&self) -> &'f str {
        self.encoder.unwrap_or(self.model_type)
    }
}

/// Returns the string at a key. Null counts as a missing key.
///
/// # Errors
/// If the value is of another type.
pub(super) fn get_string<'f>(object: &'f Object<'_>, key: &str) -> Result<Option<&'f str>> {
    match object.get(key) {
        None | Some(Data::None) => Ok(None),
        Some(Data::Str(text)) => Ok(Some(text)),
        Some(_) => Err(Error::type_error(format!("{key} must be a string"))),
    }
}
