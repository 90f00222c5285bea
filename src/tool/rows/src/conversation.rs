//! The messages of one prompt.

use std::borrow::Cow;

use chat_template::Deadline;
use chat_template::json::{Data, Object};

use crate::failure::Failure;
use crate::read_text;

/// The roles of messages in the families of templates.
const ROLES: [&str; 12] = [
    "user",
    "assistant",
    "system",
    "tool",
    "context",
    "critic",
    "developer",
    "document",
    "documents",
    "function",
    "ipython",
    "model",
];

/// The messages of one prompt, and where they are in the row.
#[derive(Debug)]
pub struct Conversation<'r> {
    /// The key of the text in the output: `text`, `chosen` or `rejected`.
    pub name: &'static str,
    /// The list of messages.
    pub messages: Cow<'r, Data<'r>>,
    /// The index of the first message that is trained.
    pub first: usize,
    /// Whether the messages are a prompt that the model answers.
    pub is_open: bool,
    /// The parts of the row with the messages, in their order.
    pub(crate) sections: Vec<Section<'r>>,
}

/// A value of a row with messages.
#[derive(Clone, Debug)]
pub(crate) struct Section<'r> {
    pub key: &'r str,
    pub count: usize,
    /// Whether the value is a list, and not one message.
    pub is_list: bool,
}

/// A value of a row, with its key and the role of a value that is a string.
type Part<'r> = (&'r str, &'r Data<'r>, &'static str);

impl<'r> Conversation<'r> {
    /// Makes a conversation of a list of messages.
    pub fn of(messages: &'r Data<'r>) -> Self {
        Self {
            name: "text",
            messages: Cow::Borrowed(messages),
            first: 0,
            is_open: false,
            sections: vec![Section {
                key: "messages",
                count: usize::MAX,
                is_list: true,
            }],
        }
    }

    /// Makes a conversation of the messages of a key, which can be JSON text.
    pub(crate) fn new(key: &'r str, value: &'r Data<'r>, deadline: &Deadline) -> Result<Self, Failure> {
        let mut conversation = Self::of(value);
        if let Some(read) = read_text(value, key, deadline)? {
            conversation.messages = read;
        }
        conversation.sections.iter_mut().for_each(|section| section.key = key);
        Ok(conversation)
    }

    /// Makes the two conversations of a row with two answers, after a prompt or with the same first messages.
    pub(crate) fn pair(
        prompt: Option<(&'r str, &'r Data<'r>)>,
        answers: [&'r Data<'r>; 2],
        deadline: &Deadline,
    ) -> Result<Vec<Self>, Failure> {
        // As in TRL, answers that are whole conversations have the prompt, which is beside them as text.
        let is_whole = |answer: &Data<'_>| match answer {
            Data::List(list) | Data::Tuple(list) => list
                .first()
                .is_some_and(|first| !has_role(first, &["assistant", "model", "gpt"])),
            _ => false,
        };
        let is_repeated = matches!(prompt, Some((_, Data::Str(_)))) && answers.iter().all(|answer| is_whole(answer));
        let prompt = prompt.filter(|_| !is_repeated).map(|(key, value)| (key, value, "user"));
        let [chosen, rejected] = answers;
        let named = [("chosen", chosen), ("rejected", rejected)];
        let [mut chosen, mut rejected] =
            named.map(|(key, answer)| Self::join(key, prompt.as_slice(), Some((key, answer, "assistant")), deadline));
        if let (None, Ok(chosen), Ok(rejected)) = (prompt, &mut chosen, &mut rejected) {
            let same = list(&chosen.messages).iter().zip(list(&rejected.messages));
            let same = same.take_while(|(one, other)| one == other).count();
            (chosen.first, rejected.first) = (same, same);
        }
        Ok(vec![chosen?, rejected?])
    }

