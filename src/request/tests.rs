//! Tests of how requests are prepared, on small templates.

use serde_json::{Value, json};

use super::{LaterSystem, Policy, PrepareOptions, Severity};
use crate::ChatTemplate;

/// A template that fails on content that is a list, on two messages of one role in a row, and on media.
const ALTERNATES: &str = "{% for m in messages %}{% if loop.index0 > 0 and m.role == messages[loop.index0 - 1].role %}{{ raise_exception('roles') }}\
                          {% endif %}<{{ m.role }}>{{ m.content + '' }}{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}";

/// A template that takes parts, and an image only by the type `image`.
const PARTS: &str = "{% for m in messages %}<{{ m.role }}>{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}\
                     {% if p.type == 'image' %}<image>{% elif p.type == 'text' %}{{ p.text }}{% endif %}{% endfor %}{% endif %}{% endfor %}";

fn template(source: &str) -> ChatTemplate {
    ChatTemplate::from_source(source, &[]).unwrap()
}

/// Returns the prompt, and each change as its path and its kind.
fn render(source: &str, body: &Value, options: &PrepareOptions<'_>) -> (String, Vec<String>) {
    let template = template(source);
    let prepared = template.prepare_request(body, options).unwrap();
    let (prompt, changes) = prepared.render().unwrap();
    let changes = changes.iter().map(|change| format!("{} {}", change.path, change.kind.name()));
    (prompt.text, changes.collect())
}

#[test]
fn what_the_template_takes_is_not_changed() {
    let body = json!({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes"}, {"role": "user", "content": "So?"}]});
    let (text, changes) = render(ALTERNATES, &body, &PrepareOptions::default());
    assert_eq!(text, "<user>Hi<assistant>Yes<user>So?<assistant>");
    assert!(changes.is_empty(), "{changes:?}");
}

#[test]
fn parts_are_joined_and_turns_alternate() {
    let part = |text: &str| json!([{"type": "text", "text": text}]);
    let body = json!({"messages": [{"role": "user", "content": part("One")}, {"role": "user", "content": part("Two")}]});
    let (text, changes) = render(ALTERNATES, &body, &PrepareOptions::default());
    assert!(text.contains("One") && text.contains("Two"), "{text}");
    assert!(changes.contains(&"/messages/0/content joined".to_owned()), "{changes:?}");
    assert!(!changes.iter().any(|change| change.ends_with("dropped")), "{changes:?}");
}

#[test]
fn a_medium_gets_the_type_that_the_template_knows() {
    let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}});
    let body = json!({"messages": [{"role": "user", "content": [image, {"type": "text", "text": "Look"}]}]});
    let template = template(PARTS);
    let prepared = template.prepare_request(&body, &PrepareOptions::default()).unwrap();
    assert_eq!(prepared.render().unwrap().0.text, "<user><image>Look");
    let media: Vec<String> = prepared.media().into_iter().map(|media| media.path).collect();
    assert_eq!(media, ["/messages/0/content/0"]);
}

#[test]
fn a_placeholder_stands_for_media() {
    let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}});
    let body = json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "Look"}, image]}]});
    let options = PrepareOptions {
        media_placeholder: Some("[image]"),
        ..PrepareOptions::default()
    };
    assert_eq!(render(ALTERNATES, &body, &options).0, "<user>Look\n[image]<assistant>");
    let (text, changes) = render(ALTERNATES, &body, &PrepareOptions::default());
    assert_eq!(text, "<user>Look<assistant>");
    assert!(changes.contains(&"/messages/0/content/1 dropped".to_owned()), "{changes:?}");
}

#[test]
fn a_later_system_message_goes_where_the_options_say() {
    let body = json!({"messages": [
        {"role": "system", "content": "A"}, {"role": "user", "content": "B"}, {"role": "system", "content": "C"},
    ]});
    let source = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}";
    let with = |later_system| {
        let options = PrepareOptions {
            later_system,
            ..PrepareOptions::default()
        };
        render(source, &body, &options).0
    };
    assert_eq!(with(LaterSystem::InPlace), "<system>A<user>B<system>C");
    assert_eq!(with(LaterSystem::AsUser), "<system>A<user>B<user>C");
    assert_eq!(with(LaterSystem::Merged), "<system>A\nC<user>B");
}

#[test]
fn policies() {
    let body = json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]});
    let with = |policy| {
        let options = PrepareOptions {
            policy,
            ..PrepareOptions::default()
        };
        let template = template(ALTERNATES);
        let prepared = template.prepare_request(&body, &options)?;
        prepared.render().map(|(prompt, _)| prompt.text)
    };
    assert_eq!(with(Policy::Fit).unwrap(), "<user>Hi<assistant>");
    assert_eq!(with(Policy::Strict).unwrap_err().input_path(), Some("/messages/0/content"));
    assert!(
        with(Policy::Exact)
            .unwrap_err()
            .message()
            .contains("can only concatenate list")
    );
}

#[test]
fn the_words_of_a_request_do_not_decide() {
    let with = |word: &str| {
        let part = json!([{"type": "text", "text": word}]);
        let body = json!({"messages": [
            {"role": "system", "content": word}, {"role": "user", "content": part}, {"role": "user", "content": word},
            {"role": "assistant", "content": word},
        ]});
        let template = template(ALTERNATES);
        let prepared = template.prepare_request(&body, &PrepareOptions::default()).unwrap();
        let (_, changes) = prepared.render().unwrap();
        (prepared.plan, changes)
    };
    let plain = with("Some words.");
    for word in ["a", "{}", "user", "1"] {
        assert_eq!(with(word), plain, "{word}");
    }
}

#[test]
fn a_growing_conversation_keeps_its_plan_and_a_lost_text_is_reported_by_each_render() {
    let template = template(ALTERNATES);
    let first = json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]});
    let second = json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}, {"role": "assistant", "content": "Yes"}]});
    let prepared = template.prepare_request(&first, &PrepareOptions::default()).unwrap();
    let options = PrepareOptions::default().after(&prepared);
    let next = template.prepare_request(&second, &options).unwrap();
    assert_eq!(next.plan, prepared.plan);
    let silent = ChatTemplate::from_source("{{ messages[0].content }}", &[]).unwrap();
    let prepared = silent.prepare_request(&second, &PrepareOptions::default()).unwrap();
    for _ in 0..2 {
        let (_, changes) = prepared.render().unwrap();
        let lost = changes.iter().filter(|change| change.severity == Severity::Lost);
        assert_eq!(
            lost.map(|change| change.path.as_str()).collect::<Vec<_>>(),
            ["/messages/1/content"]
        );
    }
}
