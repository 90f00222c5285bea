//! Prompts in which the text that the model writes is hard to find: long generation prompts, long white space, many turns.

use serde_json::{Value, json};

use super::Case;

/// Prints each message.
const LOOP: &str = "{% for m in messages %}{{ m.content }}{% endfor %}";

/// Templates, each with the number of messages and their content.
const TEMPLATES: &[(&str, usize, &str)] = &[
    // Many ends of the generation prompt are looked for in a header.
    (
        "{% for m in messages %}{{ '\\na' * 2000000 }}{{ m.content }}{% endfor %}{% if add_generation_prompt %}{{ '\\nb' * 2000000 }}{% endif %}",
        4,
        "a",
    ),
    (
        "{% for m in messages %}{{ 'x' ~ '\\n' * 1000000 ~ 'y' }}{{ m.content }}{% endfor %}{% if add_generation_prompt %}{{ 'z' ~ '\\n ' * 1000000 ~ 'q' }}{% endif %}",
        4,
        "a",
    ),
    // The text ends or begins with long white space.
    (
        "{% for m in messages %}{{ m.content }}{% endfor %}{{ ' ' * 20000000 }}",
        20_000,
        "a",
    ),
    (
        "{% for m in messages %}{{ m.content }}{% endfor %}{{ ' ' * 30000000 }}",
        20_000,
        "      ",
    ),
    (
        "{{ ' ' * 30000000 }}{% for m in messages %}{{ m.content }}{% endfor %}{% if add_generation_prompt %}x{% endif %}",
        20_000,
        " ",
    ),
    (
        "{% for m in messages %}{{ ' ' * 30000 }}{{ m.content }}{% endfor %}{{ ' ' * 10000000 }}",
        1000,
        " ",
    ),
    // Each message is compared with a long generation prompt.
    (
        "{% for m in messages %}<a>\n{{ m.content }}{% endfor %}{% if add_generation_prompt %}{{ '<a>\n' * 4000000 }}{% endif %}",
        20_000,
        "a",
    ),
    (
        "{{ 'a' * 20000000 }}{% for m in messages %}{{ m.content }}{% endfor %}{% if add_generation_prompt %}{{ 'a' * 20000000 }}{% endif %}",
        20_000,
        "a",
    ),
    (
        "{% for i in range(1000) %}{% for m in messages %}{{ m.content }}{% endfor %}<e>{% endfor %}{% if add_generation_prompt %}<e>{{ ' ' * 30000000 }}<b>{% endif %}",
        100,
        "a",
    ),
    // The generation prompt is quoted.
    (
        "{% for m in messages %}{{ m.content }}{% endfor %}{% if add_generation_prompt %}{% for i in range(60) %}{{ '\\0' * 1000000 }}{% endfor %}{% endif %}",
        2,
        "a",
    ),
    // The texts of other renders are long while the prompt, its segments and its values are in memory.
    (
        "{% if messages|length == 2 %}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}\
         {% for i in range(50) %}{% for j in range(10000) %}{{ j }},{% endfor %}{% endfor %}{{ 'x' * 33000000 }}{{ 'x' * 28000000 }}\
         {% else %}{% set a = 'a' * 33000000 %}{% set b = 'b' * 33000000 %}{{ a }}{{ b }}{% set c = 'c' * 33000000 %}{% endif %}",
        2,
        "a",
    ),
    // A message owns many stretches, some of other messages.
    (
        "{% for i in range(1000) %}{% for m in messages %}{{ m.content }}{{ messages[0].content }} {% endfor %}{% endfor %}",
        200,
        "a",
    ),
    (
        "{% for i in range(1000) %}{% for m in messages %}{{ m.content }}<x>\n{% endfor %}{% endfor %}",
        200,
        "é",
    ),
];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (template, count, content) in TEMPLATES {
        for prompted in [false, true] {
            cases.push(Case::request(format!("mask {prompted} {count} {content:?}: {template}"), move || {
                json!({
                    "apply": {"template": template, "messages": conversation(*count, content), "add_generation_prompt": prompted},
                    "assistant": true,
                })
            }));
        }
    }
    cases.push(Case::request("mask of brackets".to_owned(), || {
        let template = format!("{LOOP}{{{{ '<[' * 15000000 }}}}{{{{ '[<' * 15000000 }}}}");
        json!({"apply": {"template": template, "messages": conversation(20_000, "a")}, "assistant": true})
    }));
    cases
}

/// Returns a conversation of a user and an assistant.
fn conversation(count: usize, content: &str) -> Value {
    let roles = ["user", "assistant"].into_iter().cycle().take(count);
    roles.map(|role| json!({"role": role, "content": content})).collect()
}
