//! Reads the templates and the special tokens in the metadata of a GGUF file.
//!
//! ```text
//! tokenizer.chat_template = "{{ bos_token }}…"      the template, named default if there are others
//! tokenizer.chat_template.tool_use = "…"            the template named tool_use
//! tokenizer.ggml.tokens = ["<unk>", "<s>", …]       the vocabulary
//! tokenizer.ggml.token_type = [2, 3, …]             3 marks a special token
//! tokenizer.ggml.bos_token_id = 1                   bos_token is <s>
//! ```
//!
//! The rule is transformers 5.24.0 `integrations/gguf/gguf_tokenizer_mapping.py` `get_gguf_tokenizer` and `reader.py` `_read_metadata`; of the
//! keys that these leave out, llama.cpp reads named templates and the ids of `sep_token`, `cls_token`, `mask_token` and the ends of turns. The
//! tensors after the metadata are not read. A key that is repeated has its last value.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufReader, Cursor, ErrorKind as IoErrorKind, Read, Seek};
use std::ops::Range;
use std::path::Path;

use super::added_tokens::MAX_ADDED_TOKENS;
use super::files::{BLOCK, LoadOptions, MAX_FILE_SIZE, Timed, failed, in_file, of_model};
use crate::chat::ChatTemplate;
use crate::chat::stops::GGUF;
use crate::chat::templates::{self, Compiler, Templates};
use crate::deadline::Bounds;
use crate::error::{Error, Result};
use crate::limits::{Limit, LimitExceeded};
use crate::meter::Meter;

/// The keys of the ids of special tokens in `tokenizer.ggml`, each with the name of the token in templates. A token without one ends a turn or a
/// message.
const IDS: [(&str, Option<&str>); 9] = [
    ("bos_token_id", Some("bos_token")),
    ("eos_token_id", Some("eos_token")),
    ("unknown_token_id", Some("unk_token")),
    ("seperator_token_id", Some("sep_token")),
    ("padding_token_id", Some("pad_token")),
    ("cls_token_id", Some("cls_token")),
    ("mask_token_id", Some("mask_token")),
    ("eot_token_id", None),
    ("eom_token_id", None),
];

/// The key of the template, which the names of other templates follow after a period.
const TEMPLATE: &str = "tokenizer.chat_template";

/// The type of a token that is special.
const CONTROL: u64 = 3;

/// The types of values that are not integers.
const FLOAT: u64 = 6;
const STRING: u64 = 8;
const ARRAY: u64 = 9;
const DOUBLE: u64 = 12;

const EMPTY: &str =
    "the file has neither a chat template nor a tokenizer: it is not the file of a language model, or not its first part";

/// The longest key in bytes, as the format says.
const MAX_KEY: u64 = (1 << 16) - 1;

/// The longest string in bytes that is read. It is the largest size of the templates of a model.
const MAX_STRING: u64 = templates::MAX_SOURCES as u64;

impl ChatTemplate {
    /// Loads the templates and the special tokens of a GGUF file of version 2 or 3, in either byte order. Only its metadata are read.
    /// [`LoadOptions::max_file_size`] bounds their size; of the other options, [`LoadOptions::bounds`] matters.
    ///
    /// The names of templates are those of [`ChatTemplate::from_named`]. A file without a template can be loaded, as a folder can.
    ///
    /// # Errors
    /// If the file cannot be read or has wrong content. The message has the path and the place, and the class is
    /// [`ErrorClass::Template`](crate::ErrorClass::Template).
    pub fn from_gguf(path: impl AsRef<Path>, options: &LoadOptions<'_>) -> Result<Self> {
        Self::load_gguf(path.as_ref(), options)?.checked()
    }

