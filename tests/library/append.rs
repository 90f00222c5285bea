//! The text to append when a conversation grows.

use chat_template::{Append, ApplyOptions, AssistantOptions, ChatTemplate, ErrorClass, LocalTime, NextPiece, PrefixBroken};
use serde_json::{Value, json};

const SOURCE: &str = "{% for m in messages %}<|im_start|>{{ m.role }}\n\
    {% if m.reasoning_content and loop.last %}<think>{{ m.reasoning_content }}</think>{% endif %}{{ m.content|trim }}<|im_end|>\n{% endfor %}\
    {% if add_generation_prompt %}<|im_start|>assistant\n<think>{% endif %}";

fn messages(count: usize) -> Vec<Value> {
    let all = [
        json!({"role": "user", "content": "Hi"}),
        json!({"role": "assistant", "content": " One ", "reasoning_content": "Hm"}),
        json!({"role": "user", "content": "More"}),
        json!({"role": "assistant", "content": " Two ", "reasoning_content": "Hm"}),
        json!({"role": "user", "content": "Bye"}),
    ];
    all[..count].to_vec()
}

fn prompted() -> ApplyOptions<'static> {
    ApplyOptions::default().with_add_generation_prompt(true)
}

fn append(source: &str, count: usize, seen: &str, sampled: Option<&str>) -> Result<NextPiece, PrefixBroken> {
    let template = ChatTemplate::from_source(source, &[]).unwrap();
    template
        .append(&messages(count), seen, sampled, &prompted())
        .unwrap()
        .into_result()
}

#[test]
fn the_piece_is_the_text_after_the_prompt_that_was_seen() {
    let seen = "<|im_start|>user\nHi<|im_end|>\n";
    let next = append(SOURCE, 3, seen, None).unwrap();
    assert_eq!(format!("{seen}{}", next.text()), next.prompt.text);
    assert!(next.text().starts_with("<|im_start|>assistant\nOne<|im_end|>"));
}

#[test]
fn a_broken_prefix_has_its_place_its_line_and_what_the_template_looks_at() {
    let template = ChatTemplate::from_source(SOURCE, &[]).unwrap();
    let seen = template.apply(&messages(2), &ApplyOptions::default()).unwrap().text;
    let broken = append(SOURCE, 3, &seen, None).unwrap_err();
    let at = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n".len();
    assert_eq!((broken.at, broken.line), (at, Some(1)));
    assert_eq!(broken.looks_at, [(2, "loop.last".to_owned())]);
    assert!(broken.prompt.text.ends_with("<think>"));
    assert_eq!(
        broken.to_string(),
        format!("the prompt differs from the text that was seen, at character {at}, which line 1 of the template wrote")
    );
}

#[test]
fn what_the_model_wrote_is_not_rendered_again() {
    let template = ChatTemplate::from_source(SOURCE, &[]).unwrap();
    let mut seen = template.apply(&messages(1), &prompted()).unwrap().text;
    for (count, sampled) in [(3, "Hm</think>\n\n One <|im_end|>"), (5, "<|im_start|>user\nHm</think> Two")] {
        let next = append(SOURCE, count, &seen, Some(sampled)).unwrap();
        let end = if sampled.ends_with('>') { "" } else { "<|im_end|>" };
        let content = if count == 3 { "More" } else { "Bye" };
        let piece = format!("{end}\n<|im_start|>user\n{content}<|im_end|>\n<|im_start|>assistant\n<think>");
        assert_eq!(next.text(), piece);
        seen = seen + sampled + next.text();
    }
}

#[test]
fn a_text_that_is_no_prompt_of_the_first_messages_is_broken_with_a_sample_too() {
    let opened = "<|im_start|>assistant\n<think>";
    for (count, seen, at) in [
        (3, format!("<|im_start|>user\nHo<|im_end|>\n{opened}"), 18),
        (3, format!("<|im_start|>user\nHi<|im_end|>\n{opened} "), 29),
        (
            5,
            format!("<|im_start|>user\nHi<|im_end|>\n{opened}a<|im_end|>\n{opened}"),
            51 + 13,
        ),
    ] {
        let broken = append(SOURCE, count, &seen, Some("a")).unwrap_err();
        assert!(broken.at >= at.min(18), "{} {at}", broken.at);
    }
}

#[test]
fn a_sample_needs_a_message_of_the_assistant() {
    let template = ChatTemplate::from_source(SOURCE, &[]).unwrap();
    let error = template.append(&messages(1), "", Some("a"), &prompted()).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Request);
}

