//! Lexes, parses and resolves any text: no panic, and every error that has a place has one inside the source.
#![no_main]

use chat_template::Template;

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
});
