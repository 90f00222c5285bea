//! Finds templates in files, folders, folders of models, and a cache of models.
//!
//! ```text
//! chat.jinja                                      a template
//! Qwen3-8B/                                       a model, which `ChatTemplate::from_dir` reads: its templates and special tokens
//! hub/models--Qwen--Qwen3-8B/snapshots/b968826d…/ a model of a cache, named Qwen/Qwen3-8B@b968826d
//! ```

use std::path::{Path, PathBuf};

use super::super::read_file::{MAX_FILE, read_text};
use super::super::write_line::string;
use chat_template::Deadline;
use chat_template::internal::{Files, revision_name};
use chat_template::json::{self, Data, Object};
use chat_template::{ChatTemplate, LoadOptions};

/// The names of files that contain the templates of a model.
const MODEL: [&str; 2] = ["tokenizer_config.json", "chat_template.jinja"];

/// The names of files with a template that older versions of transformers wrote.
const LEGACY: [&str; 2] = ["chat_template.json", "chat_template.jsonl"];

/// The depth to which folders are searched. A cache needs four.
const DEPTH: usize = 8;

/// A template that was found, or the templates of a model.
#[derive(Clone, Debug)]
pub struct Found {
    /// The path of the template, or the name of the model.
    pub name: String,
    /// The template, or an object of named templates.
    pub template: Data<'static>,
    /// The special tokens of the model.
    pub special_tokens: Vec<(String, String)>,
}

/// Returns all templates of these files and folders. Those of a folder are in the order of their names.
///
/// # Errors
/// Returns a message that names the file or folder if it cannot be read, contains no template, or is not valid.
pub fn find(paths: &[PathBuf]) -> Result<Vec<Found>, String> {
    let mut found = Vec::new();
    for path in paths {
        let before = found.len();
        let metadata = std::fs::metadata(path).map_err(|error| format!("{}: {error}", path.display()))?;
        match metadata.is_dir() {
            true => {
                let deadline = Deadline::new(None);
                let options = LoadOptions::default().with_max_file_size(MAX_FILE);
                let files = Files::new(path, path, &options, &deadline).map_err(|error| error.message().to_owned())?;
                folder(path, DEPTH, &files, &mut found)?;
            }
            false => file(path, &read_text(path)?, &mut found)?,
        }
        if found.len() == before {
            return Err(format!("{}: there is no template in it", path.display()));
        }
    }
    Ok(found)
}

/// Adds the templates of a folder. `files` reads its files: one that is a link must stay in the folder that was searched first.
fn folder(path: &Path, depth: usize, files: &Files<'_>, found: &mut Vec<Found>) -> Result<(), String> {
    let fault = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(path).map_err(fault)? {
        entries.push(entry.map_err(fault)?.path());
    }
    entries.sort();
    if MODEL.iter().any(|name| path.join(name).is_file()) {
        let model = ChatTemplate::load_dir(path, &LoadOptions::default()).map_err(|error| error.to_string())?;
        found.extend(of_model(name_of(path), &model));
        entries.retain(|entry| entry.is_dir() && !entry.ends_with("additional_chat_templates"));
    }
    for entry in entries {
        // A link to a folder can lead back to a folder that contains it.
        if entry.is_dir() && !entry.is_symlink() {
            if let Some(depth) = depth.checked_sub(1) {
                folder(&entry, depth, files, found)?;
            }
        } else if is_template(&entry) {
            let name = entry.strip_prefix(files.path).unwrap_or(&entry);
            if let Some(text) = files.text(name).map_err(|error| error.message().to_owned())? {
                file(&entry, &text, found)?;
            }
        }
    }
    Ok(())
}

fn is_template(path: &Path) -> bool {
    let is_named = |names: &[&str]| names.iter().any(|name| path.ends_with(name));
    path.is_file() && (path.extension().is_some_and(|end| end == "jinja" || end == "j2") || is_named(&LEGACY))
}

/// Adds the templates of a file, whose content the caller has read.
fn file(path: &Path, text: &str, found: &mut Vec<Found>) -> Result<(), String> {
    let name = path.display().to_string();
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    match end {
        "json" => found.extend(of_json(&name, text)?),
        "jsonl" => {
            for (place, line) in text.split('\n').enumerate().filter(|(_, line)| !line.trim_ascii().is_empty()) {
                found.extend(of_json(&format!("{name}:{}", place + 1), line)?);
            }
        }
        _ => found.push(Found {
            name,
            template: string(text),
            special_tokens: Vec::new(),
        }),
    }
    Ok(())
}

/// Returns the templates of a configuration in JSON.
fn of_json(name: &str, text: &str) -> Result<Option<Found>, String> {
    let config = json::read(text).map_err(|error| format!("{name}: {error}"))?;
    let model = ChatTemplate::load_config(&config).map_err(|error| format!("{name}: {error}"))?;
    Ok(of_model(name.to_owned(), &model))
}

/// Returns the templates of a model, or `None` if it has none.
fn of_model(name: String, model: &ChatTemplate) -> Option<Found> {
    let sources: Vec<(&str, &str)> = model.sources().collect();
    let template = match sources.as_slice() {
        [] => return None,
        [("", source)] => string(source),
        named => {
            let entries = named.iter().map(|(name, source)| ((*name).to_owned().into(), string(source)));
            Data::Object(Object::new(entries.collect()))
        }
    };
    Some(Found {
        name,
        template,
        special_tokens: model.special_tokens().to_vec(),
    })
}

/// Returns the name of a model in a cache with the beginning of its revision, or the path of another folder.
fn name_of(path: &Path) -> String {
    revision_name(path).unwrap_or_else(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_of_a_cache_has_its_own_name() {
        let path = Path::new("/home/a/hub/models--Qwen--Qwen3-8B/snapshots/b968826d9c46dd6066d109eabc6255188de91218");
        assert_eq!(name_of(path), "Qwen/Qwen3-8B@b968826d");
        assert_eq!(name_of(Path::new("models/a")), "models/a");
    }

    #[test]
    fn the_models_of_this_crates_tests_are_found() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
        let found = find(&[folder.join("jinja"), folder.join("named")]).unwrap();
        assert_eq!(found.len(), 2);
        assert!(!found.first().unwrap().special_tokens.is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_must_stay_in_the_folder() {
        use std::os::unix::fs::symlink;

        let folder = std::env::temp_dir().join(format!("chat-template-links-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("a/b")).unwrap();
        std::fs::write(folder.join("a/b/x.jinja"), "x").unwrap();
        std::fs::write(folder.join("secret"), "secret").unwrap();
        symlink("b/x.jinja", folder.join("a/inside.jinja")).unwrap();
        let inside = find(&[folder.join("a")]);
        symlink("../../secret", folder.join("a/b/outside.jinja")).unwrap();
        let outside = find(&[folder.join("a")]);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(inside.unwrap().len(), 2);
        let message = outside.unwrap_err();
        assert!(message.contains("outside.jinja: is a link that leaves"), "{message}");
    }
}