    /// Makes a conversation of the values of a prompt and an answer: each a list of messages, one message, a string, or JSON text of a list.
    pub(crate) fn join(
        name: &'static str,
        prompt: &[Part<'r>],
        answer: Option<Part<'r>>,
        deadline: &Deadline,
    ) -> Result<Self, Failure> {
        let (mut messages, mut sections, mut first) = (Vec::new(), Vec::new(), 0);
        for (key, value, role) in prompt.iter().chain(&answer) {
            first = messages.len();
            let list = match value {
                Data::Str(text) if text.trim_start().starts_with('[') => read_text(value, key, deadline).ok().flatten(),
                _ => None,
            };
            let list = list.unwrap_or(Cow::Borrowed(*value));
            let is_list = matches!(*list, Data::List(_) | Data::Tuple(_));
            match list.into_owned() {
                Data::List(list) | Data::Tuple(list) => messages.extend(list),
                Data::Str(text) => messages.push(make_message(role, text)),
                message => messages.push(message),
            }
            let count = messages.len().saturating_sub(first);
            sections.push(Section { key, count, is_list });
        }
        let is_open = answer.is_none();
        Ok(Self {
            name,
            first: if is_open { messages.len() } else { first },
            messages: Cow::Owned(Data::List(messages)),
            is_open,
            sections,
        })
    }

    /// Returns the messages.
    pub fn list(&self) -> &[Data<'r>] {
        list(&self.messages)
    }

    /// Returns the JSON pointer of a message in the row.
    pub fn pointer(&self, mut index: usize) -> String {
        for Section { key, count, is_list } in &self.sections {
            match index.checked_sub(*count) {
                Some(rest) => index = rest,
                None if *is_list => return format!("/{key}/{index}"),
                None => return format!("/{key}"),
            }
        }
        String::new()
    }

    /// Checks that each message has a role that a template can know, and content that is text or parts. `source` is the template, which can
    /// name other roles.
    ///
    /// # Errors
    /// If a message has no such role or no such content.
    pub fn check(&self, source: &str) -> Result<(), Failure> {
        for (index, message) in self.list().iter().enumerate() {
            check_message(message, source).map_err(|(key, message)| {
                let pointer = format!("{}{key}", self.pointer(index));
                Failure::at("message", pointer, message)
            })?;
        }
        Ok(())
    }
}

/// Checks a message. The error has the key that is wrong and the reason.
fn check_message(message: &Data<'_>, source: &str) -> Result<(), (&'static str, String)> {
    let Data::Object(message) = message else {
        return Err(("", format!("a message must be an object, and this is {}", message.describe())));
    };
    match message.get("role") {
        None | Some(Data::None) => return Err(("", "the message has no role".to_owned())),
        Some(Data::Str(role)) if ROLES.contains(&&**role) => {}
        Some(Data::Str(role)) => {
            let mut quotes = ['\'', '"'].iter();
            if !quotes.any(|quote| source.contains(&format!("{quote}{role}{quote}"))) {
                let role: String = role.chars().take(100).collect();
                let message = format!("the role {role:?} is unknown, and the template does not name it");
                return Err(("/role", message));
            }
        }
        Some(other) => {
            return Err((
                "/role",
                format!("the role must be a string, and this is {}", other.describe()),
            ));
        }
    }
    let is_part = |part: &Data<'_>| matches!(part, Data::Object(_) | Data::Str(_));
    match message.get("content") {
        None | Some(Data::None | Data::Str(_)) => Ok(()),
        Some(Data::List(parts) | Data::Tuple(parts)) if parts.iter().all(is_part) => Ok(()),
        Some(other) => {
            let other = other.describe();
            Err((
                "/content",
                format!("the content must be a string or an array of parts, and this is {other}"),
            ))
        }
    }
}

/// Returns the value of a key of an object.
pub(crate) fn get<'d, 'r>(data: &'d Data<'r>, key: &str) -> Option<&'d Data<'r>> {
    match data {
        Data::Object(object) => object.get(key),
        _ => None,
    }
}

/// Returns whether a message has one of some roles.
pub(crate) fn has_role(message: &Data<'_>, roles: &[&str]) -> bool {
    let role = get(message, "role").or_else(|| get(message, "from"));
    matches!(role, Some(Data::Str(role)) if roles.contains(&&**role))
}

/// Returns the items of a list, or none.
pub(crate) fn list<'d, 'r>(data: &'d Data<'r>) -> &'d [Data<'r>] {
    match data {
        Data::List(items) | Data::Tuple(items) => items,
        _ => &[],
    }
}

/// Makes a message with a string as its content.
pub(crate) fn make_message<'r>(role: &'static str, content: Cow<'r, str>) -> Data<'r> {
    let entries = vec![
        ("role".into(), Data::Str(role.into())),
        ("content".into(), Data::Str(content)),
    ];
    Data::Object(Object::new(entries))
}
