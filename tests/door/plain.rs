//! The template that most tests of the door use.

use chat_template::ChatTemplate;

/// Prints each message, its calls and its reasoning. It takes strings only.
const PLAIN: &str = "{% for m in messages %}<{{ m.role }}>{% if m.reasoning_content %}({{ m.reasoning_content }}){% endif %}\
                     {{ m.content + '' }}{% for c in m.tool_calls or [] %}{{ c.function.name }}{{ c.function.arguments|tojson }}{% endfor %}{% endfor %}";

pub fn plain() -> ChatTemplate {
    ChatTemplate::from_source(PLAIN, &[]).unwrap()
}
