//! Turns, and what the model would write, in templates of several forms.

use chat_template::{ApplyOptions, AssistantOptions, ChatTemplate, Prompt};
use serde_json::{Map, Value, json};

const CHATML: &str = "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.reasoning %}<think>\n{{ m.reasoning }}\n</think>\n{% endif %}\
    {{ m.content }}{% for c in m.tool_calls or [] %}<call>{{ c.function|tojson }}</call>{% endfor %}<|im_end|>\n{% endfor %}\
    {% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

fn apply(source: &str, messages: &Value, assistant: AssistantOptions<'_>) -> Prompt {
    let options = ApplyOptions::default().with_trace(true).with_assistant(assistant);
    let template = ChatTemplate::from_source(source, &[("eos_token", "</s>")]).unwrap();
    template.apply(messages, &options).expect("it renders")
}

/// The texts that the model writes.
fn written(source: &str, messages: &Value, assistant: AssistantOptions<'_>) -> Vec<String> {
    let prompt = apply(source, messages, assistant);
    let spans = prompt.assistant().expect("it is known");
    spans.bytes.iter().map(|span| prompt.text[span.clone()].to_owned()).collect()
}

fn written_by_default(source: &str, messages: &Value) -> Vec<String> {
    written(source, messages, AssistantOptions::default())
}

fn conversation() -> Value {
    json!([
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hé!", "reasoning": "Well"},
        {"role": "user", "content": "Bye"},
        {"role": "assistant", "content": "Bye!"},
    ])
}

#[test]
fn the_model_writes_from_the_generation_prompt_to_the_end_of_the_turn() {
    let first = "<think>\nWell\n</think>\nHé!<|im_end|>";
    assert_eq!(written_by_default(CHATML, &conversation()), [first, "Bye!<|im_end|>"]);
}

#[test]
fn spans_do_not_overlap_if_the_next_message_is_only_the_end_token() {
    let source = "{% for m in messages %}{% if m.role == 'user' %}[INST]{{ m.content }}[/INST]{% elif m.tool_calls is defined %}[CALLS][\
                  {% else %}{{ m.content + eos_token }}{% endif %}{% endfor %}";
    let messages = json!([
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "tool_calls": []},
        {"role": "assistant", "content": ""},
    ]);
    assert_eq!(written_by_default(source, &messages), ["[CALLS][", "</s>"]);
}

#[test]
fn options_change_what_counts() {
    let with = |options| written(CHATML, &conversation(), options);
    let default = AssistantOptions::default();
    let content = default.with_end_of_turn(false).with_reasoning(false);
    assert_eq!(with(content), ["Hé!", "Bye!"]);
    assert_eq!(with(default.with_last_turn_only(true)), ["Bye!<|im_end|>"]);
    assert_eq!(
        with(default.with_trailing_space(true).with_last_turn_only(true)),
        ["Bye!<|im_end|>\n"]
    );
    let users = default.with_roles(&["user"]);
    assert_eq!(with(users), ["Hi<|im_end|>", "Bye<|im_end|>"]);
}

#[test]
fn an_opened_thought_belongs_to_the_prompt() {
    let source = "{% for m in messages %}<|{{ m.role }}|>{% if m.role == 'assistant' %}<think>\n{{ m.reasoning }}</think>{% endif %}\
        {{ m.content }}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|><think>\n{% endif %}";
    let messages = json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "A", "reasoning": "R"}]);
    assert_eq!(written_by_default(source, &messages), ["R</think>A<|end|>"]);
    let content = AssistantOptions::default().with_reasoning(false);
    assert_eq!(written(source, &messages, content), ["A<|end|>"]);
}

#[test]
fn the_end_token_of_a_default_system_prompt_also_ends_a_call() {
    let source = "{% if messages[0].role != 'system' %}<|im_start|>system\nYou help.<|im_end|>\n{% endif %}".to_owned() + CHATML;
    let calls = json!([{"function": {"name": "f"}}]);
    let messages = json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "", "tool_calls": calls}]);
    assert_eq!(
        written_by_default(&source, &messages),
        ["<call>{\"name\": \"f\"}</call><|im_end|>"]
    );
}

