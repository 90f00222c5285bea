//! Reads conversations: JSON, or JSON lines.
//!
//! ```text
//! [{"role": "user", "content": "Hi"}]                                             a conversation
//! {"messages": […], "tools": […], "add_generation_prompt": true}                  one with more arguments of `apply`
//! [[…], {"messages": […]}]                                                        several
//! ```
//!
//! In a file of JSON lines each line is one of the first two forms. A file has JSON lines if its first line is complete JSON and
//! others follow.

use std::path::Path;

use super::super::case::APPLY;
use super::super::read_file::read_text;
use super::super::schema::check_keys;
use chat_template::internal::Entry;
use chat_template::json::{self, Data};

/// The keys that the object of a conversation may have: those of an `apply` without the template.
const KEYS: &[&str] = match &APPLY {
    [_, keys @ ..] => keys,
};

/// A conversation: messages, and the other arguments of an `apply`.
#[derive(Clone, Debug)]
pub struct Conversation {
    /// The place of the conversation: the file, and its line or index.
    pub place: String,
    /// The entries of an `apply`, without the template.
    pub arguments: Vec<Entry<'static>>,
}

/// Reads the conversations of a file.
///
/// # Errors
/// Returns a message that names the file and the line if the file cannot be read, is not JSON, or contains anything other than
/// conversations.
pub fn read(path: &Path) -> Result<Vec<Conversation>, String> {
    let name = path.display().to_string();
    let text = read_text(path)?;
    let conversations = conversations(&name, &text)?;
    if conversations.is_empty() {
        Err(format!("{name}: there is no conversation in it"))
    } else {
        Ok(conversations)
    }
}

fn conversations(name: &str, text: &str) -> Result<Vec<Conversation>, String> {
    let whole = json::read(text);
    let lines: Vec<(usize, &str)> = text
        .split('\n')
        .enumerate()
        .filter(|(_, line)| !line.trim_ascii().is_empty())
        .collect();
    let is_lines = whole.is_err() && lines.first().is_some_and(|(_, line)| json::read(line).is_ok());
    if is_lines || name.ends_with(".jsonl") {
        let conversation = |(place, line): (usize, &str)| {
            let place = format!("{name}:{}", place + 1);
            let data = json::read(line).map_err(|error| format!("{place}: not JSON: {error}"))?;
            one(place, data.into_owned())
        };
        return lines.into_iter().map(conversation).collect();
    }
    // The error of the whole file names the line.
    let data = whole.map_err(|error| format!("{name}: not JSON: {error}"))?.into_owned();
    match data {
        Data::List(items) if !items.iter().any(is_message) => {
            let items = items.into_iter().enumerate();
            items.map(|(place, item)| one(format!("{name}[{place}]"), item)).collect()
        }
        data => one(name.to_owned(), data).map(|conversation| vec![conversation]),
    }
}

fn is_message(item: &Data<'_>) -> bool {
    matches!(item, Data::Object(object) if object.get("role").is_some())
}

fn one(place: String, data: Data<'static>) -> Result<Conversation, String> {
    let arguments = match data {
        Data::List(_) => vec![("messages".into(), data)],
        Data::Object(object) => {
            check_keys(&object, KEYS).map_err(|fault| format!("{place}: {fault}"))?;
            if object.get("messages").is_none() {
                return Err(format!("{place}: missing key \"messages\""));
            }
            object.entries().to_vec()
        }
        _ => {
            return Err(format!(
                "{place}: a conversation is a list of messages, or an object with \"messages\""
            ));
        }
    };
    Ok(Conversation { place, arguments })
}

#[cfg(test)]
mod tests {
    use super::conversations;

    fn places(name: &str, text: &str) -> Vec<String> {
        let read = conversations(name, text).unwrap();
        read.into_iter().map(|conversation| conversation.place).collect()
    }

    #[test]
    fn each_form_is_read() {
        let one = r#"[{"role": "user", "content": "Hi"}]"#;
        assert_eq!(places("f.json", one), ["f.json"]);
        assert_eq!(
            places("f.json", &format!("[{one}, {{\"messages\": {one}}}]")),
            ["f.json[0]", "f.json[1]"]
        );
        assert_eq!(
            places("f", &format!("{one}\n\n{{\"messages\": [], \"tools\": []}}\n")),
            ["f:1", "f:3"]
        );
        assert_eq!(places("f.jsonl", one), ["f.jsonl:1"]);
    }

    #[test]
    fn faults_name_the_line() {
        let fault = |name: &str, text: &str| conversations(name, text).unwrap_err();
        assert_eq!(
            fault("f.json", "[\n{]"),
            "f.json: not JSON: Expecting property name enclosed in double quotes: line 2 column 2 (char 3)"
        );
        assert!(fault("f.jsonl", "[]\n[").starts_with("f.jsonl:2: not JSON: "));
        assert_eq!(
            fault("f.json", "{\"message\": []}"),
            "f.json: unknown key \"message\"; did you mean \"messages\"?"
        );
        assert_eq!(
            fault("f.json", "1"),
            "f.json: a conversation is a list of messages, or an object with \"messages\""
        );
    }
}
