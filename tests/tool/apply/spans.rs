//! The spans of `{% generation %}` blocks in both units, and the masks made from them.

use chat_template::{ApplyOptions, ChatTemplate, Prompt, assistant_mask};

fn render_spans(source: &str) -> Prompt {
    let options = ApplyOptions::default().with_reference_spans(true).with_generation_spans(true);
    let template = ChatTemplate::from_source(source, &[]).unwrap();
    template.apply(&serde_json::json!([{}]), &options).expect("it renders")
}

#[test]
fn both_units_are_the_same_places() {
    let prompt = render_spans(
        "a{% generation %}é👍{% endgeneration %}{% generation %}b{% endgeneration %}{% generation %}{% endgeneration %}",
    );
    for spans in [&prompt.reference_spans, &prompt.generation_spans] {
        assert_eq!(spans.code_points, [1..3, 3..4, 4..4]);
        assert_eq!(spans.bytes, [1..7, 7..8, 8..8]);
    }
}

#[test]
fn a_mask_is_equal_in_both_units() {
    let source = "{% set x %}{% generation %}é   {% endgeneration %}{% endset %}{{ x|trim }}!";
    let prompt = render_spans(source);
    assert_eq!((prompt.text.as_str(), prompt.reference_spans.code_points[0].end), ("é!", 4));
    // The span ends after the text. The last token is padding.
    for (spans, tokens) in [
        (&prompt.reference_spans.code_points, [(0, 1), (1, 2), (0, 0)]),
        (&prompt.reference_spans.bytes, [(0, 2), (2, 3), (0, 0)]),
    ] {
        assert_eq!(assistant_mask(spans, &tokens), [1, 1, 0]);
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
            let spans = || prompt.generation_spans.bytes.iter();
            shown.extend(spans().filter(|span| span.start == byte).map(|_| '['));
            shown.push(character);
            let end = byte + character.len_utf8();
            shown.extend(spans().filter(|span| span.end == end).map(|_| ']'));
        }
        assert_eq!(shown, expected, "{source}");
    }
}

/// A line of `masks.jsonl`, which `tests/reference/mask_cases.py` makes from transformers.
#[derive(serde::Deserialize)]
struct MaskCase {
    rule: String,
    spans: Vec<(usize, usize)>,
    tokens: Vec<(usize, usize)>,
    mask: String,
}

#[test]
fn masks_are_those_of_transformers() {
    for line in include_str!("masks.jsonl").lines() {
        let case: MaskCase = serde_json::from_str(line).unwrap();
        let spans: Vec<_> = case.spans.iter().map(|(start, end)| *start..*end).collect();
        let mask = assistant_mask(&spans, &case.tokens);
        let mask: String = mask.iter().map(ToString::to_string).collect();
        assert_eq!(mask, case.mask, "{}", case.rule);
    }
}
