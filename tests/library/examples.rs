//! The examples in the comments of built-ins: lines of the form `` /// `template -> output` ``.

use std::path::Path;

use chat_template::internal::{filters, jinja_tests};
use chat_template::{RenderOptions, Template};

/// Asserts the output of each example in a file or a folder of the built-ins, and returns the templates.
fn assert_examples(path: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/builtins").join(path);
    let files = if path.is_dir() {
        let entries = std::fs::read_dir(path).expect("the folder can be read");
        entries.map(|entry| entry.expect("the entry can be read").path()).collect()
    } else {
        vec![path]
    };
    let sources = files
        .iter()
        .map(|file| std::fs::read_to_string(file).expect("the file can be read"));
    let mut templates = Vec::new();
    for line in sources.flat_map(|source| source.lines().map(str::to_owned).collect::<Vec<_>>()) {
        let comment = line.trim_start().trim_start_matches('/').strip_prefix(" `");
        if let Some((template, output)) = comment.and_then(|line| line.strip_suffix('`')?.rsplit_once(" -> ")) {
            let rendered =
                Template::compile(template).and_then(|compiled| compiled.render(&serde_json::json!({}), &RenderOptions::default()));
            assert_eq!(rendered.expect(template).text, output, "{template}");
            templates.push(template.to_owned());
        }
    }
    templates
}

#[test]
fn each_filter_has_an_example() {
    let examples = assert_examples("filters");
    for filter in filters::all() {
        let name = format!("|{}", filter.name);
        let mut rests = examples.iter().flat_map(|example| example.split(&name).skip(1));
        let has_example = rests.any(|rest| !rest.starts_with(|character: char| character.is_alphanumeric()));
        assert!(has_example, "no example of {name}");
    }
}

#[test]
fn each_test_has_an_example() {
    let examples = assert_examples("jinja_tests.rs");
    for test in jinja_tests::all() {
        let forms = [format!(" is {} ", test.name), format!("(\"{}\"", test.name)];
        let has_example = examples.iter().any(|example| forms.iter().any(|form| example.contains(form)));
        assert!(has_example, "no example of {}", test.name);
    }
}