#[test]
fn the_end_of_a_turn_may_be_written_after_it() {
    let next = "{% for m in messages %}{% if not loop.first %}<|im_end|>\n{% endif %}<|im_start|>{{ m.role }}\n{{ m.content }}{% endfor %}\
        {% if add_generation_prompt %}<|im_end|>\n<|im_start|>assistant\n{% endif %}";
    assert_eq!(written_by_default(next, &conversation()), ["Hé!<|im_end|>", "Bye!"]);
    let mut blanks = conversation();
    blanks[1]["content"] = json!("Hé! \n");
    assert_eq!(written_by_default(next, &blanks), ["Hé! \n<|im_end|>", "Bye!"]);
    let last = "{% for m in messages %}{{ m.role }}: {{ m.content }}{% if not loop.last %}\n{% endif %}{% endfor %}\
        {% if add_generation_prompt %}\nassistant: {% else %}{{ eos_token }}{% endif %}";
    assert_eq!(written_by_default(last, &conversation()), ["Hé!", "Bye!</s>"]);
    let headers = "{% for m in messages %}<|{{ m.role }}|><|sep|>{{ m.content }}{% endfor %}\
        {% if add_generation_prompt %}<|assistant|><|sep|>{% endif %}";
    let twice =
        json!([{"role": "user", "content": "u"}, {"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"}]);
    assert_eq!(written_by_default(headers, &twice), ["a", "b"]);
}

#[test]
fn a_first_turn_has_the_end_of_the_generation_prompt() {
    let first = json!([{"role": "assistant", "content": "Welcome"}, {"role": "user", "content": "u"}]);
    let next = "{% for m in messages %}{% if not loop.first %}<|im_end|>\n{% endif %}<|im_start|>{{ m.role }}\n{{ m.content }}{% endfor %}\
        {% if add_generation_prompt %}<|im_end|>\n<|im_start|>assistant\n{% endif %}";
    assert_eq!(written_by_default(next, &first), ["Welcome<|im_end|>"]);
    let start = "{% for m in messages %}{{ '<s>' if loop.first }}<|{{ m.role }}|>{{ m.content }}{{ eos_token }}{% endfor %}\
        {% if add_generation_prompt %}<|assistant|>{% endif %}";
    assert_eq!(written_by_default(start, &first), ["Welcome</s>"]);
}

#[test]
fn a_template_without_a_generation_prompt_is_all_turns() {
    let source = "{% for m in messages %}{% if m.role == 'user' %}[INST] {{ m.content }} [/INST]{% else %} {{ m.content }}{{ eos_token }}{% endif %}{% endfor %}";
    assert_eq!(written_by_default(source, &conversation()), [" Hé!</s>", " Bye!</s>"]);
}

#[test]
fn a_generation_prompt_within_the_loop_is_not_written_by_the_model() {
    let source = "{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}{{ eos_token }}\n{% if loop.last and add_generation_prompt %}<|assistant|>\n{% endif %}{% endfor %}";
    let template = ChatTemplate::from_source(source, &[("eos_token", "</s>")]).unwrap();
    let options = ApplyOptions::default()
        .with_add_generation_prompt(true)
        .with_assistant(AssistantOptions::default());
    let rendered = template.apply(&conversation(), &options).unwrap();
    let spans = &rendered.assistant().unwrap().bytes;
    assert_eq!(&rendered.text[spans[1].clone()], "Bye!</s>");
    assert!(rendered.segments().is_empty());
}

