use chat_template::{ApplyOptions, ChatTemplate, ContinueFinalMessage, ErrorClass, Template, assistant_mask};
use serde_json::json;

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A folder is read once, and its templates compiled once; a clone is cheap, and any thread may apply it.
    let chat = ChatTemplate::from_dir("tests/models/jinja")?;
    let messages = json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]);
    let options = ApplyOptions {
        add_generation_prompt: true,
        ..Default::default()
    };
    let prompt = chat.apply(&messages, &options)?;
    assert!(prompt.text.ends_with("Hello<|im_end|>\n<|im_start|>assistant\n"));

    // Tools, documents and the template's own arguments are borrowed JSON. Who reads what, a template says.
    let tools = json!([{"type": "function", "function": {"name": "weather"}}]);
    let variables = json!({"enable_thinking": false});
    let options = ApplyOptions {
        tools: Some(&tools),
        variables: Some(&variables),
        ..Default::default()
    };
    let own = ChatTemplate::from_source(
        "{{ tools[0].function.name }}, {{ enable_thinking }}",
        &[("eos_token", "</s>")],
    );
    assert_eq!(own.apply(&messages, &options)?.text, "weather, False");

    // The last message is left open, so that the model continues it.
    let options = ApplyOptions {
        continue_final_message: ContinueFinalMessage::Content,
        ..Default::default()
    };
    assert!(
        chat.apply(&messages, &options)?
            .text
            .ends_with("<|im_start|>assistant\nHello")
    );

    // Training masks: what `{% generation %}` blocks wrote, as spans, and over the tokens of your tokenizer, which are made up here.
    let options = ApplyOptions {
        generation: true,
        ..Default::default()
    };
    let prompt = chat.apply(&messages, &options)?;
    let [span] = &prompt.generation.bytes[..] else {
        return Err("one message is the assistant's".into());
    };
    assert_eq!(&prompt.text[span.clone()], "Hello<|im_end|>");
    let tokens = [0..span.start, span.clone(), span.end..prompt.text.len()];
    assert_eq!(assistant_mask(&prompt.generation.bytes, &tokens)?, [0, 1, 0]);

    // An error has the reference's text, and a class by which a server tells 400 from 500.
    let strict = ChatTemplate::from_source("{{ raise_exception('Only one system message!') }}", &[]);
    let refusal = strict.apply(&messages, &ApplyOptions::default()).unwrap_err();
    assert_eq!((refusal.class(), refusal.class().http_status()), (ErrorClass::Refused, 400));
    assert_eq!(refusal.message(), "Only one system message!");

    // The engine alone, without the contract: a context in, a text out.
    let template = Template::compile("{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}{% endfor %}")?;
    assert_eq!(template.render(&json!({"messages": messages}))?, "<user>Hi<assistant>Hello");
    assert_eq!(template.variables(), ["messages"]);
    Ok(())
}
