//! Tests that bodies with all types of messages, items, blocks and tools are read as `read.jsonl` says: each case has what a template gets that
//! prints all strings, and the changes for one that prints none, which have the place of each string. `WRITE=1` writes the file.

use std::path::Path;

use chat_template::{ChatTemplate, Error};
use serde_json::{Value, json};

use super::data;

/// Prints all keys and strings, but for those of media and the types of parts. It has the words of all roles.
const ALL: &str = "{% set roles = ['developer', 'tool'] %}\
                   {% macro say(v) %}{% if v is string %}{{ v }} {% elif v is mapping %}{% if v.type in ['text', 'thinking'] %}\
                   {{ say(v[v.type]) }}{% elif v.type in media %}<{{ v.type }}>{% else %}{% for k in v %}{{ k }} {{ say(v[k]) }}{% endfor %}\
                   {% endif %}{% elif v is sequence %}{% for i in v %}{{ say(i) }}{% endfor %}{% endif %}{% endmacro %}\
                   {% set media = ['image', 'image_url', 'input_image', 'image_embeds', 'computer_screenshot', 'image_generation_call', \
                   'audio', 'audio_url', 'input_audio', 'video', 'video_url', 'file', 'input_file', 'document'] %}\
                   {{ say(messages) }}{{ say(tools) }}";

/// Returns what the templates get of a body, and the changes.
fn read([all, none]: &[ChatTemplate; 2], body: &Value) -> Result<Value, Error> {
    let prepared = all.prepare(data(body))?;
    let media = prepared.media();
    let changes = none.prepare(data(body)).and_then(|prepared| Ok(prepared.render()?.1));
    let changes = changes.map_or_else(
        |error| vec![error.message().to_owned()],
        |changes| {
            changes
                .iter()
                .map(|change| format!("{} {}", change.path, change.kind.name()))
                .collect()
        },
    );
    Ok(json!({
        "messages": prepared.messages(),
        "tools": prepared.tools(),
        "media": media.iter().map(|medium| format!("{} {}", medium.path, medium.kind)).collect::<Vec<_>>(),
        "changes": changes,
    }))
}

#[test]
fn each_type_is_read_as_the_file_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/request/read.jsonl");
    let templates = [ALL, ""].map(|source| ChatTemplate::from_source(source, &[]).unwrap());
    let known = std::fs::read_to_string(&path).unwrap();
    let read = known.lines().map(|line| {
        let mut case: Value = serde_json::from_str(line).unwrap();
        case["says"] = read(&templates, &case["body"]).unwrap_or_else(|error| json!({"error": error.message()}));
        format!("{case}\n")
    });
    let read: String = read.collect();
    if std::env::var_os("WRITE").is_some() {
        std::fs::write(&path, &read).unwrap();
    } else {
        for (known, read) in known.lines().zip(read.lines()) {
            assert_eq!(known, read);
        }
    }
}