    /// Loads the metadata of a GGUF file like [`ChatTemplate::from_gguf`], from its first bytes or from all of them.
    ///
    /// # Errors
    /// Those of [`ChatTemplate::from_gguf`], without a path.
    pub fn from_gguf_bytes<'o>(bytes: &[u8], bounds: impl Into<Bounds<'o>>) -> Result<Self> {
        let bounds = bounds.into();
        let deadline = bounds.start();
        let meter = Meter::within(bounds, &deadline);
        let timed = Timed::new(Cursor::new(bytes), bounds.cancel, &deadline);
        let template = load(timed, MAX_FILE_SIZE, meter, None);
        template.map_err(of_model)?.checked()
    }

    /// Loads a GGUF file. If a template does not compile, [`ChatTemplate::apply`] returns the error.
    #[doc(hidden)]
    pub fn load_gguf(path: &Path, options: &LoadOptions<'_>) -> Result<Self> {
        let file = File::open(path).map_err(|error| failed(path, error))?;
        let deadline = options.bounds.start();
        let meter = Meter::within(options.bounds, &deadline);
        let timed = Timed::new(file, options.bounds.cancel, &deadline);
        load(timed, options.max_file_size, meter, Some(path)).map_err(|error| in_file(path, error))
    }
}

/// Loads a file, of which at most `limit` bytes are metadata. The errors of its templates name `path`.
fn load(file: Timed<'_, impl Read + Seek>, limit: u64, meter: Meter<'_>, path: Option<&Path>) -> Result<ChatTemplate> {
    let mut reader = Reader {
        inner: BufReader::with_capacity(BLOCK, file),
        position: 0,
        limit,
        is_big_endian: false,
    };
    let metadata = Metadata::read(&mut reader)?;
    let compiler = Compiler::new(meter);
    let named = metadata.templates.iter().map(|(name, source)| {
        let template = compiler.compile(name, source);
        match path {
            Some(path) => template.in_file(path.display().to_string()),
            None => template,
        }
    });
    let templates = Templates::from_files(named.collect());
    let (mut named, mut ends) = (Vec::new(), Vec::new());
    let (tokens, special) = metadata.read_tokens(&mut reader)?;
    for ((_, name), id) in IDS.iter().zip(metadata.ids) {
        let Some(token) = id.and_then(|id| tokens.get(&id)) else {
            continue;
        };
        match name {
            Some(name) => named.push(((*name).to_owned(), token.clone())),
            None => ends.push(token.clone()),
        }
    }
    let is_spelled = |token: &str| metadata.model != "gpt2" || token.chars().all(is_byte_letter);
    let special = tokens
        .into_iter()
        .filter(|(id, token)| special.contains(id) && is_spelled(token));
    Ok(ChatTemplate::assemble(templates, named)
        .with_added_special_tokens(special.map(|(_, token)| token).collect())
        .with_own_stops(ends, GGUF)
        .with_bos_added(metadata.adds_bos()))
}

/// What the metadata say.
#[derive(Default)]
struct Metadata {
    /// The templates with their names. The single or the main one is named `default`.
    templates: Vec<(String, String)>,
    tokens: Option<Array>,
    types: Option<Array>,
    /// The ids of the tokens in [`IDS`].
    ids: [Option<u64>; IDS.len()],
    /// The name of the tokenizer's algorithm. In that of `gpt2`, each byte is written as one of 256 characters.
    model: String,
    adds_bos: Option<bool>,
}

/// An array in the file: the type and the number of its items, and the position of the first one.
#[derive(Clone, Copy)]
struct Array {
    kind: u64,
    count: u64,
    start: u64,
}

impl Metadata {
    fn read<R: Read + Seek>(reader: &mut Reader<R>) -> Result<Self> {
        let count = reader.header()?;
        let mut metadata = Self::default();
        for _ in 0..count {
            let key = reader.string(MAX_KEY)?;
            let kind = reader.number(4)?;
            metadata.read_entry(reader, &key, kind)?;
        }
        if metadata.templates.is_empty() && metadata.tokens.is_none() {
            return Err(Error::value(EMPTY));
        }
        Ok(metadata)
    }

    /// Reads the value of a key.
    fn read_entry<R: Read + Seek>(&mut self, reader: &mut Reader<R>, key: &str, kind: u64) -> Result<()> {
        let name = key.strip_prefix(TEMPLATE);
        if let Some(name) = name.filter(|name| name.is_empty() || name.starts_with('.')) {
            if kind != STRING {
                return Err(fault(reader.position, &format!("{key} is not a string")));
            }
            let name = name.strip_prefix('.').unwrap_or("default").to_owned();
            self.templates.push((name, reader.string(MAX_STRING)?));
            return templates::check_count(self.templates.len());
        }
        match (key.strip_prefix("tokenizer.ggml.").unwrap_or_default(), kind) {
            ("tokens", ARRAY) => self.tokens = Some(reader.skip_array()?),
            ("token_type", ARRAY) => self.types = Some(reader.skip_array()?),
            ("model", STRING) => self.model = reader.string(MAX_KEY)?,
            ("add_bos_token", _) => self.adds_bos = Some(reader.integer(kind)? != 0),
            (key, _) => match IDS.iter().zip(&mut self.ids).find(|((known, _), _)| *known == key) {
                Some((_, id)) => *id = Some(reader.integer(kind)?),
                None => reader.skip_value(kind)?,
            },
        }
        Ok(())
    }