#[test]
fn the_text_after_a_message_has_the_end_of_the_turn_unless_the_model_writes_it() {
    let template = ChatTemplate::from_source(SOURCE, &[]).unwrap();
    for (end_of_turn, close) in [(true, ""), (false, "<|im_end|>")] {
        let assistant = Some(AssistantOptions::default().with_end_of_turn(end_of_turn));
        let options = ApplyOptions::default().with_trace(true).with_assistant(assistant);
        let prompt = template.apply(&messages(3), &options).unwrap();
        let after = format!("{close}\n<|im_start|>user\nMore<|im_end|>\n");
        assert_eq!(prompt.after(1), Some(after.as_str()));
        assert_eq!((prompt.after(0), prompt.after(3)), (None, None));
    }
}

const CALLS: &str = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% for c in m.tool_calls or [] %}<call>{{ c.name }}</call>{% endfor %}\
    {% if not m.tool_calls and m.role == 'assistant' %}<|end|>\n{% endif %}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";

/// The sample ends with the token at which the model stopped, or without it.
#[test]
fn the_end_of_a_sample_is_not_written_twice() {
    let template = ChatTemplate::from_source(CALLS, &[("eos_token", "<|eos|>"), ("bos_token", "<s>")]).unwrap();
    let after = |answer: Value, next: Value, sampled: &str| {
        let user = json!({"role": "user", "content": "Hi"});
        let seen = template.apply(std::slice::from_ref(&user), &prompted()).unwrap().text;
        let next = template
            .append(&[user, answer, next], &seen, Some(sampled), &prompted())
            .unwrap();
        next.into_result().unwrap().text().to_owned()
    };
    let text = |sampled| {
        let answer = json!({"role": "assistant", "content": "Ho"});
        after(answer, json!({"role": "user", "content": "Bye"}), sampled)
    };
    let rest = "\n<|user|>Bye<|assistant|>";
    for (sampled, piece) in [
        ("Ho<|end|>", rest),
        ("Ho", &format!("<|end|>{rest}")),
        ("Ho [1]", &format!("<|end|>{rest}")),
        ("Ho<|eos|>", rest),
        ("Ho<|eos|>\n", &rest[1..]),
        ("Ho<|user|>", rest),
        ("Ho<|end|><|eos|>", rest),
        ("Ho<|end|>\n<|user|>", "Bye<|assistant|>"),
    ] {
        assert_eq!(text(sampled), piece, "{sampled}");
    }
    let call = |sampled| {
        let answer = json!({"role": "assistant", "content": "", "tool_calls": [{"name": "f"}]});
        after(answer, json!({"role": "tool", "content": "Bye"}), sampled)
    };
    let rest = "<|tool|>Bye<|assistant|>";
    for (sampled, piece) in [
        ("<call>f</call>", rest),
        ("<call>f", &format!("</call>{rest}")),
        ("<call>f</call><|tool|>", "Bye<|assistant|>"),
        ("<call>f</call><|eos|>", rest),
        ("<call>f<|eos|>", rest),
    ] {
        assert_eq!(call(sampled), piece, "{sampled}");
    }
}

/// A template can write the end of a turn at the beginning of the next one.
#[test]
fn the_end_of_a_turn_can_be_written_with_the_next_message() {
    let source = "{% for m in messages %}{% if not loop.first %}<|end|>{% endif %}<|{{ m.role }}|>{{ m.content }}{% endfor %}\
        {% if add_generation_prompt %}<|end|><|assistant|>{% elif messages[-1].role == 'assistant' %}<|end|>{% endif %}";
    let template = ChatTemplate::from_source(source, &[("eos_token", "<|eos|>")]).unwrap();
    let all = [
        json!({"role": "user", "content": "Hi"}),
        json!({"role": "assistant", "content": "Ho"}),
        json!({"role": "user", "content": "Bye"}),
    ];
    let seen = template.apply(&all[..1], &prompted()).unwrap().text;
    let rest = "<|user|>Bye<|end|><|assistant|>";
    for (sampled, piece) in [
        ("Ho", "<|end|>".to_owned() + rest),
        ("Ho<|end|>", rest.to_owned()),
        ("Ho<|eos|>", rest.to_owned()),
    ] {
        let next = template
            .append(&all, &seen, Some(sampled), &prompted())
            .unwrap()
            .into_result()
            .unwrap();
        assert_eq!(next.text(), piece, "{sampled}");
    }
}

