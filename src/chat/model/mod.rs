//! Reads a model's folder: its templates, its special tokens and the class of its tokenizer.
//!
//! ```text
//! tokenizer_config.json, chat_template.jinja, tokenizer.json …   ->   a `ChatTemplate`
//! ```

mod added_tokens;
pub(crate) mod cache;
mod config;
mod files;
mod folder;
mod gguf;
mod model_config;
mod roots;
mod tokenizer_class;
mod tokenizer_json;
mod tokenizer_tables;
mod tokens;

#[cfg(feature = "internal")]
pub use files::Files;
pub use files::LoadOptions;
#[cfg(feature = "internal")]
pub use tokens::MAX_SPECIAL_TOKENS;
#[cfg(feature = "inspect")]
pub(crate) use tokens::STANDARD as SPECIAL_TOKENS;
