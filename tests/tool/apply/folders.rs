//! Loading folders: the cases that transformers has answered, and the errors of bad folders.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use chat_template::json::Data;
use chat_template::{ApplyOptions, ChatTemplate, Error, ErrorClass, LoadOptions};

use crate::case::{Case, assert_none, cases, is_null, object, text};

/// A folder for one test, which is removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("chat-template-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder can be made");
        Self(path)
    }

    fn with(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder can be made");
        std::fs::write(path, content).expect("a file can be written");
        self
    }

    fn with_folder(self, name: &str) -> Self {
        std::fs::create_dir_all(self.0.join(name)).expect("a folder can be made");
        self
    }

    fn load(&self) -> Result<ChatTemplate, Error> {
        ChatTemplate::from_dir(&self.0, &LoadOptions::default())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The system cleans its folder for temporary files if this fails.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn folders_are_read_as_by_transformers() {
    let cases = cases("folders");
    let faults: Vec<String> = cases.iter().filter_map(fault).collect();
    assert_none(&faults, cases.len());
}

fn fault(case: &Case) -> Option<String> {
    let mut folder = Folder::new();
    for (name, content) in object(case.get("files")).entries() {
        folder = match content {
            Data::Str(text) => folder.with(name, &**text),
            Data::None => folder.with_folder(name),
            bytes => folder.with(name, hex(text(object(bytes).get("hex").expect("bytes are hex")))),
        };
    }
    let is_processor = *case.get("processor") == Data::Bool(true);
    let options = LoadOptions::default().with_processor(is_processor);
    let expected = object(case.get("expect"));
    let loaded = ChatTemplate::from_dir(&folder.0, &options);
    let same = match (&loaded, expected.get("error")) {
        (Ok(chat), None) => {
            has_templates(chat, expected.get("template").expect("an answer has a template"))
                && (is_processor || has_tokens(chat, expected.get("special_tokens").expect("an answer has tokens")))
        }
        // The messages of the reference do not name the file, and are not compared.
        (Err(error), Some(_)) => is_clear(error, &folder, ""),
        (Ok(_), Some(_)) | (Err(_), None) => false,
    };
    // A folder without any file to load is an error here. In the reference it has no template.
    let lacks_all = matches!(&loaded, Err(error) if error.message().contains("has neither"));
    let same = same || lacks_all && is_null(expected.get("template").unwrap_or(&Data::None));
    (!same).then(|| format!("{}: {loaded:?} where transformers returns {expected:?}", case.id))
}

/// Returns whether the templates are those expected. The templates of the cases are plain text, which renders to itself.
fn has_templates(chat: &ChatTemplate, expected: &Data<'static>) -> bool {
    let messages = serde_json::json!([{}]);
    let renders = |name: Option<&str>, expected: &str| {
        let options = ApplyOptions::default().with_chat_template(name);
        matches!(chat.apply(&messages, &options), Ok(prompt) if prompt.text == expected.replace('\r', "\n"))
    };
    match expected {
        Data::None => {
            matches!(chat.apply(&messages, &ApplyOptions::default()), Err(error) if error.message().contains("is not set"))
        }
        Data::Str(source) => chat.names().is_empty() && renders(None, source),
        Data::Object(named) => {
            named.len() == chat.names().len() && named.entries().iter().all(|(name, source)| renders(Some(name), text(source)))
        }
        other => panic!("no template: {other:?}"),
    }
}

fn has_tokens(chat: &ChatTemplate, expected: &Data<'static>) -> bool {
    let expected = object(expected);
    let same = |(name, token): &(String, String)| expected.get(name).map(text) == Some(token);
    expected.len() == chat.special_tokens().len() && chat.special_tokens().iter().all(same)
}

fn hex(digits: &str) -> Vec<u8> {
    let byte = |pair: &[u8]| {
        std::str::from_utf8(pair)
            .ok()
            .and_then(|pair| u8::from_str_radix(pair, 16).ok())
    };
    digits
        .as_bytes()
        .chunks(2)
        .map(|pair| byte(pair).expect("bytes are hex"))
        .collect()
}

fn is_clear(error: &Error, folder: &Folder, file: &str) -> bool {
    let path = if file.is_empty() {
        folder.0.clone()
    } else {
        folder.0.join(file)
    };
    error.class() == ErrorClass::Template
        && error.message().starts_with(path.to_str().expect("the path is UTF-8"))
        && error.line().is_none()
}

#[test]
fn a_bad_folder_is_an_error_that_names_the_file() {
    let [template, config, map] = ["chat_template.jinja", "tokenizer_config.json", "special_tokens_map.json"];
    let additional = "additional_chat_templates";
    let bad = [
        (Folder::new(), ""),
        (Folder::new().with("tokenizer.json", "{}"), ""),
        (Folder::new().with_folder(template), template),
        (Folder::new().with_folder(config), config),
        (Folder::new().with(config, "{}").with_folder(map), map),
        (Folder::new().with(config, "{}").with(additional, ""), additional),
        (
            Folder::new().with_folder("additional_chat_templates/rag.jinja"),
            "additional_chat_templates/rag.jinja",
        ),
        (
            Folder::new().with("additional_chat_templates/file.jinja", "x"),
            "additional_chat_templates/file.jinja",
        ),
        (Folder::new().with(config, r#"{"tokenizer_class": 1}"#), config),
        (Folder::new().with(config, r#"{"chat_template": 1}"#), config),
        (Folder::new().with(config, "{}").with("config.json", "["), "config.json"),
        (
            Folder::new().with(config, "{}").with("config.json", r#"{"model_type": 1}"#),
            "config.json",
        ),
        (Folder::new().with(config, "[".repeat(100_000)), config),
    ];
    for (folder, file) in bad {
        let error = folder.load().expect_err("the folder is bad");
        assert!(is_clear(&error, &folder, file), "{file}: {error}");
    }
    let error = Folder::new().with(template, b"\xff\xfe{\0").load().expect_err("it is UTF-16");
    assert!(
        error
            .message()
            .ends_with("invalid UTF-8 at byte 0; the file is UTF-16, so save it as UTF-8"),
        "{error}"
    );
    let token = r#"{"pad_token": {"__type": "AddedToken", "content": {"a": 1}}}"#;
    let error = Folder::new().with(config, token).load().expect_err("the token is not a text");
    assert!(
        error.message().ends_with("'dict' object is not an instance of 'str'"),
        "{error}"
    );
    assert_eq!(
        error.note(),
        Some("it is the `content` of `pad_token`, which must be a string")
    );
}

#[test]
fn a_tokenizer_in_code_is_an_error_unless_the_code_is_ignored() {
    let config = r#"{"auto_map": {"AutoTokenizer": ["code.Own", null]}, "tokenizer_class": "Own", "bos_token": "<s>"}"#;
    let folder = Folder::new()
        .with("chat_template.jinja", "x")
        .with("tokenizer_config.json", config);
    let error = folder.load().expect_err("the code is not run");
    assert!(is_clear(&error, &folder, "tokenizer_config.json"), "{error}");
    for part in ["code.Own", "LoadOptions::ignore_remote_code"] {
        assert!(error.message().contains(part), "{error}");
    }
    let options = LoadOptions::default().with_ignore_remote_code(true);
    let chat = ChatTemplate::from_dir(&folder.0, &options).expect("the code is ignored");
    assert_eq!(chat.special_tokens(), [("bos_token".to_owned(), "<s>".to_owned())]);
}

#[test]
fn the_error_of_a_missing_folder_names_it() {
    let folder = Folder::new().with("file", "");
    for name in ["nowhere", "file"] {
        let error = ChatTemplate::from_dir(folder.0.join(name), &LoadOptions::default()).expect_err("there is no such folder");
        assert!(is_clear(&error, &folder, name), "{error}");
    }
}

#[test]
fn a_file_can_be_as_long_as_the_limit() {
    let folder = Folder::new().with("chat_template.jinja", "12345");
    let limited = |max_file_size: u64| {
        let options = LoadOptions::default().with_max_file_size(max_file_size);
        ChatTemplate::from_dir(&folder.0, &options)
    };
    assert!(limited(5).is_ok());
    let error = limited(4).expect_err("the file is longer");
    assert!(is_clear(&error, &folder, "chat_template.jinja"), "{error}");
}

#[test]
fn a_parsed_configuration_is_loaded_without_a_folder() {
    let config = serde_json::json!({"chat_template": "{{ bos_token }}{{ eos_token }}", "bos_token": "<s>", "tokenizer_class": "LlamaTokenizer"});
    let chat = ChatTemplate::from_config(&config).expect("the configuration is good");
    let prompt = chat.apply(&serde_json::json!([{}]), &ApplyOptions::default());
    assert_eq!(prompt.expect("the template is good").text, "<s></s>");
    assert!(ChatTemplate::from_config(&serde_json::json!([])).is_err());
}

#[test]
fn only_a_template_that_all_plain_requests_need_must_compile() {
    let folder = Folder::new().with("chat_template.jinja", "{% nope %}");
    let error = folder.load().expect_err("the template is bad");
    assert!(error.to_string().contains("chat_template.jinja"), "{error}");
    let folder = Folder::new()
        .with("chat_template.jinja", "good")
        .with("additional_chat_templates/rag.jinja", "{% nope %}");
    let chat = folder.load().expect("the template named default is good");
    let apply = |name| {
        let options = ApplyOptions::default().with_chat_template(name);
        chat.apply(&serde_json::json!([{}]), &options)
    };
    assert_eq!(apply(None).expect("it renders").text, "good");
    let errors = [
        apply(Some("rag")).expect_err("it is bad"),
        chat.check().expect_err("one is bad"),
    ];
    assert!(
        errors.iter().all(|error| error.to_string().contains("rag.jinja")),
        "{errors:?}"
    );
}

#[test]
fn a_folder_of_the_cache_is_loaded_by_its_revision() {
    let folder = Folder::new()
        .with("models--a--b/snapshots/one/chat_template.jinja", "1")
        .with("models--a--b/refs/main", "two");
    let model = folder.0.join("models--a--b");
    let source = || ChatTemplate::from_dir(&model, &LoadOptions::default()).map(|chat| chat.source().map(str::to_owned));
    let is = |expected: &str| matches!(source(), Ok(Some(source)) if source == expected);
    assert!(is("1"), "the only one: {:?}", source());
    let folder = folder.with("models--a--b/snapshots/two/chat_template.jinja", "2");
    assert!(is("2"), "the one of main: {:?}", source());
    let folder = folder.with("models--a--b/refs/main", "three");
    let error = source().expect_err("no revision is chosen");
    assert!(
        error
            .message()
            .ends_with("models--a--b: has 2 revisions, and refs/main names none of them; pass one of the folders in snapshots"),
        "{error}"
    );
    assert_eq!(error.class(), ErrorClass::Template);
    drop(folder);
}

/// Links and special files in a folder that comes from a stranger.
#[cfg(unix)]
mod links {
    use std::os::unix::fs::symlink;

    use super::{ChatTemplate, Folder, LoadOptions};

    const REFUSED: &str = "is a link that leaves the model's folder; to read it, set LoadOptions::follow_links";

    fn link(folder: &Folder, target: &str, name: &str) {
        let path = folder.0.join(name);
        std::fs::create_dir_all(path.parent().expect("a link is in a folder")).expect("a folder can be made");
        symlink(target, path).expect("a link can be made");
    }

    fn message(folder: &Folder, model: &str) -> String {
        let loaded = ChatTemplate::from_dir(folder.0.join(model), &LoadOptions::default());
        loaded.expect_err("the folder is refused").message().to_owned()
    }

    #[test]
    fn a_link_that_leaves_the_folder_is_followed_only_if_the_caller_allows_it() {
        let folder = Folder::new().with("secret", "{{ 1 }}").with_folder("model");
        for name in [
            "chat_template.jinja",
            "tokenizer_config.json",
            "additional_chat_templates/a.jinja",
        ] {
            let folder = Folder::new().with("model/chat_template.jinja", "").with("secret", "{}");
            let _ = std::fs::remove_file(folder.0.join("model").join(name));
            let up = if name.contains('/') { "../../secret" } else { "../secret" };
            link(&folder, up, &format!("model/{name}"));
            assert!(message(&folder, "model").ends_with(REFUSED), "{name}");
        }
        link(&folder, "../secret", "model/chat_template.jinja");
        let options = LoadOptions::default().with_follow_links(true);
        let chat = ChatTemplate::from_dir(folder.0.join("model"), &options).expect("the caller allows it");
        assert_eq!(chat.source(), Some("{{ 1 }}"));
        // The caller's own path may be a link.
        let folder = Folder::new().with("model/chat_template.jinja", "a");
        link(&folder, "model", "alias");
        assert!(ChatTemplate::from_dir(folder.0.join("alias"), &LoadOptions::default()).is_ok());
    }

    #[test]
    fn special_files_and_loops_of_links_are_errors() {
        for (target, expected) in [
            ("/dev/zero", REFUSED),
            ("/proc/self/environ", REFUSED),
            ("tokenizer_config.json", "Too many levels of symbolic links"),
            ("..", REFUSED),
            (".", "is a folder, and must be a file"),
            ("absent.json", "is a link to a file that does not exist"),
        ] {
            let folder = Folder::new().with("chat_template.jinja", "a");
            link(&folder, target, "tokenizer_config.json");
            let message = message(&folder, "");
            assert!(message.contains(expected), "{target}: {message}");
        }
        let folder = Folder::new().with("chat_template.jinja", "a");
        let made = std::process::Command::new("mkfifo")
            .arg(folder.0.join("tokenizer.json"))
            .status();
        assert!(made.expect("mkfifo runs").success());
        assert!(message(&folder, "").ends_with("tokenizer.json: is not a regular file"));
        let folder = Folder::new().with("chat_template.jinja", "a");
        link(&folder, "/etc", "additional_chat_templates");
        assert!(message(&folder, "").ends_with(REFUSED));
    }

    #[test]
    fn links_into_the_blobs_of_the_cache_are_followed_and_others_are_not() {
        let folder = Folder::new()
            .with("models--a--b/blobs/1a2b", "text")
            .with("secret/chat_template.jinja", "s");
        link(&folder, "../../blobs/1a2b", "models--a--b/snapshots/one/chat_template.jinja");
        for path in ["models--a--b", "models--a--b/snapshots/one"] {
            let chat = ChatTemplate::from_dir(folder.0.join(path), &LoadOptions::default()).expect("it is the cache");
            assert_eq!(chat.source(), Some("text"));
        }
        // The name of a revision is not a path.
        let folder = folder.with("models--a--b/refs/main", "../../secret");
        let chat = ChatTemplate::from_dir(folder.0.join("models--a--b"), &LoadOptions::default()).expect("the only revision");
        assert_eq!(chat.source(), Some("text"));
        let folder = Folder::new().with("secret/chat_template.jinja", "s");
        link(&folder, "../../secret", "models--a--b/snapshots/one");
        assert!(message(&folder, "models--a--b").ends_with(REFUSED));
    }
}

#[test]
fn the_files_of_a_folder_have_a_limit_together() {
    let options = LoadOptions::default().with_max_file_size(100);
    let text = "a".repeat(60);
    let folder = Folder::new().with("additional_chat_templates/a.jinja", &text);
    assert!(ChatTemplate::from_dir(&folder.0, &options).is_ok());
    let folder = folder.with("additional_chat_templates/b.jinja", &text);
    let error = ChatTemplate::from_dir(&folder.0, &options).expect_err("they are long together");
    assert!(
        error
            .message()
            .ends_with("b.jinja: limit reached: max_file_size: 120 bytes, at most 100"),
        "{error}"
    );
    let mut folder = Folder::new();
    for number in 0..=1000 {
        folder = folder.with(&format!("additional_chat_templates/{number}.jinja"), "");
    }
    let error = folder.load().expect_err("there are many");
    assert!(
        error.message().contains("limit reached: templates: 1001, at most 1000"),
        "{error}"
    );
}

#[test]
fn a_long_entry_of_a_tokenizer_is_refused() {
    let long_list = "[],".repeat(5_000_000);
    for tokenizer in [
        format!("{{\"padding\": {{\"a\": [{long_list}1], \"pad_token\": \"<p>\"}}}}"),
        format!("{{\"added_tokens\": [{long_list}1]}}"),
        format!("{{\"padding\": \"{}\"}}", "1".repeat(40_000_000)),
    ] {
        let folder = Folder::new()
            .with("tokenizer_config.json", "{}")
            .with("tokenizer.json", tokenizer);
        let error = folder.load().expect_err("the entry is long");
        assert!(error.message().contains("limit reached: json_values"), "{error}");
    }
}
