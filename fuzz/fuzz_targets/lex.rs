//! Lexes any text. Tokens must not overlap, and only whitespace, comments and the tags of raw blocks may lie between them.
#![no_main]

use chat_template::internal::fuzzing::lex;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let tokens = lex(text);
    let mut end = 0;
    for span in &tokens.spans {
        assert!(
            !span.is_empty() && end <= span.start,
            "{span:?} is empty or begins before {end}"
        );
        assert!(
            tokens.source.get(span.clone()).is_some(),
            "{span:?} is not on character boundaries"
        );
        let gap = trimmed(&tokens.source[end..span.start]);
        assert!(
            gap.is_empty() || is_comment_or_raw_tag(gap) && gap.ends_with('}'),
            "no token covers {gap:?} before {span:?}"
        );
        end = span.end;
    }
    // A comment that the last two bytes of the source open need not be closed.
    let rest = trimmed(&tokens.source[end..]);
    assert!(
        !tokens.is_complete || rest.is_empty() || is_comment_or_raw_tag(rest),
        "no token covers {rest:?} at the end"
    );
});

fn trimmed(gap: &str) -> &str {
    gap.trim_matches(|char: char| char.is_whitespace() || matches!(char, '\u{1c}'..='\u{1f}'))
}

/// Returns whether a gap between tokens begins with a comment or with the tag of a raw block, which are not tokens.
fn is_comment_or_raw_tag(gap: &str) -> bool {
    gap.starts_with("{#") || gap.starts_with("{%")
}
