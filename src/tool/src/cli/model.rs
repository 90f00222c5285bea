//! The options that choose a chat template and say how it is applied. The commands `render` and `dataset` share them.

use std::io::Read;
use std::path::{Path, PathBuf};

use chat_template::json::{self, Data};
use chat_template::{ChatTemplate, ContinueFinalMessage, Error, ErrorClass, Limits, LoadOptions, LocalTime};

use super::file::{self, Texts};
use super::variable;

/// The options that choose a chat template.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("source"))]
pub struct Source {
    /// The folder of a model, with chat_template.jinja or tokenizer_config.json, a folder models--NAME of the Hugging Face cache, or a GGUF file.
    #[arg(long, value_name = "DIR", group = "source")]
    pub model: Option<PathBuf>,
    /// Loads a folder even if its tokenizer is Python code, which is not run. The special tokens are those that its files name.
    #[arg(long, conflicts_with = "template")]
    ignore_remote_code: bool,
    /// Reads files through symbolic links that leave the folder. Links into the blobs of the Hugging Face cache are always followed.
    #[arg(long, conflicts_with = "template")]
    follow_links: bool,
    /// Loads the templates of a processor (processor_config.json, chat_template.json) instead of those of a tokenizer.
    #[arg(long, conflicts_with = "template")]
    processor: bool,
    /// A template in a file of its own.
    #[arg(long, value_name = "FILE", group = "source")]
    pub template: Option<PathBuf>,
    /// The tokenizer_config.json with the special tokens for --template.
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    pub config: Option<PathBuf>,
    /// The name of one of the model's templates.
    #[arg(long, value_name = "NAME", conflicts_with = "template")]
    pub name: Option<String>,
}

impl Source {
    /// Returns the group that requires one of the options.
    pub fn required() -> clap::ArgGroup {
        clap::ArgGroup::new("a_source").args(["model", "template"]).required(true)
    }

