//! Places in strings and numbers, as templates and prompts show them.

use chat_template::{Limit, Limits, RenderOptions, Template};
use serde_json::{Value, json};

fn render(source: &str, context: &Value) -> String {
    let rendered = Template::compile(source).unwrap().render(context, &RenderOptions::default());
    rendered.unwrap().text
}

#[test]
fn searches_find_what_the_standard_library_finds() {
    let texts = (0..4096_u32).map(|bits| (0..12).map(|bit| if bits >> bit & 1 == 1 { 'é' } else { 'b' }).collect());
    let texts: Vec<String> = texts.map(|text: String| text.repeat(3)).collect();
    for wanted in ["é", "bé", "éé", "bbé", "ébé", "éébb", ""] {
        let found = render(
            "{% for x in texts %}{{ x.find(wanted) }} {{ x.rfind(wanted) }},{% endfor %}",
            &json!({"texts": texts, "wanted": wanted}),
        );
        let point = |text: &str, byte: Option<usize>| byte.map_or(-1, |byte| text[..byte].chars().count() as i64);
        let expected = texts
            .iter()
            .map(|text| format!("{} {},", point(text, text.find(wanted)), point(text, text.rfind(wanted))));
        assert_eq!(found, expected.collect::<String>(), "{wanted}");
    }
}

#[test]
fn each_code_point_has_its_byte_in_both_directions() {
    let source = "{% for x in texts %}{% generation %}{{ x }}{% endgeneration %}{% endfor %}";
    for length in [1, 127, 128, 129, 384] {
        let texts: Vec<char> = "aé日🙂".chars().cycle().take(length).collect();
        let options = RenderOptions::default()
            .with_reference_spans(true)
            .with_generation_spans(true);
        let output = Template::compile(source)
            .unwrap()
            .render(&json!({"texts": texts}), &options)
            .unwrap();
        let points: Vec<_> = (0..length).map(|point| point..point + 1).collect();
        let bytes: Vec<_> = output
            .text
            .char_indices()
            .map(|(byte, char)| byte..byte + char.len_utf8())
            .collect();
        for spans in [output.reference_spans, output.generation_spans] {
            assert_eq!((spans.code_points, spans.bytes), (points.clone(), bytes.clone()));
        }
    }
}

#[test]
fn the_repr_of_a_long_string_in_a_message_is_cut() {
    for text in ["é".repeat(1 << 16), format!("\n{}\"'", "a".repeat(1 << 16))] {
        let context = json!({"x": {}, "y": text});
        let error = Template::compile("{{ x[y].z }}")
            .unwrap()
            .render(&context, &RenderOptions::default());
        let error = error.unwrap_err();
        assert!(error.message().len() < (1 << 16) + 100);
        assert!(error.message().contains(&render("{{ [y[:1000]] }}", &context)[1..900]));
    }
}

#[test]
fn lines_and_columns_of_a_source_count_from_1() {
    for (source, position) in [
        ("a\r\nb\rc\n{{ 1 / 0 }}", (4, 4)),
        ("é{{ 1 / 0 }}", (1, 5)),
        ("\n\n{{ 1 }}\né\n日本{{ 1 / 0 }}", (5, 6)),
    ] {
        let error = Template::compile(source)
            .unwrap()
            .render(&json!({}), &RenderOptions::default())
            .unwrap_err();
        assert_eq!(error.position(), Some(position), "{source}");
    }
    assert_eq!(render("a\r\nb\rc\n\n", &json!({})), "a\nb\nc\n");
}

#[test]
fn powers_are_refused_before_they_are_computed() {
    for (base, exponent, allowed, actual) in [
        (2, i64::MAX, 1 << 20, Some(i64::MAX as u64)),
        (3, 4_000_000_000, 1 << 20, Some(6_339_850_003)),
        (2, 99, 99, Some(100)),
        (2, 99, 100, None),
        (-1, i64::MAX, 1, None),
    ] {
        let limits = Limits::default().with_bits(allowed);
        let template = Template::compile("{{ x ** y > 0 }}").unwrap();
        let rendered = template.render(
            &json!({"x": base, "y": exponent}),
            &RenderOptions::default().with_bounds(&limits),
        );
        let reached = rendered.err().and_then(|error| error.reached());
        let reached = reached.map(|reached| (reached.limit, reached.actual));
        assert_eq!(reached, actual.map(|actual| (Limit::Bits, actual)), "{base} ** {exponent}");
    }
}