    /// Reads the tokens that have a name, are special or end a turn, and returns them by their ids with the ids of the special ones.
    fn read_tokens<R: Read + Seek>(&self, reader: &mut Reader<R>) -> Result<(BTreeMap<u64, String>, BTreeSet<u64>)> {
        let special = self.types.map_or(Ok(BTreeSet::new()), |types| reader.find_special(types))?;
        let wanted: BTreeSet<u64> = self.ids.iter().flatten().chain(&special).copied().collect();
        let (mut tokens, mut next) = (BTreeMap::new(), 0);
        if let Some(list) = self.tokens.filter(|list| list.kind == STRING) {
            reader.seek(list.start)?;
            // An id after the end of the vocabulary names no token, as in llama.cpp.
            for id in wanted.range(..list.count) {
                reader.skip_strings(next..*id)?;
                tokens.insert(*id, reader.string(MAX_KEY)?);
                next = id.saturating_add(1);
            }
        }
        Ok((tokens, special))
    }

    /// Returns whether the tokenizer begins a text with `bos_token`, by the rule of the reference.
    fn adds_bos(&self) -> Option<bool> {
        match self.model.as_str() {
            "llama" => self.adds_bos.or(Some(true)),
            "gemma4" => Some(false),
            _ => self.adds_bos,
        }
    }
}

/// Reads numbers and strings, and knows its position.
struct Reader<R> {
    inner: BufReader<R>,
    position: u64,
    /// The largest position.
    limit: u64,
    is_big_endian: bool,
}

impl<R: Read + Seek> Reader<R> {
    /// Reads what is before the metadata, and returns the number of their keys.
    fn header(&mut self) -> Result<u64> {
        if self.number(4)? != u64::from(u32::from_le_bytes(*b"GGUF")) {
            return Err(fault(0, "not a GGUF file: it does not begin with the letters GGUF"));
        }
        let mut version = self.number(4)?;
        // Both versions are small, so that the bytes say in which order they are.
        if version.trailing_zeros() >= 16 {
            (self.is_big_endian, version) = (true, version.swap_bytes() >> 32);
        }
        if !matches!(version, 2 | 3) {
            return Err(fault(4, &format!("version {version} of GGUF; versions 2 and 3 are read")));
        }
        let _tensors = self.number(8)?;
        self.number(8)
    }

    /// Returns the ids of the special tokens.
    fn find_special(&mut self, types: Array) -> Result<BTreeSet<u64>> {
        let mut special = BTreeSet::new();
        self.seek(types.start)?;
        for id in 0..types.count {
            if self.integer(types.kind)? == CONTROL {
                special.insert(id);
            }
            if special.len() > MAX_ADDED_TOKENS {
                let reached = LimitExceeded::from_sizes(Limit::AddedTokens, special.len(), MAX_ADDED_TOKENS);
                return Err(Error::limit(reached));
            }
        }
        Ok(special)
    }

    /// Skips a value.
    fn skip_value(&mut self, kind: u64) -> Result<()> {
        match kind {
            STRING => self.skip_strings(0..1),
            ARRAY => self.skip_array().map(drop),
            _ => {
                let width = self.width(kind)?;
                self.skip(width)
            }
        }
    }

    /// Skips an array, and returns its place.
    fn skip_array(&mut self) -> Result<Array> {
        let kind = self.number(4)?;
        let count = self.number(8)?;
        let start = self.position;
        match kind {
            STRING => self.skip_strings(0..count)?,
            ARRAY => return Err(fault(start, "an array of arrays, which no reader of these files knows")),
            _ => {
                let width = self.width(kind)?;
                self.skip(width.saturating_mul(count))?;
            }
        }
        Ok(Array { kind, count, start })
    }