#[test]
fn tool_results_are_not_the_assistants() {
    let source = "{% for m in messages if m.role != 'tool' %}<{{ m.role }}>{% for c in m.tool_calls or [] %}<call>{{ c.function.name }}</call>{% endfor %}\
        {% if m.tool_calls %}<result>{{ messages[2].content }}</result>{% endif %}{{ m.content }}<end>{% endfor %}\
        {% if add_generation_prompt %}<assistant>{% endif %}";
    let messages = json!([
        {"role": "user", "content": "How warm?"},
        {"role": "assistant", "content": "Warm.", "tool_calls": [{"function": {"name": "weather", "arguments": {}}}]},
        {"role": "tool", "content": "21"},
    ]);
    let text = written_by_default(source, &messages).concat();
    assert!(
        text.contains("weather") && text.contains("Warm.<end>") && !text.contains("21"),
        "{text}"
    );
}

#[test]
fn the_name_of_a_call_in_a_tool_result_is_not_the_assistants() {
    let source = "{% for m in messages %}<{{ m.role }}>{% for c in m.tool_calls or [] %}<call>{{ c.name }}</call>{% endfor %}\
        {% if m.role == 'tool' %}{% for other in messages if other.tool_calls %}{{ other.tool_calls[0].name }}: {% endfor %}{% endif %}\
        {{ m.content }}<end>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}";
    let messages = json!([
        {"role": "user", "content": "How warm?"},
        {"role": "assistant", "content": "", "tool_calls": [{"name": "weather"}]},
        {"role": "tool", "content": "21"},
    ]);
    assert_eq!(written_by_default(source, &messages), ["<call>weather</call><end>"]);
}

#[test]
fn a_template_with_generation_blocks_keeps_its_spans() {
    let source = "{% for m in messages %}<{{ m.role }}>{% if m.role == 'assistant' %}{% generation %}{{ m.content }}{% endgeneration %}{% endif %}{% endfor %}";
    assert_eq!(written_by_default(source, &conversation()), ["Hé!", "Bye!"]);
}

/// Returns the prompt with `⟦` and `⟧` around what the model writes, and `!` and the message for each turn that is not known.
fn mark(source: &str, messages: &Value, assistant: AssistantOptions<'_>) -> String {
    let prompt = apply(source, messages, assistant);
    let mut marked = prompt.text.clone();
    let known = prompt.assistant_turns().filter_map(|(_, spans)| spans.ok());
    let mut known: Vec<_> = known.flat_map(|spans| &spans.bytes).collect();
    known.sort_by_key(|span| span.start);
    for span in known.iter().rev() {
        marked.insert(span.end, '⟧');
        marked.insert(span.start, '⟦');
    }
    for (message, _) in prompt.assistant_turns().filter(|(_, spans)| spans.is_err()) {
        marked.push_str(&format!("!{}", message.expect("the turn is that of a message")));
    }
    marked
}

