//! Lexes any text: tokens stand one behind the other, and between them is nothing but blanks, comments and the tags around raw text.
#![no_main]

use chat_template::fuzzing::tokens;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let tokens = tokens(text);
    let mut end = 0;
    for span in &tokens.spans {
        assert!(!span.is_empty() && end <= span.start, "{span:?} follows {end}");
        assert!(tokens.source.get(span.clone()).is_some(), "{span:?} ends between characters");
        let gap = trimmed(&tokens.source[end..span.start]);
        assert!(
            gap.is_empty() || begins_no_token(gap) && gap.ends_with('}'),
            "lost before {span:?}"
        );
        end = span.end;
    }
    // What begins with the last two bytes need not end.
    let rest = trimmed(&tokens.source[end..]);
    assert!(
        !tokens.are_whole || rest.is_empty() || begins_no_token(rest),
        "lost at the end"
    );
});

fn trimmed(gap: &str) -> &str {
    gap.trim_matches(|char: char| char.is_whitespace() || matches!(char, '\u{1c}'..='\u{1f}'))
}

fn begins_no_token(gap: &str) -> bool {
    gap.starts_with("{#") || gap.starts_with("{%")
}