/// What was seen says where the model began, though its turn has no header of its own.
#[test]
fn a_turn_without_a_known_beginning_is_found_by_what_was_seen() {
    let source = "{% for m in messages %}{% if m.content %}{{ m.role }}: {{ m.content }}\n{% endif %}{% endfor %}\
        {% if add_generation_prompt %}{% endif %}";
    let template = ChatTemplate::from_source(source, &[]).unwrap();
    let all = [
        json!({"role": "user", "content": "Hi"}),
        json!({"role": "assistant", "content": ""}),
        json!({"role": "user", "content": "Bye"}),
    ];
    let next = template
        .append(&all, "user: Hi\n", Some(""), &prompted())
        .unwrap()
        .into_result()
        .unwrap();
    assert_eq!(next.text(), "user: Bye\n");
}

/// The conversations of the corpus that grow, by their messages, and the others by what they have besides.
fn grow(context: &Value, template: &ChatTemplate, counts: &mut [usize; 4]) {
    let all = context["messages"].as_array().unwrap();
    // Some templates print seconds.
    let now: LocalTime = "2026-01-02T03:04:05".parse().unwrap();
    let options = prompted().with_clock(&now).with_tools(&context["tools"]);
    let render = |messages: &[Value], prompted| {
        let options = options.with_add_generation_prompt(prompted);
        template.apply(messages, &options).ok().map(|prompt| prompt.text)
    };
    let Some(whole) = render(all, true) else { return };
    for by in 1..=4.min(all.len() - 1) {
        let first = all.len() - by;
        // The pieces of one message each, as long as the prefix holds.
        let (mut seen, mut is_kept) = (render(&all[..first], false), true);
        for count in first + 1..=all.len() {
            let Some(before) = seen.filter(|_| is_kept) else { return };
            let longer = render(&all[..count], true).unwrap_or_default();
            match template.append(&all[..count], &before, None, &options) {
                Ok(Append::Piece(next)) => {
                    assert_eq!(format!("{before}{}", next.text()), longer);
                    counts[0] += 1;
                }
                Ok(Append::Broken(broken)) => {
                    assert!(!longer.starts_with(&before));
                    let same = |text: &str| text.chars().take(broken.at).collect::<String>();
                    assert_eq!(same(&longer), same(&before));
                    assert_ne!(longer.chars().nth(broken.at), before.chars().nth(broken.at));
                    counts[1] += 1;
                    is_kept = false;
                }
                Err(_) => return,
            }
            seen = render(&all[..count], false);
        }
    }
    let Some(last) = all.iter().rposition(|message| message["role"] == "assistant") else {
        return;
    };
    let Some(seen) = render(&all[..last], true) else { return };
    let mut other = all.clone();
    other[last]["content"] = json!("zqreplaced");
    let pieces = [all, &other].map(|messages| template.append(messages.as_slice(), &seen, Some("zqreplaced"), &options));
    let [Ok(Append::Piece(piece)), Ok(Append::Piece(same))] = pieces else {
        counts[3] += 1;
        return;
    };
    counts[2] += 1;
    assert!(whole.ends_with(piece.text()) && same.prompt.text.ends_with(same.text()));
    if all[last].get("tool_calls").is_none() && same.prompt.text.starts_with(&format!("{seen}zqreplaced")) {
        assert_eq!(format!("{seen}zqreplaced{}", same.text()), same.prompt.text);
    }
}

#[test]
fn the_pieces_of_the_corpus_are_the_whole_prompt() {
    let Ok(folder) = std::env::var("CHAT_TEMPLATE_CORPUS") else {
        return;
    };
    let folder = std::path::Path::new(&folder);
    let conversations = std::fs::read_to_string(folder.join("conversations.json")).unwrap();
    let conversations: Vec<Value> = serde_json::from_str(&conversations).unwrap();
    let mut counts = [0; 4];
    for entry in std::fs::read_dir(folder.join("templates")).unwrap() {
        let path = entry.unwrap().path();
        let source = std::fs::read_to_string(&path).unwrap();
        let tokens = [
            ("bos_token", "<s>"),
            ("eos_token", "</s>"),
            ("unk_token", "<unk>"),
            ("pad_token", "<pad>"),
        ];
        let Ok(template) = ChatTemplate::from_source(source, &tokens) else {
            continue;
        };
        for conversation in &conversations {
            let context = &conversation["context"];
            if context["messages"].as_array().is_some_and(|messages| messages.len() > 1) {
                let grown = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| grow(context, &template, &mut counts)));
                assert!(grown.is_ok(), "{} {}", path.display(), conversation["name"]);
            }
        }
    }
    let [kept, broken, sampled, unsampled] = counts;
    println!("{kept} pieces, {broken} prefixes broken; with a sample, {sampled} pieces and {unsampled} without");
    assert!(kept > 10 * broken && sampled > 10 * unsampled);
}
