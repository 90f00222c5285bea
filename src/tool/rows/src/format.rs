//! The formats of rows, and how they are recognized.

use std::str::FromStr;

use chat_template::json::{Data, Object};

/// The form that the rows of a data set have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// `messages` with roles and contents, or `prompt`, `completion`, `chosen` and `rejected`, as in TRL.
    #[default]
    Messages,
    /// `conversations`, whose messages have `from` and `value`.
    ShareGpt,
    /// `instruction`, `input` and `output`.
    Alpaca,
}

/// The keys of rows of Alpaca.
const ALPACA_KEYS: [&str; 5] = ["instruction", "input", "output", "system", "history"];

impl Format {
    /// The formats, each with its name.
    pub const ALL: [(&str, Self); 3] = [
        ("messages", Self::Messages),
        ("sharegpt", Self::ShareGpt),
        ("alpaca", Self::Alpaca),
    ];

    /// Returns the name of the format.
    pub fn name(self) -> &'static str {
        let named = Self::ALL.iter().find(|(_, format)| *format == self);
        named.map_or("", |(name, _)| name)
    }

    /// Returns the key of the messages.
    pub fn messages_key(self) -> &'static str {
        match self {
            Self::Messages | Self::Alpaca => "messages",
            Self::ShareGpt => "conversations",
        }
    }

    /// Returns whether a row of this format has a part of its conversation under a key that other formats do not use.
    pub(crate) fn uses(self, key: &str) -> bool {
        match self {
            Self::Messages => false,
            Self::ShareGpt => key == "system",
            Self::Alpaca => ALPACA_KEYS.contains(&key),
        }
    }

    /// Finds the format of a data set by one of its rows, and the key of the messages if it is not that of the format. Returns `None` if the
    /// row has no conversation.
    pub fn find(row: &Object<'_>, messages_key: Option<&str>) -> Option<(Self, Option<&'static str>)> {
        let has = |key: &str| row.get(key).is_some_and(|value| !matches!(value, Data::None));
        let keys = [
            messages_key,
            Some("messages"),
            Some("conversations"),
            Some("conversation"),
            Some("prompt"),
            // A string without a prompt is a whole conversation, of which the messages are unknown.
            Some("chosen").filter(|key| !matches!(row.get(key), Some(Data::Str(text)) if !text.trim_start().starts_with('['))),
        ];
        if let Some(key) = keys.into_iter().flatten().find(|key| has(key)) {
            let is_sharegpt = row.get(key).is_some_and(is_sharegpt);
            let format = if is_sharegpt { Self::ShareGpt } else { Self::Messages };
            let named = ["messages", "conversations", "conversation"]
                .into_iter()
                .find(|named| *named == key);
            return Some((format, named.filter(|named| *named != format.messages_key())));
        }
        if has("instruction") && has("output") {
            return Some((Self::Alpaca, None));
        }
        has("completion").then_some((Self::Messages, None))
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let named = Self::ALL.iter().find(|(other, _)| *other == name);
        named
            .map(|(_, format)| *format)
            .ok_or_else(|| "this must be messages, sharegpt or alpaca".to_owned())
    }
}

/// Returns whether messages, which can be JSON text, have the keys of ShareGPT.
fn is_sharegpt(messages: &Data<'_>) -> bool {
    match messages {
        Data::List(list) | Data::Tuple(list) => list.first().is_some_and(is_sharegpt),
        Data::Object(message) => message.get("from").is_some() && message.get("role").is_none(),
        Data::Str(text) => chat_template::json::read(text).is_ok_and(|read| !matches!(read, Data::Str(_)) && is_sharegpt(&read)),
        _ => false,
    }
}