#[test]
fn each_kind_of_template_has_its_spans() {
    let user = |content: &str| json!({"role": "user", "content": content});
    let model = |content: &str| json!({"role": "assistant", "content": content});
    let call = json!({"role": "assistant", "content": "so", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]});
    let cases = [
        // The assistant speaks first, and the generation prompt is written within the loop.
        (
            "{% for m in messages %}{% if loop.first %}Rules.\n{% endif %}<|{{ m.role }}|>{{ m.content }}{{ eos_token }}\
             {% if loop.last and add_generation_prompt %}<|assistant|>{% endif %}{% endfor %}",
            json!([model("Hello"), user("Hi"), model("Yes")]),
            "Rules.\n<|assistant|>⟦Hello</s>⟧<|user|>Hi</s><|assistant|>⟦Yes</s>⟧",
        ),
        // The text that begins the next turn is written with the end of this one.
        (
            "<s>[INST] {% for m in messages %}{{ m.content }}{{ ' [/INST] ' if m.role == 'user' else ' </s><s>[INST] ' }}{% endfor %}",
            json!([user("Hi"), model("Yes")]),
            "<s>[INST] Hi [/INST] ⟦Yes </s>⟧<s>[INST] ",
        ),
        (
            "<s>[INST] {% for m in messages %}{{ m.content }}{{ ' [/INST] ' if m.role == 'user' else ' <end><s>[INST] ' }}{% endfor %}",
            json!([user("Hi"), model("Yes")]),
            "<s>[INST] Hi [/INST] ⟦Yes <end>⟧<s>[INST] ",
        ),
        // The generation prompt has a turn of its own before the header.
        (
            "{% for m in messages %}<|turn|><|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}\
             {% if add_generation_prompt %}<|turn|><|system|>Act.<|end|><|turn|><|assistant|>{% endif %}",
            json!([user("Hi"), model("Yes")]),
            "<|turn|><|user|>Hi<|end|><|turn|><|assistant|>⟦Yes<|end|>⟧",
        ),
        // There is no generation prompt.
        (
            "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}",
            json!([user("Hi"), model("Hello")]),
            "user: Hi\nassistant: ⟦Hello⟧\n",
        ),
        (
            "{% for m in messages %}{{ m.role }} {{ loop.index }}: {{ m.content }}\n{% endfor %}",
            json!([user("a"), model("b"), user("c"), model("d")]),
            "user 1: a\nassistant 2: b\nuser 3: c\nassistant 4: d\n!1!3",
        ),
        // The generation prompt is not the header of an answer, and the last message has no content.
        (
            "{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>{% endfor %}{% if add_generation_prompt %}### Answer:{% endif %}",
            json!([user("a"), model("b"), user("c"), model("")]),
            "<user>a<end><assistant>⟦b<end>⟧<user>c<end><assistant>⟦<end>⟧",
        ),
        // The last message has the header of all others, which is not the generation prompt.
        (
            "{% for m in messages %}### Turn\n{{ m.content }}\n{% endfor %}{% if add_generation_prompt %}### Answer\n{% endif %}",
            json!([user("a"), model("b")]),
            "### Turn\na\n### Turn\nb\n!1",
        ),
        // The template prints nothing of the answers.
        (
            "{% for m in messages %}{% if m.role == 'user' %}<user>{{ m.content }}{% endif %}{{ '\n' }}{% endfor %}",
            json!([user("a"), model("b")]),
            "<user>a\n\n",
        ),
        // The last message has the header of another role.
        (
            "{% for m in messages %}<|im_start|>{{ 'user' if loop.last else m.role }}{{ m.content }}<|im_end|>{% endfor %}\
             {% if add_generation_prompt %}<|im_start|>assistant{% endif %}",
            json!([user("a"), model("b"), user("c"), model("d")]),
            "<|im_start|>usera<|im_end|><|im_start|>assistant⟦b<|im_end|>⟧<|im_start|>userc<|im_end|><|im_start|>userd<|im_end|>!3",
        ),
        // One turn is not clear, and the others are.
        (
            "{% for m in messages %}{{ 'CALL f|' if m.tool_calls else '<|' + m.role + '|>' }}{{ m.content }}<|end|>{% endfor %}\
             {% if add_generation_prompt %}<|assistant|>{% endif %}",
            json!([user("a"), model("b"), user("c"), call, model("d")]),
            "<|user|>a<|end|><|assistant|>⟦b<|end|>⟧<|user|>c<|end|>CALL f|so<|end|><|assistant|>⟦d<|end|>⟧!3",
        ),
    ];
    for (source, messages, expected) in cases {
        assert_eq!(mark(source, &messages, AssistantOptions::default()), expected);
    }
}

#[test]
fn the_marker_of_the_next_turn_can_end_a_turn() {
    let source = "[gMASK]{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}{% endfor %}{% if add_generation_prompt %}<|assistant|>\n{% endif %}";
    let messages =
        json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]);
    assert_eq!(written_by_default(source, &messages), ["b"]);
    let next_marker = AssistantOptions::default().with_next_marker(true);
    assert_eq!(
        mark(source, &messages, next_marker),
        "[gMASK]<|user|>\na<|assistant|>\n⟦b<|user|>⟧\nc"
    );
    assert_eq!(
        written(CHATML, &conversation(), next_marker),
        written_by_default(CHATML, &conversation())
    );
}

