//! Lexes, parses and resolves any text: no panic, an error's place lies in the source, and a tree that is written and parsed again is the same.
#![no_main]

use chat_template::Template;
use chat_template::fuzzing::written_again;

libfuzzer_sys::fuzz_target!(|source: &str| {
    match Template::compile(source) {
        Ok(template) => drop(template.variables()),
        Err(error) => {
            assert!(
                !error.message().is_empty() || source.contains("raise"),
                "an error says something"
            );
            if let Some(position) = error.position() {
                let lines = source.split('\n').count().max(1) + source.matches('\r').count();
                assert!(position.line as usize <= lines, "{error}");
            }
            drop(error.to_string());
        }
    }
    if let Some([first, second]) = written_again(source).expect("what was written from a tree is a template") {
        assert_eq!(first, second);
    }
});
