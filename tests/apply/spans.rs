//! The spans of `{% generation %}` blocks in both units, and the masks made from them.

use chat_template::{ApplyOptions, ChatTemplate, Error, ErrorKind, Prompt, assistant_mask};

fn render_spans(source: &str) -> Prompt {
    let options = ApplyOptions {
        generation: true,
        true_spans: true,
        ..ApplyOptions::default()
    };
    let template = ChatTemplate::from_source(source, &[]);
    template.apply(&serde_json::json!([{}]), &options).expect("it renders")
}

#[test]
fn both_units_are_the_same_places() {
    let prompt = render_spans(
        "a{% generation %}é👍{% endgeneration %}{% generation %}b{% endgeneration %}{% generation %}{% endgeneration %}",
    );
    for spans in [&prompt.generation, &prompt.true_spans] {
        assert_eq!(spans.code_points, [1..3, 3..4, 4..4]);
        assert_eq!(spans.bytes, [1..7, 7..8, 8..8]);
    }
}

#[test]
fn a_mask_is_equal_in_both_units() {
    let source = "{% set x %}{% generation %}é   {% endgeneration %}{% endset %}{{ x|trim }}!";
    let prompt = render_spans(source);
    assert_eq!((prompt.text.as_str(), prompt.generation.code_points[0].end), ("é!", 4));
    // The last token is padding. No token contains the end of the span, so that the mask is filled to its end.
    for (spans, tokens) in [
        (&prompt.generation.code_points, [0..1, 1..2, 0..0]),
        (&prompt.generation.bytes, [0..2, 2..3, 0..0]),
    ] {
        assert_eq!(assistant_mask(spans, &tokens).unwrap(), [1, 1, 1]);
    }
}

#[test]
fn true_spans_are_the_places_of_the_blocks() {
    for (source, expected) in [
        ("a{% generation %}b{% endgeneration %}", "a[b]"),
        (
            "{% macro m() %}({% generation %}b{% endgeneration %}){% endmacro %}{{ m() }}{{ m() }}",
            "([b])([b])",
        ),
        (
            "{% set x %} a{% generation %}b{% endgeneration %} {% endset %}{{ x|trim }}|{{ x }}|{{ 'é' ~ x }}",
            "a[b]| a[b] |é a[b] ",
        ),
        (
            "{% set x %}{% generation %}bc{% endgeneration %}{% endset %}{{ x[1:] }}{{ x + 'd' }}{% set y = 'a' + x %}{{ y }}",
            "[c][bc]da[bc]",
        ),
        (
            "{% set x %}{% generation %}b{% endgeneration %}{% endset %}{{ '&' + x + ('<'|safe) }}{{ 'a' + (x + ('<'|safe)) }}",
            "&amp;b<a[b]<",
        ),
        (
            "{% macro m() %}<{{ caller() }}>{% endmacro %}{% call m() %}a{% generation %}b{% endgeneration %}{% endcall %}",
            "<a[b]>",
        ),
        (
            "{% filter trim %} {% generation %}a {% generation %}b{% endgeneration %}{% endgeneration %} {% endfilter %}",
            "[a [b]]",
        ),
        (
            "{% for x in [1, [2]] recursive %}{% if x is iterable %}{{ loop(x) }}{% else %}{% generation %}{{ x }}{% endgeneration %};{% endif %}{% endfor %}",
            "[1];[2];",
        ),
        (
            "{% set x %}{% generation %}b{% endgeneration %}{% endset %}{{ x|upper }}",
            "B",
        ),
    ] {
        let prompt = render_spans(source);
        let mut shown = String::new();
        for (byte, character) in prompt.text.char_indices() {
            let spans = || prompt.true_spans.bytes.iter();
            shown.extend(spans().filter(|span| span.start == byte).map(|_| '['));
            shown.push(character);
            let end = byte + character.len_utf8();
            shown.extend(spans().filter(|span| span.end == end).map(|_| ']'));
        }
        assert_eq!(shown, expected, "{source}");
    }
}

fn mask(spans: &[(usize, usize)], tokens: &[(usize, usize)]) -> Result<Vec<u8>, Error> {
    let ranges = |pairs: &[(usize, usize)]| pairs.iter().map(|(start, end)| *start..*end).collect::<Vec<_>>();
    assistant_mask(&ranges(spans), &ranges(tokens))
}

/// Masks of transformers 5.24.0, with the offsets of fast tokenizers.
#[test]
fn masks_are_those_of_transformers() -> Result<(), Error> {
    // Two spans that begin and end with tokens.
    assert_eq!(
        mask(&[(4, 8), (14, 18)], &[(0, 4), (4, 6), (7, 8), (8, 9), (9, 10)])?,
        [0, 1, 1, 0, 0]
    );
    // Padding on the left.
    assert_eq!(mask(&[(2, 3)], &[(0, 0), (0, 0), (0, 0), (0, 2), (2, 3)])?, [0, 0, 0, 0, 1]);
    // No token contains the start of the first span, and the second is ignored.
    assert_eq!(mask(&[(1, 3), (3, 7)], &[(3, 7), (7, 8), (8, 9)])?, [0, 0, 0]);
    // No token contains the last character.
    assert_eq!(mask(&[(2, 6)], &[(0, 1), (1, 2), (2, 3)])?, [0, 0, 1]);
    // The first token contains the end.
    assert_eq!(mask(&[(4, 6)], &[(0, 6), (6, 7), (7, 9)])?, [1, 1, 1]);
    // An empty span ends before it starts.
    assert_eq!(mask(&[(4, 4)], &[(0, 2), (3, 4), (4, 5)])?, [0, 0, 0]);
    // A character of several tokens.
    assert_eq!(mask(&[(1, 5)], &[(0, 1), (1, 2), (1, 2)])?, [0, 1, 1]);
    Ok(())
}

#[test]
fn an_empty_span_at_the_start_is_an_overflow_error() {
    let error = mask(&[(0, 0)], &[(0, 1)]).map_err(|error| (error.kind(), error.message().to_owned()));
    assert_eq!(
        error,
        Err((ErrorKind::Overflow, "can't convert negative int to unsigned".to_owned()))
    );
}

#[test]
fn offsets_without_order_have_the_same_masks() {
    let ordered = [0..0, 0..2, 1..3, 3..3, 3..4, 3..4, 6..9, 0..0];
    let mut unordered = ordered.to_vec();
    unordered.push(0..1);
    for span in (0..9).map(|start| start..start + 2) {
        let mask = |tokens| assistant_mask(std::slice::from_ref(&span), tokens).unwrap();
        assert_eq!(mask(&unordered)[..ordered.len()], mask(&ordered), "{span:?}");
    }
}
