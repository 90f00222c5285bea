//! Compiles any text. It must not panic, the position of an error must be in the source, and a tree that is printed and parsed again must
//! be equal to the first one.
#![no_main]

use chat_template::Template;
use chat_template::internal::fuzzing::{assert_usable, print_and_reparse};

libfuzzer_sys::fuzz_target!(init: assert_usable(), |source: &str| {
    match Template::compile(source) {
        Ok(template) => drop(template.variables()),
        Err(error) => {
            assert!(
                !error.message().is_empty() || source.contains("raise"),
                "an error has a message"
            );
            if let Some((line, _)) = error.position() {
                let lines = source.split('\n').count().max(1) + source.matches('\r').count();
                assert!(line as usize <= lines, "{error}");
            }
            drop(error.to_string());
        }
    }
    if let Some([first, second]) = print_and_reparse(source).expect("the printed source of a tree parses") {
        assert_eq!(first, second);
    }
});
