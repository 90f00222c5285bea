//! The tokenizer class that transformers chooses for a folder. It determines the default special tokens.
//!
//! ```text
//! config.json               tokenizer_config.json                          class
//! {"model_type": "gpt2"}    {}                                        ->   GPT2Tokenizer
//! {"model_type": "phi3"}    {"tokenizer_class": "LlamaTokenizer"}     ->   TokenizersBackend
//! none                      {"tokenizer_class": "LlamaTokenizer"}     ->   LlamaTokenizer
//! ```
//!
//! The rules are those of transformers 5.24.0 `models/auto/tokenization_auto.py`, `AutoTokenizer.from_pretrained`, in its order, without
//! GGUF files and without the package `mistral-common`. The tables are in [`tokenizer_tables`].

use super::model_config::{ModelConfig, get_string};
use super::tokenizer_tables::{self, TokenizerClass};
use crate::error::{Error, ErrorKind, Result};
use crate::json::{Data, Object};

/// The generic classes. If one of them is registered for a model type, a class that the files name does not replace it.
const GENERIC: [&str; 4] = [
    "TokenizersBackend",
    "PythonBackend",
    "PreTrainedTokenizer",
    "MistralCommonBackend",
];

/// Chooses the tokenizer class by the content of `config.json` and of `tokenizer_config.json`. The function `is_byte_level` returns whether
/// `tokenizer.json` mentions `ByteLevel`, and is called only if that matters. With `ignores_code`, a class that is Python code in the folder
/// is taken for one without default special tokens.
///
/// # Errors
/// If a class is not a string, if `config.json` names one that transformers does not have, or if the class is code in the folder.
pub(super) fn choose_class(
    model: &ModelConfig<'_>,
    tokenizer: &Object<'_>,
    ignores_code: bool,
    is_byte_level: impl FnOnce() -> bool,
) -> Result<TokenizerClass> {
    let own = get_string(tokenizer, "tokenizer_class")?;
    let code = remote_class(tokenizer)?;
    if code.is_none() {
        if let Some(class) = choose_without_code(model, own, is_byte_level) {
            return Ok(class);
        }
    }
    // The last rules remove one `Fast` from the name. A class that transformers does not have has no default tokens.
    let own = own.map(|name| tokenizer_tables::class(without_fast(name)));
    let default = tokenizer_tables::find_class_of_configuration(model.model_type);
    if let Some(code) = code {
        let has_class = default.is_some() || matches!(own, Some(Some(_)));
        if !has_class && !tokenizer_tables::is_corrected(model.model_type) {
            return if ignores_code {
                Ok(TokenizerClass::BACKEND)
            } else {
                Err(refuse_code(code))
            };
        }
    }
    match (own, model.tokenizer_class) {
        (Some(class), _) => Ok(class.unwrap_or(TokenizerClass::BACKEND)),
        (None, Some(name)) if !name.is_empty() => tokenizer_tables::class(name).ok_or_else(|| {
            let message =
                format!("there is no tokenizer_class, and transformers does not have {name}, the class that config.json names");
            Error::new(ErrorKind::Attribute, message)
        }),
        (None, _) => {
            let default = tokenizer_tables::find_class_of_configuration(model.tokenizer_type());
            Ok(default.and_then(tokenizer_tables::class).unwrap_or(TokenizerClass::BACKEND))
        }
    }
}

/// Returns the class that transformers chooses for a folder that needs no Python code, or `None` if none of these rules applies.
fn choose_without_code(model: &ModelConfig<'_>, own: Option<&str>, is_byte_level: impl FnOnce() -> bool) -> Option<TokenizerClass> {
    if tokenizer_tables::is_repository_of_backend(model.repository) {
        return Some(TokenizerClass::BACKEND);
    }
    let named = own.filter(|name| !name.is_empty()).or(model.tokenizer_class)?;
    let is_corrected = tokenizer_tables::is_corrected(model.model_type) || tokenizer_tables::is_corrected(model.model_name);
    // Folders of Llama 3 and its like name the class of Llama 2.
    if without_fast(named) == "LlamaTokenizer" && !is_corrected && is_byte_level() {
        return Some(TokenizerClass::BACKEND);
    }
    let registered = tokenizer_tables::find_registered_class(model.model_type).map(without_fast);
    let registered = registered.filter(|registered| *registered != without_fast(named))?;
    if GENERIC.contains(&registered) {
        return Some(TokenizerClass::BACKEND);
    }
    let class = tokenizer_tables::class(if is_corrected { registered } else { named });
    Some(class.unwrap_or(TokenizerClass::BACKEND))
}

/// Returns the Python class in the folder that the key `auto_map` names for the tokenizer.
fn remote_class<'f>(tokenizer: &'f Object<'_>) -> Result<Option<&'f str>> {
    let map = tokenizer.get("auto_map");
    let code = match map {
        Some(Data::Object(map)) => map.get("AutoTokenizer"),
        map => map,
    };
    match (map, code) {
        (_, Some(Data::List(classes))) => {
            let mut names = classes.iter().rev().filter_map(Data::text);
            names.next().map(Some).ok_or_else(no_map)
        }
        (Some(Data::Object(_)), Some(Data::Str(name))) => Ok(Some(name)),
        (None | Some(Data::Object(_)), None | Some(Data::None)) => Ok(None),
        _ => Err(no_map()),
    }
}

/// Returns the name of a class without the `Fast` at its end.
fn without_fast(class: &str) -> &str {
    class.strip_suffix("Fast").unwrap_or(class)
}

fn no_map() -> Error {
    Error::type_error("auto_map must name classes, as {\"AutoTokenizer\": [slow, fast]} does")
}

fn refuse_code(class: &str) -> Error {
    Error::value(format!(
        "auto_map names Python code as the tokenizer ({class}), and this crate does not run it; set \
         LoadOptions::ignore_remote_code to load the folder with the special tokens that its files name"
    ))
}
