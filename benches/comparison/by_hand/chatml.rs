//! The template `templates/chatml.jinja` as a function.

use serde_json::Value;

use super::{field, is_true, list, text, write};

/// Writes the prompt of a context to `out`.
pub fn render(context: &Value, out: &mut String) -> Option<()> {
    let messages = list(context, "messages")?;
    if text(messages.first()?, "role") != Some("system") {
        out.push_str("<|im_start|>system\nAnswer in plain words.<|im_end|>\n");
    }
    for message in messages {
        let (role, content) = (text(message, "role")?, text(message, "content")?);
        write(out, ["<|im_start|>", role, "\n", content, "<|im_end|>\n"]);
    }
    if is_true(field(context, "add_generation_prompt")) {
        out.push_str("<|im_start|>assistant\n");
    }
    Some(())
}