    /// Returns the files whose contents [`Source::load`] needs.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        [&self.template, &self.config].into_iter().flatten().map(PathBuf::as_path)
    }

    /// Returns the files that [`Source::load`] can read, to which a command must not write.
    pub fn list_read(&self) -> Vec<PathBuf> {
        let model = self.model.as_deref().filter(|model| model.is_file());
        let mut read: Vec<PathBuf> = self.files().chain(model).map(Path::to_owned).collect();
        let folders = self
            .model
            .iter()
            .flat_map(|model| [model.clone(), model.join("additional_chat_templates")]);
        for entry in folders
            .filter_map(|folder| std::fs::read_dir(folder).ok())
            .flatten()
            .flatten()
        {
            let path = entry.path();
            let extension = path.extension().and_then(|extension| extension.to_str());
            if matches!(extension, Some("json" | "jinja")) {
                read.push(path);
            }
        }
        read
    }

    /// Loads the chat template.
    pub fn load(&self, texts: &Texts) -> Result<ChatTemplate, String> {
        match &self.model {
            Some(model) => self.load_model(model, texts),
            None => self.load_file(texts),
        }
    }

    /// Loads the template that is used, if the options name one.
    pub fn load_if_given(&self, limits: &Limits) -> Result<Option<ChatTemplate>, String> {
        if self.model.is_none() && self.template.is_none() {
            return Ok(None);
        }
        self.load_chosen(&Texts::read(self.files(), limits.clone())?).map(Some)
    }

    /// Loads the template that is used, without the model's other templates if `--name` chooses one.
    pub fn load_chosen(&self, texts: &Texts) -> Result<ChatTemplate, String> {
        let chat = self.load(texts)?;
        Ok(match self.name.as_deref().and_then(|name| chat.named_source(name)) {
            Some(source) => {
                ChatTemplate::load_source(source, &[], texts.bounds()).with_special_tokens(chat.special_tokens().to_vec())
            }
            None => chat,
        })
    }

    fn load_model(&self, model: &Path, texts: &Texts) -> Result<ChatTemplate, String> {
        let options = LoadOptions::default()
            .with_processor(self.processor)
            .with_ignore_remote_code(self.ignore_remote_code)
            .with_follow_links(self.follow_links)
            .with_bounds(texts.bounds());
        let load = if is_gguf(model) {
            ChatTemplate::load_gguf
        } else {
            ChatTemplate::load_dir
        };
        let chat = load(model, &options).map_err(|error| explain_load_error(&error))?;
        let (path, names) = (model.display(), chat.names());
        match &self.name {
            _ if names.is_empty() && chat.source().is_none() => Err(format!(
                "error: {path}: the model has no template in {}",
                match model.is_file() {
                    true => "its metadata; pass one as --template",
                    false =>
                        "chat_template.jinja, additional_chat_templates or tokenizer_config.json; pass one as --template, or pass \
                         --processor to load the templates of a processor",
                }
            )),
            // For the contract, an unknown name is the source of a template.
            Some(name) if !names.contains(&name.as_str()) => Err(format!(
                "error: {path}: there is no template named {name}; {}",
                match names.as_slice() {
                    [] => "the only template has no name, so omit --name".to_owned(),
                    names => format!("the names are {}", names.join(", ")),
                }
            )),
            _ => Ok(chat),
        }
    }

    fn load_file(&self, texts: &Texts) -> Result<ChatTemplate, String> {
        let path = self.template.as_deref().unwrap_or(Path::new(""));
        let source = texts.get(path);
        if is_configuration(source) {
            let path = path.display();
            return Err(format!(
                "error: {path}: this file has a template as its chat_template; pass its folder as --model"
            ));
        }
        let chat = ChatTemplate::load_source(source, &[], texts.bounds());
        let Some(config) = &self.config else {
            return Ok(chat);
        };
        let tokens = ChatTemplate::load_config(&texts.parse_json(config)?);
        let tokens = tokens.map_err(|error| format!("error: {}: {}{}", config.display(), error.message(), note_line(&error)))?;
        let tokens = tokens.special_tokens().iter().cloned();
        Ok(chat.with_special_tokens(tokens))
    }

    /// Returns a line about the option that chooses a template, or an empty string if the error is about something else.
    fn explain_names(&self, error: &Error) -> &'static str {
        match &self.name {
            None if error.message().starts_with(NO_DEFAULT) => "\non the command line, pass one of these names as --name",
            _ => "",
        }
    }

    /// Returns the text of an error with the path of its template. The errors of a model name their files themselves.
    pub fn explain(&self, error: &Error) -> String {
        match &self.template {
            Some(path) => with_path(path, error),
            None => format!("{error}{}{}", explain_limit(error), self.explain_names(error)),
        }
    }
}

/// Returns whether a path is that of a GGUF file, by its name or its first bytes: those in the store of Ollama have other names.
fn is_gguf(path: &Path) -> bool {
    let begins = || {
        let mut magic = [0; 4];
        let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic));
        read.is_ok() && magic == *b"GGUF"
    };
    let is_named = path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("gguf"));
    (is_named && !path.is_dir()) || (path.is_file() && begins())
}

/// Returns whether the text of a file is that of a configuration, such as tokenizer_config.json. As a template, it would print itself.
fn is_configuration(text: &str) -> bool {
    matches!(json::read(text), Ok(Data::Object(entries)) if entries.get("chat_template").is_some())
}

/// The beginning of the error of a model whose templates all have other names than `default`.
const NO_DEFAULT: &str = "This model has multiple chat templates with no default specified!";

