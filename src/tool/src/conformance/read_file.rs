//! Reads files whose size is bounded, so that an endless file such as `/dev/zero` is an error.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use chat_template::internal::describe_fault;

/// The largest size of a file in bytes.
pub const MAX_FILE: u64 = 256 << 20;

/// Reads a file.
///
/// # Errors
/// Returns a message that names the file if it cannot be read or is too large.
pub fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    let name = path.display();
    if path.is_dir() {
        return Err(format!("{name}: this is a folder, and must be a file"));
    }
    let file = File::open(path).map_err(|error| format!("{name}: {error}"))?;
    read_bytes(file, path)
}

/// Reads a stream to its end. `path` is its name for messages.
///
/// # Errors
/// Returns a message that names the stream if it cannot be read or is too large.
pub fn read_bytes(stream: impl Read, path: &Path) -> Result<Vec<u8>, String> {
    let name = path.display();
    let mut bytes = Vec::new();
    let read = stream.take(MAX_FILE + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("{name}: {error}"))?;
    match bytes.len() as u64 {
        0..=MAX_FILE => Ok(bytes),
        _ if bytes.starts_with(b"GGUF") => Err(format!("{name}: the file is GGUF: load it as a model")),
        _ => Err(format!(
            "{name}: the file has more than {} MiB, which is the limit",
            MAX_FILE >> 20
        )),
    }
}

/// Reads a file of UTF-8.
///
/// # Errors
/// Returns a message that names the file if it cannot be read, is too large or is not UTF-8.
pub fn read_text(path: &Path) -> Result<String, String> {
    decode(read_file(path)?, path)
}

/// Returns the text of bytes of UTF-8. `path` is the name of their file for messages.
///
/// # Errors
/// Returns a message that names the file if the bytes are not UTF-8.
pub fn decode(bytes: Vec<u8>, path: &Path) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|error| format!("{}: {}", path.display(), describe_fault(&error)))
}
