//! The class that transformers loads a folder's tokenizer with, which has special tokens of its own.
//!
//! ```text
//! config.json               tokenizer_config.json                          class
//! {"model_type": "gpt2"}    {}                                        ->   GPT2Tokenizer
//! {"model_type": "phi3"}    {"tokenizer_class": "LlamaTokenizer"}     ->   TokenizersBackend
//! none                      {"tokenizer_class": "LlamaTokenizer"}     ->   LlamaTokenizer
//! ```
//!
//! The rules are those of transformers 5.23.0 `models/auto/tokenization_auto.py`, `AutoTokenizer.from_pretrained`, in its order, without
//! GGUF files and without the package `mistral-common`. The tables are in [`tokenizer_tables`]; this file does not read files.

use super::model_config::{ModelConfig, string};
use super::tokenizer_tables::{self, TokenizerClass};
use crate::error::{Error, ErrorKind, Result};
use crate::json::{Data, Object};

/// The classes that say nothing of a tokenizer, so that another class in the files does not replace them.
const GENERIC: [&str; 4] = [
    "TokenizersBackend",
    "PythonBackend",
    "PreTrainedTokenizer",
    "MistralCommonBackend",
];

/// What happens if the class of a tokenizer is code in its folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RemoteCode {
    /// It is an error, as in transformers without `trust_remote_code`.
    Refuse,
    /// The class has no special tokens of its own.
    Ignore,
}

/// Chooses the class by the content of `config.json` and of `tokenizer_config.json`. The function `is_byte_level` returns whether
/// `tokenizer.json` mentions `ByteLevel`, and is called only if that matters.
///
/// # Errors
/// If a class is not a string, if `config.json` names one that transformers does not have, or if the class is code in the folder.
pub(super) fn choose(
    model: &ModelConfig<'_>,
    tokenizer: &Object<'_>,
    remote_code: RemoteCode,
    is_byte_level: impl FnOnce() -> bool,
) -> Result<TokenizerClass> {
    let own = string(tokenizer, "tokenizer_class")?;
    let code = code_of_class(tokenizer)?;
    if code.is_none() {
        if let Some(class) = without_code(model, own, is_byte_level) {
            return Ok(class);
        }
    }
    // A name at the end of the rules loses one `Fast`, and a name that transformers does not have is the one without tokens.
    let own = own.map(|name| tokenizer_tables::class(plain(name)));
    let default = tokenizer_tables::of_configuration(model.model_type);
    if let Some(code) = code {
        let has_class = default.is_some() || matches!(own, Some(Some(_)));
        match remote_code {
            _ if has_class || tokenizer_tables::is_corrected(model.model_type) => {}
            RemoteCode::Refuse => return Err(needs_code(code)),
            RemoteCode::Ignore => return Ok(TokenizerClass::BACKEND),
        }
    }
    match (own, model.tokenizer_class) {
        (Some(class), _) => Ok(class.unwrap_or(TokenizerClass::BACKEND)),
        (None, Some(name)) if !name.is_empty() => tokenizer_tables::class(name).ok_or_else(|| {
            let message = format!("no tokenizer_class is here, and transformers does not have {name}, the one in config.json");
            Error::new(ErrorKind::Attribute, message)
        }),
        (None, _) => {
            let default = tokenizer_tables::of_configuration(model.tokenizer_type());
            Ok(default.and_then(tokenizer_tables::class).unwrap_or(TokenizerClass::BACKEND))
        }
    }
}

/// The class that the rules for folders without code choose, if one of them applies.
fn without_code(model: &ModelConfig<'_>, own: Option<&str>, is_byte_level: impl FnOnce() -> bool) -> Option<TokenizerClass> {
    if tokenizer_tables::is_repository_of_backend(model.repository) {
        return Some(TokenizerClass::BACKEND);
    }
    let named = own.filter(|name| !name.is_empty()).or(model.tokenizer_class)?;
    let is_corrected = tokenizer_tables::is_corrected(model.model_type) || tokenizer_tables::is_corrected(model.model_name);
    // Models of Llama 3's kind name the class of Llama 2.
    if plain(named) == "LlamaTokenizer" && !is_corrected && is_byte_level() {
        return Some(TokenizerClass::BACKEND);
    }
    let registered = tokenizer_tables::registered(model.model_type).map(plain);
    let registered = registered.filter(|registered| *registered != plain(named))?;
    if GENERIC.contains(&registered) {
        return Some(TokenizerClass::BACKEND);
    }
    let class = tokenizer_tables::class(if is_corrected { registered } else { named });
    Some(class.unwrap_or(TokenizerClass::BACKEND))
}

