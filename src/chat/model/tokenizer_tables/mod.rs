//! The tables by which transformers chooses the class of a tokenizer, and the special tokens of each class.
//!
//! ```text
//! find_registered_class("gpt2")  ->   GPT2Tokenizer
//! class("GPT2Tokenizer")         ->   bos_token is <|endoftext|>, …
//! class("ElectraTokenizer")      ->   the tokens of BertTokenizer
//! ```
//!
//! The cells of the tables are separated by tabs. `tests/reference/tokenizer_classes.py` makes them from transformers 5.24.0. A search
//! reads a table from its beginning: loading a folder takes a few searches of some microseconds each.

use std::str::Split;

use crate::error::{Error, Result};
use crate::json;
use crate::json::{Data, Object};

const CLASSES: &str = include_str!("classes.tsv");
const MODEL_TYPES: &str = include_str!("model_types.tsv");
const REPOSITORIES: &str = include_str!("repositories.tsv");

/// A tokenizer class of transformers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TokenizerClass {
    name: &'static str,
    tokens: &'static str,
}

impl TokenizerClass {
    /// The class `TokenizersBackend`, which has no special tokens of its own.
    pub const BACKEND: Self = Self {
        name: "TokenizersBackend",
        tokens: "{}",
    };

    /// Returns the default special tokens of the class. If `pad_token` is null, the class also ignores the one of `tokenizer.json`.
    ///
    /// # Errors
    /// An internal error if the table is wrong.
    pub fn tokens(self) -> Result<Object<'static>> {
        match json::read(self.tokens)? {
            Data::Object(tokens) => Ok(tokens),
            _ => Err(Error::internal(format!("the tokens of {} are not an object", self.name))),
        }
    }
}

/// Returns the class that transformers finds by a name, with or without `Fast` at its end.
pub(super) fn class(name: &str) -> Option<TokenizerClass> {
    let name = name.trim_end_matches("Fast");
    let (name, tokens) = match row(CLASSES, name)? {
        (name, tokens) if tokens.starts_with('{') => (name, tokens),
        (_, other) => row(CLASSES, other)?,
    };
    Some(TokenizerClass { name, tokens })
}

/// Returns the name of the class that is registered for a model type.
pub(super) fn find_registered_class(model_type: &str) -> Option<&'static str> {
    cell(model_type, Column::Registered)
}

/// Returns the name of the tokenizer class that transformers has for the configuration class of a model type. Model types that share a
/// configuration class have the same one, so it can differ from [`find_registered_class`].
pub(super) fn find_class_of_configuration(model_type: &str) -> Option<&'static str> {
    cell(model_type, Column::OfConfiguration)
}

/// Returns whether transformers has a configuration class for a model type.
pub(super) fn is_known(model_type: &str) -> bool {
    has_note(model_type, "known")
}

/// Returns whether folders of this model type get the registered class even if their files name another one.
pub(super) fn is_corrected(model_type: &str) -> bool {
    has_note(model_type, "corrected")
}

/// Returns whether the tokenizer of a repository is loaded as `TokenizersBackend`, whatever its files say.
pub(super) fn is_repository_of_backend(name: &str) -> bool {
    let name = name.to_lowercase();
    let matches = |pattern: &str| match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == pattern,
    };
    lines(REPOSITORIES).any(matches)
}

/// The columns of the table of model types, after the model type itself.
#[derive(Clone, Copy)]
enum Column {
    Registered,
    OfConfiguration,
    Notes,
}

fn has_note(model_type: &str, note: &str) -> bool {
    cell(model_type, Column::Notes).is_some_and(|notes| notes.split(' ').any(|other| other == note))
}

/// Returns the cell of a model type in a column, or `None` if it is empty.
fn cell(model_type: &str, column: Column) -> Option<&'static str> {
    let (_, cells) = row(MODEL_TYPES, model_type)?;
    let mut cells: Split<'static, char> = cells.split('\t');
    cells.nth(column as usize).filter(|cell| !cell.is_empty())
}

/// Returns the first cell of the line that begins with `key`, and the rest of the line.
fn row(table: &'static str, key: &str) -> Option<(&'static str, &'static str)> {
    lines(table)
        .filter_map(|line| line.split_once('\t'))
        .find(|(first, _)| *first == key)
}

/// Returns the lines after the heading.
fn lines(table: &'static str) -> impl Iterator<Item = &'static str> {
    table.lines().skip(1)
}
