//! Reads the rows of data sets of conversations, and says what their prompts do not show.
//!
//! ```text
//! {"prompt": "Hi", "completion": "Ho", "id": 7}   ->   the messages of a user and an assistant, of which the second is trained; id is kept
//! ```
//!
//! The command `dataset` and the Python package read rows with this crate. Its interface can change in any version.

mod conversation;
mod convert;
mod failure;
mod format;
mod losses;
mod null;
mod shown;

pub use conversation::Conversation;
pub use failure::Failure;
pub use format::Format;
pub use losses::{Cause, Known, Loss, Source, find_losses};
pub use null::{has_null, remove_null};

use std::borrow::Cow;

use chat_template::Deadline;
use chat_template::internal::Entry;
use chat_template::json::{self, Data, Object};

use convert::{convert_alpaca, convert_functions};

/// How the rows of a data set are read.
#[derive(Clone, Debug, Default)]
pub struct Reader {
    /// The form of the rows.
    pub format: Format,
    /// The key of the messages, if it is not that of the format.
    pub messages_key: Option<String>,
    /// Whether keys that are null are removed from messages and tools.
    pub removes_null: bool,
    /// Whether the arguments of calls are JSON text.
    pub reads_arguments: bool,
}

/// The parts of a row.
#[derive(Debug, Default)]
pub struct Row<'r> {
    /// One conversation, or two with the names `chosen` and `rejected`.
    pub conversations: Vec<Conversation<'r>>,
    /// The tools that the model may call.
    pub tools: Option<Cow<'r, Data<'r>>>,
    /// The documents that the model may quote.
    pub documents: Option<Cow<'r, Data<'r>>>,
    /// The variables of the template.
    pub variables: Option<Cow<'r, Data<'r>>>,
    /// The entries that are none of these.
    pub kept: Vec<&'r Entry<'r>>,
}

impl Reader {
    /// Returns the key of the messages.
    pub fn messages_key(&self) -> &str {
        self.messages_key.as_deref().unwrap_or_else(|| self.format.messages_key())
    }

    /// Reads a row by its keys.
    ///
    /// # Errors
    /// If the row has no conversation, or a part of it is JSON text that cannot be read.
    pub fn read<'r>(&'r self, row: &'r Object<'r>, deadline: &Deadline) -> Result<Row<'r>, Failure> {
        let mut read = Row::default();
        let get = |key: &str| row.get(key).filter(|value| !matches!(value, Data::None));
        let messages = get(self.messages_key());
        let is_conversation = |value: &&Data<'_>| matches!(value, Data::Str(_) | Data::List(_) | Data::Tuple(_) | Data::Object(_));
        let pair = get("chosen")
            .filter(is_conversation)
            .zip(get("rejected").filter(is_conversation));
        let functions = get("functions").filter(|_| get("tools").is_none());
        for entry in row.entries() {
            match &*entry.0 {
                key if key == self.messages_key() => {}
                "chosen" | "rejected" | "prompt" if pair.is_some() => {}
                "prompt" | "completion" if messages.is_none() => {}
                "tools" | "documents" | "chat_template_kwargs" => {}
                "functions" if functions.is_some() => {}
                key if self.format.uses(key) => {}
                _ => read.kept.push(entry),
            }
        }
        let read_part = |key| get(key).map_or(Ok(None), |value| read_text(value, key, deadline));
        read.tools = read_part("tools")?;
        read.documents = read_part("documents")?;
        read.variables = read_part("chat_template_kwargs")?;
        let tools = read.tools.as_deref().filter(|_| self.format == Format::ShareGpt);
        if let Some(functions) = functions.or(tools) {
            read.tools = convert_functions(functions).map(Cow::Owned);
        }
        read.conversations = match (pair, messages, get("prompt"), get("completion")) {
            (Some(answers), messages, prompt, _) => {
                let prompt = prompt.map(|prompt| ("prompt", prompt));
                let prompt = prompt.or_else(|| Some((self.messages_key(), messages?)));
                Conversation::pair(prompt, answers.into(), deadline)?
            }
            (None, Some(messages), ..) => vec![Conversation::new(self.messages_key(), messages, deadline)?],
            (None, None, prompt, Some(completion)) => {
                let prompt = prompt.map(|prompt| ("prompt", prompt, "user"));
                let answer = ("completion", completion, "assistant");
                vec![Conversation::join("text", prompt.as_slice(), Some(answer), deadline)?]
            }
            (None, None, Some(prompt), None) => vec![Conversation::join("text", &[("prompt", prompt, "user")], None, deadline)?],
            (None, None, None, None) => match self.format {
                Format::Alpaca => vec![convert_alpaca(row)?],
                _ => return Err(Failure::new("row", format!("the row has no {:?}", self.messages_key()))),
            },
        };
        for conversation in &mut read.conversations {
            match self.format {
                Format::ShareGpt => conversation.convert_sharegpt(get("system"))?,
                Format::Messages | Format::Alpaca => conversation.convert_functions(),
            }
            if self.reads_arguments {
                conversation.read_arguments(deadline)?;
            }
        }
        if self.removes_null {
            let messages = read.conversations.iter_mut().map(|conversation| &mut conversation.messages);
            for part in messages.chain(&mut read.tools).filter(|part| has_null(part)) {
                remove_null(part.to_mut());
            }
        }
        Ok(read)
    }
}

/// Returns a value that can be JSON text, as can be the items of a list. Data sets that are stored in columns have such text, because two
/// rows have different keys. Text without content is no value.
fn read_text<'r>(value: &'r Data<'r>, key: &str, deadline: &Deadline) -> Result<Option<Cow<'r, Data<'r>>>, Failure> {
    let read = |text: &'r str| match json::Data::read_within(text.as_bytes(), deadline) {
        Ok(value) => Ok(value),
        Err(error) => {
            let message = format!("the {key} are a string that is not JSON: {error}");
            Err(Failure::at("json", format!("/{key}"), message))
        }
    };
    match value {
        Data::Str(text) if text.trim().is_empty() => Ok(None),
        Data::Str(text) => read(text).map(|value| Some(Cow::Owned(value))),
        Data::List(items) if key == "tools" && items.iter().any(|item| matches!(item, Data::Str(_))) => {
            let items = items.iter().map(|item| match item {
                Data::Str(text) => read(text),
                item => Ok(item.clone()),
            });
            items
                .collect::<Result<_, _>>()
                .map(|items| Some(Cow::Owned(Data::List(items))))
        }
        _ => Ok(Some(Cow::Borrowed(value))),
    }
}