/// The options that say how a chat template is applied.
#[derive(clap::Args)]
pub struct Settings {
    /// Ends the prompt with the beginning of the model's answer.
    #[arg(long)]
    pub add_generation_prompt: bool,
    /// Leaves a field of the last message open, so that the model continues it. Without FIELD, it is the content.
    #[arg(long, value_name = "FIELD", num_args = 0..=1, default_missing_value = "content")]
    pub continue_final_message: Option<String>,
    /// A variable of the template, such as enable_thinking=false. The option can be repeated. There is a warning if no template reads it.
    #[arg(long = "var", value_name = "NAME=JSON", value_parser = variable::parse)]
    pub variables: Vec<(String, Data<'static>)>,
    /// The local time for strftime_now, such as 2026-01-02T03:04:05.
    #[arg(long, value_name = "TIME")]
    pub now: Option<LocalTime>,
    /// The limits of a render: a JSON object such as {"steps": 1000000, "milliseconds": 500}. A missing limit has its default.
    #[arg(long, value_name = "FILE")]
    pub limits: Option<PathBuf>,
}

impl Settings {
    /// Returns a warning for each variable that the template does not read.
    pub fn warn_of_unread(&self, chat: &ChatTemplate) -> Vec<String> {
        variable::warn_of_unread(&self.variables, &chat.variables())
    }

    /// Reads the file of limits.
    pub fn read_limits(&self, defaults: Limits) -> Result<Limits, String> {
        file::read_limits(self.limits.as_deref(), defaults)
    }

    /// Returns the clock that shows the time of `--now`.
    pub fn clock(&self) -> Option<LocalTime> {
        self.now
    }

    /// Returns the field of `--continue-final-message`.
    pub fn continued_field(&self) -> ContinueFinalMessage<'_> {
        match &self.continue_final_message {
            Some(field) => ContinueFinalMessage::Field(field),
            None => ContinueFinalMessage::No,
        }
    }
}

/// Returns the text of an error between the path of the template and the option that raises its limit. An error about the request has
/// neither.
pub fn with_path(path: &Path, error: &Error) -> String {
    match error.class() {
        ErrorClass::Request => error.to_string(),
        _ => format!("{}: {error}{}", path.display(), explain_limit(error)),
    }
}

/// Returns a line about the option that raises the limit, or an empty string if the error is about something else.
fn explain_limit(error: &Error) -> String {
    let reached = error.reached();
    let limit = reached.filter(|reached| reached.limit.setting().is_some_and(|setting| setting.starts_with("Limits::")));
    limit.map_or_else(String::new, |reached| {
        let doubled = reached.allowed.saturating_mul(2);
        format!(
            "\non the command line, pass `--limits FILE` with a file such as {{\"{}\": {doubled}}}",
            reached.limit.name()
        )
    })
}

/// Returns the text of an error of loading a model, with options in place of the fields of [`LoadOptions`].
fn explain_load_error(error: &Error) -> String {
    let message = error
        .message()
        .replace("set LoadOptions::ignore_remote_code", "pass --ignore-remote-code")
        .replace("set LoadOptions::follow_links", "pass --follow-links");
    let hint = match message.strip_suffix(": is not a folder") {
        Some(path) if path.ends_with(".json") => "; pass the folder that it is in",
        Some(_) => "; pass a template as --template",
        None => "",
    };
    format!("error: {message}{hint}{}", note_line(error))
}

/// Returns a line with the note of an error, or an empty string if it has none.
fn note_line(error: &Error) -> String {
    error.note().map(|note| format!("\n{note}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{ChatTemplate, is_configuration, with_path};
    use chat_template::{ApplyOptions, Bounds};

    #[test]
    fn an_error_of_the_template_begins_with_its_path() {
        let shown = |source: &str, messages: &str| {
            let prompt = ChatTemplate::load_source(source, &[], Bounds::default()).apply_json(messages, &ApplyOptions::default());
            prompt.map_err(|error| with_path(Path::new("t.jinja"), &error)).unwrap_err()
        };
        assert!(shown("{{", "[{}]").starts_with("t.jinja: syntax error: "));
        assert!(shown("{{ a.b }}", "[{}]").starts_with("t.jinja: undefined error: "));
        assert!(shown("{{ raise_exception('no') }}", "[{}]").starts_with("t.jinja: raised error: "));
        assert!(!shown("", "[1]").contains("t.jinja"));
    }

    #[test]
    fn a_configuration_is_not_taken_for_a_template() {
        assert!(is_configuration("{\"chat_template\": \"{{ messages }}\"}\n"));
        assert!(!is_configuration("{\"role\": \"{{ messages }}\"}"));
        assert!(!is_configuration("{{ chat_template }}"));
    }
}
