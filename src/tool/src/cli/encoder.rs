//! Encodes prompts by a file `tokenizer.json`, in child processes of this program.
//!
//! ```text
//! dataset, render   --the file, then prompts-->   child: chat-template encode
//!                   <--tokens, or an error--
//! ```
//!
//! The crate `tokenizers` trusts its file: one of 300 bytes can ask for gigabytes. The end of a child is the error of one row.
//!
//! Each message is its length in 8 bytes, little-endian, and its bytes. An answer begins with a byte: 0 before the tokens, 1 before the text
//! of an error. A token has three numbers of 8 bytes: its id, and the bytes of the prompt at which it starts and ends.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::{Mutex, PoisonError};

use super::child;

/// The seconds of processor time that a child has for a short message.
#[cfg(feature = "tokenizer")]
const SECONDS: u64 = 2;

/// A message for a prompt whose child has ended.
const ENDED: &str = "the tokenizer fails on this prompt, or needs too much memory or time";

/// The ids of tokens, and their places in bytes.
pub type Encoded = (Vec<u32>, Vec<(usize, usize)>);

/// Encodes prompts, on any thread.
pub struct Encoder {
    /// The file `tokenizer.json`.
    file: Vec<u8>,
    /// The children that wait for a prompt.
    idle: Mutex<Vec<Worker>>,
}

impl Encoder {
    /// Starts a child with the file at a path.
    ///
    /// # Errors
    /// If the file cannot be read, and those of [`Encoder::new`].
    pub fn read(path: &Path) -> Result<Self, String> {
        Self::new(crate::conformance::read_file(path)?).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Starts a child with a file.
    ///
    /// # Errors
    /// If the file is no tokenizer, or asks for too much.
    pub fn new(file: Vec<u8>) -> Result<Self, String> {
        let worker = Worker::start(&file)?;
        Ok(Self {
            file,
            idle: Mutex::new(vec![worker]),
        })
    }

    /// Returns the tokens of a prompt. As in `apply_chat_template`, none is added to those of the template.
    pub fn encode(&self, text: &str) -> Result<Encoded, String> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut worker = match idle {
            Some(worker) => worker,
            None => Worker::start(&self.file)?,
        };
        let answer = worker.ask(text.as_bytes()).ok_or(ENDED)?;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
        Ok(read_tokens(&answer?))
    }
}

/// A child process. It ends when its input is closed.
struct Worker {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
}

impl Worker {
    fn start(file: &[u8]) -> Result<Self, String> {
        let child = child::start(|command| {
            command.arg("encode").stdin(Stdio::piped());
        });
        let mut child = child.map_err(|error| format!("the encoder does not start: {error}"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the encoder has no pipes".to_owned());
        };
        let mut worker = Self { child, input, output };
        let answer = worker
            .ask(file)
            .ok_or("this tokenizer fails, or needs too much memory or time")?;
        answer.map(|_| worker)
    }

    /// Sends a message, and returns the answer. Returns `None` if the child ends without one.
    fn ask(&mut self, message: &[u8]) -> Option<Result<Vec<u8>, String>> {
        write_message(&mut self.input, &[message]).ok()?;
        let mut answer = read_message(&mut self.output).ok()??;
        match answer.first()? {
            0 => Some(Ok(answer.split_off(1))),
            _ => Some(Err(String::from_utf8_lossy(&answer.split_off(1)).into_owned())),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        child::end(&mut self.child);
    }
}

fn write_message(to: &mut impl Write, parts: &[&[u8]]) -> std::io::Result<()> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    to.write_all(&(length as u64).to_le_bytes())?;
    parts.iter().try_for_each(|part| to.write_all(part))?;
    to.flush()
}

/// Returns the next message, or `None` at the end of the stream.
fn read_message(from: &mut impl Read) -> std::io::Result<Option<Vec<u8>>> {
    let mut length = [0; 8];
    match from.read_exact(&mut length) {
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let length = u64::from_le_bytes(length);
    let mut message = Vec::new();
    from.take(length).read_to_end(&mut message)?;
    if (message.len() as u64) < length {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(message))
}

/// Reads the tokens of an answer.
fn read_tokens(answer: &[u8]) -> Encoded {
    let mut numbers = answer
        .chunks_exact(8)
        .map(|bytes| bytes.try_into().map_or(0, u64::from_le_bytes));
    let mut next = || numbers.next().and_then(|number| usize::try_from(number).ok());
    let (mut ids, mut places) = (Vec::new(), Vec::new());
    while let (Some(id), Some(start), Some(end)) = (next(), next(), next()) {
        ids.push(u32::try_from(id).unwrap_or(u32::MAX));
        places.push((start, end));
    }
    (ids, places)
}

/// Answers the messages of a parent: the command `encode`.
#[cfg(feature = "tokenizer")]
pub fn serve() -> Result<(), String> {
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let explain = |error: std::io::Error| error.to_string();
    let Some(file) = read_message(&mut input).map_err(explain)? else {
        return Ok(());
    };
    child::limit_memory(file.len() as u64);
    child::limit_time(SECONDS, file.len() as u64);
    let encoder = match read_file(&file) {
        Ok(encoder) => encoder,
        Err(message) => return write_message(&mut output, &[&[1], message.as_bytes()]).map_err(explain),
    };
    write_message(&mut output, &[&[0]]).map_err(explain)?;
    drop(file);
    while let Some(text) = read_message(&mut input).map_err(explain)? {
        child::limit_time(SECONDS, text.len() as u64);
        match encode(&encoder, &String::from_utf8_lossy(&text)) {
            Ok(tokens) => write_message(&mut output, &[&[0], &tokens]),
            Err(message) => write_message(&mut output, &[&[1], message.as_bytes()]),
        }
        .map_err(explain)?;
    }
    Ok(())
}

/// The command was built without the feature `tokenizer`.
#[cfg(not(feature = "tokenizer"))]
pub fn serve() -> Result<(), String> {
    let message = "this command was built without the feature `tokenizer`; build it with `--features tokenizer`";
    let _ = read_message(&mut std::io::stdin().lock());
    write_message(&mut std::io::stdout().lock(), &[&[1], message.as_bytes()]).map_err(|error| error.to_string())
}

#[cfg(feature = "tokenizer")]
fn read_file(file: &[u8]) -> Result<tokenizers::Tokenizer, String> {
    let mut encoder = tokenizers::Tokenizer::from_bytes(file).map_err(|error| format!("not a tokenizer.json: {error}"))?;
    // A tokenizer file can ask for truncation and padding. transformers ignores both by default.
    encoder.with_truncation(None).map_err(|error| error.to_string())?;
    encoder.with_padding(None);
    Ok(encoder)
}

/// Returns the tokens of a text as an answer has them.
#[cfg(feature = "tokenizer")]
fn encode(encoder: &tokenizers::Tokenizer, text: &str) -> Result<Vec<u8>, String> {
    let encoding = encoder.encode(text, false).map_err(|error| error.to_string())?;
    let tokens = encoding.get_ids().iter().zip(encoding.get_offsets());
    let numbers = tokens.flat_map(|(id, (start, end))| [u64::from(*id), *start as u64, *end as u64]);
    Ok(numbers.flat_map(u64::to_le_bytes).collect())
}
