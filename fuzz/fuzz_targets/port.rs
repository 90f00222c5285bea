//! Runs `chat-template port` on any bytes. It must not panic, and each line that is not blank must have one answer, which is JSON.
#![no_main]

use chat_template::Limits;
use chat_template::internal::fuzzing::assert_usable;
use chat_template::json::{self, Data};
use chat_template_cli::answer_requests;

libfuzzer_sys::fuzz_target!(init: assert_usable(), |input: &[u8]| {
    let mut limits = Limits::default();
    limits.steps = 200_000;
    limits.value = 1 << 20;
    limits.live = 4 << 20;
    let mut answers = Vec::new();
    answer_requests(limits, input, &mut answers).expect("memory is read and written without errors");
    let answers = std::str::from_utf8(&answers).expect("an answer is UTF-8");
    let requests = input
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty());
    assert_eq!(answers.lines().count(), requests.count(), "{answers}");
    for answer in answers.lines() {
        let Ok(Data::Object(answer)) = json::read(answer) else {
            panic!("not an object: {answer}");
        };
        let has = |name: &&str| answer.get(name).is_some();
        let results = ["output", "error", "port", "unsupported"]
            .iter()
            .filter(|name| has(name))
            .count();
        assert!(has(&"id") && results == 1, "{answer:?}");
    }
});