#[test]
fn a_message_without_weight_is_not_trained() {
    for off in [json!({"weight": 0}), json!({"weight": 0.0}), json!({"train": false})] {
        let mut messages = conversation();
        let message = messages[1].as_object_mut().expect("an object");
        message.extend(off.as_object().expect("an object").clone());
        assert_eq!(written_by_default(CHATML, &messages), ["Bye!<|im_end|>"], "{off}");
        let blocks = "{% for m in messages %}<{{ m.role }}>{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}";
        assert_eq!(written_by_default(blocks, &messages), ["Hi", "Bye", "Bye!"]);
    }
}

#[test]
fn only_the_content_can_count() {
    let content_only = AssistantOptions::default().with_content_only(true);
    let mut messages = conversation();
    messages[3]["tool_calls"] = json!([{"function": {"name": "f", "arguments": {}}}]);
    assert_eq!(written(CHATML, &messages, content_only), ["Hé!", "Bye!"]);
}

#[test]
fn no_header_and_no_blank_line_is_left_without_the_reasoning() {
    let source = "{% for m in messages %}{% if m.thinking %}<|start|>{{ m.role }}<|channel|>analysis<|message|>{{ m.thinking }}<|end|>{% endif %}\
        <|start|>{{ m.role }}<|message|>{{ m.content }}<|end|>\n{% endfor %}{% if add_generation_prompt %}<|start|>assistant{% endif %}";
    let messages = json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b", "thinking": "t"}]);
    let content = AssistantOptions::default().with_reasoning(false);
    assert_eq!(written(source, &messages, content), ["<|message|>b<|end|>"]);
    let lines = "{% for m in messages %}<|{{ m.role }}|>\n{% if m.thinking %}\n<think>{{ m.thinking }}</think>{% endif %}{{ m.content }}{% endfor %}\
        {% if add_generation_prompt %}<|assistant|>\n{% endif %}";
    let messages = json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": "", "thinking": "t"}]);
    assert_eq!(written(lines, &messages, content), [""; 0]);
}

#[test]
fn where_the_rule_does_not_hold_the_reason_is_said() {
    let reason = |source| {
        let prompt = apply(source, &conversation(), AssistantOptions::default());
        let error = prompt.assistant().expect_err("it is unknown");
        let reason = error.message().strip_prefix("it is unknown which text the model writes: ");
        reason.expect("the message begins so").to_owned()
    };
    assert_eq!(reason("{{ messages }}"), "the template prints messages as values");
    let other = "{% for m in messages %}{{ m.role|upper }} {{ loop.index }}: {{ m.content }}\n{% endfor %}{% if add_generation_prompt %}Bot:{% endif %}";
    assert_eq!(reason(other), "message 1 does not begin with the generation prompt \"Bot:\"");
    let refusing = "{% for m in messages %}{{ m.role }} {{ loop.index }}: {{ m.content }}{% endfor %}{% if add_generation_prompt %}{{ raise_exception('no') }}{% endif %}";
    assert_eq!(
        reason(refusing),
        "the template does not render the generation prompt before message 1"
    );
}

