//! The options that say which rows are read, and how. The commands `dataset` and `parity` share them.

use std::path::{Path, PathBuf};

use chat_template_rows::{Format, Reader};
use indicatif::ProgressBar;

use super::input::{Opened, list_files};
use super::kinds::find_shape;
use crate::cli::file::shown;
use crate::cli::warn;

/// The options that say which rows are read, and how.
#[derive(clap::Args)]
pub struct Reading {
    /// The files with the rows, in their order, or a folder. The default is standard input.
    #[arg(value_name = "FILE")]
    rows: Vec<PathBuf>,
    /// The rows, as the argument FILE.
    #[arg(long, value_name = "FILE", conflicts_with = "rows")]
    input: Vec<PathBuf>,
    /// The key of the messages. The default is that of the format.
    #[arg(long, value_name = "KEY")]
    messages_key: Option<String>,
    /// The format of the rows: messages, sharegpt or alpaca. The default is the format of the first rows.
    #[arg(long, value_name = "NAME")]
    format: Option<Format>,
    /// The largest size of a row in MiB. A longer row fails.
    #[arg(long, value_name = "MIB", default_value = "16", value_parser = clap::value_parser!(u64).range(1..=1024))]
    max_row: u64,
    /// Removes the keys that are null from messages and tools, as columns of a data set have them. Rows of Parquet and Arrow need no option.
    #[arg(long)]
    remove_null: bool,
    /// Reads the arguments of calls, which are JSON text. Without this, the template sees the text, as with transformers.
    #[arg(long)]
    json_arguments: bool,
}

impl Reading {
    /// Returns the files of the input.
    pub fn list_files(&self) -> Result<Vec<PathBuf>, String> {
        let files = list_files(&[&self.rows[..], &self.input].concat())?;
        Ok(if files.is_empty() { vec![PathBuf::from("-")] } else { files })
    }

    /// Returns the largest length of a row in bytes.
    pub fn max_row(&self) -> u64 {
        self.max_row << 20
    }

    /// Opens the first file and finds out by its first rows how to read them. Prints a note if the file is not JSON Lines with `messages`.
    pub fn open(&self, input: &[PathBuf], bar: &ProgressBar) -> Result<(Reader, Opened), String> {
        let path = input.first().map_or(Path::new("-"), PathBuf::as_path);
        let explain = |error: &dyn std::fmt::Display| format!("{}: {error}", shown(path).display());
        let mut first = Opened::open(path, bar).map_err(|error| explain(&error))?;
        let mut reader = Reader {
            format: self.format.unwrap_or_default(),
            messages_key: self.messages_key.clone(),
            removes_null: self.remove_null || first.is_table,
            reads_arguments: self.json_arguments,
        };
        let mut notes = first.notes.clone();
        let start = first.peek(self.max_row()).map_err(|error| explain(&error))?;
        let messages_key = self.messages_key.as_deref();
        let shape = match self.format {
            Some(_) => None,
            None => find_shape(&start, messages_key).map_err(|error| explain(&error))?,
        };
        if let Some(shape) = shape {
            reader.format = shape.format;
            reader.messages_key = reader.messages_key.or_else(|| shape.messages_key.map(str::to_owned));
            notes.extend(match shape.format {
                Format::Messages => shape.messages_key.map(|_| "messages under another key (--messages-key)"),
                Format::ShareGpt => Some("rows of ShareGPT (--format sharegpt)"),
                Format::Alpaca => Some("rows of Alpaca (--format alpaca)"),
            });
        }
        if !notes.is_empty() {
            warn(&explain(&notes.join(", ")));
        }
        Ok((reader, first))
    }
}
