//! Applies a chat template to any request, as the port does. A request is a JSON object with a template, messages and options. It must not
//! panic, and true spans must be in the prompt, on character boundaries.
#![no_main]

use chat_template::internal::fuzzing::assert_usable;
use chat_template::json::{self, Data};
use chat_template::{ApplyOptions, ChatTemplate, ContinueFinalMessage};

libfuzzer_sys::fuzz_target!(init: assert_usable(), |text: &str| {
    let Ok(Data::Object(request)) = json::read(text) else {
        return;
    };
    let Some(Data::Str(source)) = request.get("template") else {
        return;
    };
    let Some(messages) = request.get("messages") else { return };
    let Ok(template) = ChatTemplate::from_source(&**source, &[("bos_token", "<s>")]) else {
        return;
    };
    let is_set = |name| request.get(name).is_some_and(|flag| *flag == Data::Bool(true));
    let options = ApplyOptions::default().with_add_generation_prompt(is_set("add_generation_prompt")).with_continue_final_message(if is_set("continue_final_message") {
            ContinueFinalMessage::Content
        } else {
            ContinueFinalMessage::default()
        }).with_reference_spans(is_set("generation")).with_generation_spans(is_set("generation"));
    match template.apply(messages, &options) {
        Ok(prompt) => {
            for span in &prompt.generation_spans.bytes {
                assert!(
                    prompt.text.get(span.clone()).is_some(),
                    "a true span is in the prompt, on character boundaries"
                );
            }
        }
        Err(error) => drop(error.to_string()),
    }
});