#[test]
fn a_turn_has_a_header_a_body_a_close_and_fields() {
    let mut messages = conversation();
    messages[1]["tool_calls"] = json!([{"function": {"name": "weather", "arguments": {"city": "Oslo"}}}]);
    messages[3]["content"] = json!("");
    let prompt = apply(CHATML, &messages, AssistantOptions::default());
    let turns = prompt.turns();
    let text = |span: &std::ops::Range<usize>| &prompt.text[span.clone()];
    assert_eq!(turns.iter().map(|turn| turn.message).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(text(&turns[1].header.bytes[0]), "<|im_start|>assistant\n");
    assert!(text(&turns[1].body.bytes[0]).starts_with("<think>\nWell\n</think>\nHé!<call>"));
    assert_eq!(text(&turns[1].close.bytes[0]), "</call><|im_end|>\n");
    let names: Vec<_> = turns[1].fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names[..2], ["reasoning", "content"]);
    assert!(names.contains(&"tool_calls/0/function/name"), "{names:?}");
    assert_eq!(text(&turns[3].header.bytes[0]), "<|im_start|>assistant\n");
    assert_eq!(text(&turns[3].close.bytes[0]), "<|im_end|>\n");
    assert_eq!(turns[1].body.code_points[0].len() + 1, turns[1].body.bytes[0].len());
}

/// What the model writes is unknown in at most one prompt of the corpus in twenty. If the last assistant message has another text,
/// the first character that changes is outside of the spans in at most one prompt in a hundred.
#[test]
fn real_templates_say_what_the_model_writes() {
    let Ok(folder) = std::env::var("CHAT_TEMPLATE_CORPUS") else {
        return;
    };
    // The path is that of the repository's root.
    let folder = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(folder);
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let conversations: Vec<Value> = serde_json::from_str(&read("conversations.json")).unwrap();
    let names = [
        "multi_turn",
        "tool_calls_dict",
        "tool_calls_string",
        "reasoning_content",
        "system_user_noagp",
    ];
    let (mut prompts, mut unknown, mut changed, mut outside) = (0, 0, 0, 0);
    for entry in std::fs::read_dir(folder.join("templates")).unwrap() {
        let source = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let Ok(template) = ChatTemplate::from_source(source, &[]) else {
            continue;
        };
        for conversation in conversations
            .iter()
            .filter(|conversation| names.contains(&conversation["name"].as_str().unwrap()))
        {
            let context = conversation["context"].as_object().unwrap();
            let variables = context.iter().filter(|(name, _)| name.ends_with("_token"));
            let variables: Map<String, Value> = variables.map(|(name, value)| (name.clone(), value.clone())).collect();
            let [tools, documents] = ["tools", "documents"].map(|name| context.get(name));
            let messages = &context["messages"];
            let plain = ApplyOptions::default()
                .with_tools(&tools)
                .with_documents(&documents)
                .with_add_generation_prompt(context.get("add_generation_prompt") == Some(&json!(true)))
                .with_variables(&variables);
            let options = plain.with_assistant(AssistantOptions::default());
            let Ok(rendered) = template.apply(messages, &options) else {
                continue;
            };
            prompts += 1;
            let Ok(spans) = rendered.assistant() else {
                unknown += 1;
                continue;
            };
            let Some(last) = messages
                .as_array()
                .unwrap()
                .iter()
                .rposition(|message| message["role"] == "assistant")
            else {
                continue;
            };
            let content = messages[last]["content"].as_str();
            if content.is_none_or(|content| content.trim().is_empty()) || template.has_generation() {
                continue;
            }
            let mut other = messages.clone();
            other[last]["content"] = json!("ZQx replacement 7");
            let Ok(other) = template.apply(&other, &plain) else {
                continue;
            };
            if other.text == rendered.text {
                continue;
            }
            changed += 1;
            let common = rendered
                .text
                .bytes()
                .zip(other.text.bytes())
                .take_while(|(left, right)| left == right)
                .count();
            let rest = &rendered.text.as_bytes()[common..];
            let place = common + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let is_outside = !spans.bytes.iter().any(|span| span.start <= place && place <= span.end);
            outside += usize::from(is_outside);
        }
    }
    assert!(
        prompts > 3000 && unknown * 20 <= prompts,
        "{unknown} of {prompts} are unknown"
    );
    assert!(
        changed > 2000 && outside * 100 <= changed,
        "{outside} of {changed} are outside"
    );
}