/// The code that the key `auto_map` names as the tokenizer's class.
fn code_of_class<'f>(tokenizer: &'f Object<'_>) -> Result<Option<&'f str>> {
    let map = tokenizer.get("auto_map");
    let code = match map {
        Some(Data::Object(map)) => map.get("AutoTokenizer"),
        map => map,
    };
    match (map, code) {
        (_, Some(Data::List(classes))) => {
            let mut names = classes.iter().rev().filter_map(|class| match class {
                Data::Str(name) => Some(&**name),
                _ => None,
            });
            names.next().map(Some).ok_or_else(no_map)
        }
        (Some(Data::Object(_)), Some(Data::Str(name))) => Ok(Some(name)),
        (None | Some(Data::Object(_)), None | Some(Data::None)) => Ok(None),
        _ => Err(no_map()),
    }
}

/// The name of a class without the `Fast` at its end.
fn plain(class: &str) -> &str {
    class.strip_suffix("Fast").unwrap_or(class)
}

fn no_map() -> Error {
    Error::type_error("auto_map must name classes, as {\"AutoTokenizer\": [slow, fast]} does")
}

fn needs_code(class: &str) -> Error {
    Error::value(format!(
        "the tokenizer's class is code in this folder ({class}, by auto_map), which is not run; \
         with ignore_remote_code the folder is read without it"
    ))
}

#[cfg(test)]
mod tests {
    use super::{RemoteCode, choose};
    use crate::chat::model_config::ModelConfig;
    use crate::chat::tokenizer_tables;
    use crate::json;
    use crate::json::{Data, Object};

    fn object(text: &str) -> Object<'_> {
        match json::read(text, json::DEPTH) {
            Ok(Data::Object(object)) => object,
            other => panic!("{text} is no object: {other:?}"),
        }
    }

    fn assert_class(model: &str, tokenizer: &str, is_byte_level: bool, expected: &str) {
        let config = object(model);
        let model_config = ModelConfig::read(&config, "/folder").unwrap();
        let class = choose(&model_config, &object(tokenizer), RemoteCode::Refuse, || is_byte_level);
        assert_eq!(class.ok(), tokenizer_tables::class(expected), "{model} {tokenizer}");
    }

    #[test]
    fn the_model_type_chooses_where_no_file_names_a_class() {
        assert_class(r#"{"model_type": "gpt2"}"#, "{}", false, "GPT2Tokenizer");
        assert_class(r#"{"model_type": "llama"}"#, "{}", false, "TokenizersBackend");
        assert_class("{}", "{}", false, "TokenizersBackend");
        let pair = r#"{"model_type": "encoder-decoder", "encoder": {"model_type": "bert"}, "decoder": {"model_type": "gpt2"}}"#;
        assert_class(pair, "{}", false, "BertTokenizer");
    }

    #[test]
    fn the_class_of_a_file_counts_unless_the_model_type_is_corrected() {
        let llama = r#"{"tokenizer_class": "LlamaTokenizerFast"}"#;
        assert_class("{}", llama, false, "LlamaTokenizer");
        assert_class("{}", llama, true, "TokenizersBackend");
        assert_class(r#"{"model_type": "gpt2"}"#, llama, false, "LlamaTokenizer");
        assert_class(r#"{"model_type": "phi3"}"#, llama, false, "TokenizersBackend");
        assert_class(r#"{"model_type": "qwen2"}"#, llama, true, "Qwen2Tokenizer");
        assert_class(r#"{"tokenizer_class": "BertTokenizer"}"#, "{}", false, "BertTokenizer");
    }

    #[test]
    fn code_is_refused_unless_there_is_a_class() {
        let code = r#"{"auto_map": {"AutoTokenizer": ["a.B", null]}, "tokenizer_class": "B"}"#;
        assert_class("{}", code, false, "");
        assert_class(r#"{"model_type": "gpt2"}"#, code, false, "TokenizersBackend");
        let ignored = choose(&ModelConfig::default(), &object(code), RemoteCode::Ignore, || false);
        assert_eq!(ignored.ok(), tokenizer_tables::class("TokenizersBackend"));
    }
}
