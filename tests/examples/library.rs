use chat_template::{ErrorClass, FixedClock, RenderOptions, Template};
use serde_json::json;

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A template is compiled once, and rendered from any thread.
    let template = Template::compile(
        "{% for m in messages %}<|{{ m.role }}|>{% generation %}{{ m.content | trim }}{% endgeneration %}{% endfor %}",
    )?;
    let context = json!({"messages": [{"role": "user", "content": " Hi\n"}, {"role": "assistant", "content": "Hello!"}]});
    assert_eq!(template.render(&context)?, "<|user|>Hi<|assistant|>Hello!");
    assert_eq!(template.variables(), ["messages"]);

    // With options: what `strftime_now` sees, what a render may use, and where the `generation` blocks are.
    let clock = FixedClock("2026-01-02T03:04:05".parse()?);
    let options = RenderOptions {
        clock: &clock,
        generation: true,
        ..RenderOptions::default()
    };
    assert_eq!(template.render_with(&context, &options)?.generation, [8..10, 23..29]);

    // An error has a kind, the reference's text and line, and a class by which a server tells 400 from 500.
    let refusal = Template::compile("{{ raise_exception('Only one system message!') }}")?
        .render(&context)
        .unwrap_err();
    assert_eq!(refusal.class(), ErrorClass::Refused);
    assert_eq!(refusal.message(), "Only one system message!");
    Ok(())
}
