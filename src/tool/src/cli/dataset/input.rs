//! The files of an input, and the rows of a file as JSON Lines, whatever it is.

use std::fs::File;
use std::io::{BufRead, Cursor, Error, ErrorKind, Read, Result};
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;

use super::codec::Codec;
use super::kinds::find_binary;
#[cfg(feature = "parquet")]
use super::table;
use super::text::to_lines;
use crate::cli::file::is_dash;
use crate::cli::lines::read_start;

/// The number of bytes of the first rows in which the format of a file is looked for. The first row can be longer.
const START: usize = 64 << 10;

/// The number of rows in which the format of a file is looked for if the first row is longer than that.
const LONG_ROWS: usize = 4;

/// The number of bytes that show what a file is.
const MAGIC: usize = 512;

/// The endings of files in a folder that have rows.
const ENDINGS: [&str; 8] = ["jsonl", "ndjson", "json", "gz", "zst", "parquet", "arrow", "feather"];

/// The files in the folder of a data set that have no rows, as `datasets` writes them.
const NOT_ROWS: [&str; 3] = ["dataset_info.json", "dataset_dict.json", "state.json"];

/// A file that was opened.
pub struct Opened {
    pub lines: Box<dyn BufRead>,
    /// What the file is, if it is not JSON Lines in UTF-8.
    pub notes: Vec<&'static str>,
    /// Whether the rows are those of a table, whose columns are null where a row lacks them.
    pub is_table: bool,
}

impl Opened {
    /// Opens a file. The bar shows the number of bytes that were read from it.
    pub fn open(path: &Path, bar: &ProgressBar) -> Result<Self> {
        if is_dash(path) {
            return Self::read(Box::new(bar.wrap_read(std::io::stdin().lock())));
        }
        let file = File::open(path)?;
        #[cfg(feature = "parquet")]
        if let Some((lines, note)) = table::open(path, &file)? {
            return Ok(Self {
                lines,
                notes: vec![note],
                is_table: true,
            });
        }
        Self::read(Box::new(bar.wrap_read(file)))
    }

    fn read(mut bytes: Box<dyn Read>) -> Result<Self> {
        // A pipe can have one line for a long time.
        let (mut start, mut buffer) = (Vec::new(), vec![0; START]);
        while start.len() < MAGIC && !start.contains(&b'\n') {
            let read = bytes.read(&mut buffer)?;
            if read == 0 {
                break;
            }
            start.extend_from_slice(buffer.get(..read).unwrap_or_default());
        }
        let mut text = Codec::decode(start, bytes)?;
        find_binary(text.fill_buf()?).map_err(|message| Error::new(ErrorKind::InvalidData, message))?;
        let (lines, notes) = to_lines(text)?;
        Ok(Self {
            lines,
            notes,
            is_table: false,
        })
    }

    /// Returns the first lines, which stay to be read.
    pub fn peek(&mut self, max_row: u64) -> Result<Vec<u8>> {
        let available = self.lines.fill_buf()?;
        let available = available.get(..START).unwrap_or(available);
        let end = available.iter().rposition(|byte| *byte == b'\n');
        let mut start = available
            .get(..end.map_or(0, |end| end.saturating_add(1)))
            .unwrap_or_default()
            .to_vec();
        self.lines.consume(start.len());
        if start.trim_ascii().is_empty() {
            // The first rows are long, and one of them can be damaged.
            for _ in 0..LONG_ROWS {
                let length = read_start(&mut self.lines, max_row, &mut start)?;
                if length.is_none() || start.len() as u64 > max_row {
                    break;
                }
            }
        }
        let rest = std::mem::replace(&mut self.lines, Box::new(std::io::empty()));
        self.lines = Box::new(Cursor::new(start.clone()).chain(rest));
        Ok(start)
    }
}

/// Returns the files of an input: of a folder and of a pattern all files in order.
pub fn list_files(paths: &[PathBuf]) -> std::result::Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for path in paths {
        let shown = path.display();
        let pattern = path.to_str().filter(|text| text.contains(['*', '?', '[']) && !path.exists());
        if let Some(pattern) = pattern {
            let found = glob::glob(pattern).map_err(|error| format!("{shown}: {error}"))?;
            let found = found.filter_map(std::result::Result::ok).filter(|path| path.is_file());
            let before = files.len();
            files.extend(found);
            if files.len() == before {
                return Err(format!("{shown}: no file matches this pattern"));
            }
        } else if path.is_dir() {
            files.extend(list_folder(path).map_err(|error| format!("{shown}: {error}"))?);
        } else {
            files.push(path.clone());
        }
    }
    if files.len() > 1 && files.iter().any(|file| is_dash(file)) {
        return Err("standard input cannot be one of several files".to_owned());
    }
    Ok(files)
}

/// Returns the files of a folder that have rows.
fn list_folder(folder: &Path) -> std::result::Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| error.to_string())?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let name = |path: &Path| {
        path.file_name()
            .map_or(String::new(), |name| name.to_string_lossy().into_owned())
    };
    let has_rows = |path: &Path| {
        let name = name(path);
        let ending = path.extension().and_then(|ending| ending.to_str());
        let is_data = ending.is_some_and(|ending| ENDINGS.contains(&ending)) || ending.is_none() && name.starts_with("part-");
        is_data && !name.starts_with(['.', '_']) && !NOT_ROWS.contains(&name.as_str())
    };
    let files: Vec<PathBuf> = paths
        .iter()
        .filter(|path| path.is_file() && has_rows(path))
        .cloned()
        .collect();
    if files.is_empty() {
        let folders: Vec<String> = paths.iter().filter(|path| path.is_dir()).map(|path| name(path)).collect();
        let hint = match &*folders.join(", ") {
            "" => String::new(),
            folders => format!("; pass one of its folders: {folders}"),
        };
        return Err(format!(
            "this folder has no files that end in {}{hint}",
            ENDINGS.map(|ending| format!(".{ending}")).join(", ")
        ));
    }
    Ok(files)
}
