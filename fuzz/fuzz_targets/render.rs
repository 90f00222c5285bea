//! Renders any template with a conversation. It must not panic or exceed the limits, and spans must be in order, in the output and on
//! character boundaries.
#![no_main]

use chat_template::{ApplyOptions, ChatTemplate, Limits, RenderOptions, Template};

libfuzzer_sys::fuzz_target!(|source: &str| {
    let Ok(template) = Template::compile(source) else { return };
    let context = serde_json::json!({
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Hé <b>!"}]},
            {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "f", "arguments": {"a": [1, 2.5, true]}}}]},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
        "add_generation_prompt": true,
        "x": 7, "s": "a b\nc", "d": {"k": "v"}, "n": null, "f": -0.5,
    });
    let mut limits = Limits::default();
    limits.steps = 200_000;
    limits.output = 1 << 20;
    limits.value = 1 << 20;
    limits.live = 4 << 20;
    let options = RenderOptions {
        limits: &limits,
        generation: true,
        ..RenderOptions::default()
    };
    let rendered = template.render_with(&context, &options);
    match rendered {
        Ok(rendered) => {
            assert!(rendered.text.len() <= 1 << 20, "the output is within its limit");
            // As in the reference, a span can lie beyond the end of the output, but it cannot end before it begins.
            assert!(
                rendered.generation.iter().all(|span| span.start <= span.end),
                "a span ends after it begins"
            );
        }
        Err(error) => drop(error.to_string()),
    }
    if source.contains("generation") {
        check_true_spans(source, &context, &limits);
    }
});

/// Checks that the true spans of the generation blocks are ranges of the prompt.
fn check_true_spans(source: &str, context: &serde_json::Value, limits: &Limits) {
    let options = ApplyOptions {
        generation: true,
        true_spans: true,
        limits,
        ..ApplyOptions::default()
    };
    let Ok(prompt) = ChatTemplate::from_source(source, &[]).apply(&context["messages"], &options) else {
        return;
    };
    for span in &prompt.true_spans.bytes {
        assert!(
            prompt.text.get(span.clone()).is_some(),
            "{span:?} is not a range of {:?}",
            prompt.text
        );
    }
}
