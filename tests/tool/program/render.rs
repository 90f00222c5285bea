//! The command `render`: its inputs, and its messages about mistakes.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder for one test, which is removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("chat-template-render-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder can be made");
        Self(path)
    }

    fn file(&self, name: &str, content: &str) -> String {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder can be made");
        std::fs::write(&path, content).expect("a file can be written");
        path.display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs the command and returns its standard output, its standard error and its exit status.
fn render(arguments: &[&str]) -> (String, String, i32) {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut command = Command::new(env!("CARGO_BIN_EXE_chat-template"));
    let output = command.arg("render").args(arguments).current_dir(root).output();
    let output = output.expect("the command runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let status = output.status.code().expect("it exits");
    (text(&output.stdout), text(&output.stderr), status)
}

const MODEL: [&str; 2] = ["--model", "tests/models/jinja"];
const CONVERSATION: [&str; 2] = ["--messages", "tests/models/conversation.json"];

#[track_caller]
fn assert_fails(arguments: &[&str], status: i32, part: &str) {
    let (_, error, actual) = render(arguments);
    assert_eq!(actual, status, "{error}");
    assert!(error.contains(part), "{error}");
}

#[test]
fn a_model_and_a_conversation_are_options() {
    let hint = "chat-template render --model Qwen3-8B --messages FILE";
    assert_fails(&["Qwen3-8B", "chat.json"], 2, hint);
    let (_, error, _) = render(&["--model"]);
    assert!(!error.contains(hint), "{error}");
}

#[test]
fn a_page_begins_with_the_chosen_colours_and_says_what_the_prompt_lacks() {
    let folder = Folder::new("page");
    let template = folder.file("t.jinja", "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}");
    let messages = folder.file(
        "chat.json",
        r#"[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b", "reasoning_content": "why"}]"#,
    );
    let path = folder.file("page.html", "");
    let given = ["--template", &template, "--messages", &messages, "--explain-html", &path];
    for (explain, checked) in [
        ("--explain=message", "id=\"by-message\" checked"),
        ("--explain=origin", "id=\"by-origin\" checked"),
    ] {
        let (_, error, status) = render(&[&given[..], &[explain]].concat());
        assert_eq!(status, 0, "{error}");
        let page = std::fs::read_to_string(&path).expect("the page is written");
        assert!(page.contains(checked), "{explain}");
        assert!(page.contains("/messages/1/reasoning_content: the prompt has nothing of this reasoning"));
    }
}

#[test]
#[cfg(feature = "tokenizer")]
fn a_request_is_counted_and_cut() {
    let folder = Folder::new("count");
    let template = folder.file("t.jinja", "{% for m in messages %}{{ m.content }} {% endfor %}");
    let turns = ["user", "assistant", "user"].map(|role| format!(r#"{{"role": "{role}", "content": "hello {role}"}}"#));
    let body = folder.file("body.json", &format!(r#"{{"messages": [{}]}}"#, turns.join(",")));
    let tokenizer = ["--tokenizer", "tests/outside/tokenizers/tokenizer.json"];
    let request = ["--template", &template, "--request", &body, tokenizer[0], tokenizer[1]];
    let count = |more: &[&str]| render(&[&request[..], &["--count"], more].concat()).0.trim().parse::<usize>();
    let (all, limit) = (count(&[]).expect("a number"), "10");
    let fitted = count(&["--fit", limit]).expect("a number");
    assert!(all > 10 && fitted <= 10, "{all} {fitted}");
    let (text, error, _) = render(&[&request[..], &["--fit", limit]].concat());
    assert_eq!(text, "hello user ");
    assert!(error.contains("/messages/0") && error.contains("/messages/1"), "{error}");
    assert_fails(&[&request[..], &["--fit", "1"]].concat(), 1, "and the limit is 1");
    assert_fails(&["--template", &template, "--request", &body, "--count"], 2, "--tokenizer");
    assert_fails(&request, 1, "--tokenizer is for --count and --fit");
}

#[test]
fn an_object_with_messages_and_tools_is_a_conversation() {
    let folder = Folder::new("body");
    let template = folder.file("t.jinja", "{{ messages[0].content }} {{ tools|length }} {{ documents }}");
    let body = r#"{"messages": [{"role": "user", "content": "Hi"}], "tools": [{"a": 1}], "documents": null}"#;
    let body = folder.file("body.json", body);
    let (text, error, _) = render(&["--template", &template, "--messages", &body]);
    assert_eq!(text, "Hi 1 None", "{error}");
    let tools = folder.file("tools.json", "[]");
    let (text, error, _) = render(&["--template", &template, "--messages", &body, "--tools", &tools]);
    assert_eq!(text, "Hi 0 None", "{error}");
}

#[test]
fn what_a_prompt_does_not_have_of_a_request_is_a_warning() {
    let folder = Folder::new("dropped");
    let template = folder.file("t.jinja", "{% for m in messages %}{{ m.content }}{% endfor %}");
    let body = r#"{"messages": [{"role": "user", "content": "Hi", "name": "Ada"}], "thinking": {"type": "new"}}"#;
    let body = folder.file("body.json", body);
    let (text, warnings, _) = render(&["--template", &template, "--request", &body]);
    assert_eq!(text, "Hi");
    for path in ["/thinking", "/messages/0/name"] {
        assert!(warnings.contains(&format!("warning: {path}: dropped, ")), "{warnings}");
    }
}

#[test]
fn parts_in_the_notation_of_python_have_a_warning() {
    let folder = Folder::new("repr");
    let template = folder.file("t.jinja", "{{ messages[0].content }}{{ messages[1].content }}");
    let messages = |content: &str| {
        let first = r#"{"role": "system", "content": "[{'type': "}"#;
        let first = if content.starts_with('[') {
            r#"{"role": "system", "content": "A"}"#
        } else {
            first
        };
        folder.file("m.json", &format!(r#"[{first}, {{"role": "user", "content": {content}}}]"#))
    };
    let with = |content| render(&["--template", &template, "--messages", &messages(content)]);
    let (_, warning, _) = with(r#"[{"type": "text", "text": "Hi"}]"#);
    assert!(
        warning.starts_with("warning: the template prints the parts of message 2 in Python's notation; pass "),
        "{warning}"
    );
    assert_eq!(with(r#""Hi""#).1, "");
}

#[test]
fn a_folder_of_the_cache_is_a_model() {
    let folder = Folder::new("cache");
    folder.file("models--a--b/snapshots/0123/chat_template.jinja", "{{ messages|length }}");
    let model = folder.0.join("models--a--b").display().to_string();
    let (text, error, _) = render(&[&["--model", &model], &CONVERSATION[..]].concat());
    assert_eq!(text, "4", "{error}");
}

#[test]
fn mistakes_in_files_are_shown_with_their_places() {
    let folder = Folder::new("files");
    let file = |name: &str, content: &str| folder.file(name, content);
    let file_of_bytes = |name: &str, content: &[u8]| {
        let path = folder.file(name, "");
        std::fs::write(&path, content).expect("a file can be written");
        path
    };
    for (path, part) in [
        (
            file("bad.json", "[\n  {\"role\": \"user\" \"content\": 1}\n]"),
            "bad.json: not JSON: Expecting ',' delimiter: line 2 column 19 (char 20)\n2 |   {\"role\": \"user\" \"content\": 1}\n  |                   ^",
        ),
        (
            file("lines.jsonl", "[]\n[]\n"),
            "the file has a JSON value in each line (JSON Lines); pass a file with one of them",
        ),
        (
            file("object.json", "{}"),
            "object.json: expected an array of messages, each an object, and this is an object without \"messages\"",
        ),
        (
            file("message.json", r#"{"role": "user", "content": "Hi"}"#),
            "message.json: this is one message; put it in [ ], because",
        ),
        (
            file("body.json", r#"{"messages": [], "chat_template_kwargs": {}}"#),
            "this object also has \"chat_template_kwargs\"; pass the body of a request as --request",
        ),
        (
            file("responses.json", r#"{"input": "Hi"}"#),
            "this is the body of a request; pass it as --request",
        ),
        ("-".to_owned(), "error: standard input: the file is empty, and must be JSON"),
        (file("number.json", "[1]"), "each an object, and its element 0 is a number"),
        (file("empty.json", " \n"), "empty.json: the file is empty, and must be JSON"),
        (
            file("bom.json", "\u{feff}[]"),
            "bom.json: the file begins with a byte order mark; save it as UTF-8 without one",
        ),
        (
            file_of_bytes("utf16.json", b"\xff\xfe[\0]\0"),
            "utf16.json: invalid UTF-8 at byte 0; the file is UTF-16, so save it as UTF-8",
        ),
        (
            file_of_bytes("bytes.gguf", b"GGUF\xff"),
            "bytes.gguf: invalid UTF-8 at byte 4; the file is GGUF: load it as a model",
        ),
    ] {
        assert_fails(&[&MODEL[..], &["--messages", &path]].concat(), 1, part);
    }
    if cfg!(unix) {
        assert_fails(
            &[&MODEL[..], &["--messages", "/dev/zero"]].concat(),
            1,
            "/dev/zero: the file has more than 256 MiB",
        );
    }
    let limits = file("limits.json", "{\"steps\": 10}");
    let part = "pass `--limits FILE` with a file such as {\"steps\": 20}";
    assert_fails(&[&MODEL[..], &CONVERSATION, &["--limits", &limits]].concat(), 1, part);
}

#[test]
fn mistakes_in_variables_are_explained() {
    let folder = Folder::new("variables");
    let template = folder.file(
        "t.jinja",
        "{% if enable_thinking is defined %}{{ enable_thinking }}{% endif %}",
    );
    let with = |variable| render(&[&["--template", template.as_str(), "--var", variable], &CONVERSATION[..]].concat());
    assert_eq!(with("enable_thinking=false"), ("False".to_owned(), String::new(), 0));
    let (text, warning, status) = with("enable_thinkng=false");
    assert_eq!((text.as_str(), status), ("", 0));
    assert_eq!(
        warning,
        "warning: the template does not read the variable enable_thinkng; did you mean enable_thinking?\n"
    );
    let tools = folder.file("tools.json", "[{}]");
    let arguments = [&["--template", template.as_str(), "--tools", &tools], &CONVERSATION[..]].concat();
    assert_eq!(render(&arguments).1, "warning: the template does not read tools\n");
    for (variable, part) in [
        ("enable_thinking=False", "write enable_thinking=false"),
        ("messages=[]", "messages is not a variable; use the option --messages"),
    ] {
        let (_, error, status) = with(variable);
        assert!(status == 2 && error.contains(part), "{error}");
    }
}

/// A terminal would act on these characters, and arguments can be names of files from strangers.
#[test]
fn control_characters_of_arguments_are_escaped() {
    for argument in ["\u{9b}2J\u{1b}[31m", "--\u{202e}\u{61c}\u{2028}"] {
        let (_, error, status) = render(&["--template", "t.jinja", argument]);
        assert_eq!(status, 2);
        assert!(
            error.contains("\\u{") && !error.contains(|char: char| "\u{1b}\u{9b}\u{202e}\u{61c}\u{2028}".contains(char)),
            "{error:?}"
        );
    }
    let absent = "\u{1b}[31mred.jinja";
    let (_, error, _) = render(&[&["--template", absent], &CONVERSATION[..]].concat());
    assert!(error.starts_with("error: \\u{1b}[31mred.jinja: "), "{error:?}");
}

#[test]
fn mistakes_in_models_say_what_to_do() {
    let folder = Folder::new("models");
    let config = r#"{"auto_map": {"AutoTokenizer": ["code.Own", null]}, "tokenizer_class": "Own"}"#;
    folder.file("remote/tokenizer_config.json", config);
    let template = folder.file("remote/chat_template.jinja", "{{ messages|length }}");
    let model = folder.0.join("remote").display().to_string();
    let with = |arguments: &[&str], part: &str| assert_fails(&[arguments, &CONVERSATION].concat(), 1, part);
    with(
        &["--model", &model],
        "(code.Own), and this crate does not run it; pass --ignore-remote-code to load the folder",
    );
    with(
        &["--model", "nowhere"],
        "nowhere: there is no such folder; models are read from disk and not downloaded",
    );
    with(
        &["--model", &template],
        "chat_template.jinja: is not a folder; pass a template as --template",
    );
    let config = folder.file("broken/tokenizer_config.json", "{\"a\": b}");
    with(
        &["--model", &config],
        "tokenizer_config.json: is not a folder; pass the folder that it is in",
    );
    with(
        &["--model", &folder.0.join("broken").display().to_string()],
        "tokenizer_config.json: not JSON: Expecting value: line 1 column 7 (char 6)\n1 | {\"a\": b}\n  |       ^",
    );
    let gguf = folder.file("m.gguf", "GGUF");
    with(&["--model", &gguf], "m.gguf: byte 4: the file ends within the next 4 bytes");
    with(&["--model", "nowhere.gguf"], "nowhere.gguf: No such file");
    folder.file("tekken/tekken.json", "{}");
    with(
        &["--model", &folder.0.join("tekken").display().to_string()],
        "; its tekken.json is for mistral-common, which makes prompts without a template",
    );
    with(&["--template", &model], "remote: this is a folder, and must be a file");
    let named = ["--model", model.as_str(), "--ignore-remote-code", "--name", "rag"];
    with(
        &named,
        "there is no template named rag; the only template has no name, so omit --name",
    );
    folder.file("named/additional_chat_templates/rag.jinja", "x");
    let named = folder.0.join("named").display().to_string();
    with(&["--model", &named], "on the command line, pass one of these names as --name");
    let with_template = |option: &[&str], part: &str| {
        let arguments = [&["--template", &template], option, &CONVERSATION].concat();
        assert_fails(&arguments, 2, part);
    };
    with_template(&["--name", "rag"], "cannot be used with '--name <NAME>'");
    with_template(&["--strict"], "cannot be used with");
    let context = folder.file("context.json", "[]");
    assert_fails(
        &["--template", &template, "--context", &context],
        1,
        "context.json: the context must be an object of variables, and this is an array",
    );
}

#[test]
fn pages_show_their_pictures() {
    for page in ["README.md", "tests/examples/injection/README.md"] {
        let text = std::fs::read_to_string(format!("../../{page}")).expect("the page can be read");
        let command = text.lines().find(|line| line.ends_with("--explain"));
        let command = command.expect("the page has a command");
        let arguments: Vec<&str> = command.split(' ').skip(2).collect();
        let (picture, error, _) = render(&arguments);
        let quoted = format!("{command}\n```\n\n```text\n{picture}```");
        assert!(text.contains(&quoted), "{page} does not quote:\n{quoted}\n{error}");
    }
}

#[test]
fn a_picture_is_written_as_a_page() {
    let folder = Folder::new("explain");
    let page = folder.file("page.html", "");
    let arguments = [MODEL, CONVERSATION].concat();
    let (text, error, status) = render(&[arguments.as_slice(), &["--explain-html", &page]].concat());
    assert_eq!((text.as_str(), error.as_str(), status), ("", "", 0));
    let page = std::fs::read_to_string(page).expect("the page is written");
    assert!(page.contains("data-place=\"/messages/0/content\""));
}

#[test]
fn the_messages_of_a_request_have_numbers_and_roles() {
    let folder = Folder::new("explain-request");
    let template = folder.file("t.jinja", "{% for m in messages %}{{ m.content }}{% endfor %}");
    let body =
        r#"{"messages": [{"role": "system", "content": "A"}, {"role": "user", "content": [{"type": "text", "text": "B"}]}]}"#;
    let (body, page) = (folder.file("body.json", body), folder.file("page.html", ""));
    let arguments = [
        "--template",
        &template,
        "--request",
        &body,
        "--explain",
        "--explain-html",
        &page,
    ];
    let (picture, error, _) = render(&arguments);
    assert!(
        picture.contains("message 2 (user)    /messages/1/content"),
        "{picture} {error}"
    );
    let page = std::fs::read_to_string(page).expect("the page is written");
    assert!(page.contains("2 characters, 1 line, 2 messages"));
}

#[test]
fn an_unknown_mask_has_a_warning() {
    let folder = Folder::new("mask");
    let messages = folder.file(
        "m.json",
        r#"[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]"#,
    );
    for (template, warning) in [
        (
            "{{ messages }}",
            "it is unknown which text the model writes: the template prints messages as values",
        ),
        ("{{ messages[0].content }}", "the prompt has no text that the model writes"),
        ("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}", ""),
    ] {
        let template = folder.file("t.jinja", template);
        let (out, error, _) = render(&["--template", &template, "--messages", &messages, "--json"]);
        let expected = if warning.is_empty() {
            String::new()
        } else {
            format!("warning: {warning}\n")
        };
        assert_eq!(error, expected, "{out}");
        let (picture, error, _) = render(&["--template", &template, "--messages", &messages, "--explain"]);
        assert!(
            picture.contains(warning) && picture.contains("┃") == warning.is_empty(),
            "{picture} {error}"
        );
    }
}

#[test]
fn a_picture_of_a_context_marks_control_tokens() {
    let folder = Folder::new("explain-context");
    let template = folder.file("t.jinja", "{{ bos_token }}{{ bos_token }}{{ x|upper }}");
    let context = folder.file("context.json", r#"{"bos_token": "<s>", "x": "a<s>"}"#);
    let arguments = [
        "--template",
        &template,
        "--context",
        &context,
        "--explain",
        "--color=always",
        "--control-token",
        "<S>",
    ];
    let (picture, error, _) = render(&arguments);
    assert!(picture.contains("\x1b[1;97;41m<S>\x1b[0m"), "{picture:?} {error}");
    assert!(
        picture.contains("warning: the prompt has the token <s> twice in a row"),
        "{picture:?}"
    );
    assert!(
        picture.contains("warning: the input has the control token <S> at /x"),
        "{picture:?}"
    );
}

#[test]
fn after_a_prompt_only_the_rest_is_printed() {
    let folder = Folder::new("after");
    let (prompt, _, _) = render(&[&MODEL[..], &CONVERSATION].concat());
    let seen = folder.file("seen.txt", &prompt);
    let arguments = [&MODEL[..], &CONVERSATION, &["--add-generation-prompt", "--after", &seen]].concat();
    assert_eq!(render(&arguments).0, "<|im_start|>assistant\n");
    let other = folder.file("other.txt", "<|im_start|>systemX");
    assert_fails(
        &[&MODEL[..], &CONVERSATION, &["--after", &other]].concat(),
        1,
        "differs from the text that was seen, at character 18",
    );
}