    fn skip_strings(&mut self, range: Range<u64>) -> Result<()> {
        for _ in range {
            let size = self.number(8)?;
            self.skip(size)?;
        }
        Ok(())
    }

    /// Returns the number of bytes of a value that is neither a string nor an array.
    fn width(&self, kind: u64) -> Result<u64> {
        match kind {
            0 | 1 | 7 => Ok(1),
            2 | 3 => Ok(2),
            4..=6 => Ok(4),
            10..=12 => Ok(8),
            _ => Err(fault(
                self.position,
                &format!("a value of type {kind}, and there are types from 0 to 12"),
            )),
        }
    }

    /// Reads an integer. A negative one is returned as a large one, which is no id of a token.
    fn integer(&mut self, kind: u64) -> Result<u64> {
        if matches!(kind, STRING | ARRAY | FLOAT | DOUBLE) {
            return Err(fault(self.position, "the value must be an integer"));
        }
        let width = self.width(kind)?;
        self.number(width)
    }

    /// Reads a number of at most eight bytes.
    fn number(&mut self, width: u64) -> Result<u64> {
        let (at, mut bytes) = (self.position, [0; 8]);
        self.advance(width)?;
        let (bytes, _) = bytes.split_at_mut(usize::try_from(width).unwrap_or(8).min(8));
        self.inner.read_exact(bytes).map_err(|error| unreadable(at, width, error))?;
        let add = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        Ok(match self.is_big_endian {
            true => bytes.iter().fold(0, add),
            false => bytes.iter().rev().fold(0, add),
        })
    }

    /// Reads a string of at most `longest` bytes.
    fn string(&mut self, longest: u64) -> Result<String> {
        let size = self.number(8)?;
        let at = self.position;
        if size > longest {
            return Err(fault(
                at,
                &format!("a string of {size} bytes, and at most {longest} are read here"),
            ));
        }
        let mut bytes = Vec::new();
        self.advance(size)?;
        let read = self.inner.by_ref().take(size).read_to_end(&mut bytes);
        if read.map_err(|error| unreadable(at, size, error))? as u64 != size {
            return Err(cut(at, size));
        }
        String::from_utf8(bytes).map_err(|error| fault(at, &crate::text::message::describe_fault(&error)))
    }

    /// Skips bytes. Reads the last one, because it is no error to seek past the end of a file.
    fn skip(&mut self, size: u64) -> Result<()> {
        let Some(before) = size.checked_sub(1) else { return Ok(()) };
        let at = self.position;
        self.advance(before)?;
        let sought = self.inner.seek_relative(i64::try_from(before).unwrap_or(i64::MAX));
        sought.map_err(|error| unreadable(at, size, error))?;
        self.number(1).map(drop)
    }

    fn advance(&mut self, size: u64) -> Result<()> {
        self.position = self.position.saturating_add(size);
        if self.position > self.limit {
            return Err(Error::limit(LimitExceeded::new(Limit::File, self.position, self.limit)));
        }
        Ok(())
    }

    fn seek(&mut self, position: u64) -> Result<()> {
        self.position = position;
        let sought = self.inner.seek(std::io::SeekFrom::Start(position));
        sought.map(drop).map_err(|error| unreadable(position, 0, error))
    }
}

/// Returns whether a character is one of the 256 that a byte-level vocabulary is written in: `bytes_to_unicode` in the reference.
fn is_byte_letter(letter: char) -> bool {
    matches!(letter, '!'..='~' | '\u{a1}'..='\u{ac}' | '\u{ae}'..='\u{143}')
}

fn fault(at: u64, message: &str) -> Error {
    Error::value(format!("byte {at}: {message}"))
}

/// Returns the error of a file that ends too early.
fn cut(at: u64, size: u64) -> Error {
    fault(
        at,
        &format!("the file ends within the next {size} bytes, which are part of its metadata"),
    )
}

/// Returns the error of reading, which may be that the time is over.
fn unreadable(at: u64, size: u64, error: std::io::Error) -> Error {
    if error.kind() == IoErrorKind::UnexpectedEof {
        return cut(at, size);
    }
    match error.downcast() {
        Ok(limit) => limit,
        Err(error) => fault(at, &error.to_string()).with_source(error),
    }
}
